"""The announcer says little, says the highest value, and loses nothing with a connection."""

from contextlib import contextmanager
from functools import partial

import pytest
import trio

from vivero.storage.postgres import announcer as module
from vivero.storage.postgres.announcer import Announcer, decode, encode
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.errors import ConnectionLost, DataPoison
from vivero.storage.postgres.reconnect import Backoff


class Beats:
    """Takes signs of life and forgets them."""

    def beat(self):
        pass

    def report_progress(self, progress):
        pass

    @contextmanager
    def waiting(self, deadline_s):
        yield

    async def sleep(self, seconds):
        await trio.sleep(seconds)


async def open_connection(dsn, deadline):
    return await connect(dsn, name="test-announcer", deadline=deadline)


@pytest.fixture
def announcer(database):
    return Announcer(partial(open_connection, database), backoff=Backoff(0.01, 0.05))


@pytest.fixture
async def connection(database):
    connection = await connect(database)
    yield connection
    connection.close()


@pytest.fixture
async def ear(database):
    connection = await connect(database)
    await connection.script("LISTEN log; LISTEN jobs")
    yield connection
    connection.close()


async def heard(ear, count):
    notifications = []
    with trio.fail_after(5):
        while len(notifications) < count:
            notifications += [(n.channel, decode(n.payload)) for n in await ear.notifications(1)]
    assert await ear.notifications(0.05) == []
    return sorted(notifications, key=repr)


async def test_many_announcements_are_one_statement_with_the_highest_values(announcer, connection, ear):
    for position in [1, 5, 3, *range(100)]:
        announcer.announce("log", "1", position)
        announcer.announce("log", "2", -position)
        announcer.announce("jobs", 'a "type", with: signs', 1)
    assert await announcer.run_once(connection, Beats())
    assert await heard(ear, 2) == [("jobs", {'a "type", with: signs': 1}), ("log", {"1": 99, "2": 0})]
    assert (announcer.sent, announcer.dropped) == (1, 0)


async def test_nothing_to_say_is_said_to_nobody(announcer, connection, monkeypatch):
    monkeypatch.setattr(module, "IDLE_S", 0.01)
    assert not await announcer.run_once(connection, Beats())
    assert announcer.sent == 0


async def test_who_is_alone_says_nothing(database, connection, monkeypatch):
    monkeypatch.setattr(module, "IDLE_S", 0.01)
    announcer = Announcer(partial(open_connection, database), needed=lambda: False)
    announcer.announce("log", "1", 7)
    assert not await announcer.run_once(connection, Beats())
    assert (announcer.sent, announcer.dropped) == (0, 0)


async def test_between_two_statements_there_is_a_gap(database, connection):
    announcer = Announcer(partial(open_connection, database), gap_s=0.05)
    began = trio.current_time()
    announcer.announce("log", "1", 1)
    await announcer.run_once(connection, Beats())
    for position in (2, 3):
        announcer.announce("log", "1", position)
        await announcer.run_once(connection, Beats())
    assert trio.current_time() - began >= 0.1


async def test_what_a_lost_connection_did_not_say_is_said_later_and_never_lower(announcer, connection, ear, database):
    dead = await connect(database)
    announcer.announce("log", "1", 7)
    announcer.announce("log", "2", 7)
    dead.abort()
    with pytest.raises(ConnectionLost):
        await announcer.run_once(dead, Beats())
    announcer.announce("log", "1", 9)
    announcer.announce("log", "2", 3)
    await announcer.run_once(connection, Beats())
    assert await heard(ear, 1) == [("log", {"1": 9, "2": 7})]


async def test_a_cancelled_turn_keeps_what_was_to_be_said(announcer, connection, ear):
    announcer.announce("log", "1", 7)
    with trio.CancelScope() as scope:
        scope.cancel()
        await announcer.run_once(connection, Beats())
    await announcer.run_once(connection, Beats())
    assert await heard(ear, 1) == [("log", {"1": 7})]


async def test_its_task_goes_on_over_killed_sessions(announcer, connection, ear, nursery):
    nursery.start_soon(announcer.run, Beats())
    announcer.announce("log", "1", 1)
    assert await heard(ear, 1) == [("log", {"1": 1})]
    own = "SELECT pid FROM pg_stat_activity WHERE application_name = 'test-announcer' AND datname = current_database()"
    await connection.execute(f"SELECT pg_terminate_backend(pid) FROM ({own}) AS own")
    announcer.announce("log", "1", 2)
    assert await heard(ear, 1) == [("log", {"1": 2})]
    announcer.abort()
    announcer.announce("log", "1", 3)
    assert await heard(ear, 1) == [("log", {"1": 3})]


async def test_a_full_notification_queue_costs_announcements_and_nothing_else(announcer, connection, ear):
    class Full:
        async def execute(self, *arguments, **options):
            raise DataPoison("too many notifications in the NOTIFY queue")

    announcer.announce("log", "1", 7)
    await announcer.run_once(Full(), Beats())
    assert (announcer.sent, announcer.dropped) == (0, 1)
    announcer.announce("log", "1", 8)
    await announcer.run_once(connection, Beats())
    assert await heard(ear, 1) == [("log", {"1": 8})]


async def test_more_keys_than_there_is_room_for_are_left_to_polling(announcer, monkeypatch):
    monkeypatch.setattr(module, "PENDING_KEYS", 2)
    for key in ("a", "b", "c", "a"):
        announcer.announce("jobs", key, 1)
    assert announcer.dropped == 1


async def test_payloads_fit_into_a_notify_and_a_key_that_does_not_is_left_out(announcer, connection, ear):
    for number in range(2_000):
        announcer.announce("jobs", f"käse-{number}", number)
    announcer.announce("jobs", "x" * 8_000, 1)
    await announcer.run_once(connection, Beats())
    values: dict[str, int] = {}
    with trio.fail_after(5):
        while len(values) < 2_000:
            for notification in await ear.notifications(1):
                values |= decode(notification.payload)
    assert values == {f"käse-{number}": number for number in range(2_000)}
    assert announcer.dropped == 1


@pytest.mark.parametrize("length", range(7_880, 7_910))
def test_keys_at_the_limit(length):
    payloads = list(encode({("jobs", "k"): 1, ("jobs", "x" * length): 1, ("jobs", "z"): 1}))
    assert all(1 <= len(payload.encode()) <= 7_999 for _, payload, _ in payloads)
    assert all(decode(payload) for _, payload, _ in payloads)
    assert sum(count for _, _, count in payloads) == (3 if length + 4 <= module.PAYLOAD_BYTES - 2 else 2)


@pytest.mark.parametrize("payload", ["", "1", "[]", '{"a":"b"}', "{"])
def test_somebody_elses_words_mean_nothing(payload):
    assert decode(payload) is None
