"""A worker: functions for job types, and the loops that get jobs for them from a server.

worker = Worker()

@worker.job("charge-card")
def charge(card: str, amount: Decimal) -> dict[str, str]:
    return {"receipt": pay(card, amount)}

worker.run()
"""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Literal, ParamSpec, TypeVar

import anyio
import anyio.abc

from vivero.client.rest import Client, ClientError, Credentials, address_from
from vivero.worker.failures import first_of
from vivero.worker.jobs import JobFunction, Jobs, Slots
from vivero.worker.outcomes import JobOutcome, Report
from vivero.worker.requests import JobRequests
from vivero.worker.running import Leases
from vivero.worker.signatures import signature_of

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
Backend = Literal["asyncio", "trio"]
log = logging.getLogger("vivero.worker")
CONCURRENCY, LEASE_S, LIMIT_S, GRACE_S = 32, 30.0, 600.0, 20.0
BACKOFF_S = (1.0, 10.0, 60.0)
GATHER_S = 0.02
"""The longest time for which a free slot waits for others while there are more jobs."""
REPORTING_CONNECTIONS, SPARE_CONNECTIONS = 32, 4
"""Connections for reports and for the extension of leases, beside one for each long poll. Further reports wait."""


class Worker:
    """Works jobs of several types over one pool of connections.

    `address`, `credentials`: those of the environment by default, as for the command line; or an open `client`.
    `concurrency`: jobs at a time, of all types. `tenant_ids`: the tenants whose jobs it gets. `grace_s`: the time that
    active jobs have to end after the first signal. `max_jobs`: the number of jobs after which a worker of one type
    ends. `on_report` hears of the end of each job, `on_trouble` if the server does not answer, `on_ready` when it
    answers for the first time, and again after trouble; by default these go to the logger `vivero.worker`. Their
    exceptions go there, too, and the worker goes on.
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        client: Client | None = None,
        credentials: Credentials | None = None,
        name: str | None = None,
        tenant_ids: Sequence[str] = (),
        concurrency: int = CONCURRENCY,
        grace_s: float = GRACE_S,
        backend: Backend = "asyncio",
        max_jobs: int | None = None,
        on_report: Callable[[Report], None] | None = None,
        on_trouble: Callable[[ClientError], None] | None = None,
        on_ready: Callable[[], None] | None = None,
    ) -> None:
        _check(concurrency=concurrency, grace_s=grace_s, max_jobs=max_jobs)
        if isinstance(tenant_ids, str):
            raise ValueError(f"tenant_ids must be a list of ids, not the text {tenant_ids!r}")
        self.backend = backend
        self.functions: dict[str, JobFunction] = {}
        self.on_report: Callable[[Report], None] = on_report or _log_report
        self.on_trouble: Callable[[ClientError], None] = on_trouble or _Troubles().log
        self.on_ready: Callable[[], None] = on_ready or self._log_ready
        self.address = address
        self.name = name or socket.gethostname()
        self._client, self._credentials = client, credentials
        self._tenant_ids = tenant_ids
        self._slots = Slots(concurrency)
        self._grace_s = grace_s
        self._max_jobs = max_jobs
        self._polling: anyio.CancelScope | None = None
        self._stopped = False

    def job(
        self,
        type: str,
        *,
        fetch: Sequence[str] | None = None,
        result: str | None = None,
        errors: Mapping[type[BaseException], str] | None = None,
        backoff_s: float | Sequence[float] = BACKOFF_S,
        concurrency: int | None = None,
        lease_s: float = LEASE_S,
        limit_s: float = LIMIT_S,
    ) -> Callable[[F], F]:
        """The function works the jobs of this type. Raises BadFunction, ValueError.

        `fetch`: the variables to get, by default those that its parameters name. `result`: the variable that gets what
        it returns, instead of one variable for each member. `errors`: exceptions that throw the BPMN error of a code.
        `backoff_s`: the time until a failed job is available again; of several, the last is for one retry left, the
        one before it for two. `concurrency`: jobs of this type at a time, by default as many as of all. `lease_s`: the
        time after which others get the job if this worker dies. `limit_s`: the time of a job, after which it fails.
        """
        if not type or type in self.functions:
            raise ValueError(f"the job type {type!r} has a function already" if type else "the job type is empty")
        if isinstance(fetch, str):
            raise ValueError(f"fetch must be a list of names, not the text {fetch!r}")
        _check(concurrency=concurrency, lease_s=lease_s, limit_s=limit_s)
        backoffs = tuple(backoff_s) if isinstance(backoff_s, Sequence) else (backoff_s,)
        if not backoffs or any(each < 0 for each in backoffs):
            raise ValueError(f"backoff_s must be a time of at least 0 seconds, or several, not {backoff_s!r}")
        slots = Slots(concurrency or self._slots.limit)

        def decorate(function: F) -> F:
            self.functions[type] = JobFunction(
                type, function, signature_of(function), fetch, result, errors or {}, backoffs, slots, lease_s, limit_s
            )
            return function

        return decorate

    def include(self, other: Worker) -> None:
        """Work the job types of another worker, too, which a module of its own may define. Raises ValueError."""
        for type, function in other.functions.items():
            if type in self.functions:
                raise ValueError(f"the job type {type!r} has a function already")
            self.functions[type] = function

    def stop(self) -> None:
        """Activate no more jobs. `serve` ends when the active jobs are done."""
        self._stopped = True
        if self._polling is not None:
            self._polling.cancel()

    @property
    def server_address(self) -> str:
        """The address of the server: the client's, the given one, or that of the environment. Raises BadAddress."""
        return address_from(self.address) if self._client is None else self._client.address

    def run(self, tell: Callable[[str], None] = log.info) -> None:
        """Work until SIGTERM or Ctrl-C: then finish the active jobs, at most for `grace_s`, and give others back.

        A second signal gives all back at once. Calls `tell` at a signal. Raises the exceptions of `serve`.
        """
        try:
            anyio.run(self.serve_until_signal, tell, backend=self.backend)
        except BaseExceptionGroup as group:
            raise first_of(group) from None

    async def serve_until_signal(self, tell: Callable[[str], None] = log.info) -> None:
        """As `run`, in the event loop of the caller, who has the main thread."""
        async with anyio.create_task_group() as group:
            group.start_soon(self._stop_on_signal, group.cancel_scope, tell)
            await self.serve()
            group.cancel_scope.cancel()

    async def _stop_on_signal(self, everything: anyio.CancelScope, tell: Callable[[str], None]) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            async for _ in signals:
                if self._stopped:
                    everything.cancel()
                    return
                tell("finishing the active jobs; a second signal gives them back at once")
                self.stop()
                everything.deadline = anyio.current_time() + self._grace_s

    async def serve(self) -> None:
        """Work under the event loop of the caller, asyncio or Trio, until `stop`, or until `max_jobs` are done.

        A cancellation gives the active jobs back: others can have them at once.

        Raises:
            ApiError: the server refuses the request for jobs.
            NotVivero: the jobs lack what their reports need.
            ValueError: there is nothing to do.
        """
        if not self.functions:
            raise ValueError("the worker has no functions: decorate one with @worker.job(TYPE)")
        if self._max_jobs is not None and len(self.functions) > 1:
            raise ValueError("max_jobs is for a worker of one job type")
        async with AsyncExitStack() as stack:
            client = self._client
            if client is None:
                client = await stack.enter_async_context(self._new_client())
            trouble, ready = guarded("on_trouble", self.on_trouble), guarded("on_ready", self.on_ready)
            requests = JobRequests(client, self.name, self._tenant_ids, trouble, ready)
            try:
                await self._work(requests)
            except ExceptionGroup as group:
                raise first_of(group) from None

    def _new_client(self) -> Client:
        connections = len(self.functions) + min(self._slots.limit, REPORTING_CONNECTIONS) + SPARE_CONNECTIONS
        return Client(self.server_address, credentials=self._credentials, connections=connections)

    async def _work(self, requests: JobRequests) -> None:
        leases = Leases(requests)
        async with anyio.create_task_group() as around:
            around.start_soon(leases.run)
            async with anyio.create_task_group() as group:
                jobs = Jobs(requests, leases, self._slots, guarded("on_report", self.on_report))
                with anyio.CancelScope() as self._polling:
                    if self._stopped:
                        self._polling.cancel()
                    await requests.reach()
                    async with anyio.create_task_group() as polls:
                        for function in self.functions.values():
                            polls.start_soon(self._poll, requests, jobs, function, group)
            around.cancel_scope.cancel()

    async def _poll(self, requests: JobRequests, jobs: Jobs, function: JobFunction, group: anyio.abc.TaskGroup) -> None:
        """Get jobs of one type while there are free slots for them."""
        remaining = self._max_jobs
        more = False
        while remaining is None or remaining > 0:
            if more:
                await self._gather(function)
            await function.slots.wait_free()
            await self._slots.wait_free()
            limit = min(function.slots.free, max(1, self._slots.free // len(self.functions)))
            limit = limit if remaining is None else min(limit, remaining)
            got = await requests.activate(function.job_type, function.fetched, function.lease_s, limit)
            more = len(got) == limit
            for job in got:
                function.slots.take()
                group.start_soon(jobs.work, function, job)
            remaining = remaining if remaining is None else remaining - len(got)

    async def _gather(self, function: JobFunction) -> None:
        """Wait for several free slots, but not long: jobs wait at the server, and each request for some costs as much
        as the report of one."""
        await function.slots.wait_free()
        with anyio.move_on_after(GATHER_S):
            await function.slots.wait_free(max(function.slots.limit // 4, 1))

    def _log_ready(self) -> None:
        log.info("listening for jobs: %s", ", ".join(self.functions))


def _check(**limits: float | None) -> None:
    for name, value in limits.items():
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be above 0, not {value!r}")


def guarded(name: str, callback: Callable[P, None]) -> Callable[P, None]:
    """The callback of a user, whose exceptions are logged: they must not end the worker with the jobs of others."""

    def call(*arguments: P.args, **named: P.kwargs) -> None:
        try:
            callback(*arguments, **named)
        except Exception:
            log.exception("%s of the worker raised", name)

    return call


def _log_report(done: Report) -> None:
    level = logging.DEBUG if done.outcome is JobOutcome.COMPLETED else logging.WARNING
    log.log(level, "job %s of type %s %s: %s", done.job.job_key, done.job.type, done.outcome, done.message)


class _Troubles:
    """Logs an error of the server unless the last one was equal."""

    def __init__(self) -> None:
        self._last = ""

    def log(self, error: ClientError) -> None:
        if str(error) != self._last:
            self._last = str(error)
            log.warning("%s; trying again", error)
