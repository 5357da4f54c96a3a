"""Authentication: from the header `Authorization`, or the session of a browser, to the caller.

Verified credentials are remembered for some seconds, so that neither argon2 nor the database is asked for each request.
The memory has no credentials: its key is a digest with a random key of this process. A change of users, tokens, roles
or grants empties it, on every node (`storage.access.identities.CHANNEL`). The end of a session removes the sessions.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import structlog
import trio

from vivero.api.access.accepted import AcceptedPasswords
from vivero.api.access.buckets import Buckets
from vivero.api.access.credentials import (
    SESSION,
    ApiToken,
    JsonWebToken,
    Password,
    parse,
    presented,
    session_ended,
    unauthorized,
)
from vivero.api.access.failed_sign_ins import FailedSignIns
from vivero.api.access.passwords import Verifier
from vivero.api.access.sessions import digest as session_digest
from vivero.api.access.settings import AuthSettings
from vivero.api.access.tokens import digest
from vivero.api.access.verified import BadToken, Keys, KeysUnavailable
from vivero.api.callers.caller import Caller, caller
from vivero.api.http.problems import Problem
from vivero.api.http.request import Headers
from vivero.api.services import ConnectionPool
from vivero.engine.definitions.single_flight import SingleFlight
from vivero.storage.access import identities
from vivero.storage.access import sessions as stored_sessions
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import StorageError, describe

log = structlog.get_logger(__name__)

MAX_REMEMBERED = 10_000
TAKEN = (
    "The identity provider's user '{}' has the name of a local user: sign in as the local user, or let an administrator"
    " add the name to auth.oidc_shared_names if both are one person"
)
INVALID = "The credentials are invalid or have expired"

FAILURES_OF_USER = (10, 0.1)
"""Wrong passwords for one user from one address: ten at once, then one every ten seconds."""
FAILURES_OF_ADDRESS = (50, 1.0)
"""Wrong passwords from one address; and apart from them, wrong tokens."""


@dataclass(slots=True)
class _Remembered:
    caller: Caller
    until: float


class _Found(NamedTuple):
    """A verified caller. `valid_s`: the seconds until its credentials expire."""

    caller: Caller
    valid_s: float


class Authenticator:
    """Authenticates requests. `pool` gives connections for reads."""

    def __init__(self, settings: AuthSettings, pool: ConnectionPool, keys: Keys | None = None) -> None:
        self._settings = settings
        self._pool = pool
        self._jwt = None
        if keys is not None:
            from vivero.api.access.json_web_tokens import JsonWebTokens  # with cryptography, a twentieth of a start

            self._jwt = JsonWebTokens(settings, keys)
        self._verifier = Verifier(settings.cache_s)
        self._secret = secrets.token_bytes(32)
        self._remembered: dict[bytes, _Remembered] = {}
        self._changes = 0
        self._flights: SingleFlight[bytes, _Found] = SingleFlight()
        self._of_user = Buckets(*FAILURES_OF_USER)
        self._of_address = Buckets(*FAILURES_OF_ADDRESS)
        self._of_tokens = Buckets(*FAILURES_OF_ADDRESS)
        self._accepted = AcceptedPasswords()
        self.failed_sign_ins = FailedSignIns(pool)

    async def authenticate(self, headers: Headers, address: str) -> Caller:
        """The caller of a request with these headers from an address.

        Raises Problem: 401, 429 after too many failures, 503; and StorageError.
        """
        value = presented(headers)
        key = hashlib.blake2b(value, key=self._secret, digest_size=16).digest()
        known = self._remembered.get(key)
        if known is not None and known.until > trio.current_time():
            return known.caller
        changes = self._changes
        found = await self._verified(key, value, address)
        if changes == self._changes:
            self._remember(key, found)
        return found.caller

    async def _verified(self, key: bytes, value: bytes, address: str) -> _Found:
        """The caller of credentials that are not remembered.

        Equal ones that come meanwhile share a check that succeeds, not a refusal: each failure counts, and a limit is
        that of one address.
        """
        is_own = False

        def check() -> Awaitable[_Found]:
            nonlocal is_own
            is_own = True
            return self._verify(value, address)

        try:
            found = await self._flights.get(key, check)
        except Problem as problem:
            if is_own or problem.status not in (401, 429):
                raise
            found = None
        return await self._verify(value, address) if found is None else found

    async def check_password(self, username: str, password: str, address: str) -> Caller:
        """The user with this name and password, at sign-in. Raises Problem 401, 429, 503; and StorageError."""
        return (await self._of_password(Password(username, password), address)).caller

    def forget(self) -> None:
        """Forget all callers: users, tokens, roles or grants have changed."""
        self._changes += 1
        self._remembered.clear()

    def forget_sessions(self) -> None:
        """Forget the callers with sessions: some sessions have ended."""
        self._changes += 1
        self._remembered = {key: each for key, each in self._remembered.items() if not each.caller.by_session}

    def _remember(self, key: bytes, found: _Found) -> None:
        if len(self._remembered) >= MAX_REMEMBERED:
            self._remembered.clear()
        valid_s = min(self._settings.cache_s, found.valid_s)
        self._remembered[key] = _Remembered(found.caller, trio.current_time() + valid_s)

    async def check_name(self, connection: Connection, username: str) -> None:
        """Raise Problem 403 for a user of the identity provider whose name a local user has: it is another person."""
        if await identities.is_taken(connection, stored_sessions.OIDC, username, self._settings.shared_names):
            log.warning("a user of the identity provider was refused: a local user has the name", username=username)
            raise Problem(403, "FORBIDDEN", TAKEN.format(username))

    async def _verify(self, value: bytes, address: str) -> _Found:
        """The caller of these credentials.

        Tokens and sessions cost little, and nobody can guess one. So they are checked first, and the failures of others
        who share the address refuse none that is right. Ended sessions are no failures: browsers send them by
        themselves.
        """
        if value.startswith(SESSION):
            return await self._of_session(value.removeprefix(SESSION))
        with _counted(self._of_tokens, address):
            credentials = parse(value)
            if isinstance(credentials, ApiToken):
                return await self._of_token(credentials)
            if isinstance(credentials, JsonWebToken):
                return await self._of_jwt(credentials)
        return await self._of_password(credentials, address)

    async def _of_password(self, given: Password, address: str) -> _Found:
        """Limits come before the check, which costs 20 ms and may be a guess. Passwords that were right pass."""
        passes = self._accepted.passes(given.username, given.password)
        try:
            if passes:
                found = await self._of_right_password(given, address, known=True)
            else:
                with _limited(self._of_address, address), _limited(self._of_user, (given.username, address)):
                    found = await self._of_right_password(given, address)
        except Problem as problem:
            if passes and problem.status == 401:
                self._accepted.discard(given.username)
            raise
        self._accepted.add(given.username, given.password)
        return found

    async def _of_right_password(self, given: Password, address: str, *, known: bool = False) -> _Found:
        if "\0" in given.username:  # PostgreSQL has no such text, so nobody has the name
            self.failed_sign_ins.count(None, address)
            raise unauthorized(INVALID)
        async with self._pool.connection() as connection:
            user = await identities.user(connection, given.username)
        password_hash = None if user is None else user.password_hash
        if not await self._verifier.verify(password_hash, given.password, known=known):
            log.info("a password was rejected", address=address)
            self.failed_sign_ins.count(None if user is None else given.username, address)
            raise unauthorized(INVALID)
        async with self._pool.connection() as connection:
            stored = await identities.rights(connection, [("USER", given.username)])
        name, email = (None, None) if user is None else (user.name, user.email)
        found = caller("USER", given.username, stored, name, email)
        return _Found(replace(found, provider=stored_sessions.PASSWORD), math.inf)

    async def _of_token(self, given: ApiToken) -> _Found:
        sha256 = digest(given.token)
        async with self._pool.connection() as connection:
            token = await identities.token(connection, sha256, self._settings.shared_names)
            if token is None:
                raise unauthorized(INVALID)
            stored = await identities.rights_of_token(connection, token.roles, token.tenants, token.owner)
        if token.use_is_old:
            await self._note_use(partial(identities.token_used, sha256=sha256))
        valid_s = math.inf if token.expires_in_s is None else token.expires_in_s
        found = caller("TOKEN", token.name, stored)
        return _Found(replace(found, provider=stored_sessions.TOKEN), valid_s)

    async def _note_use(self, note: Callable[[Connection], Awaitable[None]]) -> None:
        """Record the last use. If that fails, the request continues."""
        try:
            async with self._pool.connection() as connection:
                await note(connection)
        except StorageError as error:
            log.warning("cannot write the last use of a token or session", error=describe(error))

    async def _of_session(self, id: bytes) -> _Found:
        sha256 = session_digest(id)
        async with self._pool.connection() as connection:
            idle_s, shared = self._settings.session_idle_s, self._settings.shared_names
            session = await stored_sessions.read(connection, sha256, idle_s, shared)
            if session is None:
                raise session_ended()
            stored = await identities.rights(connection, [("USER", session.username)], session.claims)
        if session.use_is_old:
            await self._note_use(partial(stored_sessions.seen, sha256=sha256))
        found = caller("USER", session.username, stored, session.name, session.email)
        return _Found(replace(found, by_session=True, provider=session.provider), session.expires_in_s)

    async def _of_jwt(self, given: JsonWebToken) -> _Found:
        if self._jwt is None:
            raise unauthorized(INVALID)
        try:
            verified = await self._jwt.verify(given.token)
        except BadToken as error:
            log.info("a bearer token was rejected", reason=describe(error))
            raise unauthorized(INVALID) from error
        except KeysUnavailable as error:
            detail = "The keys of the identity provider are not available at present; try again later"
            raise Problem(503, "UNAVAILABLE", detail) from error
        async with self._pool.connection() as connection:
            if verified.kind == "USER":
                await self.check_name(connection, verified.id)
            stored = await identities.rights(connection, [(verified.kind, verified.id)], verified.claims)
        valid_s = verified.expires_s + self._settings.oidc_leeway_s - stored.now_s
        found = caller(verified.kind, verified.id, stored, verified.name, verified.email)
        return _Found(replace(found, provider=stored_sessions.OIDC), valid_s)


@contextmanager
def _limited(failures: Buckets, key: object) -> Iterator[None]:
    """Count a failure if the block raises Problem 401. Raises Problem 429 after too many."""
    wait_s = failures.take(key)
    if wait_s:
        raise _too_many(wait_s)
    failed = False
    try:
        yield
    except Problem as problem:
        failed = problem.status == 401
        raise
    finally:
        if not failed:
            failures.give_back(key)


@contextmanager
def _counted(failures: Buckets, key: object) -> Iterator[None]:
    """Count a failure if the block raises Problem 401. After too many, the failing ones get Problem 429."""
    try:
        yield
    except Problem as problem:
        if problem.status == 401 and (wait_s := failures.take(key)):
            raise _too_many(wait_s) from problem
        raise


def _too_many(wait_s: float) -> Problem:
    retry_after = (b"retry-after", b"%d" % math.ceil(wait_s))
    return Problem(429, "Too Many Requests", "Too many wrong credentials were sent; try again later", retry_after)
