"""Work of suspended process instances: which elements stand still, and the stages of suspended items."""

from __future__ import annotations

from vivero.core.records.effects import Effects, Send
from vivero.core.records.messages import OpenSubscription
from vivero.core.records.suspensions import AWAIT_MESSAGE
from vivero.core.records.timers import TimerCanceled, TimerMoved, TimerScheduled
from vivero.core.state.instance_tree import SUSPENDED, TERMINATING, Element
from vivero.core.view import View

ONCE = ("settle", "check", AWAIT_MESSAGE)
"""Stages that need not run twice after one suspension."""


def is_stopped(element: Element) -> bool:
    """Whether the element takes no step, because its process instance is suspended and it is not terminating."""
    return element.instance.suspended_at is not None and not _is_terminating(element)


def _is_terminating(element: Element) -> bool:
    scope: Element | None = element
    while scope is not None and scope.state is not TERMINATING:
        scope = scope.scope
    return scope is not None


def reschedule(element: Element, key: int, view: View) -> Effects:
    """A timer that was due fires once, now. A cycle begins anew with it, so that the next time is an interval later."""
    timer = element.waits.timers.get(key)
    if timer is None or timer.state != SUSPENDED:
        return
    if timer.cycle is None or not timer.cycle[0].startswith("P"):
        yield TimerMoved(key, view.now)
        return
    length, zone, _, _ = timer.cycle
    cycle = length, zone, view.now, 0
    yield TimerCanceled(key)
    yield TimerScheduled(view.key(), element.key, timer.target, timer.type, view.now, timer.repetitions, cycle)


def await_message(element: Element, key: int, view: View) -> Effects:
    """The subscription awaits messages again, unless its element has stopped waiting."""
    waiting = element.waits.subscriptions.get(key)
    if waiting is None or waiting.state != "CREATED" or waiting.correlation_key is None:
        return
    place = key, element.instance.tenant, waiting.name, waiting.correlation_key
    process_id = element.instance.process_id
    yield Send(OpenSubscription(*place, process_id, waiting.interrupting, waiting.business_id))
