"""Messages: publish, correlate, and search for subscriptions and buffered messages."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.api.access import tenants
from vivero.api.access.needs import SEND_MESSAGE
from vivero.api.access.scopes import require
from vivero.api.commands import submission
from vivero.api.computing.large_bodies import body_of, variables_of
from vivero.api.http.decoding import Body, Int64, Violations, as_int64, decoder
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.routes import business_ids
from vivero.api.search.search_requests import searching
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import TEXT_CHARACTERS
from vivero.core.records.messages import CorrelateMessage, MessageReply, PublishMessage
from vivero.storage.search.messages import BUFFERED_MESSAGES, MESSAGE_CORRELATIONS, MESSAGE_SUBSCRIPTIONS

search = searching(MESSAGE_SUBSCRIPTIONS)
search_correlated = searching(MESSAGE_CORRELATIONS)
search_buffered = searching(BUFFERED_MESSAGES)

MAX_TIME_TO_LIVE_MS = 100 * 365 * 24 * 3600 * 1000


class CorrelationBody(Body, frozen=True):
    name: str | None = None
    correlation_key: str | None = None
    variables: dict[str, Any] | None = None
    tenant_id: str | None = None
    business_id: str | None = None


class PublicationBody(CorrelationBody, frozen=True):
    time_to_live: Int64 | None = None
    message_id: str | None = None


_publication_decoder = decoder(PublicationBody)
_correlation_decoder = decoder(CorrelationBody)
_reply_decoder = msgspec.json.Decoder(MessageReply)


async def publish(request: Request, services: Services) -> Response:
    """POST /v2/messages/publication: publish a message for subscriptions that exist now or within its time to live."""
    body = await body_of(request, services, _publication_decoder)
    time_to_live_ms = as_int64(body.time_to_live, "timeToLive") or 0
    found = _checked(body)
    found.longest("messageId", body.message_id, TEXT_CHARACTERS)
    found.at_least("timeToLive", time_to_live_ms, 0)
    found.check()
    tenant = tenants.named(request, services, body.tenant_id, "Publish Message", SEND_MESSAGE)
    require(request, SEND_MESSAGE, body.name)
    command = PublishMessage(
        body.name or "",
        body.correlation_key or "",
        min(time_to_live_ms, MAX_TIME_TO_LIVE_MS),
        body.message_id or None,
        variables_of(services, body.variables),
        business_id=body.business_id,
    )
    return await _answered(request, services, command, tenant)


async def correlate(request: Request, services: Services) -> Response:
    """POST /v2/messages/correlation: correlate a message and name the process instance; 404 if there is none."""
    body = await body_of(request, services, _correlation_decoder)
    _checked(body).check()
    tenant = tenants.named(request, services, body.tenant_id, "Correlate Message", SEND_MESSAGE)
    require(request, SEND_MESSAGE, body.name)
    variables = variables_of(services, body.variables)
    command = CorrelateMessage(body.name or "", body.correlation_key or "", variables, body.business_id)
    return await _answered(request, services, command, tenant)


def _checked(body: CorrelationBody) -> Violations:
    found = Violations()
    found.require("name", body.name)
    found.longest("name", body.name, TEXT_CHARACTERS)
    found.longest("correlationKey", body.correlation_key, TEXT_CHARACTERS)
    business_ids.check(found, body.business_id)
    return found


async def _answered(
    request: Request, services: Services, command: PublishMessage | CorrelateMessage, tenant: str
) -> Response:
    submitted = await submission.submit(request, services, command, tenant=tenant)
    if submitted.outcome is None:
        return await submission.accepted(services, submitted.appended)
    reply = submitted.outcome.reply_by(_reply_decoder)
    document = {"tenantId": reply.tenant_id, "messageKey": str(reply.message_key)}
    if reply.process_instance_key is not None:
        document["processInstanceKey"] = str(reply.process_instance_key)
    document["commandPosition"] = str(submitted.appended.position)
    return json_response(document, submitted.position)
