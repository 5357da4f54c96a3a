"""Rows of the state as the JSON documents that a batch saves them by: of a new row, and of what may change of it.

The documents of the rows that are many leave out what is as it mostly is (`sql/save.sql` fills it in): reading JSON is
a good part of what a save costs PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from vivero.engine.core.state.catalogue import Definition, Deployment
from vivero.engine.core.state.instance_tree import (
    Element,
    Incident,
    Instance,
    Job,
    LoopItem,
    LoopResult,
    Subscription,
    Timer,
    UserTask,
    Variable,
)
from vivero.engine.core.state.message_channels import ChannelSubscription, Message, Start, StartLock
from vivero.engine.core.state.rows import Row

Document = dict[str, Any]

SHORT_PATH = 2
"""The length of the path of an element that is directly in its process instance: itself and the instance."""


class ChangedElement(msgspec.Struct, omit_defaults=True, gc=False):
    key: int
    state: str
    tokens: dict[str, int] = {}
    live: int = 0
    then_: Any = None
    interrupted: bool = False
    loop: Any = None
    request: int | None = None
    incidents: int = 0
    incident: int | None = None
    ended_at: int | None = None
    flows: Sequence[str] = ()


class NewElement(ChangedElement, kw_only=True, omit_defaults=True, gc=False):
    instance: int
    definition: int
    process_id: str
    element: str
    type: str
    tenant: str
    started_at: int
    root: int | None = None
    part: int | None = None
    scope: int | None = None
    path: Sequence[int] = ()
    name: str | None = None
    index: int = -1
    occurred: Any = None


class ChangedInstance(ChangedElement, kw_only=True, omit_defaults=True, gc=False):
    revision: int
    work: Any = ()
    in_parts: int = 0


class NewInstance(ChangedInstance, kw_only=True, omit_defaults=True, gc=False):
    definition: int
    process_id: str
    number: int
    tenant: str
    started_at: int
    position: int
    root: int | None = None
    part: int | None = None
    parent: int | None = None
    caller: int | None = None
    version_tag: str | None = None
    name: str | None = None
    business_id: str | None = None
    tags: Sequence[str] = ()
    depth: int = 1
    start: Any = None
    start_lock: str | None = None
    terminate_after: Sequence[str] | None = None


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


class NewVariable(msgspec.Struct, omit_defaults=True, gc=False):
    key: int
    scope: int
    tenant: str
    name: str
    value: str
    instance: int | None = None
    root: int | None = None


_ElementChanges = tuple[
    int, str, dict[str, int], int, Any, bool, Any, int | None, int, int | None, int | None, Sequence[str]
]
_JobChanges = tuple[int, str, int, int, int, str | None, str | None, int | None, str | None, int | None]


def changed_element(row: Element) -> ChangedElement:
    return ChangedElement(*_changes_of_element(row))


def _changes_of_element(row: Element) -> _ElementChanges:
    """The fields of `ChangedElement`, with which the documents of elements and instances begin."""
    return (
        row.key,
        row.state,
        row.tokens,
        row.live,
        row.then,
        row.interrupted,
        row.loop,
        row.request,
        row.incidents,
        row.incident,
        row.ended_at,
        row.flows,
    )


def new_element(row: Element) -> NewElement:
    instance, scope, path = row.instance, row.path[1], row.path
    return NewElement(
        *_changes_of_element(row),
        instance=instance.key,
        definition=instance.definition_key,
        process_id=instance.process_id,
        element=row.element,
        type=row.type,
        tenant=instance.tenant,
        started_at=row.started_at,
        root=_unless(row.root.key, instance.key),
        part=_part_of(row),
        scope=_unless(scope, instance.key),
        path=path if len(path) > SHORT_PATH else (),
        name=row.label,
        index=row.index,
        occurred=row.occurred,
    )


def _unless(key: int, usual: int) -> int | None:
    return None if key == usual else key


def _part_of(element: Element) -> int | None:
    """With what a row is loaded: an inner instance of a paged loop; None: with the tree."""
    return None if element.part is None else element.part.key


def changed_instance(row: Instance) -> ChangedInstance:
    return ChangedInstance(*_changes_of_element(row), work=row.work, revision=row.revision, in_parts=row.in_parts)


def new_instance(row: Instance) -> NewInstance:
    return NewInstance(
        *_changes_of_element(row),
        work=row.work,
        revision=row.revision,
        in_parts=row.in_parts,
        definition=row.definition_key,
        process_id=row.process_id,
        number=row.version_number,
        tenant=row.tenant,
        started_at=row.started_at,
        position=row.created_position,
        root=_unless(row.root.key, row.key),
        part=_part_of(row),
        parent=row.parent_instance,
        caller=row.scope.key if row.scope is not None else None,
        version_tag=row.version_tag,
        name=row.name,
        business_id=row.business_id,
        tags=row.tags,
        depth=row.depth,
        start=row.start,
        start_lock=row.start_lock,
        terminate_after=row.terminate_after or None,
    )


def changed_loop_item(row: LoopItem) -> Document:
    return {"body": row.body.key, "index": row.key, "result": row.result}


def new_loop_item(row: LoopItem) -> Document:
    return changed_loop_item(row) | {"item": row.item}


def loop_result(row: LoopResult) -> Document:
    return {"body": row.body.key, "index": row.key, "result": row.result}


def changed_variable(row: Variable) -> Document:
    return {"key": row.key, "value": row.value}


def new_variable(row: Variable) -> NewVariable:
    scope, instance = row.scope.key, row.scope.instance
    return NewVariable(
        row.key,
        scope,
        instance.tenant,
        row.name,
        row.value,
        _unless(instance.key, scope),
        _unless(instance.root.key, scope),
    )


def changed_job(row: Job) -> ChangedJob:
    return ChangedJob(*_changes_of_job(row))


def _changes_of_job(row: Job) -> _JobChanges:
    """The fields of `ChangedJob`, with which both documents of jobs begin."""
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
        root=_unless(instance.root.key, instance.key),
        part=_part_of(element),
        path=element.path if len(element.path) > SHORT_PATH else (),
        kind=row.kind,
        listener_event=row.listener_event,
        listener_index=row.listener_index,
        headers=row.headers,
        business_id=instance.business_id,
        tags=instance.tags,
    )


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
        "part": None if element is None else _part_of(element),
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
    return changed_user_task(row) | {
        "root": instance.root.key,
        "part": _part_of(element),
        "instance": instance.key,
        "element": element.key,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "number": instance.version_number,
        "process_name": instance.name,
        "element_id": element.element,
        "name": element.label,
        "headers": row.headers,
        "external_form": row.external_form,
        "form_key": row.form_key,
        "business_id": instance.business_id,
        "tags": instance.tags,
        "tenant": instance.tenant,
        "created_at": row.created_at,
    }


def changed_incident(row: Incident) -> Document:
    return {"key": row.key, "state": row.state, "resolved_at": row.resolved_at}


def new_incident(row: Incident) -> Document:
    element, instance = row.element, row.element.instance
    return changed_incident(row) | {
        "root": instance.root.key,
        "part": _part_of(element),
        "instance": instance.key,
        "element": element.key,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "element_id": element.element,
        "job": row.job,
        "stage": row.stage,
        "argument": row.argument,
        "type": row.type,
        "message": row.message,
        "tenant": instance.tenant,
        "created_at": row.created_at,
    }


def changed_subscription(row: Subscription) -> Document:
    return {"key": row.key, "state": row.state, "updated_at": row.updated_at, "ended_at": row.ended_at}


def new_subscription(row: Subscription) -> Document:
    element, instance = row.element, row.element.instance
    return changed_subscription(row) | {
        "root": instance.root.key,
        "part": _part_of(element),
        "instance": instance.key,
        "element": element.key,
        "definition": instance.definition_key,
        "process_id": instance.process_id,
        "process_name": instance.name,
        "number": instance.version_number,
        "target": row.target,
        "type": row.type,
        "kind": row.kind,
        "name": row.name,
        "correlation_key": row.correlation_key,
        "interrupting": row.interrupting,
        "business_id": instance.business_id,
        "tenant": instance.tenant,
        "created_at": row.created_at,
    }


def changed_message(row: Message) -> Document:
    return {"key": row.key, "given": row.given}


def new_message(row: Message) -> Document:
    return changed_message(row) | {
        "tenant": row.channel.tenant,
        "name": row.name,
        "correlation_key": row.channel.correlation_key,
        "message_id": row.message_id,
        "business_id": row.business_id,
        "deadline": row.deadline,
        "variables": row.variables,
    }


def state_of(row: ChannelSubscription | StartLock | Start) -> Document:
    return {"key": row.key, "state": row.state}


def new_channel_subscription(row: ChannelSubscription) -> Document:
    return new_start_lock(row) | {"name": row.name, "interrupting": row.interrupting}


def new_start_lock(row: StartLock | ChannelSubscription) -> Document:
    return state_of(row) | {
        "tenant": row.channel.tenant,
        "correlation_key": row.channel.correlation_key,
        "process_id": row.process_id,
    }


def columns(row: Row) -> Document:
    return {name: getattr(row, name) for name in row.__struct_fields__}


def deployment(row: Deployment) -> Document:
    return {"key": row.key, "tenant": row.tenant, "deployed_at": row.deployed_at}


def changed_definition(row: Definition) -> Document:
    return {"key": row.key, "state": row.state}
