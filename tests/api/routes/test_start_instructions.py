"""Starting before given elements, and ending after some, over HTTP."""

import pytest

from vivero.core.records.instances import CreateInstance, InstanceReply

KEY = 2251799813685249


@pytest.mark.parametrize("given", [{}, {"startInstructions": None}, {"startInstructions": []}])
async def test_without_instructions(client, engine, given):
    engine.reply = InstanceReply(KEY + 1, KEY, "order", 1, "<default>", (), None)
    assert (await client("POST", "/v2/process-instances", {"processDefinitionId": "order"} | given)).status == 200
    assert engine.command == CreateInstance("order")


async def test_the_elements_become_part_of_the_command(client, engine):
    engine.reply = InstanceReply(KEY + 1, KEY, "order", 1, "<default>", (), None)
    body = {"processDefinitionId": "order", "startInstructions": [{"elementId": "b"}, {"elementId": "a"}]}
    assert (await client("POST", "/v2/process-instances", body)).status == 200
    assert engine.command == CreateInstance("order", start_elements=("b", "a"))


@pytest.mark.parametrize(
    ("instructions", "detail"),
    [
        ([{}], "No elementId provided."),
        ([{"elementId": ""}], "No elementId provided."),
        ([{"elementId": "a"}] * 101, "The provided startInstructions are 101 but must not be more than 100."),
    ],
)
async def test_instructions_that_cannot_be_followed(client, instructions, detail):
    body = {"processDefinitionId": "order", "startInstructions": instructions}
    problem = (await client("POST", "/v2/process-instances", body)).problem
    assert (problem["title"], problem["detail"]) == ("INVALID_ARGUMENT", detail)


async def test_instructions_that_cannot_be_read(client):
    body = {"processDefinitionId": "order", "startInstructions": [{"elementId": "a"}, {"element": "b"}]}
    problem = (await client("POST", "/v2/process-instances", body)).problem
    assert problem["detail"] == "Request property [startInstructions[1].element] cannot be parsed"


async def test_the_elements_that_end_it_become_part_of_the_command(client, engine):
    engine.reply = InstanceReply(KEY + 1, KEY, "order", 1, "<default>", (), None)
    instructions = [
        {"type": "TERMINATE_PROCESS_INSTANCE", "afterElementId": "b"},
        {"type": "terminate_process_instance", "afterElementId": "c"},
        {"afterElementId": "a"},
    ]
    body = {"processDefinitionId": "order", "runtimeInstructions": instructions}
    assert (await client("POST", "/v2/process-instances", body)).status == 200
    assert engine.command == CreateInstance("order", terminate_after=("b", "c", "a"))


@pytest.mark.parametrize(
    ("instructions", "detail"),
    [
        ([{}], "No afterElementId provided."),
        ([{"afterElementId": "a"}] * 101, "The provided runtimeInstructions are 101 but must not be more than 100."),
        (
            [{"afterElementId": "a", "type": "SUSPEND_PROCESS_INSTANCE"}],
            "Unexpected value 'SUSPEND_PROCESS_INSTANCE' for enum field 'type'. "
            "Use any of the following values: [TERMINATE_PROCESS_INSTANCE].",
        ),
    ],
)
async def test_instructions_for_the_run_that_cannot_be_followed(client, instructions, detail):
    body = {"processDefinitionId": "order", "runtimeInstructions": instructions}
    problem = (await client("POST", "/v2/process-instances", body)).problem
    assert (problem["title"], problem["detail"]) == ("INVALID_ARGUMENT", detail)
