"""TLS and HTTP/2: versions, limits, deadlines, a certificate that changes, and an end that no client can prevent."""

import ssl

import httpx
import pytest
import structlog
import trio
import trio.testing
from cryptography.hazmat.primitives import serialization

from tests.api.http1.conftest import echo, respond
from tests.api.http1.test_http2_refusals import GRPC, Http2Client
from tests.api.tls.conftest import connect, open_tcp, rest, write_certificate
from vivero.api.http1 import grpc
from vivero.api.http1.problems import UnfinishedAnswer
from vivero.api.serving.certificate import Certificate, CertificateProblem, certificate_of
from vivero.api.serving.tls_settings import TlsSettings
from vivero.api.tls import server
from vivero.api.tls.state import TlsState

POST = b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 10\r\n\r\n"


@pytest.mark.parametrize("http2", [True, False])
async def test_both_versions(serve, http2):
    async with serve(echo) as it, it.client(http2) as client:
        for _ in range(3):
            answer = await client.post("/a%20b?x=1", content=b"body")
            assert answer.status_code == 200
            assert answer.text.startswith("POST /a b ")
            assert answer.text.endswith(" body")
            assert answer.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
        assert it.figures.connections == 1
        assert it.figures.requests == 3


async def test_calls_of_grpc_are_refused_in_grpc(serve):
    async with serve(echo) as it:
        stream, client = await connect(it, ["h2"]), Http2Client()
        for size in (0, 5, 16_000):
            call = client.request(GRPC, body=b"x" * size)
            await stream.send_all(client.connection.data_to_send())
            with trio.fail_after(20):
                while not client.ended(call):
                    client.hears(await stream.receive_some())
                    await stream.send_all(client.connection.data_to_send())
            assert client.headers(call)[b":status"] == b"200"
            assert client.trailers(call) == dict(grpc.TRAILERS)


async def test_the_scope(serve):
    seen = []

    async def app(scope, receive, send):
        seen.append(scope)
        await respond(send, headers=[(b"connection", b"close"), (b"X-Any", b"1")])

    async with serve(app, trusted_proxies="127.0.0.1") as it, it.client() as client:
        answer = await client.get("/v2/%C3%BC", headers={"x-forwarded-for": "10.1.2.3"})
    (scope,) = seen
    assert (scope["scheme"], scope["path"], scope["raw_path"]) == ("https", "/v2/ü", b"/v2/%C3%BC")
    assert dict(scope["headers"])[b"host"] == f"localhost:{it.port}".encode()
    assert scope["extensions"]["vivero.owner"](scope["headers"]) == "10.1.2.3"
    assert await scope["extensions"]["vivero.has_left"]() is True, "the client has closed"
    assert answer.headers["x-any"] == "1"
    assert "server" not in answer.headers


@pytest.mark.parametrize("http2", [True, False])
@pytest.mark.parametrize(
    ("target", "options", "status"),
    [
        ("/%zz", {}, 400),
        ("/%00", {}, 400),
        ("/%ff", {}, 400),
        ("/" + "a" * 9000, {}, 414),
        ("/", {"headers": {f"x-{i}": "1" for i in range(101)}}, 431),
        ("/", {"headers": {"x-a": "y" * 20_000, "x-b": "y" * 13_000}}, 431),
        ("/", {"content": b"x" * 2000}, 413),
    ],
)
async def test_what_our_own_server_refuses(serve, http2, target, options, status):
    async with serve(echo, max_body_bytes=1000) as it, it.client(http2) as client:
        request = client.build_request("POST" if "content" in options else "GET", "/", **options)
        request.extensions["target"] = target.encode()
        answer = await client.send(request)
        assert answer.status_code == status
        assert answer.json()["status"] == status


@pytest.mark.parametrize("http2", [True, False])
async def test_an_answer_that_overtakes_a_long_body_is_seen(serve, http2):
    async def app(scope, receive, send):
        await respond(send, b"too large", status=413, headers=[(b"content-length", b"9")])

    async with serve(app) as it, it.client(http2) as client:
        answer = await client.post("/", content=b"x" * 4_000_000)
        assert (answer.status_code, answer.text) == (413, "too large")


async def test_a_body_without_a_length_is_bounded_too(serve):
    async def parts():
        for _ in range(20):
            yield b"x" * 100

    async with serve(echo, max_body_bytes=1000) as it, it.client() as client:
        assert (await client.post("/", content=parts())).status_code == 413


async def test_an_error_of_the_application_is_500(serve):
    async def app(scope, receive, send):
        raise RuntimeError("a bug")

    async with serve(app) as it, it.client() as client:
        with structlog.testing.capture_logs() as logged:
            answer = await client.get("/")
        assert (answer.status_code, answer.json()["title"]) == (500, "INTERNAL")
        assert "a bug" not in answer.text
        assert [each["event"] for each in logged if each["log_level"] == "error"] == ["request handler failed"]


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize(
    ("error", "logged"), [(UnfinishedAnswer(), []), (RuntimeError("a bug"), ["request handler failed"])]
)
async def test_an_answer_that_cannot_be_finished_is_incomplete(serve, http2, error, logged):
    """The client learns of it at once: it does not wait for the rest."""

    async def app(scope, receive, send):
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"begun", "more_body": True})
        raise error

    async with serve(app) as it, it.client(http2) as client:
        with structlog.testing.capture_logs() as logs, pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            await client.get("/")
        assert [each["event"] for each in logs if each["log_level"] in ("warning", "error")] == logged


async def test_a_client_that_leaves_is_noticed(serve):
    asked, left = trio.Event(), trio.Event()

    async def app(scope, receive, send):
        asked.set()
        while (await receive())["type"] != "http.disconnect":
            pass
        left.set()

    async with serve(app) as it:
        with trio.fail_after(20):
            async with it.client() as client, trio.open_nursery() as nursery:
                nursery.start_soon(client.get, "/")
                await asked.wait()
                nursery.cancel_scope.cancel()
            await left.wait()


class TestDeadlines:
    @pytest.mark.long
    @pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nhost: a", POST[:-2]])
    async def test_a_header_that_does_not_come(self, serve, sent):
        async with serve(echo, header_timeout_s=1) as it:
            stream = await connect(it)
            await stream.send_all(sent)
            assert await rest(stream) == b""

    @pytest.mark.long
    async def test_a_handshake_that_does_not_come(self, serve):
        async with serve(echo, header_timeout_s=1) as it:
            assert await rest(await open_tcp(it)) == b""

    @pytest.mark.long
    async def test_a_connection_of_http2_without_a_request(self, serve):
        async with serve(echo, header_timeout_s=1) as it:
            stream = await connect(it, ("h2",))
            await rest(stream)

    @pytest.mark.long
    async def test_a_second_header_that_does_not_come(self, serve):
        async with serve(echo, header_timeout_s=1) as it:
            stream = await connect(it)
            await stream.send_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            assert (await stream.receive_some()).startswith(b"HTTP/1.1 200")
            await stream.send_all(b"GET / HT")
            assert b"HTTP/1.1" not in await rest(stream)

    async def test_a_body_that_does_not_come(self, serve):
        async with serve(echo, body_timeout_s=0.3) as it:
            stream = await connect(it)
            await stream.send_all(POST + b"x")
            assert b"HTTP/1.1 408" in await rest(stream)

    async def test_a_client_that_does_not_read(self, serve):
        done = trio.Event()

        async def app(scope, receive, send):
            try:
                await respond(send, b"x" * 10_000_000)
            finally:
                done.set()

        async with serve(app, send_timeout_s=0.3, min_send_bytes_per_s=10**9) as it:
            stream = await connect(it)
            await stream.send_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            with trio.fail_after(20):
                await done.wait()


class TestTheEnd:
    async def test_idle_connections_do_not_delay_it(self, serve):
        async with serve(echo, drain_grace_s=20) as it, it.client() as client:
            await client.get("/")
            with trio.fail_after(5):
                await it.stop()

    async def test_an_open_request_is_finished(self, serve):
        entered, go_on = trio.Event(), trio.Event()

        async def app(scope, receive, send):
            entered.set()
            await go_on.wait()
            await respond(send, b"done")

        async with serve(app, drain_grace_s=20) as it, it.client(False) as client, trio.open_nursery() as nursery:

            async def end():
                await entered.wait()
                it.drain.set()
                await trio.testing.wait_all_tasks_blocked(0.05)
                go_on.set()

            nursery.start_soon(end)
            assert (await client.get("/")).text == "done"

    async def test_clients_that_do_not_read_do_not_delay_it(self, serve):
        """hypercorn shields what it sends from cancellation."""
        sending, all_send = [], trio.Event()

        async def app(scope, receive, send):
            sending.append(scope)
            if len(sending) == 3:
                all_send.set()
            await respond(send, b"x" * 10_000_000)

        async with serve(app, drain_grace_s=0.5) as it:
            streams = [await connect(it) for _ in range(3)]
            for stream in streams:
                await stream.send_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            with trio.fail_after(20):
                await all_send.wait()
            with trio.fail_after(10):
                await it.stop()
            assert it.figures.connections == 0

    async def test_it_beats_until_all_have_ended(self, serve, monkeypatch):
        """A task that does not end keeps its connection. The supervisor must not take the wait for a hang."""
        monkeypatch.setattr(server, "CLOSE_S", 0.1)
        beats, began, ended = [], trio.Event(), trio.Event()

        def beat():
            if began.is_set():
                beats.append(None)
            if len(beats) == 3:
                ended.set()

        async def app(scope, receive, send):
            began.set()
            it.drain.set()
            with trio.CancelScope(shield=True):
                await ended.wait()

        async with serve(app, beat=beat, drain_grace_s=0.1) as it:
            stream = await connect(it)
            await stream.send_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            with trio.fail_after(20):
                await it.done.wait()

    async def test_a_connection_that_was_closed_before_its_task_ran_is_no_error(self, serve, monkeypatch):
        """All closed sockets have one descriptor, which Trio takes for a socket that several tasks read."""
        opened = TlsState.opened

        def closed_at_once(state, connection):
            opened(state, connection)
            connection.close()

        monkeypatch.setattr(TlsState, "opened", closed_at_once)
        with structlog.testing.capture_logs() as logged:
            async with serve(echo) as it:
                streams = [await open_tcp(it) for _ in range(3)]
                assert [await rest(stream) for stream in streams] == [b""] * 3
        assert [each for each in logged if each["log_level"] == "error"] == []


class TestConnections:
    async def test_waiting_ones_make_room(self, serve):
        async with serve(echo, max_connections=3) as it:
            for _ in range(10):
                await open_tcp(it)
            async with it.client() as client:
                assert (await client.get("/")).status_code == 200

    async def test_busy_ones_do_not(self, serve):
        entered, go_on = trio.Event(), trio.Event()

        async def app(scope, receive, send):
            entered.set()
            await go_on.wait()
            await respond(send, b"done")

        async with serve(app, max_connections=1) as it, it.client() as client, trio.open_nursery() as nursery:

            async def another():
                await entered.wait()
                async with it.client() as other:
                    with pytest.raises(httpx.TransportError):
                        await other.get("/")
                go_on.set()

            nursery.start_soon(another)
            assert (await client.get("/")).text == "done"


class TestCertificate:
    async def test_a_new_one_is_for_new_connections(self, serve, files):
        async with serve(echo) as it:
            before = await connect(it)
            write_certificate(files[0].parent, "new")
            it.certificate.reload()
            after = await trio.open_ssl_over_tcp_stream(
                "localhost", it.port, ssl_context=ssl.create_default_context(cafile=str(files[0]))
            )
            await after.do_handshake()
            ((name,),) = after.getpeercert()["subject"]
            assert name == ("commonName", "new")
            await before.send_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            assert (await before.receive_some()).startswith(b"HTTP/1.1 200")
            await before.aclose()
            await after.aclose()

    def test_a_bad_one_leaves_the_old_one(self, files):
        certificate = Certificate(*files)
        before = certificate.context
        files[0].write_text("nonsense")
        with structlog.testing.capture_logs() as logged:
            certificate.reload()
        assert certificate.context is before
        assert logged[0]["log_level"] == "error"

    @pytest.mark.parametrize("wrong", ["missing", "nonsense", "another key", "password"])
    def test_why_it_cannot_be_used(self, files, tmp_path_factory, wrong):
        certificate, key = files
        if wrong == "missing":
            key.unlink()
        elif wrong == "nonsense":
            certificate.write_text("nonsense")
        elif wrong == "another key":
            key.write_bytes(write_certificate(tmp_path_factory.mktemp("other"))[1].read_bytes())
        else:
            loaded = serialization.load_pem_private_key(key.read_bytes(), None)
            key.write_bytes(
                loaded.private_bytes(
                    serialization.Encoding.PEM,
                    serialization.PrivateFormat.PKCS8,
                    serialization.BestAvailableEncryption(b"secret"),
                )
            )
        with pytest.raises(CertificateProblem, match="cannot be used"):
            Certificate(certificate, key)

    def test_both_files_are_needed(self, files):
        assert certificate_of(TlsSettings()) is None
        for settings in (TlsSettings(certificate=files[0]), TlsSettings(key=files[1])):
            with pytest.raises(CertificateProblem, match="both"):
                certificate_of(settings)
        assert certificate_of(TlsSettings(*files)) is not None

    def test_old_versions_of_tls_are_refused(self, files):
        assert Certificate(*files).context.minimum_version is ssl.TLSVersion.TLSv1_2
