"""The lag metric tells the truth while the consumer hangs, is frozen, is killed, or has lost its lease.

The truth is asked of PostgreSQL here, before and after each reading of the metric.
"""

import signal
from contextlib import asynccontextmanager

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.process.metrics import metrics

LAG, SECONDS, LED = "vivero_log_lag", "vivero_log_lag_time_seconds", "vivero_partition_led"
LATE_S = 4.0
"""The lag is read each second, and a reading counts as overdue after three."""
GROWS_S = 4.0
WITHIN_S = 90.0
WAITING = """
    SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(at)), 0)::float8 FROM command_log
    WHERE position > (SELECT max(to_pos) FROM batches)"""
STEAL = """
    UPDATE partitions SET epoch = epoch + 1, owner_node = 'thief', lease_until = clock_timestamp() + interval '5 s',
        owner_pid = s.pid, owner_backend_start = s.backend_start
    FROM pg_stat_activity s WHERE s.pid = pg_backend_pid()"""

pytestmark = pytest.mark.long


@pytest.fixture
async def engine_and_other(make_program, database, unsafe):
    """A program that does everything, and one that serves the API and reads figures when the first is away."""
    engine = make_program("--database-url", database, environment=unsafe | {"VIVERO_SUPERVISION_HANG_AFTER_S": "12"})
    other = make_program("--database-url", database, "--roles", "api,jobs", environment=unsafe, name="other")
    for program in (engine, other):
        await program.restart()
    await deploy(engine.port, "one_task.bpmn")
    yield engine, other
    for program in (engine, other):
        program.end()


@asynccontextmanager
async def hanging(engine, _database):
    assert await engine.hurt("consumer", "hang") == 204
    yield


@asynccontextmanager
async def frozen(engine, _database):
    engine.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        engine.signal(signal.SIGCONT)


@asynccontextmanager
async def killed(engine, _database):
    await engine.kill()
    yield
    engine.start()


@asynccontextmanager
async def without_its_lease(_engine, database):
    """Somebody else holds the lease, and processes nothing."""
    with psycopg.connect(database, autocommit=True) as thief:
        scope = trio.CancelScope()

        async def hold():
            with scope:
                while True:
                    thief.execute(STEAL)
                    await trio.sleep(1)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(hold)
            yield
            scope.cancel()


async def create(port):
    """Append a command, whatever becomes of it."""
    async with Caller(port) as caller:
        answer = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "one-task"})
    assert answer.status in (200, 504), answer


async def lag_of(program):
    """Commands and seconds, as the program shows them; None while it shows nothing."""
    shown = await metrics(program)
    if shown is None or LAG not in shown.names:
        return None
    return shown.sum(LAG), shown.sum(SECONDS), shown.sum(LED)


@pytest.mark.parametrize(
    ("fault", "shown_by", "led"),
    [(hanging, 0, None), (frozen, 1, 0), (killed, 1, 0), (without_its_lease, 0, 1)],
    ids=["hangs", "is frozen", "is killed", "has lost its lease"],
)
async def test_the_lag_is_true_while_the_consumer(engine_and_other, database, fault, shown_by, led):
    engine, other = engine_and_other
    witness = engine_and_other[shown_by]
    with psycopg.connect(database, autocommit=True) as connection:

        def truth():
            return connection.execute(WAITING).fetchone()

        async def grown():
            before = truth()
            found = await lag_of(witness)
            if found is None or not before[0]:
                return False
            commands, seconds, is_led = found
            assert seconds <= truth()[1] + 0.5, "no lag is invented"
            if commands != before[0] or seconds < GROWS_S or (led is not None and is_led != led):
                return False
            assert seconds > before[1] - LATE_S, "the lag is no older than a reading may be"
            return True

        async def gone():
            shown = [found for found in [await lag_of(program) for program in engine_and_other] if found is not None]
            return truth()[0] == 0 and shown and all(found[:2] == (0, 0) for found in shown)

        await eventually(gone, "no lag is shown before", within_s=WITHIN_S, every_s=0.1)
        async with trio.open_nursery() as nursery:
            async with fault(engine, database):
                for _ in range(3):
                    nursery.start_soon(create, other.port)
                await eventually(grown, "the lag is shown as it is", within_s=WITHIN_S, every_s=0.1)
            await engine.ready(WITHIN_S)
            await eventually(gone, "the lag is gone", within_s=WITHIN_S, every_s=0.1)
        assert connection.execute("SELECT count(*) FROM process_instances").fetchone() == (3,)
