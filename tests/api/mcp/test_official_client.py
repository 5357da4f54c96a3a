"""The official client of the protocol's authors, unmodified, with both generations of the protocol."""

import json

import pytest
import trio

from tests.core.models import end, process, start
from tests.core.task_listener_models import user_task

MODEL = process(start(), user_task("ask"), end(), "start > ask > end", id="asks").decode()


async def use(client, tool, **arguments):
    answer = await client.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    return answer.structured_content


@pytest.mark.parametrize("mode", ["auto", "legacy"])
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
