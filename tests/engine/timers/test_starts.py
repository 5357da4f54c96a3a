"""Timers that start processes, and timers whose trigger cannot be handled, on PostgreSQL."""

import pytest

from tests.engine.whole_engine import START_MS, WholeEngine, starts, waits
from vivero.core.bpmn.parser import parse
from vivero.core.commands import timer as timer_commands
from vivero.core.events.starts import InvalidStart, metadata_of
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.instances import ResolveIncident
from vivero.core.records.timers import FireTimer, MoveTimer, TriggerTimer
from vivero.engine.timers.settings import TimerSettings
from vivero.storage.cluster import clock

HOUR = 3_600_000


@pytest.fixture
async def engine(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated)
    async with engine.running():
        yield engine


async def due(engine, process_id="p"):
    """(hours from the beginning, version) of the pending start timers."""
    rows = await engine.rows(
        "SELECT t.due_at_ms, d.version FROM timers t JOIN process_definitions d USING (process_definition_key)"
        " WHERE t.state = 'PENDING' AND t.type = 'START_EVENT' AND t.process_id = $1 ORDER BY 1",
        process_id,
    )
    return [((at - START_MS) / HOUR, version) for at, version in rows]


async def test_a_cycle_starts_instances_at_its_start_event(engine):
    await engine.deploy(starts("R3/PT1H"))
    assert await due(engine) == [(1, 1)]
    for hours in (1, 2, 3):
        await engine.set_clock(START_MS + hours * HOUR)
        await engine.until(lambda hours=hours: len(engine.ended) == hours)
    assert await due(engine) == []
    assert await engine.rows("SELECT DISTINCT element_id FROM element_instances ORDER BY 1") == [("byTimer",), ("end",)]
    assert await engine.rows("SELECT state, repetitions FROM timers ORDER BY timer_key") == [
        ("TRIGGERED", 3),
        ("TRIGGERED", 2),
        ("TRIGGERED", 1),
    ]
    await engine.create()
    assert len(engine.ended) == 4


async def test_dates_and_expressions_without_variables_start_too(engine):
    await engine.deploy(
        starts("2027-01-15T09:00:00Z", "timeDate"), starts("=cycle(duration(&quot;PT2H&quot;))", id="q")
    )
    assert await due(engine) == [(1, 1)]
    assert await due(engine, "q") == [(2, 1)]
    await engine.deploy(
        starts("=now() + duration(&quot;PT5H&quot;)", "timeDate", id="r"), starts("0 30 * * * *", id="s")
    )
    assert await due(engine, "r") == [(5, 1)]
    assert await due(engine, "s") == [(0.5, 1)]


@pytest.mark.parametrize(("limit", "fired"), [(1_000, range(1, 11)), (3, (1, 8, 9, 10)), (1, (1, 10)), (0, (1,))])
async def test_after_downtime_missed_occurrences_fire_up_to_the_limit(migrated, connection, limit, fired):
    await clock.pin(connection, START_MS)
    first = WholeEngine(migrated, TimerSettings(missed_limit=limit))
    async with first.running():
        await first.deploy(starts("R/PT1H"))
    await clock.pin(connection, START_MS + 10 * HOUR + 1)
    second = WholeEngine(migrated, TimerSettings(missed_limit=limit))
    async with second.running():
        await second.until(lambda: len(second.ended) == len(fired))
        assert await due(second) == [(11, 1)]
        rows = await second.rows("SELECT due_at_ms FROM timers WHERE state = 'TRIGGERED' ORDER BY timer_key")
        assert [(at - START_MS) // HOUR for (at,) in rows] == list(fired)


async def test_cron_is_read_in_the_zone_of_the_settings(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, TimerSettings(cron_zone="Asia/Kolkata"))
    async with engine.running():
        await engine.deploy(starts("0 0 9 * * *"))
        assert await due(engine) == [(19.5, 1)], "8:00 in UTC is 13:30 there"


async def test_a_new_version_replaces_the_timers_and_the_same_file_leaves_them(engine):
    await engine.deploy(starts("R/PT4H"))
    await engine.set_clock(START_MS + HOUR)
    await engine.deploy(starts("R/PT4H"))
    assert await due(engine) == [(4, 1)]
    await engine.deploy(starts("R/PT5H"))
    assert await due(engine) == [(6, 2)]
    assert await engine.value("SELECT count(*) FROM timers WHERE state = 'CANCELED'") == 1


async def test_deleting_the_latest_version_restores_those_of_the_one_before(engine):
    await engine.deploy(starts("R/PT4H"))
    (second,) = await engine.deploy(starts("R/PT5H"))
    (third,) = await engine.deploy(starts("R/PT6H"))
    await engine.run(DeleteResource(second))
    assert await due(engine) == [(6, 3)]
    await engine.set_clock(START_MS + HOUR)
    await engine.run(DeleteResource(third))
    assert await due(engine) == [(5, 1)]
    await engine.set_clock(START_MS + 5 * HOUR)
    await engine.until(lambda: len(engine.ended) == 1)
    assert await engine.rows("SELECT process_version FROM process_instances") == [(1,)]


async def test_a_date_that_has_passed_does_not_come_back_with_its_version(engine):
    await engine.deploy(starts("2027-01-15T09:00:00Z", "timeDate"))
    (second,) = await engine.deploy(starts("R/PT5H"))
    await engine.set_clock(START_MS + 2 * HOUR)
    await engine.run(DeleteResource(second))
    assert await due(engine) == []


async def test_a_duplicate_trigger_of_a_start_starts_one_instance(migrated, connection):
    """Also when the family is not in memory, and the first trigger is on its way to the database."""
    await clock.pin(connection, START_MS)
    first = WholeEngine(migrated)
    async with first.running():
        await first.deploy(starts("R2/PT1H"))
        ((key, at),) = await first.rows("SELECT timer_key, due_at_ms FROM timers")
    second = WholeEngine(migrated)
    second.timers.changed = second.timers.committed = lambda *_: None
    async with second.running():
        await clock.pin(connection, at)
        from vivero.engine.appender.calls import Append

        triggers = [Append(TriggerTimer(key, at), "<default>")] * 1_200
        await second.appender.append_all(triggers, deadline_s=10)
        await second.until(lambda: len(second.ended) == 1)
        await second.run(FireTimer(1))
        assert await second.value("SELECT count(*) FROM process_instances") == 1
        assert await due(second) == [(2, 1)]


@pytest.mark.parametrize(
    ("expression", "kind", "says"),
    [
        ("=start", "timeDate", "its value is null, which is no date"),
        ("R/PT0.1S", "timeCycle", "shorter than a second"),
        ("R0/PT1H", "timeCycle", "never fires"),
        ("=1", "timeCycle", "its value is 1, which is no cycle"),
        ("0 0 0 30 2 *", "timeCycle", "never happens"),
    ],
)
def test_a_start_that_has_no_date_is_refused_before_it_is_deployed(expression, kind, says):
    parsed = parse(starts(expression, kind), "p.bpmn")
    if parsed.problems:
        assert "byTimer" in str(parsed.problems[0])
        return
    with pytest.raises(InvalidStart, match="byTimer") as caught:
        metadata_of(parsed.processes[0])
    assert says in str(caught.value)


# ---- triggers that cannot be handled


@pytest.fixture
def broken(monkeypatch):
    """Handling a trigger raises until `mend` is called."""

    def raising(*_):
        raise ZeroDivisionError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(timer_commands, "next_due", raising)
        yield patch.undo


async def test_a_trigger_that_raises_fails_its_timer_which_can_be_tried_again(engine, broken):
    await engine.deploy(waits("PT1H"))
    await engine.create(count=2)
    await engine.set_clock(START_MS + HOUR)
    await engine.until_value(2, "SELECT count(*) FROM incidents")
    incidents = await engine.rows("SELECT incident_key, element_id, message FROM incidents ORDER BY 1")
    assert [(element, message.split(": ", 1)[1]) for _, element, message in incidents] == [
        ("wait", "handling the command raised ZeroDivisionError: broken")
    ] * 2
    assert await engine.rows("SELECT DISTINCT state, ended_at FROM timers") == [("FAILED", None)]
    key, at = (await engine.rows("SELECT timer_key, due_at_ms FROM timers ORDER BY 1"))[0]
    assert (await engine.run(TriggerTimer(key, at))).rejection is None
    assert await engine.value("SELECT count(*) FROM incidents") == 2
    await engine.run(ResolveIncident(incidents[0][0]))
    await engine.until_value(3, "SELECT count(*) FROM incidents")
    broken()
    await engine.run(ResolveIncident(await engine.value("SELECT max(incident_key) FROM incidents")))
    await engine.until(lambda: len(engine.ended) == 1)
    await engine.run(FireTimer(await engine.value("SELECT timer_key FROM timers WHERE state = 'FAILED'")))
    await engine.until(lambda: len(engine.ended) == 2)


async def test_a_start_whose_trigger_raises_waits_for_a_person(engine, broken):
    await engine.deploy(starts("R2/PT1H"))
    await engine.set_clock(START_MS + HOUR)
    await engine.until_value("FAILED", "SELECT state FROM timers")
    assert await engine.rows("SELECT state FROM timers") == [("FAILED",)]
    broken()
    await engine.run(MoveTimer(await engine.value("SELECT timer_key FROM timers"), START_MS))
    await engine.until(lambda: len(engine.ended) == 1)
    assert await due(engine) == [(2, 1)]
