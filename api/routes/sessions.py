"""Sessions of browsers: the caller's own, and those of a user for callers with the permission on users."""

from __future__ import annotations

from typing import Any

from vivero.api.access.audit import changing
from vivero.api.access.sessions import digest, owner, session_id
from vivero.api.http.problems import not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, iso_datetime, json_response, no_content
from vivero.api.reading import read
from vivero.api.routes.directory import id_of
from vivero.api.services import Services
from vivero.storage.access import sessions
from vivero.storage.access.sessions import ListedSession


async def list_own(request: Request, services: Services) -> Response:
    """GET /v2/authentication/me/sessions: the caller's sessions; `isThis` marks the one of the request."""
    return await _listed(request, services, *owner(request))


async def list_of_user(request: Request, services: Services) -> Response:
    """GET /v2/users/{username}/sessions: those of everybody with this name, here or at the identity provider."""
    return await _listed(request, services, id_of(request, "username"), None)


async def end_own(request: Request, services: Services) -> Response:
    """DELETE /v2/authentication/me/sessions/{sessionKey}: sign out one browser."""
    return await _end(request, services, *owner(request))


async def end_of_user(request: Request, services: Services) -> Response:
    """DELETE /v2/users/{username}/sessions/{sessionKey}: sign out one browser of a user."""
    return await _end(request, services, id_of(request, "username"), None)


async def end_all_of_user(request: Request, services: Services) -> Response:
    """DELETE /v2/users/{username}/sessions: sign out all browsers of a user, as `vivero user sign-out` does."""
    username = id_of(request, "username")
    async with changing(request, services, username) as connection:
        await sessions.end_of_user(connection, username)
    return no_content()


async def _listed(request: Request, services: Services, username: str, provider: str | None) -> Response:
    id = session_id(request.headers)
    this = None if id is None else digest(id)
    found = await read(services, lambda connection: sessions.listed(connection, username, provider, this))
    return json_response({"items": [_document(each) for each in found]})


def _document(each: ListedSession) -> dict[str, Any]:
    times = {"createdAt": each.created_at, "usedAt": each.seen_at, "expiresAt": each.expires_at}
    shown = {name: iso_datetime(time) for name, time in times.items()}
    return {
        "sessionKey": str(each.key),
        "username": each.username,
        "provider": each.provider,
        "isThis": each.is_this,
    } | shown


async def _end(request: Request, services: Services, username: str, provider: str | None) -> Response:
    key = request.key("sessionKey")
    async with changing(request, services, username) as connection:
        if not await sessions.end_chosen(connection, key, username, provider):
            raise not_found(f"Session of user '{username}'", key)
    return no_content()
