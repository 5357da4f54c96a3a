"""What authentication adds to a request: CPU of the application for `GET /v2/authentication/me`, without the server.

Rounds without authentication, with a remembered token and with a remembered password alternate; the figures are the
minimum of all rounds. Beside them, the cost of a password that is not remembered.
"""

from __future__ import annotations

import base64
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import trio

from benchmarks.server import fresh_database
from vivero.api import app
from vivero.api.access.authentication import Authenticator
from vivero.api.access.passwords import hash_password, verify
from vivero.api.access.settings import AuthSettings
from vivero.api.access.tokens import digest, new_token
from vivero.api.services import Services
from vivero.api.settings import ApiSettings
from vivero.storage import identities
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool

REQUESTS, ROUNDS = 2_000, 15
PASSWORD = "a password of usual length"


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Microseconds of CPU for a request, and milliseconds for a password check."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes), _pool(dsn) as pool:
        token, password_hash = new_token(), hash_password(PASSWORD)
        async with pool.connection() as connection:
            await identities.create_token(connection, "worker", digest(token), ["worker"], ["<default>"], None)
            await identities.create_user(connection, "ann", password_hash)
        basic = base64.b64encode(f"ann:{PASSWORD}".encode())
        kinds: dict[str, tuple[app.App, list[tuple[bytes, bytes]]]] = {
            "none": (_app(None), []),
            "token": (_app(pool), [(b"authorization", b"Bearer " + token.encode())]),
            "password": (_app(pool), [(b"authorization", b"Basic " + basic)]),
        }
        rounds = [{name: await _round(*kind) for name, kind in kinds.items()} for _ in range(ROUNDS)]
        figures = {f"{name}_us": min(each[name] for each in rounds) for name in kinds}
        figures |= {f"{name}_added_us": figures[f"{name}_us"] - figures["none_us"] for name in ("token", "password")}
        began = time.process_time()
        verify(password_hash, PASSWORD)
        return figures | {"password_check_ms": (time.process_time() - began) * 1000}, notes


@asynccontextmanager
async def _pool(dsn: str) -> AsyncGenerator[Pool]:
    pool = Pool(lambda deadline: driver.connect(dsn, deadline=deadline), 2)
    yield pool
    pool.close()


def _app(pool: Pool | None) -> app.App:
    """An application of which only authentication is used, with it if there is a pool."""
    access = None if pool is None else Authenticator(AuthSettings(mode="required", cache_s=60.0), pool)
    return app.build(cast(Services, SimpleNamespace(settings=ApiSettings(), access=access, rates=None)))


async def _round(application: app.App, credentials: list[tuple[bytes, bytes]]) -> float:
    """Microseconds of CPU for a request."""
    headers = [(b"host", b"localhost"), (b"accept", b"application/json"), *credentials]
    scope: dict[str, Any] = {"type": "http", "method": "GET", "path": "/v2/authentication/me", "headers": headers}
    scope["query_string"] = b""
    statuses = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await application(scope, receive, send)  # the one that verifies
    began = time.process_time()
    for _ in range(REQUESTS):
        await application(scope, receive, send)
    took = time.process_time() - began
    if set(statuses) != {200}:
        raise RuntimeError(f"the application answered {set(statuses)}")
    return took / REQUESTS * 1e6
