"""User tasks: assign, claim, update, complete."""

from __future__ import annotations

from vivero.engine.core.needs import Need, NeedKind, Needs
from vivero.engine.core.records.effects import Effects, Reject, RejectionCode
from vivero.engine.core.records.instances import ElementCompleting
from vivero.engine.core.records.user_tasks import (
    AssignUserTask,
    ClaimUserTask,
    CompleteUserTask,
    UpdateUserTask,
    UserTaskChanged,
    UserTaskEnded,
)
from vivero.engine.core.shared.variables import take_in
from vivero.engine.core.state.instance_tree import ACTIVATED, UserTask
from vivero.engine.core.view import View, reject_not_found

UserTaskCommand = AssignUserTask | ClaimUserTask | UpdateUserTask | CompleteUserTask


def needs(command: UserTaskCommand, tenant: str) -> Needs:
    yield Need(NeedKind.USER_TASK, command.key)


def assign(command: AssignUserTask, at: View) -> Effects:
    task = _open(command, "assign", at)
    yield UserTaskChanged(task.key, {"assignee": command.assignee}, command.action)


def claim(command: ClaimUserTask, at: View) -> Effects:
    """Who has the task already may claim it again."""
    task = _open(command, "claim", at)
    if task.assignee not in (None, command.assignee):
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to claim user task with key '{task.key}', but it has already been assigned",
        )
    yield UserTaskChanged(task.key, {"assignee": command.assignee}, command.action)


def update(command: UpdateUserTask, at: View) -> Effects:
    task = _open(command, "update", at)
    yield UserTaskChanged(task.key, command.changes, command.action)


def complete(command: CompleteUserTask, at: View) -> Effects:
    task = _open(command, "complete", at)
    yield UserTaskEnded(task.key, "COMPLETED", command.action)
    yield from take_in(task.element, command.variables, at)
    yield ElementCompleting(task.element.key)


def _open(command: UserTaskCommand, doing: str, at: View) -> UserTask:
    """The task, if people may still work on it."""
    task = at.user_task(command.key)
    if task is None or task.element.instance.tenant != at.tenant:
        raise reject_not_found("user task", doing, command.key)
    if task.element.state is not ACTIVATED:
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"Expected to {doing} user task with key '{task.key}', but it is in state 'CANCELING'",
        )
    return task
