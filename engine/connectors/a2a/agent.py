"""The connector `io.camunda.agenticai:a2aclient:0`: JSON-RPC over HTTP to an agent that its card describes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from functools import partial
from typing import Any

import httpx
import trio

from vivero.engine.connectors.a2a.client import AgentClient, endpoint_of
from vivero.engine.connectors.a2a.operations import SentMessage, read_operation
from vivero.engine.connectors.a2a.results import UNFINISHED, answer_result, card_result, state_of
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.contracts.tool_servers.a2a import BLOCKING, POLLING
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.jobs import ConnectorJob

AGAIN_S = 1.0
"""The interval in which a task is asked for, if the agent answers before it has ended."""
OWN_PART = 0.95
"""The part of the time of a job that the call has."""


class A2aAgent:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        settings = around.parts.sections["agents"]
        if not isinstance(settings, AgentSettings):
            raise ValueError("clients of agents need the settings of agents")
        self._around, self._client = around, AgentClient(around.client, settings.max_response_bytes)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The card, or the answer of the agent. Raises ConnectorError."""
        inputs = Inputs(self._around.contract, call.inputs)
        message = read_operation(inputs)
        most_s = self._around.limit_s * OWN_PART
        limit_s = most_s if message is None else min(message.timeout_s, most_s)
        result: dict[str, Any] = {}
        try:
            with trio.fail_after(limit_s):
                card = await self._client.card(inputs)
                if message is None:
                    result = {"result": card_result(card)}
                else:
                    result = await self._sent(call, message, endpoint_of(card))
        except trio.TooSlowError:
            raise ConnectorError("TIMEOUT", "the agent did not answer within the time limit") from None
        masked: dict[str, Any] = call.used.mask(result)
        return masked

    async def _sent(self, call: Call, message: SentMessage, endpoint: httpx.URL) -> dict[str, Any]:
        store = partial(self._store, call)
        params = await self._params(call.job, message)
        answer = await self._client.call(endpoint, "message/send", params, call.job.job_key)
        while message.retrieval == BLOCKING and state_of(answer) in UNFINISHED:
            await trio.sleep(AGAIN_S)
            asked = {"id": answer["id"], "historyLength": message.history}
            answer = await self._client.call(endpoint, "tasks/get", asked, call.job.job_key)
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
