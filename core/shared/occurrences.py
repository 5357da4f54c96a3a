"""An awaited event occurs: at the boundary of an element, in an event sub-process in it, or for the element itself.
BPMN 2.0.2 §10.5.6, §13.5.4."""

from __future__ import annotations

from typing import Any, NamedTuple

from vivero.core.bpmn.model import Node
from vivero.core.records.effects import AwaitAgain, Effects, Happens
from vivero.core.records.instances import (
    ElementTerminating,
    EventDefinitionOccurred,
    EventTriggered,
    ScopeInterrupted,
)
from vivero.core.shared import waits
from vivero.core.shared.catchers import event_node_at, event_sub_processes_of
from vivero.core.shared.flows import enter
from vivero.core.shared.jobs import cancel_jobs
from vivero.core.state.instance_tree import ACTIVATED, COMPLETING, Element, Subscription, Timer
from vivero.core.view import View


class Catcher(NamedTuple):
    """`node` is a boundary event of `host`, or an event sub-process in it."""

    host: Element
    node: Node

    @property
    def at_boundary(self) -> bool:
        return self.node.host is not None


def is_interrupting(catcher: Catcher, view: View) -> bool:
    return event_node_at(catcher.node, catcher.host, view).interrupting


def catch(catcher: Catcher, variables: dict[str, str], view: View, fired: int | None = None) -> Effects:
    """The catcher catches an event with these `variables` (JSON text). `fired`: the key of the timer that it is, which
    has ended."""
    host, node = catcher
    yield EventTriggered(host.key, node.id)
    then = ("enter", node.id, variables)
    if not is_interrupting(catcher, view):
        scope = host.scope if catcher.at_boundary else host
        assert scope is not None, "a boundary event has a host, and a host has a scope"
        yield from enter(node, scope, view, occurred=variables)
    elif catcher.at_boundary:
        yield ElementTerminating(host.key, then)
    else:
        yield from interrupt(host, then, view, fired)


def interrupt(scope: Element, then: tuple[Any, ...], view: View, fired: int | None = None) -> Effects:
    """End everything in the scope, and catch no more events in it. `then` follows. `fired` as of `catch`."""
    yield ScopeInterrupted(scope.key, then)
    yield from cancel_jobs(scope)
    waiting = {child.id for child in event_sub_processes_of(scope, view)}
    yield from waits.close(scope, waiting.union(view.node(scope).joins), fired)


def goes_on(element: Element, target: str, view: View) -> bool:
    """Whether the waits for `target`, a boundary event or event sub-process of `element`, go on after it occurs."""
    node = event_node_at(view.model(element.instance.definition_key).nodes[target], element, view)
    return not node.interrupting and not node.awaits_all


def happens(
    element: Element, target: str, variables: dict[str, str], view: View, wait: Timer | Subscription
) -> Effects:
    """The event that `element` awaits at the node `target` has occurred with `variables` (JSON text), or one of its
    definitions. `wait`: the timer, which has ended, or the triggered subscription."""
    node = view.model(element.instance.definition_key).nodes[target]
    if event_node_at(node, element, view).awaits_all:
        return _definition_happens(element, node, variables, view, wait)
    return _happens(element, node, variables, view, wait)


def _happens(
    element: Element, node: Node, variables: dict[str, str], view: View, wait: Timer | Subscription
) -> Effects:
    if node.host == element.element or node.id in view.node(element).event_sub_processes:
        return catch(Catcher(element, node), variables, view, wait.key)
    return (Happens(element.key, node.id, variables),)


def _definition_happens(
    element: Element, node: Node, variables: dict[str, str], view: View, wait: Timer | Subscription
) -> Effects:
    """The event occurs with the last of its definitions, and with the variables of all in order of arrival. If it does
    not interrupt, it is awaited again."""
    if any(other is not wait for other in waits.of_target(element, node.id)):
        yield EventDefinitionOccurred(element.key, node.id, variables)
        yield from waits.close_one(element, wait)
        return
    yield from _happens(element, node, {**element.occurrences.get(node.id, {}), **variables}, view, wait)
    if not event_node_at(node, element, view).interrupting:
        yield from waits.close_one(element, wait)
        yield AwaitAgain(element.key, node.id)


def can_happen(type_: str, element: Element) -> bool:
    """Whether the element can still catch an event of this wait type (the `type` of timers and subscriptions)."""
    if type_ == "BOUNDARY":
        return element.state in (ACTIVATED, COMPLETING)
    return element.is_open if type_ == "EVENT_SUB_PROCESS" else element.state is ACTIVATED
