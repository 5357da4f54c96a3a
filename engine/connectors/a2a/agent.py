"""The connector `io.camunda.agenticai:a2aclient:0`: JSON-RPC over HTTP to an agent that its card describes."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import trio

from vivero.engine.connectors.a2a.client import REFUSED, AgentClient, KnownAgent
from vivero.engine.connectors.a2a.operations import MessageOperation, SentMessage, Settings, read_operation
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
NOT_SENT = ("FORBIDDEN_ADDRESS", "INVALID_INPUT")
"""Codes of errors before a message, which the author or the operator must mend."""


@dataclass(slots=True)
class _Attempt:
    """The stage of a call."""

    reads_arguments: bool = False
    sends: bool = False

    def tells(self, error: ConnectorError) -> bool:
        """Whether a failure is a result for an AI agent, and not a matter of the operator or the author."""
        is_refused = error.code in NOT_SENT or error.variables.get("status") in REFUSED
        return self.reads_arguments or (self.sends and not is_refused)


class A2aAgent:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        settings = around.parts.sections["agents"]
        if not isinstance(settings, AgentSettings):
            raise ValueError("clients of agents need the settings of agents")
        self._around, self._client = around, AgentClient(around.client, settings.max_response_bytes)

    async def answer(self, call: Call) -> dict[str, Any]:
        """The card, or the answer of the agent. Raises ConnectorError.

        As a tool it raises none for what the arguments of an AI agent cause, nor when the message is perhaps sent: a
        repeated job would send it again, unseen by the AI agent, which gets an error as the result.
        """
        inputs = Inputs(self._around.contract, call.inputs)
        operation, attempt = read_operation(inputs), _Attempt()
        try:
            result = await self._answered(call, inputs, operation, attempt)
        except ConnectorError as error:
            if operation is None or not operation.is_tool or not attempt.tells(error):
                raise
            result = {"result": {"kind": "error", "isError": True, "code": error.code, "message": error.message}}
        masked: dict[str, Any] = call.used.mask(result)
        return masked

    async def _answered(
        self, call: Call, inputs: Inputs, operation: MessageOperation | None, attempt: _Attempt
    ) -> dict[str, Any]:
        most_s = self._around.limit_s * OWN_PART
        limit_s = most_s if operation is None else min(operation.settings.timeout_s, most_s)
        try:
            with trio.fail_after(limit_s):
                if operation is None:
                    return {"result": card_result((await self._client.agent(inputs, call.used)).card)}
                attempt.reads_arguments = True
                message = operation.message()
                attempt.reads_arguments = False
                agent = await self._client.agent(inputs, call.used)
                params = await self._params(call.job, message, operation.settings, agent)
                attempt.sends = True
                return await self._sent(call, operation.settings, agent, params)
        except trio.TooSlowError:
            raise ConnectorError("TIMEOUT", "the agent did not answer within the time limit") from None

    async def _sent(
        self, call: Call, settings: Settings, agent: KnownAgent, params: Mapping[str, Any]
    ) -> dict[str, Any]:
        answer = await self._client.call(agent, "message/send", params, call.job.job_key)
        while settings.retrieval == BLOCKING and state_of(answer) in UNFINISHED:
            await trio.sleep(AGAIN_S)
            asked = {"id": answer["id"], "historyLength": settings.history}
            answer = await self._client.call(agent, "tasks/get", asked, call.job.job_key)
        found: dict[str, Any] = {"result": await answer_result(answer, partial(self._store, call))}
        if settings.retrieval == POLLING:
            found["pollingData"] = {"id": found["result"].get("id") or found["result"].get("messageId")}
        if settings.notification is not None:
            found["pushNotificationData"] = {"token": settings.notification.token}
        return found

    async def _params(
        self, job: ConnectorJob, message: SentMessage, settings: Settings, agent: KnownAgent
    ) -> dict[str, Any]:
        """The parameters of `message/send` (A2A 0.3.0, section 7.1). A repeated job sends the same message id."""
        _ = agent.endpoint  # a card without one is no fault of the arguments
        digest = hashlib.sha256(bytes(job.variables)).hexdigest()[:20]
        parts = [{"kind": "text", "text": message.text}, *await self._files(message, job)]
        given = {"contextId": message.context_id, "taskId": message.task_id, "referenceTaskIds": message.references}
        configuration: dict[str, Any] = {
            "acceptedOutputModes": ["text/plain", "application/json"],
            "blocking": settings.retrieval == BLOCKING,
            "historyLength": settings.history,
        }
        if (place := settings.notification) is not None:
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
