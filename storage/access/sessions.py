"""Sessions of browsers. A session is found by the hash of its id, which only the browser knows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import msgspec

from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.results import QueryResult
from vivero.storage.postgres.sql_files import beside

_sql = beside(__file__)

PASSWORD, OIDC = "PASSWORD", "OIDC"
TOKEN = "TOKEN"
"""The provider of a caller with an API token, which has no session."""
MAX_SESSIONS = 50
"""Sessions of one user. Beyond it, the oldest ends."""

_claims = msgspec.json.Decoder(tuple[tuple[str, str], ...])


class UserSession(NamedTuple):
    """A valid session. `claims` are those of the identity provider. `use_is_old`: its last use is to be written."""

    username: str
    name: str | None
    email: str | None
    provider: str
    claims: Sequence[tuple[str, str]]
    expires_in_s: float
    use_is_old: bool


class SessionUser(NamedTuple):
    """The user of a session, by name and provider."""

    username: str
    provider: str


class NewSession(NamedTuple):
    """The data of a new session. Without claims it began with a password."""

    username: str
    provider: str
    name: str | None = None
    email: str | None = None
    claims: Sequence[tuple[str, str]] = ()


class ListedSession(NamedTuple):
    """A session as `vivero user sessions` and the API show it. `is_this`: it is the one that was asked for."""

    key: int
    username: str
    provider: str
    created_at: datetime
    seen_at: datetime
    expires_at: datetime
    is_this: bool


async def read(
    connection: Connection, sha256: bytes, idle_s: float, shared_names: Sequence[str] = ()
) -> UserSession | None:
    """The session with this hash; None if it does not exist, has ended, or was not used for so many seconds."""
    rows = (await connection.execute(_sql["session"], (sha256, idle_s, list(shared_names)))).rows
    if not rows:
        return None
    username, name, email, provider, claims, expires_in_s, use_is_old = rows[0]
    return UserSession(username, name, email, provider, _claims.decode(claims), expires_in_s, use_is_old)


async def seen(connection: Connection, sha256: bytes) -> None:
    """Write that a session is in use now."""
    await connection.execute(_sql["seen"], (sha256,))


async def create(connection: Connection, sha256: bytes, new: NewSession, max_s: float) -> None:
    """Store the hash of a new session, which lasts for so many seconds at most."""
    claims = msgspec.json.encode(list(new.claims)).decode()
    values = (sha256, new.username, new.provider, new.name, new.email, claims, max_s, MAX_SESSIONS - 1)
    await connection.execute(_sql["create_session"], values)


async def end(connection: Connection, sha256: bytes) -> SessionUser | None:
    """End a session. Returns its user; None if the session is gone."""
    return _first(await connection.execute(_sql["end_session"], (sha256,)))


async def end_all(connection: Connection, sha256: bytes) -> SessionUser | None:
    """End all sessions of the user of this one. Returns the same."""
    return _first(await connection.execute(_sql["end_sessions_of"], (sha256,)))


def _first(found: QueryResult) -> SessionUser | None:
    return SessionUser(*found.rows[0]) if found.rows else None


async def listed(
    connection: Connection, username: str | None, provider: str | None = None, this: bytes | None = None
) -> list[ListedSession]:
    """The sessions of a user, or of all users, that have not expired. `this`: the hash of one, which is marked."""
    rows = (await connection.execute(_sql["sessions"], (username, provider, this))).rows
    return [ListedSession(*row) for row in rows]


async def end_chosen(connection: Connection, key: int, username: str, provider: str | None = None) -> bool:
    """End one session of a user. False if there is none with this key."""
    return bool((await connection.execute(_sql["end_chosen_session"], (key, username, provider))).rows)


async def end_of_user(connection: Connection, username: str) -> int:
    """End the sessions of everybody with this name, here or at an identity provider; returns their number."""
    ((ended,),) = (await connection.execute(_sql["end_sessions_of_user"], (username,))).rows
    return int(ended)
