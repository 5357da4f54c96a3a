"""The speed of the whole program over real HTTP: instances from POST to completion, server and client in processes.

`flat`: 32 creators and 4 workers as fast as they can. `paced`: 50 instances a second, the latency of a quiet server.
`await`: a process without tasks, started and awaited on one connection.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import trio

from benchmarks.http_client import AUTHORIZATION, LEASE_MS, URL
from benchmarks.model import EMPTY, ONE_TASK
from benchmarks.server import fresh_database, program

FLAT_S, PACED_S, AWAIT_S, WARM_S = 10.0, 8.0, 3.0, 3.0
PACE = 50.0


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Instances a second and latencies in milliseconds, with the CPU time of both sides and the server's memory."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database() as (dsn, notes):
        return await trio.to_thread.run_sync(_measure, dsn), notes


def _measure(dsn: str) -> dict[str, float]:
    with program(dsn, {"one.bpmn": ONE_TASK, "empty.bpmn": EMPTY}) as (port, process):
        figures = {"ready_s": 0.0}
        client(port, "service", WARM_S, 0)
        before = cpu_s(process)
        flat = client(port, "service", FLAT_S, 0)
        figures = {f"flat_{name}": value for name, value in flat.items()}
        figures["flat_commands_per_s"] = flat["created_per_s"] + flat["instances_per_s"]
        done = flat["instances_per_s"] * FLAT_S
        figures["flat_server_cpu_us_per_instance"] = 1e6 * (cpu_s(process) - before) / max(done, 1)
        paced = client(port, "service", PACED_S, PACE)
        figures |= {
            f"paced_{name}": paced[name] for name in paced if name.startswith(("activated", "completed", "create"))
        }
        awaited = client(port, "await", AWAIT_S, 0)
        figures |= {f"await_{name}": awaited[name] for name in ("instances_per_s", "create_p50_ms", "create_p99_ms")}
        figures["server_memory_mb"] = process.memory_info().rss / 1e6
    return figures


def client(
    port: int, mode: str, seconds: float, rate: float, authorization: str = "", lease_ms: int = 60_000, url: str = ""
) -> dict[str, float]:
    """The figures of `benchmarks.http_client`, which runs in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.http_client", str(port), mode, str(seconds), str(rate)]
    environment = os.environ | {AUTHORIZATION: authorization, LEASE_MS: str(lease_ms), URL: url}
    completed = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], env=environment)
    if completed.returncode:
        raise RuntimeError(f"the client failed: {completed.stderr[-2000:]}")
    figures: dict[str, float] = json.loads(completed.stdout)
    return figures


def cpu_s(process: psutil.Process) -> float:
    """The CPU time that a process has used, in seconds."""
    times = process.cpu_times()
    return float(times.user + times.system)
