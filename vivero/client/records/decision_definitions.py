"""Records and filters of `client.decisions`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyValue,
)


class DecisionDefinitionRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/decision-definitions/search."""

    decision_definition_id: str
    name: str
    version: int
    version_tag: str | None = None
    decision_requirements_id: str
    tenant_id: str
    decision_definition_key: str
    decision_requirements_key: str
    decision_requirements_name: str
    decision_requirements_version: int


class DecisionDefinitionFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    decision_definition_id: str
    name: str
    version: int
    version_tag: str
    decision_requirements_id: str
    tenant_id: str
    decision_definition_key: KeyValue
    decision_requirements_key: KeyValue
    decision_requirements_name: str
    decision_requirements_version: int
    is_latest_version: bool


DecisionDefinitionSort = Literal[
    "decision_definition_id",
    "name",
    "version",
    "version_tag",
    "decision_requirements_id",
    "tenant_id",
    "decision_definition_key",
    "decision_requirements_key",
    "decision_requirements_name",
    "decision_requirements_version",
]
