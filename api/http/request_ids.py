"""The id of a request: the client's own `X-Request-Id`, or one that is made here. Log lines and the answer have it."""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Awaitable, Callable, Collection, Iterable, MutableMapping
from typing import Any

from vivero.api.http.response import Header
from vivero.engine.tracing.current import POSITION, REQUEST_ID

NAME = b"x-request-id"
SANE = re.compile(rb"[A-Za-z0-9][A-Za-z0-9._:/+=@-]{0,127}")
"""Accepted request ids. The server replaces others, which could forge log lines or fill the log."""

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]


class RequestIds:
    """Makes ids that are unique to this server: a random beginning, and a number."""

    def __init__(self) -> None:
        self._prefix = secrets.token_hex(5)
        self._numbers = itertools.count(1)

    def of(self, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The id of a request with these headers, whose names are in lower case. The first one counts."""
        for name, value in headers:
            if name == NAME:
                if SANE.fullmatch(value):
                    return value.decode("ascii")
                break
        return f"{self._prefix}-{next(self._numbers):x}"

    def begin(self, headers: Iterable[tuple[bytes, bytes]], fields: Collection[bytes] | None = None) -> Header:
        """Give the request of this task its id. Returns the header of the answer. `fields`: the names, if known."""
        if fields is not None and NAME not in fields:
            id = f"{self._prefix}-{next(self._numbers):x}"
        else:
            id = self.of(headers)
        REQUEST_ID.set(id)
        POSITION.set(None)
        return NAME, id.encode()


def header() -> Header:
    """The header of the answer to the request of this task."""
    return NAME, (REQUEST_ID.get() or "").encode()


def end() -> None:
    """The task works on no request any more."""
    REQUEST_ID.set(None)
    POSITION.set(None)


def identified(app: App, ids: RequestIds) -> App:
    """An application whose requests have ids, and whose answers tell them."""

    async def serve(scope: Message, receive: Receive, send: Send) -> None:
        header = ids.begin(scope["headers"])

        async def send_with_id(message: Message) -> None:
            if message["type"] == "http.response.start":
                message = {**message, "headers": [*message.get("headers", ()), header]}
            await send(message)

        try:
            await app(scope, receive, send_with_id)
        finally:
            end()

    return serve
