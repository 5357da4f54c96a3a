"""The plan of a migration: the instance, both models, and the target of each id."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from vivero.core.bpmn.elements.approvals import made_of, mode_of
from vivero.core.bpmn.model import Node, Process
from vivero.core.shared.jobs import EXECUTION_LISTENER, TASK_LISTENER
from vivero.core.state.catalogue import Definition
from vivero.core.state.instance_tree import ACTIVATED, NO_WAITS, Element, Instance, Waits
from vivero.core.state.migrations import precedes_pages
from vivero.core.state.subtrees import of_instance

LISTENERS = frozenset({EXECUTION_LISTENER, TASK_LISTENER})
"""The kinds of the jobs of listeners."""


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
    process_id: str = ""
    """The process id before. The instance may have the new one already."""
    renamed_to: int | None = None
    """The instance has its definition, and of its elements those with keys up to this one have their ids in it."""
    kinds: list[list[Element]] = field(init=False)
    """The live elements in lists: no check and no change of waits tells those of one list apart."""

    def __post_init__(self) -> None:
        self.process_id = self.process_id or self.instance.process_id
        self.kinds = kinds_of(self.instance, self.elements)

    def registering(self) -> Iterator[Element]:
        """The live elements with completed activities that can be compensated."""
        return (one for same in self.kinds if same[0].registered for one in same)

    def id_of(self, element: Element) -> str:
        """The id of any element of the instance in the target."""
        id = element.element
        renamed = self.renamed_to is not None and (element.key <= self.renamed_to or precedes_pages(element))
        return id if renamed else self.ids[id]

    def node(self, element: Element) -> Node:
        """The element in the source model."""
        return self.source.nodes[element.element]

    def goal(self, element: Element) -> Node | None:
        """The element in the target model; None if it is not mapped."""
        id = self.ids.get(element.element)
        return None if id is None else self.target.nodes.get(id)


def kinds_of(instance: Instance, elements: Sequence[Element]) -> list[list[Element]]:
    """`Plan.kinds`. There may be 20,000 elements and a few kinds, so that all later steps cost nothing."""
    kinds: dict[Hashable, list[Element]] = {}
    known = kinds.get
    for one in elements:
        scope, waits, tokens = one.scope, one.waits, one.tokens
        usual = one.state is ACTIVATED and one.then is None and one.occurred is None and one.pages is None
        likeness = (
            one.element,
            one.index >= 0 or (None if scope is None or one is instance else scope.element),
            (usual and not (one.interrupted or one.awaiting_reset or one.registered)) or _progress_of(one),
            tuple(tokens) if tokens else None,
            None if waits is NO_WAITS else _likeness_of(waits),
        )
        same = known(likeness)
        if same is None:
            kinds[likeness] = [one]
        else:
            same.append(one)
    return list(kinds.values())


def _progress_of(one: Element) -> Hashable:
    """The features of an element that does not merely wait."""
    midway = one.state, one.then is None, bool(one.children), bool(one.waits.incidents)
    waiting = one.occurred is None, one.interrupted, one.pages is None
    return *midway, *waiting, tuple(one.awaiting_reset), bool(one.registered)


def _likeness_of(waits: Waits) -> Hashable:
    """The features of waits that checks and changes depend on. Jobs matter only if they are those of listeners."""
    found: tuple[Hashable, ...] = ()
    if waits.jobs:
        for job in waits.jobs.values():
            if job.kind in LISTENERS:
                found += ((job.kind, job.listener_event, job.type),)
    if waits.timers:
        for timer in waits.timers.values():
            found += ((timer.target, timer.type),)
    if waits.subscriptions:
        for one in waits.subscriptions.values():
            found += ((one.target, one.type, one.correlation_key is None, one.interrupting),)
    return found


def plan_of(
    instance: Instance,
    source: Process,
    target: Process,
    definition: Definition,
    given: Sequence[tuple[str, str]],
    elements: list[Element] | None = None,
) -> Plan:
    """The plan of these mappings, and of those that follow: process → process, and parts of mapped nodes.

    `elements`: those of a page; all live ones by default."""
    ids = dict(given)
    ids[source.id] = target.id
    for before, after in implied(ids, source, target):
        ids.setdefault(before, after)
    return Plan(instance, source, target, definition, ids, of_instance(instance) if elements is None else elements)


def implied(ids: Mapping[str, str], source: Process, target: Process) -> Iterator[tuple[str, str]]:
    """The mappings that follow: of inner instances, of an event sub-process from its start event, of handlers."""
    for before, after in list(ids.items()):
        one, other = source.nodes.get(before), target.nodes.get(after)
        if one is None or other is None:
            continue
        if one.ad_hoc is not None and other.ad_hoc is not None:
            yield one.ad_hoc.inner, other.ad_hoc.inner
        if mode_of(one) and mode_of(other):
            yield from zip(made_of(one.id), made_of(other.id), strict=True)
        around, of_other = source.nodes.get(one.scope or ""), target.nodes.get(other.scope or "")
        if around is not None and of_other is not None and _begin(around, before) and _begin(of_other, after):
            yield around.id, of_other.id
        if one.compensated_by is not None and other.compensated_by is not None:
            yield one.compensated_by, other.compensated_by


def _begin(scope: Node, start: str) -> bool:
    """Whether this is an event sub-process with this start event."""
    return scope.type == "EVENT_SUB_PROCESS" and scope.start == start
