"""Evaluations of decisions by clients: a command of its own, outside of all instances."""

import pytest

from tests.core.decision_models import one, prices
from tests.core.dmn.models import decision, definitions, inputs, literal
from tests.core.engine import Engine, raw
from vivero.core.execution.step import StepLimits
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.codec import decode_command, encode_command
from vivero.core.records.decision_evaluations import EvaluateDecision
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.rules import CHARACTERS_PER_STEP
from vivero.core.shared.decision_audit import VALUE_CHARACTERS


def evaluate(engine, id=None, key=None, tenant="<default>", **variables):
    command = EvaluateDecision(id, key, raw(variables))
    assert decode_command(command.intent, encode_command(command)) == command
    return engine.memory.run(command, tenant)


def instances(engine):
    return [row for (kind, _), row in sorted(engine.rows.items()) if kind == "DecisionInstance"]


def test_the_answer_has_the_result_and_all_decisions(engine):
    deployed = engine.memory.deploy(prices(), "shop.dmn")
    handled = evaluate(engine, "Price", total=200, customer="gold")
    reply = handled.response
    keys = {one.decision_definition_id: one.decision_definition_key for one in deployed.decisions}
    assert (reply.decision_definition_id, reply.decision_definition_key) == ("Price", keys["Price"])
    assert (reply.output, reply.failure_message, reply.failed_decision_definition_id) == ("180", None, None)
    assert (reply.decision_requirements_id, reply.decision_requirements_key) == (
        "shop",
        deployed.requirements[0].decision_requirements_key,
    )
    assert [(each.id, each.definition_key, each.result) for each in reply.decisions] == [
        ("Discount", keys["Discount"], "0.1"),
        ("Price", keys["Price"], "180"),
    ]
    assert [(row["evaluation"], row["number"]) for row in instances(engine)] == [
        (reply.decision_evaluation_key, 1),
        (reply.decision_evaluation_key, 2),
    ]
    assert handled.root is None


def test_a_version_is_evaluated_by_its_key(engine):
    first = engine.memory.deploy(prices(), "shop.dmn")
    engine.memory.deploy(prices("0.5"), "shop.dmn")
    key = next(one.decision_definition_key for one in first.decisions if one.decision_definition_id == "Price")
    assert evaluate(engine, key=key, total=200, customer="gold").response.output == "180"
    assert evaluate(engine, "Price", total=200, customer="gold").response.output == "100"


def test_dates_come_as_texts(engine):
    """JSON has no dates: in DMN mode, the type of the input tells them."""
    content = inputs("day", type="date") + decision("Year", literal("day.year"), inputs=["day"])
    engine.memory.deploy(definitions(content), "years.dmn")
    assert evaluate(engine, "Year", day="2026-01-31").response.output == "2026"
    assert evaluate(engine, "Year", day="soon").response.output == "null"


def test_a_failure_is_an_answer_and_its_audit_is_kept(engine):
    engine.memory.deploy(prices(), "shop.dmn")
    reply = evaluate(engine, "Price", total=2000, customer="gold").response
    assert (reply.output, reply.failed_decision_definition_id) == ("null", "Discount")
    assert reply.failure_message.startswith("Expected to evaluate decision 'Price', but decision 'Discount'")
    assert [(row["decision_id"], row["state"]) for row in instances(engine)] == [("Discount", "FAILED")]
    assert [rule.index for rule in reply.decisions[0].rules] == [2, 3]


@pytest.mark.parametrize(
    ("named", "text"),
    [
        ({"id": "Nope"}, "Expected to evaluate decision 'Nope', but no decision found for id 'Nope'"),
        ({"key": 77}, "Expected to evaluate decision '77', but no decision found for key '77'"),
        ({"id": "Price", "tenant": "t"}, "Expected to evaluate decision 'Price', but no decision found for id 'Price'"),
    ],
)
def test_an_unknown_decision_is_rejected(engine, named, text):
    engine.memory.deploy(prices(), "shop.dmn")
    assert evaluate(engine, **named).rejection == Rejection(RejectionCode.NOT_FOUND, text)
    assert instances(engine) == []


def test_a_key_of_another_tenant_is_unknown(engine):
    deployed = engine.memory.deploy(prices(), "shop.dmn", "t")
    key = deployed.decisions[0].decision_definition_key
    assert evaluate(engine, key=key).rejection.code is RejectionCode.NOT_FOUND
    assert evaluate(engine, key=key, tenant="t", total=1, customer="x").rejection is None


def test_after_the_deletion_of_the_latest_the_one_before_is_evaluated_and_then_none(engine):
    replies = [engine.memory.deploy(prices(rate), "shop.dmn") for rate in ("0.1", "0.5")]
    for reply, expected in zip(reversed(replies), ("180", None), strict=True):
        engine.run(DeleteResource(reply.requirements[0].decision_requirements_key))
        response = evaluate(engine, "Price", total=200, customer="gold").response
        assert (response and response.output) == expected


def test_a_hostile_decision_ends_by_its_budget():
    engine = Engine(StepLimits(stage_steps=50_000))
    engine.memory.deploy(one("H", "for i in 1..100000, j in 1..100000 return i"), "h.dmn")
    reply = evaluate(engine, "H").response
    assert "25000 steps" in reply.failure_message
    assert evaluate(engine, "H").response.failure_message == reply.failure_message


def test_a_value_that_no_variable_may_have_is_a_failure(engine):
    engine.memory.deploy(one("L", "for i in 1..3000 return for j in 1..9 return [[i], string(j), 0.5]"), "l.dmn")
    reply = evaluate(engine, "L").response
    assert reply.output == "null" or len(reply.output) > 100_000


def test_values_whose_texts_are_cut_cost_as_many_steps_as_long_texts(engine):
    """64 lists in lists have long texts, although their expressions take few steps."""
    doubling = "".join(
        decision(f"d{n}", literal(f"[d{n - 1}, d{n - 1}]"), decisions=[f"d{n - 1}"]) for n in range(1, 64)
    )
    engine.memory.deploy(definitions(decision("d0", literal("1")) + doubling), "doubling.dmn")
    reply = evaluate(engine, "d63").response
    assert "limit of 4000000 characters" in reply.failure_message
    cut = [each.result for each in reply.decisions if each.result.endswith("…") and each.result != "…"]
    assert {text.count("1") + text.count("[") + text.count("]") + text.count(",") for text in cut} <= {*range(498, 502)}
    assert len(cut) * VALUE_CHARACTERS // CHARACTERS_PER_STEP <= reply.steps <= 60_000
