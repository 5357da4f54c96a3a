"""The aggregates in memory: instance trees and the catalogue; which rows changed, and how to undo.

Rows are mutable records that only `engine.core.apply` changes, each time after `State.edit(row)`: that marks the row
dirty and keeps its pre-image, so that a raising command is undone (CORE D10). Dictionaries that link rows are changed
through `State.link` and `State.unlink` for the same reason. A `tokens` dictionary is replaced, never changed in place.

All of this is a cache of one leadership term; PostgreSQL is the truth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Any

import msgspec

from engine.bpmn.model import Node, Process
from engine.core.records import PARTITION_SHIFT

MISSING: Any = object()

ELEMENT_WEIGHT = 1600
INSTANCE_WEIGHT = 2400
JOB_WEIGHT = 900
INCIDENT_WEIGHT = 700
TIMER_WEIGHT = 700
USER_TASK_WEIGHT = 1200
VARIABLE_WEIGHT = 350
"""Estimated bytes of a row in memory, with its share of the dictionaries."""


class ElementState(StrEnum):
    """CORE.md section 2; `engine.core.lifecycle` holds the transitions."""

    ACTIVATING = "ACTIVATING"
    ACTIVATED = "ACTIVATED"
    COMPLETING = "COMPLETING"
    COMPLETED = "COMPLETED"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"


class Row(msgspec.Struct):
    """A row of a table. `key` is unique over all tables of a partition."""

    key: int


class Element(Row):
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
    user_task: UserTask | None = None
    items: list[LoopItem] = []
    """Of a body: what its inner instances are made for, and their results."""
    node: Node = MISSING
    """What the model says; a cache of the view."""

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
        return self.state is ElementState.ACTIVATED and self.then is None and not self.interrupted


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


class LoopItem(Row):
    """A row of `loop_items`; `key` is the index. `item` and `result` are JSON text."""

    body: Element
    item: str
    result: str | None = None


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


class Variable(Row):
    """A row of `variables`; `value` is JSON text, `decoded` its FEEL value once somebody asked."""

    scope: Element
    name: str
    value: str
    decoded: Any = MISSING

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
        self.trees: dict[int, Instance] = {}
        """Roots by key, least recently used first."""
        self.ended: set[int] = set()
        """Tombstones: roots that ended in batches whose commit is not known yet; the tables may still show them."""
        self.families: dict[tuple[str, str], Family] = {}
        self.definitions: dict[int, Definition] = {}
        self.usage: dict[int, Usage] = {}
        self.models: dict[int, Process] = {}
        self.weight = 0
        self.dirty: dict[int, Row] = {}
        """Changed rows by identity, in the order of their first change."""
        self.fresh: dict[int, Row] = {}
        """Those of them that the database does not have yet."""
        self._images: dict[int, tuple[Row, Row, bool] | None] = {}
        """What the command changed: the row, what it was before, and whether it was dirty; None of a new one."""
        self._links: list[tuple[dict[Any, Any], Any, Any]] = []
        self._first_key = self.next_key
        self._grown = 0
        """By how many bytes the command has changed the weight so far."""

    def key(self) -> int:
        """The next key of this partition."""
        key = self.next_key
        self.next_key = key + 1
        return key

    # ---- changing rows (appliers only)

    def edit(self, row: Row) -> None:
        """Mark `row` dirty, and keep what it was before this command."""
        identity = id(row)
        if identity not in self._images:
            image = row.__copy__()  # type: ignore[attr-defined]  # every Struct has it
            self._images[identity] = (row, image, identity in self.dirty)
            self.dirty[identity] = row

    def add(self, row: Row) -> None:
        """Mark a row dirty that did not exist before this command."""
        identity = id(row)
        self._images[identity] = None
        self.dirty[identity] = self.fresh[identity] = row

    def link(self, where: dict[Any, Any], key: Any, value: Any) -> None:
        self._links.append((where, key, where.get(key, MISSING)))
        where[key] = value

    def unlink(self, where: dict[Any, Any], key: Any) -> None:
        self._links.append((where, key, where.pop(key)))

    def weigh(self, root: Instance, by: int) -> None:
        """The tree takes `by` bytes more."""
        self.edit(root)
        root.weight += by
        self.weight += by
        self._grown += by

    # ---- commands

    def changed(self) -> Iterator[Row]:
        """The rows that the command has changed so far, in the order of their first change."""
        return (self.dirty[identity] for identity in self._images)

    def keep(self) -> None:
        """The command is done: what it changed stays."""
        self._images.clear()
        self._links.clear()
        self._first_key = self.next_key
        self._grown = 0

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
        for identity, entry in self._images.items():
            if entry is None:
                del self.dirty[identity], self.fresh[identity]
                continue
            row, image, was_dirty = entry
            for name in row.__struct_fields__:
                setattr(row, name, getattr(image, name))
            if not was_dirty:
                del self.dirty[identity]
        self.next_key = self._first_key
        self.weight -= self._grown
        self.keep()

    # ---- batches

    def touched_roots(self) -> list[Instance]:
        """The roots of the trees that the batch changed."""
        roots = {id(root): root for row in self.dirty.values() if (root := root_of(row)) is not None}
        return list(roots.values())

    def seal(self) -> list[Instance]:
        """End of a batch: pin what it changed, and give the trees their next revision."""
        roots = self.touched_roots()
        for root in roots:
            root.revision += 1
            root.pins += 1
            self.dirty[id(root)] = root
            if root.ended_at is None:
                self.trees.pop(root.key, None)
                self.trees[root.key] = root
            else:
                self.ended.add(root.key)
        return roots

    def saved(self) -> None:
        """The changes of a sealed batch are on their way to the database: from now on it is the next batch."""
        self.dirty.clear()
        self.fresh.clear()

    def committed(self, roots: list[Instance]) -> None:
        """The commit of a sealed batch is known: what it changed may be evicted again.

        The next batch may be half computed: a tree that it has ended is no tombstone before that batch is sealed.
        """
        for root in roots:
            root.pins -= 1
            if root.key in self.ended and not root.pins:
                self.ended.remove(root.key)
                forget_links(root)

    def evict(self, limit: int) -> int:
        """Forget trees that are not pinned, least recently used first, until at most `limit` bytes are held.

        Only between batches: what a batch has changed is pinned when it is sealed.
        """
        count = 0
        if self.weight > limit:
            for root in [root for root in self.trees.values() if not root.pins]:
                if self.weight <= limit:
                    break
                self.forget(root)
                count += 1
        return count

    def forget_catalogue(self) -> None:
        """Drop what is known of definitions, and the trees that count on it; nothing may be pinned."""
        for root in list(self.trees.values()):
            self.forget(root)
        self.families.clear()
        self.definitions.clear()
        self.usage.clear()

    def forget(self, root: Instance) -> None:
        """Drop a clean tree from the cache."""
        del self.trees[root.key]
        self.weight -= root.weight
        for element in descendants(root):
            del self.elements[element.key]
            for key in element.jobs:
                del self.jobs[key]
            for key in element.open_incidents:
                del self.incidents[key]
            for key in element.timers:
                del self.timers[key]
            if element.user_task is not None:
                del self.user_tasks[element.user_task.key]
            forget_links(element)


def _restore_order(where: dict[Any, Any]) -> None:
    """Rows stand in the order of their keys, as they do when they are loaded."""
    if all(isinstance(key, int) for key in where):
        rows = sorted(where.items())
        where.clear()
        where.update(rows)


def root_of(row: Row) -> Instance | None:
    """The tree that a row belongs to; None for rows of the catalogue."""
    find = _ROOT_OF.get(type(row))
    return None if find is None else find(row)


_ROOT_OF: dict[type[Row], Callable[[Any], Instance | None]] = {
    Instance: lambda row: row.root,
    Element: lambda row: row.root,
    Variable: lambda row: row.scope.root,
    Job: lambda row: row.element.root,
    Incident: lambda row: row.element.root,
    LoopItem: lambda row: row.body.root,
    UserTask: lambda row: row.element.root,
    Timer: lambda row: None if row.element is None else row.element.root,
}


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
    element.user_task = None
    element.items = []
    element.scope = None
    element.root = element.instance = MISSING
