"""Relations other than sequence flows: boundary events, event sub-processes, links, joins, compensation."""

from __future__ import annotations

from vivero.core.bpmn.checks import compensations
from vivero.core.bpmn.elements.complex_gateways import ACTIVATION_CONDITION
from vivero.core.bpmn.event_definitions import link
from vivero.core.bpmn.reading.draft import Draft, Member, Place
from vivero.core.bpmn.reading.report import quote
from vivero.core.bpmn.reading.xml import bpmn_children


def connect(draft: Draft) -> None:
    """Fill in the hosts, attached, event sub-processes, links, joins and compensations of the draft."""
    for member in draft.members.values():
        if member.kind is None:
            continue
        if member.kind.place is Place.BOUNDARY:
            _attach(member, draft)
        elif member.kind.type == "EVENT_SUB_PROCESS":
            draft.event_sub_processes.setdefault(member.scope, []).append(member.id)
        elif _joins_by_paths(member, draft):
            draft.joins.setdefault(member.scope, []).append(member.id)
    link.connect(draft)
    compensations.connect(draft)


def _joins_by_paths(member: Member, draft: Draft) -> bool:
    if member.tag == "complexGateway":
        return bool(bpmn_children(member.element, ACTIVATION_CONDITION))
    return member.tag == "inclusiveGateway" and len(draft.incoming.get(member.id, ())) > 1


def _attach(boundary: Member, draft: Draft) -> None:
    """Attach boundary events to activities of the same scope. BPMN 2.0.2 §10.5.6."""
    reference = boundary.element.get("attachedToRef", "").strip()
    host = draft.members.get(reference) or draft.members.get(reference.rpartition(":")[2])
    problem = _not_a_host(host, reference, boundary)
    if problem is not None:
        draft.report.add_problem(boundary.element, problem)
    elif host is not None:
        draft.hosts[boundary.id] = host.id
        draft.attached.setdefault(host.id, []).append(boundary.id)


def _not_a_host(host: Member | None, reference: str, boundary: Member) -> str | None:
    if not reference:
        return "the boundary event needs an attachedToRef: its activity"
    if host is None:
        return f"attachedToRef {quote(reference)} is not a flow node of this process"
    if host.scope != boundary.scope:
        return f"is attached to {quote(host.id)}, which is in another scope"
    if host.kind is not None and not host.kind.activity:
        return f"is attached to {quote(host.id)}, which is no activity"
    return None
