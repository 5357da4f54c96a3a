"""The inputs of `io.camunda:http-json:1`, as its element template maps them, and the request that they describe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

import httpx
import msgspec

from vivero.engine.connectors.errors import bad_input
from vivero.engine.connectors.http.charsets import charset_of

FETCHED = (
    *("method", "url", "headers", "queryParameters", "body", "authentication"),
    *("connectionTimeoutInSeconds", "readTimeoutInSeconds", "writeTimeoutInSeconds"),
    *("followRedirects", "ignoreNullValues", "skipEncoding", "storeResponse"),
)
"""The variables that a job is activated with."""
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
WITH_BODY = ("POST", "PUT", "PATCH")
OWN_HEADERS = frozenset(
    ("host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "accept-encoding")
)
"""Headers that the client sets."""
DEFAULT_TIMEOUT_S = 20.0
CONTENT_TYPE = "content-type"
JSON, FORM = "application/json", "application/x-www-form-urlencoded"

_encode = msgspec.json.Encoder(decimal_format="number").encode


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request without its credentials. Timeouts in seconds; infinity: no limit of its own."""

    method: str
    url: httpx.URL
    headers: Mapping[str, str]
    content: bytes
    connect_s: float
    read_s: float
    write_s: float
    follows: bool
    max_response_bytes: int | None = None
    """None: the limit of the settings."""


def read_request(inputs: Mapping[str, Any]) -> HttpRequest:
    """The request that the inputs describe. Raises ConnectorError."""
    method = str(inputs.get("method") or "GET").upper()
    if method not in METHODS:
        raise bad_input(f"the method must be one of {', '.join(METHODS)}")
    headers = read_headers(inputs.get("headers"))
    content = b""
    if method in WITH_BODY and inputs.get("body") is not None:
        headers = _with_type(headers)
        content = _content(_body(inputs), headers)
    return HttpRequest(
        method,
        _with_query(read_url(inputs.get("url")), inputs.get("queryParameters")),
        headers,
        content,
        _timeout_s(inputs, "connectionTimeoutInSeconds"),
        _timeout_s(inputs, "readTimeoutInSeconds"),
        _timeout_s(inputs, "writeTimeoutInSeconds"),
        flag(inputs, "followRedirects", True),
    )


def read_url(value: Any) -> httpx.URL:
    """An absolute http or https URL. Raises ConnectorError."""
    if not isinstance(value, str) or not value.strip():
        raise bad_input("the url is missing")
    try:
        return check_url(httpx.URL(value.strip()))
    except (httpx.InvalidURL, ValueError) as error:  # the latter by `host`, of a name whose `xn--` says nothing
        raise bad_input(f"the url is not valid: {error}") from error


def check_url(url: httpx.URL) -> httpx.URL:
    """The URL. Raises ConnectorError if it is not an http or https URL without credentials."""
    if url.scheme not in ("http", "https") or not url.host:
        raise bad_input("the url must begin with http:// or https://")
    if url.userinfo:
        raise bad_input("the url must not contain credentials; use the authentication of the connector")
    return url


def _with_query(url: httpx.URL, parameters: Any) -> httpx.URL:
    given = {name: _texts(value) for name, value in _context(parameters, "queryParameters")}
    return with_parameters(url, {name: texts for name, texts in given.items() if texts})


def with_parameters(url: httpx.URL, parameters: Mapping[str, str | list[str]]) -> httpx.URL:
    """The URL with these parameters in its query. Raises ConnectorError if it becomes too long."""
    try:
        return url.copy_merge_params(dict(parameters))
    except httpx.InvalidURL as error:
        raise bad_input(f"the url is not valid with its query parameters: {error}") from error


def read_headers(value: Any) -> dict[str, str]:
    """The headers of a context. Raises ConnectorError."""
    headers = {name: ", ".join(_texts(item)) for name, item in _context(value, "headers")}
    for name, item in headers.items():
        check_header(name, item)
        if name.lower() in OWN_HEADERS:
            raise bad_input(f"the header {name} is set by the connector")
    return headers


def check_header(name: str, value: str) -> None:
    """Raise ConnectorError for a header that could not be sent, or could end early."""
    if not name or not name.isascii() or any(sign in name for sign in " :\r\n\t\0"):
        raise bad_input("the name of a header is not valid")
    if not (value.isascii() and value.replace("\t", "").isprintable() and value == value.strip()):
        raise bad_input(f"the header {name} has a character that a header cannot have")


def _context(value: Any, what: str) -> list[tuple[str, Any]]:
    """The entries of a context; those with null are left out."""
    if value is None or value == "":
        return []
    if not isinstance(value, dict):
        raise bad_input(f"{what} must be a context")
    return [(name, item) for name, item in value.items() if item is not None]


def _with_type(headers: dict[str, str]) -> dict[str, str]:
    if any(name.lower() == "content-type" for name in headers):
        return headers
    return headers | {"Content-Type": JSON}


def _body(inputs: Mapping[str, Any]) -> Any:
    body = inputs["body"]
    return _without_nulls(body) if flag(inputs, "ignoreNullValues", False) else body


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _content(body: Any, headers: Mapping[str, str]) -> bytes:
    """The body in the format of its Content-Type. A text is sent as it is."""
    if isinstance(body, bytes):
        return body  # of documents
    given = next(value for name, value in headers.items() if name.lower() == "content-type")
    type_ = given.partition(";")[0].lower()
    if type_.startswith("multipart/"):
        raise bad_input("a body of parts must have the type multipart/form-data")
    charset = charset_of(given) or "utf-8"
    if type_.strip() == FORM and isinstance(body, dict):
        items = {name: _texts(item) for name, item in body.items() if item is not None}
        return urlencode(items, doseq=True, encoding=charset, errors="replace").encode()
    if not isinstance(body, str) and charset == "utf-8":
        return _encode(body)
    try:
        return (body if isinstance(body, str) else _encode(body).decode()).encode(charset)
    except UnicodeEncodeError as error:
        raise bad_input(f"the body has characters that the charset {charset} of its Content-Type lacks") from error


def _texts(value: Any) -> list[str]:
    """The texts of a header or a parameter: one, or those of a list without nulls, which stand for repeated ones."""
    return [text_of(item) for item in value if item is not None] if isinstance(value, list) else [text_of(value)]


def text_of(value: Any) -> str:
    """A value as the text of a header or a parameter."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | Decimal) else _encode(value).decode()


def _timeout_s(inputs: Mapping[str, Any], name: str) -> float:
    """Seconds; 0 stands for no limit."""
    value = inputs.get(name)
    if value is None or value == "":
        return DEFAULT_TIMEOUT_S
    try:
        seconds = float(value)
    except (TypeError, ValueError) as error:
        raise bad_input(f"{name} must be a number of seconds") from error
    if not 0 <= seconds <= 10**9:
        raise bad_input(f"{name} must be a number of seconds that is not negative")
    return seconds or float("inf")


def flag(inputs: Mapping[str, Any], name: str, default: bool) -> bool:
    """An input that is true or false."""
    value = inputs.get(name)
    return default if value is None or value == "" else value in (True, "true")
