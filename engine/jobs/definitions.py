"""Job definitions: what users write in their module of jobs, and the registry of all of them.

from vivero.jobs import RescheduleIn, job, scheduled

@job("send-invoice", retry=RetrySettings(max_attempts=3))
async def send_invoice(execution):
    await execution.execute("INSERT INTO invoices VALUES ($1)", (execution.payload["order"],))

@scheduled("nightly-report", cron="0 3 * * *", timezone="Europe/Madrid")
def report(execution): ...
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from enum import StrEnum
from types import ModuleType
from typing import Any

from vivero.core.records.codec import event_names
from vivero.engine.jobs import parameters, schedules
from vivero.engine.jobs.durations import seconds
from vivero.engine.jobs.parameters import DeferQueue
from vivero.engine.jobs.retries import RetrySettings
from vivero.engine.jobs.schedules import Schedule
from vivero.engine.jobs.tracker import RunLimits

Handler = Callable[..., Any]
"""A function that takes an `Execution`: for Trio, for asyncio, or a plain function."""
MAX_NAME = 200
CHORES = "vivero."
"""The beginning of the names of the program's own jobs."""


class Runs(StrEnum):
    """The place where a handler runs."""

    TRIO = "trio"
    ASYNCIO = "asyncio"
    THREAD = "thread"


@dataclass(frozen=True, slots=True)
class RescheduleAt:
    """A handler's result: run this execution again at this time. The time must have a zone."""

    at: datetime

    def __post_init__(self) -> None:
        if self.at.tzinfo is None:
            raise ValueError("RescheduleAt needs a time with a zone")

    def due_ms(self, _now_ms: int) -> int:
        return int(self.at.astimezone(UTC).timestamp() * 1000)


@dataclass(frozen=True, slots=True)
class RescheduleIn:
    """A handler's result: run this execution again after an ISO 8601 duration, or after this many seconds."""

    after: str | float

    def __post_init__(self) -> None:
        if self.after_s < 0:
            raise ValueError("RescheduleIn needs a duration that is not negative")

    @property
    def after_s(self) -> float:
        return seconds(self.after) if isinstance(self.after, str) else self.after

    def due_ms(self, now_ms: int) -> int:
        return now_ms + round(self.after_s * 1000)


@dataclass(frozen=True, slots=True)
class Events:
    """The events that a consumer gets: their names (empty: all), and whether it begins with the next event."""

    types: frozenset[str] = frozenset()
    latest: bool = False

    def __post_init__(self) -> None:
        known = event_names()
        for unknown in self.types - known:
            near = "".join(f": did you mean '{name}'?" for name in get_close_matches(unknown, known, 1))
            raise ValueError(f"there is no event '{unknown}'{near}")


@dataclass(frozen=True, slots=True)
class JobDefinition:
    """A type of job: its handler, and how it runs.

    With a schedule, it always has exactly one execution, or one in each partition (`by_partition`).
    """

    type: str
    handler: Handler
    runs: Runs
    retry: RetrySettings | None = None
    """None: the retry settings of the program."""
    schedule: Schedule | None = None
    follows: Events | None = None
    """Present for a consumer of events."""
    timeout_s: float | None = None
    """An attempt that takes longer is cancelled and counts as failed. Threads cannot be cancelled."""
    by_partition: bool = False
    limits: RunLimits | None = None
    """The number that runs at once on a node, beside the limits of all types together."""
    max_in_cluster: int | None = None
    """The number that runs at once on all nodes together."""
    stale_s: float | None = None
    paused: bool = False
    """This node begins no runs of the type."""

    def __post_init__(self) -> None:
        if not self.type or len(self.type) > MAX_NAME or not self.type.isprintable():
            raise ValueError(f"the name of a job must have 1 to {MAX_NAME} printable characters: {self.type!r}")
        if self.runs is Runs.THREAD and self.timeout_s is not None:
            raise ValueError(f"job '{self.type}': a function that runs in a thread cannot have a timeout")

    def defer(
        self,
        queue: DeferQueue,
        *,
        at: datetime | None = None,
        unique_key: str | None = None,
        allow_unknown: bool = False,
        **fields: Any,
    ) -> int:
        """Add an execution with these fields in its payload, in the transaction of the queue; its id there.

        Raises:
            BadPayload: the fields are not the parameters of the function, or have other types.
            TypeError: the job has a schedule or follows events, so that an execution would never end.
        """
        self.check_deferrable()
        payload = parameters.payload_of(self.handler, fields)
        return queue.defer(self.type, payload, at=at, unique_key=unique_key, allow_unknown=allow_unknown)

    def check_deferrable(self) -> None:
        """Raises TypeError for a job that runs by itself: another execution would go on for ever."""
        if self.schedule is not None or self.follows is not None:
            why = "follows events" if self.follows is not None else "has a schedule"
            raise TypeError(f"'{self.type}' {why} and runs by itself: only jobs of @job can be deferred")


def job(
    type: str, *, runs: Runs | str | None = None, retry: RetrySettings | None = None, timeout: str | None = None
) -> Callable[[Handler], JobDefinition]:
    """Makes a function the handler of a type of job. By default, `async` functions run in Trio, others in a thread."""
    return _decorator(type, runs, retry, timeout, None)


def scheduled(
    type: str,
    *,
    cron: str | None = None,
    timezone: str = "UTC",
    every: str | None = None,
    runs: Runs | str | None = None,
    retry: RetrySettings | None = None,
    timeout: str | None = None,
) -> Callable[[Handler], JobDefinition]:
    """Makes a function a job that runs by a cron expression in a time zone, or every ISO 8601 duration."""
    if (cron is None) == (every is None):
        raise ValueError(f"job '{type}' needs either `cron` or `every`")
    schedule = schedules.cron(cron, timezone) if cron is not None else schedules.every(str(every))
    return _decorator(type, runs, retry, timeout, schedule)


def consumer(
    type: str,
    *,
    events: Iterable[str] = (),
    latest: bool = False,
    runs: Runs | str | None = None,
    retry: RetrySettings | None = None,
    timeout: str | None = None,
) -> Callable[[Handler], JobDefinition]:
    """Makes a function a consumer of events: it runs in each partition whenever there are new ones, and never gives up.

    Without `events` it gets all events. It begins with the oldest event that is kept, or with the next one (`latest`).
    """
    return _decorator(type, runs, retry, timeout, None, Events(frozenset(events), latest))


def _decorator(
    type: str,
    runs: Runs | str | None,
    retry: RetrySettings | None,
    timeout: str | None,
    schedule: Schedule | None,
    follows: Events | None = None,
) -> Callable[[Handler], JobDefinition]:
    timeout_s = None if timeout is None else seconds(timeout)

    def define(handler: Handler) -> JobDefinition:
        if parameters.required_by(handler) and (schedule is not None or follows is not None):
            raise ValueError(f"job '{type}': only executions of @job have a payload; take the execution alone")
        return JobDefinition(type, handler, _where(handler, runs), retry, schedule, follows, timeout_s)

    return define


def _where(handler: Handler, runs: Runs | str | None) -> Runs:
    is_async = inspect.iscoroutinefunction(handler)
    place = Runs(runs) if runs is not None else Runs.TRIO if is_async else Runs.THREAD
    if (place is Runs.THREAD) == is_async:
        raise ValueError(f"{handler.__qualname__} cannot run in {place}: only `async` functions run in trio or asyncio")
    if place is Runs.ASYNCIO:
        importlib.import_module("vivero.engine.jobs.asyncio_handlers")  # before asyncio libraries begin to work
    return place


@dataclass(frozen=True, slots=True)
class JobRegistry:
    """The definitions by their type."""

    definitions: Mapping[str, JobDefinition] = field(default_factory=dict)

    @classmethod
    def of(cls, definitions: Iterable[JobDefinition]) -> JobRegistry:
        """A registry of these. Raises ValueError if two have one type."""
        found: dict[str, JobDefinition] = {}
        for each in definitions:
            if each.type in found:
                raise ValueError(f"there are two jobs with the name '{each.type}'")
            found[each.type] = each
        return cls(found)

    @classmethod
    def of_module(cls, module: ModuleType) -> JobRegistry:
        """The definitions at the top of a module. Raises ValueError if there are none."""
        found = {id(value): value for value in vars(module).values() if isinstance(value, JobDefinition)}
        for each in found.values():
            if each.type.startswith(CHORES):
                raise ValueError(f"the name '{each.type}' is reserved: names of your jobs must not begin with {CHORES}")
        if not found:
            raise ValueError(f"the module {module.__name__} defines no jobs; use @job or @scheduled of vivero.jobs")
        return cls.of(found.values())
