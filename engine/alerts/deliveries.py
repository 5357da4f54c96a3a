"""Notices of alert rules, delivered at least once: to the URL of the rule by the rules of connectors, to the
receiver of the outbox as an event, or to both."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from functools import partial

import msgspec
import structlog
import trio

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http_client import HttpClient
from vivero.engine.connectors.inputs import read_url
from vivero.engine.connectors.outbox_settings import MAX_ANSWER_BYTES, OutboxSettings
from vivero.engine.connectors.secrets import BadSecrets, Secrets
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.signed_posts import post_signed
from vivero.engine.jobs.execution import Connections
from vivero.engine.jobs.retries import RetrySettings
from vivero.storage.background import alert_rules
from vivero.storage.background.alert_rules import AlertDelivery

log = structlog.get_logger(__name__)

RETRY = RetrySettings(max_attempts=12, initial_interval_s=5.0, max_interval_s=3600.0)
CALL = "PT10S"
"""The time of one attempt. It is shorter than the lease of a delivery."""
MAX_ERROR = 500
EVENTS = {"RAISED": "AlertRaised", "CLEARED": "AlertCleared", "TEST": "AlertTested"}
"""Kind of a notice → type of its event in the outbox."""

_encode = msgspec.json.encode


async def deliver_all(
    settings: ConnectorSettings,
    outbox: OutboxSettings,
    connections: Connections,
    secrets: Secrets,
    claimed: Sequence[AlertDelivery],
) -> None:
    """Try these deliveries at once, and write their outcomes. No connection is held meanwhile."""
    client = HttpClient(replace(settings, max_call=CALL, max_redirects=0, max_response_bytes=MAX_ANSWER_BYTES))
    events = HttpClient(replace(outbox.client, max_call=CALL))

    async def deliver(each: AlertDelivery) -> None:
        after, failures = each, list[tuple[str, bool]]()
        if each.url and not each.url_done:
            failure = await _failure(partial(_send, client, settings, secrets, each))
            after = after._replace(url_done=failure is None)
            failures += () if failure is None else (failure,)
        if each.to_outbox and not each.outbox_done:
            failure = await _failure(partial(_send_event, events, outbox, each))
            after = after._replace(outbox_done=failure is None)
            failures += () if failure is None else (failure,)
        error = "; ".join(text for text, _ in failures)[:MAX_ERROR] if failures else None
        delay_s = _delay_s(each, all(is_final for _, is_final in failures)) if failures else None
        async with connections() as connection:
            await alert_rules.tried(connection, after, error, delay_s)

    try:
        async with trio.open_nursery() as nursery:
            for each in claimed:
                nursery.start_soon(deliver, each)
    finally:
        with trio.CancelScope(shield=True):
            await client.aclose()
            await events.aclose()


async def _failure(send: Callable[[], Awaitable[str | None]]) -> tuple[str, bool] | None:
    """Send a notice. Returns what went wrong, and whether another attempt is in vain; None after a success."""
    try:
        error, is_final = await send(), False
    except ConnectorError as failed:
        error, is_final = str(failed), failed.final
    return None if error is None else (error, is_final)


def _delay_s(each: AlertDelivery, is_final: bool) -> float | None:
    """The pause before the next attempt; None after the last one."""
    if is_final or RETRY.is_last(each.attempts - 1):
        log.warning("a notice of an alert rule is given up", key=each.key, attempts=each.attempts)
        return None
    return RETRY.delay_s(each.attempts - 1)


async def _send(client: HttpClient, settings: ConnectorSettings, secrets: Secrets, each: AlertDelivery) -> str | None:
    """Deliver a notice. Returns what its status says is wrong, if anything. Raises ConnectorError."""
    if not settings.enabled:
        raise ConnectorError("DISABLED", "this node calls nobody: connectors.enabled is off")
    secret = None if each.secret is None else _secret(secrets, each.secret)
    return await post_signed(client, read_url(each.url), each.id, each.now_s, _encode(_document(each)), secret)


async def _send_event(client: HttpClient, outbox: OutboxSettings, each: AlertDelivery) -> str | None:
    """Deliver a notice in the form of an event of the outbox. Returns and raises as `_send`."""
    if not outbox.url or not outbox.alerts:
        raise ConnectorError("NO_OUTBOX", "the outbox takes no alerts: set outbox.url and outbox.alerts")
    document, id = _document(each), f"alert-{each.id}"
    event = {
        "id": id,
        "type": EVENTS[each.kind],
        "at": round(each.made_at.timestamp() * 1000),
        "partitionId": None,
        "commandPosition": None,
        "rootProcessInstanceKey": None,
        "data": {"value": document["value"], "rule": document["rule"]},
    }
    return await post_signed(client, read_url(outbox.url), id, each.now_s, _encode(event), outbox.secret)


def _secret(secrets: Secrets, name: str) -> str:
    try:
        return secrets()[name]
    except KeyError as error:
        raise ConnectorError("NO_SECRET", f"there is no secret '{name}'") from error
    except BadSecrets as error:
        raise ConnectorError("NO_SECRET", "the secrets cannot be read") from error


def _document(each: AlertDelivery) -> dict[str, object]:
    return {
        "id": each.id,
        "kind": each.kind,
        "at": each.made_at,
        "value": each.value,
        "rule": {
            "alertRuleKey": str(each.key),
            "name": each.name,
            "tenantId": each.tenant,
            "processDefinitionId": each.process or None,
            "metric": each.metric,
            "threshold": each.threshold,
        },
    }
