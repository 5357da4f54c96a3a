"""Lengths and turns of quanta. Times are given, so that nothing here depends on the machine."""

import pytest

from vivero.engine.consumer.quanta import (
    ALONE_S,
    COMPANY_S,
    FASTER,
    FELT_S,
    FIRST_ITEMS,
    LEAST_ITEMS,
    LEAST_SHARED_S,
    MOST_CREDIT_S,
    PART_OF_COMMIT,
    SHARE,
    SHARED_S,
    SLOWER,
    Quanta,
)


def settled(quanta, now, per_item_s, slowness=1.0):
    """The length that quanta come to when each item takes so long, and `slowness` times as long by the clock."""
    for _ in range(60):
        worked_s = quanta.items * per_item_s
        quanta.fit(now, worked_s, slowness * worked_s, full=True)
    return quanta.items


def test_they_are_long_while_nobody_has_commands_and_short_while_others_have():
    quanta = Quanta(500)
    assert settled(quanta, now=100.0, per_item_s=0.0002) == pytest.approx(ALONE_S / 0.0002, rel=0.3)
    quanta.note_commands(99.998, 100.0, deferred=True)
    assert settled(quanta, now=100.5, per_item_s=0.0002) == pytest.approx(SHARED_S / 0.0002, rel=0.3)
    assert settled(quanta, now=100.1 + COMPANY_S, per_item_s=0.0002) == pytest.approx(ALONE_S / 0.0002, rel=0.3)


def test_they_are_never_longer_than_a_command_nor_empty():
    quanta = Quanta(500)
    assert settled(quanta, now=0.0, per_item_s=1e-9) == 500
    assert settled(quanta, now=0.0, per_item_s=1.0) == LEAST_ITEMS
    small = Quanta(1)
    assert small.items == settled(small, now=0.0, per_item_s=1.0) == settled(small, now=0.0, per_item_s=1e-9) == 1


def test_one_that_took_long_for_another_reason_makes_the_next_half_as_long_at_most():
    quanta = Quanta(500)
    quanta.fit(0.0, 10.0, 10.0, full=True)
    assert quanta.items == int(FIRST_ITEMS * SLOWER)
    quanta.fit(0.0, 0.0, 0.0, full=True)
    assert quanta.items == int(FIRST_ITEMS * SLOWER * FASTER)


def test_one_that_had_less_to_do_says_nothing_of_longer_ones():
    quanta = Quanta(500)
    quanta.fit(0.0, 1e-6, 1e-6, full=False)
    assert quanta.items == FIRST_ITEMS


def test_commands_come_first_until_they_have_taken_their_part_of_the_time():
    quanta = Quanta(500)
    quanta.note_quantum(0.004, waited=False)
    assert not quanta.due
    turns = 0
    for _ in range(100):
        quanta.note_commands(0.0, 0.002, deferred=True)
        if quanta.due:
            turns += 1
            quanta.note_quantum(0.004, waited=True)
    assert turns * 0.004 == pytest.approx(SHARE * 100 * 0.002, rel=0.1)


@pytest.mark.parametrize("took_s", [2 * MOST_CREDIT_S, 20 * MOST_CREDIT_S])
def test_quanta_that_are_longer_than_any_credit_have_their_part_all_the_same(took_s):
    """One item may take longer than that. What it takes beyond is owed."""
    quanta = Quanta(500)
    quanta.note_quantum(took_s, waited=False)
    turns = 0
    for _ in range(10_000):
        quanta.note_commands(0.0, 0.002, deferred=True)
        if quanta.due:
            turns += 1
            quanta.note_quantum(took_s, waited=True)
    assert turns * took_s == pytest.approx(SHARE * 10_000 * 0.002, rel=0.1)


def test_what_commands_took_long_ago_is_forgotten_when_there_are_none():
    quanta = Quanta(500)
    quanta.note_commands(0.0, 10.0, deferred=True)
    assert quanta.due
    quanta.note_quantum(0.001, waited=False)
    assert not quanta.due


def test_commands_that_no_work_has_waited_for_give_it_no_turn():
    """Otherwise all commands that come while it begins would wait for quanta."""
    quanta = Quanta(500)
    quanta.note_commands(0.0, 10.0, deferred=True)
    quanta.note_commands(10.0, 20.0, deferred=False)
    assert not quanta.due


def test_commands_wait_for_few_quanta_in_a_row_whatever_others_took():
    quanta = Quanta(500)
    quanta.note_commands(0.0, 1000.0, deferred=True)
    turns = 0
    while quanta.due:
        quanta.note_quantum(MOST_CREDIT_S / 3, waited=True)
        turns += 1
    assert 1 <= turns <= 3


def test_while_others_have_commands_they_take_no_longer_by_the_clock_than_those_may_feel():
    quanta = Quanta(500)
    quanta.note_commands(0.0, 0.0, deferred=True)
    assert settled(quanta, 0.0, 0.0001, slowness=5.0) == pytest.approx(FELT_S / 5.0 / 0.0001, rel=0.3)
    assert settled(quanta, 0.0, 0.0001, slowness=1.0) == pytest.approx(SHARED_S / 0.0001, rel=0.3)
    assert settled(quanta, COMPANY_S, 0.0001, slowness=50.0) == pytest.approx(ALONE_S / 0.0001, rel=0.3)


def test_however_slow_the_clock_says_they_are_they_do_some_work():
    quanta = Quanta(500)
    quanta.note_commands(0.0, 0.0, deferred=True)
    assert settled(quanta, 0.0, 0.0001, slowness=1000.0) == pytest.approx(LEAST_SHARED_S / 0.0001, rel=0.3)


def test_where_commits_take_long_anyway_they_are_longer():
    quanta = Quanta(500)
    quanta.note_commands(0.0, 0.0, deferred=True)
    for _ in range(60):
        quanta.note_commit(0.015)
    expected = pytest.approx(PART_OF_COMMIT * 0.015 / 0.0001, rel=0.3)
    assert settled(quanta, 0.0, 0.0001, slowness=50.0) == expected
    for _ in range(60):
        quanta.note_commit(10.0)
    assert settled(quanta, 0.0, 0.0001, slowness=50.0) == pytest.approx(SHARED_S / 2 / 0.0001, rel=0.3)
