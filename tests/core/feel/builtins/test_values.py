"""Built-in functions that convert, and those on contexts, booleans, dates and the clock."""

import pytest

from vivero.core.feel import EvaluationError, compile_expression
from vivero.core.feel.temporal import parse_temporal

NOW_MS = 1_792_579_530_250  # 2026-10-21T10:45:30.250Z


def call(expression, **variables):
    return compile_expression(expression).evaluate(variables, now=NOW_MS)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('date("2018-04-29")', "2018-04-29"),
        ("date(2012, 12, 25)", "2012-12-25"),
        ("date(-2017, 12, 31)", "-2017-12-31"),
        ('date(date and time("2012-12-25T11:00:00@Europe/Paris"))', "2012-12-25"),
        ('date(from: @"2012-12-25")', "2012-12-25"),
        ('time("T11:00:00")', "11:00:00"),
        ('time(date and time("2012-12-25T11:00:00+01:00"))', "11:00:00+01:00"),
        ('time(date and time("2012-07-25T11:00:00@Europe/Paris")).time offset', "PT2H"),
        ('time(@"2012-12-25")', "00:00:00Z"),
        ("time(23, 59, 1.3)", "23:59:01.3"),
        ('time(14, 30, 0, duration("PT1H"))', "14:30:00+01:00"),
        ('time(11, 59, 45, duration("-PT2H45M55S"))', "11:59:45-02:45:55"),
        ("time(12, 59, 1.5, null)", "12:59:01.5"),
        ('date and time("2018-04-29")', "2018-04-29T00:00:00"),
        ('date and time("2018-04-29T09:30:00+02:00[Europe/Berlin]")', "2018-04-29T09:30:00@Europe/Berlin"),
        ('date and time(@"2012-12-24", @"23:59:00@Europe/Paris")', "2012-12-24T23:59:00@Europe/Paris"),
        ('date and time(@"2012-12-24T10:00:00Z", @"23:59:00")', "2012-12-24T23:59:00"),
        (
            'date and time(@"2020-07-31T14:27:30@Europe/Berlin", "America/Los_Angeles")',
            "2020-07-31T05:27:30@America/Los_Angeles",
        ),
        ('date and time(@"2020-07-31T14:27:30", "Z")', "2020-07-31T14:27:30Z"),
        ('date and time(date: @"2020-07-31T14:27:30Z", timezone: "+01:00")', "2020-07-31T15:27:30+01:00"),
        ('duration("P5D")', "P5D"),
        ('duration("P32Y")', "P32Y"),
        ('years and months duration(date("2011-12-22"), date("2013-08-24"))', "P1Y8M"),
        ('years and months duration(@"2017-02-28T23:59:59", @"2019-07-23")', "P2Y4M"),
        ('years and months duration(@"2017-09-05T10:20:00-01:00", @"-2019-10-01T12:32:59+02:00")', "-P4035Y11M"),
        ('last day of month(@"2024-02-01")', "2024-02-29"),
        ('last day of month(@"2022-10-16T12:00:00")', "2022-10-31"),
        ("now()", "2026-10-21T10:45:30.25Z"),
        ("today()", "2026-10-21"),
    ],
)
def test_temporals(expression, expected):
    value, warnings = call(expression)
    assert str(value) == expected
    assert not warnings


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('day of week(date("2019-09-17"))', "Tuesday"),
        ('day of year(@"2020-12-31T10:10:10")', 366),
        ('week of year(@"2010-01-01")', 53),
        ('week of year(date: @"2003-12-29T10:10:10Z")', 1),
        ('month of year(@"2019-09-17")', "September"),
        ('number("1500.5")', 1500.5),
        ('number("-1e3")', -1000),
        ('number("1,500", ",")', 1500),
        ('number("1 500,5", " ", ",")', 1500.5),
        ('number("1500,5", null, ",")', 1500.5),
        ('number(from: "1.500", grouping separator: ".", decimal separator: null)', 1500),
        ("string(1.10)", "1.10"),
        ("string(1e3)", "1E+3"),
        ('string("a")', "a"),
        ("string(null)", None),
        ("string(true)", "true"),
        ('string([1, "a", [null]])', '[1, "a", [null]]'),
        ('string({a: 1, b: {c: @"2026-01-01"}})', "{a:1, b:{c:2026-01-01}}"),
        ("string([1..2])", "[1..2]"),
        ('from json("{\\"a\\": [1, 2.5, null, true]}")', {"a": [1, 2.5, None, True]}),
        ('from json("\\"2023-06-14\\"")', "2023-06-14"),
        ("from json(null)", None),
        ('to json({a: [1, 2.50, null], b: "x\\"y"})', '{"a":[1,2.5,null],"b":"x\\"y"}'),
        ('to json(@"2025-11-24T10:00:00@Europe/Berlin")', '"2025-11-24T10:00:00+01:00[Europe/Berlin]"'),
        ('get value({foo: 123}, "foo")', 123),
        ('get value({x: {y: {z:0}}}, ["x", "y"])', {"z": 0}),
        ('get value({a: {b: 3}}, ["b"])', None),
        ("get value({a: 1}, [])", None),
        ('get value(m: {a: 1}, key: "a")', 1),
        ("get entries({foo: 123})", [{"key": "foo", "value": 123}]),
        ('context put({x: 1}, "y", 2)', {"x": 1, "y": 2}),
        ('context put({x: 1, y: {z: 0}}, ["y", "z"], 2)', {"x": 1, "y": {"z": 2}}),
        ('context put(context: {x: 1}, keys: ["a", "b"], value: 2)', {"x": 1, "a": {"b": 2}}),
        ('put({}, "x", null)', {"x": None}),
        ("context merge({x: 1, y: 0}, {y: 2})", {"x": 1, "y": 2}),
        ("put all([{x: 1}, {y: 2}])", {"x": 1, "y": 2}),
        ("context merge(contexts: {a: 1})", {"a": 1}),
        ('context([{key: "a", value: 1}, {key: "a", value: null}])', {"a": None}),
        ('context({key: "a", value: 1})', {"a": 1}),
        ("not(true)", False),
        ("not(1)", None),
        ("is defined(null)", False),
        ("is defined(1)", True),
        ("get or else(null, 1)", 1),
        ("get or else(false, 1)", False),
        ("assert(4, true)", 4),
        ("is(1, 1.0)", True),
        ('is(1, "1")', False),
        ('is(@"P1D", @"PT24H")', True),
        ('is(@"2002-04-02T23:00:00-04:00", @"2002-04-03T02:00:00-01:00")', False),
        ('is(@"23:00:50Z", @"23:00:50+00:00")', True),
        ("is([1, {a: null}], [1, {a: null}])", True),
        ("is(value1: null)", True),
        ('cycle(duration("PT1H"))', "R/PT1H"),
        ('cycle(3, @"P1D")', "R3/P1D"),
        ('cycle(repetitions: null, interval: @"P1M")', "R/P1M"),
        ("fromAi(1)", 1),
        ('fromAi(1, null, "number", {}, {required: false})', 1),
        ('fromAi(value: 1, type: "number")', 1),
    ],
)
def test_values(expression, expected):
    value, warnings = call(expression)
    assert value == expected
    assert not warnings


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("date(null)", "Illegal arguments: 'null'"),
        ('date("2024-06-31")', "Failed to parse date from '2024-06-31'"),
        ("date(2024, 6, 31)", "Failed to parse date from: year=2024, month=6, day=31"),
        ('time("25:00:00")', "Failed to parse local-time from '25:00:00'"),
        ('time("25:00:00Z")', "Failed to parse time from '25:00:00Z'"),
        ("time(25, 0, 0)", "Failed to parse local-time from: hour=25, minute=0, second=0"),
        ('time(1, 0, 0, @"PT19H")', "Failed to parse time from: hour=1, minute=0, second=0, offset=PT19H"),
        ('date and time("2024-06-31T10:00:00")', "Failed to parse local-date-time from '2024-06-31T10:00:00'"),
        ('date and time("2024-06-31T10:00:00Z")', "Failed to parse date-time from '2024-06-31T10:00:00Z'"),
        ('date and time("x")', "Failed to parse date-time from 'x'"),
        ('date and time(@"2020-01-01T00:00:00", "Mars/X")', "Unknown time zone 'Mars/X'"),
        ('date and time(@"2020-01-01T00:00:00", null)', "Illegal arguments: '2020-01-01T00:00:00', 'null'"),
        ('duration("P1Y1D")', "Failed to parse duration from 'P1Y1D'"),
        ('duration("P")', "Failed to parse year-month-duration from 'P'"),
        ('number("x")', "Can't parse 'x' as a number"),
        ('number("1_000")', "Can't parse '1_000' as a number"),
        ('number("1;5", ";")', "illegal argument for grouping. Must be one of ' ', ',' or '.'"),
        (
            'number("1,5", ",", ",")',
            "illegal arguments for grouping or decimal. Must be one of ' ' (grouping only), ',' or '.'",
        ),
        ('from json("NaN")', "Failed to parse JSON from 'NaN'"),
        ("get value(null, null)", "Illegal arguments: 'null', 'null'"),
        ("context put({}, [], 1)", "Illegal arguments: '{}', '[]', '1'"),
        ("context put({}, [1], 1)", "Illegal arguments: '{}', '[1]', '1'"),
        ("context merge({}, 1)", "Illegal arguments: '[{}, 1]'"),
        ("context([{key: 2, value: 2}])", "expected a context with 'key' and 'value' but found '{key:2, value:2}'"),
        ("day of week(null)", "Illegal arguments: 'null'"),
        ("cycle(1)", "Illegal arguments: '1'"),
    ],
)
def test_failures_give_null_and_say_why(expression, message):
    value, (warning,) = call(expression)
    name = expression.partition("(")[0]
    assert value is None
    assert warning == ("FUNCTION_INVOCATION_FAILURE", f"Failed to invoke function '{name}': {message}")


def test_an_assertion_ends_the_evaluation():
    for expression, cause in (("assert(x, false)", "not fulfilled"), ('assert(1, null, "why")', "why")):
        with pytest.raises(EvaluationError, match=cause) as caught:
            call(expression)
        assert caught.value.type == "ASSERT_FAILURE"


def test_without_a_clock_there_is_no_now():
    value, (warning,) = compile_expression("now()").evaluate({})
    assert value is None
    assert "no clock" in warning.message


def test_a_context_keeps_its_order_and_its_original():
    original = {"b": 1, "a": 2}
    put = call('context put(c, "b", 3)', c=original).value
    assert [*put.items()] == [("b", 3), ("a", 2)]
    assert original == {"b": 1, "a": 2}


def test_numbers_of_texts_keep_34_digits():
    assert (
        str(call('number("12345678901234567890123456789012345678")').value) == "1.234567890123456789012345678901235E+37"
    )
    assert call('number("007")').value == 7
    assert call('number("1e99999")').value is None


def test_a_temporal_can_be_an_argument_from_outside():
    assert call("string(t)", t=parse_temporal("10:00:00@Europe/Berlin")).value == "10:00:00@Europe/Berlin"
