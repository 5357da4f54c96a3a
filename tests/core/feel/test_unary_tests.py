"""Unary tests: does the input pass?"""

import pytest

from vivero.core.feel import compile_unary_tests
from vivero.core.feel.values import Range


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("-", 1, True),
        (" - ", None, True),
        ("-1", -1, True),
        ("5", 5, True),
        ("5", None, False),
        ("5", "5", None),
        ("null", None, True),
        ("true", True, True),
        ("true", None, False),
        ("false", True, False),
        ("true, false", False, True),
        ("< 5, > 10", 12, True),
        ("< 5, > 10", 7, False),
        ("< 5, > 10", "a", None),
        ("= 5", 5, True),
        ("!= 5", 5, False),
        ("[1..5]", 5, True),
        ("[1..5)", 5, False),
        ("(1..5]", 1, False),
        ("]1..5[", 3, True),
        ('["a".."c"]', "b", True),
        ("[1..5]", None, None),
        ("not(5)", 5, False),
        ("not(5, 6)", 7, True),
        ("not([1..3], > 10)", 2, False),
        ("not(5) and true", 5, False),
        ("not(? > 5)", 6, False),
        ('"a", "b"', "b", True),
        ("xs", 2, True),
        ("xs", [1, 2], True),
        ("xs", 3, False),
        ("r", 2, True),
        ("r", 9, False),
        ("x", 7, True),
        ("x + 1", 8, True),
        ("1 > 0", 5, True),
        ("1 < 0", 5, False),
        ("? > 1 and ? < 5", 3, True),
        ("? > 1 and ? < 5", 5, False),
        ("?", 5, None),
        ("? + 1", 5, None),
        ('contains(?, "x")', "axb", True),
        ("count(?) > 1", [1, 2], True),
        ("some y in xs satisfies y = ?", 2, True),
        ("? in [1, 2]", 2, True),
        ("cellInput > 2", 3, True),
        ("> x", 8, True),
        ("[x..10]", 8, True),
        ("if ? > 3 then true else false", 5, True),
        ("> 1 or < 0", -1, True),
    ],
)
def test_unary_tests(text, value, expected):
    tests = compile_unary_tests(text)
    assert tests.evaluate(value, {"xs": [1, 2], "x": 7, "r": Range(1, 3)}).value is expected


def test_the_innermost_input_counts():
    assert compile_unary_tests("5 in (? < 10) and ? = 99").evaluate(99).value is True


def test_unary_tests_take_names_with_spaces():
    assert compile_unary_tests("> Least Sum", ["Least Sum"]).evaluate(5, {"Least Sum": 4}).value is True


def test_variables_do_not_contain_the_input():
    assert compile_unary_tests("? > limit, cellInput = other").variables == {"limit", "other"}
