"""The executions of background jobs (`engine/jobs`). Each write of a run compares its lease."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.errors import SteppedDown
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

JOBS_CHANNEL = "vivero_jobs"
"""The channel of NOTIFY that tells dispatchers to look for executions."""


class Run(msgspec.Struct, frozen=True, gc=False):
    """An execution that this node runs. `attempt` counts from 0; times are in epoch ms, by the engine's clock."""

    id: str
    type: str
    attempt: int
    payload: str | None
    trace_context: str | None
    partition: int | None
    lease: str
    occurrence: int
    due_ms: int
    created_ms: int
    epoch: int | None = None
    """The term of the partition, for chores that only its owner does."""


class Rescheduled(msgspec.Struct, frozen=True, gc=False):
    """The next state of an execution whose run has ended, and which waits again."""

    run: Run
    due_ms: int
    attempt: int = 0
    occurrence: int = 0
    error: str | None = None


class Outcomes(msgspec.Struct, gc=False):
    """The ends of runs that are to be written."""

    completed: list[Run] = []
    go_on: list[Rescheduled] = []
    failed: list[Rescheduled] = []
    """Their last attempt failed; `due_ms` is not used."""
    failed_scheduled: list[Rescheduled] = []
    """Likewise, and the schedule goes on at `due_ms`."""

    def __len__(self) -> int:
        return len(self.completed) + len(self.go_on) + len(self.failed) + len(self.failed_scheduled)

    def merged_with(self, later: Outcomes) -> Outcomes:
        """These and later ones."""
        return Outcomes(
            self.completed + later.completed,
            self.go_on + later.go_on,
            self.failed + later.failed,
            self.failed_scheduled + later.failed_scheduled,
        )


class Due(msgspec.Struct, frozen=True, gc=False):
    """The time, and when the next execution is due, in epoch ms. Chores have the real time, others the engine's."""

    now_ms: int
    next_ms: int | None


class Consumers(msgspec.Struct, frozen=True):
    """Types of jobs that follow events, and the partitions that have new ones."""

    types: Sequence[str]
    partitions: Sequence[int]


NO_CONSUMERS = Consumers((), ())


class PullLimits(msgspec.Struct, frozen=True):
    """The limits of a pull: up to `most` executions, and a number for each type."""

    types: Mapping[str, int]
    most: int
    in_cluster: Mapping[str, int] = {}
    """The types that have a limit over all nodes."""

    @property
    def limits(self) -> list[int | None]:
        return [self.in_cluster.get(type) for type in self.types]


NOTHING = PullLimits({}, 0)


class Dispatcher(msgspec.Struct, frozen=True):
    """The connection of a node's dispatcher. Only the last one of a node may pull."""

    node: str
    session: int
    chores_of: str | None = None
    """Present for chores: the node whose partitions they belong to. They run by real time."""


async def register(
    connection: Connection,
    node: str,
    leases: Sequence[str],
    types: Sequence[str] = (),
    chores_of: str | None = None,
) -> Dispatcher:
    """Begins a session of the node, which runs these types, and still runs what has these leases.

    Raises:
        SteppedDown: another connection of the node has begun one.
    """
    known = (await connection.execute(_sql["session"], (node,))).rows
    values = (node, known[0][0] if known else None, list(leases), list(types))
    rows = (await connection.execute(_sql["register"], values)).rows
    if not rows:
        raise SteppedDown(f"another connection of node {node} began to dispatch jobs")
    return Dispatcher(node, rows[0][0], chores_of)


def _ends(outcomes: Outcomes) -> list[Call]:
    calls: list[Call] = []
    if outcomes.completed:
        runs = outcomes.completed
        calls.append((_sql["complete"], ([run.id for run in runs], [run.lease for run in runs])))
    if outcomes.go_on:
        calls.append((_sql["go_on"], _columns(outcomes.go_on)))
    if outcomes.failed:
        ids, leases, *_, errors = _columns(outcomes.failed)
        calls.append((_sql["fail"], (ids, leases, errors)))
    if outcomes.failed_scheduled:
        calls.append((_sql["fail_scheduled"], _columns(outcomes.failed_scheduled)))
    return calls


def _columns(ends: Sequence[Rescheduled]) -> list[list[Any]]:
    return [
        [end.run.id for end in ends],
        [end.run.lease for end in ends],
        [end.due_ms for end in ends],
        [end.attempt for end in ends],
        [end.occurrence for end in ends],
        [end.error for end in ends],
    ]


async def exchange(
    connection: Connection,
    dispatcher: Dispatcher,
    outcomes: Outcomes,
    batch: PullLimits = NOTHING,
    consumers: Consumers = NO_CONSUMERS,
) -> tuple[list[Run], set[str], Due]:
    """Writes ends and pulls due executions, in one round trip and one transaction.

    It also makes waiting consumers of partitions with new events due.

    Returns the runs, the leases of the ends that counted, and when the next execution of the batch's types is due.

    Raises:
        SteppedDown: a later connection of this node dispatches.
    """
    calls = _ends(outcomes)
    ends = len(calls)
    if consumers.partitions:
        calls.append((_sql["nudge"], (list(consumers.types), list(consumers.partitions))))
    calls += _pull(dispatcher, batch)
    asked = list(batch.types), dispatcher.node, dispatcher.session, dispatcher.chores_of, batch.limits
    calls.append((_sql["next_due"], asked))
    results = await connection.pipeline(calls)
    counted = {lease for result in results[:ends] for (lease,) in result.rows}
    now_ms, valid, next_ms = results[-1].rows[0]
    if not valid:
        raise SteppedDown(f"another connection of node {dispatcher.node} dispatches jobs")
    runs = [Run(*row) for row in results[-2].rows] if batch.most else []
    return runs, counted, Due(now_ms, next_ms)


def _pull(dispatcher: Dispatcher, batch: PullLimits) -> list[Call]:
    if not batch.most:
        return []
    values = (
        dispatcher.node, dispatcher.session, list(batch.types), batch.most, list(batch.types.values()), batch.limits,
        dispatcher.chores_of,
    )  # fmt: skip
    pull: list[Call] = [(_sql["pull"], values)]
    return [(_sql["one_at_a_time"], ()), *pull] if batch.in_cluster else pull


async def hand_back(connection: Connection, dispatcher: Dispatcher, leases: Sequence[str]) -> None:
    """Hands back everything that the node runs, except the runs with these leases, and forgets the dispatcher."""
    await connection.execute(_sql["hand_back"], (dispatcher.node, dispatcher.session, list(leases)))


async def keep_alive(connection: Connection, leases: Sequence[str]) -> set[str]:
    """Makes the heartbeat of the runs with these leases; returns those that still have theirs."""
    return {lease for (lease,) in (await connection.execute(_sql["keep_alive"], (list(leases),))).rows}


async def recover(connection: Connection, types: Mapping[str, tuple[int, int]]) -> list[tuple[str, str, str]]:
    """Takes runs without a heartbeat for too long from their nodes. Returns id, type and new state of each.

    `types`: by type the attempts, 0 without an end, and the milliseconds without a heartbeat.
    """
    values = (list(types), [most for most, _ in types.values()], [stale_ms for _, stale_ms in types.values()])
    return [(id, type, state) for id, type, state in (await connection.execute(_sql["recover"], values)).rows]


class Scheduled(msgspec.Struct, frozen=True):
    """A scheduled job: the text of its schedule, its next time, and whether it has an execution in each partition."""

    type: str
    schedule: str
    due_ms: int
    by_partition: bool = False


async def ensure_scheduled(connection: Connection, dispatcher: Dispatcher, jobs: Sequence[Scheduled]) -> None:
    """Makes the executions of scheduled jobs that are absent."""
    columns = (
        [job.type for job in jobs],
        [job.schedule for job in jobs],
        [job.due_ms for job in jobs],
        [int(job.by_partition) for job in jobs],
    )
    await connection.execute(_sql["ensure_scheduled"], (*columns, dispatcher.node, dispatcher.session))


async def ensure_consumers(connection: Connection, types: Sequence[str]) -> None:
    """Makes the executions of consumers of events: one in each partition."""
    await connection.execute(_sql["ensure_consumers"], (list(types),))


async def complete_one(connection: Connection, run: Run) -> bool:
    """Completes a run in the transaction that is open. False if the run has lost its lease."""
    return bool((await connection.execute(_sql["complete_one"], (run.id, run.lease))).rows)


async def go_on_one(connection: Connection, run: Run, due_ms: int) -> bool:
    """Ends a run in the transaction that is open; the execution waits. False if the run has lost its lease."""
    return bool((await connection.execute(_sql["go_on_one"], (run.id, run.lease, due_ms))).rows)


async def take_queued(connection: Connection, above: int, most: int, within_ms: int | None = None) -> int | None:
    """Add up to `most` executions that clients queued in their own transactions behind the id `above`; the last id.

    `within_ms`: only those of transactions that began so short a time ago.

    None if there are none, or none can be added now. Raises Conflict while a table is locked.
    """
    values = (above, most, within_ms, JOBS_CHANNEL)
    last_id: int | None = (await connection.execute(_sql["take_queued"], values)).rows[0][0]
    return last_id


async def add(
    connection: Connection,
    id: str,
    type: str,
    payload: str | None,
    due_ms: int | None,
    trace: str | None = None,
    unique_key: str | None = None,
) -> str:
    """Adds an execution, due now without `due_ms`; its id. While one with this id waits, nothing is added.

    While another of this type with this unique key waits or runs, nothing is added either; the other's id.
    """
    while True:
        values = (id, type, payload, due_ms, trace, JOBS_CHANNEL, unique_key)
        if rows := (await connection.execute(_sql["add"], values)).rows:
            return str(rows[0][0])


# -- for people


class ExecutionView(msgspec.Struct, frozen=True, gc=False):
    """An execution as people see it. Times are in epoch ms; `alive_ms`, the last heartbeat, is real time."""

    id: str
    type: str
    state: str
    attempt: int
    due_ms: int
    alive_ms: int | None
    created_ms: int
    failed_ms: int | None
    payload: str | None
    error: str | None
    node: str | None
    schedule: str | None
    partition: int | None
    occurrence: int
    unique_key: str | None = None


class TypeView(msgspec.Struct, frozen=True, gc=False):
    """A type of job, and how many of its executions wait, run and have failed."""

    type: str
    pending: int
    running: int
    failed: int
    schedule: str | None
    paused: bool
    nodes: int
    """The number of nodes that run the type."""


async def search(
    connection: Connection,
    id: str | None = None,
    type: str | None = None,
    state: str | None = None,
    first: int = 0,
    limit: int = 100,
    chores: bool | None = None,
) -> tuple[list[ExecutionView], int]:
    """The executions that fit, the one that is due last first, and how many there are (0 beyond the last page).

    `chores`: only the program's own, or none of them.
    """
    rows = (await connection.execute(_sql["search"], (id, type, state, first, limit, chores))).rows
    return [ExecutionView(*row[:-1]) for row in rows], rows[0][-1] if rows else 0


async def types(connection: Connection) -> list[TypeView]:
    """All types that have executions, are paused, or are known to a node, by name."""
    return [TypeView(*row) for row in (await connection.execute(_sql["types"])).rows]


async def known_types(connection: Connection) -> list[str]:
    """The types that a node runs, or has run in the last days, by name."""
    return [type for (type,) in (await connection.execute(_sql["known"])).rows]


async def repeats(connection: Connection, type: str) -> bool:
    """Whether a type has a schedule or follows events, so that an execution of it would never end."""
    return bool((await connection.execute(_sql["repeats"], (type,))).rows[0][0])


async def run_now(connection: Connection, found: ExecutionView) -> bool:
    """Makes a pending execution due. False if it is due already, not pending, or has run since it was read."""
    values = (found.id, found.occurrence, found.attempt, JOBS_CHANNEL)
    return bool((await connection.execute(_sql["run_now"], values)).rows)


async def retry(connection: Connection, found: ExecutionView) -> bool:
    """Gives a failed execution all of its attempts again.

    False if it has not failed, or not as it was read, or if another with its unique key waits or runs.
    """
    return bool((await connection.execute(_sql["retry"], (found.id, found.failed_ms, JOBS_CHANNEL))).rows)


async def cancel(connection: Connection, found: ExecutionView) -> bool:
    """Ends a run for good. False if it does not run, as it was read, or has a schedule or follows events."""
    return bool((await connection.execute(_sql["cancel"], (found.id, found.attempt, found.occurrence))).rows)


async def delete(connection: Connection, found: ExecutionView) -> bool:
    """Deletes an execution that failed, or waits for its only run. False if there is none, as it was read."""
    values = (found.id, found.state, found.attempt, found.occurrence)
    return bool((await connection.execute(_sql["delete"], values)).rows)


async def now_ms(connection: Connection) -> int:
    """The engine's time."""
    return int((await connection.execute(_sql["now"])).rows[0][0])


async def delete_failed(connection: Connection, type: str | None, before_ms: int, limit: int) -> int:
    """Deletes up to `limit` executions that failed before, of one type or of all; their number."""
    return (await connection.execute(_sql["delete_failed"], (type, before_ms, limit))).count


async def delete_pending(connection: Connection, type: str | None, before_ms: int, limit: int) -> int:
    """Deletes up to `limit` waiting executions that were added before, except schedules and consumers; their number."""
    return (await connection.execute(_sql["delete_pending"], (type, before_ms, limit))).count


async def purge(connection: Connection, age_ms: int, limit: int) -> int:
    """Deletes up to `limit` executions that failed longer ago; their number."""
    return (await connection.execute(_sql["purge"], (age_ms, limit))).count


async def set_paused(connection: Connection, type: str, paused: bool) -> None:
    """Begins no more runs of a type, on any node, or does so again."""
    while True:
        pauses = (await connection.execute(_sql["pauses"])).rows[0][0]
        call = (_sql["pause"], (type, pauses)) if paused else (_sql["resume"], (type, pauses, JOBS_CHANNEL))
        if (await connection.execute(*call)).rows:
            return
