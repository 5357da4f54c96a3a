"""The client of MCP servers: operations, versions, filters, and servers that fail or flood."""

import base64
import json
import os
import subprocess
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import msgspec
import pytest
import trio

from tests.engine.connectors.mcp_servers import MODERN, EventStreams, McpServer, said, tool
from tests.engine.connectors.test_http_json import written
from tests.eventually import eventually, eventually_sync
from vivero.core.shared.secret_places import HEADER
from vivero.embedded.processes import dying_with_us
from vivero.engine.connectors.agent_settings import AgentSettings
from vivero.engine.connectors.contracts.tool_servers.mcp import MCP_CLIENT, MCP_REMOTE
from vivero.engine.connectors.http.value_counts import ValueCounter
from vivero.engine.connectors.mcp import programs
from vivero.engine.connectors.mcp.configured import McpConfigured
from vivero.engine.connectors.mcp.remote import McpRemote
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.connectors.work.calls import outcome
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.results import Completion, Failure
from vivero.engine.connectors.work.secrets import UsedSecrets


class Files:
    """Documents that are stored."""

    def __init__(self) -> None:
        self.stored = []

    def turn(self):
        return nullcontext()

    async def store(self, _job, kind, content):
        self.stored.append((kind, content))
        return {"documentId": str(len(self.stored))}


@pytest.fixture
def files():
    return Files()


@pytest.fixture
def work(client, server, files):
    """Runs a job; `mode`: the context `data.connectorMode`; `transport`: more inputs of the transport."""

    async def run(mode, kind="http", allowed="127.0.0.1", most_bytes=200_000, client_id=None, file=None, **transport):
        inner, limit_s = {"url": f"{server.url}/mcp", **transport}, 20.0
        place = {"client": {"clientId": client_id}} if client_id else {"transport": {"type": kind, kind: inner}}
        inputs = {"data": {**place, "connectorMode": mode}}
        contract, make = (MCP_CLIENT, McpConfigured) if client_id else (MCP_REMOTE, McpRemote)
        headers = {HEADER: written(inputs), "resultVariable": "r"}
        variables = msgspec.Raw(json.dumps(inputs).encode())
        job = ConnectorJob("1", contract.types[0], "call", "1", "<default>", 3, headers, variables, "lease")
        parts = SimpleNamespace(sections={"agents": AgentSettings(max_response_bytes=most_bytes, mcp_clients=file)})
        settings = ConnectorSettings(allowed_targets=allowed)
        around = SimpleNamespace(parts=parts, settings=settings, client=client, documents=files, limit_s=limit_s)
        return await outcome(contract, make(around), job, UsedSecrets({"KEY": "canary-secret"}), limit_s)

    return run


def standalone(method, filters=None, **operation):
    return {"type": "standalone", "operation": {"type": method, **operation}, "standaloneModeFilters": filters or {}}


def as_tool(method, params=None, **filters):
    operation = {"method": method, "params": params}
    return {"type": "aiAgentTool", "toolOperation": operation, "toolModeFilters": {"tools": filters}}


def result(outcome):
    assert isinstance(outcome, Completion), outcome
    return outcome.variables["r"]


def failed(outcome):
    assert isinstance(outcome, Failure), outcome
    return outcome.message, outcome.retries


@pytest.mark.parametrize("version", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN])
async def test_each_version_lists_all_pages_and_calls(work, server, version):
    pages = {None: {"tools": [tool("a"), tool("b")], "nextCursor": "2"}, "2": {"tools": [tool("c")]}}
    answers = {"tools/list": lambda params: pages[params.get("cursor")], "tools/call": said("4")}
    server.answer = stub = McpServer(answers, version)
    found = result(await work(standalone("tools/list", {"tools": {"excluded": ["b"]}})))
    assert [each["name"] for each in found["toolDefinitions"]] == ["a", "c"]
    assert found["toolDefinitions"][0]["inputSchema"] == {"type": "object", "properties": {}}
    called = await work(standalone("tools/call", toolName="add", toolArguments={"a": 1, "b": 1.5}))
    assert result(called) == {"name": "add", "content": [{"type": "text", "text": "4"}], "isError": False}
    assert stub.made("tools/call") == [{"name": "add", "arguments": {"a": 1, "b": 1.5}}]
    assert bool(stub.made("initialize")) == (version != MODERN)


async def test_all_other_operations(work, server, files):
    picture = {"type": "image", "mimeType": "image/png", "data": base64.b64encode(b"png").decode()}
    server.answer = McpServer(
        {
            "resources/list": {"resources": [{"uri": "u:1", "name": "one"}, {"uri": "u:2", "name": "two"}]},
            "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "u:{n}", "name": "n"}]},
            "resources/read": {"contents": [{"uri": "u:1", "text": "t"}, {"uri": "u:1", "blob": "AAE="}]},
            "prompts/list": {"prompts": [{"name": "ask", "arguments": [{"name": "who", "required": True}]}]},
            "prompts/get": {
                "description": "d",
                "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
            },
            "tools/call": {
                "content": [{"type": "text", "text": '{"n": 1.5}'}, picture],
                "structuredContent": {"n": 1.5},
            },
        }
    )
    only = {"resources": {"included": ["u:2"]}}
    assert result(await work(standalone("resources/list", only))) == {"resources": [{"uri": "u:2", "name": "two"}]}
    templates = result(await work(standalone("resources/templates/list")))
    assert templates == {"resourceTemplates": [{"uriTemplate": "u:{n}", "name": "n"}]}
    read = result(await work(standalone("resources/read", resourceUri="u:1")))
    assert read == {"contents": [{"uri": "u:1", "text": "t"}, {"uri": "u:1", "document": {"documentId": "1"}}]}
    assert files.stored == [("", b"\0\1")]
    assert "promptDescriptions" in result(await work(standalone("prompts/list")))
    got = result(await work(standalone("prompts/get", promptName="ask", promptArguments={"who": "me"})))
    assert got == {"description": "d", "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}]}
    called = result(await work(standalone("tools/call", toolName="draw")))["content"]
    assert called == [{"type": "document", "document": {"documentId": "2"}}, {"type": "object", "content": {"n": 1.5}}]


async def test_secrets_go_to_the_server_and_do_not_come_back(work, server):
    server.answer = McpServer({"tools/call": said("your token is canary-secret, not {{secrets.KEY}}")})
    access = {"type": "bearer", "token": "{{secrets.KEY}}"}
    mode = as_tool("tools/call", {"name": "who", "arguments": {"q": "{{secrets.KEY}}"}})
    found = result(await work(mode, authentication=access))
    assert server.received[0].headers["authorization"] == "Bearer canary-secret"
    assert all(b"canary" not in each.body for each in server.received), "arguments get no secrets"
    assert found["content"] == [{"type": "text", "text": "your token is ***, not {{secrets.KEY}}"}]


async def test_failures_of_a_tool_are_results(work, server, files):
    """Situation 20: an error of the tool, one of the protocol, a tool that is filtered, a server that goes away."""
    answers = {
        "bad": said("no", isError=True),
        "broken": ValueError("exploded"),
        "flood": said("x" * 300_000),
        "odd": {"content": [{}] * 100},
        "files": {"content": [{"type": "image", "mimeType": "image/png", "data": ""}] * 101},
    }
    server.answer = stub = McpServer({"tools/call": lambda params: answers[params["name"]]})
    for name, why in (
        *(("bad", "no"), ("broken", "exploded"), ("flood", "more than 200000 bytes")),
        *(("odd", "errors against the protocol"), ("files", "more than 100 files")),
    ):
        found = result(await work(as_tool("tools/call", {"name": name})))
        assert found["isError"], name
        assert why in found["content"][0]["text"]
    assert len(files.stored) == 100
    before = len(stub.calls)
    found = result(await work(as_tool("tools/call", {"name": "bad"}, included=["good"])))
    assert found["isError"]
    assert "'bad' is not allowed" in found["content"][0]["text"]
    assert len(stub.calls) == before, "nobody asked the server"
    stub.statuses["tools/call"] = 500
    assert "500" in result(await work(as_tool("tools/call", {"name": "bad"})))["content"][0]["text"]


async def test_a_slow_tool_is_an_error_and_called_once(work, server, mock_clock):
    mock_clock.rate = 1
    stub = McpServer({"tools/call": said("late")})

    def answer(request):
        given = stub(request)
        return never() if request.method == "POST" and request.json["method"] == "tools/call" else given

    async def never():
        mock_clock.jump(12)
        await trio.sleep_forever()

    server.answer = answer
    found = result(await work(as_tool("tools/call", {"name": "slow"}), timeout="PT10S"))
    assert "within the time limit" in found["content"][0]["text"]
    assert len(stub.made("tools/call")) == 1


async def test_a_session_that_the_server_forgets_is_opened_again(work, server):
    server.answer = stub = McpServer({"tools/call": said("ok")}, statuses={"tools/call": 404})
    assert not result(await work(as_tool("tools/call", {"name": "x"})))["isError"]
    assert len(stub.made("initialize")) == 2


@pytest.mark.parametrize(
    ("answers", "mode", "why", "retries"),
    [
        ({"initialize": 401, "server/discover": 401}, as_tool("tools/list"), "401", 0),
        ({}, as_tool("tools/list"), "MCP_SERVER_ERROR: no method tools/list", None),
        ({}, standalone("tools/nothing"), "MCP_CLIENT_INVALID_METHOD: ", 0),
        ({}, as_tool("tools/call", {"arguments": {}}), "MCP_CLIENT_INVALID_PARAMS: toolName must be a text", 0),
        ({}, as_tool("tools/call", {"name": "x", "arguments": []}), "MCP_CLIENT_INVALID_PARAMS: ", 0),
        ({}, as_tool("tools/call", {"name": "x"}, included=[1]), "INVALID_INPUT: the filter included", 0),
        ({}, standalone("resources/read", resourceUri="u"), "MCP_CLIENT_READ_RESOURCE_ERROR: no method", None),
        ({}, standalone("prompts/get", promptName="p"), "MCP_CLIENT_GET_PROMPT_ERROR: no method", None),
    ],
)
async def test_failures_of_other_operations_fail_the_job(work, server, answers, mode, why, retries):
    server.answer = McpServer({}, statuses=answers)
    message, left = failed(await work(mode))
    assert why in message
    assert left == retries


@pytest.mark.parametrize("most", [128, 1000])
async def test_floods_of_tools_end(work, server, most):
    """Situation 19: too many tools, and pages without end."""
    make = as_tool if most == 128 else standalone
    server.answer = McpServer({"tools/list": {"tools": [tool(f"t{n}") for n in range(most + 1)]}})
    assert failed(await work(make("tools/list"))) == (
        f"MCP_TOO_MANY_ITEMS: tools/list gives more than {most} items: filter them in the element",
        0,
    )
    server.answer = stub = McpServer({"tools/list": {"tools": [], "nextCursor": "again"}})
    assert "more than 100 pages" in failed(await work(make("tools/list")))[0]
    assert len(stub.made("tools/list")) == 100


@pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning")  # of the library, behind the answer in a stream
@pytest.mark.parametrize("kind", ["application/json", "text/event-stream; charset=cp037"])
async def test_answers_of_many_values_end_before_they_are_read(work, server, kind):
    """Nothing else runs while the library reads an answer. A stream of events has another character set, and a text."""
    sizes = {"few": 10, "many": 10_001}
    stub = McpServer({"tools/call": lambda params: said("x", structuredContent={"a": [[]] * sizes[params["name"]]})})

    def answer(request):
        status, headers, content = stub(request)
        if not (request.method == "POST" and request.json["method"] == "tools/call"):
            return status, headers, content
        text = json.dumps(content)
        if "event" in kind:
            text = f': a "\n\ndata: {text}\n\n'
        return status, {"Content-Type": kind}, text.encode()

    server.answer = answer
    found = result(await work(as_tool("tools/call", {"name": "few"})))
    assert found["content"][1] == {"type": "object", "content": {"a": [[]] * 10}}
    found = result(await work(as_tool("tools/call", {"name": "many"})))
    assert "more than 20000 values" in found["content"][0]["text"]


@pytest.mark.parametrize("size", [1, 2, 3, 1000])
def test_values_are_counted_outside_of_texts(size):
    document = {"a": [1, 'b"[{,\\', {"c": []}, "\\", '\\"'], "[[": ",,"}
    for text, times in (
        (json.dumps(document), 1),
        (f': "\ndata: {json.dumps(document)}\r\ndata: {json.dumps(document)}', 2),
    ):
        counter, content = ValueCounter(), text.encode()
        counts = [counter.add(content[at : at + size]) for at in range(0, len(content), size)]
        assert counts[-1] == 9 * times, "an object, a list, 4 commas in it, an object, a list, and a comma"


async def test_addresses_are_checked_and_redirects_stay(work, server):
    message, left = failed(await work(as_tool("tools/call", {"name": "x"}), allowed=""))
    assert message.startswith("FORBIDDEN_ADDRESS: 127.0.0.1 is not a public address")
    assert left == 0
    assert server.received == []
    server.answer = lambda _request: (307, {"Location": "http://169.254.169.254/"}, b"")
    message, _ = failed(await work(as_tool("tools/list")))
    assert "Redirect" in message


async def test_packed_answers_are_refused(work, server):
    server.answer = lambda _request: (200, {"Content-Encoding": "gzip", "Content-Type": "application/json"}, b"")
    assert "packs an answer" in failed(await work(as_tool("tools/list")))[0]


async def test_elicitation_and_sampling_are_refused(work, server):
    """An answer that wants input from the user, as servers without a handshake send it."""
    asking = {
        "resultType": "input_required",
        "inputRequests": {"q": {"method": "elicitation/create", "params": {"message": "your password?"}}},
    }
    server.answer = McpServer({"tools/call": asking}, MODERN)
    found = result(await work(as_tool("tools/call", {"name": "x"})))
    assert found["isError"]


async def test_the_transport_of_2024(work):
    """A stream of events says where requests go, and brings the answers."""
    server = McpServer({"tools/list": {"tools": [tool("a")]}}, "2024-11-05")
    async with trio.open_nursery() as nursery:
        events = EventStreams(server)
        [listener] = await nursery.start(partial(trio.serve_tcp, events.handle, 0, host="127.0.0.1"))
        url = f"http://127.0.0.1:{listener.socket.getsockname()[1]}/sse"
        found = result(await work(as_tool("tools/list"), "sse", url=url))
        nursery.cancel_scope.cancel()
    assert [each["name"] for each in found["toolDefinitions"]] == ["a"]


CLIENTS = """
[crm]
url = "{url}/mcp?key=canary-key"
headers = {{ X-Key = "canary-header" }}
authentication = {{ type = "bearer", token = "canary-token" }}
[theirs]
url = "{url}/mcp"
tenants = ["other"]
[odd]
tenants = "<default>"
[local]
type = "pipe"
[relative]
type = "stdio"
command = "python"
folder = "/"
[everywhere]
type = "stdio"
command = "/bin/true"
[secret]
type = "stdio"
command = "/bin/true"
folder = "/"
environment = {{ PORT = 1 }}
"""


async def test_servers_of_the_operator(work, server, tmp_path):
    server.answer = McpServer(
        {"tools/call": lambda params: said("canary-token and canary-header and canary-key and {{secrets.KEY}}")}
    )
    file = tmp_path / "clients.toml"
    file.write_text(CLIENTS.format(url=server.url))
    mode = as_tool("tools/call", {"name": "x"})
    found = result(await work(mode, client_id="crm", file=file))
    assert found["content"] == [{"type": "text", "text": "*** and *** and *** and {{secrets.KEY}}"}]
    assert server.received[0].headers["authorization"] == "Bearer canary-token"
    for client, why in (
        ("theirs", "does not give"),
        ("odd", "does not give"),
        ("no", "does not give"),
        ("local", "must be http, sse or stdio"),
        ("relative", "'relative': command must be an absolute path"),
        ("everywhere", "folder must be an absolute path"),
        ("secret", "environment must be a table of texts"),
    ):
        message, left = failed(await work(mode, client_id=client, file=file))
        assert message.startswith("NOT_ALLOWED: agents.mcp_clients"), message
        assert why in message
        assert left == 0
    assert "does not give" in failed(await work(mode, client_id="crm"))[0]
    file.write_text("crm = canary")
    assert failed(await work(mode, client_id="crm", file=file))[0] == (
        "UNAVAILABLE: the file of agents.mcp_clients cannot be read: TOMLDecodeError"
    )


PROGRAM = Path(__file__).with_name("mcp_program.py")


@pytest.fixture
def program(work, tmp_path):
    """Calls a tool of a program of the operator. `how`: its arguments; `more`: lines of its table."""

    async def run(name="where", *how, mode=None, more="", **given):
        file, arguments = tmp_path / "clients.toml", json.dumps(["-I", str(PROGRAM), *how])
        file.write_text(
            f'[p]\ntype = "stdio"\ncommand = "{sys.executable}"\narguments = {arguments}\nfolder = "{tmp_path}"\n'
            f'environment = {{ TOKEN = "canary-token" }}\n{more}'
        )
        return await work(mode or as_tool("tools/call", {"name": name}), client_id="p", file=file, **given)

    return run


def is_alive(pid):
    try:
        os.kill(pid, 0)
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_a_program_has_only_what_the_operator_gives_it(program, tmp_path, monkeypatch):
    monkeypatch.setenv("VIVERO_SECRET_KEY", "canary-secret")
    found = result(await program("where", "$(id) ; `id` 'a b'"))
    seen = json.loads(found["content"][0]["text"])
    assert set(seen["environment"]) <= {"PATH", "TOKEN", "PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"}
    assert (seen["folder"], seen["token"], seen["how"]) == (str(tmp_path), "***", "$(id) ; `id` 'a b'")
    tools = result(await program(mode=as_tool("tools/list")))
    assert [each["name"] for each in tools["toolDefinitions"]] == ["where"]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("die", "the program has ended before it answered"),
        ("flood", "the program has written more than 200000 bytes"),
        ("memory", "the program has ended before it answered"),
    ],
)
async def test_a_program_that_fails_is_an_error_for_the_model(program, name, why):
    found = result(await program(name, more="memory_mb = 1024"))
    assert found["isError"]
    assert why in found["content"][0]["text"]
    assert not result(await program())["isError"], "each call has a program of its own"


async def test_a_program_that_does_not_end_is_killed(program, tmp_path, monkeypatch):
    monkeypatch.setattr(programs, "END_S", 0.05)
    pid = tmp_path / "pid"
    await program("where", "stubborn", str(pid))
    await eventually(lambda: not is_alive(int(pid.read_text())))


async def test_a_program_that_writes_too_much_at_once(program):
    message, left = failed(await program(mode=as_tool("tools/list"), most_bytes=10))
    assert "the program has written more than 10 bytes" in message
    assert left == 0


async def test_a_model_cannot_name_a_program(work):
    message, left = failed(await work(as_tool("tools/list"), kind="stdio", command="/bin/true", folder="/"))
    assert "data.transport.type must be http or sse" in message
    assert left == 0


ENGINE = """
import sys, trio
from pathlib import Path
from vivero.engine.connectors.mcp.programs import Program, ProgramTransport

async def main():
    command = (sys.executable, "-I", sys.argv[1], "stubborn", sys.argv[2])
    async with Program("p", command, {}, Path(sys.argv[2]).parent, 4096).streams(ProgramTransport(1000), 60):
        await trio.sleep_forever()

trio.run(main)
"""


@pytest.mark.long
def test_a_program_dies_with_an_engine_that_is_killed(tmp_path):
    pid = tmp_path / "pid"
    command = [sys.executable, "-c", ENGINE, str(PROGRAM), str(pid)]
    engine = subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=dying_with_us())
    try:
        eventually_sync(lambda: pid.exists() and pid.read_text())
        assert is_alive(int(pid.read_text()))
    finally:
        engine.kill()
        engine.wait()
    eventually_sync(lambda: not is_alive(int(pid.read_text())))
