"""The cost to PostgreSQL of the statements that an instance takes, by statement, at any load of the machine.

The statements of a fixed sequence of creations and completions are recorded once, with their parameters. They run again
on fresh copies of the database, each by itself, and the processor time is that of the server's process (Linux). WAL and
size repeat within 0.3 %. Processor time, the least of `ROUNDS` copies, is up to 15 % more while other programs use the
processor's caches: compare only columns of one table.

    python -m benchmarks.replay [VARIANT.sql …]

replays them on variants of the schema as well, in turns, so that a change of indexes, columns or statements has a price
before it is built. A variant is a file of statements that run first. Lines `-- replace: OLD => NEW` change the recorded
statements, and `-- server: NAME=VALUE` settings of their sessions.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import trio
from rich.console import Console
from rich.table import Table

from benchmarks.budget import SERVER, Worker, no_clock
from benchmarks.filled_log import Models, append, commands
from benchmarks.server import fresh_database
from vivero import logs
from vivero.engine.consumer.leadership import Consumer
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.postgres import driver, plans
from vivero.storage.postgres.conninfo import parse, without_passwords
from vivero.storage.postgres.driver import Call, Connection
from vivero.storage.postgres.queries import label
from vivero.storage.postgres.sql_files import Statement

INSTANCES = 1_100
APPEND = 22
BATCH = 44
WARM = 6
"""Batches that are not counted: PostgreSQL plans a statement anew for its first calls."""
ROUNDS = 7
LEASED = "UPDATE partitions SET epoch = $1, lease_until = clock_timestamp() + interval '1 hour' WHERE id = 1"
SIZE = """
SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname = 'public'
"""
_REPLACE = re.compile(r"^-- replace: (.+?) => (.*)$", re.MULTILINE)
_SERVER = re.compile(r"^-- server: (\w+)=(.*)$", re.MULTILINE)


class Variant(NamedTuple):
    """A change of the schema, of the statements and of the sessions' settings."""

    name: str
    sql: str = ""
    replaced: Sequence[tuple[str, str]] = ()
    settings: Sequence[tuple[str, str]] = ()


class Replayed(NamedTuple):
    """The cost of an instance: processor time in µs by statement, bytes of WAL, and bytes of tables and indexes."""

    statements: Mapping[str, float]
    wal: float
    size: float

    @property
    def sum_us(self) -> float:
        return sum(self.statements.values())


@dataclass
class _Recorded:
    """The transactions of a run in their order: appends and batches, and the fence's epoch."""

    appends: list[Call] = field(default_factory=list)
    batches: list[Sequence[Call]] = field(default_factory=list)


def variant_of(path: Path) -> Variant:
    """The variant that a file describes. Raises OSError."""
    text = path.read_text(encoding="utf-8")
    return Variant(path.stem, text, _REPLACE.findall(text), _SERVER.findall(text))


def run() -> tuple[dict[str, float], dict[str, str]]:
    """Processor time of PostgreSQL for an instance by statement, WAL and size."""
    (found,), notes = trio.run(_run, [Variant("as it is")])
    figures = {"postgresql_us": found.sum_us, "wal_bytes": found.wal, "size_bytes": found.size}
    return figures | {f"{name}_us": us for name, us in found.statements.items()}, notes


async def _run(variants: Sequence[Variant]) -> tuple[list[Replayed], dict[str, str]]:
    async with fresh_database(settings=SERVER) as (dsn, notes):
        observer = await driver.connect(_in(dsn, "template1"), name="observer")
        async with _copy(observer, dsn) as copied:
            recorded = await _record(copied)
        found: list[list[Replayed]] = [[] for _ in variants]
        for _ in range(ROUNDS):
            for variant, rounds in zip(variants, found, strict=True):
                async with _copy(observer, dsn) as copied:
                    rounds.append(await _replay(copied, recorded, variant))
        observer.close()
    return [least(rounds) for rounds in found], notes


def least(rounds: Sequence[Replayed]) -> Replayed:
    """The least of each statement: other programs only add to it, by what they leave of the processor's caches."""
    names = dict.fromkeys(name for each in rounds for name in each.statements)
    statements = {name: min(each.statements.get(name, 0.0) for each in rounds) for name in names}
    return Replayed(statements, min(each.wal for each in rounds), min(each.size for each in rounds))


def _in(dsn: str, database: str) -> str:
    """The DSN of another database of the server. The last word of a connection string counts."""
    return f"{without_passwords(dsn)} dbname={database}"


@asynccontextmanager
async def _copy(observer: Connection, dsn: str) -> AsyncGenerator[str]:
    """The DSN of a copy of the migrated database for a block."""
    await observer.execute(f"CREATE DATABASE replayed TEMPLATE {parse(dsn)['dbname']}")
    try:
        yield _in(dsn, "replayed")
    finally:
        await observer.execute("DROP DATABASE replayed WITH (FORCE)")


async def _record(dsn: str) -> _Recorded:
    """Run the sequence once, and keep its statements."""
    recorded = _Recorded()
    appender = await driver.connect(dsn, name="replay")
    log = commands(INSTANCES, BATCH)
    executed = appender.execute

    def execute(query: Statement | str, params: Sequence[object] = (), **options: object) -> Awaitable[object]:
        recorded.appends.append((query, params))
        return executed(query, params, **options)  # type: ignore[arg-type]

    appender.execute = execute  # type: ignore[method-assign, assignment]
    progress = Worker(await append(appender, log, APPEND))
    appender.close()

    async def connect(name: str) -> Connection:
        connection = await driver.connect(dsn, name=f"replay:{name}")
        started = connection.start_pipeline

        def start_pipeline(calls: Sequence[Call]) -> None:
            recorded.batches.append([*calls])
            started(calls)

        connection.start_pipeline = start_pipeline  # type: ignore[method-assign]
        return connection

    consumer = Consumer(connect, "replay", Models(), progress, ConsumerSettings(batch_commands=BATCH))
    with no_clock():
        async with trio.open_nursery() as nursery:
            nursery.start_soon(consumer.run, Beat(SupervisionSettings()))
            await progress.done.wait()
            nursery.cancel_scope.cancel()
    return recorded


class _Meter:
    """The processor time of a server's process, and of what by which statement."""

    def __init__(self, connection: Connection) -> None:
        self._path = Path(f"/proc/{connection.backend_pid}/schedstat")
        self.counting = False
        self.spent: defaultdict[str, float] = defaultdict(float)

    async def count(self, name: str, call: Callable[[], Awaitable[object]]) -> None:
        before = self._ns()
        await call()
        if self.counting:
            self.spent[name] += (self._ns() - before) / 1000

    def _ns(self) -> int:
        return int(self._path.read_text(encoding="ascii").split()[0])


async def _replay(dsn: str, recorded: _Recorded, variant: Variant) -> Replayed:
    """Run the recorded statements, each by itself, in the transactions that they had."""
    connection = await driver.connect(dsn, name="replay")
    await connection.execute(*plans.by_index())
    for name, value in variant.settings:
        await connection.execute("SELECT set_config($1, $2, false)", (name, value))
    if variant.sql:
        await connection.script(variant.sql)
    meter, changed = _Meter(connection), Changed(variant)
    for index, call in enumerate(recorded.appends):
        meter.counting = index > WARM
        await _execute(connection, meter, changed.call(call))
    (_, (_, epoch, *_)) = recorded.batches[0][0]
    await connection.execute(LEASED, (epoch,))
    before = 0
    for index, calls in enumerate(recorded.batches):
        meter.counting = index >= WARM
        if index == WARM:
            before = await _wal(connection)
        await meter.count("BEGIN", lambda: connection.execute("BEGIN"))
        for call in calls:
            await _execute(connection, meter, changed.call(call))
        await meter.count("COMMIT", lambda: connection.execute("COMMIT"))
    counted = 1 - WARM / len(recorded.batches)
    wal, size = await _wal(connection) - before, (await connection.execute(SIZE)).rows[0][0]
    connection.close()
    statements = {name: us / counted / INSTANCES for name, us in meter.spent.items()}
    return Replayed(statements, wal / counted / INSTANCES, size / INSTANCES)


async def _execute(connection: Connection, meter: _Meter, call: Call) -> None:
    query, params = call
    await meter.count(label(query).rpartition(".")[2], lambda: connection.execute(query, params))


async def _wal(connection: Connection) -> int:
    found: int = (await connection.execute("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")).rows[0][0]
    return found


class Changed:
    """The statements with the replacements of a variant."""

    def __init__(self, variant: Variant) -> None:
        self._replaced = variant.replaced
        self._statements: dict[Statement, Statement] = {}

    def call(self, call: Call) -> Call:
        query, params = call
        if not self._replaced or isinstance(query, str):
            return call
        if query not in self._statements:
            text = query.text
            for old, new in self._replaced:
                text = text.replace(old, new)
            self._statements[query] = Statement(query.name, text, query.why)
        return self._statements[query], params


def main(arguments: Sequence[str] | None = None) -> int:
    """Print what each statement costs, and with variants what it costs there."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.replay", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("variants", nargs="*", type=Path, metavar="VARIANT.sql", help="a variant of the schema")
    options = parser.parse_args(arguments)
    try:
        variants = [Variant("as it is"), *map(variant_of, options.variants)]
    except OSError as error:
        parser.error(str(error))
    logs.configure("console", "warning")
    found, _ = trio.run(_run, variants)
    table = Table("an instance", *(variant.name for variant in variants))
    for name in dict.fromkeys(name for each in found for name in each.statements):
        table.add_row(name, *(f"{each.statements.get(name, 0.0):.1f}" for each in found))
    table.add_row("all, µs", *(f"{each.sum_us:.1f} ({each.sum_us / found[0].sum_us:.3f})" for each in found))
    table.add_row("WAL, bytes", *(f"{each.wal:,.0f} ({each.wal / found[0].wal:.3f})" for each in found))
    table.add_row("size, bytes", *(f"{each.size:,.0f} ({each.size / found[0].size:.3f})" for each in found))
    Console().print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
