"""Hostile decisions end by the budget of the evaluation, and the failure names the decision and the limit."""

import pytest

from tests.core.dmn.models import decision, definitions, function, literal, run, table
from vivero.core.dmn import evaluate, read_decisions

DOUBLING = "".join(decision(f"d{n}", literal(f"[d{n - 1}, d{n - 1}]"), decisions=[f"d{n - 1}"]) for n in range(1, 64))
TYPED = '<itemDefinition name="tDeep" isCollection="true"><typeRef>tDeep</typeRef></itemDefinition>'
LONG = " or ".join(f"x{n} > {n}" for n in range(500))
RECURSION = function("f", ["n"], literal("f(n + 1)"), ["f"]) + decision("bad", literal("f(1)"), knowledge=["f"])
HOSTILE = {
    "range": (decision("bad", literal("count(for i in 1..10000000 return i)")), "range_size"),
    "loops": (
        decision("bad", literal("count(for i in 1..1000, j in 1..1000, k in 1..1000 return 1)")),
        "steps",
    ),
    "recursion": (RECURSION, "nesting_depth"),
    "loop of tables": (
        function("f", ["n"], table(["n"], ["out"], [[f"> {n}", "1"] for n in range(500)], "COLLECT"))
        + decision("bad", literal("for i in 1..90000 return f(i)"), knowledge=["f"]),
        "steps",
    ),
    "text": (
        decision("bad", literal('for i in 1..40 return if i = 1 then "x" else partial[-1] + partial[-1]')),
        "string_size",
    ),
    "result": (
        decision("d0", literal("1")) + DOUBLING + decision("bad", literal("d63"), decisions=["d63"]),
        "output_size",
    ),
    "types": (
        TYPED
        + decision("d0", literal("[]"))
        + DOUBLING
        + decision("bad", literal("d63"), decisions=["d63"], type="tDeep"),
        "steps",
    ),
}


@pytest.mark.parametrize("mode", ["dmn", "camunda"])
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_decisions_end(name, mode):
    content, limit = HOSTILE[name]
    if mode == "camunda" and name in ("recursion", "types"):
        pytest.skip("Camunda's mode refuses recursion and knows no types")
    failure = run(content, "bad", mode).failure
    assert failure is not None
    assert (failure.key.id, failure.limit) == ("bad", limit), failure.message


def test_the_budget_is_one_for_all_decisions():
    content = "".join(decision(f"d{n}", literal("count(for i in 1..10000 return i)")) for n in range(10))
    content += decision("all", literal("1"), decisions=[f"d{n}" for n in range(10)])
    read = read_decisions({"f": definitions(content)}, steps=50_000)
    failure = evaluate(read.decisions, read.decisions.find("all"), {}).failure
    assert (failure.key.id, failure.limit) == ("d2", "steps")
    assert "50000 steps" in failure.message


def test_a_table_that_is_too_long_for_the_budget_fails():
    rules = [[f"> {n}", "1"] for n in range(2000)]
    content = definitions(decision("d", table(["1"], ["out"], rules, "COLLECT")))
    read = read_decisions({"f": content}, steps=1000)
    assert evaluate(read.decisions, read.decisions.find("d"), {}).failure.limit == "steps"
