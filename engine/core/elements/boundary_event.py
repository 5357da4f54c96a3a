"""Boundary event. BPMN 2.0.2 §10.5.6: attached to an activity; when what it waits for happens, a token leaves it, and
an interrupting one ends the activity first. It is entered when it has happened, so it completes at once.

Opening what it waits for is part of the host's activation (`events/codes.py` finds errors and escalations by walking).
"""

from __future__ import annotations

from vivero.engine.core.events.table import EVENTS
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleting
from vivero.engine.core.shared.variables import merge_texts, set_texts
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View


def activate(event: Element, view: View) -> Effects:
    return (*_take_occurred(event, view), ElementCompleting(event.key))


def _take_occurred(event: Element, view: View) -> Effects:
    """The variables that an event has brought: local where its output mappings choose what leaves, else upwards."""
    if not event.occurred:
        return ()
    node = view.node(event)
    stays = node.host is not None and node.event is not None and EVENTS[type(node.event)].keeps_variables
    if node.outputs or stays:
        return set_texts(event, event.occurred, view)
    return merge_texts(event, event.occurred, view)
