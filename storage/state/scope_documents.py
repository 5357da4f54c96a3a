"""The documents that save process instances, elements, loops and variables: of a new row, and of a changed one.

The documents of frequent rows omit fields with their usual value, which `save.sql` fills in: reading JSON is a large
part of what a save costs PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from vivero.core.state.instance_tree import Element, Instance, LoopItem, LoopResult, Variable
from vivero.storage.state.normal_form import normal_hash

Document = dict[str, Any]

SHORT_PATH = 2
"""The length of the path of an element directly in its process instance: the instance and the element."""


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
    trace: str | None = None


class NewVariable(msgspec.Struct, omit_defaults=True, gc=False):
    key: int
    scope: int
    tenant: str
    name: str
    value: str
    instance: int | None = None
    root: int | None = None
    normal: str | None = None


_ElementChanges = tuple[
    int, str, dict[str, int], int, Any, bool, Any, int | None, int, int | None, int | None, Sequence[str]
]


def changed_element(row: Element) -> ChangedElement:
    return ChangedElement(*_changes_of_element(row))


def _changes_of_element(row: Element) -> _ElementChanges:
    """The fields of `ChangedElement`, the first fields of all documents of elements and instances."""
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
        root=unless(row.root.key, instance.key),
        part=row.part_key,
        scope=unless(scope, instance.key),
        path=path if len(path) > SHORT_PATH else (),
        name=row.label,
        index=row.index,
        occurred=row.occurred,
    )


def unless(key: int, usual: int) -> int | None:
    """The key, or None if it is the usual one."""
    return None if key == usual else key


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
        root=unless(row.root.key, row.key),
        part=row.part_key,
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
        trace=row.context,
    )


def changed_loop_item(row: LoopItem) -> Document:
    return {"body": row.body.key, "index": row.key, "result": row.result}


def new_loop_item(row: LoopItem) -> Document:
    return changed_loop_item(row) | {"item": row.item}


def loop_result(row: LoopResult) -> Document:
    return {"body": row.body.key, "index": row.key, "result": row.result}


def changed_variable(row: Variable) -> Document:
    return {"key": row.key, "value": row.value, "normal": normal_hash(row.value)}


def new_variable(row: Variable) -> NewVariable:
    scope, instance = row.scope.key, row.scope.instance
    return NewVariable(
        row.key,
        scope,
        instance.tenant,
        row.name,
        row.value,
        unless(instance.key, scope),
        unless(instance.root.key, scope),
        normal_hash(row.value),
    )
