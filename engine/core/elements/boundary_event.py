"""Boundary event. BPMN 2.0.2 §10.5.6: attached to an activity; when what it waits for happens, a token leaves it, and
an interrupting one ends the activity first. It is entered when it has happened, so it completes at once.

Opening what it waits for is part of the host's activation (`shared/events.py` finds errors and escalations by walking).
"""

from __future__ import annotations

from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleting
from vivero.engine.core.shared.events import take_occurred
from vivero.engine.core.state.tree import Element
from vivero.engine.core.view import View


def activate(event: Element, at: View) -> Effects:
    yield from take_occurred(event, at)
    yield ElementCompleting(event.key)
