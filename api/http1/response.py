"""The head of a response: status line, the application's headers, and those of the server (RFC 9112)."""

from collections.abc import Collection, Iterable
from http import HTTPStatus

from vivero.api.http1.problems import RETRY_AFTER, problem_body

FINAL_LINES = {
    status.value: b"HTTP/1.1 %d %b\r\n" % (status.value, status.phrase.encode())
    for status in HTTPStatus
    if status >= 200
}

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
LAST_CHUNK = b"0\r\n\r\n"
CHUNKED = b"transfer-encoding: chunked\r\n"
CLOSE = b"connection: close\r\n"
KEEP_ALIVE = b"connection: keep-alive\r\n"
_LATER = b"retry-after: " + RETRY_AFTER + b"\r\n"

# The server sets hop-by-hop fields, which belong to the connection. It ignores those of the application (ASGI:
# "Transfer-Encoding ... must be ignored by the server"), except a request to close.
_OURS = frozenset((b"connection", b"content-length", b"date", b"keep-alive", b"transfer-encoding", b"upgrade"))


class Fields:
    """An application's response headers: the lines to send, and the values of fields that the server sets."""

    __slots__ = ("close", "content_length", "dated", "lines")

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self.lines: list[bytes] = []
        self.content_length: int | None = None
        self.close = self.dated = False
        for name, value in headers:
            if name in _OURS or (name := name.lower()) in _OURS:
                self._note(name, value)
            else:
                self.lines.append(b"%b: %b\r\n" % (name, value))

    def _note(self, name: bytes, value: bytes) -> None:
        if name == b"content-length":
            if not value.isdigit() or self.content_length is not None:
                raise ValueError(f"the application sent a wrong or second Content-Length: {value!r}")
            self.content_length = int(value)
        elif name == b"connection":
            self.close = b"close" in value.lower()
        elif name == b"date":
            self.dated = True
            self.lines.append(b"date: %b\r\n" % value)


def head_of(status: int, headers: Collection[tuple[bytes, bytes]], own_lines: bytes) -> bytes:
    """The head of a response whose headers have names in lower case.

    Raises ValueError for a header that the server sets, and for a line break in a header.
    """
    if not _OURS.isdisjoint(dict(headers)):
        raise ValueError(f"the application sent a header that the server sets: {_OURS.intersection(dict(headers))}")
    lines = [b"%b: %b\r\n" % header for header in headers]
    lines.insert(0, status_line(status))
    return _joined(lines, own_lines)


def status_line(status: int) -> bytes:
    """The first line. Raises ValueError for a status that is not final."""
    line = FINAL_LINES.get(status)
    if line is None:
        if not 200 <= status <= 599:
            raise ValueError(f"{status} is not the status of a final response")
        line = b"HTTP/1.1 %d \r\n" % status
    return line


def render_head(status: int, fields: Fields, own_lines: bytes) -> bytes:
    """Status line, the application's lines, the server's lines. Raises ValueError for a line break in a header."""
    return _joined([status_line(status), *fields.lines], own_lines)


def _joined(lines: list[bytes], own_lines: bytes) -> bytes:
    """The head of these lines. Raises ValueError if one of them is several."""
    head = b"".join(lines)
    if head.count(b"\r\n") != len(lines) or len(head.translate(None, b"\r\n\0")) != len(head) - 2 * len(lines):
        raise ValueError("a response header contains a line break or NUL")
    return head + own_lines + b"\r\n"


def problem_response(status: int, detail: str, instance: str, date_line: bytes, head_only: bool = False) -> bytes:
    """A complete problem+json response that closes the connection."""
    body = problem_body(status, detail, instance)
    head = b"%bcontent-type: application/problem+json\r\ncontent-length: %d\r\n%b%b%b\r\n"
    rendered = head % (status_line(status), len(body), date_line, _LATER if status == 503 else b"", CLOSE)
    return rendered if head_only else rendered + body
