"""The credentials in a request's header `Authorization` (RFC 7617 and RFC 6750)."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field

from vivero.api.access.sessions import session_id
from vivero.api.access.tokens import PREFIX
from vivero.api.http.problems import Problem
from vivero.api.http.request import Headers
from vivero.api.http.response import NOSNIFF

MAX_BYTES = 16 * 1024
"""Bytes of the header. Tokens of identity providers with many claims are long."""

PRIVATE = (
    (b"cache-control", b"no-store"),
    NOSNIFF,
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""Headers of every answer with authentication: no cache keeps it, and no browser runs it."""

CHALLENGES = (
    (b"www-authenticate", b'Basic realm="vivero", charset="UTF-8"'),
    (b"www-authenticate", b'Bearer realm="vivero"'),
)
SCRIPT_MODES = (b"cors", b"same-origin", b"no-cors", b"websocket")
"""Values of Sec-Fetch-Mode of requests by scripts. For the challenge `Basic`, the browser would ask for a password."""
SESSION = b"\0session "
"""The beginning of what `presented` returns for a session. No header contains NUL."""


@dataclass(frozen=True, slots=True)
class Password:
    """HTTP Basic."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ApiToken:
    """A bearer token that this server made."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class JsonWebToken:
    """A bearer token of an identity provider."""

    token: str = field(repr=False)


Credentials = Password | ApiToken | JsonWebToken


def unauthorized(detail: str) -> Problem:
    """401. The detail says nothing about which part of the credentials is wrong."""
    return Problem(401, "Unauthorized", detail, *CHALLENGES)


def session_ended() -> Problem:
    """401 for a session. Only browsers send sessions, so the answer has no challenge `Basic` (`SCRIPT_MODES`)."""
    return Problem(401, "Unauthorized", "The session has ended: sign in again", *CHALLENGES[1:])


def presented(headers: Headers) -> bytes:
    """The value of the header; without it `SESSION` and the id in a cookie.

    Raises Problem 401: there is neither, or the header is empty or repeated.
    """
    values = [value for name, value in headers if name == b"authorization"]
    if not values:
        id = session_id(headers)
        if id is not None:
            return SESSION + id
    if not values or values == [b""]:
        raise _missing(headers)
    if len(values) > 1 or len(values[0]) > MAX_BYTES:
        raise unauthorized("The header Authorization cannot be used: send it once, with at most 16 KiB")
    return values[0]


def _missing(headers: Headers) -> Problem:
    detail = "This server requires authentication: send a user's name and password, or a bearer token"
    of_script = any(name == b"sec-fetch-mode" and value in SCRIPT_MODES for name, value in headers)
    return Problem(401, "Unauthorized", detail, *(CHALLENGES[1:] if of_script else CHALLENGES))


def parse(value: bytes) -> Credentials:
    """The credentials in the header's value. Raises Problem 401."""
    scheme, _, rest = value.partition(b" ")
    rest = rest.strip()
    if scheme.lower() == b"basic":
        return _basic(rest)
    if scheme.lower() == b"bearer" and rest.isascii():
        token = rest.decode("ascii")
        return ApiToken(token) if token.startswith(PREFIX) else JsonWebToken(token)
    raise unauthorized("The header Authorization must have the scheme Basic or Bearer")


def _basic(rest: bytes) -> Password:
    try:
        username, separator, password = base64.b64decode(rest, validate=True).decode("utf-8").partition(":")
    except (binascii.Error, UnicodeDecodeError) as error:
        raise unauthorized("The credentials of the scheme Basic cannot be decoded") from error
    if not separator or "\0" in username or "\0" in password:
        raise unauthorized("The credentials of the scheme Basic cannot be decoded")
    return Password(username, password)
