"""Events that occur when all of their definitions have (BPMN 2.0.2 §10.5.5, parallelMultiple); whole and in quanta."""

from functools import partial
from itertools import permutations

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import LIMITS, boundary, catch, ended, loop, on, together
from tests.core.events.test_multiple import CONDITION, MESSAGE, OCCUR, OTHER, ROOTS, SIGNAL, TIMER, waits
from tests.core.message_models import model
from tests.core.migration_models import Migrating
from tests.core.models import end, start, sub, task

ALL = "".join((MESSAGE, SIGNAL, TIMER, CONDITION))
CYCLE = "<timerEventDefinition><timeCycle>R/PT1H</timeCycle></timerEventDefinition>"


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def run(engine, *parts, **variables):
    engine.deploy(model(*parts, roots=ROOTS))
    return engine.start(k="1", x=1, **variables)


def occur(engine, key, *names):
    for name in names:
        OCCUR[name](engine, key)


@pytest.mark.parametrize("order", list(permutations(OCCUR)))
def test_a_catch_event_goes_on_at_the_last_in_any_order(engine, order):
    key = run(engine, start(), together(catch("c", ALL)), task("t"), end(), "start > c > t > end")
    for left, name in zip((4, 3, 2, 1), order, strict=True):
        assert (waits(engine), engine.jobs) == (left, [])
        rebuilt(engine)
        occur(engine, key, name)
    assert (waits(engine), engine.jobs) == (0, ["t"])
    assert engine.variables("p")["said"] == 1
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"


def test_a_definition_that_has_occurred_does_not_occur_again(engine):
    key = run(engine, start(), together(catch("c", MESSAGE + SIGNAL)), task("t"), "start > c > t")
    occur(engine, key, "signal", "signal", "signal")
    assert (waits(engine), engine.jobs) == (1, [])
    occur(engine, key, "message")
    assert engine.jobs == ["t"]


@pytest.mark.parametrize(("first", "second"), [("message", "signal"), ("signal", "message")])
def test_variables_come_together_at_the_end_those_of_the_later_over_those_of_the_earlier(engine, first, second):
    run(engine, start(), together(catch("c", MESSAGE + SIGNAL)), task("t"), "start > c > t")
    say = {"message": partial(engine.publish, "hello", "1"), "signal": partial(engine.broadcast, "alarm")}
    say[first](of=first, one=1)
    assert engine.variables("p") == {"k": "1", "x": 1}, "nothing is set before all have occurred"
    say[second](of=second, two=2)
    assert engine.variables("p") == {"k": "1", "x": 1, "of": second, "one": 1, "two": 2}


@pytest.mark.parametrize("order", list(permutations(("message", "signal", "timer"))))
def test_an_interrupting_boundary_event(engine, order):
    event = together(boundary("b", "t", MESSAGE + SIGNAL + TIMER))
    key = run(engine, start(), task("t"), event, task("aside"), end(), "start > t", "b > aside > end")
    for name in order[:2]:
        occur(engine, key, name)
        assert engine.jobs == ["t"]
    occur(engine, key, order[2])
    assert (waits(engine), engine.jobs) == (0, ["aside"])
    assert engine.variables("p")["said"] == 1


@pytest.mark.parametrize("order", list(permutations(("message", "signal"))))
def test_a_boundary_event_that_does_not_interrupt_begins_anew_each_time(engine, order):
    event = together(boundary("b", "t", MESSAGE + SIGNAL, interrupting=False))
    key = run(engine, start(), task("t"), event, task("aside"), "start > t", "b > aside")
    for count in (1, 2, 3):
        occur(engine, key, order[0])
        assert engine.jobs == ["aside"] * (count - 1) + ["t"]
        occur(engine, key, order[1])
        assert engine.jobs == ["aside"] * count + ["t"]
        assert waits(engine) == 2
        rebuilt(engine)
    engine.complete("t")
    assert waits(engine) == 0


@pytest.mark.parametrize("order", list(permutations(("message", "signal"))))
def test_an_event_sub_process(engine, order):
    handler = together(on(MESSAGE + SIGNAL, "h", task("aside"), "h-start > aside"))
    key = run(engine, start(), task("t"), handler, "start > t")
    occur(engine, key, order[0])
    assert engine.jobs == ["t"]
    occur(engine, key, order[1])
    assert (waits(engine), engine.jobs) == (0, ["aside"])


@pytest.mark.parametrize("order", list(permutations(("message", "signal"))))
def test_an_event_sub_process_that_does_not_interrupt_begins_anew_each_time(engine, order):
    handler = together(on(MESSAGE + SIGNAL, "h", task("aside"), "h-start > aside", interrupting=False))
    key = run(engine, start(), task("t"), handler, "start > t")
    for count in (1, 2):
        occur(engine, key, *order)
        assert engine.jobs == ["aside"] * count + ["t"]
        assert waits(engine) == 2
    assert engine.variables("p")["said"] == 1


def test_the_first_firing_of_a_cycle_counts(engine):
    event = together(boundary("b", "t", SIGNAL + CYCLE, interrupting=False))
    key = run(engine, start(), task("t"), event, task("aside"), "start > t", "b > aside")
    occur(engine, key, "timer")
    assert not engine.state.timers
    occur(engine, key, "signal")
    assert engine.jobs == ["aside", "t"]
    assert len(engine.state.timers) == 1


def test_a_condition_that_stays_true_occurs_again_only_after_a_change(engine):
    event = together(boundary("b", "t", SIGNAL + CONDITION, interrupting=False))
    key = run(engine, start(), task("t"), event, task("aside"), "start > t", "b > aside")
    occur(engine, key, "condition", "signal")
    assert engine.jobs == ["aside", "t"]
    occur(engine, key, "signal")
    assert engine.jobs == ["aside", "t"]
    engine.set(key, x=12)
    assert engine.jobs == ["aside", "aside", "t"]


def test_a_condition_that_is_true_at_first_counts(engine):
    event = together(catch("c", SIGNAL + CONDITION))
    engine.deploy(model(start(), event, task("t"), "start > c > t", roots=ROOTS))
    key = engine.start(x=11)
    assert waits(engine) == 1
    occur(engine, key, "signal")
    assert engine.jobs == ["t"]


@pytest.mark.parametrize("order", [*permutations(("message", "signal")), ("message", "other"), ("other",)])
def test_behind_an_event_based_gateway(engine, order):
    parts = (together(catch("c", MESSAGE + SIGNAL)), catch("d", OTHER), task("t"), task("u"), "g > c > t", "g > d > u")
    key = run(engine, start(), '<eventBasedGateway id="g"/>', "start > g", *parts)
    for name in order:
        occur(engine, key, name) if name != "other" else engine.broadcast("other")
    assert (waits(engine), engine.jobs) == (0, ["u" if "other" in order else "t"])
    assert engine.variables("p").get("said") == (None if "other" in order else 1)


def test_cancelled_when_some_have_occurred(engine):
    key = run(engine, start(), together(catch("c", ALL)), "start > c")
    occur(engine, key, "message", "timer")
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"
    assert waits(engine) == 0


def test_the_host_completes_when_some_have_occurred(engine):
    event = together(boundary("b", "t", MESSAGE + SIGNAL))
    key = run(engine, start(), task("t"), event, task("aside"), end(), "start > t > end", "b > aside")
    occur(engine, key, "message")
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"
    occur(engine, key, "signal")
    assert engine.variables("p").get("said") is None


def test_one_that_cannot_be_awaited_is_an_incident_and_none_is_awaited(engine):
    engine.deploy(model(start(), together(catch("c", SIGNAL + MESSAGE)), task("t"), "start > c > t", roots=ROOTS))
    key = engine.start(k=None)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("c", "EXTRACT_VALUE_ERROR")]
    assert waits(engine) == 0
    engine.set(key, k="1")
    engine.resolve()
    assert waits(engine) == 2


def test_one_that_cannot_be_awaited_again_is_an_incident_of_its_host(engine):
    event = together(boundary("b", "t", MESSAGE + SIGNAL, interrupting=False))
    key = run(engine, start(), task("t"), event, task("aside"), "start > t", "b > aside")
    occur(engine, key, "message")
    engine.set(key, k=None)
    occur(engine, key, "signal")
    assert engine.jobs == ["aside", "t"]
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("t", "EXTRACT_VALUE_ERROR")]
    assert waits(engine) == 0
    engine.set(key, k="2")
    engine.resolve()
    assert waits(engine) == 2
    engine.publish("hello", "2")
    occur(engine, key, "signal")
    assert engine.jobs == ["aside", "aside", "t"]


@pytest.mark.parametrize("host", [None, "h"])
def test_migrated_when_some_have_occurred(host):
    """The definitions that have occurred stay, with their variables."""
    event = together(boundary("c", host, ALL) if host else catch("c", ALL))
    flows = (task("h"), "start > h", "c > {0}") if host else ("start > c > {0}",)

    def version(behind):
        return model(start(), event, task(behind), *(each.format(behind) for each in flows), roots=ROOTS)

    engine = Migrating(version("t"), version("u"), k="1", x=1)
    occur(engine, engine.key, "message", "timer")
    engine.go("c", *filter(None, [host]))
    rebuilt(engine)
    assert waits(engine) == 2
    occur(engine, engine.key, "message", "condition", "signal")
    assert engine.jobs == ["u"]
    assert engine.variables("p")["said"] == 1


def test_a_stored_message_occurs_once_for_each_round(engine):
    event = together(boundary("b", "t", MESSAGE + SIGNAL, interrupting=False))
    key = run(engine, start(), task("t"), event, task("aside"), "start > t", "b > aside")
    for _ in range(2):
        engine.publish("hello", "1", ttl_ms=60_000)
    occur(engine, key, "signal")
    assert (waits(engine), engine.jobs) == (1, ["aside", "t"]), "the second message has occurred already"
    occur(engine, key, "signal")
    assert (waits(engine), engine.jobs) == (2, ["aside", "aside", "t"])


def test_each_round_has_its_own_variables(engine):
    event = together(boundary("b", "t", MESSAGE + SIGNAL, interrupting=False, outputs=[("=one", "first")]))
    key = run(engine, start(), task("t"), event, task("aside"), "start > t", "b > aside")
    engine.publish("hello", "1", one=1)
    occur(engine, key, "signal")
    assert engine.variables("p")["first"] == 1
    occur(engine, key, "message", "signal")
    assert engine.variables("p")["first"] is None


def test_those_in_a_loop_are_apart(engine):
    """Each inner instance of a sub-process has its own event."""
    key = run(
        engine,
        start(),
        loop(sub("s", start("i"), together(catch("c", MESSAGE + OTHER)), "i > c"), "=[1, 2]"),
        task("t"),
        "start > s > t",
    )
    engine.publish("hello", "1")
    assert waits(engine) == 2 + 1, "a message goes to one of them"
    engine.broadcast("other")
    assert engine.elements.count("c") == 1
    engine.publish("hello", "1")
    assert engine.jobs == ["t"]
    assert key in engine.state.trees
