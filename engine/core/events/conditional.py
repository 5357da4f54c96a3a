"""Conditional event. BPMN 2.0.2 §10.5.5: it happens when its condition is true. The rules are Camunda 8.9's: the
condition is evaluated once when an element begins to wait for it, and whenever a variable that it reads was created or
updated in the scope where the waiting element sees it.

The outermost scopes come first, and what an event interrupts is evaluated no more. A condition that cannot be
evaluated, or gives no boolean, is not true. An event that does not interrupt happens each time that its
condition is found true; it need not have been false in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vivero.engine.bpmn.model import ConditionalEvent
from vivero.engine.core.events.behaviour import InvalidStart, VariableChange, Wait
from vivero.engine.core.events.start_subscriptions import open_start as open_start
from vivero.engine.core.records.catalogue import StartMetadata
from vivero.engine.core.records.effects import Check, Effects, Fail
from vivero.engine.core.records.messages import SubscriptionOpened, SubscriptionTriggered
from vivero.engine.core.shared.catching import event_node
from vivero.engine.core.shared.occurrences import can_happen, happens
from vivero.engine.core.shared.variables import owner_of
from vivero.engine.core.state.instance_tree import ACTIVATED, Subscription
from vivero.engine.core.state.subscription_index import WATCHING
from vivero.engine.core.view import MAX_TEXT, View

PREVENTS_PAGING = True
START_KINDS = (WATCHING,)


def subscribe(wait: Wait, _event: ConditionalEvent, view: View) -> Effects:
    """The condition is in the model: the row has no name."""
    element, key = wait.element.key, view.key()
    yield SubscriptionOpened(key, element, wait.target.id, wait.type, WATCHING, "", interrupting=wait.interrupting)
    yield Check(element, key)


def start(element: str, event: ConditionalEvent) -> StartMetadata:
    """Its condition is evaluated by request, with the variables that it brings."""
    condition = f"={event.condition.text.removeprefix('=')}"
    if len(condition) > MAX_TEXT:
        raise InvalidStart(f"element '{element}': the condition must have at most {MAX_TEXT} characters")
    return StartMetadata(element, WATCHING, condition)


def affected(changes: Sequence[VariableChange], view: View) -> Iterable[Subscription]:
    """The scopes around others come first; in one scope, what has waited longest."""
    found = {}
    for change in changes:
        for subscription in view.state.watching.get(change[0].instance.key, {}).values():
            if subscription.key not in found and _is_affected(subscription, change, view):
                found[subscription.key] = subscription
    return sorted(found.values(), key=lambda one: (len(one.element.path), one.key))


def _is_affected(subscription: Subscription, change: VariableChange, view: View) -> bool:
    """Whether its element sees the variable, and its event asks for this change of it."""
    scope, name, is_new = change
    element = subscription.element
    if scope.key not in element.path or owner_of(name, element) is not scope:
        return False
    target = view.model(element.instance.definition_key).nodes[subscription.target]
    event = event_node(target, element, view).event
    assert isinstance(event, ConditionalEvent), f"a condition is awaited of a conditional event: {target.id}"
    return name in event.variables and ("create" if is_new else "update") in event.changes


def check(subscription: Subscription, event: ConditionalEvent, view: View) -> Effects:
    """What its element brings when it completes comes too late for it."""
    element = subscription.element
    if element.state is ACTIVATED and can_happen(subscription.type, element) and not _has_happened(subscription):
        try:
            met = view.evaluate(event.condition, element) is True
        except Fail:
            met = False
        if met:
            yield SubscriptionTriggered(subscription.key)
            yield from happens(element, subscription.target, {}, view)


def _has_happened(subscription: Subscription) -> bool:
    """Of the events that an element itself waits for, the first one wins."""
    return any(
        other.state == "CORRELATED" and other.type == subscription.type == "INTERMEDIATE"
        for other in subscription.element.subscriptions.values()
    )
