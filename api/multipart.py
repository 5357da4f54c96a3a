"""The parts of a multipart/form-data body (RFC 7578)."""

from __future__ import annotations

from typing import NamedTuple

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header

from vivero.api.problems import Problem, bad_request, invalid_argument
from vivero.api.request import Request

MAX_HEADERS = 20
MAX_HEADER_BYTES = 8192


class Part(NamedTuple):
    """One part. `file_name` is None if it has none."""

    name: str
    file_name: str | None
    content: bytes


def read_parts(request: Request, limit: int) -> list[Part]:
    """The parts of a request's body, at most `limit`. Raises Problem 400, 415."""
    content_type = request.header(b"content-type") or ""
    kind, options = parse_options_header(content_type)
    if kind != b"multipart/form-data":
        detail = f"Content-Type '{content_type[:100]}' is not supported; use multipart/form-data"
        raise Problem(415, "Unsupported Media Type", detail)
    boundary = options.get(b"boundary", b"")
    if not 1 <= len(boundary) <= 70:
        raise bad_request("The boundary of the multipart body is missing, or longer than 70 characters")
    collector = _Collector(limit)
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": collector.begin,
                "on_header_field": collector.on_field,
                "on_header_value": collector.on_value,
                "on_header_end": collector.end_header,
                "on_part_data": collector.on_data,
                "on_part_end": collector.end,
                "on_end": collector.finish,
            },
        )
        parser.write(request.body)
        parser.finalize()
    except MultipartParseError as error:
        raise bad_request(f"The multipart body cannot be parsed: {error}") from error
    if not collector.complete:
        raise bad_request("The multipart body cannot be parsed: it ends before its last boundary")
    return collector.parts


class _Collector:
    """The parser's callbacks, which collect headers and content of each part."""

    def __init__(self, limit: int) -> None:
        self.parts: list[Part] = []
        self.complete = False
        self._limit = limit
        self._field = b""
        self._value = b""
        self._headers: dict[bytes, bytes] = {}
        self._content: list[bytes] = []

    def begin(self) -> None:
        if len(self.parts) >= self._limit:
            raise invalid_argument(f"The request has more than {self._limit} parts")
        self._headers = {}
        self._content = []

    def on_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]
        if len(self._value) > MAX_HEADER_BYTES:
            raise bad_request("The multipart body cannot be parsed: a header of a part is too long")

    def end_header(self) -> None:
        self._headers[self._field.lower()] = self._value
        self._field = self._value = b""
        if len(self._headers) > MAX_HEADERS:
            raise bad_request("The multipart body cannot be parsed: a part has too many headers")

    def on_data(self, data: bytes, start: int, end: int) -> None:
        self._content.append(data[start:end])

    def end(self) -> None:
        disposition, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        if disposition != b"form-data" or b"name" not in options:
            raise bad_request("The multipart body cannot be parsed: a part has no name")
        file_name = options.get(b"filename")
        self.parts.append(
            Part(
                _text(options[b"name"]),
                None if file_name is None else _text(file_name),
                b"".join(self._content),
            )
        )

    def finish(self) -> None:
        self.complete = True


def _text(value: bytes) -> str:
    try:
        text = value.decode()
    except UnicodeDecodeError as error:
        raise bad_request("The multipart body cannot be parsed: a name is not UTF-8") from error
    if "\0" in text:
        raise bad_request("The multipart body cannot be parsed: a name contains a NUL character")
    return text
