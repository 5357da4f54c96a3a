"""Passwords: hashed by argon2id, in threads, a few at a time."""

from __future__ import annotations

import secrets

import trio
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from vivero.api.problems import Problem

AT_A_TIME = 2
"""Hashes at the same time. Each takes 19 MiB and about 20 ms of a core."""
MAX_WAITING = 64
"""Password checks that may wait for their turn. Further ones get 503, so a flood of guesses is bounded."""
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


class Verifier:
    """Checks passwords in threads. An unknown user costs the same time as a wrong password."""

    def __init__(self) -> None:
        self._limiter = trio.CapacityLimiter(AT_A_TIME)
        self._nobody: str | None = None

    async def verify(self, password_hash: str | None, password: str) -> bool:
        """Whether the password belongs to the hash, None for an unknown user. Raises Problem 503 under a flood."""
        if self._limiter.statistics().tasks_waiting >= MAX_WAITING:
            raise Problem(503, "RESOURCE_EXHAUSTED", "Too many passwords are being checked; try again later")
        if len(password) > MAX_LENGTH:
            return False
        return await trio.to_thread.run_sync(self._verify, password_hash, password, limiter=self._limiter)

    def _verify(self, password_hash: str | None, password: str) -> bool:
        if password_hash is not None:
            return verify(password_hash, password)
        if self._nobody is None:
            self._nobody = _hasher.hash(secrets.token_urlsafe(32))
        verify(self._nobody, password)
        return False


_new_passwords: trio.lowlevel.RunVar[trio.CapacityLimiter] = trio.lowlevel.RunVar("new passwords")


async def hash_in_thread(password: str) -> str:
    """The hash of a new password, made in a thread, one at a time. Raises ValueError: it is too short or too long."""
    try:
        limiter = _new_passwords.get()
    except LookupError:
        limiter = trio.CapacityLimiter(1)
        _new_passwords.set(limiter)
    return await trio.to_thread.run_sync(hash_password, password, limiter=limiter)
