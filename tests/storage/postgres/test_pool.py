"""The pool: bounded, fair, and never handing on a connection that somebody left dirty."""

from functools import partial

import pytest
import trio

from tests.eventually import eventually
from vivero.storage.postgres.driver import connect
from vivero.storage.postgres.errors import ConnectFailed, ConnectionLost, DeadlineExceeded, Outage
from vivero.storage.postgres.pool import Pool, PoolClosed, PoolExhausted


@pytest.fixture
async def pool(database):
    pool = Pool(lambda deadline: connect(database, deadline=deadline), 2)
    yield pool
    pool.close()
    assert pool.stats.in_use == 0
    assert pool.stats.waiting == 0


async def backend(pool):
    async with pool.connection() as connection:
        return connection.backend_pid


async def test_a_connection_is_reused(pool):
    first = await backend(pool)
    assert await backend(pool) == first
    assert (pool.stats.opened, pool.stats.idle, pool.stats.in_use, pool.stats.discarded) == (1, 1, 0, 0)


async def test_a_connection_to_a_read_only_server_is_not_used_again(database):
    """Another host may be the primary by now."""
    pool = Pool(lambda deadline: connect(database, deadline=deadline), 1)

    async def write():
        async with pool.connection() as connection:
            await connection.execute("CREATE TEMPORARY TABLE t ()")
            await connection.script("SET default_transaction_read_only = on")
            await connection.execute("CREATE TABLE t ()")

    for _ in range(2):
        with pytest.raises(Outage):
            await write()
    assert (pool.stats.opened, pool.stats.discarded) == (2, 2)
    pool.close()


async def test_never_more_connections_than_its_size(pool):
    most = 0

    async def use():
        nonlocal most
        async with pool.connection() as connection:
            most = max(most, pool.stats.in_use)
            await connection.execute("SELECT 1")

    async with trio.open_nursery() as nursery:
        for _ in range(20):
            nursery.start_soon(use)
    assert most == 2
    assert pool.stats.opened == 2


async def test_who_waits_longest_is_served_first(pool):
    order = []

    async def use(number):
        async with pool.connection():
            order.append(number)

    async with pool.connection(), trio.open_nursery() as nursery, pool.connection():
        for number in range(5):
            nursery.start_soon(use, number)
            await trio.testing.wait_all_tasks_blocked()
        assert pool.stats.waiting == 5
    assert order == [0, 1, 2, 3, 4]


async def test_waits_are_told_with_their_times(database):
    waited = []
    pool = Pool(lambda deadline: connect(database, deadline=deadline), 1, waited.append)
    async with pool.connection():
        pass
    assert waited == [], "a free connection takes no wait"
    async with trio.open_nursery() as nursery, pool.connection():
        began = trio.current_time()
        with pytest.raises(PoolExhausted):
            await pool.connection(deadline=began + 0.05).__aenter__()
        assert 0 < waited[0] <= trio.current_time() - began
        nursery.start_soon(backend, pool)
        await trio.testing.wait_all_tasks_blocked()
        assert len(waited) == 1
        asked = trio.current_time()
        await trio.testing.wait_all_tasks_blocked(0.05)
        least = trio.current_time() - asked
    assert len(waited) == 2
    assert waited[1] >= least >= 0.05
    pool.close()


async def test_waiting_ends_at_the_deadline(pool):
    async with pool.connection(), pool.connection():
        started = trio.current_time()
        with pytest.raises(PoolExhausted, match="all 2 connections"):
            await pool.connection(deadline=started + 0.05).__aenter__()
        assert 0.05 <= trio.current_time() - started < 3
    assert pool.stats.exhausted == 1


async def test_a_connection_left_inside_a_transaction_is_closed(pool):
    async with pool.connection() as connection:
        await connection.script("CREATE TABLE t (n int)")
        await connection.execute("BEGIN")
        await connection.execute("INSERT INTO t VALUES (1)")
    assert connection.closed
    async with pool.connection() as connection:
        assert (await connection.execute("SELECT * FROM t")).rows == []
    assert pool.stats.discarded == 1


async def test_a_connection_that_broke_is_replaced(pool):
    async with pool.connection() as connection:
        connection.abort()
    assert await backend(pool) != connection.backend_pid
    assert pool.stats.discarded == 1


async def test_a_connection_that_was_closed_by_the_server_while_idle_is_not_handed_out(pool):
    dead = await backend(pool)
    async with pool.connection() as one, pool.connection() as other:
        killer = other if one.backend_pid == dead else one
        await killer.execute("SELECT pg_terminate_backend($1, 5000)", (dead,))
        victim = one if killer is other else other
        await eventually(lambda victim=victim: victim.has_input, every_s=0)
    for _ in range(2):
        assert await backend(pool) != dead


async def test_after_a_deadline_idle_connections_are_not_trusted_either(database, proxy):
    dsn = proxy.dsn(database)
    pool = Pool(lambda deadline: connect(dsn, deadline=deadline), 3)
    async with pool.connection(), pool.connection(), pool.connection():
        pass
    assert pool.stats.idle == 3
    proxy.swallow = True
    with pytest.raises(DeadlineExceeded):
        await use(pool, deadline=trio.current_time() + 0.05)
    assert (pool.stats.idle, pool.stats.discarded) == (0, 3)
    pool.close()


async def use(pool, deadline):
    async with pool.connection() as connection:
        await connection.execute("SELECT 1", deadline=deadline)


async def test_cancelled_users_leak_nothing(pool):
    """Cancels at every stage: in the queue, while connecting, in a query, and between two of them."""
    for delay in range(60):
        async with trio.open_nursery() as nursery:
            for _ in range(4):
                nursery.start_soon(partial(use, pool, deadline=None))
            await trio.sleep(delay / 10_000)
            nursery.cancel_scope.cancel()
        assert pool.stats.in_use == 0
        assert pool.stats.waiting == 0
        assert pool.stats.opened - pool.stats.discarded == pool.stats.idle <= 2
    await use(pool, deadline=None)


async def test_a_failed_connect_frees_its_place(tmp_path):
    pool = Pool(lambda deadline: connect(f"host={tmp_path} user=u dbname=d", deadline=deadline), 1)
    for _ in range(3):
        with pytest.raises(ConnectFailed):
            await use(pool, deadline=None)
    assert pool.stats.in_use == 0


async def test_closed_pool_gives_nothing_and_closes_what_comes_back(pool):
    async with pool.connection() as connection:
        pool.close()
        assert (await connection.execute("SELECT 1")).rows == [(1,)]
    assert connection.closed
    with pytest.raises(PoolClosed):
        await use(pool, deadline=None)


async def test_closing_turns_away_those_who_wait(pool):
    refused = 0

    async def wait():
        nonlocal refused
        with pytest.raises(PoolClosed):
            await use(pool, deadline=None)
        refused += 1

    async with trio.open_nursery() as nursery, pool.connection(), pool.connection():
        for _ in range(3):
            nursery.start_soon(wait)
        await trio.testing.wait_all_tasks_blocked()
        pool.close()
    assert refused == 3


async def test_abort_frees_calls_in_progress_and_the_pool_goes_on(pool):
    async def hang():
        async with pool.connection() as connection:
            with pytest.raises(ConnectionLost):
                await connection.execute("SELECT pg_sleep(60)")

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hang)
        nursery.start_soon(hang)
        await eventually(lambda: pool.stats.in_use >= 2 and pool.stats.opened >= 2, every_s=0)
        await trio.testing.wait_all_tasks_blocked(0.01)
        pool.abort()
    await use(pool, deadline=None)
    assert (pool.stats.opened, pool.stats.discarded) == (3, 2)


def test_a_pool_of_nothing_is_refused():
    with pytest.raises(ValueError, match="0"):
        Pool(lambda deadline: connect("", deadline=deadline), 0)


class Granted:
    """A connection to a server that grants a number of them; tells how often it was asked."""

    has_input, reusable = False, True

    def __init__(self, server) -> None:
        self.server = server

    def close(self):
        self.server.free += 1


class Server:
    def __init__(self, free) -> None:
        self.free, self.asked, self.granted = free, 0, []

    async def connect(self, _deadline):
        await trio.lowlevel.checkpoint()
        self.asked += 1
        if self.free <= 0:
            raise ConnectFailed("too many connections")
        self.free -= 1
        self.granted.append(Granted(self))
        return self.granted[-1]


async def test_a_pool_works_with_what_the_server_grants(autojump_clock):
    """It asks for more once a second."""
    server, served = Server(3), []
    pool = Pool(server.connect, 8)

    async def use(number):
        async with pool.connection():
            await trio.sleep(0.2)
            served.append(number)

    async with trio.open_nursery() as nursery:
        for number in range(40):
            nursery.start_soon(use, number)
            await trio.testing.wait_all_tasks_blocked()
    assert sorted(served) == list(range(40))
    assert (pool.stats.idle, pool.stats.in_use, pool.stats.discarded, pool.stats.exhausted) == (3, 0, 0, 0)
    assert server.asked < 10


async def test_a_pool_that_gets_no_connection_at_all_says_so(autojump_clock):
    server = Server(1)
    pool, other = Pool(server.connect, 2), Pool(server.connect, 2)
    async with pool.connection():
        with pytest.raises(ConnectFailed):
            await backend(other)
        with pytest.raises(PoolExhausted, match="PostgreSQL grants no more than 1 connections"):
            await backend(pool)
    assert pool.stats.exhausted == 1


async def test_nobody_waits_for_a_connection_that_does_not_come_back(autojump_clock):
    """Those that broke are not granted again."""
    server, failures = Server(2), []
    pool = Pool(server.connect, 4)

    async def use():
        with pytest.raises(ConnectFailed):
            await backend(pool)
        failures.append(trio.current_time())

    began = trio.current_time()
    async with trio.open_nursery() as nursery, pool.connection(), pool.connection():
        for _ in range(2):
            nursery.start_soon(use)
            await trio.testing.wait_all_tasks_blocked()
        for each in server.granted:
            each.reusable = False
        server.free = -2
    assert failures == [began, began]


async def test_closing_turns_away_those_who_wait_for_a_granted_connection(autojump_clock):
    pool = Pool(Server(1).connect, 2)

    async def use():
        with pytest.raises(PoolClosed):
            await backend(pool)

    async with trio.open_nursery() as nursery, pool.connection():
        nursery.start_soon(use)
        await trio.testing.wait_all_tasks_blocked()
        pool.close()
