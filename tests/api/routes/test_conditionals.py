"""Conditional start events over HTTP: what is asked, and what is answered."""

from vivero.core.records.conditionals import ConditionalsReply, EvaluateConditionals, StartedInstance
from vivero.core.records.effects import Rejection, RejectionCode

KEY = 2**51 + 1
PATH = "/v2/conditionals/evaluation"


async def test_the_instances_that_start_are_named(client, engine):
    engine.reply = ConditionalsReply(KEY, "<default>", (StartedInstance(KEY + 1, KEY + 2),))
    answer = await client("POST", PATH, {"variables": {"x": 11}, "processDefinitionKey": str(KEY + 1)})
    assert (answer.status, answer.json) == (
        200,
        {
            "conditionalEvaluationKey": str(KEY),
            "tenantId": "<default>",
            "processInstances": [{"processDefinitionKey": str(KEY + 1), "processInstanceKey": str(KEY + 2)}],
            "commandPosition": "1",
        },
    )
    (command,) = [item.command for item in engine.appended]
    assert (type(command), command.definition_key) == (EvaluateConditionals, KEY + 1)
    assert {name: bytes(value) for name, value in command.variables.items()} == {"x": b"11"}


async def test_variables_are_required_and_other_tenants_are_not_there(client):
    assert (await client("POST", PATH, {})).status == 400
    assert (await client("POST", PATH, {"variables": {}, "tenantId": "other"})).status == 400
    assert (await client("POST", PATH, {"variables": {}, "processDefinitionKey": "one"})).status == 400


async def test_a_definition_that_is_not_there_is_not_found(client, engine):
    engine.rejection = Rejection(RejectionCode.NOT_FOUND, "no such process definition")
    assert (await client("POST", PATH, {"variables": {}, "processDefinitionKey": "1"})).status == 404


async def test_a_client_that_does_not_wait_gets_the_position(client, engine):
    engine.reply = ConditionalsReply(KEY, "<default>", ())
    assert (await client("POST", f"{PATH}?wait=false", {"variables": {}})).status == 202
