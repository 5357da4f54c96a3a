"""Records and filters of `client.definitions`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyValue,
    TextFilter,
)


class ProcessDefinitionRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/process-definitions/search."""

    name: str | None = None
    resource_name: str
    version: int
    version_tag: str | None = None
    process_definition_id: str
    tenant_id: str
    process_definition_key: str
    has_start_form: bool
    deployment_key: str
    deployment_date: datetime
    state: str


class ProcessDefinitionFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    name: TextFilter
    resource_name: str
    version: int
    version_tag: str
    process: TextFilter
    tenant_id: str
    process_definition_key: KeyValue
    has_start_form: bool
    deployment_key: KeyValue
    state: Literal["ACTIVE", "DRAINING", "DELETED"]
    is_latest_version: bool


ProcessDefinitionSort = Literal[
    "name", "resource_name", "version", "version_tag", "process_definition_id", "tenant_id", "process_definition_key"
]
