"""The plan of a modification: all its checks, and then its effects: what begins, in order, and then what ends.

Scopes that are left empty end, too, unless something begins in them. The last element ends the process instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, repeat
from typing import NamedTuple

from vivero.core.bpmn.model import Node, NodeId
from vivero.core.modifications import pages, restoring
from vivero.core.modifications import problems as texts
from vivero.core.modifications.former import Lost, former_of
from vivero.core.modifications.problems import SUPPORTED, Impossible, Problems
from vivero.core.modifications.scopes import Level, Scopes, levels_around
from vivero.core.modifications.sources import Sources, ends_with, find_sources
from vivero.core.records.effects import Effect, Effects, Fail, IncidentType
from vivero.core.records.instances import ElementTerminating
from vivero.core.records.modifications import (
    INFERRED,
    SOURCE_PARENT,
    InstanceModified,
    ModifyInstance,
    MoveInstruction,
    Restoring,
    VariableInstruction,
)
from vivero.core.shared import row_limits
from vivero.core.shared.ending import Ending
from vivero.core.state.instance_tree import ACTIVATED, TERMINATING, Element, Instance
from vivero.core.view import View

MAX_CHANGES = 10_000
"""Element instances that one modification activates, and those that it terminates. All is checked in one step, and
nobody else is served meanwhile."""
MAX_PLANNED = 2_500
"""Those of the activations that make new scopes or set variables, which takes several times as long."""


class Activation(NamedTuple):
    """An element to activate below `ancestor`; None: in the live scopes. `times`: how often, one after the other."""

    element_id: str
    ancestor: int | None
    variables: tuple[VariableInstruction, ...]
    times: int = 1


def effects_of(command: ModifyInstance, instance: Instance, view: View) -> Effects:
    """The effects of a modification of an instance whose live elements are in memory.

    Raises:
        Reject: it cannot be done, with all problems.
    """
    nodes = view.model(instance.definition_key).nodes
    found = Problems(instance.process_id)
    sources = find_sources(command, instance, nodes, found, view)
    if command.skip_absent and not sources.terminated:
        _reject_absent(command, found)
    activations = list(_activations(command, sources, nodes, view))
    _check_size(activations, sources, instance, found, view)
    targets = _checked(activations, instance, nodes, found, view)
    found.check()
    scopes = Scopes(instance, nodes, view)
    for target, ancestor, variables, times in targets:
        while times > 0 and scopes.planned <= MAX_PLANNED:
            try:
                times -= scopes.activate(target, ancestor, variables, times)
            except Impossible as reason:
                found.add_to("activate", str(reason), target.id)
                break
            except Fail as failure:
                found.add(failure.message, target.id)
                break
            _check_scope_stays(target, scopes, sources.terminated, found)
    if scopes.planned > MAX_PLANNED:
        found.add(texts.TOO_MANY_NEW.format(MAX_PLANNED))
    ending = dict(sources.terminated)
    if command.is_undo:
        restoring.check_scopes(command.restore, instance, view)
        restoring.check_listeners(ending.values(), instance, view)
    else:
        ending = ends_with(ending, scopes.used.keys(), instance)
    _check_ending(ending, sources, instance, found, view)
    found.check()
    begin = (
        *(id for one in activations for id in repeat(one.element_id, one.times)),
        *(one.element for one in restoring.outermost(command.restore)),
    )
    yield InstanceModified(instance.key, begin, tuple(sources.terminated), *_former(ending))
    yield from scopes.effects
    yield from restoring.effects_of(command.restore, instance, view)
    yield from scopes.later()
    yield from _terminations(ending, instance, view)


def _reject_absent(command: ModifyInstance, found: Problems) -> None:
    """Raises Reject: no source of a move is active."""
    found.check()
    ids = "', '".join(move.source_id or "" for move in command.move)
    found.add_to("move", f"with source elements that have no active instance: '{ids}'")
    found.check(moot=True)


def _activations(
    command: ModifyInstance, sources: Sources, nodes: Mapping[NodeId, Node], view: View
) -> Iterator[Activation]:
    """Those of the instructions, and of the sources of each move, in their order. Equal ones behind each other are one:
    there may be thousands."""
    for one, equal in groupby(command.activate):
        yield Activation(one.element_id, one.ancestor, one.variables, _length(equal))
    for move, elements in sources.moved:
        levels = levels_around(nodes[move.target], nodes) if move.target in nodes else []
        for ancestor, same in groupby(_ancestor(move, element, levels) for element in elements):
            yield Activation(move.target, ancestor, move.variables, _length(same))


def _length(equal: Iterator[object]) -> int:
    return sum(1 for _ in equal)


def _ancestor(move: MoveInstruction, source: Element, levels: Sequence[Level]) -> int | None:
    """The key of the scope below which the target begins. `levels`: those around the target."""
    if move.scope_type not in (INFERRED, SOURCE_PARENT):
        return move.ancestor
    scope = source.scope
    assert scope is not None, "the process instance is not moved"
    if move.scope_type == SOURCE_PARENT:
        return scope.key
    while scope is not source.instance and scope is not None:
        if any(level.matches(scope) for level in levels):
            return scope.key
        scope = scope.scope
    return None


# ---- checks


def _check_size(
    activations: Sequence[Activation], sources: Sources, instance: Instance, found: Problems, view: View
) -> None:
    begins = sum(one.times for one in activations)
    for what, count in (("activates", begins), ("terminates", len(sources.terminated))):
        if count > MAX_CHANGES:
            found.add(texts.TOO_MANY.format(what, count, MAX_CHANGES))
            found.check()  # all checks of more would take too long
    try:
        row_limits.check(instance, view, IncidentType.UNKNOWN, begins, begins, row_limits.ORDINARY_FACTOR)
    except Fail as failure:
        found.add(failure.message)


Target = tuple[Node, Element | None, tuple[VariableInstruction, ...], int]
"""An `Activation` with its element, its ancestor, the variables, and how often the element begins."""


def _checked(
    activations: list[Activation], instance: Instance, nodes: Mapping[NodeId, Node], found: Problems, view: View
) -> list[Target]:
    """The activations whose element can be activated, whose variables have a scope, and whose ancestor is active."""
    flows = view.model(instance.definition_key).flows
    for one in dict.fromkeys(each.element_id for each in activations):
        if one in flows:
            found.add_to("activate", _not_supported(one, texts.unsupported_type("SEQUENCE_FLOW")), one)
        elif one not in nodes:
            found.add_to("activate", f"with an element that could not be found: '{one}'", one)
    known = [each for each in activations if each.element_id in nodes]
    for one in dict.fromkeys(each.element_id for each in known):
        why = _unsupported(nodes[one], instance, view)
        if why is not None:
            found.add_to("activate", _not_supported(one, why), one)
    for each in known:
        if each.variables:
            _check_variables(each, nodes, found)
    return [
        (nodes[each.element_id], ancestor, each.variables, each.times)
        for each in known
        if _has_ancestor(each, ancestor := _found(each.ancestor, view), instance, found)
    ]


def _not_supported(id: str, why: str) -> str:
    return f"for elements that are unsupported: '{id}'. {why}."


def _unsupported(node: Node, instance: Instance, view: View) -> str | None:
    model = view.model(instance.definition_key)
    if node.type not in SUPPORTED:
        return texts.unsupported_type(node.type)
    if any(model.nodes[model.flows[flow].source].type == "EVENT_BASED_GATEWAY" for flow in node.incoming):
        return texts.BEHIND_GATEWAY
    return texts.STARTS_PROCESS if node.starts_process else None


def _check_variables(activation: Activation, nodes: Mapping[NodeId, Node], found: Problems) -> None:
    around = _ids_around(nodes[activation.element_id], nodes)
    for instruction in activation.variables:
        if instruction.scope and instruction.scope not in nodes:
            text = f"with a scope element id that could not be found: '{instruction.scope}'"
            found.add_to("variable", text, instruction.scope)
        elif instruction.scope and instruction.scope not in around:
            text = (
                "with a scope element that doesn't belong to the activating element's flow scope: "
                f"'{instruction.scope}'. These variables should be set before or after the modification."
            )
            found.add_to("variable", text, instruction.scope)


def _ids_around(node: Node, nodes: Mapping[NodeId, Node]) -> set[str]:
    ids = {node.id}
    while node.scope is not None:
        node = nodes[node.scope]
        ids.add(node.id)
    return ids


def _found(key: int | None, view: View) -> Element | None:
    return None if key is None else view.element(key)


def _has_ancestor(activation: Activation, ancestor: Element | None, instance: Instance, found: Problems) -> bool:
    """Whether the ancestor that an activation names is an active scope of the instance."""
    if activation.ancestor is None:
        return True
    if ancestor is None or ancestor.state is not ACTIVATED or Ending().covers(ancestor):
        what = texts.ANCESTOR_UNKNOWN
    elif ancestor.instance is not instance:
        what = texts.ANCESTOR_ELSEWHERE
    else:
        return True
    found.add_to("activate", what.format(activation.ancestor), activation.element_id)
    return False


def _check_scope_stays(target: Node, scopes: Scopes, terminated: Mapping[int, Element], found: Problems) -> None:
    scope = scopes.latest
    ends = None if scope is None else next((key for key in scope.path if key in terminated), None)
    if ends is not None:
        found.add_to("activate", texts.SCOPE_ENDS.format(target.id, ends), target.id)


def _check_ending(
    ending: Mapping[int, Element], sources: Sources, instance: Instance, found: Problems, view: View
) -> None:
    if instance.key in ending and instance.parent_instance is not None:
        found.add(texts.CHILD_ENDS)
    for element in sources.terminated.values():
        compensation = element.compensation
        thrower = None if compensation is None or compensation.thrower is None else view.element(compensation.thrower)
        if thrower is not None and not any(key in ending for key in (*thrower.path, *element.path[1:])):
            text = texts.HANDLER_ENDS.format(thrower.element, element.key)
            found.add_to("terminate", text, element.element)


# ---- elements that end


def _former(ending: Mapping[int, Element]) -> tuple[tuple[Restoring, ...], str | None]:
    """The events that would restore what ends, or the reason why none can."""
    try:
        return former_of(ending), None
    except Lost as reason:
        return (), str(reason)


def _terminations(ending: Mapping[int, Element], instance: Instance, view: View) -> Iterator[Effect]:
    """The outermost elements end, in pages if they are many. Those inside follow when they settle."""
    keys = [
        element.key
        for element in ending.values()
        if element.state is not TERMINATING and ending.keys().isdisjoint(element.path[1:])
    ]
    size = view.tree_rules.migration_page
    if len(keys) > size:
        yield pages.begin(instance, keys, size)
    else:
        yield from map(ElementTerminating, keys)
