"""A timer that can neither fire nor be marked as failed: it is recorded, and later programs leave it alone."""

from tests.core.event_models import boundary, model
from tests.core.models import end, start, task
from tests.engine.consumer.serial_runs import Serial, append, make_consumer, pin_clock
from tests.engine.consumer.test_poison import lead_until
from vivero.core.records.timers import TriggerTimer
from vivero.storage.work import timers

TENANT = "<default>"
AFTER = "<timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition>"
REFUSES = """
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'this row is damaged' USING ERRCODE = '22000'; END $$;
"""
ON_UPDATES = "CREATE TRIGGER refuse BEFORE UPDATE ON timers FOR EACH ROW EXECUTE FUNCTION refuse()"


async def test_a_timer_that_can_neither_fire_nor_fail_is_left_alone_by_later_programs(migrated, connection):
    serial = Serial()
    serial.deploy(model(start(), task("work"), boundary("late", "work", AFTER), end(), "start > work", "late > end"))
    serial.start()
    (due,) = serial.state.timers.values()
    await pin_clock(connection)
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, await append(connection, serial.commands))
    await pin_clock(connection, due.due_at)
    await connection.execute(REFUSES)
    await connection.execute(ON_UPDATES)
    trigger = (TENANT, TriggerTimer(due.key, due.due_at))

    ends = []
    for _ in range(2):  # a program after the other
        consumer, observer = make_consumer(migrated, serial.resources)
        last = await append(connection, [trigger])
        await lead_until(consumer, observer, last)
        assert "this row is damaged" in observer.outcomes[last].rejection.reason
        ends.append(consumer.stats.poisoned)
    assert ends == [3, 0]
    assert (await connection.execute("SELECT state FROM timers")).rows == [("PENDING",)]
    assert [one.key for one in await timers.stuck(connection, 1, 10)] == [due.key]
    assert await timers.nearest(connection, 1, 10) == []

    await connection.execute("ALTER TABLE timers DISABLE TRIGGER refuse")
    await connection.execute("UPDATE timers SET due_at_ms = due_at_ms + 1")
    assert [one.key for one in await timers.nearest(connection, 1, 10)] == [due.key]
    await timers.purge(connection, 0, 10)
    assert await timers.stuck(connection, 1, 10) == []
