"""The small commit that proves that PostgreSQL serves, over networks that lose only what is large."""

import pytest
import trio

from vivero.storage.log import attempts
from vivero.storage.postgres import driver
from vivero.storage.postgres.errors import DeadlineExceeded

PACKET = 1_500


@pytest.mark.long
@pytest.mark.parametrize("way", ["requests", "answers"])
async def test_a_network_that_loses_large_packets_serves_nobody(empty_database, proxy, way):
    """A batch does not get through there, however little it does: that is not the fault of its command."""
    connection = await driver.connect(proxy.dsn(empty_database), name="vivero:probe")
    assert await attempts.prove(connection, [], trio.current_time() + 20)
    proxy.lose_beyond = {way: PACKET}
    with pytest.raises(DeadlineExceeded):
        await attempts.prove(connection, [], trio.current_time() + 0.5)
