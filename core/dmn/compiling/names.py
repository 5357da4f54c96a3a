"""The names that texts of a file may use anywhere: parts of values, behind a dot or in a filter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vivero.core.dmn import model
from vivero.core.dmn.compiling.linking import Linked
from vivero.core.dmn.model import Decision, Definitions, ItemDefinition, Knowledge, Logic


def names_of_parts(resource: str, linked: Linked) -> set[str]:
    """Components of types, entries of contexts, outputs and columns, in the file and in those that it imports.

    Names with a dot are no parts: behind a dot they could not be told from a path.
    """
    found: set[str] = set()
    for prefix, file in _visible(resource, linked):
        found.update(_in_file(file))
        if prefix:
            found.update(element.variable.name or element.name for element in file.elements.values())
    return {name for name in found if "." not in name}


def names_of_types(resource: str, linked: Linked) -> set[str]:
    """The names of types, for `instance of`."""
    return {each.name for _, file in _visible(resource, linked) for each in file.types}


def _visible(resource: str, linked: Linked) -> Iterator[tuple[str, Definitions]]:
    yield "", linked.files[resource]
    for imported, file in linked.imported(resource):
        yield imported.name, file


def _in_file(file: Definitions) -> Iterator[str]:
    for item in file.types:
        yield from _components(item)
    for element in file.elements.values():
        if isinstance(element, Decision) and element.logic is not None:
            yield from _in_logic(element.logic)
        elif isinstance(element, Knowledge):
            yield from _in_logic(element.function)


def _components(item: ItemDefinition) -> Iterator[str]:
    for component in item.components:
        yield component.name
        yield from _components(component)


def _in_logic(logic: Logic) -> Iterator[str]:
    if isinstance(logic, model.Context):
        yield from (entry.variable.name for entry in logic.entries if entry.variable is not None)
    elif isinstance(logic, model.Table) and len(logic.outputs) > 1:
        yield from (output.name for output in logic.outputs)
    elif isinstance(logic, model.Relation):
        yield from (column.name for column in logic.columns)
    for part in parts_of(logic):
        yield from _in_logic(part)


def parts_of(logic: Logic) -> Iterable[Logic]:
    """The boxed expressions directly within another one."""
    match logic:
        case model.Context():
            return [entry.logic for entry in logic.entries]
        case model.Invocation():
            return [logic.function, *(each.logic for each in logic.bindings if each.logic is not None)]
        case model.Relation():
            return [cell for row in logic.rows for cell in row]
        case model.ListOf():
            return logic.items
        case model.FunctionDefinition():
            return [] if logic.body is None else [logic.body]
        case model.Conditional():
            return [logic.condition, logic.then, logic.otherwise]
        case model.BoxedFilter():
            return [logic.items, logic.condition]
        case model.Iteration():
            return [logic.items, logic.body]
        case _:
            return []
