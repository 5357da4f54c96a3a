"""Orders in a table of your own: `workflow_executions`, with optimistic locking. The engine needs no table.

    python examples/snapshots/executions.py postgresql://localhost/mydb

starts ten orders and runs two workers on them, which compete for each step.
"""

from __future__ import annotations

import sys
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg

from vivero.library import Models, Result, advance, complete, fail, read, start

TABLE = """
CREATE TABLE IF NOT EXISTS workflow_executions (
    id         text PRIMARY KEY,
    version    bigint NOT NULL,
    snapshot   jsonb NOT NULL,
    status     text NOT NULL,
    due_at     timestamptz,  -- when a timer fires or a job may be tried again
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX IF NOT EXISTS workflow_executions_status ON workflow_executions (status, due_at);
"""
INSERT = "INSERT INTO workflow_executions (id, version, snapshot, status, due_at) VALUES (%s, %s, %s, %s, %s)"
SELECT = "SELECT version, snapshot::text FROM workflow_executions WHERE id = %s"
UPDATE = """
UPDATE workflow_executions SET version = %s, snapshot = %s, status = %s, due_at = %s, updated_at = now()
WHERE id = %s AND version = %s
"""
ACTIVE = "SELECT id FROM workflow_executions WHERE status = 'ACTIVE' ORDER BY id"

MODELS = Models.read(Path(__file__).parents[1] / "order" / "order.bpmn")

Handlers = Mapping[str, Callable[[Mapping[str, Any]], Mapping[str, Any]]]
"""Job type → the function that does the job: variables in, variables out."""

HANDLERS: Handlers = {
    "check-stock": lambda order: {"inStock": True},
    "charge-card": lambda order: {"receipt": f"R-{order['amount']}"},
    "pick-items": lambda order: {},
    "pack-parcel": lambda order: {"parcel": "P-1"},
    "send-confirmation": lambda order: {},
}


def begin(connection: psycopg.Connection, id: str, variables: Mapping[str, Any], now: datetime) -> None:
    """Start an execution."""
    result = start(MODELS, variables, now=now)
    instance = result.instance
    connection.execute(INSERT, (id, result.version, result.snapshot, instance.state, instance.next_due))


def load(connection: psycopg.Connection, id: str) -> tuple[int, str]:
    """The version and the snapshot of an execution."""
    row = connection.execute(SELECT, (id,)).fetchone()
    if row is None:
        raise LookupError(f"there is no execution {id}")
    return row[0], row[1]


def next_step(snapshot: str, handlers: Handlers, now: datetime) -> Result | None:
    """Let due timers fire, or do one job; None if there is nothing to do now."""
    instance = read(snapshot)
    if instance.next_due is not None and instance.next_due <= now:
        return advance(MODELS, snapshot, now)
    for job in instance.available_jobs:
        if job.type in handlers:
            try:
                variables = handlers[job.type](job.variables)
            except Exception as error:  # a bad job must not end the work on all others
                return fail(MODELS, snapshot, job.key, f"{type(error).__name__}: {error}", now=now)
            return complete(MODELS, snapshot, job.key, variables, now=now)
    return None


def store(connection: psycopg.Connection, id: str, read_version: int, result: Result) -> bool:
    """Write the step if nobody has written since. False: another worker was faster, so drop the result."""
    instance = result.instance
    changes = (result.version, result.snapshot, instance.state, instance.next_due, id, read_version)
    return connection.execute(UPDATE, changes).rowcount == 1


def work(dsn: str, handlers: Handlers, stored: Counter[str]) -> None:
    """A worker: step after step until there is nothing to do. Counts the steps that it stored, and dropped."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        moved = True
        while moved:
            moved = False
            for (id,) in connection.execute(ACTIVE).fetchall():
                version, snapshot = load(connection, id)
                result = next_step(snapshot, handlers, datetime.now(UTC))
                if result is not None:
                    moved = True
                    stored["stored" if store(connection, id, version, result) else "dropped"] += 1


def main(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(TABLE)
        for number in range(10):
            order = {"items": [{"price": 12, "quantity": number + 1}]}
            begin(connection, f"order-{datetime.now(UTC):%H%M%S}-{number}", order, datetime.now(UTC))
    counts: Counter[str] = Counter()
    workers = [threading.Thread(target=work, args=(dsn, HANDLERS, counts)) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    print(f"nothing is left to do: {counts['stored']} steps stored, {counts['dropped']} dropped")


if __name__ == "__main__":
    main(sys.argv[1])
