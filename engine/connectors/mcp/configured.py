"""The connector `io.camunda.agenticai:mcpclient:1`: MCP servers that the operator has named in a file.

A table for each client: `type` (`http`, `sse`), `url`, `headers`, `timeout`, `authentication`, as elements give them,
and `tenants`, who may use it; without them all may. The file is read for each job, so that a change needs no restart.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import trio

from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.requests import read_headers, read_url
from vivero.engine.connectors.mcp.remote import McpRemote
from vivero.engine.connectors.work.calls import Call

SETTING = "agents.mcp_clients"


class McpConfigured(McpRemote):
    """Works jobs of the type."""

    async def _server(self, data: Mapping[str, Any], call: Call) -> tuple[Mapping[str, Any], bool]:
        given = data.get("client")
        name = given.get("clientId") if isinstance(given, dict) else None
        if not isinstance(name, str) or not name:
            raise bad_input("data.client.clientId is missing")
        clients = {} if self._clients is None else await _read(self._clients)
        client = clients.get(name)
        if client is None or not _allows(client, call.job.tenant_id):
            why = f"{SETTING} does not give the client '{name[:200]}' to the tenant '{call.job.tenant_id}'"
            raise ConnectorError("NOT_ALLOWED", f"{why}: the operator of the server decides this", final=True)
        kind = client.get("type", "http")
        if kind not in ("http", "sse"):
            raise ConnectorError(
                "NOT_ALLOWED", f"{SETTING}: the type of '{name[:200]}' must be http or sse", final=True
            )
        _hide(client, call)
        return client, kind == "sse"


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
