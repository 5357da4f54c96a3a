"""Records and filters of `client.model_drafts`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyValue,
    TextFilter,
)


class ModelDraftRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/model-drafts/search."""

    model_draft_key: str
    name: str
    version: int
    tenant_id: str
    created_by: str
    creation_date: datetime
    updated_by: str
    last_updated_date: datetime


class ModelDraftFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    model_draft_key: KeyValue
    name: TextFilter
    tenant_id: TextFilter
    created_by: TextFilter
    updated_by: TextFilter


ModelDraftSort = Literal["model_draft_key", "name", "creation_date", "last_updated_date"]
