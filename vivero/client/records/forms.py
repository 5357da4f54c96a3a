"""Records and filters of `client.forms`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec

from vivero.client.records.filters import (
    KeyFilter,
    NumberFilter,
    TextFilter,
)


class FormRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/forms/search."""

    resource_name: str
    version: int
    version_tag: str | None = None
    form_id: str
    tenant_id: str
    form_key: str


class FormFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    resource_name: TextFilter
    version: NumberFilter
    version_tag: TextFilter
    form_id: TextFilter
    tenant_id: str
    form_key: KeyFilter
    deployment_key: KeyFilter


FormSort = Literal["resource_name", "version", "version_tag", "form_id", "tenant_id", "form_key", "deployment_key"]
