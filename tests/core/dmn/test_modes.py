"""The two modes: which one a file has, and what differs (docs/decisions.md)."""

import pytest

from tests.core.dmn.models import decision, definitions, function, inputs, literal, run, value
from vivero.core.dmn import evaluate, read_decisions
from vivero.core.feel.temporal import parse_date, parse_date_time

MODELER = 'xmlns:modeler="http://camunda.org/schema/modeler/1.0" modeler:executionPlatform="{}"'


@pytest.mark.parametrize(
    ("attributes", "mode"),
    [
        ("", "dmn"),
        (MODELER.format("Camunda Cloud"), "camunda"),
        (MODELER.format("Camunda Platform"), "dmn"),
        ('xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"', "camunda"),
    ],
)
def test_the_origin_of_the_file_decides(attributes, mode):
    files = {"f": definitions(decision("d", literal("1")), attributes=attributes)}
    [file] = read_decisions(files).decisions.files
    assert file.mode == mode
    assert read_decisions(files, "camunda").decisions.files[0].mode == "camunda"


def properties(*values):
    """The property of a file that chooses its mode."""
    listed = "".join(f'<zeebe:property name="vivero.mode" value="{value}"/>' for value in values)
    return (
        '<extensionElements xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><zeebe:properties>'
        f'<zeebe:property name="other" value="camunda"/>{listed}</zeebe:properties></extensionElements>'
    )


@pytest.mark.parametrize("platform", ["Camunda Cloud", "Camunda Platform"])
@pytest.mark.parametrize("mode", ["dmn", "camunda"])
def test_a_property_of_the_file_overrides_its_origin(platform, mode):
    content = definitions(properties(mode) + decision("d", literal("1")), attributes=MODELER.format(platform))
    [file] = read_decisions({"f": content}).decisions.files
    assert file.mode == mode
    [file] = read_decisions({"f": content}, "camunda").decisions.files
    assert file.mode == "camunda", "the caller overrides the file"


def test_each_file_has_its_own_mode():
    """The mode is that of the file that has the decision, and not of the file that imports it."""
    own = definitions(properties("camunda") + decision("d", literal("1")), own="urn:own")
    other = definitions(properties("dmn") + decision("e", literal("1")), own="urn:other")
    files = read_decisions({"own": own, "other": other}).decisions.files
    assert [file.mode for file in files] == ["camunda", "dmn"]


@pytest.mark.parametrize("value", ["Camunda", "", "c8"])
def test_an_unknown_mode_is_a_problem_with_its_line(value):
    read = read_decisions({"f": definitions(properties(value) + decision("d", literal("1")))})
    assert read.decisions is None
    [problem] = read.problems
    assert problem.message == f"the property 'vivero.mode' is '{value}': it must be 'dmn' or 'camunda'"
    assert problem.line is not None


@pytest.mark.parametrize(
    ("text", "type", "dmn", "camunda"),
    [
        ("1", "string", None, "expected 'string' but found '1'"),
        ("[1]", "number", 1, "expected 'number' but found '[1]'"),
        ("null", "string", None, None),
        ('"a"', "string", "a", "a"),
        ("1", "tNumbers", [1], 1),
        ("[1, 2]", "tNumbers", [1, 2], [1, 2]),
        ('["a", "b"]', "tNumbers", None, ["a", "b"]),
        ("5", "tSmall", 5, 5),
        ("500", "tSmall", None, 500),
        ('{name: "Ada", age: 3}', "tPerson", {"name": "Ada", "age": 3}, {"name": "Ada", "age": 3}),
        ('{name: "Ada"}', "tPerson", None, {"name": "Ada"}),
        ('date("2026-01-31")', "date and time", parse_date_time("2026-01-31T00:00:00Z"), parse_date("2026-01-31")),
    ],
)
def test_types_of_results(text, type, dmn, camunda):
    content = TYPES + decision("d", literal(text), type=type)
    assert value(content, "d", "dmn") == dmn
    evaluation = run(content, "d", "camunda")
    assert (evaluation.failure.message if evaluation.failure else evaluation.value) == camunda


TYPES = """
<itemDefinition name="tNumbers" isCollection="true"><typeRef>number</typeRef></itemDefinition>
<itemDefinition name="tSmall"><typeRef>number</typeRef><allowedValues><text>[0..9]</text></allowedValues>
  </itemDefinition>
<itemDefinition name="tPerson"><itemComponent name="name"><typeRef>string</typeRef></itemComponent>
  <itemComponent name="age"><typeRef>tSmall</typeRef></itemComponent></itemDefinition>
<itemDefinition name="tTree"><itemComponent name="of" isCollection="true"><typeRef>tTree</typeRef></itemComponent>
  </itemDefinition>
<itemDefinition name="tItself"><typeRef>tItself</typeRef></itemDefinition>
"""


def test_types_may_contain_themselves():
    content = TYPES + decision("d", literal("{of: [{of: []}]}"), type="tTree")
    assert value(content, "d") == {"of": [{"of": []}]}
    assert value(TYPES + decision("d", literal("{of: [{of: 1}]}"), type="tTree"), "d") is None
    assert value(TYPES + decision("d", literal("1"), type="tItself"), "d") == 1


def test_inputs_are_converted_in_dmn_mode():
    content = inputs("x", type="number") + decision("d", literal("x"), inputs=["x"])
    assert value(content, "d", "dmn", x=[1]) == 1
    assert value(content, "d", "dmn", x="a") is None
    assert value(content, "d", "camunda", x="a") == "a"


@pytest.mark.parametrize(
    ("text", "dmn", "camunda"),
    [
        ("100[1]", 100, None),
        ("1 in [[2..4], [1..3]]", True, False),
        ('@"PT1H" * 1.5 = @"PT90M"', True, False),
        ("{a: 1, a: 2}", None, {"a": 2}),
        ('matches("a", "a", "p")', None, True),
        ("5 instance of tSmall", True, False),
        ("[5] instance of list<tSmall>", True, False),
        ('string({a: "b"})', '{a: "b"}', '{a:"b"}'),
        ("abs(number: -1)", None, 1),
        ("sort([2, 1], function(a, b) a < b)[1]", 1, 1),
        ("(function(a) function(b) a + b)(1)(2)", 3, 3),
        ("[5 = null, null = null]", [False, True], [False, True]),
        ("count(7)", 1, None),
    ],
)
def test_feel_of_the_modes(text, dmn, camunda):
    content = TYPES + decision("d", literal(text))
    assert value(content, "d", "dmn") == dmn
    assert value(content, "d", "camunda") == camunda


INVOCATION = (
    "<invocation><literalExpression><text>f</text></literalExpression>"
    '<binding><parameter name="{}"/><literalExpression><text>1</text></literalExpression></binding></invocation>'
)


def test_a_missing_binding_fails_in_camunda_and_is_null_in_dmn():
    content = function("f", ["a", "b"], literal("[a, b]")) + decision("d", INVOCATION.format("a"), knowledge=["f"])
    assert value(content, "d", "dmn") == [1, None]
    assert run(content, "d", "camunda").failure.message == "no parameter found with name 'b'"


def test_an_unknown_parameter_is_null():
    content = function("f", ["a"], literal("a")) + decision("d", INVOCATION.format("c"), knowledge=["f"])
    assert value(content, "d", "dmn") is None


def test_a_failing_text_is_null_in_dmn():
    evaluation = run(decision("d", literal('assert(1, false, "no")')), "d", "dmn")
    assert (evaluation.value, evaluation.failure) == (None, None)
    assert "no" in evaluation.warnings[0].message


DATED = """
<itemDefinition name="tDays" isCollection="true"><typeRef>date</typeRef></itemDefinition>
<itemDefinition name="tStay"><itemComponent name="days"><typeRef>tDays</typeRef></itemComponent>
  <itemComponent name="late" isCollection="true"><typeRef>tLate</typeRef></itemComponent>
  <itemComponent name="of"><typeRef>tStay</typeRef></itemComponent></itemDefinition>
<itemDefinition name="tLate"><typeRef>dayTimeDuration</typeRef></itemDefinition>
<itemDefinition name="tRound"><typeRef>tTrip</typeRef></itemDefinition>
<itemDefinition name="tTrip"><typeRef>tRound</typeRef></itemDefinition>
"""


@pytest.mark.parametrize(
    ("type", "given", "text", "expected"),
    [
        ("date", "2026-01-31", "x.year", 2026),
        ("date", ["2026-01-31"], "x", None),
        ("date", "2026-01-31T10:00:00", "x", None),
        ("date", "soon", "x", None),
        ("date and time", "2026-01-31", 'x = @"2026-01-31T00:00:00Z"', True),
        ("dateTime", "2026-01-31T10:00:00+01:00", "x.hour", 10),
        ("time", "10:30:00", "x.minute", 30),
        ("yearMonthDuration", "P14M", "x.years", 1),
        ("days and time duration", "P14M", "x", None),
        ("string", "2026-01-31", "x", "2026-01-31"),
        ("", "2026-01-31", "x", "2026-01-31"),
        ("tDays", ["2026-01-31", "2025-12-24"], "x.year", [2026, 2025]),
        ("tDays", "2026-01-31", "x[1].day", 31),
        ("tStay", {"days": [], "late": ["PT1H"], "of": None, "x": "P1D"}, "[x.late[1].hours, x.x]", [1, "P1D"]),
        (
            "tStay",
            {"days": [], "late": [], "of": {"days": ["2026-01-31"], "late": [], "of": None}},
            "x.of.days[1].day",
            31,
        ),
        ("tStay", {"days": ["soon"], "late": [], "of": None}, "x", None),
        ("tRound", "2026-01-31", "x", "2026-01-31"),
    ],
)
def test_texts_of_json_become_dates(type, given, text, expected):
    content = DATED + inputs("x", type=type) + decision("d", literal(text), inputs=["x"])
    read = read_decisions({"file.dmn": definitions(content)}, "dmn").decisions
    found = evaluate(read, read.find("d"), {"x": given}, is_json=True)
    assert (found.value, found.failure) == (expected, None)


def test_texts_of_feel_stay_texts():
    content = inputs("x", type="date") + decision("d", literal("x"), inputs=["x"])
    assert value(content, "d", "dmn", x="2026-01-31") is None
    assert value(content, "d", "dmn", x=parse_date("2026-01-31")) == parse_date("2026-01-31")
