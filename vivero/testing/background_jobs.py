"""Background jobs in tests: executions that a test defers run in memory, without a server or a database.

    def test_an_invoice_is_sent(background_jobs):
        background_jobs.use(my_jobs)
        my_jobs.send_invoice.defer(background_jobs, invoice="a1")
        background_jobs.run().expect_completed("send-invoice", invoice="a1")

The functions get their parameters by the code of a server, and run where they would: in Trio, asyncio or a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import ModuleType
from typing import Any

import msgspec
import trio

from vivero.engine.jobs.definitions import JobDefinition, JobRegistry, RescheduleAt, Runs
from vivero.engine.jobs.error_texts import text_of
from vivero.engine.jobs.execution import Execution, TransactionalExecution
from vivero.engine.jobs.handlers import Result, call, event_loop
from vivero.engine.jobs.retries import RetrySettings
from vivero.storage.background.job_executions import Run
from vivero.storage.postgres.driver import Params
from vivero.testing.names import proposal
from vivero.worker.single_jobs import outside_of_loops

__all__ = ["BackgroundJobTests", "DeferredJob"]

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MOST_RUNS = 1_000
"""Runs of one call. Jobs that defer each other would never end."""

Statement = tuple[str, Sequence[Any]]
Sql = Callable[[str, Sequence[Any]], Sequence[tuple[Any, ...]]]


@dataclass(slots=True)
class DeferredJob:
    """An execution of a test. `state`: `pending`, `completed` or `failed`. `errors`: one for each failed attempt."""

    id: int
    type: str
    payload: Any
    at: datetime
    unique_key: str | None
    state: str = "pending"
    attempt: int = 0
    occurrence: int = 0
    errors: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        failed = f", after it failed: {self.errors[-1].splitlines()[-1]}" if self.errors else ""
        due = f" until {self.at:%Y-%m-%d %H:%M:%S}" if self.state == "pending" else ""
        return f"{self.type} {msgspec.json.encode(self.payload).decode()} is {self.state}{due}{failed}"


class BackgroundJobTests:
    """The fixture `background_jobs`: a queue for `defer`, and the server that runs what is due. `now`: its clock."""

    def __init__(self, execute: Sql | None = None) -> None:
        """`execute` answers the SQL statements of functions in Trio with rows."""
        self.now = BEGIN
        self.jobs: list[DeferredJob] = []
        """All that was deferred, in its order."""
        self.statements: list[Statement] = []
        """The SQL statements of runs that have succeeded. Those of failed attempts are rolled back."""
        self._definitions: dict[str, JobDefinition] = {}
        self._execute = execute

    def use(self, *given: JobDefinition | ModuleType) -> BackgroundJobTests:
        """Run the jobs of these definitions or modules.

        Raises ValueError: a module has no jobs, or a name stands twice.
        """
        found = list(self._definitions.values())
        for each in given:
            found += [each] if isinstance(each, JobDefinition) else JobRegistry.of_module(each).definitions.values()
        self._definitions |= JobRegistry.of({id(each): each for each in found}.values()).definitions
        return self

    def answer_sql(self, execute: Sql) -> BackgroundJobTests:
        """Let this function answer the SQL statements of functions in Trio with rows."""
        self._execute = execute
        return self

    def defer(
        self,
        job_type: str,
        payload: Any = None,
        *,
        at: datetime | None = None,
        unique_key: str | None = None,
        allow_unknown: bool = False,
    ) -> int:
        """Add an execution, as a server does; its id.

        Raises ValueError for an unknown type and a time without zone, TypeError for a job that runs by itself.
        """
        if job_type not in self._definitions and not allow_unknown:
            raise ValueError(f"the test uses no job '{job_type}'.{proposal(job_type, self._definitions)}")
        if job_type in self._definitions:
            self._definitions[job_type].check_deferrable()
        due = self.now if at is None else RescheduleAt(at).at
        for one in self.jobs:
            if unique_key is not None and (one.type, one.unique_key, one.state) == (job_type, unique_key, "pending"):
                return one.id
        plain = msgspec.json.decode(msgspec.json.encode(payload))
        self.jobs.append(DeferredJob(len(self.jobs) + 1, job_type, plain, due, unique_key))
        return self.jobs[-1].id

    def run(self) -> BackgroundJobTests:
        """Run what is due, the oldest first, until nothing more is. Attempts that fail wait for the time of the next.

        Raises AssertionError if there are too many runs.
        """
        __tracebackhide__ = True
        return self._run_until(self.now)

    def advance(self, by: timedelta | None = None, **duration: float) -> BackgroundJobTests:
        """Let the time pass, and run what becomes due, each at its time."""
        __tracebackhide__ = True
        return self._run_until(self.now + (timedelta(**duration) if by is None else by))

    def _run_until(self, until: datetime) -> BackgroundJobTests:
        __tracebackhide__ = True
        for _ in range(MOST_RUNS):
            due = [one for one in self.jobs if self._is_open(one) and one.at <= until]
            if not due:
                self.now = until
                return self
            first = min(due, key=lambda one: (one.at, one.id))
            self.now = max(self.now, first.at)
            self._attempt(first)
        raise AssertionError(f"There were {MOST_RUNS} runs until {self.now}.\n{self.describe()}")

    def describe(self) -> str:
        """A line for each execution."""
        return "\n".join(map(str, self.jobs)) or "Nothing was deferred."

    # ---- expectations

    def expect_deferred(self, job_type: str, *, at: datetime | None = None, **fields: Any) -> BackgroundJobTests:
        """An execution of the type was deferred with these fields, and for this time."""
        __tracebackhide__ = True
        return self._expect(job_type, fields, "deferred", lambda one: at is None or one.at == at)

    def expect_completed(self, job_type: str, **fields: Any) -> BackgroundJobTests:
        """An execution of the type with these fields has completed."""
        __tracebackhide__ = True
        return self._expect(job_type, fields, "completed", lambda one: one.state == "completed")

    def expect_failed(self, job_type: str, containing: str = "", *, attempts: int | None = None) -> BackgroundJobTests:
        """An execution of the type has failed for good, after so many attempts, and its last error has this text."""
        __tracebackhide__ = True

        def has_failed(one: DeferredJob) -> bool:
            return one.state == "failed" and containing in one.errors[-1] and attempts in (None, len(one.errors))

        return self._expect(job_type, {}, "failed so", has_failed)

    def _expect(
        self, job_type: str, fields: Mapping[str, Any], what: str, holds: Callable[[DeferredJob], bool]
    ) -> BackgroundJobTests:
        __tracebackhide__ = True
        plain = msgspec.to_builtins(dict(fields))
        if job_type not in self._definitions:
            raise AssertionError(f"The test uses no job '{job_type}'.{proposal(job_type, self._definitions)}")
        of_type = [one for one in self.jobs if one.type == job_type]
        if not any(holds(one) and _has(one.payload, plain) for one in of_type):
            raise AssertionError(f"No {job_type} {plain or ''} was {what}.\n{self.describe()}")
        return self

    # ---- runs

    def _is_open(self, one: DeferredJob) -> bool:
        return one.state == "pending" and one.type in self._definitions

    def _attempt(self, one: DeferredJob) -> None:
        definition = self._definitions[one.type]
        payload = None if one.payload is None else msgspec.json.encode(one.payload).decode()
        due_ms = round(one.at.timestamp() * 1000)
        run = Run(str(one.id), one.type, one.attempt, payload, None, None, f"lease-{one.id}", one.occurrence, due_ms, 0)
        execution = _Execution(run, self._execute) if definition.runs is Runs.TRIO else Execution(run)
        result = outside_of_loops(lambda: trio.run(_called, definition, execution))
        if isinstance(result, BaseException):
            self._failed(one, definition.retry or RetrySettings(), result)
            return
        if isinstance(execution, _Execution):
            self.statements += execution.statements
            for type, added, at, key in execution.added:
                self.defer(type, added, at=at, unique_key=key, allow_unknown=True)
        if result is None:
            one.state = "completed"
        else:
            one.at = datetime.fromtimestamp(result.due_ms(round(self.now.timestamp() * 1000)) / 1000, UTC)
            one.attempt, one.occurrence = 0, one.occurrence + 1

    def _failed(self, one: DeferredJob, retry: RetrySettings, error: BaseException) -> None:
        one.errors.append(text_of(error))
        if retry.is_last(one.attempt):
            one.state = "failed"
        else:
            one.at = self.now + timedelta(seconds=retry.delay_s(one.attempt))
            one.attempt += 1


def _has(payload: Any, fields: Mapping[str, Any]) -> bool:
    """Whether a payload, which may be any JSON, has these fields."""
    return fields.items() <= (payload if isinstance(payload, dict) else {}).items()


async def _called(definition: JobDefinition, execution: Execution) -> Result | Exception | SystemExit:
    """The result, or the exception of the attempt."""
    async with event_loop([definition]):
        try:
            return await call(definition, execution, set())
        except (Exception, SystemExit) as error:
            return error


class _Execution(TransactionalExecution):
    """The execution of a function in Trio. `statements` and `added` count if the run succeeds."""

    def __init__(self, run: Run, execute: Sql | None) -> None:
        self._run = run
        self._answer = execute
        self.statements: list[Statement] = []
        self.added: list[tuple[str, Any, datetime | None, str | None]] = []

    async def execute(self, sql: str, params: Params = ()) -> Sequence[tuple[Any, ...]]:
        if self._answer is None:
            raise AssertionError(
                "the test has no database: give a function for statements to `background_jobs.answer_sql`"
            )
        rows = self._answer(sql, params)
        self.statements.append((sql, params))
        return rows

    async def add(
        self, type: str, payload: Any = None, *, at: datetime | None = None, unique_key: str | None = None
    ) -> str:
        self.added.append((type, payload, at, unique_key))
        return f"{self._run.id}-{len(self.added)}"
