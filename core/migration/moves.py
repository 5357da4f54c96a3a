"""The instances that a migration moves: the one of the command, and instances that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from vivero.core.bpmn.model import Process
from vivero.core.migration import checks
from vivero.core.migration.plan import Plan, plan_of
from vivero.core.records.effects import Reject, RejectionCode, Violation
from vivero.core.records.migrations import CalledMigration, MigrateInstance
from vivero.core.shared.whole_trees import require_whole
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import Element, Instance
from vivero.core.state.subtrees import descendants, of_instance
from vivero.core.view import View


class Move(NamedTuple):
    """A process instance, its target, and the given mappings."""

    instance: Instance
    definition: Definition
    mappings: tuple[tuple[str, str], ...]

    def plan(self, view: View, elements: list[Element] | None = None) -> Plan:
        """The plan for all live elements, or for those of a page."""
        return plan_of(self.instance, *self.models(view), self.definition, self.mappings, elements)

    def models(self, view: View) -> tuple[Process, Process]:
        """The source and the target."""
        return view.model(self.instance.definition_key), view.model(self.definition.key)

    def has_deferred_work(self) -> bool:
        return bool(self.instance.tree.work) and checks.has_deferred_work(self.instance, of_instance(self.instance))


def moves_of(command: MigrateInstance, instance: Instance, view: View, *, is_decided: bool = False) -> list[Move]:
    """The instances that the command migrates, by key: callers come first.

    `is_decided`: a target may have been deleted since. Its instances go on with it.

    Raises:
        NotLoaded: called instances are not in memory.
        Reject: a target does not exist, or the tree is too large.
    """
    definition = _target(command, command.definition_key, view, is_decided)
    there = command.unless_there and definition.key == instance.definition_key
    moves = [] if there else [Move(instance, definition, command.mappings)]
    if not command.called:
        return moves
    require_whole(instance, f"Expected to migrate process instance '{instance.key}'", view)
    targets = {key: place for one in command.called for key, place in _called_targets(command, one, view, is_decided)}
    for called in descendants(instance):
        if isinstance(called, Instance) and called is not instance:
            place = targets.get(called.key) or targets.get(called.definition_key)
            moves += [] if place is None else [Move(called, *place)]
    return sorted(moves, key=lambda move: move.instance.key)


def _called_targets(
    command: MigrateInstance, one: CalledMigration, view: View, is_decided: bool
) -> Iterator[tuple[int, tuple[Definition, tuple[tuple[str, str], ...]]]]:
    """The target and the mappings by the keys of the instances that move, or by the key of their definition."""
    place = _target(command, one.definition_key, view, is_decided), one.mappings
    return ((key, place) for key in one.only or (one.source,))


def _target(command: MigrateInstance, key: int, view: View, is_decided: bool) -> Definition:
    definition = view.definition(key)
    if is_decided and definition is not None:
        return definition
    if definition is None or definition.tenant != view.tenant or definition.state != "ACTIVE":
        # the item of a batch fails: its instance is not gone
        gone = RejectionCode.INVALID_STATE if command.unless_there else RejectionCode.NOT_FOUND
        raise Reject(
            gone,
            "Expected to migrate process instance to process definition but no process definition found with key "
            f"'{key}'",
        )
    return definition


def wrong_mappings(moves: list[Move], view: View) -> Iterator[Violation]:
    """Mappings that fit no instance. Instances of one definition have the same ones, so that the first is named."""
    seen = set[tuple[int, int, int]]()
    for move in moves:
        same = move.instance.definition_key, move.definition.key, id(move.mappings)
        if same not in seen:
            seen.add(same)
            yield from checks.wrong_mappings(move.mappings, *move.models(view), move.instance)
