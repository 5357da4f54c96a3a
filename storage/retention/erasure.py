"""The erasure of what the database knows of a person: trees of ended instances, and what the logs have of them.

What is found by a business id or a variable's value is deleted like other ended trees (`storage.retention.history`).
The payloads of commands and events of these trees are emptied. Their positions stay.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.core.records.codec import decode_events, encode_events
from vivero.core.records.personal import emptied
from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside
from vivero.storage.retention.history import be_patient
from vivero.storage.state.normal_form import hash_of, normal_form

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)


class ErasureSubject(msgspec.Struct, frozen=True, gc=False):
    """The data that are erased: those with a business id, a value of a variable (JSON text), or one of some texts."""

    business_id: str | None = None
    variable: str | None = None
    value: str | None = None
    texts: tuple[str, ...] = ()


async def trees_of(
    connection: Connection, subject: ErasureSubject, after: int, limit: int, tenants: Tenants = None
) -> list[int]:
    """The roots of the next trees with data of the subject, behind a root."""
    if subject.texts:
        found = await _of_tenants.execute(connection, "of_texts", tenants, list(subject.texts), after, limit)
    elif subject.business_id is not None:
        found = await _of_tenants.execute(connection, "of_business_id", tenants, subject.business_id, after, limit)
    else:
        normal = normal_form(subject.value or "")
        values = (subject.variable, normal, hash_of(normal), after, limit)
        found = await _of_tenants.execute(connection, "of_variable", tenants, *values)
    return [root for (root,) in found.rows]


async def erase_logs(connection: Connection, roots: Sequence[int]) -> None:
    """Empty the events of these trees, and the commands that led to them, in the caller's transaction."""
    keys, deadline = list(roots), await be_patient(connection)
    found = (await connection.execute(_sql["positions"], (keys,), deadline=deadline)).rows
    positions = [position for (position,) in found]
    of_no_tree = (await connection.execute(_sql["of_no_tree"], (positions,), deadline=deadline)).rows
    for position, seq, events, version in of_no_tree:
        left = encode_events([emptied(each) for each in decode_events(events, version)]).decode()
        await connection.execute(_sql["replace_events"], (position, seq, left))
    await connection.execute(_sql["empty_events"], (keys,), deadline=deadline)
    await empty_commands(connection, positions, deadline)


async def empty_commands(connection: Connection, positions: Sequence[int], deadline: float | None = None) -> None:
    """Empty processed commands, and forget the idempotency keys of their requests."""
    await connection.execute(_sql["empty_commands"], (list(positions),), deadline=deadline)
    await connection.execute(_sql["forget_keys"], (list(positions),), deadline=deadline)
