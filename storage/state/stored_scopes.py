"""Stored process instances and elements as objects of the state."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.core.state.instance_tree import (
    ELEMENT_WEIGHT,
    INSTANCE_WEIGHT,
    Element,
    ElementState,
    Instance,
    LoopPages,
    LoopState,
    Part,
    still_to_come,
)
from vivero.core.state.state import State
from vivero.storage.state.stored_rows import ElementRow, InstanceRow

_decode = msgspec.json.decode
_EMPTY = "{}"
"""The tokens of most elements, which need no decoding."""
_STATES = {state.value: state for state in ElementState}


def add_instance(state: State, row: InstanceRow) -> Instance:
    """The process instance of a row, with its root. Its caller must be in the state."""
    instance = Instance(
        row.key,
        row.process_id,
        "PROCESS",
        _STATES[row.state],
        None,  # type: ignore[arg-type]  # `_set_root` sets both: a root is its own root
        None,  # type: ignore[arg-type]
        None if row.calling_element is None else state.elements[row.calling_element],
        (row.key,),
        row.started_at,
        tokens=_decode(row.tokens),
        live=row.live,
        then=_tuple(row.then),
        interrupted=row.interrupted,
        request=row.request,
        incidents=row.incidents,
        definition_key=row.definition_key,
        process_id=row.process_id,
        version_number=row.version_number,
        version_tag=row.version_tag,
        name=row.name,
        tenant=row.tenant,
        business_id=row.business_id,
        tags=tuple(row.tags),
        depth=row.depth,
        created_position=row.created_position,
        context=row.trace,
        parent_instance=row.parent_instance,
        start=_decode(row.start, type=tuple[str, dict[str, str]]) if row.start else None,
        start_lock=row.start_lock,
        terminate_after=tuple(row.terminate_after or ()),
        work=tuple((item[0], item[1], item[2]) for item in _decode(row.work)) if row.work else (),
        revision=row.revision,
        in_parts=row.in_parts,
    )
    _set_root(state, instance, row.root_key)
    instance.root.weight += INSTANCE_WEIGHT
    _count(instance)
    return instance


def _set_root(state: State, instance: Instance, root_key: int) -> None:
    instance.instance = instance
    if instance.key == root_key:
        instance.root = state.trees[root_key] = instance
    else:
        instance.root = state.trees[root_key]
        instance.part = None if instance.scope is None else instance.scope.part


def add_element(state: State, row: ElementRow) -> Element:
    """The element of a row, in its part. Its scope must be in the state."""
    # fmt: off
    (
        key, instance_key, scope_key, path, element_id, type_, status, loop_index, tokens, live,
        then, interrupted, occurred, loop, request, incidents, incident, started_at, label,
    ) = row  # unpacking is faster than a look-up for each field, and there may be thousands of rows
    # fmt: on
    instance = state.elements[instance_key]
    assert isinstance(instance, Instance), f"element {key} names {instance_key}, which is not a process instance"
    element = Element(
        key,
        element_id,
        type_,
        _STATES[status],
        instance.root,
        instance,
        state.elements[scope_key],
        tuple(path),
        started_at,
        tokens={} if tokens == _EMPTY else _decode(tokens),
        live=live,
        index=loop_index,
        label=label,
        then=None if then is None else _tuple(then),
        interrupted=interrupted,
        occurred=_decode(occurred) if occurred else None,
        loop=_decode(loop, type=LoopState) if loop else None,
        request=request,
        incidents=incidents,
        incident=incident,
    )
    instance.root.weight += ELEMENT_WEIGHT
    _place(state, element)
    _count(element)
    return element


def _count(element: Element) -> None:
    together = element.root if element.part is None else element.part
    together.rows += 1 + still_to_come(element)


def _place(state: State, element: Element) -> None:
    """Sets the part of an element. The inner instance of a paged loop begins a part of its own."""
    scope = element.scope
    if scope is not None:
        element.part = scope.part
        if scope.pages is not None:
            element.part = state.parts[element.key] = Part(element.key, element)
    if element.loop is not None and element.loop.paged:
        element.pages = LoopPages(element.key)
        state.paged[element.key] = element


def _tuple(text: str | None) -> tuple[Any, ...] | None:
    return None if text is None else tuple(_decode(text))
