"""End event. BPMN 2.0.2 §10.5.3: it consumes its token. It throws the same events as an intermediate throw event, and
two more (`events.table`): an error, after which it never completes, and a terminate event, which ends its scope.

Not here: compensation end events.
"""

from __future__ import annotations

from vivero.core.elements import intermediate_throw_event
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleted
from vivero.core.state.instance_tree import Element
from vivero.core.view import View

activate = intermediate_throw_event.activate


def leave(event: Element, view: View) -> Effects:
    completed = ElementCompleted(event.key)
    return (completed,) if event.node.event is None else (completed, *intermediate_throw_event.follow(event, view))
