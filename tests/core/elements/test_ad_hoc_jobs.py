"""Ad-hoc sub-processes whose job worker decides what they activate."""

import pytest

from tests.core import event_models
from tests.core.ad_hoc_models import activate, decide, ends, inner, rejected, tools
from tests.core.bench import Bench, raw, rebuilt
from tests.core.event_models import LIMITS, ad_hoc, boundary, ended, error, run
from tests.core.message_models import event_sub
from tests.core.models import end, start, task
from vivero.core.records.ad_hoc import AdHocResult
from vivero.core.records.effects import RejectionCode
from vivero.core.records.jobs import CompleteJob


@pytest.fixture(params=LIMITS)
def bench(request):
    return Bench(LIMITS[request.param])


def agent(*parts, **settings):
    return tools(*parts, job="agent", **settings)


def jobs_of_worker(bench):
    """The states of all jobs of the worker, in their order."""
    rows = [row for (table, _), row in bench.rows.items() if table == "Job" and row["kind"] == "AD_HOC_SUB_PROCESS"]
    return [row["state"] for row in sorted(rows, key=lambda row: row["key"])]


def test_the_job_sees_what_can_be_activated(bench):
    run(bench, agent())
    job = bench.job("h")
    assert (job.kind, job.type, job.retries, job.element.element) == ("AD_HOC_SUB_PROCESS", "agent", 3, "h")
    assert [one["elementId"] for one in bench.variables("h")["adHocSubProcessElements"]] == ["A", "B", "C"]


def test_11_a_job_is_replaced_when_an_element_completes(bench):
    run(bench, agent())
    decide(bench, "A", "B")
    assert bench.jobs == ["A", "B"]
    bench.complete("A")
    second = bench.job("h").key
    bench.complete("B")
    assert jobs_of_worker(bench) == ["COMPLETED", "CANCELED", "CREATED"]
    rejected(bench.run(CompleteJob(second)), RejectionCode.NOT_FOUND)
    decide(bench, fulfilled=True)
    assert ends(bench) == ["A", "B", "h"]


@pytest.mark.parametrize(("cancel", "expected"), [(False, ["A", "B", "h"]), (True, ["A", "-B", "h"])])
def test_12_a_fulfilled_condition_waits_for_the_rest_or_terminates_it(bench, cancel, expected):
    run(bench, agent())
    decide(bench, "A", "B")
    bench.complete("A")
    decide(bench, fulfilled=True, cancel=cancel)
    assert "h" not in bench.jobs
    if not cancel:
        assert bench.jobs == ["B"]
        rejected(activate(bench, "C"), RejectionCode.INVALID_STATE)
        bench.complete("B")
    assert ends(bench) == expected
    assert jobs_of_worker(bench) == ["COMPLETED", "COMPLETED"]


def test_13_an_event_sub_process_beside_brings_a_job(bench):
    run(bench, agent(event_sub("esp", task("told"), "esp-start > told", on="signal", interrupting=False)))
    decide(bench)
    assert bench.elements == ["h", "p"]
    bench.broadcast("alarm")
    bench.complete("told")
    assert jobs_of_worker(bench) == ["COMPLETED", "CREATED"]


def test_14_an_interrupting_event_sub_process_cancels_the_job(bench):
    run(bench, agent(event_sub("esp", task("told"), "esp-start > told", on="signal")))
    activate(bench, "A")
    bench.fail("h")
    bench.broadcast("alarm")
    assert bench.incidents == []
    assert bench.jobs == ["told"]
    bench.complete("told")
    assert ends(bench, "esp-start") == ["-A", "told", "esp", "h"]
    assert jobs_of_worker(bench) == ["CANCELED"]


def test_variables_are_merged_before_the_elements_begin(bench):
    key = run(bench, agent(task("D", inputs=[("=plan", "mine")]), inputs=[("=0", "memory")]), plan="old")
    decide(bench, ("D", {"toolCall": {"x": 1}}), plan="new", memory=1)
    assert bench.variables("D") == {"mine": "new"}
    assert bench.variables_of(inner(bench)[0].key) == {"toolCall": {"x": 1}}
    assert bench.variables("h")["memory"] == 1
    assert bench.variables_of(key) == {"plan": "new"}


def test_elements_and_a_fulfilled_condition_contradict_each_other(bench):
    run(bench, agent())
    text = (
        "Expected to complete ad-hoc sub-process job, but the job result contains elements to be activated while the "
        f"completion condition is fulfilled (job key '{bench.job('h').key}')."
    )
    rejected(decide(bench, "A", fulfilled=True), RejectionCode.INVALID_ARGUMENT, text)
    rejected(decide(bench, "X"), RejectionCode.NOT_FOUND, "the given elements [X] do not exist.")
    rejected(decide(bench, "A", "A"), RejectionCode.INVALID_ARGUMENT, "duplicate activities were given.")
    assert bench.jobs == ["h"]


def test_what_runs_may_be_ended_first(bench):
    run(bench, agent())
    decide(bench, "A", "B")
    bench.complete("A")
    decide(bench, "C", cancel=True)
    assert ends(bench) == ["A", "-B"]
    assert bench.jobs == ["C"]


def test_without_a_result_it_waits_for_what_runs_or_for_a_request(bench):
    run(bench, agent())
    bench.complete("h")
    assert bench.elements == ["h", "p"]
    activate(bench, "A")
    bench.complete("A")
    assert jobs_of_worker(bench) == ["COMPLETED", "CREATED"]


def test_a_request_does_not_touch_the_job(bench):
    run(bench, agent())
    job = bench.job("h").key
    activate(bench, "A")
    activate(bench, "B", cancel=True)
    assert bench.job("h").key == job
    assert bench.jobs == ["B", "h"]


def test_a_failed_job_is_an_incident_that_its_successor_resolves(bench):
    run(bench, agent())
    activate(bench, "A")
    bench.fail("h", message="no model")
    assert bench.incidents == [("h", "AD_HOC_SUB_PROCESS_NO_RETRIES", "no model")]
    bench.complete("A")
    assert bench.incidents == []
    assert jobs_of_worker(bench) == ["CANCELED", "CREATED"]


def test_an_error_of_the_worker_is_caught_at_the_boundary(bench):
    content = [start(), ad_hoc("h", task("A"), job="agent"), boundary("b", "h", error("A")), end(), "start > h > end"]
    run(bench, event_models.model(*content))
    activate(bench, "A")
    bench.throw("h", "A")
    assert ends(bench) == ["-A", "-h", "b"]


def test_an_uncaught_error_of_the_worker_is_an_incident(bench):
    run(bench, agent())
    bench.throw("h", "A")
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("h", "UNHANDLED_ERROR_EVENT")]


def test_a_result_needs_such_a_job(bench):
    run(bench, tools(active='=["A"]'))
    handled = bench.run(CompleteJob(bench.job("A").key, result=AdHocResult()))
    rejected(handled, RejectionCode.INVALID_ARGUMENT, "a result of an ad-hoc sub-process does not fit a job of kind")


def test_type_and_retries_are_evaluated_for_each_job(bench):
    content = tools(job="agent").replace(b'type="agent"', b'type="=kind"')
    key = run(bench, content, kind="first")
    decide(bench, "A")
    bench.set(key, kind="second")
    bench.complete("A")
    assert bench.job("h").type == "second"
    bench.set(key, kind=None)
    decide(bench, "B")
    bench.complete("B")
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("h#innerInstance", "EXTRACT_VALUE_ERROR")]
    bench.set(key, kind="third")
    bench.resolve()
    assert bench.job("h").type == "third"


def test_it_goes_on_after_a_restart(bench):
    key = run(bench, agent(output="=x", into="all"))
    for number, id in enumerate(("A", "B")):
        rebuilt(bench)
        decide(bench, (id, {"n": number}))
        rebuilt(bench)
        bench.complete(id, x=number)
    rebuilt(bench)
    assert bench.run(CompleteJob(bench.job("h").key, raw({}), result=AdHocResult(fulfilled=True))).rejection is None
    assert bench.variables_of(key) == {"all": [0, 1]}
    assert ended(bench, key) == "COMPLETED"
