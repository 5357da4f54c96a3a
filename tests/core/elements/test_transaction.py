"""Transaction sub-process: success, cancellation and hazard. BPMN 2.0.2 §10.3.5, §13.3.4."""

import pytest

from tests.core.compensation_models import CANCEL, T, compensation, done, handled, in_line, transaction
from tests.core.engine import Engine
from tests.core.event_models import (
    TERMINATE,
    ad_hoc,
    boundary,
    call,
    ended,
    error,
    final,
    loop,
    model,
    on,
    run,
    script,
    throw,
)
from tests.core.events.test_compensation import BENCHES, complete, rest
from tests.core.models import end, flow, par, process_element, start, sub, task, xor
from tests.core.quanta import run_rest, run_until
from vivero.core.execution.step import StepLimits
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance
from vivero.core.records.jobs import CompleteJob
from vivero.core.state.lazy_variables import LazyVariables


@pytest.fixture(params=BENCHES)
def engine(request):
    return BENCHES[request.param]()


AROUND = (start("s"), boundary("bc", "tx", CANCEL), task("cancelled"), end("e"), "bc > cancelled")
DECIDES = (xor("x", default="x-ok"), end("ok"), final("no", CANCEL), flow("x", "no", "=no"))


NEXT = ("s > tx > n > e", task("n"))


def booking(*parts, around=NEXT, host=transaction, **mappings):
    """A process with a transaction `tx`, which is followed by the task `n`, or by `cancelled`."""
    return model(*AROUND, host("tx", *parts, **mappings), *around)


LINE = (start("i"), done("a"), done("b"), task("c"), *DECIDES, "i > a > b > c > x > ok")
"""`a`, `b` and `c` follow each other; `no` after `c` cancels."""
FORKED = (start("i"), done("a"), done("b"), par("f"), task("c"), task("d"), final("no", CANCEL))
"""After `a` and `b`, `c` and `d` run beside each other. `no` behind `d` cancels."""
FORK = "i > a > b > f > d > no"


def test_success_goes_on_behind_it(engine):
    key = run(engine, booking(*LINE), no=False)
    complete(engine, "a", "b", "c")
    assert engine.jobs == ["n"]
    complete(engine, "n")
    assert ended(engine, key) == "COMPLETED"


def test_its_cancellation_ends_everything_in_it_and_then_compensates_the_latest_first(engine):
    key = run(engine, booking(*FORKED, FORK, "f > c"))
    complete(engine, "a", "b", "d")
    assert engine.jobs == ["ub"]
    assert engine.states_of("c", "no", "tx") == ["TERMINATED", "TERMINATED", "ACTIVATED"]
    complete(engine, "ub")
    assert engine.jobs == ["ua"]
    complete(engine, "ua")
    assert engine.states_of("tx", "bc") == ["TERMINATED", "COMPLETED"]
    assert rest(engine) == ["cancelled"]
    assert ended(engine, key) == "COMPLETED"
    assert engine.state.registrations.by_key == {}


def test_the_trace_of_a_cancellation():
    engine = Engine()
    run(engine, booking(start("i"), done("a"), final("no", CANCEL), "i > a > no"))
    complete(engine, "a", "ua")
    lines = [line.strip() for line in engine.trace if line.startswith(" ")]
    shown = [
        line.partition(" ")[0] + " " + line.split()[1].removeprefix("scope=").removeprefix("element=") for line in lines
    ]
    assert shown[shown.index("ElementActivated no") :] == [
        "ElementActivated no",
        "ScopeInterrupted tx",
        "ElementTerminating no",
        "ElementTerminated no",
        "ScopeEmptied tx",
        "ElementActivating ca",
        "CompensationStarted done(a)",
        "ElementActivated ca",
        "ElementCompleting ca",
        "ElementActivating ua",
        "CompensationHandedOver ua",
        "ElementCompleted ca",
        "ElementActivated ua",
        "JobCreated job(ua)",
        "JobCompleted job(ua)",
        "ElementCompleting ua",
        "ElementCompleted ua",
        "EventTriggered tx",
        "ElementTerminating tx",
        "ElementTerminated tx",
        "ElementActivating bc",
        "ElementActivated bc",
        "ElementCompleting bc",
        "ElementCompleted bc",
        "ElementActivating cancelled",
        "ElementActivated cancelled",
        "JobCreated job(cancelled)",
    ]


def test_without_anything_completed_its_boundary_event_follows_at_once(engine):
    run(engine, booking(start("i"), task("c"), *DECIDES, "i > c > x > ok"), no=True)
    complete(engine, "c")
    assert engine.jobs == ["cancelled"]


def test_an_error_is_a_hazard_without_compensation(engine):
    hazard = (boundary("be", "tx", error("A")), task("hazard"), "be > hazard", "s > tx > e")
    key = run(engine, booking(*LINE, around=hazard), no=True)
    complete(engine, "a", "b")
    engine.throw("c", "A")
    assert rest(engine) == ["hazard"]
    assert ended(engine, key) == "COMPLETED"


def test_an_event_sub_process_that_catches_an_error_may_cancel(engine):
    caught = on(error("A"), "esp", task("w"), final("no2", CANCEL), "esp-start > w > no2")
    run(engine, booking(*LINE, caught), no=False)
    complete(engine, "a", "b")
    engine.throw("c", "A")
    complete(engine, "w")
    assert rest(engine) == ["ub", "ua", "cancelled"]
    assert engine.states_of("esp", "tx") == ["TERMINATED", "TERMINATED"]


def test_a_terminate_event_in_it_ends_it_as_any_sub_process(engine):
    run(
        engine, booking(start("i"), done("a"), final("stop", TERMINATE), end("ok"), final("no", CANCEL), "i > a > stop")
    )
    complete(engine, "a")
    assert rest(engine) == ["n"]


def test_the_inner_one_of_two_is_cancelled(engine):
    inner = transaction("ti", start("j"), done("c"), final("no", CANCEL), "j > c > no")
    parts = (
        start("i"),
        done("a"),
        inner,
        boundary("bi", "ti", CANCEL),
        task("w"),
        end("ok"),
        "i > a > ti",
        "bi > w > ok",
    )
    run(engine, booking(*parts, around=(task("n"), "s > tx > n > e")))
    complete(engine, "a", "c")
    assert engine.jobs == ["uc"]
    complete(engine, "uc", "w")
    assert rest(engine) == ["n"]


def nested(*rest):
    """A transaction with a completed transaction `t1`, an active one `t2`, and what may cancel both."""
    t1 = transaction("t1", start("j1"), done("b"), end("k1"), "j1 > b > k1")
    t2 = transaction("t2", start("j2"), done("c"), task("d"), final("no2", CANCEL), "j2 > c > d > no2")
    bounds = (boundary("b2", "t2", CANCEL), task("w2"), "b2 > w2")
    return booking(
        *(start("i"), done("a"), t1, par("f"), t2, *bounds, task("z"), final("no", CANCEL)),
        *("i > a > t1 > f > t2", "f > z > no", *rest),
    )


def test_the_outer_one_compensates_a_completed_one_and_ends_an_active_one(engine):
    run(engine, nested())
    complete(engine, "a", "b", "c")
    assert engine.jobs == ["d", "z"]
    complete(engine, "z")
    assert rest(engine) == ["ub", "ua", "cancelled"]
    assert engine.states_of("t2") == ["TERMINATED"]
    assert ("b2" in {row["element"] for (table, _), row in engine.rows.items() if table == "Element"}) is False


def test_a_later_throw_compensates_a_successful_one(engine):
    run(engine, booking(*LINE, around=(done("n"), T, "s > tx > n > t > e")), no=False)
    complete(engine, "a", "b", "c", "n")
    assert rest(engine) == ["un", "ub", "ua"]


def test_a_later_throw_does_not_compensate_what_was_cancelled(engine):
    around = (done("n"), T, "s > n > tx > e", "cancelled > t")
    run(engine, booking(*LINE, around=around), no=True)
    complete(engine, "n", "a", "b", "c")
    assert rest(engine) == ["ub", "ua", "cancelled", "un"]


ONE_HOUR = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"


def test_a_timer_during_compensation_is_a_hazard(engine):
    hazard = (boundary("bt", "tx", ONE_HOUR), task("late"), "bt > late", "s > tx > e")
    key = run(engine, booking(*LINE, around=hazard), no=True)
    complete(engine, "a", "b", "c")
    assert engine.jobs == ["ub"]
    engine.fire_at(key, "p/tx", "bt")
    assert rest(engine) == ["late"]
    assert engine.states_of("ub", "tx") == ["TERMINATED", "TERMINATED"]
    assert ended(engine, key) == "COMPLETED"


def test_an_error_of_a_handler_is_caught_at_the_transaction(engine):
    hazard = (boundary("be", "tx", error("A")), task("hazard"), "be > hazard", "s > tx > e")
    inside = on(error("A"), "esp", task("w"), "esp-start > w")
    run(engine, booking(*LINE, inside, around=hazard), no=True)
    complete(engine, "a", "b", "c")
    engine.throw("ub", "A")
    assert rest(engine) == ["hazard"]


def test_an_incident_of_a_handler_lets_the_transaction_wait(engine):
    run(engine, booking(*LINE), no=True)
    complete(engine, "a", "b", "c")
    engine.fail("ub")
    assert (engine.jobs, engine.states_of("tx")) == (["ub"], ["ACTIVATED"])
    engine.update("ub", retries=1)
    engine.resolve()
    assert rest(engine) == ["ub", "ua", "cancelled"]


def test_an_instance_that_is_cancelled_meanwhile_has_nothing_left(engine):
    key = run(engine, booking(*LINE), no=True)
    complete(engine, "a", "b", "c")
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"
    assert engine.states_of("ub", "tx") == ["TERMINATED", "TERMINATED"]
    assert engine.state.registrations.by_key == {}


SIGNALLED = '<signalEventDefinition signalRef="go"/>'


def test_an_event_sub_process_that_runs_is_ended_and_what_it_did_is_compensated(engine):
    beside = on(SIGNALLED, "esp", done("w"), task("v"), end("ee"), "esp-start > w > v > ee", interrupting=False)
    file = booking(*LINE, beside).replace(b"</definitions>", b'<signal id="go" name="go"/></definitions>')
    run(engine, file, no=True)
    complete(engine, "a")
    engine.broadcast("go")
    complete(engine, "w", "b", "c")
    assert engine.states_of("v", "esp") == ["TERMINATED", "TERMINATED"]
    engine.broadcast("go")
    assert rest(engine) == ["uw", "ub", "ua", "cancelled"]
    assert engine.state.subscriptions == {}


def test_a_cancel_event_in_a_sub_process_cancels_the_transaction_around(engine):
    """An active sub-process counts as the latest."""
    inner = sub("q", start("j"), done("b"), *DECIDES, "j > b > x > ok")
    run(engine, booking(start("i"), done("a"), inner, "i > a > q"), no=True)
    complete(engine, "a", "b")
    assert rest(engine) == ["ub", "ua", "cancelled"]
    assert engine.states_of("q") == ["TERMINATED"]


def test_an_active_sub_process_beside_is_compensated_without_its_own_handler(engine):
    beside = handled(sub("q", start("j"), done("b"), task("d"), "j > b > d"), "q")
    run(
        engine,
        booking(start("i"), done("a"), par("f"), beside, task("c"), final("no", CANCEL), "i > a > f > q", "f > c > no"),
    )
    complete(engine, "a", "b", "c")
    assert rest(engine) == ["ub", "ua", "cancelled"]


def test_an_ad_hoc_sub_process_inside_is_compensated(engine):
    inner = ad_hoc("h", done("b"), task("d"), active='=["b", "d"]')
    parts = (start("i"), done("a"), par("f"), inner, task("c"), final("no", CANCEL), "i > a > f > h", "f > c > no")
    run(engine, booking(*parts))
    complete(engine, "a", "b", "c")
    assert rest(engine) == ["ub", "ua", "cancelled"]


def test_a_running_handler_ends_and_is_not_run_again(engine):
    """A throw event in the transaction compensates when the transaction is cancelled."""
    thrower = throw("t", compensation())
    parts = (start("i"), done("a"), done("b"), par("f"), thrower, end("ok"), task("c"), final("no", CANCEL))
    run(engine, booking(*parts, "i > a > b > f > t > ok", "f > c > no"))
    complete(engine, "a", "b")
    assert engine.jobs == ["c", "ub"]
    complete(engine, "c")
    assert engine.states_of("t", "ub") == ["TERMINATED", "TERMINATED"]
    assert rest(engine) == ["ua", "cancelled"]


def test_a_handler_of_several_steps_runs_to_its_end(engine):
    """The handlers of its own steps do not run."""
    handler = sub("ub", start("ui"), done("v"), task("w"), end("ue"), "ui > v > w > ue")
    run(engine, booking(start("i"), done("a"), done("b", handler), final("no", CANCEL), "i > a > b > no"))
    complete(engine, "a", "b")
    assert rest(engine) == ["v", "w", "ua", "cancelled"]


def test_handlers_see_and_change_the_variables_of_the_transaction(engine):
    undo = script("ua", '=state + " " + string(x)', "state")
    parts = (start("i"), done("a", undo), task("c"), final("no", CANCEL), "i > a > c > no")
    run(
        engine,
        booking(*parts, inputs=[("=1", "x"), ('="open"', "state")], outputs=[("=state", "result")]),
        x=5,
    )
    complete(engine, "a")
    complete(engine, "c", state="closed")
    assert engine.variables("p") == {"x": 5}, "there are no output mappings of the transaction"
    seen = [row["value"] for (table, _), row in engine.rows.items() if table == "Variable" and row["name"] == "state"]
    assert seen in ([], ['"closed 1"'])


def test_output_mappings_of_the_boundary_event_see_the_scope_around():
    engine = Engine()
    around = booking(*LINE).replace(
        b'attachedToRef="tx">',
        b'attachedToRef="tx"><extensionElements><zeebe:ioMapping><zeebe:output source="=x" target="seen"/>'
        b"</zeebe:ioMapping></extensionElements>",
    )
    run(engine, around, no=True, x=5)
    complete(engine, "a", "b", "c", "ub", "ua")
    assert engine.variables("p") == {"no": True, "x": 5, "seen": 5}


def test_a_cancel_event_may_be_the_last_of_several_definitions():
    engine = Engine()
    said = final("no", SIGNALLED + CANCEL)
    listens = on(SIGNALLED, "esp", task("heard"), "esp-start > heard", interrupting=False)
    file = booking(start("i"), done("a"), said, "i > a > no", around=("s > tx > e", listens))
    run(engine, file.replace(b"</definitions>", b'<signal id="go" name="go"/></definitions>'))
    complete(engine, "a")
    assert engine.jobs == ["heard", "ua"]


# -------------------------------------------------------------------------------------------------------------- loops

ITEMS = {"items": ["x", "y", "z"]}


def each(*parts, **mappings):
    return lambda id, *inner: loop(transaction(id, *inner), item="item", **mappings)


@pytest.mark.parametrize("sequential", [False, True])
def test_a_multi_instance_transaction_is_cancelled_as_a_whole(engine, sequential):
    parts = (start("i"), done("a", task("ua", inputs=[("=item", "mine")])), task("c"), *DECIDES, "i > a > c > x > ok")
    key = run(engine, booking(*parts, host=each(sequential=sequential)), **ITEMS, no=False)
    if sequential:
        complete(engine, "a", "c", "a")
        engine.complete("c", no=True)
    else:
        complete(engine, "a", "a", "a", "c")
        engine.complete("c", no=True)
    seen = []
    while engine.jobs == ["ua"]:
        seen.append(engine.variables("ua")["mine"])
        complete(engine, "ua")
    assert seen == (["y", "x"] if sequential else ["z", "y", "x"])
    assert rest(engine) == ["cancelled"]
    assert ended(engine, key) == "COMPLETED"
    assert engine.states_of("bc") == ["COMPLETED"]
    assert engine.state.registrations.by_key == {}
    assert not engine.state.trees


def test_a_loop_that_repeats_a_transaction_is_cancelled_as_a_whole(engine):
    marker = "<standardLoopCharacteristics loopMaximum='5'/></transaction>"

    def again(id, *inner):
        return transaction(id, *inner).replace("</transaction>", marker)

    parts = (start("i"), done("a"), task("c"), *DECIDES, "i > a > c > x > ok")
    run(engine, booking(*parts, host=again), no=False)
    complete(engine, "a", "c", "a")
    engine.complete("c", no=True)
    assert rest(engine) == ["ua", "ua", "cancelled"]


def test_a_scope_that_handlers_will_see_ends_with_its_variables_in_memory(engine):
    """Scopes of a long loop may be loaded without them, only to be ended."""
    inside = sub("in", start("j"), done("a"), task("c"), "j > a > c")
    run(engine, booking(start("i"), par("f"), inside, task("d"), final("no", CANCEL), "i > f > in", "f > d > no"))
    complete(engine, "a")
    engine.element("in").variables = LazyVariables(7)
    with pytest.raises(NotLoaded) as lacking:
        complete(engine, "d")
    assert lacking.value.need == Need(NeedKind.VARIABLES, 7)


def test_a_loop_around_a_transaction_goes_on(engine):
    inner = (transaction("tx", *LINE), boundary("bc", "tx", CANCEL), end("k"), start("j"), "j > tx", "bc > k")
    key = run(engine, in_line(loop(sub("m", *inner), item="item"), task("n")), **ITEMS, no=True)
    for place in ("a", "b", "c"):
        complete(engine, place, place, place)
    assert engine.jobs == ["ub"] * 3
    complete(engine, "ub", "ua", "ub", "ub", "ua", "ua")
    assert rest(engine) == ["n"]
    assert ended(engine, key) == "COMPLETED"


def test_a_paged_multi_instance_transaction_is_cancelled_as_a_whole():
    """Its handlers run in the body, each as a part of its own like the inner instances."""
    engine = Engine(StepLimits(quantum_items=50, paged_from=10))
    handler = script("ua", "=if done = null then [item] else append(done, item)", "done")
    parts = (start("i"), done("a", handler), task("c"), *DECIDES, "i > a > c > x > ok")
    parts = tuple(part.replace(task("a"), '<manualTask id="a"/>') for part in parts)
    file = booking(*parts, host=each(collection="=for i in 1..40 return i"))
    key = run(engine, file, no=False, done=None)
    complete(engine, "c", "c")
    assert engine.element("tx").loop.paged is True
    engine.complete("c", no=True)
    assert rest(engine) == ["cancelled"]
    assert ended(engine, key) == "COMPLETED"
    (value,) = [
        row["value"] for (table, _), row in engine.rows.items() if table == "Variable" and row["name"] == "done"
    ]
    assert sorted(map(int, value.strip("[]").split(","))) == list(range(1, 41))


# -------------------------------------------------------------------------------------------------- called, and at size


def test_a_cancellation_stays_in_a_called_process(engine):
    called = process_element(
        *(start("qs"), transaction("tx", *LINE), boundary("bc", "tx", CANCEL), task("w"), end("qe")),
        *("qs > tx > qe", "bc > w"),
        id="q",
    )
    key = run(
        engine,
        model(start("s"), done("d"), call("k", "q"), task("n"), end("e"), "s > d > k > n > e", beside=[called]),
        no=True,
    )
    complete(engine, "d", "a", "b", "c")
    assert rest(engine) == ["ub", "ua", "w", "n"]
    assert ended(engine, key) == "COMPLETED"


def test_a_called_process_inside_ends_without_compensation(engine):
    called = process_element(start("qs"), done("v"), task("w"), end("qe"), "qs > v > w > qe", id="q")
    inner = (
        start("i"),
        done("a"),
        par("f"),
        call("k", "q"),
        task("c"),
        final("no", CANCEL),
        "i > a > f > k",
        "f > c > no",
    )
    run(engine, model(*AROUND, transaction("tx", *inner), "s > tx > e", beside=[called]))
    complete(engine, "a", "v", "c")
    assert rest(engine) == ["ua", "cancelled"]


def test_a_transaction_may_be_a_handler(engine):
    handler = transaction("ub", start("ui"), done("v"), task("w"), end("ue"), "ui > v > w > ue")
    run(engine, in_line(done("a"), done("b", handler), T, task("n")))
    complete(engine, "a", "b")
    assert rest(engine) == ["v", "w", "ua", "n"]


def test_a_job_of_a_cancelled_activity_is_gone():
    engine = Engine()
    run(engine, booking(*FORKED, FORK, "f > c"))
    complete(engine, "a", "b")
    late = engine.job("c").key
    complete(engine, "d")
    rejected = engine.run(CompleteJob(late))
    assert rejected.rejection.code is RejectionCode.NOT_FOUND
    assert engine.jobs == ["ub"]


def test_two_cancel_events_at_once_cancel_once(engine):
    parts = (start("i"), done("a"), par("f"), final("no", CANCEL), final("no2", CANCEL), "i > a > f > no", "f > no2")
    key = run(engine, booking(*parts))
    complete(engine, "a")
    assert rest(engine) == ["ua", "cancelled"]
    assert ended(engine, key) == "COMPLETED"
    assert engine.states_of("bc") == ["COMPLETED"]


def test_a_wide_transaction_is_cancelled_in_bounded_quanta_and_may_be_ended_in_between():
    engine = Engine(StepLimits(quantum_items=50), keeps_rows=True)
    wide = loop(task("m"), collection="=for i in 1..1000 return i")
    parts = (start("i"), done("a"), par("f"), wide, task("c"), final("no", CANCEL), "i > a > f > m", "f > c > no")
    parts = tuple(part.replace(task("a"), '<manualTask id="a"/>') for part in parts)
    engine.deploy(booking(*parts))
    engine.start()
    key = engine.element("p").key

    def ended_so_far():
        return sum(1 for (table, _), row in engine.rows.items() if table == "Job" and row["state"] == "CANCELED")

    before = len(engine.memory.log)
    run_until(engine, CompleteJob(engine.job("c").key), lambda: ended_so_far() >= 100)
    assert max(len(one.events) for logged in engine.memory.log[before:] for one in logged.handled) < 1_000
    assert ended_so_far() < 900
    engine.memory.handle(CancelInstance(key), "<default>", None)
    run_rest(engine)
    assert ended(engine, key) == "TERMINATED"
    assert engine.states_of("tx") == ["TERMINATED"]
    assert "ua" not in {row["element"] for (table, _), row in engine.rows.items() if table == "Element"}


def test_a_wide_transaction_is_compensated_when_all_has_ended():
    engine = Engine(StepLimits(quantum_items=50))
    wide = loop(task("m"), collection="=for i in 1..1000 return i")
    parts = (start("i"), done("a"), par("f"), wide, task("c"), final("no", CANCEL), "i > a > f > m", "f > c > no")
    run(engine, booking(*parts))
    complete(engine, "a", "c")
    assert rest(engine) == ["ua", "cancelled"]
