"""As many new commands may wait as are admitted in time. Without a database."""

from collections import deque

import pytest
import trio

from vivero.core.records.instances import CreateInstance
from vivero.engine.appender.calls import Append, pending_command
from vivero.engine.appender.forwarding import LogProgress
from vivero.engine.appender.new_commands import PERIOD_S, WAIT_SHARE, NewCommands, QueueLimit
from vivero.engine.appender.pace import PaceSettings

MOST, LEAST, WAIT_S = 1_000, 64, 1.0


@pytest.fixture
def limit():
    """A limit at the end of a first period, in which no command waited."""
    limit = QueueLimit(MOST, LEAST, WAIT_S)
    limit.measure(0.0)
    return limit


def period(limit, number, admitted, empty=False):
    """The limit after a period with so many admitted commands."""
    for _ in range(admitted):
        limit.note_admitted()
    if empty:
        limit.note_empty()
    limit.measure(number * PERIOD_S)
    return limit.commands


def test_as_many_wait_as_are_admitted_in_time(limit):
    in_time = 400 / PERIOD_S * WAIT_S * WAIT_SHARE
    assert period(limit, 1, 400) == in_time
    assert period(limit, 2, 400) == in_time


def test_a_period_counts_as_much_as_all_before_it(limit):
    before = period(limit, 1, 400)
    assert period(limit, 2, 200) == 3 / 4 * before


def test_the_limit_has_a_least_and_a_most(limit):
    assert period(limit, 1, 0) == LEAST
    assert period(limit, 2, 100_000) == MOST


def test_the_limit_grows_again_when_no_command_waits(limit):
    period(limit, 1, 0)
    assert [period(limit, number, 9, empty=True) for number in range(2, 8)] == [128, 256, 512, MOST, MOST, MOST]


def test_nothing_changes_within_a_period(limit):
    limit.note_admitted()
    limit.measure(PERIOD_S / 2)
    assert limit.commands == MOST


async def test_a_queue_is_full_at_its_limit():
    queue = NewCommands(MOST, PaceSettings(least=1, most=1), WAIT_S)
    queue.measure_capacity(LogProgress(0, 1.0))
    for _ in range(LEAST):
        queue.put_nowait(
            pending_command(Append(CreateInstance(process_id="p"), "t"), trio.open_memory_channel(1)[0], new=True)
        )
    assert not queue.full
    queue.limit.commands = LEAST
    assert queue.full


def waits_of_admitted(limited, clients=900, per_turn=32, turn_s=0.064, turns=400, pause_s=1.0):
    """The waits of admitted commands, and the number of those given up, with clients that ask again at once.

    Each turn the log takes some commands. A refused client asks again after the pause.
    """
    limit = QueueLimit(MOST, LEAST, WAIT_S)
    asking, queue = [0.0] * clients, deque()
    waits, given_up = [], 0
    for turn in range(turns):
        now = turn * turn_s
        still = []
        for at in asking:
            if at > now:
                still.append(at)
            elif len(queue) < (limit.commands if limited else MOST):
                queue.append(now)
            else:
                still.append(now + pause_s)
        while queue and now - queue[0] > WAIT_S:
            queue.popleft()
            given_up += 1
            still.append(now)
        for _ in range(min(per_turn, len(queue))):
            waits.append(now - queue.popleft())
            limit.note_admitted()
            still.append(now)
        if not queue:
            limit.note_empty()
        limit.measure(now)
        asking = still
    return waits[len(waits) // 4 :], given_up


def test_nine_hundred_creators_wait_for_less_than_the_limit():
    waits, given_up = waits_of_admitted(limited=True)
    before, given_up_before = waits_of_admitted(limited=False)
    assert max(waits) < 0.75 * WAIT_S
    assert max(before) > 0.9 * WAIT_S
    assert given_up < given_up_before / 10
    assert len(waits) >= len(before), "the log never lacks commands"
