"""The figures of a node: the rate of commands is what was processed lately, so it is 0 on an idle server."""

from types import SimpleNamespace

import pytest
import trio

from tests.core.models import ONE_TASK
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer
from vivero.engine.counters.recent import WINDOW_S, Recent
from vivero.engine.supervision.slowness import Slowness
from vivero.node.status_figures import status_figures


class TestRecent:
    def test_a_steady_rate(self):
        recent = Recent()
        for tenths in range(5_000, 5_200):
            recent.note(3, tenths / 10)
            if tenths >= 5_000 + 10 * (WINDOW_S + 1):
                assert recent.per_second(tenths / 10) == pytest.approx(30, rel=0.02)

    @pytest.mark.parametrize(("later_s", "rate"), [(0, 40.0), (WINDOW_S, 40.0), (WINDOW_S + 1, 0.0), (90_000, 0.0)])
    def test_what_is_older_than_the_window_is_forgotten(self, later_s, rate):
        recent = Recent()
        recent.note(400, 1_000)
        assert recent.per_second(1_000 + later_s) == rate

    def test_seconds_without_events_count(self):
        recent = Recent()
        for second in (2_000, 2_004, 2_009):
            recent.note(10, second)
        assert recent.per_second(2_010) == 3.0
        assert recent.per_second(2_014) == 2.0, "the first ten are gone"


async def test_an_idle_server_processes_no_commands(migrated, connection):
    serial = Serial()
    serial.deploy(ONE_TASK)
    for _ in range(20):
        serial.start()
    supervisor = SimpleNamespace(health=list, slowness=Slowness())
    definitions = SimpleNamespace(stats=SimpleNamespace(size=0, bytes=0, hits=0, misses=0, evictions=0))
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=5)

    def rate(later_s):
        now_s = trio.current_time() + later_s
        [partition] = status_figures(supervisor, {1: consumer}, definitions, now_s)["partitions"]
        return partition["leads"], partition["commandsPerSecond"]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(await append(connection, serial.commands))
        leads, busy = rate(0)
        assert leads
        assert 1.5 <= busy <= len(serial.commands) / WINDOW_S
        assert rate(WINDOW_S + 1) == (True, 0.0)
        nursery.cancel_scope.cancel()
