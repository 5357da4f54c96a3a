"""A process while it is being read: what the walk over the file found, before anything of it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from vivero.engine.bpmn.extensions import Extensions
from vivero.engine.bpmn.model import Flow, FlowId, Node, NodeId
from vivero.engine.bpmn.report import Report
from vivero.engine.bpmn.xml import BPMN, Element, split
from vivero.engine.feel import Expression


class Place(Enum):
    """Where an event stands, as it completes "an event of this kind cannot …"."""

    PROCESS_START = "start a process"
    SUB_PROCESS_START = "start an embedded sub-process"
    EVENT_SUB_PROCESS_START = "start an event sub-process"
    CATCH = "be an intermediate catch event"
    THROW = "be an intermediate throw event"
    END = "be an end event"
    BOUNDARY = "be attached to an activity"


Build = Callable[["Member", Extensions, "Draft"], Node]


@dataclass(frozen=True, slots=True)
class Kind:
    """How elements of one tag are read. One entry of the table in `engine.bpmn.elements`."""

    type: str
    """The element type as the REST API names it."""
    build: Build
    extensions: frozenset[str] = frozenset()
    """The `zeebe:` elements that it executes, by local name."""
    remnants: frozenset[str] = frozenset()
    """Those that it does not execute and may have, from when it was drawn as an activity of another kind."""
    children: frozenset[str] = frozenset()
    """The BPMN child elements that it executes, by local name."""
    activity: bool = False
    """Has the attributes of an activity (BPMN 2.0.2 §10.3)."""
    scope: bool = False
    """Contains flow nodes of its own."""
    chooses: bool = False
    """Evaluates the conditions of its outgoing flows, and may have a default flow."""
    place: Place | None = None
    """Of an event. Of a start event it depends on the scope: `Draft.place_of`."""


@dataclass(frozen=True, slots=True)
class Member:
    """A flow node in the file. `kind` is None when its tag is refused: it is known here so that flows find it."""

    id: NodeId
    element: Element
    scope: NodeId
    tag: str
    kind: Kind | None


@dataclass(slots=True)
class Draft:
    """One executable process of a file. `flows`, `incoming` and `outgoing` are in document order."""

    id: NodeId
    process: Element
    report: Report
    roots: Mapping[tuple[str, str], Element] = field(default_factory=dict)
    """The messages, signals, errors and escalations of the file by tag and id."""
    job_priority: Expression | None = None
    """Of the process: the default of its jobs."""
    members: dict[NodeId, Member] = field(default_factory=dict)
    containers: dict[NodeId, Element] = field(default_factory=dict)
    """The process and every element that contains flow nodes, refused ones too."""
    flow_elements: list[Element] = field(default_factory=list)
    starts: dict[NodeId, list[Member]] = field(default_factory=dict)
    """All start events by their scope, with and without event definitions, whether their ids are usable or not."""
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
    """Scope → its inclusive gateways with several incoming flows."""

    def start_of(self, scope: NodeId) -> NodeId | None:
        """Where a scope starts: at its none start event; an event sub-process, at its only one."""
        starts = self.starts.get(scope, ())
        if self.is_event_sub_process(scope):
            return next((start.id for start in starts), None)
        return next((start.id for start in starts if is_none_event(start.element)), None)

    def is_event_sub_process(self, node: NodeId) -> bool:
        member = self.members.get(node)
        return member is not None and member.kind is not None and member.kind.type == "EVENT_SUB_PROCESS"

    def place_of(self, member: Member) -> Place | None:
        """Where an event stands; None for what is no event."""
        if member.kind is None or member.kind.place is not Place.PROCESS_START:
            return None if member.kind is None else member.kind.place
        if member.scope == self.id:
            return Place.PROCESS_START
        return Place.EVENT_SUB_PROCESS_START if self.is_event_sub_process(member.scope) else Place.SUB_PROCESS_START

    def of_type(self, *types: str) -> Iterable[Member]:
        """The flow nodes of these types, in document order."""
        return (member for member in self.members.values() if member.kind is not None and member.kind.type in types)


def event_definitions(element: Element) -> list[Element]:
    """The event definitions of an event, references to shared ones included."""
    return [child for child in _bpmn(element) if split(child)[1].endswith(("EventDefinition", "eventDefinitionRef"))]


def is_none_event(element: Element) -> bool:
    return not event_definitions(element)


def definition_of(element: Element) -> tuple[str, Element] | None:
    """Tag and element of the only event definition of an event. None if it has none or several."""
    definitions = event_definitions(element)
    return (split(definitions[0])[1], definitions[0]) if len(definitions) == 1 else None


def _bpmn(element: Element) -> Iterable[Element]:
    return (child for child in element if split(child)[0] == BPMN)
