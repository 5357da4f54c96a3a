"""A process while it is read: what the walk over the file found, before the model is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from vivero.core.bpmn.model import Flow, FlowId, Node, NodeId
from vivero.core.bpmn.reading.extensions import Extensions
from vivero.core.bpmn.reading.report import Report
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import BPMN, Element, split
from vivero.core.feel import Expression


class Place(Enum):
    """The place of an event, in words that complete "an event of this kind cannot …"."""

    PROCESS_START = "start a process"
    SUB_PROCESS_START = "start an embedded sub-process"
    EVENT_SUB_PROCESS_START = "start an event sub-process"
    CATCH = "be an intermediate catch event"
    THROW = "be an intermediate throw event"
    END = "be an end event"
    BOUNDARY = "be attached to an activity"


INSTANTIATING = frozenset({"receiveTask", "eventBasedGateway"})
"""The tags of elements that can start a process without a start event."""
BEHIND_GATEWAYS = frozenset({"receiveTask", "intermediateCatchEvent"})
"""The tags of elements that can stand behind event-based gateways."""

Build = Callable[["Member", Extensions, "Draft"], Node]


@dataclass(frozen=True, slots=True)
class ElementKind:
    """The reading of elements of one tag: an entry of the table in `core.bpmn.elements.contents`."""

    type: str
    """The element type as the REST API names it."""
    build: Build
    extensions: frozenset[str] = frozenset()
    """The executed `zeebe:` elements, by local name."""
    remnants: frozenset[str] = frozenset()
    """`zeebe:` elements without effect: modelers leave them when an activity is changed to another kind."""
    children: frozenset[str] = frozenset()
    """The executed BPMN child elements, by local name."""
    activity: bool = False
    """Whether it has the attributes of an activity (BPMN 2.0.2 §10.3)."""
    scope: bool = False
    """Whether it contains flow nodes."""
    chooses: bool = False
    """Whether it is a gateway that evaluates the conditions of its outgoing flows."""
    place: Place | None = None
    """The place of an event. For a start event it depends on the scope: `Draft.place_of`."""

    @property
    def takes_conditions(self) -> bool:
        """Whether it evaluates the conditions of its outgoing flows, and may have a default flow."""
        return self.chooses or self.activity


@dataclass(frozen=True, slots=True)
class Member:
    """A flow node of the file. `kind` is None if its tag is not executable; flows still refer to it."""

    id: NodeId
    element: Element
    scope: NodeId
    tag: str
    kind: ElementKind | None


@dataclass(slots=True)
class Draft:
    """One executable process of a file. `flows`, `incoming` and `outgoing` are in document order."""

    id: NodeId
    process: Element
    report: Report
    roots: Mapping[tuple[str, str], Element] = field(default_factory=dict)
    """The messages, signals, errors and escalations of the file by tag and id."""
    job_priority: Expression | None = None
    """The default priority of the jobs of the process."""
    members: dict[NodeId, Member] = field(default_factory=dict)
    children: dict[NodeId, list[Member]] = field(default_factory=dict)
    """Scope → its flow nodes, in document order."""
    containers: dict[NodeId, Element] = field(default_factory=dict)
    """The process and all elements that contain flow nodes, executable or not."""
    flow_elements: list[Element] = field(default_factory=list)
    starts: dict[NodeId, list[Member]] = field(default_factory=dict)
    """All start events by scope, with or without event definitions and usable ids."""
    flows: dict[FlowId, Flow] = field(default_factory=dict)
    flow_of: dict[FlowId, Element] = field(default_factory=dict)
    """The element of each of `flows`."""
    incoming: dict[NodeId, list[FlowId]] = field(default_factory=dict)
    outgoing: dict[NodeId, list[FlowId]] = field(default_factory=dict)

    hosts: dict[NodeId, NodeId] = field(default_factory=dict)
    """Boundary event → the activity that it is attached to."""
    attached: dict[NodeId, list[NodeId]] = field(default_factory=dict)
    """Activity → its boundary events."""
    event_sub_processes: dict[NodeId, list[NodeId]] = field(default_factory=dict)
    """Scope → its event sub-processes."""
    links: dict[tuple[NodeId, str], NodeId] = field(default_factory=dict)
    """Scope and name → the catching link event."""
    link_throws: dict[NodeId, list[NodeId]] = field(default_factory=dict)
    """Catching link event → the throwing ones that continue at it."""
    joins: dict[NodeId, list[NodeId]] = field(default_factory=dict)
    """Scope → its gateways that join by paths (`Node.joins`)."""
    handlers: dict[NodeId, NodeId] = field(default_factory=dict)
    """Compensation boundary event → its handler."""
    compensations: dict[NodeId, NodeId] = field(default_factory=dict)
    """Activity → its compensation boundary event with a handler, or the compensation event sub-process in it."""

    in_compensation: set[NodeId] = field(default_factory=set)
    """Activities that can be compensated, the scopes around them, and boundary events and handlers that compensate."""

    def start_of(self, scope: NodeId) -> NodeId | None:
        """The start event of a scope: its none start event, or the only one of an event sub-process."""
        starts = self.starts.get(scope, ())
        if self.is_event_sub_process(scope):
            return next((start.id for start in starts), None)
        return next((start.id for start in starts if is_none_event(start.element)), None)

    def is_event_sub_process(self, node: NodeId) -> bool:
        member = self.members.get(node)
        return member is not None and member.kind is not None and member.kind.type == "EVENT_SUB_PROCESS"

    def is_handler(self, member: Member) -> bool:
        """Whether an activity is a compensation handler, which no token enters over a flow."""
        return (
            member.kind is not None and member.kind.activity and flag(member.element, "isForCompensation", self.report)
        )

    def instantiates(self, member: Member) -> bool:
        """Whether a receive task or an event-based gateway says that it starts the process."""
        return member.tag in INSTANTIATING and flag(member.element, "instantiate", self.report)

    def instantiating_gateway(self, member: Member) -> Member | None:
        """The event-based gateway that starts the process with the event or receive task behind it."""
        sources = (self.members[self.flows[flow].source] for flow in self.incoming.get(member.id, ()))
        gateways = (one for one in sources if one.tag == "eventBasedGateway")
        return next(filter(self.instantiates, gateways), None)

    def starts_process(self, member: Member) -> bool:
        """Whether the event of a receive task or of a catch event starts the process."""
        if member.tag == "receiveTask" and self.instantiates(member):
            return True
        return member.tag in BEHIND_GATEWAYS and self.instantiating_gateway(member) is not None

    def inner_scope(self, ad_hoc: NodeId) -> NodeId:
        """The id of the inner instances of an ad-hoc sub-process: a scope between it and its elements."""
        return f"{ad_hoc}#innerInstance"

    def flow_scope(self, member: Member) -> NodeId:
        """The id of the scope of a flow node in the model."""
        around = self.members.get(member.scope)
        if around is None or around.tag != "adHocSubProcess" or self.is_event_sub_process(member.id):
            return member.scope
        return self.inner_scope(member.scope)

    def named(self, reference: str) -> NodeId | None:
        """The id of the flow node that a reference names. A prefix names the file itself (the type is `xsd:QName`)."""
        ids = reference, reference.rpartition(":")[2]
        return next((id for id in ids if id in self.members), None)

    def place_of(self, member: Member) -> Place | None:
        """The place of an event; None for other elements."""
        if member.kind is not None and member.kind.place is Place.CATCH and self.instantiating_gateway(member):
            return Place.PROCESS_START
        if member.kind is None or member.kind.place is not Place.PROCESS_START:
            return None if member.kind is None else member.kind.place
        if member.scope == self.id:
            return Place.PROCESS_START
        return Place.EVENT_SUB_PROCESS_START if self.is_event_sub_process(member.scope) else Place.SUB_PROCESS_START

    def of_type(self, *types: str) -> Iterable[Member]:
        """The flow nodes of these types, in document order."""
        return (member for member in self.members.values() if member.kind is not None and member.kind.type in types)


def event_definitions(element: Element) -> list[Element]:
    """The event definitions of an event, including references to shared ones."""
    return [child for child in element if _is_definition(child)]


def is_none_event(element: Element) -> bool:
    return not event_definitions(element)


def definition_of(element: Element) -> tuple[str, Element] | None:
    """Tag and element of the only event definition of an event. None if it has none or several."""
    definitions = event_definitions(element)
    return (split(definitions[0])[1], definitions[0]) if len(definitions) == 1 else None


def _is_definition(element: Element) -> bool:
    tag = str(element.tag)
    return tag.endswith(("EventDefinition", "eventDefinitionRef")) and tag.startswith(f"{{{BPMN}}}")
