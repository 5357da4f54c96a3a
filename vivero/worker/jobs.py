"""The work of one job: its function runs, and its result or its exception is reported, whatever exception it is."""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from vivero.client.rest import ApiError, ClientError, NotSendable
from vivero.client.results import JobCompletion
from vivero.worker.failures import described, first_of, hanging, sendable, with_traceback
from vivero.worker.job import Job
from vivero.worker.outcomes import JobError, JobFailed, JobOutcome, Report
from vivero.worker.requests import JobRequests
from vivero.worker.running import GONE, AsyncCall, Call, Leases, RunningJob, ThreadCall
from vivero.worker.signatures import Function, Signature
from vivero.worker.spans import Headers, headers_for, span_of
from vivero.worker.values import completion_of, variables_of

HAND_BACK_S = 2.0
"""The time for handing back jobs when the worker is cancelled."""
REFUSED = frozenset((400, 413))
"""The server answers so to a report whose content it never takes: a wrong result, or too many bytes of variables."""
Failed = Callable[[BaseException], None]


class Slots:
    """Places for jobs. Those who wait for a free one are woken all, and look again."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.free = limit
        self._waits: list[anyio.Event] = []

    def take(self) -> None:
        self.free -= 1

    def give(self) -> None:
        self.free += 1
        waits, self._waits = self._waits, []
        for event in waits:
            event.set()

    async def wait_free(self, least: int = 1) -> None:
        while self.free < least:
            event = anyio.Event()
            self._waits.append(event)
            await event.wait()


@dataclass(frozen=True, slots=True)
class JobFunction:
    """A function and how a worker runs it (`Worker.job`)."""

    job_type: str
    function: Function
    signature: Signature
    fetch: Sequence[str] | None
    result: str | None
    errors: Mapping[type[BaseException], str]
    backoffs_s: Sequence[float]
    slots: Slots
    lease_s: float
    limit_s: float

    @property
    def fetched(self) -> Sequence[str] | None:
        return self.signature.fetched if self.fetch is None else self.fetch

    def call(self, job: Job) -> Call:
        """Raises JobFailed for variables that do not fit."""
        arguments = self.signature.arguments(job)
        kind = AsyncCall if inspect.iscoroutinefunction(self.function) else ThreadCall
        return kind(self.function, arguments)

    def code_of(self, error: BaseException) -> str | None:
        """The code of the BPMN error that an exception stands for: that of its class, or of the nearest one above."""
        return next((self.errors[kind] for kind in type(error).__mro__ if kind in self.errors), None)

    def backoff_s(self, retries: int) -> float:
        """The time until a job with these retries left is available again."""
        return self.backoffs_s[max(len(self.backoffs_s) - max(retries, 1), 0)]


class Jobs:
    """Works jobs, and tells `on_report` of their ends."""

    def __init__(
        self, requests: JobRequests, leases: Leases, slots: Slots, on_report: Callable[[Report], None]
    ) -> None:
        self._requests = requests
        self._leases = leases
        self._slots = slots
        self._on_report = on_report

    async def work(self, function: JobFunction, job: Job) -> None:
        """Run the function in a slot of its type, which the caller has taken, and one of all. A cancellation gives the
        job back, unless its function still runs in a thread."""
        running = RunningJob(job, function.lease_s, function.limit_s)
        self._leases.add(running)
        taken = [function.slots]
        done = False
        try:
            await self._slots.wait_free()
            self._slots.take()
            taken.append(self._slots)
            with span_of(job, function.signature.function) as failed:
                report = await self._outcome(function, running, failed)
            done = True
            self._on_report(report)
        finally:
            self._leases.remove(running)
            end = partial(_give_all, taken)
            still_runs = isinstance(running.call, ThreadCall) and running.call.still_runs
            if running.call is None:
                end()
            else:
                running.call.when_ended(end)
            if not done:  # cancelled
                await self._hand_back(running, still_runs)

    async def _outcome(
        self, function: JobFunction, running: RunningJob, failed: Callable[[BaseException], None]
    ) -> Report:
        job = running.job
        try:
            returned = await self._returned(function, running)
            if job.is_lost:
                return Report(job, JobOutcome.LOST, "the server says that this worker does not have it any more")
            completion = completion_of(returned, function.result)
        except (JobFailed, JobError) as error:
            failed(error)
            return await self._not_completed(function, job, error)
        except BaseException as error:
            if _is_our_cancellation(error, running.call):
                raise
            failed(error)
            code = function.code_of(first_of(error))
            if code is not None:
                return await self._not_completed(function, job, JobError(code, described(error)))
            return await self._not_completed(function, job, JobFailed(with_traceback(error)))
        return await self._complete(function, job, completion)

    async def _returned(self, function: JobFunction, running: RunningJob) -> Any:
        """The result of the function; None for a lost job. Raises its exceptions, and JobFailed after its time.

        A function that returns in the moment in which its time is over has done its work, and its result counts.
        """
        if running.job.is_lost:  # while it waited for a slot
            return None
        call = function.call(running.job)
        running.begins(call)
        self._leases.changed(running)
        returned: Any = None
        with running.scope:
            returned = await call.result()
        running.ends_at = math.inf
        if running.hangs_at is not None and running.scope.cancelled_caught:
            raise JobFailed(hanging(_too_slow(function, call), running.hangs_at))
        return returned

    async def _complete(self, function: JobFunction, job: Job, completion: JobCompletion) -> Report:
        try:
            return await self._send(
                job, JobOutcome.COMPLETED, "", lambda trace: self._requests.complete(job, completion, trace), REFUSED
            )
        except ApiError as refused:
            return await self._not_completed(function, job, JobFailed(str(refused)))

    async def _not_completed(self, function: JobFunction, job: Job, error: JobFailed | JobError) -> Report:
        """Throw an error, or fail the job. An exception that cannot be sent fails the job, too: otherwise others would
        repeat its work after each end of the lease."""
        try:
            if isinstance(error, JobError):
                return await self._throw(job, error)
            return await self._fail(function, job, error)
        except Exception as failed:  # what the exception holds is the user's
            reason = str(failed) if isinstance(failed, ApiError | JobFailed) else described(failed)
            return await self._fail(function, job, JobFailed(f"{reason}; the function raised {described(error)}"))

    async def _throw(self, job: Job, error: JobError) -> Report:
        """Raises JobFailed for variables that have no form in JSON, ApiError for an error that the server refuses."""
        variables, code, text = variables_of(error.variables), error.code, sendable(error.message)
        return await self._send(
            job,
            JobOutcome.ERROR,
            sendable(f"{code}: {text}"),
            lambda trace: self._requests.throw_error(job, code, text, variables, trace),
            REFUSED,
        )

    async def _fail(self, function: JobFunction, job: Job, error: JobFailed) -> Report:
        """Raises ApiError if the server refuses the numbers that the exception names."""
        retries = max(job.retries - 1, 0) if error.retries is None else error.retries
        message = sendable(str(error))
        backoff_s = function.backoff_s(retries) if error.backoff_s is None else error.backoff_s
        is_usual = error.retries is None and error.backoff_s is None
        return await self._send(
            job,
            JobOutcome.FAILED,
            message,
            lambda trace: self._requests.fail(job, message, retries, backoff_s, trace),
            () if is_usual else REFUSED,
        )

    async def _send(
        self,
        job: Job,
        outcome: JobOutcome,
        message: str,
        command: Callable[[Headers], Awaitable[int | None]],
        raised: Collection[int] = (),
    ) -> Report:
        """Send the outcome to the server, with retries, so that the work need not be done again.

        Raises ApiError for the statuses `raised`.
        """
        try:
            return Report(job, outcome, message, await command(headers_for(job)))
        except ApiError as error:
            if error.status in raised:
                raise
            if error.status == 504:  # the command is in the log and will be processed
                return Report(job, outcome, message, error.position)
            return Report(job, JobOutcome.LOST, str(error), error.position)
        except NotSendable as error:
            return Report(job, JobOutcome.LOST, str(error))

    async def _hand_back(self, running: RunningJob, still_runs: bool) -> None:
        """End the lease of a job, so that nobody waits for its end. Reports if the server does not answer."""
        job, problem = running.job, f"no answer within {HAND_BACK_S:g} s"
        if job.is_lost:
            return
        lasts = f"others get it when its lease ends, within {running.lease_s:g} s"
        if still_runs:
            self._on_report(Report(job, JobOutcome.LOST, f"its function still runs in a thread; {lasts}"))
            return
        with anyio.move_on_after(HAND_BACK_S, shield=True):
            try:
                await self._requests.set_lease(job, 0.001)
                self._on_report(Report(job, JobOutcome.HANDED_BACK))
                return
            except ApiError as error:
                if error.status in GONE:
                    return  # the job has ended, or another worker has it
                problem = str(error)
            except ClientError as error:
                problem = str(error)
        self._on_report(Report(job, JobOutcome.LOST, f"it could not be handed back ({problem}); {lasts}"))


def _too_slow(function: JobFunction, call: Call) -> str:
    text = f"the job was not done within {function.limit_s:g} s"
    if isinstance(call, ThreadCall) and call.still_runs:
        text += "; its thread cannot be ended, and keeps its slot"
    return f"{text}; it was here:"


def _give_all(slots: Sequence[Slots]) -> None:
    for each in slots:
        each.give()


def _is_our_cancellation(error: BaseException, call: Call | None) -> bool:
    """Whether the worker is cancelled, or Ctrl-C came. Other exceptions are the function's, also `CancelledError`.

    Ctrl-C comes to the main thread: an interrupt that a function in another thread has raised is the function's.
    """
    if isinstance(error, KeyboardInterrupt):
        return not (isinstance(call, ThreadCall) and call.has_ended)
    if not isinstance(error, anyio.get_cancelled_exc_class() | asyncio.CancelledError):
        return False
    return anyio.current_effective_deadline() == -math.inf
