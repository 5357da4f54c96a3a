"""Compensation events. BPMN 2.0.2 §10.5.5, §10.7. The rules about activities: `core.bpmn.checks.compensations`."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.kind import THROWN, EventKind
from vivero.core.bpmn.model import CompensateEvent
from vivero.core.bpmn.reading.draft import Place
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.values import flag

TAG = "compensateEventDefinition"


def _read(reading: EventReading) -> CompensateEvent:
    activity = reading.definition.get("activityRef", "").strip()
    waits = flag(reading.definition, "waitForCompletion", reading.report, default=True, owner=reading.owner)
    if reading.place in THROWN:
        return CompensateEvent(reading.draft.named(activity), waits)
    if not reading.interrupting and reading.place is Place.BOUNDARY:
        text = "cancelActivity has no effect: the activity has ended when it is compensated"
        reading.report.warn(reading.owner, text, at=reading.definition)
    elif not reading.interrupting:
        text = "isInterrupting has no effect: the scope has ended when it is compensated"
        reading.report.warn(reading.owner, text, at=reading.definition)
    if activity:
        text = "activityRef has no effect here: only a throwing compensation event names an activity"
        reading.report.warn(reading.owner, text, at=reading.definition)
    return CompensateEvent()


KIND = EventKind(
    "a compensation event",
    THROWN | {Place.BOUNDARY, Place.EVENT_SUB_PROCESS_START},
    _read,
)
