"""Tokens of an identity provider: the caller that a valid one names, and the problems of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class BadToken(Exception):
    """The token is not valid. The message says why and contains no part of the token."""


class KeysUnavailable(Exception):
    """The provider's keys cannot be read."""


@dataclass(frozen=True, slots=True)
class Verified:
    """The caller that a valid token names. `kind` is USER or CLIENT; `expires_s` in seconds since 1970."""

    kind: str
    id: str
    claims: tuple[tuple[str, str], ...]
    expires_s: float
    name: str | None = None
    email: str | None = None


class Keys(Protocol):
    """`api.access.signing_keys.SigningKeys`, which needs libraries that only an identity provider needs."""

    async def get(self, id: str | None) -> Any:
        """The key with this id (`jwt.PyJWK`); None if there is none. Raises KeysUnavailable."""
