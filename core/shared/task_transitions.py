"""Transitions of user tasks, which task listeners can correct or deny. Each listener is a job.

A transition without listeners ends in the stage in which it begins. Otherwise the task keeps it, and the request that
asked for it waits. The listeners of the whole cluster come before or after those of the model; a transition uses those
that there were when it began.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from vivero.core.bpmn.elements.user_tasks import HEADER
from vivero.core.bpmn.model import JobDefinition
from vivero.core.expressions.results import json_of
from vivero.core.feel import constant
from vivero.core.feel.temporal.timers import date_text
from vivero.core.records.effects import Effect, Effects, Rejection, RejectionCode, Reply, ReplyLater
from vivero.core.records.instances import ElementCompleting
from vivero.core.records.user_tasks import (
    ASSIGNING,
    CANCELING,
    COMPLETING,
    CREATING,
    UPDATING,
    GlobalListener,
    Transition,
    UserTaskChanged,
    UserTaskChanging,
    UserTaskDenied,
    UserTaskEnded,
)
from vivero.core.shared.jobs import TASK_LISTENER, create_job
from vivero.core.shared.variables import merge_texts, set_result, set_texts
from vivero.core.state.instance_tree import Element, UserTask
from vivero.core.view import View

ATTRIBUTES = {
    "assignee": "assignee",
    "candidate_groups": "candidateGroupsList",
    "candidate_users": "candidateUsersList",
    "due_at": "dueDate",
    "follow_up_at": "followUpDate",
    "priority": "priority",
}
"""Attribute of a user task that can change → its name for listeners."""
VARIABLES = "variables"


def task_of(element: Element) -> UserTask:
    """The open user task of an element that has one."""
    return next(iter(element.waits.user_tasks.values()))


def change(task: UserTask, transition: Transition, view: View) -> Effects:
    """Make a change that a client asks for, or let the listeners decide on it first. Then the request waits."""
    awaited = with_listeners(task.element, transition, view)
    return finish(task, transition, view) if awaited is None else ask_listeners(task, awaited, view)


def ask_listeners(task: UserTask, awaited: Transition, view: View) -> Effects:
    """Let the listeners decide on a change that a client asks for. The request waits."""
    return (UserTaskChanging(task.key, replace(awaited, request=view.request)), ReplyLater())


def with_listeners(element: Element, transition: Transition, view: View) -> Transition | None:
    """The transition with the present listeners of the cluster; None if nothing listens."""
    of_cluster = view.task_listeners(transition.event)
    if of_cluster.before or of_cluster.after:
        return replace(transition, listeners=of_cluster)
    return transition if transition.event in view.listeners_of_end(element) else None


def create_listener_job(task: UserTask, index: int, view: View) -> Effects:
    """Create the job of the listener at `index` of the present transition; nothing after the last one."""
    transition = present(task)
    for place, job in enumerate(_listeners(task, transition, view)):
        if place == index:
            headers = dict(_headers(task, transition))
            return create_job(task.element, job, view, headers, TASK_LISTENER, transition.event, index)
    return ()


def _listeners(task: UserTask, transition: Transition, view: View) -> Iterator[JobDefinition]:
    yield from (_job(listener, task) for listener in transition.listeners.before)
    yield from view.node(task.element).listeners.get(transition.event, ())
    yield from (_job(listener, task) for listener in transition.listeners.after)


def _job(listener: GlobalListener, task: UserTask) -> JobDefinition:
    retries = constant(str(listener.retries), listener.retries)
    return JobDefinition(constant(listener.type, listener.type), retries, headers=task.headers)


def _headers(task: UserTask, transition: Transition) -> Iterator[tuple[str, str]]:
    """The task as it will be. Empty values are left out."""
    before = _attributes(task) | _initial(transition)
    after: dict[str, Any] = {**before, **transition.changes}
    changed = [name for field, name in ATTRIBUTES.items() if after[field] != before[field]]
    if transition.target is not None:
        changed.append(VARIABLES)
    texts = {
        "action": transition.action,
        "assignee": after["assignee"],
        "candidateGroups": json_of(list(after["candidate_groups"])),
        "candidateUsers": json_of(list(after["candidate_users"])),
        "changedAttributes": json_of(changed),
        "dueDate": _date(after["due_at"]),
        "followUpDate": _date(after["follow_up_at"]),
        "formKey": None if task.form_key is None else str(task.form_key),
        "priority": str(after["priority"]),
        "userTaskKey": str(task.key),
    }
    yield from ((HEADER + name, text) for name, text in texts.items() if text)


def _date(epoch_ms: int | None) -> str | None:
    return None if epoch_ms is None else date_text(epoch_ms)


def _attributes(task: UserTask) -> dict[str, Any]:
    return {name: getattr(task, name) for name in ATTRIBUTES}


def _initial(transition: Transition) -> dict[str, Any]:
    """The model's assignee, whom listeners of the creation see, though the task does not have it yet."""
    return {} if transition.assignee is None else {"assignee": transition.assignee}


def finish(task: UserTask, transition: Transition, view: View) -> Effects:
    """End a transition that no listener denied: the task changes, and the request is answered."""
    if transition.event == COMPLETING:
        yield from _complete(task, transition, view)
    else:
        yield UserTaskChanged(task.key, transition.changes, transition.action)
        yield from _update_variables(task, transition, view)
        if transition.assignee is not None:
            yield _assign_initially(task, transition.assignee, view)
    if transition.request is not None:
        yield Reply(to=transition.request)


def _complete(task: UserTask, transition: Transition, view: View) -> Effects:
    yield from end(task, "COMPLETED", transition)
    yield from set_result(task.element, transition.variables, view)
    yield ElementCompleting(task.element.key)


def end(task: UserTask, state: str, transition: Transition | None = None) -> Effects:
    """End the task with the corrections of its listeners. `transition`: by default the present one."""
    transition = transition or present(task)
    if transition.changes:
        yield UserTaskChanged(task.key, transition.changes, "")
    yield UserTaskEnded(task.key, state, transition.action)


def _update_variables(task: UserTask, transition: Transition, view: View) -> Effects:
    setter = set_texts if transition.target == "local" else merge_texts
    return setter(task.element, transition.variables, view)


def _assign_initially(task: UserTask, assignee: str, view: View) -> Effect:
    """Assign a task whose creation has ended to the model's assignee."""
    awaited = _initial_assignment(task.element, assignee, view)
    if awaited is None:
        return UserTaskChanged(task.key, {"assignee": assignee}, "")
    return UserTaskChanging(task.key, awaited)


def deny(task: UserTask, reason: str) -> Effects:
    """Undo the transition: the task stays as it was, and the request is rejected."""
    transition = present(task)
    yield UserTaskDenied(task.key, reason)
    if transition.request is not None:
        what = f"{_DENIED[transition.event]} of the User Task with key '{task.key}'"
        if transition.target is not None:
            what = f"Variable update for user task instance with key '{task.element.key}'"
        text = f"{what} was denied by Task Listener. Reason to deny: '{reason}'"
        yield Reply(to=transition.request, rejection=Rejection(RejectionCode.INVALID_STATE, text))


_DENIED = {ASSIGNING: "Assignment", UPDATING: "Update", COMPLETING: "Completion"}


def end_early(task: UserTask, canceling: Transition | None) -> Effects:
    """Cancel the task, or let the listeners of its cancellation begin. A request that waits is rejected."""
    transition = task.transition
    if transition is not None and transition.request is not None:
        text = f"Expected to {_VERBS[transition.event]} user task with key '{task.key}', but it is in state 'CANCELING'"
        yield Reply(to=transition.request, rejection=Rejection(RejectionCode.INVALID_STATE, text))
    if canceling is None:
        yield UserTaskEnded(task.key, "CANCELED")
    else:
        yield UserTaskChanging(task.key, canceling)


_VERBS = {ASSIGNING: "assign", UPDATING: "update", COMPLETING: "complete"}


def cancellation(task: UserTask, view: View) -> Transition | None:
    """The transition with which the task ends early; None if nothing listens."""
    return with_listeners(task.element, _CANCELLATION, view)


_CANCELLATION = Transition(CANCELING)


def first(element: Element, assignee: str | None, view: View) -> Transition | None:
    """The transition with which a task begins; None if nothing listens.

    It is the creation, which the assignment to the model's assignee follows, or else this assignment.
    """
    creating = with_listeners(element, Transition(CREATING, assignee=assignee), view)
    return _initial_assignment(element, assignee, view) if creating is None and assignee is not None else creating


def _initial_assignment(element: Element, assignee: str, view: View) -> Transition | None:
    return with_listeners(element, Transition(ASSIGNING, changes={"assignee": assignee}), view)


def present(task: UserTask) -> Transition:
    """The transition that the listeners of a task decide on."""
    assert task.transition is not None, f"it waits for listeners: {task.key}"
    return task.transition
