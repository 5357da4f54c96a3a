"""The table of contents of BPMN events: event definition → behaviour. `core.bpmn.events.EVENT_KINDS` parses them."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType

from vivero.core.bpmn.model import (
    CancelEvent,
    CompensateEvent,
    ConditionalEvent,
    ErrorEvent,
    EscalationEvent,
    EventDefinition,
    LinkEvent,
    MessageEvent,
    MultipleEvent,
    SignalEvent,
    TerminateEvent,
    TimerEvent,
)
from vivero.core.events import (
    cancel,
    compensate,
    conditional,
    error,
    escalation,
    link,
    message,
    multiple,
    signal,
    terminate,
    timer,
)
from vivero.core.events.behaviour import EventBehaviour


def behaviour(module: ModuleType) -> EventBehaviour:
    """The behaviour that the module defines: functions by their names, constants in capitals."""
    found = {name: getattr(module, name, getattr(module, name.upper(), None)) for name in EventBehaviour._fields}
    return EventBehaviour(**{name: value for name, value in found.items() if value is not None})


_SINGLES: Mapping[type[EventDefinition], EventBehaviour] = {
    MessageEvent: behaviour(message),
    TimerEvent: behaviour(timer),
    ErrorEvent: behaviour(error),
    EscalationEvent: behaviour(escalation),
    SignalEvent: behaviour(signal),
    TerminateEvent: behaviour(terminate),
    LinkEvent: behaviour(link),
    ConditionalEvent: behaviour(conditional),
    CompensateEvent: behaviour(compensate),
    CancelEvent: behaviour(cancel),
}

EVENT_BEHAVIOURS = {**_SINGLES, MultipleEvent: multiple.behaviour_of(_SINGLES)}

AFFECTED = tuple(event.affected for event in EVENT_BEHAVIOURS.values() if event.affected is not None)
"""Called after changes of variables that a subscription may watch."""

START_KINDS = {kind: event for event in EVENT_BEHAVIOURS.values() for kind in event.start_kinds}
"""`kind` of a start event's metadata → behaviour of its event definition"""
