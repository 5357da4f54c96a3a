"""Values to JSON and back."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import strategies as st

from tests.properties import given
from vivero.core.feel import (
    EvaluationError,
    LimitExceeded,
    compile_expression,
    decode_large,
    from_json,
    measure_json,
    scalars_to_json,
    to_json,
)
from vivero.core.feel.arithmetic import from_float
from vivero.core.feel.temporal import parse_temporal
from vivero.core.feel.values import Range


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (Decimal("1.50"), "1.5"),
        (Decimal("2.0"), "2"),
        (Decimal("1E+3"), "1000"),
        (Decimal("1E+40"), "1e40"),
        (Decimal("0." + "3" * 34), "0.3333333333333333"),
        (Decimal("-0.0"), "0"),
        (Decimal("1E+400"), "1E+400"),
        (10**30, "1" + "0" * 30),
        (-(2**63), "-9223372036854775808"),
        (2**64, "18446744073709551616"),
        ('a"\n\u2028é🐎', '"a\\"\\n\u2028é🐎"'),
        ([], "[]"),
        ({"a": [1, {"b": None}], "": 2}, '{"a":[1,{"b":null}],"":2}'),
        (parse_temporal("2024-01-31"), '"2024-01-31"'),
        (parse_temporal("10:00:00+01:00"), '"10:00:00+01:00"'),
        (parse_temporal("PT24H"), '"P1D"'),
        (parse_temporal("P0D"), '"P0D"'),
        (parse_temporal("P14M"), '"P1Y2M"'),
        (Range(1, 2), "null"),
        ([compile_expression("function(x) x").evaluate({}).value], "[null]"),
    ],
)
def test_to_json(value, text):
    assert to_json(value) == text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("1.50", Decimal("1.5")),
        ("1e2", Decimal("100")),
        ("0.1", Decimal("0.1")),
        ("-0.0", Decimal("0")),
        ("1e400", Decimal("1e400")),
        ("12345678901234567890", 12345678901234567890),
        ("1" + "0" * 40, Decimal("1e40")),
        ('{"a":[1.5,null,"x"]}', {"a": [Decimal("1.5"), None, "x"]}),
    ],
)
def test_from_json(text, value):
    result = from_json(text)
    assert result == value
    assert type(result) is type(value)
    assert from_json(text.encode()) == value


@pytest.mark.parametrize(
    "text", ["0.1", "-0.5", "1.50", "123456789.12345", "0.0000000000001", "1.0", "1e2", "0.10000000000000001"]
)
def test_a_fraction_has_the_shortest_text_of_its_double_however_it_is_read(text):
    assert from_json(text).as_tuple() == from_float(float(text)).as_tuple()


@pytest.mark.parametrize("text", ["", "{", "nul", "[1,]", "'a'", "NaN", b"\xff", "[" * 100_000])
def test_invalid_json_is_an_error(text):
    with pytest.raises(EvaluationError, match="not valid JSON"):
        from_json(text)


@pytest.mark.parametrize("text", ["1e6145", "[-1e999999]", '{"a": 1e99999999999999999999999}'])
@pytest.mark.parametrize("decode", [from_json, decode_large])
def test_a_number_beyond_decimals_is_an_error_that_expressions_turn_into_null(decode, text):
    with pytest.raises(EvaluationError, match=r"out of range: 10\^6145"):
        decode(text)
    assert from_json("9.9e6144") == Decimal("9.9e6144")
    assert compile_expression("from json(x)").evaluate({"x": text}).value is None


def test_text_that_is_no_unicode_is_refused():
    with pytest.raises(EvaluationError, match="Unicode"):
        to_json("\ud800")


def test_a_shared_list_counts_each_time():
    assert to_json([[1]] * 3) == "[[1],[1],[1]]"
    shared: list[Any] = ["x" * 1000]
    for _ in range(40):
        shared = [shared, shared]
    with pytest.raises(LimitExceeded):
        to_json(shared)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**33), 10**33) | st.text(st.characters(codec="utf-8")),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=5)
    ),
    max_leaves=20,
)


@given(json_values)
def test_what_is_written_is_read_back(value):
    assert from_json(to_json(value)) == value


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_double_comes_back_as_the_same_double(number):
    assert float(to_json(from_json(repr(number)))) == number


@given(st.lists(st.integers(-(10**34), 10**34) | st.integers() | st.booleans() | st.none()))
def test_a_list_at_once_is_its_items_with_commas(values):
    assert scalars_to_json(values) == f"[{','.join(map(to_json, values))}]" == to_json(values)


@pytest.mark.parametrize("other", ["a", Decimal(1), [], {}, parse_temporal("PT1H"), Range(1, 2)])
def test_a_list_of_anything_else_is_not_written_at_once(other):
    assert scalars_to_json([1, other]) is None


ODD = ["1.0", "-0.0", "1e300", "1E5", "2.50", "0.00001", "1e-7", "123456789012345678901.5", '"1.0,"', '":1e5,"', '"é"']
NUMBERS = st.one_of(st.floats(allow_nan=False, allow_infinity=False).map(repr), st.integers().map(str))
TEXTS = st.recursive(
    st.one_of(st.sampled_from(["null", "true", *ODD]), NUMBERS),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda texts: f"[{', '.join(texts)}]"),
        st.lists(inner, max_size=4).map(lambda texts: f"[{','.join(texts)}]"),
        st.lists(inner, max_size=3).map(lambda texts: "{" + ",".join(f'"k.0":{text}' for text in texts) + "}"),
    ),
)


@given(TEXTS)
def test_what_is_decoded_as_large_is_the_same_and_its_canonical_text_too(text):
    value, canonical = decode_large(f"[{text}]")
    assert value == from_json(f"[{text}]")
    assert canonical in (None, to_json(value))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[1.5,{"a":[]}]', '[1.5,{"a":[]}]'),
        ("[ 1.50, 2.0 ]", "[1.5,2]"),
        ('["x.0,",2.5]', None),
        ("[1e300]", None),
        ("[-0.0]", None),
        ('{"a":1,"a":2}', '{"a":2}'),
    ],
)
def test_canonical_texts(text, expected):
    assert decode_large(text)[1] == expected


def test_a_value_whose_text_is_known_is_not_looked_into():
    value = from_json("[[1.5],[2.5]]")
    assert measure_json(value, {}, 4) == ("[[1.5],[2.5]]", 4)
    with pytest.raises(LimitExceeded):
        measure_json(value, {}, 3)
    assert measure_json({"x": value, "y": [value]}, {id(value): "[[1.5],[2.5]]"}, 3)[1] == 3
