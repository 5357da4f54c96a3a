"""Filters, variables and subjects: what arguments become in a request, and which ones are refused before it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import httpx
import pytest

from vivero.client import NotSendable, ViveroClient, Where
from vivero.client.records.filters import filter_of
from vivero.client.typed.requests import batch, creation, key_of, migration, modification
from vivero.client.values import encoded, variables_from


def test_filters():
    noon = datetime(2026, 11, 28, 12, tzinfo=UTC)
    assert filter_of(
        {
            "process": "order",
            "state": ["CREATED", "FAILED"],
            "due_date": Where(gte=noon, lt="2027-01-01T00:00:00Z"),
            "process_instance_key": {7, "7"} - {7},
            "user_task_key": 9,
            "priority": 50,
            "name": Where(like="a*", not_in=["ab"], exists=True),
            "variables": {"total": Decimal("0.10"), "card": "4711", "note": Where(exists=True)},
            "tags": ["eu"],
            "any_of": [{"assignee": "ada"}, {"assignee": Where(exists=False)}],
        }
    ) == {
        "processDefinitionId": "order",
        "state": {"$in": ["CREATED", "FAILED"]},
        "dueDate": {"$gte": "2026-11-28T12:00:00+00:00", "$lt": "2027-01-01T00:00:00Z"},
        "processInstanceKey": {"$in": ["7"]},
        "userTaskKey": "9",
        "priority": 50,
        "name": {"$exists": True, "$like": "a*", "$notIn": ["ab"]},
        "variables": [
            {"name": "total", "value": "0.10"},
            {"name": "card", "value": '"4711"'},
            {"name": "note", "value": {"$exists": True}},
        ],
        "tags": ["eu"],
        "$or": [{"assignee": "ada"}, {"assignee": {"$exists": False}}],
    }


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"assignee": None}, "the filter 'assignee' is None"),
        ({"business_id": []}, "the filter 'business_id' has no values"),
        ({"state": Where()}, "the filter 'state' has no operator"),
        ({"state": Where(in_=[])}, "the filter 'state' has no values"),
        ({"any_of": []}, "the filter 'any_of' has no values"),
        ({"any_of": [{"state": None}]}, "the filter 'state' is None"),
        ({"any_of": {"state": "CREATED"}}, "the filter 'any_of' must have mappings, not 'state'"),
        ({"any_of": [{"state": "CREATED"}, {}]}, "the filter 'any_of' has an empty mapping"),
        ({"variables": {}}, "the filter 'variables' has an empty mapping"),
        ({"any_of": [{"local_variables": {}}]}, "the filter 'local_variables' has an empty mapping"),
        ({"tags": {}}, "the filter 'tags' has an empty mapping"),
        ({"tags": "eu"}, "the filter 'tags' must be a list, not 'eu'"),
        ({"due_date": datetime(2026, 1, 1)}, "without a time zone"),
        ({"name": 1.5}, "the filter 'name' must not be 1.5"),
        ({"name": [None]}, "the filter 'name' must not be None"),
        ({"variables": {"x": object()}}, "the variable 'x' of the filter has no form in JSON"),
    ],
)
def test_a_filter_that_would_not_restrict_is_refused(given, reason):
    with pytest.raises(NotSendable, match=reason):
        filter_of(given)


def test_variables():
    @dataclass
    class Order:
        total: Decimal
        at: datetime

    order = Order(Decimal("1.10"), datetime(2026, 11, 28, tzinfo=UTC))
    found = variables_from(order, {"tags": ("a",), "card": None})
    assert encoded(found) == b'{"total":1.10,"at":"2026-11-28T00:00:00Z","tags":["a"],"card":null}'
    for given, named, reason in (
        ({"x": 1}, {"x": 2}, "the variable 'x' is given twice"),
        (order, {"total": 2}, "the variable 'total' is given twice"),
        ([1], {}, "variables must be a mapping or an object with fields, not list"),
        (None, {"x": float("nan")}, "x is nan, which is no number of JSON"),
        (None, {"x": object()}, "has no form in JSON"),
    ):
        with pytest.raises(NotSendable, match=reason):
            variables_from(given, named)


def test_what_is_refused_before_it_is_sent():
    for attempt, reason in (
        (lambda: key_of(None, "key"), "None is no key"),
        (lambda: key_of(True, "key"), "True is no key"),
        (lambda: key_of("", "key"), "is no key"),
        (lambda: batch("process-instances/cancellation", {}, {}), "a batch needs a filter"),
        (lambda: modification("check", {}, (), {}), "activate must be a list of texts, not 'check'"),
        (lambda: migration(object(), {}), "has none under the name process_definition_key"),
        (lambda: creation("p", {}, version=None, business_id=None, tags="eu", before=(), tenant_id=None), "tags must"),
    ):
        with pytest.raises(NotSendable, match=reason):
            attempt()
    assert key_of("a/b", "key") == "a%2Fb"


def test_a_modification_takes_ids_and_keys_as_texts_and_as_numbers():
    body = modification(["check"], {7: "check", "8": "check", "old": "check"}, [9, "other"], {})
    assert body["activateInstructions"] == [{"elementId": "check", "variableInstructions": []}]
    assert [one["sourceElementInstruction"] for one in body["moveInstructions"]] == [
        {"sourceType": "byKey", "sourceElementInstanceKey": "7"},
        {"sourceType": "byKey", "sourceElementInstanceKey": "8"},
        {"sourceType": "byId", "sourceElementId": "old"},
    ]
    assert body["terminateInstructions"] == [{"elementInstanceKey": "9"}, {"elementId": "other"}]


def test_pages_follow_cursors_and_never_go_round():
    pages = {None: ("a", 2), "a": ("b", 2), "b": (None, 0)}
    asked = []

    def serve(request):
        after = httpx.Response(200, content=request.content).json()["page"].get("after")
        asked.append(after)
        cursor, items = pages[after]
        user = {"username": "u", "name": None, "email": None}
        page = {"totalItems": 4, "hasMoreTotalItems": False, "startCursor": None, "endCursor": cursor}
        return httpx.Response(200, json={"items": [user] * items, "page": page})

    with ViveroClient("http://server", transport=httpx.MockTransport(serve)) as client:
        assert [user.username for user in client.users(page_items=2)] == ["u"] * 4
        assert asked == [None, "a", "b"]
        assert next(iter(client.users(page_items=2))).username == "u"
        assert len(asked) == 4  # as far as one iterates
        pages["a"] = ("a", 2)
        with pytest.raises(Exception, match="the answer repeats the last page"):
            client.users(page_items=2).all()


def test_the_tenant_of_a_client_is_in_all_that_it_sends():
    sent = []

    def serve(request):
        sent.append(httpx.Response(200, content=request.content).json())
        return httpx.Response(404, json={})

    with ViveroClient("http://server", tenant_id="blue", transport=httpx.MockTransport(serve)) as client:
        for attempt in (
            lambda: client.start("order"),
            lambda: client.signal("s"),
            lambda: client.publish("m"),
            lambda: client.decide("d"),
            lambda: client.tasks().all(),
            lambda: client.cancel_all(process="order"),
        ):
            with pytest.raises(Exception, match="404"):
                attempt()
    assert [body.get("tenantId") or body["filter"]["tenantId"] for body in sent] == ["blue"] * 6
