"""Segments that a node has appended are used where they follow without a gap, and nowhere else."""

from random import Random

from vivero.engine.consumer.appended_segments import MAX_BYTES, MAX_COMMANDS, AppendedSegments
from vivero.storage.log.command_log import AppendedSegment
from vivero.storage.log.log_batches import CommandRow, LogPage


def segment(behind, *positions, payload=b"{}", now=1, revision=2, seq=3):
    return AppendedSegment(
        behind, LogPage([CommandRow(p, "t", "X", None, payload) for p in positions], now, revision, seq, 0.0)
    )


def segments(*some):
    kept = AppendedSegments()
    for one in some:
        assert kept.add(one)
    return kept


def positions(batch):
    return None if batch is None else [row.position for row in batch.rows]


def test_tails_that_follow_each_other_are_one_batch_with_the_last_moment():
    batch = segments(segment(4, 5, 6, now=10), segment(6, 9, now=11, revision=7, seq=8)).behind(4, 500)
    assert positions(batch) == [5, 6, 9]
    assert (batch.now, batch.clock_revision, batch.definitions_seq) == (11, 7, 8)


def test_nothing_is_used_behind_a_gap():
    kept = segments(segment(4, 5), segment(6, 7))
    assert positions(kept.behind(4, 500)) == [5]
    assert kept.behind(5, 500) is None
    assert kept
    assert positions(kept.behind(6, 500)) == [7]
    assert not kept


def test_what_was_read_from_the_log_is_dropped():
    kept = segments(segment(4, 5, 6), segment(6, 7))
    assert positions(kept.behind(6, 500)) == [7]
    assert positions(segments(segment(4, 5, 6), segment(6, 7)).behind(5, 500)) == [6, 7]
    assert segments(segment(4, 5, 6)).behind(6, 500) is None


def test_tails_are_taken_whole_within_the_limit():
    kept = segments(segment(0, 1, 2), segment(2, 3, 4))
    assert kept.behind(0, 1) is None
    assert positions(kept.behind(0, 3)) == [1, 2]
    assert positions(kept.behind(2, 3)) == [3, 4]


def test_when_there_is_no_room_all_is_left_to_the_log():
    kept = segments(segment(0, *range(1, MAX_COMMANDS + 1)))
    assert not kept.add(segment(MAX_COMMANDS, MAX_COMMANDS + 1))
    assert not kept
    assert kept.add(segment(MAX_COMMANDS + 1, MAX_COMMANDS + 2))
    kept = segments(segment(0, 1, payload=b"x" * MAX_BYTES))
    assert not kept.add(segment(1, 2))


def test_room_is_given_back():
    kept = AppendedSegments()
    for position in range(5 * MAX_COMMANDS):
        assert kept.add(segment(position, position + 1))
        assert positions(kept.behind(position, 1)) == [position + 1]


def test_whatever_is_lost_or_read_instead_the_log_comes_out_in_order():
    for seed in range(200):
        random = Random(seed)
        kept, known, log = AppendedSegments(), 0, []
        while known < 60:
            for _ in range(random.randrange(4)):
                behind = log[-1] if log else 0
                fresh = list(range(behind + 1, behind + 1 + random.randrange(1, 5)))
                log += fresh
                if random.random() < 0.7:  # the others are another node's
                    kept.add(segment(behind, *fresh))
            limit = random.randrange(1, 8)
            batch = kept.behind(known, limit)
            rows = positions(batch) or [position for position in log if position > known][:limit]
            assert rows == list(range(known + 1, known + 1 + len(rows))), f"seed {seed}"
            assert len(rows) <= limit
            known += len(rows)
