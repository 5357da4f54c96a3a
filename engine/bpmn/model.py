"""The executable model: what a BPMN file means, immutable, with every expression compiled.

A `Process` is one executable process of a file. Elements and flows are found by id in O(1). Nothing here knows how an
element behaves; that is `engine.core`. The parser (`engine.bpmn.parser`) is the only one who builds these.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass, field

from vivero.engine.feel import Expression

NodeId = str
FlowId = str


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a resource is refused. `element_id` is None when the whole file is at fault; `line` counts from 1."""

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
    """`zeebe:input` or `zeebe:output`: the value of `source` goes to `target`, a variable name or a dotted path."""

    source: Expression
    target: tuple[str, ...]

    @property
    def root(self) -> str:
        return self.target[0]


@dataclass(frozen=True, slots=True)
class JobDefinition:
    """`zeebe:taskDefinition` with `zeebe:taskHeaders` and `zeebe:jobPriorityDefinition`."""

    type: Expression
    retries: Expression
    priority: Expression | None = None
    headers: MappingOf[str, str] = field(default_factory=dict)
    computed: MappingOf[str, Expression] = field(default_factory=dict)
    """Headers that are evaluated when the job is made; null leaves one out."""
    form_id: Expression | None = None
    """Of a user task that is a job: the deployed form that its worker shows."""


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
    """`code` None catches every error; a throwing event always has one."""

    code: Expression | None = None


@dataclass(frozen=True, slots=True)
class EscalationEvent:
    """`code` None catches every escalation; a throwing event always has one."""

    code: Expression | None = None


@dataclass(frozen=True, slots=True)
class TerminateEvent:
    pass


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """`target`: where a throwing one continues, the catching link event of the same scope. None on a catching one."""

    name: str
    target: NodeId | None = None


@dataclass(frozen=True, slots=True)
class ConditionalEvent:
    """It happens when `condition` is true after one of the `variables` was created or updated (`changes`)."""

    condition: Expression
    variables: frozenset[str]
    changes: frozenset[str]
    """"create", "update", or both."""


EventDefinition = (
    MessageEvent
    | TimerEvent
    | SignalEvent
    | ErrorEvent
    | EscalationEvent
    | TerminateEvent
    | LinkEvent
    | ConditionalEvent
)


@dataclass(frozen=True, slots=True)
class Loop:
    """`zeebe:loopCharacteristics` of a multi-instance activity."""

    sequential: bool
    collection: Expression
    item: str | None = None
    """The local variable that holds an inner instance's item."""
    output: Expression | None = None
    """Evaluated when an inner instance completes; its value is the result at the item's index."""
    result: str | None = None
    """The variable that `output` is the name of (or a place in it): local to each inner instance, null at first."""
    output_name: str | None = None
    """The variable that gets the list of results when the body completes."""
    until: Expression | None = None
    """The completion condition, evaluated when an inner instance completes."""


@dataclass(frozen=True, slots=True)
class CalledElement:
    """`zeebe:calledElement`. `binding`: "latest", "deployment" or "versionTag"."""

    process_id: Expression
    binding: str = "latest"
    version_tag: str | None = None
    all_parent_variables: bool = True
    all_child_variables: bool = True


@dataclass(frozen=True, slots=True)
class CalledDecision:
    """`zeebe:calledDecision`: a decision whose result becomes a variable. `binding` as of a called element."""

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
class UserTask:
    """`zeebe:userTask` with assignment, schedule, priority and form. Expressions are evaluated at activation."""

    assignee: Expression | None = None
    candidate_groups: Expression | None = None
    candidate_users: Expression | None = None
    due_date: Expression | None = None
    follow_up_date: Expression | None = None
    priority: Expression | None = None
    form_key: Expression | None = None
    form_id: Expression | None = None
    form_binding: str = "latest"
    """Which version of `form_id` is meant; as of a called element."""
    form_version_tag: str | None = None
    external_form: Expression | None = None
    headers: MappingOf[str, str] = field(default_factory=dict)


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
    """A flow node, or the process itself (type PROCESS, its own scope's root)."""

    id: NodeId
    type: str
    """The element type as the REST API names it: SERVICE_TASK, PARALLEL_GATEWAY, SUB_PROCESS, …"""
    name: str | None = None
    scope: NodeId | None = None
    """The enclosing sub-process or process; None for the process."""
    incoming: tuple[FlowId, ...] = ()
    outgoing: tuple[FlowId, ...] = ()
    default: FlowId | None = None
    start: NodeId | None = None
    """Of a scope: its none start event; None for a process that only events start. Of an event sub-process: its only
    start event, whose `event` and `interrupting` say what starts it."""
    inputs: tuple[Mapping, ...] = ()
    outputs: tuple[Mapping, ...] = ()
    job: JobDefinition | None = None
    event: EventDefinition | None = None
    """Of an event, or of a receive or send task: what it waits for or throws. None: a none event."""
    interrupting: bool = True
    """Of a boundary event, and of the start event of an event sub-process."""
    host: NodeId | None = None
    """Of a boundary event: the activity that it is attached to."""
    boundaries: tuple[NodeId, ...] = ()
    """Of an activity: the boundary events attached to it, in document order."""
    event_sub_processes: tuple[NodeId, ...] = ()
    """Of a scope: its event sub-processes, in document order."""
    loop: Loop | None = None
    called: CalledElement | None = None
    script: Script | None = None
    decision: CalledDecision | None = None
    user_task: UserTask | None = None
    listeners: MappingOf[str, tuple[JobDefinition, ...]] = field(default_factory=dict)
    """The jobs of its listeners in document order, by the event that they hear as the REST API names it: START, END."""
    joins: tuple[NodeId, ...] = ()
    """Of a scope: its inclusive gateways that join."""
    bits: MappingOf[FlowId, int] = field(default_factory=dict)
    """Of an inclusive gateway that joins: one bit for each incoming flow."""
    reach: MappingOf[str, int] = field(default_factory=dict)
    """Of an inclusive gateway that joins: for each flow and node of its scope, the bits of the incoming flows that a
    token there has a path to without visiting the gateway (BPMN 2.0.2 §13.4.3)."""
    properties: MappingOf[str, str] = field(default_factory=dict)
    line: int | None = None

    @property
    def entered_as(self) -> str:
        """The type of the element that a token makes here: of a multi-instance activity, its body."""
        return self.type if self.loop is None else "MULTI_INSTANCE_BODY"


@dataclass(frozen=True, slots=True)
class Process:
    """One executable process. `nodes` includes the process itself under its own id."""

    id: str
    name: str | None
    version_tag: str | None
    nodes: MappingOf[NodeId, Node]
    flows: MappingOf[FlowId, Flow]

    @property
    def root(self) -> Node:
        return self.nodes[self.id]
