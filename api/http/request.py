"""A request for handlers: the ASGI scope and the whole body in a convenient form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl, quote

import trio

from vivero.api.callers.audited import Audited
from vivero.api.callers.caller import ANYBODY, Caller
from vivero.api.callers.permissions import Allowed
from vivero.api.http.problems import bad_request, too_large
from vivero.api.http1.request import declared_bytes

T = TypeVar("T")

Headers = list[tuple[bytes, bytes]]
Fields = Mapping[bytes, bytes]
"""Headers by name; of a name with several, the last value."""
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

RELEASE = "http.request.release"
"""An extension of ASGI: the application has released the request's body."""
OWNER = "vivero.owner"
"""An extension of ASGI: a function from the request's headers to the address that the request counts for."""
DECLARED_BYTES = "vivero.declared_bytes"
"""An extension of ASGI: the Content-Length of the request, which the server has read; 0 without one."""
HAS_LEFT = "vivero.has_left"
"""An extension of ASGI: a function that tells whether the client has closed its side, without waiting."""
FIELDS = "vivero.fields"
"""An extension of ASGI: the headers by name; of a name with several, the last value."""
WHOLE_BODY = "vivero.whole_body"
"""An extension of ASGI: a function with the body, or its unread rest, if all has arrived; otherwise None."""
ANSWER = "vivero.answer"
"""An extension of ASGI: a function that sends a whole response: its status, headers with names in lower case, body."""
UNWATCHED_S = 1.0
"""Handlers that wait longer than this start to watch for a disconnect. Before that, it costs more than it saves."""

KEY = re.compile(r"-?[0-9]{1,25}", re.ASCII)
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
MAX_QUERY_FIELDS = 100


class ClientLeft(Exception):
    """The client disconnected before its answer."""


LISTS = frozenset({b"if-match", b"if-none-match", b"prefer"})
"""Headers that are lists, which a client or a proxy may send in several lines."""


class Request:
    """Method, path, the values of the path's parameters, headers (names in lower case), query and body."""

    __slots__ = (
        *("_has_left", "_owner", "_query", "_receive", "_send"),
        *("allowed", "audited", "body", "caller", "fields", "headers", "method", "note", "params", "path"),
        *("query_string", "redirected", "scheme", "target", "tenants", "tool"),
    )

    def __init__(
        self,
        method: str,
        path: str,
        headers: Headers,
        body: bytes = b"",
        query_string: bytes = b"",
        params: Mapping[str, str] | None = None,
        receive: Receive | None = None,
        send: Send | None = None,
        owner: Callable[[Headers], str] | None = None,
        caller: Caller = ANYBODY,
        allowed: Allowed | None = None,
        redirected: bool = False,
        target: bytes | None = None,
        tenants: frozenset[str] | None = None,
        audited: Audited | None = None,
        tool: str | None = None,
        scheme: str = "http",
        has_left: Callable[[], Awaitable[bool]] | None = None,
        fields: Fields | None = None,
    ) -> None:
        """`allowed`: what the caller has the route's permission for; None for everything.

        `redirected`: another node has sent the client here. `target` is the path as it was sent. `tenants`: those
        whose data the caller may see; None for all, and without multi-tenancy. `audited`: how the audit log
        shows the change; None: it does not. `tool`: the name of the agent's tool that the request comes from.
        """
        self.method = method
        self.path = path
        self.headers = headers
        self.fields = dict(headers) if fields is None else fields
        self.body = body
        self.query_string = query_string
        self.params = params or {}
        self._receive = receive
        self._send = send
        self._owner = owner
        self._has_left = has_left
        self._query: dict[str, str] | None = None
        self.caller = caller
        self.allowed = allowed
        self.redirected = redirected
        self.audited = audited
        self.note: str | None = None
        """The reason that the caller gives for the change, for the audit log."""
        self.target = quote(path).encode() if target is None else target
        self.tenants = tenants
        self.tool = tool
        self.scheme = scheme

    @property
    def owner(self) -> str:
        """The address that the request counts for where clients share a limit; "" if the server does not say."""
        return "" if self._owner is None else self._owner(self.headers)

    @property
    def host(self) -> str:
        """The scheme and the host to which the client has sent the request: `http://localhost:8080`."""
        return f"{self.scheme}://{self.header(b'host') or ''}"

    def key(self, name: str) -> int:
        """The path parameter `name`, which is a key. Raises Problem 400."""
        text = self.params[name]
        key = parse_key(text)
        if key is None:
            raise bad_request(f"Failed to convert '{name}' with value: '{text[:100]}'")
        return key

    def header(self, name: bytes) -> str | None:
        """The header `name`, which must be in lower case; None if there is none. Lines of a list are joined.

        Raises Problem 400: a header with a single value has several. Another program on the way, such as a proxy, may
        have read another one than we would (RFC 9110, section 5.3).
        """
        value = self.fields.get(name)
        if value is None:
            return None
        if len(self.fields) < len(self.headers):
            value = _joined(name, [each for other, each in self.headers if other == name])
        return value.decode("latin-1")

    @property
    def query(self) -> Mapping[str, str]:
        """The query's parameters. Raises Problem 400, also for one that is given several times."""
        if self._query is None:
            self._query = _each_once(_parse_query(self.query_string)) if self.query_string else {}
        return self._query

    def first_in_query(self) -> dict[str, str]:
        """The query's parameters, of which a repeated one has its first value. Raises Problem 400."""
        return dict(reversed(_parse_query(self.query_string)))

    def flag(self, name: str, default: bool) -> bool:
        """A query parameter that is true or false. Raises Problem 400 for other values."""
        text = self.query.get(name)
        if text is None:
            return default
        if text.lower() not in ("true", "false"):
            raise bad_request(f"Failed to convert '{name}' with value: '{text[:100]}'")
        return text.lower() == "true"

    async def has_left(self) -> bool:
        """Whether the client has left, as far as the server can tell now. Otherwise False."""
        return self._has_left is not None and await self._has_left()

    async def disconnected(self) -> None:
        """Return when the client disconnects. Only for one task at a time, after the body is read."""
        if self._receive is None:
            raise RuntimeError("this request has no connection")
        while (await self._receive())["type"] != "http.disconnect":
            pass

    async def unless_left(self, wait: Callable[[], Awaitable[T]]) -> T:
        """The result of `wait`. Raises ClientLeft as soon as the client disconnects."""
        if self._receive is None:
            return await wait()
        found: list[T] = []
        failed: list[Exception] = []

        async def watch() -> None:
            await self.disconnected()
            nursery.cancel_scope.cancel()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            try:
                found.append(await wait())
            except Exception as error:
                failed.append(error)  # raised outside the nursery, which would put it into a group
            nursery.cancel_scope.cancel()
        if failed:
            raise failed[0]
        if not found:
            raise ClientLeft
        return found[0]

    async def chunks(self, limit: int, of: str = "") -> AsyncGenerator[bytes]:
        """The body as it arrives, of a route that streams it. What was used is to be released (`release_body`).

        `of` says in a 413 where the limit comes from.

        Raises:
            Problem: 413 for a body that is larger, before it is received if its declared length says so.
            ClientLeft: the body ends too early.
        """
        if declared_bytes(self.headers) > limit:
            raise too_large(limit, of)
        size, more = 0, True
        while more:
            if self._receive is None or (message := await self._receive())["type"] != "http.request":
                raise ClientLeft
            part: bytes = message.get("body", b"")
            size += len(part)
            if size > limit:
                raise too_large(limit, of)
            yield part
            more = message.get("more_body", False)

    async def release_body(self) -> None:
        """Tell the server that neither the body nor its decoded form is in use any more, so that it is not counted."""
        self.body = b""
        if self._send is not None:
            await self._send({"type": RELEASE})


def parse_key(text: str) -> int | None:
    """The 64-bit key in a string; None if the string is not a key."""
    if KEY.fullmatch(text) is None:
        return None
    key = int(text)
    return key if INT64_MIN <= key <= INT64_MAX else None


def _joined(name: bytes, values: list[bytes]) -> bytes:
    if name in LISTS:
        return b", ".join(values)
    if len(set(values)) > 1:
        raise bad_request(f"The header {name.decode().title()} is given {len(values)} times, with different values")
    return values[0]


def _each_once(pairs: list[tuple[str, str]]) -> dict[str, str]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (name, times), *_ = Counter(name for name, _ in pairs).most_common(1)
        raise bad_request(f"The query parameter '{name[:100]}' is given {times} times")
    return found


def _parse_query(query: bytes) -> list[tuple[str, str]]:
    try:
        pairs = parse_qsl(
            query.decode("ascii"),
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=MAX_QUERY_FIELDS,
        )
    except ValueError as error:  # not ASCII, escapes that are not UTF-8, too many
        raise bad_request("The query string cannot be parsed") from error
    if any("\0" in name or "\0" in value for name, value in pairs):
        raise bad_request("The query string contains a NUL character")
    return pairs
