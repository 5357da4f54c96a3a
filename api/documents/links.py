"""Links to documents: everybody with one may read the document until it ends. The server signs them (HMAC-SHA256).

A link names the content, too: it never shows another document that gets the same id later.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import secrets
from typing import NamedTuple

import msgspec
import trio

from vivero.api.access.buckets import Buckets
from vivero.api.access.rates import Rates
from vivero.engine.documents.settings import LINK_KEY_S
from vivero.engine.jobs.execution import Connections
from vivero.storage.documents import link_keys
from vivero.storage.documents.documents import DocumentPlace
from vivero.storage.documents.link_keys import LinkKey

KEY_BYTES = 32
KEPT_S = 60.0
"""A key that an operator deleted is valid on a node for so long at most."""
UNKNOWN_S = 1.0
"""Links with unknown keys make a node look for new ones once in this time. They wait for it."""
UNKNOWN_BURST = 20
"""Links with unknown keys that an address may try at once; then one in `UNKNOWN_S`."""


class Link(NamedTuple):
    """The content of a link. `until_ms`: its end, in real time."""

    key: int
    until_ms: int
    place: DocumentPlace
    content: int


_decode = msgspec.json.Decoder(Link).decode


class LinkKeys:
    """The keys that a node knows, which are those of the database."""

    def __init__(self, max_link_s: int) -> None:
        self._valid_s = max_link_s + LINK_KEY_S
        self._keys: dict[int, LinkKey] = {}
        self._read_at = -KEPT_S
        self._turn = trio.Lock()
        self._unknown = Rates(Buckets(UNKNOWN_BURST, 1 / UNKNOWN_S))

    async def sign(self, connections: Connections, until_ms: int, place: DocumentPlace, content: int) -> str:
        """The text of a link, for a path."""
        key = await self._signing(connections)
        said = msgspec.json.encode(Link(key.id, until_ms, place, content))
        return f"{_text(said)}.{_text(_mac(key, said))}"

    async def opened(self, connections: Connections, text: str, address: str) -> Link | None:
        """The content of a link. None unless this installation has signed it; its end is not looked at.

        Raises Problem 429: too many links with unknown keys come from the address, and each of them waits.
        """
        try:
            said, mac = (base64.urlsafe_b64decode(f"{part}==") for part in text.split("."))
            link = _decode(said)
        except (binascii.Error, ValueError, msgspec.MsgspecError):
            return None
        if self._read_at > -KEPT_S and link.key not in self._keys:  # a node that has just started has read none yet
            self._unknown.check(address)
        key = await self._of(connections, link.key)
        return link if key is not None and hmac.compare_digest(mac, _mac(key, said)) else None

    async def _signing(self, connections: Connections) -> LinkKey:
        """The newest key, or a new one when it is a week old."""
        newest = next(iter((await self._read(connections)).values()), None)
        if newest is not None and newest.signs:
            return newest
        async with connections() as connection:
            await link_keys.add(connection, secrets.token_bytes(KEY_BYTES))
        return next(iter((await self._read(connections)).values()))

    async def _of(self, connections: Connections, id: int) -> LinkKey | None:
        """The key with this id, which another node may just have made: None only by a read since now."""
        asked_at = trio.current_time()
        if not self._knows(id):
            async with self._turn:
                if self._read_at <= asked_at and not self._knows(id):
                    await trio.sleep_until(self._read_at + UNKNOWN_S)
                    await self._read(connections)
        return self._keys.get(id)

    def _knows(self, id: int) -> bool:
        return id in self._keys and trio.current_time() - self._read_at <= KEPT_S

    async def _read(self, connections: Connections) -> dict[int, LinkKey]:
        asked_at = trio.current_time()
        async with connections() as connection:
            found = await link_keys.valid(connection, LINK_KEY_S, self._valid_s)
        self._keys, self._read_at = {key.id: key for key in found}, asked_at
        return self._keys


def _mac(key: LinkKey, said: bytes) -> bytes:
    return hmac.digest(key.secret, said, hashlib.sha256)


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
