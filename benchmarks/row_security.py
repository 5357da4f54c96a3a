"""The cost of tenants for a read: whole requests to the application, without the server.

Rounds alternate between an application without tenants (`off`), one whose statements have the condition on the tenant
(`conditions`), and one with row-level security, too (`on`). The figures are the minimum of all rounds. All rows
are of the caller's tenant.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import trio

from benchmarks.server import fresh_database
from vivero.api import app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS
from vivero.api.http.metrics import RequestFigures
from vivero.api.services import AccessServices, ReadServices, Services
from vivero.api.settings import ApiSettings
from vivero.storage.access import row_security
from vivero.storage.postgres import driver
from vivero.storage.postgres.plans import BY_INDEX
from vivero.storage.postgres.pool import Pool

ROUNDS, ROUND_S = 15, 0.12
KEY = 500_000
"""An instance of the tenant `a`."""


def _searching(resource: str, filter: Mapping[str, Any], **more: Any) -> tuple[str, str, bytes]:
    return "POST", f"/v2/{resource}/search", json.dumps({"filter": filter, "page": {"limit": 50}} | more).encode()


REQUESTS: Mapping[str, tuple[str, str, bytes]] = {
    "get": ("GET", f"/v2/process-instances/{KEY}", b""),
    "get_variable": ("GET", f"/v2/variables/{KEY + 2}", b""),
    "statistics": ("GET", f"/v2/process-instances/{KEY}/statistics/element-instances", b""),
    "by_process": _searching("process-instances", {"processDefinitionId": "process-2"}),
    "latest": _searching("process-instances", {"state": "ACTIVE"}, sort=[{"field": "startDate", "order": "DESC"}]),
    "elements": _searching("element-instances", {"processInstanceKey": str(KEY)}),
    "assignee": _searching("user-tasks", {"assignee": f"user{KEY}", "state": "CREATED"}),
    "variable": _searching("process-instances", {"variables": [{"name": "orderId", "value": f'"id-{KEY}"'}]}),
    "json_like": _searching("variables", {"processInstanceKey": str(KEY), "value": {"$like": '*"total"*'}}),
    "like_prefix": _searching("process-instances", {"processDefinitionId": {"$like": "process-2"}}),
    "like_business": _searching("process-instances", {"businessId": {"$like": "order-5000*"}}),
    "like_inside": _searching("process-instances", {"businessId": {"$like": "*-50000"}}),
    "tags": _searching("process-instances", {"tags": ["tag10"]}),
    "candidate": _searching("user-tasks", {"candidateGroup": "group10", "state": "CREATED"}),
}


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Milliseconds of a request."""
    return trio.run(_run)


class _OfTenant:
    """Access that takes everybody for a caller with the tenant `a`."""

    async def authenticate(self, headers: object, address: str) -> Caller:
        return Caller("USER", "ann", ALL_RIGHTS, tenants=frozenset({"a"}))


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        connection = await driver.connect(dsn, name="benchmark", call_timeout_s=120.0)
        await connection.script(Path(__file__).with_suffix(".sql").read_text(encoding="utf-8"))
        await row_security.make_reader(connection)
        await row_security.prepare(connection, row_security.reader_of(dsn))
        connection.close()
        async with _pool(dsn) as pool, _pool(row_security.reader_of(dsn)) as readers:
            kinds = {"off": _app(pool, None), "conditions": _app(pool, pool), "on": _app(pool, readers)}
            figures: dict[str, float] = {}
            for name, request in REQUESTS.items():
                figures |= {f"{name}_{kind}": value for kind, value in (await _measure(kinds, request)).items()}
            return figures, notes


@asynccontextmanager
async def _pool(dsn: str) -> AsyncGenerator[Pool]:
    pool = Pool(lambda deadline: driver.connect(dsn, settings=BY_INDEX, deadline=deadline), 1)
    yield pool
    pool.close()


def _app(pool: Pool, readers: Pool | None) -> app.App:
    """An application that only reads, with tenants if there are connections for their reads."""
    services = SimpleNamespace(
        settings=ApiSettings(),
        reads=ReadServices(pool, readers),
        access=AccessServices(_OfTenant(), multi_tenancy=readers is not None),
        observing=SimpleNamespace(tracer=None, requests=RequestFigures()),
    )
    return app.build(cast(Services, services))


async def _measure(kinds: Mapping[str, app.App], request: tuple[str, str, bytes]) -> dict[str, float]:
    """Milliseconds of a request by kind, and what is added in percent."""
    rounds = [{kind: await _round(each, request) for kind, each in kinds.items()} for _ in range(ROUNDS)]
    found = {f"{kind}_ms": min(each[kind] for each in rounds) for kind in kinds}
    added = {kind: (found[f"{kind}_ms"] / found["off_ms"] - 1) * 100 for kind in kinds if kind != "off"}
    return found | {f"{kind}_added_percent": value for kind, value in added.items()}


async def _round(application: app.App, request: tuple[str, str, bytes]) -> float:
    """Milliseconds of a request, the mean of as many as fit in a round."""
    method, path, body = request
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope: dict[str, Any] = {"type": "http", "method": method, "path": path, "headers": headers, "query_string": b""}
    statuses = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    await application(scope, receive, send)
    began, count = time.perf_counter(), 0
    while time.perf_counter() < began + ROUND_S:
        await application(scope, receive, send)
        count += 1
    took = time.perf_counter() - began
    if set(statuses) != {200}:
        raise RuntimeError(f"{path}: the application answered {set(statuses)}")
    return took / count * 1000
