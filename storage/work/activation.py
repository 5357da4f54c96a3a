"""Leasing jobs to workers (docs/design/log.md §7).

Activation does not go through the log. Any node leases jobs by one autocommit statement. For workers that already wait,
the batch that creates jobs saves them with leases (docs/adr/0091). A lease is a token and a time. A job whose lease has
ended can be leased again, without a sweeper. Otherwise only this module grants leases; a batch sets the lease columns
when it creates, fails or ends a job. docs/adr/0008 says why jobs come with their lease, docs/adr/0013 why they
are measured before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from enum import Enum
from typing import NamedTuple
from uuid import UUID, uuid4

import msgspec

from vivero.core.partitions.keys import keys_of
from vivero.storage.postgres.driver import Call, Connection, QueryResult
from vivero.storage.postgres.sql_files import beside
from vivero.storage.work.scan_bounds import EVERYTHING, ObservedBounds, ScanStart

_sql = beside(__file__)

MAX_TIMEOUT_MS = 10 * 365 * 24 * 3600 * 1000
"""Ten years. Longer leases become that long: a date that PostgreSQL cannot hold would stop every activation."""


AT_ONCE = 50
"""Jobs that one statement leases at most."""
NAMES_AT_ONCE = 5_000
"""Names, of all its jobs together, that one statement looks up. Of the first job it looks up any number."""
SMALL_BYTES = 60_000
"""The most bytes of all jobs that come with their leases."""
MAX_VARIABLES = 100_000
"""Variables that a job may see. It cannot be shown to a worker that fetches more."""


class Lease(msgspec.Struct, frozen=True, gc=False):
    """One activation of a job. The token, the activation's, tells it from every other of that job."""

    job_key: int
    token: str
    size: int = 0
    """Bytes that the job takes as the API shows it, about."""
    job: bytes | None = None
    """The job as the API shows it, in JSON, if it came with the lease; otherwise `activated_jobs` reads it."""


class TooLargeJob(NamedTuple):
    """The first job that was not leased, because it did not fit.

    `lease`: the token of its last lease, which is over; None: it had none. `size` None: it sees too many variables.
    """

    job_key: int
    lease: str | None
    size: int | None


class Activation(NamedTuple):
    """The result of one look for jobs."""

    leases: list[Lease]
    too_large: TooLargeJob | None = None
    seen: ObservedBounds | None = None
    """For the bounds of the next look. None: it saw no job."""

    @property
    def size(self) -> int:
        """Bytes that the jobs take together, about."""
        return sum(lease.size for lease in self.leases)


class SmallActivation(NamedTuple):
    """The result of one plain look: jobs that come with their leases."""

    leases: list[Lease]
    large: bool = False
    """It leased nothing, because not all jobs are small. `activate` measures them."""
    slow: bool = False
    """Its scans may have read many dead entries."""


class Refusal(Enum):
    """The reason why a lease was not extended."""

    NO_JOB = "no job that is open"
    NOT_LEASED = "not leased"
    OTHER_LEASE = "another's lease"


class ActivationRequest(NamedTuple):
    """The request of a worker: up to `limit` jobs of a type for `timeout_ms`.

    `names`: only the variables of these names; `with_token`: it wants to be told the lease's token.
    """

    type: str
    tenant: str
    limit: int
    timeout_ms: int
    worker: str
    names: Sequence[str] | None = None
    with_token: bool = False


ACTIVATE, ACTIVATE_NAMED = _sql["activate"], _sql["activate_named"]
ACTIVATE_SMALL, ACTIVATE_SMALL_NAMED = _sql["activate_small"], _sql["activate_small_named"]
ACTIVATE_NEAR, ACTIVATE_NEAR_NAMED = _sql["activate_near"], _sql["activate_near_named"]
ACTIVATED, ACTIVATED_NAMED = _sql["activated_jobs"], _sql["activated_jobs_named"]


def at_once(ask: ActivationRequest) -> int:
    """Jobs that one statement leases at most."""
    return min(ask.limit, AT_ONCE if not ask.names else max(1, min(AT_ONCE, NAMES_AT_ONCE // len(ask.names))))


def lease_statement(
    ask: ActivationRequest,
    token: UUID,
    room: int = SMALL_BYTES,
    variables: int = MAX_VARIABLES,
    start: ScanStart = EVERYTHING,
) -> Call:
    """The statement that leases jobs under this token: expired ones first, then by priority and age.

    It leases `at_once` of them at most, and only as many as fit into `room` bytes. It looks at no more than `variables`
    of a job. If all are small, they come with their leases and variables. The scans begin at `start`.
    """
    type, tenant, _, timeout_ms, worker, names, with_token = ask
    wanted = None if names is None else list(names)
    duration, limit = min(timeout_ms, MAX_TIMEOUT_MS), at_once(ask)
    bounds = (start.due_ms, *map(list, (start.highest, start.lowest, start.keys, start.last_keys)))
    whose = (type, tenant, limit, duration, worker, wanted, with_token, str(token), room, variables, *bounds)
    return ACTIVATE if names is None else ACTIVATE_NAMED, whose


def plain_lease_statement(
    ask: ActivationRequest, token: UUID, room: int = SMALL_BYTES, first: int | None = None
) -> Call:
    """The statement for jobs that are all small: it leases the same as `lease_statement` without bounds, or nothing.

    Among those of the highest priority, the jobs of the partition `first` come first.
    """
    type, tenant, _, timeout_ms, worker, names, with_token = ask
    wanted = None if names is None else list(names)
    duration = min(timeout_ms, MAX_TIMEOUT_MS)
    values = (type, tenant, at_once(ask), duration, worker, wanted, with_token, str(token), min(room, SMALL_BYTES))
    if first is None:
        return ACTIVATE_SMALL if names is None else ACTIVATE_SMALL_NAMED, values
    return ACTIVATE_NEAR if names is None else ACTIVATE_NEAR_NAMED, (*values, *keys_of(first))


def read_small_activation(result: QueryResult) -> SmallActivation:
    """The result of the statement of `plain_lease_statement`."""
    rows = result.rows
    leases = [Lease(key, token, len(job), job) for key, token, _, job in rows if job is not None]
    if len(leases) == len(rows):
        return SmallActivation(leases)
    small = rows[-1][2]
    return SmallActivation(leases, not small, small)


def read_activation(result: QueryResult) -> Activation:
    """The result of the statement of `activation`."""
    leases = [Lease(key, token, size, job) for key, token, fits, size, job, *_ in result.rows if fits]
    too_large = next((TooLargeJob(key, token, size) for key, token, fits, size, *_ in result.rows if not fits), None)
    return Activation(leases, too_large, _seen(result))


def _seen(result: QueryResult) -> ObservedBounds | None:
    if not result.rows:
        return None
    first_keys = {(priority, key) for *_, priority, key, _, _ in result.rows if key is not None}
    return ObservedBounds(result.rows[0][-2], first_keys, result.rows[0][-1])


async def activate(
    connection: Connection,
    ask: ActivationRequest,
    room: int = SMALL_BYTES,
    token: UUID | None = None,
    start: ScanStart = EVERYTHING,
) -> Activation:
    """Lease jobs, in a transaction of their own. If it raises with `in_doubt`, jobs may have been leased to nobody:
    `take_back` makes them available again, or else the end of their time."""
    return read_activation(
        await connection.execute(*lease_statement(ask, token or uuid4(), room, MAX_VARIABLES, start))
    )


async def activate_plainly(
    connection: Connection, ask: ActivationRequest, room: int, token: UUID, first: int | None = None
) -> SmallActivation:
    """As `activate`, for jobs that are all small. `first`: see `plain_lease_statement`."""
    return read_small_activation(await connection.execute(*plain_lease_statement(ask, token, room, first)))


async def take_back(connection: Connection, type: str, tenant: str, tokens: Sequence[UUID]) -> int:
    """Make available again what was leased under these tokens; how many jobs that was.

    An activation under one of them that begins later leases nothing. One that has begun may still lease: look again.
    """
    return (await connection.execute(_sql["take_back"], (type, tenant, [str(token) for token in tokens]))).count


async def activated_jobs(
    connection: Connection, leases: Sequence[Lease], names: Sequence[str] | None, with_token: bool
) -> list[bytes]:
    """The leased jobs as the API shows them, in JSON, with the variables that they see; `names`: only those.

    A job that was cancelled in the meantime is left out.
    """
    keys, tokens = _columns(leases)
    wanted = None if names is None else list(names)
    statement = ACTIVATED if names is None else ACTIVATED_NAMED
    result = await connection.execute(statement, (keys, tokens, wanted, with_token))
    return [job for (job,) in result.rows]


async def release(connection: Connection, leases: Iterable[Lease]) -> list[tuple[str, str]]:
    """Give leases back; (type, tenant) of each job that is available again thereby."""
    keys, tokens = _columns(leases)
    rows = (await connection.execute(_sql["release"], (keys, tokens))).rows
    available = [(type, tenant) for _, type, tenant, released in rows if released]
    for key in [key for key, _, _, released in rows if not released]:
        available += (await connection.execute(_sql["release_one"], (key, tokens))).rows
    return available


async def next_available_ms(
    connection: Connection, type: str, tenant: str, due_ms: int = 0, within_ms: int = MAX_TIMEOUT_MS
) -> int | None:
    """The ms of the engine's clock until the type's next lease or backoff ends. None: none ends within `within_ms`.

    `due_ms`: the bound of a `ScanStart`.
    """
    rows = (await connection.execute(_sql["next_available"], (type, tenant, due_ms, within_ms))).rows
    return rows[0][0] if rows else None


async def extend(
    connection: Connection, job_key: int, timeout_ms: int, token: str | None, tenants: Collection[str] | None = None
) -> tuple[str, str] | Refusal:
    """Let a lease end `timeout_ms` from now; the job's type and tenant. With a token (a UUID), only the lease's.

    With `tenants`, only a job of one of these.
    """
    duration = min(timeout_ms, MAX_TIMEOUT_MS)
    while True:  # as often as others change the lease in between
        found = (await connection.execute(_sql["lease"], (job_key, None if tenants is None else list(tenants)))).rows
        if not found:
            return Refusal.NO_JOB
        leased, holder, until = found[0]
        if not leased:
            return Refusal.NOT_LEASED
        if token not in (None, holder):
            return Refusal.OTHER_LEASE
        extended = (await connection.execute(_sql["extend"], (job_key, duration, holder, until))).rows
        if extended:
            return extended[0][0], extended[0][1]


def _columns(leases: Iterable[Lease]) -> tuple[list[int], list[str]]:
    leases = list(leases)
    return [lease.job_key for lease in leases], [lease.token for lease in leases]
