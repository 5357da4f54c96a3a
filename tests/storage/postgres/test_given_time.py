"""Deadlines of calls move by the time that the machine does not give."""

import pytest
import trio
import trio.testing

from vivero.storage.postgres.errors import DeadlineExceeded
from vivero.storage.postgres.given_time import GAP_S, GivenTime, given_time, measured, patient, withheld_s


async def test_without_a_measurement_all_time_is_given(autojump_clock):
    began = given_time()
    with trio.move_on_after(5) as scope, patient(scope):
        await trio.sleep(7)
    assert scope.cancelled_caught
    assert (given_time() - began, withheld_s()) == (5, 0)


async def test_a_patient_scope_waits_for_the_given_time(mock_clock):
    given = GivenTime()
    with measured(given), trio.fail_after(5) as scope:
        given.woke(trio.current_time(), 0)
        with patient(scope):
            mock_clock.jump(100)
            given.woke(trio.current_time(), 96)
            await trio.lowlevel.checkpoint()
            assert (given.now_s, given.withheld_s) == (4, 96)
            given.turned(3, 3 - GAP_S / 2)
            assert scope.deadline == 101
        mock_clock.jump(0.5)
        given.woke(trio.current_time(), 50)
        assert scope.deadline == 101


async def test_a_deadline_passes_after_the_given_time(mock_clock):
    given = GivenTime()
    with measured(given), trio.move_on_after(5) as scope, patient(scope):
        mock_clock.jump(100)
        given.woke(trio.current_time(), 94)
        await trio.sleep_forever()
    assert scope.cancelled_caught


class Noting(GivenTime):
    """Given time that tells which scopes it moves."""

    __slots__ = ("held",)

    def __init__(self) -> None:
        super().__init__()
        self.held = []

    def hold(self, scope):
        super().hold(scope)
        self.held.append(scope)

    def release(self, scope):
        super().release(scope)
        self.held.remove(scope)


async def test_a_call_of_the_database_has_a_deadline_in_given_time(connection):
    given = Noting()

    async def call(seconds):
        with pytest.raises(DeadlineExceeded):
            await connection.execute("SELECT pg_sleep(600)", deadline=trio.current_time() + seconds)

    with measured(given):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(call, 3600)
            await trio.testing.wait_all_tasks_blocked()
            (scope,) = given.held
            given.woke(0, 5000)
            assert scope.deadline - trio.current_time() > 8000
            scope.deadline = trio.current_time()
    assert given.held == []
