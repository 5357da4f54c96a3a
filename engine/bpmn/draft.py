"""A process while it is being read: what the walk over the file found, before anything of it is built."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from engine.bpmn.extensions import Extensions
from engine.bpmn.model import Flow, FlowId, Node, NodeId
from engine.bpmn.report import Report
from engine.bpmn.xml import BPMN, Element, split
from engine.feel import Expression


@dataclass(frozen=True, slots=True)
class Kind:
    """How elements of one tag are read. One entry of the table in `engine.bpmn.elements`."""

    type: str
    """The element type as the REST API names it."""
    build: Callable[[Member, Extensions, Draft], Node]
    extensions: frozenset[str] = frozenset()
    """The `zeebe:` elements that it executes, by local name."""
    children: frozenset[str] = frozenset()
    """The BPMN child elements that it executes, by local name."""
    activity: bool = False
    """Has the attributes of an activity (BPMN 2.0.2 §10.3)."""
    scope: bool = False
    """Contains flow nodes of its own."""
    chooses: bool = False
    """Evaluates the conditions of its outgoing flows, and may have a default flow."""


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
    job_priority: Expression | None = None
    """Of the process: the default of its jobs."""
    members: dict[NodeId, Member] = field(default_factory=dict)
    containers: dict[NodeId, Element] = field(default_factory=dict)
    """The process and every element that contains flow nodes, refused ones too."""
    flow_elements: list[Element] = field(default_factory=list)
    starts: dict[NodeId, list[Member]] = field(default_factory=dict)
    """All start events by their scope, with and without event definitions."""
    flows: dict[FlowId, Flow] = field(default_factory=dict)
    flow_of: dict[FlowId, Element] = field(default_factory=dict)
    """The element of each of `flows`."""
    incoming: dict[NodeId, list[FlowId]] = field(default_factory=dict)
    outgoing: dict[NodeId, list[FlowId]] = field(default_factory=dict)

    def start_of(self, scope: NodeId) -> NodeId | None:
        """The none start event of a scope."""
        return next((start.id for start in self.starts.get(scope, ()) if is_none_event(start.element)), None)


def event_definitions(element: Element) -> list[Element]:
    """The event definitions of an event, references to shared ones included."""
    return [child for child in _bpmn(element) if split(child)[1].endswith(("EventDefinition", "eventDefinitionRef"))]


def is_none_event(element: Element) -> bool:
    return not event_definitions(element)


def _bpmn(element: Element) -> Iterable[Element]:
    return (child for child in element if split(child)[0] == BPMN)
