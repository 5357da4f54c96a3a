"""Requests that a handler sends to the application itself in the name of its caller.

Each passes the same checks as if the caller had sent it: credentials, permissions, tenants, limits and the audit log.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from vivero.api.admission.redirects import MARK
from vivero.api.http.request import HAS_LEFT, OWNER, RELEASE, Receive, Request, Send
from vivero.api.http.response import Response

TOOL = "vivero.tool"
"""An extension of ASGI: the name of the tool whose call causes a request."""
_PASSED_ON = frozenset((b"authorization", b"host", b"origin", b"sec-fetch-site"))

Release = Callable[[], Awaitable[None]]
Answer = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[Response]]


@dataclass(slots=True)
class InnerRequest:
    """A request. The path has escapes, and the content type is that of the body. Whoever reads the body takes it."""

    method: str
    path: str
    body: bytes = b""
    query: str = ""
    content_type: str = "application/json"


class InnerRequests:
    """The way from handlers to the application, which `connect` opens."""

    def __init__(self) -> None:
        self._answer: Answer | None = None

    def connect(self, answer: Answer) -> None:
        """Send requests to this application from now on."""
        self._answer = answer

    async def send(self, outer: Request, inner: InnerRequest, tool: str, release: Release | None = None) -> Response:
        """The response to a request that a tool sends for the caller of `outer`. Raises ClientLeft.

        `release` is called if the request waits for long and needs its body no more: `outer` may then let its own go.
        """
        if self._answer is None:
            raise RuntimeError("no application is connected")
        headers = [header for header in outer.headers if header[0] in _PASSED_ON]
        headers.append((b"content-type", inner.content_type.encode()))
        headers.append((b"content-length", b"%d" % len(inner.body)))
        scope = {
            "type": "http",
            "method": inner.method,
            "path": unquote(inner.path),
            "raw_path": inner.path.encode(),
            "query_string": b"&".join(filter(None, (inner.query.encode(), MARK))),  # no node redirects it
            "headers": headers,
            "extensions": {OWNER: lambda _headers: outer.owner, HAS_LEFT: outer.has_left, TOOL: tool, RELEASE: {}},
        }
        return await self._answer(scope, _receiving(inner, outer), _sending(release))


def _receiving(inner: InnerRequest, outer: Request) -> Receive:
    """The body in one message. After it, a message follows when the outer client disconnects."""
    is_read = False

    async def receive() -> dict[str, Any]:
        nonlocal is_read
        if is_read:
            await outer.disconnected()
            return {"type": "http.disconnect"}
        is_read = True
        body, inner.body = inner.body, b""
        return {"type": "http.request", "body": body}

    return receive


def _sending(release: Release | None) -> Send:
    """The messages of the application to its server. Only the release of the body counts."""

    async def send(message: MutableMapping[str, Any]) -> None:
        if release is not None and message["type"] == RELEASE:
            await release()

    return send
