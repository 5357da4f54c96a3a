"""The engine against an oracle that knows nothing of tokens: random models, random runs, compared at every quiet point.

    VIVERO_ORACLE_COUNT=20000 VIVERO_ORACLE_SEED=1 python -m pytest -m torture tests/core/test_oracle.py -s

runs as many as wanted. What fails is printed with its seed, its model and what was done.
"""

import os
from random import SystemRandom

import pytest
from core_bench import Bench
from core_paths import Run, observe, perform

COUNT = 150
TORTURE_COUNT = 5_000


def first_seed():
    chosen = int(os.environ.get("VIVERO_ORACLE_SEED") or SystemRandom().randrange(2**31))
    print(f"VIVERO_ORACLE_SEED={chosen}")
    return chosen


def compare(seed):
    """Run one; the number of quiet points that were compared."""
    run, bench = Run(seed), Bench()
    bench.deploy(run.model)
    key = bench.start(**run.variables)
    run.begin()
    points = 0
    while True:
        points += 1
        seen, expected = observe(bench, key), run.oracle.seen()
        assert seen == expected, "\n".join(told(seed, run, seen, expected))
        action = run.next_action()
        if action is None:
            return points
        run.tell(action)
        perform(bench, key, action)


def told(seed, run, seen, expected):
    """What differs, and how to come there."""
    yield f"VIVERO_ORACLE_SEED={seed}"
    for name in seen:
        if isinstance(seen[name], dict):
            places = sorted(seen[name].keys() | expected[name].keys())
            pairs = [(place, seen[name].get(place), expected[name].get(place)) for place in places]
        else:
            pairs = [("", seen[name], expected[name])]
        yield from (f"{name} {place}: {is_}, should be {should}" for place, is_, should in pairs if is_ != should)
    yield f"start with {run.variables}"
    yield from map(str, run.actions)
    yield str(run.block)
    yield run.model.decode()


def check(count):
    seed = first_seed()
    points = sum(compare(seed + number) for number in range(count))
    print(f"{points} quiet points in {count} runs")
    assert points > 2 * count, "the runs are too short to tell anything"


def test_the_engine_does_what_the_oracle_says():
    check(COUNT)


@pytest.mark.torture
def test_the_engine_does_what_the_oracle_says_many_times():
    check(int(os.environ.get("VIVERO_ORACLE_COUNT", TORTURE_COUNT)))
