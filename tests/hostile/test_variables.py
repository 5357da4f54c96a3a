"""Variables: too many, too deep, too long, odd names."""

import json

import pytest

from tests.hostile.choice import one_of
from tests.process.http_client import Caller

TASK = """<bpmn:process id="{id}" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  <bpmn:serviceTask id="task"><bpmn:extensionElements>
    <zeebe:taskDefinition type="{id}"/></bpmn:extensionElements></bpmn:serviceTask>
</bpmn:process>"""
BODIES = {
    "deep": lambda: '{"a":' + "[" * 100_000 + "]" * 100_000 + "}",
    "a-number-of-a-million-digits": lambda: '{"a":1' + "0" * 1_000_000 + "}",
    "an-exponent": lambda: '{"a":1e999999999}',
    "not-finite": lambda: '{"a":NaN}',
    "a-list": lambda: "[1]",
    "twice": lambda: '{"a":1,"a":2}',
    "an-empty-name": lambda: '{"":1}',
    "a-long-name": lambda: json.dumps({"n" * 1_000_000: 1}),
    "half-a-pair": lambda: '{"a":"\\ud800"}',
    "nul-in-a-name": lambda: '{"a\\u0000":1}',
}


@pytest.mark.parametrize("name", one_of(BODIES))
async def test_odd_variables(target, name):
    """Each is refused with a problem that says why, or taken and readable afterwards."""
    await target.deployed(TASK.format(id="odd"))
    body = ('{"processDefinitionId":"odd","variables":' + BODIES[name]() + "}").encode()
    async with target.attacked():
        async with Caller(target.port) as caller:
            answer = await caller.send("POST", "/v2/process-instances", body, "application/json")
        if answer.status == 200:
            found = await target.search("variables", processInstanceKey=answer.json["processInstanceKey"])
            assert len(found) == 1
        else:
            assert answer.status == 400
            assert answer.json["detail"]
