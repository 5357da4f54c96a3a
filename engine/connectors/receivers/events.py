"""Events of other systems as commands: an instance of the process, or a message, once for each id of an event."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from uuid import uuid4

import msgspec

from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance, InstanceReply
from vivero.core.records.messages import MessageReply, PublishMessage
from vivero.engine.compute.pool import ComputePool
from vivero.engine.compute.problems import NotComputed
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.inbound.evaluation import TOO_COSTLY, accepts, evaluated, values_of
from vivero.engine.connectors.outbound.own_commands import OwnCommands
from vivero.storage.documents.documents import DocumentOwner
from vivero.storage.log.command_log import CommandOutcome

T = TypeVar("T")

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


@dataclass(frozen=True, slots=True)
class EventCommands:
    """Gives events to the engine of the own cluster."""

    commands: OwnCommands
    compute: ComputePool | None = None
    """Processes that evaluate expressions. None: the event loop evaluates all."""

    async def take(
        self, origin: Origin, event: Mapping[str, Any], id: str | None, correlation_key: str | None = None
    ) -> bool:
        """Give an event its effect, durably. False: it does not meet the activation condition.

        `id`: an event with it that had its effect has none again. None: every event has one. `correlation_key`: of a
        message whose model names none. Raises ConnectorError.
        """
        if not await self.accepts(origin, event):
            return False
        await self.give(origin, event, id, correlation_key)
        return True

    async def accepts(self, origin: Origin, event: Mapping[str, Any]) -> bool:
        """Whether an event meets the activation condition. Raises ConnectorError."""
        return await self._evaluated(accepts, origin.element, _seen(event))

    async def give(
        self, origin: Origin, event: Mapping[str, Any], id: str | None, correlation_key: str | None = None
    ) -> DocumentOwner | None:
        """Give an event that meets the condition its effect, as `take` does. What its documents belong to.

        None: to nothing, as nobody got the event, or an earlier one with its id had the effect.
        """
        made = await self._evaluated(values_of, origin.element, event, _seen(event))
        message_id = made.message_id or id
        message = origin.element.message
        command: CreateInstance | PublishMessage
        if message is None:
            command = CreateInstance(definition_key=origin.definition_key, variables=made.variables)
        else:
            key = (correlation_key or "") if made.correlation_key is None else made.correlation_key
            command = PublishMessage(message, key, _ttl_ms(origin), message_id, made.variables)
        named = uuid4().hex if message_id is None else f"{origin.process_id}\0{origin.element.element_id}\0{message_id}"
        digest = hashlib.sha256(named.encode(errors="surrogatepass")).digest()
        outcome, is_repeated = await self.commands.once(command, origin.tenant, f"inbound {digest.hex()[:40]}", digest)
        if (rejection := outcome.rejection) is None:
            return None if is_repeated else _owner(command, outcome)
        if message_id is not None and rejection.code == RejectionCode.ALREADY_EXISTS:
            return None
        raise ConnectorError(rejection.code, f"the engine rejects the event: {rejection.reason}"[:MOST_REASON])

    async def _evaluated(self, work: Callable[..., T], *arguments: Any) -> T:
        """The result of expressions. Raises ConnectorError, without values of the event."""
        try:
            return await evaluated(self.compute, work, *arguments)
        except NotComputed as error:
            raise ConnectorError("UNAVAILABLE", f"no expression can be evaluated now: {error}") from error
        except ConnectorError as error:
            if error.code not in (InboundElement.code, TOO_COSTLY):
                raise
            raise ConnectorError("INVALID_EVENT", error.message.partition(": ")[0]) from error


def _seen(event: Mapping[str, Any]) -> dict[str, Any]:
    """The values that expressions over an event see."""
    return {**event, "response": dict(event)}


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
