"""Files of decisions: versions, what is refused and with which words, what is only a warning."""

import pytest

from tests.core.dmn.models import decision, definitions, function, inputs, literal, problems, run, table, value
from vivero.core.dmn import read_decisions
from vivero.core.dmn.model import Table

NAMESPACES = [
    "http://www.omg.org/spec/DMN/20151101/dmn.xsd",
    "http://www.omg.org/spec/DMN/20180521/MODEL/",
    "https://www.omg.org/spec/DMN/20191111/MODEL/",
    "https://www.omg.org/spec/DMN/20211108/MODEL/",
    "https://www.omg.org/spec/DMN/20230324/MODEL/",
]
ANSWER = decision("d", literal("6 * 7"), type="feel:number")


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_all_versions_are_read(namespace):
    assert value(definitions(ANSWER, namespace), "d") == 42


def test_a_later_version_is_read_with_a_warning():
    read = read_decisions({"f.dmn": definitions(ANSWER, "https://www.omg.org/spec/DMN/20270101/MODEL/")})
    assert read.problems == ()
    assert "unknown version of DMN" in read.warnings[0].message


@pytest.mark.parametrize(
    ("content", "encoding"), [("\ufeff", "utf-8"), ("", "utf-16"), ("<?xml version='1.0' encoding='UTF-8'?>", "utf-8")]
)
def test_encodings(content, encoding):
    assert value((content + definitions(ANSWER).decode()).encode(encoding), "d") == 42


@pytest.mark.parametrize("language", ["feel", "FEEL", "https://www.omg.org/spec/DMN/20191111/FEEL/"])
def test_feel_is_the_language_by_all_of_its_names(language):
    assert value(definitions(ANSWER, attributes=f'expressionLanguage="{language}"'), "d") == 42


def test_all_problems_of_a_file_are_found_with_their_lines():
    content = "\n".join(
        [
            decision("one", literal("1 +")),
            decision("two", '<literalExpression expressionLanguage="groovy"><text>1</text></literalExpression>'),
            decision("three", literal("1"), decisions=["nowhere"]),
        ]
    )
    assert problems(content) == [
        (3, "Expression language 'groovy' is not supported"),
        (4, "there is no element 'nowhere', which 'three' requires"),
    ]
    assert problems(content.replace("nowhere", "one").replace("groovy", "feel")) == [
        (
            2,
            "FEEL expression: failed to parse '1 +': line 1, column 4: expected an expression but found end of input",
        )
    ]


def in_table(rules, policy="UNIQUE", outputs=("out",), **options):
    return decision("d", table(["1"], outputs, rules, policy, **options))


CONTEXT = "<context>{}</context>"
ENTRY = '<contextEntry><variable name="a"/><literalExpression><text>1</text></literalExpression></contextEntry>'
REFUSED = {
    "FEEL unary-tests: failed to parse '< <'": in_table([["< <", "1"]]),
    "The expression 'null' must not be empty.": decision("d", literal("")),
    "Cyclic dependencies between decisions": decision("a", literal("b"), decisions=["b"])
    + decision("b", literal("a"), decisions=["a"]),
    "Cyclic dependencies between BKMs": function("f", [], literal("g()"), ["g"])
    + function("g", [], literal("f()"), ["f"]),
    "no output name defined for 'output_2'": in_table([["-", "1", "2"]], outputs=["a", ""]),
    "two outputs have the name 'a'": in_table([["-", "1", "2"]], outputs=["a", "a"]),
    "hit policy 'COLLECT' with aggregator is not defined for compound output": in_table(
        [["-", "1", "2"]], "COLLECT", ["a", "b"], aggregation="SUM"
    ),
    "an aggregation needs the hit policy 'COLLECT', not 'ANY'": in_table([["-", "1"]], "ANY", aggregation="SUM"),
    "expected row with '1' elements but found '2'": in_table([["-", "1", "2"]]),
    "expected row with '1' elements but found '0'": in_table([["-"]]),
    "the hit policy 'MOST' is none of": in_table([["-", "1"]], "MOST"),
    "unsupported decision expression 'fuzzy'": decision("d", "<fuzzy/>"),
    "external functions (kind 'PMML') are not supported": decision("d", '<functionDefinition kind="PMML"/>'),
    "an expression is missing in 'functionDefinition'": decision("d", '<functionDefinition kind="Java"/>'),
    "two elements have the id 'x'": inputs("x") + inputs("x"),
    "'decision' has no id": "<decision name='d'/>",
    "two entries of the context have the name 'a'": decision("d", CONTEXT.format(ENTRY + ENTRY)),
    "only the last entry of a context may lack a variable": decision(
        "d", CONTEXT.format(ENTRY.replace('<variable name="a"/>', "") + ENTRY)
    ),
    "two parameters have the name 'p'": function("f", ["p", "p"], literal("1")),
    "an expression is missing in 'if'": decision("d", "<conditional><if/></conditional>"),
    "'x' is not a decision, as 'd' requires": inputs("x") + decision("d", literal("1"), decisions=["x"]),
    "which is imported": '<import name="i" namespace="other" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>',
    "imported values (importedValues) are not supported": decision(
        "d", "<literalExpression><importedValues/></literalExpression>"
    ),
    "boxed expressions are nested deeper than 64 levels": decision("d", "<list>" * 70 + "</list>" * 70),
}


@pytest.mark.parametrize("expected", REFUSED)
@pytest.mark.parametrize("mode", ["dmn", "camunda"])
def test_refused(mode, expected):
    found = problems(REFUSED[expected], mode)
    assert [message for _, message in found if expected in message], found
    assert all(line is not None for line, _ in found)


@pytest.mark.parametrize(
    ("logic", "id"),
    [
        (literal("1 +"), "d"),
        (literal(""), "d"),
        (CONTEXT.format(ENTRY + ENTRY), "d"),
        (table(["x"], [""], [["<", "1"]]), "r1"),
    ],
)
def test_the_element_around_is_named_where_one_has_no_id(logic, id):
    read = read_decisions({"f.dmn": definitions(decision("d", logic))})
    assert {problem.element_id for problem in read.problems} == {id}


CALL = "<invocation><literalExpression><text>{}</text></literalExpression></invocation>"


@pytest.mark.parametrize(
    "logic",
    [
        CALL.format("f"),
        CONTEXT.format(ENTRY.replace(literal("1"), CALL.format("f"))),
        f"<list>{CALL.format('f')}</list>",
    ],
)
def test_an_invocation_of_what_does_not_exist_is_refused_as_camunda_does(logic):
    """With its place; in DMN's mode it gives null."""
    assert problems(decision("d", logic), "camunda") == [(2, "no BKM found with name 'f'")]
    assert problems(decision("d", logic), "dmn") == []


@pytest.mark.parametrize(
    "logic",
    [
        CALL.format("abs"),
        CONTEXT.format('<contextEntry><variable name="f"/>' + literal("function(x) x") + "</contextEntry>")
        .replace("</context>", f"<contextEntry>{CALL.format('f')}</contextEntry></context>"),
        f'<functionDefinition><formalParameter name="f"/>{CALL.format("f")}</functionDefinition>',
        f'<for iteratorVariable="f"><in>{literal("[abs]")}</in><return>{CALL.format("f")}</return></for>',
    ],
)  # fmt: skip
def test_an_invocation_of_what_its_place_has_is_taken(logic):
    assert problems(decision("d", logic), "camunda") == []


@pytest.mark.parametrize(
    ("mapping", "dmn"),
    [
        ("{class: 1}", "needs 'class' and 'method signature'"),
        ("a", "needs 'class' and 'method signature'"),
        ('{class: "java.lang.Math", method signature: 1}', "must be texts"),
        ('{class: "java.lang.Math", method signature: "cos"}', "must be texts"),
        (
            '{class: "java.lang.System", method signature: "exit(int)"}',
            "the method java.lang.System.exit(int) is not among the supported ones (docs/decisions.md)",
        ),
        ('{class: "java.lang.Math", method signature: "random()"}', "is not among the supported ones"),
        ('{class: "java.lang.Math", method signature: "max(int, int)"}', "1 parameters and java.lang.Math.max(int"),
    ],
)
def test_functions_of_java_are_refused_where_they_cannot_be_called(mapping, dmn):
    boxed = f'<functionDefinition kind="Java"><formalParameter name="x"/>{literal(mapping)}</functionDefinition>'
    for logic in (boxed, literal(f"function(x) external {{java: {mapping}}}")):
        (found,) = problems(decision("d", logic), "dmn")
        assert dmn in found[1]
        (found,) = problems(decision("d", logic), "camunda")
        assert "external functions" in found[1]
        assert "are not supported" in found[1]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "not well-formed XML"),
        (b"<!DOCTYPE x []><x/>", "a document type (DOCTYPE) is not allowed"),
        (b"<definitions/>", "not a DMN file: its root is 'definitions' of namespace ''"),
        (b"<definitions xmlns='http://www.omg.org/spec/BPMN/20100524/MODEL'/>", "not a DMN file"),
    ],
)
def test_other_files_are_refused(content, expected):
    assert expected in problems(content)[0][1]


def test_a_function_may_call_itself_in_dmn_mode_only():
    content = function("f", ["n"], literal("if n = 0 then 1 else n * f(n - 1)"), ["f"])
    content += decision("d", literal("f(5)"), knowledge=["f"])
    assert value(content, "d", "dmn") == 120
    assert "Cyclic dependencies between BKMs" in problems(content, "camunda")[0][1]


def test_a_decision_without_logic_is_null_with_a_warning():
    read = read_decisions({"f.dmn": definitions(decision("d", ""))})
    assert [warning.message for warning in read.warnings] == ["the decision 'd' has no logic, so its result is null"]
    assert run(decision("d", ""), "d").value is None


def test_an_unknown_type_is_a_warning():
    read = read_decisions({"f.dmn": definitions(decision("d", literal("1"), type="tNowhere"))})
    assert read.problems == ()
    assert read.warnings[0].message == "the type 'tNowhere' is unknown; every value conforms to it"


def test_what_has_no_problem_can_be_evaluated_for_tests_of_a_file():
    content = decision("good", literal("1")) + decision("bad", literal("1 +"))
    read = read_decisions({"f.dmn": definitions(content)})
    assert read.decisions is None
    assert read.usable is not None
    assert read.usable.find("good") is not None


def test_ids_and_names_that_are_missing_are_made():
    evaluation = run(decision("d", table(["1"], ["out"], [["-", "1"]])).replace(' id="r1"', ""), "d")
    logic = evaluation.decisions[0].decision.logic
    assert isinstance(logic, Table)
    assert (logic.inputs[0].id, logic.outputs[0].id, logic.rules[0].id) == ("input_1", "output_1", "rule_1")
