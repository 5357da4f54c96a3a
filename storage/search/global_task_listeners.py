"""Task listeners of the whole cluster that can be searched."""

from __future__ import annotations

from typing import Any

from vivero.storage.search.conditions import condition
from vivero.storage.search.fields import ENUM, FLAG, NUMBER, OTHER, TEXT, Field, filtered, plain
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.resources import Resource
from vivero.storage.search.shared_filters import list_of
from vivero.storage.state.task_listeners import API, CONFIGURATION, EVENT_TYPES

MAX_EVENT_TYPES = 20
_EVENT_TYPE = filtered("eventType", "event", ENUM, values=EVENT_TYPES)


def _event_types(value: Any, path: str, parameters: Parameters) -> str:
    """A filter with a list: each entry must fit one of the event types."""
    parts = [
        f"EXISTS (SELECT FROM unnest(x.event_types) AS event WHERE {condition(_EVENT_TYPE, entry, path, parameters)})"
        for entry in list_of(value, path, MAX_EVENT_TYPES)
    ]
    return " AND ".join(parts) or "true"


GLOBAL_TASK_LISTENERS = Resource(
    "Global task listener",
    "global_task_listeners x",
    "x.key",
    (
        filtered("id", "x.id", TEXT, sort=True),
        filtered("type", "x.type", TEXT, sort=True),
        filtered("retries", "x.retries", NUMBER),
        plain("afterNonGlobal", "x.after_non_global", FLAG, sort=True),
        filtered("priority", "x.priority", NUMBER, sort=True),
        Field("eventTypes", "x.event_types", OTHER),
        filtered("source", "x.source", ENUM, sort=True, values=(API, CONFIGURATION)),
    ),
    special={"eventTypes": _event_types},
    of_tenants=False,
)
