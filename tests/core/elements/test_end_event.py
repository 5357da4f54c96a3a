"""Terminate, links, and tasks that nobody works on; whole and in slices of one item."""

import pytest

from tests.core.bench import Bench
from tests.core.event_models import (
    LIMITS,
    TERMINATE,
    boundary,
    call,
    catch,
    ended,
    error,
    escalation,
    final,
    link,
    loop,
    model,
    on,
    run,
    script,
    states,
    throw,
)
from tests.core.models import end, flow, par, start, sub, task, xor


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


# ---- terminate


FORK = (par("f"), task("a"), task("b"), sub("deep", start("d"), task("c"), "d > c"), final("stop", TERMINATE))
PATHS = ("f > a > stop", "f > b", "f > deep")


def test_a_terminate_end_event_of_the_process_completes_it(bench):
    key = run(bench, model(start(), *FORK, "start > f", *PATHS))
    assert bench.jobs == ["a", "b", "c"]
    bench.complete("a")
    assert ended(bench, key) == "COMPLETED"
    assert (states(bench, "b"), states(bench, "deep"), states(bench, "stop")) == (
        ["TERMINATED"],
        ["TERMINATED"],
        ["COMPLETED"],
    )
    assert sorted(row["state"] for (table, _), row in bench.rows.items() if table == "Job") == [
        "CANCELED",
        "CANCELED",
        "COMPLETED",
    ]


def test_in_a_sub_process_it_ends_that_alone_and_the_path_goes_on(bench):
    key = run(
        bench,
        model(
            start(),
            par("g"),
            task("beside"),
            sub("s", start("i"), *FORK, "i > f", *PATHS),
            task("after"),
            "start > g > s > after",
            "g > beside",
        ),
    )
    bench.complete("a")
    assert bench.jobs == ["after", "beside"]
    assert states(bench, "s") == ["COMPLETED"]
    bench.complete("after")
    bench.complete("beside")
    assert ended(bench, key) == "COMPLETED"


def test_in_a_called_process_it_ends_that_alone_and_its_variables_come_back(bench):
    child = model(start("cs"), *FORK, "cs > f", *PATHS, id="called")
    run(bench, child, model(start(), call("x", "called"), task("after"), "start > x > after"))
    bench.complete("a", result=1)
    assert bench.jobs == ["after"]
    assert states(bench, "x") == ["COMPLETED"]
    assert bench.variables("p") == {"result": 1}


def test_in_an_event_sub_process_it_ends_that_alone(bench):
    handler = on(escalation("A"), "h", *FORK, "h-start > f", *PATHS, interrupting=False)
    run(bench, model(start(), throw("tell", escalation("A")), task("main"), "start > tell > main", handler))
    bench.complete("a")
    assert bench.jobs == ["main"]
    assert states(bench, "h") == ["COMPLETED"]


def test_in_a_loop_it_ends_one_inner_instance(bench):
    inner = sub("s", start("i"), par("f"), task("a"), task("b"), final("stop", TERMINATE), "i > f > a > stop", "f > b")
    run(bench, model(start(), loop(inner), task("after"), "start > s > after"), items=[1, 2])
    bench.complete("a")
    assert bench.jobs == ["a", "b"]
    bench.complete("a")
    assert bench.jobs == ["after"]


def test_two_terminate_end_events_at_once_complete_the_scope_once(bench):
    stops = [final("x", TERMINATE), final("y", TERMINATE)]
    run(
        bench,
        model(
            start(), sub("s", start("i"), par("f"), *stops, "i > f > x", "f > y"), task("after"), "start > s > after"
        ),
    )
    assert bench.jobs == ["after"]


def test_the_outputs_of_a_terminated_scope_are_mapped(bench):
    inner = (start("i"), script("set", "=41 + 1", "answer", outputs=[("=answer", "local")]), final("stop", TERMINATE))
    run(
        bench,
        model(
            start(),
            sub("s", *inner, "i > set > stop", inputs=[("=null", "local")], outputs=[("=local", "out")]),
            task("t"),
            "start > s > t",
        ),
    )
    assert bench.variables("p") == {"out": 42}


# ---- links


def test_a_link_goes_on_at_its_catching_event(bench):
    key = run(
        bench,
        model(start(), task("a"), throw("t", link("L")), catch("c", link("L")), task("b"), "start > a > t", "c > b"),
    )
    bench.complete("a")
    assert bench.jobs == ["b"]
    assert (states(bench, "t"), states(bench, "c")) == (["COMPLETED"], ["COMPLETED"])
    bench.complete("b")
    assert ended(bench, key) == "COMPLETED"


def test_many_throw_to_one_and_scopes_do_not_mix(bench):
    inner = sub(
        "s", start("i"), throw("it", link("L")), catch("ic", link("L")), task("inside"), "i > it", "ic > inside"
    )
    throws = (throw("t1", link("L")), throw("t2", link("L")))
    run(
        bench,
        model(
            start(),
            par("f"),
            *throws,
            catch("c", link("L")),
            task("outside"),
            inner,
            "start > f > t1",
            "f > t2",
            "f > s",
            "c > outside",
        ),
    )
    assert bench.jobs == ["inside", "outside", "outside"]


def test_a_link_may_lead_back(bench):
    """A loop without a sequence flow to itself."""
    run(
        bench,
        model(
            start(),
            catch("c", link("L")),
            script("count", "=n + 1", "n"),
            xor("more", default="more-enough"),
            throw("t", link("L")),
            task("enough"),
            throw("first", link("L")),
            "start > first",
            "c > count > more > enough",
            flow("more", "t", "=n < 40"),
        ),
        n=0,
    )
    assert bench.jobs == ["enough"]
    assert bench.variables("p") == {"n": 40}


# ---- tasks that nobody works on


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


# ---- user tasks that are jobs


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


# ---- scripts


def test_a_script_makes_a_variable(bench):
    key = run(bench, model(start(), script("x", "={sum: a + 1}", "result"), "start > x"), a=1)
    assert ended(bench, key) == "COMPLETED"
    assert bench.variables("p") == {"a": 1, "result": {"sum": 2}}
    assert bench.rows
    assert not any(table == "Job" for table, _ in bench.rows)


def test_the_result_stays_inside_when_outputs_are_mapped(bench):
    run(bench, model(start(), script("x", "=a + 1", "result", outputs=[("=result * 2", "b")]), "start > x"), a=1)
    assert bench.variables("p") == {"a": 1, "b": 4}
    assert bench.variables("x") == {"result": 2}


def test_a_script_goes_to_the_scope_that_has_the_variable(bench):
    inner = sub("s", start("i"), script("x", "=n + 1", "n"), task("t"), "i > x > t", inputs=[("=10", "n")])
    run(bench, model(start(), inner, "start > s"), n=1)
    assert bench.variables("s") == {"n": 11}
    assert bench.variables("p") == {"n": 1}


def test_a_script_that_fails_is_an_incident_that_resolving_runs_again(bench):
    key = run(bench, model(start(), script("x", "=assert(a, a > 0)", "r"), "start > x"), a=0)
    ((element, type_, message),) = bench.incidents
    assert (element, type_) == ("x", "EXTRACT_VALUE_ERROR")
    assert "assert(a, a > 0)" in message
    bench.set(key, a=5)
    bench.resolve()
    assert ended(bench, key) == "COMPLETED"
    assert bench.variables("p") == {"a": 5, "r": 5}


def test_a_script_of_what_is_missing_gives_null(bench):
    run(bench, model(start(), script("x", "=missing.name", "r"), "start > x"))
    assert bench.variables("p") == {"r": None}


def test_a_script_loops(bench):
    run(
        bench,
        model(start(), loop(script("x", "=item * item", "r"), item="item", output="=r", into="squares"), "start > x"),
        items=[1, 2, 3],
    )
    assert bench.variables("p")["squares"] == [1, 4, 9]
