"""Records and filters of `client.mapping_rules`. `make statements` writes them from the table of the API."""

from __future__ import annotations

from typing import Literal, TypedDict

import msgspec


class MappingRuleRecord(msgspec.Struct, rename="camel", frozen=True, kw_only=True):
    """An item of POST /v2/mapping-rules/search."""

    mapping_rule_id: str
    name: str
    claim_name: str
    claim_value: str


class MappingRuleFilter(TypedDict, total=False):
    """The conditions of a search: each is a value, several, or `Where`."""

    mapping_rule_id: str
    name: str
    claim_name: str
    claim_value: str


MappingRuleSort = Literal["mapping_rule_id", "name", "claim_name", "claim_value"]
