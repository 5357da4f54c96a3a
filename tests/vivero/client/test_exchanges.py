"""The requests of workers on connections of their own: answers of all kinds, and servers that close or say nothing."""

import math
from contextlib import asynccontextmanager, suppress
from functools import partial

import anyio
import anyio.lowlevel
import pytest

from vivero.client import addresses
from vivero.client.answers import Conflict, NotSendable
from vivero.client.http1 import connections
from vivero.client.rest import Client, ClientError, Unreachable

OK = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"
CONFLICT = b"HTTP/1.1 409 Conflict\r\ncontent-length: 21\r\n\r\n" + b'{"title":"NOT_READY"}'


class Server:
    """Answers each request with the next of the given bytes; None closes without one. `closes`: after an answer."""

    scheme = "http"

    def __init__(self, *answers, closes=False, reads=True) -> None:
        self.answers, self.closes, self.reads = list(answers), closes, reads
        self.connections = self.open = 0
        self.requests = []

    @asynccontextmanager
    async def running(self):
        plain = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
        async with plain, anyio.create_task_group() as group:
            group.start_soon(self.listener(plain).serve, self._serve)
            yield f"{self.scheme}://127.0.0.1:{plain.extra(anyio.abc.SocketAttribute.local_port)}"
            group.cancel_scope.cancel()

    def listener(self, plain):
        return plain

    async def _serve(self, stream):
        self.connections += 1
        self.open += 1
        try:
            await self._answer(stream)
        finally:
            self.open -= 1

    async def _answer(self, stream):
        async with stream:
            while self.answers:
                if self.reads:
                    try:
                        self.requests.append(await stream.receive())
                    except (anyio.EndOfStream, anyio.BrokenResourceError):
                        return
                answer = self.answers.pop(0)
                if answer is None:
                    return
                await stream.send(answer)
                if self.closes:
                    return
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    await stream.receive()


def on(backend, function, *arguments):
    return anyio.run(function, *arguments, backend=backend)


@pytest.fixture(params=["asyncio", "trio"])
def backend(request):
    return request.param


async def asked(server, times=1, content=b"{}", timeout=None, **options):
    """The results of `times` requests one after the other: bodies and positions, or exceptions."""
    found = []
    async with server.running() as address, Client(address, credentials="", **options) as client:
        for _ in range(times):
            try:
                found.append(await client.exchange("POST", "/v2/x", content, timeout=timeout))
            except ClientError as error:
                found.append(error)
    return found


def test_a_connection_is_used_again_and_sends_the_credentials(backend):
    server = Server(OK, b"HTTP/1.1 204 No Content\r\nCommand-Position: 7\r\n\r\n", CONFLICT)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("VIVERO_TOKEN", "from-the-environment")
        first, second, third = on(backend, partial(asked, times=3), server)
    assert (first, second, server.connections) == ((b"{}", None), (b"", 7), 1)
    assert isinstance(third, Conflict)
    assert (third.status, third.title) == (409, "NOT_READY")
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert (body, head.splitlines()[0]) == (b"{}", b"POST /v2/x HTTP/1.1")
    assert b"authorization" not in head, "an empty text sends none"


@pytest.mark.parametrize(("given", "sent"), [("secret", b"Bearer secret"), (("ada", "x"), b"Basic YWRhOng=")])
def test_credentials_are_in_each_request(given, sent):
    server = Server(OK)

    async def ask():
        async with server.running() as address, Client(f"{address}/below", credentials=given) as client:
            await client.exchange("POST", "/v2/x", b"", headers={"traceparent": "00-1"})

    on("trio", ask)
    lines = server.requests[0].splitlines()
    assert lines[0] == b"POST /below/v2/x HTTP/1.1"
    assert {b"authorization: " + sent, b"traceparent: 00-1", b"content-length: 0"} <= set(lines)


@pytest.mark.parametrize(
    ("answer", "body", "again"),
    [
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\nx: y\r\n\r\n", b"abc", True),
        (b"HTTP/1.1 103 Early Hints\r\nx: y\r\n\r\n" + OK, b"{}", True),
        (b"HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nab", b"ab", False),
        (b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nab", b"ab", False),
        (OK + OK.replace(b"{}", b"[]"), b"{}", False),
        (OK + b"nonsense", b"{}", False),
    ],
)
def test_an_answer_says_whether_its_connection_is_good_for_another(backend, answer, body, again):
    server = Server(answer, OK)
    assert on(backend, partial(asked, times=2), server) == [(body, None), (b"{}", None)]
    assert server.connections == (1 if again else 2)


def test_an_answer_without_length_lasts_until_the_server_closes(backend):
    server = Server(b"HTTP/1.1 200 OK\r\n\r\nabc", OK, closes=True)
    assert on(backend, partial(asked, times=2), server) == [(b"abc", None), (b"{}", None)]


def test_a_connection_that_the_server_has_closed_is_not_used(backend):
    server = Server(OK, OK, closes=True)

    async def ask():
        async with server.running() as address, Client(address, credentials="") as client:
            await client.exchange("POST", "/v2/x", b"{}")
            await anyio.wait_all_tasks_blocked()
            return await client.exchange("POST", "/v2/x", b"{}")

    assert on(backend, ask) == (b"{}", None)


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "Server disconnected without sending a response"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc", "Server disconnected"),
        (b"\x15\x03\x01", "Expected HTTP/"),
        (b"HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n", "did not answer"),
        (b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 100_000, "headers of the answer are too long"),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nab", "did not answer"),
    ],
)
def test_a_request_without_a_whole_answer_is_in_doubt(backend, answer, says):
    (error,) = on(backend, asked, Server(answer, closes=True))
    assert isinstance(error, Unreachable)
    assert (error.in_doubt, says in str(error)) == (True, True), error


def test_a_packed_answer_is_refused(backend):
    (error,) = on(backend, asked, Server(OK.replace(b"length", b"encoding: gzip\r\ncontent-length")))
    assert "packed" in str(error)


def test_silence_ends_a_request_which_is_in_doubt(backend):
    (error,) = on(backend, partial(asked, timeout=0.05), Server())
    assert isinstance(error, Unreachable)
    assert (error.in_doubt, "nothing came for 0.05 s" in str(error)) == (True, True)


def test_an_answer_that_comes_before_the_request_is_read_counts(backend):
    """Such as 413, after which the server closes."""
    server = Server(CONFLICT, closes=True, reads=False)
    (error,) = on(backend, partial(asked, content=b"x" * 50_000), server)
    assert isinstance(error, Conflict)


def test_no_server_and_no_free_connection_are_not_in_doubt(backend):
    async def ask():
        server = Server()
        async with (
            server.running() as address,
            Client(address, credentials="", connections=1) as client,
            anyio.create_task_group() as group,
        ):
            group.start_soon(client.exchange, "POST", "/v2/x", b"")
            while not server.connections:
                await anyio.lowlevel.checkpoint()
            with pytest.raises(Unreachable, match="all connections") as full:
                await client.exchange("POST", "/v2/x", b"", timeout=0.01)
            group.cancel_scope.cancel()
        async with Client(address, credentials="") as client:
            with pytest.raises(Unreachable, match="no server answers") as away:
                await client.exchange("POST", "/v2/x", b"")
        return full.value.in_doubt, away.value.in_doubt

    assert on(backend, ask) == (False, False)


def test_a_client_that_is_cancelled_closes_all_of_its_connections(backend):
    server = Server(*[OK] * 3)

    async def ask():
        async with server.running() as address:
            with anyio.CancelScope() as scope:
                async with Client(address, credentials="") as client:
                    async with anyio.create_task_group() as group:
                        for _ in range(3):
                            group.start_soon(client.exchange, "POST", "/v2/x", b"{}")
                    scope.cancel()
            with anyio.fail_after(20):
                while server.open:
                    await anyio.lowlevel.checkpoint()

    on(backend, ask)
    assert server.connections == 3


class KeptFor:
    """Times for which connections are kept, one after the other."""

    def __init__(self, *times_s) -> None:
        self._times = iter(times_s)

    def __radd__(self, now) -> float:
        return now + next(self._times)


def test_connections_that_are_kept_for_too_long_are_closed(backend, monkeypatch):
    """Also those below one that is used again and again."""
    server = Server(*[OK] * 3)
    monkeypatch.setattr(connections, "KEPT_S", KeptFor(0, math.inf, math.inf))

    async def ask():
        async with server.running() as address, Client(address, credentials="") as client:
            async with anyio.create_task_group() as group:
                for _ in range(2):
                    group.start_soon(client.exchange, "POST", "/v2/x", b"{}")
            await client.exchange("POST", "/v2/x", b"{}")
            with anyio.fail_after(20):
                while server.open > 1:
                    await anyio.lowlevel.checkpoint()

    on(backend, ask)
    assert server.connections == 2


class SlowStream(anyio.abc.ByteStream):
    """A connection to a server that answers after 20 seconds."""

    async def send(self, item):
        await anyio.lowlevel.checkpoint()

    async def receive(self, max_bytes=65536):
        await anyio.sleep(20)
        return OK.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")

    async def send_eof(self):
        raise AssertionError("the server would take that for the end")

    async def aclose(self):
        await anyio.lowlevel.checkpoint()


async def test_a_wait_for_a_place_takes_nothing_from_the_time_of_the_server(autojump_clock, monkeypatch):
    async def connected(_):
        await anyio.sleep(20)
        return SlowStream()

    monkeypatch.setattr(connections.KeptConnections, "_connected", connected)
    kept = connections.KeptConnections("http://server", {}, None, None, 50, 1)
    async with anyio.create_task_group() as group:
        for _ in range(2):
            group.start_soon(kept.request, "POST", "/v2/x", b"", {})
    assert anyio.current_time() == 80


@pytest.mark.parametrize("given", ["se\udcffcret", ("ada", "se\udcffcret"), ("se\udcffcret", "x")])
def test_credentials_that_cannot_be_sent_are_not_shown(given):
    with pytest.raises(NotSendable) as error:
        Client("http://engine", credentials=given)
    assert "cret" not in str(error.value)


@pytest.mark.parametrize(
    ("path", "header"), [("/v2/x\r\nevil: 1", "00"), ("/v2/a b", "00"), ("/v2/x", "0\r\nevil: 1"), ("/v2/x", "ä")]
)
def test_nothing_but_the_request_can_be_sent(path, header):
    server = Server(OK)

    async def ask():
        async with server.running() as address, Client(address, credentials="") as client:
            with pytest.raises(NotSendable):
                await client.exchange("POST", path, b"", headers={"traceparent": header})

    on("trio", ask)
    assert server.requests == []


def test_a_server_behind_a_proxy_is_left_to_httpx(monkeypatch):
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    to = partial(addresses.connections_to, credentials="", timeout_s=1, connections=None)
    assert to("http://engine.example") is not None
    assert to("http://gärten.example") is None
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    assert to("http://engine.example") is None
    assert to("http://localhost:8080") is not None, "the environment's proxy cannot reach our loopback interface"
