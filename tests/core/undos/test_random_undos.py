"""Random modifications of random models are taken back at quiet points, or say why not, and the run goes on.

    VIVERO_RANDOM_MODELS=10000 make test-long WORKERS=0 ARGS="-s -k very_many_undos"

plays as many models as wanted from a printed seed.
"""

from collections import Counter
from random import Random
from traceback import format_exception

import pytest

from tests.core.engine import Engine, raw
from tests.core.randomised.random_model_checks import NeverEnds, Run, Spins, bounded, check_end, next_command
from tests.core.randomised.random_models import DECISIONS, random_model
from tests.core.randomised.random_modifications import random_modification
from tests.core.randomised.test_modifications import MANY, REPLAYED
from tests.core.randomised.test_random_models import LIMITS, told
from tests.core.undos.shapes import around, events_from, revision, shape
from tests.rounds import drawn
from vivero.core.commands.conditional_change import conditional
from vivero.core.records.instances import CreateInstance
from vivero.core.records.modifications import InstanceModified
from vivero.core.state.instance_tree import Instance
from vivero.core.undos.inverse import HAS_LISTENERS, NotExact, inverse_of, operation_of

COUNT = 5
STEPS = 12


@pytest.mark.parametrize("limits", LIMITS)
def test_random_modifications_are_taken_back(seed, limits):
    counts = Counter()
    faults = play_undone(drawn(seed, COUNT, lambda: enough(counts)), limits, 1, counts)
    assert not faults, told(faults)
    assert enough(counts), counts


@pytest.mark.long
@pytest.mark.parametrize("limits", LIMITS)
def test_very_many_undos(seed, limits):
    counts = Counter()
    faults = play_undone(range(seed, seed + MANY), limits, REPLAYED, counts)
    print(f"{limits}: VIVERO_SEED={seed}: {MANY} models, undos: {counts.most_common()}")
    assert not faults, told(faults)


def enough(counts):
    return counts["restored"] > COUNT / 2 and counts["undone again"]


def play_undone(seeds, limits, replayed, counts):
    faults = {}
    for seed in seeds:
        try:
            with bounded():
                check_end(play(seed, LIMITS[limits], seed % replayed == 0, counts))
        except (Exception, NeverEnds) as fault:
            faults[seed] = "".join(format_exception(fault, limit=-3))
    return faults


def play(seed, limits, keeps_rows, counts, meanwhile=lambda engine: None):
    """A run of a random model with modifications that are taken back between its steps, cancelled in the end.

    `meanwhile` is called after each modification or undo."""
    random, engine = Random(seed), Engine(limits, keeps_rows)
    engine.memory.deploy(DECISIONS, "decisions.dmn")
    engine.deploy(random_model(random, random.choice((4, 6, 9))))
    variables: dict[str, object] = {"k": "1", "o": None, "items": list(range(random.randrange(4)))}
    variables |= {f"v{number}": random.randrange(2) for number in range(3)}
    run = Run(engine)
    try:
        run.command(CreateInstance("p", variables=raw(variables)))
        for _ in range(STEPS):
            if not engine.state.elements:
                break
            engine.memory.now += 10
            there_and_back(run, random, counts)
            meanwhile(engine)
            if engine.state.elements:
                run.command(next_command(random, engine))
    except Spins:
        counts["spins"] += 1
    run.cancel()
    return engine


def there_and_back(run, random, counts):
    """Modify a process instance, and undo it; sometimes undo the undo."""
    engine = run.engine
    instance = random.choice([one for one in engine.state.elements.values() if isinstance(one, Instance)])
    root, key, change = instance.tree.key, instance.key, random_modification(random, instance, engine)
    before, length = shape(engine, root), len(engine.memory.log)
    run.command(change)
    if key not in engine.state.elements or not taken_back(run, key, length, counts):
        return
    assert shape(engine, root) == before, change
    if random.random() < 0.5:
        length = position_of_last_modification(engine)
        if taken_back(run, key, length, counts):
            counts["undone again"] += 1


def taken_back(run, key, length, counts):
    """Whether the operation since this length of the log could be taken back."""
    engine = run.engine
    events = events_from(engine, length)
    if operation_of(events, key) is None:
        return False
    try:
        found = inverse_of("MODIFY", events, key, around(engine, length))
    except NotExact as error:
        counts[str(error)] += 1
        return False
    run.command(conditional(found.command, key, (revision(engine, key),)))
    rows = engine.memory.log[length:]
    refused = [row.rejection.reason for one in rows for row in one.handled if row.rejection is not None]
    if refused:
        assert refused[0].endswith(HAS_LISTENERS.partition("'{}'")[2]), refused
        counts["listeners"] += 1
        return False
    counts["restored" if getattr(found.command, "restore", ()) else "terminated"] += 1
    return True


def position_of_last_modification(engine):
    log = engine.memory.log
    return max(
        place
        for place, one in enumerate(log)
        if any(isinstance(event, InstanceModified) for row in one.handled for event in row.events)
    )
