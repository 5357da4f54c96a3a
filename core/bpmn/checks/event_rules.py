"""The rules about events: how they start scopes, what they are attached to, and what must be unique.

Part of `core.bpmn.checks.validate`. The file of an event definition checks what that definition itself needs.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vivero.core.bpmn.elements.implicit_starts import implicit_starts, instantiating
from vivero.core.bpmn.elements.loops import loops_of
from vivero.core.bpmn.event_definitions import multiple
from vivero.core.bpmn.event_definitions.compensate import TAG
from vivero.core.bpmn.events import EVENT_KINDS
from vivero.core.bpmn.model import NodeId
from vivero.core.bpmn.reading.draft import (
    BEHIND_GATEWAYS,
    Draft,
    Member,
    Place,
    definition_of,
    event_definitions,
    is_none_event,
)
from vivero.core.bpmn.reading.references import find_root
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.values import flag
from vivero.core.bpmn.reading.xml import Element, split

_MESSAGE = "messageEventDefinition"

# Start events ---------------------------------------------------------------------------------------------------------


def starts(draft: Draft) -> None:
    """A scope has at most one none start event; a process may also start by events. BPMN 2.0.2 §10.5.2, §10.3.5."""
    for scope, element in draft.containers.items():
        found = draft.starts.get(scope, [])
        if split(element)[1] == "adHocSubProcess":
            continue
        if not found and not instantiating(scope, draft):
            _without_start(scope, element, draft)
        if draft.is_event_sub_process(scope):
            _event_sub_process(found, draft)
            continue
        none_starts = [start for start in found if is_none_event(start.element)]
        for surplus in none_starts[1:]:
            text = f"a second none start event: {quote(none_starts[0].id)} is one already"
            draft.report.add_problem(surplus.element, text)


def _without_start(scope: NodeId, element: Element, draft: Draft) -> None:
    """It begins at all nodes that no flow leads to. Perhaps somebody forgot the start event: a warning. §13.2."""
    begin = () if draft.is_event_sub_process(scope) else implicit_starts(scope, draft)
    if begin:
        text = f"has no start event: it begins at {', '.join(map(quote, begin[:5]))}{', …' if len(begin) > 5 else ''}"
        draft.report.warn(element, text)
    else:
        draft.report.add_problem(element, "needs a start event")


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
        for name in ("startQuantity", "completionQuantity"):
            if member.element.get(name, "1").strip() != "1":
                draft.report.add_problem(member.element, f"an event sub-process cannot have a {name}: it has no flows")


# Definitions ----------------------------------------------------------------------------------------------------------


def definitions(draft: Draft) -> None:
    """An event that waits has an event definition, or several that can stand beside each other. §10.5.4, §10.5.5."""
    for member in draft.members.values():
        found, place = event_definitions(member.element), draft.place_of(member)
        if not found and place in (Place.CATCH, Place.BOUNDARY):
            draft.report.add_problem(member.element, "needs an event definition: what it waits for")
        for definition, problem in () if place is None or len(found) < 2 else multiple.problems_of(found, place):
            draft.report.add_problem(member.element, problem, at=definition)
        if flag(member.element, "parallelMultiple", draft.report):
            _parallel(member, found, draft)


def _parallel(member: Member, definitions: Sequence[Element], draft: Draft) -> None:
    """An event that occurs when all of its definitions have. Messages of one key start a process together."""
    if len(definitions) == 1:
        draft.report.warn(member.element, "parallelMultiple means nothing: the event has one definition")
    elif draft.place_of(member) is Place.PROCESS_START:
        for definition in definitions:
            tag = split(definition)[1]
            if tag != "messageEventDefinition":
                text = f"{tag}: only messages start a process together (parallelMultiple), by their key"
                draft.report.add_problem(member.element, text, at=definition)


def own_rules(draft: Draft) -> None:
    """Run the checks of event definitions (`EventKind.check`)."""
    for member in draft.members.values():
        for definition in event_definitions(member.element):
            kind = EVENT_KINDS.get(split(definition)[1])
            if kind is not None and kind.check is not None:
                kind.check(member, draft)


# Boundary events ------------------------------------------------------------------------------------------------------


def boundaries(draft: Draft) -> None:
    """§10.5.6."""
    for member in draft.of_type("BOUNDARY_EVENT"):
        for flow in draft.incoming.get(member.id, ()):
            draft.report.add_problem(draft.flow_of[flow], f"leads to the boundary event {quote(member.id)}")


# Definitions that may stand only once ---------------------------------------------------------------------------------


def duplicates(draft: Draft) -> None:
    """Two events at one place must not wait for the same thing, because only one could get it."""
    begin = [member for member in draft.members.values() if draft.starts_process(member)]
    _each_once((*draft.starts.get(draft.id, ()), *begin), draft)
    for host, ids in draft.attached.items():
        _each_once((draft.members[node] for node in (host, *ids)), draft)  # a receive task waits, too
    for ids in draft.event_sub_processes.values():
        _each_once((start for node in ids for start in draft.starts.get(node, [])[:1]), draft)
    for gateway in draft.of_type("EVENT_BASED_GATEWAY"):
        flows = () if draft.instantiates(gateway) else draft.outgoing.get(gateway.id, ())
        _each_once((draft.members[draft.flows[flow].target] for flow in flows), draft)
    for event in draft.of_type("INTERMEDIATE_CATCH_EVENT"):
        if definition_of(event.element) is None and not _stands_behind_gateway(event, draft):
            _each_once((event,), draft)


def _each_once(members: Iterable[Member], draft: Draft) -> None:
    first: dict[tuple[str, str], Member] = {}
    for member in members:
        for tag, definition in _waits_of(member):
            waited = _waits_for(tag, definition, draft)
            before = None if waited is None else first.get(waited)
            if waited is not None and before is not None:
                kind, name = waited
                what = f"the {kind} {quote(name)}" if name else f"every {kind}"
                draft.report.add_problem(member.element, f"{quote(before.id)} waits for {what} already")
            elif waited is not None:
                first[waited] = member


def _stands_behind_gateway(event: Member, draft: Draft) -> bool:
    sources = (draft.members[draft.flows[flow].source] for flow in draft.incoming.get(event.id, ()))
    return any(source.tag == "eventBasedGateway" for source in sources)


def _waits_of(member: Member) -> list[tuple[str, Element]]:
    """Tag and element of each definition of an event; for a receive task, the task itself."""
    if member.tag == "receiveTask":
        return [(_MESSAGE, member.element)]
    return [(split(definition)[1], definition) for definition in event_definitions(member.element)]


def _waits_for(tag: str, definition: Element, draft: Draft) -> tuple[str, str] | None:
    """The awaited thing of a definition: its kind, with the name or code in the file."""
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
        if draft.instantiates(gateway):
            _instantiating(gateway, draft)
        kind = element.get("eventGatewayType", "Exclusive")
        if kind not in ("Exclusive", "Parallel"):
            draft.report.add_problem(element, f"eventGatewayType: {quote(kind)} is neither Exclusive nor Parallel")
        elif kind == "Parallel" and not draft.instantiates(gateway):
            text = 'an event-based gateway of type Parallel starts a process: it needs instantiate="true"'
            draft.report.add_problem(element, text)
        elif kind == "Parallel":
            _messages_only(gateway, draft)
        if len(flows) < 2:
            draft.report.add_problem(
                element, f"an event-based gateway needs two outgoing flows at least, and has {len(flows)}"
            )
        for flow in flows:
            problem = _not_a_target(draft.members[draft.flows[flow].target], draft)
            if problem is not None:
                draft.report.add_problem(draft.flow_of[flow], problem)
        _one_kind_of_receivers(gateway, draft)


def _one_kind_of_receivers(gateway: Member, draft: Draft) -> None:
    """Behind one gateway, either message events or receive tasks wait for messages. BPMN 2.0.2 §10.6.6."""
    targets = [draft.members[draft.flows[flow].target] for flow in draft.outgoing.get(gateway.id, ())]
    task = next((target for target in targets if target.tag == "receiveTask"), None)
    events = (target for target in targets if target.tag == "intermediateCatchEvent")
    event = next((each for each in events if any(tag == _MESSAGE for tag, _ in _waits_of(each))), None)
    if task is not None and event is not None:
        text = f"both {quote(task.id)} and {quote(event.id)} wait for a message: BPMN allows tasks or events, not both"
        draft.report.object_to(gateway.element, text)


def _not_a_target(target: Member, draft: Draft) -> str | None:
    found = [split(definition)[1] for definition in event_definitions(target.element)]
    if target.kind is None:
        return None
    if target.tag != "receiveTask" and (
        target.tag != "intermediateCatchEvent" or not found or not all(map(_may_stand_behind, found))
    ):
        return f"{quote(target.id)} is no message, timer or signal event and no receive task, as behind this gateway"
    if len(draft.incoming[target.id]) > 1:
        return f"{quote(target.id)} stands behind an event-based gateway and has other incoming flows"
    if target.tag == "receiveTask" and (draft.attached.get(target.id) or loops_of(target.element)):
        return f"{quote(target.id)} stands behind an event-based gateway and has boundary events or a loop"
    if target.tag == "receiveTask" and target.element.get("startQuantity", "1").strip() != "1":
        return f"{quote(target.id)} stands behind an event-based gateway and has a startQuantity"
    return None


def _may_stand_behind(tag: str) -> bool:
    kind = EVENT_KINDS.get(tag)
    return kind is not None and kind.behind_gateway


def _messages_only(gateway: Member, draft: Draft) -> None:
    """All events behind a parallel gateway belong to one instance, which their correlation key says. §13.5.6."""
    for flow in draft.outgoing.get(gateway.id, ()):
        target = draft.members[draft.flows[flow].target]
        if target.tag in BEHIND_GATEWAYS and [tag for tag, _ in _waits_of(target)] != [_MESSAGE]:
            text = (
                f"{quote(target.id)} waits for something else than one message, which a parallel gateway cannot relate"
            )
            draft.report.add_problem(draft.flow_of[flow], text)


def _instantiating(member: Member, draft: Draft) -> None:
    """A receive task or a gateway that starts the process stands directly in it, without incoming flows. §10.3.3."""
    if member.scope != draft.id:
        draft.report.add_problem(member.element, "instantiate: it is in a sub-process, and cannot start the process")
    for flow in draft.incoming.get(member.id, ()):
        text = f"leads to {quote(member.id)}, which starts the process (instantiate)"
        draft.report.add_problem(draft.flow_of[flow], text)


def receive_tasks(draft: Draft) -> None:
    """A receive task may start the process, once: the message that starts it completes it."""
    for task in draft.of_type("RECEIVE_TASK"):
        if not draft.instantiates(task):
            continue
        _instantiating(task, draft)
        for marker in loops_of(task.element):
            draft.report.add_problem(
                task.element, "a receive task that starts the process cannot have a loop", at=marker
            )
        if draft.is_handler(task):
            draft.report.add_problem(task.element, "a receive task that starts the process compensates nothing")
        if task.element.get("startQuantity", "1").strip() != "1":
            text = "a receive task that starts the process cannot have a startQuantity: no flow leads to it"
            draft.report.add_problem(task.element, text)
        for boundary in draft.attached.get(task.id, ()):
            found = definition_of(draft.members[boundary].element)
            if found is None or found[0] != TAG:
                text = f"it never occurs: the message that starts the process completes {quote(task.id)}"
                draft.report.warn(draft.members[boundary].element, text)
