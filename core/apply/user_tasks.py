"""User tasks. An element has at most one, while it is open."""

from __future__ import annotations

from operator import attrgetter

import msgspec

from vivero.core.records.user_tasks import (
    Transition,
    UserTaskChanged,
    UserTaskChanges,
    UserTaskChanging,
    UserTaskCorrected,
    UserTaskCreated,
    UserTaskDenied,
    UserTaskEnded,
)
from vivero.core.state.instance_tree import USER_TASK_WEIGHT, UserTask
from vivero.core.state.state import State

INDEXED_COST = 8
"""Factor for candidates: each is an index entry, too, whose write takes several times as long as its characters."""

_of_event = attrgetter(*(name for name in UserTask.__struct_fields__[3:] if name in UserTaskCreated.__struct_fields__))
"""The fields of a task that its creation says, which follow its key, its element and its time."""


def user_task_created(state: State, event: UserTaskCreated) -> UserTask:
    element = state.elements[event.element]
    task = UserTask(event.key, element, state.now, *_of_event(event))
    task.business_id = element.instance.business_id
    state.add(task)
    state.link(state.user_tasks, event.key, task)
    state.link(element.own_waits().user_tasks, event.key, task)
    state.add_weight(element.tree, USER_TASK_WEIGHT)
    state.written += sum(map(len, event.headers.values()))
    for names in (event.candidate_groups, event.candidate_users):
        state.written += sum(map(len, names)) * INDEXED_COST
    return task


def user_task_changed(state: State, event: UserTaskChanged) -> UserTask:
    task = _with_transition(state, event.key, None)
    for name, value in event.changes.items():
        setattr(task, name, value)
    return task


def user_task_changing(state: State, event: UserTaskChanging) -> UserTask:
    return _with_transition(state, event.key, event.transition)


def user_task_corrected(state: State, event: UserTaskCorrected) -> UserTask:
    task = state.user_tasks[event.key]
    transition = task.transition
    assert transition is not None, "only a transition can be corrected"
    changes: UserTaskChanges = {**transition.changes, **event.changes}
    state.edit(task)
    task.transition = msgspec.structs.replace(transition, changes=changes)
    return task


def user_task_denied(state: State, event: UserTaskDenied) -> UserTask:
    return _with_transition(state, event.key, None)


def user_task_ended(state: State, event: UserTaskEnded) -> UserTask:
    task = _with_transition(state, event.key, None)
    task.state = event.state
    task.ended_at = state.now
    state.unlink(state.user_tasks, event.key)
    state.unlink(task.element.waits.user_tasks, event.key)
    state.add_weight(task.element.tree, -USER_TASK_WEIGHT)
    return task


def _with_transition(state: State, key: int, transition: Transition | None) -> UserTask:
    """The task, with this transition. The variables that it keeps are counted."""
    task = state.user_tasks[key]
    state.edit(task)
    if task.transition is not None:
        state.add_weight(task.element.tree, -task.weight())
    task.transition = transition
    if transition is not None:
        state.add_weight(task.element.tree, task.weight())
        state.written += task.weight()
    return task
