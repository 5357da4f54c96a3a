"""The hold of an operation in pages: commands about the instance tree wait for its last page (docs/adr/0088).

In a migration, the elements of the tree belong to two models meanwhile, so that none of them can take a step. In a
modification, elements that are to end must not take one. Each held command leaves
the log once, and returns once. Those that come while held ones return wait behind them.
"""

from __future__ import annotations

import msgspec

from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.base import Command
from vivero.core.records.effects import Effects, Reject, RejectionCode, ReplyLater, Send
from vivero.core.records.instances import COMMAND_STAGE, ContinueWork, EndHold
from vivero.core.records.timers import TriggerTimer
from vivero.core.shared.deferred_work import next_page
from vivero.core.state.instance_tree import Element, InstanceTree
from vivero.core.view import View

TOO_MANY = (
    "Expected to change the instance tree of process instance with key '{}', but it is being changed, and too many "
    "commands wait for it; try again later"
)


def pass_hold(command: Command, element: Element, view: View) -> Effects | None:
    """The effects of holding a command about an element whose tree an operation in pages holds. None: the tree is free
    for it.

    A timer is not held: it stays due, and its timer task triggers it again. Raises `Reject` for a command of a client
    if too many wait already. Those of the engine are no more than the elements that wait for them, and those of
    connectors and batches no more than their jobs and items.
    """
    if isinstance(command, ContinueWork | EndHold) or not _waits(command, element.tree, view):
        return None
    if not view.enter(element.instance.tenant):
        return None
    if isinstance(command, TriggerTimer):
        return ()
    refusable = command.answers_its_request() and not (command.held or command.by_program)
    if refusable and view.holds.is_full(element.tree.key):
        raise Reject(RejectionCode.RESOURCE_EXHAUSTED, TOO_MANY.format(element.tree.key))
    held = msgspec.structs.replace(command, held=True)
    return (Send(held, later=True, again=True, held_by=element.tree.key), ReplyLater())


def _waits(command: Command, tree: InstanceTree, view: View) -> bool:
    """Whether the command waits: for pages, or behind commands that were held before it came."""
    behind = view.holds.is_behind_others(tree.key) and not (command.held or isinstance(command, TriggerTimer))
    return behind or is_held(tree)


def is_held(tree: InstanceTree) -> bool:
    """Whether pages of an operation follow. If a bug has ended them, an incident has to be resolved first."""
    return bool(tree.work) and next_page(tree) is not None and not is_stuck(tree)


def is_stuck(tree: InstanceTree) -> bool:
    """Whether an incident keeps the command that continues the tree's work."""
    kept = (one.argument for one in tree.root.waits.incidents.values() if one.stage == COMMAND_STAGE)
    return any(argument["intent"] == ContinueWork.intent for argument in kept)


def needs_end(command: EndHold, _tenant: str) -> Needs:
    yield Need(NeedKind.INSTANCE, command.key)


def end_hold(_command: EndHold, _view: View) -> Effects:
    """Nothing happens in the tree. `Processor` releases the next held commands."""
    return ()
