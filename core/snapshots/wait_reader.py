"""Jobs, user tasks, timers, subscriptions and incidents of a snapshot as objects of the state."""

from __future__ import annotations

from vivero.core.snapshots import document as parts
from vivero.core.snapshots.codec import InvalidSnapshot
from vivero.core.snapshots.document import Snapshot, key_of
from vivero.core.state.instance_tree import Element, Incident, Job, Subscription, Timer, UserTask
from vivero.core.state.state import State
from vivero.core.state.subscription_index import INDEXED_BY, add_loaded


def add(state: State, snapshot: Snapshot) -> None:
    """Add all of them to the state and to their elements. Raises InvalidSnapshot."""
    for job in snapshot.jobs:
        _add_job(state, job, state.elements[int(job.element_key)])
    for task in snapshot.user_tasks:
        _add_user_task(state, task, state.elements[int(task.element_key)])
    for timer in snapshot.timers:
        _add_timer(state, timer, state.elements[int(timer.element_key)])
    for number, subscription in enumerate(snapshot.subscriptions):
        element = state.elements[int(subscription.element_key)]
        _add_subscription(state, subscription, element, f"subscriptions[{number}]")
    for incident in snapshot.incidents:
        _add_incident(state, incident, state.elements[int(incident.element_key)])


def _add_job(state: State, part: parts.JobPart, element: Element) -> None:
    key = int(part.key)
    state.jobs[key] = element.own_waits().jobs[key] = Job(
        key,
        element,
        part.type,
        part.retries,
        part.priority,
        part.headers,
        part.kind,
        part.listener_event,
        part.listener_index,
        part.created_at,
        part.updated_at,
        part.state,
        error_code=part.error_code,
        error_message=part.error_message,
        available_at=part.available_at,
    )


def _add_user_task(state: State, part: parts.UserTaskPart, element: Element) -> None:
    key = int(part.key)
    state.user_tasks[key] = element.own_waits().user_tasks[key] = UserTask(
        key,
        element,
        part.assignee,
        part.candidate_groups,
        part.candidate_users,
        part.due_at,
        part.follow_up_at,
        part.priority,
        part.headers,
        part.external_form,
        key_of(part.form_key),
        part.created_at,
    )


def _add_timer(state: State, part: parts.TimerPart, element: Element) -> None:
    key, instance = int(part.key), element.instance
    state.timers[key] = element.own_waits().timers[key] = Timer(
        key,
        element,
        part.element_id,
        part.type,
        part.due_at,
        part.repetitions,
        part.cycle,
        part.created_at,
        instance.definition_key,
        instance.process_id,
        instance.tenant,
        part.state,
    )


def _add_subscription(state: State, part: parts.SubscriptionPart, element: Element, place: str) -> None:
    if part.correlation_key is None and part.kind not in INDEXED_BY:
        raise InvalidSnapshot(f"{place}.correlationKey: a subscription of kind '{part.kind}' has one")
    key = int(part.key)
    subscription = Subscription(
        key,
        element,
        part.element_id,
        part.type,
        part.kind,
        part.name,
        part.correlation_key,
        part.interrupting,
        part.created_at,
        part.updated_at,
        part.state,
    )
    state.subscriptions[key] = element.own_waits().subscriptions[key] = subscription
    add_loaded(state.waiting, subscription)


def _add_incident(state: State, part: parts.IncidentPart, element: Element) -> None:
    key = int(part.key)
    state.incidents[key] = element.own_waits().incidents[key] = Incident(
        key, element, part.stage, part.argument, part.type, part.message, key_of(part.job_key), part.created_at
    )
