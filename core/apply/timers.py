"""Timers of elements and of process starts."""

from __future__ import annotations

from vivero.core.records.timers import (
    TimerCanceled,
    TimerFailed,
    TimerMoved,
    TimerScheduled,
    TimerSuspended,
    TimerTriggered,
)
from vivero.core.state.instance_tree import SUSPENDED, TIMER_WEIGHT, Timer
from vivero.core.state.state import State


def timer_scheduled(state: State, event: TimerScheduled) -> Timer:
    element = None if event.element is None else state.elements[event.element]
    timer = Timer(
        event.key,
        element,
        event.definition or (element.instance.definition_key if element is not None else 0),
        event.process_id or (element.instance.process_id if element is not None else ""),
        event.tenant or (element.instance.tenant if element is not None else ""),
        event.target,
        event.type,
        "PENDING",
        event.due_at,
        state.now,
        event.repetitions,
        event.cycle,
    )
    state.add(timer)
    state.link(state.timers, event.key, timer)
    if element is not None:
        state.link(element.own_waits().timers, event.key, timer)
        state.add_weight(element.tree, TIMER_WEIGHT)
    else:
        _index_by_process(state, timer, link=True)
    return timer


def timer_triggered(state: State, event: TimerTriggered) -> Timer:
    timer = _end(state, event.key, "TRIGGERED")
    timer.triggered_at = state.now
    return timer


def timer_canceled(state: State, event: TimerCanceled) -> Timer:
    return _end(state, event.key, "CANCELED")


def timer_moved(state: State, event: TimerMoved) -> Timer:
    timer = state.timers[event.key]
    state.edit(timer)
    timer.due_at = event.due_at
    timer.state = "PENDING"
    return timer


def timer_suspended(state: State, event: TimerSuspended) -> Timer:
    """Keep the timer from firing until its instance goes on."""
    timer = state.timers[event.key]
    state.edit(timer)
    timer.state = SUSPENDED
    return timer


def timer_failed(state: State, event: TimerFailed) -> Timer:
    """Mark the timer as failed. It stays with its element, so that it can be tried again."""
    timer = state.timers[event.key]
    state.edit(timer)
    timer.state = "FAILED"
    return timer


def _end(state: State, key: int, to: str) -> Timer:
    timer = state.timers[key]
    state.edit(timer)
    timer.state = to
    timer.ended_at = state.now
    state.unlink(state.timers, key)
    if timer.element is not None:
        state.unlink(timer.element.waits.timers, key)
        state.add_weight(timer.element.tree, -TIMER_WEIGHT)
    else:
        _index_by_process(state, timer, link=False)
    return timer


def _index_by_process(state: State, timer: Timer, *, link: bool) -> None:
    """Add the timer to the start timers of its process, or remove it."""
    process = (timer.tenant, timer.process_id)
    if process not in state.catalogue.start_timers:
        state.link(state.catalogue.start_timers, process, {})
    if link:
        state.link(state.catalogue.start_timers[process], timer.key, timer)
    else:
        state.unlink(state.catalogue.start_timers[process], timer.key)
