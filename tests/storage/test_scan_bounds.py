"""Bounds of activations hide no job, whatever happens at the same time. Without a database."""

from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import pytest

from vivero.core.partitions.keys import keys_of
from vivero.storage.work.scan_bounds import (
    EVERYTHING,
    MAX_PRIORITIES,
    MAX_SUBJECTS,
    MAX_WHOLE_EVERY_S,
    MEASURE_S,
    SLOW_LOOKS,
    SLOW_S,
    WHOLE_EVERY_S,
    WHOLE_SHARE,
    ObservedBounds,
    ScanBounds,
    SubjectBounds,
)

LOWEST, HIGHEST = -(2**31), 2**31 - 1


def ranges(start):
    return [each[:3] for each in key_ranges(start)]


def key_ranges(start):
    return list(zip(start.highest, start.lowest, start.keys, start.last_keys, strict=True))


def slow_bounds():
    bounds = SubjectBounds(0.0)
    for _ in range(SLOW_LOOKS):
        bounds.note_plain(0.0, large=False, slow=True)
    return bounds


@pytest.fixture
def bounds():
    """A first look has no bounds, and is slow; after it, none has for a while."""
    bounds = SubjectBounds(-SLOW_S)
    first = bounds.start(-SLOW_S)
    assert first.whole
    bounds.ended(first, 0.0)
    bounds.learn(first, ObservedBounds(1000, [], SLOW_S))
    return bounds


def test_without_knowledge_a_look_sees_everything():
    assert SubjectBounds(0.0).bounded()[:4] == EVERYTHING[:4] == (0, (HIGHEST,), (LOWEST,), (0,))


def test_each_known_priority_has_its_bound_and_all_others_none(bounds):
    bounds.learn(bounds.bounded(), ObservedBounds(2000, [(5, 70), (0, 50)]))
    start = bounds.bounded()
    assert start.due_ms == 2000
    assert ranges(start) == [(HIGHEST, 6, 0), (5, 5, 70), (4, 1, 0), (0, 0, 50), (-1, LOWEST, 0)]


def test_each_partition_has_its_bound_and_comes_in_turn(bounds):
    """The jobs of a partition become visible in the order of their keys, but not those of several."""
    (first, end), (second, last) = keys_of(1), keys_of(2)
    bounds.learn(bounds.bounded((1, 2)), ObservedBounds(2000, [(0, second + 7)]))
    assert key_ranges(bounds.bounded((2, 1)))[1:-1] == [(0, 0, second + 7, last - 1), (0, 0, first, end - 1)]
    bounds.learn(bounds.bounded((1, 2)), ObservedBounds(2000, [(0, first + 3)]))
    assert key_ranges(bounds.bounded((1, 2)))[1:-1] == [(0, 0, first + 3, end - 1), (0, 0, second + 7, last - 1)]


def test_a_node_that_knows_one_partition_hides_no_other(bounds):
    """Its routes are old."""
    bounds.learn(bounds.bounded((1, 2)), ObservedBounds(2000, [(0, keys_of(2)[0] + 7), (0, keys_of(1)[0] + 3)]))
    assert bounds.bounded((1,)).keys == (0, keys_of(1)[0] + 3, 0)


@pytest.mark.parametrize("priorities", [(HIGHEST,), (LOWEST,), (LOWEST, HIGHEST), (0, 1, 2), range(-9, 9)])
def test_the_ranges_are_all_priorities_once_from_high_to_low(bounds, priorities):
    bounds.learn(bounds.bounded(), ObservedBounds(0, [(priority, 7) for priority in priorities]))
    found = ranges(bounds.bounded())
    assert found[0][0] == HIGHEST
    assert found[-1][1] == LOWEST
    assert all(high >= low for high, low, _ in found)
    assert all(above[1] == below[0] + 1 for above, below in pairwise(found))
    assert len(found) <= 2 * MAX_PRIORITIES + 1


def test_an_older_answer_never_raises_and_never_lowers_the_key_of_a_newer(bounds):
    older, newer = bounds.bounded(), bounds.bounded()
    bounds.learn(newer, ObservedBounds(3000, [(0, 50)]))
    bounds.learn(older, ObservedBounds(2000, [(0, 40)]))
    assert bounds.bounded().keys == (0, 50, 0)
    assert bounds.bounded().due_ms == 2000


def test_what_a_look_without_bounds_found_lowers_them_and_earlier_looks_do_not_raise_them(bounds):
    bounds.learn(bounds.bounded(), ObservedBounds(2000, [(0, 50), (1, 60)]))
    early = bounds.bounded()
    bounds.learn(bounds.start(WHOLE_EVERY_S), ObservedBounds(1500, [(0, 3)], SLOW_S))
    bounds.learn(early, ObservedBounds(2500, [(0, 51)]))
    assert bounds.bounded()[:4] == (1500, (HIGHEST, 1, 0, -1), (2, 1, 0, LOWEST), (0, 60, 3, 0))


def test_looks_without_bounds_come_once_a_second_and_take_a_small_share_of_the_time(bounds):
    assert not bounds.start(WHOLE_EVERY_S - 0.01).whole
    slow = bounds.start(WHOLE_EVERY_S)
    assert slow.whole
    assert not bounds.start(WHOLE_EVERY_S + 0.1).whole, "one at a time"
    bounds.ended(slow, WHOLE_EVERY_S + 0.3)
    due = WHOLE_EVERY_S + 0.3 + 0.3 / WHOLE_SHARE
    assert not bounds.start(due - 0.01).whole
    assert bounds.start(due).whole


def test_bounds_are_used_only_while_looks_without_them_are_slow(bounds):
    bounds.learn(bounds.bounded(), ObservedBounds(2000, [(0, 50)]))
    bounds.ended(bounds.start(1.0), 1.0 + SLOW_S / 2)
    assert bounds.bounded()[:4] == EVERYTHING[:4]
    bounds.ended(bounds.start(3.0), 3.0 + SLOW_S)
    assert bounds.bounded()[:2] == (2000, (HIGHEST, 0, -1))
    assert bounds.bounded().keys == (0, 50, 0)


def test_a_look_is_as_slow_as_postgresql_says_however_late_its_answer_arrives(bounds):
    late = bounds.start(1.0)
    bounds.ended(late, 1.5)
    assert not bounds.plain(1.5)
    bounds.learn(late, ObservedBounds(2000, [], SLOW_S / 2))
    assert bounds.plain(1.5)


def test_looks_are_plain_until_several_in_a_row_are_slow():
    bounds = SubjectBounds(0.0)
    for slow in (True, True, False, True, True):
        bounds.note_plain(1.0, large=False, slow=slow)
        assert bounds.plain(1.0)
    bounds.note_plain(9.0, large=False, slow=True)
    assert not bounds.plain(9.0)
    assert bounds.start(9.0).whole


def test_after_large_jobs_looks_measure_jobs_for_a_while():
    bounds = SubjectBounds(0.0)
    bounds.note_plain(1.0, large=True, slow=False)
    assert not bounds.plain(1.0 + MEASURE_S - 0.01)
    assert bounds.plain(1.0 + MEASURE_S)


def test_looks_without_bounds_never_cease(bounds):
    slow = bounds.start(1.0)
    bounds.ended(slow, 101.0)
    assert bounds.start(101.0 + MAX_WHOLE_EVERY_S).whole


def test_a_look_that_failed_is_not_repeated_at_once(bounds):
    """A timeout of the statement would otherwise stop all activations."""
    assert bounds.start(1.0).whole
    assert not bounds.start(1.0).whole


def test_forgotten_bounds_learn_nothing_for_their_successors():
    scans = ScanBounds()
    before = scans.of(("a", "t"), 0.0)
    start = before.bounded()
    scans.forget()
    before.learn(start, ObservedBounds(9, [(0, 9)]))
    assert scans.of(("a", "t"), 1.0).bounded()[:4] == EVERYTHING[:4]


def test_types_are_bounded_and_those_that_nobody_looks_for_go_first():
    scans = ScanBounds()
    kept = scans.of(("kept", "t"), 0.0)
    for number in range(MAX_SUBJECTS):
        scans.of((str(number), "t"), 0.0)
        assert scans.of(("kept", "t"), 0.0) is kept


# Interleavings


@dataclass
class Job:
    key: int
    priority: int
    ready: bool = True
    returned: bool = False
    locked: bool = False


@dataclass
class Look:
    """An activation between its snapshot and the arrival of its answer."""

    start: object
    leased: list
    seen: ObservedBounds | None


@dataclass
class Table:
    """The committed rows, and the locks of transactions that are open. A look skips locked rows."""

    jobs: list = field(default_factory=list)
    next_keys: dict = field(default_factory=lambda: {partition: keys_of(partition)[0] for partition in (1, 2, 3)})

    def insert(self, priority, partition=1):
        self.next_keys[partition] += 1
        self.jobs.append(Job(self.next_keys[partition], priority))

    def ready(self, start):
        """The jobs that an activation with this start sees, in the order of keys, locked or not."""
        ranges = key_ranges(start)
        return sorted((j for j in self.jobs if j.ready and (j.returned or within(ranges, j))), key=order)

    def look(self, start, limit):
        """Lease returned jobs, and then those of each range, which tell the first key of the range."""
        seen = self.ready(start)
        leased = [job for job in seen if job.returned and not job.locked][:limit]
        firsts = set()
        for limits in key_ranges(start):
            found = [job for job in seen if not job.returned and inside(limits, job)]
            taken = [job for job in found if not job.locked][: limit - len(leased)]
            firsts |= {(job.priority, found[0].key) for job in taken if job.priority == found[0].priority}
            leased += taken
        for job in leased:
            job.locked = True
        return Look(start, leased, ObservedBounds(0, firsts) if leased else None)


def order(job):
    return -job.priority, job.key


def inside(limits, job):
    high, low, key, last_key = limits
    return low <= job.priority <= high and key <= job.key <= last_key


def within(ranges, job):
    return any(inside(limits, job) for limits in ranges)


def finish(look, commits):
    for job in look.leased:
        job.locked = False
        job.ready = job.ready and not commits


def come_back(random, table):
    """Given back, failed with retries left, resolved, or moved to another priority: it has returned."""
    if table.jobs:
        job = random.choice(table.jobs)
        if not job.locked:
            job.ready, job.returned, job.priority = True, True, random.randrange(3)


@pytest.mark.long
@pytest.mark.parametrize("partitions", [(1,), (1, 2, 3)])
@pytest.mark.parametrize("run", range(30))
def test_a_look_with_bounds_sees_what_one_without_sees(seed, run, partitions):
    """Lookers of several processes, answers in any order, lost ones and transactions that are rolled back.

    A run goes on while its looks have leased only jobs that had returned, from which nothing is learnt.
    """
    random = Random(seed * 1000 + run)
    table, nodes, flying, arriving = Table(), [slow_bounds(), slow_bounds()], [], []

    def has_learnt():
        return any(len(node.bounded().keys) > 1 for node in nodes)

    leased = 0
    for step in range(4_000):
        if step >= 400 and has_learnt():
            break
        match random.choice(["insert", "insert", "look", "look", "end", "arrive", "return"]):
            case "insert":
                table.insert(random.choice([0, 0, 0, 1, 2]), random.choice(partitions))
            case "look":
                bounds = random.choice(nodes)
                start = bounds.bounded(random.sample(partitions, len(partitions)))
                assert table.ready(start) == table.ready(EVERYTHING)
                flying.append((bounds, table.look(start, random.randrange(1, 6))))
            case "end" if flying:
                bounds, look = flying.pop(random.randrange(len(flying)))
                commits = random.random() < 0.8
                finish(look, commits)
                leased += len(look.leased) * commits
                if commits and random.random() < 0.9:
                    arriving.append((bounds, look))
            case "arrive" if arriving:
                bounds, look = arriving.pop(random.randrange(len(arriving)))
                if look.seen is not None:
                    bounds.learn(look.start, look.seen)
            case "return":
                come_back(random, table)
    assert leased > 5
    assert has_learnt(), "nothing was learnt"


@pytest.mark.parametrize("run", range(20))
def test_what_lost_commits_hide_is_seen_within_the_interval(seed, run):
    """A failover takes leases back, so a job below the bound is ready as if it was never leased."""
    random = Random(seed * 1000 + run)
    table, bounds, now, hidden_since = Table(), slow_bounds(), 0.0, {}
    for _ in range(300):
        now += random.random() / 4
        table.insert(0)
        if random.random() < 0.1:
            lost = random.choice(table.jobs)
            lost.ready = True
        start = bounds.start(now)
        visible = {job.key for job in table.ready(start)}
        hidden_since = {j.key: hidden_since.get(j.key, now) for j in table.jobs if j.ready and j.key not in visible}
        assert all(now - since <= WHOLE_EVERY_S + 0.25 for since in hidden_since.values())
        look = table.look(start, 50)
        finish(look, True)
        bounds.ended(start, now)
        if look.seen is not None:
            bounds.learn(start, look.seen._replace(took_s=SLOW_S))
