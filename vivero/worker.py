"""A job worker: activates jobs of one type, runs a handler for each, and reports the outcome to the server.

The worker requests as many jobs as it has free slots and waits for them in a long poll. The result or the exception of
the handler completes or fails the job, whatever exception it is: one bad job must not end the work on others. If the
server refuses what the handler returned, the job fails with the server's reason. If the server is unreachable, the
worker retries until it answers.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

import trio

from vivero.client.rest import ApiError, Client, ClientError, Document, Missing, NotSendable, Unreachable
from vivero.client.results import AdHocDecision, Corrections, Denial, JobCompletion, JobDecision

__all__ = [
    "AdHocDecision",
    "Corrections",
    "Denial",
    "Handler",
    "JobCompletion",
    "JobError",
    "JobFailed",
    "JobOutcome",
    "Report",
    "Worker",
    "WorkerSettings",
]

Outcome = Mapping[str, Any] | JobDecision | JobCompletion
"""The variables of the process, or what a task listener or the worker of an ad-hoc sub-process decides."""
Handler = Callable[[Document], Awaitable[Outcome]]
"""Does the work of one job, which has the API's form."""

FIRST_RETRY_S, LAST_RETRY_S = 0.1, 5.0
HAND_BACK_S = 2.0
"""The time for handing back jobs when the worker is cancelled."""
OVERLOADED = frozenset((429, 502, 503))
FAULTS_OF_SERVERS = OVERLOADED | {500, 504}
"""After these the worker asks for jobs again: its request is not at fault."""
REFUSED = 400
"""The server answers so to a completion with which no job of this kind can be completed."""
MAX_MESSAGE = 4000
"""Characters of an error message; the rest is not sent."""


class JobFailed(Exception):
    """Raised by a handler to fail its job. `retries`: how many remain (default: one less than before)."""

    def __init__(self, message: str, retries: int | None = None, backoff_ms: int = 0) -> None:
        super().__init__(message)
        self.retries = retries
        self.backoff_ms = backoff_ms


class JobError(Exception):
    """Raised by a handler to throw a BPMN error from its job. The process may catch it by its code."""

    def __init__(self, code: str, message: str = "", variables: Mapping[str, Any] | None = None) -> None:
        super().__init__(message or code)
        self.code = code
        self.message = message
        self.variables = variables or {}


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """Settings of a worker."""

    name: str = "vivero"
    concurrency: int = 1
    """The number of jobs at a time."""
    timeout_s: float = 60.0
    """The time of a job. After it the handler is cancelled, and the server may give the job to another worker."""
    max_jobs: int | None = None
    """The number of jobs after which the worker ends. None: no limit."""
    wait_s: float = 20.0
    """The time that a long poll waits for jobs."""
    backoff_s: float = 0.0
    """The time until a failed job is available again, unless JobFailed has one."""


class JobOutcome(StrEnum):
    """The outcome of a job for its worker."""

    COMPLETED = "completed"
    FAILED = "failed"
    ERROR = "threw an error"
    LOST = "lost"
    """The worker does not have the job any more: the lease or the instance ended, or the job was not handed back."""
    HANDED_BACK = "handed back"
    """The worker was stopped at once, and the job is available to others again."""


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of one job. `position`: that of the reporting command in the log, None if it is not there."""

    job: Document
    outcome: JobOutcome
    message: str
    position: int | None


def described(error: BaseException) -> str:
    """The type and the text of an exception of a handler; of a group, those of its first one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    text = str(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def sendable(message: str) -> str:
    """The message without signs that UTF-8 cannot express, and not too long."""
    return message[:MAX_MESSAGE].encode(errors="replace").decode()


def completion_of(outcome: Any) -> JobCompletion:
    """The completion of a job with what its handler returned. Raises JobFailed if it cannot be sent."""
    if isinstance(outcome, JobCompletion):
        found = outcome
    elif isinstance(outcome, JobDecision):
        found = outcome.completion()
    else:
        found = JobCompletion(outcome)
    check_variables(found.variables)
    if found.result is not None:
        _check_json(found.result, "result")
    return found


def check_variables(variables: Any) -> None:
    """Raise JobFailed if a handler's variables are no mapping that JSON can express."""
    if not isinstance(variables, Mapping):
        raise JobFailed(
            "the handler must return a mapping of variables, a Denial, Corrections or an AdHocDecision, but it "
            f"returned {type(variables).__name__}"
        )
    _check_json(variables, "variables")


def _check_json(document: Mapping[str, Any], what: str) -> None:
    try:
        json.dumps(dict(document), allow_nan=False, ensure_ascii=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise JobFailed(f"the {what} of the handler cannot be written as JSON: {error}") from error


class Worker:
    """Runs `handler` for jobs of `type`. Calls `report` for each job, and `trouble` if the server does not answer.

    Calls `ready` when the server answers for the first time, and again after trouble. Whoever cancels `run` gives the
    active jobs back: others can have them at once.
    """

    def __init__(
        self,
        client: Client,
        type: str,
        handler: Handler,
        settings: WorkerSettings,
        *,
        report: Callable[[Report], None] = lambda _report: None,
        trouble: Callable[[ClientError], None] = lambda _error: None,
        ready: Callable[[], None] | None = None,
    ) -> None:
        self._client = client
        self._type = type
        self._handler = handler
        self._settings = settings
        self._report = report
        self._trouble = trouble
        self._ready = ready
        self._in_trouble = False
        self._slots = trio.Semaphore(settings.concurrency)
        self._remaining = settings.max_jobs
        self._polling = trio.CancelScope()

    def stop(self) -> None:
        """Activate no more jobs. `run` ends when the active jobs are done."""
        self._polling.cancel()

    async def run(self) -> None:
        """Work until `stop`, or until `max_jobs` are done.

        Raises:
            ApiError: the server rejects the activation request.
            Missing: the jobs lack what their reports need, because the server is not a Vivero server.
        """
        async with trio.open_nursery() as nursery:
            with self._polling:
                if self._ready is not None:
                    self._in_trouble = True
                    await self._with_retries(self._client.topology)
                while self._remaining is None or self._remaining > 0:
                    await self._slots.acquire()  # wait for a free slot; `_activate` reads the number of free slots
                    self._slots.release()
                    for job in await self._activate():
                        self._slots.acquire_nowait()
                        nursery.start_soon(self._work, job)

    async def _activate(self) -> list[Document]:
        free = self._slots.value
        limit = free if self._remaining is None else min(free, self._remaining)
        settings = self._settings
        jobs: list[Document] = await self._with_retries(
            lambda: self._client.activate(
                self._type,
                worker=settings.name,
                timeout_ms=int(settings.timeout_s * 1000),
                limit=limit,
                wait_ms=int(settings.wait_s * 1000),
            ),
            FAULTS_OF_SERVERS,
        )
        if self._remaining is not None:
            self._remaining -= len(jobs)
        return jobs

    async def _work(self, job: Document) -> None:
        done = False
        try:
            self._report(await self._outcome(job))
            done = True
        finally:
            self._slots.release()
            if not done:  # cancelled
                await self._hand_back(job)

    async def _hand_back(self, job: Document) -> None:
        """End the lease of a job, so that nobody waits for its end. Reports if the server does not answer."""
        problem = f"no answer within {HAND_BACK_S:g} s"
        with trio.move_on_after(HAND_BACK_S, shield=True):
            try:
                await self._client.end_lease(job)
                self._report(Report(job, JobOutcome.HANDED_BACK, "", None))
                return
            except ApiError as error:
                if error.status in (404, 409):
                    return  # the job has ended, or another worker has it
                problem = str(error)
            except ClientError as error:
                problem = str(error)
        lasts = f"others get it when its lease ends, within {self._settings.timeout_s:g} s"
        self._report(Report(job, JobOutcome.LOST, f"it could not be handed back ({problem}); {lasts}", None))

    async def _outcome(self, job: Document) -> Report:
        try:
            with trio.fail_after(self._settings.timeout_s):
                outcome = await self._handler(job)
            completion = completion_of(outcome)
        except JobFailed as error:
            return await self._fail(job, error)
        except JobError as error:
            return await self._throw_or_fail(job, error)
        except trio.TooSlowError:
            return await self._fail(job, JobFailed(f"the job was not done within {self._settings.timeout_s:g} s"))
        except Exception as error:
            return await self._fail(job, JobFailed(described(error)))
        try:
            return await self._send_outcome(
                job, JobOutcome.COMPLETED, "", lambda: self._client.complete(job, *completion), {REFUSED}
            )
        except ApiError as refused:
            return await self._fail(job, JobFailed(str(refused)))

    async def _throw_or_fail(self, job: Document, error: JobError) -> Report:
        """Throw an error, or fail the job if the error's variables cannot be sent."""
        try:
            check_variables(error.variables)
        except JobFailed as failed:
            return await self._fail(job, failed)
        message = sendable(f"{error.code}: {error.message}")
        return await self._send_outcome(job, JobOutcome.ERROR, message, partial(self._throw, job, error))

    async def _fail(self, job: Document, error: JobFailed) -> Report:
        retries = max(job["retries"] - 1, 0) if error.retries is None else error.retries
        message = sendable(str(error))
        backoff_ms = error.backoff_ms or round(self._settings.backoff_s * 1000)
        return await self._send_outcome(
            job, JobOutcome.FAILED, message, lambda: self._client.fail(job, message, retries, backoff_ms)
        )

    async def _throw(self, job: Document, error: JobError) -> Any:
        return await self._client.throw_error(job, error.code, sendable(error.message), error.variables)

    async def _send_outcome(
        self,
        job: Document,
        outcome: JobOutcome,
        message: str,
        command: Callable[[], Awaitable[Any]],
        raised: Collection[int] = (),
    ) -> Report:
        """Send the outcome to the server, with retries, so that the work need not be done again.

        Raises ApiError for the statuses `raised`.
        """
        try:
            answer = await self._with_retries(command)
        except ApiError as error:
            if error.status in raised:
                raise
            if error.status == 504:  # the command is in the log and will be processed
                return Report(job, outcome, message, error.position)
            return Report(job, JobOutcome.LOST, str(error), error.position)
        except NotSendable as error:
            return Report(job, JobOutcome.LOST, str(error), None)
        return Report(job, outcome, message, answer.position)

    async def _with_retries(self, request: Callable[[], Awaitable[Any]], repeated: Collection[int] = OVERLOADED) -> Any:
        """The answer to a request, which is repeated while the server is unreachable or answers with these statuses."""
        delay_s = FIRST_RETRY_S
        while True:
            try:
                answer = await request()
                self._answered()
                return answer
            except Unreachable as error:
                self._in_trouble = True
                self._trouble(error)
            except ApiError as error:
                if error.status not in repeated:
                    raise
                self._in_trouble = True
                self._trouble(error)
            except (Missing, NotSendable):
                raise
            except ClientError as error:  # something on the way answers instead of the server
                self._in_trouble = True
                self._trouble(error)
            await trio.sleep(delay_s)
            delay_s = min(delay_s * 2, LAST_RETRY_S)

    def _answered(self) -> None:
        if self._in_trouble and self._ready is not None:
            self._ready()
        self._in_trouble = False
