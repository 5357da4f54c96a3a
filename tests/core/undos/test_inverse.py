"""Undo: what is alive is as before the operation, or it is refused."""

from collections import Counter

import pytest

from tests.core.dry_runs.trials import text_of
from tests.core.engine import Engine, rebuilt
from tests.core.event_models import boundary, call, model
from tests.core.events.test_timers import timer
from tests.core.migration_models import Migrating
from tests.core.models import end, process, start, sub, task
from tests.core.modification_models import FORKED, NESTED, command, move
from tests.core.randomised.runs import left_off
from tests.core.randomised.test_migrations import ids_of
from tests.rounds import drawn
from vivero.core.commands.conditional_change import conditional
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import SetVariables
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.snapshots.codec import decode
from vivero.core.state.instance_tree import Instance
from vivero.core.undos.inverse import NotExact, Surroundings, inverse_of, operation_of

COUNT = 60


def around(engine, key, before):
    """The surroundings, as the database would show them. `before`: the number of positions before the operation."""
    live = [one for one in engine.state.elements.values() if isinstance(one, Instance)]
    earlier = [event for one in engine.memory.log[:before] for handled in one.handled for event in handled.events]
    return Surroundings(
        frozenset(one.key for one in live),
        frozenset(one.key for one in live if one.suspended_at is not None),
        tuple(job.key for job in engine.state.jobs.values() if job.element.instance.key == key),
        earlier,
    )


def events_of(engine, change):
    """The events of an operation, with those of all its follow-ups."""
    before = len(engine.memory.log)
    handled = engine.run(change)
    assert handled.rejection is None, handled.rejection
    return events_from(engine, before), before


def events_from(engine, position):
    """The events of trees since the log had so many positions."""
    rows = [row for one in engine.memory.log[position:] for row in one.handled if row.root is not None]
    return [event for row in rows for event in row.events]


def undo(engine, change):
    """Do an operation, and take it back."""
    events, before = events_of(engine, change)
    operation = operation_of(events, change.key)
    found = inverse_of(operation, events, change.key, around(engine, change.key, before))
    handled = engine.run(conditional(found.command, change.key, (revision(engine, change.key),), found.untaken))
    assert handled.rejection is None, handled.rejection
    return operation


def revision(engine, key):
    return engine.state.elements[key].tree.revision


def alive(engine, key):
    """The tree without its version, the times of changes and the next key."""
    document = decode(text_of(engine, key))
    fields = {name: getattr(document, name) for name in document.__struct_fields__}
    jobs = [(job.key, job.type, job.state, job.element_key, job.retries) for job in fields.pop("jobs")]
    subscriptions = [(one.key, one.element_key, one.element_id) for one in fields.pop("subscriptions")]
    return {**fields, "version": 0, "at": 0, "next_key": "", "jobs": jobs, "subscriptions": subscriptions}


@pytest.fixture
def engine():
    engine = Engine()
    engine.deploy(FORKED)
    engine.key = engine.start()
    return engine


@pytest.mark.parametrize(
    ("change", "operation"),
    [
        (lambda key: command(key, "c"), "MODIFY"),
        (lambda key: command(key, "a", "b", "c"), "MODIFY"),
        (lambda key: SuspendInstance(key, False, "prices"), "SUSPEND"),
        (lambda key: SuspendInstance(key, True), "SUSPEND"),
    ],
)
def test_an_operation_is_taken_back(engine, change, operation):
    before = alive(engine, engine.key)
    assert undo(engine, change(engine.key)) == operation
    assert alive(engine, engine.key) == before
    rebuilt(engine)


def test_scopes_that_the_modification_made_end_with_what_is_in_them():
    engine = Engine()
    engine.deploy(NESTED)
    key = engine.start()
    before = alive(engine, key)
    undo(engine, command(key, "deep", "beside"))
    assert alive(engine, key) == before


def test_a_resumption_suspends_again_with_the_same_reason(engine):
    engine.accepted(SuspendInstance(engine.key, False, "prices"))
    engine.accepted(SetVariables(engine.key, {}))
    assert undo(engine, ResumeInstance(engine.key)) == "RESUME"
    assert engine.state.elements[engine.key].suspended_reason == "prices"


def test_a_migration_goes_back_with_keys_and_what_it_opened():
    source = model(start(), task("a"), end(), "start > a > end")
    target = model(
        start(), task("b"), boundary("late", "b", timer("timeDuration", "PT1H")), end(), task("c"), "start > b > end",
        "late > c",
    )  # fmt: skip
    engine = Migrating(source, target)
    before = alive(engine, engine.key)
    assert undo(engine, MigrateInstance(engine.key, engine.target, (("a", "b"),))) == "MIGRATE"
    assert alive(engine, engine.key) == before
    engine.complete("a")
    assert not engine.elements


def not_exact(engine, change):
    events, before = events_of(engine, change)
    with pytest.raises(NotExact) as caught:
        inverse_of(operation_of(events, change.key), events, change.key, around(engine, change.key, before))
    return str(caught.value)


@pytest.mark.parametrize(
    ("instructions", "reason"),
    [
        (("-a",), "it has terminated elements"),
        ((move("a", "c"),), "it has terminated elements"),
        (("f",), "more than can be taken back: ElementCompleting"),
        ((), "it has begun nothing"),
    ],
)
def test_modifications_that_cannot_be_taken_back(engine, instructions, reason):
    assert reason in not_exact(engine, command(engine.key, *instructions))


def test_a_called_instance_is_not_cancelled_again():
    engine = Engine()
    engine.deploy(FORKED.replace(b'id="p"', b'id="child"'))
    engine.deploy(model(start(), task("t"), call("sub", "child"), end(), "start > t > sub > end"))
    key = engine.start()
    assert "InstanceCreated" in not_exact(engine, command(key, "sub"))


def test_a_timer_that_the_migration_closed_is_not_opened_again():
    late = boundary("late", "b", timer("timeDuration", "PT1H"))
    source = model(start(), task("b"), late, end(), task("c"), "start > b > end", "late > c")
    target = process(start(), task("b"), end(), "start > b > end")
    engine = Migrating(source, target)
    assert "TimerCanceled" in not_exact(engine, MigrateInstance(engine.key, engine.target, (("b", "b"),)))


def test_work_that_waited_for_the_resumption_is_done(engine):
    engine.deploy(model(start(), sub("s", start("i"), call("c", "p"), "i > c"), end(), "start > s > end", id="outer"))
    key = engine.start("outer")
    engine.accepted(SuspendInstance(key))
    for id in ("a", "b", "c"):
        child = next(job for job in engine.state.jobs.values() if job.element.instance.parent_instance == key)
        assert child.element.element == id
        engine.complete_at(key, f"outer/s/c/p/{id}", {})
    assert "work that had waited" in not_exact(engine, ResumeInstance(key))


def test_another_change_ends_the_offer(engine):
    events, before = events_of(engine, command(engine.key, "c"))
    found = inverse_of("MODIFY", events, engine.key, around(engine, engine.key, before))
    version = revision(engine, engine.key)
    engine.accepted(SetVariables(engine.key, {}))
    engine.complete("a")
    handled = engine.run(conditional(found.command, engine.key, (version,), found.untaken))
    assert handled.rejection.code is RejectionCode.PRECONDITION_FAILED


def test_of_another_command_there_is_no_undo(engine):
    events, _ = events_of(engine, SetVariables(engine.key, {}))
    assert operation_of(events, engine.key) is None
    events, _ = events_of(engine, SuspendInstance(engine.key))
    assert operation_of(events, engine.key + 1) is None


def test_random_operations_are_taken_back_or_refused(seed):
    exact, refused = Counter(), Counter()

    def enough():
        return min(exact[one] for one in ("MODIFY", "MIGRATE", "SUSPEND")) > 2

    for number in drawn(seed, COUNT, enough):
        engine, random = left_off(number, "undo")
        for change in changes(engine, random):
            if change.key not in engine.state.elements:
                continue
            before, length = alive(engine, change.key), len(engine.memory.log)
            if engine.run(change).rejection is not None:
                continue
            events = events_from(engine, length)
            operation = operation_of(events, change.key)
            try:
                found = inverse_of(operation, events, change.key, around(engine, change.key, length))
            except NotExact:
                refused[operation] += 1
                continue
            handled = engine.run(conditional(found.command, change.key, (revision(engine, change.key),)))
            assert handled.rejection is None, f"seed {number}: {handled.rejection}"
            assert alive(engine, change.key) == before, f"seed {number}: {operation}"
            exact[operation] += 1
    assert enough(), (exact, refused)


def changes(engine, random):
    """Operations on instances of a run, one after the other."""
    for instance in [one for one in engine.state.elements.values() if isinstance(one, Instance)]:
        model = engine.memory.find_model(engine.state.catalogue.definitions[instance.definition_key])
        yield SuspendInstance(instance.key, False, "why")
        yield command(instance.key, random.choice(list(model.nodes)))
        yield MigrateInstance(instance.key, instance.definition_key, tuple((id, id) for id in ids_of(model)))
