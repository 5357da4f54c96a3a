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

    unresolved: list[ElementReference]
    """References that mean nothing, or the wrong kind of element. Nothing can be compiled with them."""

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

    def name_of_import(self, resource: str, other: str) -> str:
        """The name under which a file sees another one; empty for itself."""
        if resource == other:
            return ""
        return next((each.name for each, file in self.imported(resource) if file.resource == other), "")

    def path(self, root: str, resource: str) -> tuple[str, ...]:
        """The names of imports that lead from one file to another; empty from a file to itself."""
        paths: dict[str, tuple[str, ...]] = {root: ()}
        todo = [root]
        for each in todo:
            for imported, file in self.imported(each):
                if file.resource not in paths:
                    paths[file.resource] = (*paths[each], imported.name)
                    todo.append(file.resource)
        return paths.get(resource, ())


_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "inputs": ((InputData,), "an input"),
    "decisions": ((Decision,), "a decision"),
    "knowledge": ((Knowledge, Service), "a business knowledge model or a decision service"),
    "outputs": ((Decision,), "a decision"),
    "encapsulated": ((Decision,), "a decision"),
}
"""Field of an element → the kinds of elements that its references may mean."""


def link(files: Mapping[str, Definitions], reports: Mapping[str, Report]) -> Linked:
    """Resolve all references. Adds a problem for each that means nothing, and for cycles."""
    targets: dict[tuple[str, ElementReference], Key] = {}
    linked = Linked(files, targets, [])
    for resource, definitions in files.items():
        for each in definitions.imports:
            if not any(other.namespace == each.namespace for other in files.values()):
                text = f"no file of the deployment has the namespace {quote(each.namespace)}, which is imported"
                reports[resource].add_file_problem(text, each.line)
        for element in definitions.elements.values():
            _link_element(element, linked, targets, resource, reports[resource])
    if not linked.unresolved:
        _check_cycles(linked, reports)
    return linked


def _link_element(
    element: Element, linked: Linked, targets: dict[tuple[str, ElementReference], Key], resource: str, report: Report
) -> None:
    for field, (kinds, expected) in _KINDS.items():
        for reference in getattr(element, field, ()):
            key = _find(linked, resource, reference)
            if key is None:
                text = f"there is no element {quote(reference.id)}, which {quote(element.name or element.id)} requires"
                report.add_problem_at(element.id, reference.line, text)
                linked.unresolved.append(reference)
                continue
            if not isinstance(linked.element(key), kinds):
                text = f"{quote(reference.id)} is not {expected}, as {quote(element.name or element.id)} requires"
                report.add_problem_at(element.id, reference.line, text)
                linked.unresolved.append(reference)
            targets[resource, reference] = key


def _find(linked: Linked, resource: str, reference: ElementReference) -> Key | None:
    own = linked.files[resource]
    if reference.namespace in ("", own.namespace) and reference.id in own.elements:
        return Key(resource, reference.id)
    for each in linked.files.values():
        if each.namespace == reference.namespace and reference.id in each.elements:
            return Key(each.resource, reference.id)
    return None


# Cycles ---------------------------------------------------------------------------------------------------------------


def _check_cycles(linked: Linked, reports: Mapping[str, Report]) -> None:
    keys = [Key(resource, id) for resource, file in linked.files.items() for id in file.elements]
    for next_of, what in ((linked_decisions(linked), "decisions"), (_linked_knowledge(linked), "BKMs")):
        cyclic = find_cycle(keys, next_of)
        if cyclic is not None:
            element = linked.element(cyclic)
            text = f"Invalid DMN model: Cyclic dependencies between {what} detected."
            reports[cyclic.resource].add_problem_at(element.id, element.line, text)
            linked.unresolved.append(ElementReference("", cyclic.id))


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


def find_cycle(keys: Sequence[Key], next_of: Callable[[Key], list[Key]]) -> Key | None:
    """An element that requires itself, directly or through others; None if there is none."""
    done: set[Key] = set()
    for start in keys:
        path: dict[Key, Iterator[Key]] = {} if start in done else {start: iter(next_of(start))}
        while path:
            current = next(reversed(path))
            following = next(path[current], None)
            if following is None:
                done.add(current)
                del path[current]
            elif following in path:
                return following
            elif following not in done:
                path[following] = iter(next_of(following))
    return None


def in_order(starts: Sequence[Key], next_of: Callable[[Key], list[Key]], given: frozenset[Key]) -> list[Key]:
    """The elements and all that they require, required ones first, each once, without the `given` ones."""
    found: dict[Key, None] = {}
    for start in starts:
        path: dict[Key, Iterator[Key]] = {} if start in found else {start: iter(next_of(start))}
        while path:
            current = next(reversed(path))
            following = next(path[current], None)
            if following is None:
                found[current] = None
                del path[current]
            elif following not in found and following not in given:
                path[following] = iter(next_of(following))
    return list(found)
