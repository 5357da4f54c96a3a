"""The order of partitions for activation under a backlog. Without a database."""

from itertools import pairwise

import pytest

from vivero.api.activation.job_turns import FAIR_EVERY, JobTurns
from vivero.storage.work.scan_bounds import SubjectBounds


def backlog():
    bounds = SubjectBounds(0.0)
    bounds.note_plain(0.0, large=False, slow=False, full=True)
    return bounds


def firsts(partitions, led, looks):
    turns, bounds = JobTurns(lambda: partitions, lambda: led), backlog()
    return [turns.first(bounds) for _ in range(looks)]


@pytest.mark.parametrize("led", [[], [1], [3], [1, 2], [2, 3, 4], [1, 2, 3, 4]])
def test_each_partition_comes_first_within_a_bounded_number_of_looks(led):
    found = firsts([1, 2, 3, 4], led, 10 * FAIR_EVERY * 4)
    for partition in range(1, 5):
        places = [place for place, first in enumerate(found) if first == partition]
        assert all(later - earlier <= 4 * FAIR_EVERY for earlier, later in pairwise(places))
        assert places[0] < 4 * FAIR_EVERY


def test_own_partitions_come_first_most_often_and_in_turn():
    found = firsts([1, 2, 3, 4], [2, 3], 400)
    assert [found.count(partition) for partition in (1, 2, 3, 4)] == [25, 175, 175, 25]


def test_without_a_backlog_or_with_one_partition_no_partition_comes_first():
    turns = JobTurns(lambda: [1, 2], lambda: [1])
    bounds = backlog()
    assert turns.first(bounds) is not None
    bounds.note_plain(0.0, large=False, slow=False, full=False)
    assert turns.first(bounds) is None
    assert JobTurns().first(backlog()) is None


def test_looks_with_bounds_take_the_jobs_of_all_partitions_in_turn():
    turns, bounds = JobTurns(lambda: [1, 2, 3], lambda: [2]), SubjectBounds(0.0)
    orders = [turns.order(bounds) for _ in range(FAIR_EVERY * 3)]
    assert all(sorted(order) == [1, 2, 3] for order in orders)
    assert {order[0] for order in orders} == {1, 2, 3}
    assert JobTurns().order(bounds) == (1,)
