"""The messages of MCP: both generations of the protocol, and everything that no client should send."""

import pytest

MODERN = "2026-07-28"
META = {"_meta": {"io.modelcontextprotocol/protocolVersion": MODERN}}


def modern(method, name=None):
    headers = [(b"mcp-protocol-version", MODERN.encode()), (b"mcp-method", method.encode())]
    return headers if name is None else [*headers, (b"mcp-name", name.encode())]


def error(answer):
    return answer.status, answer.json["error"]["code"]


@pytest.mark.parametrize(
    ("asked", "agreed"),
    [("2025-03-26", "2025-03-26"), ("2025-06-18", "2025-06-18"), ("2024-11-05", "2025-11-25"), ("x", "2025-11-25")],
)
async def test_an_older_client_agrees_on_a_version(agent, asked, agreed):
    answer = await agent.send("initialize", {"protocolVersion": asked, "capabilities": {}})
    result = answer.json["result"]
    assert result["protocolVersion"] == agreed
    assert result["capabilities"] == {"tools": {}}
    assert result["serverInfo"]["name"] == "vivero"
    assert (await agent.send("notifications/initialized", id=None)).status == 202
    assert (await agent.send("ping")).json == {"jsonrpc": "2.0", "id": 1, "result": {}}


async def test_a_newer_client_discovers_the_server(agent):
    answer = await agent.send("server/discover", META, headers=modern("server/discover"))
    result = answer.json["result"]
    assert MODERN in result["supportedVersions"]
    assert (result["resultType"], result["cacheScope"]) == ("complete", "private")


async def test_a_newer_client_calls_a_tool(agent):
    call = {"name": "getClusterStatus", "arguments": {}}
    answer = await agent.send("tools/call", {**META, **call}, headers=modern("tools/call", "getClusterStatus"))
    result = answer.json["result"]
    assert (result["resultType"], result["structuredContent"]) == ("complete", {"status": "HEALTHY"})
    answer = await agent.send("tools/call", {**META, **call}, headers=modern("tools/call", "getTopology"))
    assert error(answer) == (400, -32020)
    answer = await agent.send("tools/call", {**META, **call}, headers=modern("tools/list"))
    assert error(answer) == (400, -32020)


async def test_wrong_versions(agent):
    answer = await agent.send("ping", headers=[(b"mcp-protocol-version", b"2099-01-01")])
    assert error(answer) == (400, -32022)
    assert MODERN in answer.json["error"]["data"]["supported"]
    assert error(await agent.send("ping", META)) == (400, -32020)
    assert error(await agent.send("ping", headers=modern("ping"))) == (400, -32602)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"[]", -32600),
        (b"1", -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":{},"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}', -32600),
        (b"\xff", -32700),
    ],
)
async def test_a_body_that_is_no_message(client, body, code):
    headers = [(b"content-type", b"application/json")]
    answer = await client("POST", "/mcp/cluster", body, headers=headers)
    assert answer.status in (200, 400)
    assert answer.json["error"]["code"] == code
    assert answer.json["id"] in (None, 1)


async def test_unknown_methods_tools_and_arguments(agent):
    assert error(await agent.send("resources/list")) == (200, -32601)
    assert error(await agent.send("prompts/list", META, headers=modern("prompts/list"))) == (404, -32601)
    assert error(await agent.send("tools/call", {"name": "dropEverything"})) == (200, -32602)
    assert error(await agent.send("tools/call", {})) == (200, -32602)
    assert error(await agent.send("tools/call", {"name": 7})) == (200, -32602)
    assert error(await agent.send("tools/call", {"name": "getTopology", "arguments": []})) == (200, -32602)
    problem, failed = await agent.use("getTopology", verbose=True)
    assert failed
    assert problem["detail"] == "The tool getTopology has no argument 'verbose'. Its arguments: none"
    problem, failed = await agent.use("getIncident")
    assert failed
    assert problem["detail"] == "The tool getIncident needs the argument 'incidentKey'"
    for wrong in ({}, [], None, ""):
        problem, failed = await agent.use("getIncident", incidentKey=wrong)
        assert failed
        assert "'incidentKey'" in problem["detail"]


async def test_there_are_no_streams_and_no_sessions(client):
    for method in ("GET", "DELETE"):
        answer = await client(method, "/mcp/cluster")
        assert (answer.status, answer.headers[b"allow"]) == (405, b"POST")


async def test_a_foreign_page_is_refused(agent):
    answer = await agent.send("ping", headers=[(b"origin", b"https://evil.example"), (b"host", b"localhost")])
    assert answer.status == 403
