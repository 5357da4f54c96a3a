"""Every bound of `FeelLimits`: what stays below passes, what exceeds it is a typed error that names the bound."""

import time
from dataclasses import fields, replace

import pytest

from vivero.core.feel import DEFAULT_LIMITS, FeelLimits, LimitExceeded, ParseError, compile_expression, to_json


def check(text, limits, variables=None):
    value = compile_expression(text, limits=limits).evaluate(variables or {}).value
    return to_json(value, limits)


AT_RUN_TIME = [
    ("steps", 300, "for i in 1..50 return i", "for i in 1..500 return i"),
    ("steps", 300, "count([1, 2, 3][item > 1])", "count(xs[item > 1])"),
    ("steps", 300, "sum(1, 2)", "sum(xs)"),
    ("range_size", 10, "for i in 1..10 return i", "for i in 1..11 return i"),
    ("range_size", 10, "some i in -5..4 satisfies i = 9", "some i in -5..5 satisfies i = 9"),
    (
        "range_size",
        10,
        'for d in @"2024-01-01"..@"2024-01-05" return 1',
        'for d in @"2024-01-01"..@"2025-01-05" return 1',
    ),
    ("list_size", 20, "for i in 1..4, j in 1..4 return 1", "for i in 1..5, j in 1..5 return 1"),
    ("list_size", 20, "concatenate([1], [2])", "concatenate(xs, xs)"),
    ("string_size", 300, 's + "x"', "s + s + s + s"),
    ("string_size", 300, "string([1, 2])", "string([s, s, s, s])"),
    ("string_size", 300, 'string join(["a"], "b")', "string join([s, s, s, s])"),
    ("output_size", 150, "[1, 2, 3]", "[s, s]"),
    ("output_size", 150, "[1, 2, 3]", "for i in 1..40 return [partial, partial]"),
    ("nesting_depth", 10, "{f: function(x) x}.f(1)", "for f in [function(f) f(f)] return f(f)"),
]


@pytest.mark.parametrize(("limit", "size", "within", "beyond"), AT_RUN_TIME)
def test_bounds_of_an_evaluation(limit, size, within, beyond):
    limits = replace(DEFAULT_LIMITS, **{limit: size})
    variables = {"xs": list(range(500)), "s": "x" * 100}
    assert check(within, limits, variables)
    with pytest.raises(LimitExceeded, match=str(size)) as caught:
        check(beyond, limits, variables)
    assert (caught.value.limit, caught.value.type) == (limit, "LIMIT_EXCEEDED")


@pytest.mark.parametrize(
    ("limits", "within", "beyond"),
    [
        (FeelLimits(source_length=20), "1 + 1", "1" + " + 1" * 10),
        (FeelLimits(nesting_depth=5), "((((1))))", "(((((1)))))"),
        (FeelLimits(nesting_depth=5), "[[[[1]]]]", "[[[[[1]]]]]"),
        (FeelLimits(nesting_depth=5), "x[1][1]", "x" + "[1]" * 7),
        (FeelLimits(exponent=10), "1e10", "1e11"),
    ],
)
def test_bounds_of_a_text(limits, within, beyond):
    assert compile_expression(within, limits=limits)
    with pytest.raises(ParseError):
        compile_expression(beyond, limits=limits)


def test_the_greatest_exponent():
    limits = FeelLimits(exponent=10)
    assert check("10 ** 10", limits) == "10000000000"
    assert check("100000 * 1e7", limits) == "null"
    assert check("2 ** 64", limits) == "null"


def test_the_time_of_a_regular_expression():
    limits = FeelLimits(regex_timeout_ms=1)
    with pytest.raises(LimitExceeded) as caught:
        check(f'matches("{"a" * 80}!", "(a|aa)+$")', limits)
    assert caught.value.limit == "regex_timeout_ms"


def test_the_bounds_on_warnings_are_tested_elsewhere_and_all_others_here():
    """A new field of FeelLimits has to get a test."""
    tested = {limit for limit, *_ in AT_RUN_TIME} | {"source_length", "exponent", "regex_timeout_ms"}
    assert {field.name for field in fields(FeelLimits)} - tested == {"warnings", "message_size", "math"}


@pytest.mark.parametrize("depth", [64, 65, 200, 3_000])
@pytest.mark.parametrize(("before", "after"), [("(", ")"), ("[", "]"), ("-", ""), ("not(", ")"), ("{a:", "}")])
def test_deep_nesting_is_a_clean_parse_error(before, after, depth):
    text = before * depth + "1" + after * depth
    with pytest.raises(ParseError):
        compile_expression(text)
    inner = before * 60 + "1" + after * 60
    assert compile_expression(inner).evaluate({})


def test_a_long_chain_of_operators_needs_no_depth():
    assert check(" + ".join(["1"] * 4_000), DEFAULT_LIMITS) == "4000"
    assert check(" and ".join(["true"] * 2_000), DEFAULT_LIMITS) == "true"
    assert check("x" + ".a" * 5_000, DEFAULT_LIMITS, {"x": None}) == "null"


def test_long_texts_take_linear_time():
    """The same work for each word, however many stand in a row."""
    assert compile_expression("true and " * 2_000 + "true").evaluate({}).value is True
    for text in ("a " * 9_000, "f(a b c " * 2_000, "{a b " * 3_000, "for a b " * 2_000):
        start = time.process_time_ns()
        with pytest.raises(ParseError):
            compile_expression(text)
        assert time.process_time_ns() - start < 500_000_000


@pytest.mark.parametrize(("before", "after"), [("(", ")"), ("[", "]"), ("{a:", "}"), ("not(", ")"), ("x[", "]")])
def test_the_permitted_depth_also_works_far_down_in_a_program(before, after):
    text = before * 60 + "1" + after * 60

    def at_depth(frames):
        if frames:
            return at_depth(frames - 1)
        return compile_expression(text).evaluate({"x": [1]})

    assert at_depth(250)


def test_a_text_that_is_too_long_names_the_setting():
    """Prompts of agents are that long."""
    with pytest.raises(
        ParseError, match=r"has 20001 characters and may have at most 20000 \(setting feel\.source_length\)"
    ):
        compile_expression('"' + "a" * 19_999 + '"')
