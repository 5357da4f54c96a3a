"""Process. BPMN 2.0.2 §13.5.1: it starts at its none start event, or at the start event that has occurred, or at the
instantiating receive task or the event behind an instantiating gateway (§10.3.3, §10.6.6). It completes when all its
tokens have ended.
"""

from __future__ import annotations

from vivero.core.bpmn.model import Node
from vivero.core.elements import sub_process
from vivero.core.events import subscriptions
from vivero.core.events.due_times import due_at
from vivero.core.feel import Expression
from vivero.core.records.effects import Effects
from vivero.core.records.instances import DueDateSet, ElementCompleted, ElementCompleting
from vivero.core.shared.flows import enter
from vivero.core.state.instance_tree import ACTIVATED, Element, Instance
from vivero.core.view import View


def activate(process: Element, view: View) -> Effects:
    due = view.model(process.instance.definition_key).due
    if due is None:
        return _begin(process, view)
    return (*_due_date(process.instance, due, view), *_begin(process, view))


def _due_date(process: Instance, due: Expression, view: View) -> Effects:
    """The due time of the model sees the variables of the creation, and those of the event that starts the instance."""
    started_with = {} if process.start is None else process.start[1]
    variables = {name: view.expressions.value_of(text) for name, text in started_with.items()}
    at = due_at(due, process, view, variables)
    if at is not None:
        yield DueDateSet(process.key, at)


def _begin(process: Element, view: View) -> Effects:
    if isinstance(process, Instance) and process.start is not None:
        element, variables = process.start
        node = view.model(process.definition_key).nodes[element]
        if node.starts_process:
            return _instantiated(process, node, variables, view)
        return enter(node, process, view, occurred=variables)
    return sub_process.activate(process, view)


def _instantiated(process: Instance, node: Node, variables: dict[str, str], view: View) -> Effects:
    """Begin at an event that is no start event, and await those beside it behind a parallel gateway. §13.5.6.

    No start event completes here, so that the process subscribes for its event sub-processes now."""
    nodes = view.model(process.definition_key).nodes
    yield from subscriptions.subscribe_event_sub_processes(process, view)
    yield from enter(node, process, view, occurred=variables)
    for other in node.awaited_beside:
        yield from enter(nodes[other], process, view)


def leave(process: Element, view: View) -> Effects:
    """The caller completes at once, before another process can change the variables that it got from this one."""
    completed, caller = ElementCompleted(process.key), process.scope
    if caller is None or caller.state is not ACTIVATED:
        return (completed,)
    return (completed, ElementCompleting(caller.key))
