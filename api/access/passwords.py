"""Passwords: hashed by argon2id, in threads, a few at a time."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from enum import IntEnum
from typing import TypeVar

import trio
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from vivero.api.http.problems import LATER, Problem
from vivero.engine.compute.settings import processors

T = TypeVar("T")

AT_A_TIME = max(1, min(2, processors() // 2))
"""Hashes at the same time, on half of the processors at most. Each takes 19 MiB and about 20 ms of a core."""
MAX_WAITING = 64
"""Hashes of each kind that may wait for their turn. Further ones get 503, so a flood of guesses is bounded."""
MAX_PASSED = 3
"""Hashes of other kinds that may go before those of a kind that waits. So none waits for the end of a flood."""
MAX_REMEMBERED = 10_000
"""Right passwords that are remembered for some seconds."""
MIN_LENGTH, MAX_LENGTH = 8, 1024

_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
"""The OWASP recommendation for argon2id."""


def hash_password(password: str) -> str:
    """The hash of a password, with its parameters and salt. Takes about 20 ms. Raises ValueError: see `check_new`."""
    check_new(password)
    return _hasher.hash(password)


def check_new(password: str) -> None:
    """Raise ValueError for a password that is too short or too long."""
    if not MIN_LENGTH <= len(password) <= MAX_LENGTH:
        raise ValueError(f"a password must have {MIN_LENGTH} to {MAX_LENGTH} characters")


def verify(password_hash: str, password: str) -> bool:
    """Whether the password belongs to the hash. Takes about 20 ms, whatever the answer."""
    try:
        return _hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


class Turn(IntEnum):
    """The order of turns while others wait. Every kind gets some: see `MAX_PASSED`."""

    KNOWN = 0
    """A password that was right lately: a flood of other passwords does not keep its user waiting."""
    NEW = 1
    """A new password, of somebody who is signed in."""
    OTHER = 2


class Hashing:
    """All hashing of an event loop: in threads, a few at a time, and each `Turn` with a bounded queue."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(AT_A_TIME)
        self._taken = 0
        self._lots = {turn: trio.lowlevel.ParkingLot() for turn in Turn}
        self._passed: dict[Turn, int] = {}

    async def run(self, turn: Turn, work: Callable[..., T], *arguments: str | None) -> T:
        """The result of `work(*arguments)`. Raises Problem 503 if too many wait."""
        await self._take(turn)
        try:
            return await trio.to_thread.run_sync(work, *arguments, limiter=self._limiter)
        finally:
            self._give()

    async def _take(self, turn: Turn) -> None:
        lot = self._lots[turn]
        if self._taken < AT_A_TIME:
            self._taken += 1
        elif len(lot) >= MAX_WAITING:
            detail = "Too many passwords are being hashed; try again later"
            raise Problem(503, "RESOURCE_EXHAUSTED", detail, LATER)
        else:
            await lot.park()  # until it is given a place

    def _give(self) -> None:
        waiting = [turn for turn in Turn if self._lots[turn]]
        if not waiting:
            self._taken -= 1
            self._passed = {}
            return
        overdue = (turn for turn in reversed(waiting) if self._passed.get(turn, 0) >= MAX_PASSED)
        chosen = next(overdue, waiting[0])
        self._passed = {turn: self._passed.get(turn, 0) + 1 for turn in waiting if turn is not chosen}
        self._lots[chosen].unpark()


_of_loop: trio.lowlevel.RunVar[Hashing] = trio.lowlevel.RunVar("hashing")


def _hashing() -> Hashing:
    try:
        return _of_loop.get()
    except LookupError:
        _of_loop.set(made := Hashing())
        return made


class Verifier:
    """Checks passwords in threads. An unknown user costs the same time as a wrong password.

    A right password is remembered for `cache_s` seconds together with its hash, as a keyed digest of both. A changed
    password has another hash.
    """

    def __init__(self, cache_s: float = 0.0) -> None:
        self._cache_s = cache_s
        self._nobody: str | None = None
        self._key = secrets.token_bytes(32)
        self._right: dict[bytes, float] = {}

    async def verify(self, password_hash: str | None, password: str, *, known: bool = False) -> bool:
        """Whether the password belongs to the hash, None for an unknown user. Raises Problem 503 under a flood.

        `known`: it was right lately, and is checked before others.
        """
        if len(password) > MAX_LENGTH:
            return False
        digest = self._digest(password_hash or "", password)
        if self._right.get(digest, 0.0) > trio.current_time():
            return True
        is_right = await _hashing().run(Turn.KNOWN if known else Turn.OTHER, self._verify, password_hash, password)
        if is_right:
            self._remember(digest)
        return is_right

    def _digest(self, password_hash: str, password: str) -> bytes:
        text = f"{password_hash}\0{password}".encode(errors="surrogatepass")
        return hashlib.blake2b(text, key=self._key, digest_size=16).digest()

    def _remember(self, digest: bytes) -> None:
        if len(self._right) >= MAX_REMEMBERED:
            self._right.clear()
        self._right[digest] = trio.current_time() + self._cache_s

    def _verify(self, password_hash: str | None, password: str) -> bool:
        if password_hash is not None:
            return verify(password_hash, password)
        if self._nobody is None:
            self._nobody = _hasher.hash(secrets.token_urlsafe(32))
        verify(self._nobody, password)
        return False


async def hash_in_thread(password: str) -> str:
    """The hash of a new password, made in a thread.

    Raises ValueError: it is too short or too long. Raises Problem 503: too many others wait.
    """
    check_new(password)
    return await _hashing().run(Turn.NEW, hash_password, password)
