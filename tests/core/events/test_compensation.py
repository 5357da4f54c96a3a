"""Compensation: what is compensated, in which order, and what handlers see and change. BPMN 2.0.2 §10.7, §13.5.5."""

from collections.abc import Callable
from functools import partial

import pytest

from tests.core.compensation_models import (
    INSIDE,
    ONLY_B,
    SNAPSHOT,
    THROWS,
    T,
    compensating,
    compensation,
    done,
    failing,
    handled,
    in_line,
)
from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import (
    LIMITS,
    ad_hoc,
    boundary,
    call,
    ended,
    error,
    final,
    loop,
    mapped,
    model,
    on,
    run,
    script,
    throw,
)
from tests.core.models import end, flow, par, process_element, start, sub, task, xor
from tests.core.snapshots.test_snapshots import RestoredEngine
from vivero.core.execution.step import StepLimits
from vivero.core.records.user_tasks import CompleteUserTask


class Forgetful(Engine):
    """An engine that is rebuilt from its events after each completed job."""

    def complete(self, task, **variables):
        super().complete(task, **variables)
        rebuilt(self)


BENCHES: dict[str, Callable[[], Engine]] = {
    "whole": Engine,
    "quanta": partial(Engine, LIMITS["quanta"]),
    "replayed": Forgetful,
    "restored": RestoredEngine,
}


@pytest.fixture(params=BENCHES)
def engine(request):
    return BENCHES[request.param]()


def complete(engine, *tasks, **variables):
    for one in tasks:
        engine.complete(one, **variables)


def rest(engine):
    """The jobs that there are, one after the other: each must be the only one."""
    order = []
    while engine.jobs:
        (one,) = engine.jobs
        order.append(one)
        complete(engine, one)
    return order


def test_handlers_run_one_after_the_other_the_latest_activity_first(engine):
    key = run(engine, in_line(done("a"), done("b"), T))
    complete(engine, "a", "b")
    assert engine.jobs == ["ub"]
    assert engine.state_of(engine.element("t").key) == "ACTIVATED"
    complete(engine, "ub")
    assert engine.jobs == ["ua"]
    complete(engine, "ua")
    assert ended(engine, key) == "COMPLETED"
    assert engine.state.registrations.by_key == {}


def test_only_what_has_completed_is_compensated(engine):
    """`b` is skipped, `c` is active, `d` was terminated."""
    run(
        engine,
        model(
            *(start("s"), par("f"), done("a"), done("c"), xor("x", default="x-t"), done("b"), T),
            *(sub("in", start("i"), done("d"), "i > d"), boundary("bd", "in", error("A")), end("e"), end("h")),
            *("s > f > a > x > t > e", flow("x", "b", "=false"), "f > c", "f > in", "bd > h"),
        ),
    )
    engine.throw("d", "A")
    complete(engine, "a")
    assert engine.jobs == ["c", "ua"]
    complete(engine, "ua", "c")
    assert engine.elements == []


def test_a_throw_that_names_an_activity_leaves_the_others(engine):
    key = run(engine, in_line(done("a"), done("b"), throw("t", compensation("a")), throw("t2", compensation())))
    complete(engine, "a", "b")
    assert rest(engine) == ["ua", "ub"]
    assert ended(engine, key) == "COMPLETED"


def test_each_completion_is_compensated(engine):
    run(
        engine,
        model(
            *(start("s"), done("a"), xor("x", default="x-t"), T, end("e")),
            *("s > a > x > t > e", flow("x", "a", "=n < 3")),
        ),
    )
    for n in (1, 2, 3):
        complete(engine, "a", n=n)
    assert rest(engine) == ["ua", "ua", "ua"]


def test_a_completed_sub_process_is_compensated_from_the_inside(engine):
    key = run(engine, in_line(done("a"), INSIDE, done("d"), T))
    complete(engine, "a", "b", "c", "d")
    assert rest(engine) == ["ud", "uc", "ub", "ua"]
    assert ended(engine, key) == "COMPLETED"


def test_its_own_handler_comes_before_the_inside(engine):
    run(engine, in_line(done("a"), handled(INSIDE, "in"), T))
    complete(engine, "a", "b", "c")
    assert rest(engine) == ["uin", "uc", "ub", "ua"]


def test_an_event_sub_process_compensates_in_place_of_the_inside(engine):
    key = run(engine, in_line(done("a"), compensating(*ONLY_B), T))
    complete(engine, "a", "b", "c")
    assert rest(engine) == ["w", "ub", "ua"]
    assert ended(engine, key) == "COMPLETED"
    assert engine.state.registrations.by_key == {}


def test_an_event_sub_process_may_compensate_all_that_is_inside(engine):
    run(engine, in_line(compensating(throw("tb", compensation()), end("ee"), "esp-start > tb > ee"), T))
    complete(engine, "b", "c")
    assert rest(engine) == ["uc", "ub"]
    assert engine.elements == []


def test_nothing_else_starts_an_event_sub_process_that_compensates(engine):
    key = run(engine, in_line(compensating(task("w"), "esp-start > w")))
    complete(engine, "b", "c")
    assert ended(engine, key) == "COMPLETED"


def test_a_handler_reads_what_was_at_the_end_of_the_scope_and_writes_what_is(engine):
    run(engine, in_line(SNAPSHOT, task("n"), T, task("last")), x=5)
    complete(engine, "b")
    complete(engine, "n", x=2)
    assert engine.variables("p") == {"x": 101}
    assert engine.jobs == ["last"]
    assert engine.variables("in") == {"x": 1}


def test_an_event_sub_process_sees_the_scope_that_it_compensates(engine):
    esp = on(compensation(), "esp", script("w", "=x + y", "sum"), end("ee"), "esp-start > w > ee")
    inner = sub("in", start("i"), task("b"), end("j"), esp, "i > b > j", inputs=[("=1", "x")])
    run(engine, in_line(inner, task("n"), T, task("last")), x=5, y=10)
    complete(engine, "b")
    complete(engine, "n", y=20)
    assert engine.variables("p") == {"x": 5, "y": 20, "sum": 21}


def test_a_handler_of_a_sub_process_sees_its_variables(engine):
    """The variables of a task are those of nobody else."""
    inner = handled(
        sub("in", start("i"), task("b", inputs=[("=3", "z")]), end("j"), "i > b > j", inputs=[("=1", "x")]),
        "in",
        script("uin", '=string(x) + " " + string(z)', "r"),
    )
    run(engine, in_line(inner, T, task("last")), x=5)
    complete(engine, "b")
    assert engine.variables("p") == {"x": 5, "r": None}
    assert engine.jobs == ["last"]


ITEMS = {"items": ["x", "y", "z"]}


def test_a_loop_with_a_handler_is_compensated_once_after_all_its_instances(engine):
    run(engine, in_line(handled(loop(task("m")), "m"), T), **ITEMS)
    complete(engine, "m", "m")
    assert [row.element for row in engine.state.registrations.by_key.values()] == []
    complete(engine, "m")
    assert rest(engine) == ["um"]


def test_each_instance_of_a_loop_is_compensated_the_last_completed_one_first(engine):
    inner = sub("m", start("i"), done("b", task("ub", inputs=[("=item", "mine")])), end("j"), "i > b > j")
    run(engine, in_line(loop(inner, item="item"), T), **ITEMS)
    jobs = {job.element.scope.index: job.key for job in engine.state.jobs.values()}
    for index in (1, 2, 0):
        engine.complete_at(engine.element("p").key, f"p/m/m[{index}]/b", {})
    assert jobs.keys() == {0, 1, 2}
    seen = []
    while engine.jobs:
        seen.append(engine.variables("ub")["mine"])
        complete(engine, "ub")
    assert seen == ["x", "z", "y"]


def test_a_throw_in_a_sub_process_reaches_only_what_is_in_it(engine):
    inner = sub("in", start("i"), done("b"), throw("ti", compensation()), done("c"), "i > b > ti > c")
    run(engine, in_line(done("a"), inner, T))
    complete(engine, "a", "b", "ub", "c")
    assert rest(engine) == ["uc", "ua"]


def test_an_error_event_sub_process_compensates_the_scope_around_it(engine):
    key = run(engine, in_line(done("a"), failing(*THROWS), T))
    complete(engine, "a", "b", "c")
    engine.throw("boom", "A")
    complete(engine, "w")
    assert rest(engine) == ["uw", "uc", "ub", "after", "ua"]
    assert ended(engine, key) == "COMPLETED"


def test_two_throws_share_the_work(engine):
    key = run(
        engine,
        model(
            *(start("s"), done("a"), done("b"), done("c"), par("f"), throw("t1", compensation()), end("e1")),
            *(throw("t2", compensation()), end("e2"), "s > a > b > c > f > t1 > e1", "f > t2 > e2"),
        ),
    )
    complete(engine, "a", "b", "c")
    assert engine.jobs == ["ub", "uc"]
    complete(engine, "ub")
    assert engine.jobs == ["ua", "uc"]
    complete(engine, "uc")
    assert engine.states_of("t1", "t2") == ["COMPLETED", "ACTIVATED"]
    complete(engine, "ua")
    assert ended(engine, key) == "COMPLETED"


def test_two_throws_share_what_is_inside_of_a_completed_scope(engine):
    """The second one begins the last handler in it, while a handler of the first one runs there."""
    key = run(
        engine,
        model(
            *(start("s"), done("a"), INSIDE, par("f"), throw("t1", compensation()), end("e1")),
            *(throw("t2", compensation()), end("e2"), "s > a > in > f > t1 > e1", "f > t2 > e2"),
        ),
    )
    complete(engine, "a", "b", "c")
    assert engine.jobs == ["ub", "uc"]
    complete(engine, "ub")
    assert engine.jobs == ["ua", "uc"]
    complete(engine, "uc")
    assert engine.states_of("t1", "t2") == ["COMPLETED", "ACTIVATED"]
    complete(engine, "ua")
    assert ended(engine, key) == "COMPLETED"
    assert engine.state.registrations.by_key == {}


def test_a_throw_leaves_what_completes_later(engine):
    run(
        engine,
        model(
            *(start("s"), done("a"), par("f"), T, task("last"), done("b"), end("e")),
            *("s > a > f > t > last", "f > b > e"),
        ),
    )
    complete(engine, "a", "b", "ua")
    assert engine.jobs == ["last"]


def test_an_incident_of_a_handler_stops_those_after_it(engine):
    run(engine, in_line(done("a"), done("b"), T))
    complete(engine, "a", "b")
    engine.fail("ub")
    assert engine.jobs == ["ub"]
    engine.update("ub", retries=1)
    engine.resolve()
    assert rest(engine) == ["ub", "ua"]
    assert engine.elements == []


def test_an_error_of_a_handler_is_caught_around_its_throw(engine):
    inner = sub("in", start("i"), done("a"), done("b"), T, end("j"), "i > a > b > t > j")
    key = run(
        engine,
        model(start("s"), inner, boundary("be", "in", error("A")), task("after"), end("e"), "s > in > e", "be > after"),
    )
    complete(engine, "a", "b")
    engine.throw("ub", "A")
    assert engine.jobs == ["after"]
    assert (engine.states_of("t", "ub", "in")) == ["TERMINATED"] * 3
    complete(engine, "after")
    assert ended(engine, key) == "COMPLETED"


def test_a_cancelled_instance_has_nothing_left(engine):
    key = run(engine, in_line(done("a"), done("b"), T))
    complete(engine, "a", "b")
    engine.cancel(key)
    assert engine.states_of("t", "ub") == ["TERMINATED"] * 2
    assert ended(engine, key) == "TERMINATED"
    assert (engine.state.registrations.by_key, engine.state.registrations.of_scope) == ({}, {})


def test_what_an_interrupted_throw_left_is_for_a_later_one(engine):
    again = on(error("A"), "esp", throw("te", compensation()), end("ee"), "esp-start > te > ee")
    key = run(engine, model(start("s"), done("a"), done("b"), T, end("e"), again, "s > a > b > t > e"))
    complete(engine, "a", "b")
    engine.throw("ub", "A")
    assert rest(engine) == ["ua"]
    assert ended(engine, key) == "COMPLETED"


@pytest.mark.parametrize(
    ("handler", "jobs"),
    [
        (
            sub("ub", start("ui"), task("v"), done("w"), throw("tu", compensation()), "ui > v > w > tu"),
            ["v", "w", "uw"],
        ),
        (call("ub", "q"), ["called"]),
        (loop(task("ub"), sequential=True), ["ub", "ub", "ub"]),
        (loop(sub("ub", start("ui"), task("v"), task("w"), "ui > v > w"), sequential=True), ["v", "w"] * 3),
        (loop(task("ub"), collection="=[]"), []),
        (ad_hoc("ub", task("v"), done("w"), active='=["v", "w"]', ordering="Sequential"), ["v", "w"]),
        ('<manualTask id="ub"/>', []),
        (script("ub", "=1", "undone"), []),
    ],
    ids=["sub-process", "call", "loop", "sub-processes", "empty loop", "ad-hoc", "manual", "script"],
)
def test_a_handler_may_be_any_activity(engine, handler, jobs):
    called = process_element(start("qs"), task("called"), "qs > called", id="q")
    parts = (start("s"), done("a"), done("b", handler), T, end("e"), "s > a > b > t > e")
    key = run(engine, model(*parts, beside=[called]), **ITEMS)
    complete(engine, "a", "b")
    assert rest(engine) == [*jobs, "ua"]
    assert ended(engine, key) == "COMPLETED"


def test_a_person_may_compensate(engine):
    """The task sees the scope of the completed activity, and the next handler waits for it."""
    settings = '<zeebe:userTask/><zeebe:assignmentDefinition assignee="=name"/>'
    handler = f'<userTask id="ub">{mapped(settings)}</userTask>'
    inner = sub("in", start("i"), done("b", handler), end("j"), "i > b > j", inputs=[('="ann"', "name")])
    key = run(engine, in_line(done("a"), inner, T), name="bob")
    complete(engine, "a", "b")
    (asked,) = engine.state.user_tasks.values()
    assert (asked.assignee, engine.jobs) == ("ann", [])
    engine.accepted(CompleteUserTask(asked.key, raw({"refund": 3})))
    assert engine.jobs == ["ua"]
    assert engine.variables("p") == {"name": "bob", "refund": 3}
    complete(engine, "ua")
    assert ended(engine, key) == "COMPLETED"


def test_the_instances_of_a_handler_run_together(engine):
    key = run(engine, in_line(done("a"), done("b", loop(task("ub"), item="item")), T), **ITEMS)
    complete(engine, "a", "b")
    assert engine.jobs == ["ub"] * 3
    complete(engine, "ub", "ub")
    assert engine.jobs == ["ub"]
    complete(engine, "ub")
    assert rest(engine) == ["ua"]
    assert ended(engine, key) == "COMPLETED"


def test_a_handler_waits_for_its_message(engine):
    settings = '<extensionElements><zeebe:subscription correlationKey="=order"/></extensionElements>'
    handler = '<receiveTask id="ub" messageRef="returned"/>'
    file = in_line(done("a"), done("b", handler), T)
    run(
        engine,
        file.replace(
            b"</definitions>", f'<message id="returned" name="returned">{settings}</message></definitions>'.encode()
        ),
        order="7",
    )
    complete(engine, "a", "b")
    assert engine.jobs == []
    engine.publish("returned", "7")
    assert rest(engine) == ["ua"]
    assert engine.elements == []


def test_activities_of_an_ad_hoc_sub_process_are_compensated_by_time(engine):
    run(engine, in_line(ad_hoc("h", done("a"), done("b"), active='=["a", "b"]'), T))
    complete(engine, "b", "a")
    assert rest(engine) == ["ua", "ub"]
    assert engine.elements == []


def test_a_called_process_is_not_compensated(engine):
    called = process_element(start("qs"), done("v"), "qs > v", id="q")
    parts = (start("s"), done("a"), call("b", "q"), handled(call("c", "q"), "c"), T, end("e"), "s > a > b > c > t > e")
    run(engine, model(*parts, beside=[called]))
    complete(engine, "a", "v", "v")
    assert rest(engine) == ["uc", "ua"]


def test_a_throw_in_a_called_process_stays_inside(engine):
    called = process_element(start("qs"), done("v"), throw("tq", compensation()), "qs > v > tq", id="q")
    run(engine, model(start("s"), done("a"), call("b", "q"), end("e"), "s > a > b > e", beside=[called]))
    complete(engine, "a", "v")
    assert rest(engine) == ["uv"]
    assert engine.elements == []


def test_a_throw_with_nothing_to_do_completes_at_once(engine):
    key = run(engine, in_line(T))
    assert ended(engine, key) == "COMPLETED"


def test_an_end_event_of_a_sub_process_throws(engine):
    """The sub-process is registered with what is left."""
    inner = sub("in", start("i"), done("b"), done("c"), final("x", compensation("c")), "i > b > c > x")
    run(engine, in_line(done("a"), inner, T))
    complete(engine, "a", "b", "c")
    assert rest(engine) == ["uc", "ub", "ua"]


def test_a_throw_may_go_on_without_its_handlers(engine):
    key = run(engine, in_line(done("a"), done("b"), throw("t", compensation(waits=False)), task("next")))
    complete(engine, "a", "b")
    assert engine.jobs == ["next", "ub"]
    assert engine.states_of("t") == ["COMPLETED"]
    complete(engine, "next", "ub")
    assert engine.jobs == ["ua"]
    complete(engine, "ua")
    assert ended(engine, key) == "COMPLETED"


def test_a_boundary_event_without_a_handler_does_nothing(engine):
    parts = (start("s"), task("a"), boundary("ca", "a", compensation()), T, end("e"), "s > a > t > e")
    key = run(engine, model(*parts))
    complete(engine, "a")
    assert ended(engine, key) == "COMPLETED"


def test_what_an_event_sub_process_did_is_compensated_after_it(engine):
    beside = on(
        '<signalEventDefinition signalRef="go"/>', "esp", done("w"), end("ee"), "esp-start > w > ee", interrupting=False
    )
    parts = (start("s"), done("a"), beside, T, end("e"), "s > a > t > e")
    file = model(*parts).replace(b"</definitions>", b'<signal id="go" name="go"/></definitions>')
    run(engine, file)
    engine.broadcast("go")
    complete(engine, "w", "a")
    assert rest(engine) == ["ua", "uw"]


@pytest.mark.long
def test_very_many_compensations_run_in_bounded_quanta():
    engine = Engine(StepLimits(quantum_items=50), keeps_rows=False)
    quanta = []
    inner = sub("m", start("i"), done("b", script("ub", "=item", "last")), end("j"), "i > b > j")
    inner = inner.replace(task("b"), '<manualTask id="b"/>')
    key = run(engine, in_line(loop(inner, item="item", collection="=for i in 1..2000 return i"), T, task("z")))
    quanta = [len(one.events) for logged in engine.memory.log for one in logged.handled]
    assert max(quanta) < 1_000
    assert engine.jobs == ["z"]
    assert engine.state.trees[key].root.variables["last"].decode() == 1
    assert engine.state.registrations.by_key == {}


def test_many_compensations_can_be_cancelled_in_between():
    from tests.core.quanta import run_rest, run_until
    from vivero.core.records.instances import CancelInstance, CreateInstance

    engine = Engine(StepLimits(quantum_items=50))
    inner = sub("m", start("i"), done("b", '<manualTask id="ub"/>'), end("j"), "i > b > j")
    inner = inner.replace(task("b"), '<manualTask id="b"/>')
    engine.deploy(in_line(loop(inner, item="item", collection="=for i in 1..300 return i"), T, task("z")))

    def compensated():
        return sum(1 for (kind, _), row in engine.rows.items() if kind == "Element" and row["element"] == "ub")

    run_until(engine, CreateInstance("p"), lambda: compensated() >= 50)
    key = engine.element("p").key
    engine.memory.handle(CancelInstance(key), "<default>", None)
    run_rest(engine)
    assert 50 <= compensated() < 100
    assert ended(engine, key) == "TERMINATED"
