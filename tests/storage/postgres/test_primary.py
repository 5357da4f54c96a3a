"""A primary and a streaming standby: connections go to the one that accepts writes, before and after a failover."""

import pytest
import trio

from tests.replicas import dsn_of
from vivero.storage.postgres.errors import ConnectFailed, NoPrimary
from vivero.storage.postgres.primary import Primary
from vivero.storage.postgres.startup_problems import ReadOnlyServer, SeveralPrimaries
from vivero.storage.schema.checks import check

PORT = "SELECT current_setting('port')::int"


@pytest.fixture
async def pair(replicas):
    """(primary, standby), both running."""
    first, second = replicas("first"), replicas("second")
    await first.initialise()
    await second.copy(first)
    return first, second


async def port(connection):
    return (await connection.execute(PORT)).rows[0][0]


async def test_connections_follow_the_primary(pair):
    first, second = pair
    primary = Primary(dsn_of(second, first))
    before = await primary.connect("test")
    assert await port(before) == first.port

    await first.stop()
    with pytest.raises(NoPrimary, match=f"port {second.port} is a standby; .*Connection refused"):
        await primary.connect("test")
    with pytest.raises(ReadOnlyServer, match="no host accepts writes"):
        await check(dsn_of(second, first))

    second.promote()
    after = await primary.connect("test")
    assert await port(after) == second.port
    assert (await check(dsn_of(first, second))).address.startswith("vivero as postgres")

    await first.start()  # nobody has fenced it: it accepts writes again
    for _ in range(3):
        again = await Primary.connect(primary, "test")
        assert await port(again) == second.port
    with pytest.raises(SeveralPrimaries, match=f"{min(first.port, second.port)}.* both accept writes"):
        await check(dsn_of(first, second))
    await second.stop()
    with pytest.raises(NoPrimary, match="timeline 1 accepts writes, but timeline 2 has replaced it"):
        await primary.connect("test")


@pytest.mark.long
async def test_connections_to_a_primary_that_was_replaced_are_closed(pair):
    """The program began on the old primary, which nobody had stopped. It leaves when it meets the new one."""
    first, second = pair
    primary = Primary(dsn_of(first, second))
    old = await primary.connect("test")
    second.promote()
    unaware = await primary.connect("test")
    assert await port(unaware) == first.port

    first.sql("ALTER SYSTEM SET default_transaction_read_only = on")
    first.sql("SELECT pg_reload_conf()")
    with trio.fail_after(10):
        while await port(new := await primary.connect("test")) == first.port:
            new.close()
    assert old.closed
    assert unaware.closed
    assert not new.closed


@pytest.mark.long
async def test_a_standby_alone(pair):
    first, second = pair
    await first.stop()
    with pytest.raises(ReadOnlyServer, match="it is a standby"):
        await check(second.dsn)
    with pytest.raises(ConnectFailed):
        await Primary(f"{second.dsn} target_session_attrs=read-write").connect("test")
    reader = await Primary(second.dsn).connect("test")
    assert await port(reader) == second.port
