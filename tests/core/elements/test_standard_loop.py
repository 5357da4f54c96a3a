"""The standard loop (BPMN 2.0.2 §10.3.8, §13.3.6); whole and in quanta of one item."""

import pytest

from tests.core.bench import Bench, rebuilt
from tests.core.event_models import LIMITS, boundary, call, ended, error, loop, model, run, script, states
from tests.core.listener_models import listening
from tests.core.models import end, process_element, start, sub, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import CreateInstance
from vivero.core.records.user_tasks import CompleteUserTask

COUNT = [("=loopCounter", "n")]


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def bench(request):
    return Bench(LIMITS[request.param])


def repeated(activity, condition=None, most=None, before=False):
    """The activity with the standard loop."""
    attributes = (' testBefore="true"' if before else "") + ("" if most is None else f' loopMaximum="{most}"')
    inside = "" if condition is None else f"<loopCondition>{condition.replace('<', '&lt;')}</loopCondition>"
    head, closing, tail = activity.rpartition("</")
    marker = f"<standardLoopCharacteristics{attributes}>{inside}</standardLoopCharacteristics>"
    return f"{head}{marker}{closing}{tail}"


def looped(condition=None, most=None, before=False, activity=None, parts=()):
    work = repeated(activity or task("work"), condition, most, before)
    return model(start(), work, task("after"), end(), "start > work > after > end", *parts)


def rounds(bench, most=10, **variables):
    """Complete `work` until something else comes; how often it was there."""
    done = 0
    while bench.jobs == ["work"] and done < most:
        bench.complete("work", **variables)
        done += 1
    return done


@pytest.mark.parametrize(("before", "times"), [(True, 0), (False, 1)])
def test_a_condition_that_is_false_at_once(bench, before, times):
    run(bench, looped("=more", before=before), more=False)
    assert rounds(bench) == times
    assert bench.jobs == ["after"]
    assert len(states(bench, "work")) == times + 1, "the iterations, and the body"


@pytest.mark.parametrize("before", [True, False])
def test_it_goes_on_while_the_condition_is_true(bench, before):
    key = run(bench, looped("=more", before=before), more=True)
    body, inner = (element for element in bench.state.elements.values() if element.element == "work")
    assert (body.type, inner.type) == ("MULTI_INSTANCE_BODY", "SERVICE_TASK")
    assert bench.variables_of(inner.key) == {"loopCounter": 1}
    bench.complete("work", more=True)
    bench.complete("work", more=True)
    assert bench.variables_of(bench.element("work").key) == {}
    bench.complete("work", more=False)
    assert bench.jobs == ["after"]
    bench.complete("after")
    assert ended(bench, key) == "COMPLETED"
    assert states(bench, "work") == ["COMPLETED"] * 4


def test_one_iteration_is_there_at_a_time(bench):
    run(bench, looped(most=3))
    for counter in (1, 2, 3):
        (job,) = bench.state.jobs.values()
        assert bench.variables_of(job.element.key) == {"loopCounter": counter}
        rebuilt(bench)
        bench.complete("work")
    assert bench.jobs == ["after"]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("most", ["3", "=limit", "=2 + 1"])
def test_the_maximum_ends_it_though_the_condition_is_true(bench, most, before):
    run(bench, looped("=true", most, before), limit=3)
    assert rounds(bench) == 3
    assert bench.jobs == ["after"]


@pytest.mark.parametrize("before", [True, False])
def test_the_condition_sees_the_number_of_the_last_iteration(bench, before):
    run(bench, looped("=loopCounter < 4", before=before))
    assert rounds(bench) == 4


def test_the_condition_sees_what_the_iteration_has_given(bench):
    run(bench, looped("=n < 3", activity=task("work", outputs=COUNT)), n=0)
    assert rounds(bench) == 3
    assert bench.variables("p")["n"] == 3


@pytest.mark.parametrize("wrong", [None, 7])
def test_a_condition_that_is_no_boolean_is_an_incident_of_the_iteration(bench, wrong):
    key = run(bench, looped("=more"), more=True)
    bench.complete("work")
    bench.complete("work", more=wrong)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("work", "EXTRACT_VALUE_ERROR")]
    (incident,) = bench.state.incidents.values()
    assert (incident.element.is_inner, incident.element.state) == (True, "COMPLETING")
    rebuilt(bench)
    bench.set(key, more=False)
    bench.resolve()
    assert bench.jobs == ["after"]


@pytest.mark.parametrize("wrong", [None, 7])
def test_before_the_first_iteration_it_is_an_incident_of_the_body(bench, wrong):
    key = run(bench, looped("=more", before=True), more=wrong)
    (incident,) = bench.state.incidents.values()
    assert (incident.element.is_inner, incident.element.type) == (False, "MULTI_INSTANCE_BODY")
    bench.set(key, more=True)
    bench.resolve()
    assert bench.jobs == ["work"]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, None, "many"])
def test_a_maximum_that_is_no_positive_whole_number_is_an_incident(bench, wrong):
    key = run(bench, looped("=true", "=limit"), limit=wrong)
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("work", "EXTRACT_VALUE_ERROR")]
    bench.set(key, limit=1)
    bench.resolve()
    assert rounds(bench) == 1


def test_an_incident_in_the_second_iteration(bench):
    run(bench, looped(most=2))
    bench.complete("work")
    bench.fail("work")
    bench.update("work", retries=1)
    bench.resolve()
    assert rounds(bench) == 1
    assert bench.jobs == ["after"]


def test_a_boundary_event_interrupts_the_second_iteration(bench):
    run(bench, looped("=true", parts=(boundary("failed", "work", error("A")), task("aside"), "failed > aside")))
    bench.complete("work")
    bench.throw("work", "A")
    assert bench.jobs == ["aside"]
    assert sorted(states(bench, "work")) == ["COMPLETED", "TERMINATED", "TERMINATED"]


def test_listeners_hear_each_iteration(bench):
    run(bench, listening(looped(most=2), work=["start first", "end last"]))
    heard = []
    while bench.jobs == ["work"]:
        heard.append(bench.job("work").type)
        bench.complete("work")
    assert heard == ["first", "work", "last"] * 2


def test_a_sub_process_in_a_loop(bench):
    inner = sub("work", start("i"), task("x"), task("y"), "i > x > y", inputs=[("=loopCounter * 10", "mine")])
    run(bench, looped(most=2, activity=inner))
    for mine in (10, 20):
        assert bench.variables_of(bench.job("x").element.scope.key) == {"loopCounter": mine // 10, "mine": mine}
        bench.complete("x")
        bench.complete("y")
    assert bench.jobs == ["after"]


def test_a_call_activity_in_a_loop(bench):
    called = process_element(start("cs"), task("x"), "cs > x", id="called")
    bench.deploy(model(start("s2"), id="other", beside=(called,)))
    run(bench, looped("=more", activity=call("work", "called")))
    bench.complete("x", more=True)
    bench.complete("x", more=False)
    assert bench.jobs == ["after"]


def test_a_user_task_in_a_loop(bench):
    person = '<userTask id="work"><extensionElements><zeebe:userTask/></extensionElements></userTask>'
    run(bench, looped(most=2, activity=person))
    for _ in range(2):
        (key,) = bench.state.user_tasks
        bench.accepted(CompleteUserTask(key, {}))
    assert bench.jobs == ["after"]


def test_a_loop_in_each_inner_instance_of_a_multi_instance_sub_process(bench):
    inner = sub("s", start("i"), repeated(task("work"), most=2), "i > work")
    key = run(bench, model(start(), loop(inner), end(), "start > s > end"), items=["a", "b"])
    assert rounds(bench) == 0
    assert bench.jobs == ["work", "work"]
    for _ in range(4):
        bench.complete("work")
    assert ended(bench, key) == "COMPLETED"


def test_a_loop_that_never_waits_can_be_cancelled():
    bench = Bench(StepLimits(quantum_items=50))
    bench.deploy(looped("=true", activity=script("work", "=loopCounter", "n")))
    bench.engine.handle(CreateInstance("p"), "<default>", None)
    bench.engine.processor.notices.to_inbox.clear()
    ((key, tree),) = bench.state.trees.items()
    assert tree.work
    bench.cancel(key)
    assert ended(bench, key) == "TERMINATED"


def test_many_iterations_keep_few_rows():
    bench = Bench(StepLimits(quantum_items=500), keeps_rows=False)
    key = run(bench, looped(most=2_000, activity=script("work", "=loopCounter", "n")))
    assert bench.state.trees[key].rows == 2, "the instance and the task behind the loop"
    assert bench.jobs == ["after"]
    assert bench.state.trees[key].root.variables["n"].value == "2000"
