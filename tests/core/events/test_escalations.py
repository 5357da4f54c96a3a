"""Escalations: who hears them, and who goes on; whole and in quanta of one item."""

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
from tests.core.models import end, start, sub, task


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


def in_sub(*events, inner="i > tell > more", parts=()):
    """A sub-process that escalates A and goes on with `more`; behind it `after`."""
    return model(
        start(),
        sub("s", start("i"), throw("tell", escalation("A")), task("more"), inner, *parts),
        *events,
        task("after"),
        "start > s > after",
    )


def test_an_interrupting_boundary_keeps_the_throwing_event_from_completing(bench):
    run(bench, in_sub(boundary("b", "s", escalation("A")), task("told"), "b > told"))
    assert bench.jobs == ["told"]
    assert (states(bench, "tell"), states(bench, "s"), states(bench, "more")) == (["TERMINATED"], ["TERMINATED"], [])


def test_beside_a_non_interrupting_boundary_everything_goes_on(bench):
    key = run(bench, in_sub(boundary("b", "s", escalation("A"), interrupting=False), task("told"), "b > told"))
    assert bench.jobs == ["more", "told"]
    assert states(bench, "tell") == ["COMPLETED"]
    for name in ("more", "after", "told"):
        bench.complete(name)
    assert ended(bench, key) == "COMPLETED"


def test_a_non_interrupting_boundary_hears_every_escalation(bench):
    hears = boundary("b", "s", escalation("A"), interrupting=False)
    again = throw("again", escalation("A"))
    run(bench, in_sub(hears, task("told"), "b > told", inner="i > tell > again > more", parts=[again]))
    assert bench.jobs == ["more", "told", "told"]


def test_an_escalation_that_nobody_hears_changes_nothing(bench):
    run(bench, in_sub(boundary("b", "s", escalation("B")), boundary("e", "s", error()), "b > after"))
    assert bench.jobs == ["more"]
    assert bench.incidents == []


@pytest.mark.parametrize("turned", [False, True])
def test_one_catcher_hears_it_and_an_exact_code_comes_first(bench, turned):
    events = [
        boundary("every", "s", escalation(), interrupting=False),
        boundary("exact", "s", escalation("A"), interrupting=False),
    ]
    run(bench, in_sub(*events[:: -1 if turned else 1], task("a"), task("e"), "exact > a", "every > e"))
    assert bench.jobs == ["a", "more"]


def test_the_nearest_scope_hears_it_alone(bench):
    run(
        bench,
        in_sub(
            boundary("b", "s", escalation("A")),
            task("far"),
            "b > far",
            parts=[on(escalation(), "h", task("near"), "h-start > near", interrupting=False)],
        ),
    )
    assert bench.jobs == ["more", "near"]


def test_an_escalation_end_event_completes_unless_it_is_interrupted(bench):
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
    bench.deploy(*files)
    assert bench.state_of(bench.start("p")) == bench.state_of(bench.start("q")) == "COMPLETED"
    assert (states(bench, "p-x"), states(bench, "q-x")) == (["TERMINATED"], ["COMPLETED"])
    assert (states(bench, "p-s"), states(bench, "q-s")) == (["TERMINATED"], ["COMPLETED"])
    assert (states(bench, "p-b"), states(bench, "q-b")) == (["COMPLETED"], ["COMPLETED"])


CHILD = model(start("cs"), throw("tell", escalation("A")), task("work"), end("ce"), "cs > tell > work > ce", id="c")


def test_an_escalation_goes_through_a_call_activity(bench):
    key = run(
        bench,
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
    assert bench.jobs == ["told", "work"]
    bench.complete("told")
    bench.complete("work")
    assert ended(bench, key) == "COMPLETED"


def test_an_interrupting_boundary_of_a_call_activity_ends_the_called_process(bench):
    key = run(
        bench, CHILD, model(start(), call("x", "c"), boundary("b", "x", escalation()), end(), "start > x", "b > end")
    )
    assert ended(bench, key) == "COMPLETED"
    assert [
        row["state"] for (table, _), row in bench.rows.items() if table == "Instance" and row["element"] == "c"
    ] == ["TERMINATED"]
    assert states(bench, "work") == []


def test_the_body_of_a_loop_hears_its_inner_instances(bench):
    inner = sub("s", start("i"), throw("tell", escalation("A")), task("more"), "i > tell > more")
    run(
        bench,
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
    assert bench.jobs == ["more", "more", "told", "told"]


def test_the_code_may_be_computed_and_must_be_text(bench):
    key = run(
        bench,
        in_sub(boundary("b", "s", escalation("B")), task("told"), "b > told").replace(
            b'escalationRef="escalation-A"', b'escalationRef="escalation-said"', 1
        ),
        code=1,
    )
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("tell", "EXTRACT_VALUE_ERROR")]
    bench.set(key, code="B")
    bench.resolve()
    assert bench.jobs == ["told"]


def test_an_escalation_out_of_an_interrupting_event_sub_process_reaches_the_boundary_around_it(bench):
    parts = [on(escalation("A"), "h", final("up", escalation("B")), "h-start > up")]
    run(bench, in_sub(boundary("b", "s", escalation("B")), task("told"), "b > told", parts=parts))
    assert bench.jobs == ["told"]
    assert (states(bench, "h"), states(bench, "s")) == (["TERMINATED"], ["TERMINATED"])


@pytest.mark.parametrize("depth", [0, 1])
def test_an_event_sub_process_that_throws_what_it_catches_throws_it_outwards(bench, depth):
    """BPMN 2.0.2 §13.5.4: it triggers its event again for those around its scope, and is not started by itself."""
    rethrow, path = final("rethrow", escalation("A")), "catcher-start > handle > {}"
    if depth:
        rethrow, path = sub("deep", start("d"), rethrow, "d > rethrow"), path.format("deep")
    catcher = on(escalation("A"), "catcher", task("handle"), rethrow, path.format("rethrow"), interrupting=False)
    hears = boundary("b", "s", escalation("A"), interrupting=False)
    key = run(bench, in_sub(hears, task("told"), "b > told", parts=[catcher]))
    assert bench.jobs == ["handle", "more"]
    bench.complete("handle")
    assert bench.jobs == ["more", "told"]
    for name in ("more", "told", "after"):
        bench.complete(name)
    assert (ended(bench, key), states(bench, "catcher")) == ("COMPLETED", ["COMPLETED"])


def test_an_escalation_out_of_an_event_sub_process_starts_another_in_the_same_scope(bench):
    first = on(escalation("A"), "first", final("x", escalation("B")), "first-start > x", interrupting=False)
    second = on(escalation("B"), "second", task("t"), "second-start > t", interrupting=False)
    run(bench, in_sub(parts=[first, second]))
    assert bench.jobs == ["more", "t"]
