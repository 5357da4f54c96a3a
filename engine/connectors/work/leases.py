"""The leases of a node on jobs of connectors: taken, renewed while a call runs, and given back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID, uuid4

import msgspec
import trio

from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.storage.postgres.driver import Connection
from vivero.storage.work import activation
from vivero.storage.work.activation import (
    AT_ONCE,
    SMALL_BYTES,
    Activation,
    ActivationRequest,
    Lease,
    Refusal,
    TooLargeJob,
)

MAX_JOB_BYTES = 4 * 1024 * 1024
"""A job whose inputs are larger is withheld, with an incident."""
MARGIN_S = 20.0
"""A lease lasts this much longer than a call, for reporting its outcome."""
LONGEST_S = 60.0
"""Leases of longer calls have this time and the margin, and are renewed, so that jobs of a dead node do not wait."""

_decode = msgspec.json.Decoder(ConnectorJob).decode


def lease_s(limit_s: float) -> float:
    """The lease of a job whose call takes up to `limit_s`."""
    return min(limit_s, LONGEST_S) + MARGIN_S


@dataclass(slots=True, eq=False)
class HeldJob:
    """A job whose outcome is not reported. `scope` ends with its lease, or before if the job is gone."""

    lease: Lease
    lease_s: float
    scope: trio.CancelScope
    renew_at: float = float("inf")
    """Half of the lease is over then (Trio's clock). Infinite: no call runs any more."""
    is_gone: bool = False
    """The job has ended without this node, or another one has leased it."""

    def renewed(self, begun: float) -> None:
        """The lease was renewed by a statement that began then."""
        self.scope.deadline, self.renew_at = begun + self.lease_s, begun + self.lease_s / 2


class Taken(NamedTuple):
    """Jobs that were leased, and the first one that was too large."""

    jobs: list[ConnectorJob]
    too_large: TooLargeJob | None = None

    @property
    def most(self) -> int:
        """The limit that the job exceeds, in bytes or in variables."""
        too_many = self.too_large is not None and self.too_large.size is None
        return activation.MAX_VARIABLES if too_many else MAX_JOB_BYTES


@dataclass(slots=True)
class JobLeases:
    """The jobs that a node holds."""

    worker: str
    held: dict[int, HeldJob] = field(default_factory=dict)
    """By job key."""
    _lost: list[tuple[str, str, UUID]] = field(default_factory=list)
    """Types, tenants and tokens of activations whose answer was lost."""

    async def take(
        self, connection: Connection, type: str, tenant: str, names: tuple[str, ...], limit: int, lease_s: float
    ) -> Taken:
        """Lease up to `limit` jobs with the variables of these names. They are held from then on."""
        token, begun = uuid4(), trio.current_time()
        ask = ActivationRequest(type, tenant, min(limit, AT_ONCE), round(lease_s * 1000), self.worker, names, True)
        self._lost.append((type, tenant, token))
        found = await _activate(connection, ask, token)
        self._lost.pop()
        for lease in found.leases:
            self.held[lease.job_key] = held = HeldJob(lease, lease_s, trio.CancelScope())
            held.renewed(begun)
        texts = [each.job for each in found.leases if each.job is not None]
        if len(texts) < len(found.leases):
            texts = await activation.activated_jobs(connection, found.leases, names, True)
        jobs = list(map(_decode, texts))
        for key in {lease.job_key for lease in found.leases} - {int(job.job_key) for job in jobs}:
            del self.held[key]  # it was cancelled in the meantime
        return Taken(jobs, None if found.leases else found.too_large)

    @property
    def renew_at(self) -> float:
        """The time of the next renewal (Trio's clock)."""
        return min((each.renew_at for each in self.held.values()), default=float("inf"))

    async def renew(self, connection: Connection) -> None:
        """Renew the leases of which half is over. The calls of jobs that are gone end."""
        for key, held in list(self.held.items()):
            begun = trio.current_time()
            if held.renew_at <= begun and held.scope.deadline > begun:
                await self.extend(connection, key, held)

    async def extend(self, connection: Connection, key: int, held: HeldJob) -> bool:
        """Let a lease last `held.lease_s` from now. False: the job is gone."""
        begun = trio.current_time()
        answer = await activation.extend(connection, key, round(held.lease_s * 1000), held.lease.token)
        if not isinstance(answer, Refusal):
            held.renewed(begun)
            return True
        held.is_gone = True
        held.scope.cancel()
        return False

    def let_go(self, key: int, held: HeldJob | None) -> None:
        """The outcome of a job is in the log, or its call has ended without one. A newer lease stays."""
        if self.held.get(key) is held:
            self.held.pop(key, None)

    async def give_back(self, connection: Connection) -> None:
        """Make the jobs available again whose calls were cut off, or whose activation was lost."""
        held, lost = [each.lease for each in self.held.values()], list(self._lost)
        if held:
            await activation.release(connection, held)
        for type, tenant, token in lost:
            await activation.take_back(connection, type, tenant, [token])
        self.held.clear()
        self._lost.clear()


async def _activate(connection: Connection, ask: ActivationRequest, token: UUID) -> Activation:
    looked = await activation.activate_plainly(connection, ask, SMALL_BYTES, token)
    return (
        await activation.activate(connection, ask, MAX_JOB_BYTES, token) if looked.large else Activation(looked.leases)
    )
