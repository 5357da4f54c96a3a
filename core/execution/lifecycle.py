"""The life cycle of an element as a table: states, transitions and stages.

ACTIVATING → ACTIVATED → COMPLETING → COMPLETED, and from the first three TERMINATING → TERMINATED. A stage is a
function of an element that yields effects and may `Fail`. Then none of its effects happens, and an incident keeps
(element, stage, argument): resolving it runs exactly that stage again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vivero.core.dispatch import ELEMENTS, Behaviour
from vivero.core.events import subscriptions
from vivero.core.records.effects import Effect, Effects, LoadMore, Reply
from vivero.core.records.instances import (
    ElementActivated,
    ElementTerminated,
    ElementTerminating,
    IncidentResolved,
)
from vivero.core.records.jobs import JobCanceled
from vivero.core.records.user_tasks import CANCELING, TASK_EVENTS
from vivero.core.shared import compensations, listeners, mappings, row_limits, task_transitions, waits
from vivero.core.shared.deferred_work import is_deferred
from vivero.core.state.instance_tree import (
    ACTIVATED,
    ACTIVATING,
    COMPLETED,
    COMPLETING,
    NO_WAITS,
    TERMINATED,
    TERMINATING,
    Element,
    ElementState,
    Instance,
)
from vivero.core.view import View

TRANSITIONS: dict[ElementState, tuple[ElementState, ...]] = {
    ACTIVATING: (ACTIVATED, TERMINATING),
    ACTIVATED: (COMPLETING, TERMINATING),
    COMPLETING: (COMPLETED, TERMINATING),
    COMPLETED: (),
    TERMINATING: (TERMINATED,),
    TERMINATED: (),
}

CHILDREN_PER_STAGE = 100
"""Children of a scope that begin to terminate in one stage."""
PARTS_PER_STAGE = 8
"""Children of a paged loop that begin to terminate in one stage. The next quantum writes unfinished ones again, so that
a small number saves writes."""

Stage = Callable[[Element, View, Any], Effects]


def inputs(element: Element, view: View, _argument: object) -> Effects:
    yield from mappings.map_inputs(element, view)


def start_listeners(element: Element, view: View, index: int) -> Effects:
    yield from listeners.create_listener_job(element, listeners.START, index, view)


def activate(element: Element, view: View, begin: Sequence[str] | int) -> Effects:
    """Open the waits of an element (`shared/subscriptions.py`), then activate it.

    `begin` has the elements below a scope with which it begins; 0 otherwise.
    A scope that begins at its start event subscribes for its event sub-processes once that event has completed.
    """
    behaviour = ELEMENTS[element.type]
    tree = element.tree
    if tree.rows + tree.in_parts > view.tree_rules.max_part_rows:
        row_limits.check_ordinary(element, view)
    awaits_nothing = behaviour.awaits is None and not element.node.boundaries
    if begin == 0 and (awaits_nothing or element.occurred is not None):
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
        yield from behaviour.begin(element, begin, view)


def before_all(body: Element, view: View, index: int) -> Effects:
    yield from listeners.create_listener_job(body, listeners.BEFORE_ALL, index, view)


def task_listeners(element: Element, view: View, index: int) -> Effects:
    """Create the next listener's job of the transition of a user task, which may be its early end."""
    return task_transitions.create_listener_job(task_transitions.task_of(element), index, view)


def change_task(element: Element, view: View, _argument: object) -> Effects:
    """All listeners have agreed to the transition of a user task."""
    task = task_transitions.task_of(element)
    return task_transitions.finish(task, task_transitions.present(task), view)


def outputs(element: Element, view: View, _argument: object) -> Effects:
    yield from mappings.map_outputs(element, view)


def end_listeners(element: Element, view: View, index: int) -> Effects:
    yield from listeners.create_listener_job(element, listeners.END, index, view)


def leave(element: Element, view: View, _argument: object) -> Effects:
    scope, own = element.scope, element.waits
    if (
        (scope is not None and ELEMENTS[scope.type].collect is not None)
        or (own is not NO_WAITS and (own.incidents or own.timers or own.subscriptions))
        or element.node.in_compensation
    ):
        return _close_and_leave(element, view)
    return ELEMENTS[element.type].leave(element, view)


def _close_and_leave(element: Element, view: View) -> Effects:
    scope = element.scope
    collect = None if scope is None else ELEMENTS[scope.type].collect
    if scope is not None and collect is not None:
        yield from collect(scope, element, view)
    for incident in element.waits.incidents:
        yield IncidentResolved(incident)
    yield from waits.close(element)
    if element.node.in_compensation:
        yield from compensations.register(element, view)
        yield from compensations.hand_over(element, view)
    yield from ELEMENTS[element.type].leave(element, view)
    proceed = None if scope is None else ELEMENTS[scope.type].proceed
    if scope is not None and proceed is not None:
        yield from proceed(scope, element, view)
    if element.compensation is not None:
        yield from compensations.after_handler(element, view)


def terminate(element: Element, view: View, _argument: object) -> Effects:
    """Cancel everything that waits in the element. Its children terminate page by page when it settles.

    Listeners of its cancellation come before its end. A list, because thousands of elements may end at once, and most
    have a single wait.
    """
    if _waits_for_cancellation(element, view):
        return ()
    own, canceling = element.waits, None
    effects: list[Effect] = [JobCanceled(job) for job in own.jobs] if own.jobs else []
    if own.user_tasks:
        task = task_transitions.task_of(element)
        canceling = task_transitions.cancellation(task, view)
        effects.extend(task_transitions.end_early(task, canceling))
    if own.incidents:
        effects += map(IncidentResolved, own.incidents)
    if own.timers or own.subscriptions:
        effects.extend(waits.close(element))
    if not element.live and canceling is None:
        effects.extend(_end_early(element, view))
    return effects


def _end_early(element: Element, view: View) -> Effects:
    if type(element) is Instance and listeners.CANCEL in view.listeners_of_end(element):
        return listeners.create_listener_job(element, listeners.CANCEL, 0, view)
    if element.registered:
        return (*compensations.keep(element, view), *_terminated(element))
    return _terminated(element)


def _terminated(element: Element) -> Effects:
    yield ElementTerminated(element.key)
    if element.request is not None:
        yield Reply(to=element.request)


def _waits_for_cancellation(element: Element, view: View) -> bool:
    """Whether listeners of its cancellation have begun, so that the end of the last one continues."""
    own = element.waits
    for job in own.jobs.values():  # a generator costs as much again, for each of thousands of elements
        if job.listener_event in CANCELLATION:
            return True
    if own.incidents and any(incident.stage in OF_CANCELLATION for incident in own.incidents.values()):
        return True
    return is_deferred(element, view, *_BEHIND_LISTENERS)


def cancel_task(element: Element, view: View, _argument: object) -> Effects:
    """All listeners of the cancellation of a user task are done."""
    yield from task_transitions.end(task_transitions.task_of(element), "CANCELED")
    yield from _terminated(element)


def cancel_listeners(process: Element, view: View, index: int) -> Effects:
    """Create the next listener's job of a process that is cancelled."""
    yield from listeners.create_listener_job(process, listeners.CANCEL, index, view)


def cancelled(process: Element, _view: View, _argument: object) -> Effects:
    """All listeners of the cancellation of a process are done."""
    return _terminated(process)


def most_told(scope: Element) -> int:
    """The number of children of a scope that begin to terminate in one stage."""
    return CHILDREN_PER_STAGE if scope.pages is None else PARTS_PER_STAGE


def empty(element: Element, view: View) -> Effects:
    """Terminate the next page of children of an element that ends early; without any, the element itself.

    The stage `terminate` may have been deferred, and would come later: then it happens here.
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


STAGES: dict[str, tuple[ElementState, Stage, str | None]] = {
    "inputs": (ACTIVATING, inputs, "start listeners"),
    "start listeners": (ACTIVATING, start_listeners, "activate"),
    "before all": (ACTIVATING, before_all, "activate"),
    "activate": (ACTIVATING, activate, None),
    "task listeners": (ACTIVATED, task_listeners, "change task"),
    "change task": (ACTIVATED, change_task, None),
    "outputs": (COMPLETING, outputs, "end listeners"),
    "end listeners": (COMPLETING, end_listeners, "leave"),
    "leave": (COMPLETING, leave, None),
    "terminate": (TERMINATING, terminate, None),
    "canceling listeners": (TERMINATING, task_listeners, "cancel task"),
    "cancel task": (TERMINATING, cancel_task, None),
    "cancel listeners": (TERMINATING, cancel_listeners, "cancelled"),
    "cancelled": (TERMINATING, cancelled, None),
}
"""Stage → the state in which it runs, its function, and the stage that follows at once.

An item whose element has left that state is dropped. The element's `node` is set when a stage other than `terminate`
runs. After a stage that creates a job, the next stage waits until the job is done.
"""

CANCELLATION = (CANCELING, listeners.CANCEL)
"""Events of listeners that an early end waits for."""
LISTENERS = {
    listeners.START: "start listeners",
    listeners.BEFORE_ALL: "before all",
    listeners.END: "end listeners",
    listeners.CANCEL: "cancel listeners",
    **dict.fromkeys(TASK_EVENTS, "task listeners"),
    CANCELING: "canceling listeners",
}
"""The event type of listeners → the stage that creates their jobs; its argument is the listener's index.

When a job is done, the stage continues with the next listener. If a job cannot be created, resolving the incident runs
all listeners again.
"""
OF_CANCELLATION = {name for name, (state, *_) in STAGES.items() if state is TERMINATING}
"""Stages of elements that end early."""
_BEHIND_LISTENERS = OF_CANCELLATION - {"terminate"}
RESTARTED = frozenset(LISTENERS.values())
"""Stages that begin again with the first listener if they fail."""
HEARD = {"start listeners": listeners.START, "end listeners": listeners.END}


def first_stage_of_activation(element: Element) -> str:
    """The first stage that has work to do. Mappings and listeners of a loop belong to its inner instances."""
    node = element.node
    if element.index >= 0 or ((node.inputs or node.presets) and node.loop is None):  # is_inner, without its call
        return "inputs"
    if not node.listeners:
        return "activate"
    if node.loop is not None:
        return "before all" if listeners.BEFORE_ALL in node.listeners else "activate"
    return "start listeners" if listeners.START in node.listeners else "activate"


def first_stage_of_completion(element: Element) -> str:
    node = element.node
    if node.outputs and (element.is_inner or node.loop is None):
        return "outputs"
    return "end listeners" if node.listeners and _hears(element, listeners.END) else "leave"


def next_stage(following: str, element: Element) -> str:
    """The stage that follows; without a listener, the one after it."""
    event = HEARD.get(following)
    behind = STAGES[following][2]
    return following if event is None or behind is None or _hears(element, event) else behind


def _hears(element: Element, event: str) -> bool:
    node = element.node
    return event in node.listeners and (element.is_inner or node.loop is None)
