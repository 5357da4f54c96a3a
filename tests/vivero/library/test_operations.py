"""Operations of the library on a running instance: they are those of the server, on a snapshot."""

import msgspec
import pytest

from tests.core.event_models import call, model
from tests.core.models import end, process_element, start, task
from tests.vivero.library.library_models import NOON
from vivero.library import (
    Models,
    Rejected,
    assign_business_id,
    complete,
    migrate,
    modify,
    resume,
    set_variables,
    suspend,
    undo,
)
from vivero.library import start as begin

ONE = model(start(), task("work", type="do"), task("check"), end(), "start > work > check > end")
TWO = model(start(), task("labour", type="do"), task("review"), end(), "start > labour > review > end")
MODELS = Models({"one.bpmn": ONE, "two.bpmn": TWO})
"""The second version of the process renames both tasks."""


@pytest.fixture
def running():
    """An instance of the first version that waits at `work`."""
    return begin(Models({"one.bpmn": ONE}), {"a": 1}, now=NOON)


def jobs(result):
    return [(job.element, job.available) for job in result.instance.jobs]


@pytest.mark.parametrize("mappings", [None, {"work": "labour"}], ids=["suggested", "given"])
def test_an_instance_continues_by_the_newest_version(running, mappings):
    before = running.instance.jobs[0].key
    result = migrate(MODELS, running.snapshot, mappings)
    assert (jobs(result), result.instance.jobs[0].key) == ([("labour", True)], before)
    assert jobs(complete(MODELS, result.snapshot, before)) == [("review", True)]


def test_and_back_by_its_number(running):
    there = migrate(MODELS, running.snapshot)
    assert jobs(migrate(MODELS, there.snapshot, {"labour": "work"}, version=1)) == [("work", True)]


def test_another_process_is_named(running):
    both = Models({"one.bpmn": ONE, "q.bpmn": TWO.replace(b'id="p"', b'id="q"')})
    result = migrate(both, running.snapshot, process_id="q")
    assert (result.instance.process_id, jobs(result)) == ("q", [("labour", True)])
    for options in ({"process_id": "r"}, {"version": 7}):
        with pytest.raises(Rejected, match="The models have no process") as error:
            migrate(both, running.snapshot, **options)
        assert error.value.code == "NOT_FOUND"


def test_a_refused_migration_tells_all_problems():
    parallel = model(start(), task("work"), task("check"), end(), "start > work > end", "start > check > end")
    result = begin(Models({"one.bpmn": parallel}), now=NOON)
    with pytest.raises(Rejected) as error:
        migrate(Models({"one.bpmn": parallel, "two.bpmn": TWO}), result.snapshot, {})
    assert error.value.code == "INVALID_STATE"
    assert [id for id in ("'work'", "'check'") if any(id in one for one in error.value.problems)] == [
        "'work'",
        "'check'",
    ]
    assert str(error.value) == error.value.problems[0]


def test_elements_are_activated_terminated_and_moved(running):
    result = modify(MODELS, running.snapshot, activate=["check"], variables={"b": 2})
    assert (jobs(result), result.instance.variables) == ([("work", True), ("check", True)], {"a": 1, "b": 2})
    result = modify(MODELS, result.snapshot, terminate=["check"])
    assert jobs(result) == [("work", True)]
    assert jobs(modify(MODELS, result.snapshot, move={"work": "check"})) == [("check", True)]
    with pytest.raises(Rejected, match="'nothing'"):
        modify(MODELS, result.snapshot, activate=["nothing"])


@pytest.mark.parametrize("include_called", [False, True])
def test_a_suspended_instance_stands_still(include_called):
    child = process_element(start("cs"), task("inside"), "cs > inside", id="c")
    both = Models(
        {"p.bpmn": model(start(), task("work"), call("x", "c"), "start > work", "start > x", beside=(child,))}
    )
    running = begin(both, process_id="p", now=NOON)
    result = suspend(both, running.snapshot, "a holiday", include_called=include_called)
    assert (result.instance.suspended_at, result.instance.suspended_reason) == (NOON, "a holiday")
    assert sorted(jobs(result)) == [("inside", not include_called), ("work", False)]
    with pytest.raises(Rejected, match="is suspended"):
        complete(both, result.snapshot, next(job.key for job in result.instance.jobs if job.element == "work"))
    assert not result.instance.ended
    result = resume(both, result.snapshot, include_called=include_called)
    assert (result.instance.suspended_at, sorted(jobs(result))) == (None, [("inside", True), ("work", True)])


def test_a_business_id_is_assigned_once(running):
    result = assign_business_id(MODELS, running.snapshot, "order-7")
    assert result.instance.business_id == "order-7"
    with pytest.raises(Rejected, match="another business id"):
        assign_business_id(MODELS, result.snapshot, "order-8")


def test_an_ended_instance_rejects_them_all():
    quick = Models({"p.bpmn": model(start(), end(), "start > end")})
    ended = begin(quick, now=NOON).snapshot
    for operation in (migrate, modify, suspend, resume):
        with pytest.raises(Rejected, match="has ended"):
            operation(quick, ended)
    with pytest.raises(Rejected, match="has ended"):
        assign_business_id(quick, ended, "order-7")


# ---- undo


@pytest.mark.parametrize(
    "operation",
    [
        lambda snapshot: migrate(MODELS, snapshot),
        lambda snapshot: modify(MODELS, snapshot, move={"work": "check"}),
        lambda snapshot: suspend(MODELS, snapshot, "a holiday"),
        lambda snapshot: assign_business_id(MODELS, snapshot, "order-7"),
    ],
    ids=["migration", "modification", "suspension", "business id"],
)
def test_an_operation_is_taken_back_and_the_undo_too(running, operation):
    def seen(result):
        instance = result.instance
        return instance.process_id, jobs(result), instance.variables, instance.suspended_reason, instance.business_id

    done = operation(running.snapshot)
    undone = undo(MODELS, done.snapshot, done.undo)
    again = undo(MODELS, undone.snapshot, undone.undo)
    assert [seen(one) for one in (undone, again)] == [seen(running), seen(done)]
    assert (seen(done) != seen(running), again.undo.offered) == (True, True)


def test_an_undo_that_comes_too_late_or_is_of_no_operation_is_refused(running):
    done = suspend(MODELS, running.snapshot)
    later = set_variables(MODELS, done.snapshot, {"b": 1})
    with pytest.raises(Rejected, match="something else has happened since") as error:
        undo(MODELS, later.snapshot, done.undo)
    assert error.value.code == "INVALID_STATE"
    with pytest.raises(Rejected, match="is not an operation on this process instance"):
        undo(MODELS, later.snapshot, later.undo)


def test_what_cannot_be_exact_is_not_offered(running):
    ended = modify(MODELS, running.snapshot, terminate=["work"])
    assert (ended.undo.offered, ended.undo.reason) == (False, "the process instance has ended")
    listening = modify(MODELS, running.snapshot, activate=["check"], terminate=["work"], variables={"b": 1})
    assert listening.undo.reason == "it has set the variable 'b'"
    with pytest.raises(Rejected, match="it has set the variable 'b'"):
        undo(MODELS, listening.snapshot, listening.undo)


def test_the_jobs_whose_workers_prevent_an_undo_are_named(running):
    done = modify(MODELS, running.snapshot, move={"work": "check"})
    assert set(done.undo.jobs) == {running.instance.jobs[0].key, done.instance.jobs[0].key}


def test_a_migration_goes_back_to_a_definition_of_a_server(running):
    """Its key is not that which the library gives, and the migrated snapshot does not have it any more."""
    former = msgspec.json.decode(running.snapshot)["definitions"][0]["key"]
    of_server = running.snapshot.replace(f'"{former}"', '"2251799813685248"')
    done = migrate(MODELS, of_server)
    undone = undo(MODELS, done.snapshot, done.undo)
    assert '"2251799813685248"' in undone.snapshot
    assert jobs(undone) == [("work", True)]
