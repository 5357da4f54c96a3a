"""Events of other systems as commands: an instance of the process, or a message, once for each id of an event."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import msgspec

from vivero.core.bpmn.reading.text_limits import TEXT_CHARACTERS
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance, InstanceReply
from vivero.core.records.messages import MessageReply, PublishMessage
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.requests import text_of
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.outbound.own_commands import OwnCommands
from vivero.engine.connectors.work.results import encoded
from vivero.storage.documents.documents import DocumentOwner
from vivero.storage.log.command_log import CommandOutcome

MOST_REASON = 200
MOST_TTL_MS = 100 * 365 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Origin:
    """The place of an event: an element of a process of a tenant."""

    tenant: str
    process_id: str
    definition_key: int
    element: InboundElement
    ttl_s: float
    """The life of a message whose model names none."""

    def evaluate(self, name: str, values: Mapping[str, Any]) -> Any:
        """The value of a property. Raises ConnectorError, without values of the event."""
        try:
            return self.element.evaluate(name, values)
        except ConnectorError as error:
            raise ConnectorError("INVALID_EVENT", f"the property {name} fails") from error


@dataclass(frozen=True, slots=True)
class EventCommands:
    """Gives events to the engine of the own cluster."""

    commands: OwnCommands

    async def take(
        self, origin: Origin, event: Mapping[str, Any], id: str | None, correlation_key: str | None = None
    ) -> bool:
        """Give an event its effect, durably. False: it does not meet the activation condition.

        `id`: an event with it that had its effect has none again. None: every event has one. `correlation_key`: of a
        message whose model names none. Raises ConnectorError.
        """
        if not self.accepts(origin, event):
            return False
        await self.give(origin, event, id, correlation_key)
        return True

    def accepts(self, origin: Origin, event: Mapping[str, Any]) -> bool:
        """Whether an event meets the activation condition. Raises ConnectorError."""
        values = {**event, "response": dict(event)}
        condition = origin.element.get("activationCondition")
        return not condition or origin.evaluate("activationCondition", values) is True

    async def give(
        self, origin: Origin, event: Mapping[str, Any], id: str | None, correlation_key: str | None = None
    ) -> DocumentOwner | None:
        """Give an event that meets the condition its effect, as `take` does. What its documents belong to.

        None: to nothing, as nobody got the event, or an earlier one with its id had the effect.
        """
        values = {**event, "response": dict(event)}
        message_id = self._text(origin, "messageIdExpression", values) or id
        variables = encoded(self._variables(origin, event, values))
        message = origin.element.message
        command: CreateInstance | PublishMessage
        if message is None:
            command = CreateInstance(definition_key=origin.definition_key, variables=variables)
        else:
            key = self._text(origin, "correlationKeyExpression", values)
            key = (correlation_key or "") if key is None else key
            command = PublishMessage(message, key, _ttl_ms(origin), message_id, variables)
        named = uuid4().hex if message_id is None else f"{origin.process_id}\0{origin.element.element_id}\0{message_id}"
        digest = hashlib.sha256(named.encode(errors="surrogatepass")).digest()
        outcome, is_repeated = await self.commands.once(command, origin.tenant, f"inbound {digest.hex()[:40]}", digest)
        if (rejection := outcome.rejection) is None:
            return None if is_repeated else _owner(command, outcome)
        if message_id is not None and rejection.code == RejectionCode.ALREADY_EXISTS:
            return None
        raise ConnectorError(rejection.code, f"the engine rejects the event: {rejection.reason}"[:MOST_REASON])

    @staticmethod
    def _variables(origin: Origin, event: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
        variables: dict[str, Any] = {}
        if name := origin.element.get("resultVariable"):
            variables[name] = dict(event)
        mapped = origin.evaluate("resultExpression", values)
        if mapped is not None and not isinstance(mapped, dict):
            raise ConnectorError("INVALID_EVENT", "the property resultExpression must give a context")
        return variables | (mapped or {})

    @staticmethod
    def _text(origin: Origin, name: str, values: Mapping[str, Any]) -> str | None:
        """The text that a property gives; None if the element does not have the property."""
        if not origin.element.get(name):
            return None
        value = origin.evaluate(name, values)
        text = "" if value is None else text_of(value)
        if not 0 < len(text) <= TEXT_CHARACTERS or "\0" in text:
            why = f"the property {name} must give a text of 1 to {TEXT_CHARACTERS} characters"
            raise ConnectorError("INVALID_EVENT", why)
        return text


_instance_decoder = msgspec.json.Decoder(InstanceReply)
_message_decoder = msgspec.json.Decoder(MessageReply)


def _owner(command: CreateInstance | PublishMessage, outcome: CommandOutcome) -> DocumentOwner | None:
    if isinstance(command, CreateInstance):
        return DocumentOwner(instance=outcome.reply_by(_instance_decoder).process_instance_key)
    reply = outcome.reply_by(_message_decoder)
    return None if reply.lost else DocumentOwner(message=reply.message_key, is_pending=reply.pending)


def _ttl_ms(origin: Origin) -> int:
    ttl_ms = origin.element.ttl_ms if origin.element.get("messageTtl") else round(origin.ttl_s * 1000)
    return min(ttl_ms, MOST_TTL_MS)
