"""The screens in front of the decoder: what they must refuse, must let pass, and may cost."""

import json
import time
from contextlib import suppress
from decimal import Decimal

import pytest
from hypothesis import strategies as st

from tests.properties import given
from vivero.api.http.decoding import Body, as_int64, as_key, check_nesting, decode_json, decoder
from vivero.api.http.problems import Problem
from vivero.api.http.request import Request, parse_key

anything = decoder(object)


class Inner(Body, frozen=True):
    some_number: int | None = None


class Outer(Body, frozen=True):
    inner: Inner | None = None
    many: list[Inner] | None = None
    mapping: dict[str, int] | None = None
    needed: str = ""


class Needy(Body, frozen=True):
    needed_name: str


outer, needy = decoder(Outer), decoder(Needy)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.text(alphabet=st.characters(codec="utf-8")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='[]{}"\\x'), inner),
    max_leaves=40,
)


def depth(value):
    if isinstance(value, dict):
        return 1 + max((depth(each) for each in value.values()), default=0)
    if isinstance(value, list):
        return 1 + max((depth(each) for each in value), default=0)
    return 0


@pytest.mark.long
@given(json_values, st.integers(1, 5), st.booleans())
def test_nesting_is_measured_exactly(value, limit, ascii):
    body = json.dumps(value, ensure_ascii=ascii).encode()
    if depth(value) <= limit:
        check_nesting(body, limit)
    else:
        with pytest.raises(Problem):
            check_nesting(body, limit)


@given(json_values.filter(lambda value: "\\u0000" not in json.dumps(value)))
def test_harmless_documents_pass_unchanged(value):
    assert decode_json(json.dumps(value).encode(), anything, 64) == value


@given(st.binary(max_size=200) | st.text(alphabet='[]{}",:\\u0dD81eE+-.nulltrue \t').map(str.encode))
def test_nothing_but_problems_is_raised(body):
    with suppress(Problem):
        decode_json(body, anything, 8)


def test_fractions_are_decimals():
    assert decode_json(b"[1.10, 1e3, 2]", anything, 64) == [Decimal("1.10"), Decimal("1E+3"), 2]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        (b'{"inner":{"someNumber":"x"}}', "Request property [inner.someNumber] cannot be parsed"),
        (b'{"many":[{},{"someNumber":"x"}]}', "Request property [many[1].someNumber] cannot be parsed"),
        (b'{"inner":{"other":1}}', "Request property [inner.other] cannot be parsed"),
        (b'{"a`b":1}', "Request property [a`b] cannot be parsed"),
        (b'{"mapping":{"k":"v"}}', "Request property [mapping[...]] cannot be parsed"),
        (b"[]", "Request body cannot be parsed: Expected `object`, got `array`"),
        (
            b'{"needed":"\\ud800"}',
            "Request body cannot be parsed: JSON is malformed: half of an escaped utf-16 surrogate pair (byte 11)",
        ),
        (b'{"needed":"\\ud8', "Request body cannot be parsed: Input data was truncated"),
        (b'{"needed":1', "Request property [needed] cannot be parsed"),
    ],
)
def test_the_place_of_an_error_is_named(body, detail):
    with pytest.raises(Problem) as caught:
        decode_json(body, outer, 64)
    assert caught.value.detail == detail


def test_a_missing_property_is_named():
    with pytest.raises(Problem) as caught:
        decode_json(b"{}", needy, 64)
    assert caught.value.detail == "Request property [neededName] cannot be parsed"


@pytest.mark.long
@pytest.mark.parametrize(
    "body",
    [
        b"[" * 4_000_000,
        b"[]" * 2_000_000,
        b'["' * 1_000_000 + b'"]' * 1_000_000,
        b'{"a":"' + b"\\\\" * 2_000_000 + b'"}',
        b'{"a":"' + b'\\"' * 2_000_000 + b'"}',
        b'["["' + b',"["' * 1_000_000 + b"]",
        b"[" + b"1" * 299 + (b"," + b"1" * 299) * 13_000 + b"]",
        b"[" + b"1e99," * 800_000 + b"1]",
        (b"[" * 63 + b"]" * 63 + b",") * 30_000,
        b'"' + b"e9" * 2_000_000 + b'"',
    ],
    ids=range(10),
)
def test_the_largest_bodies_are_screened_in_time(body):
    """No body of 4 MB may stop the event loop for long, however it was made. (Far above what is measured.)"""
    started = time.thread_time()  # what other programs take does not count
    with suppress(Problem):
        decode_json(body, anything, 64)
    assert time.thread_time() - started < 3


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("0", 0),
        ("-5", -5),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0000000000000000000000001", 1),
        ("9223372036854775808", None),
        ("00000000000000000000000001", None),
        ("", None),
        ("-", None),
        ("1\n", None),
        ("１", None),
    ],
)
def test_keys(text, key):
    assert parse_key(text) == key


def test_numbers_may_be_texts_but_must_fit():
    assert as_int64("-20", "x") == -20
    assert as_int64(None, "x") is None
    assert as_key(None, "x") is None
    with pytest.raises(Problem, match=r"\[x\]"):
        as_int64("9999999999999999999", "x")
    with pytest.raises(Problem, match=r"\[x\]"):
        as_key("9999999999999999999", "x")


def test_a_number_of_too_many_digits_is_named_although_its_place_is_not():
    with pytest.raises(Problem) as caught:
        decode_json(b'{"a":{"b":' + b"9" * 5_000 + b"}}", anything, 64)
    assert caught.value.detail == "Request body cannot be parsed: Integer value out of range"


# Headers in several lines


@pytest.mark.parametrize("name", ["content-type", "content-encoding", "idempotency-key", "range", "if-range"])
def test_a_header_with_one_value_is_refused_if_it_has_several(name):
    lines = [(b"host", b"h"), (name.encode(), b"a"), (name.encode(), b"b")]
    with pytest.raises(Problem) as caught:
        Request("GET", "/", lines).header(name.encode())
    assert (caught.value.status, caught.value.detail) == (
        400,
        f"The header {name.title()} is given 2 times, with different values",
    )


def test_lines_of_a_list_are_joined_and_equal_ones_count_once():
    lines = [(b"if-match", b'"1"'), (b"prefer", b"wait=10"), (b"if-match", b'"2"'), (b"range", b"x"), (b"range", b"x")]
    request = Request("GET", "/", lines)
    assert request.header(b"if-match") == '"1", "2"'
    assert request.header(b"prefer") == "wait=10"
    assert request.header(b"range") == "x"
    assert request.header(b"accept") is None
