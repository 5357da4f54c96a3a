"""Saved views that can be searched: a caller's own ones, and the shared ones of lists that the caller may read."""

from __future__ import annotations

from typing import Any

from vivero.storage.search.fields import FLAG, KEY, PLAIN, TEXT, TIME, Field, enumeration, filtered
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.resources import Resource

LISTS = INSTANCES, TASKS = ("process-instances", "user-tasks")
"""The lists that have views, by the name of their resource in paths of the API."""


def _for_caller(value: Any, _path: str, parameters: Parameters) -> str:
    """The condition for (owner, lists that the owner may read)."""
    owner, lists = value
    columns = ("v.owner_type", "v.owner_id", "v.owner_provider")
    own = " AND ".join(f"{c} = {parameters.add(v, 'text')}" for c, v in zip(columns, owner, strict=True))
    return f"({own} OR v.is_shared AND v.resource = ANY ({parameters.add(list(lists), 'text[]')}))"


SAVED_VIEWS = Resource(
    "Saved view",
    "saved_views v",
    "v.view_key",
    (
        Field("savedViewKey", "v.view_key", KEY, PLAIN, sort=True),
        enumeration("resource", "v.resource", LISTS),
        filtered("name", "v.name", TEXT, sort=True),
        Field("query", "v.query", TEXT),
        filtered("isShared", "v.is_shared", FLAG),
        filtered("owner", "v.owner_id", TEXT),
        Field("ownerType", "v.owner_type", TEXT),
        Field("ownerProvider", "v.owner_provider", TEXT),
        filtered("tenantId", "v.tenant_id", TEXT),
        Field("creationDate", "v.created_at", TIME),
        Field("lastUpdatedDate", "v.updated_at", TIME),
    ),
    within={"for caller": _for_caller},
)
"""The search needs the condition "for caller"."""
