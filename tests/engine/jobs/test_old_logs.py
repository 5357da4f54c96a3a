"""Logs get shorter from the oldest on: pieces go whole, and of the only piece of a slow log its old rows.

What goes is old, processed, consumed, and of ended trees.
"""

import pytest

from tests.engine.consumer.serial_runs import PINNED_MS, pin_clock
from tests.engine.jobs.test_history import QUICK, chore
from tests.engine.jobs.test_maintenance import pieces
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.engine.retention.chores import DAY_MS
from vivero.storage.retention.history import states

__all__ = ["chore"]
SIZE = 10_000_000
BASE = 1 << 51


@pytest.fixture
async def logs(connection):
    """Four pieces of each log: an event on each of four days, each in another piece; all is processed."""
    for number in range(5):
        await connection.execute("SELECT make_log_partitions($1)", (BASE + number * SIZE,))
    for number in range(4):
        position = BASE + number * SIZE + 7
        await connection.execute(
            "INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, payload)"
            " VALUES (1, $1, gen_random_uuid(), 1, now(), 't', 'X:Y', '')",
            (position,),
        )
        await connection.execute(
            "INSERT INTO event_log (partition_id, position, seq, root_key, events, version, processed_at)"
            " VALUES (1, $1, 0, $2, '[]', 1, to_timestamp($3::float8 / 1000))",
            (position, BASE + number, PINNED_MS + number * DAY_MS),
        )
    await connection.execute("SELECT setval('log_position_1', $1::bigint)", (BASE + 3 * SIZE + 7,))
    await connection.execute("INSERT INTO batches VALUES (1, $1, $2, 1, 1)", (BASE, BASE + 3 * SIZE + 7))
    await pin_clock(connection, PINNED_MS + 4 * DAY_MS)


async def numbers(connection):
    found = [await pieces(connection, table) for table in ("command_log", "event_log")]
    assert [name.replace("command", "event") for name in found[0]] == found[1]
    return "".join(name.rpartition("_")[2] for name in found[1])


async def test_old_partitions_of_both_logs_go_and_new_ones_stay(logs, connection, chore):
    await chore(instances="never", log="P2D", catch_up=QUICK).run(epoch=99)
    assert await numbers(connection) == "01234"
    await chore(instances="never", log="never", catch_up=QUICK).run()
    assert await numbers(connection) == "01234"
    due = chore(instances="never", log="P2D", catch_up=QUICK)
    for _ in range(2):
        await due.run()
    assert await numbers(connection) == "234", "the event on the third day is two days old, and no older"
    await pin_clock(connection, PINNED_MS + 1000 * DAY_MS)
    for _ in range(2):
        await due.run()
    assert await numbers(connection) == "34", "what is appended next is in the fourth"


NEEDS = {
    "an instance that runs": """INSERT INTO process_instances (process_instance_key, root_key, process_definition_key,
        created_position, version, started_at, process_version, depth, live, incidents, interrupted, process_id,
        tenant_id, state, tokens) VALUES ({base} + 1, {base} + 1, 1, {position}, 1, now(), 1, 1, 0, 0, false, 'p', 't',
        'ACTIVATED', '{{}}')""",
    "a consumer": "INSERT INTO event_consumers VALUES ('c', 1, {position}, 0, 0)",
    "the cursor": "UPDATE batches SET to_pos = {position}",
}


@pytest.mark.parametrize("what", NEEDS)
async def test_what_somebody_needs_stays_with_all_behind_it(logs, connection, chore, what):
    await pin_clock(connection, PINNED_MS + 1000 * DAY_MS)
    await connection.script(NEEDS[what].format(base=BASE, position=BASE + SIZE + 5))
    due = chore(instances="never", log="P2D", catch_up=QUICK)
    for _ in range(2):
        await due.run()
    assert await numbers(connection) == "1234"


async def test_records_of_deleted_trees_go_with_the_last_events(logs, connection, chore):
    for number in range(4):
        await connection.execute("INSERT INTO deleted_trees VALUES ($1, now(), 'RETENTION')", (BASE + number,))
    due = chore(instances="never", log="P2D", catch_up=QUICK)
    for _ in range(2):
        await due.run()
    rows = (await connection.execute("SELECT root_key FROM deleted_trees ORDER BY 1")).rows
    assert [root - BASE for (root,) in rows] == [2, 3]


async def test_a_clock_that_jumps_drops_nothing_at_once(logs, connection, chore):
    slow = chore(instances="never", log="P30D")
    await slow.run()
    await pin_clock(connection, PINNED_MS + 3650 * DAY_MS)
    for _ in range(6 * 25):
        await slow.run()
    assert await numbers(connection) == "01234"


async def test_new_commands_go_on_after_the_drop(logs, connection, chore):
    await pin_clock(connection, PINNED_MS + 1000 * DAY_MS)
    due = chore(instances="never", log="P2D", catch_up=QUICK)
    for _ in range(2):
        await due.run()
    await connection.execute("SELECT make_log_partitions($1)", (BASE + 3 * SIZE,))
    assert await numbers(connection) == "34"
    last = (await connection.execute("SELECT last_log_position(1)")).rows
    assert last == (await connection.execute("SELECT max(position) FROM command_log")).rows


@pytest.fixture
async def slow_log(connection):
    """Positions 1 to 10 in the first piece, one a day, each of another tree. The fifth has three events."""
    await connection.execute(
        "INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, payload)"
        " SELECT 1, $1::bigint + n, gen_random_uuid(), 1, now(), 't', 'X:Y', '' FROM generate_series(1, 10) n",
        (BASE,),
    )
    await connection.execute(
        "INSERT INTO event_log (partition_id, position, seq, root_key, events, version, processed_at)"
        " SELECT 1, $1::bigint + n, seq, $1::bigint + n, '[]', 1, to_timestamp($2::float8 / 1000 + n * 86400)"
        " FROM generate_series(1, 10) n, generate_series(0, CASE WHEN n = 5 THEN 2 ELSE 0 END) seq",
        (BASE, PINNED_MS),
    )
    await connection.execute("SELECT setval('log_position_1', $1::bigint)", (BASE + 10,))
    await connection.execute("INSERT INTO batches VALUES (1, $1, $2, 1, 1)", (BASE, BASE + 10))
    await pin_clock(connection, PINNED_MS + 10 * DAY_MS)


async def days(connection):
    """The positions that both logs have; the events of each."""
    events = dict((await connection.execute("SELECT position, count(*)::int FROM event_log GROUP BY 1")).rows)
    commands = (await connection.execute("SELECT position FROM command_log ORDER BY 1")).rows
    assert [position for (position,) in commands] == sorted(events)
    return {position - BASE: count for position, count in sorted(events.items())}


@pytest.mark.parametrize("rows", [1, 2, 6, 1000])
async def test_old_rows_of_a_slow_log_go(slow_log, connection, chore, monkeypatch, rows):
    monkeypatch.setattr("vivero.engine.retention.history.LOG_ROWS", rows)
    await chore(instances="never", log="P2D", catch_up=QUICK).run(epoch=99)
    await chore(instances="never", log="never", catch_up=QUICK).run()
    assert list(await days(connection)) == [*range(1, 11)]
    due = chore(instances="never", log="P5D", catch_up=QUICK)
    for _ in range(2):
        await due.run()
    assert await days(connection) == {5: 3, 6: 1, 7: 1, 8: 1, 9: 1, 10: 1}, "the fifth is five days old, and no older"
    await pin_clock(connection, PINNED_MS + 1000 * DAY_MS)
    for _ in range(2):
        await due.run()
    assert await days(connection) == {10: 1}, "positions after a crash begin behind the last row"
    assert await numbers(connection) == "012"


@pytest.mark.parametrize("rows", [2, 1000])
@pytest.mark.parametrize("what", NEEDS)
async def test_rows_that_somebody_needs_stay_with_all_behind_them(slow_log, connection, chore, monkeypatch, what, rows):
    monkeypatch.setattr("vivero.engine.retention.history.LOG_ROWS", rows)
    await pin_clock(connection, PINNED_MS + 1000 * DAY_MS)
    await connection.script(NEEDS[what].format(base=BASE + 4, position=BASE + 5))
    due = chore(instances="never", log="P2D", catch_up=QUICK)
    for _ in range(2):
        await due.run()
    assert list(await days(connection)) == [*range(5, 11)]


@pytest.mark.parametrize("what", ["an instance that runs", "a consumer"])
async def test_what_keeps_a_slow_log_is_named(slow_log, connection, chore, what):
    """With its age, and with how much there is of the logs, until somebody lets it go."""
    await pin_clock(connection, PINNED_MS + 1000 * DAY_MS)
    await connection.script(NEEDS[what].format(base=BASE + 4, position=BASE + 5))
    await connection.execute("UPDATE process_instances SET started_at = from_epoch_ms($1)", (PINNED_MS,))
    await connection.execute("UPDATE event_consumers SET acknowledged_at = clock_timestamp() - interval '7 days'")
    due = chore(instances="never", log="P2D", catch_up=QUICK)
    for _ in range(2):
        await due.run()
    (found,) = await states(connection)
    by, name, kept_days = ("consumer", "c", 7) if what == "a consumer" else ("instance", str(BASE + 5), 1000)
    assert (found.logs_kept_by, found.logs_kept_name) == (by, name)
    assert found.logs_kept_s == pytest.approx(kept_days * 86_400, abs=600)
    assert (found.logs_commands, found.logs_oldest_s) == (6, 995 * 86_400)
    assert found.logs_bytes > 100_000
    await connection.execute("DELETE FROM event_consumers")
    await connection.execute("DELETE FROM process_instances")
    await due.run()
    (found,) = await states(connection)
    assert (found.logs_kept_by, found.logs_kept_name, found.logs_commands, found.logs_bytes) == (None,) * 4


async def test_rows_stay_while_an_older_piece_does(logs, connection, chore):
    """It has the first events of trees that go on behind it. And rows of full pieces never go one by one."""
    await connection.script(NEEDS["a consumer"].format(base=BASE, position=BASE + 3))
    await connection.execute(
        "INSERT INTO event_log SELECT partition_id, position - 1, seq, root_key, request, events, large_events,"
        " rejection, response, version, processed_at FROM event_log"
    )
    before = await connection.execute("SELECT position FROM event_log ORDER BY 1")
    await pin_clock(connection, PINNED_MS + 1000 * DAY_MS)
    due = chore(instances="never", log="P2D", catch_up=QUICK)
    for _ in range(2):
        await due.run()
    assert (await connection.execute("SELECT position FROM event_log ORDER BY 1")).rows == before.rows


@pytest.mark.parametrize(("log", "why"), [("PT47H", "P2D or longer"), ("a month", "log: 'a month' is not")])
def test_what_cannot_be_set(log, why):
    with pytest.raises(ValueError, match=why):
        RetentionSettings(log=log)
