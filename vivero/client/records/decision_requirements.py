"""Records and filters of `client.decision_requirements`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyValue,
)


class DecisionRequirementsRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/decision-requirements/search."""

    decision_requirements_name: str
    decision_requirements_id: str
    decision_requirements_key: str
    version: int
    tenant_id: str
    resource_name: str


class DecisionRequirementsFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    decision_requirements_name: str
    decision_requirements_id: str
    decision_requirements_key: KeyValue
    version: int
    tenant_id: str
    resource_name: str


DecisionRequirementsSort = Literal[
    "decision_requirements_name", "decision_requirements_id", "decision_requirements_key", "version", "tenant_id"
]
