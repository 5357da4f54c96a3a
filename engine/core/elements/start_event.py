"""Start event. BPMN 2.0.2 §10.5.2: where a process, a sub-process or an event sub-process begins; that of an event
sub-process brings the variables of what happened.

From its end on the scope waits for its event sub-processes: so their expressions see what its output mappings have set.
"""

from __future__ import annotations

from vivero.engine.core.elements import boundary_event, defaults
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.shared import subscriptions
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import View

activate = boundary_event.activate


def leave(start: Element, at: View) -> Effects:
    assert start.scope is not None, "a start event is in the scope that begins with it"
    if not at.node(start.scope).event_sub_processes:
        return defaults.leave(start, at)
    return (*subscriptions.subscribe_event_sub_processes(start.scope, at), *defaults.leave(start, at))
