"""JSON Web Tokens of an identity provider: signature, issuer, audience and times, by PyJWT."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import jwt

from vivero.api.access.settings import AuthSettings
from vivero.api.access.verified import BadToken, Keys, Verified
from vivero.core.texts.fields import listed

MAX_CLAIMS = 1000
"""Claims of a token that mapping rules can match."""
MAX_DEPTH = 5
MAX_ID = 256


class JsonWebTokens:
    """Verifies tokens of one issuer."""

    def __init__(self, settings: AuthSettings, keys: Keys) -> None:
        self._settings = settings
        self._keys = keys
        self._algorithms = listed(settings.oidc_algorithms)

    async def verify(self, token: str) -> Verified:
        """The caller that a token names. Raises BadToken, KeysUnavailable."""
        algorithm, key_id = self._header(token)
        key = await self._keys.get(key_id)
        if key is None:
            raise BadToken("the issuer has no key with the id that the token names")
        if key.algorithm_name is not None and key.algorithm_name != algorithm:
            raise BadToken(f"the token's algorithm is {algorithm}, and the one of its key is {key.algorithm_name}")
        return self._verified(self._decode(token, key, algorithm))

    def _header(self, token: str) -> tuple[str, str | None]:
        """The algorithm and the id of the key. The header is not trusted: it selects among our keys and algorithms."""
        try:
            header = jwt.get_unverified_header(token)
        except jwt.InvalidTokenError as error:
            raise BadToken("it is not a JSON Web Token") from error
        algorithm, key_id = header.get("alg"), header.get("kid")
        if algorithm not in self._algorithms:
            raise BadToken("its algorithm is not allowed")
        if "crit" in header:
            raise BadToken("it has critical extensions, which are not supported")
        return algorithm, key_id

    def _decode(self, token: str, key: jwt.PyJWK, algorithm: str) -> Mapping[str, Any]:
        settings = self._settings
        try:
            return jwt.decode(
                token,
                key,
                algorithms=[algorithm],
                issuer=settings.oidc_issuer,
                audience=settings.oidc_audience,
                leeway=settings.oidc_leeway_s,
                options={"require": ["exp", "iss", "aud"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError) as error:
            raise BadToken(f"it is not valid: {type(error).__name__}") from error

    def _verified(self, claims: Mapping[str, Any]) -> Verified:
        settings = self._settings
        client = claims.get(settings.oidc_client_claim) if settings.oidc_client_claim else None
        kind, id = ("USER", claims.get(settings.oidc_username_claim)) if client is None else ("CLIENT", client)
        if type(id) is not str or not 1 <= len(id) <= MAX_ID or "\0" in id:
            raise BadToken("it does not name its user or client")
        name, email = (claims.get(each) for each in ("name", "email"))
        return Verified(
            kind,
            id,
            tuple(pair for pair, _ in zip(flat(claims), range(MAX_CLAIMS), strict=False)),
            float(claims["exp"]),
            name if type(name) is str else None,
            email if type(email) is str else None,
        )


def flat(claims: Mapping[str, Any], prefix: str = "", depth: int = 1) -> Iterator[tuple[str, str]]:
    """Claims as (name, value). A list gives one pair for each item; names of inner claims are paths: `realm.roles`."""
    for name, value in claims.items():
        path = f"{prefix}{name}"
        if isinstance(value, dict):
            if depth < MAX_DEPTH:
                yield from flat(value, f"{path}.", depth + 1)
            continue
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, str) and "\0" not in item and "\0" not in path:
                yield path, item
