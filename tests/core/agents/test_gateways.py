"""Gateways of agents: discovery, names, calls and results. The numbers are those of the situations to master."""

import pytest

from tests.core.agents.agent_words import ELEMENTS, JOB, asks, calls, inputs, result, roles, said, take, texts
from vivero.core.agents.errors import AgentError
from vivero.core.agents.gateways import mcp
from vivero.core.agents.loop import Activate, AgentJob, Ask, Respond, WaitForResults, begin, tool_call_variable
from vivero.core.agents.memory.context import written
from vivero.core.agents.tools import alias

PROPERTY = "io.camunda.agenticai.gateway.type"


def gateway(id, kind="mcpClient"):
    return {"elementId": id, "properties": {PROPERTY: kind}}


ALL = [*ELEMENTS, gateway("files"), gateway("crm")]


def offers(id, *names, **more):
    """The result of the discovery of a gateway."""
    tools = [{"name": name, "description": f"does {name}", "inputSchema": {"properties": {}}} for name in names]
    return result(f"MCP_toolsList_{id}", {"toolDefinitions": tools, **more}, id)


def ready(*names, elements=ALL):
    """The first question to the model, with the tools of the gateway `files`."""
    first = asks(elements=elements)
    results = [offers("files", *names), offers("crm")]
    ask = asks(context=written(first.context), results=results, elements=elements)
    assert isinstance(ask, Ask)
    return ask


def after(ask, *given):
    step = take(ask, calls(*given))
    assert isinstance(step, Activate)
    return step


def test_gateways_are_asked_before_the_model_and_all_of_them():
    """Situation 18: one is slow. An event that comes meanwhile is kept."""
    event = {"id": None, "name": "later", "content": "hurry"}
    first = asks(elements=ALL, results=[event])
    assert isinstance(first, Activate)
    assert [(call.name, tool_call_variable(call)) for call in first.calls] == [
        ("files", {"method": "tools/list", "_meta": {"id": "MCP_toolsList_files", "name": "files"}}),
        ("crm", {"method": "tools/list", "_meta": {"id": "MCP_toolsList_crm", "name": "crm"}}),
    ]
    assert first.refused == [event], "the job that activates empties the variable"
    context = written(first.context)
    assert (context["state"], context["properties"]["mcpClients"]) == ("TOOL_DISCOVERY", ["files", "crm"])
    assert isinstance(asks(context=context, results=[event, offers("crm", "a")], elements=ALL), WaitForResults)
    ask = asks(context=context, results=[event, offers("crm", "a"), offers("files", "read")], elements=ALL)
    assert [tool.name for tool in ask.request.tools] == ["Weather", "Ask", "MCP_files___read", "MCP_crm___a"]
    assert roles(ask) == ["system", "user", "user"]
    assert texts(ask)[-1] == "hurry"
    end = take(ask, said())
    assert isinstance(end, Respond)
    assert written(end.context)["state"] == "READY"


def test_calls_go_to_the_element_and_results_come_back():
    """Situation 19: the name of a tool may contain the separator, and be longer than providers take."""
    long = "x" * 90
    ask = ready("a___b", long)
    step = after(ask, ("1", "MCP_files___a___b", {"q": 1}), ("2", f"MCP_files___{long}", {}), ("3", "Ask", {}))
    assert [call.name for call in step.calls] == ["files", "files", "Ask"]
    assert tool_call_variable(step.calls[0]) == {
        "method": "tools/call",
        "params": {"name": "a___b", "arguments": {"q": 1}},
        "_meta": {"id": "1", "name": "files"},
    }
    assert len(alias(f"MCP_files___{long}")) == 64
    given = [
        result("1", {"name": "a___b", "content": [{"type": "text", "text": "plain"}], "isError": False}, "files"),
        result("2", {"name": long, "content": [{"type": "text", "text": "gone"}], "isError": True}, "files"),
        result("3", "yes", "Ask"),
    ]
    again = asks(context=written(step.context), results=given, elements=ALL)
    assert texts(again)[-3:] == ["plain", "Error: gone", "yes"]
    (message,) = [each for each in again.request.messages if each.__struct_config__.tag == "tool_call_result"]
    assert [(each.name, each.element_id) for each in message.results][::2] == [
        ("MCP_files___a___b", "files"),
        ("Ask", "Ask"),
    ]


@pytest.mark.parametrize(
    ("value", "seen"),
    [
        ({"content": []}, ["The tool has ended. It gave no result."]),
        ({"content": [{"type": "object", "content": {"n": 1}}, {"type": "text", "text": "t"}]}, [{"n": 1}, "t"]),
        ({"content": [{"type": "text", "text": "x" * 70_000}] * 2}, None),
        (
            {"content": [{"type": "text", "text": "a"}, {"type": "object", "content": 1}], "isError": True},
            ["Error: a\n1"],
        ),
        ("the element's own text", ["the element's own text"]),
        (None, ["The tool has ended. It gave no result."]),
        ({"content": [7, {"type": "resource_link", "uri": "u"}]}, [7, {"type": "resource_link", "uri": "u"}]),
    ],
)
def test_results_of_all_forms_reach_the_model(value, seen):
    step = after(ready("read"), ("1", "MCP_files___read", {}))
    ask = asks(context=written(step.context), results=[result("1", value, "files")], elements=ALL)
    found = texts(ask)[2:]
    if seen is None:
        assert len(found) == 1
        assert len(found[0]) < 66_000
        assert found[0].endswith("characters were left out]")
    else:
        assert found == seen


def test_a_context_keeps_the_tools_of_its_gateways():
    """Situations 14 and 22: no second discovery in another element instance, and none for the same gateways."""
    end = take(ready("read"), said())
    other = AgentJob("9", "5", "2", "4")
    ask = begin(inputs(written(end.context), elements=ALL), other)
    assert isinstance(ask, Ask)
    assert "MCP_files___read" in [tool.name for tool in ask.request.tools]
    for elements in (ALL[:-1], [*ALL, gateway("new")], ELEMENTS):
        with pytest.raises(AgentError) as raised:
            begin(inputs(written(end.context), elements=elements), other)
        assert raised.value.code == "MIGRATION_GATEWAY_TOOL_DEFINITIONS_CHANGED"


def test_discovery_begins_again_in_another_element_instance():
    first = asks(elements=ALL)
    again = begin(inputs(written(first.context), elements=ALL), AgentJob("9", "1", "2", "4"))
    assert isinstance(again, Activate)
    assert again.context.properties["elementInstanceKey"] == "4"


def test_a_task_makes_the_calls_of_gateways_itself():
    first = begin(inputs(elements=ALL), JOB, waits=False)
    assert isinstance(first, Activate)
    results = [offers("files", "read"), offers("crm")]
    again = begin(inputs(written(first.context), results, ALL), AgentJob("8", "1", "2", "9"), waits=False)
    assert isinstance(again, Ask)


MANY = [f"t{number}" for number in range(129)]


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (offers("files", *MANY), "it has 129 tools, and 128 are allowed"),
        (result("MCP_toolsList_files", "down", "files"), "its result has no toolDefinitions"),
        (offers("files", ""), "it has a tool without a name"),
        (offers("files", "x" * 300_000), "the definitions of its tools have more than"),
    ],
)
def test_wrong_discoveries_name_the_gateway(given, why):
    first = asks(elements=ALL)
    with pytest.raises(AgentError, match=f"the gateway 'files': {why}") as raised:
        asks(context=written(first.context), results=[given, offers("crm")], elements=ALL)
    assert raised.value.code == mcp.INVALID
    assert "set agentContext to null and toolCallResults to []" in raised.value.message
    again = asks(context=None, results=[], elements=ALL)
    assert isinstance(again, Activate)
    assert [call.name for call in again.calls] == ["files", "crm"], "as the message says"


def test_a_tool_that_is_listed_twice_is_one():
    assert [tool.name for tool in ready("a", "b", "a").request.tools][2:] == ["MCP_files___a", "MCP_files___b"]


@pytest.mark.parametrize(
    ("elements", "why"),
    [
        ([gateway("a___b")], "must not contain '___'"),
        ([gateway("a", "other")], "the tool 'a' is a gateway of type 'other', which is not supported"),
    ],
)
def test_wrong_gateways_are_named(elements, why):
    with pytest.raises(AgentError, match=why):
        asks(elements=elements)


def test_schemas_of_servers_cannot_break_the_check():
    schema = {"type": [{"x": 1}, ["string"]], "required": [{}, "n"], "properties": []}
    first = asks(elements=ALL)
    tool = {"name": "odd", "inputSchema": schema}
    results = [result("MCP_toolsList_files", {"toolDefinitions": [tool]}, "files"), offers("crm")]
    ask = asks(context=written(first.context), results=results, elements=ALL)
    again = take(ask, calls(("1", "MCP_files___odd", {})))
    assert isinstance(again, Ask)
    assert "'n' is missing" in texts(again)[-1]


def test_an_agent_of_another_system_is_one_tool():
    elements = [*ALL, gateway("Writer", "a2aClient")]
    first = asks(elements=elements)
    assert first.calls[-1].id == "A2A_fetchAgentCard_Writer"
    assert tool_call_variable(first.calls[-1])["operation"] == "fetchAgentCard"
    context = written(first.context)
    assert context["properties"]["a2aClients"] == ["Writer"]
    card = {"kind": "agentCard", "name": "Pen", "description": "Writes.", "skills": [{"id": "essay"}]}
    others = [offers("files", "read"), offers("crm")]
    given = {"context": context, "elements": elements}
    assert isinstance(asks(results=others, **given), WaitForResults)
    ask = asks(results=[*others, result("A2A_fetchAgentCard_Writer", {"result": card}, "Writer")], **given)
    tool = ask.request.tools[-1]
    assert (tool.name, tool.input_schema["required"]) == ("A2A_Writer", ["text"])
    assert tool.description == 'The agent Pen. Writes.\nSkills: [{"id":"essay"}]'
    step = after(ask, ("1", "A2A_Writer", {"text": "Hi", "contextId": "c"}))
    [call] = step.calls
    assert (call.name, call.arguments) == (
        "Writer",
        {"operation": "sendMessage", "params": {"text": "Hi", "contextId": "c"}},
    )
    again = asks(context=written(step.context), results=[result("1", {"kind": "message"}, "Writer")], elements=elements)
    [answered] = again.context.conversation.messages[-1].results
    assert (answered.name, answered.element_id) == ("A2A_Writer", "Writer")
    with pytest.raises(AgentError, match="the gateways of the agent were"):
        asks(context=written(step.context), results=[], elements=ALL)


@pytest.mark.parametrize("card", [None, {}, {"result": 1}, {"name": "x", "skills": ["s" * 40_000]}])
def test_a_card_that_describes_no_agent_is_refused(card):
    elements = [gateway("Writer", "a2aClient")]
    first = asks(elements=elements)
    with pytest.raises(AgentError, match="the gateway 'Writer': its"):
        asks(
            context=written(first.context),
            results=[result("A2A_fetchAgentCard_Writer", card, "Writer")],
            elements=elements,
        )
