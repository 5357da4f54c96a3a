"""The process that accepts the next connection."""

import pytest

from vivero.processes.connection_counts import ConnectionCounts, create


@pytest.fixture
def counts():
    """The counts of three processes, as each sees them."""
    with create(3) as file:
        yield [ConnectionCounts(file.fileno(), 3, index) for index in range(3)]


def test_the_one_with_fewest_is_first(counts):
    assert [one.others_first(count) for one, count in zip(counts, (2, 1, 1), strict=True)] == [False, False, False]
    assert [one.others_first(count) for one, count in zip(counts, (2, 1, 1), strict=True)] == [True, False, False]


def test_nobody_waits_for_a_process_that_does_not_serve(counts):
    counts[0].others_first(0)
    assert counts[1].others_first(1)
    counts[2].clear(0)
    assert not counts[1].others_first(1)


@pytest.mark.parametrize(
    ("fewest", "mine", "waits"), [(15, 16, False), (14, 16, True), (92, 104, False), (91, 104, True)]
)
def test_with_many_connections_one_may_be_ahead_by_an_eighth(counts, fewest, mine, waits):
    counts[0].others_first(fewest)
    assert counts[1].others_first(mine) is waits
