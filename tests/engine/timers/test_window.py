"""The window of the nearest due dates, against a table of all of them that is searched each time."""

import random

import pytest

from vivero.engine.timers.window import Window
from vivero.storage.work.timers import PendingTimer


class Table:
    """All pending timers: what the window stands for. Reads go as the timer task does them."""

    def __init__(self, size) -> None:
        self.rows = {}
        self.window = Window(size)
        self.size = size
        self.refill()

    def refill(self):
        nearest = sorted(self.rows.values(), key=lambda timer: (timer.due_at, timer.key))[: self.size]
        self.window.fill(nearest, None if len(nearest) < self.size else nearest[-1].due_at)

    def schedule(self, key, due):
        self.rows[key] = PendingTimer(key, due, "t")
        return self.window.put(self.rows[key], due)

    def end(self, key):
        del self.rows[key]
        self.window.drop(key)

    def fire(self, now, limit):
        if self.window.is_used_up():
            self.refill()
        taken = self.window.take(now, limit)
        for timer in taken:
            del self.rows[timer.key]
        return [timer.due_at for timer in taken]

    def due(self, now):
        return sorted(timer.due_at for timer in self.rows.values() if timer.due_at <= now)


@pytest.mark.parametrize("size", [1, 2, 7, 50])
@pytest.mark.parametrize("run", range(10))
def test_whatever_happens_the_nearest_are_taken_in_order_and_none_is_forgotten(size, run, seed):
    random_ = random.Random(seed + run)
    table, now, fired, scheduled, ended = Table(size), 0, 0, 0, 0
    for step in range(1_500):
        what = random_.random()
        if what < 0.5:
            table.schedule(step, now + random_.randrange(200))
            scheduled += 1
        elif what < 0.65 and table.rows:
            table.schedule(random_.choice(list(table.rows)), now + random_.randrange(-20, 400))
        elif what < 0.75 and table.rows:
            table.end(random_.choice(list(table.rows)))
            ended += 1
        else:
            now += random_.randrange(30)
            limit = random_.randrange(1, 5)
            due = table.due(now)
            taken = table.fire(now, limit)
            assert taken == due[: len(taken)], "in order, and the nearest of all"
            assert bool(taken) == bool(due)
            fired += len(taken)
        assert len(table.window) <= 2 * size
        assert len(table.window._heap) <= 2 * size
    while table.rows:
        fired += len(table.fire(10**6, 100))
    assert fired == scheduled - ended


def test_what_is_behind_the_horizon_is_left_to_the_table():
    table = Table(2)
    for key, due in enumerate((10, 20, 30)):
        table.schedule(key, due)
    table.refill()
    assert table.window.horizon == 20
    assert not table.schedule(9, 25)
    assert table.schedule(8, 20)
    assert table.schedule(7, 1)


def test_a_moved_timer_is_known_by_its_last_date_only():
    table = Table(10)
    table.schedule(1, 10)
    table.schedule(1, 30)
    assert table.fire(29, 5) == []
    table.schedule(1, 5)
    assert table.fire(29, 5) == [5]
    assert table.fire(99, 5) == []


def test_a_timer_that_is_put_off_keeps_its_due_date():
    window = Window(10)
    window.fill([], None)
    window.put(PendingTimer(1, 10, "t"), 40)
    window.put(PendingTimer(2, 20, "t"), 20)
    assert window.nearest() == 20
    assert [timer.key for timer in window.take(30, 5)] == [2]
    assert [(timer.key, timer.due_at) for timer in window.take(40, 5)] == [(1, 10)]


def test_a_timer_that_is_put_off_hides_nobody_behind_the_horizon():
    window = Window(2)
    window.fill([], 20)
    window.put(PendingTimer(1, 10, "t"), 10)
    window.put(PendingTimer(2, 20, "t"), 60_000)
    assert not window.is_used_up()
    window.take(10, 5)
    assert window.nearest() == 60_000
    assert window.is_used_up()
