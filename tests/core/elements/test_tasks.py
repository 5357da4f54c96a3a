"""Tasks and events that are passed at once, or are jobs; whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench
from tests.core.event_models import (
    LIMITS,
    boundary,
    ended,
    error,
    model,
    run,
)
from tests.core.models import end, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


@pytest.mark.parametrize("tag", ["task", "manualTask", "intermediateThrowEvent"])
def test_it_is_passed_and_its_mappings_happen(bench, tag):
    from tests.core.event_models import mapped

    mappings = mapped(inputs=[("=a + 1", "b")], outputs=[("=b * 10", "c")])
    key = run(bench, model(start(), f'<{tag} id="x">{mappings}</{tag}>', end(), "start > x > end"), a=1)
    assert ended(bench, key) == "COMPLETED"
    assert bench.variables("p") == {"a": 1, "c": 20}


@pytest.mark.parametrize("tag", ["sendTask", "businessRuleTask", "scriptTask"])
def test_it_is_a_job_like_that_of_a_service_task(bench, tag):
    job = '<extensionElements><zeebe:taskDefinition type="kind" retries="7"/></extensionElements>'
    key = run(bench, model(start(), f'<{tag} id="x">{job}</{tag}>', end(), "start > x > end"))
    assert (bench.job("x").type, bench.job("x").retries) == ("kind", 7)
    bench.complete("x", done=True)
    assert ended(bench, key) == "COMPLETED"
    assert bench.variables("p") == {"done": True}


@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
def test_a_message_may_be_thrown_by_a_job(bench, tag):
    job = '<extensionElements><zeebe:taskDefinition type="mail"/></extensionElements>'
    key = run(bench, model(start(), f'<{tag} id="x">{job}<messageEventDefinition/></{tag}>', "start > x"))
    assert bench.job("x").type == "mail"
    bench.complete("x")
    assert ended(bench, key) == "COMPLETED"


def test_an_error_thrown_by_that_job_is_caught_outside(bench):
    job = '<extensionElements><zeebe:taskDefinition type="mail"/></extensionElements>'
    inner = sub("s", start("i"), f'<endEvent id="x">{job}<messageEventDefinition/></endEvent>', "i > x")
    run(bench, model(start(), inner, boundary("b", "s", error("A")), task("t"), "start > s", "b > t"))
    bench.throw("x", "A")
    assert bench.jobs == ["t"]


def test_a_user_task_that_is_a_job_says_in_headers_for_whom(bench):
    extensions = (
        '<zeebe:assignmentDefinition assignee="=who" candidateGroups="a, b" candidateUsers="=users"/>'
        '<zeebe:taskSchedule dueDate="=date and time(&quot;2030-01-31T12:00:00Z&quot;)" followUpDate="=nothing"/>'
        '<zeebe:taskHeaders><zeebe:header key="k" value="v"/></zeebe:taskHeaders>'
    )
    user = f'<userTask id="ask"><extensionElements>{extensions}</extensionElements></userTask>'
    key = run(bench, model(start(), user, "start > ask"), who="jo", users=["u"])
    job = bench.job("ask")
    assert (job.type, job.retries) == ("io.camunda.zeebe:userTask", 1)
    assert job.headers == {
        "k": "v",
        "io.camunda.zeebe:assignee": "jo",
        "io.camunda.zeebe:candidateGroups": '["a","b"]',
        "io.camunda.zeebe:candidateUsers": '["u"]',
        "io.camunda.zeebe:dueDate": "2030-01-31T12:00:00Z",
    }
    bench.complete("ask", answer=42)
    assert ended(bench, key) == "COMPLETED"
    assert bench.variables("p")["answer"] == 42
