"""The users whose passwords were accepted lately. Their passwords pass the limits, which strangers may use up.

A passing password is still checked. The memory has two bytes of a keyed digest for each user: too few to find a
password by, and enough that one guess in 65,536 passes.
"""

from __future__ import annotations

import hashlib
import secrets
from collections import OrderedDict

import trio

ACCEPTED_S = 86_400.0
"""Lately."""
TAG_BYTES = 2


class AcceptedPasswords:
    """Remembers `most` users. The ones that signed in longest ago are forgotten first."""

    def __init__(self, most: int = 10_000) -> None:
        self._most = most
        self._key = secrets.token_bytes(32)
        self._known: OrderedDict[str, tuple[bytes, float]] = OrderedDict()

    def add(self, username: str, password: str) -> None:
        """The password was right."""
        self._known[username] = self._tag(username, password), trio.current_time() + ACCEPTED_S
        self._known.move_to_end(username)
        if len(self._known) > self._most:
            self._known.popitem(last=False)

    def discard(self, username: str) -> None:
        """A password that passed was wrong: it has changed, or somebody guessed the bytes."""
        self._known.pop(username, None)

    def passes(self, username: str, password: str) -> bool:
        """Whether this password of the user was right lately."""
        tag, until = self._known.get(username, (b"", 0.0))
        return until > trio.current_time() and secrets.compare_digest(tag, self._tag(username, password))

    def _tag(self, username: str, password: str) -> bytes:
        text = f"{username}\0{password}".encode(errors="surrogatepass")
        return hashlib.blake2b(text, key=self._key, digest_size=TAG_BYTES).digest()
