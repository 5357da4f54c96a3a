"""Grants: what a user, client, group, role or mapping rule may do with a resource."""

from __future__ import annotations

import re

from vivero.api.access.audit import changing
from vivero.api.access.permissions import EVERY, RESOURCES, built_in_grants
from vivero.api.decoding import Body, Violations, decode, decoder
from vivero.api.problems import invalid_argument, not_found, unexpected_value
from vivero.api.request import Request
from vivero.api.response import Response, json_response, no_content
from vivero.api.search import getting, prepare, run, searching
from vivero.api.services import Services
from vivero.storage import directory
from vivero.storage.directory import Authorization
from vivero.storage.search.directory import AUTHORIZATIONS, own_authorizations

OWNER_TYPES = ("USER", "CLIENT", "ROLE", "GROUP", "MAPPING_RULE")
RESOURCE_ID = re.compile(r"\*|[^\x00-\x1f*]{1,1000}")

get = getting(AUTHORIZATIONS, "authorizationKey")
search = searching(AUTHORIZATIONS)


_OWN = own_authorizations(built_in_grants())


async def search_own(request: Request, services: Services) -> Response:
    """POST /v2/authentication/me/authorizations/search: the caller's grants, and those of its built-in roles."""
    prepared = prepare(request, _OWN, services.settings, ("owners", request.caller.owners))
    found = await run(request, services, prepared)
    enabled = b"false" if services.access is None else b"true"
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
        key = await directory.create_authorization(connection, made)
    return json_response({"authorizationKey": str(key)}, status=201)


async def update(request: Request, services: Services) -> Response:
    """PUT /v2/authorizations/{key}: replace a grant."""
    key, changed = request.key("authorizationKey"), _authorization(request, services)
    async with changing(request, services) as connection:
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


def _authorization(request: Request, services: Services) -> Authorization:
    """The grant in a body. Raises Problem 400."""
    body = decode(request, _decoder, services.settings)
    if body.resource_property_name is not None:
        raise invalid_argument("Grants by a property of a resource (resourcePropertyName) are not supported")
    found = Violations()
    found.require("ownerId", body.owner_id or None)
    found.require("ownerType", body.owner_type or None)
    found.require("resourceId", body.resource_id or None)
    found.require("resourceType", body.resource_type or None)
    found.require("permissionTypes", body.permission_types or None)
    found.check()
    owner = _member(body.owner_type, "ownerType", OWNER_TYPES)
    resource = _member(body.resource_type, "resourceType", tuple(RESOURCES))
    allowed = tuple(sorted(RESOURCES[resource]))
    permissions = {_member(each, "permissionTypes", allowed) for each in body.permission_types or ()}
    resource_id = body.resource_id or EVERY
    if RESOURCE_ID.fullmatch(resource_id) is None:
        raise invalid_argument("The resourceId is not valid: it is '*' or an id without '*' and control characters")
    return Authorization(owner, body.owner_id or "", resource, resource_id, tuple(sorted(permissions)))


def _member(value: str | None, field: str, allowed: tuple[str, ...]) -> str:
    found = (value or "").upper()
    if found not in allowed:
        raise unexpected_value(value, field, allowed)
    return found
