"""Random tests draw further cases where the first ones do nothing."""

from tests.rounds import TIMES, drawn


def test_no_more_cases_are_drawn_than_wanted_if_they_are_enough():
    assert list(drawn(5, 3, lambda: True)) == [5, 6, 7]


def test_cases_are_drawn_until_they_are_enough():
    seen = []
    for one in drawn(5, 3, lambda: sum(seen) > 40):
        seen.append(one)
    assert seen == [5, 6, 7, 8, 9, 10]


def test_no_test_draws_for_ever():
    assert len(list(drawn(5, 3, lambda: False))) == 3 * TIMES
