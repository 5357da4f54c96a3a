"""Timer event. BPMN 2.0.2 §10.5.5: it occurs at a date, after a duration, or in a cycle. `schedules` computes the due
dates, `start_timers` has the timers that start processes."""

from __future__ import annotations

from vivero.core.bpmn.model import TimerEvent
from vivero.core.events import start_timers
from vivero.core.events.behaviour import InvalidStart, LatestVersion, Wait
from vivero.core.events.schedules import InvalidSchedule, due_date
from vivero.core.records.catalogue import StartMetadata
from vivero.core.records.effects import Effects
from vivero.core.records.timers import TimerScheduled
from vivero.core.view import View


def subscribe(wait: Wait, event: TimerEvent, view: View) -> Effects:
    due = due_date(event, wait.element, view)
    yield TimerScheduled(view.key(), wait.element.key, wait.target.id, wait.type, due.at, due.repetitions, due.cycle)


START_KINDS = tuple(start_timers.KINDS)


def start(element: str, event: TimerEvent) -> StartMetadata:
    try:
        return start_timers.metadata(element, event)
    except InvalidSchedule as error:
        raise InvalidStart(f"element '{element}': {error}") from error


def open_start(event: StartMetadata, latest: LatestVersion, view: View) -> Effects:
    return start_timers.open_timer(event, latest, view)
