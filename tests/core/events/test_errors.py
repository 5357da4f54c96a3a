"""Errors: who catches them, what ends, where their variables go; whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine
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
def engine(request):
    return Engine(LIMITS[request.param])


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


def test_an_error_of_a_job_is_caught_at_its_task(engine):
    key = run(engine, ONE)
    assert engine.throw("work", "A").rejection is None
    assert engine.jobs == ["repair"]
    assert (states(engine, "work"), states(engine, "caught")) == (["TERMINATED"], ["COMPLETED"])
    assert next(row["state"] for (table, _), row in engine.rows.items() if table == "Job") == "ERROR_THROWN"
    engine.complete("repair")
    assert ended(engine, key) == "COMPLETED"


def test_an_error_that_nobody_catches_is_an_incident_and_the_job_can_be_offered_again(engine):
    key = run(engine, ONE)
    engine.throw("work", "B", "no such luck")
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("work", "UNHANDLED_ERROR_EVENT")
    assert "'B'" in message
    assert "no such luck" in message
    assert engine.resolve().rejection is None
    assert engine.incidents == []
    engine.complete("work")
    assert ended(engine, key) == "COMPLETED"


@pytest.mark.parametrize("turned", [False, True])
def test_in_one_place_an_exact_code_beats_every_error(engine, turned):
    events = [boundary("exact", "work", error("A")), boundary("every", "work", error())]
    flows = ["start > work", "exact > a", "every > e"]
    run(engine, model(start(), task("work"), *events[:: -1 if turned else 1], task("a"), task("e"), *flows))
    engine.throw("work", "A")
    assert engine.jobs == ["a"]


def test_every_error_is_caught_where_no_code_says_otherwise(engine):
    run(
        engine,
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
    engine.throw("work", "anything else")
    assert engine.jobs == ["e"]


def test_the_nearest_scope_wins_even_against_an_exact_code_outside(engine):
    run(
        engine,
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
    engine.throw("work", "A")
    assert engine.jobs == ["near"]


def test_an_interrupting_boundary_ends_everything_in_its_host(engine):
    key = run(
        engine,
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
    engine.throw("b", "A")
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "deep") == states(engine, "s") == states(engine, "c") == ["TERMINATED"]
    jobs = [row["state"] for (table, _), row in engine.rows.items() if table == "Job"]
    assert sorted(jobs) == ["CANCELED", "CANCELED", "ERROR_THROWN"]


def test_a_boundary_event_without_outgoing_flow_ends_its_path(engine):
    key = run(engine, model(start(), task("work"), task("next"), boundary("b", "work", error()), "start > work > next"))
    engine.throw("work", "A")
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "next") == []


# ---- error end events


def in_sub(*events, code="A"):
    return model(
        start(),
        sub("s", start("i"), final("fails", error(code)), "i > fails"),
        *events,
        task("after"),
        "start > s > after",
    )


def test_an_error_end_event_is_caught_at_its_scope_and_never_completes(engine):
    run(engine, in_sub(boundary("b", "s", error("A")), task("repair"), "b > repair"))
    assert engine.jobs == ["repair"]
    assert (states(engine, "fails"), states(engine, "s")) == (["TERMINATED"], ["TERMINATED"])


def test_an_error_end_event_that_nobody_hears_waits_with_an_incident(engine):
    run(engine, in_sub())
    ((element, type_, _),) = engine.incidents
    assert (element, type_) == ("fails", "UNHANDLED_ERROR_EVENT")
    first = next(iter(engine.state.incidents))
    engine.resolve()
    assert [element for element, _, _ in engine.incidents] == ["fails"], "nothing has changed: it fails again"
    assert first not in engine.state.incidents


def test_the_code_of_an_error_end_event_may_be_computed(engine):
    run(engine, in_sub(boundary("b", "s", error("B")), task("repair"), "b > repair", code="said"), code="B")
    assert engine.jobs == ["repair"]


def test_a_code_that_is_no_text_is_an_incident_that_a_variable_resolves(engine):
    key = run(engine, in_sub(boundary("b", "s", error("B")), task("repair"), "b > repair", code="said"), code=7)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("fails", "EXTRACT_VALUE_ERROR")]
    engine.set(key, code="B")
    engine.resolve()
    assert engine.jobs == ["repair"]


# ---- event sub-processes


def test_an_event_sub_process_catches_what_is_thrown_in_its_scope(engine):
    key = run(
        engine,
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
    engine.throw("a", "A")
    assert engine.jobs == ["repair"]
    assert (states(engine, "b"), states(engine, "s")) == (["TERMINATED"], ["ACTIVATED"])
    engine.complete("repair")
    assert engine.jobs == ["after"]
    assert states(engine, "s") == ["COMPLETED"]
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_an_event_sub_process_of_the_process_catches_an_error_end_event_in_it(engine):
    key = run(
        engine,
        model(start(), final("fails", error("A")), "start > fails", on(error(), "h", task("t"), "h-start > t")),
    )
    assert engine.jobs == ["t"]
    assert states(engine, "fails") == ["TERMINATED"]
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"


@pytest.mark.parametrize("code", ["A", "B"])
def test_an_error_in_an_interrupting_event_sub_process_goes_on_to_the_boundary_around_it(engine, code):
    """Not back to itself or its siblings: their scope is interrupted. Others lose it (reference, section 2.7)."""
    handlers = [on(error("A"), "h", final("h-end", error(code)), "h-start > h-end"), on(error("B"), "g")]
    run(
        engine,
        model(
            start(),
            sub("s", start("i"), task("work"), "i > work", *handlers),
            boundary("around", "s", error()),
            task("last"),
            "start > s",
            "around > last",
        ),
    )
    engine.throw("work", "A")
    assert engine.jobs == ["last"]
    assert (states(engine, "h"), states(engine, "g"), states(engine, "s")) == (["TERMINATED"], [], ["TERMINATED"])


def test_an_error_in_an_interrupting_event_sub_process_of_a_called_process_reaches_the_caller(engine):
    child = model(
        start("cs"),
        task("work"),
        "cs > work",
        on(error("A"), "h", final("h-end", error("B")), "h-start > h-end"),
        id="c",
    )
    run(engine, child, model(start(), call("x", "c"), boundary("b", "x", error("B")), task("t"), "start > x", "b > t"))
    engine.throw("work", "A")
    assert engine.jobs == ["t"]


def test_an_error_in_a_non_interrupting_event_sub_process_is_caught_by_its_sibling(engine):
    run(
        engine,
        model(
            start(),
            throw("tell", escalation("A")),
            task("main"),
            "start > tell > main",
            on(escalation("A"), "side", final("side-fails", error("B")), "side-start > side-fails", interrupting=False),
            on(error("B"), "handler", task("repair"), "handler-start > repair"),
        ),
    )
    assert engine.jobs == ["repair"]
    assert (states(engine, "side"), states(engine, "main")) == (["TERMINATED"], ["TERMINATED"])


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


def test_an_error_goes_through_call_activities_to_the_nearest_catcher(engine):
    key = run(
        engine,
        FAILING,
        caller(id="middle"),
        caller(boundary("b", "x", error("A")), task("repair"), "b > repair", calls="middle"),
    )
    engine.complete("work")
    assert engine.jobs == ["repair"]
    instances = sorted((row["element"], row["state"]) for (table, _), row in engine.rows.items() if table == "Instance")
    assert instances == [("c", "TERMINATED"), ("middle", "TERMINATED"), ("p", "ACTIVATED")]
    engine.complete("repair")
    assert engine.state_of(key) == "COMPLETED"


def test_the_calling_process_in_the_middle_comes_first(engine):
    run(
        engine,
        FAILING,
        caller(on(error(), "h", task("near"), "h-start > near"), id="middle"),
        caller(boundary("b", "x", error("A")), task("far"), "b > far", calls="middle"),
    )
    engine.throw("work", "A")
    assert engine.jobs == ["near"]


def test_an_error_that_leaves_the_tree_is_an_incident_where_it_was_thrown(engine):
    run(engine, FAILING, caller(boundary("b", "x", error("B"))))
    engine.complete("work")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("fails", "UNHANDLED_ERROR_EVENT")]


# ---- loops


def test_an_error_of_one_inner_instance_ends_the_loop(engine):
    run(
        engine,
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
    engine.complete("work", r=1)
    engine.throw("work", "A")
    assert engine.jobs == ["repair"]
    assert "results" not in engine.variables("p"), "what was collected is dropped"


# ---- variables


def test_variables_of_an_error_stay_at_the_boundary_event(engine):
    run(engine, ONE, a=1)
    engine.throw("work", "A", a=2, b=3)
    assert engine.variables("p") == {"a": 1}
    assert engine.variables("caught") == {"a": 2, "b": 3}


def test_an_output_mapping_of_the_boundary_event_lets_them_out(engine):
    run(
        engine,
        model(
            start(),
            task("work"),
            boundary("b", "work", error(), outputs=[("=why", "reason")]),
            task("t"),
            "start > work",
            "b > t",
        ),
    )
    engine.throw("work", "A", why="because", other=1)
    assert engine.variables("p") == {"reason": "because"}


def test_variables_of_an_error_go_up_from_an_event_sub_process(engine):
    run(engine, model(start(), task("work"), "start > work", on(error(), "h", task("t"), "h-start > t")))
    engine.throw("work", "A", why="because")
    assert engine.variables("p") == {"why": "because"}


@pytest.mark.parametrize("by_job", [True, False])
def test_the_incident_says_which_errors_are_caught_where_it_was_thrown(engine, by_job):
    thrower = task("x") if by_job else final("x", error("C"))
    caught = on(error("B"), "inside", task("h"), "inside-start > h")
    inner = sub("s", start("i"), thrower, "i > x", caught)
    run(engine, model(start(), inner, boundary("b", "s", error("A")), "start > s"))
    if by_job:
        engine.throw("x", "C")
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("x", "UNHANDLED_ERROR_EVENT")
    assert message.endswith(" 'C', but it was not caught. Available error events are [B, A]")
