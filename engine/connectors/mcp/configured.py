"""The connector `io.camunda.agenticai:mcpclient:1`: MCP servers that the operator has named in a file.

A table for each client: `type` (`http`, `sse`), `url`, `headers`, `timeout`, `authentication`, as elements give them,
and `tenants`, who may use it; without them all may. With the type `stdio` it is a program (`programs`): `command`,
`arguments`, `folder`, `environment`, `memory_mb`. The file is read for each job, so that a change needs no restart.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import trio

from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.requests import read_headers, read_url
from vivero.engine.connectors.mcp.operations import Operation
from vivero.engine.connectors.mcp.remote import HTTP, SESSIONS, SSE, McpRemote, library
from vivero.engine.connectors.work.calls import Call

SETTING = "agents.mcp_clients"
STDIO = "stdio"
PROGRAMS = "vivero.engine.connectors.mcp.programs"
DEFAULT_MEMORY_MB = 4096
"""Address space: the runtimes of some languages reserve much, and use little of it."""


class McpConfigured(McpRemote):
    """Works jobs of the type."""

    async def _operated(self, operation: Operation, given: Mapping[str, Any], kind: str, call: Call) -> dict[str, Any]:
        if kind != STDIO:
            return await super()._operated(operation, given, kind, call)
        sessions, programs = await library(SESSIONS), await library(PROGRAMS)
        program, limit_s = programs.Program(*_program(given)), self._limit_s(given.get("timeout"))
        make = partial(programs.ProgramTransport, self._most_bytes)
        return dict(await sessions.operated(program, operation, make, limit_s, partial(self._store, call)))

    async def _server(self, data: Mapping[str, Any], call: Call) -> tuple[Mapping[str, Any], str]:
        given = data.get("client")
        name = given.get("clientId") if isinstance(given, dict) else None
        if not isinstance(name, str) or not name:
            raise bad_input("data.client.clientId is missing")
        clients = {} if self._clients is None else await _read(self._clients)
        client = clients.get(name)
        if client is None or not _allows(client, call.job.tenant_id):
            why = f"{SETTING} does not give the client '{name[:200]}' to the tenant '{call.job.tenant_id}'"
            raise ConnectorError("NOT_ALLOWED", f"{why}: the operator of the server decides this", final=True)
        kind = client.get("type", HTTP)
        if kind == STDIO:
            return _checked(client, name, call), STDIO
        if kind not in (HTTP, SSE):
            raise _not_allowed(f"the type of '{name[:200]}' must be http, sse or stdio")
        _hide(client, call)
        return client, str(kind)


def _not_allowed(why: str) -> ConnectorError:
    return ConnectorError("NOT_ALLOWED", f"{SETTING}: {why}", final=True)


def _checked(client: Mapping[str, Any], name: str, call: Call) -> Mapping[str, Any]:
    """The table of a program, whose environment may be secret. Raises ConnectorError that names the field."""
    command, folder, memory = client.get("command"), client.get("folder"), client.get("memory_mb", DEFAULT_MEMORY_MB)
    arguments, environment = client.get("arguments", []), client.get("environment", {})
    wrong = {
        "command must be an absolute path": not (isinstance(command, str) and Path(command).is_absolute()),
        "folder must be an absolute path": not (isinstance(folder, str) and Path(folder).is_absolute()),
        "arguments must be a list of texts": not (isinstance(arguments, list) and all(map(_is_text, arguments))),
        "environment must be a table of texts": not (
            isinstance(environment, dict) and all(map(_is_text, environment.values()))
        ),
        "memory_mb must be a number above 0": not (type(memory) is int and memory > 0),
    }
    for why in (text for text, is_wrong in wrong.items() if is_wrong):
        raise _not_allowed(f"'{name[:200]}': {why}")
    for text in environment.values():
        call.used.hide(text)
    return {**client, "name": name[:200], "memory_mb": memory, "arguments": arguments, "environment": environment}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and "\0" not in value


def _program(given: Mapping[str, Any]) -> tuple[str, tuple[str, ...], Mapping[str, str], Path, int]:
    """The fields of `programs.Program`."""
    command = (given["command"], *given["arguments"])
    return given["name"], command, given["environment"], Path(given["folder"]), given["memory_mb"]


def _hide(client: Mapping[str, Any], call: Call) -> None:
    """Mask all that may be secret in the file: headers, credentials, and the parameters of the URL."""
    access, url = client.get("authentication"), read_url(client.get("url"))
    given = access if isinstance(access, dict) else {}
    secret = (given.get(name) for name in ("password", "token", "value", "clientSecret"))
    for text in (*read_headers(client.get("headers")).values(), *url.params.values(), *secret):
        if isinstance(text, str):
            call.used.hide(text)


def _allows(client: Any, tenant: str) -> bool:
    """Whether a tenant may use a client. What is not understood allows nobody."""
    if not isinstance(client, dict):
        return False
    tenants = client.get("tenants")
    return "tenants" not in client or (isinstance(tenants, list) and tenant in tenants)


async def _read(file: Path) -> Mapping[str, Any]:
    """The clients by name. Raises ConnectorError, without what the file says."""
    try:
        return tomllib.loads(await trio.Path(file).read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, RecursionError) as error:
        text = f"the file of {SETTING} cannot be read: {type(error).__name__}"
        raise ConnectorError("UNAVAILABLE", text) from None
