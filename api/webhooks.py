"""The state of a node for webhooks: their registry, secrets, keys for tokens, and limits."""

from __future__ import annotations

from collections.abc import Mapping

import jwt
from cachetools import LRUCache

from vivero.api.access.buckets import Buckets
from vivero.api.access.rates import Rates
from vivero.api.access.signing_keys import SigningKeys
from vivero.api.access.verified import KeysUnavailable
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.authentication import Credentials
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.http.requests import read_request
from vivero.engine.connectors.inbound.webhook_access import NotAuthenticated
from vivero.engine.connectors.inbound.webhook_registry import WebhookRegistry
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.secrets import UsedSecrets

MAX_KEY_SETS = 100
OK = 200


class Webhooks:
    """It survives restarts of the HTTP server."""

    def __init__(self, registry: WebhookRegistry, settings: ConnectorSettings, secrets: Mapping[str, str]) -> None:
        self.registry = registry
        self._settings, self._secrets = settings, secrets
        self._key_sets: LRUCache[str, SigningKeys] = LRUCache(MAX_KEY_SETS)
        self._rates = Rates(Buckets(settings.inbound_burst, settings.inbound_requests_per_s))

    def used_secrets(self) -> UsedSecrets:
        """The secrets for one call. Only properties of models name them."""
        return UsedSecrets(self._secrets)

    def has_secret(self, name: str) -> bool:
        """Whether there is a secret of this name that is not empty."""
        return bool(self._secrets.get(name))

    def limit(self, path: str, address: str) -> None:
        """Count a call of a path from an address. Raises Problem 429."""
        self._rates.check((path, address))

    async def find_key(self, url: str, id: str | None) -> jwt.PyJWK | None:
        """The key with this id in the key set at a URL. Raises NotAuthenticated if it cannot be read."""
        keys = self._key_sets.get(url)
        if keys is None:
            keys = self._key_sets[url] = SigningKeys("", url, self._fetch)
        try:
            return await keys.get(id)
        except KeysUnavailable as error:
            raise NotAuthenticated(str(error)) from error

    async def _fetch(self, url: str) -> bytes:
        """The document at a URL, which must be at an allowed address. Raises KeysUnavailable."""
        client = HttpClient(self._settings)
        try:
            response = await client.call(read_request({"url": url}), Credentials())
        except ConnectorError as error:
            raise KeysUnavailable(str(error)) from error
        finally:
            await client.aclose()
        if response.status != OK:
            raise KeysUnavailable(f"{url} answers with status {response.status}")
        return response.body
