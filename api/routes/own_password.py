"""A user changes its own password."""

from __future__ import annotations

from vivero.api.access.audit import changing
from vivero.api.access.passwords import hash_in_thread
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.problems import Problem, invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response, no_content
from vivero.api.services import Services
from vivero.storage.access import identities
from vivero.storage.access.sessions import PASSWORD


class PasswordBody(Body, frozen=True):
    current_password: str | None = None
    new_password: str | None = None


_decoder = decoder(PasswordBody)


async def change(request: Request, services: Services) -> Response:
    """PUT /v2/authentication/me/password: needs the current password. The user's sessions end."""
    body = decode(request, _decoder, services.settings)
    found = Violations()
    found.require("currentPassword", body.current_password)
    found.require("newPassword", body.new_password)
    found.check()
    username = request.caller.id
    await _check_current(request, services, body.current_password or "")
    try:
        password_hash = await hash_in_thread(body.new_password or "")
    except ValueError as error:
        raise invalid_argument(str(error).capitalize()) from error
    async with changing(request, services, username) as connection:
        if not await identities.set_password(connection, username, password_hash):
            raise _wrong()
    return no_content()


async def _check_current(request: Request, services: Services, password: str) -> None:
    """Raise Problem 403 for a wrong password, and for callers without one; 429 after too many of them."""
    if services.access.check_password is None or request.caller.provider != PASSWORD:
        raise Problem(403, "FORBIDDEN", "Only users with a password can change their password")
    try:
        await services.access.check_password(request.caller.id, password, request.owner)
    except Problem as problem:
        if problem.status == 401:
            raise _wrong() from problem
        raise


def _wrong() -> Problem:
    return Problem(403, "FORBIDDEN", "The current password is wrong")
