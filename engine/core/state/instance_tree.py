"""The rows of an instance tree, as they are in memory.

They are mutable records that only `engine.core.apply` changes, each time after `State.edit(row)`. A `tokens` dictionary
is replaced, never changed in place.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Any

import msgspec

from vivero.engine.bpmn.model import Node
from vivero.engine.core.rules import LARGE_JSON
from vivero.engine.core.state.loop_rows import place_of, texts_of
from vivero.engine.core.state.rows import Row
from vivero.engine.feel import decode_large, from_json

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
    """docs/core.md has the diagram; `engine.core.lifecycle` holds the transitions."""

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
    commits_under_way: int = 0
    """Of a root: batches that changed it and whose commit is not known yet."""
    weight: int = 0
    """Of a root: estimated bytes of the tree in memory."""
    rows: int = 0
    """Of a root: live elements and process instances that are loaded with it, with `still_to_come`."""
    in_parts: int = 0
    """Of a root: those that are loaded in parts, which may be in memory or not."""

    def outer(self) -> Element | None:
        return None


class LoopState(msgspec.Struct, frozen=True):
    """How far a loop is. `next`: the index of the next inner instance."""

    size: int
    next: int = 0
    completed: int = 0
    terminated: int = 0
    paged: bool = False
    """Inner instances, items and results are loaded and evicted in parts, by themselves (docs/adr/0006)."""
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
    rows: list[str]

    def place(self) -> Element:
        return self.body


class LoopResult(Row):
    """The result in a row of `loop_items` of a paged loop; `key` is the index."""

    body: Element
    result: str

    def place(self) -> Element:
        return self.body


class LoopPages(Row, msgspec.Struct):  # the second base tells the linter that defaults are copied
    """What is in memory of a paged loop: items that are still needed and results, as JSON text by their index.

    `key` is the body's. This is no row of a table: `LoopItems` and `LoopResult` are what is saved.
    """

    items: dict[int, str] = {}
    """Of those that were loaded."""
    results: dict[int, str] = {}
    rows: list[str] = []
    """All items, as the loop began with them (`loop_rows`), while they are in memory."""
    rows_saved: bool = True
    """Whether the database has them, so that items can be loaded."""
    opened: list[str] = []
    """The items of the row that was looked into last, which is number `opened_row`."""
    opened_row: int = -1
    results_saved: list[int] = []
    """Of which results the database is known to have."""
    read_to: int = 0
    """Live inner instances with keys up to this one are all in memory."""
    ahead: list[tuple[int, int]] = []
    """The keys of those behind, in their order, as far as they were read: what lives, and what has ended since. With
    how many rows each has, about."""

    def note_evicted(self, key: int) -> None:
        """This inner instance is in memory no more: pages go on before it."""
        if key <= self.read_to:
            self.read_to, self.ahead = key - 1, []

    def item(self, index: int) -> str | None:
        """None: it has to be loaded."""
        if index in self.items or not self.rows:
            return self.items.get(index)
        number, place = place_of(index)
        if self.opened_row != number:
            self.opened_row, self.opened = number, texts_of(self.rows[number])
        return self.opened[place]

    def weight(self) -> int:
        texts = (*self.items.values(), *self.results.values(), *self.rows)
        return LOOP_TEXT_WEIGHT * len(texts) + sum(map(len, texts))


class Part(Row):
    """An inner instance of a paged loop with all that is live below it: it is loaded and forgotten by itself.

    `key` is the inner instance's. This is no row of a table.
    """

    head: Element
    commits_under_way: int = 0
    """Batches that changed it and whose commit is not known yet."""
    rows: int = 0
    """Live elements and process instances that are loaded with it, with `still_to_come`."""


class Job(Row):
    """A row of `jobs` without its lease columns; `lease` says what the engine does to those (docs/design/log.md §7)."""

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
    canonical: str | None = None
    """Once a large one is decoded: what encoding it gives, if that is known."""

    def decode(self) -> Any:
        if self.decoded is MISSING:
            if len(self.value) > LARGE_JSON:
                self.decoded, self.canonical = decode_large(self.value)
            else:
                self.decoded = from_json(self.value)
        return self.decoded

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


def weight_of(element: Element) -> int:
    """Estimated bytes of an element with what hangs on it, without what is below it."""
    return (
        (INSTANCE_WEIGHT if isinstance(element, Instance) else ELEMENT_WEIGHT)
        + JOB_WEIGHT * len(element.jobs)
        + INCIDENT_WEIGHT * len(element.open_incidents)
        + TIMER_WEIGHT * len(element.timers)
        + SUBSCRIPTION_WEIGHT * len(element.subscriptions)
        + (USER_TASK_WEIGHT if element.user_task is not None else 0)
        + (sum(variable.weight() for variable in element.variables.values()) if element.variables else 0)
        + (element.pages.weight() if element.pages is not None else 0)
    )


def descendants(element: Element) -> Iterator[Element]:
    """The element and everything live below it, parents first."""
    pending = [element]
    while pending:
        current = pending.pop()
        pending.extend(current.children.values())
        yield current


def still_to_come(element: Element) -> int:
    """How many inner instances a loop has yet to make that will be loaded with it."""
    loop = element.loop
    return 0 if loop is None or loop.paged else loop.size - loop.next


def break_cycles(element: Element) -> None:
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
