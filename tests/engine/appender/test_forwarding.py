"""An inbox moves to its log as fast as the owner works it off, so that clients' commands need not wait."""

import pytest
import trio

from tests.eventually import GUARD_S
from vivero.engine.appender.forwarding import AT_LEAST, Forwarding, LogProgress
from vivero.engine.appender.settings import AppenderSettings
from vivero.engine.appender.task import Appender
from vivero.engine.supervision.beat import Beat
from vivero.engine.supervision.settings import SupervisionSettings

ZERO = 1 << 51
"""The position before the first."""


@pytest.fixture
def forwarding():
    return Forwarding(500, 0.5)


def test_without_an_owner_here_as_many_go_as_fit_in_one_move(forwarding):
    forwarding.moved(1, 500, 500)
    assert forwarding.capacity(1, None) == 500


@pytest.mark.parametrize(("per_second", "most"), [(0.0, AT_LEAST), (10.0, AT_LEAST), (300.0, 150), (1e6, 500)])
def test_as_many_are_under_way_as_the_owner_works_off_soon(forwarding, per_second, most):
    assert forwarding.capacity(1, LogProgress(0, per_second)) == most
    forwarding.moved(1, most, most)
    if most < 500:
        assert forwarding.capacity(1, LogProgress(0, per_second)) == 0


def test_what_has_been_processed_makes_room(forwarding):
    forwarding.moved(1, 20, 20)
    forwarding.moved(1, 50, 30)
    assert forwarding.capacity(1, LogProgress(19, 0.0)) == 0
    assert forwarding.capacity(1, LogProgress(20, 0.0)) == 20
    assert forwarding.capacity(1, LogProgress(50, 0.0)) == AT_LEAST


def test_commands_of_clients_take_no_room(forwarding):
    """Running work goes on, however far behind the owner is."""
    forwarding.moved(1, 20, 20)
    assert forwarding.capacity(1, LogProgress(30, 0.0)) == AT_LEAST


def test_partitions_do_not_share_it(forwarding):
    forwarding.moved(1, 50, 50)
    assert forwarding.capacity(2, LogProgress(0, 0.0)) == AT_LEAST


async def test_the_appender_moves_on_as_the_owner_does(connect, connection):
    """As many at a time as there is room for, and none is forgotten."""
    await connection.execute(
        "INSERT INTO inbox (target_partition, tenant_id, intent, key, payload)"
        " SELECT 1, 't', 'X:Y', n, '{}' FROM generate_series(1, 120) n"
    )
    at = ZERO
    appender = Appender(
        connect, AppenderSettings(), progress_of=lambda partition: LogProgress(at, 0.0), led_partitions=lambda: (1,)
    )
    appender.inbox_filled(1)
    beat, link, seen = Beat(SupervisionSettings()), await connect(), []
    await appender.begin(link)
    for _ in range(5):
        while await appender.run_once(link, beat):
            pass
        (at,) = (await connection.execute("SELECT coalesce(max(position), 1::bigint << 51) FROM command_log")).rows[0]
        seen.append(at)
        appender.processed(1)
    assert [position - ZERO for position in seen] == [50, 100, 120, 120, 120]
    assert not await appender.run_once(link, beat)


async def test_the_appender_waits_for_the_owner_without_turning(connect, connection, nursery):
    await connection.execute(
        "INSERT INTO inbox (target_partition, tenant_id, intent, key, payload)"
        " SELECT 1, 't', 'X:Y', n, '{}' FROM generate_series(1, 60) n"
    )
    at, reached = ZERO, {50: trio.Event(), 60: trio.Event()}
    appender = Appender(
        connect,
        AppenderSettings(poll_s=1000),
        appended=lambda partition, position: reached[position - ZERO].set(),
        progress_of=lambda partition: LogProgress(at, 0.0),
        led_partitions=lambda: (1,),
    )
    nursery.start_soon(appender.run, Beat(SupervisionSettings()))
    with trio.fail_after(GUARD_S):
        await reached[50].wait()
        at = ZERO + 50
        appender.processed(1)
        await reached[60].wait()
    nursery.cancel_scope.cancel()
