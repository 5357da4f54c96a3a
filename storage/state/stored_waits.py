"""Stored jobs, incidents, timers, subscriptions and user tasks as objects of the state."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from vivero.core.state.instance_tree import (
    INCIDENT_WEIGHT,
    JOB_WEIGHT,
    SUBSCRIPTION_WEIGHT,
    TIMER_WEIGHT,
    USER_TASK_WEIGHT,
    Incident,
    Job,
    Subscription,
    Timer,
    UserTask,
)
from vivero.core.state.state import State
from vivero.core.state.subscription_index import add_loaded
from vivero.storage.state.stored_rows import IncidentRow, JobRow, SubscriptionRow, TimerRow, UserTaskRow

_decode = msgspec.json.decode

Cycle = tuple[str, str, int, int]


def add_job(state: State, columns: tuple[Any, ...]) -> None:
    """Adds a job to the state, and to its element."""
    row = JobRow._make(columns)
    element = state.elements[row.element_key]
    state.jobs[row.key] = element.own_waits().jobs[row.key] = Job(
        row.key,
        element,
        row.type,
        row.retries,
        row.priority,
        _decode(row.headers),
        row.kind,
        row.listener_event,
        row.listener_index,
        row.created_at,
        row.updated_at,
        row.state,
        error_code=row.error_code,
        error_message=row.error_message,
        available_at=row.available_at,
        context=row.trace,
    )
    element.root.weight += JOB_WEIGHT


def add_incident(state: State, columns: tuple[Any, ...]) -> None:
    """Adds an open incident to the state, and to its element."""
    row = IncidentRow._make(columns)
    element = state.elements[row.element_key]
    argument = _decode(row.argument) if row.argument else 0
    state.incidents[row.key] = element.own_waits().incidents[row.key] = Incident(
        row.key, element, row.stage, argument, row.type, row.message, row.job, row.created_at
    )
    element.root.weight += INCIDENT_WEIGHT


def add_timer(state: State, columns: tuple[Any, ...]) -> None:
    """Adds a pending or failed timer to the state, and to its element."""
    row = TimerRow._make(columns)
    element = state.elements[row.element_key]
    instance = element.instance
    state.timers[row.key] = element.own_waits().timers[row.key] = Timer(
        row.key,
        element,
        row.target,
        row.type,
        row.due_at,
        row.repetitions,
        cycle_of(row.cycle),
        row.created_at,
        instance.definition_key,
        instance.process_id,
        instance.tenant,
        row.state,
    )
    element.root.weight += TIMER_WEIGHT


def add_subscription(state: State, columns: tuple[Any, ...]) -> None:
    """Adds an open subscription to the state, to its element, and to the index of subscriptions."""
    row = SubscriptionRow._make(columns)
    element = state.elements[row.element_key]
    subscription = Subscription(row.key, element, *row[2:])
    state.subscriptions[row.key] = element.own_waits().subscriptions[row.key] = subscription
    add_loaded(state.waiting, subscription)
    element.root.weight += SUBSCRIPTION_WEIGHT


def add_user_task(state: State, columns: tuple[Any, ...]) -> None:
    """Adds an open user task to the state, and to its element."""
    # fmt: off
    (
        key, element_key, assignee, groups, users, due_at, follow_up_at, priority, headers, external_form, form_key,
        created_at,
    ) = UserTaskRow._make(columns)  # unpacking is faster than a look-up for each field, and there may be thousands
    # fmt: on
    element = state.elements[element_key]
    state.user_tasks[key] = element.own_waits().user_tasks[key] = UserTask(
        key,
        element,
        assignee,
        tuple(groups),
        tuple(users),
        due_at,
        follow_up_at,
        priority,
        _decode(headers),
        external_form,
        form_key,
        created_at,
    )
    element.root.weight += USER_TASK_WEIGHT


def cycle_of(text: str | None) -> Cycle | None:
    """The cycle of a timer from its JSON."""
    return None if text is None else _decode(text, type=Cycle)


ADD: dict[str, Callable[[State, tuple[Any, ...]], None]] = {
    "jobs": add_job,
    "incidents": add_incident,
    "timers": add_timer,
    "subscriptions": add_subscription,
}
"""The statements that read the rows of scopes, and the functions that add a row to the state."""
