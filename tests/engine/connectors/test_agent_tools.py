"""The means of agents beside their model: the tools of MCP servers, documents, and a memory of documents."""

import json
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from tests.core.engine import raw
from tests.engine.connectors.agent_models import TOOLS, Script, agent, agent_task, chat
from tests.engine.connectors.dispatching import ended, running
from tests.engine.connectors.mcp_servers import McpServer, said, tool
from tests.engine.connectors.test_agents import WEATHER, answer_of, complete, incident, resolve
from vivero.core.agents.errors import AgentError
from vivero.core.agents.memory.context import AgentMetrics, ToolDefinition
from vivero.core.agents.model import AskedCall, ModelAnswer, ModelRequest, ResponseFormat
from vivero.core.agents.wires.providers import Provider
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.agents import memories
from vivero.engine.connectors.agents.call_records import answered, record_of
from vivero.engine.connectors.agents.model_calls import PreparedCall, ReadyCall, respond
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.http_client import HttpResponse
from vivero.engine.connectors.outbound.documents import SentFile
from vivero.engine.connectors.work.secrets import UsedSecrets

ALLOWED = AgentSettings(providers="openaiCompatible", endpoints="127.0.0.1")

GATEWAY = (
    '<serviceTask id="{id}" name="Files"><extensionElements><zeebe:taskDefinition type="'
    'io.camunda.agenticai:mcpremoteclient:1"/><zeebe:properties><zeebe:property '
    'name="io.camunda.agenticai.gateway.type" value="mcpClient"/></zeebe:properties><zeebe:ioMapping>'
    '<zeebe:input source="http" target="data.transport.type"/>'
    '<zeebe:input source="{url}/{id}" target="data.transport.http.url"/>'
    '<zeebe:input source="aiAgentTool" target="data.connectorMode.type"/>'
    '<zeebe:input source="=toolCall.method" target="data.connectorMode.toolOperation.method"/>'
    '<zeebe:input source="=toolCall.params" target="data.connectorMode.toolOperation.params"/>'
    '</zeebe:ioMapping><zeebe:taskHeaders><zeebe:header key="resultVariable" value="toolCallResult"/>'
    "</zeebe:taskHeaders></extensionElements></serviceTask>"
)


async def test_the_tools_of_mcp_servers(engine, connect, server, other):
    """Situations 18 to 20: two gateways, one of which refuses at first; a call, and the error of another one."""
    answers = {"read": said("the file"), "burn": said("it is wet", isError=True)}
    stub = McpServer(
        {
            "tools/list": {"tools": [tool("read"), tool("burn")]},
            "tools/call": lambda params: answers[params["name"]],
        }
    )
    refuses = [True]
    other.answer = lambda request: (401, {}, b"") if refuses and request.target == "/crm" else stub(request)
    server.answer = script = Script(
        [chat(None, ("a", "MCP_files___read", {}), ("b", "MCP_crm___burn", {}), WEATHER), chat("Done.")]
    )
    gateways = "".join(GATEWAY.format(id=id, url=other.url) for id in ("files", "crm"))
    await engine.deploy(agent(server.url, tools=TOOLS + gateways))
    async with running(engine.dispatching(connect, agents=ALLOWED, allowed_targets="127.0.0.1")):
        await engine.create(question="Go")
        message = await incident(engine)
        assert message.startswith("MCP_SERVER_ERROR: the server answers 401"), message
        assert script.bodies == [], "the agent waits for all gateways"
        refuses.clear()
        await resolve(engine)
        await ended(engine, 1)
    names = [each["function"]["name"] for each in script.bodies[0]["tools"]]
    assert names[3:] == ["MCP_files___read", "MCP_files___burn", "MCP_crm___read", "MCP_crm___burn"]
    assert script.results() == ["the file", "Error: it is wet", '{"sun":true,"city":"Bonn"}']
    assert (await answer_of(engine))["responseText"] == "Done."


def test_records_name_tools_beyond_those_that_they_list():
    tools = [ToolDefinition(f"t{number}", "", {}) for number in range(130)]
    request = ModelRequest([], tools, ResponseFormat())
    call = PreparedCall(Provider("openai", "chat", "", "m", {}, {}, ""), request, b"", "")
    step = SimpleNamespace(request=request, context=SimpleNamespace(metrics=AgentMetrics()))
    asked = [AskedCall("1", "t129", {}), AskedCall("2", "invented", {})]
    record = answered(record_of(call, step), call, b"", ModelAnswer([], asked, None, "STOP"))
    assert (len(record.offered), record.called) == (100, ["t129", "(unknown)"])


async def test_an_answer_of_many_values_is_not_read():
    """Its objects would stop all other work for seconds."""

    async def call(_request, _credentials):
        return HttpResponse(200, (), b"[" + b"[]," * 20_000 + b"[]]")

    with pytest.raises(AgentError, match="has more than 20000 values"):
        await respond(ReadyCall(None, 5), SimpleNamespace(call=call), UsedSecrets({}))


class Files:
    """Documents of a node, by id."""

    def __init__(self, **files) -> None:
        self.files, self.refusals = files, 0

    def turn(self):
        return nullcontext()

    async def file(self, reference, _tenant, most):
        file = self.files.get(reference["documentId"])
        if file is None:
            raise ConnectorError("DOCUMENT_NOT_FOUND", "there is no document", final=True)
        if len(file.content) > most:
            raise ConnectorError("INVALID_INPUT", "the documents have too many bytes", final=True)
        return file

    async def store(self, _job, kind, content):
        if self.refusals:
            self.refusals -= 1
            raise ConnectorError("DOCUMENT_STORE", "the store is away")
        id = f"made{len(self.files)}"
        self.files[id] = SentFile(id, kind, content)
        return document(id)


def document(id):
    return {"camunda.document.type": "camunda", "documentId": id}


async def test_documents_reach_the_model(engine, connect, server):
    """Those of the prompt and of a tool, one of which is gone. The second request has them again."""
    stored = Files(
        note=SentFile("note.txt", "text/plain; charset=iso-8859-1", "grün".encode("latin-1")),
        photo=SentFile("photo.png", "image/png", b"png"),
        sound=SentFile("a.mp3", "audio/mpeg", b""),
    )
    server.answer = script = Script([chat(None, ("s", "Slow", {})), chat("Seen.")])
    await engine.deploy(agent(server.url, userPrompt__documents="=files"))
    async with running(engine.dispatching(connect, agents=ALLOWED, documents=stored, allowed_targets="127.0.0.1")):
        await engine.create(question="What?", files=[document("note"), document("photo")])
        await complete(engine, "Slow", toolCallResult={"a": document("photo"), "b": document("gone")})
        await ended(engine, 1)
        prompt = script.bodies[0]["messages"][1]["content"]
        assert [part["type"] for part in prompt] == ["text", "text", "image_url"]
        assert prompt[1]["text"] == "note.txt:\ngrün"
        assert script.bodies[1]["messages"][1]["content"] == prompt
        of_tool = script.bodies[1]["messages"][-1]["content"]
        assert of_tool[1]["image_url"]["url"] == "data:image/png;base64,cG5n"
        assert of_tool[3]["text"] == "(The document cannot be read: there is no document)"
        causes = await engine.rows("SELECT cause FROM agent_calls ORDER BY turn")
        assert causes == [("PROMPT",), ("TOOL_RESULTS",)], "the documents behind results are of these"
        await engine.create(question="What?", files=[document("sound")])
        assert await incident(engine) == (
            "UNSUPPORTED_DOCUMENT: models take texts, PDF and images, and a document has the type 'audio/mpeg'"
        )
        assert len(script.bodies) == 2


async def test_a_conversation_in_documents(engine, connect, server, monkeypatch):
    """Each turn has its own document. The variable has references only, also in the response.

    A store that is away does not let an answer be paid again.
    """
    monkeypatch.setattr(memories, "PAUSES_S", (0, 0))
    stored = Files()
    stored.refusals = 2
    server.answer = script = Script([chat(None, ("s", "Slow", {})), chat("Done."), chat("Again.")])
    await engine.deploy(agent(server.url, memory__storage__type="camunda-document"))
    async with running(engine.dispatching(connect, agents=ALLOWED, documents=stored, allowed_targets="127.0.0.1")):
        await engine.create(question="What?")
        await complete(engine, "Slow", toolCallResult="seen")
        await ended(engine, 1)
        context = (await answer_of(engine))["context"]
        assert context["conversation"]["document"] == document("made1")
        assert context["conversation"]["previousDocuments"] == [document("made0")]
        assert "messages" not in context["conversation"]
        last = json.loads(stored.files["made1"].content)["messages"]
        assert [each["role"] for each in last] == ["system", "user", "assistant", "tool_call_result", "assistant"]
        assert script.results() == ["seen"]
        assert len(script.bodies) == 2
        await engine.create(question="And now?", context=context)
        await ended(engine, 2)
        assert [each["role"] for each in script.bodies[2]["messages"]][-2:] == ["assistant", "user"]
        stored.files["made1"] = SentFile("x", "application/json", b"[1]")
        await engine.create(question="And now?", context=context)
        assert await incident(engine) == ("INVALID_INPUT: the document of agentContext is no conversation of an agent")


async def test_a_task_with_a_conversation_in_documents(engine, connect, server):
    stored = Files()
    server.answer = script = Script([chat(None, WEATHER), chat("Sun.")])
    memory = b'<zeebe:input source="camunda-document" target="data.memory.storage.type"/></zeebe:ioMapping><zeebe:taskH'
    await engine.deploy(agent_task(server.url).replace(b"</zeebe:ioMapping><zeebe:taskH", memory))
    async with running(engine.dispatching(connect, agents=ALLOWED, documents=stored, allowed_targets="127.0.0.1")):
        await engine.create(question="Sun?")
        await ended(engine, 1)
    assert script.results() == ['{"sun":true,"city":"Bonn"}']
    conversation = json.loads(await engine.variable("agent"))["context"]["conversation"]
    assert conversation["document"] == document("made1")


APPROVED = (
    '<serviceTask id="Refund"><extensionElements><zeebe:taskDefinition type="refund"/><zeebe:properties>'
    '<zeebe:property name="vivero.approval" value="always"/></zeebe:properties></extensionElements></serviceTask>'
)


async def test_a_person_decides_about_calls(engine, connect, server):
    """The model hears of a refusal, and calls again."""
    ask = ("r", "Refund", {"euros": 5})
    server.answer = script = Script([chat("It is late.", ask), chat(None, ask), chat("Done.")])
    await engine.deploy(agent(server.url, tools=TOOLS + APPROVED))
    async with running(engine.dispatching(connect, agents=ALLOWED, allowed_targets="127.0.0.1")):
        await engine.create(question="Refund it")
        for given in ({"approved": False, "comment": "Not yet"}, {"approved": True}):
            await engine.until_value(1, "SELECT count(*) FROM user_tasks WHERE state = 'CREATED'")
            assert await engine.value("SELECT count(*) FROM jobs WHERE element_id = 'Refund'") == 0
            key = await engine.value("SELECT user_task_key FROM user_tasks WHERE state = 'CREATED'")
            assert (await engine.run(CompleteUserTask(key, raw(given)))).rejection is None
        await complete(engine, "Refund", toolCallResult="5 euros")
        await ended(engine, 1)
    asked = await engine.rows("SELECT value::text FROM variables WHERE name = 'approval' ORDER BY variable_key")
    assert [json.loads(value)["reason"] for (value,) in asked] == ["It is late.", None]
    assert script.results() == [
        "Error: the tool was not called: a person has refused it: Not yet",
        "5 euros",
    ]
