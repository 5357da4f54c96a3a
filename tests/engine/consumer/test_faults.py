"""Commits that fail and backends that are killed while the next batch is being computed: every command exactly once."""

import os
from random import Random

import pytest
import trio

from tests.engine.consumer.serial_runs import (
    append,
    dump,
    event_log,
    expected_event_log,
    flaky,
    keep_leading,
    make_consumer,
    mixed_runs,
    pin_clock,
    save_serially,
)
from vivero.storage.postgres.errors import Conflict, ConnectionLost

FEW_RUNS = 6
RUNS = 14
MANY_RUNS = 60

KILL = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = $1
"""


class Killer:
    """Ends a backend of the consumer whenever some more batches have been committed."""

    def __init__(self, connection, observer, random) -> None:
        self.connection, self.observer, self.random = connection, observer, random
        self.killed = 0

    async def run(self):
        while True:
            further = self.random.randint(5, 30) if self.killed > 1 else 5  # two in any case, however short the log
            heard = self.observer.watermark + further
            await self.observer.until(lambda heard=heard: self.observer.watermark >= heard, within_s=1_000)
            name = self.random.choice(["vivero:consumer-writer", "vivero:consumer-reader"])
            self.killed += (await self.connection.execute(KILL, (name,))).rows[0][0]


async def survive(dsn, connection, second, connect, runs, seed, *, cache_bytes):
    random = Random(seed)
    serial = mixed_runs(range(seed, seed + runs), random)
    await pin_clock(connection)
    await connection.script(flaky("INSERT ON batches"))
    last = await append(connection, serial.commands)
    consumer, observer = make_consumer(dsn, serial.resources, batch_commands=7, cache_bytes=cache_bytes)
    killer = Killer(await connect(), observer, random)
    errors = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_leading, consumer, errors)
        nursery.start_soon(killer.run)
        await reached_whatever_is_told(connection, observer, last)
        nursery.cancel_scope.cancel()
    conflicts = sum(isinstance(error, Conflict) for error in errors)
    lost = sum(isinstance(error, ConnectionLost) for error in errors)
    print(
        f"{last} commands, {len(observer.terms)} terms, {conflicts} failed commits, {killer.killed} killed, {lost} lost"
    )
    assert conflicts > runs // 4
    assert killer.killed >= min(2, runs // 5)
    assert observer.terms == sorted(set(observer.terms))
    assert len(observer.received) == len(set(observer.received)), "no command is answered twice"
    assert await event_log(connection) == expected_event_log(serial)
    await save_serially(second, serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})


async def reached_whatever_is_told(connection, observer, last):
    """The batch whose answer is lost is told by nobody: then the table says that it was the last."""
    while observer.watermark < last:
        with trio.move_on_after(0.5):
            await observer.reached(last)
        (position,) = (await connection.execute("SELECT max(to_pos) FROM batches")).rows[0]
        if position == last:
            return


@pytest.mark.parametrize(
    ("runs", "cache_bytes"),
    [
        pytest.param(FEW_RUNS, 0, id="few"),
        pytest.param(RUNS, 0, marks=pytest.mark.long),
        pytest.param(RUNS, 48_000_000, marks=pytest.mark.long),
    ],
)
async def test_failing_commits_and_killed_backends_lose_and_double_nothing(
    migrated, connection, second, connect, runs, cache_bytes, seed
):
    await survive(migrated, connection, second, connect, runs, seed, cache_bytes=cache_bytes)


@pytest.mark.long
async def test_failing_commits_and_killed_backends_for_long(migrated, connection, second, connect, seed):
    runs = int(os.environ.get("VIVERO_FAULTS_RUNS") or MANY_RUNS)
    with trio.fail_after(600):
        await survive(migrated, connection, second, connect, runs, seed, cache_bytes=0)
