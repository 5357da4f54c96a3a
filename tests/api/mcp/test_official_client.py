"""The official client of the protocol's authors, unmodified, with both generations of the protocol."""

import json

import pytest
import trio

from tests.core.models import end, process, start, task
from tests.core.task_listener_models import user_task

MODEL = process(start(), user_task("ask"), end(), "start > ask > end", id="asks").decode()


async def use(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content or answer.content[0].text


@pytest.mark.parametrize("mode", ["auto", pytest.param("legacy", marks=pytest.mark.long)])
async def test_an_agent_deploys_starts_finds_and_completes(program_address, mode):
    from mcp.client.client import Client  # imported late: it takes a second

    with trio.fail_after(60):
        async with Client(f"{program_address}/mcp/cluster", mode=mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert tools["searchIncidents"].annotations.read_only_hint
            files = [{"name": "asks.bpmn", "content": MODEL}]
            asked = await use(client, "deployResources", resources=files)
            deployed = await use(client, "deployResources", resources=files, confirmation=asked["confirmation"])
            assert deployed["deployments"][0]["processDefinition"]["processDefinitionId"] == "asks"
            made = await use(client, "createProcessInstance", processDefinitionId="asks", variables={"n": 1})
            key = made["processInstanceKey"]
            found = await use(client, "searchUserTasks", filter={"processInstanceKey": key})
            (task,) = found["items"]
            seen = await use(client, "searchUserTaskVariables", userTaskKey=task["userTaskKey"])
            assert [each["value"] for each in seen["items"]] == ["1"]
            await use(client, "completeUserTask", userTaskKey=task["userTaskKey"], variables={"ok": True})
            assert (await use(client, "getProcessInstance", processInstanceKey=key))["state"] == "COMPLETED"
            story = await use(client, "explainProcessInstance", processInstanceKey=key)
            assert "ask" in json.dumps(story)
            report = await use(client, "simulateProcess", resources=files)
            assert report["state"] == "COMPLETED"


BROKEN = process(
    start(), task("work", inputs=[("=assert(n, n > 0)", "n")]), end(), "start > work > end", id="broken"
).decode()
DECISION = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="sizes" name="Sizes" namespace="n">'
    '<decision id="size" name="Size"><variable name="size"/><literalExpression><text>1 + 1</text></literalExpression>'
    "</decision></definitions>"
)


@pytest.mark.long
async def test_an_agent_calls_every_other_tool(program_address):
    from mcp.client.client import Client  # imported late: it takes a second

    used = set()

    async def call(tool, **arguments):
        used.add(tool)
        return await use(client, tool, **arguments)

    with trio.fail_after(60):
        async with Client(f"{program_address}/mcp/cluster") as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            assert len(tools) == 27
            contents = {"asks.bpmn": MODEL, "broken.bpmn": BROKEN, "sizes.dmn": DECISION}
            files = [{"name": name, "content": content} for name, content in contents.items()]
            assert (await call("validateResources", resources=files))["problems"] == []
            asked = await use(client, "deployResources", resources=files)
            await use(client, "deployResources", resources=files, confirmation=asked["confirmation"])
            assert (await call("getClusterStatus"))["status"] == "HEALTHY"
            assert (await call("getTopology"))["partitionsCount"] == 1
            (definition,) = (await call("searchProcessDefinitions", filter={"processDefinitionId": "asks"}))["items"]
            asks = definition["processDefinitionKey"]
            assert (await call("getProcessDefinition", processDefinitionKey=asks))["version"] == 1
            assert await call("getProcessDefinitionXml", processDefinitionKey=asks) == MODEL
            evaluated = await call("evaluateDecision", decisionDefinitionId="size", variables={})
            assert evaluated["output"] == "2"

            variables = {"n": 0}
            made = await use(client, "createProcessInstance", processDefinitionId="broken", variables=variables)
            key = made["processInstanceKey"]
            (incident,) = (await call("searchIncidents", filter={"processInstanceKey": key}))["items"]
            found = await call("getIncident", incidentKey=incident["incidentKey"])
            assert (found["state"], found["elementId"]) == ("ACTIVE", "work")
            await call("resolveIncident", incidentKey=incident["incidentKey"])
            (variable,) = (await call("searchVariables", filter={"processInstanceKey": key}))["items"]
            assert (await call("getVariable", variableKey=variable["variableKey"]))["value"] == "0"

            made = await use(client, "createProcessInstance", processDefinitionId="asks")
            key = made["processInstanceKey"]
            filter = {"processDefinitionId": "asks"}
            assert (await call("searchProcessInstances", filter=filter))["page"]["totalItems"] == 1
            (task,) = (await use(client, "searchUserTasks", filter={"processInstanceKey": key}))["items"]
            await call("assignUserTask", userTaskKey=task["userTaskKey"], assignee="ann")
            assert (await call("getUserTask", userTaskKey=task["userTaskKey"]))["assignee"] == "ann"

            for tool, more in {
                "previewModification": {"terminateInstructions": [{"elementId": "ask"}]},
                "previewMigration": {
                    "targetProcessDefinitionKey": asks,
                    "mappingInstructions": [{"sourceElementId": "ask", "targetElementId": "ask"}],
                },
                "previewSuspension": {},
            }.items():
                report = await call(tool, processInstanceKey=key, **more)
                assert report["problems"] == [], (tool, report)
            assert (await call("previewResumption", processInstanceKey=key))["problems"]
            assert tools - used == ELSEWHERE


ELSEWHERE = {
    *("createProcessInstance", "searchUserTasks", "searchUserTaskVariables", "completeUserTask", "getProcessInstance"),
    *("deployResources", "explainProcessInstance", "simulateProcess"),
}
"""The tools that the test above uses."""


TOOL = (
    process(
        '<startEvent id="start"><extensionElements><zeebe:properties>'
        '<zeebe:property name="io.camunda.tool:name" value="order_pizza"/>'
        '<zeebe:property name="io.camunda.tool:purpose" value="Orders a pizza"/>'
        '<zeebe:property name="io.camunda.tool:inputs" value="size: small or large"/>'
        '<zeebe:property name="other" value="x"/>'
        '</zeebe:properties></extensionElements><messageEventDefinition messageRef="m"/></startEvent>',
        user_task("bake"),
        end(),
        "start > bake > end",
        id="pizza",
    )
    .replace(b"<process ", b'<message id="m" name="pizza wanted"/><process ', 1)
    .decode()
)


async def test_a_process_is_a_tool(program_address):
    from mcp.client.client import Client  # imported late: it takes a second

    with trio.fail_after(60):
        async with Client(f"{program_address}/mcp/cluster") as client:
            files = [{"name": "pizza.bpmn", "content": TOOL}]
            asked = await use(client, "deployResources", resources=files)
            await use(client, "deployResources", resources=files, confirmation=asked["confirmation"])
        async with Client(f"{program_address}/mcp/processes") as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert set(tools) == {"order_pizza", "searchVariables", "getProcessInstance", "searchIncidents"}
            tool = tools["order_pizza"]
            assert tool.description.splitlines()[:2] == ["Orders a pizza", "Arguments: size: small or large"]
            assert not tool.annotations.read_only_hint
            started = await use(client, "order_pizza", size="large", extra=[1])
            key = started["processInstanceKey"]
            assert (await use(client, "getProcessInstance", processInstanceKey=key))["state"] == "ACTIVE"
            seen = await use(client, "searchVariables", filter={"processInstanceKey": key})
            assert {each["name"]: each["value"] for each in seen["items"]} == {"size": '"large"', "extra": "[1]"}
