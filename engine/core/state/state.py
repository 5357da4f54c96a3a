"""What one partition's owner knows: instance trees, channels and the catalogue; which rows changed, and how to undo.

Before `engine.core.apply` changes a row it says `State.edit(row)`: that marks the row dirty and keeps its pre-image, so
that a raising command is undone. Dictionaries that link rows are changed through `State.link` and
`State.unlink` for the same reason.

All of this is a cache of one leadership term; PostgreSQL is the truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from vivero.engine.bpmn.model import Process
from vivero.engine.core.records.base import PARTITION_SHIFT
from vivero.engine.core.state.catalogue import Definition, Family, Usage
from vivero.engine.core.state.channels import (
    MAX_MESSAGES_IN_MEMORY,
    Channel,
    ChannelKey,
    ChannelSubscription,
    Message,
    StartLock,
    Starts,
)
from vivero.engine.core.state.rows import Row
from vivero.engine.core.state.tree import (
    LOOP_TEXT_WEIGHT,
    MISSING,
    Element,
    Incident,
    Instance,
    Job,
    LoopItems,
    LoopResult,
    Part,
    Subscription,
    Timer,
    UserTask,
    descendants,
    forget_links,
    weight_of,
)
from vivero.engine.core.state.waiting import INDEXED_BY, WATCHING, Index, forget

ITEMS_KEPT = 250
"""So many items that a paged loop takes next stay in memory: they would be read again at once."""


Pinned = Instance | Channel | Part | LoopItems | LoopResult
"""What a batch may have changed: it is told when the batch's commit is known."""


class State:
    """What one partition's owner knows."""

    def __init__(self, partition: int, next_key: int | None = None) -> None:
        self.partition = partition
        self.next_key = next_key if next_key is not None else (partition << PARTITION_SHIFT) + 1
        self.now = 0
        self.position = 0
        self.elements: dict[int, Element] = {}
        self.jobs: dict[int, Job] = {}
        self.incidents: dict[int, Incident] = {}
        self.timers: dict[int, Timer] = {}
        self.user_tasks: dict[int, UserTask] = {}
        self.subscriptions: dict[int, Subscription] = {}
        self.waiting: dict[str, Index] = {kind: {} for kind in INDEXED_BY}
        """Open subscriptions in the cached trees: by kind, and by what they are found by."""
        self.watching: Index = self.waiting[WATCHING]
        """Those of them that a change of variables concerns, by process instance."""
        self.variable_changes: list[tuple[Element, str, bool]] = []
        """Scope, name, and whether it is new: in instances where a subscription watches, since the loop of the command
        took them up."""
        self.signal_pages: dict[tuple[str, str, int], int | None] = {}
        """Of this batch, by tenant, name and the key that it begins behind: a page's last key, None of the last."""
        self.channels: dict[ChannelKey, Channel] = {}
        """Least recently used first."""
        self.channels_weight = 0
        self.crowded: dict[ChannelKey, Channel] = {}
        """Channels whose messages were more, when a batch changed them last, than may stay in memory."""
        self.starts: Starts | None = None
        """Start events that wait for messages and signals; None until they are loaded."""
        self.start_timers: dict[tuple[str, str], dict[int, Timer]] = {}
        """Timers that start a process, by tenant and process id: all of them, of every process in `families`."""
        self.trees: dict[int, Instance] = {}
        """Roots by key, least recently used first."""
        self.parts: dict[int, Part] = {}
        """Inner instances of paged loops, least recently used first."""
        self.paged: dict[int, Element] = {}
        """Bodies of paged loops."""
        self.ended: set[int] = set()
        """Tombstones: roots and parts that ended in batches whose commit is not known yet; the tables may still show
        them."""
        self.ended_parts: dict[int, Part] = {}
        """Those that have ended in the batch that is being computed."""
        self.families: dict[tuple[str, str], Family] = {}
        self.definitions: dict[int, Definition] = {}
        self.usage: dict[int, Usage] = {}
        self.models: dict[int, Process] = {}
        self.weight = 0
        self.written = 0
        """How many characters the batch has written so far, of variables, items, results, headers, names and messages;
        undone ones included."""
        self.dirty: dict[Row, None] = {}
        """Changed rows, in the order of their first change."""
        self.fresh: set[Row] = set()
        """Those of them that the database does not have yet."""
        self._images: dict[Row, tuple[Row, bool] | None] = {}
        """What the command changed: by row, what it was before, and whether it was dirty; None of a new one."""
        self._links: list[tuple[dict[Any, Any], Any, Any]] = []
        self._first_key = self.next_key
        self._counted: dict[Part, int] = {}
        """The parts whose number of rows the command changes, with what it was before."""
        self._grown = 0
        """By how much the command changes the weight of all trees."""

    def key(self) -> int:
        """The next key of this partition."""
        key = self.next_key
        self.next_key = key + 1
        return key

    # ---- changing rows (appliers only)

    def edit(self, row: Row) -> None:
        """Mark `row` dirty, and keep what it was before this command."""
        if row not in self._images:
            self._images[row] = row.__copy__(), row in self.dirty  # type: ignore[attr-defined]  # every Struct has it
            self.dirty[row] = None

    def add(self, row: Row) -> None:
        """Mark a row dirty that did not exist before this command."""
        self._images[row] = self.dirty[row] = None
        self.fresh.add(row)

    def link(self, where: dict[Any, Any], key: Any, value: Any) -> None:
        self._links.append((where, key, where.get(key, MISSING)))
        where[key] = value

    def unlink(self, where: dict[Any, Any], key: Any) -> None:
        self._links.append((where, key, where.pop(key)))

    def weigh(self, root: Instance, by: int) -> None:
        """The tree takes `by` bytes more."""
        if root not in self._images:
            self.edit(root)
        root.weight += by
        self._grown += by

    def grow(self, element: Element, weight: int, rows: int) -> None:
        """The tree of the element takes `weight` bytes more, and so many rows are loaded more together with it."""
        root = element.root
        if root not in self._images:
            self.edit(root)
        root.weight += weight
        self._grown += weight
        if element.part is None:
            root.rows += rows
        else:
            self._grow_part(element.part, root, rows)

    def _grow_part(self, part: Part, root: Instance, rows: int) -> None:
        if part not in self._counted:
            self._counted[part] = part.rows
        part.rows += rows
        root.in_parts += rows

    # ---- commands

    def changed(self) -> Iterable[Row]:
        """The rows that the command has changed so far, in the order of their first change."""
        return self._images

    def keep(self) -> None:
        """The command is done: what it changed stays."""
        self.weight += self._grown
        self._forget_changes()

    def _forget_changes(self) -> None:
        self.variable_changes.clear()
        self._images.clear()
        self._links.clear()
        self._first_key = self.next_key
        self._grown = 0
        if self._counted:
            self._counted.clear()

    def undo(self) -> None:
        """The command is not done: everything is as before it, the key generator included."""
        put_back: dict[int, dict[Any, Any]] = {}
        for where, key, old in reversed(self._links):
            if old is MISSING:
                del where[key]
            else:
                where[key] = old
                put_back[id(where)] = where
        for where in put_back.values():
            _restore_order(where)
        for row, entry in self._images.items():
            if entry is None:
                del self.dirty[row]
                self.fresh.remove(row)
                continue
            image, was_dirty = entry
            for name in row.__struct_fields__:
                setattr(row, name, getattr(image, name))
            if not was_dirty:
                del self.dirty[row]
        for part, before in self._counted.items():
            part.rows = before
        self.next_key = self._first_key
        self._forget_changes()

    # ---- batches

    def touched_roots(self) -> list[Instance]:
        """The roots of the trees that the batch changed."""
        roots: dict[Instance, None] = {}
        for row in self.dirty:
            element: Element | None = row.place()
            if element is not None:
                roots[element.root] = None
        return list(roots)

    def seal(self) -> list[Pinned]:
        """End of a batch: pin what it changed, and give the trees their next revision."""
        self.signal_pages.clear()
        channels = self._seal_channels() if self.channels else ()
        parts = self._seal_parts() if self.parts or self.ended_parts or self.paged else ()
        roots = self.touched_roots()
        for root in roots:
            root.revision += 1
            root.pins += 1
            self.dirty[root] = None
            if root.ended_at is None:
                self.trees.pop(root.key, None)
                self.trees[root.key] = root
            else:
                self.ended.add(root.key)
        return [*roots, *channels, *parts]

    def _seal_parts(self) -> list[Part | LoopItems | LoopResult]:
        """Pin the parts that the batch changed, and those around them."""
        touched: dict[int, Part] = {}
        for row in self.dirty:
            element: Element | None = row.place()
            part = None if element is None else element.part
            while part is not None and part.key not in touched:
                touched[part.key] = part
                scope = part.head.scope
                part = None if scope is None else scope.part
        for key, part in touched.items():
            part.pins += 1
            if self.parts.pop(key, None) is not None:
                self.parts[key] = part
        self.ended.update(self.ended_parts)
        self.ended_parts.clear()
        return [*touched.values(), *(row for row in self.dirty if isinstance(row, _LOOP_ROWS))]

    def _seal_channels(self) -> list[Channel]:
        touched: dict[Channel, set[int]] = {}
        for row in self.dirty:
            if type(row) in _CHANNEL_ROWS:
                changed = touched.setdefault(row.channel, set())  # type: ignore[attr-defined]  # each of these has one
                if type(row) is Message:
                    changed.add(row.key)
        for channel, changed in touched.items():
            channel.pins += 1
            channel.under_way.append(changed)
            self.channels.pop(channel.id, None)
            self.channels[channel.id] = channel
            self.weigh_channel(channel)
            if len(channel.messages) > MAX_MESSAGES_IN_MEMORY:
                self.crowded[channel.id] = channel
        return list(touched)

    def weigh_channel(self, channel: Channel) -> None:
        """What a channel takes counts for the cache's limit."""
        weight = channel.estimate()
        self.channels_weight += weight - channel.weight
        channel.weight = weight

    def ended_in_batch(self) -> set[int]:
        """Roots that have ended in the batch that is being computed; the tables still show them."""
        ended = {row.key for row in self.dirty if isinstance(row, Instance) and row.ended_at is not None}
        return ended.union(self.ended_parts)

    def saved(self) -> None:
        """The changes of a sealed batch are on their way to the database: from now on it is the next batch."""
        self.dirty.clear()
        self.fresh.clear()
        self.written = 0

    def committed(self, pinned: list[Pinned]) -> None:
        """The commit of a sealed batch is known: what it changed may be evicted again.

        The next batch may be half computed: a tree that it has ended is no tombstone before that batch is sealed.
        """
        for one in pinned:
            if isinstance(one, _LOOP_ROWS):
                _note_saved(one)
                continue
            one.pins -= 1
            if isinstance(one, Channel):
                one.under_way.popleft()
            elif one.key in self.ended and not one.pins:
                self.ended.remove(one.key)
                forget_links(one.head if isinstance(one, Part) else one)

    def _forget_channel(self, channel: Channel) -> None:
        del self.channels[channel.id]
        self.crowded.pop(channel.id, None)
        self.channels_weight -= channel.weight
        channel.messages, channel.subscriptions, channel.locks = {}, {}, {}

    def evict(self, limit: int) -> int:
        """Forget trees that are not pinned, least recently used first, until at most `limit` bytes are held.

        Only between batches: what a batch has changed is pinned when it is sealed. Channels may have a quarter, and
        `MAX_MESSAGES_IN_MEMORY` each. Only the owner of a cache calls this: what a state forgets is lost where no
        database is behind it (in memory, in a replay).
        """
        count = self._evict_channels(limit // 4)
        limit -= self.channels_weight
        if self.weight > limit and self.paged:
            count += self._evict_parts(limit)
        if self.weight > limit:
            for root in [root for root in self.trees.values() if not root.pins]:
                if self.weight <= limit:
                    break
                self.forget(root)
                count += 1
        return count

    def _evict_parts(self, limit: int) -> int:
        """First what is read back at the least cost: of paged loops what the database has."""
        for body in self.paged.values():
            self._forget_texts(body)
        count = 0
        for part in self._parts_in_turn():
            if self.weight <= limit:
                break
            self._forget_part(part)
            count += 1
        return count

    def _parts_in_turn(self) -> Iterator[Part]:
        """Parts that are not pinned: those that hold no other part, least recently used first; then the others, the
        innermost first. With a part goes all that is in it, and what holds others is soon needed again."""
        holding = {body.part for body in self.paged.values() if body.part is not None and body.children}
        parts = list(self.parts.values())
        yield from (part for part in parts if not part.pins and part not in holding)
        rest = [part for part in parts if not part.pins and part in holding]
        yield from sorted(rest, key=lambda part: (-part.head.instance.depth, -len(part.head.path)))

    def _forget_texts(self, body: Element) -> None:
        pages = body.pages
        assert pages is not None, "only bodies of paged loops are in this table"
        texts: list[str] = []
        if pages.rows_saved:
            texts += pages.rows
            pages.rows, pages.opened, pages.opened_row = [], [], -1
            kept = (0 if body.loop is None else body.loop.next) + ITEMS_KEPT
            texts += [pages.items.pop(index) for index in [index for index in pages.items if index >= kept]]
        texts += [pages.results.pop(index) for index in pages.results_saved if index in pages.results]
        pages.results_saved.clear()
        self._lose(body.root, LOOP_TEXT_WEIGHT * len(texts) + sum(map(len, texts)))

    def _forget_part(self, part: Part) -> None:
        head = part.head
        assert head.scope is not None, "an inner instance has a body"
        if head.scope.pages is not None:
            head.scope.pages.read_again(head.key)
        self._lose(head.root, sum(weight_of(element) for element in descendants(head)))
        del head.scope.children[head.key]
        self._drop(head)

    def _lose(self, root: Instance, weight: int) -> None:
        root.weight -= weight
        self.weight -= weight

    def _evict_channels(self, limit: int) -> int:
        count = len(self.crowded)
        for channel in self.crowded.values():
            channel.forget_messages()
            self.weigh_channel(channel)
        self.crowded.clear()
        if self.channels_weight > limit:
            for channel in [channel for channel in self.channels.values() if not channel.pins]:
                if self.channels_weight <= limit:
                    break
                self._forget_channel(channel)
                count += 1
        return count

    def forget_catalogue(self) -> None:
        """Drop what is known of definitions, and the trees that count on it; nothing may be pinned."""
        for root in list(self.trees.values()):
            self.forget(root)
        for timers in self.start_timers.values():
            for key in timers:
                del self.timers[key]
        self.start_timers.clear()
        self.families.clear()
        self.definitions.clear()
        self.usage.clear()
        self.starts = None

    def forget(self, root: Instance) -> None:
        """Drop a clean tree from the cache."""
        del self.trees[root.key]
        self.weight -= root.weight
        self._drop(root)

    def _drop(self, top: Element) -> None:
        """Take an element and all below it out of the tables."""
        for element in descendants(top):
            del self.elements[element.key]
            self.paged.pop(element.key, None)
            if element.part is not None and element.part.head is element:
                del self.parts[element.key]
            for key in element.jobs:
                del self.jobs[key]
            for key in element.open_incidents:
                del self.incidents[key]
            for key in element.timers:
                del self.timers[key]
            for key, subscription in element.subscriptions.items():
                del self.subscriptions[key]
                forget(self.waiting, subscription)
            if element.user_task is not None:
                del self.user_tasks[element.user_task.key]
            forget_links(element)


def _restore_order(where: dict[Any, Any]) -> None:
    """Rows stand in the order of their keys, as they do when they are loaded."""
    if all(isinstance(key, int) for key in where):
        rows = sorted(where.items())
        where.clear()
        where.update(rows)


def _note_saved(row: LoopItems | LoopResult) -> None:
    pages = row.body.pages
    if pages is not None and isinstance(row, LoopItems):
        pages.rows_saved = True
    elif pages is not None and isinstance(row, LoopResult):
        pages.results_saved.append(row.key)


_CHANNEL_ROWS: frozenset[type] = frozenset((Message, ChannelSubscription, StartLock))
_LOOP_ROWS = (LoopItems, LoopResult)
