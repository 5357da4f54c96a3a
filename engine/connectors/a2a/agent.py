"""The connector `io.camunda.agenticai:a2aclient:0`: JSON-RPC over HTTP to an agent that its card describes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import httpx
import trio

from vivero.core.feel import EvaluationError, from_json, to_json
from vivero.engine.connectors.a2a.operations import SentMessage, read_operation
from vivero.engine.connectors.a2a.results import UNFINISHED, answer_result, card_result, state_of, wrong
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.contracts.tool_servers.a2a import A2A_ERROR, BLOCKING, POLLING
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.authentication import Credentials
from vivero.engine.connectors.http.requests import DEFAULT_TIMEOUT_S, HttpRequest, read_url
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.jobs import ConnectorJob

AGAIN_S = 1.0
"""The interval in which a task is asked for, if the agent answers before it has ended."""
OWN_PART = 0.95
"""The part of the time of a job that the call has."""
RETRIED = (408, 409, 425, 429)
JSON_RPC = "JSONRPC"
INVALID = (-32700, -32600, -32601, -32602)
"""Errors of JSON-RPC that a repetition gets again."""
MOST_SHOWN = 300


class A2aAgent:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        settings = around.parts.sections["agents"]
        if not isinstance(settings, AgentSettings):
            raise ValueError("clients of agents need the settings of agents")
        self._around, self._most_bytes = around, settings.max_response_bytes

    async def answer(self, call: Call) -> dict[str, Any]:
        """The card, or the answer of the agent. Raises ConnectorError."""
        inputs = Inputs(self._around.contract, call.inputs)
        message = read_operation(inputs)
        most_s = self._around.limit_s * OWN_PART
        limit_s = most_s if message is None else min(message.timeout_s, most_s)
        result: dict[str, Any] = {}
        try:
            with trio.fail_after(limit_s):
                card = await self._card(inputs)
                if message is None:
                    result = {"result": card_result(card)}
                else:
                    result = await self._sent(call, message, _endpoint(card))
        except trio.TooSlowError:
            raise ConnectorError("TIMEOUT", "the agent did not answer within the time limit") from None
        masked: dict[str, Any] = call.used.mask(result)
        return masked

    async def _card(self, inputs: Inputs) -> Mapping[str, Any]:
        base, path = str(read_url(inputs.line("data.connection.url"))), inputs.line("data.connection.agentCardLocation")
        if "://" in path or "#" in path:
            raise bad_input("data.connection.agentCardLocation must be a path below data.connection.url")
        found = await self._asked("GET", read_url(f"{base.rstrip('/')}/{path.lstrip('/')}"), b"")
        if not isinstance(found, dict):
            raise wrong("its card is not an object")
        return found

    async def _sent(self, call: Call, message: SentMessage, endpoint: httpx.URL) -> dict[str, Any]:
        store = partial(self._store, call)
        params = await self._params(call.job, message)
        answer = await self._called(endpoint, "message/send", params, call)
        while message.retrieval == BLOCKING and state_of(answer) in UNFINISHED:
            await trio.sleep(AGAIN_S)
            asked = {"id": answer["id"], "historyLength": message.history}
            answer = await self._called(endpoint, "tasks/get", asked, call)
        found: dict[str, Any] = {"result": await answer_result(answer, store)}
        if message.retrieval == POLLING:
            found["pollingData"] = {"id": found["result"].get("id") or found["result"].get("messageId")}
        if message.notification is not None:
            found["pushNotificationData"] = {"token": message.notification.token}
        return found

    async def _params(self, job: ConnectorJob, message: SentMessage) -> dict[str, Any]:
        """The parameters of `message/send` (A2A 0.3.0, section 7.1). A repeated job sends the same message id."""
        digest = hashlib.sha256(bytes(job.variables)).hexdigest()[:20]
        parts = [{"kind": "text", "text": message.text}, *await self._files(message, job)]
        given = {"contextId": message.context_id, "taskId": message.task_id, "referenceTaskIds": message.references}
        configuration: dict[str, Any] = {
            "acceptedOutputModes": ["text/plain", "application/json"],
            "blocking": message.retrieval == BLOCKING,
            "historyLength": message.history,
        }
        if (place := message.notification) is not None:
            shown = {"url": place.url, "token": place.token, "authentication": place.authentication}
            configuration["pushNotificationConfig"] = {name: value for name, value in shown.items() if value}
        return {
            "message": {
                "kind": "message",
                "role": "user",
                "messageId": f"{job.job_key}-{digest}",
                "parts": parts,
                **{name: value for name, value in given.items() if value},
            },
            "configuration": configuration,
        }

    async def _files(self, message: SentMessage, job: ConnectorJob) -> list[dict[str, Any]]:
        if not message.documents:
            return []
        if (documents := self._around.documents) is None:
            raise bad_input("documents are not supported here")
        async with documents.turn():
            return [
                {
                    "kind": "file",
                    "file": {
                        "name": each.name,
                        "mimeType": each.content_type,
                        "bytes": base64.b64encode(each.content).decode(),
                    },
                }
                for each in await documents.files(message.documents, job.tenant_id)
            ]

    async def _store(self, call: Call, kind: str, content: bytes, name: str | None) -> Mapping[str, Any]:
        if (documents := self._around.documents) is None:
            raise ConnectorError("UNSUPPORTED_DOCUMENT", "documents are not supported here", final=True)
        async with documents.turn():
            return await documents.store(call.job, kind, await call.used.mask_file(content), name)

    async def _called(self, endpoint: httpx.URL, method: str, params: Mapping[str, Any], call: Call) -> Any:
        """The result of a method of JSON-RPC. Raises ConnectorError."""
        id = call.job.job_key
        content = to_json({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).encode()
        answer = await self._asked("POST", endpoint, content)
        if not isinstance(answer, dict) or answer.get("id") not in (id, None):
            raise wrong("it is not an answer of JSON-RPC to this request")
        error = answer.get("error")
        if error is None:
            return answer.get("result")
        code = error.get("code") if isinstance(error, dict) else None
        text = str(error.get("message") if isinstance(error, dict) else error)[:MOST_SHOWN]
        raise ConnectorError(A2A_ERROR, f"the agent refuses it: {text}", {"errorCode": code}, final=code in INVALID)

    async def _asked(self, method: str, url: httpx.URL, content: bytes) -> Any:
        """The JSON of an answer. Raises ConnectorError."""
        headers = {"Accept": "application/json"} | ({"Content-Type": "application/json"} if content else {})
        timeout_s = float("inf")  # the whole call has its limit
        request = HttpRequest(
            method, url, headers, content, DEFAULT_TIMEOUT_S, timeout_s, timeout_s, True, self._most_bytes
        )
        response = await self._around.client.call(request, Credentials())
        status = response.status
        if status >= 400:
            is_final = status < 500 and status not in RETRIED
            raise ConnectorError(A2A_ERROR, f"the agent answers {status}", {"status": status}, final=is_final)
        try:
            return from_json(response.body.decode())
        except (UnicodeDecodeError, EvaluationError, RecursionError):
            raise wrong("it is not valid JSON") from None


def _endpoint(card: Mapping[str, Any]) -> httpx.URL:
    """The URL of a card for JSON-RPC (A2A 0.3.0, section 5.6). Raises ConnectorError."""
    others = card.get("additionalInterfaces")
    places = [{"transport": card.get("preferredTransport") or JSON_RPC, "url": card.get("url")}]
    places += [each for each in others if isinstance(each, dict)] if isinstance(others, list) else []
    for place in places:
        if place.get("transport") == JSON_RPC and isinstance(place.get("url"), str):
            return read_url(place["url"])
    raise wrong(f"its card has no URL for the transport {JSON_RPC}")
