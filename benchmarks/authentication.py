"""The cost of authentication over HTTP: instances from POST to completion, server and client in own processes.

Three servers, each on a database of its own, take turns: without authentication, with an API token, and with the
password of a user, whose creations the audit log records. Each round gives ratios of neighbours in time, so that other
load on the machine hits all alike; the figures are the medians of the rounds.
"""

from __future__ import annotations

import base64
import os
import statistics
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass

import psutil
import trio

from benchmarks.http import client, cpu_s
from benchmarks.model import ONE_TASK
from benchmarks.server import fresh_database, program
from vivero.api.access.passwords import hash_password, verify
from vivero.api.access.tokens import digest, new_token
from vivero.storage.access import identities
from vivero.storage.postgres import driver

ROUND_S, WARM_S = 4.0, 3.0
ROUNDS = int(os.environ.get("ROUNDS", "7"))
PASSWORD = "a password of usual length"
ROLES = ("developer", "worker")
KINDS = ("none", "token", "password")


@dataclass(frozen=True, slots=True)
class _Server:
    port: int
    process: psutil.Process
    authorization: str


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Instances a second, CPU of the server for each, and the ratios to a server without authentication."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with AsyncExitStack() as stack:
        databases = {kind: await stack.enter_async_context(fresh_database()) for kind in KINDS}
        token = new_token()
        password_hash = hash_password(PASSWORD)
        for dsn, _ in databases.values():
            await _add_callers(dsn, token, password_hash)
        dsns = {kind: dsn for kind, (dsn, _) in databases.items()}
        figures = await trio.to_thread.run_sync(_measure, dsns, token)
        began = time.process_time()
        verify(password_hash, PASSWORD)
        figures["password_check_ms"] = (time.process_time() - began) * 1000
        return figures, databases["none"][1]


async def _add_callers(dsn: str, token: str, password_hash: str) -> None:
    connection = await driver.connect(dsn, name="benchmark")
    await identities.create_token(connection, "benchmark", digest(token), ROLES, ["<default>"], None)
    await identities.create_user(connection, "ann", password_hash)
    for role in ROLES:
        await identities.assign(connection, ("ROLE", role), ("USER", "ann"))
    connection.close()


@contextmanager
def _servers(dsns: dict[str, str], token: str) -> Iterator[dict[str, _Server]]:
    basic = base64.b64encode(f"ann:{PASSWORD}".encode()).decode()
    values = {"none": "", "token": f"Bearer {token}", "password": f"Basic {basic}"}
    with ExitStack() as stack:
        found = {}
        for kind, dsn in dsns.items():
            options = ("--auth", "none" if kind == "none" else "required")
            files = {"one.bpmn": ONE_TASK}
            running = program(dsn, files, *options, authorization=values[kind])
            found[kind] = _Server(*stack.enter_context(running), values[kind])
        yield found


def _measure(dsns: dict[str, str], token: str) -> dict[str, float]:
    with _servers(dsns, token) as servers:
        for server in servers.values():
            client(server.port, "service", WARM_S, 0, server.authorization)
        rounds = [{kind: _round(servers[kind]) for kind in _turns(number)} for number in range(ROUNDS)]
    figures = {}
    for place, name in enumerate(("instances_per_s", "server_cpu_us")):
        for kind in KINDS:
            figures[f"{kind}_{name}"] = statistics.median(each[kind][place] for each in rounds)
        for kind in KINDS[1:]:
            ratios = [each[kind][place] / each["none"][place] for each in rounds]
            figures[f"{kind}_{name}_ratio"] = statistics.median(ratios)
    return figures


def _turns(number: int) -> tuple[str, ...]:
    """Each kind is the first in turn."""
    first = number % len(KINDS)
    return KINDS[first:] + KINDS[:first]


def _round(server: _Server) -> tuple[float, float]:
    """Instances a second, and microseconds of the server's CPU for each."""
    before = cpu_s(server.process)
    found = client(server.port, "service", ROUND_S, 0, server.authorization)
    if found["not_completed"]:
        raise RuntimeError(f"{found['not_completed']:.0f} jobs were not completed")
    done = found["instances_per_s"] * ROUND_S
    return found["instances_per_s"], 1e6 * (cpu_s(server.process) - before) / max(done, 1)
