"""Error events. BPMN 2.0.2 §10.5.5: an error always interrupts."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.codes import read_code
from vivero.core.bpmn.event_definitions.kind import EventKind, Reference
from vivero.core.bpmn.model import ErrorEvent
from vivero.core.bpmn.reading.draft import Place
from vivero.core.bpmn.reading.references import EventReading


def _read(reading: EventReading) -> ErrorEvent | None:
    if not reading.interrupting:
        reading.add_problem("an error event always interrupts")
    found, code = read_code(reading, "error", "errorCode")
    return ErrorEvent(code) if found else None


KIND = EventKind(
    "an error event",
    frozenset({Place.EVENT_SUB_PROCESS_START, Place.BOUNDARY, Place.END}),
    _read,
    reference=Reference("error", "errorCode", every=True),
)
