"""Tasks and events that are passed at once, or are jobs; whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine
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
def engine(request):
    return Engine(LIMITS[request.param])


@pytest.mark.parametrize("tag", ["task", "manualTask", "intermediateThrowEvent"])
def test_it_is_passed_and_its_mappings_happen(engine, tag):
    from tests.core.event_models import mapped

    mappings = mapped(inputs=[("=a + 1", "b")], outputs=[("=b * 10", "c")])
    key = run(engine, model(start(), f'<{tag} id="x">{mappings}</{tag}>', end(), "start > x > end"), a=1)
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p") == {"a": 1, "c": 20}


@pytest.mark.parametrize("tag", ["sendTask", "businessRuleTask", "scriptTask"])
def test_it_is_a_job_like_that_of_a_service_task(engine, tag):
    job = '<extensionElements><zeebe:taskDefinition type="kind" retries="7"/></extensionElements>'
    key = run(engine, model(start(), f'<{tag} id="x">{job}</{tag}>', end(), "start > x > end"))
    assert (engine.job("x").type, engine.job("x").retries) == ("kind", 7)
    engine.complete("x", done=True)
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p") == {"done": True}


@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
def test_a_message_may_be_thrown_by_a_job(engine, tag):
    job = '<extensionElements><zeebe:taskDefinition type="mail"/></extensionElements>'
    key = run(engine, model(start(), f'<{tag} id="x">{job}<messageEventDefinition/></{tag}>', "start > x"))
    assert engine.job("x").type == "mail"
    engine.complete("x")
    assert ended(engine, key) == "COMPLETED"


def test_an_error_thrown_by_that_job_is_caught_outside(engine):
    job = '<extensionElements><zeebe:taskDefinition type="mail"/></extensionElements>'
    inner = sub("s", start("i"), f'<endEvent id="x">{job}<messageEventDefinition/></endEvent>', "i > x")
    run(engine, model(start(), inner, boundary("b", "s", error("A")), task("t"), "start > s", "b > t"))
    engine.throw("x", "A")
    assert engine.jobs == ["t"]


def test_a_user_task_that_is_a_job_says_in_headers_for_whom(engine):
    extensions = (
        '<zeebe:assignmentDefinition assignee="=who" candidateGroups="a, b" candidateUsers="=users"/>'
        '<zeebe:taskSchedule dueDate="=date and time(&quot;2030-01-31T12:00:00Z&quot;)" followUpDate="=nothing"/>'
        '<zeebe:taskHeaders><zeebe:header key="k" value="v"/></zeebe:taskHeaders>'
    )
    user = f'<userTask id="ask"><extensionElements>{extensions}</extensionElements></userTask>'
    key = run(engine, model(start(), user, "start > ask"), who="jo", users=["u"])
    job = engine.job("ask")
    assert (job.type, job.retries) == ("io.camunda.zeebe:userTask", 1)
    assert job.headers == {
        "k": "v",
        "io.camunda.zeebe:assignee": "jo",
        "io.camunda.zeebe:candidateGroups": '["a","b"]',
        "io.camunda.zeebe:candidateUsers": '["u"]',
        "io.camunda.zeebe:dueDate": "2030-01-31T12:00:00Z",
    }
    engine.complete("ask", answer=42)
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p")["answer"] == 42
