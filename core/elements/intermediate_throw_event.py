"""Intermediate throw event. BPMN 2.0.2 §10.5.4: its token continues after the event is thrown. A worker throws it
(job), or the event definition does (`events.table`). A none event completes at once.

Not here: compensation throw events.
"""

from __future__ import annotations

from vivero.core.events.table import EVENT_BEHAVIOURS
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleted, ElementCompleting
from vivero.core.shared.jobs import create_job
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def activate(event: Element, view: View) -> Effects:
    node = event.node
    if node.job is not None:
        return create_job(event, node.job, view)
    throw = None if node.event is None else EVENT_BEHAVIOURS[type(node.event)].throw
    if throw is not None:
        return throw(event, node.event, view)
    return (ElementCompleting(event.key),)


def leave(event: Element, view: View) -> Effects:
    return (ElementCompleted(event.key, event.node.outgoing), *follow(event, view))


def follow(event: Element, view: View) -> Effects:
    """The effects of the event definition after the event has completed."""
    definition = event.node.event
    follows = None if definition is None else EVENT_BEHAVIOURS[type(definition)].follow
    return () if follows is None else follows(event, definition, view)
