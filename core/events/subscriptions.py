"""Subscribe to the events that an element waits for, at its activation. `shared/waits.py` closes the waits.

An element waits for its boundary events, for the start events of its event sub-processes, and for the events that
`awaits` of its behaviour gives. The table of events has the function `subscribe` of each event definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from vivero.core.bpmn.model import Node, Process, parts_of
from vivero.core.events.behaviour import VariableChange, Wait
from vivero.core.events.table import AFFECTED, EVENT_BEHAVIOURS
from vivero.core.records.effects import Check, Effects
from vivero.core.shared.catchers import boundaries_of, event_node_at, event_sub_processes_of
from vivero.core.shared.occurrences import can_happen
from vivero.core.state.instance_tree import Element, Subscription
from vivero.core.view import View

Awaits = Callable[[Node, Process], Iterator[Node]] | None


def subscribe_own(element: Element, awaits: Awaits, view: View) -> Effects:
    """Subscribe to the boundary events and the element's own events.

    The expressions of events are evaluated now. A failure is an incident of this stage.
    """
    node = view.node(element)
    if node.boundaries:
        for boundary in boundaries_of(element, view):
            yield from subscribe_to(element, boundary, "BOUNDARY", view)
    if awaits is not None:
        for awaited in awaits(node, view.model(element.instance.definition_key)):
            yield from subscribe_to(element, awaited, "INTERMEDIATE", view)


def subscribe_event_sub_processes(scope: Element, view: View) -> Effects:
    """Subscribe to the start events of the scope's event sub-processes."""
    if view.node(scope).event_sub_processes:
        for sub_process in event_sub_processes_of(scope, view):
            yield from subscribe_to(scope, sub_process, "EVENT_SUB_PROCESS", view)


def await_again(element: Element, target: str, view: View) -> Effects:
    """Subscribe once more to an event whose definitions have all occurred. Its expressions are evaluated again.

    A condition that is still true does not occur at once: it does after the next change of one of its variables."""
    node = view.model(element.instance.definition_key).nodes[target]
    inside = "EVENT_SUB_PROCESS" if target in view.node(element).event_sub_processes else "INTERMEDIATE"
    type_ = inside if node.host is None else "BOUNDARY"
    if can_happen(type_, element):
        for effect in subscribe_to(element, node, type_, view):
            if not isinstance(effect, Check):
                yield effect


def affected(changes: Sequence[VariableChange], view: View) -> Iterator[Subscription]:
    """The subscriptions that the variable changes affect, in the order of evaluation."""
    for of_event in AFFECTED:
        yield from of_event(changes, view)


def check(subscription: Subscription, view: View) -> Effects:
    """Let the event definition decide whether the awaited event has occurred."""
    element = subscription.element
    nodes = view.model(element.instance.definition_key).nodes
    for definition in parts_of(event_node_at(nodes[subscription.target], element, view).event):
        checks = EVENT_BEHAVIOURS[type(definition)].check
        if checks is not None:
            yield from checks(subscription, definition, view)


def subscribe_to(element: Element, target: Node, type_: str, view: View) -> Effects:
    """Let the element wait for the event of one node. `type_`: BOUNDARY, EVENT_SUB_PROCESS or INTERMEDIATE."""
    node = event_node_at(target, element, view)
    subscribe = None if node.event is None else EVENT_BEHAVIOURS[type(node.event)].subscribe
    if subscribe is not None:
        wait = Wait(element, target, type_, type_ == "INTERMEDIATE" or node.interrupting)
        yield from subscribe(wait, node.event, view)
