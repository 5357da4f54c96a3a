"""The authentication of `io.camunda:http-json:1`: none, basic, bearer token, API key, OAuth 2.0 client credentials."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import msgspec
import trio
from cachetools import LRUCache

from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.charsets import decoded
from vivero.engine.connectors.http.requests import FORM, check_header, read_url
from vivero.engine.connectors.work.secrets import UsedSecrets

MAX_TOKENS = 1000
MAX_CHARACTERS = 16 * 1024
"""The limit of a credential. Each is searched for in the answer, whose author may have chosen both."""
DEFAULT_LIFE_S = 60.0
"""The life of a token whose server does not tell it."""
EARLY_S = 30.0
"""A token is replaced this long before its end, or at half of its life."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """The credentials of a request. They are for the first host only, not for one that redirects lead to."""

    headers: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)
    token: tuple[str, ...] | None = None
    """The key of an OAuth token, which is forgotten if the server rejects it."""


class TokenAnswer(msgspec.Struct):
    """The answer of a token endpoint (RFC 6749, section 5.1)."""

    access_token: str
    expires_in: float | None = None


@dataclass(slots=True)
class _Token:
    lock: trio.Lock = field(default_factory=trio.Lock)
    text: str = ""
    until: float = float("-inf")


Post = Callable[[httpx.URL, Mapping[str, str], bytes], Awaitable[tuple[int, bytes]]]
"""Sends a request to a token endpoint: URL, headers and content to status and body. Raises ConnectorError."""


class Authentication:
    """Makes credentials. OAuth tokens are kept in memory until shortly before their end."""

    def __init__(self, post: Post) -> None:
        self._post = post
        self._tokens: LRUCache[tuple[str, ...], _Token] = LRUCache(MAX_TOKENS)

    async def credentials(self, given: Any, used: UsedSecrets) -> Credentials:
        """The credentials for the input `authentication`. Raises ConnectorError."""
        if given is None:
            return Credentials()
        if not isinstance(given, dict):
            raise bad_input("authentication must be a context")
        kind = given.get("type") or "noAuth"
        if kind == "noAuth":
            return Credentials()
        if kind == "basic":
            return Credentials(_authorization(basic(_text(given, "username"), _text(given, "password", True)), used))
        if kind == "bearer":
            return Credentials(_authorization(f"Bearer {_text(given, 'token')}", used))
        if kind == "apiKey":
            return _api_key(given, used)
        if kind == "oauth-client-credentials-flow":
            return await self._by_token(given, used)
        raise bad_input(
            "the type of authentication must be noAuth, basic, bearer, apiKey or oauth-client-credentials-flow"
        )

    def forget(self, credentials: Credentials) -> None:
        """The server rejects the credentials: the next call gets another token."""
        if credentials.token is not None:
            self._tokens.pop(credentials.token, None)

    async def _by_token(self, given: Mapping[str, Any], used: UsedSecrets) -> Credentials:
        key = tuple(
            _text(given, name, optional)
            for name, optional in (
                *(("oauthTokenEndpoint", False), ("clientId", False), ("clientSecret", False)),
                *(("audience", True), ("scopes", True), ("clientAuthentication", True)),
            )
        )
        key = (*key[:2], hashlib.sha256(key[2].encode()).hexdigest(), *key[3:])
        token = self._tokens.get(key)
        if token is None:
            token = self._tokens[key] = _Token()
        async with token.lock:
            if trio.current_time() >= token.until:
                await self._renew(token, given, used)
        return Credentials(_authorization(f"Bearer {token.text}", used), token=key)

    async def _renew(self, token: _Token, given: Mapping[str, Any], used: UsedSecrets) -> None:
        headers, form = _token_request(given)
        for value in headers.values():
            used.hide(value.partition(" ")[2] or value)
        url = read_url(_text(given, "oauthTokenEndpoint"))
        status, body = await self._post(url, headers, urlencode(form).encode())
        if status != 200:
            raise ConnectorError("TOKEN_REFUSED", f"the token endpoint answered with status {status}")
        try:
            answer = msgspec.json.decode(decoded(body), type=TokenAnswer)
            if len(answer.access_token) > MAX_CHARACTERS:
                raise ConnectorError("TOKEN_REFUSED", f"the token has more than {MAX_CHARACTERS} characters")
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise ConnectorError("TOKEN_REFUSED", "the answer of the token endpoint contains no token") from None
        life_s = DEFAULT_LIFE_S if answer.expires_in is None else answer.expires_in
        token.text, token.until = answer.access_token, trio.current_time() + max(life_s - EARLY_S, life_s / 2)


def _token_request(given: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
    """The headers and the form of a request for a token (RFC 6749, sections 2.3.1 and 4.4.2)."""
    id, secret = _text(given, "clientId"), _text(given, "clientSecret")
    form = {"grant_type": "client_credentials"}
    form |= {name: text for name, text in (("audience", _text(given, "audience", True)),) if text}
    form |= {name: text for name, text in (("scope", _text(given, "scopes", True)),) if text}
    headers = {"Content-Type": FORM, "Accept": "application/json"}
    if given.get("clientAuthentication") == "credentialsBody":
        return headers, form | {"client_id": id, "client_secret": secret}
    return headers | {"Authorization": basic(quote(id, ""), quote(secret, ""))}, form


def basic(username: str, password: str) -> str:
    """The header of basic authentication (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def _authorization(value: str, used: UsedSecrets) -> dict[str, str]:
    check_header("Authorization", value)
    used.hide(value.partition(" ")[2])
    return {"Authorization": value}


def _api_key(given: Mapping[str, Any], used: UsedSecrets) -> Credentials:
    name, value = _text(given, "name"), _text(given, "value")
    used.hide(value)
    if given.get("apiKeyLocation") == "query":
        return Credentials(parameters={name: value})
    check_header(name, value)
    return Credentials({name: value})


def _text(given: Mapping[str, Any], name: str, optional: bool = False) -> str:
    value = given.get(name)
    if value is None and optional:
        return ""
    if not isinstance(value, str | int) or value == "":
        if optional:
            return str(value or "")
        raise bad_input(f"authentication.{name} is missing")
    text = str(value)
    if len(text) > MAX_CHARACTERS:
        raise bad_input(f"authentication.{name} has more than {MAX_CHARACTERS} characters")
    return text
