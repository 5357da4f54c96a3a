"""Handing out jobs to workers: the lease columns of `jobs`, which belong to nobody else (KERNEL.md section 5).

Activation does not go through the log: any node may do it, in one autocommit statement each, or, for workers that wait
already, at the end of the batch that makes their jobs (docs/adr/0011-lease-jobs-in-the-batch.md). A lease is a token
and a time; a job whose time is over can be handed out again, without a sweeper.
Why jobs mostly come with their lease: docs/adr/0008-hand-out-jobs-in-one-statement.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple
from uuid import UUID, uuid4

import msgspec

from storage.driver import Call, Connection, Result
from storage.sql_files import SQL_DIRECTORY, load

_sql = load(SQL_DIRECTORY / "activation.sql")

MAX_TIMEOUT_MS = 10 * 365 * 24 * 3600 * 1000
"""Ten years. Longer leases become that long: a date that PostgreSQL cannot hold would stop every activation."""


class Lease(msgspec.Struct, frozen=True, gc=False):
    """One activation of a job. The token, the activation's, tells it from every other of that job."""

    job_key: int
    token: str
    job: bytes | None = None
    """The job as the API shows it, in JSON, if it came with the lease; otherwise `activated_jobs` reads it."""


class Refusal(Enum):
    """Why a lease was not extended."""

    NO_JOB = "no job that is open"
    NOT_LEASED = "not leased"
    OTHER_LEASE = "another's lease"


class Ask(NamedTuple):
    """What a worker asks for: up to `limit` jobs of a type for `timeout_ms`.

    `names`: only the variables of these names; `with_token`: it wants to be told the lease's token.
    """

    type: str
    tenant: str
    limit: int
    timeout_ms: int
    worker: str
    names: Sequence[str] | None = None
    with_token: bool = False


def activation(ask: Ask, token: UUID) -> Call:
    """The statement that leases jobs under this token: expired ones first, then by priority and age.

    Few and small ones come with the lease, with the variables that they see, all or none.
    """
    type, tenant, limit, timeout_ms, worker, names, with_token = ask
    wanted = None if names is None else list(names)
    duration = min(timeout_ms, MAX_TIMEOUT_MS)
    return _sql["activate"], (type, tenant, limit, duration, worker, wanted, with_token, str(token))


def leases(result: Result) -> list[Lease]:
    """What the statement of `activation` gave."""
    return [Lease(*row) for row in result.rows]


async def activate(connection: Connection, ask: Ask, token: UUID | None = None) -> list[Lease]:
    """Lease jobs, in a transaction of their own. If it raises with `in_doubt`, jobs may have been leased to nobody:
    `take_back` makes them available again, or else the end of their time."""
    return leases(await connection.execute(*activation(ask, token or uuid4())))


async def take_back(connection: Connection, type: str, tenant: str, tokens: Sequence[UUID]) -> int:
    """Make available again what was leased under these tokens; how many jobs that was."""
    return (await connection.execute(_sql["take_back"], (type, tenant, [str(token) for token in tokens]))).count


async def activated_jobs(
    connection: Connection, leases: Sequence[Lease], names: Sequence[str] | None, with_token: bool
) -> list[bytes]:
    """The leased jobs as the API shows them, in JSON, with the variables that they see; `names`: only those.

    A job that was cancelled in the meantime is left out.
    """
    keys, tokens = _columns(leases)
    wanted = None if names is None else list(names)
    result = await connection.execute(_sql["activated_jobs"], (keys, tokens, wanted, with_token))
    return [job for (job,) in result.rows]


async def release(connection: Connection, leases: Iterable[Lease]) -> list[tuple[str, str]]:
    """Give leases back; (type, tenant) of each job that is available again thereby."""
    result = await connection.execute(_sql["release"], _columns(leases))
    return [(type, tenant) for type, tenant in result.rows]


async def next_available_ms(connection: Connection, type: str, tenant: str) -> int | None:
    """In how many ms of the engine's clock the type's next lease or backoff ends; None when there is none."""
    rows = (await connection.execute(_sql["next_available"], (type, tenant))).rows
    return rows[0][0] if rows else None


async def extend(connection: Connection, job_key: int, timeout_ms: int, token: str | None) -> tuple[str, str] | Refusal:
    """Let a lease end `timeout_ms` from now; the job's type and tenant. With a token (a UUID), only the lease's."""
    duration = min(timeout_ms, MAX_TIMEOUT_MS)
    extended = (await connection.execute(_sql["extend"], (job_key, duration, token))).rows
    if extended:
        return extended[0][0], extended[0][1]
    leased = (await connection.execute(_sql["is_leased"], (job_key,))).rows
    if not leased:
        return Refusal.NO_JOB
    return Refusal.OTHER_LEASE if leased[0][0] else Refusal.NOT_LEASED


def _columns(leases: Iterable[Lease]) -> tuple[list[int], list[str]]:
    leases = list(leases)
    return [lease.job_key for lease in leases], [lease.token for lease in leases]
