"""Timers: of elements, and of process starts."""

from __future__ import annotations

from engine.core import records
from engine.core.state import TIMER_WEIGHT, State, Timer


def timer_scheduled(state: State, event: records.TimerScheduled) -> Timer:
    element = None if event.element is None else state.elements[event.element]
    timer = Timer(
        event.key,
        element,
        event.target,
        event.type,
        event.due_at,
        event.repetitions,
        event.cycle,
        state.now,
        event.definition or (element.instance.definition_key if element is not None else 0),
        event.process_id or (element.instance.process_id if element is not None else ""),
        event.tenant or (element.instance.tenant if element is not None else ""),
    )
    state.add(timer)
    state.link(state.timers, event.key, timer)
    if element is not None:
        state.link(element.timers, event.key, timer)
        state.weigh(element.root, TIMER_WEIGHT)
    return timer


def timer_triggered(state: State, event: records.TimerTriggered) -> Timer:
    timer = _end(state, event.key, "TRIGGERED")
    timer.triggered_at = state.now
    return timer


def timer_canceled(state: State, event: records.TimerCanceled) -> Timer:
    return _end(state, event.key, "CANCELED")


def timer_moved(state: State, event: records.TimerMoved) -> Timer:
    timer = state.timers[event.key]
    state.edit(timer)
    timer.due_at = event.due_at
    return timer


def _end(state: State, key: int, to: str) -> Timer:
    timer = state.timers[key]
    state.edit(timer)
    timer.state = to
    timer.ended_at = state.now
    state.unlink(state.timers, key)
    if timer.element is not None:
        state.unlink(timer.element.timers, key)
        state.weigh(timer.element.root, -TIMER_WEIGHT)
    return timer
