"""The appender moves what clients queue in their own transactions: how often it looks, and how much it moves."""

import math

import pytest
import trio

from tests.engine.whole_engine import HEAD, WholeEngine
from tests.eventually import eventually_rows
from vivero.engine.appender.forwarding import AT_LEAST, LogProgress
from vivero.engine.appender.task import Appender
from vivero.engine.appender.transaction_inbox import TransactionInbox
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.storage.background import job_executions
from vivero.storage.log import transaction_inbox
from vivero.storage.log.transaction_inbox import Taken
from vivero.storage.postgres.errors import Conflict

ZERO = 1 << 51
"""The position before the first."""
ROW = """INSERT INTO transaction_inbox (target_partition, id, tenant_id, intent, payload, size, audit, role_name)
SELECT $1, n, 't', 'X:Y', '{"type":"mail"}', 15,
    '{"actor_type":"CLIENT","category":"X","entity_type":"Y","operation":"CREATE"}', 'r'
FROM unnest($2::bigint[]) n"""
RECEIVES = (
    f'{HEAD}<process id="q" isExecutable="true"><startEvent id="start"/><receiveTask id="wait" messageRef="m"/>'
    '<serviceTask id="task"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>'
    '<endEvent id="end"/><sequenceFlow id="a" sourceRef="start" targetRef="wait"/>'
    '<sequenceFlow id="b" sourceRef="wait" targetRef="task"/><sequenceFlow id="c" sourceRef="task" targetRef="end"/>'
    '</process><message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/>'
    "</extensionElements></message></definitions>"
).encode()


def no_owner(_partition):
    return None


async def everywhere(_connection, above, _within_ms):
    return list(above)


@pytest.fixture
def looks(monkeypatch):
    """The looks at the inbox, as they were asked for: partition → the id behind which they begin."""
    return []


@pytest.fixture
def inbox(monkeypatch, looks):
    """Without a database: `rows` has the ids of partition 1 that a look finds, each with the time of its BEGIN."""
    inbox, rows = TransactionInbox(2, 0.05, 1.0), {}

    def found_behind(above, within_ms):
        since = -math.inf if within_ms is None else trio.current_time() - within_ms / 1000
        return sorted(id for id, began_at in rows.items() if id > above and began_at > since)

    async def waiting(_connection, above, within_ms):
        looks.append(dict(above))
        return [1] if 1 in above and found_behind(above[1], within_ms) else []

    async def take(_connection, _partition, above, most, _bytes, within_ms):
        found = found_behind(above, within_ms)[:most]
        for id in found:
            del rows[id]
        return Taken(ZERO + found[-1] if found else None, found[-1] if found else None)

    monkeypatch.setattr(transaction_inbox, "waiting", waiting)
    monkeypatch.setattr(transaction_inbox, "take", take)
    return inbox, rows


async def turn(inbox, led=(1,), progress_of=no_owner):
    """Turns until there is nothing to do; the positions of the moves."""
    moved = []
    while (move := await inbox.run_once(None, led, progress_of)) is not None:
        moved += [move.position] if move.position else []
    return moved


async def test_an_inbox_that_nobody_uses_is_not_looked_at(inbox, looks, autojump_clock):
    inbox, _ = inbox
    inbox.look_if(False)
    await turn(inbox)
    assert (looks, inbox.look_at) == ([], float("inf"))
    inbox.look_if(True)
    first = inbox.look_at
    inbox.look_if(True)
    assert inbox.look_at == first <= trio.current_time() + 0.05
    await turn(inbox)
    assert looks == []
    await trio.sleep_until(inbox.look_at)
    await turn(inbox)
    assert looks == [{0: 0, 1: 0}]


async def test_frequent_looks_begin_behind_what_was_taken_a_look_ago(inbox, looks, autojump_clock):
    inbox, rows = inbox
    inbox.look_if(True)
    for second in range(3):
        rows |= dict.fromkeys((10 * second + 1, 10 * second + 2, 10 * second + 3), trio.current_time())
        for _ in range(20):
            await trio.sleep_until(inbox.look_at)
            await turn(inbox)
    assert rows == {}
    assert looks[0] == {0: 0, 1: 0}
    begins = [look[1] for look in looks]
    assert set(begins[:19]) == {0}, "the looks of the first second have no bound"
    bounds = {bound: begins.index(bound) for bound in begins if bound}
    assert 3 in bounds
    assert all(at >= 2 * bound - 6 + 19 for bound, at in bounds.items()), (
        "what was taken in the last second has no bound"
    )
    rows[1] = 0.0
    late = len(looks)
    while rows:
        await trio.sleep_until(inbox.look_at)
        await turn(inbox)
    assert len(looks) - late <= 22, "a late commit waits for the next whole look"


async def test_a_transaction_that_was_open_for_long_keeps_its_order(inbox, looks, autojump_clock):
    """Its first id lies before what others have had taken since, and its last one behind."""
    inbox, rows = inbox
    began_at = trio.current_time()
    inbox.look_if(True)
    for second in range(4):
        rows |= dict.fromkeys((10 * second + 2, 10 * second + 3), trio.current_time())
        for _ in range(20):
            await trio.sleep_until(inbox.look_at)
            await turn(inbox)
    assert looks[-1][1] > 1, "a look that begins behind its first id"
    rows |= {1: began_at, 100: began_at}
    moved = []
    while rows:
        await trio.sleep_until(inbox.look_at)
        moved += await turn(inbox)
    assert moved[-1] == ZERO + 100


async def test_background_jobs_that_cannot_be_moved_now_end_nothing(inbox, monkeypatch, autojump_clock):
    async def locked(*_):
        raise Conflict("the table is locked")

    inbox, _ = inbox
    monkeypatch.setattr(job_executions, "take_queued", locked)
    monkeypatch.setattr(transaction_inbox, "waiting", everywhere)
    inbox.look_if(True)
    await trio.sleep_until(inbox.look_at)
    assert await inbox.run_once(None, (1,), no_owner) == (0, None)
    assert not inbox.waits_for(0)


async def test_as_much_moves_as_the_engine_processes_soon(inbox, autojump_clock):
    inbox, rows = inbox
    inbox = TransactionInbox(500, 0.05, 1.0)
    inbox.look_if(True)
    rows |= dict.fromkeys(range(1, 201), trio.current_time())
    at = ZERO
    await trio.sleep_until(inbox.look_at)
    assert await turn(inbox, progress_of=lambda _: LogProgress(at, 0.0)) == [ZERO + AT_LEAST]
    assert inbox.waits_for(1)
    assert await turn(inbox, progress_of=lambda _: LogProgress(at, 0.0)) == []
    at = ZERO + AT_LEAST
    assert await turn(inbox, progress_of=lambda _: LogProgress(at, 0.0)) == [ZERO + 2 * AT_LEAST]


async def test_only_the_leader_of_a_partition_moves_its_commands(connect, connection, nursery):
    await connection.execute("SELECT nextval('transaction_inbox_numbers')")
    await connection.script("SELECT make_partition(2)")
    for partition in (0, 1, 2):
        await connection.execute(ROW, (partition, [1]))
    nursery.start_soon(Appender(connect, led_partitions=lambda: (2,)).run, Beat(SupervisionSettings()))
    query = "SELECT target_partition FROM transaction_inbox ORDER BY 1"
    await eventually_rows(connection, [(0,), (1,)], query)
    nursery.start_soon(Appender(connect, led_partitions=lambda: (1,)).run, Beat(SupervisionSettings()))
    await eventually_rows(connection, [], query)
    logged = await connection.execute("SELECT partition_id, position FROM command_log ORDER BY 1")
    assert logged.rows == [(1, ZERO + 1), (2, 2 * ZERO + 1)]
    assert (await connection.execute("SELECT job_type FROM job_executions")).rows == [("mail",)]


async def test_a_process_runs_on_commands_of_a_clients_transactions(migrated, connection):
    """Started, continued by a message and completed by its worker. A refusal of the engine says why."""
    await connection.execute("SELECT nextval('transaction_inbox_numbers')")
    engine = WholeEngine(migrated)
    async with engine.running():
        await engine.deploy(RECEIVES)

        async def call(query, *values):
            return (await connection.execute(f"SELECT {query}", values)).rows[0][0]

        async def outcome(id):
            """(state, code) of a command that the engine has answered."""
            query = "SELECT state, code FROM outcome($1)"
            await engine.until_value(0, "SELECT count(*) FROM outcome($1) WHERE state IN ('QUEUED', 'APPENDED')", id)
            return (await engine.rows(query, id))[0]

        started = await call("""start_process('q', '{"order": "x", "list": [1, {"a": 2}]}', 'b-1', '{vip}')""")
        assert await outcome(started) == ("DONE", None)
        ((key, tags),) = await engine.rows(
            "SELECT process_instance_key, tags FROM process_instances WHERE business_id = 'b-1'"
        )
        assert tags == ["vip"]
        for ttl in ("1 h", "1 h"):
            told = await call("publish_message('paid', 'other', time_to_live => $1::interval, message_id => 'n')", ttl)
            states = await outcome(told)
        assert states == ("REJECTED", "ALREADY_EXISTS")
        assert await outcome(await call("publish_message('paid', 'x', '{\"paid\": true}')")) == ("DONE", None)
        await engine.until_value(1, "SELECT count(*) FROM jobs")
        job = await engine.value("SELECT job_key FROM jobs")
        both = [await call("complete_job($1)", job) for _ in range(2)]
        assert {await outcome(id) for id in both} == {("DONE", None), ("REJECTED", "NOT_FOUND")}
        assert (
            await engine.value("SELECT state FROM process_instances WHERE process_instance_key = $1", key)
            == "COMPLETED"
        )
        found = "SELECT name, value, normal_hash IS NOT NULL FROM variables WHERE name IN ('list', 'paid')"
        assert set(await engine.rows(found)) == {("list", '[1, {"a": 2}]', True), ("paid", "true", False)}
        audited = "SELECT DISTINCT actor_type, actor_provider, result FROM audit_log WHERE entity_type = 'JOB'"
        assert sorted(await engine.rows(audited)) == [
            ("CLIENT", "postgresql", "FAIL"),
            ("CLIENT", "postgresql", "SUCCESS"),
        ]


@pytest.mark.parametrize("number", ["1e308", "-1.7976931348623157e308", "1e-400", "9" * 300, "0." + "1" * 900])
async def test_numbers_that_the_checks_let_pass_are_values_of_the_engine(migrated, connection, number):
    await connection.execute("SELECT nextval('transaction_inbox_numbers')")
    engine = WholeEngine(migrated)
    async with engine.running():
        await engine.deploy(RECEIVES)
        id = (await connection.execute(f'SELECT start_process(\'q\', \'{{"order": "x", "n": {number}}}\')')).rows[0][0]
        await engine.until_value(0, "SELECT count(*) FROM outcome($1) WHERE state IN ('QUEUED', 'APPENDED')", id)
        assert await engine.value("SELECT state FROM outcome($1)", id) == "DONE"
