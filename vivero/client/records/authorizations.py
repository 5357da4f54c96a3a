"""Records and filters of `client.authorizations`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypedDict

import msgspec


class AuthorizationRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/authorizations/search."""

    owner_id: str
    owner_type: str
    resource_type: str
    resource_id: str | None = None
    resource_property_name: str | None = None
    permission_types: list[str]
    authorization_key: str


class AuthorizationFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    owner_id: str
    owner_type: Literal["CLIENT", "GROUP", "MAPPING_RULE", "ROLE", "UNSPECIFIED", "USER"]
    resource_type: Literal[
        "AUDIT_LOG",
        "AUTHORIZATION",
        "BACKUP",
        "BATCH",
        "CLUSTER_VARIABLE",
        "COMPONENT",
        "DECISION_DEFINITION",
        "DECISION_REQUIREMENTS_DEFINITION",
        "DOCUMENT",
        "EXPORTER",
        "EXPRESSION",
        "GLOBAL_LISTENER",
        "GROUP",
        "MAPPING_RULE",
        "MESSAGE",
        "PROCESS_DEFINITION",
        "RESOURCE",
        "ROLE",
        "SECRET",
        "SYSTEM",
        "TENANT",
        "USER",
        "USER_TASK",
    ]
    resource_ids: Sequence[str]
    resource_property_names: Sequence[str]


AuthorizationSort = Literal["owner_id", "owner_type", "resource_type", "resource_id", "resource_property_name"]
