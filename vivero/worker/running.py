"""Calls of functions: in the event loop or in a thread, with a lease that is extended, up to a limit."""

from __future__ import annotations

import contextvars
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from types import FrameType
from typing import Any, Protocol

import anyio
import anyio.from_thread
import anyio.lowlevel
import trio

from vivero.client.rest import ApiError, ClientError
from vivero.worker.failures import frames_of_coroutine, frames_of_thread
from vivero.worker.job import Job
from vivero.worker.requests import JobRequests

GONE = frozenset((404, 409))
"""The server answers so if the worker does not have the job any more."""


class Outcome(Protocol):
    """The value or the exception of a function, as Trio's threads deliver it."""

    def unwrap(self) -> Any: ...


class Call(Protocol):
    """One call of a function."""

    async def result(self) -> Any:
        """Run the function. Raises what it raises. A cancellation ends the wait for it."""

    def frames(self) -> Sequence[FrameType]:
        """The frames in which it is, the outermost first."""

    def when_ended(self, then: Callable[[], None]) -> None:
        """Call `then` as soon as the function does not run any more."""


class AsyncCall:
    """The call of an `async` function, in the task that awaits the result."""

    def __init__(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
        self._coroutine = function(**arguments)

    async def result(self) -> Any:
        return await self._coroutine

    def frames(self) -> Sequence[FrameType]:
        return list(frames_of_coroutine(self._coroutine))

    def when_ended(self, then: Callable[[], None]) -> None:
        then()  # a cancellation has ended it


class ThreadCall:
    """The call of a function in a thread, which nobody can end. The threads are Trio's, under asyncio, too: they keep
    no program alive, and are used again."""

    def __init__(self, function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
        self._function = partial(contextvars.copy_context().run, partial(function, **arguments))
        self._ended = anyio.Event()
        self._outcome: Outcome | None = None
        self._then: Callable[[], None] = lambda: None
        self._thread: int | None = None
        self._started = False

    async def result(self) -> Any:
        token = anyio.lowlevel.current_token()

        def deliver(found: Outcome) -> None:
            try:
                anyio.from_thread.run_sync(self._end, found, token=token)
            except (anyio.RunFinishedError, RuntimeError):
                return  # the worker has ended, and nobody waits for the result

        self._started = True
        trio.lowlevel.start_thread_soon(self._run, deliver, "vivero worker")
        await self._ended.wait()
        assert self._outcome is not None
        return self._outcome.unwrap()

    def _run(self) -> Any:
        self._thread = threading.get_ident()
        return self._function()

    def _end(self, found: Outcome) -> None:
        self._outcome = found
        self._ended.set()
        self._then()

    def frames(self) -> Sequence[FrameType]:
        return [] if self._thread is None else frames_of_thread(self._thread)

    @property
    def has_ended(self) -> bool:
        return self._ended.is_set()

    @property
    def still_runs(self) -> bool:
        return self._started and not self.has_ended

    def when_ended(self, then: Callable[[], None]) -> None:
        if self.still_runs:
            self._then = then
        else:
            then()


class RunningJob:
    """A job that the worker has. The scope is around its function; `hangs_at`: its frames when its time was over."""

    def __init__(self, job: Job, lease_s: float, limit_s: float) -> None:
        self.job = job
        self.lease_s = lease_s
        self.limit_s = limit_s
        self.scope = anyio.CancelScope()
        self.call: Call | None = None
        self.hangs_at: Sequence[FrameType] | None = None
        self.extend_at = anyio.current_time() + lease_s / 3
        self.ends_at = math.inf

    def begins(self, call: Call) -> None:
        """The time of the function begins."""
        self.call = call
        self.ends_at = anyio.current_time() + self.limit_s

    @property
    def due_at(self) -> float:
        return min(self.extend_at, self.ends_at)

    def interrupt(self) -> None:
        """End the function, which has had its time."""
        assert self.call is not None
        self.ends_at = math.inf
        self.hangs_at = self.call.frames()
        self.scope.cancel()

    def lose(self) -> None:
        """End the function: its result is of no use."""
        self.job.is_lost = True
        self.extend_at = self.ends_at = math.inf
        self.scope.cancel()


class Leases:
    """Extends the leases of all jobs that the worker has, each after a third of its time."""

    def __init__(self, requests: JobRequests) -> None:
        self._requests = requests
        self._running: dict[str, RunningJob] = {}
        self._wakes_at = math.inf
        self._wake = anyio.Event()

    def add(self, running: RunningJob) -> None:
        self._running[running.job.job_lease_token] = running
        self.changed(running)

    def changed(self, running: RunningJob) -> None:
        """The job is due at another time than before."""
        if running.due_at < self._wakes_at:
            self._wake.set()

    def remove(self, running: RunningJob) -> None:
        """Extend the lease no more: the outcome of the job is reported, or the worker hands the job back next."""
        self._running.pop(running.job.job_lease_token, None)

    async def run(self) -> None:
        """Run until cancelled."""
        async with anyio.create_task_group() as group:
            while True:
                now = anyio.current_time()
                for running in list(self._running.values()):
                    if running.ends_at <= now:
                        running.interrupt()
                    elif running.extend_at <= now:
                        running.extend_at = math.inf  # until there is an answer
                        group.start_soon(self._extend, running)
                self._wakes_at = min((one.due_at for one in self._running.values()), default=math.inf)
                self._wake = anyio.Event()
                with anyio.CancelScope(deadline=self._wakes_at):
                    await self._wake.wait()

    async def _extend(self, running: RunningJob) -> None:
        """Extend the lease of a job, at once again if the server does not answer, and note a job that is lost."""
        try:
            await self._requests.set_lease(running.job, running.lease_s)
        except ApiError as error:
            if error.status in GONE and running.job.job_lease_token in self._running:
                running.lose()
                return
            again_s = running.lease_s / 10
        except ClientError:  # the requests for jobs say that the server is away
            again_s = running.lease_s / 10
        else:
            again_s = running.lease_s / 3
        running.extend_at = anyio.current_time() + again_s
        self.changed(running)
