"""An erasure finds a text in every spelling, and only as a word."""

import json

import msgspec
import pytest

from vivero.core.records.instances import CreateInstance, VariableSet
from vivero.core.records.messages import MessagePublished
from vivero.storage.retention.erasure import ErasureSubject
from vivero.storage.retention.sought import Sought

NAME = "Jörg O'Neil"
ESCAPED = json.dumps(NAME)
OF_NAME = Sought(ErasureSubject(texts=(NAME,)))
OF_BUSINESS = Sought(ErasureSubject("A-7"))
OF_VARIABLE = Sought(ErasureSubject(variable="email", value=ESCAPED))
OF_NUMBER = Sought(ErasureSubject(variable="customer", value="4.20e1"))


@pytest.mark.parametrize(
    "record",
    [
        NAME,
        f"Dear {NAME}, hello",
        ESCAPED,
        json.dumps({"a": [{"b": f"({NAME})"}]}),
        json.dumps(json.dumps({"a": NAME})),
        msgspec.Raw(json.dumps({NAME: 1}).encode()),
        CreateInstance("p", variables={"x": msgspec.Raw(ESCAPED.encode())}),
        CreateInstance("p", tags=("a", NAME)),
        VariableSet(1, 1, "x", json.dumps([NAME])),
        (MessagePublished(1, "t", "n", "k", variables={"x": ESCAPED}),),
        {"a": {NAME: None}},
    ],
)
def test_a_text_is_found_in_all_that_is_decoded(record):
    assert OF_NAME.found_in(record)
    assert OF_VARIABLE.found_in(record), "the text of a variable counts everywhere"


@pytest.mark.parametrize(
    "record", [f"X{NAME}", f"{NAME}son", NAME.upper(), "", None, 5, True, ["a"], "[" * 2000 + "\\"]
)
def test_other_texts_are_not(record):
    assert not OF_NAME.found_in(record)


@pytest.mark.parametrize(
    ("record", "found"),
    [
        (VariableSet(1, 1, "customer", "42.0"), True),
        (VariableSet(1, 1, "other", "42"), False),
        (VariableSet(1, 1, "customer", "43"), False),
        (CreateInstance("p", variables={"customer": msgspec.Raw(b"42")}), True),
        (CreateInstance("p", variables={"a": msgspec.Raw(b'{"customer":42}')}), True),
        (CreateInstance("p", variables={"customer": msgspec.Raw(b"[42]")}), True),
        (CreateInstance("p", version=42), False),
        ("42", False),
    ],
)
def test_a_number_is_found_under_its_name_only(record, found):
    assert OF_NUMBER.found_in(record) is found


def test_a_short_business_id_is_found_as_such_only():
    assert OF_BUSINESS.found_in(CreateInstance("p", business_id="A-7"))
    assert not OF_BUSINESS.found_in(CreateInstance("p", tags=("A-7",)))
    assert Sought(ErasureSubject("A-77")).found_in(CreateInstance("p", tags=("A-77",)))


@pytest.mark.parametrize(
    "sought", [Sought(ErasureSubject(texts=("Jörg",))), Sought(ErasureSubject(variable="Jörg", value="5"))]
)
def test_json_that_has_neither_it_nor_escapes_need_not_be_decoded(sought):
    assert not sought.may_be_in('["VariableSet",1,1,"x","\\"Jo\\""]')
    assert all(map(sought.may_be_in, ('["Jörg"]', json.dumps("Jörg"), '"x\\/y"')))


@pytest.mark.parametrize("text", ['say "so"', "a/b/c", "two\nlines", "back\\slash"])
def test_texts_with_characters_that_json_escapes_are_always_decoded(text):
    assert Sought(ErasureSubject(texts=(text,))).may_be_in("[]")
    assert Sought(ErasureSubject(texts=(text,))).found_in(json.dumps(json.dumps([text])))
