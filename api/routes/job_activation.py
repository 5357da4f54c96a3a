"""Jobs for workers: lease them, waiting for the first; give back what does not reach its worker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from uuid import uuid4

import structlog
import trio

from api.decoding import DEFAULT_TENANT, Body, Int64, Violations, as_int64, check_tenant, decode, decoder
from api.job_board import JobBoard, Poller
from api.problems import unexpected_value
from api.request import Request
from api.response import JSON, Response
from api.services import Services
from api.settings import ApiSettings
from storage import activation
from storage.activation import Ask, Lease
from storage.driver import Connection
from storage.errors import StorageError

log = structlog.get_logger(__name__)

MAX_NAME = 1000
"""Characters of a job type or a worker's name."""
MAX_FETCHED = 1000
JOBS_A_READ = 50
"""Activated jobs are read so many at a time, so that the limit on the answer's size is not passed by much."""
GIVE_BACK_S = 5.0
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


@dataclass(frozen=True, slots=True)
class Given:
    """What it gets: jobs in JSON, and their leases."""

    jobs: Sequence[bytes] = ()
    leases: Sequence[Lease] = ()


async def activate(request: Request, services: Services) -> Response:
    """POST /v2/jobs/activation: the first available jobs of a type, as soon as there is one."""
    ask, until = _asked(decode(request, _activation_decoder, services.settings), services.settings)
    with services.job_board.register(ask) as poller:
        given = await _read(services, ask, await _lease(services, poller))
        while not given.jobs and await _wait(request, poller, until) and not poller.gone:
            given = await _read(services, ask, poller.take() or await _lease(services, poller))
        if left := poller.take():  # what a batch brought to a client that has left
            await _give_back(services, left)
    undelivered = partial(_give_back, services, given.leases) if given.leases else None
    return Response(200, b'{"jobs":[%b]}' % b",".join(given.jobs), (JSON,), undelivered)


def _asked(body: ActivationBody, settings: ApiSettings) -> tuple[Ask, float]:
    """What a worker asks for, and until when (Trio's clock) it waits for the first job."""
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
        body.fetch_variable or None,
        body.with_lease or False,
    )
    return ask, trio.current_time() + min(poll_ms / 1000, settings.max_wait_s)


async def _wait(request: Request, poller: Poller, until: float) -> bool:
    """Wait for a reason to look; False if the time is over. A client that leaves is a reason to stop."""
    return until > trio.current_time() and await poller.wait(until, request.disconnected)


async def _lease(services: Services, poller: Poller) -> list[Lease]:
    """One look into the database: lease what is there; if nothing is, note when there may be."""
    ask, board = poller.ask, services.job_board
    poller.looking()
    async with services.leasing.connection() as connection:
        # Leased to nobody they would be, if this were cancelled half-way. The call has its own deadline.
        with trio.CancelScope(shield=True):
            if lost := board.lost(poller.subject):
                await activation.take_back(connection, *poller.subject, lost)
            leases = await _activate(connection, board, ask)
        if leases:
            poller.found(len(leases))
        elif poller.is_first:
            due_ms = await activation.next_available_ms(connection, *poller.subject)
            poller.found_nothing(None if due_ms is None else due_ms / 1000)
    return leases


async def _activate(connection: Connection, board: JobBoard, ask: Ask) -> list[Lease]:
    token = uuid4()
    try:
        return await activation.activate(connection, ask, token)
    except StorageError as error:
        if error.in_doubt:
            board.leased_to_nobody((ask.type, ask.tenant), token)
        raise


async def _read(services: Services, ask: Ask, leases: list[Lease]) -> Given:
    """The leased jobs as the worker gets them. Large ones did not come with their leases."""
    jobs = [lease.job for lease in leases if lease.job is not None]
    if len(jobs) == len(leases) and sum(map(len, jobs)) <= services.settings.max_activation_bytes:
        return Given(jobs, leases)
    try:
        return await _read_large(services, ask, leases)
    except BaseException:
        await _give_back(services, leases)
        raise


async def _read_large(services: Services, ask: Ask, leases: list[Lease]) -> Given:
    """The leased jobs with their variables, as many as one answer takes; the others are given back."""
    jobs: list[bytes] = []
    size = taken = 0
    async with services.leasing.connection() as connection:
        while taken < len(leases) and size < services.settings.max_activation_bytes:
            some = leases[taken : taken + JOBS_A_READ]
            read = await activation.activated_jobs(connection, some, ask.names, ask.with_token)
            jobs += read
            size += sum(map(len, read))
            taken += len(some)
    if taken < len(leases):
        await _give_back(services, leases[taken:])
    return Given(jobs, leases[:taken])


async def _give_back(services: Services, leases: Sequence[Lease]) -> None:
    """Make jobs available again that did not reach their worker. If that fails, they are when their time is over."""
    with trio.CancelScope(shield=True, deadline=trio.current_time() + GIVE_BACK_S):
        try:
            async with services.leasing.connection() as connection:
                for type, tenant in await activation.release(connection, leases):
                    services.job_board.available(type, tenant, 1)
        except StorageError as error:
            log.warning("jobs could not be given back before their timeout", count=len(leases), error=str(error))
