"""The rows of an instance tree in memory.

Only `core.apply` changes these records, each time after `State.edit(row)`. It replaces a `tokens` dictionary
and never changes one in place.
"""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import Annotated, Any

import msgspec

from vivero.core.bpmn.model import Node
from vivero.core.feel import decode_large, from_json
from vivero.core.records.user_tasks import Transition
from vivero.core.rules import LARGE_JSON
from vivero.core.state.ad_hoc import AdHocState
from vivero.core.state.columns import CHANGES, MEMORY, Column, Count, Time
from vivero.core.state.compensation import Compensation, PastScope
from vivero.core.state.loop_rows import place_of, texts_of
from vivero.core.state.rows import Row
from vivero.core.state.work_rows import Items, latest

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
SUSPENDED_ITEM_WEIGHT = 200
"""Estimated bytes of a row in memory, with its share of the dictionaries."""


class ElementState(StrEnum):
    """The states of an element instance: docs/core.md has the diagram, `core.execution.lifecycle` the transitions."""

    __hash__ = str.__hash__

    ACTIVATING = "ACTIVATING"
    ACTIVATED = "ACTIVATED"
    COMPLETING = "COMPLETING"
    COMPLETED = "COMPLETED"
    TERMINATING = "TERMINATING"
    TERMINATED = "TERMINATED"


ACTIVATING, ACTIVATED, COMPLETING, COMPLETED, TERMINATING, TERMINATED = ElementState
"""Names for the members, because a lookup in the class takes six times as long."""


class Waits(msgspec.Struct, frozen=True, eq=False):
    """The rows that an element waits for, by key. At most one of them is a user task."""

    jobs: dict[int, Job] = {}
    user_tasks: dict[int, UserTask] = {}
    timers: dict[int, Timer] = {}
    subscriptions: dict[int, Subscription] = {}
    incidents: dict[int, Incident] = {}
    """The open ones."""

    def weight(self) -> int:
        tasks = sum(task.weight() for task in self.user_tasks.values()) if self.user_tasks else 0
        return (
            JOB_WEIGHT * len(self.jobs)
            + USER_TASK_WEIGHT * len(self.user_tasks)
            + tasks
            + TIMER_WEIGHT * len(self.timers)
            + SUBSCRIPTION_WEIGHT * len(self.subscriptions)
            + INCIDENT_WEIGHT * len(self.incidents)
        )


_NONE: Any = MappingProxyType({})
NO_WAITS = Waits(_NONE, _NONE, _NONE, _NONE, _NONE)
"""Shared by the elements that have never waited, such as most events and gateways. It cannot be changed."""


class Element(Row, msgspec.Struct):  # the second base tells the linter that defaults are copied
    """A live element instance: a row of `element_instances`, or, as `Instance`, of `process_instances`."""

    element: Annotated[str, Column(stored="element_id")]
    type: Annotated[str, Column(stored="element_type")]
    state: Annotated[ElementState, CHANGES]
    tree: Annotated[InstanceTree, MEMORY]
    instance: Annotated[Instance, MEMORY]
    scope: Annotated[Element | None, MEMORY]
    """The flow scope; for a called process its call activity; None for a root."""
    path: Annotated[tuple[int, ...], MEMORY]
    """Keys of the variable scopes, from this one to the process instance."""
    started_at: Time
    ended_at: Annotated[int | None, Column(time=True, changes=True, loaded=False)] = None
    tokens: Annotated[dict[str, int], Column(usual={}, changes=True)] = {}
    """Numbers of tokens on each flow and in each element of this scope. The order of these places means nothing."""
    live: Annotated[int, Column(usual=0, changes=True)] = 0
    """The number of children that have not ended."""
    index: Annotated[int, Column(stored="loop_index", usual=-1)] = -1
    label: Annotated[str | None, Column(stored="element_name", document="name")] = None
    """The element's name in the model, for people."""
    then: Annotated[tuple[Any, ...] | None, Column(stored="then_", document="then_", changes=True)] = None
    """The step that follows once all children have ended: `("complete",)`, `("resume",)`, `("roll back",)` or
    `("enter", element, variables)`."""
    interrupted: Annotated[bool, Column(usual=False, changes=True)] = False
    """An interrupting event sub-process has taken over: nothing else in this scope catches an event."""
    occurred: dict[str, str] | None = None
    """Variables (JSON text) of an event that had already happened when its element was entered."""
    loop: Annotated[LoopState | None, CHANGES] = None
    """The progress of the loop, for a multi-instance body."""
    ad_hoc: Annotated[AdHocState | None, CHANGES] = None
    """The progress of an ad-hoc sub-process in which something was to be activated."""
    request: Annotated[int | None, Column(key=True, changes=True)] = None
    incidents: Annotated[int, Column(usual=0, changes=True)] = 0
    """The number of open incidents of this element and of all below it."""
    incident: Annotated[int | None, Column(stored="incident_key", key=True, changes=True)] = None
    registered: Annotated[dict[str, int], Column(usual={}, null=True, changes=True)] = {}
    """Numbers of completed activities of this scope that can be compensated, by id."""
    awaiting_reset: Annotated[dict[str, tuple[str, ...]], Column(usual={}, null=True, changes=True)] = {}
    """The complex gateways of this scope that wait for reset, by id, with the flows that gave a token at the start."""
    compensation: Compensation | None = None
    """Its place in a compensation, for a compensation handler and its boundary event."""
    occurrences: Annotated[dict[str, dict[str, str]], Column(usual={}, null=True, changes=True)] = {}
    """Events that the element awaits, by id, of whose definitions some have occurred and all must: the variables (JSON
    text) so far, of later ones over those of earlier ones. The definitions still to occur have their waits."""
    past: Annotated[PastScope | None, MEMORY] = None
    """The innermost completed scope whose variables a compensation handler sees."""
    children: Annotated[dict[int, Element], MEMORY] = {}
    variables: Annotated[dict[str, Variable], MEMORY] = {}
    waits: Annotated[Waits, MEMORY] = NO_WAITS
    part: Annotated[Part | None, MEMORY] = None
    """The part of a paged loop that this is loaded with; None: it is loaded with the root."""
    pages: Annotated[LoopPages | None, MEMORY] = None
    """The loaded items and results, for the body of a paged loop."""
    flows: Annotated[tuple[str, ...], Column(usual=(), null=True, changes=True, loaded=False)] = ()
    """The sequence flows that the element took when it completed."""
    items: Annotated[list[LoopItem], MEMORY] = []
    """The items of a multi-instance body, and the results of its inner instances."""
    node: Annotated[Node, MEMORY] = MISSING
    """The element in the model; a cache of `View.node`."""

    def place(self) -> Element:
        return self

    def own_waits(self) -> Waits:
        """The waits, to add a row to one of them."""
        if self.waits is NO_WAITS:
            self.waits = Waits()
        return self.waits

    def outer(self) -> Element | None:
        """The next variable scope. A called process does not see the variables of its caller."""
        return self.scope

    def seen_next(self) -> Element | PastScope | None:
        """The next scope whose variables expressions see. They also see those of completed scopes in a handler."""
        return self.scope if self.past is None else self.past

    def weight_of_occurrences(self) -> int:
        """The memory of `occurrences`, in bytes (estimated)."""
        kept = self.occurrences.values()
        return sum(VARIABLE_WEIGHT + sum(map(len, one)) + sum(map(len, one.values())) for one in kept)

    @property
    def part_key(self) -> int | None:
        """The inner instance of a paged loop that the rows here are loaded with; None: the root."""
        return None if self.part is None else self.part.key

    @property
    def is_inner(self) -> bool:
        """Whether this is an inner instance of a loop."""
        return self.index >= 0

    @property
    def is_open(self) -> bool:
        """Whether an event can start an event sub-process in this scope."""
        return self.state is ACTIVATED and self.then is None and not self.interrupted


class Instance(Element, kw_only=True):
    """A process instance: the scope of its start event."""

    definition_key: Annotated[int, Column(stored="process_definition_key", document="definition", key=True)]
    process_id: str
    version_number: Annotated[int, Column(stored="process_version", document="number")]
    version_tag: str | None
    name: Annotated[str | None, Column(stored="process_name")]
    tenant: Annotated[str, Column(stored="tenant_id")]
    business_id: Annotated[str | None, CHANGES]
    tags: Annotated[tuple[str, ...], Column(usual=())]
    depth: Annotated[int, Column(usual=1)]
    created_position: Annotated[int, Column(document="position", large=True)]
    parent_instance: Annotated[
        int | None, Column(stored="parent_process_instance_key", document="parent", key=True)
    ] = None
    start: tuple[str, dict[str, str]] | None = None
    """The start event that has happened, with its variables (JSON text); None: the none start event."""
    start_lock: str | None = None
    """The correlation key of the message that started the instance. No other instance starts with it meanwhile."""
    terminate_after: Annotated[tuple[str, ...], Column(usual=(), null=True)] = ()
    """Elements after whose end the instance terminates."""
    suspended_at: Annotated[int | None, Column(time=True, changes=True)] = None
    """None: it is not suspended."""
    suspended_reason: Annotated[str | None, CHANGES] = None
    suspended_work: Annotated[Items, Column(usual=(), null=True, changes=True, saved_as="latest_suspended_work")] = ()
    """Work items that wait for the end of the suspension, the oldest first."""
    suspended_rows: Annotated[int, Column(usual=0, changes=True)] = 0
    """The number of rows of `work_items` that have the first ones of them (`state.work_rows`)."""
    due_at: Annotated[int | None, Column(time=True, changes=True)] = None
    """The instance is late afterwards, by its model; None: the model does not say."""

    def outer(self) -> Element | None:
        return None

    def seen_next(self) -> Element | PastScope | None:
        return None

    @property
    def latest_suspended_work(self) -> Items:
        """The items that are saved with the instance itself."""
        return latest(self.suspended_work, self.suspended_rows)

    @property
    def own_tree(self) -> InstanceTree:
        """The tree of a root; for a called instance one that says nothing."""
        return self.tree if self.parent_instance is None else NO_TREE


class SuspensionChange(Row):
    """A process instance was suspended or resumed in this batch. This is not a row of a table: its jobs wait, or
    may be activated again. `key` is that of the instance."""

    instance: Instance

    def place(self) -> Element:
        return self.instance


class WorkRows(Row):
    """Rows of `work_items` changed in this batch, from number `first` on; `key` is that of the instance. The items are
    those that it has when the batch is saved: its suspended ones, or the deferred ones of its tree."""

    instance: Instance
    suspended: bool
    first: int

    def place(self) -> Element:
        return self.instance

    def items(self) -> Items:
        return self.instance.suspended_work if self.suspended else self.instance.tree.work

    def rows(self) -> int:
        """The number of rows that the instance has now."""
        return self.instance.suspended_rows if self.suspended else self.instance.tree.work_rows


NO_PAGES: tuple[object, list[Element]] = (None, [])
"""No migration in pages is known."""


class InstanceTree(Row):
    """A root process instance and all that it calls: what is loaded, changed by a batch, saved and evicted together.

    `key` is the root's. The columns are those of the root's row in `process_instances`.
    """

    root: Annotated[Instance, MEMORY]
    context: Annotated[str | None, Column(stored="trace", document="trace")] = None
    """The context of the command that created the root."""
    work: Annotated[Items, Column(usual=(), null=True, changes=True, saved_as="latest_work")] = ()
    """Work items that a later command continues."""
    work_rows: Annotated[int, Column(usual=0, changes=True)] = 0
    """The number of rows of `work_items` that have the first ones of them."""
    revision: Annotated[int, Column(stored="version", large=True, changes=True)] = 0
    """The number of batches that changed the tree."""
    in_parts: Annotated[int, Column(usual=0, changes=True)] = 0
    """The number of live rows in parts, which may be in memory or not."""
    rows: Annotated[int, MEMORY] = 0
    """The number of live rows that are loaded with the root, including `still_to_come`."""
    weight: Annotated[int, MEMORY] = 0
    """The memory of all that is loaded, in bytes (estimated)."""
    loaded_work: Annotated[int | None, MEMORY] = None
    """For how many of the last items of `work` the parts are loaded; None: for all."""
    paging: Annotated[tuple[object, tuple[int, str, Any] | None], MEMORY] = ((), None)
    """The work that was looked at last, and its item of an operation in pages (`deferred_work.next_page`)."""
    of_pages: Annotated[tuple[object, list[Element]], MEMORY] = NO_PAGES
    """The instance that is migrated in pages, and the elements of all pages by key (`state.migrations`)."""
    commits_under_way: Annotated[int, MEMORY] = 0
    """The number of batches that changed the tree, and whose commits are under way."""

    @property
    def latest_work(self) -> Items:
        """The items that are saved with the tree itself."""
        return latest(self.work, self.work_rows)

    def place(self) -> Element:
        return self.root


NO_TREE = InstanceTree(0, MISSING)
"""The usual values, for called instances. It cannot be reached from any row."""


class LoopState(msgspec.Struct, frozen=True):
    """The progress of a loop. `next` is the index of the next inner instance."""

    size: int
    next: int = 0
    completed: int = 0
    terminated: int = 0
    paged: bool = False
    """Whether inner instances, items and results are loaded and evicted in parts (docs/adr/0006)."""
    collected: int = 0
    """Characters of JSON in the results so far."""


class LoopItem(Row):
    """A row of `loop_items`; `key` is the index. `item` and `result` are JSON text."""

    body: Element
    item: str
    result: str | None = None

    def place(self) -> Element:
        return self.body


class LoopItems(Row):
    """All rows of `paged_loop_items` of a loop that starts; `key` is the body's."""

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
    """The items and results of a paged loop that are in memory, as JSON text by index.

    `key` is the body's. This is not a row of a table: `LoopItems` and `LoopResult` are saved instead.
    """

    items: dict[int, str] = {}
    """Loaded items that are still needed."""
    results: dict[int, str] = {}
    rows: list[str] = []
    """All items of the loop in the form of `loop_rows`, while they are in memory."""
    rows_saved: bool = True
    """Whether the database has the rows, so that items can be loaded."""
    opened: list[str] = []
    """The items of the latest decoded row, which is number `opened_row`."""
    opened_row: int = -1
    results_saved: list[int] = []
    """Indexes of results that the database has."""
    read_to: int = 0
    """All live inner instances with keys up to this one are in memory."""
    ahead: list[tuple[int, int]] = []
    """The keys of the next inner instances in order, as far as they were read, with their estimated numbers of rows.
    Some may have ended since."""

    def note_evicted(self, key: int) -> None:
        """Let the next page begin before this inner instance, which has been evicted."""
        if key <= self.read_to:
            self.read_to, self.ahead = key - 1, []

    def item(self, index: int) -> str | None:
        """The item as JSON text; None if it must be loaded."""
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
    """An inner instance of a paged loop with all live rows below it. It is loaded and evicted by itself.

    `key` is the inner instance's. This is not a row of a table.
    """

    head: Element
    commits_under_way: int = 0
    """The number of batches that changed it, and whose commits are under way."""
    rows: int = 0
    """The number of live rows that are loaded with it, including `still_to_come`."""


LEASED = "leased"
"""The change of a lease that keeps its token, and has another end."""


class Job(Row):
    """A row of `jobs` without its lease columns; `lease` is the engine's change to those (docs/design/log.md §7)."""

    element: Annotated[Element, MEMORY]
    type: str
    retries: Annotated[int, CHANGES]
    created_at: Time
    updated_at: Annotated[int, Column(time=True, changes=True)]
    state: Annotated[str, CHANGES]
    kind: Annotated[str, Column(usual="BPMN_ELEMENT")]
    listener_event: Annotated[str, Column(usual="UNSPECIFIED")]
    listener_index: Count
    priority: Annotated[int, Column(usual=0, changes=True)]
    headers: Annotated[dict[str, str], Column(usual={})]
    error_code: Annotated[str | None, CHANGES] = None
    error_message: Annotated[str | None, CHANGES] = None
    available_at: Annotated[
        int | None, Column(time=True, changes=True, saved_as="unavailable_until", shown_as="failed_until")
    ] = None
    context: Annotated[str | None, Column(stored="trace", document="trace", in_snapshots=False)] = None
    """The context of the command that created the job."""
    ended_at: Annotated[int | None, Column(time=True, changes=True, loaded=False)] = None
    denied_reason: Annotated[str | None, Column(changes=True, loaded=False)] = None
    """The reason that a task listener gave when it denied a transition, which may be empty; None: it did not."""
    business_id: Annotated[str | None, Column(loaded=False)] = None
    """That of its process instance when it was created, as of all rows that an element waits for."""
    lease: Annotated[str | None, Column(changes=True, is_column=False, loaded=False)] = None
    """None for no change; "ready", "closed", "backoff" until `available_at`, or `LEASED` until `leased_until`."""
    leased_until: Annotated[int | None, MEMORY] = None

    @property
    def unavailable_until(self) -> int | None:
        if self.lease == LEASED:
            return self.leased_until
        return self.available_at if self.lease == "backoff" else None

    @property
    def failed_until(self) -> int | None:
        return self.available_at if self.state == "FAILED" else None

    def place(self) -> Element:
        return self.element


class UserTask(Row):
    """A row of `user_tasks`. Dates are epoch milliseconds."""

    element: Annotated[Element, MEMORY]
    created_at: Time
    priority: Annotated[int, CHANGES]
    assignee: Annotated[str | None, CHANGES]
    candidate_groups: Annotated[tuple[str, ...], Column(document="groups", usual=(), changes=True)]
    candidate_users: Annotated[tuple[str, ...], Column(document="users", usual=(), changes=True)]
    due_at: Annotated[int | None, Column(time=True, changes=True)]
    follow_up_at: Annotated[int | None, Column(time=True, changes=True)]
    headers: Annotated[dict[str, str], Column(usual={})]
    external_form: str | None
    form_key: Annotated[int | None, Column(key=True)]
    transition: Annotated[Transition | None, CHANGES] = None
    """The change that waits for listeners."""
    state: Annotated[str, Column(changes=True, loaded=False, saved_as="status")] = "CREATED"
    ended_at: Annotated[int | None, Column(time=True, changes=True, loaded=False)] = None
    business_id: Annotated[str | None, Column(loaded=False)] = None

    @property
    def status(self) -> str:
        """The state as users see it."""
        return self.state if self.transition is None else self.transition.event

    def weight(self) -> int:
        """The memory of the variables that wait for listeners, in bytes."""
        kept = {} if self.transition is None else self.transition.variables
        return sum(map(len, kept)) + sum(map(len, kept.values()))

    def place(self) -> Element:
        return self.element


SUSPENDED = "SUSPENDED"
"""The state of a timer that was due while its process instance is suspended."""


class Timer(Row):
    """A row of `timers`: of an element, or of a definition that it starts (`element` is None)."""

    element: Annotated[Element | None, MEMORY]
    definition: Annotated[int, Column(key=True, stored="process_definition_key", of_instance="definition_key")]
    process_id: Annotated[str, Column(of_instance="process_id")]
    tenant: Annotated[str, Column(stored="tenant_id", of_instance="tenant")]
    target: Annotated[str, Column(stored="target_element_id", entry="element_id")]
    type: str
    state: Annotated[str, CHANGES]
    due_at: Annotated[int, Column(stored="due_at_ms", time=True, changes=True)]
    created_at: Time
    repetitions: Annotated[int, Column(usual=1)]
    cycle: tuple[str, str, int, int] | None
    triggered_at: Annotated[int | None, Column(time=True, changes=True, loaded=False)] = None
    ended_at: Annotated[int | None, Column(time=True, changes=True, loaded=False)] = None

    def place(self) -> Element | None:
        return self.element


class Subscription(Row):
    """A row of `subscriptions`: an element waits for an event. `correlation_key` is None unless it is a message.

    The state is CREATED, CORRELATED once the event has happened, or DELETED if the element no longer waits.
    """

    element: Annotated[Element, MEMORY]
    target: Annotated[str, Column(stored="target_element_id", entry="element_id")]
    type: str
    kind: str
    name: str
    state: Annotated[str, CHANGES]
    created_at: Time
    updated_at: Annotated[int, Column(time=True, changes=True)]
    interrupting: bool
    correlation_key: str | None
    business_id: str | None = None
    suspended: Annotated[bool, Column(usual=False, changes=True)] = False
    """Whether its message channel has closed it, because a message came while the process instance was suspended."""
    ended_at: Annotated[int | None, Column(time=True, changes=True, loaded=False)] = None

    def place(self) -> Element:
        return self.element


class Variable(Row):
    """A row of `variables`. `value` is JSON text; `decoded` is its FEEL value after the first `decode`."""

    scope: Element
    name: str
    value: str
    decoded: Any = MISSING
    canonical: str | None = None
    """The canonical JSON text of a large decoded value, if it is known."""

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

    element: Annotated[Element, MEMORY]
    type: str
    message: str
    created_at: Time
    stage: str
    argument: Annotated[Any, Column(usual=0)]
    job: Annotated[int | None, Column(key=True, stored="job_key", entry="job_key")]
    state: Annotated[str, Column(changes=True, loaded=False)] = "ACTIVE"
    resolved_at: Annotated[int | None, Column(time=True, changes=True, loaded=False)] = None

    def place(self) -> Element:
        return self.element


def still_to_come(element: Element) -> int:
    """The number of inner instances that a loop has yet to create, unless it is paged."""
    loop = element.loop
    return 0 if loop is None or loop.paged else loop.size - loop.next
