"""A client of A2A agents: their cards, and JSON-RPC to the endpoint that a card names. Answers are bounded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx

from vivero.core.feel import EvaluationError, from_json, to_json
from vivero.engine.connectors.a2a.results import wrong
from vivero.engine.connectors.contracts.tool_servers.a2a import A2A_ERROR, ACCESS
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.authentication import Authentication, Credentials
from vivero.engine.connectors.http.http_client import HttpClient, origin_of
from vivero.engine.connectors.http.requests import DEFAULT_TIMEOUT_S, HttpRequest, read_url
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.secrets import UsedSecrets

RETRIED = (408, 409, 425, 429)
REFUSED = (401, 403)
"""The credentials are missing or wrong, so the agent has not worked the request."""
JSON_RPC = "JSONRPC"
INVALID = (-32700, -32600, -32601, -32602)
"""Errors of JSON-RPC that a repetition gets again."""
MOST_SHOWN = 300


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent by its card, and the credentials for the host that the inputs name."""

    base: httpx.URL
    card: Mapping[str, Any]
    credentials: Credentials

    @property
    def endpoint(self) -> httpx.URL:
        """The URL for JSON-RPC. Raises ConnectorError: the author of a card cannot send credentials to others."""
        found = endpoint_of(self.card)
        if (self.credentials.headers or self.credentials.parameters) and origin_of(found) != origin_of(self.base):
            raise bad_input(
                f"the card of the agent names the endpoint {found.host[:MOST_SHOWN]}, and the credentials are for"
                f" {self.base.host[:MOST_SHOWN]} alone, the host of data.connection.url"
            )
        return found


class AgentClient:
    """Calls agents. The caller limits the time."""

    def __init__(self, http: HttpClient, most_bytes: int | None) -> None:
        """`most_bytes`: of an answer. None: the limit of the client."""
        self._http, self._most_bytes = http, most_bytes
        self._authentication = Authentication(http.post)

    async def agent(self, inputs: Inputs, used: UsedSecrets) -> KnownAgent:
        """The agent that the inputs name, with its card. Raises ConnectorError."""
        base, path = read_url(inputs.line("data.connection.url")), inputs.line("data.connection.agentCardLocation")
        if "://" in path or "#" in path:
            raise bad_input("data.connection.agentCardLocation must be a path below data.connection.url")
        place = read_url(f"{str(base).rstrip('/')}/{path.lstrip('/')}")
        credentials = await self._authentication.credentials(inputs.context(ACCESS) or None, used)
        found = await self._asked("GET", place, b"", credentials)
        if not isinstance(found, dict):
            raise wrong("its card is not an object")
        return KnownAgent(base, found, credentials)

    async def call(self, agent: KnownAgent, method: str, params: Mapping[str, Any], id: str) -> Any:
        """The result of a method of JSON-RPC. Raises ConnectorError."""
        content = to_json({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()
        answer = await self._asked("POST", agent.endpoint, content, agent.credentials)
        if not isinstance(answer, dict) or answer.get("id") not in (id, None):
            raise wrong("it is not an answer of JSON-RPC to this request")
        error = answer.get("error")
        if error is None:
            return answer.get("result")
        code = error.get("code") if isinstance(error, dict) else None
        text = str(error.get("message") if isinstance(error, dict) else error)[:MOST_SHOWN]
        raise ConnectorError(A2A_ERROR, f"the agent refuses it: {text}", {"errorCode": code}, final=code in INVALID)

    async def _asked(self, method: str, url: httpx.URL, content: bytes, credentials: Credentials) -> Any:
        """The JSON of an answer. Raises ConnectorError."""
        headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if content else {})
        timeout_s = float("inf")  # the whole call has its limit
        request = HttpRequest(
            method, url, headers, content, DEFAULT_TIMEOUT_S, timeout_s, timeout_s, True, self._most_bytes
        )
        response = await self._http.call(request, credentials)
        status = response.status
        if status >= 400:
            if status in REFUSED:
                self._authentication.forget(credentials)
            is_final = status < 500 and status not in RETRIED
            raise ConnectorError(A2A_ERROR, f"the agent answers {status}", {"status": status}, final=is_final)
        try:
            return from_json(response.body.decode())
        except (UnicodeDecodeError, EvaluationError, RecursionError):
            raise wrong("it is not valid JSON") from None


def endpoint_of(card: Mapping[str, Any]) -> httpx.URL:
    """The URL of a card for JSON-RPC (A2A 0.3.0, section 5.6). Raises ConnectorError."""
    others = card.get("additionalInterfaces")
    places = [{"transport": card.get("preferredTransport") or JSON_RPC, "url": card.get("url")}]
    places += [each for each in others if isinstance(each, dict)] if isinstance(others, list) else []
    for place in places:
        if place.get("transport") == JSON_RPC and isinstance(place.get("url"), str):
            return read_url(place["url"])
    raise wrong(f"its card has no URL for the transport {JSON_RPC}")
