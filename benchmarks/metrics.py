"""The cost of metrics over HTTP: instances from POST to completion, with and without metrics that somebody scrapes.

Two servers take turns, each on a database of its own: `metrics.enabled` false, and true with a scrape of `/metrics`
each second, which is fifteen times as often as usual. Each round gives ratios of neighbours in time, so that other load
on the machine hits both alike; the figures are the medians of the rounds.

The counts themselves are integers that are always kept, also without metrics. Therefore their cost is measured by
itself: all that one instance counts, in the dearest case, with batches of one command.
"""

from __future__ import annotations

import os
import statistics
import threading
import timeit
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager, nullcontext
from time import thread_time

import httpx
import psutil
import trio

from benchmarks.http import client, cpu_s
from benchmarks.model import ONE_TASK
from benchmarks.server import fresh_database, program
from vivero.api.http.metrics import RequestFigures
from vivero.engine.consumer.settings import ConsumerStats
from vivero.engine.counters.buckets import Buckets

ROUND_S, WARM_S, SCRAPE_EVERY_S = 4.0, 3.0, 1.0
ROUNDS = int(os.environ.get("ROUNDS", "15"))
KINDS = {"off": "false", "on": "true"}
COMMANDS = 2
"""Commands for each instance: its creation, and the completion of its job."""
COUNTED = 10_000


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Instances a second, CPU of the server for each command, and their ratios with metrics to those without."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    async with AsyncExitStack() as stack:
        databases = {kind: await stack.enter_async_context(fresh_database()) for kind in KINDS}
        figures = await trio.to_thread.run_sync(_measure, {kind: dsn for kind, (dsn, _) in databases.items()})
        return figures, databases["off"][1] | {"rounds": str(ROUNDS), "scrape_every_s": str(SCRAPE_EVERY_S)}


def _measure(dsns: dict[str, str]) -> dict[str, float]:
    with ExitStack() as stack:
        servers = {}
        for kind, dsn in dsns.items():
            environment = {"VIVERO_METRICS_ENABLED": KINDS[kind]}
            servers[kind] = stack.enter_context(program(dsn, {"one.bpmn": ONE_TASK}, environment=environment))
        for port, _ in servers.values():
            client(port, "service", WARM_S, 0)
        rounds = [
            {kind: _round(*servers[kind], scraped=kind == "on") for kind in (KINDS if number % 2 else reversed(KINDS))}
            for number in range(ROUNDS)
        ]
    figures = {}
    for place, name in enumerate(("instances_per_s", "server_cpu_us_per_command")):
        for kind in KINDS:
            figures[f"{kind}_{name}"] = statistics.median(each[kind][place] for each in rounds)
        ratios = sorted(each["on"][place] / each["off"][place] for each in rounds)
        figures |= {f"{name}_ratio": statistics.median(ratios), f"{name}_ratio_lowest": ratios[0]}
        figures[f"{name}_ratio_highest"] = ratios[-1]
    counting = _counting_us()
    share = counting / figures["on_server_cpu_us_per_command"]
    return figures | {"counting_us_per_command": counting, "counting_share": share}


def _counting_us() -> float:
    """Microseconds of CPU to count one command: half of what an instance with a job counts."""
    requests, stats, buckets = RequestFigures(), ConsumerStats(), [Buckets() for _ in range(2)]

    def count() -> None:
        for route in ("/v2/process-instances", "/v2/jobs/activation", "/v2/jobs/{jobKey}/completion"):
            requests.note("POST", route, 200, 0.004)
        requests.note_activated("work", 1)
        for intent, event in (("PROCESS_INSTANCE_CREATION:CREATE", "created"), ("JOB:COMPLETE", "completed")):
            stats.outcomes.update(Counter({(intent, "accepted"): 1}))
            stats.jobs.note(event, "work", 1)
            stats.found += 1
            stats.batches += 1
            stats.batch_size.note(1)
            for each in (*buckets, stats.compute_s, stats.commit_s):
                each.note(0.002)
        stats.ended.update(["COMPLETED"])

    return 1e6 * min(timeit.repeat(count, timer=thread_time, number=COUNTED, repeat=5)) / COUNTED / COMMANDS


def _round(port: int, process: psutil.Process, scraped: bool) -> tuple[float, float]:
    """Instances a second, and microseconds of the server's CPU for each command."""
    before = cpu_s(process)
    with _scraped(port) if scraped else nullcontext():
        found = client(port, "service", ROUND_S, 0)
    if found["not_completed"]:
        raise RuntimeError(f"{found['not_completed']:.0f} jobs were not completed")
    done = found["instances_per_s"] * ROUND_S
    return found["instances_per_s"], 1e6 * (cpu_s(process) - before) / max(COMMANDS * done, 1)


@contextmanager
def _scraped(port: int) -> Iterator[None]:
    """Read `/metrics` again and again, as Prometheus does."""
    ended = threading.Event()
    problems: list[str] = []

    def scrape() -> None:
        with httpx.Client(timeout=10) as session:
            while not ended.wait(SCRAPE_EVERY_S):
                answer = session.get(f"http://127.0.0.1:{port}/metrics")
                if answer.status_code != 200 or "vivero_commands_total" not in answer.text:
                    problems.append(f"/metrics answered {answer.status_code}")

    thread = threading.Thread(target=scrape)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    if problems:
        raise RuntimeError(problems[0])
