"""Errors: who catches them, what ends, where their variables go; whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench
from tests.core.event_models import (
    LIMITS,
    boundary,
    call,
    ended,
    error,
    escalation,
    final,
    loop,
    model,
    on,
    run,
    states,
    throw,
)
from tests.core.models import end, par, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


# ---- boundary events


ONE = model(
    start(),
    task("work"),
    end(),
    boundary("caught", "work", error("A")),
    task("repair"),
    "start > work > end",
    "caught > repair",
)


def test_an_error_of_a_job_is_caught_at_its_task(bench):
    key = run(bench, ONE)
    assert bench.throw("work", "A").rejection is None
    assert bench.jobs == ["repair"]
    assert (states(bench, "work"), states(bench, "caught")) == (["TERMINATED"], ["COMPLETED"])
    assert next(row["state"] for (table, _), row in bench.rows.items() if table == "Job") == "ERROR_THROWN"
    bench.complete("repair")
    assert ended(bench, key) == "COMPLETED"


def test_an_error_that_nobody_catches_is_an_incident_and_the_job_can_be_offered_again(bench):
    key = run(bench, ONE)
    bench.throw("work", "B", "no such luck")
    ((element, type_, message),) = bench.incidents
    assert (element, type_) == ("work", "UNHANDLED_ERROR_EVENT")
    assert "'B'" in message
    assert "no such luck" in message
    assert bench.resolve().rejection is None
    assert bench.incidents == []
    bench.complete("work")
    assert ended(bench, key) == "COMPLETED"


@pytest.mark.parametrize("turned", [False, True])
def test_in_one_place_an_exact_code_beats_every_error(bench, turned):
    events = [boundary("exact", "work", error("A")), boundary("every", "work", error())]
    flows = ["start > work", "exact > a", "every > e"]
    run(bench, model(start(), task("work"), *events[:: -1 if turned else 1], task("a"), task("e"), *flows))
    bench.throw("work", "A")
    assert bench.jobs == ["a"]


def test_every_error_is_caught_where_no_code_says_otherwise(bench):
    run(
        bench,
        model(
            start(),
            task("work"),
            boundary("exact", "work", error("A")),
            boundary("every", "work", error()),
            task("a"),
            task("e"),
            "start > work",
            "exact > a",
            "every > e",
        ),
    )
    bench.throw("work", "anything else")
    assert bench.jobs == ["e"]


def test_the_nearest_scope_wins_even_against_an_exact_code_outside(bench):
    run(
        bench,
        model(
            start(),
            sub(
                "outer",
                start("o"),
                task("work"),
                boundary("inner", "work", error()),
                task("near"),
                "o > work",
                "inner > near",
            ),
            boundary("exact", "outer", error("A")),
            task("far"),
            "start > outer",
            "exact > far",
        ),
    )
    bench.throw("work", "A")
    assert bench.jobs == ["near"]


def test_an_interrupting_boundary_ends_everything_in_its_host(bench):
    key = run(
        bench,
        model(
            start(),
            sub(
                "s",
                start("i"),
                par("f"),
                task("a"),
                task("b"),
                sub("deep", start("d"), task("c"), "d > c"),
                "i > f > a",
                "f > b",
                "f > deep",
            ),
            boundary("caught", "s", error("A")),
            end(),
            "start > s",
            "caught > end",
        ),
    )
    bench.throw("b", "A")
    assert ended(bench, key) == "COMPLETED"
    assert states(bench, "deep") == states(bench, "s") == states(bench, "c") == ["TERMINATED"]
    jobs = [row["state"] for (table, _), row in bench.rows.items() if table == "Job"]
    assert sorted(jobs) == ["CANCELED", "CANCELED", "ERROR_THROWN"]


def test_a_boundary_event_without_outgoing_flow_ends_its_path(bench):
    key = run(bench, model(start(), task("work"), task("next"), boundary("b", "work", error()), "start > work > next"))
    bench.throw("work", "A")
    assert ended(bench, key) == "COMPLETED"
    assert states(bench, "next") == []


# ---- error end events


def in_sub(*events, code="A"):
    return model(
        start(),
        sub("s", start("i"), final("fails", error(code)), "i > fails"),
        *events,
        task("after"),
        "start > s > after",
    )


def test_an_error_end_event_is_caught_at_its_scope_and_never_completes(bench):
    run(bench, in_sub(boundary("b", "s", error("A")), task("repair"), "b > repair"))
    assert bench.jobs == ["repair"]
    assert (states(bench, "fails"), states(bench, "s")) == (["TERMINATED"], ["TERMINATED"])


def test_an_error_end_event_that_nobody_hears_waits_with_an_incident(bench):
    run(bench, in_sub())
    ((element, type_, _),) = bench.incidents
    assert (element, type_) == ("fails", "UNHANDLED_ERROR_EVENT")
    first = next(iter(bench.state.incidents))
    bench.resolve()
    assert [element for element, _, _ in bench.incidents] == ["fails"], "nothing has changed: it fails again"
    assert first not in bench.state.incidents


def test_the_code_of_an_error_end_event_may_be_computed(bench):
    run(bench, in_sub(boundary("b", "s", error("B")), task("repair"), "b > repair", code="said"), code="B")
    assert bench.jobs == ["repair"]


def test_a_code_that_is_no_text_is_an_incident_that_a_variable_resolves(bench):
    key = run(bench, in_sub(boundary("b", "s", error("B")), task("repair"), "b > repair", code="said"), code=7)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("fails", "EXTRACT_VALUE_ERROR")]
    bench.set(key, code="B")
    bench.resolve()
    assert bench.jobs == ["repair"]


# ---- event sub-processes


def test_an_event_sub_process_catches_what_is_thrown_in_its_scope(bench):
    key = run(
        bench,
        model(
            start(),
            sub(
                "s",
                start("i"),
                par("f"),
                task("a"),
                task("b"),
                "i > f > a",
                "f > b",
                on(error("A"), "handler", task("repair"), "handler-start > repair"),
            ),
            boundary("b-all", "s", error()),
            task("after"),
            "start > s > after",
        ),
    )
    bench.throw("a", "A")
    assert bench.jobs == ["repair"]
    assert (states(bench, "b"), states(bench, "s")) == (["TERMINATED"], ["ACTIVATED"])
    bench.complete("repair")
    assert bench.jobs == ["after"]
    assert states(bench, "s") == ["COMPLETED"]
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"


def test_an_event_sub_process_of_the_process_catches_an_error_end_event_in_it(bench):
    key = run(
        bench,
        model(start(), final("fails", error("A")), "start > fails", on(error(), "h", task("t"), "h-start > t")),
    )
    assert bench.jobs == ["t"]
    assert states(bench, "fails") == ["TERMINATED"]
    bench.complete("t")
    assert ended(bench, key) == "COMPLETED"


@pytest.mark.parametrize("code", ["A", "B"])
def test_an_error_in_an_interrupting_event_sub_process_goes_on_to_the_boundary_around_it(bench, code):
    """Not back to itself or its siblings: their scope is interrupted. Others lose it (reference, section 2.7)."""
    handlers = [on(error("A"), "h", final("h-end", error(code)), "h-start > h-end"), on(error("B"), "g")]
    run(
        bench,
        model(
            start(),
            sub("s", start("i"), task("work"), "i > work", *handlers),
            boundary("around", "s", error()),
            task("last"),
            "start > s",
            "around > last",
        ),
    )
    bench.throw("work", "A")
    assert bench.jobs == ["last"]
    assert (states(bench, "h"), states(bench, "g"), states(bench, "s")) == (["TERMINATED"], [], ["TERMINATED"])


def test_an_error_in_an_interrupting_event_sub_process_of_a_called_process_reaches_the_caller(bench):
    child = model(
        start("cs"),
        task("work"),
        "cs > work",
        on(error("A"), "h", final("h-end", error("B")), "h-start > h-end"),
        id="c",
    )
    run(bench, child, model(start(), call("x", "c"), boundary("b", "x", error("B")), task("t"), "start > x", "b > t"))
    bench.throw("work", "A")
    assert bench.jobs == ["t"]


def test_an_error_in_a_non_interrupting_event_sub_process_is_caught_by_its_sibling(bench):
    run(
        bench,
        model(
            start(),
            throw("tell", escalation("A")),
            task("main"),
            "start > tell > main",
            on(escalation("A"), "side", final("side-fails", error("B")), "side-start > side-fails", interrupting=False),
            on(error("B"), "handler", task("repair"), "handler-start > repair"),
        ),
    )
    assert bench.jobs == ["repair"]
    assert (states(bench, "side"), states(bench, "main")) == (["TERMINATED"], ["TERMINATED"])


# ---- through call activities


def caller(*events, id="p", calls="c"):
    return model(
        start(f"{id}-s"),
        call("x" if id == "p" else f"{id}-x", calls),
        *events,
        f"{id}-s > {'x' if id == 'p' else f'{id}-x'}",
        id=id,
    )


FAILING = model(start("cs"), task("work"), final("fails", error("A")), "cs > work > fails", id="c")


def test_an_error_goes_through_call_activities_to_the_nearest_catcher(bench):
    key = run(
        bench,
        FAILING,
        caller(id="middle"),
        caller(boundary("b", "x", error("A")), task("repair"), "b > repair", calls="middle"),
    )
    bench.complete("work")
    assert bench.jobs == ["repair"]
    instances = sorted((row["element"], row["state"]) for (table, _), row in bench.rows.items() if table == "Instance")
    assert instances == [("c", "TERMINATED"), ("middle", "TERMINATED"), ("p", "ACTIVATED")]
    bench.complete("repair")
    assert bench.state_of(key) == "COMPLETED"


def test_the_calling_process_in_the_middle_comes_first(bench):
    run(
        bench,
        FAILING,
        caller(on(error(), "h", task("near"), "h-start > near"), id="middle"),
        caller(boundary("b", "x", error("A")), task("far"), "b > far", calls="middle"),
    )
    bench.throw("work", "A")
    assert bench.jobs == ["near"]


def test_an_error_that_leaves_the_tree_is_an_incident_where_it_was_thrown(bench):
    run(bench, FAILING, caller(boundary("b", "x", error("B"))))
    bench.complete("work")
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("fails", "UNHANDLED_ERROR_EVENT")]


# ---- loops


def test_an_error_of_one_inner_instance_ends_the_loop(bench):
    run(
        bench,
        model(
            start(),
            loop(task("work"), output="=r", into="results"),
            boundary("b", "work", error("A")),
            task("repair"),
            "start > work",
            "b > repair",
        ),
        items=[1, 2, 3],
    )
    bench.complete("work", r=1)
    bench.throw("work", "A")
    assert bench.jobs == ["repair"]
    assert "results" not in bench.variables("p"), "what was collected is dropped"


# ---- variables


def test_variables_of_an_error_stay_at_the_boundary_event(bench):
    run(bench, ONE, a=1)
    bench.throw("work", "A", a=2, b=3)
    assert bench.variables("p") == {"a": 1}
    assert bench.variables("caught") == {"a": 2, "b": 3}


def test_an_output_mapping_of_the_boundary_event_lets_them_out(bench):
    run(
        bench,
        model(
            start(),
            task("work"),
            boundary("b", "work", error(), outputs=[("=why", "reason")]),
            task("t"),
            "start > work",
            "b > t",
        ),
    )
    bench.throw("work", "A", why="because", other=1)
    assert bench.variables("p") == {"reason": "because"}


def test_variables_of_an_error_go_up_from_an_event_sub_process(bench):
    run(bench, model(start(), task("work"), "start > work", on(error(), "h", task("t"), "h-start > t")))
    bench.throw("work", "A", why="because")
    assert bench.variables("p") == {"why": "because"}


@pytest.mark.parametrize("by_job", [True, False])
def test_the_incident_says_which_errors_are_caught_where_it_was_thrown(bench, by_job):
    thrower = task("x") if by_job else final("x", error("C"))
    caught = on(error("B"), "inside", task("h"), "inside-start > h")
    inner = sub("s", start("i"), thrower, "i > x", caught)
    run(bench, model(start(), inner, boundary("b", "s", error("A")), "start > s"))
    if by_job:
        bench.throw("x", "C")
    ((element, type_, message),) = bench.incidents
    assert (element, type_) == ("x", "UNHANDLED_ERROR_EVENT")
    assert message.endswith(" 'C', but it was not caught. Available error events are [B, A]")
