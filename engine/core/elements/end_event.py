"""End event. BPMN 2.0.2 §10.5.3: its token ends; it throws what an intermediate throw event throws, and what only ends
can: an error, after which it never completes, and the end of its scope (`events.table`).

Not here: compensation end events.
"""

from __future__ import annotations

from vivero.engine.core.elements import intermediate_throw_event
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleted
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View

activate = intermediate_throw_event.activate


def leave(event: Element, view: View) -> Effects:
    return (ElementCompleted(event.key), *intermediate_throw_event.follow(event, view))
