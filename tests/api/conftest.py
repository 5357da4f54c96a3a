"""The API in process: an ASGI client of thirty lines, and services that are played."""

import json
from contextlib import asynccontextmanager
from types import SimpleNamespace

import msgspec
import pytest
import trio

from api import app as api_app
from api.job_board import JobBoard
from api.services import Services
from api.settings import ApiSettings
from engine.core.records import encode_command
from storage.log import Appended, Outcome

KEY = 2251799813685249
NOW_MS = 1_795_000_000_123


class Answer:
    """What came back."""

    def __init__(self, status, headers, body) -> None:
        self.status = status
        self.headers = dict(headers)
        self.body = body

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def problem(self):
        """The body of a problem, with what every problem must have."""
        assert self.headers[b"content-type"] == b"application/problem+json", self.body
        document = self.json
        assert document["type"] == "about:blank"
        assert document["status"] == self.status
        assert document.keys() >= {"title", "detail", "instance"}
        return document


class Client:
    """Calls an ASGI application. `gone` is an event: the client leaves."""

    def __init__(self, app) -> None:
        self.app = app
        self.gone = trio.Event()

    async def __call__(self, method, target, body=b"", headers=(), *, chunks=None, fail_send=False) -> "Answer | None":
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
            headers = [(b"content-type", b"application/json"), *headers]
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": list(headers),
        }
        parts = list(chunks or [body])
        sent = []

        async def receive():
            if parts:
                part = parts.pop(0)
                return {"type": "http.request", "body": part, "more_body": bool(parts)}
            await self.gone.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if fail_send:
                raise OSError("the client has left")
            sent.append(message)

        await self.app(scope, receive, send)
        if not sent:
            return None
        start, content = sent
        return Answer(start["status"], start["headers"], content["body"])


class Waiter:
    def __init__(self, value) -> None:
        self.value = value

    def __enter__(self) -> "Waiter":
        return self

    def __exit__(self, *_) -> None:
        return None

    async def wait(self):
        if self.value is None:
            await trio.sleep_forever()
        return self.value


class PlayedEngine:
    """Appender and completions at once: takes commands, gives the outcomes that the test has laid out."""

    def __init__(self) -> None:
        self.appended = []
        self.keys = {}
        self.rejection = None
        self.reply = None
        self.silent = False
        self.error = None
        self.ends = {}

    async def append(self, item, *, deadline_s):
        assert deadline_s > 0
        if self.error is not None:
            raise self.error
        encode_command(item.command)
        if item.idempotency is not None:
            key, sha = item.idempotency
            if key in self.keys:
                position, first = self.keys[key]
                return Appended(position, True, sha == first)
        self.appended.append(item)
        position = len(self.appended)
        if item.idempotency is not None:
            self.keys[item.idempotency[0]] = position, item.idempotency[1]
        return Appended(position, at_ms=NOW_MS)

    def register(self, partition, position):
        assert partition == 1
        if self.silent:
            return Waiter(None)
        reply = None if self.reply is None else msgspec.json.encode(self.reply)
        return Waiter(Outcome(position, self.rejection, reply))

    def register_end(self, key):
        return Waiter(self.ends.get(key))

    @property
    def command(self):
        """The only command that was appended."""
        (item,) = self.appended
        return item.command


class NoPool:
    """There is no database here: whoever asks for a connection should not have come that far."""

    @asynccontextmanager
    async def connection(self):
        raise AssertionError("this request should not have come to the database")
        yield


class Definitions:
    def __init__(self) -> None:
        self.parsed = {}

    def put(self, sha256, parsed):
        self.parsed[sha256] = parsed


@pytest.fixture
def engine():
    return PlayedEngine()


@pytest.fixture
def settings():
    return ApiSettings(response_timeout_s=0.05)


@pytest.fixture
def health():
    return SimpleNamespace(healthy=True)


@pytest.fixture
def services(engine, settings, health):
    return Services(engine, engine, Definitions(), NoPool(), JobBoard(), health, settings)


@pytest.fixture
async def client(services):
    return Client(api_app.build(services))
