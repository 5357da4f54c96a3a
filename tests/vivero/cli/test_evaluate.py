"""`vivero evaluate`: decisions of files, one by one and as a batch, without a server."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.core.dmn.models import SERVICE, decision, definitions, inputs, literal, table
from vivero.cli import main

EXAMPLE = Path(__file__).parents[3] / "examples" / "decisions" / "discount.dmn"


LARGE = literal("for row in [for cell in 1..1000 return 100000 + cell] return for each in 1..1000 return row")
"""A value with seven million characters as JSON."""


def evaluate(*arguments, **options):
    return CliRunner().invoke(main, ["evaluate", *map(str, arguments)], catch_exceptions=False, **options)


def lines(result):
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.parametrize(
    "given",
    [("--variables", '{"total": 200, "customer": "gold"}'), ("--context", '{total: 200, customer: "gold"}')],
)
@pytest.mark.parametrize("name", ["price", "Price"])
def test_a_decision_by_id_or_name(given, name):
    result = evaluate(EXAMPLE, "--decision", name, *given)
    assert (result.exit_code, result.stdout, result.stderr) == (0, "180\n", "")


def test_json_tells_the_inputs_and_rules():
    result = evaluate(EXAMPLE, "--decision", "Price", "--variables", '{"total": 200, "customer": "gold"}', "--json")
    [found] = lines(result)
    assert found == {
        "result": 180,
        "failure": None,
        "decisions": [
            {
                "decision": "discount",
                "name": "Discount",
                "result": 0.1,
                "inputs": ["gold", 200],
                "matchedRules": [{"rule": 3, "outputs": [0.1]}],
            },
            {"decision": "price", "name": "Price", "result": 180, "inputs": [], "matchedRules": []},
        ],
    }


def test_json_has_numbers_that_no_double_has(file):
    """JSON has no infinite numbers."""
    path = file(decision("d", literal('{large: 1e400, text: "ñ"}')))
    result = evaluate(path, "--json", env={"PYTHONIOENCODING": "ascii"})
    [found] = (json.loads(line, parse_float=str) for line in result.stdout.splitlines())
    assert found["result"] == found["decisions"][0]["result"]
    assert found["result"] == {"large": "1E+400", "text": "ñ"}


@pytest.fixture
def file(tmp_path):
    def write(content, name="file.dmn"):
        path = tmp_path / name
        path.write_bytes(definitions(content))
        return path

    return write


def test_the_only_decision_needs_no_name(file):
    assert evaluate(file(decision("d", literal('date("2026-01-31")')))).stdout == '"2026-01-31"\n'


def test_dates_of_json_are_texts_and_those_of_feel_are_not(tmp_path):
    content = inputs("day", type="date") + decision("d", literal("day.year"), inputs=["day"])
    (path := tmp_path / "f.dmn").write_bytes(definitions(content))
    given = {"--variables": '{"day": "2026-01-31"}', "--context": '{day: @"2026-01-31"}'}
    assert [evaluate(path, *each).stdout for each in given.items()] == ["2026\n", "2026\n"]
    assert evaluate(path, "--context", '{day: "2026-01-31"}').stdout == "null\n"


def test_the_mode_can_be_chosen(file):
    path = file(decision("d", literal("5[1]")))
    assert evaluate(path).stdout == "5\n"
    camundas = evaluate(path, "--mode", "camunda")
    assert camundas.stdout == "null\n"
    assert camundas.stderr == "warning: Expected list but found '5'\n"


def test_a_value_that_is_too_large_for_json_is_left_out_of_the_explanation(file):
    path = file(decision("large", LARGE) + decision("small", literal("count(large)"), decisions=["large"]))
    assert evaluate(path, "--decision", "small").stdout == "1\n"
    result = evaluate(path, "--decision", "small", "--json")
    assert result.exit_code == 0
    [found] = lines(result)
    assert found["result"] == 1
    said = "The JSON text exceeds the limit of 4000000 characters"
    assert found["decisions"] == [
        {"decision": "large", "name": "large", "result": None, "inputs": [], "matchedRules": [], "notShown": said},
        {"decision": "small", "name": "small", "result": 1, "inputs": [], "matchedRules": []},
    ]


def test_inputs_and_outputs_that_are_too_large_are_left_out(file):
    logic = table(["big"], ["out"], [["-", "big"]])
    path = file(
        decision("big", LARGE)
        + decision("t", logic, decisions=["big"])
        + decision("n", literal("count(t)"), decisions=["t"])
    )
    [found] = lines(evaluate(path, "--decision", "n", "--json"))
    explained = found["decisions"][1]
    assert (explained["inputs"], explained["matchedRules"]) == ([None], [{"rule": 1, "outputs": [None]}])
    assert "exceeds the limit" in explained["notShown"]


def test_all_problems_are_shown_with_their_lines(file):
    path = file(decision("a", literal("1 +")) + "\n" + decision("b", literal("")))
    result = evaluate(path, "--decision", "a")
    assert result.exit_code == 1
    assert "file.dmn" in result.stderr
    assert "line 3" in result.stderr
    assert "The expression 'null' must not be empty." in result.stderr
    assert "FEEL expression: failed to parse '1 +'" in result.stderr


def test_a_failure_names_the_decision(file):
    path = file(decision("a", literal("for i in 1..10000000 return i")))
    result = evaluate(path)
    assert result.exit_code == 1
    assert "Expected to evaluate decision 'a', but The range 1..10000000 exceeds the limit" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "text"),
    [
        ((EXAMPLE,), 2, "name one with --decision: there are 'Discount', 'Price'"),
        ((EXAMPLE, "--decision", "Prize"), 1, "there is no decision 'Prize'; there are 'Discount', 'Price'"),
        ((EXAMPLE, "--decision", "Price", "--context", "1"), 2, "must be a FEEL context"),
        ((EXAMPLE, "--decision", "Price", "--context", "{a"), 2, "expected"),
        ((EXAMPLE, "--variables", "{}", "--context", "{}"), 2, "give one of --variables, --context and --batch"),
        ((EXAMPLE, "--mode", "drools"), 2, "'drools' is not one of"),
        (("nowhere.dmn",), 1, "nowhere.dmn"),
    ],
)
def test_what_is_wrong(arguments, code, text):
    result = evaluate(*arguments)
    assert result.exit_code == code
    assert text in result.stderr


def test_a_batch_gives_one_line_for_each_in_order(file):
    path = file(SERVICE + decision("now", literal('[@"2026-01-31", {a b: "x\\"y"}, [1..2], 1.50, null]')))
    batch = [
        {"decision": "now"},
        {"service": "s", "context": "{x: 1, low: 5}"},
        {"decision": "calls", "context": "{}"},
        {"decision": "nowhere"},
        {"decision": "calls", "context": "1"},
        ["no object"],
        {"decision": "calls", "context": 5},
    ]
    given = [*map(json.dumps, batch), "not json", "[" * 100_000]
    result = evaluate(path, "--batch", "-", input="\n".join(given))
    assert result.exit_code == 0
    good, bad = lines(result)[:3], lines(result)[3:]
    assert good == [
        {"result": '[@"2026-01-31", {"a b": "x\\"y"}, [1..2], 1.50, null]'},
        {"result": "{high: 6, other: 12}"},
        {"result": "22"},
    ]
    assert [list(each) for each in bad] == [["error"]] * 6
    assert bad[0] == {"error": "there is no decision 'nowhere'"}
    assert bad[-1] == {"error": "it is nested too deeply"}


def test_a_batch_evaluates_what_has_no_problem(file):
    path = file(decision("good", literal("1")) + decision("bad", literal("1 +")))
    result = evaluate(path, "--mode", "camunda", "--batch", "-", input='{"decision": "good"}\n{"decision": "bad"}\n')
    assert lines(result)[0] == {"result": "1"}
    assert "FEEL expression: failed to parse '1 +'" in lines(result)[1]["error"]
    assert "FEEL expression: failed to parse '1 +'" in result.stderr


def test_a_batch_of_a_file_that_cannot_be_read_answers_each_line(tmp_path):
    path = tmp_path / "f.dmn"
    path.write_text("nothing")
    result = evaluate(path, "--batch", "-", input='{"decision": "a"}\n')
    assert "not well-formed XML" in lines(result)[0]["error"]
