"""Variables that can be searched, with whole values or with the beginnings of large ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vivero.storage.search import implied
from vivero.storage.search.fields import FLAG, KEY, SORTED_PREFIX, TEXT, Field, filtered, plain
from vivero.storage.search.resources import Resource, SpecialFilter
from vivero.storage.search.shared_filters import VALUE

PREVIEW = 8191
"""Characters of a variable's value in a search that truncates."""

_VARIABLE_FIELDS = (
    filtered("name", "v.name", TEXT, sort=True),
    plain("tenantId", "v.tenant_id", TEXT, sort=True),
    filtered("variableKey", "v.variable_key", KEY, sort=True),
    filtered("scopeKey", "v.scope_key", KEY, sort=True, implied=implied.by_element_key("v")),
    filtered("processInstanceKey", "v.process_instance_key", KEY, sort=True),
    Field("rootProcessInstanceKey", "v.root_key", KEY),
    replace(VALUE, sort=True, sort_sql=f"left(v.value, {SORTED_PREFIX})"),
)


_WHOLE = (*_VARIABLE_FIELDS, plain("isTruncated", "false", FLAG))
_PREVIEW = (
    *_VARIABLE_FIELDS[:-1],
    replace(_VARIABLE_FIELDS[-1], shown_sql=f"left(v.value, {PREVIEW})"),
    plain("isTruncated", f"(length(v.value) > {PREVIEW})", FLAG),
)
_PROCESS = "(SELECT p.process_id FROM process_instances p WHERE p.process_instance_key = v.process_instance_key)"
VARIABLE = Resource("Variable", "variables v", "v.variable_key", _VARIABLE_FIELDS, process_sql=_PROCESS)
"""A single variable, read by its key."""


def variables(source: str, preview: bool, within: Mapping[str, SpecialFilter] | None = None) -> Resource:
    """The variables `v` of a FROM clause, with whole values or (`preview`) with the beginnings of large ones."""
    fields = _PREVIEW if preview else _WHOLE
    return Resource("Variable", source, "v.variable_key", fields, within=within or {}, process_sql=_PROCESS)


VARIABLES = variables("variables v", False)
VARIABLE_PREVIEWS = variables("variables v", True)
