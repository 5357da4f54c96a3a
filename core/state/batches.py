"""The end of a batch: what it changed stays in memory until its commit is known."""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter, methodcaller

from vivero.core.state.instance_tree import Element, Instance, InstanceTree, LoopItems, LoopResult, Part
from vivero.core.state.message_channels import (
    MAX_MESSAGES_IN_MEMORY,
    ChannelSubscription,
    Message,
    MessageChannel,
    StartLock,
)
from vivero.core.state.migrations import Migration
from vivero.core.state.registrations import Registration
from vivero.core.state.rows import Row
from vivero.core.state.state import State
from vivero.core.state.subtrees import break_cycles

Retained = InstanceTree | MessageChannel | Part | LoopItems | LoopResult | Registration
"""Objects that a batch may have changed, and that `committed` gets."""

_CHANNEL_ROWS: frozenset[type] = frozenset((Message, ChannelSubscription, StartLock))
_LOOP_ROWS = (LoopItems, LoopResult)
_SAVED = (*_LOOP_ROWS, Registration)
_place: Callable[[Row], Element | None] = methodcaller("place")
_tree: Callable[[Element], InstanceTree] = attrgetter("tree")


def close(state: State) -> list[Retained]:
    """End a batch: retain what it changed, and increment the revisions of its trees.

    Retained trees, parts and channels are not evicted before `committed`.
    """
    state.loaded_pages.clear()
    state.held, state.rerouted = None, False
    if state.running_elsewhere:
        state.running_elsewhere.clear()
    channels = _retain_channels(state) if state.channels else ()
    parts = _retain_parts(state) if state.parts or state.ended_parts or state.paged else ()
    registrations = _retain_registrations(state) if state.registrations.by_key else ()
    trees = changed_trees(state)
    for tree in trees:
        tree.revision += 1
        tree.commits_under_way += 1
        state.dirty[tree.root] = None  # its row has the columns of the tree
        if tree.root.ended_at is None:
            state.trees.pop(tree.key, None)
            state.trees[tree.key] = tree
        else:
            state.ended.add(tree.key)
    return [*trees, *channels, *parts, *registrations]


def changed_trees(state: State) -> list[InstanceTree]:
    """The trees that the batch changed."""
    places = filter(None, map(_place, state.dirty))  # without a loop: there may be thousands of rows
    return list(dict.fromkeys(map(_tree, places)))


def is_changed(state: State, tree: InstanceTree) -> bool:
    """Whether a command before this one has changed the tree in the same batch."""
    return tree in changed_trees(state)


def ended_in_batch(state: State) -> set[int]:
    """Trees and parts that ended in the current batch. The tables still have them."""
    ended = {row.key for row in state.dirty if isinstance(row, Instance) and row.ended_at is not None}
    return ended.union(state.ended_parts)


def committed(state: State, retained: list[Retained]) -> None:
    """The commit of a closed batch is known: what it changed may be evicted again.

    The next batch may be half computed. A tree that it has ended becomes a tombstone only when it is closed.
    """
    gone: list[InstanceTree | Part] = []
    for one in retained:
        if isinstance(one, _SAVED):
            _note_saved(state, one)
            continue
        one.commits_under_way -= 1
        if isinstance(one, MessageChannel):
            one.under_way.pop(0)
        elif one.key in state.ended and not one.commits_under_way:
            state.ended.remove(one.key)
            gone.append(one)
    if gone and state.registrations.by_key:
        state.registrations.forget_trees({one for one in gone if isinstance(one, InstanceTree)})
    for one in gone:
        break_cycles(one.head if isinstance(one, Part) else one.root)


def measure_channel(state: State, channel: MessageChannel) -> None:
    """Update the weight of a channel, which counts for the limit of the cache."""
    weight = channel.estimate()
    state.channels_weight += weight - channel.weight
    channel.weight = weight


def _retain_parts(state: State) -> list[Part | LoopItems | LoopResult]:
    """Retain the parts that the batch changed, and those around them."""
    changed: dict[int, Part] = {}
    for row in state.dirty:
        if type(row) is Migration:
            for element in row.elements:
                _note_part(element, changed)
        else:
            _note_part(row.place(), changed)
    for key, part in changed.items():
        part.commits_under_way += 1
        if state.parts.pop(key, None) is not None:
            state.parts[key] = part
    state.ended.update(state.ended_parts)
    state.ended_parts.clear()
    return [*changed.values(), *(row for row in state.dirty if isinstance(row, _LOOP_ROWS))]


def _note_part(element: Element | None, changed: dict[int, Part]) -> None:
    part = None if element is None else element.part
    while part is not None and part.key not in changed:
        changed[part.key] = part
        scope = part.head.scope
        part = None if scope is None else scope.part


def _retain_registrations(state: State) -> list[Registration]:
    changed = [row for row in state.dirty if type(row) is Registration]
    for row in changed:
        state.registrations.retain(row)
    return changed


def _retain_channels(state: State) -> list[MessageChannel]:
    changed: dict[MessageChannel, set[int]] = {}
    for row in state.dirty:
        if type(row) in _CHANNEL_ROWS:
            messages = changed.setdefault(row.channel, set())  # type: ignore[attr-defined]  # each of these has one
            if type(row) is Message:
                messages.add(row.key)
    for channel, messages in changed.items():
        channel.commits_under_way += 1
        channel.under_way.append(messages)
        state.channels.pop(channel.id, None)
        state.channels[channel.id] = channel
        measure_channel(state, channel)
        if len(channel.messages) > MAX_MESSAGES_IN_MEMORY:
            state.crowded[channel.id] = channel
    return list(changed)


def _note_saved(state: State, row: LoopItems | LoopResult | Registration) -> None:
    if isinstance(row, Registration):
        state.registrations.committed(row)
        return
    pages = row.body.pages
    if pages is not None and isinstance(row, LoopItems):
        pages.rows_saved = True
    elif pages is not None and isinstance(row, LoopResult):
        pages.results_saved.append(row.key)
