"""The public keys of an identity provider (JWKS), from a file or a URL.

Keys are read when a token first needs them, again when they are old, and when a token names an unknown key, because
providers rotate keys. One request reads at a time, and there is a pause between two attempts.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import msgspec
import structlog
import trio
from jwt import PyJWK, PyJWKSet
from jwt.exceptions import InvalidKeyError, PyJWKError, PyJWKSetError

from vivero.api.access.verified import KeysUnavailable
from vivero.api.access.whole_answers import read_whole
from vivero.core.texts.hosts import is_loopback
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)

FRESH_S = 300.0
"""Keys are read again after this time, so that withdrawn keys are forgotten."""
USABLE_S = 3600.0
"""Keys are used for this time if the provider cannot be reached."""
PAUSE_S = 10.0
"""Seconds between two attempts: tokens with invented key ids must not make this server flood the provider."""
TIMEOUT_S = 5.0
MAX_BYTES = 1024 * 1024
UNPACKED = {"accept-encoding": "identity"}
DISCOVERY = "/.well-known/openid-configuration"

Fetch = Callable[[str], Awaitable[bytes]]


def check_url(url: str) -> None:
    """Raise KeysUnavailable unless a URL begins with https, or http on loopback."""
    parts = urlsplit(url)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise KeysUnavailable(f"{url} must begin with https://")


async def fetch(url: str) -> bytes:
    """The document at a URL: https, or http on loopback. No redirects. Raises KeysUnavailable."""
    check_url(url)
    try:
        with trio.fail_after(TIMEOUT_S):
            async with (
                httpx.AsyncClient(timeout=TIMEOUT_S, headers=UNPACKED) as client,
                client.stream("GET", url) as response,
            ):
                response.raise_for_status()
                return await read_body(response)
    except (httpx.HTTPError, httpx.InvalidURL, trio.TooSlowError) as error:
        raise KeysUnavailable(f"{url} cannot be read: {error or type(error).__name__}") from error


async def read_body(response: httpx.Response) -> bytes:
    """The whole body of a response. Raises KeysUnavailable if it is too large, or packed: few bytes unpack to many."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise KeysUnavailable(f"{response.url} is packed, although nobody asked for that")
    body = await read_whole(response, MAX_BYTES)
    if body is None:
        raise KeysUnavailable(f"{response.url} has more than {MAX_BYTES} bytes")
    return body.removeprefix(BOM_UTF8)


class SigningKeys:
    """The keys of one provider by their id."""

    def __init__(self, issuer: str, source: str = "", fetch: Fetch = fetch) -> None:
        """`source` is a URL or a file; empty: the issuer's discovery document names the URL."""
        self._issuer = issuer
        self._source = source
        self._fetch = fetch
        self._keys: Mapping[str, PyJWK] = {}
        self._read_at = self._tried_at = float("-inf")
        self._reading = trio.Lock()

    async def get(self, key_id: str | None) -> PyJWK | None:
        """The key with this id; without an id the only key. None if there is none. Raises KeysUnavailable."""
        known = self._find(key_id) is not None
        fresh = trio.current_time() - self._read_at <= FRESH_S
        if not known or not (fresh or self._reading.locked()):
            await self._refresh()
        if trio.current_time() - self._read_at > USABLE_S:
            raise KeysUnavailable("the keys of the identity provider are not available")
        return self._find(key_id)

    def _find(self, key_id: str | None) -> PyJWK | None:
        if key_id is not None:
            return self._keys.get(key_id)
        return next(iter(self._keys.values())) if len(self._keys) == 1 else None

    async def _refresh(self) -> None:
        async with self._reading:
            if trio.current_time() - self._tried_at < PAUSE_S:
                return
            self._tried_at = trio.current_time()
            try:
                self._keys = parse_keys(await self._read())
                self._read_at = trio.current_time()
            except KeysUnavailable as error:
                log.warning("cannot read the keys of the identity provider", error=describe(error))

    async def _read(self) -> bytes:
        if not self._source:
            return await self._fetch(await self._discover())
        if "://" in self._source:
            return await self._fetch(self._source)
        try:
            return (await trio.Path(Path(self._source)).read_bytes()).removeprefix(BOM_UTF8)
        except OSError as error:
            raise KeysUnavailable(f"the file {self._source} cannot be read: {error.strerror}") from error

    async def _discover(self) -> str:
        """The URL in the discovery document, which must be this issuer's."""
        url = self._issuer.rstrip("/") + DISCOVERY
        try:
            document = msgspec.json.decode(await self._fetch(url), type=_Discovery)
        except msgspec.MsgspecError as error:
            raise KeysUnavailable(f"{url} is not a discovery document: {error}") from error
        if document.issuer != self._issuer:
            raise KeysUnavailable(f"{url} is the document of another issuer: {document.issuer[:200]}")
        return document.jwks_uri


class _Discovery(msgspec.Struct):
    issuer: str
    jwks_uri: str


def parse_keys(text: bytes) -> dict[str, PyJWK]:
    """The keys for signatures in a JWKS document. Raises KeysUnavailable."""
    try:
        found = PyJWKSet.from_dict(msgspec.json.decode(text, type=dict)).keys
    except (msgspec.MsgspecError, PyJWKSetError, PyJWKError, InvalidKeyError) as error:
        raise KeysUnavailable(f"the keys cannot be decoded: {error}") from error
    signing = [key for key in found if key.public_key_use in (None, "sig") and key.key_type != "oct"]
    return {key.key_id or f" {i}": key for i, key in enumerate(signing)}
