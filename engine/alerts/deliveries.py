"""Notices of alert rules, delivered at least once: to the URL of the rule by the rules of connectors, or to the
receiver of the outbox as an event. A rule with both has deliveries to each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import msgspec
import structlog
import trio

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.http.requests import read_url
from vivero.engine.connectors.http.signed_posts import post_signed
from vivero.engine.connectors.outbox.settings import MAX_ANSWER_BYTES, OutboxSettings
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.secrets import BadSecrets, Secrets
from vivero.engine.jobs.execution import Connections
from vivero.engine.jobs.retries import RetrySettings
from vivero.storage.background import alert_rules
from vivero.storage.background.alert_rules import OUTBOX, AlertDelivery

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
        is_final = False
        try:
            if each.receiver == OUTBOX:
                error = await _send_event(events, outbox, each)
            else:
                error = await _send(client, settings, secrets, each)
        except ConnectorError as failed:
            error, is_final = str(failed)[:MAX_ERROR], failed.final
        delay_s = None if error is None else _delay_s(each, is_final)
        async with connections() as connection:
            await alert_rules.tried(connection, each, error, delay_s)

    try:
        async with trio.open_nursery() as nursery:
            for each in claimed:
                nursery.start_soon(deliver, each)
    finally:
        with trio.CancelScope(shield=True):
            await client.aclose()
            await events.aclose()


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
