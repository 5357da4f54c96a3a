"""The speed of the HTTP server alone: trivial requests a second and their latency, over real sockets.

The server runs in a process of its own, on a core
of its own where the system lets us choose; the client is a loop around raw sockets with one prepared request. Its CPU
time a request is reported beside the server's: the client must be the cheaper one, or it is the client that is
measured. On a machine with other work, CPU time a request is the steadier figure.
"""

import os
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.metadata import version
from typing import Any

import trio

from vivero.api.http1.state import Receive, Scope, Send
from vivero.api.serving.server import Endpoint, ServerSettings, open_listeners, serve

CONNECTIONS = 32
SECONDS = 2.0
RUNS = 3
REQUEST = b"GET /v2/topology HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n\r\n"
CPU_REQUEST = b"GET /cpu HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def trivial(scope: Scope, receive: Receive, send: Send) -> None:
    """The application: a constant, and at /cpu the CPU time of the server process in microseconds."""
    await receive()
    body = b'{"ok":true}' if scope["path"] != "/cpu" else b"%d" % (time.process_time_ns() // 1000)
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def serve_until_stdin_ends() -> None:
    """The server process: says its port, serves, and ends with the process that started it."""
    _pin_to_core(0)
    listeners = await open_listeners("127.0.0.1", 0)
    print(listeners[0].socket.getsockname()[1], flush=True)
    drain = trio.Event()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            lambda: serve(trivial, Endpoint(listeners), settings=ServerSettings(), drain=drain, beat=lambda: None)
        )
        await trio.to_thread.run_sync(sys.stdin.read)
        drain.set()


def _pin_to_core(number: int) -> None:
    with suppress(AttributeError, OSError):  # not Linux, or not allowed: the figures are noisier, not wrong
        os.sched_setaffinity(0, {sorted(os.sched_getaffinity(0))[number]})


@contextmanager
def server_process() -> Iterator[int]:
    """A server; the port it listens on."""
    command = [sys.executable, "-m", "benchmarks.http_server", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        yield int(process.stdout.readline())
        process.communicate()


def _connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _ask(connection: socket.socket, request: bytes) -> bytes:
    """One request on a connection without traffic; the whole response, which is small enough to come in one piece."""
    connection.sendall(request)
    response = connection.recv(65536)
    if not response.startswith(b"HTTP/1.1 200 "):
        raise RuntimeError(f"the server answered {response[:200]!r}")
    return response


def _server_cpu_us(connection: socket.socket) -> int:
    return int(_ask(connection, CPU_REQUEST).rpartition(b"\r\n\r\n")[2])


def _load(connections: list[socket.socket], seconds: float) -> list[float]:
    """Keep one request open on every connection for so long; the latencies in seconds."""
    size = len(_ask(connections[0], REQUEST))
    clock = time.perf_counter
    latencies: list[float] = []
    sent_at: dict[int, float] = {}
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ)
            sent_at[connection.fileno()] = clock()
            connection.sendall(REQUEST)
        end = clock() + seconds
        while sent_at:
            for key, _ in selector.select():
                ready: Any = key.fileobj
                received = len(ready.recv(65536))
                if received != size:
                    raise RuntimeError(f"expected a response of {size} bytes in one piece, got {received}")
                now = clock()
                latencies.append(now - sent_at.pop(key.fd))
                if now < end:
                    sent_at[key.fd] = now
                    ready.sendall(REQUEST)
    return latencies


def _measure(port: int, connections: int, seconds: float) -> dict[str, float]:
    opened = [_connect(port) for _ in range(connections)]
    try:
        cpu, own_cpu, begun = _server_cpu_us(opened[0]), time.process_time(), time.perf_counter()
        latencies = sorted(_load(opened, seconds))
        elapsed, own_cpu = time.perf_counter() - begun, time.process_time() - own_cpu
        cpu = _server_cpu_us(opened[0]) - cpu
    finally:
        for connection in opened:
            connection.close()
    count = len(latencies)
    return {
        "requests_per_s": round(count / elapsed),
        "p50_ms": round(latencies[count // 2] * 1000, 3),
        "p99_ms": round(latencies[count * 99 // 100] * 1000, 3),
        "server_cpu_us": round(cpu / count, 1),
        "client_cpu_us": round(own_cpu / count * 1e6, 1),
    }


def run(
    connections: int = CONNECTIONS, seconds: float = SECONDS, runs: int = RUNS
) -> tuple[dict[str, float], dict[str, str]]:
    """The run with the least CPU time a request out of `runs`, with what it ran on."""
    affinity = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else None
    try:
        with server_process() as port:
            _pin_to_core(-1)
            results = [_measure(port, connections, seconds) for _ in range(runs)]
    finally:
        if affinity is not None:
            os.sched_setaffinity(0, affinity)
    best = min(results, key=lambda result: result["server_cpu_us"])
    return best, {
        "connections": str(connections),
        "runs": ", ".join(f"{result['requests_per_s']:,}/s" for result in results),
        "httptools": version("httptools"),
    }


if __name__ == "__main__":
    if sys.argv[1:] != ["serve"]:
        sys.exit("this is the server of the benchmark: python -m benchmarks http_server")
    trio.run(serve_until_stdin_ends)
