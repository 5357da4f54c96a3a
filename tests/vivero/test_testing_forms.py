"""The test kit checks the variables of user tasks and starts against their forms."""

import json
from pathlib import Path

import pytest

from vivero.testing import Processes
from vivero.testing.forms import form_problems

CLAIM = Path(__file__).parents[2] / "examples" / "claim"
CHOICES = [{"label": "A", "value": "a"}, {"label": "B", "value": "b"}]


@pytest.fixture
def claims():
    return Processes([CLAIM]).use("claim.bpmn", "file-claim.form", "review-claim.form")


def fields(*components):
    return {"type": "default", "components": [{"type": "textfield", "key": "x", **one} for one in components]}


@pytest.mark.parametrize(
    ("field", "value", "says"),
    [
        ({"validate": {"required": True}}, None, "x: the form requires it"),
        ({"validate": {"required": True}}, "", "x: the form requires it"),
        ({"type": "checkbox", "validate": {"required": True}}, False, "x: the form requires it"),
        ({"type": "taglist", "values": CHOICES, "validate": {"required": True}}, [], "x: the form requires it"),
        ({}, 5, "x: the form has a text there, not 5"),
        ({"type": "number"}, "5", "x: the form has a number there, not '5'"),
        ({"type": "number"}, True, "x: the form has a number there, not True"),
        ({"type": "number", "serializeToString": True}, "five", "x: the form has a number there, not 'five'"),
        (
            {"type": "number", "serializeToString": True, "increment": 1},
            "Infinity",
            "x: the form has a number there, not 'Infinity'",
        ),
        (
            {"type": "number", "serializeToString": True, "validate": {"min": 1}},
            "NaN",
            "x: the form has a number there, not 'NaN'",
        ),
        ({"type": "checkbox"}, "yes", "x: the form has a checkbox there, which gives true or false, not 'yes'"),
        ({"type": "checklist", "values": CHOICES}, "a", "x: the form has several choices there, a list, not 'a'"),
        ({"type": "radio", "values": CHOICES}, "c", "x: 'c' is none of the choices of the form: 'a', 'b'"),
        ({"type": "select", "valuesKey": "known"}, "c", "x: 'c' is none of the choices of the form: 'one', 'two'"),
        (
            {"type": "select", "valuesExpression": "=known"},
            "c",
            "x: 'c' is none of the choices of the form: 'one', 'two'",
        ),
        ({"type": "taglist", "values": CHOICES}, ["a", "c"], "x: 'c' is none of the choices of the form: 'a', 'b'"),
        ({"validate": {"minLength": 3}}, " ab ", "x: the form requires 3 characters at least, not 2"),
        ({"validate": {"maxLength": "=limit"}}, "abcdef", "x: the form allows 5 characters, not 6"),
        ({"validate": {"pattern": "^[A-Z]+$"}}, "aB", "x: 'aB' does not match the pattern ^[A-Z]+$ of the form"),
        ({"validate": {"validationType": "email"}}, "ann@", "x: the form requires an e-mail address, not 'ann@'"),
        (
            {"validate": {"validationType": "phone"}},
            "12",
            "x: the form requires an international phone number, not '12'",
        ),
        ({"type": "number", "validate": {"min": 1}}, 0, "x: the form requires 1 at least, not 0"),
        ({"type": "number", "validate": {"max": "=limit"}}, 5.5, "x: the form allows 5 at most, not 5.5"),
        ({"type": "number", "decimalDigits": 1}, 0.25, "x: the form allows 1 decimal digits, not 0.25"),
        ({"type": "number", "increment": "0.5"}, 0.75, "x: the form allows multiples of 0.5, not 0.75"),
    ],
)
def test_a_field_does_not_accept_a_value(field, value, says):
    assert form_problems(fields(field), {"x": value, "limit": 5, "known": ["one", "two"]}) == [says]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ({"type": "number", "decimalDigits": 2, "increment": "0.05", "validate": {"min": 0, "max": 1}}, 0.35),
        ({"type": "number", "serializeToString": True}, "1.5"),
        ({"type": "number", "decimalDigits": 0}, 100),
        ({"type": "select", "valuesExpression": "=unknown"}, "anything"),
        ({"type": "text"}, 5),
        ({"type": "textfield", "disabled": True, "validate": {"required": True}}, None),
        ({"type": "textfield", "readonly": "=limit = 5", "validate": {"required": True}}, None),
        ({"validate": {"required": True}, "conditional": {"hide": "=limit = 5"}}, None),
        ({"validate": {"validationType": "email"}}, "ann@example.org"),
        ({"validate": {"validationType": "phone"}}, "+4930664040900"),
        ({"validate": {"maxLength": "=1 +"}}, "an expression that cannot be read constrains nothing"),
        ({"type": "number", "increment": "many"}, 5),
        ({"type": "number", "increment": 0.1, "serializeToString": True}, "1e50"),
        ({"validate": None, "conditional": None}, "a"),
        ({"key": None}, "a"),
        ({"type": "select", "valuesKey": ["x"]}, "a"),
    ],
)
def test_a_field_accepts_a_value(field, value):
    assert form_problems(fields(field), {"x": value, "limit": 5}) == []


def test_a_pattern_that_only_browsers_know_gives_a_warning():
    with pytest.warns(UserWarning, match="is not checked: bad escape"):
        assert form_problems(fields({"validate": {"pattern": r"^\p{L}+$"}}), {"x": "Ann"}) == []


def test_groups_and_lists_lead_down_to_their_fields():
    name = {"type": "textfield", "key": "name.first", "validate": {"required": True}}
    hidden = {"type": "textfield", "key": "note", "validate": {"required": True}, "conditional": {"hide": "=small"}}
    group = {"type": "group", "path": "person", "components": [name]}
    items = {"type": "dynamiclist", "path": "items", "components": [name, hidden]}
    plain = {"type": "group", "components": [{**name, "key": "street"}]}
    found = form_problems(
        {"components": [group, items, plain]},
        {"person": {"name": {}}, "items": [{"name": {"first": "Ann"}, "small": True}, {"small": False}]},
    )
    required = "the form requires it"
    assert found == [
        f"person.name.first: {required}",
        f"items[2].name.first: {required}",
        f"items[2].note: {required}",
        f"street: {required}",
    ]


def test_a_start_and_a_task_need_what_their_forms_require(claims):
    with pytest.raises(
        AssertionError, match="The form for the start of 'claim' does not accept this: amount: the form"
    ):
        claims.start("claim", {"customer": "Ann", "amount": 0})
    claims.start("claim", {}, check_form=False)
    claim = claims.start("claim", {"customer": "Ann", "amount": 900})
    task = claim.instance.user_tasks[0].element
    with pytest.raises(
        AssertionError, match=r"The form of '\w+' does not accept this: reason: the form requires it"
    ) as caught:
        claim.complete_user_task(task, {"decision": "decline"})
    assert "It waits" in str(caught.value)
    claim.complete_user_task(task, {"decision": "approve"}).expect_completed(task)


def test_the_answer_of_a_mock_is_checked_too(claims):
    task = claims.start("claim", {"customer": "Ann", "amount": 900}).instance.user_tasks[0].element
    claims.mock_user_task(task, {"decision": "perhaps"})
    with pytest.raises(AssertionError, match="'perhaps' is none of the choices"):
        claims.start("claim", {"customer": "Ann", "amount": 900})


def test_without_its_file_a_form_accepts_everything(tmp_path):
    form = json.loads((CLAIM / "review-claim.form").read_text())
    assert form_problems(form, {"decision": "decline"}) == ["reason: the form requires it"]
    claims = Processes([CLAIM]).use("claim.bpmn", "file-claim.form")
    claims.start("claim", {"customer": "Ann", "amount": 900}).expect_incident("review")
