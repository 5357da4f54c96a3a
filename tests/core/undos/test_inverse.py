"""Undo: what is alive is as before the operation, or it is refused."""

import json
from collections import Counter

import pytest

from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import boundary, call, model
from tests.core.events.test_timers import timer
from tests.core.migration_models import Migrating
from tests.core.models import end, process, start, sub, task
from tests.core.modification_models import FORKED, NESTED, activate, command, move
from tests.core.randomised.runs import left_off
from tests.core.randomised.test_migrations import ids_of
from tests.core.undos.shapes import alive, around, events_from, revision, shape
from tests.rounds import drawn
from vivero.core.commands.conditional_change import conditional
from vivero.core.modifications import former
from vivero.core.records.business_ids import AssignBusinessId, BusinessIdAssigned
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import SetVariables
from vivero.core.records.jobs import CompleteJob, JobCreated
from vivero.core.records.migrations import CalledMigration, MigrateInstance
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.state.instance_tree import Instance
from vivero.core.undos.inverse import NOTHING_AROUND, NotExact, inverse_of, operation_of

COUNT = 60


def events_of(engine, change):
    """The events of an operation, with those of all its follow-ups."""
    before = len(engine.memory.log)
    handled = engine.run(change)
    assert handled.rejection is None, handled.rejection
    return events_from(engine, before), before


def undo(engine, change):
    """Do an operation, and take it back."""
    events, before = events_of(engine, change)
    operation = operation_of(events, change.key)
    found = inverse_of(operation, events, change.key, around(engine, before))
    handled = engine.run(conditional(found.command, change.key, (revision(engine, change.key),), found.untaken))
    assert handled.rejection is None, handled.rejection
    return operation


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
        (lambda key: AssignBusinessId(key, "order-7"), "ASSIGN_BUSINESS_ID"),
    ],
)
def test_an_operation_is_taken_back(engine, change, operation):
    before = alive(engine, engine.key)
    assert undo(engine, change(engine.key)) == operation
    assert alive(engine, engine.key) == before
    rebuilt(engine)


@pytest.mark.parametrize("instructions", [("-a",), (move("a", "c"),), (move("a", "c"), move("b", "c")), ("-a", "c")])
def test_terminated_tasks_begin_again_under_new_keys(engine, instructions):
    before, former = shape(engine, engine.key), engine.job("a")
    assert undo(engine, command(engine.key, *instructions)) == "MODIFY"
    assert shape(engine, engine.key) == before
    job = engine.job("a")
    assert (job.key != former.key, job.element.key != former.element.key) == (True, True)
    assert former.element.state == "TERMINATED"
    rebuilt(engine)
    engine.complete("a")
    engine.complete("b")
    engine.complete("c")
    assert not engine.elements


def test_a_scope_begins_again_with_what_was_in_it():
    engine = Engine()
    engine.deploy(NESTED)
    key = engine.start()
    engine.complete("before")
    before = shape(engine, key)
    undo(engine, command(key, move("outer", "after")))
    assert shape(engine, key) == before
    undo(engine, command(key, move("deep", "after")))
    assert shape(engine, key) == before
    rebuilt(engine)
    for id in ("deep", "deeper", "beside", "after"):
        engine.complete(id)
    assert not engine.elements


def test_timers_keep_their_due_dates_and_incidents_their_stage():
    engine = Engine()
    late = boundary("late", "a", timer("timeDuration", "PT1H"))
    engine.deploy(model(start(), task("a"), late, end(), task("b"), "start > a > end", "late > b"))
    key = engine.start()
    due = [one.due_at for one in engine.state.timers.values()]
    engine.fail("a", message="no money")
    before = shape(engine, key)
    engine.memory.now += 60_000
    undo(engine, command(key, move("a", "b")))
    assert shape(engine, key) == before
    assert [one.due_at for one in engine.state.timers.values()] == due
    (incident,) = engine.state.incidents.values()
    assert incident.job == engine.job("a").key
    engine.update("a", retries=1)
    engine.resolve()
    engine.complete("a")
    assert not engine.elements


def test_an_undo_is_undone(engine):
    change = command(engine.key, move("a", "c"))
    engine.accepted(change)
    moved, length = shape(engine, engine.key), len(engine.memory.log)
    undo_latest(engine, length - 1)
    undo_latest(engine, length)
    assert shape(engine, engine.key) == moved
    rebuilt(engine)


def undo_latest(engine, length):
    events = events_from(engine, length)
    found = inverse_of("MODIFY", events, engine.key, around(engine, length))
    engine.accepted(conditional(found.command, engine.key, (revision(engine, engine.key),), found.untaken))


def test_a_job_that_waits_for_its_incident_has_no_worker(engine):
    """All other jobs may have had one, which only the database knows."""
    engine.fail("a")
    events, before = events_of(engine, command(engine.key, "-a", "-b", "c"))
    found = inverse_of("MODIFY", events, engine.key, around(engine, before))
    restored = getattr(found.command, "restore", ())
    created = {event.type: event.key for event in restored if isinstance(event, JobCreated)}
    assert found.never_taken == (created["b"],)


def test_a_job_that_was_released_from_an_incident_is_not_restored(engine):
    """Its error stays in its row, and no event of an open job restores it."""
    engine.throw("a", "UNKNOWN")
    engine.resolve()
    with pytest.raises(NotExact, match="activated again after an incident"):
        undo(engine, command(engine.key, "-a"))


def test_more_elements_than_an_event_can_have_are_not_restored(engine, monkeypatch):
    monkeypatch.setattr(former, "MOST_RESTORED", 1)
    assert not_exact(engine, command(engine.key, "-a", "-b", "c")) == "it has terminated more than 1 elements"


def test_more_characters_than_an_event_can_have_are_not_restored(engine, monkeypatch):
    monkeypatch.setattr(former, "MOST_RESTORED_CHARACTERS", 10)
    engine.accepted(SetVariables(engine.job("a").element.key, raw({"v": "x" * 10}), local=True))
    assert "elements with more than 10 characters of variables, items and names" in not_exact(
        engine, command(engine.key, "-a")
    )


def test_the_names_of_user_tasks_count_as_characters(monkeypatch):
    """A hundred tasks with long lists of candidates would make an event of megabytes."""
    monkeypatch.setattr(former, "MOST_RESTORED_CHARACTERS", 100)
    names = '<zeebe:userTask/><zeebe:assignmentDefinition candidateGroups="=groups"/>'
    person = f'<userTask id="u"><extensionElements>{names}</extensionElements></userTask>'
    engine = Engine()
    engine.deploy(process(start(), person, task("b"), "start > u", "start > b"))
    engine.key = engine.start(groups=["y" * 10])
    assert undo(engine, command(engine.key, "-u")) == "MODIFY"
    engine.key = engine.start(groups=["x" * 101])
    assert "more than 100 characters" in not_exact(engine, command(engine.key, "-u"))


def test_the_variables_in_an_incident_count_as_characters(engine, monkeypatch):
    monkeypatch.setattr(former, "MOST_RESTORED_CHARACTERS", 100)
    engine.fail("a")
    (incident,) = engine.state.incidents.values()
    incident.argument = ["x", {"v": json.dumps("x" * 101)}]
    assert "more than 100 characters" in not_exact(engine, command(engine.key, "-a"))


@pytest.mark.parametrize("within", [lambda task: task, lambda task: sub("s", start("i"), task, "i > u")])
def test_a_new_user_task_whose_cancellation_listeners_would_be_asked_stays(within):
    """It would wait for their workers, and be alive still."""
    listener = '<zeebe:taskListeners><zeebe:taskListener eventType="{}" type="t"/></zeebe:taskListeners>'
    person = '<userTask id="u"><extensionElements><zeebe:userTask/>{}</extensionElements></userTask>'
    for event, is_refused in (("canceling", True), ("completing", False)):
        engine = Engine()
        engine.deploy(process(start(), task("a"), within(person.format(listener.format(event))), "start > a"))
        key = engine.start()
        events, before = events_of(engine, command(key, "u"))
        found = inverse_of("MODIFY", events, key, around(engine, before))
        began, handled = shape(engine, key), engine.run(conditional(found.command, key, (revision(engine, key),)))
        assert (handled.rejection is not None) is is_refused
        if is_refused:
            assert handled.rejection.reason.endswith(
                "the listeners of the cancellation of user task 'u' would have to agree first"
            )
            assert shape(engine, key) == began


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


def test_the_undo_of_a_business_id_is_taken_back(engine):
    assert undo(engine, AssignBusinessId(engine.key, "order-7")) == "ASSIGN_BUSINESS_ID"
    assert engine.state.elements[engine.key].business_id is None
    events = [BusinessIdAssigned(engine.key, None)]
    again = inverse_of("ASSIGN_BUSINESS_ID", events, engine.key, around(engine, len(engine.memory.log) - 1))
    assert again.command == AssignBusinessId(engine.key, "order-7")
    with pytest.raises(NotExact, match="the log does not show the former business id any more"):
        inverse_of("ASSIGN_BUSINESS_ID", events, engine.key, NOTHING_AROUND)
    engine.accepted(AssignBusinessId(engine.key, None))
    rebuilt(engine)


def test_a_business_id_that_came_with_a_job_is_not_taken_back(engine):
    """The completion stays."""
    events, _ = events_of(engine, CompleteJob(engine.job("a").key, business_id="order-7"))
    assert operation_of(events, engine.key) is None


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
        inverse_of(operation_of(events, change.key), events, change.key, around(engine, before))
    return str(caught.value)


@pytest.mark.parametrize(
    ("instructions", "reason"),
    [
        (("f",), "more than can be taken back: ElementCompleting"),
        ((activate("c", scope="", v=1), "-a"), "it has set the variable 'v'"),
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
    found = inverse_of("MODIFY", events, engine.key, around(engine, before))
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
                found = inverse_of(operation, events, change.key, around(engine, length))
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
        yield AssignBusinessId(instance.key, f"order-{random.randrange(9)}")
        model = engine.memory.find_model(engine.state.catalogue.definitions[instance.definition_key])
        yield SuspendInstance(instance.key, False, "why")
        yield SuspendInstance(instance.key, True, "why")
        yield command(instance.key, random.choice(list(model.nodes)))
        same = tuple((id, id) for id in ids_of(model))
        yield MigrateInstance(instance.key, instance.definition_key, same)
        called = CalledMigration(instance.definition_key, instance.definition_key, same)
        yield MigrateInstance(instance.key, instance.definition_key, same, called=(called,))
