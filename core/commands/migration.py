"""Migrate a process instance to another definition, and instances that it calls: all in one command, or nothing.

Keys, variables, leases, due dates and counters stay. Nothing is evaluated for what stays; the expressions of events
that are opened are evaluated now, and a failure refuses the command.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import msgspec

from vivero.core.bpmn.model import Process
from vivero.core.commands.migration_hold import is_stuck
from vivero.core.migration import catching, checks, pages
from vivero.core.migration.plan import Plan, plan_of
from vivero.core.needs import Need, NeedKind, Needs, NotLoaded
from vivero.core.records.effects import Effects, Reject, RejectionCode, ReplyLater, Send, Violation
from vivero.core.records.migrations import (
    CalledMigration,
    ChannelSubscriptionMoved,
    InstanceMigrated,
    MigrateInstance,
    MoveSubscription,
    Renaming,
)
from vivero.core.records.timers import TimerScheduled
from vivero.core.rules import SEND_CHANGES, STAGE_CHANGES
from vivero.core.shared.deferred_work import MAX_ATTEMPTS, put_off
from vivero.core.shared.whole_trees import require_whole
from vivero.core.state import batches
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import TERMINATING, Instance, InstanceTree
from vivero.core.state.subtrees import descendants, of_instance
from vivero.core.view import View


def needs(command: MigrateInstance, tenant: str) -> Needs:
    yield Need(NeedKind.INSTANCE, command.key)
    yield Need(NeedKind.DEFINITION, command.definition_key)
    for one in command.called:
        yield Need(NeedKind.DEFINITION, one.definition_key)


def migrate(command: MigrateInstance, view: View) -> Effects:
    instance = view.instance(command.key)
    if instance is None or not view.enter(instance.tenant):
        raise Reject(
            RejectionCode.NOT_FOUND,
            f"Expected to migrate process instance but no process instance found with key '{command.key}'",
        )
    if is_stuck(instance.tree):  # an incident keeps the command that would go on with it
        _refuse(RejectionCode.INVALID_STATE, [Violation(checks.begin(instance) + checks.CONCURRENT)])
    moves = _moves(command, instance, view)
    returning = view.holds.is_returning(instance.tree.key)  # another hold would change the order of their commands
    if command.attempt < MAX_ATTEMPTS and (returning or any(_has_deferred_work(move) for move in moves)):
        yield from put_off(command)
        return
    _refuse(RejectionCode.INVALID_ARGUMENT, [one for move in moves for one in _wrong_mappings(move, view)])
    ending = [move.instance for move in moves if move.instance.state is TERMINATING]
    _refuse(RejectionCode.INVALID_STATE, [Violation(checks.begin(one) + checks.CONCURRENT) for one in ending])
    require_whole(instance, f"Expected to migrate process instance '{instance.key}'", view)
    plans = [move.plan(view) for move in moves]
    wrong = [one for plan in plans for one in _in(plan, (*checks.violations(plan), *_violations_inside(plan, view)))]
    _refuse(RejectionCode.INVALID_STATE, wrong)
    first_key = view.state.next_key
    found = [catching.changes(plan, view) for plan in plans]
    wrong = [one for plan, changes in zip(plans, found, strict=True) for one in _in(plan, changes.violations)]
    _refuse(RejectionCode.INVALID_STATE, wrong)
    _check_changes(found, instance)
    large = [_is_paged(plan, changes, view) for plan, changes in zip(plans, found, strict=True)]
    if any(large) and _is_changed(instance.tree, view):  # the elements of a page must be in the database
        if command.attempt < MAX_ATTEMPTS:
            yield from put_off(command)
            return
        large = [False for _ in large]
    for plan, changes, paged in zip(plans, found, large, strict=True):
        migrated = _migrated(plan, changes.interrupting, paged)
        yield migrated
        if paged:
            yield pages.begin(plan.instance, _rest(migrated, plan, first_key, view))
        yield from changes.effects
    if any(large):
        yield ReplyLater()


def _is_paged(plan: Plan, changes: catching.Changes, view: View) -> bool:
    """Whether the elements follow in pages. No timer of theirs may have the former id of one that is opened now."""
    if len(plan.elements) <= view.tree_rules.migration_page:
        return False
    opened = (effect.target for effect in changes.effects if isinstance(effect, TimerScheduled))
    return all(plan.ids.get(target, target) == target for target in opened)


def _is_changed(tree: InstanceTree, view: View) -> bool:
    """Whether a command before this one has changed the tree in the same batch."""
    return tree in batches.changed_trees(view.state)


def _rest(event: InstanceMigrated, plan: Plan, first_key: int, view: View) -> Renaming:
    """The facts that the pages need. The waits that the migration opens have keys from `first_key` on."""
    ids = {before: after for before, after in event.ids.items() if before != after}
    named = ids, event.labels, event.interrupting
    return Renaming(plan.instance.definition_key, *named, first_key, view.request)


# ---- the instances


class _Move(NamedTuple):
    """A process instance, its target, and the given mappings."""

    instance: Instance
    definition: Definition
    mappings: tuple[tuple[str, str], ...]

    def plan(self, view: View) -> Plan:
        return plan_of(self.instance, *_models(self, view), self.definition, self.mappings)


def _moves(command: MigrateInstance, instance: Instance, view: View) -> list[_Move]:
    """The instances that the command migrates, callers first.

    Raises:
        NotLoaded: called instances are not in memory.
        Reject: a target does not exist, or the tree is too large.
    """
    definition = _target(command, command.definition_key, view)
    there = command.unless_there and definition.key == instance.definition_key
    moves = [] if there else [_Move(instance, definition, command.mappings)]
    if not command.called:
        return moves
    require_whole(instance, f"Expected to migrate process instance '{instance.key}'", view)
    targets = {key: place for one in command.called for key, place in _called_targets(command, one, view)}
    for called in descendants(instance):
        if isinstance(called, Instance) and called is not instance:
            place = targets.get(called.key) or targets.get(called.definition_key)
            moves += [] if place is None else [_Move(called, *place)]
    return moves


def _called_targets(
    command: MigrateInstance, one: CalledMigration, view: View
) -> Iterator[tuple[int, tuple[Definition, tuple[tuple[str, str], ...]]]]:
    """The target and the mappings by the keys of the instances that move, or by the key of their definition."""
    place = _target(command, one.definition_key, view), one.mappings
    return ((key, place) for key in one.only or (one.source,))


def _target(command: MigrateInstance, key: int, view: View) -> Definition:
    definition = view.definition(key)
    if definition is None or definition.tenant != view.tenant or definition.state != "ACTIVE":
        # the item of a batch fails: its instance is not gone
        gone = RejectionCode.INVALID_STATE if command.unless_there else RejectionCode.NOT_FOUND
        raise Reject(
            gone,
            "Expected to migrate process instance to process definition but no process definition found with key "
            f"'{key}'",
        )
    return definition


def _models(move: _Move, view: View) -> tuple[Process, Process]:
    """The source and the target."""
    return view.model(move.instance.definition_key), view.model(move.definition.key)


def _has_deferred_work(move: _Move) -> bool:
    return bool(move.instance.tree.work) and checks.has_deferred_work(move.instance, of_instance(move.instance))


def _wrong_mappings(move: _Move, view: View) -> list[Violation]:
    return checks.wrong_mappings(move.mappings, *_models(move, view), move.instance)


# ---- refusals


def _in(plan: Plan, violations: Iterable[Violation]) -> Iterator[Violation]:
    """The problems with the key of their instance: the tree may have several."""
    return (msgspec.structs.replace(one, instance=plan.instance.key) for one in violations)


def _refuse(code: RejectionCode, found: Sequence[Violation]) -> None:
    if found:
        raise Reject(code, found[0].message, tuple(found))


def _too_large(instance: Instance, text: str) -> Reject:
    return Reject(RejectionCode.INVALID_STATE, checks.begin(instance) + text)


def _too_many(plan: Plan, most: int) -> Reject:
    return _too_large(plan.instance, f"it has more than {most} completed elements that can be compensated")


def _check_changes(found: Sequence[catching.Changes], instance: Instance) -> None:
    """One transaction saves all changes."""
    changes = sum(SEND_CHANGES if isinstance(effect, Send) else 1 for one in found for effect in one.effects)
    if changes >= STAGE_CHANGES:
        raise _too_large(instance, f"it would open and close {changes} waits at once, and {STAGE_CHANGES} is the limit")


def _migrated(plan: Plan, interrupting: dict[str, bool], paged: bool) -> InstanceMigrated:
    definition, nodes = plan.definition, plan.target.nodes
    live = dict.fromkeys(plan.ids[same[0].element] for same in plan.kinds)
    labels = {id: nodes[id].name for id in live if nodes[id].name is not None}
    return InstanceMigrated(
        plan.instance.key,
        definition.key,
        definition.process_id,
        definition.version,
        definition.version_tag,
        definition.name,
        plan.ids,
        labels,
        interrupting,
        (plan.instance.definition_key, plan.source.id),
        paged,
    )


# ---- completed activities


def _violations_inside(plan: Plan, view: View) -> Iterator[Violation]:
    """Problems of what is registered inside of completed scopes, all of which must be in memory to be renamed.

    Raises:
        Reject: there are too many.
        NotLoaded: some of them are in the database only.
    """
    pending = [(element.key, element.registered) for element in plan.registering()]
    most, known = view.tree_rules.max_whole_rows, 0
    while pending:
        scope, registered = pending.pop()
        known += sum(registered.values())
        if known > most:
            raise _too_many(plan, most)
        for name, number in registered.items():
            rows = view.state.registrations.group(scope, name).values()
            if len(rows) < number:
                _require_registrations(plan, view)
            for row in rows:
                if row.registered:
                    yield from checks.of_registered_inside(name, list(row.registered), plan)
                    pending.append((row.activity, row.registered))


def _require_registrations(plan: Plan, view: View) -> None:
    """Have all completed activities of the instance loaded, unless there are more than an operation may load."""
    most = view.tree_rules.max_whole_rows
    if sum(row.instance is plan.instance for row in view.state.registrations.by_key.values()) > most:
        raise _too_many(plan, most)
    raise NotLoaded(Need(NeedKind.ALL_REGISTRATIONS, (plan.instance.key, most + 1)))


# ---- message channels


def needs_channel(command: MoveSubscription, tenant: str) -> Needs:
    yield Need(NeedKind.CHANNEL, (command.tenant, command.correlation_key))


def move_subscription(command: MoveSubscription, view: View) -> Effects:
    """The subscription stays where it is in the queue. One that is not there any more has got its message."""
    channel = view.channel(command.tenant, command.correlation_key)
    subscription = channel.subscriptions.get(command.key)
    if subscription is not None:
        if command.process_id != subscription.process_id:  # the new one gets nothing that the former one has had
            channel.require_all(subscription.name, command.process_id)
        place = command.key, command.tenant, command.correlation_key
        yield ChannelSubscriptionMoved(*place, command.process_id, command.interrupting)
