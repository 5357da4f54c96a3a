"""Header fields that were parsed before, by their bytes: most requests of a client have the same ones.

The C parser has seen and accepted exactly these bytes, from the end of the request line to the empty line. A request
line in its plain form is read here. Everything else goes to the C parser: other forms of the line, fields that are new,
and those that say more about the message than its length.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from vivero.api.http1.request import Fields, Headers, ParsedRequest

MAX_KNOWN = 256
MAX_BYTES = 2048
"""The most bytes of fields that are remembered."""
MAX_SEEN = 1024

LINE = re.compile(
    rb"(GET|POST|PUT|PATCH|DELETE|HEAD) (/[A-Za-z0-9_.~/:@!$&'()*+,;=-]*)(?:\?([A-Za-z0-9_.~/?:@!$&'()*+,;=%-]*))?"
    rb" HTTP/1\.1\r\n"
)
"""Method, path without escapes, and query of a request line."""
END = b"\r\n\r\n"
_OTHER_FRAMING = frozenset((b"transfer-encoding", b"expect", b"upgrade"))


class KnownHead(NamedTuple):
    """The fields of a request, and what follows from them. `size`: the bytes of the fields, as a limit counts them."""

    headers: Headers
    fields: Fields
    content_length: int
    size: int


class KnownHeads:
    """The fields of the requests to one server, whose limits they have passed.

    Fields are remembered when they come for the second time, so that requests with an id of their own displace nothing.
    """

    __slots__ = ("_by_bytes", "_seen", "get")

    def __init__(self) -> None:
        self._by_bytes: dict[bytes, KnownHead] = {}
        self._seen: set[int] = set()
        self.get = self._by_bytes.get

    def remember(self, block: bytes, request: ParsedRequest, size: int) -> None:
        """Remember the fields of a request, which the C parser has read from these bytes."""
        if not _is_plain(block, request):
            return
        known, seen, hashed = self._by_bytes, self._seen, hash(block)
        if hashed not in seen:
            if len(seen) >= MAX_SEEN:
                seen.clear()
            seen.add(hashed)
            return
        if len(known) >= MAX_KNOWN:
            del known[next(iter(known))]
        known[block] = KnownHead(request.headers, request.fields, request.content_length, size)


def _is_plain(block: bytes, request: ParsedRequest) -> bool:
    """Whether the fields say nothing about the message but its length, and have a line each."""
    lines = len(request.headers) + 1
    return (
        len(block) <= MAX_BYTES
        and request.keep_alive
        and block.count(b"\n") == block.count(b"\r") == lines
        and _OTHER_FRAMING.isdisjoint(request.fields)
    )
