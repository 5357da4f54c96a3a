"""API tokens: a user's own, with roles that the user has, and all of them for callers that may give roles.

A token is shown once, in the answer to its creation. The database has its hash only.
"""

from __future__ import annotations

from typing import Any

from vivero.api.access.audit import changing
from vivero.api.access.sessions import owner
from vivero.api.access.tokens import digest, new_token
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.problems import Problem, invalid_argument, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_datetime, json_response, no_content
from vivero.api.reading import read
from vivero.api.routes.directory import ID
from vivero.api.search.search_requests import searching
from vivero.api.services import Services
from vivero.core.records.base import DEFAULT_TENANT
from vivero.storage.access import identities
from vivero.storage.access.identities import MAX_OWN_TOKENS, ListedToken, TokenOwner
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.directory import TOKENS

MAX_LIFETIME_DAYS = 3650
MAX_OWN_LIFETIME_DAYS = 366
MAX_ROLES = 100
DAY_S = 86_400

search = searching(TOKENS)


class TokenBody(Body, frozen=True):
    name: str | None = None
    roles: tuple[str, ...] | None = None
    tenant_ids: tuple[str, ...] | None = None
    lifetime_days: int | None = None


_decoder = decoder(TokenBody)


async def list_own(request: Request, services: Services) -> Response:
    """GET /v2/authentication/me/tokens: the caller's tokens, without their secrets."""
    who = owner(request)
    found = await read(services, lambda connection: identities.tokens(connection, who))
    return json_response({"items": [_document(each) for each in found]})


async def create_own(request: Request, services: Services) -> Response:
    """POST /v2/authentication/me/tokens: a token with some of the caller's roles and tenants, for a year at most."""
    who = owner(request)
    body = _body(request, services, MAX_OWN_LIFETIME_DAYS, must_expire=True)
    return await _create(request, services, body, who)


async def revoke_own(request: Request, services: Services) -> Response:
    """DELETE /v2/authentication/me/tokens/{tokenName}: the token is refused from now on, on every node."""
    return await _revoke(request, services, owner(request))


async def create(request: Request, services: Services) -> Response:
    """POST /v2/tokens: a token for a program, with any roles and tenants, as `vivero token create` makes it."""
    body = _body(request, services, MAX_LIFETIME_DAYS, must_expire=False)
    return await _create(request, services, body, None)


async def revoke(request: Request, services: Services) -> Response:
    """DELETE /v2/tokens/{tokenName}: any token."""
    return await _revoke(request, services, None)


async def _create(request: Request, services: Services, body: TokenBody, who: TokenOwner | None) -> Response:
    name, roles, made = body.name or "", list(dict.fromkeys(body.roles or ())), new_token()
    expires_in_s = None if body.lifetime_days is None else float(body.lifetime_days * DAY_S)
    async with changing(request, services, name) as connection:
        tenants = await _tenants(connection, services, body.tenant_ids, who)
        await _check_roles(connection, roles, who)
        if not await identities.create_token(connection, name, digest(made), roles, tenants, expires_in_s, who):
            raise Problem(409, "ALREADY_EXISTS", f"A token with the name '{name}' exists already")
        if who is not None and len(await identities.tokens(connection, who)) > MAX_OWN_TOKENS:
            raise Problem(409, "INVALID_STATE", f"A user has at most {MAX_OWN_TOKENS} tokens: revoke one first")
    return json_response({"name": name, "token": made, "roles": roles, "tenantIds": tenants}, status=201)


async def _revoke(request: Request, services: Services, who: TokenOwner | None) -> Response:
    name = request.params["tokenName"]
    async with changing(request, services) as connection:
        if not await identities.revoke_token(connection, name, who):
            raise not_found("Token", name[:300], by="name")
    return no_content()


def _body(request: Request, services: Services, most_days: int, *, must_expire: bool) -> TokenBody:
    """The body of a creation. Raises Problem 400."""
    body = decode(request, _decoder, services.settings)
    found = Violations()
    found.require("name", body.name or None)
    found.require("roles", body.roles or None)
    if must_expire:
        found.require("lifetimeDays", body.lifetime_days)
    if body.lifetime_days is not None and not 1 <= body.lifetime_days <= most_days:
        found.add(f"The value for lifetimeDays is '{body.lifetime_days}' but must be between 1 and {most_days}")
    for field, values in (("roles", body.roles), ("tenantIds", body.tenant_ids)):
        if len(values or ()) > MAX_ROLES:
            found.add(f"The list {field} has more than {MAX_ROLES} values")
    found.check()
    if ID.fullmatch(body.name or "") is None:
        raise invalid_argument(f"The name '{(body.name or '')[:100]}' is not valid")
    return body


async def _check_roles(connection: Connection, roles: list[str], who: TokenOwner | None) -> None:
    """Raise Problem 400 for an unknown role, 403 for one that the token's owner does not have.

    Roles by mapping rules come from the claims of a sign-in, which nobody could ask for again when the token is used.
    """
    if who is None:
        if missing := await identities.missing_roles(connection, roles):
            raise invalid_argument(f"There is no role '{missing[0][:100]}'")
        return
    stored = await identities.rights(connection, [("USER", who.username)])
    if foreign := [role for role in roles if role not in stored.roles]:
        detail = f"A token of your own can only have roles that are assigned to you: '{foreign[0][:100]}' is not"
        raise Problem(403, "FORBIDDEN", detail)


async def _tenants(
    connection: Connection, services: Services, asked: tuple[str, ...] | None, who: TokenOwner | None
) -> list[str]:
    """The tenants of a new token. Those of a user are all of the user's without a choice. Raises Problem: 400, 403."""
    if who is not None and services.access.multi_tenancy:
        stored = await identities.rights(connection, [("USER", who.username)])
        own = [each.tenant_id for each in stored.tenants]
        if foreign := [tenant for tenant in asked or () if tenant not in own]:
            detail = f"A token of your own can only have tenants that are assigned to you: '{foreign[0][:100]}' is not"
            raise Problem(403, "FORBIDDEN", detail)
        return list(dict.fromkeys(own if asked is None else asked))
    tenants = list(dict.fromkeys(asked or (DEFAULT_TENANT,)))
    if missing := await identities.missing_tenants(connection, tenants):
        raise invalid_argument(f"There is no tenant '{missing[0][:100]}'")
    return tenants


def _document(each: ListedToken) -> dict[str, Any]:
    times = {"createdAt": each.created_at, "expiresAt": each.expires_at, "usedAt": each.last_used_at}
    shown = {name: None if time is None else iso_datetime(time) for name, time in times.items()}
    return {"name": each.name, "roles": each.roles, "tenantIds": each.tenants, "owner": each.owner} | shown
