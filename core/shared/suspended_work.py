"""Work of suspended process instances: which elements stand still, and the stages of suspended items."""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Iterator
from itertools import islice
from operator import attrgetter

from vivero.core.records.effects import Effects, Send
from vivero.core.records.instances import WorkDeferred
from vivero.core.records.messages import OpenSubscription, SubscriptionResumed
from vivero.core.records.suspensions import AWAIT_MESSAGE, RESUME_WAITS
from vivero.core.records.timers import TimerCanceled, TimerMoved, TimerScheduled
from vivero.core.state.instance_tree import (
    NO_WAITS,
    SUSPENDED,
    TERMINATING,
    Element,
    Instance,
    Subscription,
    Timer,
)
from vivero.core.state.subtrees import of_instance
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


WAITS_A_PAGE = 50
"""Suspended timers and subscriptions that go on in one stage."""


def resume_waits(instance: Instance, after: int, view: View) -> Effects:
    """Let the suspended timers and subscriptions of the instance with keys above `after` go on: the first page of them.

    Their rows say that they are suspended, so that no list of them is saved.

    Raises:
        NotLoaded: the page is not in memory. The tree has paged loops.
    """
    if instance.state is TERMINATING:
        return
    last = view.suspended_page(instance.key, after) if instance.tree.in_parts else None
    found = _page_in_parts(instance, after, last) if instance.tree.in_parts else _page(instance, after, view)
    page = found[:WAITS_A_PAGE]
    for wait in page:
        yield from _go_on(wait, view)
    reached = page[-1].key if len(page) < len(found) else last
    if reached is not None:
        yield WorkDeferred(instance.tree.key, ((instance.key, RESUME_WAITS, reached),))


def _page_in_parts(instance: Instance, after: int, last: int | None) -> list[Timer | Subscription]:
    """The suspended waits of a page that was loaded, and the next one, by key."""
    found = [wait for wait in _suspended_waits(instance) if wait.key > after and (last is None or wait.key <= last)]
    return heapq.nsmallest(WAITS_A_PAGE + 1, found, key=attrgetter("key"))


def _page(instance: Instance, after: int, view: View) -> list[Timer | Subscription]:
    """The next suspended waits of an instance that is in memory, one more than a page, by key.

    The first page lists the keys of all. A walk for each page would cost the square of them.
    """
    if not after or view.resuming[0] != instance.key:
        view.resuming = instance.key, sorted(wait.key for wait in _suspended_waits(instance))
    keys, state = view.resuming[1], view.state
    waits = (
        state.timers.get(key) or state.subscriptions.get(key) for key in islice(keys, bisect_right(keys, after), None)
    )
    return list(islice((wait for wait in waits if wait is not None and _is_suspended(wait)), WAITS_A_PAGE + 1))


def _is_suspended(wait: Timer | Subscription) -> bool:
    return wait.state == SUSPENDED if isinstance(wait, Timer) else wait.suspended


def _suspended_waits(instance: Instance) -> Iterator[Timer | Subscription]:
    """Those in memory."""
    for element in of_instance(instance):
        if element.waits is not NO_WAITS:
            yield from filter(_is_suspended, element.waits.timers.values())
            yield from filter(_is_suspended, element.waits.subscriptions.values())


def _go_on(wait: Timer | Subscription, view: View) -> Effects:
    if isinstance(wait, Timer):
        assert wait.element is not None, "start timers have no instance"
        yield from reschedule(wait.element, wait.key, view)
    else:
        yield SubscriptionResumed(wait.key)
        yield from await_message(wait.element, wait.key, view)
