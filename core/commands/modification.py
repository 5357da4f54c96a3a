"""Modify a process instance: activate, move and terminate elements of it, everything or nothing."""

from __future__ import annotations

from vivero.core.modifications import plan
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.effects import Effects, Reject, RejectionCode
from vivero.core.records.modifications import ModifyInstance
from vivero.core.shared.deferred_work import MAX_ATTEMPTS, put_off
from vivero.core.shared.ending import Ending
from vivero.core.shared.whole_trees import require_whole
from vivero.core.state.instance_tree import ACTIVATED
from vivero.core.view import View


def needs(command: ModifyInstance, tenant: str) -> Needs:
    """Elements that begin read variables. Without them, all variables of a large tree stay in the database."""
    ends = not (command.move or command.activate)
    yield Need(NeedKind.INSTANCE, command.key, to_end=ends)
    keys = [one.key for one in command.terminate]
    keys += [key for move in command.move for key in (move.source_key, move.ancestor)]
    keys += [one.ancestor for one in command.activate]
    for key in dict.fromkeys(keys):
        if key is not None:
            yield Need(NeedKind.ELEMENT, key, to_end=ends)


def modify(command: ModifyInstance, view: View) -> Effects:
    """The answer follows at once. A scope with thousands of elements inside may end in later quanta."""
    instance = view.instance(command.key)
    if instance is None or not view.enter(instance.tenant):
        raise Reject(
            RejectionCode.NOT_FOUND,
            f"Expected to modify process instance but no process instance found with key '{command.key}'",
        )
    doing = f"Expected to modify process instance with key '{command.key}'"
    if instance.tree.work:
        return _wait(command, doing)
    if instance.state is not ACTIVATED or Ending().covers(instance):
        raise Reject(RejectionCode.INVALID_STATE, f"{doing}, but it is beginning or ending")
    require_whole(instance, doing, view)
    return plan.effects_of(command, instance, view)


def _wait(command: ModifyInstance, doing: str) -> Effects:
    """Wait until deferred work of the tree is done: elements that it has yet to begin could not be found."""
    if command.attempt >= MAX_ATTEMPTS:
        raise Reject(
            RejectionCode.INVALID_STATE,
            f"{doing}, but a concurrent command is being executed on it. Please retry the modification",
        )
    return put_off(command)
