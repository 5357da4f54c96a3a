"""Batch operations and their items (docs/batch-operations.md).

The owner of partition 1 works on them. Each of its writes compares the epoch of that partition, and the state of what
it changes: a write that comes late or twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

import msgspec

from vivero.storage.access.tenants import Tenants, TenantStatements
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)
_of_tenants = TenantStatements(__file__)

BATCHES_CHANNEL = "vivero_batches"
"""The channel of NOTIFY that tells the owner of partition 1 that a client created or changed a batch."""

CANCEL_PROCESS_INSTANCE, RESOLVE_INCIDENT = "CANCEL_PROCESS_INSTANCE", "RESOLVE_INCIDENT"
DELETE_PROCESS_INSTANCE, DELETE_DECISION_INSTANCE = "DELETE_PROCESS_INSTANCE", "DELETE_DECISION_INSTANCE"
MIGRATE_PROCESS_INSTANCE, MODIFY_PROCESS_INSTANCE = "MIGRATE_PROCESS_INSTANCE", "MODIFY_PROCESS_INSTANCE"
SUSPEND_PROCESS_INSTANCE, RESUME_PROCESS_INSTANCE = "SUSPEND_PROCESS_INSTANCE", "RESUME_PROCESS_INSTANCE"
UPDATE_JOB = "UPDATE_JOB"
OPEN_STATES = ("CREATED", "ACTIVE", "SUSPENDED")
MAX_ERROR = 4000
"""Characters of an error that are kept."""


class Creator(msgspec.Struct, frozen=True, gc=False):
    """The caller who created a batch: USER, CLIENT, TOKEN or ANONYMOUS; its id; the mapping rules that it fitted.

    `provider` verified it (`api.callers.caller.Caller`); None for batches of older versions.
    """

    kind: str
    id: str
    mapping_rules: tuple[str, ...] = ()
    provider: str | None = None


class CallerBounds(msgspec.Struct, frozen=True, gc=False):
    """The tenants and processes that a caller may change, by their ids; None: all.

    Ids of decisions stand for those of processes where a batch changes decision instances.
    """

    tenants: tuple[str, ...] | None = None
    processes: tuple[str, ...] | None = None

    def allow(self, item: Item) -> bool:
        """Whether the caller may change an item."""
        return (self.tenants is None or item.tenant in self.tenants) and (
            self.processes is None or item.process_id in self.processes
        )


class NewOperation(msgspec.Struct, frozen=True, gc=False):
    """A batch to create. `resource` is what `filter` (JSON) selects. One `request_key`, one batch.

    `plan`: JSON that the commands of all items take something from.
    """

    type: str
    resource: str
    filter: str
    creator: Creator
    bounds: CallerBounds
    request_key: str
    body_sha: bytes
    plan: str | None = None


class Created(msgspec.Struct, frozen=True, gc=False):
    """`same_body` is False if the batch was created by a different request with the same key."""

    key: int
    is_new: bool = True
    same_body: bool = True


class Status(msgspec.Struct, frozen=True, gc=False):
    """The state of a batch, the number of changes by clients, and whether all of its items exist."""

    state: str
    changes: int
    scanned: bool


class Operation(msgspec.Struct, frozen=True, gc=False):
    """A batch with work left. The items up to the key `scan_cursor` exist, in the order of `scan_at` if it has one."""

    key: int
    type: str
    state: str
    resource: str
    scan_cursor: int
    creator: Creator
    bounds: CallerBounds
    created_at: datetime
    scan_at: datetime | None = None


class Candidate(msgspec.Struct, frozen=True, gc=False):
    """A subject that the filter of a batch found. `at`: its time, if the scan goes in the order of a time.

    The evaluation of a decision has the id of a decision as its `process_id`, and no instance if a client asked for it.
    """

    key: int
    process_instance_key: int | None
    root_key: int | None
    process_id: str
    tenant: str
    at: datetime | None = None


class Item(msgspec.Struct, frozen=True, gc=False):
    """An item that has not ended. `position`: None, not sent; 0, sent, perhaps in the log; else that of its command.

    `waits`: the command is in the log and not processed yet.
    """

    key: int
    process_id: str
    tenant: str
    position: int | None = None
    waits: bool | None = None


class ItemEnd(msgspec.Struct, frozen=True, gc=False):
    """The outcome of an item."""

    key: int
    state: str
    error: str | None = None


# -- for the API


async def create(connection: Connection, new: NewOperation) -> Created:
    """Creates a batch, unless an earlier request with its key did."""
    bounds = [None if ids is None else list(ids) for ids in (new.bounds.tenants, new.bounds.processes)]
    rules = list(new.creator.mapping_rules)
    actor = (new.creator.kind, new.creator.id, rules)
    values = (new.type, new.resource, new.filter, *actor, *bounds, new.request_key, new.body_sha, BATCHES_CHANNEL)
    values += (new.creator.provider, new.plan)
    rows = (await connection.execute(_sql["create"], values)).rows
    if rows:
        return Created(rows[0][0])
    key, sha = (await connection.execute(_sql["created"], (new.request_key,))).rows[0]
    return Created(key, is_new=False, same_body=bytes(sha) == new.body_sha)


async def status(connection: Connection, key: int, tenants: Tenants = None) -> Status | None:
    """The status of a batch; None if a reader with these tenants sees no such batch."""
    rows = (await _of_tenants.execute(connection, "status", tenants, key)).rows
    return Status(*rows[0]) if rows else None


async def change(connection: Connection, key: int, found: Status, state: str) -> bool:
    """Gives a batch another state. False if it changed after it was found, or has ended."""
    return bool((await connection.execute(_sql["change"], (key, found.changes, state, BATCHES_CHANNEL))).rows)


# -- for the owner of partition 1


async def open_operations(connection: Connection, after: int, limit: int) -> list[Operation]:
    """Up to `limit` batches with work left, beginning behind the key `after`."""
    rows = (await connection.execute(_sql["open_operations"], (after, limit))).rows
    return [
        Operation(
            key,
            type,
            state,
            resource,
            cursor,
            Creator(kind, id, tuple(rules), provider),
            _bounds(tenants, processes),
            at,
            scan_at,
        )
        for key, type, state, resource, cursor, scan_at, kind, id, rules, tenants, processes, at, provider in rows
    ]


def _bounds(*ids: Sequence[str] | None) -> CallerBounds:
    return CallerBounds(*(None if each is None else tuple(each) for each in ids))


async def filter_of(connection: Connection, key: int) -> bytes:
    """The filter of a batch, as JSON."""
    document: bytes = (await connection.execute(_sql["filter"], (key,))).rows[0][0]
    return document


async def plan_of(connection: Connection, key: int) -> bytes | None:
    """The plan of a batch, as JSON; None if its type needs none."""
    plan: bytes | None = (await connection.execute(_sql["plan"], (key,))).rows[0][0]
    return plan


async def add_items(
    connection: Connection, epoch: int, operation: Operation, found: Sequence[Candidate], complete: bool
) -> bool:
    """Adds what the scan found next. `complete`: there is no more. False if the batch changed meanwhile."""
    cursor, at = (found[-1].key, found[-1].at) if found else (operation.scan_cursor, operation.scan_at)
    columns = (
        [each.key for each in found],
        [each.process_instance_key for each in found],
        [each.root_key for each in found],
        [each.process_id for each in found],
        [each.tenant for each in found],
    )
    values = (operation.key, operation.scan_cursor, cursor, complete, *columns, epoch, at)
    return bool((await connection.execute(_sql["add_items"], values)).rows)


async def reject_filter(connection: Connection, epoch: int, key: int, error: str) -> bool:
    """Fails a batch whose filter cannot be evaluated. False if it changed meanwhile."""
    return bool((await connection.execute(_sql["reject_filter"], (key, error[:MAX_ERROR], epoch))).rows)


async def sent(connection: Connection, key: int, limit: int) -> list[Item]:
    """Up to `limit` items of a batch whose commands may be in the log, those without a known position first."""
    return _items((await connection.execute(_sql["sent"], (key, limit))).rows)


async def unsent(connection: Connection, key: int, limit: int) -> list[Item]:
    """The next items of a batch that are not sent."""
    return _items((await connection.execute(_sql["unsent"], (key, limit))).rows)


def _items(rows: Iterable[tuple[int, str, str, int | None, bool | None]]) -> list[Item]:
    return [Item(*row) for row in rows]


async def take(connection: Connection, epoch: int, key: int, items: Sequence[Item]) -> set[int]:
    """Notes that these items are about to be sent; returns the keys of those that may be."""
    values = (key, [item.key for item in items], epoch)
    return {item_key for (item_key,) in (await connection.execute(_sql["take"], values)).rows}


async def mark(connection: Connection, epoch: int, key: int, positions: Sequence[tuple[int, int]]) -> int:
    """Notes the positions of the commands of items: pairs of item key and position; returns how many are new."""
    keys, at = [item for item, _ in positions], [position for _, position in positions]
    return (await connection.execute(_sql["mark"], (key, keys, at, epoch))).count


async def settle(connection: Connection, epoch: int, key: int, ends: Sequence[ItemEnd]) -> int:
    """Ends items and counts them in their batch; returns how many of them ended now."""
    errors = [None if end.error is None else end.error[:MAX_ERROR] for end in ends]
    values = (key, [end.key for end in ends], [end.state for end in ends], errors, epoch)
    rows = (await connection.execute(_sql["settle"], values)).rows
    return rows[0][0] if rows else 0


async def finish(connection: Connection, epoch: int, key: int) -> str | None:
    """Ends a batch without items left; returns its state, None if it has items left, or is suspended or closed."""
    rows = (await connection.execute(_sql["finish"], (key, epoch))).rows
    return rows[0][0] if rows else None


async def purge(connection: Connection, age_ms: int, limit: int) -> int:
    """Deletes up to `limit` items, and batches without items, that ended longer ago; returns the number of rows."""
    items = (await connection.execute(_sql["purge_items"], (age_ms, limit))).count
    return items + (await connection.execute(_sql["purge_operations"], (age_ms, limit))).count
