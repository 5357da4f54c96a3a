"""The start events of the processes of a test: messages, signals and timers start them, as they do in a server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from vivero.core.bpmn.model import Process
from vivero.core.events.schedules import Due, next_due
from vivero.core.events.start_timers import KINDS, due_of
from vivero.core.events.starts import starts_of
from vivero.core.records.catalogue import StartMetadata
from vivero.core.rules import TIMER_RULES
from vivero.library import Models
from vivero.library.times import from_ms, to_ms


class StartEvent(NamedTuple):
    """A start event of the newest version of a process. `file`: the name of the file."""

    file: str
    process_id: str
    event: StartMetadata


@dataclass(slots=True)
class StartTimer:
    """A timer that starts a process, and its next due date."""

    start: StartEvent
    due: Due

    @property
    def due_at(self) -> datetime:
        return from_ms(self.due.at)


class StartTimers:
    """The timers that start processes. Each begins when its file is used first."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, str], StartTimer | None] = {}

    def next(self, starts: Iterable[StartEvent], used_at: Mapping[str, datetime]) -> StartTimer | None:
        """The timer that is due first."""
        found = [timer for start in starts if (timer := self._timer(start, used_at)) is not None]
        return min(found, key=lambda timer: timer.due.at, default=None)

    def fired(self, timer: StartTimer) -> None:
        """Go on to the next occurrence, if there is one."""
        following = next_due(timer.due, timer.due.at, TIMER_RULES)
        self._known[_place(timer.start)] = None if following is None else StartTimer(timer.start, following)

    def _timer(self, start: StartEvent, used_at: Mapping[str, datetime]) -> StartTimer | None:
        place = _place(start)
        if place not in self._known:
            self._known[place] = StartTimer(start, due_of(start.event, to_ms(used_at[start.file]), TIMER_RULES))
        return self._known[place]


def _place(start: StartEvent) -> tuple[str, str, str]:
    return start.file, start.process_id, start.event.element


def start_events(models: Models) -> Iterator[StartEvent]:
    """The start events of the newest version of each process. One that needs several events together is left out."""
    newest: dict[str, tuple[str, Process]] = {}
    for digest, processes in models.resources.items():
        file = models.name_of(digest)
        newest |= {id: (file, process) for id, process in processes.items()}
    for id, (file, process) in newest.items():
        for event in starts_of(process):
            if not event.together:
                yield StartEvent(file, id, event)


TIMERS = frozenset(KINDS)
