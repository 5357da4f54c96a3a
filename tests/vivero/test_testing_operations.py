"""The test kit's operations on instances, and migrations in every wait state."""

import pytest

from tests.core.elements.test_user_task import user
from tests.core.event_models import boundary, error, model
from tests.core.message_models import message, receive, signal
from tests.core.message_models import model as message_model
from tests.core.models import end, par, start, task
from vivero import library
from vivero.testing import BpmnError, Processes

ONE = model(start(), task("work", type="do"), task("check"), end(), "start > work > check > end")
TWO = model(start(), task("labour", type="do"), task("check"), end(), "start > labour > check > end")


@pytest.fixture
def made(tmp_path):
    """Processes with the file `1.bpmn`, and others beside it: 2.bpmn, …"""

    def make(*files):
        for number, content in enumerate(files, 1):
            (tmp_path / f"{number}.bpmn").write_bytes(content)
        return Processes([tmp_path]).use("1.bpmn")

    return make


def where(runs):
    """The elements with jobs, for each run."""
    return [sorted(job.element for job in run.instance.jobs) for run in runs]


# ---- operations


def test_an_instance_migrates_to_the_file_that_is_named(made):
    run = made(ONE, TWO).start("p").migrate("2.bpmn")
    run.expect_active("labour").complete("labour").complete("check").expect_completed()


def test_a_refused_migration_fails_the_test_with_all_reasons(made):
    run = made(ONE, TWO).start("p")
    with pytest.raises(
        AssertionError, match=r"no mapping instruction defined for active element with id 'work'[^$]*It waits"
    ):
        run.migrate("2.bpmn", mappings={})
    run.expect_active("work").migrate("2.bpmn", mappings={"work": "labour"})


def test_an_instance_is_modified(made):
    run = made(ONE).start("p")
    run.modify(activate=["check"], variables={"b": 2}).expect_active("work", "check").expect_variables(b=2)
    run.modify(terminate=["work"]).expect_not_active("work")
    run.modify(move={"check": "work"}).expect_active("work").expect_not_active("check")


def test_mocks_of_a_suspended_instance_answer_after_the_resumption(made):
    processes = made(ONE)
    run = processes.start("p").suspend("a holiday")
    processes.mock_job("do").mock_job("check")
    run.set_variables({"a": 1}).expect_active("work")
    assert "The instance of 'p' is suspended." in run.describe()
    assert run.instance.suspended_reason == "a holiday"
    with pytest.raises(AssertionError, match="no job of 'work' to work on"):
        run.complete("work")
    run.resume().expect_completed()


def test_a_business_id_comes_late(made):
    run = made(ONE).start("p").assign_business_id("order-7")
    assert run.instance.business_id == "order-7"
    with pytest.raises(AssertionError, match="another business id"):
        run.assign_business_id("order-8")


def test_the_latest_operation_is_taken_back(made):
    run = made(ONE, TWO).start("p").modify(move={"work": "check"}).expect_undo()
    run.undo().expect_active("work").expect_not_active("check")
    run.migrate("2.bpmn").expect_active("labour").undo().expect_active("work")
    run.suspend("a holiday").undo().expect_active("work")
    assert run.instance.suspended_at is None
    run.undo()
    assert run.instance.suspended_reason == "a holiday", "an undo can be taken back"


def test_an_undo_after_another_change_fails_the_test_with_the_reason(made):
    processes = made(ONE)
    run = processes.start("p").modify(activate=["check"]).complete("work")
    run.expect_no_undo("is not an operation")
    with pytest.raises(AssertionError, match=r"is not an operation on this process instance[^$]*It waits"):
        run.undo()
    with pytest.raises(AssertionError, match="The latest change of the instance is not an operation"):
        run.expect_undo()
    processes.mock_job("check")
    processes.start("p").modify(activate=["check"]).expect_no_undo("is not an operation")


def test_expectations_of_an_undo_fail_with_the_reason(made):
    run = made(ONE).start("p").modify(activate=["check"], variables={"b": 2})
    with pytest.raises(AssertionError, match="The MODIFY of the instance has no undo: it has set the variable 'b'"):
        run.expect_undo()
    with pytest.raises(AssertionError, match="The reason why there is no undo is 'it has set the variable 'b''"):
        run.expect_no_undo("a listener")
    with pytest.raises(AssertionError, match="can be taken back"):
        run.suspend().expect_no_undo()


# ---- every wait state


def test_an_instance_in_each_wait_state_migrates(made):
    runs = made(ONE, TWO).expect_migrations("2.bpmn")
    assert where(runs) == [["labour"], ["check"]]
    for run in runs:
        run.complete(where([run])[0][0])


def test_migrated_instances_go_on_with_the_mocks(made):
    processes = made(ONE, TWO).mock_job("check", {"checked": True})
    first, second = processes.expect_migrations("2.bpmn", variables={"a": 1})
    first.expect_active("labour").complete("labour").expect_completed()
    second.expect_completed().expect_variables(a=1, checked=True)


def test_the_states_that_cannot_migrate_are_named_with_the_way_to_them(made):
    parallel = model(
        start(), task("first"), par("f"), task("a"), task("b"), end(), "start > first > f > a > end", "f > b > end"
    )
    with pytest.raises(AssertionError) as failure:
        made(parallel, parallel).expect_migrations("2.bpmn", mappings={"first": "first", "a": "a"})
    lines = str(failure.value).splitlines()
    assert [line for line in lines if not line.startswith(" ")] == [
        "An instance at a, b, after first, cannot migrate:",
        "An instance at b, after first, a, cannot migrate:",
    ]
    assert all(
        "no mapping instruction defined for active element with id 'b'" in line for line in lines if line[0] == " "
    )


EVERYTHING = message_model(
    *(start(), task("work", type="do"), user("ask"), receive("told"), task("fixed"), task("late"), end()),
    boundary("failed", "work", error("A")),
    '<boundaryEvent id="over" attachedToRef="ask"><timerEventDefinition><timeDuration>PT1H</timeDuration>'
    "</timerEventDefinition></boundaryEvent>",
    *("start > work > ask > told > end", "failed > fixed > end", "over > late > end"),
    roots=(message(key="=1"), signal(), '<error id="error-A" errorCode="A"/>'),
)


def test_jobs_errors_tasks_timers_and_messages_lead_to_wait_states(made):
    runs = made(EVERYTHING).expect_migrations("1.bpmn")
    found = [sorted({one.id for one in run.instance.elements[1:]}) for run in runs]
    assert found == [["work"], ["ask"], ["fixed"], ["told"], ["late"]]


def test_a_mock_says_how_a_job_goes_on(made):
    def failing(_variables):
        raise BpmnError("A")

    processes = made(EVERYTHING).mock_job("do", failing)
    found = [sorted({one.id for one in run.instance.elements[1:]}) for run in processes.expect_migrations("1.bpmn")]
    assert found == [["fixed"], ["fixed"]], "the first instance went on after its migration, by the mock"


def test_two_states_that_differ_in_variables_are_one(made):
    loops = model(start(), task("work"), "start > work > again > work", '<exclusiveGateway id="again"/>')
    assert where(made(loops).expect_migrations("1.bpmn")) == [["work"]]


def test_too_many_states_are_an_error(made, monkeypatch):
    monkeypatch.setattr("vivero.testing.walks.MOST_STATES", 5)
    wide = model(start(), *map(task, "abc"), end(), *(f"start > {id} > end" for id in "abc"))
    with pytest.raises(AssertionError, match="more than 5 wait states"):
        made(wide).expect_migrations("1.bpmn")
    monkeypatch.setattr("vivero.testing.walks.MOST_STATES", 8)
    assert len(made(wide).expect_migrations("1.bpmn")) == 7, "all but the end of 2 to the power of 3"


def test_the_undo_of_a_migration_is_tried_in_each_wait_state(made):
    assert where(made(ONE, TWO).expect_migrations("2.bpmn", undo=True)) == [["labour"], ["check"]]
    fewer = EVERYTHING.replace(b'attachedToRef="ask"', b'attachedToRef="fixed"')
    with pytest.raises(AssertionError) as failure:
        made(EVERYTHING, fewer).expect_migrations("2.bpmn", undo=True)
    assert [line.strip() for line in str(failure.value).splitlines()] == [
        "An instance at ask, after work, can migrate, but there is no undo:",
        "Expected to undo the latest operation on process instance with key '2251799813685249', but it has led to more "
        "than can be taken back: TimerCanceled",
    ]


def test_an_instance_in_each_wait_state_is_modified_and_taken_back(made):
    forked = model(start(), par("f"), task("a"), task("b"), end(), "start > f > a > end", "f > b > end")
    runs = made(forked).expect_modifications(move={"a": "b"}, undo=True)
    assert where(runs) == [["b", "b"], ["b"]], "not where a has ended"
    runs[1].complete("b").expect_completed()
    with pytest.raises(AssertionError, match=r"In none of 3 wait states all of \['c'\] are active"):
        made(forked).expect_modifications(terminate=["c"])
    with pytest.raises(AssertionError) as failure:
        made(forked).expect_modifications(activate=["f"], undo=True)
    assert [line for line in str(failure.value).splitlines() if not line.startswith(" ")] == [
        f"An instance at {active}, can be modified, but there is no undo:"
        for active in ("a, b, after the start", "a, after b", "b, after a")
    ]


def test_an_undo_that_leads_elsewhere_is_a_failure(made, monkeypatch):
    """The engine does not do so. The check would see it."""
    monkeypatch.setattr(library, "undo", lambda models, snapshot, _: library.set_variables(models, snapshot, {"v": 1}))
    with pytest.raises(AssertionError, match="The undo leads to another state"):
        made(ONE).expect_modifications(move={"work": "work"}, undo=True)
