"""Webhooks: calls of other systems that start process instances, or continue them (docs/connectors.md)."""

from __future__ import annotations

import codecs
import hashlib
from typing import Any
from urllib.parse import parse_qsl

import msgspec
import structlog

from vivero.api.commands import submission
from vivero.api.documents.agent_notifications import read_notification
from vivero.api.documents.inbound_files import MULTIPART, Effect, InboundForm, stored
from vivero.api.http.decoding import any_decoder, decode
from vivero.api.http.problems import Problem, bad_request
from vivero.api.http.request import MAX_QUERY_FIELDS, Request
from vivero.api.http.response import SANDBOXED, Response
from vivero.api.routes.messages import MAX_TIME_TO_LIVE_MS
from vivero.api.services import Services, WebhookAccess
from vivero.core.records.instances import CreateInstance, InstanceReply
from vivero.core.records.messages import MessageReply, PublishMessage
from vivero.engine.compute.problems import NotComputed
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.charsets import charset_of, decoded
from vivero.engine.connectors.http.requests import FORM
from vivero.engine.connectors.inbound.evaluation import accepts, evaluated, values_of
from vivero.engine.connectors.inbound.webhook_access import NotAuthenticated, check_content, check_key, check_raw
from vivero.engine.connectors.inbound.webhook_answers import WebhookAnswer, response, verification
from vivero.engine.connectors.inbound.webhook_registry import Claim
from vivero.engine.connectors.inbound.webhooks import AGENT_WEBHOOK, ANY, Webhook
from vivero.engine.connectors.work.results import FULL
from vivero.engine.connectors.work.secrets import UnknownSecret, UsedSecrets
from vivero.storage.documents.documents import DocumentOwner
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

SENSITIVE = ("authorization", "cookie", "proxy-authorization")
"""Headers that expressions see, but variables do not get."""
NOT_PLAIN = (codecs.BOM_UTF8, codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)
"""The beginnings of bodies with a byte order mark. The mark of UTF-32-LE begins as that of UTF-16-LE."""

Document = dict[str, Any]

_instance_decoder = msgspec.json.Decoder(InstanceReply)
_message_decoder = msgspec.json.Decoder(MessageReply)


async def call(request: Request, services: Services, claim: Claim) -> Response:
    """Call a webhook."""
    webhooks, webhook = services.files.webhooks, claim.webhook
    assert webhooks is not None
    used = webhooks.used_secrets()
    if webhook.method not in (ANY, request.method.lower()):
        raise Problem(
            405, "Method Not Allowed", f"Use {webhook.method.upper()}", (b"allow", webhook.method.upper().encode())
        )
    try:
        return await _serve(request, services, webhooks, claim, used)
    except NotAuthenticated as error:
        log.info("a webhook rejected a call", path=webhook.path, reason=used.mask(describe(error)))
        raise Problem(401, "Unauthorized", "The credentials of the call are missing or wrong") from None
    except (UnknownSecret, ConnectorError) as error:
        log.warning("a webhook cannot handle a call", path=webhook.path, error=used.mask(describe(error)))
        raise Problem(
            422, "WEBHOOK_FAILED", "The webhook cannot handle this call; the log of the server says why"
        ) from None


async def _serve(
    request: Request, services: Services, webhooks: WebhookAccess, claim: Claim, used: UsedSecrets
) -> Response:
    webhook = claim.webhook
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(request.headers)}
    check_raw(webhook, headers, request.body, used)
    content_type = request.header(b"content-type") or ""
    form = _form(request, services, content_type)
    body = _body(request, services, content_type) if form is None else form.fields
    content: Document = {"body": body, "headers": headers, "params": request.first_in_query()}
    await check_content(webhook, headers, _values(content), used, webhooks.find_key, services.files.compute)
    shown = {name: value for name, value in headers.items() if name not in SENSITIVE}
    content = used.mask({**content, "headers": shown})
    notified = await read_notification(content["body"]) if webhook.type == AGENT_WEBHOOK else None
    if notified is not None:
        content["body"] = notified.result
    values = _values(content)
    if (verified := await evaluated(services.files.compute, verification, webhook, values)) is not None:
        return _answered(verified)
    if not await evaluated(services.files.compute, accepts, webhook, values):
        return _ignored(webhook)
    files = notified.files if notified is not None else () if form is None else form.files
    async with stored(request, services, claim.tenant, claim.process_id, files) as (documents, effect):
        if notified is not None:
            notified.refer(documents)
        seen = {} if form is None else {"documents": documents}
        correlation = await _submit(request, services, claim, content, seen, effect)
    values |= seen | {"correlation": correlation}
    try:
        return _answered(await evaluated(services.files.compute, response, webhook, values))
    except NotComputed:  # the call had its effect, and must not be made again
        return _answered(response(webhook, values, FULL))


def _answered(answer: WebhookAnswer) -> Response:
    return Response(answer.status, answer.content, (*answer.headers, *SANDBOXED))


def _form(request: Request, services: Services, content_type: str) -> InboundForm | None:
    """The parts of a form with files; None for another body. Raises Problem 400."""
    is_form = content_type.partition(";")[0].strip().lower() == MULTIPART
    return InboundForm(request, services) if is_form else None


def _values(content: Document) -> Document:
    return {**content, "request": content}


def _body(request: Request, services: Services, content_type: str) -> Any:
    """The body: a value for JSON, a context for a form, otherwise a text. Raises Problem 400."""
    type = content_type.partition(";")[0].strip().lower()
    if not request.body:
        return None
    if type == "application/json" or type.endswith("+json"):
        if (
            request.body.startswith(NOT_PLAIN)
            or 0 in request.body[:4]
            or charset_of(content_type) not in (None, "utf-8")
        ):
            request.body = decoded(request.body, content_type).encode()  # as the decoder reads it
        return decode(request, any_decoder, services.settings)
    text = decoded(request.body, content_type).replace("\0", "\ufffd")
    if type != FORM:
        return text
    try:
        charset = charset_of(content_type) or "utf-8"  # also of the escapes
        return dict(parse_qsl(text, keep_blank_values=True, encoding=charset, max_num_fields=MAX_QUERY_FIELDS))
    except ValueError as error:
        raise bad_request("The form has too many fields") from error


def _ignored(webhook: Webhook) -> Response:
    """The answer to a call that does not meet the activation condition."""
    if webhook.get("consumeUnmatchedEvents") == "true":
        return Response(200)
    raise Problem(422, "NOT_ACTIVATED", "The call does not meet the activation condition of the webhook")


# ---------------------------------------------------------------------------------------------------------- commands


async def _submit(
    request: Request, services: Services, claim: Claim, content: Document, seen: Document, effect: Effect
) -> Document:
    """Start or continue an instance, and note the effect of this call: what response expressions see as `correlation`.

    An earlier call with the same id may have done it. `seen`: what expressions see beside the request.
    """
    webhook, values = claim.webhook, _values(content) | seen
    event = await evaluated(services.files.compute, values_of, webhook, {"request": content, **seen}, values)
    id, variables = event.message_id, event.variables
    if webhook.message is None:
        command = CreateInstance(definition_key=claim.definition_key, variables=variables)
        made = await submission.submit(
            _inner(request, webhook, id), services, command, content=b"", tenant=claim.tenant, needs_outcome=True
        )
        if made.outcome is None:
            return {}
        instance = made.outcome.reply_by(_instance_decoder).process_instance_key
        effect.owner, effect.missing = DocumentOwner(instance=instance), made.appended.replayed
        return {"processInstanceKey": str(instance), "tenantId": claim.tenant}
    correlation_key = event.correlation_key or ""
    check_key(webhook, content["headers"], correlation_key)
    ttl_ms = min(webhook.ttl_ms, MAX_TIME_TO_LIVE_MS)
    message = PublishMessage(webhook.message, correlation_key, ttl_ms, id, variables)
    return await _publish(request, services, claim, message, effect)


async def _publish(
    request: Request, services: Services, claim: Claim, message: PublishMessage, effect: Effect
) -> Document:
    """Publish a message. One with a known id was published before, which is not an error."""
    inner = _inner(request, claim.webhook, None)
    try:
        made = await submission.submit(inner, services, message, tenant=claim.tenant, needs_outcome=True)
    except Problem as problem:
        if message.message_id is None or problem.title != "ALREADY_EXISTS":
            raise
        effect.missing = True
        return {}
    if made.outcome is None:
        return {}
    reply = made.outcome.reply_by(_message_decoder)
    effect.owner, effect.missing = DocumentOwner(reply.message_key, reply.pending), reply.lost
    return {"messageKey": str(reply.message_key), "tenantId": claim.tenant}


def _inner(request: Request, webhook: Webhook, id: str | None) -> Request:
    """The request for the command: with the id of the call as its idempotency key, and nothing else of the caller."""
    key = hashlib.blake2b(f"{webhook.path}\0{id}".encode(errors="surrogatepass"), digest_size=20).hexdigest()
    headers = [] if id is None else [(b"idempotency-key", f"webhook-{key}".encode())]
    address = request.owner
    return Request(
        "POST", request.path, headers, params=request.params, owner=lambda _: address, caller=request.caller,
        audited=request.audited,
    )  # fmt: skip
