"""Parsed requests, and the rules for request lines and headers."""

import re
from collections.abc import Mapping
from urllib.parse import unquote_to_bytes

from vivero.api.http1.problems import Refusal

Headers = list[tuple[bytes, bytes]]
Fields = Mapping[bytes, bytes]
"""Headers by name; of a name with several, the last value."""

# Digits of a Content-Length, which may have leading zeros.
MAX_LENGTH_DIGITS = 32

_HOST = re.compile(rb"(?:\[[0-9A-Fa-f:.]{2,45}\]|(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2}){0,255})(?::[0-9]{0,5})?")
_ESCAPE = re.compile(rb"%(?![0-9A-Fa-f]{2})|%[01][0-9A-Fa-f]|%7[Ff]")


class ParsedRequest:
    """One parsed request. `parts`, `received` and `complete` change while its body arrives.

    Requests with the same header share `headers` and `fields`, which nobody changes.
    """

    __slots__ = (
        "chunked",
        "complete",
        "content_length",
        "expects_continue",
        "fields",
        "headers",
        "keep_alive",
        "method",
        "parts",
        "path",
        "query",
        "raw_path",
        "received",
        "version",
    )

    def __init__(
        self,
        method: str,
        path: str,
        raw_path: bytes,
        query: bytes,
        version: str,
        headers: Headers,
        fields: Fields,
        keep_alive: bool,
        content_length: int = 0,
    ) -> None:
        self.method = method
        self.path = path
        self.raw_path = raw_path
        self.query = query
        self.version = version
        self.headers = headers
        self.fields = fields
        self.keep_alive = keep_alive
        self.content_length = content_length
        self.chunked = self.expects_continue = self.complete = False
        self.parts: list[bytes] = []
        self.received = 0

    @property
    def unread(self) -> int | None:
        """Missing bytes of the body; None while a chunked body, whose length is unknown, is incomplete."""
        if self.complete:
            return 0
        return None if self.chunked else self.content_length - self.received


def parsed_request(
    method: str, target: bytes, version: str, headers: Headers, fields: Fields, keep_alive: bool
) -> ParsedRequest:
    """The request with this target, a path or a URL. Raises Refusal 400."""
    if not target.startswith(b"/") and (target != b"*" or method != "OPTIONS"):
        target, authority = _split_url(target)
        headers = [(name, authority if name == b"host" else value) for name, value in headers]
        fields = dict(headers)
    path, raw_path, query = split_target(target)
    return ParsedRequest(method, path, raw_path, query, version, headers, fields, keep_alive)


def _split_url(target: bytes) -> tuple[bytes, bytes]:
    """Path with query, and authority, which replaces Host (RFC 9112 section 3.2.2). Raises Refusal 400."""
    scheme, separator, rest = target.partition(b"://")
    if not separator or scheme.lower() not in (b"http", b"https"):
        raise Refusal(400, "The request target must be a path or an http URL")
    end = next((at for at, byte in enumerate(rest) if byte in b"/?#"), len(rest))
    authority, path = rest[:end], rest[end:]
    if not authority or authority.startswith(b":"):
        raise Refusal(400, "The request target has no host")
    check_host(authority)
    return path if path.startswith(b"/") else b"/" + path, authority


def declared_bytes(headers: Headers) -> int:
    """The Content-Length of a request; 0 without a valid one."""
    for name, value in headers:
        if name == b"content-length":
            return int(value[:MAX_LENGTH_DIGITS]) if value.isdigit() else 0
    return 0


def check_host(value: bytes) -> None:
    """Raise Refusal 400 for a Host that is neither `host[:port]` nor empty (RFC 9112 section 3.2)."""
    if _HOST.fullmatch(value) is None:
        raise Refusal(400, "The Host of the request is not a host name or address with an optional port")


def split_target(target: bytes) -> tuple[str, bytes, bytes]:
    """The decoded path, the raw path and the query of a request target that is a path or `*`.

    Raises Refusal 400 for a fragment and for escapes that are broken, encode control characters, or are not UTF-8,
    because programs interpret such paths differently.
    """
    raw_path, _, query = target.partition(b"?")
    if b"#" in target:
        raise Refusal(400, "The request target must not contain a fragment")
    if b"%" not in raw_path:
        return raw_path.decode("ascii"), raw_path, query
    if _ESCAPE.search(raw_path) is not None:
        raise Refusal(400, "The request path has a broken escape, or one of a control character")
    try:
        return unquote_to_bytes(raw_path).decode(), raw_path, query
    except UnicodeDecodeError:
        raise Refusal(400, "The escapes in the request path are not UTF-8") from None
