"""A worker in a process of its own: `python -m benchmarks.worker_client KIND PORT SECONDS` prints its figures as JSON.

`vivero` and `vivero_thread` are `vivero.worker` with its defaults, with an `async` and a plain function. `official` is
the official Python client with its defaults. With `_100` they have 100 jobs at a time. The first job is
the beginning. Each job's variable `sent` is the creator's monotonic clock; jobs without it have no latency.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import sys
from collections.abc import Callable
from time import perf_counter

import anyio

from benchmarks.http_client import quantiles
from benchmarks.model import JOB_TYPE

KINDS = ("vivero", "official", "vivero_thread", "vivero_100", "official_100")
WAITS_S = 60.0
"""The time until the first job."""


class Jobs:
    """The jobs of a run: their number, how late each one was, and the CPU time since the first one."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.first = anyio.Event()
        self.count = 0
        self.late: list[float] = []
        self._cpu_s = 0.0

    def note(self, sent: float) -> None:
        if not self.first.is_set():
            self._cpu_s = cpu_s()
            self.first.set()
        self.count += 1
        if sent:
            self.late.append(perf_counter() - sent)

    async def end(self, stop: Callable[[], None]) -> None:
        """Wait until the run is over, note its figures, and stop the worker."""
        with anyio.move_on_after(WAITS_S):
            await self.first.wait()
        await anyio.sleep(self.seconds)
        self.figures = {"jobs_per_s": self.count / self.seconds, **quantiles("begun", self.late)}
        self.figures["cpu_us_per_job"] = 1e6 * (cpu_s() - self._cpu_s) / max(self.count, 1)
        stop()


def cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def run_vivero(jobs: Jobs, address: str, in_thread: bool, concurrency: int | None) -> None:
    from vivero.worker import Worker
    from vivero.worker.worker import CONCURRENCY

    worker = Worker(address, credentials="", concurrency=concurrency or CONCURRENCY)

    async def work(sent: float = 0.0) -> dict[str, bool]:
        jobs.note(sent)
        return {"done": True}

    def work_in_thread(sent: float = 0.0) -> dict[str, bool]:
        jobs.note(sent)
        return {"done": True}

    worker.job(JOB_TYPE)(work_in_thread if in_thread else work)
    async with anyio.create_task_group() as group:
        group.start_soon(jobs.end, worker.stop)
        await worker.serve()


async def run_official(jobs: Jobs, address: str, concurrency: int | None) -> None:
    os.environ["CAMUNDA_REST_ADDRESS"] = address
    from camunda_orchestration_sdk import CamundaAsyncClient, ConnectedJobContext, WorkerConfig

    async def work(job: ConnectedJobContext) -> dict[str, object]:
        jobs.note(job.variables.to_dict().get("sent", 0.0))
        return {"done": True}

    async with CamundaAsyncClient() as client:
        config = WorkerConfig(job_type=JOB_TYPE, job_timeout_milliseconds=30_000, max_concurrent_jobs=concurrency)
        client.create_job_worker(config=config, callback=work)
        async with anyio.create_task_group() as group:
            group.start_soon(jobs.end, group.cancel_scope.cancel)
            await client.run_workers()  # type: ignore[no-untyped-call]


async def run(kind: str, port: int, seconds: float) -> Jobs:
    jobs, address = Jobs(seconds), f"http://127.0.0.1:{port}"
    concurrency = 100 if kind.endswith("100") else None
    if kind.startswith("vivero"):
        await run_vivero(jobs, address, kind.endswith("thread"), concurrency)
    else:
        await run_official(jobs, address, concurrency)
    return jobs


if __name__ == "__main__":
    print(json.dumps(asyncio.run(run(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))).figures))
