"""The API in process: an ASGI client of thirty lines, and fake services."""

import json
from contextlib import asynccontextmanager
from types import SimpleNamespace

import msgspec
import pytest
import trio

from tests.api.changed_services import changed
from tests.api.kept_compute import KeptProcesses
from tests.api.official import sdk
from tests.api.rows import KEY, NOW, NOW_MS, Rows
from tests.api.whole_program import whole_program
from tests.databases import Databases
from vivero.api import app as api_app
from vivero.api.activation.long_polls import LongPolls
from vivero.api.admission.command_routing import CommandRouting
from vivero.api.http.request import HAS_LEFT
from vivero.api.services import (
    CommandServices,
    FileServices,
    JobServices,
    ObservingServices,
    ReadServices,
    Services,
)
from vivero.api.settings import ApiSettings
from vivero.core.partitions.routes import ONE_PARTITION
from vivero.engine.appender.calls import pending_command
from vivero.engine.outcomes.admission import Lost
from vivero.engine.outcomes.completions import Completions
from vivero.engine.outcomes.replies import next_reply
from vivero.storage.log.command_log import Appended, CommandOutcome
from vivero.storage.postgres.errors import ConnectionLost

__all__ = ["KEY", "NOW", "NOW_MS", "Rows"]
"""Names of `rows` that tests may take from here, too."""


class Answer:
    """The answer of a request."""

    def __init__(self, status, headers, body) -> None:
        self.status = status
        self.raw_headers = headers
        self.headers = {name: value for name, value in headers if name != b"x-request-id"}
        """Without the one that every answer has."""
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
    """Calls an ASGI application. `gone`, an event: the client leaves. A body is JSON unless a header says otherwise."""

    def __init__(self, app) -> None:
        self.app = app
        self.gone = trio.Event()
        self.has_left = False
        """The client has closed, and nothing has read its end yet."""

    async def _client_has_left(self):
        return self.has_left

    async def __call__(
        self, method, target, body=b"", headers=(), *, chunks=None, fail_send=False, typed=True
    ) -> "Answer | None":
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        if typed and (body or chunks) and all(name != b"content-type" for name, _ in headers):
            headers = [(b"content-type", b"application/json"), *headers]
        path, _, query = target.partition("?")
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "query_string": query.encode(),
            "headers": list(headers),
            "extensions": {HAS_LEFT: self._client_has_left},
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
        start, *contents = sent
        return Answer(start["status"], start["headers"], b"".join(content["body"] for content in contents))


async def nowhere():
    raise AssertionError("nobody should connect")


class FakeEngine:
    """Appender and completions at once: takes commands, gives the outcomes that the test has laid out."""

    def __init__(self) -> None:
        self.appended = []
        self.append_s = 0.0
        self.item = None
        self.keys = {}
        self.rejection = None
        self.reply = None
        self.admits = True
        self.silent = False
        self.lost = False
        self.error = None

    def admits_new(self):
        return self.admits

    def begin_append(self, item, replies, outcomes=None):
        if self.error is not None:
            raise self.error
        pending = pending_command(item, replies)
        pending.queued, pending.outcomes = True, outcomes
        self.item = item
        if not self.append_s:
            pending.finish(self._append(item), trio.current_time())
        return pending

    async def finish_append(self, pending, replies, deadline):
        if self.append_s:
            await trio.sleep_until(pending.since + self.append_s)
            pending.finish(self._append(self.item), trio.current_time())
        return (await next_reply(replies)).place

    def _append(self, item):
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

    def register(self, partition, position, send, number=0, appended=None):
        assert partition == position >> 51
        waiter = Completions(nowhere).register(partition, position, send, number, appended)
        if self.lost:
            waiter.tell(Lost("a crash took it"))
        elif not self.silent:
            reply = None if self.reply is None else msgspec.json.encode(self.reply)
            waiter.tell(CommandOutcome(position, self.rejection, reply))
        return waiter

    def register_end(self, key, send):
        return Completions(nowhere).register_end(key, send)

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


class NoDatabase:
    """A pool without a database: forbidden attempts cannot be recorded, which changes no answer."""

    @asynccontextmanager
    async def connection(self):
        raise ConnectionLost("there is no database")
        yield


class Definitions:
    def __init__(self) -> None:
        self.parsed = {}

    def put(self, sha256, parsed):
        self.parsed[sha256] = parsed

    async def prepare_decisions(self, contents):
        await trio.lowlevel.checkpoint()


@pytest.fixture(scope="session")
def databases(administration, postgres_dsn, template_database, reuse):
    """Tests of the API put rows at positions of a partition 0."""
    made = Databases(administration, postgres_dsn, template_database, reuse, "SELECT make_log_partitions(0)")
    yield made
    made.close()


@pytest.fixture
def engine():
    return FakeEngine()


@pytest.fixture
def settings():
    return ApiSettings(response_timeout_s=0.05)


@pytest.fixture
def health():
    running = {"state": "running", "last_error": None}
    children = [
        SimpleNamespace(name="appender", healthy=True, **running),
        SimpleNamespace(name="consumer-2", healthy=False, **running),
    ]
    return SimpleNamespace(healthy=True, health=lambda: children)


@pytest.fixture(scope="session")
def kept_processes():
    """The compute processes of one test after the other."""
    kept = KeptProcesses()
    yield kept
    trio.run(kept.end)


@pytest.fixture
async def services(engine, settings, health, kept_processes):
    routing = CommandRouting(ONE_PARTITION)
    services = Services(
        settings,
        CommandServices(engine, engine, routing),
        ReadServices(NoPool()),
        JobServices(LongPolls(), NoPool(), NoPool()),
        FileServices(Definitions(), compute=kept_processes.pool()),
        ObservingServices(health),
    )
    yield services
    await services.files.compute.close()


@pytest.fixture
async def client(services):
    return Client(api_app.build(services))


@pytest.fixture
def sessions(databases, database):
    """Sessions with the test's database that are kept for later tests."""
    return databases.sessions(database)


@pytest.fixture
def rows(database, sessions):
    """A database with the schema, to put rows in."""
    return Rows(sessions.of_rows())


@pytest.fixture
async def stored(rows, database, sessions, services):
    """Services with a real database under them."""
    with sessions.pool(database, 3) as pool:
        yield changed(services, pool=pool, leasing=pool, large_jobs=pool)


@pytest.fixture
async def reader(stored):
    """A client of an application with a real database under it."""
    return Client(api_app.build(stored))


@pytest.fixture
def make_client(services):
    """A client of an application with other services: `make_client(pool=…)`."""

    def make(**changes):
        return Client(api_app.build(changed(services, **changes)))

    return make


@pytest.fixture
async def program_address(rows, database, nursery):
    """The URL of a whole program, whose database is this test's."""
    from vivero.config.sections import Config  # imported late, as whole_program() does

    async with whole_program(Config(), database, nursery) as url:
        yield url


@pytest.fixture
def in_thread(program_address, monkeypatch):
    """Calls a function with a blocking official client of a whole program, in a thread."""
    monkeypatch.setenv("CAMUNDA_REST_ADDRESS", program_address)
    monkeypatch.setenv("CAMUNDA_SDK_LOG_LEVEL", "error")

    async def call(function):
        def run():
            with sdk.CamundaClient() as client:
                return function(client)

        with trio.fail_after(60):
            return await trio.to_thread.run_sync(run, abandon_on_cancel=True)

    return call
