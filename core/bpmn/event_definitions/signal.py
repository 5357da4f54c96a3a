"""Signal events. BPMN 2.0.2 §10.5.5: a signal reaches all events that wait for its name."""

from __future__ import annotations

from vivero.core.bpmn.event_definitions.kind import CAUGHT, THROWN, EventKind, Reference
from vivero.core.bpmn.model import SignalEvent
from vivero.core.bpmn.reading.references import EventReading
from vivero.core.bpmn.reading.report import quote


def _read(reading: EventReading) -> SignalEvent | None:
    signal = reading.referred("signalRef", "signal")
    if signal is None:
        return None
    does = "throws" if reading.place in THROWN else "waits for"
    name = reading.named(signal, "name", f"{quote(reading.owner.get('id', ''))} {does} it")
    return None if name is None else SignalEvent(name)


KIND = EventKind("a signal event", CAUGHT | THROWN, _read, reference=Reference("signal", "name"), behind_gateway=True)
