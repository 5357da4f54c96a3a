"""The number of commands of batches in the log, alone and beside others."""

import pytest

from vivero.engine.batch_operations.pace import BESIDE_S, COMPANY_S, ItemPace
from vivero.engine.timers.pace import FIRST, GROW, LEAST
from vivero.storage.log.command_log import CommandOutcome

DELAY_S = 0.1
FIRST_POSITION = 1 << 51


class Log:
    """A log in which a batch and others append, and whose commands take a time each."""

    def __init__(self, clock, per_second, most=400) -> None:
        self.pace = ItemPace(most, DELAY_S)
        self._clock, self._per_second = clock, per_second
        self._last = FIRST_POSITION
        self.pace.committed(1, FIRST_POSITION)

    def round(self, others=0, *, late=False):
        """A flight of the batch is appended behind commands of others, and all are processed. `late`: the append
        ends after that."""
        own = range(self._last + others + 1, self._last + others + self.pace.allowed + 1)
        self._last = own[-1]
        self.pace.append()
        if not late:
            self.pace.appended(own)
        self._clock.jump(len(own) / self._per_second)
        self.pace.committed(1, self._last)
        if late:
            self.pace.appended(own)
        return len(own)


@pytest.mark.parametrize("late", [False, True])
async def test_alone_it_grows_and_counts_no_own_command_as_one_of_others(mock_clock, late):
    log = Log(mock_clock, per_second=3_000)
    flights = [log.round(late=late) for _ in range(60)]
    assert flights[0] == FIRST
    assert flights[-1] > 200


@pytest.mark.parametrize("per_second", [300, 3_000])
async def test_beside_others_few_wait_in_the_log_and_more_again_when_they_are_gone(mock_clock, per_second):
    log = Log(mock_clock, per_second)
    for _ in range(60):
        log.round()
    log.round(others=1)
    flights = [log.round(others=1) for _ in range(60)]
    assert flights[0] == LEAST
    assert max(flights) <= max(LEAST, 1.3 * BESIDE_S * per_second)
    mock_clock.jump(COMPANY_S)
    assert log.pace.allowed > 2 * max(flights)


@pytest.mark.parametrize("late", [False, True])
async def test_follow_ups_of_items_are_no_commands_of_others(mock_clock, late):
    """They stand in the log behind the items, and nobody waits for them. Nor is a late answer to an item a command."""
    pace = ItemPace(400, DELAY_S)
    pace.committed(1, FIRST_POSITION, [])
    earlier = FIRST_POSITION
    for first in range(FIRST_POSITION + 1, FIRST_POSITION + 100, 10):
        pace.append()
        if not late:
            pace.appended([first])
        mock_clock.jump(0.001)
        pace.committed(1, first + 9, [CommandOutcome(first), CommandOutcome(earlier), CommandOutcome(2 << 51)])
        if late:
            pace.appended([first])
        assert not pace.beside
        earlier = first
    pace.committed(1, first + 10, [CommandOutcome(first + 10)])
    assert pace.beside


async def test_a_log_that_another_node_works_off_is_measured_by_outcomes(mock_clock):
    pace = ItemPace(400, DELAY_S)
    positions = [(2 << 51) + number for number in range(FIRST)]
    pace.append()
    pace.appended(positions)
    mock_clock.jump(10 * DELAY_S)
    pace.settled(positions)
    assert pace.allowed == FIRST // 2
    pace.settled(positions)
    assert pace.allowed == FIRST // 2, "each is measured once"


async def test_a_lost_connection_forgets_what_is_on_its_way(mock_clock):
    log = Log(mock_clock, per_second=3_000)
    log.pace.append()
    log.pace.appended([FIRST_POSITION + 1])
    log.pace.append()
    log.pace.forget()
    mock_clock.jump(10)
    log.pace.committed(1, FIRST_POSITION + 1)
    assert log.pace.allowed == LEAST, "it may be the command of anybody"


async def test_a_log_that_another_node_has_taken_over_is_measured_by_outcomes(mock_clock):
    """Otherwise its commands would stay in memory, and say nothing, until the end of the connection."""
    log = Log(mock_clock, per_second=3_000)
    for number in range(1, 4):
        log.pace.append()
        log.pace.appended([FIRST_POSITION + number])
        mock_clock.jump(10 * DELAY_S)
        log.pace.settled([FIRST_POSITION + number])
    assert log.pace.allowed == LEAST
    log.pace.committed(1, FIRST_POSITION + 1)
    assert log.pace.allowed == LEAST, "late news of a commit are no news"


async def test_others_in_a_log_that_another_node_works_off_are_seen(mock_clock):
    pace = ItemPace(400, DELAY_S)
    for position in (2 << 51) + 1, (2 << 51) + 3:
        pace.append()
        pace.appended([position])
        mock_clock.jump(0.001)
        assert pace.allowed >= FIRST
        pace.settled([position])
    assert pace.allowed == int(LEAST * GROW), "somebody has appended a command between the two"
