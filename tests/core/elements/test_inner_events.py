"""Events that inner instances of a multi-instance activity throw as they complete (`behavior`, BPMN 2.0.2 §10.3.9)."""

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import LIMITS, boundary, ended, escalation, loop, model, run, states
from tests.core.models import end, start, sub, task
from vivero.core.resources.kinds import read_resource

ROOTS = (
    '<signal id="s-done" name="done"/><signal id="s-other" name="other"/>'
    '<signalEventDefinition id="done" signalRef="s-done"/><signalEventDefinition id="other" signalRef="s-other"/>'
    '<escalationEventDefinition id="up" escalationRef="escalation-A"/><timerEventDefinition id="later"/>'
)
DONE = '<signalEventDefinition signalRef="s-done"/>'
OTHER = '<signalEventDefinition signalRef="s-other"/>'
MARKER = "multiInstanceLoopCharacteristics"


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def behaving(behavior, attributes="", inside="", activity=None, parts=(), **settings):
    """The activity `x` is multi-instance over `items`; `aside` stands behind the boundary event `b`."""
    made = loop(task("x") if activity is None else activity, item="item", **settings)
    made = made.replace(f"<{MARKER}", f'<{MARKER} behavior="{behavior}"{attributes}')
    made = made.replace(f"</{MARKER}>", f"{inside}</{MARKER}>")
    around = (start(), made, task("after"), end(), task("aside"), "start > x > after > end")
    return model(*around, *(parts or (boundary("b", "x", DONE, interrupting=False), "b > aside")), beside=(ROOTS,))


NONE, ONE = ' noneBehaviorEventRef="done"', ' oneBehaviorEventRef="done"'


def thrown(condition, event=DONE):
    inside = f"<condition>{condition}</condition><event>{event}</event>"
    return f"<complexBehaviorDefinition>{inside}</complexBehaviorDefinition>"


def test_each_inner_instance_throws_with_none(engine):
    key = run(engine, behaving("None", NONE), items=[1, 2])
    engine.complete("x")
    assert engine.jobs == ["aside", "x"]
    rebuilt(engine)
    engine.complete("x")
    assert engine.jobs == ["after", "aside", "aside"]
    for job in ("after", "aside", "aside"):
        engine.complete(job)
    assert ended(engine, key) == "COMPLETED"


def test_the_first_inner_instance_throws_with_one(engine):
    run(engine, behaving("One", ONE), items=[1, 2])
    engine.complete("x")
    engine.complete("x")
    assert engine.jobs == ["after", "aside"]


@pytest.mark.parametrize("sequential", [False, True])
def test_a_boundary_event_that_interrupts_ends_the_others(engine, sequential):
    """§13.5.3: it ends its activity. Traces elsewhere in which the others go on have no rule behind them."""
    parts = (boundary("b", "x", DONE), "b > aside")
    run(engine, behaving("None", NONE, parts=parts, sequential=sequential), items=[1, 2, 3])
    engine.complete("x")
    assert engine.jobs == ["aside"]
    assert states(engine, "after") == []


def test_each_definition_whose_condition_is_true_is_thrown(engine):
    inside = thrown("=numberOfCompletedInstances = 2") + thrown("=item = 3", OTHER)
    parts = (boundary("b", "x", DONE, interrupting=False), boundary("c", "x", OTHER, interrupting=False))
    more = (task("told"), "b > aside", "c > told")
    run(engine, behaving("Complex", inside=inside, parts=(*parts, *more), sequential=True), items=[1, 2, 3])
    engine.complete("x")
    assert engine.jobs == ["x"]
    engine.complete("x")
    assert engine.jobs == ["aside", "x"]
    engine.complete("x")
    assert engine.jobs == ["after", "aside", "told"]


def test_nothing_is_thrown_after_the_activity_has_ended(engine):
    inside = thrown("=true") + thrown("=true", OTHER)
    parts = (boundary("b", "x", DONE), boundary("c", "x", OTHER, interrupting=False), task("told"))
    run(engine, behaving("Complex", inside=inside, parts=(*parts, "b > aside", "c > told")), items=[1, 2])
    engine.complete("x")
    assert engine.jobs == ["aside"]


def test_a_condition_that_is_no_boolean_is_an_incident_of_the_inner_instance(engine):
    key = run(engine, behaving("Complex", inside=thrown("=wrong")), items=[1], wrong=7)
    engine.complete("x")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("x", "EXTRACT_VALUE_ERROR")]
    assert engine.jobs == []
    engine.set(key, wrong=True)
    engine.resolve()
    assert engine.jobs == ["after", "aside"]


def test_the_completion_condition_and_the_event_of_the_last_one(engine):
    """The event still occurs, and then the activity completes."""
    run(engine, behaving("None", NONE, until="=true"), items=[1, 2])
    engine.complete("x")
    assert engine.jobs == ["after", "aside"]


def test_an_escalation_stops_at_the_activity(engine):
    inner = sub("x", start("i"), task("t"), "i > t")
    caught = (boundary("b", "x", escalation("A"), interrupting=False), "b > aside")
    around = ' noneBehaviorEventRef="up"'
    run(engine, behaving("None", around, activity=inner, parts=caught), items=[1, 2])
    engine.complete("t")
    assert engine.jobs == ["aside", "t"]


def test_signals_of_inner_instances_reach_nobody_else(engine):
    engine.deploy(behaving("None", NONE))
    engine.start(items=[1])
    engine.start(items=[1])
    engine.complete("x")
    assert engine.jobs == ["after", "aside", "x"], "the same boundary event of the other instance waits"


def test_without_a_boundary_event_it_has_no_effect(engine):
    key = run(engine, behaving("None", NONE, parts=("after > aside",)), items=[1, 2])
    for job in ("x", "x", "after", "aside"):
        engine.complete(job)
    assert ended(engine, key) == "COMPLETED"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("Some",), "behavior: 'Some' is none of All, None, One, Complex"),
        (
            ("None",),
            "behavior='None' needs a noneBehaviorEventRef: no boundary event catches a signal without a name",
        ),
        (("One", NONE + ' oneBehaviorEventRef="x"'), "oneBehaviorEventRef 'x' is not an event definition of this file"),
        (
            ("One", ' oneBehaviorEventRef="later"'),
            "an inner instance throws a signal or an escalation, and not a timerEventDefinition",
        ),
        (("Complex",), "behavior='Complex' needs a complexBehaviorDefinition"),
        (
            ("Complex", "", "<complexBehaviorDefinition><condition>=a</condition></complexBehaviorDefinition>"),
            "a complexBehaviorDefinition needs one condition, and one event with one event definition",
        ),
        (("Complex", "", thrown("a")), "condition: 'a' is not an expression: '=' and FEEL behind it"),
    ],
)
def test_what_is_refused(given, message):
    problems = read_resource("p.bpmn", behaving(*given)).problems
    assert [(one.element_id, one.message) for one in problems] == [("x", message)]
    assert problems[0].line is not None


def test_what_has_no_effect_is_warned_of():
    warnings = read_resource("p.bpmn", behaving("All", NONE, thrown("=a"))).warnings
    assert sorted(one.message for one in warnings) == [
        "complexBehaviorDefinition has no effect: with behavior='All' nothing evaluates it",
        "noneBehaviorEventRef has no effect: with behavior='All' no inner instance throws its event",
    ]
