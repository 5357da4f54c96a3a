"""Built-in functions on lists, and aggregates."""

from decimal import Decimal

import pytest

from vivero.core.feel import FeelLimits, LimitExceeded, compile_expression


def call(expression, limits=None, **variables):
    compiled = compile_expression(expression, limits=limits) if limits else compile_expression(expression)
    return compiled.evaluate(variables)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("list contains([1,2,3], 2)", True),
        ("list contains([1,2,3], true)", False),
        ("list contains([1,null], null)", True),
        ("list contains([[1],[2]], [2])", True),
        ("list contains([1.0], 1)", True),
        ("count([])", 0),
        ("count(list: [1,2])", 2),
        ("index of([1,2,3,2], 2)", [2, 4]),
        ("index of([1,true,null], true)", [2]),
        ("sublist([1,2,3], 2)", [2, 3]),
        ("sublist([1,2,3], 1, 2)", [1, 2]),
        ("sublist([1,2,3], -2)", [2, 3]),
        ("sublist([1,2,3], -2, 1)", [2]),
        ("sublist([1,2,3], -9)", [1, 2, 3]),
        ("sublist([1,2,3], 0)", []),
        ("sublist([1,2,3], 2, 9)", [2, 3]),
        ("sublist(list: [1,2,3], start position: 2, length: 1)", [2]),
        ("append([1], 2, 3)", [1, 2, 3]),
        ("append([1], [2])", [1, [2]]),
        ("append(list: [1], items: [2, 3])", [1, 2, 3]),
        ("concatenate([1,2],[3])", [1, 2, 3]),
        ("concatenate([1],2,[[3]])", [1, 2, [3]]),
        ("insert before([1,3],1,2)", [2, 1, 3]),
        ("insert before([1,3],-1,2)", [1, 2, 3]),
        ("insert before([1],9,2)", [1, 2]),
        ("insert before([1],-9,2)", [2, 1]),
        ("remove([1,2,3], 2)", [1, 3]),
        ("remove([1,2,3], -1)", [1, 2]),
        ("remove([1,2,3], -9)", [1, 2, 3]),
        ("list replace([1,2,3], -1, 4)", [1, 2, 4]),
        ("list replace([2,4,7], function(item, newItem) item < newItem, 5)", [5, 5, 7]),
        ("list replace(match: function(a, b) a = b, list: [1, 2], newItem: 2)", [1, 2]),
        ("reverse([1,2,3])", [3, 2, 1]),
        ("union([1,2],[2,3],4)", [1, 2, 3, 4]),
        ("distinct values([1, 1.0, true, null, null, [1], [1], {a: 1}, {a: 1.0}])", [1, True, None, [1], {"a": 1}]),
        ("duplicate values([1,2,3,4,2,3,1])", [1, 2, 3]),
        ("flatten([[1,2],[[3, []]], 4])", [1, 2, 3, 4]),
        ("sort([3,1,2], function(x,y) x < y)", [1, 2, 3]),
        ("sort(precedes: function(x,y) x > y, list: [3,1,2])", [3, 2, 1]),
        ("sort([{a:2,b:1},{a:1,b:2},{a:2,b:3}], function(x,y) x.a < y.a).b", [2, 1, 3]),
        ("sort([], function(x,y) x < y)", []),
        ("is empty([])", True),
        ("partition([1,2,3,4,5], 2)", [[1, 2], [3, 4], [5]]),
        ("partition([], 2)", []),
        ('string join(["a",null,"c"])', "ac"),
        ('string join(["a","b"], ", ", "[", "]")', "[a, b]"),
        ('string join(list: ["a","b"], delimiter: "-")', "a-b"),
        ('string join(["a","b"], null, "<", ">")', "<ab>"),
        ('string join(["a","b"], "-", null, ">")', "a-b>"),
        ("min(1,2,3)", 1),
        ('max(["a","b"])', "b"),
        ("min([])", None),
        ("min([1, null])", None),
        ('max([1, "a"])', None),
        ("max([true, false])", None),
        ('min([@"10:00:00", @"09:00:00Z"])', None),
        ("sum(1, 2.5)", Decimal("3.5")),
        ("sum([])", None),
        ("product(2,3,4)", 24),
        ("mean(1,2)", Decimal("1.5")),
        ("mean([1,2,3])", 2),
        ("median(8, 2, 5, 3, 4)", 4),
        ("median([6, 1, 2, 3])", Decimal("2.5")),
        ("stddev([2, 4, 7, 5])", Decimal("2.0816659994661326")),
        ("mode([6, 1, 9, 6, 1])", [1, 6]),
        ("mode([])", []),
        ("and([true,false])", False),
        ("all(true, null)", None),
        ("all(null, false)", False),
        ("and([])", True),
        ("or(false,null,true)", True),
        ("any(false, null)", None),
        ("or([])", False),
        ("all(0)", None),
    ],
)
def test_lists(expression, expected):
    value, warnings = call(expression)
    assert value == expected
    assert not warnings
    assert [type(v) for v in value] == [type(v) for v in expected] if isinstance(value, list) else True


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("count(null)", "Illegal arguments: 'null'"),
        ("insert before([1],0,2)", "position must be a non-zero number"),
        ("remove([1],0)", "position must be a non-zero number"),
        ("list replace([1,2,3], 4, 4)", "The list has no position 4"),
        ('list replace([1,2,3], "2", 4)', "Illegal arguments: '[1, 2, 3]', '\"2\"', '4'"),
        ("list replace([1], function(item) true, 4)", "Illegal arguments: '[1]', 'function(item)', '4'"),
        ("list replace([1], function(a, b) 1, 4)", "expected boolean but found '1'"),
        ("partition([1,2], -1)", "'size' should be greater than zero but was '-1'"),
        ('string join(["a", 1])', "expected a list of strings but found '[\"a\", 1]'"),
        ('string join(["a"], 1)', "Illegal arguments: '[\"a\"]', '1'"),
        ('sum([1, "a"])', "expected number but found '\"a\"'"),
        ("mean(null)", "expected number but found 'null'"),
        ("stddev(47)", "a standard deviation needs two numbers or more"),
        ("sort([1], function(x) true)", "expect boolean function with 2 arguments, but found '1'"),
        (
            "sort([1, 2], function(x, y) 1)",
            "fail to sort list by given precedes function: expected boolean but found '1'",
        ),
    ],
)
def test_failures_give_null_and_say_why(expression, message):
    value, warnings = call(expression)
    name = expression.partition("(")[0]
    assert value is None
    assert warnings[-1] == ("FUNCTION_INVOCATION_FAILURE", f"Failed to invoke function '{name}': {message}")


@pytest.mark.parametrize("name", ["all", "mode", "sum", "concatenate", "context merge", "max"])
def test_functions_of_any_number_of_arguments_take_one_at_least(name):
    value, (warning,) = call(f"{name}()")
    assert value is None
    assert warning == ("NO_FUNCTION_FOUND", f"No function found with name '{name}' and 0 parameters")


def test_sums_keep_34_digits():
    assert call("sum([9999999999999999999999999999999999, 1])").value == 10**34
    assert str(call("sum(l)", l=[Decimal("1e32"), Decimal("0.16")]).value) == "100000000000000000000000000000000.2"


@pytest.mark.parametrize(
    "expression", ["distinct values(l)", "union(l, l)", "duplicate values(l)", "mode(l)", "median(l)", "sum(l)"]
)
def test_long_lists_take_one_pass(expression):
    compile_expression(expression).evaluate({"l": [*range(10_000)]})


def test_growing_lists_are_bounded():
    limits = FeelLimits(list_size=1_000)
    for expression in ("concatenate(l, l)", "append(l, 1, 2, 3)", "flatten([l, l])", "union(l, l)"):
        with pytest.raises(LimitExceeded, match="list of"):
            call(expression, limits, l=[1] * 998 + [2, 3])


def test_deep_values_are_no_crash():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    limits = FeelLimits(steps=10**9)
    value, (warning,) = call("distinct values([l])", limits, l=deep)
    assert value is None
    assert "nested too deeply" in warning.message
    assert call("flatten(l)", limits, l=deep).value == []
