"""Large bodies of kept messages stay in the table until they are given to somebody."""

from random import Random
from string import ascii_letters

import pytest
import trio

from tests.core.engine import raw
from tests.core.message_models import model, receive
from tests.core.models import end, start
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer, pin_clock
from vivero.core.needs import Need, NeedKind
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import PublishMessage
from vivero.core.state.message_channels import BODY_WITH_MESSAGE
from vivero.core.state.state import State
from vivero.storage.state import message_channels

WAITS = model(start(), receive(), end(), "start > receive > end")
TEXT = "".join(Random(7).choices(ascii_letters, k=8 * BODY_WITH_MESSAGE))
"""Nothing that compresses well."""
CHANNEL = (DEFAULT_TENANT, "x")


@pytest.fixture
async def worked(migrated, connection):
    """Has commands worked off; afterwards nothing is in memory any more."""
    await pin_clock(connection)
    serial = Serial()
    serial.deploy(WAITS)
    consumer, observer = make_consumer(migrated, serial.resources, cache_bytes=0, poll_s=5)

    async def work(*commands):
        last = await append(connection, [(DEFAULT_TENANT, command) for command in commands])
        consumer.partition_duty.wake()
        await observer.reached(last)
        assert observer.outcomes[last].rejection is None

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await work(*(command for _, command in serial.commands))
        yield work
        nursery.cancel_scope.cancel()


def said(*bodies, name="hello"):
    return [PublishMessage(name, "x", 60_000, f"id-{n}", raw({"text": body})) for n, body in enumerate(bodies)]


async def loaded(connection, *needs):
    state = State(1)
    await message_channels.fill(connection, state, [Need(NeedKind.CHANNEL, CHANNEL)])
    for kind, key in needs:
        await message_channels.fill(connection, state, [Need(kind, key)])
    return state.channels[CHANNEL]


async def test_small_bodies_come_with_their_messages_and_large_ones_when_they_are_asked_for(worked, connection):
    await worked(*said("small", TEXT, TEXT))
    channel = await loaded(connection)
    assert [message.variables for message in channel.messages.values()] == [{"text": '"small"'}, None, None]
    assert channel.weight < len(TEXT)
    key = list(channel.messages)[1]
    channel = await loaded(connection, (NeedKind.BODY, (*CHANNEL, key)))
    assert [message.variables is None for message in channel.messages.values()] == [False, False, True]
    assert channel.messages[key].variables == {"text": f'"{TEXT}"'}
    assert channel.weight > len(TEXT), "it counts for the limit of the cache"


@pytest.mark.parametrize("need", [NeedKind.MESSAGES, NeedKind.MESSAGE_ID])
async def test_nor_do_they_come_with_a_page_or_an_id(worked, connection, need):
    await worked(*said(*["other"] * 100, TEXT, TEXT))
    key = (*CHANNEL, "hello", "p", 0, True, "") if need is NeedKind.MESSAGES else (*CHANNEL, "hello", "id-101")
    channel = await loaded(connection, (need, key))
    assert not channel.complete
    bodies = [message.variables for message in channel.messages.values()]
    assert bodies == [{"text": '"other"'}] * 100 if need is NeedKind.MESSAGES else bodies == [None]


async def test_who_waits_gets_the_whole_body_in_the_order_of_publishing(worked, connection):
    await worked(*said(TEXT, "small", TEXT[::-1]))
    for _ in range(3):
        await worked(CreateInstance("p", variables=raw({"k": "x"})))
    rows = await connection.execute(
        "SELECT value::json #>> '{}' FROM variables WHERE name = 'text' ORDER BY variable_key"
    )
    assert [text for (text,) in rows.rows] == [TEXT, "small", TEXT[::-1]]


async def test_one_that_has_gone_meanwhile_is_forgotten(worked, connection):
    await worked(*said(TEXT, "small"))
    state = State(1)
    await message_channels.fill(connection, state, [Need(NeedKind.CHANNEL, CHANNEL)])
    first, second = state.channels[CHANNEL].messages
    await connection.execute("DELETE FROM messages WHERE message_key = $1", (first,))
    await message_channels.fill(connection, state, [Need(NeedKind.BODY, (*CHANNEL, key)) for key in (first, second)])
    assert list(state.channels[CHANNEL].messages) == [second]
    assert state.channels[CHANNEL].messages[second].variables == {"text": '"small"'}
