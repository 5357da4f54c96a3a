"""The cookies of sign-in: the session, and what a browser keeps while it is at the identity provider."""

from __future__ import annotations

import base64
import binascii

import msgspec
from quart import Response, request
from werkzeug.wrappers import Response as PlainResponse

from vivero.api.access.code_flow import Begun
from vivero.api.access.sessions import PLAIN, SECURE, host_name
from vivero.core.texts.hosts import is_loopback
from vivero.web.requests import headers

AnyResponse = Response | PlainResponse

SECURE_FLOW, PLAIN_FLOW = "__Host-vivero_sign_in", "vivero_sign_in"
FLOW_S = 600
"""Seconds that a sign-in at the identity provider may take."""
PATH = "/"
"""Browsers send the session to the pages and to `/v2`. The prefix `__Host-` requires this path."""


def is_secure() -> bool:
    """Whether a cookie must be `Secure`: everywhere except on loopback without TLS. A proxy may terminate TLS."""
    return request.scheme == "https" or not is_loopback(host_name(headers()))


def set_session(response: AnyResponse, id: str, max_s: float) -> None:
    """Set the session cookie. `Strict`: the browser does not send it with requests from other sites."""
    secure = is_secure()
    response.set_cookie(
        SECURE if secure else PLAIN, id, max_age=int(max_s), path=PATH, secure=secure, httponly=True, samesite="Strict"
    )


def forget_session(response: AnyResponse) -> None:
    """Delete the session cookie."""
    secure = is_secure()
    response.delete_cookie(SECURE if secure else PLAIN, path=PATH, secure=secure, httponly=True, samesite="Strict")


def keep_flow(response: AnyResponse, begun: Begun) -> None:
    """Store a pending sign-in in the browser. `Lax`, because the identity provider redirects back to us."""
    secure = is_secure()
    value = base64.urlsafe_b64encode(msgspec.json.encode(begun)).decode()
    response.set_cookie(
        SECURE_FLOW if secure else PLAIN_FLOW,
        value, max_age=FLOW_S, path=PATH, secure=secure, httponly=True, samesite="Lax",
    )  # fmt: skip


def kept_flow() -> Begun | None:
    """The pending sign-in of this browser; None without one, or if the cookie is not ours."""
    value = request.cookies.get(SECURE_FLOW if is_secure() else PLAIN_FLOW, "")
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(value), type=Begun)
    except (binascii.Error, ValueError, msgspec.MsgspecError):
        return None


def forget_flow(response: AnyResponse) -> None:
    """Delete the pending sign-in."""
    secure = is_secure()
    name = SECURE_FLOW if secure else PLAIN_FLOW
    response.delete_cookie(name, path=PATH, secure=secure, httponly=True, samesite="Lax")
