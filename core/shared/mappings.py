"""Input and output mappings (`zeebe:ioMapping`). Later mappings see the targets of earlier ones.

The variables that sources see, and the values that are set, are two things (ADR 64). A source sees the variables of
the element with the targets so far. A scope gets only the fields that mappings name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from vivero.core.bpmn.model import Mapping
from vivero.core.records.effects import Effects, Fail, IncidentType
from vivero.core.rules import MAX_STAGE_CHARACTERS
from vivero.core.shared.variables import output_scope, owner_of, set_in
from vivero.core.state.compensation import PastScope
from vivero.core.state.instance_tree import Element
from vivero.core.view import View


def map_inputs(element: Element, view: View) -> Effects:
    """Set the mapped values as local variables of the element."""
    for name, text in _texts_of(input_values(view.node(element).inputs, element, element, view), view):
        yield set_in(element, name, text, view)


def input_values(
    mappings: Iterable[Mapping], element: Element, seen_from: Element | PastScope | None, view: View
) -> dict[str, Any]:
    """The values of the local variables by name. The sources see the scope `seen_from`.

    A target with a path makes a field of the local variable. Until all mappings are done, a source that names this
    variable sees the one around the element, with the fields that are mapped so far."""
    seen = _loop_variables(element, view)
    if presets := view.node(element).presets:
        seen |= presets
    local = _with_result(seen, element, view)
    for mapping in mappings:
        value = _map(mapping, seen_from, seen, view)
        local[mapping.root] = updated(mapping, local.get(mapping.root), value)
    return local


def _loop_variables(element: Element, view: View) -> dict[str, Any]:
    """The variables of an inner instance: its number from 1, and its item."""
    body = element.scope
    if not element.is_inner or body is None:
        return {}
    loop, counter = view.node(element).loop, {"loopCounter": element.index + 1}
    if loop is None or loop.item is None:
        return counter
    return counter | {loop.item: view.expressions.value_of(view.loop_item(body, element.index))}


def _with_result(seen: dict[str, Any], element: Element, view: View) -> dict[str, Any]:
    """The variables of an inner instance with null for its result.

    With a result variable of its own, an instance neither sets nor collects the result of another one. The sources of
    its inputs see the variable around it: there is no result yet."""
    loop, variables = view.node(element).loop, dict(seen)
    if element.is_inner and loop is not None and loop.result is not None:
        variables.setdefault(loop.result, None)
    return variables


def map_outputs(element: Element, view: View) -> Effects:
    """Merge the mapped values into the scopes around the element.

    A target with a path changes one field of the variable that the scopes around the element have. Fields of the
    element's own variable of that name stay in the element."""
    around = output_scope(element)
    seen: dict[str, Any] = {}
    merged: dict[str, Any] = {}
    for mapping in view.node(element).outputs:
        name, before = mapping.root, None
        value = _map(mapping, element, seen, view)
        if mapping.path:
            before = view.expressions.variables(owner_of(name, around), merged).variable(name)
        merged[name] = updated(mapping, before, value)
    for name, text in _texts_of(merged, view):
        yield set_in(owner_of(name, around), name, text, view)


def _map(mapping: Mapping, element: Element | PastScope | None, seen: dict[str, Any], view: View) -> Any:
    """The value of the mapping's source. `seen` has what later sources see of the targets."""
    value = view.expressions.evaluate(mapping.source, element, IncidentType.IO_MAPPING_ERROR, seen)
    before = view.expressions.variables(element, seen).variable(mapping.root) if mapping.path else None
    seen[mapping.root] = updated(mapping, before, value)
    return value


def _texts_of(values: dict[str, Any], view: View) -> Iterator[tuple[str, str]]:
    """The values as JSON text. Raises Fail if they exceed the limit together."""
    characters = 0
    for name, value in values.items():
        text = view.expressions.json_of(value, IncidentType.IO_MAPPING_ERROR)
        characters += len(text)
        if characters > MAX_STAGE_CHARACTERS:
            raise Fail(
                IncidentType.IO_MAPPING_ERROR,
                f"The values of the mappings have more than {MAX_STAGE_CHARACTERS} characters of JSON together.",
            )
        yield name, text


def updated(mapping: Mapping, before: Any, value: Any) -> Any:
    """A copy of `before` with `value` at the target's path. A context replaces what is missing or no context."""
    path = mapping.path
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
