"""The live rows of an instance tree: its elements and all that they wait for, to compare two moments."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from vivero.core.state.instance_tree import Element, Incident, Instance, Job, Subscription, Timer, UserTask
from vivero.core.state.subtrees import descendants
from vivero.core.trace import job_noun


class Kind(StrEnum):
    """The kinds of what opens, closes or stays."""

    ELEMENT = "ELEMENT"
    JOB = "JOB"
    USER_TASK = "USER_TASK"
    TIMER = "TIMER"
    SUBSCRIPTION = "SUBSCRIPTION"
    INCIDENT = "INCIDENT"


class LiveRow(NamedTuple):
    """Something that is there. `detail` is for people: the type of a job, the name of a message. `noun` is its word in
    the names of traces, empty if they do not name it so."""

    kind: Kind
    element: str
    element_key: int
    instance: int
    detail: str
    noun: str = ""


def live_rows_in(root: Instance | None) -> dict[int, LiveRow]:
    """Everything that is there below a root, by its key. None: the tree has ended."""
    if root is None:
        return {}
    return {key: place for element in descendants(root) for key, place in _of(element)}


def _of(element: Element) -> Iterator[tuple[int, LiveRow]]:
    waits, own, instance = element.waits, element.element, element.instance.key
    yield element.key, LiveRow(Kind.ELEMENT, own, element.key, instance, element.type)
    for job in waits.jobs.values():
        yield job.key, LiveRow(Kind.JOB, own, element.key, instance, _job(job), job_noun(job.listener_event))
    for task in waits.user_tasks.values():
        yield task.key, LiveRow(Kind.USER_TASK, own, element.key, instance, _user_task(task), "task")
    for timer in waits.timers.values():
        yield timer.key, LiveRow(Kind.TIMER, timer.target, element.key, instance, _timer(timer))
    for subscription in waits.subscriptions.values():
        yield (
            subscription.key,
            LiveRow(Kind.SUBSCRIPTION, subscription.target, element.key, instance, _subscription(subscription), "wait"),
        )
    for incident in waits.incidents.values():
        yield incident.key, LiveRow(Kind.INCIDENT, own, element.key, instance, _incident(incident), "incident")


def _job(job: Job) -> str:
    listener = "" if job.listener_event == "UNSPECIFIED" else f", listener of {job.listener_event}"
    return f"type {job.type}{listener}"


def _user_task(task: UserTask) -> str:
    return "unassigned" if task.assignee is None else f"assigned to {task.assignee}"


def _timer(timer: Timer) -> str:
    return f"due at {timer.due_at}"


def _subscription(subscription: Subscription) -> str:
    key = "" if subscription.correlation_key is None else f", correlation key {subscription.correlation_key}"
    return f"{subscription.kind} {subscription.name}{key}"


def _incident(incident: Incident) -> str:
    return f"{incident.type}: {incident.message}"
