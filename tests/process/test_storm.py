"""Every fault at random, at two programs independently, for as long as wanted: nothing is lost, nothing happens twice.

VIVERO_STORM_S=600 make test-long ARGS="-s tests/process/test_storm.py"
"""

import signal
from collections import Counter

import psycopg
import pytest
import trio

from tests.process.audit import audit, settled
from tests.process.http_client import Unanswered
from tests.process.load import Load, deploy
from tests.rounds import few_and_many

CHILDREN = ("api", "appender", "consumer", "completions", "timers", "listener", "announcer")
CALMS_DOWN_S = 120.0


class Storm:
    """The faults of a program."""

    def __init__(self, dsn, load, random) -> None:
        self._dsn, self._load, self._random = dsn, load, random
        self.hits = Counter()
        """Fault → how often it came while commands were in flight."""

    async def rage(self, program, until):
        """One fault after the other."""
        faults = {self.kill: 3, self.stop: 1, self.freeze: 2, self.hurt: 8, self.end_sessions: 4, self.hold: 1}
        while trio.current_time() < until:
            await trio.sleep(self._random.uniform(0, 1.5))
            (fault,) = self._random.choices(list(faults), list(faults.values()))
            if not self.hits.total():
                await self._load.busy()
            self.hits[fault.__name__] += self._load.ledger.in_flight > 0
            await fault(program)

    async def kill(self, program):
        await program.kill()
        await program.restart()

    async def stop(self, program):
        program.signal(signal.SIGTERM)
        assert await program.wait() == 0
        await program.restart()

    async def freeze(self, program):
        program.signal(signal.SIGSTOP)
        try:
            await trio.sleep(self._random.choice([0.1, 0.6, 2.0, 7.0]))
        finally:
            program.signal(signal.SIGCONT)

    async def hurt(self, program):
        try:
            await program.hurt(self._random.choice(CHILDREN), self._random.choice(["raise", "cancel", "hang"]))
        except Unanswered:
            return  # its API was just being hurt

    async def end_sessions(self, _program):
        """Any program's, of one kind."""
        kind = self._random.choice(["api", "appender", "completions", "timers", "listener", "announcer", "consumer"])
        query = (
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE application_name LIKE %s AND datname = current_database()"
        )
        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(query, [f"vivero:{kind}%"])

    async def hold(self, _program):
        """The partition's row, for a while; unless somebody else has it, who must not wait for this to give up."""
        with psycopg.connect(self._dsn) as connection:
            if connection.execute("SELECT id FROM partitions FOR UPDATE SKIP LOCKED").fetchall():
                await trio.sleep(self._random.uniform(0, 2))


async def weather(pair, database, random, seconds):
    await deploy(pair[0].port, "fork.bpmn")
    load = Load([program.port for program in pair], process="fork", creators=4, workers=4, pause_s=0.05)
    storm = Storm(database, load, random)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(20)
        async with trio.open_nursery() as raging:
            for program in pair:
                raging.start_soon(storm.rage, program, trio.current_time() + seconds)
        for program in pair:
            await program.ready()
        await load.stop_creating(CALMS_DOWN_S)
        await settled(database, CALMS_DOWN_S)
        nursery.cancel_scope.cancel()
    count = await audit(database, load.ledger, jobs=3)
    print(f"{sum(storm.hits.values())} hits: {dict(storm.hits)}; {count} instances; {load.ledger}")
    assert storm.hits.total() > 0


@pytest.mark.long
@few_and_many(4, 60, "VIVERO_STORM_S")
async def test_a_storm(pair, database, random_faults, count):
    """For `count` seconds."""
    await weather(pair, database, random_faults, count)
