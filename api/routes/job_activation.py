"""The activation of jobs: lease them for a worker, wait for the first one, and release those that do not arrive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID, uuid4

import structlog
import trio

from vivero.api.access import tenants
from vivero.api.access.needs import UPDATE_INSTANCE
from vivero.api.activation.bodies import ActivationBody
from vivero.api.activation.long_polls import LongPolls
from vivero.api.activation.pollers import Poller, wait_for_any
from vivero.api.commands import submission
from vivero.api.http import tracing
from vivero.api.http.problems import unexpected_value
from vivero.api.http.request import ClientLeft, Request
from vivero.api.http.response import JSON, Response
from vivero.api.http.shared_budget import Share
from vivero.api.services import Services
from vivero.core.records.jobs import WithholdJob
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError, describe
from vivero.storage.work import activation
from vivero.storage.work.activation import (
    MAX_VARIABLES,
    SMALL_BYTES,
    Activation,
    ActivationRequest,
    Lease,
    TooLargeJob,
    at_once,
)
from vivero.storage.work.scan_bounds import SubjectBounds

log = structlog.get_logger(__name__)

RELEASE_TIMEOUT_S = 5.0
FIRST_LOOK_S = 1.0
"""A worker that waits for less time looks first, although others of its type wait already."""
PROVIDED, ASSIGNED = TENANT_FILTERS = ("PROVIDED", "ASSIGNED")


@dataclass(slots=True)
class Activated:
    """The jobs of an answer, in JSON, and their leases."""

    jobs: list[bytes] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)

    @property
    def size(self) -> int:
        """The bytes of the jobs."""
        return sum(map(len, self.jobs))


async def activate(request: Request, services: Services) -> Response:
    """POST /v2/jobs/activation: lease jobs of a type, as soon as one is available."""
    body, ask, wait_s = services.jobs.activation_bodies.read(request, services.settings)
    until = trio.current_time() + wait_s
    polls = services.jobs.long_polls
    asks = [ask._replace(tenant=tenant) for tenant in _tenants(body, request, services)]
    with services.commands.waits.for_jobs(request.owner) as wait, ExitStack() as stack, polls.budget.share() as share:
        pollers = [stack.enter_context(polls.register(one, alone=len(asks) == 1)) for one in asks]
        wait.leave = partial(_displace, pollers)
        worker = _Worker(request, services, pollers, share, until)
        activated = Activated() if worker.may_wait else await worker.activate_once()
        while not activated.jobs and await worker.wait() and not worker.gone:
            activated = await worker.activate_once()
        if left := worker.take():  # a batch delivered these after the client had left
            await _release(services, left)
        if activated.leases and await request.has_left():  # the system would take the answer nevertheless
            await _release(services, activated.leases)
            raise ClientLeft
    if activated.jobs:
        services.observing.requests.note_activated(ask.type, len(activated.jobs))
        if services.observing.tracer is not None:
            tracing.activated(services.observing.tracer, activated.jobs)
    undelivered = partial(_release, services, activated.leases) if activated.leases else None
    return Response(200, b'{"jobs":[%b]}' % b",".join(activated.jobs), (JSON,), undelivered)


def _displace(pollers: Sequence[Poller]) -> None:
    for poller in pollers:
        poller.displace()


def _tenants(body: ActivationBody, request: Request, services: Services) -> Sequence[str]:
    """The tenants whose jobs the worker wants. Raises Problem: 400, 403."""
    chosen = PROVIDED if body.tenant_filter is None else body.tenant_filter.upper()
    if chosen not in TENANT_FILTERS:
        raise unexpected_value(body.tenant_filter, "tenantFilter", TENANT_FILTERS)
    if chosen == ASSIGNED:
        return tenants.assigned(request, services, "Activate Jobs")
    return tenants.named_several(request, services, body.tenant_ids or (), "Activate Jobs", UPDATE_INSTANCE)


@dataclass(frozen=True, slots=True)
class _Worker:
    """One activation, with a poller for each tenant.

    `share`: of the memory for answers; `until`: the end of the wait (Trio's clock).
    """

    request: Request
    services: Services
    pollers: Sequence[Poller]
    share: Share
    until: float

    @property
    def gone(self) -> bool:
        """True if the client has disconnected."""
        return any(poller.gone for poller in self.pollers)

    @property
    def may_wait(self) -> bool:
        """True if the worker waits without a first look. One that waits shortly looks: a notification may be late."""
        if self.until - trio.current_time() < FIRST_LOOK_S or len(self.pollers) > 1:
            return False
        return self.services.jobs.long_polls.have_nothing_for(self.pollers[0])

    def take(self) -> list[Lease]:
        """The leases that batches have delivered."""
        return [lease for poller in self.pollers for lease in poller.take()]

    async def wait(self) -> bool:
        """Wait for a reason to look. False if the time is over. A client that leaves ends the wait."""
        if self.until <= trio.current_time():
            return False
        return await wait_for_any(self.pollers, self.until, self.request.disconnected)

    async def activate_once(self) -> Activated:
        """Lease the available jobs, as many as are requested and fit into an answer."""
        activated, delivered = Activated(), self.take()
        try:
            if delivered:
                activated.leases += delivered
                await self._read(activated, delivered)
            else:
                await self._activate_in_turn(activated)
        except BaseException:
            await _release(self.services, activated.leases)
            raise
        return activated

    async def _activate_in_turn(self, activated: Activated) -> None:
        """Look for jobs of the tenants that have a reason, or of all, in turn, until there are enough."""
        woken = [poller for poller in self.pollers if poller.woken]
        for poller in self.services.jobs.long_polls.in_turn(woken or self.pollers):
            if len(activated.leases) < poller.max_jobs:
                await self._activate_of(poller, activated)

    async def _activate_of(self, poller: Poller, activated: Activated) -> None:
        """Lease some jobs per statement, until there are no more, the answer is full, or the limit is reached."""
        poller.looking()
        looked = await self._lease_some(poller, activated)
        while looked.too_large is not None and not activated.leases and await self._make_fit(poller, looked.too_large):
            looked = await self._lease_some(poller, activated)
        per_statement = at_once(poller.ask)
        while (
            looked.too_large is None and len(looked.leases) == per_statement and len(activated.leases) < poller.max_jobs
        ):
            looked = await self._lease_some(poller, activated)

    async def _lease_some(self, poller: Poller, activated: Activated) -> Activation:
        """Lease jobs that fit into the memory for the answer, and read them."""
        settings, share = self.services.settings, self.share
        limit = poller.max_jobs - len(activated.leases)
        if share.size > settings.max_activation_bytes:  # for a large job, which is answered alone
            limit = 1
        share.take(settings.max_activation_bytes - share.size)
        looked = await self._lease(poller, activated, limit, max(share.size, SMALL_BYTES) - activated.size)
        size = activated.size + looked.size
        share.shrink(size if size > SMALL_BYTES else 0)
        await self._read(activated, looked.leases)
        return looked

    async def _lease(self, poller: Poller, activated: Activated, limit: int, max_bytes: int) -> Activation:
        """Lease jobs by one statement. If there are none, note when there may be some."""
        polls = self.services.jobs.long_polls
        bounds = polls.bounds.of(poller.subject, trio.current_time())
        async with self.services.jobs.leasing.connection() as connection:
            # A cancellation would lease jobs without a worker. The call has its own deadline.
            with trio.CancelScope(shield=True):
                if lost := polls.lost_leases(poller.subject):
                    await activation.take_back(connection, *poller.subject, lost)
                    polls.taken_back(poller.subject, lost)
                looked = await _activate(connection, polls, poller.ask._replace(limit=limit), max_bytes, bounds)
            activated.leases += looked.leases
            if looked.leases or looked.too_large is not None:
                poller.found(len(activated.leases), looked.too_large is not None)
            elif poller.is_first:
                within_ms = math.ceil(polls.pause_s() * 1000)
                due_ms = await activation.next_available_ms(connection, *poller.subject, bounds.due_ms, within_ms)
                poller.found_nothing(None if due_ms is None else due_ms / 1000)
        return looked

    async def _read(self, activated: Activated, leases: list[Lease]) -> None:
        """Add the jobs of these leases. Large jobs are not part of their leases and are read separately."""
        ask, small = self.pollers[0].ask, sum(lease.size for lease in leases) <= SMALL_BYTES
        if any(lease.job is None for lease in leases):
            pool = self.services.jobs.leasing if small else self.services.jobs.large_jobs
            async with pool.connection() as connection:
                activated.jobs += await activation.activated_jobs(connection, leases, ask.names, ask.with_token)
        else:
            activated.jobs += [lease.job for lease in leases if lease.job is not None]

    async def _make_fit(self, poller: Poller, too_large: TooLargeJob) -> bool:
        """Wait for the memory of the first job, or withhold it if it is too large for any answer.

        False if the time is over or the client has left.
        """
        settings = self.services.settings
        max_bytes = min(settings.max_job_bytes, settings.activations_bytes)
        if too_large.size is not None and too_large.size <= max_bytes:
            return await self._wait_for_memory(too_large.size)
        limit = MAX_VARIABLES if too_large.size is None else max_bytes
        withhold = WithholdJob(too_large.job_key, too_large.lease, too_large.size, limit)
        await submission.submit_internal(self.services, withhold, poller.ask.tenant, too_large.job_key)
        return True

    async def _wait_for_memory(self, size: int) -> bool:
        with trio.move_on_at(self.until):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._leave, nursery.cancel_scope)
                await self.share.wait(size)
                nursery.cancel_scope.cancel()
        return self.share.size >= size and not self.gone

    async def _leave(self, waiting: trio.CancelScope) -> None:
        """End the wait for memory when the client leaves."""
        await self.request.disconnected()
        for poller in self.pollers:
            poller.leave()
        waiting.cancel()


async def _activate(
    connection: Connection, polls: LongPolls, ask: ActivationRequest, max_bytes: int, bounds: SubjectBounds
) -> Activation:
    """One look: plain, and if that does not do, measured and with bounds."""
    token = uuid4()
    try:
        if bounds.plain(trio.current_time()):
            looked = await activation.activate_plainly(connection, ask, max_bytes, token, polls.turns.first(bounds))
            large = looked.large and max_bytes >= SMALL_BYTES
            bounds.note_plain(trio.current_time(), large, looked.slow, len(looked.leases) == at_once(ask))
            if not looked.large:
                return Activation(looked.leases)
        partitions = polls.turns.order(bounds)
        return await _activate_measured(connection, ask, max_bytes, token, bounds, partitions)
    except StorageError as error:
        if error.in_doubt:
            polls.note_lost_lease((ask.type, ask.tenant), token)
        raise


async def _activate_measured(
    connection: Connection,
    ask: ActivationRequest,
    max_bytes: int,
    token: UUID,
    bounds: SubjectBounds,
    partitions: Sequence[int],
) -> Activation:
    start = bounds.start(trio.current_time(), partitions)
    try:
        looked = await activation.activate(connection, ask, max_bytes, token, start)
    finally:
        bounds.ended(start, trio.current_time())
    if looked.seen is not None:
        bounds.learn(start, looked.seen)
    return looked


async def _release(services: Services, leases: Sequence[Lease]) -> None:
    """Make jobs available again that did not reach their worker. If that fails, they are at the end of their lease."""
    if not leases:
        return
    with trio.CancelScope(shield=True, deadline=trio.current_time() + RELEASE_TIMEOUT_S):
        try:
            async with services.jobs.leasing.connection() as connection:
                for type, tenant in await activation.release(connection, leases):
                    services.jobs.long_polls.available(type, tenant, 1)
        except StorageError as error:
            log.warning(
                "cannot release undelivered jobs before their timeout", count=len(leases), error=describe(error)
            )
