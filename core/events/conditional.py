"""Conditional event. BPMN 2.0.2 §10.5.5: it occurs when its condition is true. The rules are Camunda 8.9's: the engine
evaluates the condition when an element begins to wait, and whenever a variable that the condition reads is created or
updated in the scope where the waiting element sees it.

Outer scopes come first. The conditions of interrupted elements are not evaluated. A condition counts as false if it
fails or gives no boolean. A non-interrupting event occurs each time that its condition is true; it need not have been
false in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vivero.core.bpmn.model import ConditionalEvent, parts_of
from vivero.core.bpmn.reading.text_limits import TEXT_CHARACTERS
from vivero.core.events.behaviour import InvalidStart, VariableChange, Wait
from vivero.core.events.start_subscriptions import open_start as open_start
from vivero.core.records.catalogue import StartMetadata
from vivero.core.records.effects import Check, Effects, Fail
from vivero.core.records.messages import SubscriptionOpened, SubscriptionTriggered
from vivero.core.shared.catchers import event_node_at
from vivero.core.shared.occurrences import can_happen, happens
from vivero.core.shared.variables import owner_of
from vivero.core.state.instance_tree import ACTIVATED, Subscription
from vivero.core.state.subscription_index import WATCHING
from vivero.core.view import View

PREVENTS_PAGING = True
START_KINDS = (WATCHING,)


def subscribe(wait: Wait, _event: ConditionalEvent, view: View) -> Effects:
    """The condition is in the model, so the subscription has no name."""
    element, key = wait.element.key, view.key()
    yield SubscriptionOpened(key, element, wait.target.id, wait.type, WATCHING, "", interrupting=wait.interrupting)
    yield Check(element, key)


def start(element: str, event: ConditionalEvent) -> StartMetadata:
    """A request evaluates the condition with its own variables."""
    condition = f"={event.condition.text.removeprefix('=')}"
    if len(condition) > TEXT_CHARACTERS:
        raise InvalidStart(f"element '{element}': the condition must have at most {TEXT_CHARACTERS} characters")
    return StartMetadata(element, WATCHING, condition)


def affected(changes: Sequence[VariableChange], view: View) -> Iterable[Subscription]:
    """Outer scopes come first; within one scope, the oldest subscription."""
    found = {}
    for change in changes:
        for subscription in view.state.watching.get(change[0].instance.key, {}).values():
            if subscription.key not in found and _is_affected(subscription, change, view):
                found[subscription.key] = subscription
    return sorted(found.values(), key=lambda one: (len(one.element.path), one.key))


def _is_affected(subscription: Subscription, change: VariableChange, view: View) -> bool:
    """Whether the element sees the variable, and the condition depends on this kind of change."""
    scope, name, is_new = change
    element = subscription.element
    if scope.key not in element.path or owner_of(name, element) is not scope:
        return False
    target = view.model(element.instance.definition_key).nodes[subscription.target]
    events = parts_of(event_node_at(target, element, view).event)
    event = next(part for part in events if isinstance(part, ConditionalEvent))
    return name in event.variables and ("create" if is_new else "update") in event.changes


def check(subscription: Subscription, event: ConditionalEvent, view: View) -> Effects:
    """Only while the element is active: variables from its completion come too late."""
    element = subscription.element
    if element.state is ACTIVATED and can_happen(subscription.type, element) and not _has_happened(subscription):
        try:
            met = view.expressions.evaluate(event.condition, element) is True
        except Fail:
            met = False
        if met:
            yield SubscriptionTriggered(subscription.key)
            yield from happens(element, subscription.target, {}, view, subscription)


def _has_happened(subscription: Subscription) -> bool:
    """Whether another event that the element itself awaits has occurred: the first one wins."""
    return any(
        other.state == "CORRELATED" and other.type == subscription.type == "INTERMEDIATE"
        for other in subscription.element.waits.subscriptions.values()
    )
