"""Built-in functions on numbers."""

from decimal import Decimal

import pytest

from vivero.core.feel import compile_expression


def call(expression, **variables):
    return compile_expression(expression).evaluate(variables)


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("decimal(1/3, 2)", "0.33"),
        ("decimal(2.5, 0)", "2"),
        ('decimal(2.5, 0, "half_up")', "3"),
        ('decimal(1.0, 0, "UNNECESSARY")', "1"),
        ("decimal(2, 2)", "2.00"),
        ("decimal(1234.5, -2)", "1200"),
        ("decimal(0.0, 1)", "0.0"),
        ("floor(-1.5)", "-2"),
        ("floor(-1.56, 1)", "-1.6"),
        ("floor(n: 1.56, scale: 1)", "1.5"),
        ("ceiling(-1.5)", "-1"),
        ("ceiling(-1.56, 1)", "-1.5"),
        ("round up(-1.126, 2)", "-1.13"),
        ("round down(-1.126, 2)", "-1.12"),
        ("round half up(2.5, 0)", "3"),
        ("round half up(-1.125, 2)", "-1.13"),
        ("round half down(2.5, 0)", "2"),
        ("round half down(n: -1.125, scale: 2)", "-1.12"),
        ("round up(5.5, 6176)", "5.5"),
        ("round up(5.5, -6111)", "1E+6111"),
        ("round up(9999999999999999999999999999999999, -1)", "1.000000000000000000000000000000000E+34"),
        ("abs(-1.5)", "1.5"),
        ("abs(n: -10)", "10"),
        ('abs(@"-PT5H")', "PT5H"),
        ('abs(@"-P2M")', "P2M"),
        ("modulo(12, 5)", "2"),
        ("modulo(-12, 5)", "3"),
        ("modulo(12, -5)", "-3"),
        ("modulo(10.1, 4.5)", "1.1"),
        ("modulo(-10.1, 4.5)", "3.4"),
        ("modulo(10.1, -4.5)", "-3.4"),
        ("modulo(-10.1, -4.5)", "-1.1"),
        ("sqrt(16)", "4.0"),
        ("sqrt(2)", "1.4142135623730951"),
        ("log(10)", "2.302585092994046"),
        ("exp(5)", "148.4131591025766"),
    ],
)
def test_results(expression, text):
    value, warnings = call(expression)
    assert str(value) == text or value == Decimal(text)
    assert not warnings


@pytest.mark.parametrize(
    ("number", "odd", "even"),
    [
        (5, True, False),
        (-5, True, False),
        (2, False, True),
        (0, False, True),
        ("2.5", False, False),
        ("1E+6000", False, True),
    ],
)
def test_odd_and_even(number, odd, even):
    number = Decimal(number)
    assert call("[odd(n), even(n)]", n=number).value == [odd, even]


def test_the_square_root_of_a_negative_number_is_null():
    assert call("sqrt(-1)") == (None, [])


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ('decimal(2.5, 0, "UNNECESSARY")', "Failed to apply rounding mode 'UNNECESSARY': Rounding necessary"),
        (
            'decimal(1.5, 0, "unknown")',
            "Illegal argument 'unknown' for rounding mode. Must be one of: "
            "UP, DOWN, CEILING, FLOOR, HALF_UP, HALF_DOWN, HALF_EVEN, UNNECESSARY",
        ),
        ("round up(5.5, 6177)", "The scale must be between -6111 and 6176 but was '6177'"),
        ("floor(null)", "Illegal arguments: 'null'"),
        ("floor(true)", "Illegal arguments: 'true'"),
        ('abs("1")', "Illegal arguments: '\"1\"'"),
        ("modulo(5, 0)", "Division by zero"),
        ("modulo(1e40, 3)", "Division impossible"),
        ("log(0)", "The result for '0' is not a number"),
        ("exp(100000)", "The result for '100000' is not a number"),
    ],
)
def test_failures_give_null_and_say_why(expression, message):
    value, (warning,) = call(expression)
    name = expression.partition("(")[0]
    assert value is None
    assert warning == ("FUNCTION_INVOCATION_FAILURE", f"Failed to invoke function '{name}': {message}")


def test_huge_numbers_as_scale_or_position_end_at_once():
    huge = Decimal("1E+6144")
    for expression in (
        "decimal(1.5, x)",
        'substring("abc", x)',
        "sublist([1], x)",
        "partition([1], -x)",
        "date(x, 1, 1)",
    ):
        compile_expression(expression).evaluate({"x": huge})
        compile_expression(expression).evaluate({"x": -huge})
