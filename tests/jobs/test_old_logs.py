"""Log partitions go whole, the oldest first, when all in them is old, processed, consumed, and of ended trees."""

import pytest

from tests.jobs.test_history import QUICK, chore
from tests.jobs.test_maintenance import pieces
from tests.runtime.consumer.bench import PINNED_MS, pin_clock
from vivero.engine.jobs.chore_settings import RetentionSettings
from vivero.engine.jobs.chores import DAY_MS

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


@pytest.mark.parametrize(("log", "why"), [("PT47H", "P2D or longer"), ("a month", "log: 'a month' is not")])
def test_what_cannot_be_set(log, why):
    with pytest.raises(ValueError, match=why):
        RetentionSettings(log=log)
