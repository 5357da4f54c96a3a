"""Find the catcher of an error or escalation code: a boundary event or an event sub-process.

BPMN 2.0.2 §10.5.7: the nearest enclosing catcher wins. In one scope an exact code beats a catcher without a code. The
search crosses call activities. It skips the event sub-processes of an interrupted scope, but not its boundary events.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.model import ErrorEvent, EscalationEvent, Node
from vivero.core.shared.catchers import boundaries_of, event_node_at, event_sub_processes_of
from vivero.core.shared.occurrences import Catcher
from vivero.core.state.instance_tree import TERMINATING, Element
from vivero.core.view import View

Coded = type[ErrorEvent] | type[EscalationEvent]


def find_catcher(kind: Coded, code: str, thrower: Element, view: View, *, from_itself: bool) -> Catcher | None:
    """The catcher of `code`, thrown at `thrower`. `from_itself`: begin with the thrower's own boundary events."""
    for host, nodes in _hosts_around(thrower, view, from_itself):
        found = _best_match(kind, code, host, nodes, view)
        if found is not None:
            return found
    return None


def find_own_catcher(kind: Coded, code: str, host: Element, view: View) -> Catcher | None:
    """The boundary event of `host` that catches `code`."""
    return _best_match(kind, code, host, boundaries_of(host, view), view)


def caught_codes(kind: Coded, thrower: Element, view: View, *, from_itself: bool) -> Iterator[str]:
    """The codes that are caught in the scopes around `thrower`."""
    for host, nodes in _hosts_around(thrower, view, from_itself):
        for node in nodes:
            event = event_node_at(node, host, view).event
            if isinstance(event, kind) and event.code is not None:
                yield str(view.expressions.evaluate(event.code, host))


def _hosts_around(thrower: Element, view: View, from_itself: bool) -> Iterator[tuple[Element, Iterator[Node]]]:
    """The hosts of possible catchers with their nodes, from the inside out.

    If an event sub-process throws the code that it catches itself, it does not start again: the search goes on outside.
    """
    level: Element | None = thrower
    inside = ""
    while level is not None:
        if level is not thrower and level.is_open:
            yield level, (node for node in event_sub_processes_of(level, view) if node.id != inside)
        if level.state is not TERMINATING and (from_itself or level is not thrower):
            yield level, boundaries_of(level, view)
        inside, level = level.element, level.scope


def _best_match(kind: Coded, code: str, host: Element, nodes: Iterator[Node], view: View) -> Catcher | None:
    catch_all = None
    for node in nodes:
        event = event_node_at(node, host, view).event
        if not isinstance(event, kind):
            continue
        if event.code is None:
            catch_all = catch_all or Catcher(host, node)
        elif view.expressions.evaluate(event.code, host) == code:
            return Catcher(host, node)
    return catch_all
