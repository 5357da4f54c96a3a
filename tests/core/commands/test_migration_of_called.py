"""Migration of a process instance with instances that it calls: one command, everything or nothing."""

import pytest

from tests.core.engine import rebuilt, snapshot
from tests.core.event_models import LIMITS, boundary, call, loop, model
from tests.core.migration_models import Migrating
from tests.core.models import end, start, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.migrations import CalledMigration, MigrateInstance
from vivero.core.records.suspensions import SuspendInstance

HOUR = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"


def line(*parts, id="p", more=()):
    names = [part.partition('id="')[2].partition('"')[0] for part in parts]
    return model(start(), *parts, end(), " > ".join(["start", *names, "end"]), *more, id=id)


class Tree(Migrating):
    """`p` calls `middle`, which calls `leaf` in a loop. Each has a second version or another process as its target."""

    def __init__(self, limits=LIMITS["whole"]) -> None:
        middle, leaf = line(loop(call("down", "leaf"), "=[1, 2]"), id="middle"), line(task("work"), id="leaf")
        super().__init__(line(call("c", "middle")), line(call("d", "middle"), task("z")), limits, beside=[middle, leaf])
        self.middle, self.leaf = (self.element(id).instance.definition_key for id in ("middle", "leaf"))
        self.leaf_keys = [one.key for one in self.state.elements.values() if one.element == "leaf"]
        (self.middle2,) = self.deploy(line(loop(call("below", "leaf"), "=[1, 2]"), task("y"), id="middle"))
        late = boundary("late", "labour", HOUR, False)
        (self.leaf2,) = self.deploy(line(task("labour"), task("x"), id="other", more=[late]))

    @property
    def both(self):
        return (self.middle, self.middle2, ["down:below"]), (self.leaf, self.leaf2, ["work:labour"])


@pytest.mark.parametrize("limits", LIMITS)
def test_the_whole_tree_moves(limits):
    engine = Tree(LIMITS[limits])
    handled = engine.go("c:d", called=engine.both)
    migrated = [event.key for event in handled.events if type(event).__name__ == "InstanceMigrated"]
    assert migrated[:2] == [engine.key, engine.element("middle").key], "callers first"
    assert sorted(migrated[2:]) == sorted(engine.leaf_keys)
    assert len(engine.state.timers) == 2, "what a target awaits is opened in each instance"
    assert {
        element.tokens.get("other") for element in engine.state.elements.values() if element.element == "below"
    } == {
        None,
        1,
    }
    for expected in (["labour", "x"], ["x", "x"], ["x"], ["y"], ["z"]):
        engine.complete(engine.jobs[0])
        assert engine.jobs == expected
    engine.complete("z")
    assert engine.state_of(engine.key) == "COMPLETED"
    assert engine.state.timers == {}


def test_definitions_that_are_not_named_stay():
    engine = Tree()
    engine.go("c:d", called=engine.both[1:])
    assert engine.element("middle").instance.definition_key == engine.middle
    assert engine.element("labour").instance.definition_key == engine.leaf2
    engine.go("d:c", to=engine.source, called=[(engine.leaf, engine.leaf2, ["work:labour"])])
    assert engine.element("labour").instance.definition_key == engine.leaf2, "none has the source: nothing moves"


def test_called_instances_alone():
    """The instance itself goes to its own definition."""
    engine = Tree()
    before = engine.element("c").key
    engine.go("c", to=engine.source, called=engine.both)
    assert engine.element("c").key == before
    assert engine.element("below").instance.definition_key == engine.middle2


def test_all_problems_with_their_instances():
    engine = Tree()
    engine.refused("c:d", called=[(engine.middle, engine.middle2, ["down:below"]), (engine.leaf, engine.leaf2, [])])
    handled = engine.migrate(called=[(engine.middle, engine.middle2, []), (engine.leaf, engine.leaf2, [])])
    found = [(one.instance, one.element) for one in handled.rejection.violations]
    middle = engine.element("middle").key
    assert sorted(set(found)) == sorted(
        [(engine.key, "c"), (middle, "down"), *((key, "work") for key in engine.leaf_keys)]
    )
    assert handled.rejection.code == "INVALID_STATE"
    for one in handled.rejection.violations:
        assert one.message.startswith(f"Expected to migrate process instance '{one.instance}' but ")


def test_mappings_of_called_instances_are_checked_first():
    engine = Tree()
    code, reason = engine.refused(called=[(engine.leaf, engine.leaf2, ["nothing:labour"])])
    assert code == "INVALID_ARGUMENT"
    assert "non-existing source element id 'nothing'" in reason


def test_a_target_that_does_not_exist():
    engine = Tree()
    text = "no process definition found with key '5'"
    assert engine.refused("c:d", called=[(engine.leaf, 5, ["work:labour"])])[1].endswith(text)
    engine.run(DeleteResource(engine.leaf2))
    assert engine.refused("c:d", called=engine.both)[0] == "NOT_FOUND"


def test_a_called_instance_that_is_suspended():
    engine = Tree()
    (key, _) = engine.leaf_keys
    engine.accepted(SuspendInstance(key))
    code, reason = engine.refused("c:d", called=engine.both)
    assert (code, reason) == (
        "INVALID_STATE",
        f"Expected to migrate process instance '{key}' but it is suspended: resume it first.",
    )
    engine.go("c:d", called=engine.both[:1])


def test_the_limit_is_that_of_the_tree():
    engine = Tree(StepLimits(max_whole_rows=4))
    _, reason = engine.refused("c:d", called=engine.both)
    assert "its instance tree has" in reason


def test_an_item_of_a_batch_moves_the_rest_of_a_tree():
    engine = Tree()
    engine.go("c:d")
    called = tuple(
        CalledMigration(source, target, tuple(tuple(one.split(":")) for one in mappings))
        for source, target, mappings in engine.both
    )
    command = MigrateInstance(engine.key, engine.target, (("c", "d"),), unless_there=True, called=called)
    handled = engine.run(command)
    assert handled.rejection is None
    assert engine.element("below").instance.definition_key == engine.middle2
    assert engine.run(command).events == []


def test_it_waits_for_the_deferred_work_of_a_called_instance():
    engine = Tree()
    tree = engine.state.trees[engine.key]
    tree.work = ((engine.leaf_keys[0], "settle", 0),)
    command = MigrateInstance(engine.key, engine.target, (("c", "d"),), attempt=100)
    assert engine.run(command).rejection is None, "it is none of the instance itself"
    called = (CalledMigration(engine.leaf, engine.leaf2, (("work", "labour"),)),)
    back = MigrateInstance(engine.key, engine.source, (("d", "c"),), attempt=100, called=called)
    handled = engine.run(back)
    assert handled.rejection is not None
    assert "a concurrent command" in handled.rejection.reason


@pytest.mark.parametrize("limits", LIMITS)
def test_there_and_back_is_where_it_was(limits):
    engine = Tree(LIMITS[limits])
    before = snapshot(engine.state)
    engine.go("c:d", called=engine.both)
    rebuilt(engine)
    inverse = [(engine.middle2, engine.middle, ["below:down"]), (engine.leaf2, engine.leaf, ["labour:work"])]
    engine.go("d:c", to=engine.source, called=inverse)
    after = snapshot(engine.state)
    for one in (before, after):
        one["catalogue"] = [row for row in one["catalogue"] if row.get("running") != 0]
        one.pop("next_key")  # the target's timers had keys
    assert after == before
