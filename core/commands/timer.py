"""Timers. The timer task triggers them when they are due; people can fire and move them."""

from __future__ import annotations

from vivero.core.events.schedules import LATEST_MS, Due, next_due
from vivero.core.events.start_timers import scheduled
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.codec import decode_command
from vivero.core.records.effects import Effects, Reject, RejectionCode, Send, reject_not_found
from vivero.core.records.instances import COMMAND_STAGE
from vivero.core.records.messages import StartInstance
from vivero.core.records.timers import (
    FireTimer,
    MoveTimer,
    TimerCanceled,
    TimerMoved,
    TimerScheduled,
    TimerTriggered,
    TriggerTimer,
)
from vivero.core.shared import occurrences
from vivero.core.state.instance_tree import Element, Timer
from vivero.core.view import View


def needs(command: TriggerTimer | FireTimer | MoveTimer, tenant: str) -> Needs:
    yield Need(NeedKind.TIMER, command.key)


def trigger(command: TriggerTimer, view: View) -> Effects:
    """Trigger the timer if `due_at` is its due date and has come.

    Ignored: duplicates after a change of the term, triggers of a due date that was moved, and triggers before the due
    date because the clock was set back. The timer task sends the last kind again.
    """
    timer = view.timer(command.key)
    if timer is not None and timer.due_at == command.due_at <= view.now and not _is_quarantined(timer):
        yield from _trigger(timer, view)


def fire(command: FireTimer, view: View) -> Effects:
    yield from _trigger(_find_timer(command.key, "fire", view), view)


def move(command: MoveTimer, view: View) -> Effects:
    timer = _find_timer(command.key, "move", view)
    if not 0 <= command.due_at <= LATEST_MS:
        raise Reject(
            RejectionCode.INVALID_ARGUMENT,
            f"Expected to move timer with key '{timer.key}' to a date in the years 1970 to 9999, "
            f"but got '{command.due_at}'",
        )
    yield TimerMoved(timer.key, command.due_at)


def _find_timer(key: int, verb: str, view: View) -> Timer:
    timer = view.timer(key)
    if timer is None or not view.enter(timer.tenant):
        raise reject_not_found("timer", verb, key)
    return timer


def _trigger(timer: Timer, view: View) -> Effects:
    element = timer.element
    if element is None:
        yield from _trigger_start(timer, view)
        return
    if not occurrences.can_happen(timer.type, element):  # the element has stopped waiting for good
        yield TimerCanceled(timer.key)
        return
    yield TimerTriggered(timer.key)
    following = next_due(_occurrence(timer), view.now, view.rules)
    if following is not None and _repeats(timer, element, view):
        yield TimerScheduled(
            view.key(),
            element.key,
            timer.target,
            timer.type,
            following.at,
            following.repetitions,
            following.cycle,
        )
    yield from occurrences.happens(element, timer.target, {}, view, timer)


def _trigger_start(timer: Timer, view: View) -> Effects:
    """Start a process at the timer's start event."""
    yield TimerTriggered(timer.key)
    following = next_due(_occurrence(timer), view.now, view.rules)
    if following is not None:
        yield scheduled(view.key(), timer.target, following, timer.definition, timer.process_id, timer.tenant)
    partition = view.partition_for_start(timer.tenant, timer.key)
    key = view.key() if partition is None else 0
    yield Send(StartInstance(key, timer.definition, timer.target, partition=partition or 0))


def _occurrence(timer: Timer) -> Due:
    return Due(timer.due_at, timer.repetitions, timer.cycle)


def _is_quarantined(timer: Timer) -> bool:
    """Whether handling the timer's trigger has raised, and the incident with the command is open."""
    if timer.state != "FAILED" or timer.element is None:
        return timer.state == "FAILED"
    quarantined = (i.argument for i in timer.element.waits.incidents.values() if i.stage == COMMAND_STAGE)
    commands = (decode_command(one["intent"], one["command"].encode()) for one in quarantined)
    return any(isinstance(command, TriggerTimer) and command.key == timer.key for command in commands)


def _repeats(timer: Timer, element: Element, view: View) -> bool:
    return timer.type != "INTERMEDIATE" and occurrences.goes_on(element, timer.target, view)
