"""The parts of a multipart/form-data body (RFC 7578)."""

from __future__ import annotations

import re
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
    """One part. `file_name` is None if it has none."""

    name: str
    file_name: str | None
    content: bytes


def read_parts(request: Request, limit: int) -> list[FormPart]:
    """The parts of a request's body, at most `limit`. Raises Problem 400, 415."""
    content_type = request.header(b"content-type") or ""
    kind, options = parsed(content_type.encode())
    if kind != "multipart/form-data":
        detail = f"Content-Type '{content_type[:100]}' is not supported; use multipart/form-data"
        raise Problem(415, "Unsupported Media Type", detail)
    boundary = options.get("boundary", "").encode()
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
        self.parts: list[FormPart] = []
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
        try:
            disposition, options = parsed(self._headers.get(b"content-disposition", b""))
            name, file_name = text_of(options, "name"), text_of(options, "filename")
        except Unreadable as error:
            raise bad_request(f"The multipart body cannot be parsed: a name cannot be read: {error}") from error
        if disposition != "form-data" or name is None:
            raise bad_request("The multipart body cannot be parsed: a part has no name")
        _check(name)
        _check(file_name or "")
        self.parts.append(FormPart(name, file_name, b"".join(self._content)))

    def finish(self) -> None:
        self.complete = True


def _check(text: str) -> None:
    """Raise Problem 400 for characters that no name has, which an encoded one could bring in."""
    if _CONTROL.search(text):
        raise bad_request("The multipart body cannot be parsed: a name contains a control character")
