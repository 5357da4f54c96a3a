"""The life cycle of an element, as a table: states, transitions, stages, and what each stage does for every element.

ACTIVATING → ACTIVATED → COMPLETING → COMPLETED, and from the first three TERMINATING → TERMINATED. A stage is a
function of an element that yields effects and may `Fail`: then none of its effects happened, and an incident keeps
(element, stage, argument) so that resolving it runs exactly that stage again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vivero.engine.core.dispatch import ELEMENTS, Behaviour
from vivero.engine.core.records.effects import Effects, LoadMore, Reply
from vivero.engine.core.records.instances import (
    ElementActivated,
    ElementTerminated,
    ElementTerminating,
    IncidentResolved,
)
from vivero.engine.core.records.jobs import JobCanceled
from vivero.engine.core.records.user_tasks import UserTaskEnded
from vivero.engine.core.shared import listeners, mappings, row_limits, subscriptions, waits
from vivero.engine.core.shared.start_elements import activate_elements
from vivero.engine.core.state.instance_tree import (
    ACTIVATED,
    ACTIVATING,
    COMPLETED,
    COMPLETING,
    TERMINATED,
    TERMINATING,
    Element,
    ElementState,
)
from vivero.engine.core.view import View

TRANSITIONS: dict[ElementState, tuple[ElementState, ...]] = {
    ACTIVATING: (ACTIVATED, TERMINATING),
    ACTIVATED: (COMPLETING, TERMINATING),
    COMPLETING: (COMPLETED, TERMINATING),
    COMPLETED: (),
    TERMINATING: (TERMINATED,),
    TERMINATED: (),
}

CHILDREN_PER_STAGE = 100
"""A scope that ends early tells at most so many of its children in one stage."""
PARTS_PER_STAGE = 8
"""And a paged loop so many: few that were told are left to the next quantum, which would write them again."""

Stage = Callable[[Element, View, Any], Effects]


def inputs(element: Element, view: View, _argument: object) -> Effects:
    yield from mappings.map_inputs(element, view)


def start_listeners(element: Element, view: View, index: int) -> Effects:
    yield from listeners.create_listener_job(element, listeners.START, index, view)


def activate(element: Element, view: View, begin: Sequence[str] | int) -> Effects:
    """`begin`: of a scope, the elements below it that it begins with; 0 otherwise.

    A scope that begins at its start event waits for its event sub-processes once that has completed.
    """
    behaviour = ELEMENTS[element.type]
    row_limits.check_ordinary(element, view)
    waits_here = element.occurred is None and (behaviour.awaits is not None or element.node.boundaries)
    if begin == 0 and not waits_here:
        return (ElementActivated(element.key), *behaviour.activate(element, view))
    return _begin(element, behaviour, begin, view)


def _begin(element: Element, behaviour: Behaviour, begin: Sequence[str] | int, view: View) -> Effects:
    if element.occurred is None:
        yield from subscriptions.subscribe_own(element, behaviour.awaits, view)
    if begin == 0:
        yield ElementActivated(element.key)
        yield from behaviour.activate(element, view)
    else:
        assert not isinstance(begin, int), "it begins at elements"
        yield from subscriptions.subscribe_event_sub_processes(element, view)
        yield ElementActivated(element.key)
        yield from activate_elements(element, begin, view)


def outputs(element: Element, view: View, _argument: object) -> Effects:
    yield from mappings.map_outputs(element, view)


def end_listeners(element: Element, view: View, index: int) -> Effects:
    yield from listeners.create_listener_job(element, listeners.END, index, view)


def leave(element: Element, view: View, _argument: object) -> Effects:
    scope = element.scope
    collect = None if scope is None else ELEMENTS[scope.type].collect
    if collect is not None or element.open_incidents or element.timers or element.subscriptions:
        return _close_and_leave(element, view)
    return ELEMENTS[element.type].leave(element, view)


def _close_and_leave(element: Element, view: View) -> Effects:
    scope = element.scope
    collect = None if scope is None else ELEMENTS[scope.type].collect
    if scope is not None and collect is not None:
        yield from collect(scope, element, view)
    for incident in element.open_incidents:
        yield IncidentResolved(incident)
    if element.timers or element.subscriptions:
        yield from waits.close(element)
    yield from ELEMENTS[element.type].leave(element, view)


def terminate(element: Element, _view: View, _argument: object) -> Effects:
    """What waits here waits no longer. Children are told when the element settles, page by page."""
    for job in element.jobs:
        yield JobCanceled(job)
    if element.user_task is not None:
        yield UserTaskEnded(element.user_task.key, "CANCELED")
    for incident in element.open_incidents:
        yield IncidentResolved(incident)
    yield from waits.close(element)
    if not element.live:
        yield from _terminated(element)


def most_told(scope: Element) -> int:
    """How many children of a scope that ends early are told in one stage."""
    return CHILDREN_PER_STAGE if scope.pages is None else PARTS_PER_STAGE


def empty(element: Element, view: View) -> Effects:
    """The next page of children of an element that is to end early; without any, its end.

    The stage `terminate` may have been deferred before this, and come later: then it is done here.
    """
    told, most = 0, most_told(element)
    for child in element.children.values():
        if child.state is not TERMINATING:
            yield ElementTerminating(child.key)
            told += 1
            if told == most:
                return
    if not told and len(element.children) < element.live:
        yield LoadMore(element.key)
    if not element.live and element.state is TERMINATING:
        yield from terminate(element, view, 0)


def _terminated(element: Element) -> Effects:
    yield ElementTerminated(element.key)
    if element.request is not None:
        yield Reply(to=element.request)


STAGES: dict[str, tuple[ElementState, Stage, str | None]] = {
    "inputs": (ACTIVATING, inputs, "start listeners"),
    "start listeners": (ACTIVATING, start_listeners, "activate"),
    "activate": (ACTIVATING, activate, None),
    "outputs": (COMPLETING, outputs, "end listeners"),
    "end listeners": (COMPLETING, end_listeners, "leave"),
    "leave": (COMPLETING, leave, None),
    "terminate": (TERMINATING, terminate, None),
}
"""Stage → the state in which it runs, what it does, and the stage that follows at once.

An item whose element has left that state is dropped. When a stage runs, its element's `node` is set. A stage that makes
a job rests: nothing follows until that is done.
"""

LISTENERS = {listeners.START: "start listeners", listeners.END: "end listeners"}
"""What listeners hear → the stage that tells them; its argument is the index of the one whose turn it is.

When its job is done the stage goes on with the next one. When the job cannot be made, resolving the incident tells all
of them again.
"""
HEARD = {stage: event for event, stage in LISTENERS.items()}


def first_stage_of_activation(element: Element) -> str:
    """The first stage that has anything to do. Mappings and listeners of a loop are those of its inner instances."""
    node = element.node
    if element.index >= 0 or (node.inputs and node.loop is None):  # is_inner, without its call
        return "inputs"
    return "start listeners" if node.listeners and _hears(element, listeners.START) else "activate"


def first_stage_of_completion(element: Element) -> str:
    node = element.node
    if node.outputs and (element.is_inner or node.loop is None):
        return "outputs"
    return "end listeners" if node.listeners and _hears(element, listeners.END) else "leave"


def next_stage(following: str, element: Element) -> str:
    """The stage that follows, or the one behind it when there is no listener to tell."""
    event = HEARD.get(following)
    behind = STAGES[following][2]
    return following if event is None or behind is None or _hears(element, event) else behind


def _hears(element: Element, event: str) -> bool:
    node = element.node
    return event in node.listeners and (element.is_inner or node.loop is None)
