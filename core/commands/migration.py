"""Migrate a process instance to another definition, and instances that it calls: all in one command, or nothing.

Keys, variables, leases, due dates and counters stay. Nothing is evaluated for what stays; the expressions of events
that are opened are evaluated now, and a failure refuses the command.
"""

from __future__ import annotations

from vivero.core.commands.migration_hold import is_stuck
from vivero.core.migration import checks
from vivero.core.migration.decision import check, is_full, problems_of, refuse
from vivero.core.migration.moves import Move, moves_of, wrong_mappings
from vivero.core.migration.pages import MOST_OF_PAGE, follows, migrated_by, move
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects, Reject, RejectionCode, ReplyLater, Violation
from vivero.core.records.migrations import (
    CHECK_PAGE,
    ChannelSubscriptionMoved,
    Deciding,
    MigrateInstance,
    MoveSubscription,
)
from vivero.core.shared.deferred_work import MAX_ATTEMPTS, put_off
from vivero.core.shared.whole_trees import require_whole
from vivero.core.state import batches
from vivero.core.state.instance_tree import TERMINATING, Instance
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
        refuse(RejectionCode.INVALID_STATE, [Violation(checks.begin(instance) + checks.CONCURRENT)])
    moves = moves_of(command, instance, view)
    returning = view.holds.is_returning(instance.tree.key)  # another hold would change the order of their commands
    if command.attempt < MAX_ATTEMPTS and (returning or any(move.has_deferred_work() for move in moves)):
        yield from put_off(command)
        return
    refuse(RejectionCode.INVALID_ARGUMENT, [*wrong_mappings(moves, view)])
    ending = [move.instance for move in moves if move.instance.state is TERMINATING]
    refuse(RejectionCode.INVALID_STATE, [Violation(checks.begin(one) + checks.CONCURRENT) for one in ending])
    require_whole(instance, f"Expected to migrate process instance '{instance.key}'", view)
    yield from _decide(command, instance, moves, view)


def _decide(command: MigrateInstance, instance: Instance, moves: list[Move], view: View) -> Effects:
    """Check as much as a page may. All of a small instance happens at once."""
    page, first_key = view.tree_rules.migration_page, view.state.next_key
    begun = Deciding(command, view.request)
    deciding, decided, is_done = check(begun, moves, view, MOST_OF_PAGE * page)
    if is_done or is_full(deciding):
        refuse(RejectionCode.INVALID_STATE, problems_of(deciding))
    is_small = is_done and sum(len(one.plan.elements) for one in decided) <= page
    if not is_small and batches.is_changed(view.state, instance.tree):  # elements of pages must be in the database
        if command.attempt < MAX_ATTEMPTS:
            yield from put_off(command)
            return
        deciding, decided, is_small = check(begun, moves, view, None)
        refuse(RejectionCode.INVALID_STATE, problems_of(deciding))
    if is_small:
        for one in decided:
            yield migrated_by(*one, in_pages=False, is_held=False)
            yield from one.changes.effects
        return
    if not is_done:
        yield follows(CHECK_PAGE, instance, deciding)
        yield ReplyLater()
        return
    is_last = yield from move(begun, instance, moves, view, page, decided, first_key)
    if not is_last:
        yield ReplyLater()


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
