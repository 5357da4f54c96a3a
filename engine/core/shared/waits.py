"""What an element waits for, opened when it is activated and closed when it ends.

An element waits for its boundary events, for the start events of event sub-processes in it, and, where its behaviour
says so, for events of its own. Each wait hangs on the element's row and names its target node.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from decimal import Decimal

from vivero.engine.bpmn.model import MessageEvent, Node, Process, SignalEvent, TimerEvent
from vivero.engine.core.records.effects import Effects, Fail, IncidentType, Send
from vivero.engine.core.records.messages import (
    CloseSubscription,
    OpenSubscription,
    SubscriptionClosed,
    SubscriptionOpened,
)
from vivero.engine.core.records.timers import TimerCanceled, TimerScheduled
from vivero.engine.core.shared.catching import boundaries_of, event_node, event_sub_processes_of
from vivero.engine.core.shared.schedules import due_date
from vivero.engine.core.state.tree import Element
from vivero.engine.core.view import View, column_text, type_name
from vivero.engine.feel import Expression, to_json

Awaits = Callable[[Node, Process], Iterator[Node]] | None


def open_own(element: Element, awaits: Awaits, at: View) -> Effects:
    """Wait for boundary events and the element's own.

    Expressions of events are evaluated now, here and below; one that fails is an incident of this stage.
    """
    node = at.node(element)
    if node.boundaries:
        for boundary in boundaries_of(element, at):
            yield from _open(element, boundary, "BOUNDARY", at)
    if awaits is not None:
        for awaited in awaits(node, at.model(element.instance.definition_key)):
            yield from _open(element, awaited, "INTERMEDIATE", at)


def open_aside(scope: Element, at: View) -> Effects:
    """Wait for what starts the event sub-processes of a scope."""
    if at.node(scope).event_sub_processes:
        for sub_process in event_sub_processes_of(scope, at):
            yield from _open(scope, sub_process, "EVENT_SUB_PROCESS", at)


def _open(element: Element, target: Node, type_: str, at: View) -> Effects:
    event = event_node(target, element, at).event
    if isinstance(event, TimerEvent):
        due = due_date(event, element, at)
        yield TimerScheduled(at.key(), element.key, target.id, type_, due.at, due.repetitions, due.cycle)
    elif isinstance(event, SignalEvent):
        name = at.text(event.name, element)
        interrupting = _interrupts(target, type_, element, at)
        yield SubscriptionOpened(at.key(), element.key, target.id, type_, "SIGNAL", name, interrupting=interrupting)
    elif isinstance(event, MessageEvent):
        yield from _open_message(element, target, type_, event, at)


def _open_message(element: Element, target: Node, type_: str, event: MessageEvent, at: View) -> Effects:
    """The element's own row, and word to the channel of the correlation key.

    The key of a boundary event is evaluated in the scope around its host, as in Camunda before 8.10: what the host maps
    for its own work must not change who gets a message. All else of a boundary event (names, dates, durations, cycles)
    sees the host's variables, as in every version of Camunda.
    """
    name = at.text(event.name, element)
    assert event.correlation_key is not None, f"the parser lets no message without a key be awaited: {target.id}"
    seen_from = element.scope if type_ == "BOUNDARY" else element
    assert seen_from is not None, "a boundary event has a host, and a host has a scope"
    correlation_key = key_of(event.correlation_key, seen_from, at)
    interrupting = _interrupts(target, type_, element, at)
    instance, key = element.instance, at.key()
    yield SubscriptionOpened(key, element.key, target.id, type_, "MESSAGE", name, correlation_key, interrupting)
    yield Send(OpenSubscription(key, instance.tenant, name, correlation_key, instance.process_id, interrupting))


def _interrupts(target: Node, type_: str, element: Element, at: View) -> bool:
    """Whether the wait is over once it has happened: what an element waits for itself happens once."""
    return type_ == "INTERMEDIATE" or event_node(target, element, at).interrupting


def key_of(expression: Expression, element: Element, at: View, what: str = "correlation key") -> str:
    """A correlation key is text; a number and its text are one key."""
    value = at.evaluate(expression, element)
    if isinstance(value, str):
        return column_text(expression, value)
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return to_json(value)
    raise Fail(
        IncidentType.EXTRACT_VALUE_ERROR,
        f"Failed to extract the {what} for '{expression.text.removeprefix('=').strip()}': "
        f"The value must be either a string or a number, but was '{type_name(type(value))}'.",
    )


def close(element: Element, targets: Collection[str] | None = None, happened: str | None = None) -> Effects:
    """Wait no longer: for anything, or for what these nodes wait for. A timer of the node that has `happened` has
    ended by that, in the same stage."""
    for timer in element.timers.values():
        if timer.target != happened and (targets is None or timer.target in targets):
            yield TimerCanceled(timer.key)
    for subscription in element.subscriptions.values():
        if targets is None or subscription.target in targets:
            yield SubscriptionClosed(subscription.key)
            if subscription.correlation_key is not None:
                tenant = element.instance.tenant
                yield Send(CloseSubscription(subscription.key, tenant, subscription.correlation_key))
