"""The normal form of a JSON value: one for all spellings of a value, another one for each other value."""

import random
from decimal import Decimal
from fractions import Fraction

import pytest

from vivero.storage.state.normal_form import LONGEST, hash_of, normal_form, normal_hash

SPELLINGS = {
    '"Köln"': ['"K\\u00f6ln"', ' "Köln" ', '"K\\u00F6ln"'],
    '"a/b"': ['"a\\/b"'],
    '"a\\n"': ['"a\\u000a"'],
    '"😀"': ['"\\ud83d\\ude00"'],
    "1": ["1.0", "1e0", "10E-1", "0.1e+1", "1.00000000000000000000", " 1"],
    "0": ["-0", "0.0", "-0.0", "0e5", "-0.0000000000000000000"],
    "100": ["1e2", "100.0", "1.00E2"],
    "-1.5": ["-1.50", "-15e-1", "-0.15e1"],
    "0.1": ["0.10", "1e-1", "0.10000000000000000000"],
    "123456789012345678901": ["123456789012345678901.0", "1.23456789012345678901e20"],
    '{"a":[1,{"y":2,"z":0.5}],"b":1}': [
        '{"b":1.0,"a":[1,{"z":0.50,"y":2}]}',
        '{ "a": [1.0, {"y": 2, "z": 5e-1}], "b": 1 }',
    ],
    '{"a":123456789012345678901,"b":1}': ['{"b":1,"a":123456789012345678901}'],
    "[]": ["[ ]"],
    "{}": ["{ }"],
    "null": [" null"],
    "true": ["true "],
}
OTHERS = [
    '"1"',
    "1.01",
    "10",
    "-1",
    "[1]",
    "[1,2]",
    "[2,1]",
    '{"a":1}',
    '{"a":"1"}',
    '"koln"',
    '"Köln "',
    "false",
    '""',
]
ODD = ["ann", "", "01", "NaN", '"\\ud800"', '"open', "[1,", "1" * 500]


def test_all_spellings_of_a_value_have_its_normal_form():
    for normal, others in SPELLINGS.items():
        assert {normal, *map(normal_form, others)} == {normal_form(normal)} == {normal}
        assert normal_hash(normal) is None
        assert {normal_hash(each) for each in others} == {hash_of(normal)}


def test_other_values_have_others():
    values = [*SPELLINGS, *OTHERS]
    assert len(set(map(normal_form, values))) == len(values)
    assert [normal_hash(each) for each in values] == [None] * len(values)


def test_what_is_not_json_and_what_is_too_long_is_its_own():
    for text in (*ODD, "[1.0," + "1," * (LONGEST // 2) + "1]"):
        assert (normal_form(text), normal_hash(text)) == (text, None)


@pytest.mark.parametrize("digits", [1, 5, 14, 15, 16, 17, 28])
def test_numbers_count_by_their_value(digits, seed):
    random_ = random.Random(seed)
    for _ in range(300):
        number = Decimal(random_.randrange(-(10**digits) + 1, 10**digits)).scaleb(random_.randrange(-25, 12))
        plain, thousandth = format(number, "f"), f"{number * 1000:f}e-3" if digits < 25 else f"{number}"
        padded = plain + "00" if "." in plain else plain + ".0"
        forms = {normal_form(text) for text in (plain, padded, thousandth, f"{number:e}", f"{number:E}")}
        assert len(forms) == 1, number
        (normal,) = forms
        assert Fraction(normal) == Fraction(number)
        assert (normal_form(normal), normal_hash(normal)) == (normal, None)


def test_numbers_far_from_one_keep_an_exponent():
    for far in ("e99", "e-99", "e350", "e-350"):
        assert len({normal_form(f"{text}{far}") for text in ("1.5", "1.50", "1.50000000000000000000")}) == 1
    assert len({normal_form(text) for text in ("1e400", "1e401", "1e-400", "1e300", "1e299", "1", "0")}) == 7
    assert len(normal_form("[" + ",".join(["1e999"] * 1000) + "]")) < 10_000
