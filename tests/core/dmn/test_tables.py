"""Decision tables: cells, hit policies, defaults, allowed values (DMN 1.5, chapter 8; docs/decisions.md)."""

from decimal import Decimal

import pytest

from tests.core.dmn import models
from tests.core.dmn.models import decision, inputs, run, table, value


def deciding(rules, policy="UNIQUE", outputs=("out",), **options):
    return inputs("x") + decision("d", table(["x"], outputs, rules, policy, **options), inputs=["x"])


GRADES = deciding([["< 10", '"low"'], ["[10..20)", '"middle"'], [">= 20", '"high"']])


@pytest.mark.parametrize(("x", "expected"), [(9, "low"), (10, "middle"), (20, "high"), (None, None), ("text", None)])
@pytest.mark.parametrize("mode", ["dmn", "camunda"])
def test_the_rule_that_matches_gives_the_output(mode, x, expected):
    assert value(GRADES, "d", mode, x=x) == expected


@pytest.mark.parametrize("cell", ["-", "", "?", "not(null)"])
def test_empty_cells_match_everything(cell):
    assert value(deciding([[cell, "1"]]), "d", x=True) == 1


def test_an_empty_output_is_null():
    assert value(deciding([["-", ""]]), "d", x=1) is None


def test_several_outputs_make_a_context():
    content = deciding([["1", '"a"', "2"]], outputs=["first", "second one"])
    assert value(content, "d", x=1) == {"first": "a", "second one": 2}


TWICE = [["> 1", '"a"'], ["> 2", '"b"'], ["> 3", '"b"']]


def test_unique_refuses_a_second_hit_and_shows_the_rules():
    evaluation = run(deciding(TWICE), "d", "camunda", x=3)
    assert evaluation.failure is not None
    assert evaluation.failure.message == (
        'multiple values aren\'t allowed for UNIQUE hit policy. found: \'["a", "b"]\''
    )
    [result] = evaluation.decisions
    assert result.inputs == (3,)
    assert [(each.rule, each.outputs) for each in result.matched] == [(0, ("a",)), (1, ("b",))]


def test_in_dmn_mode_a_violation_is_null_with_a_warning():
    evaluation = run(deciding(TWICE), "d", "dmn", x=3)
    assert (evaluation.value, evaluation.failure) == (None, None)
    assert "UNIQUE" in evaluation.warnings[0].message
    assert len(evaluation.decisions[0].matched) == 2


@pytest.mark.parametrize(
    ("policy", "x", "expected"),
    [
        ("FIRST", 3, "a"),
        ("RULE ORDER", 2, ["a"]),
        ("RULE ORDER", 4, ["a", "b", "b"]),
        ("COLLECT", 3, ["a", "b"]),
        ("RULE ORDER", 0, None),
        ("COLLECT", 0, None),
        ("ANY", 2, "a"),
    ],
)
@pytest.mark.parametrize("mode", ["dmn", "camunda"])
def test_hit_policies(mode, policy, x, expected):
    assert value(deciding(TWICE, policy), "d", mode, x=x) == expected


def test_any_demands_equal_outputs():
    equal = deciding([["-", "1"], ["-", "1.0"]], "ANY")
    assert value(equal, "d", "camunda", x=1) == 1
    failure = run(deciding(TWICE, "ANY"), "d", "camunda", x=3).failure
    assert failure is not None
    assert failure.message == 'different values aren\'t allowed for ANY hit policy. found: \'["a", "b"]\''


def test_first_evaluates_no_rule_behind_the_first_hit():
    content = deciding([["1", '"a"'], ["assert(?, false)", '"b"']], "FIRST")
    assert value(content, "d", "camunda", x=1) == "a"


PRIORITIES = ", ".join(f'"p{number}"' for number in range(12))
MANY = [["-", '"p10"'], ["-", '"p2"'], ["-", '"other"'], ["-", '"p11"'], ["-", '"p2"']]


def test_priority_counts_places_and_not_texts():
    assert value(deciding(MANY, "PRIORITY", [f"out|{PRIORITIES}"]), "d", x=1) == "p2"


def test_output_order_sorts_and_puts_other_values_last():
    content = deciding(MANY, "OUTPUT ORDER", [f"out|{PRIORITIES}"])
    assert value(content, "d", x=1) == ["p2", "p2", "p10", "p11", "other"]


def test_values_with_commas_are_values_all_the_same():
    content = deciding([["-", '"c"'], ["-", '"a,b"']], "PRIORITY", ['out|"a,b","c"'])
    assert value(content, "d", x=1) == "a,b"


def test_priorities_of_several_columns_count_from_left_to_right():
    rules = [["-", '"b"', '"x"'], ["-", '"a"', '"y"'], ["-", '"a"', '"x"']]
    content = deciding(rules, "OUTPUT ORDER", ['first|"a","b"', 'second|"x","y"'])
    assert [(row["first"], row["second"]) for row in value(content, "d", x=1)] == [("a", "x"), ("a", "y"), ("b", "x")]


NUMBERS = [["> 1", "2"], ["> 2", "3.5"], ["> 3", "2"]]


@pytest.mark.parametrize(
    ("aggregation", "expected"), [("SUM", Decimal("7.5")), ("MIN", 2), ("MAX", Decimal("3.5")), ("COUNT", 3)]
)
@pytest.mark.parametrize("mode", ["dmn", "camunda"])
def test_aggregations(mode, aggregation, expected):
    assert value(deciding(NUMBERS, "COLLECT", aggregation=aggregation), "d", mode, x=4) == expected


def test_a_count_without_a_hit_is_zero_in_dmn_and_null_in_camunda():
    content = deciding(NUMBERS, "COLLECT", aggregation="COUNT")
    assert value(content, "d", "dmn", x=0) == 0
    assert value(content, "d", "camunda", x=0) is None


def test_a_sum_of_texts_fails():
    failure = run(deciding([["-", '"a"']], "COLLECT", aggregation="SUM"), "d", "camunda", x=0).failure
    assert failure is not None
    assert failure.message == "expected number but found '\"a\"'"


def test_the_least_of_texts_is_a_text():
    assert value(deciding([["-", '"b"'], ["-", '"a"']], "COLLECT", aggregation="MIN"), "d", x=0) == "a"


@pytest.mark.parametrize("policy", ["UNIQUE", "COLLECT", "RULE ORDER"])
def test_defaults_count_when_no_rule_matches(policy):
    content = deciding([["1", '"a"', "1"]], policy, ['first||"none"', "second"])
    assert value(content, "d", x=2) == {"first": "none", "second": None}


def test_inputs_must_be_allowed_in_dmn_mode_only():
    content = deciding([["-", "1"]], values='"a", "b"')
    assert value(content, "d", "dmn", x="a") == 1
    evaluation = run(content, "d", "dmn", x="c")
    assert evaluation.value is None
    assert "allowed" in evaluation.warnings[0].message
    assert value(content, "d", "camunda", x="c") == 1


CONDITION = inputs("x", "y") + decision("d", table(["x"], ["out"], [["y", '"same"']]), inputs=["x", "y"])


def test_a_boolean_without_the_input_is_a_verdict_for_camunda_and_compared_in_dmn():
    assert value(CONDITION, "d", "camunda", x=False, y=True) == "same"
    assert value(CONDITION, "d", "dmn", x=False, y=True) is None
    assert value(CONDITION, "d", "dmn", x=False, y=False) == "same"


def test_a_boolean_of_the_input_is_a_verdict():
    assert value(deciding([["? = 2 or ? = 3", '"hit"']]), "d", "dmn", x=3) == "hit"


@pytest.mark.parametrize("rules", [10, 300])
@pytest.mark.parametrize("mode", ["dmn", "camunda"])
def test_an_index_finds_what_a_walk_finds(rules, mode, seed):
    """Long tables have an index and filters. Each one gives what the short table of each rule alone gives."""
    import random

    choose = random.Random(seed)
    cells = ['"a"', '"b"', '"a","b"', "1", "1.0", "true", "-", "null", "not(1)", "> 0", '"c", 1']
    cells += ["[1..3)", "(0.5..1]", "<= 1", "< -0.5", '< "b"', '["a".."b")', "= 1", '>= "b"', "? != 1", "(3..1)"]
    many = [[choose.choice(cells), choose.choice(cells), str(number)] for number in range(rules)]
    content = inputs("x", "y") + decision("d", table(["x", "y"], ["out"], many, "COLLECT"), inputs=["x", "y"])
    for x, y in zip(("a", "c", 1, Decimal("1.0"), Decimal("0.9"), -1, 3, True, None, [1]), ("b", 1) * 5, strict=True):
        alone = [
            number
            for number, (first, second, _) in enumerate(many)
            if passes(mode, first, x) and passes(mode, second, y)
        ]
        assert value(content, "d", mode, x=x, y=y) == (alone or None)


def passes(mode, cell, x, known={}):  # noqa: B006  the verdicts that are known
    key = mode, cell, repr(x)
    if key not in known:
        known[key] = models.value(deciding([[cell, "1"]]), "d", mode, x=x) == 1
    return known[key]
