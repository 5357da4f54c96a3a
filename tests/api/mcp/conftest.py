"""Messages to the servers for agents."""

import json

import pytest


class Agent:
    """Speaks MCP with the server of a path. `call` returns the answer's document, or the result of a tool."""

    def __init__(self, client, path="/mcp/cluster", headers=()) -> None:
        self.client, self.path, self.headers = client, path, list(headers)

    async def send(self, method, params=None, id=1, headers=()):
        message = {"jsonrpc": "2.0", "method": method, **({} if id is None else {"id": id})}
        if params is not None:
            message["params"] = params
        return await self.client("POST", self.path, message, headers=[*self.headers, *headers])

    async def tools(self):
        """Name → tool."""
        answer = await self.send("tools/list")
        return {tool["name"]: tool for tool in answer.json["result"]["tools"]}

    async def use(self, tool, **arguments):
        """The JSON of a tool's answer, and whether it failed."""
        answer = await self.send("tools/call", {"name": tool, "arguments": arguments})
        assert answer.status == 200, answer.body
        result = answer.json["result"]
        (shown,) = result["content"]
        return json.loads(shown["text"]), result["isError"]


@pytest.fixture
def agent(client):
    """An agent of an application without a database."""
    return Agent(client)
