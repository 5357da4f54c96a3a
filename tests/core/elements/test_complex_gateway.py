"""Complex gateways: their two phases (BPMN 2.0.2 §13.4.5, docs/adr/0076); whole and in quanta of one item."""

import pytest

from tests.core.ad_hoc_models import activate
from tests.core.engine import Engine, rebuilt
from tests.core.event_models import (
    LIMITS,
    ad_hoc,
    boundary,
    call,
    complex_gateway,
    ended,
    error,
    loop,
    model,
    on,
    run,
    states,
)
from tests.core.models import end, flow, par, start, sub, task, xor
from vivero.core.execution.step import StepLimits

ONE = "=activationCount >= 1"
TWO = "=activationCount >= 2"


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def awaiting(engine, scope="p"):
    """The gateways of a scope that wait for reset."""
    return engine.element(scope).awaiting_reset


def joined(names, activation, *parts, default=None):
    """The tasks `names` begin together, and lead to the gateway `g`."""
    flows = [way for name in names for way in (f"f > {name}", f"{name} > g")]
    tasks = [task(name) for name in names]
    return model(start(), par("f"), *tasks, complex_gateway("g", activation, default), "start > f", *flows, *parts)


AFTER = (task("after"), end(), "g > after > end")


# ---- it forks


def forked(default=None):
    flows = [
        flow("g", name, None if f"g-{name}" == default else condition)
        for name, condition in zip("abc", ("=a", "=b", "=c"), strict=True)
    ]
    tasks = [task(name) for name in "abc"]
    return model(start(), complex_gateway("g", default=default), *tasks, "start > g", *flows)


@pytest.mark.parametrize("names", ["a", "bc", "abc"])
def test_every_true_condition_is_taken_once(engine, names):
    run(engine, forked(), **{name: name in names for name in "abc"})
    assert engine.jobs == sorted(names)
    assert awaiting(engine) == {}


def test_the_default_flow_is_taken_only_when_no_other_is(engine):
    engine.deploy(forked(default="g-c"))
    engine.start(a=False, b=True)
    assert engine.jobs == ["b"]
    engine.start(a=False, b=False)
    assert engine.jobs == ["b", "c"]


def test_a_flow_without_a_condition_is_taken_beside_those_whose_condition_is_true(engine):
    parts = (task("a"), task("b"), task("c"), "start > g > a", flow("g", "b", "=b"), "g > c")
    engine.deploy(model(start(), complex_gateway("g", default="g-c"), *parts))
    engine.start(b=True)
    assert engine.jobs == ["a", "b"]
    engine.start(b=False)
    assert engine.jobs == ["a", "a", "b"]


def test_without_any_flow_to_take_it_is_an_incident(engine):
    key = run(engine, forked(), a=False, b=False, c=False)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("g", "CONDITION_ERROR")]
    engine.set(key, b=True)
    engine.resolve()
    assert engine.jobs == ["b"]


def test_a_condition_of_a_flow_that_is_no_boolean_is_an_incident(engine):
    key = run(engine, forked(), a=True, b="text", c=True)
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("g", "EXTRACT_VALUE_ERROR")]
    assert engine.jobs == []
    engine.set(key, b=False)
    engine.resolve()
    assert engine.jobs == ["a", "c"]


def test_each_token_forks(engine):
    parts = (task("a"), task("b"), complex_gateway("g"), task("x"), "start > f > a > m > g > x", "f > b > m")
    run(engine, model(start(), par("f"), xor("m"), *parts))
    engine.complete("a")
    engine.complete("b")
    assert engine.jobs == ["x", "x"]


# ---- it joins


def test_a_discriminator_fires_once_and_takes_the_others(engine):
    """Pattern WCP-9."""
    key = run(engine, joined("ab", ONE, *AFTER))
    engine.complete("a")
    assert engine.jobs == ["after", "b"]
    assert awaiting(engine) == {"g": ("a-g",)}
    engine.complete("after")
    engine.complete("b")
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "g") == ["COMPLETED"], "the reset made nothing begin"


def test_tokens_that_come_together_are_consumed_together(engine):
    ways = ("start > f > g", flow("f", "g", id="second"))
    key = run(engine, model(start(), par("f"), complex_gateway("g", ONE), *AFTER, *ways))
    assert engine.jobs == ["after"]
    assert awaiting(engine) == {}
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_two_of_three(engine):
    key = run(engine, joined("abc", TWO, *AFTER))
    engine.complete("b")
    assert engine.jobs == ["a", "c"]
    engine.complete("c")
    assert engine.jobs == ["a", "after"]
    assert awaiting(engine) == {"g": ("b-g", "c-g")}
    engine.complete("a")
    assert awaiting(engine) == {}
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


PHASES = (
    *(task("first"), task("last"), end(), "first > end", "last > end"),
    *(flow("g", "first", "=waitingForStart"), flow("g", "last", "=not(waitingForStart)")),
)


def test_conditions_can_tell_the_phases_apart(engine):
    key = run(engine, joined("ab", ONE, *PHASES))
    engine.complete("a")
    assert engine.jobs == ["b", "first"]
    engine.complete("first")
    engine.complete("b")
    assert engine.jobs == ["last"]
    engine.complete("last")
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "g") == ["COMPLETED"] * 2


@pytest.mark.parametrize("orders", ["ab", "ba"])
def test_both_phases_happen_whenever_the_tokens_come(engine, orders):
    """Whether others come later, at once, or are cancelled: each activation has one start and one reset."""
    key = run(engine, joined("ab", TWO, *PHASES))
    for name in orders:
        engine.complete(name)
    assert engine.jobs == ["first", "last"]
    engine.complete("first")
    engine.complete("last")
    assert ended(engine, key) == "COMPLETED"


def test_the_reset_takes_the_default_flow_if_no_condition_is_true(engine):
    parts = (task("first"), task("rest"), flow("g", "first", "=waitingForStart"), "g > rest")
    run(engine, joined("ab", ONE, *parts, default="g-rest"))
    engine.complete("a")
    assert engine.jobs == ["b", "first"]
    engine.complete("b")
    assert engine.jobs == ["first", "rest"]


def test_the_reset_takes_only_flows_with_conditions(engine):
    parts = (task("plain"), task("last"), "g > plain", flow("g", "last", "=not(waitingForStart)"))
    run(engine, joined("ab", ONE, *parts))
    engine.complete("a")
    assert engine.jobs == ["b", "plain"]
    engine.complete("b")
    assert engine.jobs == ["last", "plain"]


def test_a_condition_that_stays_true_gives_a_token_in_both_phases(engine):
    run(engine, joined("ab", ONE, task("x"), flow("g", "x", "=true")))
    engine.complete("a")
    engine.complete("b")
    assert engine.jobs == ["x", "x"]


def test_a_reset_without_a_true_condition_is_no_error(engine):
    key = run(engine, joined("ab", ONE, task("x"), end(), flow("g", "x", "=waitingForStart"), "x > end"))
    engine.complete("a")
    engine.complete("b")
    assert engine.incidents == []
    engine.complete("x")
    assert ended(engine, key) == "COMPLETED"


def test_counts_are_seen_by_all_conditions(engine):
    parts = (task("x"), task("y"), flow("g", "x", "=activationCount = 2"), flow("g", "y", "=activationCount = 3"))
    run(engine, joined("abc", '=get value(activationCounts, "a-g") = 1 and waitingForStart', *parts))
    engine.complete("b")
    assert engine.jobs == ["a", "c"]
    engine.complete("a")
    assert engine.jobs == ["c", "x"]
    assert awaiting(engine) == {"g": ("a-g", "b-g")}


# ---- it resets


FAILING = (*AFTER, boundary("failed", "c", error("A")), task("aside"), "failed > aside > end")


def test_a_branch_that_leaves_by_an_error_resets_it(engine):
    key = run(engine, joined("abc", TWO, *FAILING))
    engine.complete("a")
    engine.complete("b")
    assert awaiting(engine) == {"g": ("a-g", "b-g")}
    engine.throw("c", "A")
    assert awaiting(engine) == {}
    engine.complete("after")
    engine.complete("aside")
    assert ended(engine, key) == "COMPLETED"


def test_after_its_reset_a_new_round_works(engine):
    """The loop feeds the gateway twice."""
    around = (par("f"), xor("m"), "start > m > f", xor("again", default="again-end"), end(), "again > end")
    joins = (task("a"), task("b"), complex_gateway("g", ONE), task("after"), "f > a > g", "f > b > g")
    key = run(engine, model(start(), *around, *joins, "g > after > again", flow("again", "m", "=more")))
    for more in (True, False):
        engine.complete("a")
        engine.complete("b")
        assert awaiting(engine) == {}
        assert engine.jobs == ["after"]
        engine.complete("after", more=more)
    assert ended(engine, key) == "COMPLETED"
    assert states(engine, "g") == ["COMPLETED"] * 2


def test_a_second_token_of_a_flow_stays_for_the_next_round(engine):
    """`a` comes twice before `b` does."""
    doubled = task("a").replace("<serviceTask", '<serviceTask completionQuantity="2"')
    parts = (doubled, task("b"), complex_gateway("g", ONE), *AFTER)
    run(engine, model(start(), par("f"), *parts, "start > f > a > g", "f > b > g"))
    engine.complete("a")
    assert engine.jobs == ["after", "b"]
    assert engine.element("p").tokens["a-g"] == 1
    engine.complete("b")
    assert engine.jobs == ["after", "after"], "it reset, and started again with the token that was left"
    assert awaiting(engine) == {}, "nothing else can come, so that it reset again"


def test_a_token_that_can_come_to_a_flow_that_gave_one_is_not_waited_for(engine):
    ways = (
        xor("which", default="which-g"),
        xor("m"),
        "f > c > which",
        flow("which", "g"),
        flow("which", "m", "=other"),
    )
    parts = (task("a"), task("b"), task("c"), complex_gateway("g", ONE), "start > f > a > m > g", "f > b > g")
    run(engine, model(start(), par("f"), *parts, *AFTER, *ways))
    engine.complete("a")
    engine.complete("b")
    assert awaiting(engine) == {}, "c can come to the flow of a as well"


def test_an_interrupted_scope_forgets_the_phase(engine):
    handler = on(error("A"), "h", task("t"), "h-start > t")
    key = run(engine, joined("ab", ONE, *AFTER, handler))
    engine.complete("a")
    assert awaiting(engine) == {"g": ("a-g",)}
    engine.throw("b", "A")
    assert engine.jobs == ["t"]
    assert awaiting(engine) == {}
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"


def test_a_cancelled_instance_ends(engine):
    key = run(engine, joined("ab", ONE, *AFTER))
    engine.complete("a")
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"


# ---- the activation condition


def test_a_changed_variable_starts_it(engine):
    key = run(engine, joined("ab", "=enough", *AFTER), enough=False)
    engine.complete("a")
    assert engine.jobs == ["b"]
    engine.set(key, other=1)
    assert engine.jobs == ["b"]
    engine.set(key, enough=True)
    assert engine.jobs == ["after", "b"]
    assert engine.state.subscriptions == {}, "its wait has ended"


def test_a_variable_that_a_nested_scope_changes_starts_it(engine):
    inner = sub("s", start("i"), task("in"), task("more"), "i > in > more")
    parts = (task("a"), inner, complex_gateway("g", "=enough"), *AFTER)
    run(engine, model(start(), par("f"), *parts, "start > f > a > g", "f > s > g"), enough=False)
    engine.complete("a")
    engine.complete("in", enough=True)
    assert engine.jobs == ["after", "more"]


def test_it_waits_for_a_variable_without_an_incident(engine):
    key = run(engine, joined("a", "=enough", *AFTER), enough=False)
    engine.complete("a")
    assert (engine.jobs, engine.incidents) == ([], [])
    assert [one.target for one in engine.state.subscriptions.values()] == ["g"]
    engine.set(key, enough=True)
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


def test_a_condition_that_can_never_be_true_is_a_deadlock(engine):
    key = run(engine, joined("ab", "=activationCount >= 3", *AFTER))
    engine.complete("a")
    assert engine.incidents == []
    engine.complete("b")
    assert engine.incidents == [("p", "UNKNOWN", "Deadlock: tokens wait at [g]")]
    engine.cancel(key)
    assert ended(engine, key) == "TERMINATED"


@pytest.mark.parametrize("wrong", [None, 7, "text"])
def test_a_condition_that_is_no_boolean_is_one_incident_of_the_scope(engine, wrong):
    key = run(engine, joined("abc", "=enough", *AFTER), enough=wrong)
    engine.complete("a")
    engine.complete("b")
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("p", "EXTRACT_VALUE_ERROR")
    assert message.startswith("The complex gateway 'g' cannot evaluate its activation condition. ")
    engine.resolve()
    assert len(engine.incidents) == 1, "it fails again"
    engine.set(key, enough=True)
    assert len(engine.incidents) == 1
    engine.resolve()
    assert engine.incidents == []
    assert engine.jobs == ["after", "c"]


def test_two_gateways_fail_by_themselves(engine):
    parts = (complex_gateway("h", "=other"), task("x"), "c > h > x")
    tasks = [task(name) for name in "abc"]
    flows = ("start > f > a > g", "f > b > g", "f > c")
    key = run(engine, model(start(), par("f"), *tasks, complex_gateway("g", "=enough"), *AFTER, *flows, *parts))
    engine.complete("a")
    engine.complete("c")
    assert len(engine.incidents) == 2
    engine.set(key, enough=True, other=True)
    for incident in list(engine.state.incidents):
        engine.resolve(incident)
    assert engine.jobs == ["after", "b", "x"]


# ---- where it stands


def test_it_waits_for_reset_after_a_restart(engine):
    key = run(engine, joined("abc", TWO, *AFTER))
    for name in "ab":
        engine.complete(name)
        rebuilt(engine)
    assert awaiting(engine) == {"g": ("a-g", "b-g")}
    engine.complete("c")
    rebuilt(engine)
    engine.complete("after")
    assert ended(engine, key) == "COMPLETED"


INNER = sub(
    "s",
    *(start("i"), par("f"), task("a"), task("b"), complex_gateway("g", ONE), task("after")),
    *("i > f > a > g > after", "f > b > g"),
)


def test_each_inner_instance_of_a_loop_has_its_own_phases(engine):
    key = run(engine, model(start(), loop(INNER), end(), "start > s > end"), items=[1, 2])
    engine.complete("a")
    assert engine.jobs == ["a", "after", "b", "b"]
    engine.complete("a")
    assert engine.jobs == ["after", "after", "b", "b"]
    for name in ("b", "b", "after", "after"):
        engine.complete(name)
    assert ended(engine, key) == "COMPLETED"


@pytest.mark.parametrize(("activation", "paged"), [(ONE, True), ("=enough and activationCount >= 1", False)])
def test_a_loop_around_one_that_watches_variables_is_not_paged(activation, paged):
    """All that a changed variable may start is in memory."""
    engine = Engine(StepLimits(paged_from=0))
    inner = INNER.replace(ONE.replace(">", "&gt;"), activation.replace(">", "&gt;"))
    key = run(engine, model(start(), loop(inner), end(), "start > s > end"), items=[1, 2], enough=True)
    assert engine.element("s").loop.paged is paged
    for name in ("a", "a", "b", "b", "after", "after"):
        engine.complete(name)
    assert ended(engine, key) == "COMPLETED"


def test_it_joins_the_elements_of_one_activation(engine):
    parts = (task("a"), task("b"), complex_gateway("g", ONE), task("after"), "a > g > after", "b > g")
    run(engine, model(start(), ad_hoc("x", *parts, active='=["a", "b"]', until="=false"), end(), "start > x > end"))
    engine.complete("a")
    assert engine.jobs == ["after", "b"]
    engine.complete("b")
    engine.complete("after")
    activate(engine, "b", scope="x")
    engine.complete("b")
    assert engine.jobs == ["after"], "another activation has phases of its own"


def test_it_stands_in_a_called_process(engine):
    called = joined("ab", ONE, *AFTER).replace(b'process id="p"', b'process id="called"')
    engine.deploy(called)
    key = run(engine, model(start(), call("c", "called"), end(), "start > c > end"))
    for name in ("a", "b", "after"):
        engine.complete(name)
    assert ended(engine, key) == "COMPLETED"


def test_a_joining_gateway_may_have_start_listeners():
    listener = '<extensionElements><zeebe:executionListeners><zeebe:executionListener eventType="start" type="heard"/>'
    listener += "</zeebe:executionListeners></extensionElements>"
    engine = Engine()
    gateway = complex_gateway("g", ONE).replace("<activationCondition", listener + "<activationCondition")
    tasks = (task("a"), task("b"))
    run(engine, model(start(), par("f"), *tasks, gateway, *PHASES, "start > f > a > g", "f > b > g"))
    engine.complete("a")
    assert engine.jobs == ["b", "g"]
    engine.complete("b")
    assert engine.jobs == ["g", "g"]
    rebuilt(engine)
    engine.complete("g")
    engine.complete("g")
    assert engine.jobs == ["first", "last"]
