"""A request as the parser delivers it, and the rules for what a request line and a header may say."""

from urllib.parse import unquote_to_bytes

from api.http1.problems import Refusal

Headers = list[tuple[bytes, bytes]]


class Request:
    """One parsed request; `parts`, `received` and `complete` grow while its body arrives."""

    __slots__ = (
        "chunked",
        "complete",
        "content_length",
        "expects_continue",
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

    def __init__(self, method: str, target: bytes, version: str, headers: Headers, keep_alive: bool) -> None:
        self.method = method
        self.version = version
        self.headers = headers
        self.keep_alive = keep_alive
        self.path, self.raw_path, self.query = split_target(method, target)
        self.content_length = 0
        self.chunked = False
        self.expects_continue = False
        self.parts: list[bytes] = []
        self.received = 0
        self.complete = False

    @property
    def unread(self) -> int | None:
        """Bytes of body still to come; None while a chunked body is open, because nobody knows."""
        if self.complete:
            return 0
        return None if self.chunked else self.content_length - self.received


def split_target(method: str, target: bytes) -> tuple[str, bytes, bytes]:
    """The decoded path, the raw path and the query of a request target (RFC 9112 section 3.2).

    Raises Refusal 400 for a target that is neither origin-form, absolute-form nor `OPTIONS *`, for a fragment, and for
    escapes that are not UTF-8: two readers of such a path could disagree about it.
    """
    raw_path, _, query = target.partition(b"?")
    if not raw_path.startswith(b"/"):
        raw_path = _unusual_path(method, raw_path)
    if b"#" in target:
        raise Refusal(400, "The request target must not contain a fragment")
    if b"%" not in raw_path:
        return raw_path.decode("ascii"), raw_path, query
    try:
        return unquote_to_bytes(raw_path).decode(), raw_path, query
    except UnicodeDecodeError:
        raise Refusal(400, "The escapes in the request path are not UTF-8") from None


def _unusual_path(method: str, target: bytes) -> bytes:
    if target == b"*" and method == "OPTIONS":
        return target
    scheme, separator, rest = target.partition(b"://")
    if not separator or scheme.lower() not in (b"http", b"https"):
        raise Refusal(400, "The request target must be a path or an http URL")
    return b"/" + rest.partition(b"/")[2]
