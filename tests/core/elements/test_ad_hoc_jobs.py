"""Ad-hoc sub-processes whose job worker decides what they activate."""

import pytest

from tests.core import event_models
from tests.core.ad_hoc_models import activate, decide, ends, inner, rejected, tools
from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import LIMITS, ad_hoc, boundary, ended, error, run
from tests.core.message_models import event_sub
from tests.core.models import end, start, task
from vivero.core.records.ad_hoc import AdHocResult
from vivero.core.records.effects import RejectionCode
from vivero.core.records.jobs import CompleteJob


@pytest.fixture(params=LIMITS)
def engine(request):
    return Engine(LIMITS[request.param])


def agent(*parts, **settings):
    return tools(*parts, job="agent", **settings)


def jobs_of_worker(engine):
    """The states of all jobs of the worker, in their order."""
    rows = [row for (table, _), row in engine.rows.items() if table == "Job" and row["kind"] == "AD_HOC_SUB_PROCESS"]
    return [row["state"] for row in sorted(rows, key=lambda row: row["key"])]


def test_the_job_sees_what_can_be_activated(engine):
    run(engine, agent())
    job = engine.job("h")
    assert (job.kind, job.type, job.retries, job.element.element) == ("AD_HOC_SUB_PROCESS", "agent", 3, "h")
    assert [one["elementId"] for one in engine.variables("h")["adHocSubProcessElements"]] == ["A", "B", "C"]


def test_11_a_job_is_replaced_when_an_element_completes(engine):
    run(engine, agent())
    decide(engine, "A", "B")
    assert engine.jobs == ["A", "B"]
    engine.complete("A")
    second = engine.job("h").key
    engine.complete("B")
    assert jobs_of_worker(engine) == ["COMPLETED", "CANCELED", "CREATED"]
    rejected(engine.run(CompleteJob(second)), RejectionCode.NOT_FOUND)
    decide(engine, fulfilled=True)
    assert ends(engine) == ["A", "B", "h"]


@pytest.mark.parametrize(("cancel", "expected"), [(False, ["A", "B", "h"]), (True, ["A", "-B", "h"])])
def test_12_a_fulfilled_condition_waits_for_the_rest_or_terminates_it(engine, cancel, expected):
    run(engine, agent())
    decide(engine, "A", "B")
    engine.complete("A")
    decide(engine, fulfilled=True, cancel=cancel)
    assert "h" not in engine.jobs
    if not cancel:
        assert engine.jobs == ["B"]
        rejected(activate(engine, "C"), RejectionCode.INVALID_STATE)
        engine.complete("B")
    assert ends(engine) == expected
    assert jobs_of_worker(engine) == ["COMPLETED", "COMPLETED"]


def test_13_an_event_sub_process_beside_brings_a_job(engine):
    run(engine, agent(event_sub("esp", task("told"), "esp-start > told", on="signal", interrupting=False)))
    decide(engine)
    assert engine.elements == ["h", "p"]
    engine.broadcast("alarm")
    engine.complete("told")
    assert jobs_of_worker(engine) == ["COMPLETED", "CREATED"]


def test_14_an_interrupting_event_sub_process_cancels_the_job(engine):
    run(engine, agent(event_sub("esp", task("told"), "esp-start > told", on="signal")))
    activate(engine, "A")
    engine.fail("h")
    engine.broadcast("alarm")
    assert engine.incidents == []
    assert engine.jobs == ["told"]
    engine.complete("told")
    assert ends(engine, "esp-start") == ["-A", "told", "esp", "h"]
    assert jobs_of_worker(engine) == ["CANCELED"]


def test_variables_are_merged_before_the_elements_begin(engine):
    key = run(engine, agent(task("D", inputs=[("=plan", "mine")]), inputs=[("=0", "memory")]), plan="old")
    decide(engine, ("D", {"toolCall": {"x": 1}}), plan="new", memory=1)
    assert engine.variables("D") == {"mine": "new"}
    assert engine.variables_of(inner(engine)[0].key) == {"toolCall": {"x": 1}}
    assert engine.variables("h")["memory"] == 1
    assert engine.variables_of(key) == {"plan": "new"}


def test_elements_and_a_fulfilled_condition_contradict_each_other(engine):
    run(engine, agent())
    text = (
        "Expected to complete ad-hoc sub-process job, but the job result contains elements to be activated while the "
        f"completion condition is fulfilled (job key '{engine.job('h').key}')."
    )
    rejected(decide(engine, "A", fulfilled=True), RejectionCode.INVALID_ARGUMENT, text)
    rejected(decide(engine, "X"), RejectionCode.NOT_FOUND, "the given elements [X] do not exist.")
    assert engine.jobs == ["h"]


def test_an_element_may_be_activated_several_times(engine):
    """Each time has an inner instance with variables of its own."""
    run(engine, agent())
    decide(engine, ("A", {"n": 1}), ("A", {"n": 2}))
    assert engine.jobs == ["A", "A"]
    assert [scope.variables["n"].value for scope in inner(engine)] == ["1", "2"]


def test_what_runs_may_be_ended_first(engine):
    run(engine, agent())
    decide(engine, "A", "B")
    engine.complete("A")
    decide(engine, "C", cancel=True)
    assert ends(engine) == ["A", "-B"]
    assert engine.jobs == ["C"]


def test_without_a_result_it_waits_for_what_runs_or_for_a_request(engine):
    run(engine, agent())
    engine.complete("h")
    assert engine.elements == ["h", "p"]
    activate(engine, "A")
    engine.complete("A")
    assert jobs_of_worker(engine) == ["COMPLETED", "CREATED"]


def test_a_request_does_not_touch_the_job(engine):
    run(engine, agent())
    job = engine.job("h").key
    activate(engine, "A")
    activate(engine, "B", cancel=True)
    assert engine.job("h").key == job
    assert engine.jobs == ["B", "h"]


def test_a_failed_job_is_an_incident_that_its_successor_resolves(engine):
    run(engine, agent())
    activate(engine, "A")
    engine.fail("h", message="no model")
    assert engine.incidents == [("h", "AD_HOC_SUB_PROCESS_NO_RETRIES", "no model")]
    engine.complete("A")
    assert engine.incidents == []
    assert jobs_of_worker(engine) == ["CANCELED", "CREATED"]


def test_an_error_of_the_worker_is_caught_at_the_boundary(engine):
    content = [start(), ad_hoc("h", task("A"), job="agent"), boundary("b", "h", error("A")), end(), "start > h > end"]
    run(engine, event_models.model(*content))
    activate(engine, "A")
    engine.throw("h", "A")
    assert ends(engine) == ["-A", "-h", "b"]


def test_an_uncaught_error_of_the_worker_is_an_incident(engine):
    run(engine, agent())
    engine.throw("h", "A")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("h", "UNHANDLED_ERROR_EVENT")]


def test_a_result_needs_such_a_job(engine):
    run(engine, tools(active='=["A"]'))
    handled = engine.run(CompleteJob(engine.job("A").key, result=AdHocResult()))
    rejected(handled, RejectionCode.INVALID_ARGUMENT, "a result of an ad-hoc sub-process does not fit a job of kind")


def test_type_and_retries_are_evaluated_for_each_job(engine):
    content = tools(job="agent").replace(b'type="agent"', b'type="=kind"')
    key = run(engine, content, kind="first")
    decide(engine, "A")
    engine.set(key, kind="second")
    engine.complete("A")
    assert engine.job("h").type == "second"
    engine.set(key, kind=None)
    decide(engine, "B")
    engine.complete("B")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("h#innerInstance", "EXTRACT_VALUE_ERROR")]
    engine.set(key, kind="third")
    engine.resolve()
    assert engine.job("h").type == "third"


def test_it_goes_on_after_a_restart(engine):
    key = run(engine, agent(output="=x", into="all"))
    for number, id in enumerate(("A", "B")):
        rebuilt(engine)
        decide(engine, (id, {"n": number}))
        rebuilt(engine)
        engine.complete(id, x=number)
    rebuilt(engine)
    assert engine.run(CompleteJob(engine.job("h").key, raw({}), result=AdHocResult(fulfilled=True))).rejection is None
    assert engine.variables_of(key) == {"all": [0, 1]}
    assert ended(engine, key) == "COMPLETED"
