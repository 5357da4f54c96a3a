"""Problems that an evaluation goes on from: their type and their text are part of the interface."""

import pytest

from vivero.core.feel import FeelLimits, compile_expression, compile_unary_tests


@pytest.mark.parametrize(
    ("text", "type", "message"),
    [
        ("x", "NO_VARIABLE_FOUND", "No variable found with name 'x'"),
        ("x.y.z", "NO_VARIABLE_FOUND", "No variable found with name 'x'"),
        ("{a: 1}.b", "NO_CONTEXT_ENTRY_FOUND", "No context entry found with key 'b'. Available keys: 'a'"),
        ("{}.b", "NO_CONTEXT_ENTRY_FOUND", "No context entry found with key 'b'. The context is empty"),
        ("{a: null}.a.b", "NO_CONTEXT_ENTRY_FOUND", "No context entry found with key 'b'. The context is null"),
        (
            '@"P1Y".day',
            "NO_PROPERTY_FOUND",
            "No property found with name 'day' of value 'P1Y'. Available properties: 'years', 'months'",
        ),
        ("1 = true", "NOT_COMPARABLE", "Can't compare '1' with 'true'"),
        ('"a" < 1', "NOT_COMPARABLE", "Can't compare '\"a\"' with '1'"),
        ("true < true", "NOT_COMPARABLE", "Can't compare 'true' with 'true'"),
        ("5 in [true..false]", "NOT_COMPARABLE", "Can't compare '5' with 'true' and 'false'"),
        ("1 + null", "INVALID_TYPE", "Can't add 'null' to '1'"),
        ("1 - [2]", "INVALID_TYPE", "Can't subtract '[2]' from '1'"),
        ("{a: 1} * 2", "INVALID_TYPE", "Can't multiply '{a:1}' by '2'"),
        ("1.50 / 0", "INVALID_TYPE", "Can't divide '1.50' by '0'"),
        ('-"a"', "INVALID_TYPE", "Expected number but found '\"a\"'"),
        ('2 ** "a"', "INVALID_TYPE", "Expected number but found '\"a\"'"),
        ("if 5 then 1 else 2", "INVALID_TYPE", "Expected boolean but found '5'"),
        ("true and 5", "INVALID_TYPE", "Expected boolean but found '5'"),
        ("null[1]", "INVALID_TYPE", "Expected list but found 'null'"),
        ("for i in 5 return i", "INVALID_TYPE", "Expected list but found '5'"),
        ('for i in 1.."a" return i', "INVALID_TYPE", "Expected number but found '\"a\"'"),
        ("f(1, 2)", "NO_FUNCTION_FOUND", "No function found with name 'f' and 2 parameters"),
        ("abs(1, 2)", "NO_FUNCTION_FOUND", "No function found with name 'abs' and 2 parameters"),
        ("abs(z: 1)", "NO_FUNCTION_FOUND", "No function found with name 'abs' and parameters: z"),
        (
            'abs("a")',
            "FUNCTION_INVOCATION_FAILURE",
            "Failed to invoke function 'abs': Illegal arguments: '\"a\"'",
        ),
        (
            'number("x")',
            "FUNCTION_INVOCATION_FAILURE",
            "Failed to invoke function 'number': Can't parse 'x' as a number",
        ),
    ],
)
def test_warnings(text, type, message):
    warnings = compile_expression(text).evaluate({}).warnings
    assert [tuple(warning) for warning in warnings] == [(type, message)]


def test_a_constant_that_warns_does_so_in_every_evaluation():
    expression = compile_expression("1 + true")
    assert expression.evaluate({}).warnings == expression.evaluate({}).warnings != []


def test_an_index_leaves_no_warnings_of_the_attempt_to_read_it_outside():
    assert compile_expression("xs[a.b]").evaluate({"xs": [{"a": {"b": True}}]}).warnings == []


def test_nothing_is_evaluated_and_warned_of_behind_what_decides():
    assert compile_expression("false and x").evaluate({}).warnings == []
    assert compile_expression("true or x").evaluate({}).warnings == []
    assert compile_unary_tests("5, x").evaluate(5).warnings == []


def test_the_number_of_warnings_is_limited():
    expression = compile_expression("for i in 1..1000 return x", limits=FeelLimits(warnings=7))
    assert len(expression.evaluate({}).warnings) == 7


def test_values_in_messages_are_cut():
    message = (
        compile_expression("x + 1", limits=FeelLimits(message_size=10)).evaluate({"x": "a" * 100}).warnings[0].message
    )
    assert message == "Can't add '1' to '\"" + "a" * 100 + "\"…'"
