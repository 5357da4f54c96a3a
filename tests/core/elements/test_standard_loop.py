"""The standard loop (BPMN 2.0.2 §10.3.8, §13.3.6); whole and in quanta of one item."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import LIMITS, boundary, call, ended, error, loop, model, run, script, states
from tests.core.listener_models import listening
from tests.core.models import end, process_element, start, sub, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.instances import CreateInstance
from vivero.core.records.user_tasks import CompleteUserTask

COUNT = [("=loopCounter", "n")]


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


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


def rounds(engine, most=10, **variables):
    """Complete `work` until something else comes; how often it was there."""
    done = 0
    while engine.jobs == ["work"] and done < most:
        engine.complete("work", **variables)
        done += 1
    return done


@pytest.mark.parametrize(("before", "times"), [(True, 0), (False, 1)])
def test_a_condition_that_is_false_at_once(engine, before, times):
    run(engine, looped("=more", before=before), more=False)
    assert rounds(engine) == times
    assert engine.jobs == ["after"]
    assert len(states(engine, "work")) == times + 1, "the iterations, and the body"


@pytest.mark.parametrize("before", [True, False])
def test_it_goes_on_while_the_condition_is_true(engine, before):
    key = run(engine, looped("=more", before=before), more=True)
    body, inner = (element for element in engine.state.elements.values() if element.element == "work")
    assert (body.type, inner.type) == ("MULTI_INSTANCE_BODY", "SERVICE_TASK")
    assert engine.variables_of(inner.key) == {"loopCounter": 1}
    engine.complete("work", more=True)
    engine.complete("work", more=True)
    assert engine.variables_of(engine.element("work").key) == {}
    engine.complete("work", more=False)
    assert engine.jobs == ["after"]
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "work") == ["COMPLETED"] * 4


def test_one_iteration_is_there_at_a_time(engine):
    run(engine, looped(most=3))
    for counter in (1, 2, 3):
        (job,) = engine.state.jobs.values()
        assert engine.variables_of(job.element.key) == {"loopCounter": counter}
        rebuilt(engine)
        engine.complete("work")
    assert engine.jobs == ["after"]


@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("most", ["3", "=limit", "=2 + 1"])
def test_the_maximum_ends_it_though_the_condition_is_true(engine, most, before):
    run(engine, looped("=true", most, before), limit=3)
    assert rounds(engine) == 3
    assert engine.jobs == ["after"]


@pytest.mark.parametrize("before", [True, False])
def test_the_condition_sees_the_number_of_the_last_iteration(engine, before):
    run(engine, looped("=loopCounter < 4", before=before))
    assert rounds(engine) == 4


def test_the_condition_sees_what_the_iteration_has_given(engine):
    run(engine, looped("=n < 3", activity=task("work", outputs=COUNT)), n=0)
    assert rounds(engine) == 3
    assert engine.variables("p")["n"] == 3


@pytest.mark.parametrize("wrong", [None, 7])
def test_a_condition_that_is_no_boolean_is_an_incident_of_the_iteration(engine, wrong):
    key = run(engine, looped("=more"), more=True)
    engine.complete("work")
    engine.complete("work", more=wrong)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("work", "EXTRACT_VALUE_ERROR")]
    (incident,) = engine.state.incidents.values()
    assert (incident.element.is_inner, incident.element.state) == (True, "COMPLETING")
    rebuilt(engine)
    engine.set(key, more=False)
    engine.resolve()
    assert engine.jobs == ["after"]


@pytest.mark.parametrize("wrong", [None, 7])
def test_before_the_first_iteration_it_is_an_incident_of_the_body(engine, wrong):
    key = run(engine, looped("=more", before=True), more=wrong)
    (incident,) = engine.state.incidents.values()
    assert (incident.element.is_inner, incident.element.type) == (False, "MULTI_INSTANCE_BODY")
    engine.set(key, more=True)
    engine.resolve()
    assert engine.jobs == ["work"]


@pytest.mark.parametrize("wrong", [0, -1, 1.5, None, "many"])
def test_a_maximum_that_is_no_positive_whole_number_is_an_incident(engine, wrong):
    key = run(engine, looped("=true", "=limit"), limit=wrong)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("work", "EXTRACT_VALUE_ERROR")]
    engine.set(key, limit=1)
    engine.resolve()
    assert rounds(engine) == 1


def test_an_incident_in_the_second_iteration(engine):
    run(engine, looped(most=2))
    engine.complete("work")
    engine.fail("work")
    engine.update("work", retries=1)
    engine.resolve()
    assert rounds(engine) == 1
    assert engine.jobs == ["after"]


def test_a_boundary_event_interrupts_the_second_iteration(engine):
    run(engine, looped("=true", parts=(boundary("failed", "work", error("A")), task("aside"), "failed > aside")))
    engine.complete("work")
    engine.throw("work", "A")
    assert engine.jobs == ["aside"]
    assert sorted(states(engine, "work")) == ["COMPLETED", "TERMINATED", "TERMINATED"]


def test_listeners_hear_each_iteration(engine):
    run(engine, listening(looped(most=2), work=["start first", "end last"]))
    heard = []
    while engine.jobs == ["work"]:
        heard.append(engine.job("work").type)
        engine.complete("work")
    assert heard == ["first", "work", "last"] * 2


def test_a_sub_process_in_a_loop(engine):
    inner = sub("work", start("i"), task("x"), task("y"), "i > x > y", inputs=[("=loopCounter * 10", "mine")])
    run(engine, looped(most=2, activity=inner))
    for mine in (10, 20):
        assert engine.variables_of(engine.job("x").element.scope.key) == {"loopCounter": mine // 10, "mine": mine}
        engine.complete("x")
        engine.complete("y")
    assert engine.jobs == ["after"]


def test_a_call_activity_in_a_loop(engine):
    called = process_element(start("cs"), task("x"), "cs > x", id="called")
    engine.deploy(model(start("s2"), id="other", beside=(called,)))
    run(engine, looped("=more", activity=call("work", "called")))
    engine.complete("x", more=True)
    engine.complete("x", more=False)
    assert engine.jobs == ["after"]


def test_a_user_task_in_a_loop(engine):
    person = '<userTask id="work"><extensionElements><zeebe:userTask/></extensionElements></userTask>'
    run(engine, looped(most=2, activity=person))
    for _ in range(2):
        (key,) = engine.state.user_tasks
        engine.accepted(CompleteUserTask(key, {}))
    assert engine.jobs == ["after"]


def test_a_loop_in_each_inner_instance_of_a_multi_instance_sub_process(engine):
    inner = sub("s", start("i"), repeated(task("work"), most=2), "i > work")
    key = run(engine, model(start(), loop(inner), end(), "start > s > end"), items=["a", "b"])
    assert rounds(engine) == 0
    assert engine.jobs == ["work", "work"]
    for _ in range(4):
        engine.complete("work")
    assert ended(engine, key) == "COMPLETED"


def test_a_loop_that_never_waits_can_be_cancelled():
    engine = Engine(StepLimits(quantum_items=50))
    engine.deploy(looped("=true", activity=script("work", "=loopCounter", "n")))
    engine.memory.handle(CreateInstance("p"), "<default>", None)
    engine.memory.processor.notices.to_inbox.clear()
    ((key, tree),) = engine.state.trees.items()
    assert tree.work
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"


def test_many_iterations_keep_few_rows():
    engine = Engine(StepLimits(quantum_items=500), keeps_rows=False)
    key = run(engine, looped(most=2_000, activity=script("work", "=loopCounter", "n")))
    assert engine.state.trees[key].rows == 2, "the instance and the task behind the loop"
    assert engine.jobs == ["after"]
    assert engine.state.trees[key].root.variables["n"].value == "2000"
