"""The rules about events: how they start scopes, what they are attached to, and what must be unique.

Part of `core.bpmn.checks.validate`. The file of an event definition checks what that definition itself needs.
"""

from __future__ import annotations

from collections.abc import Iterable

from vivero.core.bpmn.elements.loops import loops_of
from vivero.core.bpmn.events import EVENT_KINDS
from vivero.core.bpmn.reading.draft import Draft, Member, Place, definition_of, event_definitions, is_none_event
from vivero.core.bpmn.reading.references import find_root
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import split

# Start events ---------------------------------------------------------------------------------------------------------


def starts(draft: Draft) -> None:
    """A scope has at most one none start event; a process may also start by events. BPMN 2.0.2 §10.5.2, §10.3.5."""
    for scope, element in draft.containers.items():
        found = draft.starts.get(scope, [])
        if split(element)[1] == "adHocSubProcess":
            continue
        if not found:
            draft.report.add_problem(element, "needs a start event")
        if draft.is_event_sub_process(scope):
            _event_sub_process(found, draft)
            continue
        none_starts = [start for start in found if is_none_event(start.element)]
        for surplus in none_starts[1:]:
            text = f"a second none start event: {quote(none_starts[0].id)} is one already"
            draft.report.add_problem(surplus.element, text)


def _event_sub_process(found: list[Member], draft: Draft) -> None:
    """An event sub-process has one start event, with an event definition. §10.3.5."""
    for surplus in found[1:]:
        text = f"a second start event: an event sub-process has one, and {quote(found[0].id)} is one already"
        draft.report.add_problem(surplus.element, text)
    for start in found[:1]:
        if is_none_event(start.element):
            draft.report.add_problem(start.element, "needs an event definition: what starts the event sub-process")


def event_sub_processes(draft: Draft) -> None:
    """Event sub-processes have no sequence flows and no loop. §10.3.5."""
    for member in draft.of_type("EVENT_SUB_PROCESS"):
        for flow in draft.incoming.get(member.id, ()):
            draft.report.add_problem(draft.flow_of[flow], f"leads to the event sub-process {quote(member.id)}")
        for flow in draft.outgoing.get(member.id, ()):
            draft.report.add_problem(draft.flow_of[flow], f"leaves the event sub-process {quote(member.id)}")
        for marker in loops_of(member.element):
            draft.report.add_problem(member.element, "an event sub-process cannot have a loop", at=marker)


# Definitions ----------------------------------------------------------------------------------------------------------


def definitions(draft: Draft) -> None:
    """An event has at most one event definition, and exactly one if it waits. §10.5.4."""
    for member in draft.members.values():
        found = event_definitions(member.element)
        if len(found) > 1:
            text = f"has {len(found)} event definitions; more than one is not executable"
            draft.report.add_problem(member.element, text, at=found[1])
        if not found and draft.place_of(member) in (Place.CATCH, Place.BOUNDARY):
            draft.report.add_problem(member.element, "needs an event definition: what it waits for")
        if flag(member.element, "parallelMultiple", draft.report):
            draft.report.add_problem(member.element, "parallelMultiple is not executable")


def own_rules(draft: Draft) -> None:
    """Run the checks of event definitions (`EventKind.check`)."""
    for member in draft.members.values():
        found = definition_of(member.element)
        kind = None if found is None else EVENT_KINDS.get(found[0])
        if kind is not None and kind.check is not None:
            kind.check(member, draft)


# Boundary events ------------------------------------------------------------------------------------------------------


def boundaries(draft: Draft) -> None:
    """§10.5.6."""
    for member in draft.of_type("BOUNDARY_EVENT"):
        for flow in draft.incoming.get(member.id, ()):
            draft.report.add_problem(draft.flow_of[flow], f"leads to the boundary event {quote(member.id)}")


# What may stand only once ---------------------------------------------------------------------------------------------


def duplicates(draft: Draft) -> None:
    """Two events at one place must not wait for the same thing, because only one could get it."""
    for starts in draft.starts.values():
        if starts and draft.place_of(starts[0]) is Place.PROCESS_START:
            _each_once(starts, draft)
    for host, ids in draft.attached.items():
        _each_once((draft.members[node] for node in (host, *ids)), draft)  # a receive task waits, too
    for ids in draft.event_sub_processes.values():
        _each_once((start for node in ids for start in draft.starts.get(node, [])[:1]), draft)
    for gateway in draft.of_type("EVENT_BASED_GATEWAY"):
        flows = draft.outgoing.get(gateway.id, ())
        _each_once((draft.members[draft.flows[flow].target] for flow in flows), draft)


def _each_once(members: Iterable[Member], draft: Draft) -> None:
    first: dict[tuple[str, str], Member] = {}
    for member in members:
        waited = _waits_for(member, draft)
        if waited is None:
            continue
        before = first.setdefault(waited, member)
        if before is not member:
            tag, name = waited
            what = f"the {tag} {quote(name)}" if name else f"every {tag}"
            draft.report.add_problem(member.element, f"{quote(before.id)} waits for {what} already")


def _waits_for(member: Member, draft: Draft) -> tuple[str, str] | None:
    """The awaited thing of an event or a receive task: its kind, with the name or code in the file."""
    if member.tag == "receiveTask":
        tag, definition = "messageEventDefinition", member.element
    else:
        found = definition_of(member.element)
        if found is None:
            return None
        tag, definition = found
    reference = EVENT_KINDS[tag].reference if tag in EVENT_KINDS else None
    if reference is None:
        return None
    refers_to = definition.get(f"{reference.tag}Ref", "").strip()
    referred = find_root(reference.tag, refers_to, draft.roots)
    if referred is None and refers_to:
        return None
    name = "" if referred is None else referred.get(reference.attribute, "").strip()
    return (reference.tag, name) if name or reference.every else None


# Event-based gateways -------------------------------------------------------------------------------------------------


def event_based_gateways(draft: Draft) -> None:
    """Several events wait behind an event-based gateway, and the first one takes the path. §10.6.6."""
    for gateway in draft.of_type("EVENT_BASED_GATEWAY"):
        element, flows = gateway.element, draft.outgoing.get(gateway.id, [])
        if flag(element, "instantiate", draft.report):
            draft.report.add_problem(element, "an event-based gateway that starts a process is not executable")
        if element.get("eventGatewayType", "Exclusive") != "Exclusive":
            draft.report.add_problem(element, "an event-based gateway of type Parallel is not executable")
        if len(flows) < 2:
            draft.report.add_problem(
                element, f"an event-based gateway needs two outgoing flows at least, and has {len(flows)}"
            )
        for flow in flows:
            problem = _not_a_target(draft.members[draft.flows[flow].target], draft)
            if problem is not None:
                draft.report.add_problem(draft.flow_of[flow], problem)


def _not_a_target(target: Member, draft: Draft) -> str | None:
    found = definition_of(target.element)
    if target.kind is None:
        return None
    if target.tag != "receiveTask" and (
        target.tag != "intermediateCatchEvent" or found is None or not _may_stand_behind(found[0])
    ):
        return f"{quote(target.id)} is no message, timer or signal event and no receive task, as behind this gateway"
    if len(draft.incoming[target.id]) > 1:
        return f"{quote(target.id)} stands behind an event-based gateway and has other incoming flows"
    if target.tag == "receiveTask" and (draft.attached.get(target.id) or loops_of(target.element)):
        return f"{quote(target.id)} stands behind an event-based gateway and has boundary events or a loop"
    return None


def _may_stand_behind(tag: str) -> bool:
    kind = EVENT_KINDS.get(tag)
    return kind is not None and kind.behind_gateway


def receive_tasks(draft: Draft) -> None:
    for task in draft.of_type("RECEIVE_TASK"):
        if flag(task.element, "instantiate", draft.report):
            draft.report.add_problem(task.element, "a receive task that starts a process is not executable")
