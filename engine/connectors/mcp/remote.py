"""The connector `io.camunda.agenticai:mcpremoteclient:1`: an MCP server that the element names."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from importlib import import_module
from typing import Any

import trio

from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.authentication import Authentication
from vivero.engine.connectors.http.requests import read_headers, read_url, with_parameters
from vivero.engine.connectors.mcp.operations import Operation, read_operation
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.jobs.durations import seconds

SESSIONS = "vivero.engine.connectors.mcp.sessions"
HTTP, SSE = "http", "sse"
OWN_PART = 0.95
"""The part of the time of a job that the call has, so that its end can still be reported as a result of the tool."""
_PLACES = {"BASIC_AUTH_HEADER": "basicAuthHeader", "CREDENTIALS_BODY": "credentialsBody"}


class McpRemote:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        settings = around.parts.sections["agents"]
        if not isinstance(settings, AgentSettings):
            raise ValueError("clients of MCP need the settings of agents")
        self._around, self._most_bytes, self._clients = around, settings.max_response_bytes, settings.mcp_clients
        self._authentication = Authentication(around.client.post)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The result of the operation. Raises ConnectorError."""
        data = call.inputs.get("data")
        if not isinstance(data, dict):
            raise bad_input("the input data is missing")
        operation = read_operation(data)
        given, kind = await self._server(data, call)
        masked: dict[str, Any] = call.used.mask(await self._operated(operation, given, kind, call))
        return masked

    async def _operated(self, operation: Operation, given: Mapping[str, Any], kind: str, call: Call) -> dict[str, Any]:
        """The result of an operation of a server. Raises ConnectorError."""
        limit_s = self._limit_s(given.get("timeout"))
        headers = read_headers(given.get("headers"))
        credentials = await self._authentication.credentials(_authentication(given.get("authentication")), call.used)
        url = with_parameters(read_url(given.get("url")), credentials.parameters)
        sessions = await library(SESSIONS)
        endpoint = sessions.Endpoint(str(url), {**headers, **credentials.headers}, kind == SSE)
        transport = partial(sessions.BoundedTransport, self._around.settings.addresses, self._most_bytes)
        try:
            result = await sessions.operated(endpoint, operation, transport, limit_s, partial(self._store, call))
        except ConnectorError as error:
            if error.final:
                self._authentication.forget(credentials)
            raise
        return dict(result)

    async def _server(self, data: Mapping[str, Any], call: Call) -> tuple[Mapping[str, Any], str]:
        """The inputs of the transport, and its kind: HTTP or SSE. Raises ConnectorError."""
        return _transport(data)

    def _limit_s(self, given: Any) -> float:
        """The time of the whole call: that of the element, at most that of the settings."""
        most_s = self._around.limit_s * OWN_PART
        if given is None or given == "":
            return most_s
        try:
            own_s = seconds(str(given))
        except ValueError as error:
            raise bad_input(f"the timeout of the transport: {error}") from error
        return min(own_s, most_s) if own_s > 0 else most_s

    async def _store(self, call: Call, kind: str, content: bytes) -> Mapping[str, Any]:
        """The reference to a new document with a content of the server."""
        documents = self._around.documents
        if documents is None:
            raise ConnectorError("UNSUPPORTED_DOCUMENT", "documents are not supported here", final=True)
        async with documents.turn():
            return await documents.store(call.job, kind, await call.used.mask_file(content))


async def library(module: str) -> Any:
    """A module of ours that imports the library of MCP, which takes a second."""
    return await trio.to_thread.run_sync(import_module, module)


def _transport(data: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """The inputs of the transport, and its kind: HTTP or SSE. Raises ConnectorError."""
    given = data.get("transport")
    if given is None and isinstance(old := data.get("connection"), dict):
        return {"url": old.get("sseUrl")}, SSE  # version 0
    kind = str(given.get("type") or "http").strip().lower() if isinstance(given, dict) else ""
    inputs = given.get(kind) if isinstance(given, dict) else None
    if kind not in (HTTP, SSE) or not isinstance(inputs, dict):
        raise bad_input("data.transport.type must be http or sse, with the inputs of this transport")
    return inputs, kind


def _authentication(given: Any) -> Any:
    if not isinstance(given, dict):
        return given
    place = given.get("clientAuthentication")
    return {**given, "clientAuthentication": _PLACES.get(place, place) if isinstance(place, str) else place}
