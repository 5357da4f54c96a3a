"""Migrate a process instance to another definition: all of it in one command, or nothing.

Keys, variables, leases, due dates and counters stay. Nothing is evaluated for what stays; the expressions of events
that are opened are evaluated now, and a failure refuses the command.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vivero.core.migration import catching, checks
from vivero.core.migration.plan import Plan, plan_of
from vivero.core.needs import Need, NeedKind, Needs, NotLoaded
from vivero.core.records.effects import Effects, Reject, RejectionCode, Send, Violation
from vivero.core.records.migrations import (
    ChannelSubscriptionMoved,
    InstanceMigrated,
    MigrateInstance,
    MoveSubscription,
)
from vivero.core.rules import SEND_CHANGES, STAGE_CHANGES
from vivero.core.shared.deferred_work import MAX_ATTEMPTS, put_off
from vivero.core.shared.whole_trees import require_whole
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import TERMINATING
from vivero.core.state.subtrees import of_instance
from vivero.core.view import View


def needs(command: MigrateInstance, tenant: str) -> Needs:
    yield Need(NeedKind.INSTANCE, command.key)
    yield Need(NeedKind.DEFINITION, command.definition_key)


def migrate(command: MigrateInstance, view: View) -> Effects:
    instance = view.instance(command.key)
    if instance is None or not view.enter(instance.tenant):
        raise Reject(
            RejectionCode.NOT_FOUND,
            f"Expected to migrate process instance but no process instance found with key '{command.key}'",
        )
    definition = _target(command, view)
    if definition.key == instance.definition_key and command.unless_there:
        return
    if command.attempt < MAX_ATTEMPTS and checks.has_deferred_work(instance, of_instance(instance)):
        yield from put_off(command)
        return
    source, target = view.model(instance.definition_key), view.model(definition.key)
    _refuse(RejectionCode.INVALID_ARGUMENT, checks.wrong_mappings(command.mappings, source, target, instance))
    if instance.state is TERMINATING:
        _refuse(RejectionCode.INVALID_STATE, [Violation(checks.begin(instance) + checks.CONCURRENT)])
    require_whole(instance, f"Expected to migrate process instance '{instance.key}'", view)
    plan = plan_of(instance, source, target, definition, command.mappings)
    wrong = [*checks.violations(plan), *_violations_inside(plan, view)]
    _refuse(RejectionCode.INVALID_STATE, wrong)
    found = catching.changes(plan, view)
    _refuse(RejectionCode.INVALID_STATE, found.violations)
    _check_changes(found, plan)
    yield _migrated(plan, found.interrupting)
    yield from found.effects


def _target(command: MigrateInstance, view: View) -> Definition:
    definition = view.definition(command.definition_key)
    if definition is None or definition.tenant != view.tenant or definition.state != "ACTIVE":
        # the item of a batch fails: its instance is not gone
        gone = RejectionCode.INVALID_STATE if command.unless_there else RejectionCode.NOT_FOUND
        raise Reject(
            gone,
            "Expected to migrate process instance to process definition but no process definition found with key "
            f"'{command.definition_key}'",
        )
    return definition


def _refuse(code: RejectionCode, found: Sequence[Violation]) -> None:
    if found:
        raise Reject(code, found[0].message, tuple(found))


def _too_large(plan: Plan, text: str) -> Reject:
    return Reject(RejectionCode.INVALID_STATE, checks.begin(plan.instance) + text)


def _too_many(plan: Plan, most: int) -> Reject:
    return _too_large(plan, f"it has more than {most} completed elements that can be compensated")


def _check_changes(found: catching.Changes, plan: Plan) -> None:
    """One transaction saves all changes."""
    changes = sum(SEND_CHANGES if isinstance(effect, Send) else 1 for effect in found.effects)
    if changes >= STAGE_CHANGES:
        raise _too_large(plan, f"it would open and close {changes} waits at once, and {STAGE_CHANGES} is the limit")


def _migrated(plan: Plan, interrupting: dict[str, bool]) -> InstanceMigrated:
    definition, nodes = plan.definition, plan.target.nodes
    live = dict.fromkeys(plan.ids[element.element] for element in plan.elements)
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
    )


# ---- completed activities


def _violations_inside(plan: Plan, view: View) -> Iterator[Violation]:
    """Problems of what is registered inside of completed scopes, all of which must be in memory to be renamed.

    Raises:
        Reject: there are too many.
        NotLoaded: some of them are in the database only.
    """
    pending = [(element.key, element.registered) for element in plan.elements if element.registered]
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
    if command.key in channel.subscriptions:
        place = command.key, command.tenant, command.correlation_key
        yield ChannelSubscriptionMoved(*place, command.process_id, command.interrupting)
