"""User tasks: assign, claim, update, complete."""

from __future__ import annotations

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects, Reject, RejectionCode, reject_not_found
from vivero.core.records.instances import ElementCompleting
from vivero.core.records.user_tasks import (
    AssignUserTask,
    ClaimUserTask,
    CompleteUserTask,
    UpdateUserTask,
    UserTaskChanged,
    UserTaskEnded,
)
from vivero.core.shared.variables import merge_result
from vivero.core.state.instance_tree import ACTIVATED, UserTask
from vivero.core.view import View

UserTaskCommand = AssignUserTask | ClaimUserTask | UpdateUserTask | CompleteUserTask


def needs(command: UserTaskCommand, tenant: str) -> Needs:
    yield Need(NeedKind.USER_TASK, command.key)


def assign(command: AssignUserTask, view: View) -> Effects:
    task = _open_task(command, "assign", view)
    yield UserTaskChanged(task.key, {"assignee": command.assignee}, command.action)


def claim(command: ClaimUserTask, view: View) -> Effects:
    """Assign the task, unless it has another assignee."""
    task = _open_task(command, "claim", view)
    if task.assignee not in (None, command.assignee):
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to claim user task with key '{task.key}', but it has already been assigned",
        )
    yield UserTaskChanged(task.key, {"assignee": command.assignee}, command.action)


def update(command: UpdateUserTask, view: View) -> Effects:
    task = _open_task(command, "update", view)
    yield UserTaskChanged(task.key, command.changes, command.action)


def complete(command: CompleteUserTask, view: View) -> Effects:
    task = _open_task(command, "complete", view)
    yield UserTaskEnded(task.key, "COMPLETED", command.action)
    yield from merge_result(task.element, command.variables, view)
    yield ElementCompleting(task.element.key)


def _open_task(command: UserTaskCommand, verb: str, view: View) -> UserTask:
    """The task, if it can still be worked on."""
    task = view.user_task(command.key)
    if task is None or not view.enter(task.element.instance.tenant):
        raise reject_not_found("user task", verb, command.key)
    if task.element.state is not ACTIVATED:
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to {verb} user task with key '{task.key}', but it is in state 'CANCELING'",
        )
    return task
