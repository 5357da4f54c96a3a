"""The timer task with consumer and appender, on PostgreSQL, under a clock that the tests set."""

import pytest

from tests.engine.whole_engine import HEAD, START_MS, WholeEngine, starts, waits
from vivero.core.records.instances import CancelInstance, ResolveIncident
from vivero.core.records.timers import FireTimer, MoveTimer, TriggerTimer
from vivero.engine.appender.calls import Append
from vivero.engine.timers.settings import TimerSettings
from vivero.storage.cluster import clock
from vivero.storage.work import timers

HOUR = 3_600_000


@pytest.fixture
async def engine(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated)
    async with engine.running():
        yield engine


async def pending(engine):
    return [tuple(row) for row in await engine.rows("SELECT timer_key, due_at_ms FROM timers WHERE state = 'PENDING'")]


async def test_a_timer_fires_when_it_is_due_and_not_before(engine):
    await engine.deploy(waits("PT1H"))
    await engine.create()
    assert [due for _, due in await pending(engine)] == [START_MS + HOUR]
    await engine.set_clock(START_MS + HOUR - 1)
    await engine.create()
    assert len(await pending(engine)) == 2
    assert engine.timers.stats.fired == 0
    await engine.set_clock(START_MS + HOUR)
    await engine.until(lambda: len(engine.ended) == 1)
    assert await engine.rows("SELECT state, to_epoch_ms(triggered_at) - due_at_ms FROM timers ORDER BY timer_key") == [
        ("TRIGGERED", 0),
        ("PENDING", None),
    ]


async def test_a_timer_in_running_time_wakes_the_task_by_itself(engine):
    await engine.deploy(waits("PT0.2S"))
    await clock.reset(engine.connection)
    engine.timers.clock_changed()
    await engine.create()
    await engine.until(lambda: len(engine.ended) == 1)
    late = await engine.value("SELECT to_epoch_ms(triggered_at) - due_at_ms FROM timers")
    assert 0 <= late < 5_000


async def test_overdue_timers_fire_in_due_order_in_bounded_batches(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, TimerSettings(window=50, in_flight=20, batch=10))
    async with engine.running():
        await engine.deploy(waits("=duration(&quot;PT1H&quot;)"))
        for number in range(8):
            await engine.set_clock(START_MS - number * 1000)
            await engine.create(count=25)
        await engine.set_clock(START_MS + 2 * HOUR)
        await engine.until(lambda: len(engine.ended) == 200)
        rows = await engine.rows(
            "SELECT t.due_at_ms FROM event_log l JOIN timers t ON t.root_key = l.root_key"
            " JOIN command_log c USING (position) WHERE c.intent = 'TIMER:TRIGGER' ORDER BY l.position, l.seq"
        )
        due = [row[0] for row in rows]
        assert due == sorted(due)
        assert len(due) == 200
        assert engine.timers.stats.refills >= 4
        appends = await engine.rows(
            "SELECT count(*) FROM command_log WHERE intent = 'TIMER:TRIGGER' GROUP BY append_id"
        )
        assert max(count for (count,) in appends) <= 20


async def test_what_is_scheduled_in_front_of_a_sleeping_task_wakes_it(engine):
    await engine.deploy(waits("PT10H"), waits("PT0S", id="now"))
    await engine.create(count=3)
    await engine.create("now")
    await engine.until(lambda: len(engine.ended) == 1)
    assert engine.timers.stats.refills <= 3


async def test_duplicates_late_ones_and_those_of_another_date_do_nothing(engine):
    await engine.deploy(waits("PT1H"))
    await engine.create(count=2)
    (key, due), (other, _) = await pending(engine)
    await engine.set_clock(due)
    triggers = [TriggerTimer(key, due), TriggerTimer(key, due), TriggerTimer(other, due - 1), TriggerTimer(77, due)]
    for command in triggers:
        assert (await engine.run(command)).rejection is None
    await engine.until(lambda: len(engine.ended) == 2)
    ends = "SELECT count(*) FROM event_log WHERE events::text LIKE '%TimerTriggered%'"
    assert await engine.value(ends) == 2


async def test_a_second_trigger_in_the_batch_that_is_on_its_way_does_nothing(engine):
    await engine.deploy(waits("PT1H"))
    await engine.create()
    ((key, due),) = await pending(engine)
    items = [Append(TriggerTimer(key, due), "<default>")] * 1_500
    await clock.pin(engine.connection, due)
    await engine.appender.append_all(items, deadline_s=10)
    await engine.until(lambda: len(engine.ended) == 1)
    assert await engine.value("SELECT count(*) FROM event_log WHERE events::text LIKE '%TimerTriggered%'") == 1


async def test_a_cancelled_instance_takes_its_timers_with_it(engine):
    await engine.deploy(waits("PT1H"))
    await engine.create()
    ((key, due),) = await pending(engine)
    instance = await engine.value("SELECT process_instance_key FROM timers")
    await engine.run(CancelInstance(instance))
    await engine.set_clock(due + 1)
    assert (await engine.run(TriggerTimer(key, due))).rejection is None
    assert await engine.rows("SELECT state, ended_at IS NULL, triggered_at FROM timers") == [("CANCELED", False, None)]
    assert engine.timers.stats.fired == 0


TWO_BOUNDARIES = (
    f'{HEAD}<process id="p" isExecutable="true"><startEvent id="s"/><serviceTask id="task"><extensionElements>'
    '<zeebe:taskDefinition type="t"/></extensionElements></serviceTask><endEvent id="e"/><endEvent id="reminded"/>'
    '<endEvent id="late"/><boundaryEvent id="remind" attachedToRef="task" cancelActivity="false">'
    "<timerEventDefinition><timeCycle>R/PT1H</timeCycle></timerEventDefinition></boundaryEvent>"
    '<boundaryEvent id="escalate" attachedToRef="task"><timerEventDefinition><timeDuration>PT5H</timeDuration>'
    '</timerEventDefinition></boundaryEvent><sequenceFlow id="a" sourceRef="s" targetRef="task"/>'
    '<sequenceFlow id="b" sourceRef="task" targetRef="e"/>'
    '<sequenceFlow id="c" sourceRef="remind" targetRef="reminded"/>'
    '<sequenceFlow id="d" sourceRef="escalate" targetRef="late"/></process></definitions>'
).encode()


async def test_an_activity_has_several_timers_and_a_cycle_a_row_for_each_occurrence(engine):
    await engine.deploy(TWO_BOUNDARIES)
    await engine.create()
    assert sorted(due for _, due in await pending(engine)) == [START_MS + HOUR, START_MS + 5 * HOUR]
    for hours in (2, 4, 5):
        await engine.set_clock(START_MS + hours * HOUR)
        nearest = START_MS + (hours + 1) * HOUR if hours < 5 else None
        await engine.until_value(nearest, "SELECT min(due_at_ms) FROM timers WHERE state = 'PENDING'")
    states = "SELECT target_element_id, state, count(*) FROM timers GROUP BY 1, 2 ORDER BY 1, 2"
    assert await engine.rows(states) == [
        ("escalate", "TRIGGERED", 1),
        ("remind", "CANCELED", 1),
        ("remind", "TRIGGERED", 4),
    ]


async def test_a_timer_is_fired_by_hand(engine):
    await engine.deploy(waits("PT1H"))
    await engine.create()
    ((key, _),) = await pending(engine)
    assert (await engine.run(FireTimer(key))).rejection is None
    await engine.until(lambda: len(engine.ended) == 1)
    assert (await engine.run(FireTimer(key))).rejection.code == "NOT_FOUND"


async def test_a_moved_timer_fires_at_its_new_date_only(engine):
    await engine.deploy(waits("PT1H"))
    await engine.create(count=2)
    (near, due), (far, _) = await pending(engine)
    await engine.run(MoveTimer(far, due + HOUR))
    await engine.run(MoveTimer(near, START_MS - 5))
    await engine.until(lambda: len(engine.ended) == 1)
    await engine.set_clock(due)
    assert (await engine.run(TriggerTimer(far, due))).rejection is None
    assert await pending(engine) == [(far, due + HOUR)]
    await engine.set_clock(due + HOUR)
    await engine.until(lambda: len(engine.ended) == 2)
    refused = await engine.run(MoveTimer(far, 1))
    assert refused.rejection.code == "NOT_FOUND"


async def test_a_clock_that_goes_back_fires_nothing_twice(engine):
    await engine.deploy(waits("PT1H"))
    await engine.create()
    ((key, due),) = await pending(engine)
    await engine.set_clock(START_MS - 5 * HOUR)
    assert (await engine.run(TriggerTimer(key, due))).rejection is None
    assert await pending(engine) == [(key, due)]
    await engine.set_clock(due)
    await engine.until(lambda: len(engine.ended) == 1)
    await engine.set_clock(START_MS)
    await engine.set_clock(due + 1)
    assert await engine.value("SELECT count(*) FROM event_log WHERE events::text LIKE '%TimerTriggered%'") == 1


async def test_a_cycle_that_is_late_when_the_clock_goes_back_loses_and_doubles_no_occurrence(migrated, connection):
    await clock.pin(connection, START_MS)
    first = WholeEngine(migrated, TimerSettings(window=8, in_flight=1, batch=1))
    async with first.running():
        await first.deploy(starts("R/PT1H"))
        await first.set_clock(START_MS + 48 * HOUR)
        await first.until_value(True, "SELECT count(*) >= 5 FROM timers WHERE state = 'TRIGGERED'")
    second = WholeEngine(migrated)
    async with second.running():
        for hours in (47, 48, 2, 49):
            await second.set_clock(START_MS + hours * HOUR)
        await second.until_value(START_MS + 50 * HOUR, "SELECT due_at_ms FROM timers WHERE state = 'PENDING'")
        fired = "SELECT due_at_ms, to_epoch_ms(triggered_at) FROM timers WHERE state = 'TRIGGERED' ORDER BY timer_key"
        rows = [tuple(row) for row in await second.rows(fired)]
        assert [due for due, _ in rows] == [START_MS + hour * HOUR for hour in range(1, 50)]
        assert all(due <= at for due, at in rows)


async def test_a_new_life_of_the_task_fires_what_the_last_one_left(migrated, connection):
    await clock.pin(connection, START_MS)
    first = WholeEngine(migrated)
    async with first.running():
        await first.deploy(waits("PT1H"))
        await first.create(count=30)
    await clock.pin(connection, START_MS + HOUR)
    second = WholeEngine(migrated)
    async with second.running():
        await second.until(lambda: len(second.ended) == 30)


async def refuse(engine, timer, state):
    """From now on the database does not let this timer be in such a state."""
    await engine.connection.execute(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
        " $$ BEGIN RAISE 'no end for this timer' USING ERRCODE = '22003'; END $$"
    )
    await engine.connection.execute(
        "CREATE TRIGGER refuse BEFORE INSERT OR UPDATE ON timers FOR EACH ROW"
        f" WHEN (NEW.timer_key = {timer} AND NEW.state {state}) EXECUTE FUNCTION refuse()"
    )


async def test_a_timer_whose_end_cannot_be_saved_fails_and_waits_for_a_person(engine):
    await engine.deploy(waits("PT1H"))
    await engine.create(count=20)
    poison, due = (await pending(engine))[7]
    await refuse(engine, poison, "= 'TRIGGERED'")
    await engine.set_clock(due)
    await engine.until(lambda: len(engine.ended) == 19)
    await engine.until_value("FAILED", "SELECT state FROM timers WHERE timer_key = $1", poison)
    await engine.connection.execute("DROP TRIGGER refuse ON timers")
    ((incident, message),) = await engine.rows("SELECT incident_key, message FROM incidents")
    assert "no end for this timer" in message
    assert (await engine.run(ResolveIncident(incident))).rejection is None
    await engine.until(lambda: len(engine.ended) == 20)


async def test_a_timer_that_can_neither_fire_nor_fail_harms_nobody_else(engine):
    """Each refusal ends a term, whose successor's timer task appends another trigger: that must come to an end."""
    await engine.deploy(waits("PT1H"))
    await engine.create(count=20)
    poison, due = (await pending(engine))[7]
    await refuse(engine, poison, "<> 'PENDING'")
    await engine.set_clock(due)
    await engine.until(lambda: len(engine.ended) == 19)
    terms = engine.consumer.stats.terms
    assert terms == 4, "the batch, the command alone, its failure, and then no more"

    def rejected():
        return sum(answer.rejection is not None for answer in engine.answers.values())

    async def another_fires(hours):
        await engine.create()
        await engine.set_clock(due + hours * HOUR)
        await engine.until(lambda: len(engine.ended) == 19 + hours)

    await another_fires(1)
    before = rejected()
    assert 1 <= before <= terms, "each term appended at most one trigger"
    for hours in range(2, 6):
        await another_fires(hours)
    assert (engine.consumer.stats.terms, rejected()) == (terms, before), "this one is left alone"
    assert (poison, due) in await pending(engine)
    rejections = await engine.rows("SELECT rejection->>'reason' FROM event_log WHERE rejection IS NOT NULL")
    assert all("no end for this timer" in reason for (reason,) in rejections)
    await engine.connection.execute("DROP TRIGGER refuse ON timers")
    assert (await engine.run(MoveTimer(poison, due + 1))).rejection is None
    await engine.until(lambda: len(engine.ended) == 25)


async def test_old_timers_are_purged_whatever_their_end(engine, connection):
    await engine.deploy(waits("PT1H"))
    await engine.create(count=3)
    (key, _), _, _ = await pending(engine)
    await engine.run(FireTimer(key))
    await engine.run(CancelInstance(await engine.value("SELECT root_key FROM timers WHERE state = 'PENDING' LIMIT 1")))
    assert await timers.purge(connection, 0, 10) == 0
    assert await timers.purge(connection, -1, 1) == 1
    assert await timers.purge(connection, -1, 10) == 1
    assert len(await pending(engine)) == 1
