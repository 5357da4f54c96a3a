"""The parts of a multipart/form-data body (RFC 7578), read whole or as they arrive.

python-multipart is a push parser: it takes a body in pieces of any size and keeps none of them, so that a file streams
through. (Parsers that write files to temporary ones, or that pull from a stream, fit neither Trio nor our limits.)
"""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser

from vivero.api.http.header_parameters import Unreadable, parsed, text_of
from vivero.api.http.problems import Problem, bad_request, invalid_argument
from vivero.api.http.request import Request

MAX_HEADERS = 20
MAX_HEADER_BYTES = 8192
_CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff]")


class FormPart(NamedTuple):
    """One part. `file_name` and `content_type` are None if it has none."""

    name: str
    file_name: str | None
    content: bytes
    content_type: str | None = None


class PartHead(NamedTuple):
    """The beginning of a part. `file_name` and `content_type` are None if it has none."""

    name: str
    file_name: str | None
    content_type: str | None


class PartEnd(Enum):
    """The end of a part, or of the body."""

    PART = "the part is complete"
    BODY = "all parts are complete"


FormEvent = PartHead | bytes | PartEnd
"""The next piece of a body: the head of a part, some of its bytes, its end; then the end of the body."""


def read_parts(request: Request, limit: int) -> list[FormPart]:
    """The parts of a request's body, at most `limit`. Raises Problem 400, 415."""
    parser, parts, content = FormParser(request, limit), list[FormPart](), list[bytes]()
    for event in (*parser.feed(request.body), *parser.end()):
        if isinstance(event, PartHead):
            head, content = event, []
        elif isinstance(event, bytes):
            content.append(event)
        elif event is PartEnd.PART:
            parts.append(FormPart(head.name, head.file_name, b"".join(content), head.content_type))
    return parts


class FormParser:
    """The parser of one body. Every method raises Problem 400."""

    def __init__(self, request: Request, limit: int) -> None:
        """`limit`: the most parts. Raises Problem 415 for a body of another type."""
        self._collector = _Collector(limit)
        collector = self._collector
        callbacks = {
            "on_part_begin": collector.begin,
            "on_header_field": collector.on_field,
            "on_header_value": collector.on_value,
            "on_header_end": collector.end_header,
            "on_headers_finished": collector.end_headers,
            "on_part_data": collector.on_data,
            "on_part_end": collector.end,
            "on_end": collector.finish,
        }
        try:
            self._parser = MultipartParser(_boundary(request), callbacks)  # type: ignore[arg-type]
        except MultipartParseError as error:
            raise _unreadable(str(error)) from error

    def feed(self, data: bytes) -> list[FormEvent]:
        """The events of the next bytes of the body."""
        try:
            self._parser.write(data)
        except MultipartParseError as error:
            raise _unreadable(str(error)) from error
        return self._collector.taken()

    def end(self) -> list[FormEvent]:
        """The events at the end of the body."""
        try:
            self._parser.finalize()
        except MultipartParseError as error:
            raise _unreadable(str(error)) from error
        if not self._collector.complete:
            raise _unreadable("it ends before its last boundary")
        return self._collector.taken()


def _boundary(request: Request) -> bytes:
    content_type = request.header(b"content-type") or ""
    kind, options = parsed(content_type.encode())
    if kind != "multipart/form-data":
        detail = f"Content-Type '{content_type[:100]}' is not supported; use multipart/form-data"
        raise Problem(415, "Unsupported Media Type", detail)
    boundary = options.get("boundary", "").encode()
    if not 1 <= len(boundary) <= 70:
        raise bad_request("The boundary of the multipart body is missing, or longer than 70 characters")
    return boundary


class _Collector:
    """The parser's callbacks, which collect the events of the bytes that it was fed."""

    def __init__(self, limit: int) -> None:
        self.complete = False
        self._events: list[FormEvent] = []
        self._parts = 0
        self._limit = limit
        self._field = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}

    def taken(self) -> list[FormEvent]:
        events, self._events = self._events, []
        return events

    def begin(self) -> None:
        self._parts += 1
        if self._parts > self._limit:
            raise invalid_argument(f"The request has more than {self._limit} parts")
        self._headers = {}

    def on_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]
        self._check_size()

    def on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        self._check_size()

    def _check_size(self) -> None:
        if len(self._field) + len(self._value) > MAX_HEADER_BYTES:
            raise _unreadable("a header of a part is too long")

    def end_header(self) -> None:
        self._headers[self._field.lower()] = self._value
        self._field = self._value = b""
        if len(self._headers) > MAX_HEADERS:
            raise _unreadable("a part has too many headers")

    def end_headers(self) -> None:
        try:
            disposition, options = parsed(self._headers.get(b"content-disposition", b""))
            name, file_name = text_of(options, "name"), text_of(options, "filename")
        except Unreadable as error:
            raise _unreadable(f"a name cannot be read: {error}") from error
        if disposition != "form-data" or name is None:
            raise _unreadable("a part has no name")
        content_type = self._headers.get(b"content-type")
        head = PartHead(name, file_name, None if content_type is None else content_type.decode("latin-1"))
        for text in (head.name, head.file_name or ""):
            if _CONTROL.search(text):  # an encoded name could bring it in
                raise _unreadable("a name contains a control character")
        self._events.append(head)

    def on_data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(data[start:end])

    def end(self) -> None:
        self._events.append(PartEnd.PART)

    def finish(self) -> None:
        self.complete = True
        self._events.append(PartEnd.BODY)


def _unreadable(why: str) -> Problem:
    return bad_request(f"The multipart body cannot be parsed: {why}")
