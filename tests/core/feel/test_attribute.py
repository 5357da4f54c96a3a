"""Attributes of a model: `=` in front makes an expression, all else is a value as it stands."""

from decimal import Decimal

import pytest

from vivero.core.feel import ParseError, compile_attribute, compile_expression, named_variable, variables


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("false", False),
        ("1", 1),
        ("-1.50", Decimal("-1.50")),
        ("+5", 5),
        (".5", Decimal("0.5")),
        ("5.", Decimal("5")),
        ("1e3", Decimal("1e3")),
        ("1e99999", "1e99999"),
        ("1" * 40, Decimal("1" * 34 + "E6")),
        ("True", "True"),
        (" 1", " 1"),
        ("1 + 1", "1 + 1"),
        (" = 1", " = 1"),
        ("=", "="),
        ("", ""),
        ("some text", "some text"),
        ("PT1H", "PT1H"),
    ],
)
def test_static_values(text, value):
    expression = compile_attribute(text)
    assert expression.is_static
    assert expression.static_value == value
    assert type(expression.static_value) is type(value)
    assert expression.evaluate({}).value == value
    assert expression.variables == frozenset()
    assert expression.text == text


def test_expressions():
    expression = compile_attribute("=a\n + 1")
    assert not expression.is_static
    assert expression.variables == {"a"}
    assert expression.text == "a\n + 1"
    assert expression.evaluate({"a": 1}).value == 2


def test_a_constant_expression_is_static():
    assert compile_attribute('=duration("PT1H")').is_static
    assert compile_attribute("=1 + 1").static_value == 2
    assert not compile_attribute("=1 + true").is_static
    assert not compile_attribute("=now()").is_static
    assert not compile_attribute("=uuid()").is_static
    assert not compile_attribute("=random number()").is_static


def test_an_expression_that_is_none():
    with pytest.raises(ParseError, match="line 1, column 4"):
        compile_attribute("=1 +")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a + b.c", {"a", "b"}),
        ("for x in xs return x + y", {"xs", "y"}),
        ("for x in x return x", {"x"}),
        ("some x in xs, y in x satisfies y = z", {"xs", "z"}),
        ("items[price > limit]", {"items", "price", "limit"}),
        ("items[item > 1]", {"items"}),
        ("{a: b, c: a}", {"b"}),
        ("function(x) x + y", {"y"}),
        ("f(x)", {"f", "x"}),
        ("abs(x)", {"x"}),
        ("abs(n: x)", {"x"}),
        ("a.f(x)", {"a", "x"}),
        ("x in (1, y)", {"x", "y"}),
        ("x instance of number", {"x"}),
        ("`a b` + partial", {"a b", "partial"}),
        ("for i in 1..2 return partial", set()),
        ("1 + 1", set()),
    ],
)
def test_free_variables(text, names):
    expression = compile_expression(text)
    assert variables(expression) == expression.variables == names


@pytest.mark.parametrize(
    ("text", "name"),
    [("=x", "x"), ("= x ", "x"), ("=x.y.z", "x"), ("=x + 1", None), ("=x[1]", None), ("=f(x)", None), ("=null", None)],
)
def test_named_variable(text, name):
    assert named_variable(compile_attribute(text)) == name
