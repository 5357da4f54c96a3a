"""Intermediate catch event. BPMN 2.0.2 §10.5.4: its token waits until what it catches happens. A link's goes on at
once: it was thrown by the link event that the token came from.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.engine.bpmn.model import LinkEvent, Node, Process
from vivero.engine.core.elements import boundary_event
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleting
from vivero.engine.core.state.tree import Element
from vivero.engine.core.view import View


def awaits(node: Node, model: Process) -> Iterator[Node]:
    yield node


def activate(event: Element, at: View) -> Effects:
    if event.occurred is not None:
        yield from boundary_event.activate(event, at)
    elif isinstance(at.node(event).event, LinkEvent):
        yield ElementCompleting(event.key)
