"""Four partitions come to the same end as one, whatever the order in which commands cross between them."""

from collections import Counter
from random import Random

from tests.core.cluster import ClusterEngine
from tests.core.randomised.blocks import Final, Fork, Shout, inside, waits
from tests.core.randomised.pairs import is_cut
from tests.core.randomised.runs import by_place, play, recorded
from tests.rounds import drawn, few_and_many


def left_by(run, engine):
    """All rows that there ever were; of a process that may interrupt what has just begun in it, the end."""
    if any(isinstance(one, Shout) or _throws_at_once(one) for one in inside(run.block)):
        return [("", "", {"end": end}) for end in engine.ended.values()]
    return by_place(engine, "p")


def _throws_at_once(block):
    ways = block.ways if isinstance(block, Fork) else ()
    return any(not waits(way) and any(isinstance(one, Final) for one in inside(way)) for way in ways)


@few_and_many(20, 1_000)
def test_random_models_come_to_the_same_end(seed, count):
    seen = Counter()
    for one in drawn(seed, count, lambda: seen["sent"] > 0):
        run = recorded(one)
        if is_cut(run.block):
            continue
        engine = ClusterEngine(4, one, at=Random(one).randint(1, 4))
        assert left_by(run, play(run, engine)) == left_by(run, play(run)), f"seed {one}"
        seen["sent"] += engine.cluster.delivered
    assert seen["sent"] > 0, "nothing crossed between the partitions"
