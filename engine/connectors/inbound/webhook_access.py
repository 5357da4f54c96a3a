"""Checks callers of webhooks: HMAC of the body, basic authentication, API keys, JSON Web Tokens.

A credential of the model that is not a non-empty text refuses every call: null must not become the text `None`, and an
empty secret must not become a key that everybody knows.
"""

from __future__ import annotations

import base64
import hmac
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import jwt

from vivero.engine.compute.pool import ComputePool
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.authentication import basic
from vivero.engine.connectors.inbound.evaluation import evaluated
from vivero.engine.connectors.inbound.webhook_answers import located_key
from vivero.engine.connectors.inbound.webhooks import (
    ALGORITHMS,
    API_KEY,
    AUDIENCE,
    BASIC,
    ISSUER,
    JWT,
    REQUIRED_ROLES,
    TOKEN_HEADER,
    Webhook,
)
from vivero.engine.connectors.work.secrets import UsedSecrets

JWT_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Asymmetric ones only."""

FindKey = Callable[[str, str | None], Awaitable[jwt.PyJWK | None]]
"""The key with an id in the key set at a URL; None if there is none."""


class NotAuthenticated(Exception):
    """The caller of a webhook did not prove who it is. The message is for the log."""


def check_raw(webhook: Webhook, headers: Mapping[str, str], body: bytes, used: UsedSecrets) -> None:
    """Check what needs no knowledge of the content. Raises NotAuthenticated, UnknownSecret.

    `headers`: by their names in small letters.
    """
    if webhook.by_token and not headers.get(TOKEN_HEADER):
        raise NotAuthenticated(f"no {TOKEN_HEADER}")
    if webhook.signed:
        _check_hmac(webhook, headers, body, used)
    if webhook.authentication == BASIC:
        username, password = (_value(webhook, f"inbound.auth.{name}", used) for name in ("username", "password"))
        if not _equal(headers.get("authorization", ""), basic(username, password)):
            raise NotAuthenticated("wrong username or password")


async def check_content(
    webhook: Webhook,
    headers: Mapping[str, str],
    content: Mapping[str, Any],
    used: UsedSecrets,
    find_key: FindKey,
    compute: ComputePool | None = None,
) -> None:
    """Check the API key or the token. Raises NotAuthenticated, UnknownSecret, ConnectorError, NotComputed.

    `compute`: processes that find the API key if that is not quick.
    """
    if webhook.authentication == API_KEY:
        found = await evaluated(compute, located_key, webhook, content)
        if found is None or not _equal(found, _value(webhook, "inbound.auth.apiKey", used)):
            raise NotAuthenticated("wrong API key")
    if webhook.authentication == JWT:
        await _check_token(webhook, headers, used, find_key)


def check_key(webhook: Webhook, headers: Mapping[str, str], correlation_key: str) -> None:
    """Check that the token of a notification is the correlation key. Raises NotAuthenticated.

    Another key, such as the id of a task, would let everybody who knows it continue the instance.
    """
    token = headers.get(TOKEN_HEADER, "")
    if webhook.by_token and not (token and _equal(token, correlation_key)):
        raise NotAuthenticated("the correlation key is not the token of the notification")


def _check_hmac(webhook: Webhook, headers: Mapping[str, str], body: bytes, used: UsedSecrets) -> None:
    name = ALGORITHMS[webhook.get("inbound.hmacAlgorithm")]
    digest = hmac.digest(_value(webhook, "inbound.hmacSecret", used).encode(), body, name)
    given = headers.get(webhook.get("inbound.hmacHeader").lower(), "").strip().removeprefix(f"{name}=")
    if not (_equal(given.lower(), digest.hex()) or _equal(given, base64.b64encode(digest).decode())):
        raise NotAuthenticated("wrong HMAC")


async def _check_token(webhook: Webhook, headers: Mapping[str, str], used: UsedSecrets, find_key: FindKey) -> None:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer":
        raise NotAuthenticated("no bearer token")
    try:
        header = jwt.get_unverified_header(token)
        algorithm = str(header.get("alg"))
        key = await find_key(_value(webhook, "inbound.auth.jwt.jwkUrl", used), header.get("kid"))
        if key is None or algorithm not in JWT_ALGORITHMS or "crit" in header:
            raise NotAuthenticated("no key for the token, or an algorithm that is not allowed")
        claims = jwt.decode(token, key, algorithms=[algorithm], **_expected(webhook, used))
    except (jwt.PyJWTError, ValueError, TypeError) as error:
        raise NotAuthenticated(f"the token is not valid: {type(error).__name__}") from error
    _check_roles(webhook, claims)


def _expected(webhook: Webhook, used: UsedSecrets) -> dict[str, Any]:
    """The claims that a token needs. Issuer and audience are checked if the webhook names them."""
    issuer = _value(webhook, ISSUER, used) if webhook.get(ISSUER) else None
    audiences = webhook.texts(AUDIENCE) if webhook.get(AUDIENCE) else None
    required = ["exp", *(["iss"] if issuer is not None else []), *(["aud"] if audiences is not None else [])]
    return {
        "issuer": issuer,
        "audience": audiences,
        "options": {"verify_aud": audiences is not None, "require": required},
    }


def _check_roles(webhook: Webhook, claims: Mapping[str, Any]) -> None:
    if not webhook.get(REQUIRED_ROLES):
        return
    required = webhook.texts(REQUIRED_ROLES)
    found = webhook.evaluate("inbound.auth.jwt.permissionsExpression", claims)
    if not isinstance(found, list) or any(role not in found for role in required):
        raise NotAuthenticated("the token lacks a required role")


def _value(webhook: Webhook, name: str, used: UsedSecrets) -> str:
    """A credential with its secrets. Raises ConnectorError if it is not a non-empty text, UnknownSecret."""
    resolved = used.resolve(webhook.credential(name))
    if not resolved:
        raise ConnectorError("WEBHOOK", f"the property {name} is empty with its secrets, so every call is refused")
    used.hide(resolved)
    return resolved


def _equal(given: str, expected: str) -> bool:
    return hmac.compare_digest(given.encode(), expected.encode())
