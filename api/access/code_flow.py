"""Sign-in of browsers at an identity provider: OpenID Connect's code flow with PKCE, state and nonce (RFC 7636, 9207).

`begin` makes three secrets. The browser keeps them in a cookie until it comes back with the code, so no node stores
anything, and every node can finish what another began.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from urllib.parse import quote, urlencode

import httpx
import msgspec
import trio

from vivero.api.access import signing_keys
from vivero.api.access.json_web_tokens import JsonWebTokens
from vivero.api.access.settings import AuthSettings
from vivero.api.access.signing_keys import DISCOVERY, UNPACKED, Fetch, check_url, read_body
from vivero.api.access.verified import BadToken, Keys, KeysUnavailable, Verified

TIMEOUT_S = 10.0
FRESH_S = 300.0
"""The provider's addresses are read again after this time."""

Post = Callable[[str, Mapping[str, str], Mapping[str, str]], Awaitable[bytes]]
"""(URL, form, headers) -> body. Raises ProviderFailed."""


class ProviderFailed(Exception):
    """The provider cannot be reached, or it answers with an error."""


class NotSignedIn(Exception):
    """The provider's answer does not prove who the user is. The message says why and contains no secret."""


class Begun(msgspec.Struct, frozen=True):
    """The secrets that the browser keeps during the sign-in. `next` is the page to show after it."""

    state: str
    nonce: str
    verifier: str
    next: str


class _Discovered(msgspec.Struct):
    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)
    authorization_response_iss_parameter_supported: bool = False


class _Tokens(msgspec.Struct):
    id_token: str


async def post(url: str, form: Mapping[str, str], headers: Mapping[str, str]) -> bytes:
    """Send a form: https, or http on loopback. Raises ProviderFailed."""
    try:
        check_url(url)
        with trio.fail_after(TIMEOUT_S):
            async with (
                httpx.AsyncClient(timeout=TIMEOUT_S, headers=UNPACKED) as client,
                client.stream("POST", url, data=dict(form), headers=dict(headers)) as response,
            ):
                body = await read_body(response)
    except (httpx.HTTPError, httpx.InvalidURL, trio.TooSlowError, KeysUnavailable) as error:
        raise ProviderFailed(f"{url} cannot be used: {type(error).__name__}") from error
    if response.status_code >= 400:
        raise ProviderFailed(f"{url} answered {response.status_code}")
    return body


class CodeFlow:
    """Signs users in at the provider of the settings."""

    def __init__(
        self, settings: AuthSettings, keys: Keys, fetch: Fetch = signing_keys.fetch, post: Post = post
    ) -> None:
        self._settings = settings
        own = replace(settings, oidc_audience=settings.oidc_client_id, oidc_client_claim="")
        self._tokens = JsonWebTokens(own, keys)
        self._fetch = fetch
        self._post = post
        self._known: _Discovered | None = None
        self._read_at = float("-inf")

    async def begin(self, redirect_uri: str, next: str) -> tuple[str, Begun]:
        """The provider's address for the browser, and what the browser keeps. Raises ProviderFailed."""
        provider = await self._provider()
        state, nonce, verifier = (secrets.token_urlsafe(32) for _ in range(3))
        begun = Begun(state, nonce, verifier, next)
        fields = {
            "response_type": "code",
            "client_id": self._settings.oidc_client_id,
            "redirect_uri": redirect_uri,
            "scope": self._settings.oidc_scopes,
            "state": begun.state,
            "nonce": begun.nonce,
            "code_challenge": challenge(begun.verifier),
            "code_challenge_method": "S256",
        }
        separator = "&" if "?" in provider.authorization_endpoint else "?"
        return f"{provider.authorization_endpoint}{separator}{urlencode(fields)}", begun

    async def finish(self, begun: Begun, answer: Mapping[str, str], redirect_uri: str) -> Verified:
        """The user whom the query of the provider's redirect proves. Raises ProviderFailed, NotSignedIn."""
        provider = await self._provider()
        self._check(provider, begun, answer)
        return await self._verified(await self._exchange(provider, answer["code"], begun, redirect_uri), begun.nonce)

    def _check(self, provider: _Discovered, begun: Begun, answer: Mapping[str, str]) -> None:
        if not secrets.compare_digest(answer.get("state", "").encode(), begun.state.encode()):
            raise NotSignedIn("the state is not the one of this browser")
        issuer = answer.get("iss")
        if issuer != provider.issuer and (issuer or provider.authorization_response_iss_parameter_supported):
            raise NotSignedIn("the answer is of another provider")
        if "error" in answer or not answer.get("code"):
            raise NotSignedIn(f"the provider answered with the error '{answer.get('error', 'no code')[:100]}'")

    async def _exchange(self, provider: _Discovered, code: str, begun: Begun, redirect_uri: str) -> str:
        """The identity token for a code."""
        settings = self._settings
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect_uri,
            "code_verifier": begun.verifier,
        }
        headers = {"accept": "application/json"}
        secret = settings.oidc_client_secret
        if secret is not None and "client_secret_basic" in provider.token_endpoint_auth_methods_supported:
            pair = f"{quote(settings.oidc_client_id, safe='')}:{quote(secret, safe='')}"  # RFC 6749 section 2.3.1
            headers["authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        else:
            form |= {"client_id": settings.oidc_client_id} | ({} if secret is None else {"client_secret": secret})
        try:
            return msgspec.json.decode(await self._post(provider.token_endpoint, form, headers), type=_Tokens).id_token
        except msgspec.MsgspecError as error:
            raise ProviderFailed(f"{provider.token_endpoint} did not answer with an identity token") from error

    async def _verified(self, token: str, nonce: str) -> Verified:
        try:
            verified = await self._tokens.verify(token)
        except BadToken as error:
            raise NotSignedIn(f"the identity token was rejected: {error}") from error
        except KeysUnavailable as error:
            raise ProviderFailed("the provider's keys are not available") from error
        if ("nonce", nonce) not in verified.claims:
            raise NotSignedIn("the identity token is not the one of this sign-in")
        if any(name == "azp" and value != self._settings.oidc_client_id for name, value in verified.claims):
            raise NotSignedIn("the identity token is for another client")
        return verified

    async def _provider(self) -> _Discovered:
        """The provider's discovery document."""
        known, issuer = self._known, self._settings.oidc_issuer
        if known is not None and trio.current_time() - self._read_at <= FRESH_S:
            return known
        url = issuer.rstrip("/") + DISCOVERY
        try:
            found = msgspec.json.decode(await self._fetch(url), type=_Discovered)
        except (KeysUnavailable, msgspec.MsgspecError) as error:
            raise ProviderFailed(f"{url} cannot be used: {type(error).__name__}") from error
        if found.issuer != issuer:
            raise ProviderFailed(f"{url} is the document of another issuer: {found.issuer[:200]}")
        self._known, self._read_at = found, trio.current_time()
        return found


def challenge(verifier: str) -> str:
    """The S256 challenge of PKCE (RFC 7636 section 4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
