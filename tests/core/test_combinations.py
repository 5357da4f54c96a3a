"""Constructs that meet: gateways of different kinds, events at several levels, loops with events in and around them.

What each does by itself is tested where it is; these are the combinations that other engines' suites ask about.
"""

import pytest

from tests.core.engine import Engine
from tests.core.event_models import (
    LIMITS,
    ROOTS,
    TERMINATE,
    boundary,
    call,
    catch,
    ended,
    error,
    escalation,
    final,
    inc,
    link,
    loop,
    on,
    run,
    script,
    states,
    throw,
)
from tests.core.models import end, file, flow, par, process_element, start, sub, task, xor
from vivero.core.records.timers import TriggerTimer

WAITED_FOR = "".join(
    f'<message id="{name}" name="{name}"><extensionElements><zeebe:subscription correlationKey="=k"/>'
    f'</extensionElements></message><signal id="signal-{name}" name="{name}"/>'
    for name in ("one", "two")
)
MESSAGE = '<messageEventDefinition messageRef="one"/>'
SIGNAL = '<signalEventDefinition signalRef="signal-one"/>'
TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"


@pytest.fixture(params=LIMITS)
def engine(request):
    return Engine(LIMITS[request.param])


def model(*parts, beside=()):
    return file(process_element(*parts), *beside, ROOTS, WAITED_FOR)


def choice(id):
    return f'<eventBasedGateway id="{id}"/>'


def fire(engine, target):
    timer = next(timer for timer in engine.state.timers.values() if timer.target == target)
    engine.memory.now = max(engine.memory.now, timer.due_at)
    engine.run(TriggerTimer(timer.key, timer.due_at))


def finish(engine, key):
    """Complete all jobs until there are none; then nothing may be left."""
    while engine.jobs:
        engine.complete(engine.jobs[0])
    assert ended(engine, key) == "COMPLETED"
    assert not engine.state.timers
    assert not engine.state.subscriptions
    assert not any(channel.subscriptions for channel in engine.state.channels.values())


# ---- gateways


def test_what_an_inclusive_gateway_forks_an_exclusive_one_passes_on_one_by_one(engine):
    branches = (flow("f", "a", "=true"), flow("f", "b", "=true"), "a > j > after", "b > j")
    key = run(engine, model(start(), inc("f"), task("a"), task("b"), xor("j"), task("after"), "start > f", *branches))
    engine.complete("a")
    engine.complete("b")
    assert engine.jobs == ["after", "after"]
    finish(engine, key)


def test_what_a_parallel_gateway_forks_an_inclusive_one_joins_once(engine):
    forked = ("start > f > a > j > after", "f > b > j", "f > c > j")
    parts = (start(), par("f"), task("a"), task("b"), task("c"), inc("j"), task("after"))
    key = run(engine, model(*parts, *forked))
    engine.complete("c")
    engine.complete("a")
    assert engine.jobs == ["b"]
    engine.complete("b")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_inclusive_forks_in_each_other_join_from_the_inside_out(engine):
    conditions = [flow(*ends, "=true") for ends in (("f", "g"), ("f", "c"), ("g", "a"), ("g", "b"))]
    parts = (start(), inc("f"), inc("g"), task("a"), task("b"), task("c"), inc("gj"), inc("fj"), task("after"))
    key = run(engine, model(*parts, *conditions, "start > f", "a > gj > fj > after", "b > gj", "c > fj"))
    engine.complete("a")
    engine.complete("c")
    assert engine.jobs == ["b"]
    engine.complete("b")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_an_inclusive_join_waits_for_a_loop_before_it(engine):
    loops = (flow("x", "m", "=again"), flow("x", "j"), "m > a > x")
    forked = (flow("f", "m", "=true"), flow("f", "b", "=true"), "start > f", "b > j > after")
    parts = (start(), inc("f"), xor("m"), task("a"), xor("x", default="x-j"), task("b"), inc("j"), task("after"))
    key = run(engine, model(*parts, *forked, *loops), again=True)
    engine.complete("b")
    engine.complete("a")
    assert engine.jobs == ["a"]
    engine.complete("a", again=False)
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_an_inclusive_join_in_a_loop_joins_in_each_round(engine):
    forked = (flow("f", "a", "=true"), flow("f", "b", "=n = 1"), "a > j > x", "b > j")
    parts = (start(), xor("m"), inc("f"), task("a"), task("b"), inc("j"), xor("x", default="x-end"), end())
    key = run(engine, model(*parts, *forked, "start > m > f", flow("x", "m", "=n = 1"), flow("x", "end")), n=1)
    engine.complete("a")
    engine.complete("b")
    assert engine.jobs == ["a", "b"]
    engine.complete("a", n=2)
    engine.complete("b")
    assert ended(engine, key) == "COMPLETED"


def test_an_inclusive_join_goes_on_when_an_event_based_gateway_leads_elsewhere(engine):
    forked = (flow("f", "a", "=true"), flow("f", "g", "=true"), "start > f", "a > j > after")
    parts = (start(), inc("f"), task("a"), choice("g"), catch("told", MESSAGE), catch("late", TIMER), end(), inc("j"))
    key = run(engine, model(*parts, task("after"), *forked, "g > told > j", "g > late > end"), k="1")
    engine.complete("a")
    assert engine.jobs == []
    fire(engine, "late")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_an_inclusive_join_waits_for_what_a_boundary_event_has_begun_beside_its_host(engine):
    forked = (flow("f", "a", "=true"), flow("f", "b", "=true"), "start > f", "a > j > after", "b > j")
    beside = (boundary("bell", "a", SIGNAL, False), task("extra"), "bell > extra > j")
    parts = (start(), inc("f"), task("a"), task("b"), inc("j"), task("after"))
    key = run(engine, model(*parts, *forked, *beside))
    engine.broadcast("one")
    engine.complete("a")
    engine.complete("b")
    assert engine.jobs == ["extra"]
    engine.complete("extra")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_a_gateway_joins_and_forks_at_once(engine):
    ways = ("start > f > a > x > c > j > end", "f > b > x > d > j")
    key = run(engine, model(start(), *map(par, "fxj"), *map(task, "abcd"), end(), *ways))
    engine.complete("a")
    assert engine.jobs == ["b"]
    engine.complete("b")
    assert engine.jobs == ["c", "d"]
    finish(engine, key)
    assert states(engine, "j") == ["COMPLETED"]


# ---- event-based gateways


def test_each_token_waits_at_an_event_based_gateway_for_itself(engine):
    parts = (start(), par("f"), xor("m"), choice("g"), catch("told", MESSAGE), catch("late", TIMER), task("a"), end())
    ways = ("start > f > m > g > told > a", flow("f", "m", id="second"), "g > late > end")
    key = run(engine, model(*parts, *ways), k="1")
    engine.publish("one", "1")
    assert engine.jobs == ["a"]
    engine.publish("one", "1")
    assert engine.jobs == ["a", "a"]
    finish(engine, key)


def test_an_event_based_gateway_in_a_loop_begins_to_wait_again(engine):
    parts = (start(), xor("m"), choice("g"), catch("told", MESSAGE), catch("late", TIMER), end())
    key = run(engine, model(*parts, "start > m > g > told > m", "g > late > end"), k="1")
    for _ in range(3):
        engine.publish("one", "1")
    assert len(engine.state.timers) == 1
    fire(engine, "late")
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "told") == ["COMPLETED"] * 3


def test_a_signal_of_a_parallel_branch_decides_an_event_based_gateway(engine):
    parts = (start(), par("f"), task("first"), throw("say", SIGNAL), choice("g"), catch("heard", SIGNAL))
    ways = ("start > f > first > say", "f > g > heard > after", "g > late")
    key = run(engine, model(*parts, catch("late", TIMER), task("after"), *ways))
    engine.complete("first")
    assert engine.jobs == ["after"]
    finish(engine, key)


# ---- events at several levels


def test_a_signal_reaches_every_level_and_starts_another_process(engine):
    other = process_element(f'<startEvent id="begin">{SIGNAL}</startEvent>', task("begun"), "begin > begun", id="q")
    aside = on(SIGNAL, "h", task("aside"), "h-start > aside", interrupting=False)
    inner = sub("s", start("in"), task("work"), aside, "in > work")
    around = (boundary("bell", "s", SIGNAL, False), task("rung"), catch("c", SIGNAL), task("caught"))
    run(engine, model(start(), inner, *around, "start > s", "start > c > caught", "bell > rung", beside=[other]))
    engine.broadcast("one")
    assert engine.jobs == ["aside", "begun", "caught", "rung", "work"]


def test_a_boundary_event_that_ends_its_scope_keeps_what_is_inside_from_hearing_the_signal(engine):
    inner = sub("s", start("in"), task("work"), on(SIGNAL, "h", task("never"), "h-start > never"), "in > work")
    key = run(engine, model(start(), inner, boundary("b", "s", SIGNAL), task("after"), "start > s", "b > after"))
    engine.broadcast("one")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_one_message_for_the_boundaries_of_calls_in_each_other_ends_the_outer(engine):
    """All that the inner call waits for ends with it."""
    deep = process_element(start("s2"), task("deep"), "s2 > deep", id="c2")
    inner = (call("inner", "c2"), boundary("b1", "inner", MESSAGE), task("within"), "s1 > inner", "b1 > within")
    middle = process_element(start("s1"), *inner, id="c1")
    outer = (call("outer", "c1"), boundary("b0", "outer", MESSAGE), task("after"), "start > outer", "b0 > after")
    key = run(engine, model(start(), *outer, beside=[middle, deep]), k="1")
    engine.publish("one", "1")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_an_error_in_an_event_sub_process_of_an_event_sub_process_reaches_the_boundary_around_both(engine):
    innermost = on(error("A"), "g", task("third"), final("out", error("B")), "g-start > third > out")
    handler = on(SIGNAL, "h", task("second"), innermost, "h-start > second")
    scope = sub("s", start("in"), task("first"), handler, "in > first")
    key = run(engine, model(start(), scope, boundary("b", "s", error("B")), task("after"), "start > s", "b > after"))
    engine.broadcast("one")
    engine.throw("second", "A")
    assert engine.jobs == ["third"]
    engine.complete("third")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_an_error_on_the_way_from_a_boundary_event_is_caught_by_an_event_sub_process(engine):
    handler = on(error("B"), "h", task("handled"), "h-start > handled")
    parts = (start(), task("work"), boundary("b", "work", error("A")), final("out", error("B")), handler)
    key = run(engine, model(*parts, "start > work", "b > out"))
    engine.throw("work", "A")
    assert engine.jobs == ["handled"]
    finish(engine, key)


def test_a_host_is_entered_again_from_its_own_boundary_event(engine):
    parts = (start(), xor("m"), task("work"), boundary("b", "work", error()), end(), "start > m > work > end", "b > m")
    key = run(engine, model(*parts))
    engine.throw("work", "A")
    engine.throw("work", "B")
    assert states(engine, "work") == ["TERMINATED", "TERMINATED", "ACTIVATED"]
    finish(engine, key)


def test_a_sub_process_that_is_entered_twice_at_once_has_its_boundary_events_twice(engine):
    scope = (sub("s", start("in"), task("work"), "in > work"), boundary("late", "s", TIMER), task("hurry"))
    ways = ("start > f > m > s > after", flow("f", "m", id="second"), "late > hurry")
    key = run(engine, model(start(), par("f"), xor("m"), *scope, task("after"), *ways))
    engine.complete("work")
    fire(engine, "late")
    assert engine.jobs == ["after", "hurry"]
    finish(engine, key)


# ---- loops


def test_a_terminate_event_ends_one_turn_of_a_sequence_and_the_next_begins(engine):
    inner = sub(
        "s", start("in"), par("f"), task("a"), final("stop", TERMINATE), task("b"), "in > f > a > stop", "f > b"
    )
    turns = loop(inner, item="item", output="=item", into="done", sequential=True)
    key = run(engine, model(start(), turns, task("after"), "start > s > after"), items=[1, 2])
    engine.complete("a")
    assert engine.jobs == ["a", "b"]
    engine.complete("a")
    assert engine.jobs == ["after"]
    assert engine.variables("p")["done"] == [1, 2]
    finish(engine, key)


def test_a_terminate_event_outside_ends_a_loop_half_done(engine):
    ways = ("start > f > work", "f > other > stop")
    parts = (start(), par("f"), loop(task("work"), item="item"), task("other"), final("stop", TERMINATE))
    key = run(engine, model(*parts, *ways), items=[1, 2, 3])
    engine.complete("work")
    engine.complete("other")
    assert ended(engine, key) == "COMPLETED"


def test_each_turn_has_its_own_event_sub_process(engine):
    handler = on(error("A"), "h", task("handled"), "h-start > handled")
    turns = loop(sub("s", start("in"), task("work"), handler, "in > work"), item="item")
    key = run(engine, model(start(), turns, task("after"), "start > s > after"), items=[1, 2])
    engine.throw("work", "A")
    assert engine.jobs == ["handled", "work"]
    engine.complete("handled")
    engine.complete("work")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_a_boundary_event_beside_a_loop_goes_on_when_the_loop_is_done(engine):
    beside = (boundary("bell", "work", MESSAGE, False), task("rung"), "bell > rung")
    key = run(engine, model(start(), loop(task("work"), item="item"), *beside, "start > work"), items=[1, 2], k="1")
    engine.publish("one", "1")
    engine.publish("one", "1")
    engine.complete("work")
    engine.complete("work")
    assert engine.jobs == ["rung", "rung"]
    finish(engine, key)


def test_every_turn_that_escalates_is_heard_beside_the_loop(engine):
    turns = loop(sub("s", start("in"), final("tell", escalation("A")), "in > tell"), item="item")
    beside = (boundary("b", "s", escalation("A"), False), task("told"), "b > told")
    key = run(engine, model(start(), turns, *beside, task("after"), "start > s > after"), items=[1, 2, 3])
    assert engine.jobs == ["after", "told", "told", "told"]
    finish(engine, key)


def test_turns_wait_for_messages_with_keys_of_their_own(engine):
    by_item = '<message id="m" name="m"><extensionElements><zeebe:subscription correlationKey="=item"/>'
    by_item += "</extensionElements></message>"
    wait = loop('<receiveTask id="r" messageRef="m"></receiveTask>', item="item", output="=said", into="answers")
    key = run(
        engine, file(process_element(start(), wait, task("after"), "start > r > after"), by_item), items=["a", "b"]
    )
    engine.publish("m", "b", said="B")
    engine.publish("m", "a", said="A")
    assert engine.variables("p")["answers"] == ["A", "B"]
    finish(engine, key)


def test_turns_that_fail_are_resolved_each_with_its_own_item(engine):
    work = task("work", inputs=[("=assert(more, more != null) + item", "sum")])
    key = run(
        engine, model(start(), loop(work, item="item", output="=sum", into="sums"), "start > work"), items=[1, 2, 3]
    )
    assert len(engine.incidents) == 3
    engine.set(key, more=10)
    for incident in list(engine.state.incidents):
        engine.resolve(incident)
    finish(engine, key)
    assert engine.variables_of(key)["sums"] == [11, 12, 13]


# ---- incidents beside events


@pytest.mark.parametrize("interrupting", [True, False])
def test_a_boundary_timer_rings_while_its_host_cannot_complete(engine, interrupting):
    work = task("work", outputs=[("=assert(needed, needed != null)", "x")])
    late = (boundary("late", "work", TIMER, interrupting), task("hurry"), "start > work", "late > hurry")
    key = run(engine, model(start(), work, *late))
    engine.complete("work")
    fire(engine, "late")
    assert engine.jobs == ["hurry"]
    assert len(engine.incidents) == (0 if interrupting else 1)
    engine.set(key, needed=1)
    for incident in list(engine.state.incidents):
        engine.resolve(incident)
    finish(engine, key)


def test_of_several_waits_of_which_one_fails_none_is_open_until_it_is_resolved(engine):
    parts = (start(), task("work"), boundary("late", "work", TIMER), boundary("told", "work", MESSAGE), task("after"))
    key = run(engine, model(*parts, "start > work", "told > after"))
    assert [incident[:2] for incident in engine.incidents] == [("work", "EXTRACT_VALUE_ERROR")]
    assert not engine.state.timers
    engine.set(key, k="1")
    engine.resolve()
    engine.publish("one", "1")
    assert engine.jobs == ["after"]
    finish(engine, key)


# ---- links and scripts


def test_a_link_takes_part_in_an_inclusive_join(engine):
    forked = (flow("f", "a", "=true"), flow("f", "b", "=true"), "start > f", "a > away", "back > j > after", "b > j")
    parts = (start(), inc("f"), task("a"), task("b"), throw("away", link("L")), catch("back", link("L")), inc("j"))
    key = run(engine, model(*parts, task("after"), *forked))
    engine.complete("b")
    assert engine.jobs == ["a"]
    engine.complete("a")
    assert engine.jobs == ["after"]
    finish(engine, key)


def test_cycles_that_overlap_are_left_when_their_conditions_say_so(engine):
    """Control-flow pattern 10, arbitrary cycles."""
    first = ("start > m1 > t1 > i1 > d1", flow("d1", "m1", "=i < 2"), flow("d1", "m2"))
    second = ("m2 > t2 > i2 > d2", flow("d2", "m2", "=i < 4"), flow("d2", "m1", "=i = 4"), flow("d2", "end"))
    gateways = (xor("m1"), xor("m2"), xor("d1", default="d1-m2"), xor("d2", default="d2-end"))
    steps = (task("t1"), script("i1", "=i + 1", "i"), task("t2"), script("i2", "=i + 1", "i"))
    key = run(engine, model(start(), *gateways, *steps, end(), *first, *second), i=0)
    finish(engine, key)
    assert (len(states(engine, "t1")), len(states(engine, "t2"))) == (3, 3)
