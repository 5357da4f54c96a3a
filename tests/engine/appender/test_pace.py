"""Running work comes before new work: the window of new commands, with a fake engine and no clock."""

import random

import pytest

from vivero.engine.appender.pace import FORGOTTEN_S, AppendPace, PaceSettings

SETTINGS = PaceSettings(least=32, most=1_000, work_lag_s=0.025, lag_s=0.5)


@pytest.fixture
def pace():
    return AppendPace(SETTINGS)


def test_new_commands_have_room_up_to_the_window(pace):
    assert pace.capacity() == 64
    pace.appended(60, 60, 0, 0.0, 0.0)
    assert pace.capacity() == 4
    pace.appended(70, 10, 0, 0.0, 0.0)
    assert pace.capacity() == 0
    pace.processed(59, 0.01)
    assert pace.capacity() == 0
    pace.processed(60, 0.01)
    assert pace.capacity() == 54


def test_the_window_shrinks_when_running_work_waits_and_not_below_its_least(pace):
    now = 0.0
    for position in range(1, 40):
        pace.appended(position, 1, 1, now, now)
        pace.processed(position, now := now + 0.03)
    assert pace.capacity() == SETTINGS.least


def test_waiting_before_the_log_counts(pace):
    pace.appended(1, 0, 1, 0.0, 0.02)
    pace.processed(1, 0.03)
    assert pace.capacity() == 51


def test_whatever_was_appended_before_shrinks_it_only_once(pace):
    for position in range(1, 20):
        pace.appended(position, 0, 1, 0.0, 0.0)
    pace.processed(19, 1.0)
    assert pace.capacity() == 51


def test_the_window_grows_only_if_it_was_filled(pace):
    for position in range(1, 100):
        pace.appended(position, 64, 0, 0.0, 0.0)
        pace.processed(position, 0.01)
    assert pace.capacity() == 64
    pace.filled = True
    pace.appended(100, 64, 0, 0.0, 0.0)
    pace.processed(100, 0.01)
    assert pace.capacity() == 68


def test_new_commands_that_nobody_waits_behind_may_wait_longer(pace):
    pace.filled = True
    pace.appended(1, 64, 0, 0.0, 0.0)
    pace.processed(1, 0.4)
    assert pace.capacity() == 68
    pace.appended(2, 64, 0, 1.0, 1.0)
    pace.processed(2, 1.6)
    assert pace.capacity() == 54


def test_what_a_crash_took_does_not_hold_back_others_for_ever(pace):
    pace.appended(64, 64, 0, 0.0, 0.0)
    pace.processed(10, FORGOTTEN_S)
    assert pace.capacity() == 0
    pace.processed(10, FORGOTTEN_S + 0.1)
    assert pace.capacity() == 64


def test_without_an_engine_nothing_is_held(pace):
    pace.appended(64, 64, 0, 0.0, 0.0)
    pace.forget()
    assert pace.capacity() == 64


class FakeEngine:
    """Works off what was appended in batches: `batch_s` each, and `command_s` a command. A client waits for each."""

    def __init__(self, pace, creators, workers, batch_s=0.004, command_s=0.0003) -> None:
        self.pace, self.creators, self.workers = pace, creators, workers
        self.batch_s, self.command_s = batch_s, command_s
        self.now, self.position = 0.0, 0
        self.created = self.completed = 0

    def run(self, seconds):
        """Every creator and worker has always one command to append. (new, work) a second in the second half."""
        counted = None
        while self.now < seconds:
            if counted is None and self.now >= seconds / 2:
                counted = self.created, self.completed
            work, new = self.workers, min(self.creators, self.pace.capacity())
            self.pace.filled = new < self.creators
            self.position += work + new
            self.pace.appended(self.position, new, work, self.now, self.now)
            self.now += self.batch_s + self.command_s * (work + new)
            self.pace.processed(self.position, self.now)
            self.created, self.completed = self.created + new, self.completed + work
        created, completed = counted
        return (self.created - created) / seconds * 2, (self.completed - completed) / seconds * 2


def test_nine_hundred_creators_leave_the_engine_to_what_runs(pace):
    created, completed = FakeEngine(pace, creators=900, workers=32).run(20)
    assert 0.7 * created < completed
    without = FakeEngine(AppendPace(PaceSettings(least=1_000, most=1_000)), creators=900, workers=32).run(20)
    assert without[1] < 0.1 * without[0]


def test_creators_alone_have_the_whole_engine(pace):
    created, _ = FakeEngine(pace, creators=900, workers=0).run(60)
    alone, _ = FakeEngine(AppendPace(PaceSettings(least=1_000, most=1_000)), creators=900, workers=0).run(60)
    assert created > 0.95 * alone


@pytest.mark.parametrize("slowness", [1, 10, 100])
def test_running_work_gets_on_as_fast_as_new_on_a_slow_machine(pace, slowness):
    fake = FakeEngine(pace, creators=900, workers=128, batch_s=0.02 * slowness, command_s=0.0003 * slowness)
    created, completed = fake.run(100 * slowness)
    assert 0.9 < completed / created < 1.2


def test_the_window_does_not_shrink_for_work_that_is_over(pace):
    """Few completions, one now and then, hold back nobody."""
    fake = FakeEngine(pace, creators=900, workers=0)
    for number in range(30):
        fake.workers = 32 if number == 10 else number % 2
        fake.run(fake.now + 0.5)
    assert pace.window > 50


def test_few_creators_are_never_held(pace):
    fake = FakeEngine(pace, creators=16, workers=32)
    created, completed = fake.run(10)
    assert created == completed / 2


@pytest.mark.parametrize("cost", [0.01, 0.1])
def test_slow_commands_make_it_small_and_quick_ones_large_again(pace, cost):
    slow = FakeEngine(pace, creators=900, workers=8, command_s=cost)
    slow.run(60)
    assert pace.capacity() == SETTINGS.least
    quick = FakeEngine(pace, creators=900, workers=8, command_s=0.00005)
    quick.now, quick.position = slow.now, slow.position
    quick.run(slow.now + 60)
    assert pace.capacity() > 150


@pytest.mark.parametrize("seed", range(30))
def test_whatever_happens_it_counts_right(seed):
    chance, pace = random.Random(seed), AppendPace(SETTINGS)
    log, done, now = [], 0, 0.0
    for _ in range(1_000):
        now += chance.uniform(0, 0.004)
        if chance.random() < 0.5:
            pace.filled = chance.random() < 0.5
            new = min(pace.capacity(), chance.randrange(0, 100))
            log.append((len(log) + 1, new))
            pace.appended(len(log), new, chance.randrange(3), now - chance.uniform(0, 0.1), now)
        else:
            done = min(len(log), done + chance.randrange(0, 4))
            pace.processed(done, now)
        waiting = sum(new for position, new in log if position > done)
        assert SETTINGS.least <= pace.window <= SETTINGS.most
        assert pace.capacity() == max(0, int(pace.window) - waiting)
