"""Execution listeners: jobs before an element begins and after it is done, one after the other."""

import pytest

from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import (
    LIMITS,
    TERMINATE,
    boundary,
    call,
    error,
    escalation,
    final,
    loop,
    model,
    on,
    run,
    script,
    throw,
)
from tests.core.listener_models import listeners_of, listening, tell_all
from tests.core.models import ONE_TASK, end, file, flow, process, process_element, start, sub, task, xor
from tests.core.quanta import run_rest, run_until, set_quantum
from vivero.core.execution.step import StepLimits
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob, ThrowJobError
from vivero.core.records.messages import PublishMessage
from vivero.core.shared.variables import visible
from vivero.core.state.instance_tree import ElementState


def kinds(handled):
    return [type(event).__name__ for event in handled.events]


def tell(engine, type, **variables):
    """Complete the job of a listener."""
    (key,) = (job.key for job in engine.state.jobs.values() if job.type == type)
    handled = engine.run(CompleteJob(key, raw(variables)))
    assert handled.rejection is None, handled.rejection
    return handled


BOTH = listening(ONE_TASK, work=["start a", "end y", "start b", "end z"])


# ---- when they are told


def test_each_has_its_turn_in_the_order_of_the_file(engine):
    key = run(engine, BOTH)
    told = []
    while listeners_of(engine) or engine.jobs:
        (job,) = engine.state.jobs.values()
        told.append((job.type, job.kind, job.listener_event, job.listener_index, str(job.element.state)))
        engine.run(CompleteJob(job.key))
    assert told == [
        ("a", "EXECUTION_LISTENER", "START", 0, "ACTIVATING"),
        ("b", "EXECUTION_LISTENER", "START", 1, "ACTIVATING"),
        ("work", "BPMN_ELEMENT", "UNSPECIFIED", 0, "ACTIVATED"),
        ("y", "EXECUTION_LISTENER", "END", 0, "COMPLETING"),
        ("z", "EXECUTION_LISTENER", "END", 1, "COMPLETING"),
    ]
    assert engine.state_of(key) == "COMPLETED"


def test_they_come_behind_the_mappings(engine):
    work = task("work", inputs=[("=1", "mapped")], outputs=[("=r + 1", "left")])
    key = run(engine, listening(process(start(), work, "start > work"), work=["start a", "end z"]))
    assert engine.variables("work") == {"mapped": 1}
    tell(engine, "a")
    engine.complete("work", r=1)
    assert listeners_of(engine) == ["z"]
    assert engine.variables_of(key) == {"left": 2}
    tell(engine, "z")
    assert engine.state_of(key) == "COMPLETED"


def test_nothing_is_evaluated_or_awaited_before_the_last_start_listener(engine):
    at_work = boundary(
        "late", "work", "<timerEventDefinition><timeDuration>=wait</timeDuration></timerEventDefinition>"
    )
    run(
        engine,
        listening(process(start(), task("work", type="=kind"), at_work, "start > work"), work=["start a", "start b"]),
    )
    tell(engine, "a", kind="k")
    assert not engine.state.timers
    tell(engine, "b", wait="PT1H")
    assert [timer.due_at for timer in engine.state.timers.values()] == [3_601_000]
    assert engine.job("work").type == "k"
    assert not engine.incidents


def test_the_next_one_comes_before_anything_else(engine):
    """In one quantum: the listener's variables are what the next stage sees, whoever else works meanwhile."""
    run(engine, BOTH)
    handled = tell(engine, "a", n=1)
    assert kinds(handled) == ["JobCompleted", "VariableSet", "JobCreated"]
    assert kinds(tell(engine, "b")) == ["JobCompleted", "ElementActivated", "JobCreated"]


# ---- variables


def test_what_a_start_listener_brings_is_local(engine):
    key = run(engine, BOTH, n=1)
    tell(engine, "a", n=2)
    assert (engine.variables("work"), engine.variables_of(key)) == ({"n": 2}, {"n": 1})
    tell(engine, "b", m=3)
    assert (engine.variables("work"), engine.variables_of(key)) == ({"n": 2, "m": 3}, {"n": 1})


def test_what_an_end_listener_brings_leaves_like_the_result_of_a_mapping(engine):
    """Past a local variable of the same name, into the innermost scope around it that has one, else the process."""
    inner = sub("s", start("i"), task("work", inputs=[("=0", "n")]), "i > work", inputs=[("=0", "m")])
    key = run(engine, listening(process(start(), inner, task("next"), "start > s > next"), work=["end y", "end z"]))
    engine.complete("work")
    tell(engine, "y", n=1, m=2)
    assert engine.variables("work") == {"n": 0}
    assert engine.variables("s") == {"m": 2}
    assert engine.variables_of(key) == {"n": 1}
    tell(engine, "z", m=3)
    assert engine.variables("s") == {"m": 3}


@pytest.mark.parametrize(
    ("given", "outputs", "around"),
    [
        ({"propagateAllChildVariables": "false"}, [], {}),
        ({"propagateAllChildVariables": "false"}, [("=offer", "price")], {"price": "bar"}),
        ({}, [("=offer", "price")], {"price": "bar"}),
        ({}, [], {"offer": "bar"}),
    ],
)
def test_an_end_listener_of_a_call_sees_what_it_does_not_propagate(engine, given, outputs, around):
    called = process_element(start("cs"), script("s", '="bar"', "offer"), "cs > s", id="c")
    calling = model(
        start(), call("x", "c", outputs=outputs, **given), task("next"), "start > x > next", beside=[called]
    )
    key = run(engine, listening(calling, x=["end z"]))
    assert visible(engine.element("x")) == {name: f'"{value}"' for name, value in ({"offer": "bar"} | around).items()}
    tell(engine, "z")
    assert engine.variables_of(key) == around


def test_a_loop_collects_from_a_call_what_it_does_not_propagate(engine):
    called = process_element(start("cs"), script("s", "=item * 2", "double"), "cs > s", id="c")
    looped = loop(call("x", "c", propagateAllChildVariables="false"), item="item", output="=double", into="all")
    key = run(engine, model(start(), looped, task("next"), "start > x > next", beside=[called]), items=[1, 2])
    assert engine.variables_of(key) == {"items": [1, 2], "all": [2, 4]}


def test_the_next_listener_is_evaluated_with_what_the_last_one_brought(engine):
    run(engine, listening(ONE_TASK, work=["start a", "start =next =many"]))
    tell(engine, "a", next="found", many=7)
    (job,) = engine.state.jobs.values()
    assert (job.type, job.retries) == ("found", 7)


def test_a_worker_gets_the_headers_of_the_element(engine):
    work = task("work", headers=[("k", "v")], priority=9)
    run(engine, listening(process(start(), work, "start > work"), work=["start a 5"]))
    (job,) = engine.state.jobs.values()
    assert (job.headers, job.retries, job.priority) == ({"k": "v"}, 5, 0)


# ---- what goes wrong


@pytest.mark.parametrize("type", ["a", "b", "y", "z"])
def test_a_listener_without_retries_is_an_incident_and_it_alone_is_told_again(engine, type):
    key = run(engine, BOTH)
    while type not in [job.type for job in engine.state.jobs.values()]:
        engine.run(CompleteJob(next(iter(engine.state.jobs))))
    (job,) = engine.state.jobs
    engine.fail("work", retries=1, message="again", tried=1)
    assert not engine.incidents
    assert engine.variables("work")["tried"] == 1
    engine.fail("work", message="boom")
    assert engine.incidents == [("work", "EXECUTION_LISTENER_NO_RETRIES", "boom")]
    assert engine.complete("work").rejection.code is RejectionCode.INVALID_STATE
    assert engine.resolve().rejection.code is RejectionCode.INVALID_STATE
    engine.update("work", retries=1)
    assert kinds(engine.resolve()) == ["IncidentResolved", "JobReleased"]
    assert list(engine.state.jobs) == [job]
    while engine.jobs:
        engine.run(CompleteJob(next(iter(engine.state.jobs))))
    assert engine.state_of(key) == "COMPLETED"
    created = [row["type"] for (table, _), row in engine.rows.items() if table == "Job"]
    assert created == ["a", "b", "work", "y", "z"]


@pytest.mark.parametrize(("event", "state"), [("start", "ACTIVATING"), ("end", "COMPLETING")])
def test_an_expression_that_fails_tells_all_of_its_event_again(engine, event, state):
    key = run(engine, listening(ONE_TASK, work=[f"{event} a", f"{event} b", f"{event} =kind", "end last"]))
    if event == "end":
        engine.complete("work")
    tell(engine, "a")
    tell(engine, "b", kind=5)
    told = "Expected result of the expression 'kind' to be 'STRING', but was 'NUMBER'."
    assert engine.incidents == [("work", "EXTRACT_VALUE_ERROR", told)]
    assert engine.element("work").state == state
    (incident,) = engine.state.incidents.values()
    assert incident.argument == 0
    engine.resolve()
    assert listeners_of(engine) == ["a"]
    tell(engine, "a")
    tell(engine, "b", kind="c")
    tell(engine, "c")
    tell_all(engine)
    if event == "start":
        engine.complete("work")
    tell_all(engine)
    assert engine.state_of(key) == "COMPLETED"


@pytest.mark.parametrize("retries", ["=-1 + null", '="many"'])
def test_retries_that_are_no_number_are_an_incident(engine, retries):
    run(engine, listening(ONE_TASK, work=[f"start a {retries.replace(' ', '')}"]))
    ((_, type, _),) = engine.incidents
    assert type == "EXTRACT_VALUE_ERROR"
    assert not engine.jobs


def test_what_fails_behind_the_listeners_does_not_tell_them_again(engine):
    run(engine, listening(process(start(), task("work", type="=kind"), "start > work"), work=["start a"]))
    tell(engine, "a")
    engine.set(engine.element("work").key, local=True, kind="k")
    engine.resolve()
    assert (listeners_of(engine), engine.job("work").type) == ([], "k")


@pytest.mark.parametrize("event", ["start", "end"])
def test_a_listener_cannot_throw_an_error(engine, event):
    work = boundary("caught", "work", error())
    run(engine, listening(model(start(), task("work"), work, "start > work"), work=[f"{event} a"]))
    if event == "end":
        engine.complete("work")
    job = engine.job("work").key
    rejection = engine.run(ThrowJobError(job, "A")).rejection
    assert rejection.code is RejectionCode.INVALID_STATE
    assert f"job with key '{job}'" in rejection.reason
    assert "'EXECUTION_LISTENER'" in rejection.reason
    assert listeners_of(engine) == ["a"]


def test_a_listener_is_done_once(engine):
    run(engine, BOTH)
    (key,) = engine.state.jobs
    tell(engine, "a")
    assert engine.run(CompleteJob(key)).rejection.code is RejectionCode.NOT_FOUND


# ---- what ends meanwhile


@pytest.mark.parametrize("before", [0, 1, 3, 4])
def test_a_cancelled_element_tells_nobody_any_more(engine, before):
    key = run(engine, BOTH)
    for _ in range(before):
        engine.run(CompleteJob(next(iter(engine.state.jobs))))
    (job,) = engine.state.jobs
    engine.cancel(key)
    assert not engine.state.elements
    assert engine.rows["Job", job]["state"] == "CANCELED"
    assert engine.state_of(key) == "TERMINATED"


def test_a_listener_of_what_is_about_to_end_reports_in_vain():
    engine = Engine(StepLimits(quantum_items=1))
    key = run(engine, BOTH)
    (listener,) = engine.state.jobs
    work = engine.element("work")
    run_until(engine, CancelInstance(key), lambda: work.state is ElementState.TERMINATING)
    assert listener in engine.state.jobs, "its quantum has not come"
    engine.memory.handle(CompleteJob(listener), "<default>", None)
    assert engine.memory.log[-1].handled[0].rejection.code is RejectionCode.NOT_FOUND
    run_rest(engine)
    assert engine.state_of(key) == "TERMINATED"
    assert not engine.state.jobs


@pytest.mark.parametrize("cancelled", [False, True])
@pytest.mark.parametrize(("before", "stage", "after"), [(0, "start listeners", "b"), (3, "end listeners", "z")])
def test_a_turn_that_was_put_off_comes_unless_the_element_ends(engine, before, stage, after, cancelled):
    key = run(engine, BOTH)
    for _ in range(before):
        engine.run(CompleteJob(next(iter(engine.state.jobs))))
    (job,) = engine.state.jobs
    set_quantum(engine, 0)
    run_until(engine, CompleteJob(job), lambda: True)
    assert engine.state.trees[key].work == ((engine.element("work").key, stage, 1),)
    assert not engine.jobs
    set_quantum(engine, 500)
    if cancelled:
        engine.cancel(key)
    run_rest(engine)
    assert listeners_of(engine) == ([] if cancelled else [after])


def test_a_boundary_event_does_not_catch_before_its_host_has_begun(engine):
    at_work = boundary("told", "work", '<signalEventDefinition signalRef="news"/>')
    file_ = model(start(), task("work"), at_work, "start > work", beside=('<signal id="news" name="news"/>',))
    run(engine, listening(file_, work=["start a", "end z"]))
    engine.broadcast("news")
    assert listeners_of(engine) == ["a"]
    tell(engine, "a")
    engine.broadcast("news")
    assert not engine.state.elements


@pytest.mark.parametrize("interrupting", [True, False])
def test_a_boundary_event_catches_while_end_listeners_are_told(engine, interrupting):
    at_work = boundary("told", "work", '<signalEventDefinition signalRef="news"/>', interrupting)
    parts = [start(), task("work"), at_work, task("after"), task("next"), "start > work > next", "told > after"]
    run(engine, listening(model(*parts, beside=('<signal id="news" name="news"/>',)), work=["end z"]))
    engine.complete("work")
    (listener,) = engine.state.jobs
    engine.broadcast("news")
    assert engine.jobs == (["after"] if interrupting else ["after", "work"])
    if interrupting:
        assert engine.rows["Job", listener]["state"] == "CANCELED"
    else:
        tell(engine, "z")
        assert engine.jobs == ["after", "next"]


# ---- where they are


def test_of_a_process(engine):
    key = run(engine, listening(process(start(), task("work", type="=kind"), "start > work"), p=["start a", "end z"]))
    assert engine.elements == ["p"]
    tell(engine, "a", kind="k")
    assert engine.variables_of(key) == {"kind": "k"}
    engine.complete("work")
    tell(engine, "z", last=1)
    assert engine.ended[key] == ("COMPLETED", {"kind": "k", "last": 1})


def test_of_a_called_process_and_its_caller(engine):
    """The caller hears of the end when the called process has told its own listeners, and takes what they brought."""
    caller = listening(
        process(start(), call("c", "q"), task("after"), "start > c > after"), c=["start c1", "end c2"], p=["end p2"]
    )
    called = listening(file(process_element(start("qs"), task("work"), "qs > work", id="q")), q=["start q1", "end q2"])
    engine.deploy(called)
    key = run(engine, caller)
    assert engine.elements == ["c", "p"]
    tell(engine, "c1", given=1)
    (inner,) = (element for element in engine.state.elements.values() if element.element == "q")
    tell(engine, "q1", own=2)
    assert engine.variables_of(inner.key) == {"given": 1, "own": 2}
    engine.complete("work")
    tell(engine, "q2", last=3)
    assert listeners_of(engine) == ["c2"]
    assert engine.variables_of(key) == {"own": 2, "last": 3}
    tell(engine, "c2")
    engine.complete("after")
    tell(engine, "p2")
    assert engine.state_of(key) == "COMPLETED"


def test_an_error_goes_past_the_end_listeners_of_the_scopes_that_it_ends(engine):
    inner = sub("s", start("i"), task("work"), "i > work")
    parts = [start(), inner, boundary("caught", "s", error("A")), task("after"), "start > s", "caught > after"]
    run(engine, listening(model(*parts), s=["end s2"], work=["end w2"]))
    engine.throw("work", "A")
    assert engine.jobs == ["after"]
    assert not listeners_of(engine)


def test_of_a_gateway_before_it_decides(engine):
    parts = [
        start(),
        xor("g", default="g-b"),
        task("a"),
        task("b"),
        "start > g",
        flow("g", "a", "=n = 1"),
        flow("g", "b"),
    ]
    run(engine, listening(process(*parts), g=["start x"]), n=0)
    tell(engine, "x", n=1)
    assert engine.jobs == ["a"]


@pytest.mark.parametrize("gateway", ["parallelGateway", "inclusiveGateway"])
def test_a_join_has_its_tokens_when_its_listeners_are_told(engine, gateway):
    parts = [start(), task("a"), task("b"), f'<{gateway} id="g"/>', task("c"), "start > a > g > c", "start > b > g"]
    key = run(engine, listening(process(*parts), g=["start x"]))
    engine.complete("a")
    assert not listeners_of(engine)
    engine.complete("b")
    assert engine.state.elements[key].tokens == {"g": 1}
    tell(engine, "x")
    assert engine.jobs == ["c"]


def test_of_a_start_event_and_an_end_event(engine):
    """The scope waits for its event sub-processes once the start event has told its listeners."""
    aside = on('<signalEventDefinition signalRef="news"/>', "h", end("he"), "h-start > he")
    parts = [start(outputs=[("=1", "n")]), aside, end(), "start > end"]
    file_ = model(*parts, beside=('<signal id="news" name="news"/>',))
    key = run(engine, listening(file_, start=["end a"], end=["start b", "end c"]))
    assert not engine.state.subscriptions
    tell(engine, "a")
    assert len(engine.state.subscriptions) == 1
    tell(engine, "b")
    tell(engine, "c")
    assert engine.state_of(key) == "COMPLETED"


def test_of_an_event_sub_process_and_its_start_event(engine):
    aside = on(error("A"), "h", end("he"), "h-start > he")
    key = run(
        engine,
        listening(
            model(start(), task("work"), aside, "start > work"),
            h=["start a", "end z"],
            **{"h-start": ["end b"]},
        ),
    )
    engine.throw("work", "A", n=1)
    assert listeners_of(engine) == ["a"]
    tell(engine, "a")
    tell(engine, "b")
    tell(engine, "z")
    assert engine.ended[key] == ("COMPLETED", {"n": 1})


def test_of_a_boundary_event_when_its_host_has_ended(engine):
    parts = [
        start(),
        task("work"),
        boundary("caught", "work", error("A")),
        task("after"),
        "start > work",
        "caught > after",
    ]
    run(engine, listening(model(*parts), caught=["end a"]))
    engine.throw("work", "A", n=1)
    assert engine.elements == ["caught", "p"]
    tell(engine, "a", m="kept")
    assert engine.jobs == ["after"]
    assert engine.variables("p") == {"m": "kept"}


def test_an_error_end_event_tells_before_it_throws(engine):
    inner = sub("s", start("i"), final("x", error("A")), "i > x")
    parts = [start(), inner, boundary("caught", "s", error("A")), task("after"), "start > s", "caught > after"]
    run(engine, listening(model(*parts), x=["start a"], s=["end never"]))
    tell(engine, "a")
    assert engine.jobs == ["after"]


@pytest.mark.parametrize("interrupting", [True, False])
def test_of_an_escalation_only_one_that_interrupts_keeps_the_end_listeners_from_being_told(engine, interrupting):
    inner = sub("s", start("i"), throw("x", escalation("A")), end("e"), "i > x > e")
    parts = [start(), inner, boundary("caught", "s", escalation("A"), interrupting), task("after"), "start > s"]
    run(engine, listening(model(*parts, "caught > after"), x=["start a", "end z"]))
    tell(engine, "a")
    assert engine.jobs == (["after"] if interrupting else ["after", "x"])


def test_everything_else_in_a_scope_ends_once_the_terminate_event_has_told(engine):
    parts = [start(), task("a"), task("b"), final("x", TERMINATE), "start > a", "start > b > x"]
    key = run(engine, listening(model(*parts), x=["start x1", "end x2"], p=["end p2"]))
    engine.complete("b")
    tell(engine, "x1")
    assert engine.jobs == ["a", "x"]
    tell(engine, "x2")
    assert listeners_of(engine) == ["p2"]
    assert engine.elements == ["p"]
    tell(engine, "p2")
    assert engine.state_of(key) == "COMPLETED"


# ---- loops


def looped(activity=None, sequential=False, until=None, **listeners):
    many = loop(activity or task("work"), "=[1, 2]", "item", "=r", "results", until, sequential)
    return listening(process(start(), many, task("next"), "start > work > next"), **listeners)


@pytest.mark.parametrize("sequential", [True, False])
def test_each_instance_of_a_loop_tells_and_the_loop_does_not(engine, sequential):
    key = run(engine, looped(sequential=sequential, work=["start a", "end z"]))
    bodies = [e for e in engine.state.elements.values() if e.type == "MULTI_INSTANCE_BODY"]
    assert [str(body.state) for body in bodies] == ["ACTIVATED"]
    assert listeners_of(engine) == ["a"] * (1 if sequential else 2)
    told = 0
    while "next" not in engine.jobs:
        job = next(iter(engine.state.jobs.values()))
        assert job.element.index >= 0
        engine.run(CompleteJob(job.key, raw({"r": job.element.index} if job.type == "z" else {})))
        told += job.kind != "BPMN_ELEMENT"
    assert told == 4
    assert engine.variables_of(key)["results"] == [0, 1], "what an end listener brings is there when it is collected"


def test_the_instances_of_a_loop_that_is_done_tell_nobody_any_more(engine):
    key = run(engine, looped(until="=numberOfCompletedInstances = 1", work=["end z"]))
    first, second = (job.key for job in engine.state.jobs.values())
    engine.run(CompleteJob(first))
    engine.run(CompleteJob(second))
    listener, other = (job.key for job in engine.state.jobs.values())
    engine.run(CompleteJob(listener, raw({"r": 1})))
    assert engine.jobs == ["next"]
    assert engine.rows["Job", other]["state"] == "CANCELED"
    assert engine.variables_of(key)["results"] == [1, None]


def test_a_script_in_a_loop_sees_what_its_start_listener_brings(engine):
    run(engine, looped(script("work", "=n * item", "r", outputs=[("=r", "r")]), work=["start a"]))
    for number, key in enumerate(list(engine.state.jobs)):
        engine.run(CompleteJob(key, raw({"n": 10 + number})))
    assert engine.variables("p") == {"results": [10, 22]}


def test_a_paged_loop_tells(engine):
    paged = Engine(StepLimits(paged_from=0))
    for one in (engine, paged):
        run(one, looped(work=["start a", "end z"]))
        while "next" not in one.jobs:
            one.run(CompleteJob(next(iter(one.state.jobs)), raw({"r": 1})))
    assert paged.variables("p") == engine.variables("p") == {"results": [1, 1]}


# ---- beside other things


def test_an_instance_ends_after_an_element_when_that_has_told_its_end_listeners(engine):
    engine.deploy(listening(process(start(), task("work"), task("next"), "start > work > next"), work=["end z"]))
    key = engine.run(CreateInstance("p", terminate_after=("work",))).response.process_instance_key
    engine.complete("work")
    assert engine.state_of(key) == "ACTIVATED"
    tell(engine, "z")
    assert engine.state_of(key) == "TERMINATED"


def test_an_instance_that_begins_at_an_element_tells_that_one_and_not_the_scopes_around_it(engine):
    """They are entered without input mappings, too."""
    inner = sub("s", start("i"), task("work"), "i > work")
    engine.deploy(
        listening(process(start(), inner, "start > s"), p=["start p1"], s=["start s1", "end s2"], work=["start w1"])
    )
    engine.run(CreateInstance("p", start_elements=("work",)))
    assert listeners_of(engine) == ["w1"]
    tell(engine, "w1")
    engine.complete("work")
    assert listeners_of(engine) == ["s2"]


def test_the_next_instance_of_a_key_starts_when_the_process_has_told_its_end_listeners(engine):
    begun = '<startEvent id="begun"><messageEventDefinition messageRef="hello"/></startEvent>'
    file_ = model(begun, end(), "begun > end", beside=('<message id="hello" name="hello"/>',))
    engine.deploy(listening(file_, p=["end z"]))
    for n in (1, 2):
        engine.run(PublishMessage("hello", "k", 60_000, None, raw({"n": n})))
    assert [engine.variables_of(key) for key in engine.state.trees] == [{"n": 1}]
    tell(engine, "z")
    assert [engine.variables_of(key) for key in engine.state.trees] == [{"n": 2}]


@pytest.mark.parametrize("before", range(5))
def test_the_events_alone_know_whose_turn_it_is(engine, before):
    key = run(engine, BOTH)
    for _ in range(before):
        engine.run(CompleteJob(next(iter(engine.state.jobs))))
    rebuilt(engine)
    told = []
    while engine.state.jobs:
        (job,) = engine.state.jobs.values()
        told.append(job.type)
        engine.run(CompleteJob(job.key))
    assert told == ["a", "b", "work", "y", "z"][before:]
    assert engine.state_of(key) == "COMPLETED"


# ---- before all instances of a loop


@pytest.fixture(params=LIMITS)
def either(request):
    return Engine(LIMITS[request.param])


def counting(*listeners, more=()):
    text = loop(task("work"), item="item", output="=item + extra", into="all")
    parts = (start(), text, task("next"), *more, "start > work > next")
    return listening(model(*parts), work=listeners)


def test_listeners_before_all_come_once_and_before_the_collection(either):
    key = run(either, counting("beforeAll a", "beforeAll b", "start s"))
    body = either.element("work")
    assert (str(body.state), body.type, listeners_of(either)) == ("ACTIVATING", "MULTI_INSTANCE_BODY", ["a"])
    (job,) = either.state.jobs.values()
    assert (job.kind, job.listener_event) == ("EXECUTION_LISTENER", "BEFORE_ALL")
    tell(either, "a", items=[1, 2])
    tell(either, "b", extra=10)
    assert either.variables_of(body.key) == {"items": [1, 2], "extra": 10}
    assert either.variables_of(key) == {}
    assert listeners_of(either) == ["s", "s"]
    tell_all(either)
    either.complete("work")
    either.complete("work")
    assert either.variables_of(key) == {"all": [11, 12]}
    assert either.jobs == ["next"]


def test_a_failing_listener_before_all_blocks_the_body(either):
    run(either, counting("beforeAll a"), items=[1], extra=1)
    either.fail("work", message="boom")
    assert either.incidents == [("work", "EXECUTION_LISTENER_NO_RETRIES", "boom")]
    either.update("work", retries=1)
    either.resolve()
    tell(either, "a")
    assert either.jobs == ["work"]


def test_boundary_events_of_a_loop_wait_for_the_listeners_before_all(either):
    late = boundary("late", "work", "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>")
    run(either, counting("beforeAll a", more=(late,)), items=[1], extra=1)
    assert not either.state.timers
    tell(either, "a")
    assert len(either.state.timers) == 1


@pytest.mark.parametrize("expression", [True, False])
def test_a_cancelled_loop_cancels_its_listener_before_all(either, expression):
    key = run(either, counting("beforeAll =kind" if expression else "beforeAll a"), items=[1], extra=1)
    either.cancel(key)
    assert (either.state_of(key), either.state.jobs, either.incidents) == ("TERMINATED", {}, [])


# ---- listeners of the cancellation of a process

CANCELLED = listening(ONE_TASK, p=["cancel a", "cancel b", "end z"])


def test_listeners_of_a_cancellation_come_when_all_inside_has_ended(either):
    key = run(either, CANCELLED)
    either.cancel(key)
    assert (listeners_of(either), either.elements, either.state_of(key)) == (["a"], ["p"], "TERMINATING")
    (job,) = either.state.jobs.values()
    assert (job.kind, job.listener_event) == ("EXECUTION_LISTENER", "CANCEL")
    tell(either, "a", n=1)
    assert listeners_of(either) == ["b"]
    tell(either, "b")
    assert either.ended[key] == ("TERMINATED", {"n": 1})
    assert either.state.weight == 0


def test_the_request_of_a_cancellation_waits_for_its_listeners(either):
    key = run(either, CANCELLED)
    either.cancel(key)
    either.cancel(key)
    assert listeners_of(either) == ["a"]
    tell(either, "a")
    tell(either, "b")
    first = next(logged.position for logged in either.memory.log if type(logged.command) is CancelInstance)
    answered = [one for logged in either.memory.log for one in logged.handled if one.answered and one.request == first]
    assert len(answered) == 1


@pytest.mark.parametrize("ends", ["completes", "is terminated by its end event"])
def test_a_process_that_completes_has_none_of_them(either, ends):
    parts = (start(), task("work"), final("x", TERMINATE) if "end event" in ends else end("x"), "start > work > x")
    key = run(either, listening(model(*parts), p=["cancel a"]))
    either.complete("work")
    assert either.state_of(key) == "COMPLETED"


def test_a_called_process_and_its_caller_have_each_their_own(either):
    called = listening(file(process_element(start("qs"), task("work"), "qs > work", id="q")), q=["cancel inner"])
    either.deploy(called)
    key = run(either, listening(process(start(), call("c", "q"), "start > c"), p=["cancel outer"]))
    either.cancel(key)
    assert (listeners_of(either), either.elements) == (["inner"], ["c", "p", "q"])
    tell(either, "inner")
    assert listeners_of(either) == ["outer"]
    tell(either, "outer")
    assert either.state_of(key) == "TERMINATED"


def test_a_boundary_path_waits_for_the_listeners_of_the_called_process(either):
    called = listening(file(process_element(start("qs"), task("work"), "qs > work", id="q")), q=["cancel inner"])
    either.deploy(called)
    late = boundary("late", "c", "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>")
    parts = (start(), call("c", "q"), late, task("after"), "start > c", "late > after")
    key = run(either, process(*parts))
    either.fire_at(key, "p/c", "late")
    assert either.jobs == ["q"]
    tell(either, "inner")
    assert either.jobs == ["after"]


def test_a_cancellation_that_cannot_be_told_is_an_incident_and_all_run_again(either):
    key = run(either, listening(ONE_TASK, p=["cancel a", "cancel =kind"]))
    either.cancel(key)
    tell(either, "a")
    ((_, type, _),) = either.incidents
    assert (type, either.state_of(key)) == ("EXTRACT_VALUE_ERROR", "TERMINATING")
    either.set(key, kind="b")
    either.resolve()
    assert listeners_of(either) == ["a"]
    tell(either, "a")
    tell(either, "b")
    assert either.state_of(key) == "TERMINATED"


def test_the_first_type_of_a_cancellation_may_be_wrong_too(either):
    key = run(either, listening(ONE_TASK, p=["cancel =kind"]))
    either.cancel(key)
    assert [type for _, type, _ in either.incidents] == ["EXTRACT_VALUE_ERROR"]
    either.cancel(key)
    assert len(either.incidents) == 1
    either.set(key, kind="b")
    either.resolve()
    tell(either, "b")
    assert either.state_of(key) == "TERMINATED"


def test_a_failed_listener_of_a_cancellation_can_be_repaired(either):
    key = run(either, CANCELLED)
    either.cancel(key)
    either.fail("p", message="boom")
    assert either.incidents == [("p", "EXECUTION_LISTENER_NO_RETRIES", "boom")]
    either.update("p", retries=1)
    either.resolve()
    tell(either, "a")
    tell(either, "b")
    assert either.state_of(key) == "TERMINATED"


def test_a_cancellation_survives_a_replay(either):
    key = run(either, CANCELLED)
    either.cancel(key)
    tell(either, "a")
    rebuilt(either)
    tell(either, "b")
    assert either.state_of(key) == "TERMINATED"
