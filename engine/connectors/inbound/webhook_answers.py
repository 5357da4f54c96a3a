"""The values that decide about a call of a webhook, and its answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.requests import check_header, text_of
from vivero.engine.connectors.inbound.webhooks import Webhook
from vivero.engine.connectors.work.results import Effort, encoded

OWN_HEADERS = frozenset(
    ("connection", "content-length", "content-security-policy", "set-cookie", "transfer-encoding", "upgrade")
)
"""Headers that no model sets."""


@dataclass(frozen=True, slots=True)
class WebhookAnswer:
    """The answer that an expression describes. The names of headers are in small letters."""

    status: int = 200
    content: bytes = b""
    headers: tuple[tuple[bytes, bytes], ...] = ()


def located_key(webhook: Webhook, content: Mapping[str, Any], effort: Effort) -> str | None:
    """The API key of a call; None if there is no text in its place. Raises ConnectorError, TooMuchEffort."""
    found = webhook.evaluate("inbound.auth.apiKeyLocator", content, effort)
    return found if isinstance(found, str) else None


def verification(webhook: Webhook, values: Mapping[str, Any], effort: Effort) -> WebhookAnswer | None:
    """The answer to a call that only asks whether the webhook is there; None: it is none.

    Raises ConnectorError, TooMuchEffort.
    """
    value = webhook.evaluate("inbound.verificationExpression", values, effort)
    return None if value is None else _answer(value, effort)


def response(webhook: Webhook, values: Mapping[str, Any], effort: Effort) -> WebhookAnswer:
    """The answer to a call that had its effect. Raises ConnectorError, TooMuchEffort."""
    if webhook.get("inbound.responseExpression"):
        return _answer(webhook.evaluate("inbound.responseExpression", values, effort), effort)
    if webhook.get("inbound.responseBodyExpression"):
        return _answer({"body": webhook.evaluate("inbound.responseBodyExpression", values, effort)}, effort)
    return WebhookAnswer()


def _answer(value: Any, effort: Effort) -> WebhookAnswer:
    """The answer that a value describes: `statusCode`, `headers`, `body`."""
    answer = value if isinstance(value, dict) else {}
    status, body, headers = answer.get("statusCode", 200), answer.get("body"), answer.get("headers") or {}
    if type(status) is not int or not 200 <= status <= 599 or not isinstance(headers, dict):
        raise ConnectorError("WEBHOOK", "a response needs a statusCode from 200 to 599, and a context of headers")
    given = []
    for name, item in headers.items():
        check_header(name, text_of(item))
        if name.lower() not in OWN_HEADERS:
            given.append((name.lower().encode(), text_of(item).encode()))
    if body is not None and all(name != b"content-type" for name, _ in given):
        type_of = b"text/plain; charset=utf-8" if isinstance(body, str) else b"application/json"
        given.insert(0, (b"content-type", type_of))
    if body is None or isinstance(body, str):
        content = (body or "").encode()
    else:
        content = bytes(encoded({"body": body}, effort)["body"])
    return WebhookAnswer(status, content, tuple(given))
