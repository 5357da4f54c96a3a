"""The messages of MCP over HTTP: JSON-RPC 2.0, one message a request, without sessions.

Two generations of the protocol are served (modelcontextprotocol.io, revisions 2025-03-26 to 2026-07-28). The older one
begins with `initialize`; in the newer one each request tells its version in `_meta` and repeats itself in headers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response

MODERN = "2026-07-28"
HANDSHAKE = ("2025-03-26", "2025-06-18", "2025-11-25")
"""The versions whose clients send `initialize`, the oldest first."""
VERSIONS = (*HANDSHAKE, MODERN)

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32700, -32600, -32601, -32602, -32603
HEADER_MISMATCH, UNSUPPORTED_VERSION = -32020, -32022

_VERSION_IN_META = "io.modelcontextprotocol/protocolVersion"
_NAMED = {"tools/call": "name"}
"""Method → the parameter that the header Mcp-Name repeats."""

Parameters = Mapping[str, msgspec.Raw]


class RpcError(Exception):
    """A message that cannot be served. `data` extends the error of the answer."""

    def __init__(self, code: int, message: str, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Message(msgspec.Struct, frozen=True):
    """A request, or a notification, which has no id."""

    jsonrpc: str
    method: str
    id: int | str | msgspec.UnsetType = msgspec.UNSET
    params: dict[str, msgspec.Raw] = {}

    @property
    def is_notification(self) -> bool:
        return self.id is msgspec.UNSET


_decoder = msgspec.json.Decoder(Message)


def decoded(body: bytes) -> Message:
    """The message of a body. Raises RpcError."""
    try:
        message = _decoder.decode(body)
    except msgspec.ValidationError as error:
        raise RpcError(INVALID_REQUEST, f"The body is no message of JSON-RPC: {error}") from error
    except (msgspec.DecodeError, RecursionError) as error:
        raise RpcError(PARSE_ERROR, f"The body is not JSON: {error}") from error
    if message.jsonrpc != "2.0":
        raise RpcError(INVALID_REQUEST, f"jsonrpc is '{message.jsonrpc[:20]}' and must be '2.0'")
    return message


def checked_version(request: Request, message: Message) -> str | None:
    """The version that a message is written in; None if it does not say. Raises RpcError for one that is not served."""
    version = request.header(b"mcp-protocol-version")
    stated = text(_meta(message), _VERSION_IN_META)
    if stated is not None and version != stated:
        raise RpcError(HEADER_MISMATCH, "The header MCP-Protocol-Version differs from the version in _meta")
    if version is None or version in HANDSHAKE:
        return version
    if version != MODERN:
        data = {"supported": VERSIONS, "requested": version[:100]}
        raise RpcError(UNSUPPORTED_VERSION, f"Version '{version[:100]}' is not served", data)
    if stated is None:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks '{_VERSION_IN_META}'")
    _check_headers(request, message)
    return version


def _check_headers(request: Request, message: Message) -> None:
    named = _NAMED.get(message.method)
    expected = {b"mcp-method": message.method}
    if named is not None and (name := text(message.params, named)) is not None:
        expected[b"mcp-name"] = name
    for header, value in expected.items():
        if request.header(header) != value:
            raise RpcError(HEADER_MISMATCH, f"The header {header.decode()} differs from the message")


def _meta(message: Message) -> Parameters:
    found: Parameters | None = value(message.params, "_meta", dict[str, msgspec.Raw])
    return found or {}


def value(parameters: Parameters, name: str, type: Any) -> Any:
    """The parameter `name` as a value of this type; None without it. Raises RpcError."""
    found = parameters.get(name)
    if found is None or bytes(found) == b"null":
        return None
    try:
        return msgspec.json.decode(found, type=type)
    except msgspec.DecodeError as error:
        raise RpcError(INVALID_PARAMS, f"The parameter '{name}' is wrong: {error}") from error


def text(parameters: Parameters, name: str) -> str | None:
    """The parameter `name`, which is a text; None without it. Raises RpcError."""
    found: str | None = value(parameters, name, str)
    return found


def result(message: Message, version: str | None, found: Mapping[str, Any]) -> Response:
    """The answer to a request. The newer generation wants to know that a result is complete."""
    complete = {"resultType": "complete", **found} if version == MODERN else found
    return json_response({"jsonrpc": "2.0", "id": message.id, "result": complete})


def error_response(error: RpcError, message: Message | None, version: str | None) -> Response:
    """The answer to a message that cannot be served. Only the newer generation knows status 404."""
    failure = {"code": error.code, "message": error.message, **({} if error.data is None else {"data": error.data})}
    id = None if message is None or message.is_notification else message.id
    status = 200
    if version == MODERN or message is None or error.code in (UNSUPPORTED_VERSION, HEADER_MISMATCH):
        status = 404 if error.code == METHOD_NOT_FOUND else 400
    return json_response({"jsonrpc": "2.0", "id": id, "error": failure}, status=status)
