"""Eviction: the memory of a state stays below a limit.

Only the owner of a cache evicts. A state without a database behind it, in memory or in a replay, would lose data. Only
between batches: `batches.close` retains what a batch has changed.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.core.state.batches import measure_channel
from vivero.core.state.instance_tree import (
    LOOP_TEXT_WEIGHT,
    Element,
    InstanceTree,
    Part,
)
from vivero.core.state.message_channels import MessageChannel
from vivero.core.state.state import State
from vivero.core.state.subscription_index import remove
from vivero.core.state.subtrees import break_cycles, descendants, weight_of

RETAINED_ITEMS = 250
"""The next items of a paged loop that stay in memory, because they would be read again at once."""


def evict(state: State, limit: int) -> int:
    """Evict the least recently used until at most `limit` bytes are held. Returns the number of evicted aggregates.

    Message channels may take a quarter of the limit, and `MAX_MESSAGES_IN_MEMORY` each.
    """
    state.registrations.forget_saved()
    count = _evict_channels(state, limit // 4)
    limit -= state.channels_weight
    if state.weight > limit and state.paged:
        count += _evict_parts(state, limit)
    if state.weight > limit:
        trees = _trees_to_evict(state, limit)
        evict_trees(state, trees)
        count += len(trees)
    return count


def _trees_to_evict(state: State, limit: int) -> list[InstanceTree]:
    """The least recently used trees without changes, as many as the limit asks for."""
    chosen, weight = [], state.weight
    for tree in state.trees.values():
        if weight <= limit:
            break
        if not tree.commits_under_way:
            chosen.append(tree)
            weight -= tree.weight
    return chosen


def evict_trees(state: State, trees: list[InstanceTree]) -> None:
    """Evict trees that have no changes."""
    if state.registrations.by_key:
        state.registrations.forget_trees(set(trees))
    for tree in trees:
        del state.trees[tree.key]
        state.weight -= tree.weight
        _remove(state, tree.root)


def evict_part(state: State, part: Part) -> None:
    """Evict an inner instance of a paged loop, with everything below it, that has no changes."""
    head = part.head
    assert head.scope is not None, "an inner instance has a body"
    if head.scope.pages is not None:
        head.scope.pages.note_evicted(head.key)
    _subtract(state, head.tree, sum(weight_of(element) for element in descendants(head)))
    del head.scope.children[head.key]
    _remove(state, head)


def evict_catalogue(state: State) -> None:
    """Evict the catalogue, and the trees that depend on it. No commit may be under way."""
    evict_trees(state, list(state.trees.values()))
    for timers in state.catalogue.start_timers.values():
        for key in timers:
            del state.timers[key]
    state.catalogue.clear()


def _evict_parts(state: State, limit: int) -> int:
    """Evict items of paged loops, which are cheap to read again, and then parts."""
    for body in state.paged.values():
        _evict_texts(state, body)
    count = 0
    for part in _parts_in_order(state):
        if state.weight <= limit:
            break
        evict_part(state, part)
        count += 1
    return count


def _parts_in_order(state: State) -> Iterator[Part]:
    """Parts in the order of their eviction.

    Parts that hold no other part come first, the least recently used of them before the others. Parts that hold others
    follow, the innermost first: evicting one evicts all inside it, and it is soon needed again.
    """
    holding = {body.part for body in state.paged.values() if body.part is not None and body.children}
    parts = [part for part in state.parts.values() if not part.commits_under_way]
    yield from (part for part in parts if part not in holding)
    rest = [part for part in parts if part in holding]
    yield from sorted(rest, key=lambda part: (-part.head.instance.depth, -len(part.head.path)))


def _evict_texts(state: State, body: Element) -> None:
    """Evict the items and results of a paged loop that the database has."""
    pages = body.pages
    assert pages is not None, "only bodies of paged loops are in this table"
    texts: list[str] = []
    if pages.rows_saved:
        texts += pages.rows
        pages.rows, pages.opened, pages.opened_row = [], [], -1
        retained = (0 if body.loop is None else body.loop.next) + RETAINED_ITEMS
        texts += [pages.items.pop(index) for index in [index for index in pages.items if index >= retained]]
    texts += [pages.results.pop(index) for index in pages.results_saved if index in pages.results]
    pages.results_saved.clear()
    _subtract(state, body.tree, LOOP_TEXT_WEIGHT * len(texts) + sum(map(len, texts)))


def _subtract(state: State, tree: InstanceTree, weight: int) -> None:
    tree.weight -= weight
    state.weight -= weight


def _evict_channels(state: State, limit: int) -> int:
    count = len(state.crowded)
    for channel in state.crowded.values():
        channel.evict_messages()
        measure_channel(state, channel)
    state.crowded.clear()
    if state.channels_weight > limit:
        for channel in [channel for channel in state.channels.values() if not channel.commits_under_way]:
            if state.channels_weight <= limit:
                break
            _evict_channel(state, channel)
            count += 1
    return count


def _evict_channel(state: State, channel: MessageChannel) -> None:
    del state.channels[channel.id]
    state.crowded.pop(channel.id, None)
    state.channels_weight -= channel.weight
    channel.messages, channel.subscriptions, channel.locks = {}, {}, {}


def _remove(state: State, top: Element) -> None:
    """Remove an element and all below it from the tables of the state."""
    state.loaded_pages.clear()  # some of their rows may be gone
    for element in descendants(top):
        del state.elements[element.key]
        state.paged.pop(element.key, None)
        if element.part is not None and element.part.head is element:
            del state.parts[element.key]
        for key in element.waits.jobs:
            del state.jobs[key]
        for key in element.waits.incidents:
            del state.incidents[key]
        for key in element.waits.timers:
            del state.timers[key]
        for key, subscription in element.waits.subscriptions.items():
            del state.subscriptions[key]
            remove(state.waiting, subscription)
        for key in element.waits.user_tasks:
            del state.user_tasks[key]
        break_cycles(element)
