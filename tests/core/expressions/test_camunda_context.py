"""The context `camunda` of expressions: cluster variables, and the process instance that evaluates."""

import pytest

from tests.core.decision_models import one, rule
from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import boundary, call, catch, ended, loop, model, run, script
from tests.core.events.test_conditional import happened, when
from tests.core.models import end, flow, process_element, start, task, xor
from vivero.core.memory import InvalidDeployment
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.conditionals import EvaluateConditionals
from vivero.core.records.decision_evaluations import EvaluateDecision
from vivero.core.records.instances import CreateInstance
from vivero.core.records.timers import FireTimer

VARIABLES = {"url": "cluster", "limit": 10, "flags": {"a": 1, "b": 2}, "only-here": True}
OF_TENANT = {"url": "tenant", "flags": {"a": 3}}


@pytest.fixture
def engine():
    engine = Engine()
    engine.memory.set_cluster_variables(VARIABLES, OF_TENANT)
    return engine


def result(engine, expression, **variables):
    """The value of an expression in a script task."""
    run(engine, model(start(), script("s", expression, "result"), task("wait"), "start > s > wait"), **variables)
    assert engine.incidents == []
    return engine.variables("p")["result"]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("=camunda.vars.cluster.url", "cluster"),
        ("=camunda.vars.tenant.url", "tenant"),
        ("=camunda.vars.env.url", "tenant"),
        ("=camunda.vars.env.limit", 10),
        ("=camunda.vars.tenant.limit", None),
        ("=camunda.vars.env.flags", {"a": 3}),
        ("=camunda.vars.env.flags.b", None),
        ("=camunda.vars.cluster.`only-here`", True),
        ('=get value(camunda.vars.env, "only-here")', True),
        ("=camunda.vars.env.unknown", None),
        ("=camunda.other", None),
        ("=camunda.vars.env.limit + 1", 11),
        ("=is defined(camunda.vars.env.unknown)", False),
    ],
)
def test_scopes(engine, expression, value):
    assert result(engine, expression) == value


def test_a_process_variable_hides_the_context(engine):
    assert result(engine, "=camunda.vars", camunda={"x": 1}) is None
    assert engine.state.catalogue.cluster_variables == {}


def test_a_local_name_hides_the_context(engine):
    assert result(engine, "=for camunda in [1, 2] return camunda + 1") == [2, 3]
    assert engine.state.catalogue.cluster_variables == {}


def test_nothing_is_loaded_for_other_expressions(engine):
    assert result(engine, "=x + 1", x=1) == 2
    assert engine.state.catalogue.cluster_variables == {}


def test_the_process_instance_is_that_which_evaluates(engine):
    child = process_element(
        start("c-start"),
        script("inner", "=camunda.processInstance", "of_child"),
        task("wait"),
        "c-start > inner > wait",
        id="c",
    )
    parent = model(
        start(),
        script("s", "=camunda.processInstance", "of_parent"),
        call("call", "c"),
        "start > s > call",
        beside=(child,),
    )
    engine.deploy(parent)
    handled = engine.run(CreateInstance("p", business_id="order-1"))
    key = handled.response.process_instance_key
    assert engine.variables("p")["of_parent"] == {"key": key, "businessId": "order-1"}
    own = engine.element("c").key
    assert own != key
    assert engine.variables("c")["of_child"] == {"key": own, "businessId": "order-1"}


def test_without_a_business_id_it_is_null(engine):
    assert result(engine, "=camunda.processInstance.businessId") is None


def test_every_place_of_an_expression_sees_it(engine):
    """Mappings, conditions, job types, priorities, timers, loops, called processes, correlation keys, decisions."""
    engine.memory.set_cluster_variables(
        {"n": 1, "type": "mail", "wait": "PT5S", "xs": [1, 2], "child": "c", "key": "k"}
    )
    timer = "<timerEventDefinition><timeDuration>=camunda.vars.env.wait</timeDuration></timerEventDefinition>"
    engine.deploy(one("Rate", "camunda.vars.env.n + 1"), name="rate.dmn")
    child = process_element(start("c-start"), end("c-end"), "c-start > c-end", id="c")
    main = model(
        start(),
        xor("x", default="x-none"),
        task("none"),
        flow("x", "work", "=camunda.vars.env.n = 1", "x-work"),
        flow("x", "none", id="x-none"),
        task(
            "work",
            type="=camunda.vars.env.type",
            inputs=[("=camunda.vars.env.n", "i")],
            outputs=[("=camunda.vars.env.n + 1", "o")],
        ),
        catch("later", timer),
        call("call", "=camunda.vars.env.child"),
        rule("decide", "Rate", "rate"),
        loop(task("each"), "=camunda.vars.env.xs"),
        "start > x",
        "work > later > call > decide > each",
        beside=(child,),
    )
    run(engine, main)
    assert (engine.job("work").type, engine.variables("work")) == ("mail", {"i": 1})
    engine.complete("work")
    (pending,) = engine.state.timers.values()
    assert pending.due_at == engine.memory.now + 5_000
    engine.run(FireTimer(pending.key))
    assert engine.incidents == []
    assert engine.jobs == ["each", "each"]
    assert {name: engine.variables("p")[name] for name in ("o", "rate")} == {"o": 2, "rate": 2}


def test_a_missing_variable_is_named_in_the_incident(engine):
    parts = flow("x", "end", "=camunda.vars.env.unknown", "x-end")
    run(engine, model(start(), xor("x"), end(), parts, "start > x"))
    [(element, _, message)] = engine.incidents
    assert element == "x"
    assert "[NO_CONTEXT_ENTRY_FOUND] No context entry found with key 'unknown'" in message
    assert "Available keys: 'url', 'limit', 'flags', 'only-here'" in message
    engine.memory.set_cluster_variables({"unknown": True})
    engine.resolve()
    assert engine.incidents == []


def test_a_change_holds_for_the_next_evaluation_and_replay_has_the_former_result(engine):
    key = run(
        engine,
        model(
            start(),
            script("a", "=camunda.vars.env.limit", "a"),
            task("wait"),
            script("b", "=camunda.vars.env.limit", "b"),
            task("then"),
            "start > a > wait > b > then",
        ),
    )
    engine.memory.set_cluster_variables({"limit": 11})
    rebuilt(engine)
    engine.complete("wait")
    assert (engine.variables("p"), engine.incidents) == ({"a": 10, "b": 11}, [])
    engine.complete("then")
    assert ended(engine, key) == "COMPLETED"


def test_a_change_wakes_no_condition(engine):
    run(
        engine,
        model(
            start(),
            task("work"),
            boundary("b", "work", when("=x > camunda.vars.env.limit")),
            task("after"),
            "start > work",
            "b > after",
        ),
        x=5,
    )
    engine.memory.set_cluster_variables({"limit": 1})
    assert happened(engine, "b") == 0
    engine.set(engine.element("p").key, x=6)
    assert happened(engine, "b") == 1


def test_an_output_to_a_path_of_a_variable_of_this_name_has_nothing_of_the_context(engine):
    run(engine, model(start(), task("work", outputs=[("=1", "camunda.mine")]), task("wait"), "start > work > wait"))
    engine.complete("work")
    assert engine.variables("p") == {"camunda": {"mine": 1}}


def test_jobs_get_no_context(engine):
    run(engine, model(start(), task("work", inputs=[("=camunda.vars.env.limit", "x")]), "start > work"))
    assert engine.variables("work") == {"x": 10}
    assert engine.variables("p") == {}


def test_a_condition_that_starts_an_instance_sees_the_variables_and_no_instance(engine):
    condition = "=x > camunda.vars.env.limit and camunda.processInstance.key = null"
    engine.deploy(model(f'<startEvent id="s">{when(condition)}</startEvent>', task("work"), "s > work"))
    assert engine.accepted(EvaluateConditionals(raw({"x": 10}))).response.process_instances == ()
    assert len(engine.accepted(EvaluateConditionals(raw({"x": 11}))).response.process_instances) == 1


def test_a_decision_that_a_request_evaluates_sees_the_variables_and_no_instance(engine):
    engine.deploy(one("Rate", "[camunda.vars.env.limit, camunda.processInstance.key, x]"), name="rate.dmn")
    reply = engine.accepted(EvaluateDecision(decision_id="Rate", variables=raw({"x": 1}))).response
    assert reply.output == "[10,null,1]"
    reply = engine.accepted(EvaluateDecision(decision_id="Rate", variables=raw({"camunda": {}}))).response
    assert reply.output == "[null,null,null]"


TIMER = "<timerEventDefinition><timeCycle>{}</timeCycle></timerEventDefinition>"


def begun_by_timer(text):
    return model(f'<startEvent id="s">{TIMER.format(text)}</startEvent>', task("work"), "s > work")


def test_a_timer_that_starts_instances_sees_them_when_its_version_becomes_the_latest(engine):
    engine.memory.set_cluster_variables({"every": "R/PT10S"})
    engine.deploy(begun_by_timer("=camunda.vars.cluster.every"))
    (timer,) = engine.state.timers.values()
    assert timer.due_at == engine.memory.now + 10_000
    engine.memory.set_cluster_variables({"every": "never"})
    with pytest.raises(AssertionError):
        engine.deploy(begun_by_timer(" =camunda.vars.cluster.every"))
    rejection = engine.memory.log[-1].handled[0].rejection
    assert "Expected to deploy process 'p', but element 's': Invalid timer cycle expression" in rejection.reason


def test_a_former_version_whose_timer_has_become_invalid_is_not_made_the_latest(engine):
    engine.memory.set_cluster_variables({"every": "R/PT10S"})
    engine.deploy(begun_by_timer("=camunda.vars.cluster.every"))
    [latest] = engine.deploy(model(start(), task("work"), "start > work"))
    engine.memory.set_cluster_variables({})
    rejection = engine.run(DeleteResource(latest)).rejection
    assert "Expected to make a former version the latest one of process 'p'" in rejection.reason
    engine.memory.set_cluster_variables({"every": "R/PT20S"})
    engine.accepted(DeleteResource(latest))
    (timer,) = (one for one in engine.state.timers.values() if one.state == "PENDING")
    assert timer.due_at == engine.memory.now + 20_000


def test_names_of_messages_that_start_instances_cannot_use_it(engine):
    message = '<message id="m" name="=camunda.vars.cluster.url"/>'
    event = '<startEvent id="s"><messageEventDefinition messageRef="m"/></startEvent>'

    with pytest.raises(InvalidDeployment, match="cannot use variables, those of the cluster included"):
        engine.deploy(model(event, task("work"), "s > work", beside=(message,)))


def test_golden_trace(engine, golden):
    engine.memory.set_cluster_variables({"limit": 10})
    condition = flow("x", "big", "=total > camunda.vars.env.limit", "x-big")
    run(
        engine,
        model(
            start(),
            xor("x", default="x-small"),
            task("small"),
            flow("x", "small", id="x-small"),
            condition,
            task("big", inputs=[("=camunda.vars.env.limit", "limit")]),
            "start > x",
        ),
        total=11,
    )
    golden("cluster_variables", "\n".join(engine.trace) + "\n")
