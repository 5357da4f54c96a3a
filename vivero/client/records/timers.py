"""Records and filters of `client.timers`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    NumberFilter,
    TextFilter,
    TimeFilter,
    Where,
)


class TimerRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/timers/search."""

    timer_key: str
    type: str
    state: str
    due_date: datetime | None = None
    repetitions: int
    element_id: str
    element_instance_key: str | None = None
    process_definition_id: str
    process_definition_key: str
    process_instance_key: str | None = None
    root_process_instance_key: str | None = None
    tenant_id: str
    creation_time: datetime
    trigger_time: datetime | None = None
    end_time: datetime | None = None


class TimerFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    timer_key: KeyFilter
    type: Literal["BOUNDARY", "EVENT_SUB_PROCESS", "INTERMEDIATE", "START_EVENT"] | Sequence[str] | Where
    state: Literal["CANCELED", "FAILED", "PENDING", "TRIGGERED"] | Sequence[str] | Where
    due_date: TimeFilter
    repetitions: NumberFilter
    element_id: TextFilter
    element_instance_key: KeyFilter
    process: TextFilter
    process_definition_key: KeyFilter
    process_instance_key: KeyFilter
    tenant_id: TextFilter
    creation_time: TimeFilter
    trigger_time: TimeFilter
    end_time: TimeFilter


TimerSort = Literal[
    "timer_key",
    "type",
    "state",
    "due_date",
    "repetitions",
    "element_id",
    "element_instance_key",
    "process_definition_id",
    "process_definition_key",
    "process_instance_key",
    "tenant_id",
    "creation_time",
    "trigger_time",
    "end_time",
]
