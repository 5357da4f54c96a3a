"""The listener hears, knows when it has gone deaf, and comes back."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest
import trio

from tests.eventually import Changes, eventually_rows
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.errors import ConnectFailed, ConnectionLost
from vivero.storage.postgres.notification_listener import NotificationListener, NotificationListenerSettings
from vivero.storage.postgres.reconnect import Backoff

QUICK = NotificationListenerSettings(ping_every_s=0.05, echo_within_s=0.2, turn_s=0.02, backoff=Backoff(0.01, 0.05))
PATIENT = replace(QUICK, echo_within_s=10)
"""For connections that are to be kept, on however slow a machine."""


class Beats:
    """Counts signs of life; `waits` holds the limits within which PostgreSQL was waited for."""

    def __init__(self) -> None:
        self.count = 0
        self.waits = []
        self.progressing: Callable[[], bool] | None = None

    def beat(self):
        self.count += 1

    def report_progress(self, progress):
        self.progressing = progress

    @contextmanager
    def waiting(self, deadline_s):
        self.waits.append(deadline_s)
        yield

    async def sleep(self, seconds):
        self.beat()
        await trio.sleep(seconds)


class Heard:
    """The reports of a listener, and a way to wait for them."""

    def __init__(self) -> None:
        self.notifications = []
        self.connected = []
        self._changes = Changes()
        self.until = self._changes.until

    def deliver(self, channel, payload):
        self.notifications.append((channel, payload))
        self._changes.tell()

    def connect(self, connected):
        self.connected.append(connected)
        self._changes.tell()


@pytest.fixture
def heard():
    return Heard()


@pytest.fixture
async def other(database):
    connection = await connect(database, name="test-other")
    yield connection
    connection.close()


def listener(dsn, heard, settings=QUICK):
    return NotificationListener(
        partial(open_connection, dsn), ["news", "other_news"], heard.deliver, heard.connect, settings
    )


async def open_connection(dsn, deadline):
    return await connect(dsn, name="test-listener", deadline=deadline)


LISTENERS = "SELECT pid FROM pg_stat_activity WHERE application_name = 'test-listener' AND datname = current_database()"


async def test_it_hears_its_channels_and_keeps_its_pings_to_itself(database, other, heard, nursery):
    nursery.start_soon(listener(database, heard, PATIENT).run, Beats())
    await heard.until(lambda: heard.connected == [True])
    for channel, payload in [("news", "1"), ("unheard", "2"), ("other_news", "3")]:
        await other.execute("SELECT pg_notify($1, $2)", (channel, payload))
    await heard.until(lambda: len(heard.notifications) == 2)
    assert heard.notifications == [("news", "1"), ("other_news", "3")]
    assert heard.connected == [True]


@pytest.mark.long
async def test_its_echo_keeps_an_idle_connection(database, heard):
    beats = Beats()
    settings = replace(QUICK, echo_within_s=1)
    own = listener(database, heard, settings)
    connection = await connect(database)
    session = await own.open(connection, beats)
    began = trio.current_time()
    while trio.current_time() < began + 2 * settings.echo_within_s:
        await own.run_once(session, beats)
    assert not connection.closed
    assert heard.notifications == []
    assert beats.count > 10
    connection.close()


async def turn_until(own, session, condition):
    with trio.fail_after(10):
        while not condition():
            await own.run_once(session, Beats())


async def test_it_knows_whether_it_is_alone(database, heard):
    settings = NotificationListenerSettings(ping_every_s=0.05, turn_s=0.02, alone_after_s=0.3)
    one, two = (listener(database, heard, settings) for _ in range(2))
    assert not one.alone
    first = await one.open(await connect(database), Beats())
    assert not one.alone, "others may be there whom it has not heard yet"
    await turn_until(one, first, lambda: one.alone)
    second = await two.open(await connect(database), Beats())
    await two.run_once(second, Beats())
    await turn_until(one, first, lambda: not one.alone)
    await turn_until(two, second, lambda: not two.alone)
    second.connection.close()
    await turn_until(one, first, lambda: one.alone)
    first.connection.close()
    assert heard.notifications == []


async def test_a_turn_never_waits_longer_than_it_may(database, heard):
    settings = NotificationListenerSettings(ping_every_s=60, turn_s=0.02)
    own = listener(database, heard, settings)
    connection = await connect(database)
    session = await own.open(connection, Beats())
    await own.run_once(session, Beats())
    began = trio.current_time()
    await own.run_once(session, Beats())
    assert trio.current_time() - began < 3
    connection.close()


async def test_a_connection_that_answers_but_has_gone_deaf_is_given_up(database, heard):
    own = listener(database, heard)
    connection = await connect(database)
    session = await own.open(connection, Beats())
    await connection.execute("UNLISTEN *")
    began = trio.current_time()
    with pytest.raises(ConnectionLost, match=r"did not receive its own notification within 0\.2 s"):
        await turn_for_ever(own, session)
    assert QUICK.echo_within_s <= trio.current_time() - began < 3
    assert connection.closed


async def turn_for_ever(own, session):
    with trio.fail_after(10):
        while True:
            await own.run_once(session, Beats())


async def test_a_killed_session_is_replaced_and_told_of(database, other, heard, nursery):
    nursery.start_soon(listener(database, heard, PATIENT).run, Beats())
    await heard.until(lambda: heard.connected == [True])
    await other.execute(f"SELECT pg_terminate_backend(pid) FROM ({LISTENERS}) AS own")
    await heard.until(lambda: heard.connected == [True, False, True])
    await other.execute("NOTIFY news, 'again'")
    await heard.until(lambda: heard.notifications == [("news", "again")])


async def test_a_black_hole_is_noticed_within_the_limit_and_left(database, other, heard, proxy, nursery):
    nursery.start_soon(listener(proxy.dsn(database), heard).run, Beats())
    await heard.until(lambda: heard.connected == [True])
    proxy.swallow = True
    began = trio.current_time()
    await heard.until(lambda: heard.connected == [True, False])
    assert trio.current_time() - began < QUICK.ping_every_s + QUICK.echo_within_s + 3
    proxy.swallow = False
    await heard.until(lambda: heard.connected == [True, False, True])
    await other.execute("NOTIFY news, 'again'")
    await heard.until(lambda: heard.notifications == [("news", "again")])


async def test_it_waits_for_a_server_that_is_not_there_yet_and_shows_life_but_no_progress(database, heard, nursery):
    refusals = 3
    beats = Beats()

    async def late(deadline):
        nonlocal refusals
        refusals -= 1
        assert not beats.progressing()
        if refusals >= 0:
            raise ConnectFailed("not yet")
        return await connect(database, deadline=deadline)

    nursery.start_soon(NotificationListener(late, ["news"], heard.deliver, heard.connect, PATIENT).run, beats)
    await heard.until(lambda: heard.connected == [True])
    assert beats.count >= 6
    assert beats.progressing()
    assert beats.waits[:3] == [5.0, 5.0, 5.0]


async def test_abort_frees_it_from_another_task(database, heard, nursery):
    own = listener(database, heard, PATIENT)
    own.abort()
    nursery.start_soon(own.run, Beats())
    await heard.until(lambda: heard.connected == [True])
    own.abort()
    await heard.until(lambda: heard.connected == [True, False, True])


async def test_cancelling_it_closes_its_connection(database, other, heard):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(listener(database, heard, PATIENT).run, Beats())
        await heard.until(lambda: heard.connected == [True])
        nursery.cancel_scope.cancel()
    assert heard.connected == [True, False]
    await eventually_rows(other, [], LISTENERS)


async def test_a_receiver_that_raises_is_not_taken_for_a_lost_connection(database, other, heard):
    def fail(channel, payload):
        raise KeyError(payload)

    own = NotificationListener(partial(open_connection, database), ["news"], fail, heard.connect, PATIENT)
    connection = await connect(database)
    session = await own.open(connection, Beats())
    await other.execute("NOTIFY news, 'x'")
    with pytest.raises(KeyError):
        await turn_for_ever(own, session)
    connection.close()


async def test_a_full_notification_queue_makes_it_deaf_not_broken(heard):
    """PostgreSQL refuses a NOTIFY with 54000 when a listener elsewhere does not read; ours must survive that."""
    from vivero.storage.postgres.errors import DataPoison
    from vivero.storage.postgres.notification_listener import ListenSession

    class Full:
        closed = False

        async def execute(self, *arguments, **options):
            raise DataPoison("too many notifications in the NOTIFY queue")

        async def notifications(self, timeout_s):
            await trio.sleep(timeout_s)
            return []

        def abort(self):
            self.closed = True

    session = ListenSession(Full(), "ping", trio.current_time(), trio.current_time())
    with pytest.raises(ConnectionLost, match="did not receive"):
        await turn_for_ever(listener("", heard), session)


@pytest.mark.parametrize("name", ["", "two words", 'quote"', "ü"])
def test_a_channel_that_is_no_name_is_refused(name):
    with pytest.raises(ValueError, match="not a valid channel name"):
        NotificationListener(None, ["news", name], print, print)
