"""Changes that are conditional on the version of an instance tree (RFC 9110, If-Match).

The version is compared where the command is handled, so no other command comes in between. The functions get the table
of handlers, in which they are entries themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from vivero.core.commands.subjects import ROWS, element_of
from vivero.core.needs import Need, NeedKind, Needs
from vivero.core.records.base import Command
from vivero.core.records.codec import decode_command, encode_command
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.effects import Effects, Reject, RejectionCode, Send
from vivero.core.state import batches
from vivero.core.state.instance_tree import InstanceTree
from vivero.core.view import View

BEING_CHANGED = "it is being changed"
HAS_WORKER = "a worker has got job '{}'"


def conditional(command: Command, key: int, versions: tuple[int, ...], untaken: tuple[int, ...] = ()) -> ChangeIfMatch:
    """The command on the condition that the tree of its subject, `key`, has one of these versions, and that no worker
    has, or has had, one of the jobs `untaken`."""
    return ChangeIfMatch(key, versions, command.intent, msgspec.Raw(encode_command(command)), untaken)


def change_of(command: ChangeIfMatch) -> Command:
    """The command without its condition."""
    return decode_command(command.change, bytes(command.payload))


def needs(handlers: Mapping[type[Command], Any], command: ChangeIfMatch, tenant: str) -> Needs:
    change = change_of(command)
    yield from handlers[type(change)].needs(change, tenant)
    yield from (Need(NeedKind.LEASE, job) for job in command.untaken)


def change_if_match(
    handlers: Mapping[type[Command], Any],
    handle: Callable[[Command, View], Effects],
    command: ChangeIfMatch,
    view: View,
) -> Effects:
    """The change itself rejects an unknown key as not found, before its condition counts."""
    change = change_of(command)
    tree = _tree_of(handlers[type(change)].needs(change, view.tenant), view)
    if tree is not None:
        _check(tree, command.versions, view)
        _check_untaken(command, view)
    for effect in handle(change, view):
        if isinstance(effect, Send) and effect.again:  # until then, deferred work changes the version
            raise Reject(RejectionCode.PRECONDITION_FAILED, _expected(command.key, command.versions, BEING_CHANGED))
        yield effect


def _tree_of(needs: Needs, view: View) -> InstanceTree | None:
    """The tree that the first need names, if the sender may use its tenant."""
    for need in needs:
        if need.kind in ROWS:
            element = element_of(need, view.state)
            return element.tree if element is not None and view.enter(element.instance.tenant) else None
    return None


def _check(tree: InstanceTree, versions: tuple[int, ...], view: View) -> None:
    if tree in batches.changed_trees(view.state):
        found = BEING_CHANGED
    elif tree.revision in versions:
        return
    else:
        found = f"its version is {tree.revision}"
    raise Reject(RejectionCode.PRECONDITION_FAILED, _expected(tree.key, versions, found))


def _check_untaken(command: ChangeIfMatch, view: View) -> None:
    """A lease changes no version, because activation changes it beside the log."""
    for job in command.untaken:
        if view.lease(job) is not None:
            text = f"Expected to change process instance with key '{command.key}', but {HAS_WORKER.format(job)}"
            raise Reject(RejectionCode.INVALID_STATE, text)


def _expected(key: int, versions: tuple[int, ...], found: str) -> str:
    expected = " or ".join(map(str, versions)) or "of another form"
    return f"Expected to change process instance with key '{key}' at version {expected}, but {found}"
