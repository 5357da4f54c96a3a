"""The plan of a migration: the instance, both models, and the target of each id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vivero.core.bpmn.model import Node, Process
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import Element, Instance
from vivero.core.state.subtrees import of_instance


@dataclass(slots=True)
class Plan:
    """The target of each source id: `ids` has what was given, and what follows from it."""

    instance: Instance
    source: Process
    target: Process
    definition: Definition
    ids: dict[str, str]
    elements: list[Element] = field(default_factory=list)
    """The live elements of the instance, parents first."""
    counting: list[Element] = field(init=False)
    """Those with tokens, or with completed activities that can be compensated: few of thousands."""

    def __post_init__(self) -> None:
        self.counting = [one for one in self.elements if one.tokens or one.awaiting_reset or one.registered]

    def node(self, element: Element) -> Node:
        """The element in the source model."""
        return self.source.nodes[element.element]

    def goal(self, element: Element) -> Node | None:
        """The element in the target model; None if it is not mapped."""
        id = self.ids.get(element.element)
        return None if id is None else self.target.nodes.get(id)


def plan_of(
    instance: Instance, source: Process, target: Process, definition: Definition, given: Sequence[tuple[str, str]]
) -> Plan:
    """The plan of these mappings, and of those that follow: process → process, and parts of mapped nodes."""
    ids = dict(given)
    ids[source.id] = target.id
    for before, after in implied(ids, source, target):
        ids.setdefault(before, after)
    return Plan(instance, source, target, definition, ids, of_instance(instance))


def implied(ids: Mapping[str, str], source: Process, target: Process) -> Iterator[tuple[str, str]]:
    """The mappings that follow: of inner instances, of an event sub-process from its start event, of handlers."""
    for before, after in list(ids.items()):
        one, other = source.nodes.get(before), target.nodes.get(after)
        if one is None or other is None:
            continue
        if one.ad_hoc is not None and other.ad_hoc is not None:
            yield one.ad_hoc.inner, other.ad_hoc.inner
        around, of_other = source.nodes.get(one.scope or ""), target.nodes.get(other.scope or "")
        if around is not None and of_other is not None and _begin(around, before) and _begin(of_other, after):
            yield around.id, of_other.id
        if one.compensated_by is not None and other.compensated_by is not None:
            yield one.compensated_by, other.compensated_by


def _begin(scope: Node, start: str) -> bool:
    """Whether this is an event sub-process with this start event."""
    return scope.type == "EVENT_SUB_PROCESS" and scope.start == start
