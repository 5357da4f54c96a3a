"""Texts of constants that are compiled without a tree mean the same as the closures of the tree."""

from decimal import Decimal

import pytest

from vivero.core.feel.closures import CAMUNDA
from vivero.core.feel.closures.constants import NotConstant, constant_test, constant_value, is_usable
from vivero.core.feel.closures.fragments import compile_fragment, compile_test
from vivero.core.feel.standard import DMN
from vivero.core.feel.temporal import parse_temporal
from vivero.core.feel.values import DEFAULT_LIMITS, Range, Run

BOUNDS = ["3", "-3", "3.50", "-0.0", "007", "9" * 40, '"b"', '""', '"ä b"']
INTERVALS = [
    f"{opening}{low}{dots}{high}{closing}"
    for opening in "[(]"
    for closing in "])["
    for low, dots, high in (("-1", "..", "3"), ("3", " .. ", "1.5"), ('"a"', "..", '"c"'))
]
TESTS = [f"{sign}{bound}" for sign in ("", "= ", "<", "<= ", " >", ">=  ") for bound in BOUNDS] + INTERVALS
VALUES = [
    *(None, True, False, 3, -3, 0, Decimal("3.5"), Decimal("2.999"), 10**40, "b", "", "ä b", "3"),
    *([3], ["b"], {"a": 3}, Range(1, 5), parse_temporal("2026-01-31"), parse_temporal("P3D")),
]


def evaluated(closure, value, slots=1):
    run = Run({}, None, DEFAULT_LIMITS, 100_000, [value] + [None] * slots)
    run.warnings = []
    return closure(run), run.warnings


@pytest.mark.parametrize("dialect", [CAMUNDA, DMN], ids=["camunda", "dmn"])
def test_tests_give_the_verdicts_and_the_warnings_of_closures(dialect):
    for text in TESTS:
        test, compiled = constant_test(text, DEFAULT_LIMITS), compile_test(text, dialect=dialect)
        for value in VALUES:
            expected = evaluated(compiled.closure, value, compiled.slots)
            assert evaluated(test, value) == expected, (text, value)


@pytest.mark.parametrize("text", BOUNDS)
def test_values_are_those_of_closures(text):
    expected, _ = evaluated(compile_fragment(text), None)
    found = constant_value(f" {text}\n", DEFAULT_LIMITS)
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(
    "text",
    [
        *("", "-", "x", "5 x", "5,6", "not(5)", "1..5", "[1..5", "[1..x]", '["a"..5]', "< 5 < 6", "5.", ".5", "--5"),
        *('"a\\n"', '"a" "b"', '"a', "true", "null", "< ?", "!= 5", "1e3", "5 // five", "@5", "[1..5]]", "- 5"),
        '"' + "a" * DEFAULT_LIMITS.source_length + '"',
    ],
)
def test_other_texts_are_left_to_the_parser(text):
    with pytest.raises(NotConstant):
        constant_test(text, DEFAULT_LIMITS)
    with pytest.raises(NotConstant):
        constant_value(text, DEFAULT_LIMITS)


@pytest.mark.parametrize("name", ["5 stars", "-x", "< 5", " 5 stars", "[a]", "?b"])
def test_names_that_begin_like_a_constant_leave_all_to_the_parser(name):
    assert not is_usable(frozenset({"", "plain name", name}))
    assert is_usable(frozenset({"", "plain name", "Ärger-zahl"}))
