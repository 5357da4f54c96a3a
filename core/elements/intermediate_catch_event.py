"""Intermediate catch event. BPMN 2.0.2 §10.5.4: its token waits until the event occurs. A link catch event completes at
once, because the token comes from the link throw event.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.bpmn.model import Node, Process
from vivero.core.elements import boundary_event
from vivero.core.events.table import EVENT_BEHAVIOURS
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleting
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def awaits(node: Node, model: Process) -> Iterator[Node]:
    yield node


def activate(event: Element, view: View) -> Effects:
    definition = view.node(event).event
    assert definition is not None, f"the parser rejects catch events without an event definition: {event.element}"
    if event.occurred is not None:
        yield from boundary_event.activate(event, view)
    elif EVENT_BEHAVIOURS[type(definition)].subscribe is None:
        yield ElementCompleting(event.key)
