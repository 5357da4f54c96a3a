"""What catches what: boundary events and event sub-processes, found by walking from the inside out.

BPMN 2.0.2 §10.5.7: the nearest enclosing catcher wins. In one place an exact code beats one that catches all. The walk
goes through call activities, and past an interrupted scope on to its boundary.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vivero.engine.bpmn.model import ErrorEvent, EscalationEvent, Node
from vivero.engine.core.records.effects import Effects, Happens, IncidentType
from vivero.engine.core.records.instances import ElementTerminating, EventTriggered, ScopeInterrupted
from vivero.engine.core.shared import waits
from vivero.engine.core.shared.catching import boundaries_of, event_node, event_sub_processes_of
from vivero.engine.core.shared.flows import enter
from vivero.engine.core.shared.variables import merge_texts, set_texts
from vivero.engine.core.state.tree import ACTIVATED, COMPLETING, TERMINATING, Element
from vivero.engine.core.view import View


class Catcher(NamedTuple):
    """`node` is a boundary event at `host`, or an event sub-process in it."""

    host: Element
    node: Node

    @property
    def at_boundary(self) -> bool:
        return self.node.host is not None


def catcher_of(
    kind: type[ErrorEvent] | type[EscalationEvent], code: str, thrower: Element, at: View, *, from_itself: bool
) -> Catcher | None:
    """Who catches `code`, thrown at `thrower`. `from_itself`: the thrower's own boundary events come first."""
    for host, nodes in _around(thrower, at, from_itself):
        found = _best(kind, code, host, nodes, at)
        if found is not None:
            return found
    return None


def _around(thrower: Element, at: View, from_itself: bool) -> Iterator[tuple[Element, Iterator[Node]]]:
    """Where something can be caught that is thrown at `thrower`: from the inside out, hosts and what is there.

    An event sub-process that throws what it catches throws it to those around its scope, and does not start again.
    """
    level: Element | None = thrower
    inside = ""
    while level is not None:
        if level is not thrower and level.is_open:
            yield level, (node for node in event_sub_processes_of(level, at) if node.id != inside)
        if level.state is not TERMINATING and (from_itself or level is not thrower):
            yield level, boundaries_of(level, at)
        inside, level = level.element, level.scope


def _best(
    kind: type[ErrorEvent] | type[EscalationEvent], code: str, host: Element, nodes: Iterator[Node], at: View
) -> Catcher | None:
    catch_all = None
    for node in nodes:
        event = event_node(node, host, at).event
        if not isinstance(event, kind):
            continue
        if event.code is None:
            catch_all = catch_all or Catcher(host, node)
        elif at.evaluate(event.code, host) == code:
            return Catcher(host, node)
    return catch_all


def is_interrupting(catcher: Catcher, at: View) -> bool:
    return event_node(catcher.node, catcher.host, at).interrupting


def catch(catcher: Catcher, variables: dict[str, str], at: View) -> Effects:
    """What the catcher caught happens now: `variables` (JSON text) come with it."""
    host, node = catcher
    yield EventTriggered(host.key, node.id)
    then = ("enter", node.id, variables)
    if not is_interrupting(catcher, at):
        scope = host.scope if catcher.at_boundary else host
        assert scope is not None, "a boundary event has a host, and a host has a scope"
        yield from enter(node, scope, at, occurred=variables)
    elif catcher.at_boundary:
        yield ElementTerminating(host.key, then)
    else:
        yield ScopeInterrupted(host.key, then)
        yield from waits.close(host, {child.id for child in event_sub_processes_of(host, at)}, happened=node.id)


def throw_error(
    thrower: Element, code: str, variables: dict[str, str], at: View, *, from_itself: bool
) -> Effects | None:
    """The effects of the error being caught; None when nobody catches it."""
    catcher = catcher_of(ErrorEvent, code, thrower, at, from_itself=from_itself)
    return None if catcher is None else catch(catcher, variables, at)


def take_occurred(event: Element, at: View) -> Effects:
    """The variables that an event has brought: local where its output mappings choose what leaves, else upwards.

    Those of an error stay at its boundary event.
    """
    if not event.occurred:
        return
    node = at.node(event)
    stays = node.host is not None and isinstance(node.event, ErrorEvent)
    if node.outputs or stays:
        yield from set_texts(event, event.occurred, at)
    else:
        yield from merge_texts(event, event.occurred, at)


def unhandled_error(
    thrower: Element, code: str, message: str | None, at: View, *, from_itself: bool
) -> tuple[IncidentType, str]:
    """Type and text of the incident of an error that nobody catches; the text says which errors are caught there."""
    said = f" with message '{message}'" if message else ""
    text = f"Expected to throw an error event with the code '{code}'{said}, but it was not caught."
    caught = ", ".join(dict.fromkeys(_codes(thrower, at, from_itself)))
    there = f"Available error events are [{caught}]" if caught else "No error events are available in the scope."
    return IncidentType.UNHANDLED_ERROR_EVENT, f"{text} {there}"


def _codes(thrower: Element, at: View, from_itself: bool) -> Iterator[str]:
    for host, nodes in _around(thrower, at, from_itself):
        for node in nodes:
            event = event_node(node, host, at).event
            if isinstance(event, ErrorEvent) and event.code is not None:
                yield str(at.evaluate(event.code, host))


def target_interrupts(element: Element, target: str, at: View) -> bool:
    """Whether the event at `target`, a boundary event or event sub-process of `element`, interrupts."""
    return is_interrupting(Catcher(element, at.model(element.instance.definition_key).nodes[target]), at)


def happens(element: Element, target: str, variables: dict[str, str], at: View) -> Effects:
    """What `element` waits for at the node `target` has happened, bringing `variables` (JSON text)."""
    node = at.model(element.instance.definition_key).nodes[target]
    if node.host == element.element or target in at.node(element).event_sub_processes:
        yield from catch(Catcher(element, node), variables, at)
    else:
        yield Happens(element.key, target, variables)


def can_happen(type_: str, element: Element) -> bool:
    """Whether the element still catches what it waits for: `type_` as of its timers and subscriptions."""
    if type_ == "BOUNDARY":
        return element.state in (ACTIVATED, COMPLETING)
    return element.is_open if type_ == "EVENT_SUB_PROCESS" else element.state is ACTIVATED
