"""User tasks: assign, claim, update, complete. Listeners may have to agree first (`core.shared.task_transitions`)."""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects, Reject, RejectionCode, reject_not_found
from vivero.core.records.user_tasks import (
    ASSIGNING,
    COMPLETING,
    UPDATING,
    AssignUserTask,
    ClaimUserTask,
    CompleteUserTask,
    Transition,
    UpdateUserTask,
)
from vivero.core.shared.task_transitions import change
from vivero.core.shared.variables import texts_of
from vivero.core.state.instance_tree import ACTIVATED, UserTask
from vivero.core.view import View

UserTaskCommand = AssignUserTask | ClaimUserTask | UpdateUserTask | CompleteUserTask


def needs(command: UserTaskCommand, tenant: str) -> Needs:
    yield Need(NeedKind.USER_TASK, command.key)


def assign(command: AssignUserTask, view: View) -> Effects:
    task = _open_task(command, "assign", view)
    return change(task, Transition(ASSIGNING, command.action, {"assignee": command.assignee}), view)


def claim(command: ClaimUserTask, view: View) -> Effects:
    """Assign the task, unless it has another assignee."""
    task = _open_task(command, "claim", view)
    if task.assignee not in (None, command.assignee):
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to claim user task with key '{task.key}', but it has already been assigned",
        )
    return change(task, Transition(ASSIGNING, command.action, {"assignee": command.assignee}), view)


def update(command: UpdateUserTask, view: View) -> Effects:
    task = _open_task(command, "update", view)
    return change(task, Transition(UPDATING, command.action, command.changes), view)


def complete(command: CompleteUserTask, view: View) -> Effects:
    task = _open_task(command, "complete", view)
    transition = Transition(COMPLETING, command.action, variables=texts_of(command.variables))
    return change(task, transition, view)


def _open_task(command: UserTaskCommand, verb: str, view: View) -> UserTask:
    """The task, if it can still be worked on."""
    task = view.user_task(command.key)
    if task is None or not view.enter(task.element.instance.tenant):
        raise reject_not_found("user task", verb, command.key)
    if task.element.state is not ACTIVATED or task.transition is not None:
        state = task.status if task.element.state is ACTIVATED else "CANCELING"
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to {verb} user task with key '{task.key}', but it is in state '{state}'",
        )
    return task
