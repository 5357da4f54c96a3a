"""Random runs of random models are migrated: there and back again after each command, to a version with more gateways,
and to versions with random changes.

    VIVERO_RANDOM_MODELS=2000 make test-long WORKERS=0 ARGS="-s -k very_many_migrated"

plays as many models with random changes as wanted from a printed seed.
"""

import re
from collections import Counter
from itertools import count
from random import Random

import pytest

from tests.core.engine import Engine, snapshot
from tests.core.randomised.blocks_bpmn import to_bpmn
from tests.core.randomised.equivalent_models import between_gateways, wrapped
from tests.core.randomised.pairs import is_cut
from tests.core.randomised.paths import Run, expected, observe, perform, random_block
from tests.core.randomised.random_changes import Changing, accepted
from tests.core.randomised.random_migrations import RandomMigrations
from tests.core.randomised.random_model_checks import play_many
from tests.core.randomised.runs import by_place, play, recorded
from tests.core.randomised.test_modifications import MANY
from tests.core.randomised.test_random_models import LIMITS, told
from tests.rounds import drawn
from vivero.core.bpmn.parser import parse
from vivero.core.execution.step import StepLimits
from vivero.core.migration.suggestions import suggest
from vivero.core.records.migrations import InstanceMigrated, MigrateInstance
from vivero.core.state.instance_tree import Instance

COUNT = 12
MUTATED = 4
EXPECTED = re.compile(r"is not supported|a concurrent command|It must have|loaded in pages")
"""Refusals that the reference wants: a run may be anywhere."""


class Migrating:
    """Migrates all instances of an engine there and back. `moved` counts migrations, `refused` the reasons."""

    def __init__(self, run, engine) -> None:
        self.engine, self.moved, self.refused = engine, 0, Counter()
        processes = parse(run.model, "p.bpmn").processes
        self.ids = {process.id: ids_of(process) for process in processes}
        model = run.model
        for id in {id for ids in self.ids.values() for id in ids}:
            model = model.replace(f'"{id}"'.encode(), f'"{id}_m"'.encode()).replace(
                f">{id}<".encode(), f">{id}_m<".encode()
            )
        keys = engine.deploy(model)
        self.targets = {engine.state.catalogue.definitions[key].process_id: key for key in keys}

    def __call__(self, engine) -> None:
        instances = [one for one in engine.state.elements.values() if type(one) is Instance]
        for instance in instances:
            self._there_and_back(instance)

    def _there_and_back(self, instance):
        before, source = seen(self.engine), instance.definition_key
        ids = self.ids[instance.process_id]
        there = MigrateInstance(instance.key, self.targets[instance.process_id], tuple((id, f"{id}_m") for id in ids))
        handled = self.engine.run(there)
        if handled.rejection is not None:
            reason = handled.rejection.reason.partition("' but ")[2]
            assert EXPECTED.search(reason), reason
            self.refused[reason.rpartition("'")[2]] += 1
        else:
            assert_renames_alone(handled)
            same = MigrateInstance(instance.key, instance.definition_key, tuple((f"{id}_m", f"{id}_m") for id in ids))
            assert_renames_alone(self.engine.run(same))
            back = MigrateInstance(instance.key, source, tuple((f"{id}_m", id) for id in ids))
            handled = self.engine.run(back)
            assert handled.rejection is None, handled.rejection
            self.moved += 1
        assert seen(self.engine) == before


def assert_renames_alone(handled):
    assert handled.rejection is None, handled.rejection
    names = {type(event).__name__ for event in handled.events}
    more = {"ElementsRenamed", "WorkDeferred"}  # a scope settles in another quantum
    assert names <= {"InstanceMigrated", *more}, handled.events


def ids_of(process):
    """The nodes and flows of a process, without the process and the inner nodes of ad-hoc sub-processes."""
    made = {node.ad_hoc.inner for node in process.nodes.values() if node.ad_hoc is not None}
    return [*(process.nodes.keys() - made - {process.id}), *process.flows]


def seen(engine):
    found = snapshot(engine.state)
    found["catalogue"] = [row for row in found["catalogue"] if row.get("running") != 0]
    return found


def there_first(run, limits):
    """An engine whose latest definitions are those of the run, and how it migrates."""
    engine = Engine(limits)
    return engine, Migrating(run, engine)


IN_PAGES = StepLimits(quantum_items=1, migration_page=1)


@pytest.mark.long
@pytest.mark.parametrize("limits", [StepLimits(), IN_PAGES], ids=["whole", "quanta"])
def test_a_run_goes_on_as_if_nothing_had_happened(seed, limits):
    seen, refused = Counter(), Counter()
    for one in drawn(seed, COUNT, lambda: seen["moved"] > 5 * COUNT):
        run = recorded(one)
        if is_cut(run.block):
            continue
        plain, _ = there_first(run, limits)
        engine, migrating = there_first(run, limits)
        play(run, plain)
        play(run, engine, migrating)
        assert by_place(engine, "p") == by_place(plain, "p"), f"seed {one}"
        seen["moved"] += migrating.moved
        refused += migrating.refused
    assert seen["moved"] > 5 * COUNT, f"{seen}, and these were refused: {refused}"


# ---- versions that differ


def test_a_run_goes_on_by_a_version_with_more_gateways(seed):
    """The oracle says what the run comes to: gateways that tokens pass change nothing. Suggested mappings suffice."""
    seen: Counter[bool] = Counter()
    for one in drawn(seed, COUNT, lambda: seen[True] > COUNT / 2):
        seen[migrated_once(one)] += 1
    assert seen[True] > COUNT / 2, seen


def migrated_once(seed):
    """Whether an instance could be migrated at a chosen moment of a run. Each point after it is as the oracle says."""
    random, block = Random(seed), random_block(seed, 12)
    if is_cut(block):
        return False
    run, engine = Run(block, Random(f"{seed}/0")), Engine(keeps_rows=False)
    engine.deploy(to_bpmn(block))
    run.begin()
    key, moved = engine.start(**run.variables), False
    moment = random.randrange(8)
    for step in count():
        seen, should = observe(engine, key), expected(run.oracle)
        assert seen == should, f"VIVERO_SEED={seed}, step {step}, migrated: {moved}"
        if step == moment:
            moved = all(migrated_by_suggestion(engine, one, block, random) for one in instances_of(engine))
        action = run.next_action()
        if action is None:
            return moved and step > moment
        engine.memory.now += 10
        perform(engine, key, action)
        run.tell(action)
    return False


def instances_of(engine):
    return [one for one in engine.state.elements.values() if type(one) is Instance]


def migrated_by_suggestion(engine, instance, block, random):
    """Whether the instance could be migrated to a version in which gateways are around some of the blocks."""
    names = (f"extra{number}" for number in count())
    other = wrapped(block, lambda: random.random() < 0.3, between_gateways(names))
    keys = engine.deploy(to_bpmn(other))
    targets = {engine.state.catalogue.definitions[key].process_id: key for key in keys}
    target, view = targets[instance.process_id], engine.memory.processor.view
    mappings, _ = suggest(view.model(instance.definition_key), view.model(target))
    pairs = tuple((one.source, one.target) for one in mappings)
    handled = engine.run(MigrateInstance(instance.key, target, pairs))
    if handled.rejection is None:
        return True
    reason = handled.rejection.reason.partition("' but ")[2]
    assert EXPECTED.search(reason) or "taken sequence flow" in reason, f"{instance.process_id}: {reason}"
    return False


# ---- versions with random changes


@pytest.mark.parametrize("limits", LIMITS)
def test_whatever_is_migrated_goes_on_or_says_why_not(seed, limits):
    counts = Counter()
    play_migrated(drawn(seed, MUTATED, lambda: accepted(counts) > 0), limits, 1, counts)
    assert accepted(counts) > 0, counts


@pytest.mark.long
@pytest.mark.parametrize("limits", LIMITS)
def test_very_many_migrated(seed, limits):
    """VIVERO_RANDOM_MODELS plays as many models as wanted."""
    counts = Counter()
    play_migrated(range(seed, seed + MANY), limits, 5, counts)
    print(f"{limits}: VIVERO_SEED={seed}: {MANY} models, migrations: {counts.most_common()}")


def play_migrated(seeds, limits, replayed, counts):
    def between(random):
        return Changing(random, counts, RandomMigrations().command_of, InstanceMigrated, often=0.5).between

    _, faults = play_many(seeds, LIMITS[limits], replayed, between)
    assert not faults, told(faults)
