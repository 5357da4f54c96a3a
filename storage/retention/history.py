"""The deletion of ended instance trees, and what retention has to know for it (docs/retention.md).

A tree is deleted in one statement, with everything that belongs to it, or not at all. The record in `deleted_trees` is
made by the same statement: replay of the event log leaves these trees out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import trio

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

DELETED, UNKNOWN, CALLED, RUNNING, BUSY = "DELETED", "UNKNOWN", "CALLED", "RUNNING", "BUSY"
"""The outcome for a tree; `BUSY`: others archive it. Any other text names what refers to it."""
REQUEST, ERASURE = "REQUEST", "ERASURE"
"""The reason of a deletion, for its record; retention has its own statement."""
PATIENCE_S = 120.0
"""The longest that the deletion or the erasure of one tree may take: it may have a million rows."""


class Times(msgspec.Struct, frozen=True, gc=False):
    """The time by which retention judges, and the engine's, in epoch ms; and how often the first has moved."""

    judged_ms: int
    now_ms: int
    moves: int


class Kept(msgspec.Struct, frozen=True, gc=False, order=True):
    """A tree that should have been deleted: when, in epoch milliseconds, its root, and what keeps it."""

    due_ms: int
    key: int
    by: str


class State(msgspec.Struct, frozen=True):
    """The state of retention in a partition, and the reason for its waiting. Seconds; None: never, or nothing."""

    partition: int
    behind_s: float
    """By how much its clock is behind the engine's."""
    ran_s: float | None
    """Since the last run ended."""
    ran_deleted: int
    deleted: int
    problem: str | None
    """The reason why the last run could not go on: the archive is away."""
    problem_s: float | None
    kept_key: int | None
    """The root of the tree that should have been deleted first, and is still there."""
    overdue_s: float | None
    kept_by: str | None
    logs_kept_by: str | None
    """`consumer` or `instance`, if the oldest log partition could be dropped otherwise."""
    logs_kept_name: str | None = None
    """The consumer, or the key of the instance."""
    logs_kept_s: float | None = None
    """Since the consumer acknowledged an event, or the instance began."""
    logs_oldest_s: float | None = None
    """The age of the oldest event."""
    logs_commands: int | None = None
    """Positions from there to the end."""
    logs_bytes: int | None = None
    """The bytes of both logs, with all that is in them."""


class Ended(msgspec.Struct, frozen=True, gc=False):
    """An instance that has ended. `own`: it is the root of a tree of the partition that was asked for."""

    key: int
    ended_ms: int
    definition_key: int
    process_id: str
    tenant: str
    own: bool


async def be_patient(connection: Connection) -> float:
    """Let the next statements of the transaction take as long as a large tree needs; the deadline for one of them."""
    await connection.execute(_sql["patience"], (f"{PATIENCE_S:g}s",))
    return trio.current_time() + PATIENCE_S


async def delete_trees(connection: Connection, roots: Sequence[int], why: str) -> dict[int, str]:
    """Delete the trees of these roots, in the caller's transaction; what became of each."""
    deadline = await be_patient(connection)
    if why == ERASURE:
        await connection.execute(_sql["delete_queued"], (list(roots),), deadline=deadline)
    return dict((await connection.execute(_sql["delete_trees"], (list(roots), why), deadline=deadline)).rows)


async def foresee(connection: Connection, roots: Sequence[int]) -> dict[int, str]:
    """The outcome of a deletion of the trees of these ended roots now. Nothing is deleted."""
    found = dict((await connection.execute(_sql["keepers"], (list(roots),))).rows)
    return {root: found[root] or DELETED if root in found else UNKNOWN for root in roots}


async def foresee_tree(connection: Connection, root: int) -> tuple[str, int]:
    """The outcome of a deletion of the tree of this root now, and its process instances. Nothing is deleted."""
    found = (await connection.execute(_sql["keeper"], (root,))).rows
    return (found[0][0] or DELETED, found[0][1]) if found else (UNKNOWN, 0)


async def delete_old_trees(connection: Connection, partition: int, epoch: int, roots: Sequence[int]) -> dict[int, str]:
    """The same for retention, in a term; empty in another term."""
    values, deadline = (list(roots), partition, epoch), trio.current_time() + PATIENCE_S
    return dict((await connection.execute(_sql["delete_old_trees"], values, deadline=deadline)).rows)


async def advance_clock(
    connection: Connection, partition: int, epoch: int, step_ms: int, shortest_ms: int, deleted: int = 0
) -> Times | None:
    """Moves the partition's clock of retention by at most `step_ms`; None in another term.

    `shortest_ms`: how long the instances stay that go first. `deleted`: how many trees retention has deleted meanwhile.
    """
    known = (await connection.execute(_sql["clock"], (partition,))).rows
    if known:
        values = (partition, epoch, step_ms, known[0][0], deleted)
        rows = (await connection.execute(_sql["advance_clock"], values)).rows
    else:
        rows = (await connection.execute(_sql["begin_clock"], (partition, epoch, shortest_ms))).rows
    return Times(*rows[0]) if rows else None


async def note_run(
    connection: Connection,
    partition: int,
    epoch: int,
    moves: int,
    deleted: int,
    problem: str | None,
    kept: Kept | None,
    logs_kept_by: str | None,
) -> None:
    """Write down what the run did that moved the clock for the `moves`-th time. Nothing in another term."""
    of_kept = (None, None, None) if kept is None else (kept.key, kept.due_ms, kept.by)
    values = (partition, epoch, moves, deleted, problem, *of_kept, logs_kept_by)
    await connection.execute(_sql["note_run"], values)


async def behind_ms(connection: Connection) -> int:
    """By how much the slowest clock of retention is behind the engine's, in ms; 0 if retention deletes nothing."""
    found: int = (await connection.execute(_sql["behind"])).rows[0][0]
    return found


async def states(connection: Connection) -> list[State]:
    """The state of retention by partition."""
    return [State(*row) for row in (await connection.execute(_sql["state"])).rows]


async def ended(
    connection: Connection, partition: int, after: tuple[int, int], until_ms: int, limit: int
) -> list[Ended]:
    """Up to `limit` instances that ended until then, behind the one with this end and key, the earliest first."""
    rows = (await connection.execute(_sql["ended"], (partition, *after, until_ms, limit))).rows
    return [Ended(*row) for row in rows]


async def of_models(connection: Connection) -> Mapping[int, int]:
    """Key of a definition → how long its ended instances stay, in ms, 0 for ever, for those whose model says so."""
    return dict((await connection.execute(_sql["of_models"])).rows)


async def drop_log_partitions(
    connection: Connection, partition: int, epoch: int, before_ms: int
) -> tuple[int, str | None]:
    """Drop log partitions whose events are older, the oldest first; how many, and why the next one stays."""
    values, deadline = (partition, epoch, before_ms), trio.current_time() + PATIENCE_S
    rows = (await connection.execute(_sql["drop_log_partitions"], values, deadline=deadline)).rows
    return (rows[0][0], rows[0][1]) if rows else (0, None)


async def delete_old_log_rows(connection: Connection, partition: int, epoch: int, before_ms: int, most: int) -> int:
    """Deletes the oldest rows of a log that no piece is dropped of, about `most`; how many rows of the event log."""
    values = (partition, epoch, before_ms, most)
    rows = (await connection.execute(_sql["delete_old_log_rows"], values)).rows
    return rows[0][0] if rows else 0


async def log_keeper(connection: Connection, partition: int, before_ms: int) -> str | None:
    """The keeper of the oldest rows of a slow log that are older: `consumer` or `instance`; None if nothing does."""
    rows = (await connection.execute(_sql["log_keeper"], (partition, before_ms))).rows
    found: str | None = rows[0][0] if rows else None
    return found


async def purge_deleted(connection: Connection, partition: int, epoch: int, limit: int) -> int:
    """Deletes up to `limit` records of deleted trees without events; returns their number."""
    return (await connection.execute(_sql["purge_deleted"], (partition, epoch, limit))).count


async def load(connection: Connection, partition: int) -> tuple[int, int]:
    """The number of positions of the partition that wait to be processed, and the last position."""
    waiting, last = (await connection.execute(_sql["load"], (partition,))).rows[0]
    return waiting, last


def why_not(key: int, root: int, verdict: str) -> str:
    """The reason why the tree was not deleted, for people."""
    begin = f"Expected to delete process instance with key '{key}', but"
    if verdict == CALLED:
        return f"{begin} another one called it. Delete the root process instance '{root}' instead."
    if verdict == RUNNING:
        return f"{begin} it has not ended"
    if verdict == BUSY:
        return f"{begin} it is being archived. Try again later."
    return f"{begin} {verdict} still refers to it. Try again later."
