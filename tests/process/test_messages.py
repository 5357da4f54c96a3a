"""Messages and signals through the whole program: who is told that something runs can send it a message at once."""

from functools import partial

import trio

from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.process.rows import rows

COUNT = 40


async def test_whoever_is_answered_can_send_the_next_message_at_once(program, database):
    await program.restart()
    await deploy(program.port, "messages.bpmn")

    async def order(number):
        async with Caller(program.port) as caller:
            created = await _started(caller, number)
            paid = {"name": "paid", "correlationKey": str(number), "variables": {"amount": number}}
            answer = await caller.call("POST", "/v2/messages/correlation", paid)
            assert answer.status == 200, answer
            assert answer.json["processInstanceKey"] == created
            again = await caller.call("POST", "/v2/messages/correlation", paid)
            assert again.status == 404, again

    async with trio.open_nursery() as nursery:
        for number in range(COUNT):
            nursery.start_soon(order, number)
    async with Caller(program.port) as caller:
        said = {"name": "nobody", "correlationKey": "1", "timeToLive": 50, "messageId": "one"}
        assert (await caller.call("POST", "/v2/messages/publication", said)).status == 200
        answer = await caller.call("POST", "/v2/signals/broadcast", {"signalName": "closed"})
        assert answer.status == 200, answer
        await eventually(partial(_has, database, COUNT, "process_instances WHERE state = 'COMPLETED'"), "all end")
        await eventually(partial(_has, database, 0, "messages"), "what has expired is deleted")
        found = await caller.call(
            "POST", "/v2/correlated-message-subscriptions/search", {"filter": {"messageName": "paid"}}
        )
        assert found.json["page"]["totalItems"] == COUNT
        found = await caller.call("POST", "/v2/message-subscriptions/search", {})
        types = [item["messageSubscriptionType"] for item in found.json["items"]]
        assert (types.count("START_EVENT"), types.count("PROCESS_EVENT")) == (1, COUNT)


async def _started(caller, number):
    """One half by a message, the other by hand; the key of the instance."""
    if number % 2:
        document = {"processDefinitionId": "messages", "variables": {"order": number}}
        answer = await caller.call("POST", "/v2/process-instances", document)
    else:
        document = {"name": "placed", "correlationKey": str(number), "variables": {"order": number}}
        answer = await caller.call("POST", "/v2/messages/correlation", document)
    assert answer.status == 200, answer
    return answer.json["processInstanceKey"]


async def _has(database, count, what):
    return rows(database, f"SELECT count(*) FROM {what}") == [(count,)]
