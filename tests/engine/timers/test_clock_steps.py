"""PostgreSQL's clock is set back, or on, while the engine runs: what is set afterwards goes by the new time.

The shim is the shift of the engine's clock, changed behind its back: everything that asks for the time sees a step, and
nobody is told of a new revision. `tests/process/test_clock_of_postgres.py` does it to a whole program with libfaketime.
"""

import pytest
import trio

from tests.engine.whole_engine import WholeEngine, starts, waits
from vivero.core.records.instances import CreateInstance
from vivero.core.records.jobs import FailJob
from vivero.engine.appender.calls import Append
from vivero.engine.consumer.engine_time import EngineTime
from vivero.storage.cluster import clock, leadership
from vivero.storage.log.log_batches import LogPage
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest

HOUR = 3_600_000
JOB = (
    waits("PT1H")
    .replace(b"intermediateCatchEvent", b"serviceTask")
    .replace(
        b"<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>",
        b'<extensionElements><zeebe:taskDefinition type="work"/></extensionElements>',
    )
)


async def step(connection, by_ms):
    """As if somebody had set the clock of PostgreSQL."""
    await connection.execute("UPDATE clock SET shift = shift + make_interval(secs => $1 / 1000.0)", (by_ms,))


async def now_ms(connection):
    return (await connection.execute("SELECT to_epoch_ms(clock_now())")).rows[0][0]


@pytest.fixture
async def engine(migrated, connection):
    await clock.reset(connection)
    engine = WholeEngine(migrated)
    async with engine.running():
        yield engine


@pytest.mark.parametrize("by_ms", [-2 * HOUR, -30 * 24 * HOUR, -60_000, 2 * HOUR])
async def test_what_is_set_after_a_step_goes_by_the_new_time(engine, by_ms):
    """A timer, and the backoff of a job."""
    await engine.deploy(waits("PT1H"), JOB.replace(b'id="p"', b'id="q"'))
    await engine.create()
    await engine.create("q")
    await step(engine.connection, by_ms)
    before = await now_ms(engine.connection)
    await engine.create()
    ((job, token),) = [
        (lease.job_key, lease.token)
        for lease in (
            await activation.activate(engine.connection, ActivationRequest("work", "<default>", 1, 1000, "w"))
        ).leases
    ]
    await engine.run(FailJob(job, 1, HOUR, lease=token))
    after = await now_ms(engine.connection)
    dues = [due for (due,) in await engine.rows("SELECT due_at_ms FROM timers ORDER BY timer_key")]
    assert before + HOUR <= dues[-1] <= after + HOUR
    available = await engine.value("SELECT to_epoch_ms(available_at) FROM jobs")
    assert before + HOUR <= available <= after + HOUR


@pytest.mark.long
async def test_nothing_fires_twice_or_never_around_steps(engine):
    """Timers of a few tenths of a second, and a cycle that starts a process.

    The clock goes back and on by as much, and by hours, again and again.
    """
    await engine.deploy(waits("PT0.3S"), starts("R3/PT0.2S", id="cycle"))
    for number in range(12):
        await engine.create(count=10)
        await step(engine.connection, [-150, 150, -HOUR, HOUR, -20, -1, 40][number % 7])
        engine.timers.clock_changed()
        await trio.testing.wait_all_tasks_blocked(0.02)
    await step(engine.connection, 2_000)  # over hours a cycle misses more occurrences than fire afterwards
    await engine.until(lambda: len(engine.ended) == 123)
    triggered = "SELECT count(*) FROM event_log WHERE events::text LIKE '%TimerTriggered%'"
    assert await engine.value(triggered) == 123
    assert await engine.rows("SELECT DISTINCT state FROM timers") == [("TRIGGERED",)]
    assert await engine.value("SELECT count(*) FROM timers WHERE to_epoch_ms(triggered_at) < due_at_ms") == 0


async def test_a_trigger_that_a_step_back_has_overtaken_comes_again(engine, monkeypatch):
    """The task saw the timer due; the batch finds that it is not, by some milliseconds. It does not take a minute."""
    append_all, stepped = engine.appender.append_all, []

    async def set_back(items, *, deadline_s):
        if not stepped:
            stepped.append(await step(engine.connection, -400))
        return await append_all(items, deadline_s=deadline_s)

    await engine.deploy(waits("PT0.2S"))
    monkeypatch.setattr(engine.appender, "append_all", set_back)
    await engine.appender.append(Append(CreateInstance("p"), "<default>"), deadline_s=10)
    await engine.until(lambda: engine.ended)
    assert engine.timers.stats.again >= 1
    assert await engine.value("SELECT count(*) FROM timers WHERE to_epoch_ms(triggered_at) < due_at_ms") == 0


def batch(now, asked_at, revision=0):
    return LogPage([], now, revision, 0, asked_at)


def test_the_moment_goes_back_only_with_the_clock():
    """A time that was read earlier and arrives later neither takes the clock back nor holds off a step."""
    moment = EngineTime()
    moment.note(batch(10_000, 1.0), 1.1)
    moment.note(batch(9_950, 0.9), 1.2)
    assert moment.ms == 10_000
    moment.note(batch(9_990, 1.1), 1.2)
    assert moment.ms == 10_000, "it may have been read just before"
    moment.note(batch(9_000, 1.2), 1.3)
    assert moment.ms == 9_000
    moment.note(batch(10_500, 1.15), 1.4)
    assert moment.ms == 9_000, "asked for before the step"
    moment.note(batch(5_000, 1.5, revision=1), 9.9)
    assert moment.ms == 5_000
    moment.note(batch(8_000, 1.6, revision=0), 9.9)
    assert moment.ms == 5_000


async def test_a_lease_of_the_time_before_a_step_back_keeps_nobody_off(migrated, connection, connect):
    """A leader that is frozen when the clock is set back two hours leads five seconds more, not two hours."""
    writer = await connect()
    await leadership.claim(writer, 1, "a")
    await connection.execute("UPDATE partitions SET lease_until = lease_until + interval '2 h'")
    assert (await leadership.claim(connection, 1, "b")).epoch == 2
    writer.close()
