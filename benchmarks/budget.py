"""The cost of an instance in counts that do not depend on the machine, compared with the recorded budget.

The counts are those of a fixed sequence of creations and completions of the measured process, in appends of
`APPEND` commands and batches of `BATCH`: statements, rows, WAL, and executed bytecodes of each package. Requests over
HTTP are counted one after the other, by the package `api` alone, because the rest depends on the clock.

`--functions` prints the functions with the most bytecodes, with those of Trio and other libraries: first of the
sequence, then of the requests, whose appends and batches have one command each.

`python -m benchmarks.budget` fails when a count has grown beyond the record; `--record` writes the record anew, so that
a feature that costs something says so in its commit. Bytecodes differ between versions of Python, and WAL between
those of PostgreSQL, so the record has counts for each version; a version without counts is only shown.
"""

from __future__ import annotations

import json
import math
import platform
import socket
import sys
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import msgspec
import trio

from benchmarks import recorded
from benchmarks.bytecodes import PACKAGES, Bytecodes, LoopCounts
from benchmarks.filled_log import Models, Progress, append, commands
from benchmarks.model import JOB_TYPE, ONE_TASK, VARIABLES
from benchmarks.server import deploy, fresh_database
from vivero import embedded, logs
from vivero.api.http1.listeners import open_listeners
from vivero.api.serving.server import Endpoint
from vivero.config.sections import Config
from vivero.core.state.instance_tree import Job
from vivero.engine.consumer import batch
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.new_job_leases import NewJobLeases, NewJobs, NewLease, Subject
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.node import tree
from vivero.storage.postgres import driver

INSTANCES = 440
APPEND = 22
BATCH = 44
REQUESTED = 40
"""Instances that are created, activated and completed over HTTP."""
TOLERANCE = 1.02
"""Growth that is no news: the counts of two runs differ by less than 0.2 %, those of `api` by less than 1 %."""
RECORD = Path(__file__).parent / "results" / "budget.json"
SERVER = replace(
    embedded.TEST, parameters={**embedded.TEST.parameters, "autovacuum": "off", "synchronous_commit": "on"}
)
"""Without images of whole pages, whose number depends on the moment of a checkpoint."""
COUNTS = """
SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn,
       (SELECT sum(n_tup_ins)::bigint FROM pg_stat_user_tables),
       (SELECT sum(n_tup_upd)::bigint FROM pg_stat_user_tables),
       (SELECT sum(n_tup_del)::bigint FROM pg_stat_user_tables)
"""
WRITERS = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'budget%'"
Figures = Mapping[str, float]


class _Given:
    """The leases of a worker that waits for every job and never leaves."""

    def __init__(self, subject: Subject, jobs: Sequence[Job]) -> None:
        self.subject = subject
        self.leases = [NewLease(job.key, "worker", str(UUID(int=1)), 2_000_000_000_000) for job in jobs]

    def committed(self) -> bool:
        return True

    def lost(self) -> None:
        raise AssertionError("no batch is lost here")


class Worker(Progress):
    """Hears of commits, and has a worker for each new job."""

    def lease_new(self, jobs: NewJobs, now_ms: int) -> Sequence[NewJobLeases]:
        return [_Given(subject, new) for subject, new in jobs.items()]


def run(functions: int = 0) -> tuple[dict[str, float], dict[str, str]]:
    """Counts of an instance. Prints so many functions with the most bytecodes."""
    return trio.run(_run, functions)


async def _run(functions: int) -> tuple[dict[str, float], dict[str, str]]:
    async with fresh_database(settings=SERVER) as (dsn, notes):
        figures = await _consumed(dsn, functions)
    async with fresh_database(settings=SERVER) as (dsn, _):
        figures["api_bytecodes"] = await _requested(dsn, functions)
    return figures, notes


async def _consumed(dsn: str, functions: int) -> dict[str, float]:
    """Counts of the log's appends and of the consumer."""
    observer = await driver.connect(dsn, name="observer")
    before = (await observer.execute(COUNTS)).rows[0]
    appender = await driver.connect(dsn, name="budget")
    log = commands(INSTANCES, BATCH)
    progress = Worker(await append(appender, log, APPEND))
    appender.close()
    consumer = Consumer(
        lambda name: driver.connect(dsn, name=f"budget:{name}"),
        "budget",
        Models(),
        progress,
        ConsumerSettings(batch_commands=BATCH),
    )
    bytecodes = Bytecodes(everywhere=functions > 0)
    with no_clock(), bytecodes.counted():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(consumer.run, Beat(SupervisionSettings()))
            await progress.done.wait()
            nursery.cancel_scope.cancel()
    while (await observer.execute(WRITERS)).rows[0][0]:  # PostgreSQL counts the rows of a session when it ends
        await observer.execute("SELECT pg_sleep(0.01)")
    await observer.execute("SELECT pg_stat_clear_snapshot()")
    after = (await observer.execute(COUNTS)).rows[0]
    ended = (await observer.execute("SELECT count(ended_at) FROM process_instances")).rows[0][0]
    observer.close()
    if ended != INSTANCES or progress.rejected:
        raise RuntimeError(f"{ended} of {INSTANCES} instances ended, {progress.rejected} commands were rejected")
    if functions:
        print(*bytecodes.table(INSTANCES, functions), "", sep="\n")
    wal, inserted, updated, deleted = (float(late - early) for late, early in zip(after, before, strict=True))
    counts = {
        "statements": float(consumer.stats.statements + -(-len(log) // APPEND)),
        "rows_inserted": inserted,
        "rows_updated": updated,
        "rows_deleted": deleted,
        "wal_bytes": wal,
    } | {f"{package}_bytecodes": float(bytecodes.counts[package]) for package in PACKAGES[:3]}
    return {name: count / INSTANCES for name, count in counts.items()}


@contextmanager
def no_clock() -> Generator[None]:
    """A block in which a batch ends by its commands alone, however slow the machine is."""
    before = batch.COMPUTE_S, batch.CHECKPOINT_EVERY_S
    batch.COMPUTE_S = batch.CHECKPOINT_EVERY_S = math.inf
    try:
        yield
    finally:
        batch.COMPUTE_S, batch.CHECKPOINT_EVERY_S = before


async def _requested(dsn: str, functions: int) -> float:
    """The bytecodes of `api` for an instance, three requests."""
    listeners = await open_listeners("127.0.0.1", 0)
    port, stop = listeners[0].socket.getsockname()[1], trio.Event()
    bytecodes, loop = Bytecodes(everywhere=functions > 0), LoopCounts()
    async with trio.open_nursery() as nursery:
        started = trio.Event()
        with bytecodes.counted():
            nursery.start_soon(
                lambda: tree.run(Config(), dsn, "budget", Endpoint(listeners), stop, lambda _tree: started.set())
            )
            await started.wait()
            await trio.to_thread.run_sync(deploy, port, {"one_task.bpmn": ONE_TASK})
            await trio.to_thread.run_sync(_work, port, 3)
            bytecodes.clear()
            trio.lowlevel.add_instrument(loop)
            await trio.to_thread.run_sync(_work, port, REQUESTED)
            trio.lowlevel.remove_instrument(loop)
        counted = bytecodes.counts["api"]
        if functions:
            print(*bytecodes.table(REQUESTED, functions), _of_trio(bytecodes, loop), "", sep="\n")
        stop.set()
    return counted / REQUESTED


def _of_trio(bytecodes: Bytecodes, loop: LoopCounts) -> str:
    """A line about the work of Trio for an instance, with that of tasks that run by the clock."""
    counts = {
        "steps of tasks": loop.steps,
        "turns of the loop": loop.turns,
        "new tasks": loop.tasks,
        "deadlines": bytecodes.calls_of("trio/_core/_run.py Deadlines.add"),
        "registrations in epoll": bytecodes.calls_of("trio/_core/_io_epoll.py EpollIOManager._update_registrations"),
    }
    return "an instance: " + ", ".join(f"{count / REQUESTED:.1f} {name}" for name, count in counts.items())


def _work(port: int, instances: int) -> None:
    """Create, activate and complete so many instances, one after the other, over one connection."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        for _ in range(instances):
            _ask(connection, "process-instances", {"processDefinitionId": "measured", "variables": VARIABLES})
            wanted = {"type": JOB_TYPE, "maxJobsToActivate": 1, "timeout": 60_000, "requestTimeout": 10_000}
            (job,) = json.loads(_ask(connection, "jobs/activation", wanted))["jobs"]
            _ask(connection, f"jobs/{job['jobKey']}/completion", {"variables": {"done": True}})


def _ask(connection: socket.socket, path: str, body: Mapping[str, object]) -> bytes:
    """The body of the answer to a POST.

    The request is one packet. HTTP clients send its head and its body apart, and then the machine decides how often the
    server reads.
    """
    content = msgspec.json.encode(body)
    head = f"POST /v2/{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: "
    connection.sendall(f"{head}{len(content)}\r\n\r\n".encode() + content)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += connection.recv(65536)
    head_answer, _, found = answer.partition(b"\r\n\r\n")
    if not head_answer.startswith(b"HTTP/1.1 20"):
        raise RuntimeError(f"the server answered {answer[:200]!r}")
    names = dict(line.lower().split(b": ", 1) for line in head_answer.split(b"\r\n")[1:])
    length = int(names.get(b"content-length", 0))
    while len(found) < length:
        found += connection.recv(65536)
    return found


def version_of(figure: str, postgres: str) -> str:
    """The version that a count depends on: that of Python for bytecodes, that of PostgreSQL for the rest."""
    if figure.endswith("_bytecodes"):
        return f"Python {'.'.join(platform.python_version_tuple()[:2])}"
    return f"PostgreSQL {postgres.split('.')[0]}"


def grown(figures: Figures, record: Mapping[str, Figures], postgres: str) -> list[str]:
    """A sentence for each count that has grown beyond the record."""
    found = []
    for name, value in figures.items():
        budget = record.get(version_of(name, postgres), {}).get(name)
        if budget is not None and value > budget * TOLERANCE + 0.005:
            ratio = f" ({value / budget:.3f})" if budget else ""
            found.append(f"{name} has grown from {budget:,.2f} to {value:,.2f} an instance{ratio}")
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the counts beside the record. Returns 1 if one has grown beyond it, which `--record` accepts."""
    parser = recorded.parser("benchmarks.budget", __doc__)
    parser.add_argument(
        "--functions", metavar="N", type=int, nargs="?", const=60, default=0, help="print N functions (60)"
    )
    options = parser.parse_args(arguments)
    logs.configure("console", "warning")
    figures, notes = run(options.functions)
    postgres = notes["server_version"]
    record: dict[str, dict[str, float]] = json.loads(RECORD.read_text(encoding="utf-8"))
    print(f"{'an instance':20} {'recorded':>12} {'now':>12} {'ratio':>7}")
    for name, value in figures.items():
        budget = record.get(version_of(name, postgres), {}).get(name)
        before = "-" if budget is None else f"{budget:,.2f}"
        ratio = f"{value / budget:.3f}" if budget else "-"
        print(f"{name:20} {before:>12} {value:12,.2f} {ratio:>7}")
    if options.record:
        for name, value in figures.items():
            record.setdefault(version_of(name, postgres), {})[name] = round(value, 2)
        return recorded.write(RECORD, record)
    return recorded.judge(grown(figures, record, postgres))


if __name__ == "__main__":
    sys.exit(main())
