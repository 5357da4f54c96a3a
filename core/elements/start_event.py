"""Start event. BPMN 2.0.2 §10.5.2: a process, a sub-process or an event sub-process begins here. The start event of an
event sub-process brings the variables of the event that occurred.

The scope subscribes for its event sub-processes when the start event completes. Their expressions therefore see the
variables that the start event's output mappings have set.
"""

from __future__ import annotations

from vivero.core.elements import boundary_event, defaults
from vivero.core.events import subscriptions
from vivero.core.records.effects import Effects
from vivero.core.state.instance_tree import MISSING, Element
from vivero.core.view import View

activate = boundary_event.activate


def leave(start: Element, view: View) -> Effects:
    assert start.scope is not None, "a start event is in the scope that begins with it"
    scope = start.scope
    if not (view.node(scope) if scope.node is MISSING else scope.node).event_sub_processes:
        return defaults.leave(start, view)
    return (*subscriptions.subscribe_event_sub_processes(scope, view), *defaults.leave(start, view))
