"""The server on loopback sockets: drain, restarts, too many connections, and clients that do not read."""

import errno
import socket

import pytest
import structlog
import trio

import vivero.api.http1.connection
from tests import plain_http
from tests.eventually import eventually
from vivero.api.serving.server import Endpoint, ListenError, ServerSettings, open_listeners, serve

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
# Nothing here should take long; a test that hangs fails instead.
PATIENCE_S = 20
SOON_S = 5
"""Far below each deadline that a server could wait for by mistake: 10 s for a header, 15 s of grace."""


def big(apps, size: int):
    async def app(scope, receive, send) -> None:
        await apps.respond(send, b"x" * size)

    return app


class TestService:
    async def test_scope_names_both_ends(self, running, apps):
        scopes = []

        async def app(scope, receive, send):
            scopes.append(scope)
            await apps.respond(send)

        async with running(app) as server:
            client = await server.connect()
            await client.ask(GET)
            assert scopes[0]["client"] == client.stream.socket.getsockname()
            assert scopes[0]["server"] == ("127.0.0.1", server.port)

    async def test_large_bodies_both_ways(self, running, apps):
        async def app(scope, receive, send):
            body, _ = await apps.read_body(receive)
            await apps.respond(send, body * 4)

        body = bytes(range(256)) * 8192
        async with running(app) as server:
            client = await server.connect()
            for _ in range(2):
                await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(body), body)
                assert (await client.answer()).body == body * 4

    async def test_an_ordinary_client(self, running, apps):
        async def parts():
            for part in (b"a", b"bc" * 50_000, b"d"):
                yield part

        async def app(scope, receive, send):
            body, _ = await apps.read_body(receive)
            await send({"type": "http.response.start", "status": 201, "headers": [(b"x-path", scope["raw_path"])]})
            for part in (body, b"", b"end"):
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body"})

        async with (
            running(app) as server,
            plain_http.async_client(base_url=f"http://127.0.0.1:{server.port}") as client,
        ):
            for path in ("/a b", "/%2F/é?x=1"):
                response = await client.post(path, content=parts())
                assert (response.status_code, response.http_version) == (201, "HTTP/1.1")
                assert response.content == b"a" + b"bc" * 50_000 + b"dend"
            response = await client.put("/json", json={"a": 1})
            assert response.content == b'{"a":1}end'

    async def test_many_clients_at_once(self, running, apps):
        async def ask(server, number: int) -> None:
            client = await server.connect()
            for turn in range(5):
                answer = await client.ask(b"GET /%d/%d HTTP/1.1\r\nHost: a\r\n\r\n" % (number, turn))
                assert answer.body == b"GET /%d/%d 1 " % (number, turn)

        async with running(apps.echo) as server, trio.open_nursery() as nursery:
            for number in range(100):
                nursery.start_soon(ask, server, number)

    async def test_a_stream_to_a_fast_client_lets_others_run(self, running):
        turns = 0

        async def count_turns() -> None:
            nonlocal turns
            while True:
                await trio.lowlevel.checkpoint()
                turns += 1

        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200})
            async with trio.open_nursery() as nursery:
                nursery.start_soon(count_turns)
                for _ in range(50):
                    await send({"type": "http.response.body", "body": b"x", "more_body": True})
                nursery.cancel_scope.cancel()
            await send({"type": "http.response.body"})

        async with running(app) as server:
            client = await server.connect()
            assert len((await client.ask(GET)).body) == 50
        assert turns >= 40

    async def test_a_refused_upload_still_reads_its_answer(self, running, apps):
        async with running(apps.echo, max_body_bytes=1000) as server:
            client = await server.connect()
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n", b"x" * 500_000)
            assert (await client.answer()).status == 413

    async def test_a_long_poll_learns_of_a_reset(self, running, apps):
        got, seen = trio.open_memory_channel(1)

        async def app(scope, receive, send):
            await receive()
            got.send_nowait(await receive())

        async with running(app) as server:
            client = await server.connect()
            await client.send(GET)
            client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            client.stream.socket.close()
            assert await seen.receive() == {"type": "http.disconnect"}

    async def test_a_client_that_has_closed_is_known_before_anybody_reads(self, running):
        """The application has no turn between the end that arrives and its question."""
        asked, answers = trio.Event(), []

        async def app(scope, _receive, send):
            await asked.wait()
            answers.append(await scope["extensions"]["vivero.has_left"]())
            if not answers[-1]:
                await send({"type": "http.response.start", "status": 204})
                await send({"type": "http.response.body"})

        async with running(app) as server:
            for leaves in (False, True):
                client = await server.connect()
                await client.send(GET)
                if leaves:
                    client.stream.socket.close()
                    asked.set()
            await eventually(lambda: answers, accept=lambda found: len(found) == 2)
        assert sorted(answers) == [False, True]

    async def test_beats_while_idle_and_while_draining(self, running, apps):
        async with running(apps.echo) as server:
            await server.beaten(3)
            client = await server.connect()
            await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx")
            await server.until(lambda state: state.in_flight)
            server.drain.set()
            await server.beaten(3)
            assert not server.done.is_set()


class TestDrain:
    async def test_idle_connections_are_closed_at_once(self, running, apps):
        async with running(apps.echo, drain_grace_s=15) as server:
            clients = [await server.connect() for _ in range(5)]
            for client in clients[1:]:
                await client.ask(GET)
            assert await server.stop() < SOON_S
            assert all([await client.closed() for client in clients])

    async def test_an_open_request_is_finished_and_told_to_close(self, running, apps):
        started, release = trio.Event(), trio.Event()

        async def app(scope, receive, send):
            started.set()
            await release.wait()
            await apps.respond(send, b"done")

        async with running(app, drain_grace_s=15) as server, trio.open_nursery() as nursery:
            client = await server.connect()
            await client.send(GET + GET)
            await started.wait()
            nursery.start_soon(server.stop)
            await server.beaten(2)
            assert not server.done.is_set()
            release.set()
            answer = await client.answer()
            assert (answer.body, answer.headers["connection"]) == (b"done", "close")
            assert await client.closed()
            await server.done.wait()

    async def test_a_request_that_had_arrived_is_served(self, running, apps):
        for _ in range(30):
            async with running(apps.echo) as server:
                client = await server.connect()
                await client.ask(GET)
                client.raw.send(GET)
                server.drain.set()
                assert (await client.answer()).status == 200

    async def test_new_connections_are_refused_while_a_request_is_open(self, running, apps):
        """A proxy then goes to another node. In the backlog they would wait, and end with the program."""
        release = trio.Event()

        async def app(scope, receive, send):
            await release.wait()
            await apps.respond(send)

        async with running(app, drain_grace_s=15) as server:
            client = await server.connect()
            await client.send(GET)
            await server.until(lambda state: state.in_flight)
            server.drain.set()
            await server.beaten(1)
            with socket.socket() as refused:
                assert refused.connect_ex(("127.0.0.1", server.port)) == errno.ECONNREFUSED
            release.set()
            assert (await client.answer()).status == 200
            await server.done.wait()

    async def test_a_wait_that_ends_with_the_drain_tells_its_client_to_close(self, running, apps):
        """The end of a long poll may overtake the server's own task. Its client would send the next one in vain."""
        release = trio.Event()

        async def app(scope, receive, send):
            await release.wait()
            await apps.respond(send)

        async with running(app, drain_grace_s=15) as server:
            clients = [await server.connect() for _ in range(5)]
            for client in clients:
                await client.send(GET)
            await server.until(lambda state: state.in_flight == len(clients))
            server.drain.set()
            release.set()
            answers = [await client.answer() for client in clients]
            assert [answer.headers["connection"] for answer in answers] == ["close"] * len(clients)
            await server.done.wait()

    async def test_a_client_that_does_not_read_does_not_hold_it(self, running, apps):
        async with running(big(apps, 50_000_000), drain_grace_s=0.3) as server:
            client = await server.connect(receive_buffer=4096)
            await client.send(GET)
            await client.stream.receive_some(10)
            with structlog.testing.capture_logs() as logs:
                assert 0.3 <= await server.stop() < SOON_S
        assert [entry["event"] for entry in logs] == ["open requests were cancelled at shutdown"]

    @pytest.mark.parametrize("fragment", [GET[:-2], b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"])
    async def test_a_slow_client_does_not_hold_it(self, running, apps, fragment):
        async with running(apps.echo, drain_grace_s=0.3) as server:
            clients = [await server.connect() for _ in range(50)]
            for client in clients:
                await client.send(fragment)
            assert await server.stop() < SOON_S

    async def test_a_handler_that_never_ends_is_cancelled(self, running):
        started, cancelled = trio.Event(), []

        async def app(scope, receive, send):
            started.set()
            try:
                await trio.sleep_forever()
            except trio.Cancelled:
                cancelled.append(True)
                raise

        async with running(app, drain_grace_s=0.2) as server:
            client = await server.connect()
            await client.send(GET)
            await started.wait()
            assert await server.stop() < SOON_S
        assert cancelled

    async def test_a_handler_that_fails_while_it_is_cancelled_is_logged(self, running):
        started = trio.Event()

        async def app(scope, receive, send):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                started.set()
                try:
                    await trio.sleep_forever()
                finally:
                    raise LookupError("while cancelled")

        async with running(app, drain_grace_s=0.2) as server:
            client = await server.connect()
            await client.send(GET)
            await started.wait()
            with structlog.testing.capture_logs() as logs:
                assert await server.stop() < SOON_S
        assert [entry for entry in logs if entry["log_level"] == "error"]

    async def test_set_before_the_start(self, apps):
        drain = trio.Event()
        drain.set()
        listeners = await open_listeners("127.0.0.1", 0)
        with trio.fail_after(PATIENCE_S):
            await serve(apps.echo, Endpoint(listeners), settings=ServerSettings(), drain=drain, beat=lambda: None)
        await listeners[0].aclose()


class TestRestart:
    async def test_clients_wait_in_the_backlog_for_the_next_server(self, running_class, client_of, apps):
        listeners = await open_listeners("127.0.0.1", 0)
        server = running_class(listeners, client_of)
        with trio.fail_after(PATIENCE_S):
            for _ in range(3):
                waiting = await server.connect()
                await waiting.send(GET)
                async with trio.open_nursery() as nursery:
                    await nursery.start(server.run, apps.echo, ServerSettings())
                    assert (await waiting.answer()).status == 200
                    nursery.cancel_scope.cancel()
                assert await waiting.closed()
        await server.close()

    async def test_a_listener_that_is_closed_ends_it(self, running, apps):
        with pytest.raises(ExceptionGroup) as raised:  # noqa: PT012
            async with running(apps.echo) as server:
                await server.listeners[0].aclose()
                await server.done.wait()
        assert raised.group_contains(trio.ClosedResourceError)

    async def test_a_long_pipeline_lets_others_run(self, running_class, client_of, apps):
        order = []

        async def app(scope, receive, send):
            order.append(scope["path"])
            await apps.respond(send)

        server = running_class(await open_listeners("127.0.0.1", 0), client_of)
        with trio.fail_after(PATIENCE_S):
            greedy, modest = await server.connect(), await server.connect()
            await greedy.send(b"GET /greedy HTTP/1.1\r\nHost: a\r\n\r\n" * 1000)
            await modest.send(b"GET /modest HTTP/1.1\r\nHost: a\r\n\r\n")
            async with trio.open_nursery() as nursery:
                await nursery.start(server.run, app, ServerSettings())
                for _ in range(1000):
                    assert (await greedy.answer()).status == 200
                assert (await modest.answer()).status == 200
                nursery.cancel_scope.cancel()
        await server.close()
        assert order.index("/modest") < 100


class TestTooMany:
    async def test_a_connection_too_many_gets_503(self, running, apps):
        got, started = trio.open_memory_channel(2)
        release = trio.Event()

        async def app(scope, receive, send):
            await got.send(None)
            await release.wait()
            await apps.respond(send)

        async with running(app, max_connections=2) as server:
            clients = [await server.connect() for _ in range(2)]
            for client in clients:
                await client.send(GET)
                await started.receive()
            refused = await server.connect()
            answer = await refused.ask(GET)
            assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
            assert answer.headers["connection"] == "close"
            assert await refused.closed()
            release.set()
            for client in clients:
                assert (await client.answer()).status == 200

    async def test_an_idle_connection_makes_room(self, running, apps):
        async with running(apps.echo, max_connections=2) as server:
            oldest, newer = [await server.connect() for _ in range(2)]
            for client in (oldest, newer):
                assert (await client.ask(GET)).status == 200
            third = await server.connect()
            assert (await third.ask(GET)).status == 200
            assert await oldest.closed()
            assert (await newer.ask(GET)).status == 200

    async def test_a_connection_whose_request_has_arrived_is_not_idle(self, running, apps):
        for _ in range(30):
            async with running(apps.echo, max_connections=1) as server:
                client = await server.connect()
                assert (await client.ask(GET)).status == 200
                client.raw.send(GET)
                server.connect_nowait()
                assert (await client.answer()).status == 200

    async def test_no_file_descriptor_left(self, running, apps, monkeypatch):
        async with running(apps.echo) as server:
            idle = await server.connect()
            assert (await idle.ask(GET)).status == 200
            (listener,) = server.listeners
            accept, failed = listener.accept, []

            async def no_descriptors():
                if not failed:
                    failed.append(True)
                    raise OSError(errno.EMFILE, "Too many open files")
                return await accept()

            monkeypatch.setattr(trio.SocketListener, "accept", lambda self: no_descriptors())
            with structlog.testing.capture_logs() as logs:
                assert await idle.closed()
                client = await server.connect()
                assert (await client.ask(GET)).status == 200
            assert logs[0]["event"] == "cannot accept a connection"


class TestBugs:
    async def test_a_bug_in_a_connection_costs_that_connection(self, running, apps, monkeypatch):
        def bug(*_):
            raise ZeroDivisionError

        with structlog.testing.capture_logs() as logs:
            async with running(apps.echo) as server:
                fine = await server.connect()
                assert (await fine.ask(GET)).status == 200
                with monkeypatch.context() as patch:
                    patch.setattr(vivero.api.http1.connection, "_begins_with_http2", bug)
                    broken = await server.connect()
                    assert await broken.closed()
                assert (await fine.ask(GET)).status == 200
        assert [entry["event"] for entry in logs] == ["HTTP connection failed"]


class TestListeners:
    async def test_port_0_is_one_port_on_every_address(self):
        listeners = await open_listeners("localhost", 0)
        ports = {listener.socket.getsockname()[1] for listener in listeners}
        assert len(ports) == 1
        assert ports != {0}
        for listener in listeners:
            await listener.aclose()

    async def test_taken_port(self):
        (listener,) = await open_listeners("127.0.0.1", 0)
        port = listener.socket.getsockname()[1]
        with pytest.raises(ListenError, match=f"port {port} of 127.0.0.1: another program is already listening"):
            await open_listeners("127.0.0.1", port)
        await listener.aclose()
        (again,) = await open_listeners("127.0.0.1", port)
        await again.aclose()

    async def test_port_is_free_again_while_old_connections_linger(self, running, apps):
        async with running(apps.echo) as server:
            client = await server.connect()
            await client.ask(GET)
            port = server.port
            await server.stop()
        (again,) = await open_listeners("127.0.0.1", port)
        await again.aclose()

    @pytest.mark.parametrize(
        ("host", "port", "message"),
        [
            ("192.0.2.1", 0, "it is not an address of this machine"),
            ("no-such-host.invalid", 80, "cannot listen on no-such-host.invalid"),
            ("127.0.0.1", 65536, "65536"),
            ("a" * 70, 1, "cannot listen on a"),
        ],
    )
    async def test_what_cannot_be_listened_on(self, host, port, message):
        with pytest.raises(ListenError, match=message):
            await open_listeners(host, port)


class TestSettings:
    def test_defaults_are_valid(self):
        assert ServerSettings().max_in_flight is None

    @pytest.mark.parametrize("field", ["max_connections", "send_timeout_s", "max_in_flight", "drain_grace_s"])
    @pytest.mark.parametrize("value", [0, -1, float("nan")])
    def test_limits_are_positive(self, field, value):
        with pytest.raises(ValueError, match=field):
            ServerSettings(**{field: value})
