"""Service tasks: a job is what the task definition evaluates to."""

from tests.core.event_models import run
from tests.core.models import ONE_TASK, process, start, task


def test_a_service_task_waits_for_its_job(bench):
    key = run(bench, ONE_TASK)
    assert bench.jobs == ["work"]
    assert bench.element("work").state == "ACTIVATED"
    assert bench.element("p").tokens == {"work": 1}
    bench.complete("work")
    assert bench.state_of(key) == "COMPLETED"
    assert [row["state"] for (table, _), row in bench.rows.items() if table == "Job"] == ["COMPLETED"]


def test_a_job_is_what_the_task_definition_evaluates_to(bench):
    model = process(
        start(),
        task("work", type='="type-" + kind', retries="=n + 1", priority="=n * 10", headers=[("h", "1"), ("g", "=2")]),
        "start > work",
    )
    run(bench, model, kind="x", n=4)
    job = bench.job("work")
    assert (job.type, job.retries, job.priority, job.state) == ("type-x", 5, 40, "CREATED")
    assert job.headers == {"h": "1", "g": "=2"}
    assert (job.created_at, job.updated_at, job.kind) == (1_000, 1_000, "BPMN_ELEMENT")


def test_retries_may_be_text_that_holds_a_whole_number(bench):
    run(bench, process(start(), task("work", retries='="7"'), "start > work"))
    assert bench.job("work").retries == 7


def test_without_priority_and_retries_the_job_has_0_and_3(bench):
    run(bench, ONE_TASK)
    assert (bench.job("work").priority, bench.job("work").retries) == (0, 3)
