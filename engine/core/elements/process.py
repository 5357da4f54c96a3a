"""Process. BPMN 2.0.2 §13.5.1: started at its none start event, or at the start event that has happened; it completes
when all its tokens have ended.
"""

from __future__ import annotations

from vivero.engine.core.elements import sub_process
from vivero.engine.core.records.effects import Effects
from vivero.engine.core.records.instances import ElementCompleted, ElementCompleting
from vivero.engine.core.shared.flows import enter
from vivero.engine.core.state.instance_tree import ACTIVATED, Element, Instance
from vivero.engine.core.view import View


def activate(process: Element, at: View) -> Effects:
    if isinstance(process, Instance) and process.start is not None:
        element, variables = process.start
        return enter(at.model(process.definition_key).nodes[element], process, at, occurred=variables)
    return sub_process.activate(process, at)


def leave(process: Element, at: View) -> Effects:
    """Its caller completes at once, before another process can change the variables that this one has given it."""
    completed, caller = ElementCompleted(process.key), process.scope
    if caller is None or caller.state is not ACTIVATED:
        return (completed,)
    return (completed, ElementCompleting(caller.key))
