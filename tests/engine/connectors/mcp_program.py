"""A server of MCP as a program: lines of JSON on its standard streams. Its first argument says how it behaves."""

import json
import os
import signal
import sys
from pathlib import Path

HOW = sys.argv[1] if len(sys.argv) > 1 else ""


def answer(method, params):
    if method == "initialize":
        about = {"capabilities": {"tools": {}}, "serverInfo": {"name": "program", "version": "1"}}
        return {"protocolVersion": "2025-06-18", **about}
    if method == "tools/list":
        return {"tools": [{"name": "where", "inputSchema": {"type": "object"}}]}
    if params.get("name") == "die":
        os._exit(3)
    if params.get("name") == "flood":
        return {"content": [{"type": "text", "text": "x" * 1_000_000}]}
    if params.get("name") == "memory":
        return {"content": [{"type": "text", "text": str(len(bytearray(3 << 30)))}]}
    seen = {"environment": sorted(os.environ), "folder": os.getcwd(), "token": os.environ.get("TOKEN"), "how": HOW}
    return {"content": [{"type": "text", "text": json.dumps(seen)}]}


def serve():
    for line in sys.stdin:
        message = json.loads(line)
        if "id" in message:
            method = message["method"]
            known = method in ("initialize", "tools/list", "tools/call")
            made = {"result": answer(method, message.get("params") or {})} if known else {"error": UNKNOWN}
            print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **made}), flush=True)


UNKNOWN = {"code": -32601, "message": "no such method"}

if __name__ == "__main__":
    if HOW == "stubborn":  # it ignores the end of its input, and polite signals
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        Path(sys.argv[2]).write_text(str(os.getpid()))
    serve()
    while HOW == "stubborn":
        signal.pause()
