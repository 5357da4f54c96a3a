"""Process. BPMN 2.0.2 §13.5.1: it starts at its none start event, or at the start event that has occurred. It completes
when all its tokens have ended.
"""

from __future__ import annotations

from vivero.core.elements import sub_process
from vivero.core.records.effects import Effects
from vivero.core.records.instances import ElementCompleted, ElementCompleting
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import ACTIVATED, Element, Instance
from vivero.core.view import View


def activate(process: Element, view: View) -> Effects:
    if isinstance(process, Instance) and process.start is not None:
        element, variables = process.start
        return enter(view.model(process.definition_key).nodes[element], process, view, occurred=variables)
    return sub_process.activate(process, view)


def leave(process: Element, view: View) -> Effects:
    """The caller completes at once, before another process can change the variables that it got from this one."""
    completed, caller = ElementCompleted(process.key), process.scope
    if caller is None or caller.state is not ACTIVATED:
        return (completed,)
    return (completed, ElementCompleting(caller.key))
