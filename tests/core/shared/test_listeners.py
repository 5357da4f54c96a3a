"""Execution listeners: jobs before an element begins and after it is done, one after the other."""

import pytest

from tests.core.bench import Bench, raw, rebuilt
from tests.core.event_models import (
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


def tell(bench, type, **variables):
    """Complete the job of a listener."""
    (key,) = (job.key for job in bench.state.jobs.values() if job.type == type)
    handled = bench.run(CompleteJob(key, raw(variables)))
    assert handled.rejection is None, handled.rejection
    return handled


BOTH = listening(ONE_TASK, work=["start a", "end y", "start b", "end z"])


# ---- when they are told


def test_each_has_its_turn_in_the_order_of_the_file(bench):
    key = run(bench, BOTH)
    told = []
    while listeners_of(bench) or bench.jobs:
        (job,) = bench.state.jobs.values()
        told.append((job.type, job.kind, job.listener_event, job.listener_index, str(job.element.state)))
        bench.run(CompleteJob(job.key))
    assert told == [
        ("a", "EXECUTION_LISTENER", "START", 0, "ACTIVATING"),
        ("b", "EXECUTION_LISTENER", "START", 1, "ACTIVATING"),
        ("work", "BPMN_ELEMENT", "UNSPECIFIED", 0, "ACTIVATED"),
        ("y", "EXECUTION_LISTENER", "END", 0, "COMPLETING"),
        ("z", "EXECUTION_LISTENER", "END", 1, "COMPLETING"),
    ]
    assert bench.state_of(key) == "COMPLETED"


def test_they_come_behind_the_mappings(bench):
    work = task("work", inputs=[("=1", "mapped")], outputs=[("=r + 1", "left")])
    key = run(bench, listening(process(start(), work, "start > work"), work=["start a", "end z"]))
    assert bench.variables("work") == {"mapped": 1}
    tell(bench, "a")
    bench.complete("work", r=1)
    assert listeners_of(bench) == ["z"]
    assert bench.variables_of(key) == {"left": 2}
    tell(bench, "z")
    assert bench.state_of(key) == "COMPLETED"


def test_nothing_is_evaluated_or_awaited_before_the_last_start_listener(bench):
    at_work = boundary(
        "late", "work", "<timerEventDefinition><timeDuration>=wait</timeDuration></timerEventDefinition>"
    )
    run(
        bench,
        listening(process(start(), task("work", type="=kind"), at_work, "start > work"), work=["start a", "start b"]),
    )
    tell(bench, "a", kind="k")
    assert not bench.state.timers
    tell(bench, "b", wait="PT1H")
    assert [timer.due_at for timer in bench.state.timers.values()] == [3_601_000]
    assert bench.job("work").type == "k"
    assert not bench.incidents


def test_the_next_one_comes_before_anything_else(bench):
    """In one quantum: the listener's variables are what the next stage sees, whoever else works meanwhile."""
    run(bench, BOTH)
    handled = tell(bench, "a", n=1)
    assert kinds(handled) == ["JobCompleted", "VariableSet", "JobCreated"]
    assert kinds(tell(bench, "b")) == ["JobCompleted", "ElementActivated", "JobCreated"]


# ---- variables


def test_what_a_start_listener_brings_is_local(bench):
    key = run(bench, BOTH, n=1)
    tell(bench, "a", n=2)
    assert (bench.variables("work"), bench.variables_of(key)) == ({"n": 2}, {"n": 1})
    tell(bench, "b", m=3)
    assert (bench.variables("work"), bench.variables_of(key)) == ({"n": 2, "m": 3}, {"n": 1})


def test_what_an_end_listener_brings_leaves_like_the_result_of_a_mapping(bench):
    """Past a local variable of the same name, into the innermost scope around it that has one, else the process."""
    inner = sub("s", start("i"), task("work", inputs=[("=0", "n")]), "i > work", inputs=[("=0", "m")])
    key = run(bench, listening(process(start(), inner, task("next"), "start > s > next"), work=["end y", "end z"]))
    bench.complete("work")
    tell(bench, "y", n=1, m=2)
    assert bench.variables("work") == {"n": 0}
    assert bench.variables("s") == {"m": 2}
    assert bench.variables_of(key) == {"n": 1}
    tell(bench, "z", m=3)
    assert bench.variables("s") == {"m": 3}


@pytest.mark.parametrize(
    ("given", "outputs", "around"),
    [
        ({"propagateAllChildVariables": "false"}, [], {}),
        ({"propagateAllChildVariables": "false"}, [("=offer", "price")], {"price": "bar"}),
        ({}, [("=offer", "price")], {"price": "bar"}),
        ({}, [], {"offer": "bar"}),
    ],
)
def test_an_end_listener_of_a_call_sees_what_it_does_not_propagate(bench, given, outputs, around):
    called = process_element(start("cs"), script("s", '="bar"', "offer"), "cs > s", id="c")
    calling = model(
        start(), call("x", "c", outputs=outputs, **given), task("next"), "start > x > next", beside=[called]
    )
    key = run(bench, listening(calling, x=["end z"]))
    assert visible(bench.element("x")) == {name: f'"{value}"' for name, value in ({"offer": "bar"} | around).items()}
    tell(bench, "z")
    assert bench.variables_of(key) == around


def test_a_loop_collects_from_a_call_what_it_does_not_propagate(bench):
    called = process_element(start("cs"), script("s", "=item * 2", "double"), "cs > s", id="c")
    looped = loop(call("x", "c", propagateAllChildVariables="false"), item="item", output="=double", into="all")
    key = run(bench, model(start(), looped, task("next"), "start > x > next", beside=[called]), items=[1, 2])
    assert bench.variables_of(key) == {"items": [1, 2], "all": [2, 4]}


def test_the_next_listener_is_evaluated_with_what_the_last_one_brought(bench):
    run(bench, listening(ONE_TASK, work=["start a", "start =next =many"]))
    tell(bench, "a", next="found", many=7)
    (job,) = bench.state.jobs.values()
    assert (job.type, job.retries) == ("found", 7)


def test_a_worker_gets_the_headers_of_the_element(bench):
    work = task("work", headers=[("k", "v")], priority=9)
    run(bench, listening(process(start(), work, "start > work"), work=["start a 5"]))
    (job,) = bench.state.jobs.values()
    assert (job.headers, job.retries, job.priority) == ({"k": "v"}, 5, 0)


# ---- what goes wrong


@pytest.mark.parametrize("type", ["a", "b", "y", "z"])
def test_a_listener_without_retries_is_an_incident_and_it_alone_is_told_again(bench, type):
    key = run(bench, BOTH)
    while type not in [job.type for job in bench.state.jobs.values()]:
        bench.run(CompleteJob(next(iter(bench.state.jobs))))
    (job,) = bench.state.jobs
    bench.fail("work", retries=1, message="again", tried=1)
    assert not bench.incidents
    assert bench.variables("work")["tried"] == 1
    bench.fail("work", message="boom")
    assert bench.incidents == [("work", "EXECUTION_LISTENER_NO_RETRIES", "boom")]
    assert bench.complete("work").rejection.code is RejectionCode.INVALID_STATE
    assert bench.resolve().rejection.code is RejectionCode.INVALID_STATE
    bench.update("work", retries=1)
    assert kinds(bench.resolve()) == ["IncidentResolved", "JobReleased"]
    assert list(bench.state.jobs) == [job]
    while bench.jobs:
        bench.run(CompleteJob(next(iter(bench.state.jobs))))
    assert bench.state_of(key) == "COMPLETED"
    created = [row["type"] for (table, _), row in bench.rows.items() if table == "Job"]
    assert created == ["a", "b", "work", "y", "z"]


@pytest.mark.parametrize(("event", "state"), [("start", "ACTIVATING"), ("end", "COMPLETING")])
def test_an_expression_that_fails_tells_all_of_its_event_again(bench, event, state):
    key = run(bench, listening(ONE_TASK, work=[f"{event} a", f"{event} b", f"{event} =kind", "end last"]))
    if event == "end":
        bench.complete("work")
    tell(bench, "a")
    tell(bench, "b", kind=5)
    told = "Expected result of the expression 'kind' to be 'STRING', but was 'NUMBER'."
    assert bench.incidents == [("work", "EXTRACT_VALUE_ERROR", told)]
    assert bench.element("work").state == state
    (incident,) = bench.state.incidents.values()
    assert incident.argument == 0
    bench.resolve()
    assert listeners_of(bench) == ["a"]
    tell(bench, "a")
    tell(bench, "b", kind="c")
    tell(bench, "c")
    tell_all(bench)
    if event == "start":
        bench.complete("work")
    tell_all(bench)
    assert bench.state_of(key) == "COMPLETED"


@pytest.mark.parametrize("retries", ["=-1 + null", '="many"'])
def test_retries_that_are_no_number_are_an_incident(bench, retries):
    run(bench, listening(ONE_TASK, work=[f"start a {retries.replace(' ', '')}"]))
    ((_, type, _),) = bench.incidents
    assert type == "EXTRACT_VALUE_ERROR"
    assert not bench.jobs


def test_what_fails_behind_the_listeners_does_not_tell_them_again(bench):
    run(bench, listening(process(start(), task("work", type="=kind"), "start > work"), work=["start a"]))
    tell(bench, "a")
    bench.set(bench.element("work").key, local=True, kind="k")
    bench.resolve()
    assert (listeners_of(bench), bench.job("work").type) == ([], "k")


@pytest.mark.parametrize("event", ["start", "end"])
def test_a_listener_cannot_throw_an_error(bench, event):
    work = boundary("caught", "work", error())
    run(bench, listening(model(start(), task("work"), work, "start > work"), work=[f"{event} a"]))
    if event == "end":
        bench.complete("work")
    job = bench.job("work").key
    rejection = bench.run(ThrowJobError(job, "A")).rejection
    assert rejection.code is RejectionCode.INVALID_STATE
    assert f"job with key '{job}'" in rejection.reason
    assert "'EXECUTION_LISTENER'" in rejection.reason
    assert listeners_of(bench) == ["a"]


def test_a_listener_is_done_once(bench):
    run(bench, BOTH)
    (key,) = bench.state.jobs
    tell(bench, "a")
    assert bench.run(CompleteJob(key)).rejection.code is RejectionCode.NOT_FOUND


# ---- what ends meanwhile


@pytest.mark.parametrize("before", [0, 1, 3, 4])
def test_a_cancelled_element_tells_nobody_any_more(bench, before):
    key = run(bench, BOTH)
    for _ in range(before):
        bench.run(CompleteJob(next(iter(bench.state.jobs))))
    (job,) = bench.state.jobs
    bench.cancel(key)
    assert not bench.state.elements
    assert bench.rows["Job", job]["state"] == "CANCELED"
    assert bench.state_of(key) == "TERMINATED"


def test_a_listener_of_what_is_about_to_end_reports_in_vain():
    bench = Bench(StepLimits(quantum_items=1))
    key = run(bench, BOTH)
    (listener,) = bench.state.jobs
    work = bench.element("work")
    run_until(bench, CancelInstance(key), lambda: work.state is ElementState.TERMINATING)
    assert listener in bench.state.jobs, "its quantum has not come"
    bench.engine.handle(CompleteJob(listener), "<default>", None)
    assert bench.engine.log[-1].handled[0].rejection.code is RejectionCode.NOT_FOUND
    run_rest(bench)
    assert bench.state_of(key) == "TERMINATED"
    assert not bench.state.jobs


@pytest.mark.parametrize("cancelled", [False, True])
@pytest.mark.parametrize(("before", "stage", "after"), [(0, "start listeners", "b"), (3, "end listeners", "z")])
def test_a_turn_that_was_put_off_comes_unless_the_element_ends(bench, before, stage, after, cancelled):
    key = run(bench, BOTH)
    for _ in range(before):
        bench.run(CompleteJob(next(iter(bench.state.jobs))))
    (job,) = bench.state.jobs
    set_quantum(bench, 0)
    run_until(bench, CompleteJob(job), lambda: True)
    assert bench.state.trees[key].work == ((bench.element("work").key, stage, 1),)
    assert not bench.jobs
    set_quantum(bench, 500)
    if cancelled:
        bench.cancel(key)
    run_rest(bench)
    assert listeners_of(bench) == ([] if cancelled else [after])


def test_a_boundary_event_does_not_catch_before_its_host_has_begun(bench):
    at_work = boundary("told", "work", '<signalEventDefinition signalRef="news"/>')
    file_ = model(start(), task("work"), at_work, "start > work", beside=('<signal id="news" name="news"/>',))
    run(bench, listening(file_, work=["start a", "end z"]))
    bench.broadcast("news")
    assert listeners_of(bench) == ["a"]
    tell(bench, "a")
    bench.broadcast("news")
    assert not bench.state.elements


@pytest.mark.parametrize("interrupting", [True, False])
def test_a_boundary_event_catches_while_end_listeners_are_told(bench, interrupting):
    at_work = boundary("told", "work", '<signalEventDefinition signalRef="news"/>', interrupting)
    parts = [start(), task("work"), at_work, task("after"), task("next"), "start > work > next", "told > after"]
    run(bench, listening(model(*parts, beside=('<signal id="news" name="news"/>',)), work=["end z"]))
    bench.complete("work")
    (listener,) = bench.state.jobs
    bench.broadcast("news")
    assert bench.jobs == (["after"] if interrupting else ["after", "work"])
    if interrupting:
        assert bench.rows["Job", listener]["state"] == "CANCELED"
    else:
        tell(bench, "z")
        assert bench.jobs == ["after", "next"]


# ---- where they are


def test_of_a_process(bench):
    key = run(bench, listening(process(start(), task("work", type="=kind"), "start > work"), p=["start a", "end z"]))
    assert bench.elements == ["p"]
    tell(bench, "a", kind="k")
    assert bench.variables_of(key) == {"kind": "k"}
    bench.complete("work")
    tell(bench, "z", last=1)
    assert bench.ended[key] == ("COMPLETED", {"kind": "k", "last": 1})


def test_of_a_called_process_and_its_caller(bench):
    """The caller hears of the end when the called process has told its own listeners, and takes what they brought."""
    caller = listening(
        process(start(), call("c", "q"), task("after"), "start > c > after"), c=["start c1", "end c2"], p=["end p2"]
    )
    called = listening(file(process_element(start("qs"), task("work"), "qs > work", id="q")), q=["start q1", "end q2"])
    bench.deploy(called)
    key = run(bench, caller)
    assert bench.elements == ["c", "p"]
    tell(bench, "c1", given=1)
    (inner,) = (element for element in bench.state.elements.values() if element.element == "q")
    tell(bench, "q1", own=2)
    assert bench.variables_of(inner.key) == {"given": 1, "own": 2}
    bench.complete("work")
    tell(bench, "q2", last=3)
    assert listeners_of(bench) == ["c2"]
    assert bench.variables_of(key) == {"own": 2, "last": 3}
    tell(bench, "c2")
    bench.complete("after")
    tell(bench, "p2")
    assert bench.state_of(key) == "COMPLETED"


def test_an_error_goes_past_the_end_listeners_of_the_scopes_that_it_ends(bench):
    inner = sub("s", start("i"), task("work"), "i > work")
    parts = [start(), inner, boundary("caught", "s", error("A")), task("after"), "start > s", "caught > after"]
    run(bench, listening(model(*parts), s=["end s2"], work=["end w2"]))
    bench.throw("work", "A")
    assert bench.jobs == ["after"]
    assert not listeners_of(bench)


def test_of_a_gateway_before_it_decides(bench):
    parts = [
        start(),
        xor("g", default="g-b"),
        task("a"),
        task("b"),
        "start > g",
        flow("g", "a", "=n = 1"),
        flow("g", "b"),
    ]
    run(bench, listening(process(*parts), g=["start x"]), n=0)
    tell(bench, "x", n=1)
    assert bench.jobs == ["a"]


@pytest.mark.parametrize("gateway", ["parallelGateway", "inclusiveGateway"])
def test_a_join_has_its_tokens_when_its_listeners_are_told(bench, gateway):
    parts = [start(), task("a"), task("b"), f'<{gateway} id="g"/>', task("c"), "start > a > g > c", "start > b > g"]
    key = run(bench, listening(process(*parts), g=["start x"]))
    bench.complete("a")
    assert not listeners_of(bench)
    bench.complete("b")
    assert bench.state.elements[key].tokens == {"g": 1}
    tell(bench, "x")
    assert bench.jobs == ["c"]


def test_of_a_start_event_and_an_end_event(bench):
    """The scope waits for its event sub-processes once the start event has told its listeners."""
    aside = on('<signalEventDefinition signalRef="news"/>', "h", end("he"), "h-start > he")
    parts = [start(outputs=[("=1", "n")]), aside, end(), "start > end"]
    file_ = model(*parts, beside=('<signal id="news" name="news"/>',))
    key = run(bench, listening(file_, start=["end a"], end=["start b", "end c"]))
    assert not bench.state.subscriptions
    tell(bench, "a")
    assert len(bench.state.subscriptions) == 1
    tell(bench, "b")
    tell(bench, "c")
    assert bench.state_of(key) == "COMPLETED"


def test_of_an_event_sub_process_and_its_start_event(bench):
    aside = on(error("A"), "h", end("he"), "h-start > he")
    key = run(
        bench,
        listening(
            model(start(), task("work"), aside, "start > work"),
            h=["start a", "end z"],
            **{"h-start": ["end b"]},
        ),
    )
    bench.throw("work", "A", n=1)
    assert listeners_of(bench) == ["a"]
    tell(bench, "a")
    tell(bench, "b")
    tell(bench, "z")
    assert bench.ended[key] == ("COMPLETED", {"n": 1})


def test_of_a_boundary_event_when_its_host_has_ended(bench):
    parts = [
        start(),
        task("work"),
        boundary("caught", "work", error("A")),
        task("after"),
        "start > work",
        "caught > after",
    ]
    run(bench, listening(model(*parts), caught=["end a"]))
    bench.throw("work", "A", n=1)
    assert bench.elements == ["caught", "p"]
    tell(bench, "a", m="kept")
    assert bench.jobs == ["after"]
    assert bench.variables("p") == {"m": "kept"}


def test_an_error_end_event_tells_before_it_throws(bench):
    inner = sub("s", start("i"), final("x", error("A")), "i > x")
    parts = [start(), inner, boundary("caught", "s", error("A")), task("after"), "start > s", "caught > after"]
    run(bench, listening(model(*parts), x=["start a"], s=["end never"]))
    tell(bench, "a")
    assert bench.jobs == ["after"]


@pytest.mark.parametrize("interrupting", [True, False])
def test_of_an_escalation_only_one_that_interrupts_keeps_the_end_listeners_from_being_told(bench, interrupting):
    inner = sub("s", start("i"), throw("x", escalation("A")), end("e"), "i > x > e")
    parts = [start(), inner, boundary("caught", "s", escalation("A"), interrupting), task("after"), "start > s"]
    run(bench, listening(model(*parts, "caught > after"), x=["start a", "end z"]))
    tell(bench, "a")
    assert bench.jobs == (["after"] if interrupting else ["after", "x"])


def test_everything_else_in_a_scope_ends_once_the_terminate_event_has_told(bench):
    parts = [start(), task("a"), task("b"), final("x", TERMINATE), "start > a", "start > b > x"]
    key = run(bench, listening(model(*parts), x=["start x1", "end x2"], p=["end p2"]))
    bench.complete("b")
    tell(bench, "x1")
    assert bench.jobs == ["a", "x"]
    tell(bench, "x2")
    assert listeners_of(bench) == ["p2"]
    assert bench.elements == ["p"]
    tell(bench, "p2")
    assert bench.state_of(key) == "COMPLETED"


# ---- loops


def looped(activity=None, sequential=False, until=None, **listeners):
    many = loop(activity or task("work"), "=[1, 2]", "item", "=r", "results", until, sequential)
    return listening(process(start(), many, task("next"), "start > work > next"), **listeners)


@pytest.mark.parametrize("sequential", [True, False])
def test_each_instance_of_a_loop_tells_and_the_loop_does_not(bench, sequential):
    key = run(bench, looped(sequential=sequential, work=["start a", "end z"]))
    bodies = [e for e in bench.state.elements.values() if e.type == "MULTI_INSTANCE_BODY"]
    assert [str(body.state) for body in bodies] == ["ACTIVATED"]
    assert listeners_of(bench) == ["a"] * (1 if sequential else 2)
    told = 0
    while "next" not in bench.jobs:
        job = next(iter(bench.state.jobs.values()))
        assert job.element.index >= 0
        bench.run(CompleteJob(job.key, raw({"r": job.element.index} if job.type == "z" else {})))
        told += job.kind != "BPMN_ELEMENT"
    assert told == 4
    assert bench.variables_of(key)["results"] == [0, 1], "what an end listener brings is there when it is collected"


def test_the_instances_of_a_loop_that_is_done_tell_nobody_any_more(bench):
    key = run(bench, looped(until="=numberOfCompletedInstances = 1", work=["end z"]))
    first, second = (job.key for job in bench.state.jobs.values())
    bench.run(CompleteJob(first))
    bench.run(CompleteJob(second))
    listener, other = (job.key for job in bench.state.jobs.values())
    bench.run(CompleteJob(listener, raw({"r": 1})))
    assert bench.jobs == ["next"]
    assert bench.rows["Job", other]["state"] == "CANCELED"
    assert bench.variables_of(key)["results"] == [1, None]


def test_a_script_in_a_loop_sees_what_its_start_listener_brings(bench):
    run(bench, looped(script("work", "=n * item", "r", outputs=[("=r", "r")]), work=["start a"]))
    for number, key in enumerate(list(bench.state.jobs)):
        bench.run(CompleteJob(key, raw({"n": 10 + number})))
    assert bench.variables("p") == {"results": [10, 22]}


def test_a_paged_loop_tells(bench):
    paged = Bench(StepLimits(paged_from=0))
    for one in (bench, paged):
        run(one, looped(work=["start a", "end z"]))
        while "next" not in one.jobs:
            one.run(CompleteJob(next(iter(one.state.jobs)), raw({"r": 1})))
    assert paged.variables("p") == bench.variables("p") == {"results": [1, 1]}


# ---- beside other things


def test_an_instance_ends_after_an_element_when_that_has_told_its_end_listeners(bench):
    bench.deploy(listening(process(start(), task("work"), task("next"), "start > work > next"), work=["end z"]))
    key = bench.run(CreateInstance("p", terminate_after=("work",))).response.process_instance_key
    bench.complete("work")
    assert bench.state_of(key) == "ACTIVATED"
    tell(bench, "z")
    assert bench.state_of(key) == "TERMINATED"


def test_an_instance_that_begins_at_an_element_tells_that_one_and_not_the_scopes_around_it(bench):
    """They are entered without input mappings, too."""
    inner = sub("s", start("i"), task("work"), "i > work")
    bench.deploy(
        listening(process(start(), inner, "start > s"), p=["start p1"], s=["start s1", "end s2"], work=["start w1"])
    )
    bench.run(CreateInstance("p", start_elements=("work",)))
    assert listeners_of(bench) == ["w1"]
    tell(bench, "w1")
    bench.complete("work")
    assert listeners_of(bench) == ["s2"]


def test_the_next_instance_of_a_key_starts_when_the_process_has_told_its_end_listeners(bench):
    begun = '<startEvent id="begun"><messageEventDefinition messageRef="hello"/></startEvent>'
    file_ = model(begun, end(), "begun > end", beside=('<message id="hello" name="hello"/>',))
    bench.deploy(listening(file_, p=["end z"]))
    for n in (1, 2):
        bench.run(PublishMessage("hello", "k", 60_000, None, raw({"n": n})))
    assert [bench.variables_of(key) for key in bench.state.trees] == [{"n": 1}]
    tell(bench, "z")
    assert [bench.variables_of(key) for key in bench.state.trees] == [{"n": 2}]


@pytest.mark.parametrize("before", range(5))
def test_the_events_alone_know_whose_turn_it_is(bench, before):
    key = run(bench, BOTH)
    for _ in range(before):
        bench.run(CompleteJob(next(iter(bench.state.jobs))))
    rebuilt(bench)
    told = []
    while bench.state.jobs:
        (job,) = bench.state.jobs.values()
        told.append(job.type)
        bench.run(CompleteJob(job.key))
    assert told == ["a", "b", "work", "y", "z"][before:]
    assert bench.state_of(key) == "COMPLETED"
