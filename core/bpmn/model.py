"""The executable model: the meaning of a BPMN file, immutable, with every expression compiled.

A `Process` is one executable process of a file. Elements and flows are found by id in O(1). The model does not know how
elements behave; `core` does. Only the parser (`core.bpmn.parser`) builds models.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as MappingOf
from dataclasses import dataclass, field
from typing import Any

from vivero.core.feel import Expression

NodeId = str
FlowId = str


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem that prevents a deployment. `element_id` is None if the file is at fault. `line` counts from 1."""

    resource: str
    element_id: str | None
    line: int | None
    message: str

    def __str__(self) -> str:
        where = f" element '{self.element_id}'" if self.element_id else ""
        line = f" line {self.line}" if self.line else ""
        return f"'{self.resource}'{line}{where}: {self.message}"


@dataclass(frozen=True, slots=True)
class Mapping:
    """`zeebe:input` or `zeebe:output`: the value of `source` is written to `target`, a variable name or dotted path."""

    source: Expression
    target: tuple[str, ...]
    marked: Expression | None = None
    """The source with marks, for an input whose source refers to secrets (`core.bpmn.reading.secret_references`)."""

    @property
    def root(self) -> str:
        return self.target[0]

    @property
    def path(self) -> tuple[str, ...]:
        """The fields below the variable; empty if the target is the whole variable."""
        return self.target[1:]


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a `.form` file."""

    id: str
    version_tag: str | None = None


@dataclass(frozen=True, slots=True)
class GenericResource:
    """A file that the engine stores and gives to workers without reading it: a script of robots (`.rpa`), a text, …"""

    id: str
    version_tag: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionSummary:
    """A decision of a `.dmn` file, as the catalogue knows it."""

    id: str
    name: str
    version_tag: str | None = None


@dataclass(frozen=True, slots=True)
class DecisionFile:
    """A `.dmn` file. `imports` are the names of the files of its deployment that it needs, directly or not."""

    id: str
    name: str
    decisions: tuple[DecisionSummary, ...]
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FormReference:
    """`formId` of `zeebe:formDefinition`: a deployed form. `binding` and `version_tag` as in `CalledElement`."""

    form_id: Expression
    binding: str = "latest"
    version_tag: str | None = None


@dataclass(frozen=True, slots=True)
class LinkedResource:
    """`zeebe:linkedResource`: a deployed file whose key a job's worker gets. `binding` and `version_tag` as in
    `CalledElement`. The type `form` means a deployed form, every other one a generic resource."""

    resource_id: Expression
    type: str
    binding: str = "latest"
    version_tag: str | None = None
    link_name: str | None = None

    @property
    def is_form(self) -> bool:
        return self.type.lower() == "form"


@dataclass(frozen=True, slots=True)
class JobDefinition:
    """`zeebe:taskDefinition` with `zeebe:taskHeaders` and `zeebe:jobPriorityDefinition`."""

    type: Expression
    retries: Expression
    priority: Expression | None = None
    headers: MappingOf[str, str] = field(default_factory=dict)
    computed: MappingOf[str, Expression] = field(default_factory=dict)
    """Headers that are evaluated when the job is created. A header that gives null is left out."""
    form: FormReference | None = None
    """The deployed form of a user task that is a job, which its worker shows."""
    links: tuple[LinkedResource, ...] = ()
    """The deployed files whose keys the worker of a service task gets."""


@dataclass(frozen=True, slots=True)
class MessageEvent:
    """Catching: `name` and `correlation_key` are evaluated when the subscription opens. A start event of a process has
    no key. Throwing without a job: published natively, with `message_id` and `time_to_live` (a duration)."""

    name: Expression
    correlation_key: Expression | None = None
    message_id: Expression | None = None
    time_to_live: Expression | None = None


@dataclass(frozen=True, slots=True)
class TimerEvent:
    """`kind`: "date", "duration" or "cycle" (a repeating interval or six-field cron)."""

    kind: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class SignalEvent:
    name: Expression


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """`code` None catches every error. A throwing event always has a code."""

    code: Expression | None = None


@dataclass(frozen=True, slots=True)
class EscalationEvent:
    """`code` None catches every escalation. A throwing event always has a code."""

    code: Expression | None = None


@dataclass(frozen=True, slots=True)
class TerminateEvent: ...


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """`target`: where a throwing one continues, the catching link event of the same scope. None on a catching one."""

    name: str
    target: NodeId | None = None


@dataclass(frozen=True, slots=True)
class ConditionalEvent:
    """It occurs when `condition` is true after one of the `variables` was created or updated (`changes`)."""

    condition: Expression
    variables: frozenset[str]
    changes: frozenset[str]
    """"create", "update", or both."""


@dataclass(frozen=True, slots=True)
class CompensateEvent:
    """`activity`: the only one that a throwing event compensates; None: all of its scope. `waits`: for handlers."""

    activity: NodeId | None = None
    waits: bool = True


@dataclass(frozen=True, slots=True)
class CancelEvent:
    """Throwing it cancels the transaction around it; its boundary event at the transaction follows."""


SingleEvent = (
    MessageEvent
    | TimerEvent
    | SignalEvent
    | ErrorEvent
    | EscalationEvent
    | TerminateEvent
    | LinkEvent
    | ConditionalEvent
    | CompensateEvent
    | CancelEvent
)


@dataclass(frozen=True, slots=True)
class MultipleEvent:
    """Several definitions of one event, in document order. It waits for the first to occur, or throws them all."""

    parts: tuple[SingleEvent, ...]
    parallel: bool = False
    """Whether it waits until all of them have occurred."""


EventDefinition = SingleEvent | MultipleEvent


def parts_of(event: EventDefinition | None) -> tuple[SingleEvent, ...]:
    """The definitions of an event: none, one or several."""
    if event is None:
        return ()
    return event.parts if isinstance(event, MultipleEvent) else (event,)


def link_targets(event: EventDefinition | None) -> Iterator[NodeId]:
    """The catching link events at which a throwing event continues."""
    return (part.target for part in parts_of(event) if isinstance(part, LinkEvent) and part.target is not None)


@dataclass(frozen=True, slots=True)
class Repetition:
    """The standard loop: again while `condition` is true, and at most `maximum` times."""

    condition: Expression | None
    """It sees `loopCounter`: the number of iterations so far. None: it is always true."""
    test_before: bool
    """Whether it is evaluated before the first iteration, too."""
    maximum: Expression | None = None


@dataclass(frozen=True, slots=True)
class InnerEvent:
    """An event that inner instances of a multi-instance activity throw as they complete."""

    event: SignalEvent | EscalationEvent
    first_only: bool = False
    """Whether only the first inner instance that completes throws it."""
    condition: Expression | None = None
    """Evaluated as the completion condition is; None: it is always thrown."""


@dataclass(frozen=True, slots=True)
class Loop:
    """The loop of an activity: multi-instance, with a `collection` or a `cardinality`, or the standard loop."""

    sequential: bool
    collection: Expression | None = None
    cardinality: Expression | None = None
    """The number of inner instances."""
    repetition: Repetition | None = None
    item: str | None = None
    """The local variable that holds an inner instance's item."""
    output: Expression | None = None
    """Evaluated when an inner instance completes; its value is the result at the item's index."""
    result: str | None = None
    """The variable that `output` names (or a place in it). It is local to each inner instance, and null at first."""
    output_name: str | None = None
    """The variable that gets the list of results when the body completes."""
    until: Expression | None = None
    """The completion condition, evaluated when an inner instance completes."""
    events: tuple[InnerEvent, ...] = ()


@dataclass(frozen=True, slots=True)
class AdHoc:
    """`zeebe:adHoc` of an ad-hoc sub-process, its attributes, and the elements in it that can be activated."""

    inner: NodeId
    """The node of its inner instances."""
    activatable: MappingOf[NodeId, int]
    """The elements that can be activated, in document order. Two whose bits overlap reach a common node with several
    incoming flows: activated together, they share an inner instance."""
    active: Expression | None = None
    """The collection of the elements that are activated at first."""
    until: Expression | None = None
    """The completion condition, evaluated when an inner instance completes."""
    cancel_remaining: bool = True
    sequential: bool = False
    output: Expression | None = None
    """Evaluated when an inner instance completes; its value is appended to the output collection."""
    result: str | None = None
    """The variable that `output` names (or a place in it). It is local to each inner instance, and null at first."""
    output_name: str | None = None
    """The variable that holds the output collection."""


@dataclass(frozen=True, slots=True)
class Transaction:
    """A transaction sub-process, which a cancel event in it cancels."""

    cancelled_by: NodeId | None
    """The cancel boundary event that follows its cancellation. Without one nothing cancels it."""


@dataclass(frozen=True, slots=True)
class CalledElement:
    """`zeebe:calledElement`. `binding`: "latest", "deployment" or "versionTag". `business_id`: that of the called
    instance, unless it inherits its caller's; None for none."""

    process_id: Expression
    binding: str = "latest"
    version_tag: str | None = None
    all_parent_variables: bool = True
    all_child_variables: bool = True
    inherits_business_id: bool = True
    business_id: Expression | None = None


@dataclass(frozen=True, slots=True)
class CalledDecision:
    """`zeebe:calledDecision`: a decision whose result becomes a variable. `binding` as in `CalledElement`."""

    decision_id: Expression
    result: str
    binding: str = "latest"
    version_tag: str | None = None


@dataclass(frozen=True, slots=True)
class Script:
    """`zeebe:script`: a FEEL expression whose value becomes a variable."""

    expression: Expression
    result: str


@dataclass(frozen=True, slots=True)
class UserTaskDefinition:
    """`zeebe:userTask`. Expressions are evaluated at activation. `due`: a duration from then on, or a date and time."""

    assignee: Expression | None = None
    candidate_groups: Expression | None = None
    candidate_users: Expression | None = None
    due_date: Expression | None = None
    follow_up_date: Expression | None = None
    priority: Expression | None = None
    form_key: Expression | None = None
    form: FormReference | None = None
    external_form: Expression | None = None
    headers: MappingOf[str, str] = field(default_factory=dict)
    due: Expression | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """A sequence flow. BPMN 2.0.2 §8.4.13."""

    id: FlowId
    source: NodeId
    target: NodeId
    condition: Expression | None = None
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A flow node, or the process itself (type PROCESS, the root of its scopes)."""

    id: NodeId
    type: str
    """The element type as the REST API names it: SERVICE_TASK, PARALLEL_GATEWAY, SUB_PROCESS, …"""
    name: str | None = None
    scope: NodeId | None = None
    """The enclosing sub-process or process; None for the process."""
    incoming: tuple[FlowId, ...] = ()
    outgoing: tuple[FlowId, ...] = ()
    default: FlowId | None = None
    conditional: bool = False
    """Whether an activity or a complex gateway has outgoing flows with conditions."""
    activation: Expression | None = None
    """The activation condition of a complex gateway."""
    start_quantity: int = 1
    """The number of tokens that an activity consumes together when it begins."""
    completion_quantity: int = 1
    """The number of tokens that an activity puts on each flow that it takes."""
    start: NodeId | None = None
    """The none start event of a scope; None for a process that only events start. For an event sub-process, its only
    start event, whose `event` and `interrupting` say what starts it."""
    starts_process: bool = False
    """Whether its event, or one behind this event-based gateway, starts the process, though it is no start event."""
    awaited_beside: tuple[NodeId, ...] = ()
    """The events that are awaited, too, if this one starts the process behind a parallel event-based gateway."""
    implicit_starts: tuple[NodeId, ...] = ()
    """The nodes with which a scope without any start event begins."""
    inputs: tuple[Mapping, ...] = ()
    outputs: tuple[Mapping, ...] = ()
    job: JobDefinition | None = None
    event: EventDefinition | None = None
    """The event that an event, a receive task or a send task waits for or throws. None for a none event. For a complex
    gateway, its activation condition, if that depends on variables."""
    interrupting: bool = True
    """For a boundary event and for the start event of an event sub-process."""
    host: NodeId | None = None
    """The activity that a boundary event is attached to."""
    boundaries: tuple[NodeId, ...] = ()
    """The boundary events of an activity, in document order."""
    event_sub_processes: tuple[NodeId, ...] = ()
    """The event sub-processes of a scope that wait for their events, in document order."""
    compensated_by: NodeId | None = None
    """The element that compensates an activity after it has completed: its compensation boundary event, if that has a
    handler; or the event sub-process with a compensation start event in it."""
    handler: NodeId | None = None
    """The compensation handler of a compensation boundary event."""
    in_compensation: bool = False
    """Whether its completion matters to compensation: it can be compensated, it compensates, or it contains both."""
    transaction: Transaction | None = None
    loop: Loop | None = None
    ad_hoc: AdHoc | None = None
    presets: MappingOf[str, Any] = field(default_factory=dict)
    """Local variables, as FEEL values, with which each instance of the element begins."""
    called: CalledElement | None = None
    script: Script | None = None
    decision: CalledDecision | None = None
    user_task: UserTaskDefinition | None = None
    start_form: FormReference | None = None
    """The form that clients show before they start the process; only of a none start event of a process."""
    listeners: MappingOf[str, tuple[JobDefinition, ...]] = field(default_factory=dict)
    """The jobs of its listeners in document order, by event as the REST API names it: START, COMPLETING, …"""
    joins: tuple[NodeId, ...] = ()
    """The gateways of a scope that join by paths: inclusive ones, and complex ones with an activation condition."""
    bits: MappingOf[FlowId, int] = field(default_factory=dict)
    """The bit of each incoming flow of a gateway that joins by paths. Empty if it has one incoming flow."""
    reach: MappingOf[str, int] = field(default_factory=dict)
    """For a gateway that joins by paths: the bits of the incoming flows that a token has a path to without visiting the
    gateway, by flow and node of the scope (BPMN 2.0.2 §13.4.3)."""
    properties: MappingOf[str, str] = field(default_factory=dict)
    line: int | None = None
    entered_as: str = field(init=False, repr=False, compare=False)
    """The type of the element that a token creates here; for a multi-instance activity, its body."""
    is_plain: bool = field(init=False, repr=False, compare=False)
    """Whether its type alone says what happens: it has no mappings, presets, listeners, loop, boundary events,
    conditions on flows, or quantities, and no part in a compensation. Nobody asks such a node about these."""

    def __post_init__(self) -> None:
        features = self.inputs or self.outputs or self.presets or self.listeners or self.loop or self.boundaries
        special = features or self.conditional or self.in_compensation
        object.__setattr__(self, "is_plain", not special and self.start_quantity == self.completion_quantity == 1)
        object.__setattr__(self, "entered_as", self.type if self.loop is None else "MULTI_INSTANCE_BODY")

    @property
    def has_none_start(self) -> bool:
        """Whether the scope can begin without an event."""
        return self.start is not None or bool(self.implicit_starts)

    @property
    def awaits_all(self) -> bool:
        """Whether its event occurs only when all of its definitions have."""
        return isinstance(self.event, MultipleEvent) and self.event.parallel

    @property
    def references(self) -> tuple[CalledElement | CalledDecision | FormReference | LinkedResource, ...]:
        """The references of the node by id and binding: a called process, a decision, a form, linked resources."""
        of_task = None if self.user_task is None else self.user_task.form
        of_job = None if self.job is None else self.job.form
        named = self.called, self.decision, self.start_form, of_task, of_job
        links = () if self.job is None else self.job.links
        return (*(one for one in named if one is not None), *links)


@dataclass(frozen=True, slots=True)
class Process:
    """One executable process. `nodes` includes the process itself under its own id; instances are late after `due`."""

    id: str
    name: str | None
    version_tag: str | None
    nodes: MappingOf[NodeId, Node]
    flows: MappingOf[FlowId, Flow]
    retention_ms: int | None = None  # 0: ended instances stay for ever; None: as the settings say
    due: Expression | None = None

    @property
    def root(self) -> Node:
        return self.nodes[self.id]

    @property
    def binds_by_deployment(self) -> bool:
        """Whether an element means the version of something that is deployed together with this process."""
        return any(one.binding == "deployment" for node in self.nodes.values() for one in node.references)
