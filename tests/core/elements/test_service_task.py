"""Service tasks: a job is what the task definition evaluates to."""

from tests.core.event_models import run
from tests.core.models import ONE_TASK, process, start, task


def test_a_service_task_waits_for_its_job(engine):
    key = run(engine, ONE_TASK)
    assert engine.jobs == ["work"]
    assert engine.element("work").state == "ACTIVATED"
    assert engine.element("p").tokens == {"work": 1}
    engine.complete("work")
    assert engine.state_of(key) == "COMPLETED"
    assert [row["state"] for (table, _), row in engine.rows.items() if table == "Job"] == ["COMPLETED"]


def test_a_job_is_what_the_task_definition_evaluates_to(engine):
    model = process(
        start(),
        task("work", type='="type-" + kind', retries="=n + 1", priority="=n * 10", headers=[("h", "1"), ("g", "=2")]),
        "start > work",
    )
    run(engine, model, kind="x", n=4)
    job = engine.job("work")
    assert (job.type, job.retries, job.priority, job.state) == ("type-x", 5, 40, "CREATED")
    assert job.headers == {"h": "1", "g": "=2"}
    assert (job.created_at, job.updated_at, job.kind) == (1_000, 1_000, "BPMN_ELEMENT")


def test_retries_may_be_text_that_holds_a_whole_number(engine):
    run(engine, process(start(), task("work", retries='="7"'), "start > work"))
    assert engine.job("work").retries == 7


def test_without_priority_and_retries_the_job_has_0_and_3(engine):
    run(engine, ONE_TASK)
    assert (engine.job("work").priority, engine.job("work").retries) == (0, 3)
