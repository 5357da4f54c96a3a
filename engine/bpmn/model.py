"""The executable model: what a BPMN file means, immutable, with every expression compiled.

A `Process` is one executable process of a file. Elements and flows are found by id in O(1). Nothing here knows how an
element behaves; that is `engine.core`. The parser (`engine.bpmn.parser`) is the only one who builds these.
"""

from __future__ import annotations

from collections.abc import Mapping as MappingOf
from dataclasses import dataclass, field

from engine.feel import Expression

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
    """Of a scope: its none start event."""
    inputs: tuple[Mapping, ...] = ()
    outputs: tuple[Mapping, ...] = ()
    job: JobDefinition | None = None
    properties: MappingOf[str, str] = field(default_factory=dict)
    line: int | None = None


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
