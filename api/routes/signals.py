"""Signals: broadcast."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.api.access import tenants
from vivero.api.access.needs import UPDATE_INSTANCE
from vivero.api.commands import submission
from vivero.api.computing.large_bodies import body_of, variables_of
from vivero.api.http.decoding import Body, Violations, decoder
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import TEXT_CHARACTERS
from vivero.core.records.signals import BroadcastSignal, SignalReply


class BroadcastBody(Body, frozen=True):
    signal_name: str | None = None
    variables: dict[str, Any] | None = None
    tenant_id: str | None = None


_broadcast_decoder = decoder(BroadcastBody)
_reply_decoder = msgspec.json.Decoder(SignalReply)


async def broadcast(request: Request, services: Services) -> Response:
    """POST /v2/signals/broadcast: broadcast a signal to all subscriptions. The answer does not wait for all of them."""
    body = await body_of(request, services, _broadcast_decoder)
    found = Violations()
    found.require("signalName", body.signal_name)
    found.longest("signalName", body.signal_name, TEXT_CHARACTERS)
    found.check()
    tenant = tenants.named(request, services, body.tenant_id, "Broadcast Signal", UPDATE_INSTANCE)
    command = BroadcastSignal(body.signal_name or "", variables_of(services, body.variables))
    submitted = await submission.submit(request, services, command, tenant=tenant)
    if submitted.outcome is None:
        return await submission.accepted(services, submitted.appended)
    reply = submitted.outcome.reply_by(_reply_decoder)
    document = {
        "tenantId": reply.tenant_id,
        "signalKey": str(reply.signal_key),
        "commandPosition": str(submitted.appended.position),
    }
    return json_response(document, submitted.position)
