"""Business rule tasks that call decisions; whole and in quanta of one item."""

import json

import pytest

from tests.core.decision_models import file, one, prices, rule
from tests.core.dmn.models import decision, literal, table
from tests.core.engine import Engine
from tests.core.event_models import LIMITS, boundary, ended, loop, model
from tests.core.models import end, start, sub, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.codec import decode_events, encode_events
from vivero.core.records.decision_evaluations import DecisionEvaluated

TIMER = "<timerEventDefinition><timeDuration>PT1S</timeDuration></timerEventDefinition>"
WHOLE = model(start(), rule("r"), end(), "start > r > end")


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def deploy(engine, content, name="shop.dmn"):
    return engine.memory.deploy(content, name)


def run(engine, model, decisions, **variables):
    deploy(engine, decisions)
    engine.deploy(model)
    return engine.start(**variables)


def instances(engine):
    return [row for (kind, _), row in sorted(engine.rows.items()) if kind == "DecisionInstance"]


def evaluations(engine):
    events = (event for logged in engine.memory.log for handled in logged.handled for event in handled.events)
    return [event for event in events if isinstance(event, DecisionEvaluated)]


def test_the_result_becomes_a_variable_and_each_decision_a_row(engine):
    key = run(engine, WHOLE, prices(), total=200, customer="gold")
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p") == {"total": 200, "customer": "gold", "price": 180}
    discount, price = instances(engine)
    assert [(row["decision_id"], row["number"], row["state"], row["result"]) for row in (discount, price)] == [
        ("Discount", 1, "EVALUATED", "0.1"),
        ("Price", 2, "EVALUATED", "180"),
    ]
    assert [(row["type"], row["version"]) for row in (discount, price)] == [
        ("DECISION_TABLE", 1),
        ("LITERAL_EXPRESSION", 1),
    ]
    assert discount["key"] == discount["evaluation"] + 1
    assert price["key"] == discount["evaluation"] + 2
    assert {row["asked"] for row in (discount, price)} == {price["decision"]}
    (event,) = evaluations(engine)
    table_ = event.decisions[0]
    assert [(each.id, each.name, each.value) for each in table_.inputs] == [
        ("input_1", "total", "200"),
        ("input_2", "customer", '"gold"'),
    ]
    assert [(each.id, each.index, [(o.id, o.name, o.value) for o in each.outputs]) for each in table_.rules] == [
        ("r2", 2, [("output_1", "rate", "0.1")])
    ]
    assert decode_events(encode_events([event])) == (event,)


def test_an_output_mapping_keeps_the_result_inside(engine):
    mapped = rule("r", outputs=[("=price + 1", "shown")])
    run(engine, model(start(), mapped, "start > r"), prices(), total=10, customer="x")
    assert engine.variables("p") == {"total": 10, "customer": "x", "shown": 11}
    assert engine.variables("r") == {"price": 10}


def test_the_id_may_be_an_expression(engine):
    run(engine, model(start(), rule("r", '="Disc" + "ount"', "d"), "start > r"), prices(), total=10, customer="x")
    assert engine.variables("p")["d"] == 0


def test_an_id_that_is_no_text_is_an_incident(engine):
    run(engine, model(start(), rule("r", "=1 + 1"), "start > r"), prices())
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("r", "EXTRACT_VALUE_ERROR")
    assert "to be 'STRING', but was 'NUMBER'" in message
    assert instances(engine) == []


@pytest.mark.parametrize(
    ("binding", "found"),
    [
        ({}, ""),
        ({"binding": "deployment"}, " in the deployment of the process"),
        ({"binding": "versionTag", "tag": "v1"}, " and version tag 'v1'"),
    ],
)
def test_a_missing_decision_is_an_incident_that_a_deployment_solves(engine, binding, found):
    # a model that was deployed together with a decision, which is deleted
    reply = engine.memory.deploy_all({"p.bpmn": model(start(), rule("r", **binding), "start > r"), "s.dmn": prices()})
    engine.run(DeleteResource(reply.requirements[0].decision_requirements_key))
    key = engine.start(total=200, customer="gold")
    assert engine.incidents == [
        (
            "r",
            "CALLED_DECISION_ERROR",
            f"Expected to evaluate decision 'Price', but no decision found for id 'Price'{found}",
        )
    ]
    if binding:
        return
    deploy(engine, prices("0.2"))
    engine.resolve()
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p")["price"] == 160


def test_a_binding_by_deployment_takes_the_version_of_the_process(engine):
    bound = model(start(), rule("r", binding="deployment"), "start > r")
    engine.memory.deploy_all({"p.bpmn": bound, "shop.dmn": prices()})
    deploy(engine, prices("0.5"))
    engine.start(total=200, customer="gold")
    assert engine.variables("p")["price"] == 180


def test_the_latest_version_counts(engine):
    deploy(engine, prices())
    run(engine, WHOLE, prices("0.5"), total=200, customer="gold")
    assert engine.variables("p")["price"] == 100
    assert [row["version"] for row in instances(engine)] == [2, 2]


def test_a_violated_hit_policy_is_an_incident_with_the_rules_and_resolving_evaluates_again(engine):
    key = run(engine, WHOLE, prices(), total=2000, customer="gold")
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("r", "DECISION_EVALUATION_ERROR")
    assert message == (
        "Expected to evaluate decision 'Price', but decision 'Discount', which it requires, failed: multiple values "
        "aren't allowed for UNIQUE hit policy. found: '[0.1, 0.3]' (matched rules: 2, 3)"
    )
    (failed,) = instances(engine)
    assert (failed["decision_id"], failed["state"], failed["failure"]) == ("Discount", "FAILED", message)
    deploy(engine, prices(policy="FIRST"))
    engine.resolve()
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p")["price"] == 1800
    assert [row["state"] for row in instances(engine)] == ["FAILED", "EVALUATED", "EVALUATED"]


def test_resolving_maps_the_inputs_again(engine):
    mapped = rule("r", inputs=[("=amount", "total")])
    key = run(engine, model(start(), mapped, "start > r"), prices(), amount=2000, customer="gold")
    assert len(engine.incidents) == 1
    engine.set(key, amount=200)
    engine.resolve()
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p")["price"] == 180


def test_an_output_mapping_that_fails_does_not_evaluate_again(engine):
    mapped = rule("r", outputs=[("=assert(ready, ready)", "x")])
    key = run(engine, model(start(), mapped, "start > r"), prices(), total=10, customer="x", ready=False)
    assert [type_ for _, type_, _ in engine.incidents] == ["IO_MAPPING_ERROR"]
    engine.set(key, ready=True)
    engine.resolve()
    assert ended(engine, key) == "COMPLETED"
    assert len(evaluations(engine)) == 1


def test_boundary_events_are_open_for_no_moment(engine):
    guarded = model(start(), rule("r"), boundary("late", "r", TIMER), end(), "start > r > end")
    key = run(engine, guarded, prices(), total=10, customer="x")
    assert ended(engine, key) == "COMPLETED"
    assert engine.state.timers == {}


def test_a_decision_in_a_loop_sees_the_item(engine):
    looped = loop(rule("r"), "=totals", item="total", output="=price", into="prices")
    key = run(engine, model(start(), looped, "start > r"), prices(), totals=[10, 200, 500], customer="gold")
    assert ended(engine, key) == "COMPLETED"
    assert engine.variables("p")["prices"] == [10, 180, 450]
    assert len(evaluations(engine)) == 3


def test_a_decision_in_a_sub_process_sees_all_variables_around_it(engine):
    inner = sub("s", start("i"), rule("r"), task("t"), "i > r > t", inputs=[("=200", "total")])
    run(engine, model(start(), inner, "start > s"), prices(), total=1, customer="gold")
    assert engine.variables("p")["price"] == 180


def test_an_endless_decision_ends_by_the_budget_of_the_stage():
    engine = Engine(StepLimits(stage_steps=50_000))
    hostile = one("Price", "count(for i in 1..10000, j in 1..10000 return i * j)")
    run(engine, WHOLE, hostile)
    ((_, type_, message),) = engine.incidents
    assert type_ == "DECISION_EVALUATION_ERROR"
    assert message == (
        "Expected to evaluate decision 'Price', but The evaluation takes more than the limit of 25000 steps"
    )


@pytest.mark.long
def test_a_long_loop_decodes_nothing_that_a_decision_does_not_read():
    """The results so far are visible to each inner instance. All of them are more than what a stage may read."""
    engine = Engine()
    looped = loop(rule("r", "Long", "r"), "=for i in 1..300 return i", item="n", output="=r", into="results")
    key = run(
        engine, model(start(), looped, "start > r"), one("Long", 'string join(for i in 1..2000 return "x" + string(n))')
    )
    assert ended(engine, key) == "COMPLETED"
    assert len(engine.variables("p")["results"]) == 300


def test_a_chain_and_a_ladder_of_diamonds_evaluate_each_decision_once(engine):
    steps = [decision("d0a", literal("1")), decision("d0b", literal("1"))]
    for n in range(1, 31):
        below = [f"d{n - 1}a", f"d{n - 1}b"]
        steps += [decision(f"d{n}{x}", literal(f"{below[0]} + {below[1]}"), decisions=below) for x in "ab"]
    run(engine, model(start(), rule("r", "d30a", "r"), "start > r"), file(*steps))
    assert engine.variables("p")["r"] == 2**30
    assert len(instances(engine)) == 61


def test_audits_are_cut():
    engine = Engine()
    many = file(decision("Many", table(["large"], ["o"], [("-", "text")] * 1_500, "COLLECT")))
    given = {"large": "y" * 10_000, "text": "x" * 2_000}
    run(engine, model(start(), rule("r", "Many", "r"), "start > r"), many, **given)
    assert engine.incidents == [], engine.incidents
    (event,) = evaluations(engine)
    (audited,) = event.decisions
    assert len(audited.inputs[0].value) == 8_001
    assert audited.inputs[0].value.endswith("y…")
    assert audited.result.endswith("…")
    assert [rule.index for rule in audited.rules][-2:] == [1_000, 0]
    assert audited.rules[-1].id == "…"
    assert sum(len(o.value) for rule in audited.rules for o in rule.outputs) < 420_000


def test_what_json_cannot_say_is_null_as_for_all_variables(engine):
    run(engine, model(start(), rule("r", "F", "r"), "start > r"), one("F", "function(x) x"))
    assert engine.variables("p")["r"] is None


def test_values_of_an_audit_are_json(engine):
    run(engine, WHOLE, prices(), total=200, customer="gold")
    for row in instances(engine):
        json.loads(row["result"])
