"""Intermediate catch event. BPMN 2.0.2 §10.5.4: its token waits until what it catches happens. A link event
waits for nothing and goes on at once: it was thrown by the event that the token came from.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.engine.bpmn.model import Node, Process
from vivero.engine.core.elements import boundary_event
from vivero.engine.core.events.table import EVENTS
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleting
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View


def awaits(node: Node, model: Process) -> Iterator[Node]:
    yield node


def activate(event: Element, view: View) -> Effects:
    definition = view.node(event).event
    assert definition is not None, f"the parser lets no catch event wait for nothing: {event.element}"
    if event.occurred is not None:
        yield from boundary_event.activate(event, view)
    elif EVENTS[type(definition)].subscribe is None:
        yield ElementCompleting(event.key)
