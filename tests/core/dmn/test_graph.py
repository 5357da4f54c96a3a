"""Requirement graphs, functions, services and imports (DMN 1.5, chapters 6 and 10.4)."""

import pytest

from tests.core.dmn.models import SERVICE, decision, definitions, function, inputs, literal, run, table, value
from vivero.core.dmn import evaluate, evaluate_service, read_decisions


def test_required_decisions_come_first_in_document_order_and_once():
    content = (
        decision("top", literal("left + right"), decisions=["left", "right"])
        + decision("right", literal("base * 10"), decisions=["base"])
        + decision("left", literal("base + 1"), decisions=["base"])
        + inputs("x")
        + decision("base", literal("x"), inputs=["x"])
    )
    evaluation = run(content, "top", x=3)
    assert evaluation.value == 34
    assert [(each.key.id, each.value) for each in evaluation.decisions] == [
        ("base", 3),
        ("left", 4),
        ("right", 30),
        ("top", 34),
    ]


def steps_of_ladder(rungs):
    """Diamond upon diamond: without memory the lowest decision is evaluated 2**rungs times."""
    content = [decision("a0", literal("1")), decision("b0", literal("1"))]
    for n in range(1, rungs + 1):
        below = [f"a{n - 1}", f"b{n - 1}"]
        content += [decision(f"{side}{n}", literal(" + ".join(below)), decisions=below) for side in "ab"]
    evaluation = run("".join(content), f"a{rungs}")
    assert evaluation.value == 2**rungs
    assert len(evaluation.decisions) == 2 * rungs + 1
    return evaluation.steps


def test_a_ladder_of_diamonds_is_linear():
    assert steps_of_ladder(30) < 2.2 * steps_of_ladder(15)


@pytest.mark.long
@pytest.mark.parametrize("length", [60, 3000])
def test_a_long_chain(length):
    content = decision("d0", literal("0")) + "".join(
        decision(f"d{n}", literal(f"d{n - 1} + 1"), decisions=[f"d{n - 1}"]) for n in range(1, length)
    )
    assert value(content, f"d{length - 1}") == length - 1


def test_a_result_shadows_a_variable_of_its_name():
    content = decision("a", literal("1")) + decision("b", literal("a"), decisions=["a"])
    assert value(content, "b", "camunda", a=5) == 1
    assert value(content, "b", "dmn", a=5) == 1


def test_dmn_shows_what_is_required_and_camunda_all():
    content = decision("d", literal("x"))
    assert value(content, "d", "camunda", x=1) == 1
    assert value(content, "d", "dmn", x=1) is None


def test_a_failure_names_the_decision_and_keeps_those_before_it():
    content = (
        decision("first", literal("1"))
        + decision("second", literal('assert(first, false, "no")'), decisions=["first"])
        + decision("third", literal("second"), decisions=["second"])
    )
    evaluation = run(content, "third", "camunda")
    assert evaluation.failure is not None
    assert evaluation.failure.key.id == "second"
    assert evaluation.failure.message.endswith("no")
    assert [(each.key.id, each.value) for each in evaluation.decisions] == [("first", 1), ("second", None)]


def test_names_with_spaces_signs_and_dots():
    content = (
        inputs("Full Name", "loan-to-value", "it's")
        + function("Greet.Person", ["Person.Name"], literal('"Hello " + Person.Name'))
        + decision(
            "d",
            literal("[Greet.Person(Full Name), loan-to-value * 2, it's]"),
            inputs=["Full Name", "loan-to-value", "it's"],
            knowledge=["Greet.Person"],
        )
    )
    given = {"Full Name": "Ada", "loan-to-value": 4, "it's": True}
    assert value(content, "d", **given) == ["Hello Ada", 8, True]


def test_names_belong_to_their_scope():
    """A parameter `Person.Name` is one name inside the function, and a path outside of it."""
    content = (
        inputs("Person")
        + function("greet", ["Person.Name"], literal('"Hello " + Person.Name'))
        + decision(
            "d",
            "<invocation><literalExpression><text>greet</text></literalExpression><binding>"
            '<parameter name="Person.Name"/><literalExpression><text>Person.Name</text></literalExpression>'
            "</binding></invocation>",
            inputs=["Person"],
            knowledge=["greet"],
        )
    )
    assert value(content, "d", Person={"Name": "Ada"}) == "Hello Ada"
    assert value(content, "d", "camunda", Person={"Name": "Ada"}) == "Hello Ada"


def test_a_service_takes_inputs_and_decisions():
    assert value(SERVICE, "calls") == 22
    assert value(SERVICE, "wrong") is None
    decisions = read_decisions({"f": definitions(SERVICE)}).decisions
    key = decisions.find_service("s")
    assert evaluate_service(decisions, key, {"x": 1, "low": 5}).value == {"high": 6, "other": 12}


@pytest.mark.parametrize(("type", "expected"), [("number", 6), ("string", None), ("tSums", [6])])
def test_the_result_of_a_service_has_its_type(type, expected):
    content = SERVICE.replace('name="s"><outputDecision href="#high"/><outputDecision href="#other"/>', "{}", 1).format(
        f'name="s"><variable name="s" typeRef="{type}"/><outputDecision href="#high"/>'
    )
    sums = '<itemDefinition name="tSums" isCollection="true"><typeRef>number</typeRef></itemDefinition>'
    content = sums + content + decision("d", literal("s(1, 5)"), knowledge=["s"])
    assert value(content, "d", "dmn") == expected
    assert value(content, "d", "camunda") == 6


IMPORT = '<import name="{}" namespace="{}" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>'


def test_imports():
    base = definitions(
        inputs("x")
        + '<itemDefinition name="tSmall"><typeRef>number</typeRef></itemDefinition>'
        + decision("twice", literal("x * 2"), inputs=["x"])
        + function("add one", ["n"], literal("n + 1")).replace('id="add one"', 'id="add"'),
        own="base",
    )
    main = definitions(
        IMPORT.format("the base", "base")
        + decision(
            "d", literal("[the base.twice, the base.add one(1), the base.x, 1 instance of the base.tSmall]")
        ).replace(
            "<literal",
            '<informationRequirement><requiredDecision href="base#twice"/></informationRequirement>'
            '<informationRequirement><requiredInput href="base#x"/></informationRequirement>'
            '<knowledgeRequirement><requiredKnowledge href="base#add"/></knowledgeRequirement><literal',
        ),
        own="main",
    )
    read = read_decisions({"main.dmn": main, "base.dmn": base})
    assert read.problems == ()
    key = read.decisions.find("d")
    assert evaluate(read.decisions, key, {"x": 4}).value == [8, 2, 4, True]
    assert evaluate(read.decisions, key, {"the base": {"x": 5}}).value == [10, 2, 5, True]


def test_the_result_is_named_by_variable_id_or_name():
    content = '<decision id="one" name="uno"><literalExpression><text>1</text></literalExpression></decision>'
    above = decision("d", literal("one"), decisions=["one"])
    assert value(content + above, "d", "camunda") == 1
    assert value(content + above.replace(">one<", ">uno<"), "d", "dmn") == 1


def test_a_table_in_a_function():
    rules = [["< 18", '"child"'], ["-", '"adult"']]
    content = function("group", ["age"], table(["age"], ["out"], rules, "FIRST"))
    content += decision("d", literal("for a in [3, 30] return group(a)"), knowledge=["group"])
    assert value(content, "d") == ["child", "adult"]


def test_what_one_service_is_given_another_evaluates():
    content = (
        decision("low", literal("1"))
        + decision("high", literal("low + 1"), decisions=["low"])
        + '<decisionService id="given" name="given"><outputDecision href="#high"/><inputDecision href="#low"/>'
        '</decisionService><decisionService id="both" name="both"><outputDecision href="#high"/>'
        '<outputDecision href="#low"/></decisionService>'
        + decision("d", literal("[given(5), both()]"), knowledge=["given", "both"])
    )
    assert value(content, "d") == [6, {"high": 2, "low": 1}]
