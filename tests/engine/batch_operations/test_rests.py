"""The rests of batch operations: none alone, most of the time beside others, and never for long. Times are given."""

import pytest

from vivero.engine.batch_operations.rests import MOST_REST_S, MOST_WORK_S, SHARE, Rests


class Task:
    """Works in flights whose turns and commands take a time each, and rests as it is told."""

    def __init__(self) -> None:
        self.rests, self.now = Rests(), 100.0

    def turn(self, took_s, *, moved=True, waiting=False, beside=True):
        """The rest in the middle of a turn, behind what was settled."""
        self.rests.begin(self.now)
        self.now += took_s
        self.rests.note_work(moved)
        return self.rests.rest_s(self.now, beside, waiting)

    def flight(self, took_s, *, beside=True):
        """Commands are sent, are processed and settled; the rest after that."""
        assert self.turn(took_s / 4, waiting=True, beside=beside) == 0
        assert self.turn(took_s / 4, moved=False, waiting=True, beside=beside) == 0, "they are not processed yet"
        return self.turn(took_s / 2, beside=beside)


@pytest.mark.parametrize("took_s", [0.004, 0.02, 0.15])
def test_beside_others_it_works_for_a_part_of_the_time_however_slow_the_machine_is(took_s):
    task, worked_s = Task(), 0.0
    began = task.now
    for _ in range(50):
        worked_s += took_s
        rest_s = task.flight(took_s)
        task.now += rest_s
    assert worked_s / (task.now - began) == pytest.approx(SHARE)


def test_alone_it_never_rests_and_owes_nothing_later():
    task = Task()
    assert [task.flight(0.1, beside=False) for _ in range(50)] == [0.0] * 50
    assert task.flight(0.01) == pytest.approx(0.01 * (1 - SHARE) / SHARE)


def test_the_next_commands_follow_however_long_others_keep_everything_slow():
    task = Task()
    assert task.flight(0.9 * MOST_WORK_S) == MOST_REST_S


def test_commands_that_nobody_processes_do_not_keep_it_from_resting():
    task = Task()
    assert task.turn(MOST_WORK_S / 2, waiting=True) == 0
    assert task.turn(MOST_WORK_S / 2, waiting=True) == MOST_REST_S


def test_turns_that_find_nothing_to_do_are_no_work():
    task = Task()
    assert [task.turn(0.5, moved=False) for _ in range(20)] == [0.0] * 20
    assert task.flight(0.01) == pytest.approx(0.01 * (1 - SHARE) / SHARE)


def test_the_turn_after_a_rest_goes_on_also_if_there_is_always_work():
    task = Task()
    rests = [task.turn(0.01) for _ in range(6)]
    once = 0.01 * (1 - SHARE) / SHARE
    assert rests == pytest.approx([once, 0, 2 * once, 0, 2 * once, 0])
