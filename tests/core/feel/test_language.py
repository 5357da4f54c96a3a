"""The language, construct by construct: an expression, the variables it reads, its value."""

from decimal import Decimal

import pytest

from vivero.core.feel import EvaluationError, compile_expression
from vivero.core.feel.temporal import parse_temporal as temporal
from vivero.core.feel.values import Range

ITEMS = [{"price": 5, "qty": 2, "name": "a"}, {"price": 20, "qty": 1, "name": "b"}, {"price": 30, "name": "c"}]


def value(text, variables=None):
    return compile_expression(text).evaluate(variables or {}, 0).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("null", None),
        ("true", True),
        ("-2", -2),
        (".5", Decimal("0.5")),
        ("1.5e-3", Decimal("0.0015")),
        ("007", 7),
        ('"a\\"b\\n\\\\\\u0041\\U01F40E"', 'a"b\n\\A🐎'),
        ('"\\d{3}"', "\\d{3}"),
        ('"two\nlines"', "two\nlines"),
        ('"\\uD83D\\uDE00"', "😀"),
        ("[1, [2], {}]", [1, [2], {}]),
        ('{a: 1, b c: 2, "d.e": 3, x-y: 4, `z`: 5, in: 6}', {"a": 1, "b c": 2, "d.e": 3, "x-y": 4, "z": 5, "in": 6}),
        ("{a: 1, a: 2}", {"a": 2}),
        ("{a: 1, b: {c: a + 1}, d: b.c * 2}", {"a": 1, "b": {"c": 2}, "d": 4}),
        ('@"2024-02-29"', temporal("2024-02-29")),
        ('@"2023-02-29"', None),
        ("[1..5)", Range(1, 5, True, False)),
        ("]1..5[", Range(1, 5, False, False)),
        ("1 /* one */ + // and\n 1", 2),
    ],
)
def test_literals(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 + 2 * 3 - 4 / 2", 5),
        ("2 ** 3 ** 2", 64),
        ("-2 ** 2", 4),
        ("2 * -3", -6),
        ("5 - -2", 7),
        ("- - 2", 2),
        ("(1 + 2) * 3", 9),
        ("10 / 4", Decimal("2.5")),
        ("1 / 3", Decimal("0." + "3" * 34)),
        ("2 / 3", Decimal("0." + "6" * 33 + "7")),
        ("0.1 + 0.2", Decimal("0.3")),
        ("2 ** -1", Decimal("0.5")),
        ("0 ** 0", 1),
        ("2 ** 0.5", Decimal("1.4142135623730951")),
        ("9999999999999999999999999999999999 + 1", Decimal("1E34")),
        ("9999999999999999999999999999999999 * 2", Decimal("19999999999999999999999999999999998").normalize()),
        ("1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12", 78),
        ("100 - 1 - 1 - 1 - 1 - 1 - 1 - 1 - 1 - 1 - 1 - 1", 89),
        ('"a" + "b" + "c"', "abc"),
        ('"a" + 1', None),
        ("1 / 0", None),
        ("0 ** -1", None),
        ("(-8) ** 0.5", None),
        ("true + 1", None),
        ('@"P1D" + @"2024-02-28" = @"2024-02-29"', True),
        ('-@"P1D" = @"-P1D"', True),
    ],
)
def test_arithmetic(text, expected):
    result = value(text)
    assert type(result) is not float
    assert result == expected or abs(result - expected) < Decimal("1E-33") * abs(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 = 1.0", True),
        ("1 = true", None),
        ('"1" = 1', None),
        ("null = null", True),
        ("1 != null", True),
        ("[1, null] = [1, null]", True),
        ("[1, true] = [1, 1]", False),
        ("{a: 1, b: 2} = {b: 2, a: 1}", True),
        ("[1..2] = [1..2]", True),
        ("[1..2] = [1..2)", False),
        ('"a" < "b"', True),
        ("true < false", None),
        ("[1] < [2]", None),
        ('@"10:00:00" < @"11:00:00Z"', None),
        ("2 between 1 and 3", True),
        ("4 between 1 and 3", False),
        ("null between 1 and 3", None),
        ("4 between null and 3", False),
        ("1 in [1, 2]", True),
        ("2 in (1..2)", False),
        ("2 in (1..2]", True),
        ("3 in (> 5, 3)", True),
        ("5 in ? < 10", True),
        ("3 in !=3", False),
        ("5 in ]4..6[ and true", True),
        ("[1] in [[1]]", True),
        ("true and null", None),
        ("false and null", False),
        ("null and false", False),
        ("null or true", True),
        ("1 or false", None),
        ("true and true and true", True),
        ("true and 1 and false", False),
        ("false or null or true", True),
    ],
)
def test_comparisons_and_connectives(text, expected):
    assert value(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("if true then 1 else 2", 1),
        ("if null then 1 else 2", 2),
        ("1 + if false then 1 else 2", 3),
        ("for x in [1, 2], y in [10, 20] return x + y", [11, 21, 12, 22]),
        ("for x in [[1, 2], [3]], y in x return y", [1, 2, 3]),
        ("for x in 3..1 return x", [3, 2, 1]),
        ("for x in 0.5..2.5 return x", [Decimal("0.5"), Decimal("1.5"), Decimal("2.5")]),
        ('count(for d in @"2024-02-28"..@"2024-03-01" return d)', 3),
        ("for x in 1..3 return partial", [[], [[]], [[], [[]]]]),
        ("for x in 1..4 return if x = 1 then 1 else x * partial[-1]", [1, 2, 6, 24]),
        ("for x in [1, 2] return for y in [x] return y", [[1], [2]]),
        ("for x in null return x", None),
        ("some x in [1, 2], y in [2, 3] satisfies x = y", True),
        ("some x in [] satisfies true", False),
        ("every x in [] satisfies false", True),
        ("every x in [1, null] satisfies x > 0", None),
        ("some x in [null, 1] satisfies x > 0", True),
        ("every x in [1, 2] satisfies x > 1", False),
    ],
)
def test_control(text, expected):
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("items[2].name", "b"),
        ("items[-1].name", "c"),
        ("items[4]", None),
        ("items[0]", None),
        ("items[1.0].name", "a"),
        ("items.name", ["a", "b", "c"]),
        ("items[price > 10].name", ["b", "c"]),
        ("items[price > limit].name", ["c"]),
        ("items[qty = null].name", ["c"]),
        ("items[item.price > 10 and item.price < 30].name", ["b"]),
        ("items[n].name", "b"),
        ("items[n + 1].name", "c"),
        ("items[flag].name", []),
        ("numbers[item > 1]", [2, 3]),
        ("numbers[item]", 1),
        ("numbers[even(item)]", [2]),
        ("numbers[count([1])]", 1),
        ("numbers[true]", [1, 2, 3]),
        ("numbers[null]", []),
        ("[[1, 2], [3]][item[1] = 3]", [[3]]),
        ("[{x: [1, 2]}, {x: [5]}][x[1] > 1]", [{"x": [5]}]),
        ("[{item: 1}, {item: 2}][item = 2]", [{"item": 2}]),
        ("items[some x in numbers satisfies x * 10 = price].name", ["b", "c"]),
        ("items[name = wanted[1]].price", [20]),
        ("limit[1]", None),
        ("a.b.c", 1),
        ("a.`b`.c", 1),
        ("`with space`.x", 7),
        ("a.missing", None),
        ("missing.b", None),
        ("[1..3].start", 1),
        ("[1..3).end included", False),
    ],
)
def test_paths_and_filters(text, expected):
    variables = {
        "items": ITEMS,
        "numbers": [1, 2, 3],
        "limit": 20,
        "n": 2,
        "flag": False,
        "wanted": ["b"],
        "a": {"b": {"c": 1}},
        "with space": {"x": 7},
    }
    assert value(text, variables) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{f: function(x, y) x - y}.f(5, 1)", 4),
        ("{f: function(x, y) x - y}.f(y: 1, x: 5)", 4),
        ("{f: function(x, y) x}.f(y: 1)", None),
        ("{f: function(x) x + 1, g: f(f(1))}.g", 3),
        ("{a: {f: function(x) x * 2}}.a.f(4)", 8),
        ("{n: 10, f: function(x) x + n}.f(1)", 11),
        ("for f in [function(x) x + 1] return f(2)", [3]),
        ("[1, 2][{f: function(x) x = 2}.f(item)]", [2]),
        ("for g in (for i in [10, 20] return function(x) x + i) return g(1)", [11, 21]),
        ("sort([3, 1, 2], function(x, y) x > y)", [3, 2, 1]),
        ("sum([1, 2, 3]) + sum(4, 5)", 15),
        ('substring(start position: 2, string: "abc")', "bc"),
        ('string  length("abc")', 3),
        ('x and date and time("2024-01-01T00:00:00") = null', False),
        ("get or else(null, 1)", 1),
        ("and([true, false])", False),
        ("or(true, false)", True),
        ("not(true)", False),
        ("{sum: function(a) a}.sum(7)", 7),
        ("{sum: function(a) a, r: sum(7)}.r", 7),
        ("bkm(2)", 20),
    ],
)
def test_functions(text, expected):
    bkm = value("{ten: 10, f: function(x) x * ten}")["f"]
    assert value(text, {"bkm": bkm, "x": False}) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 instance of number", True),
        ("null instance of Any", False),
        ("null instance of number", False),
        ('@"P1D" instance of days and time duration', True),
        ('@"P1D" instance of day-time-duration', True),
        ('@"10:00:00" instance of time', True),
        ('@"2024-01-01T10:00:00" instance of date and time and true', True),
        ("[1, null] instance of list<number>", True),
        ('[1, "a"] instance of list<number>', False),
        ("{a: 1} instance of context<a: number>", True),
        ("{a: 1} instance of context<a: string>", False),
        ("[1..2] instance of range<number>", True),
        ("(function(x) x) instance of function", True),
        ("(function(x) x) instance of function<number> -> number", True),
        ("1 instance of unheard", False),
    ],
)
def test_instance_of(text, expected):
    assert value(text) is expected


@pytest.mark.parametrize(
    "name", ["format", "orders", "android", "ifx", "input", "of", "date", "not", "nullable", "€uro"]
)
def test_names_that_look_like_something_else(name):
    assert value(name, {name: 1}) == 1
    assert value(f"x.{name} + {name}", {name: 1, "x": {name: 2}}) == 3


@pytest.mark.parametrize("key", ["in", "if", "for", "null", "and", "return"])
def test_any_word_is_a_key(key):
    assert value(f"x.{key}", {"x": {key: 1}}) == 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Full Name", "n"),
        ("Loan-to-value * 2", 6),
        ("Full Name = person.Full Name", True),
        ("for Line Item in [1, 2] return Line Item + 1", [2, 3]),
        ("{Net Sum: 2, Tax: Net Sum * 2}.Tax", 4),
        ("{f: function(first arg, b) first arg - b}.f(3, 1)", 2),
        ("a-b", 1),
        ("every Line Item in [1] satisfies Line Item > 0", True),
        ("string length(Full Name)", 1),
    ],
)
def test_names_with_spaces_and_signs(text, expected):
    variables = {"Full Name": "n", "Loan-to-value": 3, "person": {"Full Name": "n"}, "a": 3, "b": 2}
    evaluation = compile_expression(text, variables).evaluate(variables)
    assert evaluation.value == expected


def test_plain_mode_reads_words_apart():
    assert value("a-b", {"a": 3, "b": 2, "a-b": 9}) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("?", "'?' can only be used inside an unary-test expression"),
        ("[1..true]", "Invalid range definition"),
        ("[[1..null]]", "Invalid range definition"),
        ("x.f(1)", "Expected context but found 'null'"),
        ("{}.f(1)", "No function found with name 'f' and 1 parameters"),
        ("assert(1, 1 = 2)", "evaluate the expression 'assert(1, 1 = 2)': The condition is not fulfilled"),
        ('1 + assert(1, false, "because")', "because"),
    ],
)
def test_what_fails_the_whole_evaluation(text, message):
    expression = compile_expression(text)
    with pytest.raises(EvaluationError) as caught:
        expression.evaluate({"x": None})
    assert message in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["1 + {}.f(1)", "[1..true] + 1", "count({}.f(1))", "not({}.f(1))", "{}.f(1) and true", "{}.f(1)[1]", "-{}.f(1)"],
)
def test_operators_take_a_failed_value_as_null(text):
    assert value(text) is None


def test_values_of_variables_are_read_by_name_only():
    class Lazy(dict):
        def __iter__(self) -> None:
            raise AssertionError("iterated")

        keys = values = items = __iter__

    assert value("a + b.c + count([1][item = d]) + f", Lazy(a=1, b={"c": 2}, d=1)) is None


def test_a_value_of_a_foreign_type_is_refused():
    with pytest.raises(EvaluationError, match="float is not a type of FEEL values"):
        value("x = 1", {"x": 1.5})
