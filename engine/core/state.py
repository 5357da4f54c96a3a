"""The aggregates in memory: instance trees and the catalogue; which rows changed, and how to undo.

Rows are mutable records that only `engine.core.apply` changes, each time after `State.edit(row)`: that marks the row
dirty and keeps its pre-image, so that a raising command is undone (CORE D10). Dictionaries that link rows are changed
through `State.link` and `State.unlink` for the same reason. A `tokens` dictionary is replaced, never changed in place.

All of this is a cache of one leadership term; PostgreSQL is the truth.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from engine.bpmn.model import Node, Process
from engine.core.channels import (
    MAX_MESSAGES_IN_MEMORY,
    Channel,
    ChannelKey,
    ChannelSubscription,
    Message,
    StartLock,
    Starts,
)
from engine.core.records import PARTITION_SHIFT
from engine.core.rows import Row as Row

MISSING: Any = object()

ELEMENT_WEIGHT = 1600
INSTANCE_WEIGHT = 2400
JOB_WEIGHT = 900
INCIDENT_WEIGHT = 700
TIMER_WEIGHT = 700
SUBSCRIPTION_WEIGHT = 700
USER_TASK_WEIGHT = 1200
VARIABLE_WEIGHT = 350
LOOP_TEXT_WEIGHT = 160
"""Estimated bytes of a row in memory, with its share of the dictionaries."""


class ElementState(StrEnum):
    """CORE.md section 2; `engine.core.lifecycle` holds the transitions."""

    __hash__ = str.__hash__

    ACTIVATING = "ACTIVATING"
    ACTIVATED = "ACTIVATED"
    COMPLETING = "COMPLETING"
    COMPLETED = "COMPLETED"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"


ACTIVATING, ACTIVATED, COMPLETING, COMPLETED, TERMINATING, TERMINATED = ElementState
"""By their own names, because looking a member up in its class takes six times as long."""


class Element(Row, msgspec.Struct):  # the second base tells the linter that defaults are copied
    """A live element instance: a row of `element_instances`, or, as `Instance`, of `process_instances`."""

    element: str
    type: str
    state: ElementState
    root: Instance
    instance: Instance
    scope: Element | None
    """The flow scope; of a called process its call activity; None for a root."""
    path: tuple[int, ...]
    """Variable scopes, this one first, ending at the process instance."""
    started_at: int
    ended_at: int | None = None
    tokens: dict[str, int] = {}
    """How many tokens stand on each flow and in each element of this scope."""
    live: int = 0
    """Children that have not ended."""
    index: int = -1
    label: str | None = None
    """The element's name in the model, for people."""
    then: tuple[Any, ...] | None = None
    interrupted: bool = False
    """An interrupting event sub-process has taken over; nothing else in here catches anything any more."""
    occurred: dict[str, str] | None = None
    """Of an event that had happened when it was entered: the variables (JSON text) that it brings."""
    loop: LoopState | None = None
    """Of the body of a multi-instance activity."""
    request: int | None = None
    incidents: int = 0
    """Open incidents of this element and of all below it."""
    incident: int | None = None
    children: dict[int, Element] = {}
    jobs: dict[int, Job] = {}
    variables: dict[str, Variable] = {}
    open_incidents: dict[int, Incident] = {}
    timers: dict[int, Timer] = {}
    subscriptions: dict[int, Subscription] = {}
    user_task: UserTask | None = None
    part: Part | None = None
    """The inner instance of a paged loop with which this is loaded; None: it is loaded with the root."""
    pages: LoopPages | None = None
    """Of the body of a paged loop."""
    flows: tuple[str, ...] = ()
    """Sequence flows that were taken when it completed."""
    items: list[LoopItem] = []
    """Of a body: what its inner instances are made for, and their results."""
    node: Node = MISSING
    """What the model says; a cache of the view."""

    def place(self) -> Element:
        return self

    def outer(self) -> Element | None:
        """The next variable scope: variables of a caller are not seen by the called."""
        return self.scope

    @property
    def is_inner(self) -> bool:
        """Whether this is one of the instances of a loop."""
        return self.index >= 0

    @property
    def is_open(self) -> bool:
        """Whether something that happens can start an event sub-process in here."""
        return self.state is ACTIVATED and self.then is None and not self.interrupted


class Instance(Element, kw_only=True):
    """A process instance: the scope that its start event is entered in."""

    definition_key: int
    process_id: str
    version_number: int
    version_tag: str | None
    name: str | None
    tenant: str
    business_id: str | None
    tags: tuple[str, ...]
    depth: int
    created_position: int
    parent_instance: int | None = None
    start: tuple[str, dict[str, str]] | None = None
    """The start event that has happened, and the variables (JSON text) that it brings; None: the none start event."""
    start_lock: str | None = None
    """Of an instance that a message has started: its correlation key, with which nothing else starts meanwhile."""
    terminate_after: tuple[str, ...] = ()
    """The instance is terminated when one of these elements has ended."""
    work: tuple[tuple[int, str, Any], ...] = ()
    """Of a root: work items that a later command goes on with."""
    revision: int = 0
    """Of a root: rises with each batch that changes the tree."""
    pins: int = 0
    """Of a root: batches that changed it and whose commit is not known yet."""
    weight: int = 0
    """Of a root: estimated bytes of the tree in memory."""

    def outer(self) -> Element | None:
        return None


class LoopState(msgspec.Struct, frozen=True):
    """How far a loop is. `next`: the index of the next inner instance."""

    size: int
    next: int = 0
    completed: int = 0
    terminated: int = 0
    paged: bool = False
    """So long that its inner instances, items and results are loaded and forgotten by themselves (CORE D8)."""
    collected: int = 0
    """How many characters of JSON its results have so far."""


class LoopItem(Row):
    """A row of `loop_items`; `key` is the index. `item` and `result` are JSON text."""

    body: Element
    item: str
    result: str | None = None

    def place(self) -> Element:
        return self.body


class LoopItems(Row):
    """All rows of `paged_loop_items` of a loop, as it starts; `key` is the body's."""

    body: Element
    items: tuple[str, ...]

    def place(self) -> Element:
        return self.body


class LoopResult(Row):
    """The result in a row of `loop_items` of a paged loop; `key` is the index."""

    body: Element
    result: str

    def place(self) -> Element:
        return self.body


ITEMS_KEPT = 250
"""So many items that a paged loop takes next stay in memory: they would be read again at once."""


class LoopPages(Row, msgspec.Struct):  # the second base tells the linter that defaults are copied
    """What is in memory of a paged loop: items that are still needed and results, as JSON text by their index.

    `key` is the body's. This is no row of a table: `LoopItems` and `LoopResult` are what is saved.
    """

    items: dict[int, str] = {}
    results: dict[int, str] = {}
    items_saved: bool = True
    """Whether the database has the items, so that they can be loaded again."""
    results_saved: list[int] = []
    """Of which results the database is known to have."""
    read_to: int = 0
    """Live inner instances with keys up to this one are all in memory."""

    def weight(self) -> int:
        texts = (*self.items.values(), *self.results.values())
        return LOOP_TEXT_WEIGHT * len(texts) + sum(map(len, texts))


class Part(Row):
    """An inner instance of a paged loop with all that is live below it: it is loaded and forgotten by itself.

    `key` is the inner instance's. This is no row of a table.
    """

    head: Element
    pins: int = 0
    """Batches that changed it and whose commit is not known yet."""


class Job(Row):
    """A row of `jobs` without its lease columns; `lease` says what the engine does to those (KERNEL section 5)."""

    element: Element
    type: str
    retries: int
    priority: int
    headers: dict[str, str]
    kind: str
    listener_event: str
    listener_index: int
    created_at: int
    updated_at: int
    state: str = "CREATED"
    ended_at: int | None = None
    error_code: str | None = None
    error_message: str | None = None
    lease: str | None = None
    """None: leave the lease alone; "ready", "closed", or "backoff" until `available_at`."""
    available_at: int | None = None

    def place(self) -> Element:
        return self.element


class UserTask(Row):
    """A row of `user_tasks`. Dates are epoch milliseconds."""

    element: Element
    assignee: str | None
    candidate_groups: tuple[str, ...]
    candidate_users: tuple[str, ...]
    due_at: int | None
    follow_up_at: int | None
    priority: int
    headers: dict[str, str]
    external_form: str | None
    form_key: int | None
    created_at: int
    state: str = "CREATED"
    ended_at: int | None = None

    def place(self) -> Element:
        return self.element


class Timer(Row):
    """A row of `timers`. Of an element, or, starting a process, of a definition (`element` None)."""

    element: Element | None
    target: str
    type: str
    due_at: int
    repetitions: int
    cycle: tuple[str, str, int, int] | None
    created_at: int
    definition: int
    process_id: str
    tenant: str
    state: str = "PENDING"
    triggered_at: int | None = None
    ended_at: int | None = None

    def place(self) -> Element | None:
        return self.element


class Subscription(Row):
    """A row of `subscriptions`: an element waits for a message or a signal. `correlation_key`: None for a signal.

    CREATED; CORRELATED: it has happened; DELETED: it has not, and never will.
    """

    element: Element
    target: str
    type: str
    kind: str
    name: str
    correlation_key: str | None
    interrupting: bool
    created_at: int
    updated_at: int
    state: str = "CREATED"
    ended_at: int | None = None

    def place(self) -> Element:
        return self.element


class Variable(Row):
    """A row of `variables`; `value` is JSON text, `decoded` its FEEL value once somebody asked."""

    scope: Element
    name: str
    value: str
    decoded: Any = MISSING

    def place(self) -> Element:
        return self.scope

    def weight(self) -> int:
        return VARIABLE_WEIGHT + len(self.value)


class Incident(Row):
    """A row of `incidents`. Resolving it runs the work item (element, stage, argument) again."""

    element: Element
    stage: str
    argument: Any
    type: str
    message: str
    job: int | None
    created_at: int
    state: str = "ACTIVE"
    resolved_at: int | None = None

    def place(self) -> Element:
        return self.element


class Definition(Row):
    """A version of a process: a row of `process_definitions`."""

    deployment: int
    tenant: str
    process_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource: str
    sha256: str
    state: str
    deployed_at: int


class Usage(Row):
    """How many instances of a definition (its key) run in this partition."""

    running: int


class Deployment(Row):
    tenant: str
    deployed_at: int


Pinned = Instance | Channel | Part | LoopItems | LoopResult
"""What a batch may have changed: it is told when the batch's commit is known."""

Family = dict[int, Definition]
"""All versions of one process id of a tenant, deleted ones included: their numbers are not given again."""


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
        self.signals: dict[tuple[str, str], dict[int, Subscription]] = {}
        """Open subscriptions of signals in the cached trees, by tenant and name."""
        self.signal_pages: dict[tuple[str, str, int], int | None] = {}
        """Of this batch, by tenant, name and the key that it begins behind: a page's last key, None of the last."""
        self.channels: dict[ChannelKey, Channel] = {}
        """Least recently used first."""
        self.channels_weight = 0
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
        """How many characters of variables, items and results the batch has written so far, undone ones included."""
        self.dirty: dict[Row, None] = {}
        """Changed rows, in the order of their first change."""
        self.fresh: set[Row] = set()
        """Those of them that the database does not have yet."""
        self._images: dict[Row, tuple[Row, bool] | None] = {}
        """What the command changed: by row, what it was before, and whether it was dirty; None of a new one."""
        self._links: list[tuple[dict[Any, Any], Any, Any]] = []
        self._first_key = self.next_key
        self._weighed: dict[Instance, int] = {}
        """The trees whose weight the command changes, with what it was before."""

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
        if root not in self._weighed:
            self.edit(root)
            self._weighed[root] = root.weight
        root.weight += by

    # ---- commands

    def changed(self) -> Iterable[Row]:
        """The rows that the command has changed so far, in the order of their first change."""
        return self._images

    def keep(self) -> None:
        """The command is done: what it changed stays."""
        for root, before in self._weighed.items():
            self.weight += root.weight - before
        self._forget_changes()

    def _forget_changes(self) -> None:
        self._images.clear()
        self._links.clear()
        self._first_key = self.next_key
        self._weighed.clear()

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
        touched = list(dict.fromkeys(_channels_of(self.dirty)))
        for channel in touched:
            channel.pins += 1
            self.channels.pop(channel.id, None)
            self.channels[channel.id] = channel
            self.weigh_channel(channel)
        return touched

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
                if len(one.messages) > MAX_MESSAGES_IN_MEMORY and self._is_clean(one):
                    self._forget_channel(one)
            elif one.key in self.ended and not one.pins:
                self.ended.remove(one.key)
                forget_links(one.head if isinstance(one, Part) else one)

    def _is_clean(self, channel: Channel) -> bool:
        """Whether neither a batch on its way nor the one that is being computed has changed the channel."""
        return not channel.pins and not any(one is channel for one in _channels_of(self.dirty))

    def _forget_channel(self, channel: Channel) -> None:
        del self.channels[channel.id]
        self.channels_weight -= channel.weight
        channel.messages, channel.subscriptions, channel.locks = {}, {}, {}

    def evict(self, limit: int) -> int:
        """Forget trees that are not pinned, least recently used first, until at most `limit` bytes are held.

        Only between batches: what a batch has changed is pinned when it is sealed. Channels may have a quarter.
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
        over, victims = self.weight - limit, []
        for part in self.parts.values():
            if over <= 0:
                break
            if not part.pins:
                victims.append(part)
                over -= sum(weight_of(element) for element in descendants(part.head))
        for part in victims:
            if part.key in self.parts:  # it was not in another that has just been forgotten
                self._forget_part(part)
        return len(victims)

    def _forget_texts(self, body: Element) -> None:
        pages = body.pages
        assert pages is not None, "only bodies of paged loops are in this table"
        texts: list[str] = []
        if pages.items_saved:
            kept = (0 if body.loop is None else body.loop.next) + ITEMS_KEPT
            texts += [pages.items.pop(index) for index in [index for index in pages.items if index >= kept]]
        texts += [pages.results.pop(index) for index in pages.results_saved if index in pages.results]
        pages.results_saved.clear()
        self._lose(body.root, LOOP_TEXT_WEIGHT * len(texts) + sum(map(len, texts)))

    def _forget_part(self, part: Part) -> None:
        head = part.head
        assert head.scope is not None, "an inner instance has a body"
        if head.scope.pages is not None:
            head.scope.pages.read_to = min(head.scope.pages.read_to, head.key - 1)
        self._lose(head.root, sum(weight_of(element) for element in descendants(head)))
        del head.scope.children[head.key]
        self._drop(head)

    def _lose(self, root: Instance, weight: int) -> None:
        root.weight -= weight
        self.weight -= weight

    def _evict_channels(self, limit: int) -> int:
        count = 0
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
                if subscription.kind == "SIGNAL":
                    waiting = self.signals[element.instance.tenant, subscription.name]
                    waiting.pop(key, None)
                    if not waiting:
                        del self.signals[element.instance.tenant, subscription.name]
            if element.user_task is not None:
                del self.user_tasks[element.user_task.key]
            forget_links(element)


def _restore_order(where: dict[Any, Any]) -> None:
    """Rows stand in the order of their keys, as they do when they are loaded."""
    if all(isinstance(key, int) for key in where):
        rows = sorted(where.items())
        where.clear()
        where.update(rows)


def weight_of(element: Element) -> int:
    """Estimated bytes of an element with what hangs on it, without what is below it."""
    return (
        (INSTANCE_WEIGHT if isinstance(element, Instance) else ELEMENT_WEIGHT)
        + JOB_WEIGHT * len(element.jobs)
        + INCIDENT_WEIGHT * len(element.open_incidents)
        + TIMER_WEIGHT * len(element.timers)
        + SUBSCRIPTION_WEIGHT * len(element.subscriptions)
        + (USER_TASK_WEIGHT if element.user_task is not None else 0)
        + sum(variable.weight() for variable in element.variables.values())
        + (element.pages.weight() if element.pages is not None else 0)
    )


def _note_saved(row: LoopItems | LoopResult) -> None:
    pages = row.body.pages
    if pages is not None and isinstance(row, LoopItems):
        pages.items_saved = True
    elif pages is not None and isinstance(row, LoopResult):
        pages.results_saved.append(row.key)


def _channels_of(rows: Iterable[Row]) -> Iterator[Channel]:
    for row in rows:
        if type(row) in _CHANNEL_ROWS:
            yield row.channel  # type: ignore[attr-defined]  # each of these has one


_CHANNEL_ROWS: frozenset[type] = frozenset((Message, ChannelSubscription, StartLock))
_LOOP_ROWS = (LoopItems, LoopResult)


def descendants(element: Element) -> Iterator[Element]:
    """The element and everything live below it, parents first."""
    pending = [element]
    while pending:
        current = pending.pop()
        pending.extend(current.children.values())
        yield current


def forget_links(element: Element) -> None:
    """Cut the circles of references, so that memory is freed without the cycle collector."""
    element.children = {}
    element.jobs = {}
    element.variables = {}
    element.open_incidents = {}
    element.timers = {}
    element.subscriptions = {}
    element.user_task = None
    element.items = []
    element.part = element.pages = None
    element.scope = None
    element.root = element.instance = MISSING
