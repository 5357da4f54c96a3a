"""Workers in Python: jobs a second and CPU time a job of `vivero.worker` and of the official client, and the time from
POST to function.

Each worker has a process of its own, and finds more jobs than it can do; then 20 instances a second come to an idle
worker. The engine's own activation latency is that of a raw client at the same pace (`benchmarks.http_client`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from time import perf_counter, sleep

import trio

from benchmarks.http import client
from benchmarks.http_client import connected, post
from benchmarks.model import ONE_TASK, VARIABLES
from benchmarks.server import fresh_database, program
from benchmarks.worker_client import KINDS
from vivero.embedded.processes import dying_with_us

FULL_S, PACED_S, WARM_S = 6.0, 6.0, 2.0
PACE = 20.0
BEGIN_S = 4.0
"""The time in which a worker starts before instances come."""
BACKLOG = 30_000


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Jobs a second, the latency to the function in milliseconds, and both in relation to the others."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        return await trio.to_thread.run_sync(_measure, dsn), notes


def _measure(dsn: str) -> dict[str, float]:
    figures: dict[str, float] = {}
    with program(dsn, {"one.bpmn": ONE_TASK}) as (port, _):
        client(port, "service", WARM_S, 0)
        engine = client(port, "service", PACED_S, PACE)
        figures["engine_activated_p50_ms"] = engine["activated_p50_ms"]
        for kind in ("vivero", "vivero_thread"):
            found = _paced(port, kind)
            figures[f"{kind}_begun_p50_ms"] = found["begun_p50_ms"]
            figures[f"{kind}_begun_p99_ms"] = found["begun_p99_ms"]
            figures[f"{kind}_begun_ratio"] = found["begun_p50_ms"] / engine["activated_p50_ms"]
        _fill(port)
        for kind in KINDS:
            found = _figures(_worker(kind, port, FULL_S))
            figures |= {f"{kind}_{name}": found[name] for name in ("jobs_per_s", "cpu_us_per_job")}
        for suffix in ("", "_100"):
            figures[f"cpu_ratio{suffix}"] = (
                figures[f"vivero{suffix}_cpu_us_per_job"] / figures[f"official{suffix}_cpu_us_per_job"]
            )
            figures[f"jobs_per_s_ratio{suffix}"] = (
                figures[f"vivero{suffix}_jobs_per_s"] / figures[f"official{suffix}_jobs_per_s"]
            )
    return figures


def _worker(kind: str, port: int, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.worker_client", kind, str(port), str(seconds)]
    where = Path(__file__).parents[1]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=where,
        preexec_fn=dying_with_us(),
    )


def _figures(worker: subprocess.Popen[str]) -> dict[str, float]:
    """The figures of a worker. Raises RuntimeError with the end of what it said."""
    output, errors = worker.communicate()
    if worker.returncode:
        raise RuntimeError(f"the worker failed: {errors[-2000:]}")
    found: dict[str, float] = json.loads(output.splitlines()[-1])
    return found


def _paced(port: int, kind: str) -> dict[str, float]:
    """The figures of a worker that is idle between the instances."""
    worker = _worker(kind, port, PACED_S - 1)
    sleep(BEGIN_S)
    with connected(port) as connection:
        begin = perf_counter()
        for number in range(int(PACED_S * PACE)):
            sleep(max(begin + number / PACE - perf_counter(), 0))
            variables = VARIABLES | {"sent": perf_counter()}
            body = {"processDefinitionId": "measured", "variables": variables}
            connection.sendall(post("/process-instances", json.dumps(body).encode()))
            if not connection.recv(65_536).startswith(b"HTTP/1.1 200"):
                raise RuntimeError("the server refused an instance")
    return _figures(worker)


def _fill(port: int) -> None:
    """Create more instances than all workers can do."""
    client(port, "create", BACKLOG / 400, 400.0)
