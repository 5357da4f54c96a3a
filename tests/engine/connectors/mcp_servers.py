"""A server of MCP whose tools a test decides: the protocol by hand, with and without a handshake."""

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

MODERN = "2026-07-28"


def tool(name, **properties):
    """The definition of a tool."""
    return {"name": name, "description": f"does {name}", "inputSchema": {"type": "object", "properties": properties}}


def said(text, **more):
    """The answer of a tool."""
    return {"content": [{"type": "text", "text": text}], **more}


@dataclass
class McpServer:
    """`answers`: method → result, or a function from params to one. An Exception is an error of JSON-RPC.

    `version` MODERN: without a handshake. `statuses`: method → status of HTTP, once.
    """

    answers: dict
    version: str = "2025-06-18"
    statuses: dict = field(default_factory=dict)
    calls: list = field(default_factory=list)

    def __call__(self, request) -> tuple:
        if request.method == "GET":
            return 405, {}, b""
        if request.method == "DELETE":
            return 200, {}, b""
        message = request.json
        method, params = message["method"], message.get("params") or {}
        self.calls.append((method, params))
        if (status := self.statuses.pop(method, None)) is not None:
            return status, {}, b""
        if "id" not in message:
            return 202, {}, b""
        answer = self._answer(method, params)
        if isinstance(answer, Exception):
            error = {"code": -32000, "message": str(answer)}
            if method == "server/discover":
                error["code"] = -32601
            return 200, {}, {"jsonrpc": "2.0", "id": message["id"], "error": error}
        headers = {"Mcp-Session-Id": "s"} if method == "initialize" else {}
        return 200, headers, {"jsonrpc": "2.0", "id": message["id"], "result": answer}

    def _answer(self, method, params):
        about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "stub", "version": "1"}}
        complete = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if method == "server/discover":
            made = {**about, **complete, "supportedVersions": [MODERN]}
            return made if self.version == MODERN else ValueError("no such method")
        if method == "initialize":
            return {**about, "protocolVersion": self.version}
        answer = self.answers.get(method, ValueError(f"no method {method}"))
        made = answer(params) if callable(answer) else answer
        return {**complete, **made} if self.version == MODERN and isinstance(made, dict) else made

    def made(self, method):
        """The parameters of the calls of a method, without those of the protocol itself."""
        found = [params for called, params in self.calls if called == method]
        return [{name: value for name, value in params.items() if name != "_meta"} for params in found]


@dataclass
class EventStreams:
    """A server with the transport of 2024: GET opens a stream of events, which brings the answers to messages."""

    server: McpServer
    stream: Any = None

    async def handle(self, stream) -> None:
        """Serve one connection."""
        head, _, body = (await stream.receive_some()).partition(b"\r\n\r\n")
        if head.startswith(b"GET"):
            self.stream = stream
            await stream.send_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            await self._event("endpoint", "/post")
            await stream.receive_some()  # until the client goes
            return
        while len(body) < int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            body += await stream.receive_some()
        _, _, answer = self.server(SimpleNamespace(method="POST", json=json.loads(body)))
        await stream.send_all(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        if answer:
            await self._event("message", json.dumps(answer))

    async def _event(self, kind, data):
        await self.stream.send_all(f"event: {kind}\ndata: {data}\n\n".encode())
