"""Input and output mappings (`zeebe:ioMapping`). Later mappings see the targets of earlier ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from vivero.engine.bpmn.model import Mapping
from vivero.engine.core.records.effects import Effects, Fail, IncidentType
from vivero.engine.core.rules import MAX_STAGE_CHARACTERS
from vivero.engine.core.shared.variables import outside, owner_of, set_in
from vivero.engine.core.state.instance_tree import Element
from vivero.engine.core.view import VariableScope, View


def take_inputs(element: Element, view: View) -> Effects:
    """The mapped values become local variables of the element."""
    seen = _loop_variables(element, view)
    for mapping in view.node(element).inputs:
        value = view.evaluate(mapping.source, element, IncidentType.IO_MAPPING_ERROR, seen)
        seen[mapping.root] = placed(mapping, seen.get(mapping.root), value)
    for name, text in _texts_of(seen, view):
        yield set_in(element, name, text, view)


def _loop_variables(element: Element, view: View) -> dict[str, Any]:
    """Of an inner instance: the number of its turn, from 1, its item, and null for its result, so that what sets the
    result sets its own, and nobody collects that of another turn."""
    body = element.scope
    if not element.is_inner or body is None:
        return {}
    loop = view.node(element).loop
    item = view.value_of(view.loop_item(body, element.index))
    variables = {"loopCounter": element.index + 1} | ({loop.item: item} if loop is not None and loop.item else {})
    if loop is not None and loop.result is not None:
        variables.setdefault(loop.result, None)
    return variables


def give_outputs(element: Element, view: View) -> Effects:
    """The mapped values are merged into the scopes around the element; those at a place inside of a variable into what
    the element sees under that name, its own result first."""
    around = outside(element)
    seen: dict[str, Any] = {}
    for mapping in view.node(element).outputs:
        value = view.evaluate(mapping.source, element, IncidentType.IO_MAPPING_ERROR, seen)
        before = seen.get(mapping.root)
        if before is None and len(mapping.target) > 1:
            before = VariableScope(element, {}, view).get(mapping.root)
        seen[mapping.root] = placed(mapping, before, value)
    for name, text in _texts_of(seen, view):
        yield set_in(owner_of(name, around), name, text, view)


def _texts_of(values: dict[str, Any], view: View) -> Iterator[tuple[str, str]]:
    """The values as JSON text. Raises Fail as soon as they are too large together."""
    characters = 0
    for name, value in values.items():
        text = view.json_of(value, IncidentType.IO_MAPPING_ERROR)
        characters += len(text)
        if characters > MAX_STAGE_CHARACTERS:
            raise Fail(
                IncidentType.IO_MAPPING_ERROR,
                f"The values of the mappings have more than {MAX_STAGE_CHARACTERS} characters of JSON together.",
            )
        yield name, text


def placed(mapping: Mapping, before: Any, value: Any) -> Any:
    """`before` with `value` at the path of the mapping's target, missing contexts made."""
    path = mapping.target[1:]
    if not path:
        return value
    result = dict(before) if isinstance(before, dict) else {}
    inner = result
    for name in path[:-1]:
        next_ = inner.get(name)
        inner[name] = dict(next_) if isinstance(next_, dict) else {}
        inner = inner[name]
    inner[path[-1]] = value
    return result
