"""Escalation events. BPMN 2.0.2 §10.5.5."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.codes import read_code
from vivero.core.bpmn.event_definitions.kind import THROWN, EventKind, Reference
from vivero.core.bpmn.model import EscalationEvent
from vivero.core.bpmn.reading.draft import Draft, Member, Place
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.report import quote

ESCALATES = ("SUB_PROCESS", "TRANSACTION", "AD_HOC_SUB_PROCESS", "CALL_ACTIVITY")
"""The types of activities that escalations can come from."""


def _read(reading: EventReading) -> EscalationEvent | None:
    found, code = read_code(reading, "escalation", "escalationCode")
    return EscalationEvent(code) if found else None


def _check(member: Member, draft: Draft) -> None:
    host = draft.members.get(draft.hosts.get(member.id, ""))
    if host is not None and host.kind is not None and host.kind.type not in ESCALATES:
        text = f"no escalation can come from {quote(host.id)}: it is neither a sub-process nor a call activity"
        draft.report.add_problem(member.element, text)


KIND = EventKind(
    "an escalation event",
    frozenset({Place.EVENT_SUB_PROCESS_START, Place.BOUNDARY}) | THROWN,
    _read,
    reference=Reference("escalation", "escalationCode", every=True),
    check=_check,
)
