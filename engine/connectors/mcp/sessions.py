"""Sessions with MCP servers by the library `mcp`: one connection for each call, and all failures as ConnectorError.

Elicitation and sampling are refused, as the library does without callbacks.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import httpx2
import msgspec
import trio
from mcp.client.client import Client
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequest, CallToolRequestParams, CallToolResult, Implementation
from pydantic import BaseModel, ValidationError

from vivero.core.feel import EvaluationError, from_json
from vivero.engine.connectors.contracts.tool_servers.mcp import PROMPT_ERROR, RESOURCE_ERROR, SERVER_ERROR, TOO_MANY
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.mcp.operations import CALL, Operation, error_result
from vivero.engine.connectors.mcp.results import (
    LISTS,
    Store,
    listed,
    prompt_result,
    resource_result,
    tool_result,
)
from vivero.engine.connectors.mcp.transport import BoundedTransport, Bounds
from vivero.engine.connectors.outbound.documents import bounded
from vivero.engine.connectors.outbound.http_json import without_nul

B = TypeVar("B", bound=Bounds, contravariant=True)

MOST_PAGES = 100
CONNECT_S = 10.0
SESSION_LOST = "Session terminated"
"""The library's words for the status 404 of a server that has forgotten the session."""
COMPLETE = "complete"
MOST_SHOWN = 1000
"""Characters of a server's error."""
MOST_ERRORS = 20
"""The errors of an answer that are shown: the library takes 10 µs to write each."""
_CODES = {"prompts/get": PROMPT_ERROR, "resources/read": RESOURCE_ERROR}


@dataclass(slots=True)
class Sending:
    """The stage of a call. `sent`: the tool was perhaps called, so that a repetition could call it twice."""

    sent: bool = False


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A server over HTTP. `is_sse`: the transport of 2024."""

    url: str
    headers: dict[str, str]
    is_sse: bool

    @asynccontextmanager
    async def streams(self, transport: BoundedTransport, limit_s: float) -> AsyncGenerator[Any]:
        """The streams of messages for the block."""

        def http(
            headers: dict[str, str] | None = None,
            timeout: httpx2.Timeout | None = None,
            auth: httpx2.Auth | None = None,
        ) -> httpx2.AsyncClient:
            limits = httpx2.Timeout(limit_s, connect=min(CONNECT_S, limit_s))
            given = {**self.headers, **(headers or {})}
            return httpx2.AsyncClient(transport=transport, headers=given, timeout=limits, trust_env=False)

        if self.is_sse:
            async with sse_client(self.url, httpx_client_factory=http) as opened:
                yield opened
        else:
            most = transport.most_bytes
            async with (
                http() as client,
                streamable_http_client(self.url, http_client=client, max_sse_event_size=most) as opened,
            ):
                yield opened


class Server(Protocol[B]):
    """A server, over HTTP or a program."""

    @property
    def is_sse(self) -> bool:
        """Whether its protocol is known to be that of 2024."""

    def streams(self, transport: B, limit_s: float) -> AbstractAsyncContextManager[Any]:
        """The streams of messages for the block."""


async def operated(
    endpoint: Server[B], operation: Operation, make: Callable[[], B], limit_s: float, store: Store
) -> dict[str, Any]:
    """The result of an operation. A tool whose call fails gives an error result. Raises ConnectorError."""
    if operation.name and not operation.filter.passes(operation.name):
        why = f"'{operation.name}' is not allowed by the filters of the element"
        if operation.method == CALL:
            return error_result(operation, why)
        raise ConnectorError(_CODES[operation.method], why, final=True)
    progress, lost = Sending(), False
    end = trio.current_time() + limit_s
    store = bounded(store, TOO_MANY)
    while True:
        transport = make()
        try:
            with trio.fail_at(end):
                return await _run(endpoint, operation, transport, limit_s, store, progress)
        except trio.TooSlowError:
            failure = ConnectorError("TIMEOUT", "the server did not answer within the time limit")
        except ConnectorError as error:
            failure = error
        finally:
            with trio.CancelScope(shield=True, deadline=trio.current_time() + 1):
                await transport.aclose()
        if failure.message == SESSION_LOST and not lost:
            lost = True  # the server has not worked the request
            continue
        if progress.sent:  # the tool has perhaps run, so nobody repeats the call but the model
            return error_result(operation, f"the call of the tool failed: {failure.message}")
        raise failure


async def _run(
    endpoint: Server[B],
    operation: Operation,
    transport: B,
    limit_s: float,
    store: Store,
    progress: Sending,
) -> dict[str, Any]:
    """Raises ConnectorError."""
    info = Implementation(name="vivero", version="1")
    try:
        streams = endpoint.streams(transport, limit_s)
        mode = "legacy" if endpoint.is_sse else "auto"
        async with Client(streams, mode=mode, client_info=info, cache=None) as client:
            return await _operate(client, operation, store, progress)
    except MCPError as error:
        raise _failure(transport, operation, error.message) from error
    except BaseExceptionGroup as group:
        cancelled, rest = group.split(trio.Cancelled)
        if cancelled is not None:
            raise cancelled from None
        if rest is None or not isinstance(rest, ExceptionGroup):
            raise
        found = _first(rest)
        if isinstance(found, ConnectorError):
            raise found from group
        raise _failure(transport, operation, _said(found)) from group
    except (httpx2.HTTPError, httpx2.StreamError, RuntimeError, ValueError, OSError) as error:
        raise _failure(transport, operation, _said(error)) from error


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first ConnectorError in a group, or its first error."""
    ours, _ = group.split(ConnectorError)
    found: BaseException = ours or group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found


def _said(error: BaseException) -> str:
    """The text of an error. One that the library writes for each item of an answer can be long."""
    if isinstance(error, ValidationError) and (number := error.error_count()) > MOST_ERRORS:
        return f"the answer has {number} errors against the protocol"
    return str(error)


def _failure(transport: Bounds, operation: Operation, said: str) -> ConnectorError:
    """The reason of a failure, as the transport knows it, or as the server says it."""
    if transport.failure is not None:
        return transport.failure
    if said == SESSION_LOST:
        return ConnectorError(SERVER_ERROR, said)
    refused = transport.status in (401, 403)
    status = "" if transport.status is None else f"the server answers {transport.status}: "
    code = _CODES.get(operation.method, SERVER_ERROR)
    return ConnectorError(code, f"{status}{said[:MOST_SHOWN]}".replace("\0", "\ufffd"), final=refused)


async def _operate(client: Client, operation: Operation, store: Store, progress: Sending) -> dict[str, Any]:
    method, params, meta = operation.method, operation.params, operation.meta
    given: Any = meta
    if method in LISTS:
        return listed(method, await _pages(client, operation))
    if method == CALL:
        progress.sent = True
        return await tool_result(operation.name, await _called(client, params, given), store)
    if method == "resources/read":
        return await resource_result(_document(await client.read_resource(params["uri"], meta=given)), store)
    return await prompt_result(
        _document(await client.get_prompt(params["name"], params.get("arguments"), meta=given)), store
    )


async def _called(client: Client, params: Mapping[str, Any], meta: Any) -> dict[str, Any]:
    """The answer of a tool. Raises ConnectorError.

    The library's own `call_tool` would list the tools for it, and check the answer by a schema of the server, whose
    regular expressions may take forever.
    """
    request = CallToolRequest(params=CallToolRequestParams.model_validate({**params, "_meta": meta}))
    answer = _document(await client.session.send_request(request, CallToolResult))
    if answer.get("resultType", COMPLETE) != COMPLETE:
        raise ConnectorError(SERVER_ERROR, "the tool asks for more input, which nobody can give here")
    return answer


async def _pages(client: Client, operation: Operation) -> list[Any]:
    """The items of all pages that pass the filter. Raises ConnectorError if they are too many."""
    field, _, _ = LISTS[operation.method]
    list_page: dict[str, Callable[..., Awaitable[BaseModel]]] = {
        "tools/list": client.list_tools,
        "resources/list": client.list_resources,
        "resources/templates/list": client.list_resource_templates,
        "prompts/list": client.list_prompts,
    }
    found, cursor = list[Any](), None
    for _ in range(MOST_PAGES):
        page = _document(await list_page[operation.method](cursor=cursor, meta=operation.meta))
        found += [each for each in page.get(field) or [] if operation.filter.passes(_name(each))]
        if len(found) > operation.most:
            text = f"{operation.method} gives more than {operation.most} items: filter them in the element"
            raise ConnectorError(TOO_MANY, text, final=True)
        cursor = page.get("nextCursor")
        if cursor is None:
            return found
    raise ConnectorError(TOO_MANY, f"{operation.method} has more than {MOST_PAGES} pages", final=True)


def _name(item: Any) -> str:
    """The name that filters mean: of a resource its URI."""
    return str(item.get("uri") or item.get("uriTemplate") or item.get("name"))


def _document(answer: BaseModel) -> dict[str, Any]:
    """An answer as plain data. Raises ConnectorError."""
    try:
        text = answer.model_dump_json(by_alias=True, exclude_none=True)
        document: dict[str, Any] = without_nul(from_json(text))
    except (EvaluationError, ArithmeticError, RecursionError, ValidationError, msgspec.MsgspecError) as error:
        raise ConnectorError("BAD_RESPONSE", f"the answer of the server cannot be read: {error}", final=True) from error
    return document
