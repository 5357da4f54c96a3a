"""The cost of traces over HTTP: instances from POST to completion, with spans that a collector takes.

Servers take turns, each on a database of its own: without a collector, and with a sample ratio of 1, 10 and 100 %. Each
round gives ratios of neighbours in time, so that other load on the machine hits all alike; the figures are the medians
of the rounds. The collector is a process of its own, and throws away what it gets.
"""

from __future__ import annotations

import json
import os
import statistics
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing import get_context
from multiprocessing.connection import Connection

import httpx
import psutil
import trio

from benchmarks.http import client, cpu_s
from benchmarks.model import ONE_TASK
from benchmarks.server import fresh_database, program

ROUND_S, WARM_S = 4.0, 3.0
ROUNDS = int(os.environ.get("ROUNDS", "9"))
RATIOS = {"off": None, "1_percent": 0.01, "10_percent": 0.1, "100_percent": 1.0}
DROPPED = "vivero_trace_spans_dropped_total"


@dataclass(frozen=True, slots=True)
class _Server:
    port: int
    process: psutil.Process


class _Sink(BaseHTTPRequestHandler):
    """Takes everything."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *arguments: object) -> None:
        """Say nothing."""


def _collect(ready: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Sink)
    ready.send(server.server_port)
    server.serve_forever()


@contextmanager
def _collector() -> Iterator[str]:
    """The URL of a collector in a process of its own."""
    context = get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_collect, args=(theirs,), daemon=True)
    process.start()
    theirs.close()  # so that a collector that cannot start is an error here
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1/traces"
    finally:
        process.kill()
        process.join()


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Instances a second, CPU of the server for each, and the ratios to a server that does not trace."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with AsyncExitStack() as stack:
        databases = {kind: await stack.enter_async_context(fresh_database()) for kind in RATIOS}
        dsns = {kind: dsn for kind, (dsn, _) in databases.items()}
        figures = await trio.to_thread.run_sync(_measure, dsns)
        return figures, databases["off"][1] | {"rounds": str(ROUNDS), "ratios": json.dumps(RATIOS)}


@contextmanager
def _servers(dsns: dict[str, str], collector: str) -> Iterator[dict[str, _Server]]:
    with ExitStack() as stack:
        found = {}
        for kind, dsn in dsns.items():
            ratio = RATIOS[kind]
            environment = {}
            if ratio is not None:
                environment = {
                    "VIVERO_TRACING_OTLP_ENDPOINT": collector,
                    "VIVERO_TRACING_SAMPLE_RATIO": str(ratio),
                }
            running = program(dsn, {"one.bpmn": ONE_TASK}, environment=environment)
            found[kind] = _Server(*stack.enter_context(running))
        yield found


def _measure(dsns: dict[str, str]) -> dict[str, float]:
    with _collector() as collector, _servers(dsns, collector) as servers:
        for server in servers.values():
            client(server.port, "service", WARM_S, 0)
        rounds = [{kind: _round(servers[kind]) for kind in _turns(number)} for number in range(ROUNDS)]
        dropped = {kind: _dropped(server.port) for kind, server in servers.items() if kind != "off"}
    figures = {}
    for place, name in enumerate(("instances_per_s", "server_cpu_us")):
        for kind in RATIOS:
            figures[f"{kind}_{name}"] = statistics.median(each[kind][place] for each in rounds)
            if kind != "off":
                ratios = [each[kind][place] / each["off"][place] for each in rounds]
                figures[f"{kind}_{name}_ratio"] = statistics.median(ratios)
    return figures | {f"{kind}_dropped_spans": number for kind, number in dropped.items()}


def _turns(number: int) -> list[str]:
    """Each kind is the first in turn, and every second round is in the reverse order."""
    kinds = list(RATIOS)
    first = number % len(kinds)
    turns = kinds[first:] + kinds[:first]
    return turns if number % 2 else turns[::-1]


def _round(server: _Server) -> tuple[float, float]:
    """Instances a second, and microseconds of the server's CPU for each."""
    before = cpu_s(server.process)
    found = client(server.port, "service", ROUND_S, 0)
    if found["not_completed"]:
        raise RuntimeError(f"{found['not_completed']:.0f} jobs were not completed")
    done = found["instances_per_s"] * ROUND_S
    return found["instances_per_s"], 1e6 * (cpu_s(server.process) - before) / max(done, 1)


def _dropped(port: int) -> float:
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=10).text
    return next(float(line.split()[-1]) for line in text.splitlines() if line.startswith(DROPPED))
