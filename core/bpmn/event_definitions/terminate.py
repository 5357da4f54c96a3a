"""Terminate events. BPMN 2.0.2 §10.5.5."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.kind import EventKind
from vivero.core.bpmn.model import TerminateEvent
from vivero.core.bpmn.reading.draft import Place
from vivero.core.bpmn.reading.references import EventReading


def _read(_reading: EventReading) -> TerminateEvent:
    return TerminateEvent()


KIND = EventKind("a terminate event", frozenset({Place.END}), _read)
