"""The completed activities of a scope that can be compensated, the latest first. BPMN 2.0.2 §10.7."""

from __future__ import annotations

import msgspec

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection

_of_tenants = TenantStatements(__file__)
_numbers = msgspec.json.Decoder(dict[str, int]).decode


class Registered(msgspec.Struct, frozen=True, gc=False):
    """A completed activity. `handler`: the event that compensates the activity itself, until it has begun.

    `inside`: numbers of activities inside, by id. `running`: an event sub-process compensates it in place of those.
    """

    key: int
    activity: int
    element: str
    handler: str | None
    inside: dict[str, int]
    running: bool


async def latest(
    connection: Connection,
    instance: int,
    scope: int,
    element: str | None,
    before: int,
    limit: int,
    tenants: Tenants = None,
) -> list[Registered]:
    """The latest ones in a scope of a process instance whose keys are less than `before`; with `element`, of one id."""
    rows = (await _of_tenants.execute(connection, "latest", tenants, instance, scope, element, before, limit)).rows
    return [
        Registered(key, activity, id, handler, _numbers(registered), running)
        for key, activity, id, handler, registered, running in rows
    ]
