"""The activation of jobs: lease them for a worker, wait for the first one, and release those that do not arrive."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID, uuid4

import structlog
import trio

from vivero.api import commands
from vivero.api.decoding import Body, Int64, Violations, as_int64, check_tenant, decode, decoder
from vivero.api.long_polls import LongPolls, Poller
from vivero.api.memory_budget import Share
from vivero.api.problems import unexpected_value
from vivero.api.request import Request
from vivero.api.response import JSON, Response
from vivero.api.services import Services
from vivero.api.settings import ApiSettings
from vivero.engine.core.records.base import DEFAULT_TENANT
from vivero.engine.core.records.jobs import WithholdJob
from vivero.storage import activation
from vivero.storage.activation import MAX_VARIABLES, SMALL_BYTES, Ask, Lease, Looked, Unfit, at_once
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError
from vivero.storage.scan_bounds import Bounds

log = structlog.get_logger(__name__)

MAX_NAME = 1000
"""Characters of a job type or a worker's name."""
MAX_FETCHED = 1000
RELEASE_TIMEOUT_S = 5.0
TENANT_FILTERS = ("PROVIDED", "ASSIGNED")


class ActivationBody(Body, frozen=True):
    type: str | None = None
    worker: str | None = None
    timeout: Int64 | None = None
    max_jobs_to_activate: Int64 | None = None
    fetch_variable: list[str] | None = None
    request_timeout: Int64 | None = None
    tenant_ids: list[str] | None = None
    tenant_filter: str | None = None
    with_lease: bool | None = None


_activation_decoder = decoder(ActivationBody)


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
    ask, until = _ask(decode(request, _activation_decoder, services.settings), services.settings)
    polls = services.long_polls
    with (
        polls.register(ask) as poller,
        services.waits.for_jobs(request.owner, poller.displace),
        polls.budget.share() as share,
    ):
        worker = _Worker(request, services, poller, share, until)
        activated = await worker.look()
        while not activated.jobs and await worker.wait() and not poller.gone:
            activated = await worker.look()
        if left := poller.take():  # a batch delivered these after the client had left
            await _release(services, left)
    undelivered = partial(_release, services, activated.leases) if activated.leases else None
    return Response(200, b'{"jobs":[%b]}' % b",".join(activated.jobs), (JSON,), undelivered)


def _ask(body: ActivationBody, settings: ApiSettings) -> tuple[Ask, float]:
    """The request of a worker, and the time of Trio's clock until which it waits for a job. Raises Problem 400."""
    timeout_ms = as_int64(body.timeout, "timeout")
    limit = as_int64(body.max_jobs_to_activate, "maxJobsToActivate")
    found = Violations()
    found.require("type", body.type)
    found.longest("type", body.type, MAX_NAME)
    found.longest("worker", body.worker, MAX_NAME)
    for name, number in (("timeout", timeout_ms), ("maxJobsToActivate", limit)):
        found.require(name, number)
        found.at_least(name, number, 1)
    if body.fetch_variable and len(body.fetch_variable) > MAX_FETCHED:
        found.add(f"The provided fetchVariable names are more than {MAX_FETCHED}")
    found.check()
    for tenant in body.tenant_ids or ():
        check_tenant(tenant, "Activate Jobs")
    if body.tenant_filter is not None and body.tenant_filter.upper() not in TENANT_FILTERS:
        raise unexpected_value(body.tenant_filter, "tenantFilter", TENANT_FILTERS)
    poll_ms = as_int64(body.request_timeout, "requestTimeout") or settings.poll_timeout_ms
    ask = Ask(
        body.type or "",
        DEFAULT_TENANT,
        min(limit or 0, settings.max_jobs),
        timeout_ms or 0,
        body.worker or "",
        list(dict.fromkeys(body.fetch_variable)) if body.fetch_variable else None,
        body.with_lease or False,
    )
    return ask, trio.current_time() + min(poll_ms / 1000, settings.max_wait_s)


@dataclass(frozen=True, slots=True)
class _Worker:
    """One activation. `share`: of the memory for answers; `until`: the end of the wait (Trio's clock)."""

    request: Request
    services: Services
    poller: Poller
    share: Share
    until: float

    async def wait(self) -> bool:
        """Wait for a reason to look. False if the time is over. A client that leaves ends the wait."""
        return self.until > trio.current_time() and await self.poller.wait(self.until, self.request.disconnected)

    async def look(self) -> Activated:
        """Lease the available jobs, as many as are requested and fit into an answer."""
        activated, delivered = Activated(), self.poller.take()
        try:
            if delivered:
                activated.leases += delivered
                await self._read(activated, delivered)
            else:
                await self._look(activated)
        except BaseException:
            await _release(self.services, activated.leases)
            raise
        return activated

    async def _look(self, activated: Activated) -> None:
        """Lease some jobs per statement, until there are no more, the answer is full, or the limit is reached."""
        self.poller.looking()
        looked = await self._lease_some(activated)
        while looked.unfit is not None and not activated.leases and await self._make_fit(looked.unfit):
            looked = await self._lease_some(activated)
        per_statement = at_once(self.poller.ask)
        while (
            looked.unfit is None
            and len(looked.leases) == per_statement
            and len(activated.leases) < self.poller.max_jobs
        ):
            looked = await self._lease_some(activated)

    async def _lease_some(self, activated: Activated) -> Looked:
        """Lease jobs that fit into the memory for the answer, and read them."""
        settings, share = self.services.settings, self.share
        limit = self.poller.max_jobs - len(activated.leases)
        if share.size > settings.max_activation_bytes:  # for a large job, which is answered alone
            limit = 1
        share.take(settings.max_activation_bytes - share.size)
        looked = await self._lease(activated, limit, max(share.size, SMALL_BYTES) - activated.size)
        size = activated.size + looked.size
        share.shrink(size if size > SMALL_BYTES else 0)
        await self._read(activated, looked.leases)
        return looked

    async def _lease(self, activated: Activated, limit: int, max_bytes: int) -> Looked:
        """Lease jobs by one statement. If there are none, note when there may be some."""
        poller, polls = self.poller, self.services.long_polls
        bounds = polls.bounds.of(poller.subject, trio.current_time())
        async with self.services.leasing.connection() as connection:
            # A cancellation would lease jobs without a worker. The call has its own deadline.
            with trio.CancelScope(shield=True):
                if lost := polls.lost_leases(poller.subject):
                    await activation.take_back(connection, *poller.subject, lost)
                    polls.taken_back(poller.subject, lost)
                looked = await _activate(connection, polls, poller.ask._replace(limit=limit), max_bytes, bounds)
            activated.leases += looked.leases
            if looked.leases or looked.unfit is not None:
                poller.found(len(activated.leases), looked.unfit is not None)
            elif poller.is_first:
                within_ms = math.ceil(polls.pause_s() * 1000)
                due_ms = await activation.next_available_ms(connection, *poller.subject, bounds.due_ms, within_ms)
                poller.found_nothing(None if due_ms is None else due_ms / 1000)
        return looked

    async def _read(self, activated: Activated, leases: list[Lease]) -> None:
        """Add the jobs of these leases. Large jobs are not part of their leases and are read separately."""
        ask, small = self.poller.ask, sum(lease.size for lease in leases) <= SMALL_BYTES
        if any(lease.job is None for lease in leases):
            async with (self.services.leasing if small else self.services.large_jobs).connection() as connection:
                activated.jobs += await activation.activated_jobs(connection, leases, ask.names, ask.with_token)
        else:
            activated.jobs += [lease.job for lease in leases if lease.job is not None]

    async def _make_fit(self, unfit: Unfit) -> bool:
        """Wait for the memory of the first job, or withhold it if it is too large for any answer.

        False if the time is over or the client has left.
        """
        settings = self.services.settings
        max_bytes = min(settings.max_job_bytes, settings.activations_bytes)
        if unfit.size is not None and unfit.size <= max_bytes:
            return await self._wait_for_memory(unfit.size)
        limit = MAX_VARIABLES if unfit.size is None else max_bytes
        await commands.submit_internal(
            self.services, WithholdJob(unfit.job_key, unfit.lease, unfit.size, limit), unfit.job_key
        )
        return True

    async def _wait_for_memory(self, size: int) -> bool:
        with trio.move_on_at(self.until):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._leave, nursery.cancel_scope)
                await self.share.wait(size)
                nursery.cancel_scope.cancel()
        return self.share.size >= size and not self.poller.gone

    async def _leave(self, waiting: trio.CancelScope) -> None:
        """End the wait for memory when the client leaves."""
        await self.request.disconnected()
        self.poller.leave()
        waiting.cancel()


async def _activate(connection: Connection, polls: LongPolls, ask: Ask, max_bytes: int, bounds: Bounds) -> Looked:
    """One look: plain, and if that does not do, measured and with bounds."""
    token = uuid4()
    try:
        if bounds.plain(trio.current_time()):
            looked = await activation.activate_plainly(connection, ask, max_bytes, token)
            large = looked.large and max_bytes >= SMALL_BYTES
            bounds.note_plain(trio.current_time(), large, looked.slow)
            if not looked.large:
                return Looked(looked.leases)
        return await _activate_measured(connection, ask, max_bytes, token, bounds)
    except StorageError as error:
        if error.in_doubt:
            polls.note_lost_lease((ask.type, ask.tenant), token)
        raise


async def _activate_measured(connection: Connection, ask: Ask, max_bytes: int, token: UUID, bounds: Bounds) -> Looked:
    start = bounds.start(trio.current_time())
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
            async with services.leasing.connection() as connection:
                for type, tenant in await activation.release(connection, leases):
                    services.long_polls.available(type, tenant, 1)
        except StorageError as error:
            log.warning("cannot release undelivered jobs before their timeout", count=len(leases), error=str(error))
