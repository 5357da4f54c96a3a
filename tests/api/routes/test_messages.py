"""Messages and signals over HTTP."""

from typing import Any

import msgspec
import pytest

from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.messages import CorrelateMessage, MessageReply, PublishMessage
from vivero.core.records.signals import BroadcastSignal, SignalReply

KEY = 2251799813685249
AT = "2026-11-18T11:06:40.123Z"


def texts(variables):
    return {name: bytes(value) for name, value in variables.items()}


async def test_a_message_is_published(client, engine):
    engine.reply = MessageReply("<default>", KEY)
    body = {
        "name": "paid",
        "correlationKey": "order-7",
        "timeToLive": 60000,
        "messageId": "one",
        "variables": {"amount": 3},
        "tenantId": "<default>",
    }
    answer = await client("POST", "/v2/messages/publication", body)
    assert (answer.status, answer.json) == (
        200,
        {"tenantId": "<default>", "messageKey": str(KEY), "commandPosition": "1"},
    )
    (command,) = [item.command for item in engine.appended]
    assert isinstance(command, PublishMessage)
    assert (command.name, command.correlation_key) == ("paid", "order-7")
    assert (command.time_to_live_ms, command.message_id, command.thrower) == (60_000, "one", None)
    assert texts(command.variables) == {"amount": b"3"}


async def test_a_business_id_goes_with_the_message(client, engine):
    engine.reply = MessageReply("<default>", KEY, KEY + 1)
    for path in ("publication", "correlation"):
        answer = await client("POST", f"/v2/messages/{path}", {"name": "paid", "businessId": "order-7"})
        assert answer.status == 200
    assert [item.command.business_id for item in engine.appended] == ["order-7", "order-7"]


async def test_what_a_publication_need_not_say(client, engine):
    engine.reply = MessageReply("<default>", KEY)
    assert (await client("POST", "/v2/messages/publication", {"name": "paid"})).status == 200
    assert [item.command for item in engine.appended] == [PublishMessage("paid")]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "No name provided"),
        ({"name": ""}, "No name provided"),
        ({"name": "a", "timeToLive": -1}, "timeToLive is '-1'"),
        ({"name": "a", "businessId": ""}, "No businessId provided"),
        ({"name": "a", "businessId": "b" * 257}, "businessId is 257 characters long"),
        ({"name": "a", "correlationKey": "k" * 32769}, "correlationKey is 32769 characters long"),
        ({"name": "a", "tenantId": "other"}, "multi-tenancy is disabled"),
        ({"name": "a", "correlationKey": 7}, "correlationKey"),
    ],
)
async def test_what_cannot_be_published(client, engine, body, detail):
    answer = await client("POST", "/v2/messages/publication", body)
    assert answer.status == 400
    assert detail in answer.problem["detail"]
    assert not engine.appended


async def test_a_message_id_that_is_taken_is_a_conflict(client, engine):
    reason = "Expected to publish a new message with id 'one', but a message with that id was already published"
    engine.rejection = Rejection(RejectionCode.ALREADY_EXISTS, reason)
    answer = await client("POST", "/v2/messages/publication", {"name": "paid", "messageId": "one"})
    assert answer.status == 409
    assert answer.problem["title"] == "ALREADY_EXISTS"
    assert answer.problem["detail"] == f"Command 'PUBLISH' rejected with code 'ALREADY_EXISTS': {reason}"


async def test_a_message_is_correlated(client, engine):
    engine.reply = MessageReply("<default>", KEY, KEY + 1)
    answer = await client("POST", "/v2/messages/correlation", {"name": "paid", "correlationKey": "7"})
    assert answer.status == 200
    assert answer.json == {
        "tenantId": "<default>",
        "messageKey": str(KEY),
        "processInstanceKey": str(KEY + 1),
        "commandPosition": "1",
    }
    assert [item.command for item in engine.appended] == [CorrelateMessage("paid", "7")]


async def test_a_message_that_nobody_waits_for_is_not_found(client, engine):
    engine.rejection = Rejection(RejectionCode.NOT_FOUND, "Expected to find subscription")
    answer = await client("POST", "/v2/messages/correlation", {"name": "paid", "correlationKey": "7"})
    assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")
    assert "Command 'CORRELATE' rejected" in answer.problem["detail"]


async def test_a_signal_is_broadcast(client, engine):
    engine.reply = SignalReply("<default>", KEY)
    answer = await client("POST", "/v2/signals/broadcast", {"signalName": "alarm", "variables": {"a": [1]}})
    assert (answer.status, answer.json) == (
        200,
        {"tenantId": "<default>", "signalKey": str(KEY), "commandPosition": "1"},
    )
    (command,) = [item.command for item in engine.appended]
    assert (type(command), command.name, texts(command.variables)) == (BroadcastSignal, "alarm", {"a": b"[1]"})
    assert (await client("POST", "/v2/signals/broadcast", {})).status == 400


async def test_who_does_not_wait_is_told_the_position(client, engine):
    engine.reply = MessageReply("<default>", KEY)
    answer = await client("POST", "/v2/messages/publication?wait=false", {"name": "paid"})
    assert answer.status == 202
    assert set(answer.json) == {"commandPosition", "timestamp"}


# ---- searches


@pytest.fixture
def waiting(rows):
    """Puts a subscription of an element into the table."""

    def put(key=KEY + 5, **row):
        defaults = {
            "subscription_key": key,
            "root_key": KEY,
            "process_instance_key": KEY,
            "element_instance_key": key + 1000,
            "process_definition_key": KEY + 1,
            "process_id": "order",
            "process_name": "Order",
            "process_version": 3,
            "target_element_id": "wait",
            "type": "INTERMEDIATE",
            "kind": "MESSAGE",
            "name": "paid",
            "correlation_key": "7",
            "interrupting": True,
            "state": "CREATED",
            "tenant_id": "<default>",
            "created_at": AT,
            "updated_at": AT,
        }
        rows.put("subscriptions", **(defaults | row))

    return put


async def test_message_subscriptions_are_listed(waiting, rows, reader):
    waiting()
    waiting(KEY + 6, kind="SIGNAL", correlation_key=None)
    waiting(KEY + 7, name="other", state="DELETED", ended_at=AT)
    asked: dict[str, Any] = {"filter": {"messageName": "paid", "messageSubscriptionState": "CREATED"}}
    answer = await reader("POST", "/v2/message-subscriptions/search", asked)
    assert answer.json["items"] == [
        {
            "messageSubscriptionKey": str(KEY + 5),
            "processDefinitionId": "order",
            "processDefinitionKey": str(KEY + 1),
            "processDefinitionName": "Order",
            "processDefinitionVersion": 3,
            "processInstanceKey": str(KEY),
            "rootProcessInstanceKey": str(KEY),
            "elementId": "wait",
            "elementInstanceKey": str(KEY + 1005),
            "messageSubscriptionState": "CREATED",
            "messageSubscriptionType": "PROCESS_EVENT",
            "lastUpdatedDate": AT,
            "messageName": "paid",
            "correlationKey": "7",
            "tenantId": "<default>",
            "toolName": None,
            "inboundConnectorType": None,
            "businessId": None,
            "toolProperties": {},
        }
    ]
    everything = await reader("POST", "/v2/message-subscriptions/search", {"sort": [{"field": "messageName"}]})
    assert [item["messageName"] for item in everything.json["items"]] == ["other", "paid"]


async def test_correlated_message_subscriptions_are_listed(rows, reader):
    for number, element in ((1, KEY + 30), (2, None)):
        rows.put(
            "message_correlations",
            message_correlation_key=KEY + number,
            message_key=KEY + 10,
            subscription_key=KEY + 20,
            name="paid",
            correlation_key="7",
            root_key=KEY,
            process_instance_key=KEY,
            process_definition_key=KEY + 1,
            process_id="order",
            element_id="wait",
            element_instance_key=element,
            tenant_id="<default>",
            correlated_at=AT,
        )
    asked: dict[str, Any] = {"filter": {"messageKey": str(KEY + 10)}, "page": {"limit": 1}}
    answer = await reader("POST", "/v2/correlated-message-subscriptions/search", asked)
    assert answer.json["items"] == [
        {
            "messageKey": str(KEY + 10),
            "subscriptionKey": str(KEY + 20),
            "messageName": "paid",
            "correlationKey": "7",
            "correlationTime": AT,
            "elementId": "wait",
            "elementInstanceKey": str(KEY + 30),
            "processDefinitionId": "order",
            "processDefinitionKey": str(KEY + 1),
            "processInstanceKey": str(KEY),
            "rootProcessInstanceKey": str(KEY),
            "partitionId": 1,
            "tenantId": "<default>",
            "businessId": None,
        }
    ]
    asked["page"]["after"] = answer.json["page"]["endCursor"]
    answer = await reader("POST", "/v2/correlated-message-subscriptions/search", asked)
    assert [item["elementInstanceKey"] for item in answer.json["items"]] == [None], "two of one message are both listed"


async def test_correlations_without_a_key_are_sorted_as_what_has_no_value(rows, reader):
    for number, key in enumerate(("a", "", "b")):
        rows.put(
            "message_correlations",
            message_correlation_key=number + 1,
            message_key=number + 1,
            subscription_key=1,
            name="paid",
            correlation_key=key,
            root_key=KEY,
            process_instance_key=KEY,
            process_definition_key=KEY + 1,
            process_id="order",
            element_id="wait",
            tenant_id="<default>",
            correlated_at=AT,
        )
    asked: dict[str, Any] = {"sort": [{"field": "correlationKey"}], "page": {"limit": 1}}
    found = []
    for _ in range(3):
        document = (await reader("POST", "/v2/correlated-message-subscriptions/search", asked)).json
        found += [item["correlationKey"] for item in document["items"]]
        asked["page"]["after"] = document["page"]["endCursor"]
    assert found == ["a", "b", None]


def test_replies_are_read_as_they_were_written():
    reply = MessageReply("<default>", KEY, KEY + 1)
    assert msgspec.json.decode(msgspec.json.encode(reply), type=MessageReply) == reply


async def test_buffered_messages_are_listed(rows, reader):
    buffered = {"partition_id": 1, "tenant_id": "<default>", "variables": "{}"}
    rows.put("messages", message_key=KEY, name="paid", correlation_key="7", deadline_ms=0, given=["order"], **buffered)
    rows.put("messages", message_key=KEY + 1, name="sent", correlation_key="", deadline_ms=1, given=[], **buffered)
    asked = {"filter": {"messageName": "paid", "correlationKey": "7"}}
    assert (await reader("POST", "/v2/messages/search", asked)).json["items"] == [
        {
            "messageKey": str(KEY),
            "messageName": "paid",
            "correlationKey": "7",
            "messageId": None,
            "expirationDate": "1970-01-01T00:00:00.000Z",
            "businessId": None,
            "tenantId": "<default>",
            "receivedBy": ["order"],
        }
    ]
    everything = await reader("POST", "/v2/messages/search", {"sort": [{"field": "expirationDate", "order": "DESC"}]})
    assert [item["correlationKey"] for item in everything.json["items"]] == [None, "7"]
