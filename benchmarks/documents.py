"""Effects of a large document on others: it is uploaded and downloaded while instances start at an even pace.

`VIVERO_BENCH_DOCUMENT` is its size in MiB (1,024), with the limits raised. The others are those of the benchmark
`loops`. A client of PostgreSQL commits a row every 50 ms: its latency is that of every commit. Phases: nothing else
(`idle`), `upload`, `download`. The log and the tables are compared with the size of the file.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncGenerator, Callable
from typing import Any

import httpx
import psutil
import trio

from benchmarks.http import cpu_s
from benchmarks.loops import (
    IDLE_S,
    LOOP,
    PATIENCE_S,
    WARM_S,
    begin_others,
    latencies,
    measured,
    percentiles,
    watch_memory,
)
from vivero.storage.postgres import driver

MIB = 1024 * 1024
SIZE = int(os.environ.get("VIVERO_BENCH_DOCUMENT", "1024")) * MIB
LIMITS = {
    "VIVERO_DOCUMENTS_MAX_BYTES": str(SIZE),
    "VIVERO_HTTP_MAX_BODY_BYTES": str(SIZE + MIB),
}
BOUNDARY = "of-a-benchmark"
EVERY_S = 0.05
_WAL = "SELECT pg_current_wal_lsn() - '0/0'::pg_lsn, pg_total_relation_size('document_parts')"


def run() -> tuple[dict[str, float], dict[str, str]]:
    """The time of the document and of others' requests and commits meanwhile, memory, log and tables."""
    os.environ |= LIMITS
    return trio.run(measured, LOOP, _measure, {"bytes": f"{SIZE:,}"})


async def _measure(dsn: str, port: int, process: psutil.Process) -> dict[str, float]:
    figures: dict[str, float] = {}
    commits: list[tuple[float, float]] = []
    phases: dict[str, tuple[float, float]] = {}
    memory = [process.memory_info().rss]
    others = await begin_others(port)
    connection = await driver.connect(dsn, name="benchmark")
    async with trio.open_nursery() as nursery, _client(port) as client:
        nursery.start_soon(watch_memory, process, memory)
        nursery.start_soon(_commit, dsn, commits)
        await trio.sleep(WARM_S + IDLE_S)
        phases["idle"] = (time.time() - IDLE_S, time.time())
        idle_memory, before = max(memory), await _sizes(connection)

        async def timed(name: str, call: Callable[[], Any]) -> Any:
            begin, used = time.time(), cpu_s(process)
            result = await call()
            phases[name] = (begin, time.time())
            figures[f"{name}_s"], figures[f"{name}_program_cpu_s"] = time.time() - begin, cpu_s(process) - used
            return result

        id = await timed("upload", lambda: _upload(client))
        after = await _sizes(connection)
        await timed("download", lambda: _download(client, id))
        nursery.cancel_scope.cancel()
    connection.close()
    figures["memory_more_mb"] = (max(memory) - idle_memory) / 1e6
    figures["log_times_size"], figures["tables_times_size"] = (
        (y - x) / SIZE for x, y in zip(before, after, strict=True)
    )
    _add(figures, "", await latencies(others), phases)
    _add(figures, "commit_", commits, phases)
    return figures


def _add(
    figures: dict[str, float], what: str, taken: list[tuple[float, float]], phases: dict[str, tuple[float, float]]
) -> None:
    for name, (first, last) in phases.items():
        figures |= percentiles(f"{what}{name}", sorted(took for due, took in taken if first <= due < last))
        figures[f"{what}{name}_p50_times_idle"] = figures[f"{what}{name}_p50_ms"] / figures[f"{what}idle_p50_ms"]


def _client(port: int) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}/v2", timeout=PATIENCE_S)


async def _upload(client: httpx.AsyncClient) -> str:
    headers = {"content-type": f"multipart/form-data; boundary={BOUNDARY}"}
    answer = await client.post("/documents", content=_form(), headers=headers)
    return str(answer.raise_for_status().json()["documentId"])


async def _form() -> AsyncGenerator[bytes]:
    yield f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="x"\r\n\r\n'.encode()
    block = os.urandom(MIB)
    for number in range(SIZE // MIB):
        yield number.to_bytes(8) + block[8:]
    yield f"\r\n--{BOUNDARY}--\r\n".encode()


async def _download(client: httpx.AsyncClient, id: str) -> None:
    size = 0
    async with client.stream("GET", f"/documents/{id}") as answer:
        async for part in answer.aiter_raw():
            size += len(part)
    if size != SIZE:
        raise RuntimeError(f"the document has {size} bytes after all")


async def _commit(dsn: str, taken: list[tuple[float, float]]) -> None:
    """Commit a row again and again, until cancelled."""
    connection = await driver.connect(dsn, name="benchmark")
    await connection.script("CREATE TABLE benchmark_commits (n int)")
    while True:
        begin, due = time.perf_counter(), time.time()
        await connection.execute("INSERT INTO benchmark_commits VALUES (1)")
        taken.append((due, time.perf_counter() - begin))
        await trio.sleep(EVERY_S)


async def _sizes(connection: driver.Connection) -> tuple[int, int]:
    """The bytes of the write-ahead log so far, and of the table of parts."""
    ((log, table),) = (await connection.execute(_WAL)).rows
    return int(log), int(table)
