"""The chores of alert rules: one evaluates those that are due, another one delivers their notices."""

from __future__ import annotations

from collections.abc import Iterator

import structlog
import trio

from vivero.engine.connectors.outbox.settings import OutboxSettings
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.secrets import Secrets
from vivero.engine.jobs import schedules
from vivero.engine.jobs.chores import chore
from vivero.engine.jobs.definitions import CHORES, JobDefinition, Runs
from vivero.engine.jobs.execution import Connections, Execution
from vivero.storage.background import alert_rules
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import Conflict, DataPoison, StorageBug, describe

log = structlog.get_logger(__name__)

EVERY_S = 5.0
"""The interval in which rules that are due are looked for."""
AT_ONCE = 20
"""Rules that are evaluated, and notices that are delivered, before the next ones are looked for."""
VALUE_MS = 1_000
"""The time for the figure of one rule."""
REST = 100
"""A rule rests this many times as long as its figure took, so that those of one tenant hold up no others."""
LEASE_S = 60
"""A notice whose outcome nobody has written by then is delivered again."""


def chores(
    settings: ConnectorSettings, outbox: OutboxSettings, connections: Connections, secrets: Secrets
) -> Iterator[JobDefinition]:
    """Both chores. `secrets()` reads the secrets of connectors."""

    async def evaluate(connection: Connection, _execution: Execution) -> bool:
        due = await alert_rules.due(connection, AT_ONCE)
        for rule in due:
            await _evaluate(connection, rule)
        return len(due) == AT_ONCE

    async def deliver(_execution: Execution) -> None:
        while True:
            async with connections() as connection:
                claimed = await alert_rules.claim(connection, AT_ONCE, LEASE_S)
            if not claimed:
                return
            from vivero.engine.alerts.deliveries import deliver_all  # it needs the libraries of HTTP

            await deliver_all(settings, outbox, connections, secrets, claimed)

    yield chore("alert-rules", EVERY_S, connections, evaluate)
    yield JobDefinition(f"{CHORES}alert-deliveries", deliver, Runs.TRIO, schedule=schedules.every(f"PT{EVERY_S:g}S"))


async def _evaluate(connection: Connection, rule: alert_rules.DueRule) -> None:
    """Evaluate a rule. One that takes too long says so. None takes more than a hundredth of the time for itself."""
    began, value, error = trio.current_time(), None, None
    try:
        value = await alert_rules.value(connection, rule, VALUE_MS)
    except Conflict:
        error = f"reading the figure took more than {VALUE_MS} ms"
    except (DataPoison, StorageBug) as failed:
        error = describe(failed)
    if error is not None:
        log.warning("an alert rule cannot be evaluated", key=rule.key, limit_ms=VALUE_MS)
    rest_s = REST * (trio.current_time() - began)
    await alert_rules.evaluated(connection, rule, value, error, rest_s)
