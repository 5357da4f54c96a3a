"""The documents that save jobs, timers, user tasks, incidents and subscriptions: of a new row, and of a changed one.

The documents of frequent rows omit fields with their usual value, which `save.sql` fills in: reading JSON is a large
part of what a save costs PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from vivero.core.state.instance_tree import Incident, Job, Subscription, Timer, UserTask
from vivero.storage.state.scope_documents import SHORT_PATH, Document, part_of, unless


class ChangedJob(msgspec.Struct, omit_defaults=True, gc=False):
    key: int
    state: str
    retries: int
    updated_at: int
    priority: int = 0
    error_code: str | None = None
    error_message: str | None = None
    ended_at: int | None = None
    lease: str | None = None
    available_at: int | None = None


class NewJob(ChangedJob, kw_only=True, omit_defaults=True, gc=False):
    instance: int
    element: int
    definition: int
    process_id: str
    number: int
    element_id: str
    type: str
    tenant: str
    created_at: int
    root: int | None = None
    part: int | None = None
    path: Sequence[int] = ()
    kind: str = "BPMN_ELEMENT"
    listener_event: str = "UNSPECIFIED"
    listener_index: int = 0
    headers: dict[str, str] = {}
    business_id: str | None = None
    tags: Sequence[str] = ()
    trace: str | None = None


_JobChanges = tuple[int, str, int, int, int, str | None, str | None, int | None, str | None, int | None]


def changed_job(row: Job) -> ChangedJob:
    return ChangedJob(*_changes_of_job(row))


def _changes_of_job(row: Job) -> _JobChanges:
    """The fields of `ChangedJob`, the first fields of both documents of jobs."""
    return (
        row.key,
        row.state,
        row.retries,
        row.updated_at,
        row.priority,
        row.error_code,
        row.error_message,
        row.ended_at,
        row.lease,
        row.available_at if row.lease == "backoff" else None,
    )


def new_job(row: Job) -> NewJob:
    element, instance = row.element, row.element.instance
    return NewJob(
        *_changes_of_job(row),
        instance=instance.key,
        element=element.key,
        definition=instance.definition_key,
        process_id=instance.process_id,
        number=instance.version_number,
        element_id=element.element,
        type=row.type,
        tenant=instance.tenant,
        created_at=row.created_at,
        root=unless(instance.root.key, instance.key),
        part=part_of(element),
        path=element.path if len(element.path) > SHORT_PATH else (),
        kind=row.kind,
        listener_event=row.listener_event,
        listener_index=row.listener_index,
        headers=row.headers,
        business_id=instance.business_id,
        tags=instance.tags,
        trace=row.context,
    )


def _owner(row: UserTask | Incident | Subscription) -> Document:
    """The columns that say whose the row is."""
    element, instance = row.element, row.element.instance
    return {
        "root": instance.root.key,
        "part": part_of(element),
        "instance": instance.key,
        "element": element.key,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "tenant": instance.tenant,
    }


def changed_timer(row: Timer) -> Document:
    return {
        "key": row.key,
        "state": row.state,
        "due_at": row.due_at,
        "triggered_at": row.triggered_at,
        "ended_at": row.ended_at,
    }


def new_timer(row: Timer) -> Document:
    element = row.element
    return {
        **changed_timer(row),
        "root": None if element is None else element.root.key,
        "part": None if element is None else part_of(element),
        "instance": None if element is None else element.instance.key,
        "element": None if element is None else element.key,
        "definition": row.definition,
        "process_id": row.process_id,
        "target": row.target,
        "type": row.type,
        "repetitions": row.repetitions,
        "cycle": row.cycle,
        "tenant": row.tenant,
        "created_at": row.created_at,
    }


def changed_user_task(row: UserTask) -> Document:
    return {
        "key": row.key,
        "state": row.state,
        "assignee": row.assignee,
        "groups": row.candidate_groups,
        "users": row.candidate_users,
        "due_at": row.due_at,
        "follow_up_at": row.follow_up_at,
        "priority": row.priority,
        "ended_at": row.ended_at,
    }


def new_user_task(row: UserTask) -> Document:
    element, instance = row.element, row.element.instance
    return {
        **changed_user_task(row),
        **_owner(row),
        "number": instance.version_number,
        "process_name": instance.name,
        "element_id": element.element,
        "name": element.label,
        "headers": row.headers,
        "external_form": row.external_form,
        "form_key": row.form_key,
        "business_id": instance.business_id,
        "tags": instance.tags,
        "created_at": row.created_at,
    }


def changed_incident(row: Incident) -> Document:
    return {"key": row.key, "state": row.state, "resolved_at": row.resolved_at}


def new_incident(row: Incident) -> Document:
    return {
        **changed_incident(row),
        **_owner(row),
        "element_id": row.element.element,
        "job": row.job,
        "stage": row.stage,
        "argument": row.argument,
        "type": row.type,
        "message": row.message,
        "created_at": row.created_at,
    }


def changed_subscription(row: Subscription) -> Document:
    return {"key": row.key, "state": row.state, "updated_at": row.updated_at, "ended_at": row.ended_at}


def new_subscription(row: Subscription) -> Document:
    instance = row.element.instance
    return {
        **changed_subscription(row),
        **_owner(row),
        "process_name": instance.name,
        "number": instance.version_number,
        "target": row.target,
        "type": row.type,
        "kind": row.kind,
        "name": row.name,
        "correlation_key": row.correlation_key,
        "interrupting": row.interrupting,
        "business_id": instance.business_id,
        "created_at": row.created_at,
    }
