"""API tokens: 256 random bits behind a prefix. The database has their SHA-256 only."""

from __future__ import annotations

import hashlib
import secrets

PREFIX = "vivero_"
"""Makes leaked tokens easy to find, and tells them from tokens of an identity provider."""


def new_token() -> str:
    """A new token."""
    return PREFIX + secrets.token_urlsafe(32)


def digest(token: str) -> bytes:
    """The stored form of a token. A slow hash would add nothing: nobody can try 2**256 tokens."""
    return hashlib.sha256(token.encode()).digest()
