"""References between elements, within a file and to files that it imports; cycles of requirements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from vivero.core.bpmn.reading.report import Report, quote
from vivero.core.dmn.model import (
    DMN,
    Decision,
    Definitions,
    Element,
    ElementReference,
    Import,
    InputData,
    Knowledge,
    Service,
)


class Key(NamedTuple):
    """An element of a deployment: its file and its id."""

    resource: str
    id: str


class Linked(NamedTuple):
    """The files of a deployment by name, with what their references mean."""

    files: Mapping[str, Definitions]
    targets: Mapping[tuple[str, ElementReference], Key]
    """Target of each reference, by the file that has the reference."""

    def element(self, key: Key) -> Element:
        return self.files[key.resource].elements[key.id]

    def keys(self, resource: str, references: Sequence[ElementReference]) -> list[Key]:
        """The elements that references in a file mean."""
        return [self.targets[resource, each] for each in references]

    def imported(self, resource: str) -> Iterator[tuple[Import, Definitions]]:
        """The imports of a file with the files that they mean."""
        for each in self.files[resource].imports:
            for other in self.files.values():
                if other.namespace == each.namespace and other.resource != resource:
                    yield each, other

    def all_imported(self, resource: str) -> tuple[str, ...]:
        """The files that a file imports, directly or through others, without itself."""
        return tuple(found for found, _ in self._reached(resource) if found != resource)

    def name_of_import(self, resource: str, other: str) -> str:
        """The name under which a file sees another one; empty for itself."""
        if resource == other:
            return ""
        return next((each.name for each, file in self.imported(resource) if file.resource == other), "")

    def path(self, root: str, resource: str) -> tuple[str, ...]:
        """The names of imports that lead from one file to another; empty from a file to itself."""
        return next((path for found, path in self._reached(root) if found == resource), ())

    def _reached(self, root: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """A file and all that it imports, nearest first, each with the names of imports that lead to it."""
        paths: dict[str, tuple[str, ...]] = {root: ()}
        todo = [root]
        for each in todo:
            yield each, paths[each]
            for imported, file in self.imported(each):
                if file.resource not in paths:
                    paths[file.resource] = (*paths[each], imported.name)
                    todo.append(file.resource)


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "inputs": ((InputData,), "an input"),
    "decisions": ((Decision,), "a decision"),
    "knowledge": ((Knowledge, Service), "a business knowledge model or a decision service"),
    "outputs": ((Decision,), "a decision"),
    "encapsulated": ((Decision,), "a decision"),
}
"""Field of an element → the kinds of elements that its references may mean."""


def link(files: Mapping[str, Definitions], reports: Mapping[str, Report]) -> Linked | None:
    """The files with their references resolved; None if one means nothing or the wrong kind, and for cycles.

    Adds a problem for each.
    """
    targets: dict[tuple[str, ElementReference], Key] = {}
    linked = Linked(files, targets)
    is_complete = True
    for resource, definitions in files.items():
        for each in definitions.imports:
            if not any(other.namespace == each.namespace for other in files.values()):
                text = f"no file of the deployment has the namespace {quote(each.namespace)}, which is imported"
                reports[resource].add_file_problem(text, each.line)
        for element in definitions.elements.values():
            is_complete &= _link_element(element, linked, targets, resource, reports[resource])
    return linked if is_complete and not _has_cycles(linked, reports) else None


def _link_element(
    element: Element, linked: Linked, targets: dict[tuple[str, ElementReference], Key], resource: str, report: Report
) -> bool:
    """Resolve the references of an element. False, after a problem for each, if one cannot be resolved."""
    is_complete = True
    for field, (kinds, expected) in _KINDS.items():
        for reference in getattr(element, field, ()):
            key = _find(linked, resource, reference)
            if key is not None and isinstance(linked.element(key), kinds):
                targets[resource, reference] = key
                continue
            wanted, by = quote(reference.id), quote(element.name or element.id)
            missing = f"there is no element {wanted}, which {by} requires"
            text = missing if key is None else f"{wanted} is not {expected}, as {by} requires"
            report.add_problem_at(element.id, reference.line, text)
            is_complete = False
    return is_complete


def _find(linked: Linked, resource: str, reference: ElementReference) -> Key | None:
    own = linked.files[resource]
    if reference.namespace in ("", own.namespace) and reference.id in own.elements:
        return Key(resource, reference.id)
    for each in linked.files.values():
        if each.namespace == reference.namespace and reference.id in each.elements:
            return Key(each.resource, reference.id)
    return None


# Cycles ---------------------------------------------------------------------------------------------------------------


class CycleFound(Exception):
    """An element requires itself, directly or through others."""

    def __init__(self, key: Key) -> None:
        super().__init__(key)
        self.key = key


def _has_cycles(linked: Linked, reports: Mapping[str, Report]) -> bool:
    """True, after a problem for each, if decisions require each other in a cycle, or functions do."""
    keys = [Key(resource, id) for resource, file in linked.files.items() for id in file.elements]
    found = False
    for next_of, what in ((linked_decisions(linked), "decisions"), (_linked_knowledge(linked), "BKMs")):
        try:
            in_order(keys, next_of)
        except CycleFound as cycle:
            element = linked.element(cycle.key)
            text = f"Invalid DMN model: Cyclic dependencies between {what} detected."
            reports[cycle.key.resource].add_problem_at(element.id, element.line, text)
            found = True
    return found


def linked_decisions(linked: Linked) -> Callable[[Key], list[Key]]:
    """A function that gives the decisions which a decision requires, in document order."""

    def required(key: Key) -> list[Key]:
        element = linked.element(key)
        return linked.keys(key.resource, element.decisions) if isinstance(element, Decision) else []

    return required


def _linked_knowledge(linked: Linked) -> Callable[[Key], list[Key]]:
    """The business knowledge models that one requires. One of DMN mode may call itself; the depth is limited."""

    def required(key: Key) -> list[Key]:
        element = linked.element(key)
        if not isinstance(element, Knowledge):
            return []
        may_call_itself = linked.files[key.resource].mode == DMN
        found = linked.keys(key.resource, element.knowledge)
        return [each for each in found if each != key or not may_call_itself]

    return required


def in_order(
    starts: Sequence[Key], next_of: Callable[[Key], list[Key]], given: frozenset[Key] = frozenset()
) -> list[Key]:
    """The elements and all that they require, required ones first, each once, without the `given` ones.

    Raises CycleFound.
    """
    found: dict[Key, None] = {}
    for start in starts:
        path: dict[Key, Iterator[Key]] = {} if start in found else {start: iter(next_of(start))}
        while path:
            current = next(reversed(path))
            following = next(path[current], None)
            if following is None:
                found[current] = None
                del path[current]
            elif following in path:
                raise CycleFound(following)
            elif following not in found and following not in given:
                path[following] = iter(next_of(following))
    return list(found)
