"""The state of one partition in memory: instance trees, message channels, the catalogue, and which rows changed.

An applier (`core.apply`) calls `State.edit(row)` before it changes a row. That marks the row dirty and keeps its
image, so that a command that raises can be undone. Dictionaries that link rows are changed by `State.link` and
`State.unlink` for the same reason. The rows that nearly every command has need no entry for each of their dictionaries:
`undo` finds these by the row (`undo.places_of`), which is new, or one of `removed`.

The state is a cache of one leadership term. PostgreSQL holds the truth. `batches` ends a batch, `undo` takes a command
back, and `eviction` bounds the memory.
"""

from __future__ import annotations

from typing import Any

from vivero.core.partitions.keys import PARTITION_SHIFT
from vivero.core.partitions.routes import ONE_PARTITION, Routes
from vivero.core.state.catalogue import Catalogue
from vivero.core.state.instance_tree import (
    MISSING,
    Element,
    Incident,
    Instance,
    InstanceTree,
    Job,
    Part,
    Subscription,
    Timer,
    UserTask,
)
from vivero.core.state.message_channels import ChannelKey, MessageChannel
from vivero.core.state.registrations import Registrations
from vivero.core.state.rows import Row
from vivero.core.state.subscription_index import INDEXED_BY, WATCHING, Index

Decoded = tuple[Any, str | None]
"""The result of `decode_large`: the value, and its canonical text if that is known. MISSING: not decoded yet."""


class State:
    """The rows of one partition that are in memory."""

    def __init__(self, partition: int, next_key: int | None = None) -> None:
        self.partition = partition
        self.routing = {"routes": ONE_PARTITION, "sending": ONE_PARTITION}
        """The routes, and those that this partition sends by. They differ while slots move."""
        self.next_key = next_key if next_key is not None else (partition << PARTITION_SHIFT) + 1
        self.now = self.position = 0
        self.context: str | None = None  # of the command, for new jobs and instances (`outcomes.CommandRecord`)

        # rows by key
        self.elements: dict[int, Element] = {}
        self.jobs: dict[int, Job] = {}
        self.incidents: dict[int, Incident] = {}
        self.timers: dict[int, Timer] = {}
        self.user_tasks: dict[int, UserTask] = {}
        self.subscriptions: dict[int, Subscription] = {}
        self.waiting: dict[str, Index] = {kind: {} for kind in INDEXED_BY}
        """Open subscriptions of the trees in memory, by kind and by the key of the kind's index."""
        self.watching: Index = self.waiting[WATCHING]
        """Subscriptions that watch variables, by process instance."""

        # aggregates, which are loaded and evicted as a whole
        self.trees: dict[int, InstanceTree] = {}
        """By the keys of their roots, the least recently used first."""
        self.parts: dict[int, Part] = {}
        """Inner instances of paged loops by key, the least recently used first."""
        self.paged: dict[int, Element] = {}  # bodies of paged loops by key
        self.registrations = Registrations()
        self.weight = 0
        """The memory of all trees, in bytes (estimated)."""
        self.channels: dict[ChannelKey, MessageChannel] = {}
        """Message channels, the least recently used first."""
        self.channels_weight = 0
        self.crowded: dict[ChannelKey, MessageChannel] = {}
        """Channels that had, when a batch last changed them, more messages than may stay in memory."""
        self.catalogue = Catalogue()

        # the batch
        self.dirty: dict[Row, None] = {}
        """Changed rows, in the order of their first change."""
        self.fresh: set[Row] = set()
        """The dirty rows that the database does not have yet."""
        self.ended_parts: dict[int, Part] = {}
        """Parts that ended in this batch."""
        self.ended: set[int] = set()
        """Tombstones: trees and parts that ended in batches whose commits are under way. The tables may have them."""
        self.values: dict[str, Decoded] = {}
        """Very large variables of this batch that were decoded for it, by their text."""
        self.loaded_pages: dict[tuple[str, str, int] | tuple[int, int], int | None] = {}
        """Pages of a signal (tenant, name, after), of suspended waits (instance, after) → last key; None: the end."""
        self.running_elsewhere: dict[int, int] = {}
        """Numbers of instances that run in other partitions, by definition, as this batch has read them."""
        self.rerouted = False  # whether this batch ends, because it has released what was held
        self.held: int | None = None
        """The number of commands that this partition holds while slots move, as this batch has read it."""
        self.written = 0
        """Characters written in this batch: variables, items, results, headers, names, messages; undone ones, too."""

        # the command
        self.images: dict[Row, tuple[Row, bool] | None] = {}
        """Rows that the command changed, in the order of their first change → what they were before, and whether they
        were dirty; None for a new row."""
        self.links: list[tuple[dict[Any, Any], Any, Any]] = []
        """Changes of dictionaries: (dictionary, key, former value)."""
        self.removed: list[Row] = []  # rows that the command took out of all their dictionaries
        self.renames: list[tuple[Row, str, Any]] = []  # (row, field, former value): see `rename`
        self.first_key = self.next_key
        self.row_counts: dict[Part, int] = {}  # parts whose number of rows the command changed → the former number
        self.variable_changes: list[tuple[Element, str, bool]] = []
        """(scope, name, whether it is new) of variables that changed in instances with watching subscriptions, and that
        the worklist has not handled yet."""

    @property
    def routes(self) -> Routes:
        return self.routing["routes"]

    @property
    def sending(self) -> Routes:
        """The routes that this partition sends by."""
        return self.routing["sending"]

    def set_routes(self, routes: Routes) -> None:
        """Set the routes between commands."""
        self.routing["routes"], self.routing["sending"] = routes, routes.for_sending(self.partition)

    def key(self) -> int:
        """The next key of this partition."""
        key = self.next_key
        self.next_key = key + 1
        return key

    def instance(self, key: int) -> Instance:
        """A process instance that is in memory, as events name it."""
        instance = self.elements[key]
        assert isinstance(instance, Instance), f"{key} is no process instance"
        return instance

    # -- changes of rows, by appliers only

    def edit(self, row: Row) -> None:
        """Mark `row` dirty, and keep its image. Call this before each change."""
        if row not in self.images:
            self.images[row] = row.__copy__(), row in self.dirty  # type: ignore[attr-defined]  # every Struct has it
            self.dirty[row] = None

    def add(self, row: Row) -> None:
        """Mark a new row dirty."""
        self.images[row] = self.dirty[row] = None
        self.fresh.add(row)

    def rename(self, row: Row, field: str, value: Any) -> None:
        """Set a field that a `Migration` saves. The row itself is not saved for it: there may be many thousands, whose
        images would take most of the time of a migration.
        """
        if row not in self.images:  # an image has the former value already
            self.renames.append((row, field, getattr(row, field)))
        setattr(row, field, value)

    def link(self, where: dict[Any, Any], key: Any, value: Any) -> None:
        """Set an entry of a dictionary that links rows."""
        self.links.append((where, key, where.get(key, MISSING)))
        where[key] = value

    def unlink(self, where: dict[Any, Any], key: Any) -> None:
        """Remove an entry of a dictionary that links rows."""
        self.links.append((where, key, where.pop(key)))

    def add_weight(self, tree: InstanceTree, weight: int) -> None:
        """Add `weight` bytes, which may be negative, to a tree."""
        if tree not in self.images:
            self.edit(tree)
        tree.weight += weight
        self.weight += weight

    def add_size(self, element: Element, weight: int, rows: int) -> None:
        """Add `weight` bytes and `rows` rows, either may be negative, to the tree and the part of an element."""
        tree = element.tree
        if tree not in self.images:
            self.edit(tree)
        tree.weight += weight
        self.weight += weight
        if element.part is None:
            tree.rows += rows
        else:
            self._add_rows(element.part, tree, rows)

    def _add_rows(self, part: Part, tree: InstanceTree, rows: int) -> None:
        if part not in self.row_counts:
            self.row_counts[part] = part.rows
        part.rows += rows
        tree.in_parts += rows

    # -- the end of a command; `undo.undo` takes it back instead

    def begin_command(self) -> None:
        """Keep what the last command changed, and begin the next one."""
        self.images.clear()
        self.first_key = self.next_key
        if self.removed:
            self.removed.clear()
        if self.links:
            self.links.clear()
        if self.variable_changes:
            self.variable_changes.clear()
        if self.renames:
            self.renames.clear()
        if self.row_counts:
            self.row_counts.clear()

    # -- the end of a batch; see `batches`

    def begin_batch(self) -> None:
        """Begin the next batch: the changes of the closed one are on their way to the database."""
        self.dirty.clear()
        self.fresh.clear()
        self.written = 0
