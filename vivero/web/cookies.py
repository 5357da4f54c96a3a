"""The cookies of sign-in: the session, and what a browser keeps while it is at the identity provider."""

from __future__ import annotations

import base64
import binascii

import msgspec
from quart import Response, request
from werkzeug.wrappers import Response as PlainResponse

from vivero.api.access.code_flow import Begun
from vivero.api.access.sessions import PLAIN, SECURE, host_name
from vivero.api.origins import is_loopback
from vivero.web.requests import headers

AnyResponse = Response | PlainResponse

SECURE_FLOW, PLAIN_FLOW = "__Host-vivero_sign_in", "vivero_sign_in"
FLOW_S = 600
"""Seconds that a user may take at the provider."""
PATH = "/"
"""Both the pages and `/v2` get the session; the prefix `__Host-` requires this path."""


def is_secure() -> bool:
    """Whether a cookie must be `Secure`: everywhere but on loopback without TLS. A proxy may have ended TLS."""
    return request.scheme == "https" or not is_loopback(host_name(headers()))


def set_session(response: AnyResponse, id: str, max_s: float) -> None:
    """Give the browser a session. No other site's page or link can make it send the cookie."""
    secure = is_secure()
    response.set_cookie(
        SECURE if secure else PLAIN, id, max_age=int(max_s), path=PATH, secure=secure, httponly=True, samesite="Strict"
    )


def forget_session(response: AnyResponse) -> None:
    """Take the session away from the browser."""
    secure = is_secure()
    response.delete_cookie(SECURE if secure else PLAIN, path=PATH, secure=secure, httponly=True, samesite="Strict")


def keep_flow(response: AnyResponse, begun: Begun) -> None:
    """Let the browser keep a sign-in that has begun. `Lax`, because it comes back from another site."""
    secure = is_secure()
    value = base64.urlsafe_b64encode(msgspec.json.encode(begun)).decode()
    response.set_cookie(
        SECURE_FLOW if secure else PLAIN_FLOW,
        value, max_age=FLOW_S, path=PATH, secure=secure, httponly=True, samesite="Lax",
    )  # fmt: skip


def kept_flow() -> Begun | None:
    """The sign-in that this browser has begun; None if there is none, or the cookie is not ours."""
    value = request.cookies.get(SECURE_FLOW if is_secure() else PLAIN_FLOW, "")
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(value), type=Begun)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        return None


def forget_flow(response: AnyResponse) -> None:
    """End a sign-in that has begun."""
    secure = is_secure()
    name = SECURE_FLOW if secure else PLAIN_FLOW
    response.delete_cookie(name, path=PATH, secure=secure, httponly=True, samesite="Lax")
