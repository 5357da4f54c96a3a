"""Records and filters of `client.messages`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from datetime import datetime
from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    TextFilter,
    TimeFilter,
)


class MessageRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/messages/search."""

    message_key: str
    message_name: str
    correlation_key: str | None = None
    message_id: str | None = None
    expiration_date: datetime | None = None
    business_id: str | None = None
    tenant_id: str
    received_by: list[str] | None = None


class MessageFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    message_key: KeyFilter
    message_name: TextFilter
    correlation_key: TextFilter
    message_id: TextFilter
    expiration_date: TimeFilter
    business_id: TextFilter
    tenant_id: TextFilter


MessageSort = Literal["message_key", "message_name", "correlation_key", "expiration_date", "tenant_id"]
