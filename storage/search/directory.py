"""Users, groups, roles, mapping rules, tenants, grants and members that can be searched."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

from vivero.storage.search.conditions import MAX_IN
from vivero.storage.search.fields import ENUM, KEY, OTHER, TEXT, TIME, Field, filtered, plain
from vivero.storage.search.parameters import Parameters
from vivero.storage.search.problems import Unparsable
from vivero.storage.search.resources import Resource, SpecialFilter
from vivero.storage.search.shared_filters import list_of

_NAMED = (plain("name", "x.name", TEXT, sort=True), Field("description", "x.description", TEXT))

_directory = partial(Resource, of_tenants=False)

USERS = _directory(
    "User",
    "users x",
    "x.key",
    (
        filtered("username", "x.username", TEXT, sort=True),
        filtered("name", "x.name", TEXT, sort=True),
        filtered("email", "x.email", TEXT, sort=True),
    ),
)
GROUPS = _directory("Group", "user_groups x", "x.key", (filtered("groupId", "x.group_id", TEXT, sort=True), *_NAMED))
ROLES = _directory("Role", "roles x", "x.key", (plain("roleId", "x.role_id", TEXT, sort=True), *_NAMED))
TENANTS = _directory(
    "Tenant",
    "tenants x",
    "x.key",
    (
        plain("tenantId", "x.tenant_id", TEXT, sort=True),
        *_NAMED,
        Field("key", "x.key", KEY, sort=True, shown=False),
    ),
)
MAPPING_RULES = _directory(
    "Mapping rule",
    "mapping_rules x",
    "x.key",
    (
        plain("mappingRuleId", "x.mapping_rule_id", TEXT, sort=True),
        plain("name", "x.name", TEXT, sort=True),
        plain("claimName", "x.claim_name", TEXT, sort=True),
        plain("claimValue", "x.claim_value", TEXT, sort=True),
    ),
)

TOKENS = _directory(
    "Token",
    "api_tokens x",
    "x.key",
    (
        filtered("name", "x.name", TEXT, sort=True),
        filtered("owner", "x.owner", TEXT, sort=True),
        Field("roles", "x.roles", OTHER),
        Field("tenantIds", "x.tenants", OTHER),
        Field("createdAt", "x.created_at", TIME, sort=True),
        Field("expiresAt", "x.expires_at", TIME, sort=True),
        Field("usedAt", "x.last_used_at", TIME, sort=True),
    ),
)
"""API tokens, without their hashes."""


OWNER_TYPES = ("CLIENT", "GROUP", "MAPPING_RULE", "ROLE", "UNSPECIFIED", "USER")
RESOURCE_TYPES = (
    *("AUDIT_LOG", "AUTHORIZATION", "BACKUP", "BATCH", "CLUSTER_VARIABLE", "COMPONENT", "DECISION_DEFINITION"),
    *("DECISION_REQUIREMENTS_DEFINITION", "DOCUMENT", "EXPORTER", "EXPRESSION", "GLOBAL_LISTENER", "GROUP"),
    *("MAPPING_RULE", "MESSAGE", "PROCESS_DEFINITION", "RESOURCE", "ROLE", "SECRET", "SYSTEM", "TENANT", "USER"),
    "USER_TASK",
)
"""Resource types that the API names, and that grants can be given on."""


def _one_of(column: str) -> SpecialFilter:
    def filter(value: Any, path: str, parameters: Parameters) -> str:
        texts = list_of(value, path, MAX_IN)
        if any(type(text) is not str for text in texts):
            raise Unparsable(path)
        return f"{column} = ANY ({parameters.add(texts, 'text[]')})"

    return filter


AUTHORIZATIONS = _directory(
    "Authorization",
    "authorizations a",
    "a.authorization_key",
    (
        plain("ownerId", "a.owner_id", TEXT, sort=True),
        plain("ownerType", "a.owner_type", ENUM, sort=True, values=OWNER_TYPES),
        plain("resourceType", "a.resource_type", ENUM, sort=True, values=RESOURCE_TYPES),
        Field("resourceId", "a.resource_id", TEXT, sort=True),
        Field("resourcePropertyName", "a.resource_property_name", TEXT, sort=True),
        Field("permissionTypes", "a.permission_types", OTHER),
        Field("authorizationKey", "a.authorization_key", KEY),
    ),
    special={
        "resourceIds": _one_of("a.resource_id"),
        "resourcePropertyNames": _one_of("a.resource_property_name"),
    },
)


_GRANTED = "(SELECT * FROM authorizations UNION ALL SELECT * FROM (VALUES {}) AS b) AS a"
_BUILT_IN = "({}::bigint, 'ROLE', '{}', '{}', '*', '{{{}}}'::text[], NULL::text)"


def _of_owners(value: Any, _path: str, parameters: Parameters) -> str:
    types, ids = (parameters.add([owner[i] for owner in value], "text[]") for i in (0, 1))
    return f"(a.owner_type, a.owner_id) IN (SELECT * FROM unnest({types}, {ids}))"


def own_authorizations(built_in: Iterable[tuple[str, str, Iterable[str]]]) -> Resource:
    """The grants of those owners (type, id) that are the condition `owners`, also those of built-in roles.

    `built_in`: (role, type of a resource, permissions), constants of the program. Their keys are negative.
    """
    rows = [
        _BUILT_IN.format(-number, role, type, ",".join(permissions))
        for number, (role, type, permissions) in enumerate(built_in, 1)
    ]
    return replace(AUTHORIZATIONS, source=_GRANTED.format(", ".join(rows)), within={"owners": _of_owners})


def _group(value: Any, _path: str, parameters: Parameters) -> str:
    return f"m.container_type = 'ROLE' AND m.member_type = 'GROUP' AND m.member_id = {parameters.add(value, 'text')}"


ROLES_OF_GROUP = _directory(
    "Role", "members m JOIN roles x ON m.container_id = x.role_id", "m.key", ROLES.fields, within={"group": _group}
)
"""The roles of the group that is the condition `group`."""


def _of(container_type: str, member_type: str) -> dict[str, SpecialFilter]:
    def members(value: Any, _path: str, parameters: Parameters) -> str:
        id = parameters.add(value, "text")
        return f"m.container_type = '{container_type}' AND m.container_id = {id} AND m.member_type = '{member_type}'"

    return {"container": members}


def members(container_type: str, member_type: str, name: str, entries: Resource | None) -> Resource:
    """The members of one type of a container, whose id is the condition `container`.

    Items are the `entries` themselves, or without them the members' ids in the field `name`.
    """
    within = _of(container_type, member_type)
    if entries is None:
        return _directory(name, "members m", "m.key", (plain(name, "m.member_id", TEXT, sort=True),), within=within)
    id = entries.fields[0].sql
    return _directory(
        name, f"members m JOIN {entries.source} ON m.member_id = {id}", "m.key", entries.fields, within=within
    )
