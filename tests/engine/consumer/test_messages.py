"""Messages and signals on PostgreSQL: what is left in the tables is what a serial run in memory comes to."""

import msgspec
import pytest
import trio

from tests.core.engine import raw
from tests.core.message_models import (
    boundary,
    catch,
    event_sub,
    message,
    model,
    publish,
    receive,
    signal,
    starts,
    throw,
)
from tests.core.models import end, start, sub, task
from tests.engine.consumer.serial_runs import (
    PINNED_MS,
    Serial,
    append,
    beat,
    dump,
    event_log,
    expected_event_log,
    make_consumer,
    pin_clock,
    save_serially,
    work_off,
    worked_off_one_by_one,
)
from vivero.core.commands.signal import SUBSCRIPTIONS_PER_PAGE
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.codec import decode_command, decode_events
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import CorrelateMessage, Offer, PublishMessage, RejectCorrelation
from vivero.core.records.signals import BroadcastSignal
from vivero.core.replay import Recorded, replay
from vivero.core.state.message_channels import MAX_MESSAGES_IN_MEMORY, MESSAGES_PER_PAGE
from vivero.core.state.state import State

ROOTS = (message(), signal(), message("begin", None, "b"), message("none", None, "n"))
BUSY = model(
    starts("start", "b"),
    receive("first"),
    task("work"),
    boundary("work", "again", interrupting=False),
    boundary("work", "stop", on="signal"),
    end("done"),
    end("heard"),
    throw("told", "message", publish(), "endEvent"),
    "start > first > work > done",
    "again > heard",
    "stop > told",
    event_sub("aside", end("noted"), "aside-start > noted", on="signal", interrupting=False),
    id="busy",
    roots=ROOTS,
)


MANY = model(
    start(), receive("first"), catch("wait", "signal"), "start > first > wait", id="many", roots=(message(), signal())
)


ECHO = model(
    start(),
    sub("scope", start("in"), receive("first"), throw("told"), end("out"), "in > first > told > out"),
    boundary("scope", "stop", on="signal"),
    end("passed"),
    end("stopped"),
    "start > scope > passed",
    "stop > stopped",
    id="echo",
    roots=(message(), signal()),
)
"""Throws what its own boundary event waits for."""


def published(name, key, ttl_ms=0, id=None, **variables):
    return PublishMessage(name, key, ttl_ms, id, raw(variables))


def serial_run():
    """Everything that a channel does, in one log."""
    serial = Serial()
    serial.deploy(BUSY)
    for key in ("x", "y"):
        serial.run(published("begin", key, 60_000, k=key, n=1))
        serial.run(PublishMessage("begin", key, 60_000, None, raw({"k": key, "n": 2}), business_id=f"two-{key}"))
        serial.run(published("hello", key, 60_000, "one", from_="hello"))
    serial.run(published("hello", "x", 60_000, "one"))
    for id in ("two-x", "two-y"):
        serial.run(PublishMessage("hello", "x", 60_000, None, raw({"for": id}), business_id=id))
    serial.run(AssignBusinessId(next(iter(serial.state.trees)), "late"))
    serial.run(CorrelateMessage("hello", "x", raw({}), "late"))
    serial.run(published("nobody", "x", 60_000, "two"))
    serial.run(published("hello", "y", 0, a=1))
    serial.run(CorrelateMessage("hello", "y", raw({"b": 2})))
    serial.run(CorrelateMessage("hello", "z"))
    serial.run(BroadcastSignal("alarm", raw({"level": 3})))
    serial.run(BroadcastSignal("alarm"))
    serial.deploy(BUSY.replace(b"begin", b"start"))
    serial.run(published("start", "w", k="w"))
    for key in list(serial.state.trees):
        serial.cancel(key)
    return serial


async def test_reloading_after_every_command_changes_nothing(migrated, connection, second):
    serial = serial_run()
    consumer, _observer = await worked_off_one_by_one(migrated, connection, serial)
    assert consumer.stats.evicted > 0
    await save_serially(second, serial)
    assert await event_log(connection) == expected_event_log(serial)
    assert await dump(connection, without={"version"}) == await dump(second, without={"version"})


# ---- large batches, two in flight

WITHOUT_KEYS = {
    "process_instances": "process_id, process_version, state, tokens::text, live, start_lock, business_id",
    "element_instances": "element_id, state, tokens::text",
    "variables": "name, value",
    "jobs": "element_id, state",
    "subscriptions": "target_element_id, kind, name, correlation_key, state",
    "start_subscriptions": "process_id, element_id, name",
    "messages": "name, correlation_key, message_id, given::text, variables::text, business_id",
    "channel_subscriptions": "name, correlation_key, process_id, state, business_id",
    "start_locks": "process_id, correlation_key",
    "message_correlations": "name, correlation_key, element_id",
}


async def without_keys(connection):
    """Rows as sorted text, without keys: follow-ups that wait for a load come later in a batch, and get other keys."""
    return {
        table: sorted((await connection.execute(f"SELECT ({columns})::text FROM {table}")).rows)
        for table, columns in WITHOUT_KEYS.items()
    }


@pytest.mark.parametrize("commands", [3, 500])
async def test_large_batches_come_to_the_same_and_replay_gives_the_tables(migrated, connection, second, commands):
    serial = serial_run()
    _, observer = await work_off(migrated, connection, serial, batch_commands=commands)
    await save_serially(second, serial)
    assert await without_keys(connection) == await without_keys(second)
    assert set(observer.outcomes) == {logged.position for logged in serial.memory.log}, "everybody is answered"
    again = State(1)
    rows = await connection.execute("SELECT position, 0, events::text FROM event_log ORDER BY position, seq")
    replay(again, [[Recorded(row[0], PINNED_MS, decode_events(row[2])) for row in rows.rows]])
    live = await connection.execute("SELECT subscription_key FROM channel_subscriptions ORDER BY 1")
    channels = again.channels.values()
    assert sorted(key for channel in channels for key in channel.subscriptions) == [key for (key,) in live.rows]
    kept = await connection.execute("SELECT message_key, given FROM messages ORDER BY 1")
    assert sorted((m.key, list(m.given)) for channel in channels for m in channel.messages.values()) == kept.rows


# ---- more than a page


@pytest.fixture
def consumer_of_many(migrated):
    """The log that deploys the models; a consumer that evicts everything between its batches, and its observer."""
    serial = Serial()
    serial.deploy(BUSY, MANY, ECHO)
    return serial, *make_consumer(migrated, serial.resources, cache_bytes=0, poll_s=5)


@pytest.fixture
async def worked(consumer_of_many, connection):
    """Has commands worked off one batch after the other."""
    await pin_clock(connection)
    serial, consumer, observer = consumer_of_many

    async def work(*commands):
        last = await append(connection, [("<default>", command) for command in commands])
        consumer.partition_duty.wake()
        await observer.reached(last)
        return observer.outcomes[last]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        for tenant, command in serial.commands:
            assert tenant == "<default>"
            await work(command)
        yield work
        nursery.cancel_scope.cancel()


async def test_of_a_channel_with_many_messages_only_what_is_asked_for_is_loaded(worked, connection):
    await worked(*(published("other", "x", 60_000, f"id-{number}") for number in range(5 * MESSAGES_PER_PAGE)))
    await worked(published("hello", "x", 60_000, "last", n=7))
    assert (await worked(published("other", "x", 1, "id-0"))).rejection.code == "ALREADY_EXISTS"
    assert (await worked(published("other", "x", 1, f"id-{5 * MESSAGES_PER_PAGE - 1}"))).rejection is not None
    assert (await worked(published("other", "x", 1, "id-new"))).rejection is None
    outcome = await worked(CreateInstance("many", variables=raw({"k": "x"})))
    assert outcome.rejection is None
    assert (await connection.execute("SELECT state, tokens::text FROM process_instances")).rows == [
        ("ACTIVATED", '{"wait":1}')
    ]
    assert (await connection.execute("SELECT value FROM variables WHERE name = 'n'")).rows == [("7",)]


async def test_of_a_channel_with_many_messages_one_that_was_not_taken_is_found_again(worked, connection):
    """It has been given to the process; that it was not taken is heard when it is in memory no more."""
    await worked(*(published("other", "x", 60_000) for _ in range(2 * MESSAGES_PER_PAGE)))
    message = int(msgspec.json.decode((await worked(published("hello", "x", 60_000, n=7))).response)["messageKey"])
    offer = Offer("hello", {"n": "7"}, message, "x", process_id="many")
    for takes in range(1, 3):
        await worked(CreateInstance("many", variables=raw({"k": "x"})))
        values = await connection.execute("SELECT count(*) FROM variables WHERE name = 'n' AND value = '7'")
        assert values.rows == [(takes,)]
        given = await connection.execute("SELECT given FROM messages WHERE message_key = $1", (message,))
        assert given.rows == [(["many"],)]
        await worked(RejectCorrelation(1, "<default>", offer))
    gone = Offer("hello", {}, 7, "x", process_id="many")
    assert (await worked(RejectCorrelation(1, "<default>", gone))).rejection is None


@pytest.mark.long
async def test_a_channel_too_large_for_memory_still_knows_who_waits(migrated, connection):
    """The cache has room for it, and forgets it all the same."""
    await pin_clock(connection)
    serial = Serial()
    serial.deploy(MANY)
    serial.run(CreateInstance("many", variables=raw({"k": "x"})))
    for _ in range(MAX_MESSAGES_IN_MEMORY + 1):
        serial.run(published("other", "x", 60_000))
    serial.run(published("hello", "x", 60_000, n=7))
    consumer, _ = await work_off(migrated, connection, serial, batch_commands=100)
    assert consumer.stats.evicted > 0
    assert (await connection.execute("SELECT value FROM variables WHERE name = 'n'")).rows == [("7",)]
    assert (await connection.execute("SELECT count(*) FROM channel_subscriptions")).rows == [(0,)]


@pytest.mark.long
async def test_a_signal_for_more_than_a_page(worked, connection, consumer_of_many):
    _, consumer, _ = consumer_of_many
    count = 2 * SUBSCRIPTIONS_PER_PAGE + 3
    await worked(*(CreateInstance("many", variables=raw({"k": str(number)})) for number in range(count)))
    await worked(*(published("hello", str(number)) for number in range(count)))
    assert (await worked(BroadcastSignal("alarm", raw({"level": 1})))).rejection is None
    told = "SELECT count(*) FROM subscriptions WHERE kind = 'SIGNAL' AND state = 'CORRELATED'"
    pages = (await connection.execute("SELECT intent, tenant_id, payload FROM inbox ORDER BY id")).rows
    lacking = consumer.stats.not_loaded
    assert 10 < (await connection.execute(told)).rows[0][0] <= SUBSCRIPTIONS_PER_PAGE, (
        "the answer comes before the rest"
    )
    while pages:
        await connection.execute("DELETE FROM inbox")
        await worked(*(decode_command(intent, bytes(payload)) for intent, _, payload in pages))
        pages = (await connection.execute("SELECT intent, tenant_id, payload FROM inbox ORDER BY id")).rows
    assert (await connection.execute(told)).rows == [(count,)]
    assert consumer.stats.not_loaded == lacking, "each page is asked for with the batch that it comes in"


async def test_a_process_hears_its_own_signal_before_it_goes_on(worked, connection):
    """Also when nothing of it was in memory, and more than a page of others have waited longer."""
    count = SUBSCRIPTIONS_PER_PAGE + 3
    await worked(*(CreateInstance("many", variables=raw({"k": str(number)})) for number in range(count)))
    await worked(*(published("hello", str(number)) for number in range(count)))
    await worked(CreateInstance("echo", variables=raw({"k": "e"})))
    await worked(published("hello", "e"))
    ended = "SELECT element_id FROM element_instances WHERE element_id IN ('passed', 'stopped') AND state = 'COMPLETED'"
    assert (await connection.execute(ended)).rows == [("stopped",)]
    state = "SELECT state FROM process_instances WHERE process_id = 'echo'"
    assert (await connection.execute(state)).rows == [("COMPLETED",)]
