"""One ASGI callable for the REST API and the pages: a choice by the path, without a task or a coroutine of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

PREFIX = "/console"
_BELOW = f"{PREFIX}/"
_REST = "/v2/"

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def mount(api: App, web: App) -> App:
    """`web` below its prefix and for browsers that open `/`, `api` for everything else."""

    def app(scope: Scope, receive: Receive, send: Send) -> Awaitable[None]:
        path = scope["path"]
        if path.startswith(_REST):  # most requests
            return api(scope, receive, send)
        if path.startswith(_BELOW) or path == PREFIX or (path == "/" and _is_browser(scope)):
            return web(scope, receive, send)
        return api(scope, receive, send)

    return app


def _is_browser(scope: Scope) -> bool:
    """Whether the client prefers a page to JSON."""
    return any(name == b"accept" and b"text/html" in value for name, value in scope["headers"])
