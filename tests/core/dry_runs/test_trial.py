"""A dry run gives the events that the command then gives, and leaves the tree as it was."""

from collections import Counter

import pytest

from tests.core.dry_runs.trials import done, text_of, tried
from tests.core.engine import Engine
from tests.core.event_models import loop, model
from tests.core.migration_models import Migrating
from tests.core.models import end, start, task
from tests.core.modification_models import FORKED, NESTED, activate, command, move
from tests.core.randomised.runs import left_off
from tests.rounds import drawn
from vivero.core.execution.step import StepLimits
from vivero.core.records.effects import RejectionCode
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.state.instance_tree import Instance

COUNT = 60


def instances_of(engine):
    return [one for one in engine.state.elements.values() if isinstance(one, Instance)]


def operation(engine, random):
    """A random operation on a random instance. Many of them are refused."""
    instance = random.choice(instances_of(engine))
    nodes = list(engine.memory.find_model(engine.state.catalogue.definitions[instance.definition_key]).nodes)
    live = [one for one in engine.state.elements.values() if one.instance is instance and one is not instance]
    kind = random.choice(("modify", "modify", "modify", "migrate", "suspend", "resume"))
    if kind == "modify":
        given = [random.choice(nodes) for _ in range(random.randint(0, 2))]
        if live:
            given.append(f"-{random.choice(live).element}")
            given += [move(random.choice(live).key, random.choice(nodes), random.choice(("direct", "inferred")))] * (
                random.random() < 0.4
            )
        return command(instance.key, *given)
    if kind == "migrate":
        return MigrateInstance(instance.key, instance.definition_key, tuple((id, id) for id in nodes[1:]))
    if kind == "resume" and instance.suspended_at is None:
        engine.accepted(SuspendInstance(instance.key))
    return {"suspend": SuspendInstance, "resume": ResumeInstance}[kind](instance.key, random.random() < 0.5)


@pytest.mark.parametrize("quantum", [500, 1], ids=["whole", "quanta"])
def test_it_gives_the_events_of_the_command(seed, quantum):
    accepted, refused = Counter(), Counter()

    def enough():
        kinds = ("ModifyInstance", "SuspendInstance", "ResumeInstance")
        return min(accepted[name] for name in kinds) > 1 and refused["ModifyInstance"] > 3

    for number in drawn(seed, COUNT, enough):
        engine, random = left_off(number, "operation", StepLimits(quantum_items=quantum))
        if not engine.state.elements:
            continue
        change = operation(engine, random)
        before = text_of(engine, change.key)
        trial = tried(engine, change)
        assert text_of(engine, change.key) == before, f"seed {number}"
        handled, events, others = done(engine, change)
        assert trial.rejection == handled.rejection, f"seed {number}"
        same = len(events) if others == 0 else len(handled.events)
        assert trial.events[:same] == events[:same], f"seed {number}"
        assert others or len(trial.events) == same, f"seed {number}"
        (refused if handled.rejection else accepted)[type(change).__name__] += 1
    assert enough(), (accepted, refused)


def test_all_problems_of_a_refusal():
    engine = Engine()
    engine.deploy(FORKED)
    key = engine.start()
    trial = tried(engine, command(key, "nowhere", "-gone", activate("start")))
    assert trial.events == []
    assert trial.rejection.code is RejectionCode.INVALID_ARGUMENT
    assert {one.element for one in trial.rejection.violations} >= {"nowhere", "start"}


def test_it_waits_for_deferred_work_of_the_tree():
    engine = Engine(StepLimits(quantum_items=1))
    engine.deploy(model(start(), loop(task("work"), "=items"), end(), "start > work > end"))
    key = engine.start(items=list(range(5)))
    root = engine.state.elements[key]
    work = ((root.key, "settle", 0),)
    root.tree.work = work
    trial = tried(engine, command(key, "end"))
    assert trial.is_put_off
    assert trial.events == []


def test_deferred_work_is_followed_to_its_end():
    engine = Engine(StepLimits(quantum_items=2))
    engine.deploy(model(start(), loop(task("work"), "=items"), end(), "start > work > end"))
    key = engine.start(items=list(range(30)))
    trial = tried(engine, command(key, "end", "-work"))
    kinds = Counter(type(event).__name__ for event in trial.events)
    assert kinds["JobCanceled"] == 30
    assert kinds["WorkResumed"] > 1
    handled, events, others = done(engine, command(key, "end", "-work"))
    assert (handled.rejection, others) == (None, 0)
    assert trial.events == events


def test_a_migration_opens_and_closes():
    engine = Migrating(NESTED, NESTED.replace(b'id="after"', b'id="later"').replace(b"after", b"later"))
    change = MigrateInstance(engine.key, engine.target, (("before", "before"),))
    trial = tried(engine, change)
    assert [type(event).__name__ for event in trial.events] == ["InstanceMigrated"]
    assert trial.events == engine.run(change).events
