"""Undo of operations that include called process instances: exactly those that the operation has changed go back."""

import pytest

from tests.core.commands.test_migration_of_called import Tree, line
from tests.core.engine import rebuilt
from tests.core.event_models import call, model
from tests.core.migration_models import Migrating, pairs
from tests.core.models import end, start, task
from tests.core.modification_models import command, move
from tests.core.undos.shapes import alive, around
from tests.core.undos.test_inverse import events_of, not_exact, undo
from vivero.core.records.migrations import CalledMigration, MigrateInstance
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.undos import inverse
from vivero.core.undos.inverse import inverse_of


@pytest.fixture
def tree():
    """`p` calls `middle`, which calls two instances of `leaf`."""
    return Tree()


def whole(tree):
    """The migration of the instance with all that it calls."""
    called = tuple(CalledMigration(source, target, pairs(mappings)) for source, target, mappings in tree.both)
    return MigrateInstance(tree.key, tree.target, (("c", "d"),), called=called)


def untaken(tree, change):
    events, before = events_of(tree, change)
    operation = inverse.operation_of(events, change.key)
    return sorted(inverse_of(operation, events, change.key, around(tree, before)).untaken)


# ---- migrations


def test_a_migration_goes_back_with_the_called_instances(tree):
    before = alive(tree, tree.key)
    assert undo(tree, whole(tree)) == "MIGRATE"
    assert alive(tree, tree.key) == before
    rebuilt(tree)
    tree.complete("work")
    tree.complete("work")
    assert not tree.elements


def test_a_called_instance_that_was_there_before_stays_there(tree):
    first, other = tree.leaf_keys
    tree.go("work:labour", key=first, to=tree.leaf2)
    before = alive(tree, tree.key)
    undo(tree, whole(tree))
    assert alive(tree, tree.key) == before
    definitions = [tree.state.elements[key].definition_key for key in (first, other)]
    assert definitions == [tree.leaf2, tree.leaf]


def test_definitions_that_became_one_are_two_again():
    leaves = [line(task("work"), id="one"), line(task("act"), id="two")]
    source = model(start(), call("a", "one"), call("b", "two"), end(), "start > a > end", "start > b > end")
    engine = Migrating(source, source.replace(b'id="a"', b'id="a" name="new"'), beside=leaves)
    one, two = (engine.element(id).instance.definition_key for id in ("work", "act"))
    (both,) = engine.deploy(line(task("labour"), id="both"))
    before = alive(engine, engine.key)
    called = (CalledMigration(one, both, (("work", "labour"),)), CalledMigration(two, both, (("act", "labour"),)))
    undo(engine, MigrateInstance(engine.key, engine.target, (("a", "a"), ("b", "b")), called=called))
    assert alive(engine, engine.key) == before
    engine.complete("work")
    engine.complete("act")
    assert not engine.elements


# ---- suspensions and resumptions


def test_those_that_were_suspended_before_stay_suspended(tree):
    first, other = tree.leaf_keys
    tree.accepted(SuspendInstance(first, False, "the customer waits"))
    before = alive(tree, tree.key)
    undo(tree, SuspendInstance(tree.key, True, "prices"))
    assert alive(tree, tree.key) == before
    suspended = [tree.state.elements[key].suspended_reason for key in (first, other)]
    assert suspended == ["the customer waits", None]


def test_those_that_ran_before_the_resumption_run_on(tree):
    tree.accepted(SuspendInstance(tree.key, True, "prices"))
    tree.accepted(ResumeInstance(tree.leaf_keys[0]))
    undo(tree, ResumeInstance(tree.key, True))
    reasons = [tree.state.elements[key].suspended_reason for key in (tree.key, *tree.leaf_keys)]
    assert reasons == ["prices", None, "prices"]


def test_reasons_that_differ_cannot_be_given_back(tree):
    tree.accepted(SuspendInstance(tree.leaf_keys[0], False, "the customer waits"))
    tree.accepted(SuspendInstance(tree.key, True, "prices"))
    reason = not_exact(tree, ResumeInstance(tree.key, True))
    assert reason == "called process instances were suspended for other reasons"


# ---- both


def test_jobs_of_called_instances_may_not_be_taken_meanwhile(tree):
    jobs = sorted(tree.state.jobs)
    assert untaken(tree, whole(tree)) == jobs
    tree.accepted(SuspendInstance(tree.key, True))
    assert untaken(tree, ResumeInstance(tree.key, True)) == jobs
    tree.accepted(SuspendInstance(tree.key))
    assert untaken(tree, ResumeInstance(tree.key)) == [], "it has no jobs itself"


def test_the_number_of_called_instances_is_limited(tree, monkeypatch):
    monkeypatch.setattr(inverse, "MOST_CALLED", 2)
    for change in (SuspendInstance(tree.key, True), whole(tree)):
        assert not_exact(tree, change) == "it included more than 2 called process instances"
        tree.run(ResumeInstance(tree.key, True))


def test_the_number_of_their_mappings_is_limited(tree, monkeypatch):
    monkeypatch.setattr(inverse, "MOST_MAPPED", 5)
    assert not_exact(tree, whole(tree)) == "it has mapped more than 5 elements of called process instances"


def test_a_call_activity_that_ended_is_not_restored(tree):
    """The end of the called instance is known to its clients."""
    assert not_exact(tree, command(tree.key, move("c", "c"))) == "it has terminated a call activity that calls"
