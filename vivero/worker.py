"""A job worker: activates jobs of one type, has them worked, and reports what came of each.

The worker asks for as many jobs as it has hands free, waits for them in a long poll, and completes, fails or gives up
each by what its handler does. A server that is away is waited for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import trio

from vivero.client import ApiError, Client, ClientError, Document, Unreachable

Handler = Callable[[Document], Awaitable[Mapping[str, Any]]]
"""Works one job, given as the API gives it; its result goes to the process as variables."""

FIRST_RETRY_S, LAST_RETRY_S = 0.1, 5.0
MAX_MESSAGE = 4000
"""Characters of an error message that are sent."""


class JobFailed(Exception):
    """Raised by handlers: the job is to be tried again, `retries` times more (default: one less than before)."""

    def __init__(self, message: str, retries: int | None = None, backoff_ms: int = 0) -> None:
        super().__init__(message)
        self.retries = retries
        self.backoff_ms = backoff_ms


@dataclass(frozen=True, slots=True)
class WorkerSettings:
    """What a worker takes and how long it may need."""

    name: str = "vivero"
    concurrency: int = 1
    """Jobs at the same time."""
    timeout_s: float = 60.0
    """After which a job is given to somebody else, and its handler is cancelled."""
    max_jobs: int | None = None
    """After which the worker ends; None: it does not."""
    wait_s: float = 20.0
    """How long a poll waits for jobs."""


class Outcome(StrEnum):
    """What became of a job."""

    COMPLETED = "completed"
    FAILED = "failed"
    LOST = "lost"
    """Somebody else has it, or nobody: its time was over, or its instance was cancelled."""


@dataclass(frozen=True, slots=True)
class Report:
    """One worked job. `position`: of the command that said so, in the log."""

    job: Document
    outcome: Outcome
    message: str
    position: int | None


class Worker:
    """Works jobs of `type` with `handler`; `report` hears of each, `trouble` of a server that does not answer."""

    def __init__(
        self,
        client: Client,
        type: str,
        handler: Handler,
        settings: WorkerSettings,
        *,
        report: Callable[[Report], None] = lambda _report: None,
        trouble: Callable[[ClientError], None] = lambda _error: None,
    ) -> None:
        self._client = client
        self._type = type
        self._handler = handler
        self._settings = settings
        self._report = report
        self._trouble = trouble
        self._hands = trio.Semaphore(settings.concurrency)
        self._left = settings.max_jobs
        self._polling = trio.CancelScope()

    def stop(self) -> None:
        """Take no more jobs; `run` ends when those in hand are done."""
        self._polling.cancel()

    async def run(self) -> None:
        """Work until `stop`, or until `max_jobs` are done.

        Raises:
            ApiError: the server does not accept how it is asked.
        """
        async with trio.open_nursery() as nursery:
            with self._polling:
                while self._left is None or self._left > 0:
                    await self._hands.acquire()  # a hand for the first job; the others are counted then
                    self._hands.release()
                    for job in await self._activate():
                        self._hands.acquire_nowait()
                        nursery.start_soon(self._work, job)

    async def _activate(self) -> list[Document]:
        free = self._hands.value
        limit = free if self._left is None else min(free, self._left)
        settings = self._settings
        jobs: list[Document] = await self._insisting(
            lambda: self._client.activate(
                self._type,
                worker=settings.name,
                timeout_ms=int(settings.timeout_s * 1000),
                limit=limit,
                wait_ms=int(settings.wait_s * 1000),
            )
        )
        if self._left is not None:
            self._left -= len(jobs)
        return jobs

    async def _work(self, job: Document) -> None:
        try:
            self._report(await self._outcome(job))
        finally:
            self._hands.release()

    async def _outcome(self, job: Document) -> Report:
        try:
            with trio.fail_after(self._settings.timeout_s):
                variables = await self._handler(job)
        except JobFailed as error:
            return await self._fail(job, error)
        except trio.TooSlowError:
            return await self._fail(job, JobFailed(f"not done within {self._settings.timeout_s:g} s"))
        return await self._tell(job, Outcome.COMPLETED, "", lambda: self._client.complete(job, variables))

    async def _fail(self, job: Document, error: JobFailed) -> Report:
        retries = max(job["retries"] - 1, 0) if error.retries is None else error.retries
        message = str(error)[:MAX_MESSAGE]
        return await self._tell(
            job, Outcome.FAILED, message, lambda: self._client.fail(job, message, retries, error.backoff_ms)
        )

    async def _tell(
        self, job: Document, outcome: Outcome, message: str, command: Callable[[], Awaitable[Any]]
    ) -> Report:
        """Report the outcome to the server, insistently: work that was done should not be done again."""
        try:
            answer = await self._insisting(command)
        except ApiError as error:
            if error.status == 504:  # in the log, and will be done
                return Report(job, outcome, message, error.position)
            return Report(job, Outcome.LOST, str(error), error.position)
        return Report(job, outcome, message, answer.position)

    async def _insisting(self, request: Callable[[], Awaitable[Any]]) -> Any:
        """The answer to a request, asked again for as long as the server is away or has too much to do."""
        delay_s = FIRST_RETRY_S
        while True:
            try:
                return await request()
            except Unreachable as error:
                self._trouble(error)
            except ApiError as error:
                if error.status not in (429, 502, 503):
                    raise
                self._trouble(error)
            await trio.sleep(delay_s)
            delay_s = min(delay_s * 2, LAST_RETRY_S)
