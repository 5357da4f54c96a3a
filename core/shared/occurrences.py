"""An awaited event occurs: at the boundary of an element, in an event sub-process in it, or for the element itself.
BPMN 2.0.2 §10.5.6, §13.5.4."""

from __future__ import annotations

from typing import Any, NamedTuple

from vivero.core.bpmn.model import Node
from vivero.core.records.effects import Effects, Happens
from vivero.core.records.instances import ElementTerminating, EventTriggered, ScopeInterrupted
from vivero.core.shared import waits
from vivero.core.shared.catchers import event_node, event_sub_processes_of
from vivero.core.shared.flows import enter
from vivero.core.shared.jobs import cancel_jobs
from vivero.core.state.instance_tree import ACTIVATED, COMPLETING, Element
from vivero.core.view import View


class Catcher(NamedTuple):
    """`node` is a boundary event of `host`, or an event sub-process in it."""

    host: Element
    node: Node

    @property
    def at_boundary(self) -> bool:
        return self.node.host is not None


def is_interrupting(catcher: Catcher, view: View) -> bool:
    return event_node(catcher.node, catcher.host, view).interrupting


def catch(catcher: Catcher, variables: dict[str, str], view: View, fired: int | None = None) -> Effects:
    """The catcher catches an event with these `variables` (JSON text). `fired`: the key of the timer that it is."""
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
    yield from waits.close(scope, {child.id for child in event_sub_processes_of(scope, view)}, fired)


def target_interrupts(element: Element, target: str, view: View) -> bool:
    """Whether `target`, a boundary event or event sub-process of `element`, is interrupting."""
    return is_interrupting(Catcher(element, view.model(element.instance.definition_key).nodes[target]), view)


def happens(element: Element, target: str, variables: dict[str, str], view: View, fired: int | None = None) -> Effects:
    """The event that `element` awaits at the node `target` has occurred with `variables` (JSON text). `fired` as of
    `catch`."""
    node = view.model(element.instance.definition_key).nodes[target]
    if node.host == element.element or target in view.node(element).event_sub_processes:
        yield from catch(Catcher(element, node), variables, view, fired)
    else:
        yield Happens(element.key, target, variables)


def can_happen(type_: str, element: Element) -> bool:
    """Whether the element can still catch an event of this wait type (the `type` of timers and subscriptions)."""
    if type_ == "BOUNDARY":
        return element.state in (ACTIVATED, COMPLETING)
    return element.is_open if type_ == "EVENT_SUB_PROCESS" else element.state is ACTIVATED
