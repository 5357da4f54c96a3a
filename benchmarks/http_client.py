"""A cheap HTTP client for load: raw keep-alive sockets in one loop, prepared requests, answers cut by length.

It runs in a process of its own (`python -m benchmarks.http_client PORT MODE SECONDS RATE [CREATORS [WORKERS]]`) and
prints its figures as one JSON line, its own CPU time among them: if that is not small beside the server's, it is the
client that is measured. With CREATORS given, creations do not wait for open instances to be completed.
"""

from __future__ import annotations

import json
import os
import resource
import selectors
import socket
import ssl
import sys
from collections import deque
from collections.abc import Callable
from functools import cache
from time import perf_counter
from urllib.parse import urlsplit

import msgspec

from benchmarks.model import JOB_TYPE, VARIABLES

CREATORS, WORKERS, COMPLETERS = 32, 4, 8
JOBS_PER_POLL = 32
MAX_OPEN = 2_000


class Created(msgspec.Struct, rename="camel", gc=False):
    """The read fields of the answer to a creation."""

    process_instance_key: str


class Job(msgspec.Struct, rename="camel", gc=False):
    """The read fields of an activated job."""

    job_key: str
    process_instance_key: str


class Jobs(msgspec.Struct, gc=False):
    """The answer to an activation."""

    jobs: list[Job]


DECISIONS = {"decide": "measured-decision", "endless": "measured-endless"}
"""Mode → the decision that it evaluates."""

_created, _jobs = msgspec.json.Decoder(Created).decode, msgspec.json.Decoder(Jobs).decode

Answer = Callable[[int, bytes], None]


class Channel:
    """One connection with at most one request on its way."""

    def __init__(self, selector: selectors.BaseSelector, port: int) -> None:
        self._selector, self._port = selector, port
        self._answer: Answer | None = None
        self.connect()

    def connect(self) -> None:
        self._socket = connected(self._port)
        self._buffer = bytearray()
        self._selector.register(self._socket, selectors.EVENT_READ, self)

    def request(self, data: bytes, answer: Answer) -> None:
        self._answer = answer
        try:
            self._socket.sendall(data)
        except (BrokenPipeError, ConnectionResetError):  # closed since the last look at it: nothing of it was read
            self.reconnect()
            self._socket.sendall(data)

    def reconnect(self) -> None:
        self._selector.unregister(self._socket)
        self._socket.close()
        self.connect()

    def close(self) -> None:
        self._socket.close()

    def readable(self) -> None:
        try:
            data = self._socket.recv(262_144)
            while isinstance(self._socket, ssl.SSLSocket) and self._socket.pending():  # which no selector sees
                data += self._socket.recv(262_144)
        except ConnectionResetError:
            data = b""
        if not data and self._answer is None:  # the server closes connections that wait long for a request
            self.reconnect()
            return
        if not data:
            raise ConnectionError("the server closed the connection before it answered")
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        length = _content_length(self._buffer, end)
        if len(self._buffer) < end + 4 + length:
            return
        status, body = int(self._buffer[9:12]), bytes(self._buffer[end + 4 : end + 4 + length])
        del self._buffer[: end + 4 + length]
        answer, self._answer = self._answer, None
        if answer is not None:
            answer(status, body)


def _content_length(buffer: bytearray, end: int) -> int:
    at = buffer.find(b"content-length: ", 0, end)
    if at < 0 and b"\r\ntransfer-encoding:" in buffer[:end].lower():
        raise ConnectionError("an answer came in chunks, so a proxy is measured: give the address of the server itself")
    return 0 if at < 0 else int(buffer[at + 16 : buffer.find(b"\r\n", at)])


AUTHORIZATION = "BENCHMARK_AUTHORIZATION"
"""The variable of the environment with the value of the header `Authorization`."""
LEASE_MS = "BENCHMARK_LEASE_MS"
"""The variable with the time of the engine's clock for which workers get a job; a minute without it."""


URL = "BENCHMARK_URL"
"""The variable with the server's address; without it the port on this machine is the server."""


def connected(port: int) -> socket.socket:
    """A connection to the server, with TLS if its address says so."""
    url = urlsplit(os.environ.get(URL) or f"http://127.0.0.1:{port}")
    secure = url.scheme == "https"
    made = socket.create_connection((url.hostname, url.port or (443 if secure else 80)))
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return _trust().wrap_socket(made, server_hostname=url.hostname) if secure else made


@cache
def _trust() -> ssl.SSLContext:
    return ssl.create_default_context()


def post(path: str, body: bytes) -> bytes:
    url = urlsplit(os.environ.get(URL) or "http://localhost")
    head = (
        f"POST {url.path}/v2{path} HTTP/1.1\r\nHost: {url.netloc}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}"
    )
    if value := os.environ.get(AUTHORIZATION):
        head += f"\r\nAuthorization: {value}"
    return head.encode() + b"\r\n\r\n" + body


class Loop:
    """Everything that happens in the client."""

    def __init__(
        self, port: int, mode: str, seconds: float, rate: float, creators: int | None = None, workers: int = WORKERS
    ) -> None:
        self._creators, self._workers = creators or CREATORS, workers
        self._most_open = MAX_OPEN if creators is None else sys.maxsize
        self.selector = selectors.DefaultSelector()
        self._port, self._mode, self._rate = port, mode, rate
        self._until = perf_counter() + seconds
        self._create = create_request(mode)
        self._poll = post("/jobs/activation", json.dumps(_activation()).encode())
        self._started: dict[str, float] = {}
        self._jobs: deque[tuple[str, str]] = deque()
        self._free: deque[Channel] = deque()
        self._idle: deque[Channel] = deque()
        self._next_create = perf_counter()
        self.open = self.refused = self.done = self.not_completed = 0
        self.answered: list[float] = []
        self.activated: list[float] = []
        self.completed: list[float] = []

    def run(self) -> None:
        creators = 1 if self._mode == "await" else self._creators
        for _ in range(creators):
            self._idle.append(Channel(self.selector, self._port))
        if self._mode == "service":
            for _ in range(self._workers):
                self._activate(Channel(self.selector, self._port))
            self._free.extend(Channel(self.selector, self._port) for _ in range(self._workers * COMPLETERS))
        while (now := perf_counter()) < self._until:
            self._create_some(now)
            for key, _ in self.selector.select(0.001 if self._rate else 0.05):
                key.data.readable()

    def _create_some(self, now: float) -> None:
        while self._idle and self.open < self._most_open and (not self._rate or now >= self._next_create):
            began = self._next_create if self._rate else now
            self._next_create += 1 / self._rate if self._rate else 0
            channel = self._idle.popleft()
            channel.request(self._create, lambda s, b, c=channel, t=began: self._created(c, t, s, b))  # type: ignore[misc]

    def _created(self, channel: Channel, began: float, status: int, body: bytes) -> None:
        self._idle.append(channel)
        if status != 200:
            self.refused += 1
            return
        self.answered.append(perf_counter() - began)
        if self._mode == "service":
            self.open += 1
            self._started[_created(body).process_instance_key] = began

    def _activate(self, channel: Channel) -> None:
        channel.request(self._poll, lambda status, body: self._got_jobs(channel, status, body))

    def _got_jobs(self, channel: Channel, status: int, body: bytes) -> None:
        now = perf_counter()
        for job in _jobs(body).jobs if status == 200 else ():
            began = self._started.get(job.process_instance_key)
            if began is not None:
                self.activated.append(now - began)
            self._jobs.append((job.job_key, job.process_instance_key))
        self._complete_some()
        self._activate(channel)

    def _complete_some(self) -> None:
        while self._jobs and self._free:
            job, instance = self._jobs.popleft()
            channel = self._free.popleft()
            request = post(f"/jobs/{job}/completion", b'{"variables":{"done":true}}')
            channel.request(request, lambda s, _b, c=channel, i=instance: self._done(c, i, s))  # type: ignore[misc]

    def _done(self, channel: Channel, instance: str, status: int) -> None:
        self._free.append(channel)
        self._complete_some()
        self.open -= 1
        began = self._started.pop(instance, None)
        if status != 204:
            self.not_completed += 1
            return
        self.done += 1
        if began is not None:
            self.completed.append(perf_counter() - began)


def create_request(mode: str) -> bytes:
    """Starts an instance of the measured process, awaits one of the process without tasks, or evaluates a decision."""
    if mode in DECISIONS:
        given = {"decisionDefinitionId": DECISIONS[mode], "variables": VARIABLES}
        return post("/decision-definitions/evaluation", json.dumps(given).encode())
    process = {"service": "measured", "create": "measured", "await": "measured-empty"}[mode]
    body = {"processDefinitionId": process, "variables": VARIABLES, "awaitCompletion": mode == "await"}
    return post("/process-instances", json.dumps(body).encode())


def _activation() -> dict[str, object]:
    return {
        "type": JOB_TYPE,
        "timeout": int(os.environ.get(LEASE_MS, "60000")),
        "maxJobsToActivate": JOBS_PER_POLL,
        "worker": "benchmark",
    }


def quantiles(name: str, seconds: list[float]) -> dict[str, float]:
    ordered = sorted(seconds) or [float("nan")]
    return {
        f"{name}_p50_ms": 1000 * ordered[len(ordered) // 2],
        f"{name}_p99_ms": 1000 * ordered[len(ordered) * 99 // 100],
    }


def main(
    port: int, mode: str, seconds: float, rate: float, creators: int | None = None, workers: int = WORKERS
) -> None:
    loop = Loop(port, mode, seconds, rate, creators, workers)
    loop.run()
    usage = resource.getrusage(resource.RUSAGE_SELF)
    finished = loop.done if mode == "service" else len(loop.answered)
    figures = {"instances_per_s": finished / seconds, "refused": float(loop.refused)}
    figures |= {"created_per_s": len(loop.answered) / seconds, "not_completed": float(loop.not_completed)}
    figures |= quantiles("create", loop.answered)
    if mode == "service":
        figures |= quantiles("activated", loop.activated) | quantiles("completed", loop.completed)
    figures["client_cpu_us_per_instance"] = 1e6 * (usage.ru_utime + usage.ru_stime) / max(finished, 1)
    print(json.dumps(figures))


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], float(sys.argv[3]), float(sys.argv[4]), *map(int, sys.argv[5:]))
