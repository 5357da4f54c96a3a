"""One job, worked as a worker works it, but for a client that need not be a server: the test kit's."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio
import trio

from vivero.worker.failures import first_of
from vivero.worker.job import Job
from vivero.worker.jobs import JobFunction, Jobs, Slots
from vivero.worker.outcomes import Report
from vivero.worker.requests import Exchanges, JobRequests
from vivero.worker.running import Leases
from vivero.worker.worker import Backend

T = TypeVar("T")


def work_one(function: JobFunction, job: Job, client: Exchanges, backend: Backend) -> Report:
    """Run the function for the job, and report its outcome to the client. Raises what the client raises.

    The event loop is one of its own, in a thread if this thread has a running one.
    """

    def work() -> Report:
        return anyio.run(_work, function, job, client, backend=backend)

    try:
        return outside_of_loops(work)
    except BaseExceptionGroup as group:
        raise first_of(group) from None


def outside_of_loops(work: Callable[[], T]) -> T:
    """The result of work that runs an event loop of its own: in a thread if this one has a running loop."""
    if not _is_in_event_loop():
        return work()
    with ThreadPoolExecutor(1, "vivero worker") as threads:
        return threads.submit(work).result()


async def _work(function: JobFunction, job: Job, client: Exchanges) -> Report:
    requests = JobRequests(client, "test", (), lambda _error: None, lambda: None)
    reports: list[Report] = []
    leases = Leases(requests)
    async with anyio.create_task_group() as around:
        around.start_soon(leases.run)
        function.slots.take()
        await Jobs(requests, leases, Slots(1), reports.append).work(function, job)
        around.cancel_scope.cancel()
    return reports[0]


def _is_in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return trio.lowlevel.in_trio_run()
    return True
