"""Messages that service tasks send to the engine of their own cluster: once, in their tenant, with an answer."""

import json
from dataclasses import replace

import pytest
import trio

from tests.engine.connectors.dispatching import RESULT, calling, ended, running
from tests.engine.whole_engine import HEAD
from vivero.core.records.instances import ResolveIncident
from vivero.engine.connectors.contracts.send_message import SEND_MESSAGE
from vivero.engine.connectors.outbound.send_message import SendMessage

RECEIVER = (
    f'{HEAD}<message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=key"/>'
    '</extensionElements></message><process id="r" isExecutable="true"><startEvent id="start"/>'
    '<intermediateCatchEvent id="wait"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>'
    '<sequenceFlow id="a" sourceRef="start" targetRef="wait"/></process></definitions>'
).encode()
PUBLISHED = {"messageName": "paid", "correlationKey": "=k", "variables": "={amount: 7}"}
CORRELATED = PUBLISHED | {"correlationType.type": "Correlate"}


COMMAND, PUBLISH = "SELECT convert_from(payload, 'UTF8')::json", "WHERE intent = 'MESSAGE:PUBLISH'"


class Forgetful(SendMessage):
    """Sends the message, and does not end."""

    async def answer(self, call):
        await super().answer(call)
        await trio.sleep_forever()


def sending(inputs, **more):
    return calling(SEND_MESSAGE.types[0], inputs, RESULT, **more)


async def results(engine):
    return json.loads(await engine.variable("r"))


async def test_a_message_is_published_for_an_instance_that_waits_later(engine, dispatcher):
    await engine.deploy(RECEIVER, sending(PUBLISHED | {"correlationType.timeToLive": "PT5M"}))
    async with running(dispatcher()):
        await engine.create(k="a")
        await ended(engine, 1)
        stored = await engine.rows("SELECT message_key::text, message_id FROM messages")
        assert await results(engine) == {"messageKey": stored[0][0], "tenantId": "<default>"}
        assert stored[0][1] == await engine.value(f"{COMMAND} ->> 'key' FROM command_log WHERE intent = 'JOB:COMPLETE'")
        assert await engine.value(f"{COMMAND} ->> 'time_to_live_ms' FROM command_log {PUBLISH}") == "300000"
        await engine.create("r", key="a")
        await ended(engine, 2)
    assert await engine.variable("amount") == "7"


async def test_a_correlation_names_the_instance_or_fails_until_one_waits(engine, dispatcher):
    await engine.deploy(RECEIVER, sending(CORRELATED, retries=1))
    async with running(dispatcher()):
        await engine.create(k="a")
        await engine.until_value(1, "SELECT count(*) FROM incidents")
        assert "NOT_FOUND: Expected to find subscription" in await engine.value("SELECT message FROM incidents")
        await engine.create("r", key="a")
        await engine.run(ResolveIncident(await engine.value("SELECT incident_key FROM incidents"), retries=1))
        await ended(engine, 2)
    receiver = await engine.value("SELECT process_instance_key::text FROM process_instances WHERE process_id = 'r'")
    assert (await results(engine))["processInstanceKey"] == receiver


@pytest.mark.parametrize("inputs", [PUBLISHED, CORRELATED])
async def test_a_call_that_is_made_again_sends_nothing_again(engine, dispatcher, inputs):
    """The first call ends after the message was sent, as when its node dies."""
    await engine.deploy(RECEIVER, sending(inputs))
    await engine.create("r", key="a", count=2)
    forgetful = replace(SEND_MESSAGE, handler=f"{__name__}:Forgetful")
    async with running(dispatcher(contracts=[forgetful])):
        await engine.create(k="a")
        await engine.until_value(1, "SELECT count(*) FROM variables WHERE name = 'amount'")
    await engine.connection.execute("UPDATE jobs SET available_at = clock_now()")  # the end of its lease
    async with running(dispatcher()):
        await ended(engine, 2)
    assert await engine.value("SELECT count(*) FROM variables WHERE name = 'amount'") == 1
    assert (await results(engine)).get("processInstanceKey", "1")


LONG = "=string join(for i in 1..40000 return &#34;x&#34;)"


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        ({"tenantId": "other"}, "FORBIDDEN_TENANT: a message must stay in the tenant of its job, '<default>'"),
        ({"messageName": ""}, "INVALID_INPUT: the input messageName is missing"),
        ({"correlationType.type": "fax"}, "INVALID_INPUT: the input correlationType.type must be one of publish, corr"),
        ({"correlationType.timeToLive": "soon"}, "INVALID_INPUT: the input correlationType.timeToLive: 'soon' is not"),
        ({"variables": "7"}, "INVALID_INPUT: the input variables must be a context"),
        ({"correlationKey": LONG}, "INVALID_INPUT: the input correlationKey must have at most"),
    ],
)
async def test_wrong_inputs_are_incidents_at_once(engine, dispatcher, inputs, said):
    await engine.deploy(sending(PUBLISHED | inputs))
    async with running(dispatcher()):
        await engine.create(k="a")
        await engine.until_value(1, "SELECT count(*) FROM incidents")
    assert said in await engine.value("SELECT message FROM incidents")
    assert await engine.value("SELECT count(*) FROM command_log WHERE intent LIKE 'MESSAGE%'") == 0
