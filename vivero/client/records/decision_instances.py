"""Records and filters of `client.decision_instances`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    KeyValue,
    TextFilter,
    TimeFilter,
    Where,
)


class DecisionInstanceRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/decision-instances/search."""

    decision_evaluation_instance_key: str
    state: str
    evaluation_failure: str | None = None
    evaluation_date: datetime
    decision_definition_id: str
    decision_definition_name: str
    decision_definition_version: int
    decision_definition_type: str
    tenant_id: str
    decision_evaluation_key: str
    process_definition_key: str
    process_instance_key: str
    root_process_instance_key: str | None = None
    business_id: str | None = None
    decision_definition_key: str
    element_instance_key: str
    root_decision_definition_key: str
    result: Any


class DecisionInstanceFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    decision_evaluation_instance_key: TextFilter
    state: Literal["EVALUATED", "FAILED", "UNKNOWN", "UNSPECIFIED"] | Sequence[str] | Where
    evaluation_failure: str
    evaluation_date: TimeFilter
    decision_definition_id: str
    decision_definition_name: str
    decision_definition_version: int
    decision_definition_type: Literal["DECISION_TABLE", "LITERAL_EXPRESSION", "UNKNOWN", "UNSPECIFIED"]
    tenant_id: str
    decision_evaluation_key: KeyValue
    process_definition_key: KeyValue
    process_instance_key: KeyValue
    business_id: TextFilter
    decision_definition_key: KeyFilter
    element_instance_key: KeyFilter
    root_decision_definition_key: KeyFilter
    decision_requirements_key: KeyFilter


DecisionInstanceSort = Literal[
    "decision_evaluation_instance_key",
    "state",
    "evaluation_failure",
    "evaluation_date",
    "decision_definition_id",
    "decision_definition_name",
    "decision_definition_version",
    "decision_definition_type",
    "tenant_id",
    "decision_evaluation_key",
    "process_definition_key",
    "process_instance_key",
    "business_id",
    "decision_definition_key",
    "element_instance_key",
    "root_decision_definition_key",
]
