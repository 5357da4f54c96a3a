"""Random runs of random models are migrated after each command: to a model with other ids, and back again.

Nothing may change by it, and the run must go on as if nothing had happened.
"""

import re
from collections import Counter

import pytest

from tests.core.engine import Engine, snapshot
from tests.core.randomised.pairs import is_cut
from tests.core.randomised.runs import by_place, play, recorded
from tests.rounds import drawn
from vivero.core.bpmn.parser import parse
from vivero.core.execution.step import StepLimits
from vivero.core.records.migrations import MigrateInstance
from vivero.core.state.instance_tree import Instance

COUNT = 12
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
            names = {type(event).__name__ for event in handled.events}
            assert names <= {"InstanceMigrated", "WorkDeferred"}, handled.events  # a scope settles in another quantum
            back = MigrateInstance(instance.key, source, tuple((f"{id}_m", id) for id in ids))
            handled = self.engine.run(back)
            assert handled.rejection is None, handled.rejection
            self.moved += 1
        assert seen(self.engine) == before


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


@pytest.mark.parametrize("limits", [StepLimits(), StepLimits(quantum_items=1)], ids=["whole", "quanta"])
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
