"""An outage is told once, and again after a minute; its end once."""

from structlog.testing import capture_logs

from vivero.storage.postgres import outage_log
from vivero.storage.postgres.outage_log import OutageLog


async def test_an_outage_is_told_once_and_its_end_once(autojump_clock):
    outage = OutageLog()
    with capture_logs() as told:
        for number in range(1_000):
            outage.failed("connection lost", f"refused at port {number}", task="a")
        outage.failed("connection lost", "starting up", task="a")
        assert outage.lasts
        outage.works("connected again", task="a")
        assert not outage.lasts
        outage.works("connected again", task="a")
    assert [(entry["event"], entry["log_level"]) for entry in told] == [
        ("connection lost", "warning"),
        ("connection lost", "warning"),
        ("connected again", "info"),
    ]
    assert told[2]["failures"] == 1_001


async def test_a_single_failure_has_no_end(autojump_clock):
    outage = OutageLog()
    with capture_logs() as told:
        outage.failed("connection lost", "reset")
        outage.works("connected again")
    assert len(told) == 1


async def test_a_long_outage_is_told_once_a_minute(mock_clock):
    outage = OutageLog()
    with capture_logs() as told:
        for _ in range(600):
            outage.failed("connection lost", "refused")
            mock_clock.jump(1)
    assert len(told) == 10
    assert told[-1]["failures"] == 541


async def test_an_outage_without_a_failure_for_a_minute_is_over(mock_clock):
    outage = OutageLog()
    with capture_logs() as told:
        outage.failed("read failed", "refused")
        outage.failed("read failed", "refused")
        mock_clock.jump(outage_log.REMIND_S + 1)
        outage.failed("read failed", "refused")
    assert [entry.get("failures") for entry in told] == [None, None]


async def test_many_different_errors_do_not_fill_the_log(autojump_clock):
    outage = OutageLog()
    with capture_logs() as told:
        for number in range(100):
            outage.failed("read failed", "x" * number)
    assert len(told) == outage_log.KINDS
