"""Relations of ranges and points, checked against their sets of points."""

import itertools
from decimal import Decimal

import pytest

from vivero.core.feel import compile_expression
from vivero.core.feel.builtins import FUNCTIONS
from vivero.core.feel.values import IllegalArguments, Range, Run


def call(expression, **variables):
    return compile_expression(expression).evaluate(variables)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("before(1, 10)", True),
        ("before([1..5], 10)", True),
        ("before(1, [2..5])", True),
        ("before([1..5),[5..10])", True),
        ("before([1..5],[5..10])", False),
        ("after([5..10], [1..5))", True),
        ("after(12, [2..5])", True),
        ("meets([1..5], [5..10])", True),
        ("meets([1..5], (5..8])", False),
        ("met by([3..5], [1..3])", True),
        ("overlaps((3..7], [1..4])", True),
        ("overlaps([1..3], (3..6])", False),
        ("overlaps before([1..5), (3..8])", True),
        ("overlaps before([1..5), [5..10])", False),
        ("overlaps after([4..10], [1..5))", True),
        ("overlaps after([3..5], [1..3))", False),
        ("finishes(5, [1..5])", True),
        ("finishes((1..5], [1..5))", False),
        ("finished by([1..5], [3..5])", True),
        ("includes([1..10], [1..5))", True),
        ("includes((5..8], [1..5))", False),
        ("during((1..5], (1..10])", True),
        ("during(1, (1..10])", False),
        ("starts((1..5], [1..5])", False),
        ("starts((1..5), (1..10))", True),
        ("started by((1..10], [1..5))", False),
        ("started by(range: [1..10], point: 1)", True),
        ("coincides([1..5], (1..5])", False),
        ("coincides(range1: [1..5], range2: [1..5.0])", True),
        ('before(@"10:00:00", [@"11:00:00"..@"12:00:00"])', True),
        ('during(@"P1Y", [@"P1M"..@"P13M"])', True),
        ('range("[1..3]") = [1..3]', True),
        ('range(" ] 1 .. -3e0 [ ")', None),
        ('2 in range("(..2]")', True),
        ('string(range("[1..)"))', "[1..)"),
        ('string(range("[\\"a\\"..\\"c\\"]"))', '["a".."c"]'),
        ('string(range("[@\\"P1D\\"..duration(\\"P2D\\")]"))', "[P1D..P2D]"),
        ('string(range("[date(\\"2020-01-01\\")..@\\"2020-01-02\\"]"))', "[2020-01-01..2020-01-02]"),
    ],
)
def test_ranges(expression, expected):
    assert call(expression).value == expected


@pytest.mark.parametrize(
    "expression",
    [
        'before("a", "b")',
        "before(1, null)",
        "before({}, [1..5])",
        "before([1, 2], [1..5])",
        'before(1, @"P1D")',
        'before(@"10:00:00", @"11:00:00Z")',
        "meets(1, [1..2])",
        "includes(1, [1..2])",
        "during([1..2], 1)",
        "starts([1..2], 1)",
        'range("[..2]")',
        'range("[1..2")',
        'range("[3..1]")',
        'range("[null..null]")',
        'range("(..)")',
        'range("[1..\\"a\\"]")',
        'range("[@\\"x\\"..@\\"y\\"]")',
        'range("[date(\\"x\\")..date(\\"y\\")]")',
        "range([1..3])",
        'range("")',
    ],
)
def test_what_does_not_fit_is_null_with_a_warning(expression):
    value, (warning,) = call(expression)
    assert value is None
    assert warning.type == "FUNCTION_INVOCATION_FAILURE"


def points(interval):
    """The quarter points from 0 to 4 inside a range: enough to tell ranges with whole ends apart."""
    step = [Decimal(n) / 4 for n in range(17)]
    if not isinstance(interval, Range):
        return {interval}
    low = 0 if interval.start is None else interval.start
    high = 4 if interval.end is None else interval.end
    inside = {p for p in step if low < p < high}
    if interval.start is None or interval.start_included:
        inside.add(low)
    if interval.end is None or interval.end_included:
        inside.add(high)
    return inside


def relation(name, a, b):
    return FUNCTIONS[name][0].fn(Run({}), a, b)


RANGES = [
    Range(start, end, *included)
    for start, end in itertools.combinations((None, 1, 2, 3, None), 2)
    if (start is None) + (end is None) < 2
    for included in itertools.product((True, False), repeat=2)
]


@pytest.mark.parametrize("a", RANGES)
def test_relations_agree_with_the_points_inside(a):
    left = points(a)
    for b in RANGES:
        right = points(b)
        assert relation("overlaps", a, b) is bool(left & right), b
        assert relation("before", a, b) is (max(left) < min(right)), b
        assert relation("after", a, b) is (min(left) > max(right)), b
        assert relation("includes", a, b) is (left >= right), b
        assert relation("during", a, b) is (left <= right), b
        assert relation("meets", a, b) is (left & right == {max(left)} == {min(right)}), b


@pytest.mark.parametrize("interval", RANGES)
def test_points_agree_with_the_points_inside(interval):
    inside = points(interval)
    for point in (Decimal("0.5"), 1, Decimal("1.5"), 2, 3, Decimal("3.5")):
        assert relation("includes", interval, point) is (point in inside), point
        assert relation("before", point, interval) is (point < min(inside)), point
        assert relation("after", point, interval) is (point > max(inside)), point
        assert relation("starts", point, interval) is (interval.start == min(inside) == point), point
        assert relation("finishes", point, interval) is (interval.end == max(inside) == point), point


def test_an_argument_of_the_wrong_shape_is_illegal():
    with pytest.raises(IllegalArguments):
        relation("meets", 1, 2)
