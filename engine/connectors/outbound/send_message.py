"""The connector `io.camunda:sendMessage:1`: messages to the engine of the same cluster, in the tenant of the job."""

from __future__ import annotations

from typing import Any

import msgspec
import trio

from vivero.core.bpmn.reading.text_limits import TEXT_CHARACTERS
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.effects import RejectionCode
from vivero.core.records.messages import CorrelateMessage, MessageReply, PublishMessage
from vivero.engine.connectors.contracts.send_message import CORRELATE
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.outbound.surroundings import Surroundings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs
from vivero.engine.connectors.work.results import encoded

MOST_TTL_MS = 100 * 365 * 24 * 3600 * 1000

_reply = msgspec.json.Decoder(MessageReply)


class SendMessage:
    """Works jobs of the type."""

    def __init__(self, around: Surroundings) -> None:
        self._contract, self._commands = around.contract, around.commands

    async def answer(self, call: Call) -> dict[str, Any]:
        """The key of the message, and the instance that got it by correlation. Raises ConnectorError."""
        inputs = Inputs(self._contract, call.inputs)
        tenant = call.job.tenant_id
        if (named := inputs.text("tenantId")) and named != tenant:
            why = f"a message must stay in the tenant of its job, '{tenant}'"
            raise ConnectorError("FORBIDDEN_TENANT", why, final=True)
        command = _command(inputs, call.job.job_key)
        limit_s = inputs.duration_s("requestTimeout")
        with trio.fail_after(limit_s or float("inf")):
            outcome = await self._commands.run(command, tenant, int(call.job.job_key))
        if (rejection := outcome.rejection) is not None:
            final = rejection.code in (RejectionCode.INVALID_ARGUMENT, RejectionCode.ALREADY_EXISTS)
            raise ConnectorError(rejection.code, rejection.reason, final=final)
        reply = outcome.reply_by(_reply)
        instance = reply.process_instance_key
        found = {"messageKey": str(reply.message_key), "tenantId": reply.tenant_id or DEFAULT_TENANT}
        return found if instance is None else {**found, "processInstanceKey": str(instance)}


def _command(inputs: Inputs, job_key: str) -> PublishMessage | CorrelateMessage:
    name, key = _short(inputs, "messageName"), _short(inputs, "correlationKey")
    variables = encoded(inputs.context("variables"))
    if inputs.text("correlationType.type") == CORRELATE:
        return CorrelateMessage(name, key.strip() and key, variables)
    ttl_s = inputs.duration_s("correlationType.timeToLive") or 0.0
    id = _short(inputs, "correlationType.messageId") or job_key
    return PublishMessage(name, key.strip() and key, min(round(ttl_s * 1000), MOST_TTL_MS), id, variables)


def _short(inputs: Inputs, name: str) -> str:
    text = inputs.text(name)
    if len(text) > TEXT_CHARACTERS or "\0" in text:
        raise bad_input(f"the input {name} must have at most {TEXT_CHARACTERS} characters, without NUL")
    return text
