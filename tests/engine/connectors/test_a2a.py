"""Agents of other systems (A2A 0.3) against an HTTP server on loopback: cards, messages, tasks, hostile answers."""

import base64
import json
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from tests.engine.connectors.dispatching import RESULT, calling, ended, running
from tests.engine.connectors.receiving import receivers_of, receiving, states, waiting
from tests.eventually import eventually
from vivero.engine.connectors.a2a import agent
from vivero.engine.connectors.a2a.agent import A2aAgent
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.contracts.inbound.a2a_polling import A2A_POLLING
from vivero.engine.connectors.contracts.tool_servers.a2a import A2A_CLIENT
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.outbound.documents import SentFile
from vivero.engine.connectors.receivers import polls
from vivero.engine.connectors.receivers import task as receivers_task
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.secrets import UsedSecrets

SKILL = {"id": "w", "name": "Weather", "tags": ["sun"], "security": [{}]}
TEXT = {"kind": "message", "role": "agent", "messageId": "m", "parts": [{"kind": "text", "text": "sunny"}], "x": 1}


def card(server, **more):
    return {"name": "Weather", "url": f"{server.url}/rpc", "skills": [SKILL], "version": "1", **more}


def task(state, **more):
    return {"kind": "task", "id": "t", "contextId": "c", "status": {"state": state, "timestamp": "now"}, **more}


class Files:
    """Documents of a node."""

    stored = 0

    @asynccontextmanager
    async def turn(self):
        yield

    async def files(self, given, _tenant):
        return [SentFile("a.txt", "text/plain", b"hi") for _ in given]

    async def store(self, _job, kind, content, name):
        self.stored += 1
        return {"documentId": f"{name} {kind} {content.decode()}"}


@pytest.fixture
async def ask(server):
    """Makes a call. `answers`: the results of JSON-RPC, one for each request, or whole answers."""
    client = HttpClient(ConnectorSettings(allowed_targets="127.0.0.1"))

    async def run(answers, limit_s=60.0, shown=None, url=None, most=100_000, access=None, tool=None, **operation):
        left = list(answers)

        def answer(request):
            if request.method == "GET":
                assert request.target == "/base/.well-known/agent-card.json"
                return 200, {}, shown if shown is not None else card(server)
            made = left.pop(0)
            return made if isinstance(made, tuple) else (200, {}, {"jsonrpc": "2.0", "id": "7", "result": made})

        server.answer = answer
        mode = {"type": "standalone", "operation": {"type": "sendMessage", **operation}}
        if tool is not None:
            mode = {"type": "aiAgentTool", "toolOperation": {"operation": "sendMessage", **tool}}
        connection = {"url": url or f"{server.url}/base/", "authentication": access}
        data = {"connection": connection, "connectorMode": mode}
        sections = {"agents": AgentSettings(max_response_bytes=most)}
        parts = SimpleNamespace(sections=sections)
        around = SimpleNamespace(contract=A2A_CLIENT, parts=parts, client=client, limit_s=limit_s, documents=Files())
        job = SimpleNamespace(job_key="7", variables=b"{}", tenant_id="t")
        return await A2aAgent(around).answer(Call(job, {"data": data}, UsedSecrets({})))

    yield run
    await client.aclose()


def sent(server):
    """The requests of JSON-RPC."""
    return [request.json for request in server.received if request.method == "POST"]


async def test_a_card_is_fetched(ask):
    found = await ask([], type="fetchAgentCard")
    skill = {"id": "w", "name": "Weather", "tags": ["sun"]}
    assert found == {"result": {"kind": "agentCard", "name": "Weather", "description": "", "skills": [skill]}}


async def test_a_message_has_an_answer_at_once(server, ask):
    given = {"text": "Weather?", "contextId": "c", "referenceTaskIds": ["a"], "documents": [{}]}
    found = await ask([TEXT], params=given, settings={"historyLength": "5"})
    contents = [{"type": "text", "text": "sunny"}]
    assert found == {"result": {"kind": "message", "role": "agent", "messageId": "m", "contents": contents}}
    [request] = sent(server)
    message = request["params"]["message"]
    assert (request["method"], message.pop("messageId").startswith("7-")) == ("message/send", True)
    file = {"name": "a.txt", "mimeType": "text/plain", "bytes": base64.b64encode(b"hi").decode()}
    assert message == {
        "kind": "message",
        "role": "user",
        "parts": [{"kind": "text", "text": "Weather?"}, {"kind": "file", "file": file}],
        "contextId": "c",
        "referenceTaskIds": ["a"],
    }
    modes = ["text/plain", "application/json"]
    assert request["params"]["configuration"] == {"acceptedOutputModes": modes, "blocking": True, "historyLength": 5}


async def test_a_blocking_call_asks_again_until_the_task_has_ended(server, ask, monkeypatch):
    monkeypatch.setattr(agent, "AGAIN_S", 0.0)
    file = {"kind": "file", "file": {"name": "r", "mimeType": "a/b", "bytes": base64.b64encode(b"x").decode()}}
    link = {"kind": "file", "file": {"uri": "https://x.example", "other": 1}}
    artifact = {"artifactId": "1", "parts": [{"kind": "data", "data": {"n": 1}}, file, link]}
    done = task("completed", artifacts=[artifact], history=[TEXT])
    found = await ask([task("submitted"), task("working"), done], params={"text": "x"})
    assert [request["method"] for request in sent(server)] == ["message/send", "tasks/get", "tasks/get"]
    assert sent(server)[1]["params"] == {"id": "t", "historyLength": 3}
    result = found["result"]
    assert (result["id"], result["status"], len(result["history"])) == (
        "t",
        {"state": "completed", "timestamp": "now"},
        1,
    )
    assert result["artifacts"] == [
        {
            "artifactId": "1",
            "contents": [
                {"type": "object", "content": {"n": 1}},
                {"type": "document", "document": {"documentId": "r a/b x"}},
                {"type": "object", "content": {"uri": "https://x.example"}},
            ],
        }
    ]


async def test_a_polling_call_returns_the_task_that_begins_and_a_notification_names_its_place(server, ask):
    found = await ask([task("working")], params={"text": "x"}, settings={"responseRetrievalMode": {"type": "polling"}})
    assert (found["result"]["status"]["state"], found["pollingData"]) == ("working", {"id": "t"})
    place = {"type": "notification", "webhookUrl": "https://me.example/inbound/a", "token": "s"}
    access = {"authenticationSchemes": ["Bearer"], "credentials": "b"}
    found = await ask([task("working")], params={"text": "x"}, settings={"responseRetrievalMode": place | access})
    assert found["pushNotificationData"] == {"token": "s"}
    tokens = set()
    for _ in range(2):
        mode = {"responseRetrievalMode": {**place, "token": ""}}
        tokens.add((await ask([task("working")], params={"text": "x"}, settings=mode))["pushNotificationData"]["token"])
    assert len({each for each in tokens if len(each) >= 32}) == 2, "nobody guesses a token that the model leaves out"
    assert sent(server)[1]["params"]["configuration"]["pushNotificationConfig"] == {
        "url": "https://me.example/inbound/a",
        "token": "s",
        "authentication": {"schemes": ["Bearer"], "credentials": "b"},
    }


def refusal(code):
    return 200, {}, {"jsonrpc": "2.0", "id": "7", "error": {"code": code, "message": "no"}}


@pytest.mark.parametrize(
    ("answers", "more", "says", "final"),
    [
        ([refusal(-32602)], {}, "A2A_ERROR: the agent refuses it: no", True),
        ([refusal(-32001)], {}, "A2A_ERROR: the agent refuses it: no", False),
        ([(404, {}, {})], {}, "A2A_ERROR: the agent answers 404", True),
        ([(503, {}, {})], {}, "A2A_ERROR: the agent answers 503", False),
        ([(200, {}, b"[" * 90_000)], {}, "it is not valid JSON", False),
        ([(200, {}, b"\xff")], {}, "it is not valid JSON", False),
        ([(200, {}, {"id": "8", "result": TEXT})], {}, "not an answer of JSON-RPC to this request", False),
        ([{"kind": "x"}], {}, "neither a message nor a task", False),
        ([{"kind": "task", "id": "t"}], {}, "its task has no id or no state", False),
        ([TEXT | {"parts": [{"kind": "text"}] * 201}], {}, "parts has more than 200 items", False),
        ([TEXT | {"parts": [{"kind": "file", "file": {"bytes": "?"}}]}], {}, "a file is not Base64", False),
        ([TEXT | {"parts": [{"kind": "file", "file": {"bytes": ""}}] * 101}], {}, "more than 100 files", True),
        ([(200, {}, b"x" * 200_000)], {}, "RESPONSE_TOO_LARGE", True),
        ([task("working")] * 99, {"limit_s": 0.2}, "TIMEOUT: the agent did not answer", False),
        ([], {"shown": []}, "its card is not an object", False),
        (
            [],
            {"shown": {"name": "a", "url": "http://x", "preferredTransport": "GRPC"}},
            "no URL for the transport",
            False,
        ),
        ([], {"shown": {"name": "a", "url": "http://10.0.0.1"}}, "FORBIDDEN_ADDRESS", True),
        ([], {"url": "ftp://a"}, "INVALID_INPUT", True),
        ([], {"type": "other"}, "must be one of fetchAgentCard, sendMessage", True),
        ([], {"params": {}}, "params.text is missing", True),
        ([], {"settings": {"timeout": "soon"}}, "settings.timeout", True),
        ([], {"settings": {"historyLength": -1}}, "settings.historyLength must be", True),
        ([], {"settings": {"responseRetrievalMode": {"type": "notification"}}}, "webhookUrl is missing", True),
    ],
)
async def test_wrong_answers_and_inputs(ask, answers, more, says, final):
    with pytest.raises(ConnectorError, match=says) as caught:
        await ask(answers, **{"params": {"text": "x"}} | more)
    assert caught.value.final == final


BEARER = {"type": "bearer", "token": "canary-token"}


async def test_credentials_go_to_the_host_of_the_inputs_alone(server, other, ask):
    found = await ask(
        [TEXT | {"parts": [{"kind": "text", "text": "canary-token"}]}], params={"text": "x"}, access=BEARER
    )
    assert found["result"]["contents"] == [{"type": "text", "text": "***"}]
    assert [each.headers["authorization"] for each in server.received] == ["Bearer canary-token"] * 2
    with pytest.raises(ConnectorError, match=r"the credentials are for 127\.0\.0\.1 alone") as caught:
        await ask([], params={"text": "x"}, access=BEARER, shown=card(server, url=f"{other.url}/rpc"))
    assert (caught.value.final, other.received) == (True, [])
    with pytest.raises(ConnectorError, match=r"authentication\.token is missing"):
        await ask([], params={"text": "x"}, access={"type": "bearer", "token": None})
    assert [each.method for each in server.received].count("GET") == 2, "no request without the credentials"


@pytest.mark.parametrize(
    ("answers", "tool", "more", "code"),
    [
        ([refusal(-32602)], {}, {}, "A2A_ERROR"),
        ([(503, {}, {})], {}, {}, "A2A_ERROR"),
        ([{"kind": "x"}], {}, {}, "A2A_ERROR"),
        ([(200, {}, b"x" * 200_000)], {}, {}, "RESPONSE_TOO_LARGE"),
        ([task("working")] * 99, {}, {"limit_s": 0.2}, "TIMEOUT"),
        ([], {"params": {}}, {}, "INVALID_INPUT"),
        ([], {"params": {"text": "x", "taskId": 7}}, {}, "INVALID_INPUT"),
    ],
)
async def test_an_ai_agent_learns_of_failures_of_its_tool(ask, answers, tool, more, code):
    found = await ask(answers, tool={"params": {"text": "x"}} | tool, **more)
    assert (found["result"]["kind"], found["result"]["isError"], found["result"]["code"]) == ("error", True, code)


@pytest.mark.parametrize(
    ("answers", "tool", "more", "says"),
    [
        ([(401, {}, {})], {}, {}, "the agent answers 401"),
        ([], {}, {"shown": []}, "its card is not an object"),
        ([], {}, {"shown": {"name": "a", "url": "http://10.0.0.1"}}, "FORBIDDEN_ADDRESS"),
        ([], {}, {"shown": {"name": "a"}}, "no URL for the transport"),
        ([], {"sendMessageSettings": {"timeout": "soon"}}, {}, "settings.timeout"),
    ],
)
async def test_a_tool_that_was_not_called_fails_its_job(ask, answers, tool, more, says):
    with pytest.raises(ConnectorError, match=says):
        await ask(answers, tool={"params": {"text": "x"}} | tool, **more)


async def test_a_task_of_a_process_calls_an_agent_by_another_interface(engine, dispatcher, server):
    def answer(request):
        if request.method == "GET":
            others = [{"transport": "JSONRPC", "url": f"{server.url}/rpc"}]
            return 200, {}, card(server, preferredTransport="GRPC", url="grpc://x", additionalInterfaces=others)
        return 200, {}, {"jsonrpc": "2.0", "id": request.json["id"], "result": TEXT}

    server.answer = answer
    inputs = {
        "data.connection.url": server.url,
        "data.connectorMode.type": "aiAgentTool",
        "data.connectorMode.toolOperation.operation": "sendMessage",
        "data.connectorMode.toolOperation.params": "={text: &quot;hello&quot;}",
    }
    await engine.deploy(calling(A2A_CLIENT.types[0], inputs, RESULT))
    async with running(dispatcher()):
        await engine.create("p")
        await ended(engine, 1)
    assert json.loads(await engine.variable("r"))["result"]["contents"] == [{"type": "text", "text": "sunny"}]


async def test_a_task_is_asked_for_until_it_has_ended(engine, connect, server, monkeypatch):
    monkeypatch.setattr(receivers_task, "SAVE_S", 0.05)
    monkeypatch.setattr(polls, "LEAST_INTERVAL_S", 0.02)
    file = {"kind": "file", "file": {"name": "r", "mimeType": "a/b", "bytes": base64.b64encode(b"x").decode()}}
    artifacts = [{"parts": [file]}]
    left = [
        {"error": {"code": -32001, "message": "no"}},
        task("working", artifacts=artifacts),
        task("completed", artifacts=artifacts),
    ]

    def answer(request):
        if request.method == "GET":
            return 200, {}, card(server)
        assert (request.json["method"], request.json["params"]) == ("tasks/get", {"id": "t", "historyLength": 2})
        made = left.pop(0)
        return 200, {}, {"id": request.json["id"]} | (made if "error" in made else {"result": made})

    server.answer, files = answer, Files()
    given = {
        "data.connection.url": server.url,
        "data.clientResponse": "=sent",
        "data.historyLength": "2",
        "data.taskPollingInterval": "PT0S",
        "data.processPollingInterval": "PT0S",
        "activationCondition": '=not(list contains(["submitted", "working"], status.state))',
        "correlationKeyExpression": '="task-" + id',
        "resultExpression": "={got: result}",
    }
    await engine.deploy(waiting(A2A_POLLING.types[0], given))
    polled = {"kind": "task", "id": "t", "status": {"state": "working"}}
    await engine.create("p", order="task-t", sent={"result": polled, "pollingData": {"id": "t"}})
    async with receiving(receivers_of(engine, connect, documents=files)):
        await ended(engine, 1)
        [state] = await eventually(
            lambda: states(engine), accept=lambda rows: rows and rows[0].errors and rows[0].events
        )
    got = json.loads(await engine.variable("got"))
    assert (got["status"]["state"], left) == ("completed", [])
    assert got["artifacts"] == [{"contents": [{"type": "document", "document": {"documentId": "r a/b x"}}]}]
    assert files.stored == 1, "files of a task that has not ended are not stored"
    assert state.error == "A2A_ERROR: the agent refuses it: no"
