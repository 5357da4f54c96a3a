"""Waiting for outcomes: what is sent in the process, and the sweep that finds everything else."""

import msgspec
import pytest
import trio
import trio.testing

from tests.eventually import GUARD_S
from vivero.core.execution.outcomes import Ended, LastVariable
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.engine.outcomes.admission import Lost, Overloaded
from vivero.engine.outcomes.completions import Completions, CompletionsSettings
from vivero.engine.outcomes.replies import received
from vivero.engine.outcomes.waiters import InstanceEnd
from vivero.engine.supervision.children import Child
from vivero.engine.supervision.supervisor import Supervisor
from vivero.storage.log.command_log import CommandOutcome

NEVER_S = 1e6


async def nowhere():
    raise AssertionError("nobody should connect")


def in_process(**settings):
    return Completions(nowhere, CompletionsSettings(**settings))


class Request:
    """A request that waits: it owns a channel with one place. `waiter` is its registration."""

    def __init__(self, register, *key) -> None:
        send, self.channel = trio.open_memory_channel(1)
        self.waiter = register(*key, send)

    def __enter__(self) -> "Request":
        return self

    def __exit__(self, *_) -> None:
        self.waiter.close()
        self.channel.close()

    async def wait(self):
        """The outcome or the end."""
        return value_of(await self.channel.receive())

    def value(self):
        """The received value; None without one."""
        return value_of(received(self.channel))


def value_of(message):
    if message is None or isinstance(message, InstanceEnd):
        return message
    return message.answer


def outcome(completions, partition, position):
    return Request(completions.register, partition, position)


def end(completions, key):
    return Request(completions.register_end, key)


def died(message):
    pytest.fail(f"the process would have ended: {message}")


@pytest.fixture
async def sweeping(connect, connection, nursery):
    """Makes completions that remember nothing, and whose sweep, after a first one, runs only when it is asked for."""
    await end_instance(connection, 1, "COMPLETED")
    await connection.execute("SELECT make_log_partitions(0)")  # these tests have positions of a partition 0

    async def make(**settings):
        settings = {"sweep_s": NEVER_S, "late_s": NEVER_S, "recent": 0} | settings
        completions = Completions(connect, CompletionsSettings(**settings))
        nursery.start_soon(Supervisor([Child("completions", completions.run, close=completions.close)], die=died).run)
        await swept(completions)
        return completions

    return make


async def answer(connection, position, response=b'{"a":1}', rejection=None):
    await connection.execute(
        "INSERT INTO event_log (partition_id, position, seq, root_key, request, events, rejection, response, version,"
        " processed_at) VALUES (0, $1, 0, NULL, NULL, '[]', $2, $3, 1, now())",
        (position, rejection, response),
    )


async def put_command(connection, position):
    await connection.execute(
        "INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, payload)"
        " VALUES (1, $1, gen_random_uuid(), 0, now(), 't', 'X:Y', '{}')",
        (position,),
    )


async def end_instance(connection, key, state):
    """An instance of which nothing is of interest but its end."""
    await connection.script(
        """DO $$ DECLARE name text; BEGIN
               FOR name IN SELECT attname FROM pg_attribute
                   WHERE attrelid = 'process_instances'::regclass AND attnum > 1 AND attnotnull
               LOOP EXECUTE format('ALTER TABLE process_instances ALTER %I DROP NOT NULL', name); END LOOP;
           END $$"""
    )
    await connection.execute(
        "INSERT INTO process_instances (process_instance_key, state, ended_at) VALUES ($1, $2, now())", (key, state)
    )


async def swept(completions):
    """Until a sweep that began after this is over: it finds instance 1, which has ended."""
    await wait(end(completions, 1))


async def wait(waiter):
    with waiter, trio.fail_after(GUARD_S):
        return await waiter.wait()


# In the process


async def test_a_waiter_gets_the_outcome_of_its_position():
    completions = in_process()
    got = {}

    async def request(position):
        got[position] = await wait(outcome(completions, 1, position))

    async with trio.open_nursery() as nursery:
        for position in (1, 2, 3):
            nursery.start_soon(request, position)
        await trio.testing.wait_all_tasks_blocked()
        completions.committed(1, 2, [CommandOutcome(2, None, b"{}"), CommandOutcome(1)], [])
        await trio.testing.wait_all_tasks_blocked()
        assert got == {1: CommandOutcome(1), 2: CommandOutcome(2, None, b"{}")}
        completions.committed(1, 3, [CommandOutcome(3)], [])
    assert completions.waiting == 0


async def test_all_who_wait_for_a_position_are_served():
    """Requests with the same idempotency key wait for the same command."""
    completions = in_process()
    with outcome(completions, 1, 5) as one, outcome(completions, 1, 5) as two:
        completions.committed(1, 5, [CommandOutcome(5, None, b"{}")], [])
        assert await one.wait() == await two.wait() == CommandOutcome(5, None, b"{}")


async def test_the_first_answer_counts():
    completions = in_process()
    with outcome(completions, 1, 5) as waiter:
        completions.committed(1, 5, [CommandOutcome(5, None, b'"first"'), CommandOutcome(5, None, b'"second"')], [])
        assert (await waiter.wait()).response == b'"first"'
    completions.committed(1, 6, [CommandOutcome(6, None, b'"first"'), CommandOutcome(6, None, b'"second"')], [])
    assert (await wait(outcome(completions, 1, 6))).response == b'"first"'


async def test_who_registers_late_is_served_from_the_latest_commits():
    completions = in_process()
    completions.committed(1, 5, [CommandOutcome(5, None, b"{}")], [Ended(77, "COMPLETED", [])])
    assert await wait(outcome(completions, 1, 5)) == CommandOutcome(5, None, b"{}")
    assert await wait(end(completions, 77)) == InstanceEnd("COMPLETED", {})


async def test_the_end_of_an_instance():
    completions = in_process()
    with end(completions, 77) as waiter, end(completions, 78) as other:
        completions.committed(1, 9, [], [Ended(77, "TERMINATED", [])])
        assert await waiter.wait() == InstanceEnd("TERMINATED", {})
        with trio.move_on_after(0) as scope:
            await other.wait()
        assert scope.cancelled_caught


async def test_an_end_brings_the_variables_unless_they_are_large():
    small, large = (
        [LastVariable(1, "x", text), LastVariable(2, "y", "1.50")] for text in ('"é"', '"' + "x" * 2_048 + '"')
    )
    completions = in_process()
    with end(completions, 77) as waiter:
        completions.committed(1, 9, [], [Ended(77, "COMPLETED", small), Ended(78, "COMPLETED", large)])
        assert waiter.value() == InstanceEnd("COMPLETED", {"x": '"é"', "y": "1.50"})
    assert await wait(end(completions, 78)) == InstanceEnd("COMPLETED")


async def test_an_end_of_an_instance_whose_variables_are_not_in_memory_brings_none():
    completions = in_process()
    with end(completions, 77) as waiter:
        completions.committed(1, 9, [], [Ended(77, "TERMINATED", None)])
        assert waiter.value() == InstanceEnd("TERMINATED")


async def test_a_program_that_stops_gives_up_ends_but_no_outcomes():
    completions = in_process()
    completions.committed(1, 5, [], [Ended(76, "COMPLETED", [])])
    with end(completions, 77) as awaited, outcome(completions, 1, 6) as asked:
        completions.give_up_ends()
        with pytest.raises(trio.EndOfChannel):
            await awaited.wait()
        with pytest.raises(trio.EndOfChannel):
            await wait(end(completions, 78))
        assert await wait(end(completions, 76)) == InstanceEnd("COMPLETED", {})
        completions.committed(1, 6, [CommandOutcome(6)], [Ended(77, "COMPLETED", [])])
        assert await asked.wait() == CommandOutcome(6)
    assert completions.waiting == 0


async def test_waiters_are_bounded_and_forgotten():
    completions = in_process(waiters=2)
    with outcome(completions, 1, 5), end(completions, 77):
        with pytest.raises(Overloaded, match="2 requests already wait"):
            outcome(completions, 1, 6)
        with pytest.raises(Overloaded):
            end(completions, 6)
    with outcome(completions, 1, 6):
        assert completions.waiting == 1
    assert completions.waiting == 0


async def test_what_is_remembered_is_bounded():
    completions = in_process(recent=3, recent_bytes=10)
    for position in range(1, 6):
        completions.committed(1, position, [CommandOutcome(position)], [])
    completions.committed(1, 6, [CommandOutcome(6, None, b'"longer than ten bytes"')], [])
    served = [position for position in range(1, 7) if outcome(completions, 1, position).value() is not None]
    assert served == [3, 4, 5]


async def test_a_term_forgets_what_earlier_ones_reported():
    """A backup may have taken the place of the database, and positions and keys are assigned again."""
    completions = in_process()
    completions.committed(1, 5, [CommandOutcome(5)], [])
    completions.term_began()
    with outcome(completions, 1, 5) as waiter, trio.move_on_after(0) as patience:
        await waiter.wait()
    assert patience.cancelled_caught


# The sweep


async def test_who_registers_below_the_watermark_is_served_from_the_event_log(sweeping, connection):
    """Completions without the watermark: who comes after the commit would wait for nothing."""
    completions = await sweeping()
    await answer(connection, 5)
    completions.committed(1, 5, [], [])
    assert await wait(outcome(completions, 1, 5)) == CommandOutcome(5, None, b'{"a":1}')


async def test_a_program_that_was_just_started_looks_at_once(sweeping, connection):
    """A client that repeats a request after a restart asks for a position that was processed before it."""
    completions = await sweeping()
    await answer(connection, 5)
    assert await wait(outcome(completions, 1, 5)) == CommandOutcome(5, None, b'{"a":1}')


async def test_what_another_node_processed_is_read(sweeping, connection):
    completions = await sweeping()
    refused = Rejection(RejectionCode.NOT_FOUND, "no such job")
    with outcome(completions, 1, 5) as waiter:
        await answer(connection, 5, None, msgspec.json.encode(refused))
        completions.processed(0, 5)
        assert await wait(waiter) == CommandOutcome(5, refused, None)


async def test_only_what_somebody_waits_for_is_read(sweeping, connection):
    """A command that is processed may be answered by another partition, where a follow-up of it has gone."""
    completions = await sweeping()
    with outcome(completions, 0, 5) as waiter:
        await swept(completions)
        await answer(connection, 5)
        completions.processed(2, (2 << 51) + 7)
        completions.processed(0, 4)
        await trio.testing.wait_all_tasks_blocked()
        assert waiter.value() is None
        completions.committed(0, 5, [], [])
        completions.processed(2, (2 << 51) + 8)
        assert await wait(waiter) == CommandOutcome(5, None, b'{"a":1}')


async def test_an_outcome_whose_notification_was_lost_is_asked_for_soon(sweeping, connection):
    """And an end is not: it may take days."""
    completions = await sweeping(late_s=0.01)
    with outcome(completions, 1, 5) as asked:
        await swept(completions)
        await answer(connection, 5)
        assert await wait(asked) == CommandOutcome(5, None, b'{"a":1}')


async def test_an_instance_that_has_ended_already_is_found(sweeping, connection):
    await end_instance(connection, 77, "COMPLETED")
    completions = await sweeping(sweep_s=0.01)
    assert await wait(end(completions, 77)) == InstanceEnd("COMPLETED")


async def test_everything_outstanding_is_asked_for_again(sweeping, connection):
    """Nobody says that it was committed: the outcome of a batch whose commit was in doubt."""
    completions = await sweeping(sweep_s=0.01)
    with outcome(completions, 1, 5) as asked, end(completions, 77) as awaited:
        await swept(completions)
        await answer(connection, 5)
        await end_instance(connection, 77, "TERMINATED")
        assert await wait(asked) == CommandOutcome(5, None, b'{"a":1}')
        assert await wait(awaited) == InstanceEnd("TERMINATED")


async def test_a_command_that_is_answered_later_keeps_its_waiter(sweeping, connection):
    completions = await sweeping()
    await answer(connection, 5, None)
    completions.committed(1, 5, [], [])
    with outcome(completions, 1, 5) as waiter:
        await swept(completions)
        completions.committed(1, 9, [CommandOutcome(5, None, b'"late"')], [])
        assert (await wait(waiter)).response == b'"late"'


async def test_a_sweep_asks_once_for_all(connect, connection):
    await connection.execute("SELECT make_log_partitions(0)")
    completions = Completions(connect, CompletionsSettings(recent=0))
    for position in range(1, 300):
        await answer(connection, position)
    waiters = {position: outcome(completions, 1, position) for position in range(1, 301)}
    await completions.sweep_once(connection)
    found = {position: waiter.value() for position, waiter in waiters.items()}
    assert found == {position: CommandOutcome(position, None, b'{"a":1}') for position in range(1, 300)} | {300: None}


async def test_a_lost_connection_loses_no_waiter(sweeping, connection):
    completions = await sweeping()
    await put_command(connection, 5)
    with outcome(completions, 1, 5) as waiter:
        completions.close()
        await answer(connection, 5)
        completions.processed(0, 5)
        assert await wait(waiter) == CommandOutcome(5, None, b'{"a":1}')


async def test_who_waits_for_what_a_crash_took_is_told(sweeping, connection):
    """The crash ends the sweeper's connection too. Nothing else is told: what is there may yet be answered."""
    completions = await sweeping()
    await put_command(connection, 6)
    lost, there = outcome(completions, 1, 5), outcome(completions, 1, 6)
    completions.close()
    completions.sweep_soon()
    with pytest.raises(Lost, match="at position 5"):
        await wait(lost)
    await answer(connection, 6)
    completions.processed(0, 6)
    assert await wait(there) == CommandOutcome(6, None, b'{"a":1}')


async def test_a_sweep_alone_says_of_nothing_that_it_is_lost(sweeping):
    completions = await sweeping()
    with outcome(completions, 1, 5) as waiter:
        completions.sweep_soon()
        await swept(completions)
        with trio.move_on_after(0):
            await waiter.wait()
        assert waiter.value() is None


async def test_registering_has_no_checkpoint():
    completions = in_process()
    with (
        trio.testing.assert_no_checkpoints(),
        outcome(completions, 1, 5) as asked,
        end(completions, 77) as awaited,
    ):
        completions.committed(1, 9, [CommandOutcome(5)], [Ended(77, "COMPLETED", [])])
        assert (asked.value(), awaited.value()) == (CommandOutcome(5), InstanceEnd("COMPLETED", {}))
