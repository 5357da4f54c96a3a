"""Catching by a code: the nearest boundary event or event sub-process that catches it, from the inside out.

BPMN 2.0.2 §10.5.7: the nearest enclosing catcher wins. In one place an exact code beats one that catches all. The walk
goes through call activities, and past an interrupted scope on to its boundary.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.engine.bpmn.model import ErrorEvent, EscalationEvent, Node
from vivero.engine.core.shared.catching import boundaries_of, event_node, event_sub_processes_of
from vivero.engine.core.shared.occurrences import Catcher
from vivero.engine.core.state.instance_tree import TERMINATING, Element
from vivero.engine.core.view import View

Coded = type[ErrorEvent] | type[EscalationEvent]


def catcher_of(kind: Coded, code: str, thrower: Element, view: View, *, from_itself: bool) -> Catcher | None:
    """Who catches `code`, thrown at `thrower`. `from_itself`: the thrower's own boundary events come first."""
    for host, nodes in _around(thrower, view, from_itself):
        found = _best(kind, code, host, nodes, view)
        if found is not None:
            return found
    return None


def codes_of(kind: Coded, thrower: Element, view: View, *, from_itself: bool) -> Iterator[str]:
    """The codes that are caught around `thrower`."""
    for host, nodes in _around(thrower, view, from_itself):
        for node in nodes:
            event = event_node(node, host, view).event
            if isinstance(event, kind) and event.code is not None:
                yield str(view.evaluate(event.code, host))


def _around(thrower: Element, view: View, from_itself: bool) -> Iterator[tuple[Element, Iterator[Node]]]:
    """Where something can be caught that is thrown at `thrower`: from the inside out, hosts and what is there.

    An event sub-process that throws what it catches throws it to those around its scope, and does not start again.
    """
    level: Element | None = thrower
    inside = ""
    while level is not None:
        if level is not thrower and level.is_open:
            yield level, (node for node in event_sub_processes_of(level, view) if node.id != inside)
        if level.state is not TERMINATING and (from_itself or level is not thrower):
            yield level, boundaries_of(level, view)
        inside, level = level.element, level.scope


def _best(kind: Coded, code: str, host: Element, nodes: Iterator[Node], view: View) -> Catcher | None:
    catch_all = None
    for node in nodes:
        event = event_node(node, host, view).event
        if not isinstance(event, kind):
            continue
        if event.code is None:
            catch_all = catch_all or Catcher(host, node)
        elif view.evaluate(event.code, host) == code:
            return Catcher(host, node)
    return catch_all
