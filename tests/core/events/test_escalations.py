"""Escalations: who hears them, and who goes on; whole and in quanta of one item."""

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
from tests.core.models import end, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def in_sub(*events, inner="i > tell > more", parts=()):
    """A sub-process that escalates A and goes on with `more`; behind it `after`."""
    return model(
        start(),
        sub("s", start("i"), throw("tell", escalation("A")), task("more"), inner, *parts),
        *events,
        task("after"),
        "start > s > after",
    )


def test_an_interrupting_boundary_keeps_the_throwing_event_from_completing(engine):
    run(engine, in_sub(boundary("b", "s", escalation("A")), task("told"), "b > told"))
    assert engine.jobs == ["told"]
    assert (states(engine, "tell"), states(engine, "s"), states(engine, "more")) == (["TERMINATED"], ["TERMINATED"], [])


def test_beside_a_non_interrupting_boundary_everything_goes_on(engine):
    key = run(engine, in_sub(boundary("b", "s", escalation("A"), interrupting=False), task("told"), "b > told"))
    assert engine.jobs == ["more", "told"]
    assert states(engine, "tell") == ["COMPLETED"]
    for name in ("more", "after", "told"):
        engine.complete(name)
    assert ended(engine, key) == "COMPLETED"


def test_a_non_interrupting_boundary_hears_every_escalation(engine):
    hears = boundary("b", "s", escalation("A"), interrupting=False)
    again = throw("again", escalation("A"))
    run(engine, in_sub(hears, task("told"), "b > told", inner="i > tell > again > more", parts=[again]))
    assert engine.jobs == ["more", "told", "told"]


def test_an_escalation_that_nobody_hears_changes_nothing(engine):
    run(engine, in_sub(boundary("b", "s", escalation("B")), boundary("e", "s", error()), "b > after"))
    assert engine.jobs == ["more"]
    assert engine.incidents == []


@pytest.mark.parametrize("turned", [False, True])
def test_one_catcher_hears_it_and_an_exact_code_comes_first(engine, turned):
    events = [
        boundary("every", "s", escalation(), interrupting=False),
        boundary("exact", "s", escalation("A"), interrupting=False),
    ]
    run(engine, in_sub(*events[:: -1 if turned else 1], task("a"), task("e"), "exact > a", "every > e"))
    assert engine.jobs == ["a", "more"]


def test_the_nearest_scope_hears_it_alone(engine):
    run(
        engine,
        in_sub(
            boundary("b", "s", escalation("A")),
            task("far"),
            "b > far",
            parts=[on(escalation(), "h", task("near"), "h-start > near", interrupting=False)],
        ),
    )
    assert engine.jobs == ["more", "near"]


def test_an_escalation_end_event_completes_unless_it_is_interrupted(engine):
    files = [
        model(
            start(f"{id}-start"),
            sub(f"{id}-s", start(f"{id}-i"), final(f"{id}-x", escalation("A")), f"{id}-i > {id}-x"),
            boundary(f"{id}-b", f"{id}-s", escalation("A"), interrupting=interrupting),
            f"{id}-start > {id}-s",
            id=id,
        )
        for id, interrupting in (("p", True), ("q", False))
    ]
    engine.deploy(*files)
    assert engine.state_of(engine.start("p")) == engine.state_of(engine.start("q")) == "COMPLETED"
    assert (states(engine, "p-x"), states(engine, "q-x")) == (["TERMINATED"], ["COMPLETED"])
    assert (states(engine, "p-s"), states(engine, "q-s")) == (["TERMINATED"], ["COMPLETED"])
    assert (states(engine, "p-b"), states(engine, "q-b")) == (["COMPLETED"], ["COMPLETED"])


CHILD = model(start("cs"), throw("tell", escalation("A")), task("work"), end("ce"), "cs > tell > work > ce", id="c")


def test_an_escalation_goes_through_a_call_activity(engine):
    key = run(
        engine,
        CHILD,
        model(
            start(),
            call("x", "c"),
            boundary("b", "x", escalation("A"), interrupting=False),
            task("told"),
            "start > x",
            "b > told",
        ),
    )
    assert engine.jobs == ["told", "work"]
    engine.complete("told")
    engine.complete("work")
    assert ended(engine, key) == "COMPLETED"


def test_an_interrupting_boundary_of_a_call_activity_ends_the_called_process(engine):
    key = run(
        engine, CHILD, model(start(), call("x", "c"), boundary("b", "x", escalation()), end(), "start > x", "b > end")
    )
    assert ended(engine, key) == "COMPLETED"
    assert [
        row["state"] for (table, _), row in engine.rows.items() if table == "Instance" and row["element"] == "c"
    ] == ["TERMINATED"]
    assert states(engine, "work") == []


def test_the_body_of_a_loop_hears_its_inner_instances(engine):
    inner = sub("s", start("i"), throw("tell", escalation("A")), task("more"), "i > tell > more")
    run(
        engine,
        model(
            start(),
            loop(inner),
            boundary("b", "s", escalation("A"), interrupting=False),
            task("told"),
            "start > s",
            "b > told",
        ),
        items=[1, 2],
    )
    assert engine.jobs == ["more", "more", "told", "told"]


def test_the_code_may_be_computed_and_must_be_text(engine):
    key = run(
        engine,
        in_sub(boundary("b", "s", escalation("B")), task("told"), "b > told").replace(
            b'escalationRef="escalation-A"', b'escalationRef="escalation-said"', 1
        ),
        code=1,
    )
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("tell", "EXTRACT_VALUE_ERROR")]
    engine.set(key, code="B")
    engine.resolve()
    assert engine.jobs == ["told"]


def test_an_escalation_out_of_an_interrupting_event_sub_process_reaches_the_boundary_around_it(engine):
    parts = [on(escalation("A"), "h", final("up", escalation("B")), "h-start > up")]
    run(engine, in_sub(boundary("b", "s", escalation("B")), task("told"), "b > told", parts=parts))
    assert engine.jobs == ["told"]
    assert (states(engine, "h"), states(engine, "s")) == (["TERMINATED"], ["TERMINATED"])


@pytest.mark.parametrize("depth", [0, 1])
def test_an_event_sub_process_that_throws_what_it_catches_throws_it_outwards(engine, depth):
    """BPMN 2.0.2 §13.5.4: it triggers its event again for those around its scope, and is not started by itself."""
    rethrow, path = final("rethrow", escalation("A")), "catcher-start > handle > {}"
    if depth:
        rethrow, path = sub("deep", start("d"), rethrow, "d > rethrow"), path.format("deep")
    catcher = on(escalation("A"), "catcher", task("handle"), rethrow, path.format("rethrow"), interrupting=False)
    hears = boundary("b", "s", escalation("A"), interrupting=False)
    key = run(engine, in_sub(hears, task("told"), "b > told", parts=[catcher]))
    assert engine.jobs == ["handle", "more"]
    engine.complete("handle")
    assert engine.jobs == ["more", "told"]
    for name in ("more", "told", "after"):
        engine.complete(name)
    assert (ended(engine, key), states(engine, "catcher")) == ("COMPLETED", ["COMPLETED"])


def test_an_escalation_out_of_an_event_sub_process_starts_another_in_the_same_scope(engine):
    first = on(escalation("A"), "first", final("x", escalation("B")), "first-start > x", interrupting=False)
    second = on(escalation("B"), "second", task("t"), "second-start > t", interrupting=False)
    run(engine, in_sub(parts=[first, second]))
    assert engine.jobs == ["more", "t"]
