"""What an element waits for is opened when the element is activated. `shared/waits.py` closes it.

An element waits for its boundary events, for the start events of event sub-processes in it, and, where its behaviour
says so, for events of its own. The table of events says what that means for each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from vivero.engine.bpmn.model import Node, Process
from vivero.engine.core.events.behaviour import VariableChange, Wait
from vivero.engine.core.events.table import CONCERNED, EVENTS
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.shared.catching import boundaries_of, event_node, event_sub_processes_of
from vivero.engine.core.state.instance_tree import Element, Subscription
from vivero.engine.core.view import View

Awaits = Callable[[Node, Process], Iterator[Node]] | None


def subscribe_own(element: Element, awaits: Awaits, view: View) -> Effects:
    """Wait for boundary events and the element's own.

    Expressions of events are evaluated now, here and below; one that fails is an incident of this stage.
    """
    node = view.node(element)
    if node.boundaries:
        for boundary in boundaries_of(element, view):
            yield from _subscribe(element, boundary, "BOUNDARY", view)
    if awaits is not None:
        for awaited in awaits(node, view.model(element.instance.definition_key)):
            yield from _subscribe(element, awaited, "INTERMEDIATE", view)


def subscribe_event_sub_processes(scope: Element, view: View) -> Effects:
    """Wait for what starts the event sub-processes of a scope."""
    if view.node(scope).event_sub_processes:
        for sub_process in event_sub_processes_of(scope, view):
            yield from _subscribe(scope, sub_process, "EVENT_SUB_PROCESS", view)


def concerned(changes: Sequence[VariableChange], view: View) -> Iterator[Subscription]:
    """Those that changes of variables concern, in the order of their turns."""
    for of_event in CONCERNED:
        yield from of_event(changes, view)


def check(subscription: Subscription, view: View) -> Effects:
    """Whether what it waits for has happened is for its event to say."""
    element = subscription.element
    nodes = view.model(element.instance.definition_key).nodes
    definition = event_node(nodes[subscription.target], element, view).event
    checks = None if definition is None else EVENTS[type(definition)].check
    return () if checks is None else checks(subscription, definition, view)


def _subscribe(element: Element, target: Node, type_: str, view: View) -> Effects:
    node = event_node(target, element, view)
    subscribe = None if node.event is None else EVENTS[type(node.event)].subscribe
    if subscribe is not None:
        wait = Wait(element, target, type_, type_ == "INTERMEDIATE" or node.interrupting)
        yield from subscribe(wait, node.event, view)
