"""Grants: what a user, client, group, role or mapping rule may do with a resource."""

from __future__ import annotations

import re

from vivero.api.access.audit import changing
from vivero.api.callers.permissions import EVERY, GRANTABLE, TASK_PROPERTIES, built_in_grants
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.problems import invalid_argument, not_found, unexpected_value
from vivero.api.http.request import Request, parse_key
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.search.search_requests import getting, prepare, run, searching
from vivero.api.services import Services
from vivero.storage.access import directory
from vivero.storage.access.directory import Authorization
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.directory import AUTHORIZATIONS, own_authorizations

OWNER_TYPES = ("USER", "CLIENT", "ROLE", "GROUP", "MAPPING_RULE")
_OWNERS_HERE = {each.type: each for each in (directory.ROLE, directory.GROUP, directory.MAPPING_RULE)}
"""The owners that need an entry. Users and clients may be those of an identity provider."""
RESOURCE_ID = re.compile(r"\*|[^\x00-\x1f*]{1,1000}")

get = getting(AUTHORIZATIONS, "authorizationKey")
search = searching(AUTHORIZATIONS)


_OWN = own_authorizations(built_in_grants())


async def search_own(request: Request, services: Services) -> Response:
    """POST /v2/authentication/me/authorizations/search: the caller's grants, and those of its built-in roles."""
    prepared = prepare(request, _OWN, services.settings, ("owners", request.caller.owners))
    found = await run(request, services, prepared)
    enabled = b"false" if services.access.authenticator is None else b"true"
    return json_response(found.body[:-1] + b',"authorizationsEnabled":' + enabled + b"}")


class AuthorizationBody(Body, frozen=True):
    owner_id: str | None = None
    owner_type: str | None = None
    resource_id: str | None = None
    resource_type: str | None = None
    resource_property_name: str | None = None
    permission_types: tuple[str, ...] | None = None


_decoder = decoder(AuthorizationBody)


async def create(request: Request, services: Services) -> Response:
    """POST /v2/authorizations: grant permissions."""
    made = _authorization(request, services)
    async with changing(request, services) as connection:
        await _owner_must_exist(connection, made)
        key = await directory.create_authorization(connection, made)
    return json_response({"authorizationKey": str(key)}, status=201)


async def update(request: Request, services: Services) -> Response:
    """PUT /v2/authorizations/{key}: replace a grant."""
    key, changed = request.key("authorizationKey"), _authorization(request, services)
    async with changing(request, services) as connection:
        await _owner_must_exist(connection, changed)
        if not await directory.update_authorization(connection, key, changed):
            raise not_found(AUTHORIZATIONS.name, key)
    return no_content()


async def delete(request: Request, services: Services) -> Response:
    """DELETE /v2/authorizations/{key}: withdraw a grant."""
    key = request.key("authorizationKey")
    async with changing(request, services) as connection:
        if not await directory.delete_authorization(connection, key):
            raise not_found(AUTHORIZATIONS.name, key)
    return no_content()


async def _owner_must_exist(connection: Connection, made: Authorization) -> None:
    """Raise Problem 404 for an unknown group, role or mapping rule: a later one must not inherit the grant."""
    kind = _OWNERS_HERE.get(made.owner_type)
    if kind is not None and not await directory.exists(connection, kind, made.owner_id):
        raise not_found(f"Owner of type {made.owner_type}", made.owner_id[:300], by="ownerId")


def _authorization(request: Request, services: Services) -> Authorization:
    """The grant in a body. Raises Problem 400."""
    body = decode(request, _decoder, services.settings)
    found = Violations()
    found.require("ownerId", body.owner_id or None)
    found.require("ownerType", body.owner_type or None)
    if body.resource_property_name is None:
        found.require("resourceId", body.resource_id or None)
    elif body.resource_id is not None:
        found.add("Only one of resourceId and resourcePropertyName is allowed")
    found.require("resourceType", body.resource_type or None)
    found.require("permissionTypes", body.permission_types or None)
    found.check()
    owner = _member(body.owner_type, "ownerType", OWNER_TYPES)
    resource = _member(body.resource_type, "resourceType", tuple(GRANTABLE))
    allowed = tuple(sorted(GRANTABLE[resource]))
    permissions = {_member(each, "permissionTypes", allowed) for each in body.permission_types or ()}
    _check_resource(body, resource)
    named = (body.resource_id, tuple(sorted(permissions)), body.resource_property_name)
    return Authorization(owner, body.owner_id or "", resource, *named)


def _check_resource(body: AuthorizationBody, resource: str) -> None:
    """Raise Problem 400 unless the id, or the property, fits the type of the resource."""
    id, property = body.resource_id, body.resource_property_name
    if property is not None:
        if resource != "USER_TASK":
            raise invalid_argument("Only grants on USER_TASK can name a property (resourcePropertyName)")
        if property not in TASK_PROPERTIES:
            raise unexpected_value(property, "resourcePropertyName", TASK_PROPERTIES)
    elif id is None or RESOURCE_ID.fullmatch(id) is None:
        raise invalid_argument("The resourceId is not valid: it is '*' or an id without '*' and control characters")
    elif resource == "USER_TASK" and id != EVERY and parse_key(id) is None:
        raise invalid_argument("The resourceId of a grant on USER_TASK is '*' or the key of a user task")


def _member(value: str | None, field: str, allowed: tuple[str, ...]) -> str:
    found = (value or "").upper()
    if found not in allowed:
        raise unexpected_value(value, field, allowed)
    return found
