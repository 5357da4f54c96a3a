"""Boundary event. BPMN 2.0.2 §10.5.6: it is attached to an activity, its host. When the event occurs, a token leaves
it. An interrupting boundary event terminates the host first. The engine enters it after the event has occurred, and it
completes at once.

The host opens timers and subscriptions for it (`shared/subscriptions.py`). Errors and escalations need none:
`events/codes.py` searches the scopes for a catcher.
"""

from __future__ import annotations

from vivero.core.events.table import EVENT_BEHAVIOURS
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleting
from vivero.core.shared.variables import merge_texts, set_texts
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate(event: Element, view: View) -> Effects:
    completing = ElementCompleting(event.key)
    return (*_take_occurred(event, event.occurred, view), completing) if event.occurred else (completing,)


def _take_occurred(event: Element, occurred: dict[str, str], view: View) -> Effects:
    """Set the event's variables: local to the event if it has output mappings, else merged upwards."""
    node = view.node(event)
    stays = node.host is not None and node.event is not None and EVENT_BEHAVIOURS[type(node.event)].has_local_variables
    if node.outputs or stays:
        return set_texts(event, occurred, view)
    return merge_texts(event, occurred, view)
