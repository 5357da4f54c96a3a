"""The element instances that instructions name: by key, or by id all active ones in the live tree."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field
from heapq import heappop, heappush

from vivero.core.bpmn.model import Node
from vivero.core.modifications.problems import Problems
from vivero.core.records.modifications import ModifyInstance, MoveInstruction
from vivero.core.shared.ending import Ending
from vivero.core.state.instance_tree import TERMINATING, Element, Instance
from vivero.core.view import View


@dataclass(slots=True)
class Sources:
    """`terminated`: the elements that end, by key. `moved`: the sources of each move, in the order of the moves."""

    terminated: dict[int, Element] = field(default_factory=dict)
    moved: list[tuple[MoveInstruction, list[Element]]] = field(default_factory=list)


def find_sources(
    command: ModifyInstance, instance: Instance, nodes: Mapping[str, Node], problems: Problems, view: View
) -> Sources:
    """Find what the instructions terminate and move. Their faults are added to the problems."""
    _check_shapes(command, problems)
    found, by_key = Sources(), dict[int, Element]()
    for move in command.move:
        if move.source_key is not None and (one := _source(move.source_key, instance, problems, view)) is not None:
            by_key[one.key] = one
    _check_ids(command, nodes, problems)
    for key in (one.key for one in command.terminate if one.key is not None):
        element = view.element(key)
        if element is None or element.instance is not instance:
            text = f"with an element instance that could not be found: '{key}'"
            problems.add_to("terminate", text)
        else:
            found.terminated[key] = element
    ids = {one.element_id for one in command.terminate} | {move.source_id for move in command.move}
    named = _by_id(instance, {id for id in ids if id}, found.terminated.keys() | by_key.keys())
    for terminate in command.terminate:
        if terminate.element_id in nodes:
            elements = named.get(terminate.element_id or "", [])
            found.terminated.update((element.key, element) for element in elements)
            if not elements:
                text = f"with an element that has no active instance: '{terminate.element_id}'"
                problems.add_to("terminate", text, terminate.element_id)
    for move in command.move:
        if move.source_key is not None:
            sources = [by_key[move.source_key]] if move.source_key in by_key else []
        else:
            sources = [one for one in named.get(move.source_id or "", []) if one is not instance]
            is_movable = move.source_id in nodes and move.source_id != instance.element
            if not sources and is_movable and not command.skip_absent:
                text = f"with a source element that has no active instance: '{move.source_id}'"
                problems.add_to("move", text, move.source_id)
        found.moved.append((move, sources))
        found.terminated.update((element.key, element) for element in sources)
    return found


def _check_shapes(command: ModifyInstance, problems: Problems) -> None:
    if any((one.key is None) is (one.element_id is None) for one in command.terminate):
        problems.add_to("terminate", "that do not have exactly one of an element instance key and an element id")
    if any((one.source_key is None) is (one.source_id is None) for one in command.move):
        problems.add_to("move", "that do not have exactly one of a source element instance key and a source element id")
    ids = Counter(one.source_id for one in command.move if one.source_id is not None)
    keys = Counter(one.source_key for one in command.move if one.source_key is not None)
    for id in (id for id, count in ids.items() if count > 1):
        problems.add_to("move", f"with a duplicate source element id: '{id}'", id)
    for key in (key for key, count in keys.items() if count > 1):
        problems.add_to("move", f"with a duplicate source element instance key: '{key}'")


def _source(key: int, instance: Instance, problems: Problems, view: View) -> Element | None:
    element = view.element(key)
    if element is None or element.instance is not instance or element is instance or not _is_active(element):
        text = f"with a source element instance that does not exist, or is not in an active state: '{key}'"
        problems.add_to("move", text)
        return None
    return element


def _check_ids(command: ModifyInstance, nodes: Mapping[str, Node], problems: Problems) -> None:
    for one in command.terminate:
        if one.element_id is not None and one.element_id not in nodes:
            problems.add_to("terminate", f"with an element that could not be found: '{one.element_id}'", one.element_id)
    for id in (move.source_id for move in command.move if move.source_id is not None):
        if id not in nodes and command.skip_absent:
            continue
        if id not in nodes or nodes[id].scope is None:
            problems.add_to("move", f"with a source element that could not be found: '{id}'", id)


def _is_active(element: Element) -> bool:
    return element.state is not TERMINATING and not Ending().covers(element.scope)


def _by_id(instance: Instance, ids: Set[str], keys: Set[int]) -> dict[str, list[Element]]:
    """The active instances of elements, outer ones first. Nothing is looked for in those that are found, nor in `keys`.

    For a loop the body counts, and not its inner instances.
    """
    found: dict[str, list[Element]] = {}
    pending: deque[Element] = deque([instance] if ids else ())
    while pending:
        element = pending.popleft()
        if element.state is TERMINATING or element.key in keys:
            continue
        if element.element in ids and not element.is_inner:
            found.setdefault(element.element, []).append(element)
        elif element.then is None:
            pending.extend(child for child in _in_order(element) if not isinstance(child, Instance))
    return found


def _in_order(scope: Element) -> Iterable[Element]:
    """The children by age. Those of a paged loop are in memory in the order in which they were loaded."""
    children = scope.children.values()
    return children if scope.pages is None else sorted(children, key=lambda child: child.key)


def ends_with(terminated: Mapping[int, Element], kept: Set[int], instance: Instance) -> dict[int, Element]:
    """All that ends with these elements: a scope that is left empty ends, too. `kept`: scopes in which others begin."""
    ending, queue = dict(terminated), list[tuple[int, int]]()
    scopes: dict[int, Element] = {}

    def note(element: Element) -> None:
        scope = element.scope
        if scope is not None and element is not instance and scope.key not in scopes:
            scopes[scope.key] = scope
            heappush(queue, (-len(scope.path), scope.key))

    for element in terminated.values():
        note(element)
    while queue:  # the innermost first: then all is known that ends in it
        scope = scopes[heappop(queue)[1]]
        if scope.key in ending or scope.key in kept or _goes_on(scope):
            continue
        if sum(_is_ending(child, ending) for child in scope.children.values()) == scope.live:
            ending[scope.key] = scope
            note(scope)
    return ending


def _is_ending(child: Element, ending: Mapping[int, Element]) -> bool:
    return child.key in ending or (child.state is TERMINATING and child.then is None)


def _goes_on(scope: Element) -> bool:
    """Whether an empty scope begins something by itself, or waits for the worker of its job."""
    if scope.loop is not None:
        return scope.loop.next < scope.loop.size
    return bool(scope.waits.jobs) or (scope.ad_hoc is not None and bool(scope.ad_hoc.pending))
