"""The hold of a migration in pages: commands about the instance tree wait for its last page (docs/adr/0088).

The elements of the tree belong to two models meanwhile, so that none of them can take a step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vivero.core.commands.subjects import ROWS, element_of
from vivero.core.needs import Needs
from vivero.core.records.base import Command
from vivero.core.records.effects import Effects
from vivero.core.records.instances import COMMAND_STAGE, ContinueWork
from vivero.core.records.timers import TriggerTimer
from vivero.core.shared.deferred_work import put_off, renaming
from vivero.core.state.instance_tree import InstanceTree
from vivero.core.view import View


def pass_hold(command: Command, needs: Callable[[Any, str], Needs], view: View) -> Effects | None:
    """The effects of putting off a command about an instance tree that a migration holds. None: the tree is free.

    A timer is not put off: it stays due, and its timer task triggers it again.
    """
    if command.while_suspended is None or isinstance(command, ContinueWork):
        return None
    subject = next(iter(needs(command, view.tenant)), None)
    element = None if subject is None or subject.kind not in ROWS else element_of(subject, view.state)
    if element is None or not is_held(element.tree) or not view.enter(element.instance.tenant):
        return None
    return () if isinstance(command, TriggerTimer) else put_off(command)


def is_held(tree: InstanceTree) -> bool:
    """Whether pages of a migration follow. If a bug has ended them, an incident has to be resolved first."""
    return bool(tree.work) and renaming(tree) is not None and not is_stuck(tree)


def is_stuck(tree: InstanceTree) -> bool:
    """Whether an incident keeps the command that continues the tree's work."""
    kept = (one.argument for one in tree.root.waits.incidents.values() if one.stage == COMMAND_STAGE)
    return any(argument["intent"] == ContinueWork.intent for argument in kept)
