"""Notices of alert rules: each goes to the URL of its rule by the rules of connectors, at least once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import httpx
import msgspec
import structlog
import trio

from vivero.engine.connectors.authentication import Credentials
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http_client import HttpClient
from vivero.engine.connectors.inputs import JSON, HttpRequest, read_url
from vivero.engine.connectors.outbox import OK, signature
from vivero.engine.connectors.outbox_settings import MAX_ANSWER_BYTES
from vivero.engine.connectors.secrets import BadSecrets
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.jobs.execution import Connections
from vivero.engine.jobs.retries import RetrySettings
from vivero.storage.background import alert_rules
from vivero.storage.background.alert_rules import AlertDelivery

log = structlog.get_logger(__name__)

RETRY = RetrySettings(max_attempts=12, initial_interval_s=5.0, max_interval_s=3600.0)
CALL = "PT10S"
"""The time of one attempt. It is shorter than the lease of a delivery."""
MAX_ERROR = 500

Secrets = Callable[[], Mapping[str, str]]
_encode = msgspec.json.encode


async def deliver_all(
    settings: ConnectorSettings, connections: Connections, secrets: Secrets, claimed: Sequence[AlertDelivery]
) -> None:
    """Try these deliveries at once, and write their outcomes. No connection is held meanwhile."""
    client = HttpClient(replace(settings, max_call=CALL, max_redirects=0, max_response_bytes=MAX_ANSWER_BYTES))

    async def deliver(each: AlertDelivery) -> None:
        try:
            await _send(client, settings, secrets, each)
            error, delay_s = None, None
        except ConnectorError as failed:
            error, last = str(failed)[:MAX_ERROR], failed.final or RETRY.is_last(each.attempts - 1)
            delay_s = None if last else RETRY.delay_s(each.attempts - 1)
            if last:
                log.warning("a notice of an alert rule is given up", key=each.key, attempts=each.attempts)
        async with connections() as connection:
            await alert_rules.tried(connection, each, error, delay_s)

    try:
        async with trio.open_nursery() as nursery:
            for each in claimed:
                nursery.start_soon(deliver, each)
    finally:
        with trio.CancelScope(shield=True):
            await client.aclose()


async def _send(client: HttpClient, settings: ConnectorSettings, secrets: Secrets, each: AlertDelivery) -> None:
    """Deliver a notice. Raises ConnectorError."""
    if not settings.enabled:
        raise ConnectorError("DISABLED", "this node calls nobody: connectors.enabled is off")
    content = _encode(_document(each))
    headers = {"Content-Type": JSON, "X-Vivero-Event-Id": each.id, "X-Vivero-Timestamp": str(each.now_s)}
    if each.secret is not None:
        key = _secret(secrets, each.secret)
        headers["X-Vivero-Signature"] = f"sha256={signature(key, each.now_s, content)}"
    timeout_s = float("inf")  # the client limits the whole call
    request = HttpRequest("POST", read_url(each.url), headers, content, timeout_s, timeout_s, timeout_s, follows=False)
    try:
        response = await client.call(request, Credentials())
    except httpx.InvalidURL as error:
        raise bad_input("the url is not valid") from error
    if response.status not in OK:
        raise ConnectorError(str(response.status), f"HTTP status {response.status}")


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
