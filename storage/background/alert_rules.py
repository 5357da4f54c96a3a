"""Alert rules: conditions on figures of a tenant, their evaluation, and the deliveries of their notices."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import msgspec

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

METRICS = ("RUNNING", "INCIDENTS", "NEW_INCIDENTS", "OPEN_TASKS", "OLDEST_SECONDS")
"""The figures that rules watch, each a statement."""
MOST_COUNTED = 1_000_000
"""A value is never larger, so that a rule reads no more rows."""
MOST_DELIVERIES = 20
"""Deliveries to each receiver of a rule that are kept."""
URL, OUTBOX = "URL", "OUTBOX"
"""The receivers of a rule."""
AFTER_ERROR = 10
"""Intervals until the next evaluation after one that failed."""

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)


class AlertRule(msgspec.Struct, frozen=True):
    """A rule to save. It is raised above `threshold`, and cleared at `clears_at` or below. `process`: "" for all.
    It tells `url` ("": none), and the receiver of the outbox if `to_outbox`.

    `secret`: the name of the secret that signs; `made_by`: the caller.
    """

    tenant: str
    name: str
    process: str
    metric: str
    threshold: int
    clears_at: int
    every_s: int
    url: str
    to_outbox: bool
    secret: str | None
    made_by: str


class DueRule(NamedTuple):
    """A rule to evaluate, as it was at this revision."""

    key: int
    revision: int
    tenant: str
    process: str
    metric: str


class AlertDelivery(NamedTuple):
    """A notice for one receiver. `attempts`: with this one; `now_s`: seconds since 1970."""

    key: int
    revision: int
    kind: str
    value: int | None
    made_at: datetime
    attempts: int
    name: str
    tenant: str
    process: str
    metric: str
    threshold: int
    receiver: str
    url: str
    secret: str | None
    now_s: int

    @property
    def id(self) -> str:
        """The same in all attempts."""
        return f"{self.key}-{self.revision}"


async def save(connection: Connection, rule: AlertRule, most: int) -> int | None:
    """Save a rule in the caller's transaction, also over one of the same name; its key.

    None: the tenant has `most` others.
    """
    await connection.execute(_sql["lock"])
    tells = (rule.process, rule.metric, rule.url, rule.to_outbox)
    await connection.execute(_sql["drop_waiting"], (rule.tenant, rule.name, *tells))
    rows = (await connection.execute(_sql["save"], (*msgspec.structs.astuple(rule), most))).rows
    return rows[0][0] if rows else None


async def process_of(connection: Connection, tenant: str, name: str) -> str | None:
    """The process of the rule that `save` would replace, in the caller's transaction; None if there is none."""
    await connection.execute(_sql["lock"])
    rows = (await connection.execute(_sql["process_of"], (tenant, name))).rows
    return rows[0][0] if rows else None


async def find(connection: Connection, key: int, tenants: Tenants = None) -> str | None:
    """The process of a rule in one of these tenants, in the caller's transaction; None if there is none."""
    await connection.execute(_sql["lock"])
    rows = (await _of_tenants.execute(connection, "find", tenants, key)).rows
    return rows[0][0] if rows else None


async def mute(connection: Connection, key: int, until: datetime | None) -> None:
    """Deliver nothing of a found rule until then; None: deliver again."""
    await connection.execute(_sql["mute"], (key, until))


async def delete(connection: Connection, key: int) -> None:
    """Delete a found rule with its deliveries."""
    await connection.execute(_sql["delete"], (key,))


async def test(connection: Connection, key: int) -> bool:
    """Have a test of a found rule delivered to each receiver; False if one already waits for each."""
    if not (await connection.execute(_sql["test"], (key,))).rows:
        return False
    await connection.execute(_sql["trim"], (key, MOST_DELIVERIES))
    return True


async def due(connection: Connection, limit: int) -> list[DueRule]:
    """Rules that are to be evaluated now."""
    return [DueRule(*row) for row in (await connection.execute(_sql["due"], (limit, 2 * AFTER_ERROR))).rows]


async def value(connection: Connection, rule: DueRule, timeout_ms: int) -> int:
    """The value of a rule's figure, at most `MOST_COUNTED`. Raises Conflict if reading takes longer."""
    async with connection.transaction("READ ONLY"):
        await connection.execute("SELECT set_config('statement_timeout', $1, true)", (f"{timeout_ms}ms",))
        found = await connection.execute(_sql[rule.metric.lower()], (rule.tenant, rule.process, MOST_COUNTED))
    result: int = found.rows[0][0]
    return result


async def evaluated(
    connection: Connection, rule: DueRule, value: int | None, error: str | None, rest_s: float = 0.0
) -> None:
    """Write the value of a rule, or why there is none, and what follows. Nothing if the rule has changed meanwhile.

    The next evaluation comes after the rule's interval, and not before `rest_s`.
    """
    values = (rule.key, rule.revision, value, error, 1 if error is None else AFTER_ERROR, rest_s)
    if (await connection.execute(_sql["evaluated"], values)).rows:
        await connection.execute(_sql["trim"], (rule.key, MOST_DELIVERIES))


async def claim(connection: Connection, limit: int, lease_s: int) -> list[AlertDelivery]:
    """Deliveries to try now, one to each receiver of a rule. Without an outcome each is tried again after `lease_s`."""
    return [AlertDelivery(*row) for row in (await connection.execute(_sql["claim"], (limit, lease_s))).rows]


async def tried(connection: Connection, delivery: AlertDelivery, error: str | None, delay_s: float | None) -> None:
    """Write the outcome of an attempt. After an error the next one follows in `delay_s`; None: there is none."""
    state = "DELIVERED" if error is None else "FAILED" if delay_s is None else "PENDING"
    values = (
        delivery.key,
        delivery.revision,
        delivery.attempts,
        state,
        error,
        delay_s or 0.0,
    )
    await connection.execute(_sql["tried"], values)
