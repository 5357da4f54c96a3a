"""The speed at which the log takes commands: concurrent callers, each waiting for its own command to be durable."""

from __future__ import annotations

import resource
from time import perf_counter

import trio

from benchmarks.model import CREATE
from benchmarks.server import fresh_database
from vivero.engine.appender.calls import Append
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.appender.task import Appender
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.postgres import driver

CALLERS = (1, 16, 64)
SECONDS = 3.0


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Commands a second and the median and 99th percentile of a caller's wait, by number of callers."""
    return trio.run(_run)


async def _run() -> tuple[dict[str, float], dict[str, str]]:
    figures: dict[str, float] = {}
    async with fresh_database() as (dsn, notes):
        for callers in CALLERS:
            settings = AppenderSettings(backlog=10**9)
            appender = Appender(lambda: driver.connect(dsn, name="appender"), settings)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(appender.run, Beat(SupervisionSettings()))
                figures |= await _measure(appender, callers)
                nursery.cancel_scope.cancel()
    return figures, notes


async def _measure(appender: Appender, callers: int) -> dict[str, float]:
    waits: list[float] = []

    async def call(until: float) -> None:
        while trio.current_time() < until:
            began = perf_counter()
            await appender.append(Append(CREATE, "<default>", flush=True), deadline_s=10)
            waits.append(perf_counter() - began)

    await appender.append(Append(CREATE, "<default>", flush=True), deadline_s=10)
    cpu, began = _cpu_s(), perf_counter()
    async with trio.open_nursery() as nursery:
        for _ in range(callers):
            nursery.start_soon(call, trio.current_time() + SECONDS)
    seconds, cpu = perf_counter() - began, _cpu_s() - cpu
    waits.sort()
    return {
        f"commands_per_s_{callers}": len(waits) / seconds,
        f"p50_ms_{callers}": 1000 * waits[len(waits) // 2],
        f"p99_ms_{callers}": 1000 * waits[len(waits) * 99 // 100],
        f"cpu_us_per_command_{callers}": 1e6 * cpu / len(waits),
    }


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime
