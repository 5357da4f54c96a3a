"""Clients that close their sending side: those that wait for an answer get it, and those that have left are noticed."""

import math
import socket

import pytest
import trio

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"


@pytest.mark.parametrize("version", ["1.1", "1.0"])
async def test_a_client_that_closes_its_sending_side_gets_its_answer(running, apps, version, monkeypatch):
    """HTTP/1.0 has no interim response with which the server could ask."""
    monkeypatch.setattr("vivero.api.http1.wire.PROBED_S", (0.001,))
    left = []

    async def app(scope, receive, send):
        await receive()
        asked = await scope["extensions"]["vivero.has_left"]()
        with trio.move_on_after(0.1 if version == "1.1" else math.inf):
            await receive()
            asked = True
        left.append(asked)
        await apps.respond(send, b"late")

    async with running(app) as server:
        client = await server.connect()
        await client.send(f"GET / HTTP/{version}\r\nHost: a\r\n\r\n".encode())
        await client.stream.send_eof()
        answer = await client.answer()
        assert (answer.status, answer.body, left) == (200, b"late", [version == "1.0"])
        assert set(answer.informational) == ({100} if version == "1.1" else set())
        assert await client.closed()


@pytest.mark.parametrize("asks", ["has_left", "receive"])
async def test_requests_before_the_end_of_a_client_that_is_there_are_answered(running, apps, asks, monkeypatch):
    """Also those that nobody has read yet when the server asks whether the client is there."""
    monkeypatch.setattr("vivero.api.http1.wire.PROBED_S", (0.001,))
    monkeypatch.setattr("vivero.api.http1.wire.RECEIVE_BYTES", 1)
    begun, ended = trio.Event(), trio.Event()

    async def app(scope, receive, send):
        if scope["path"] == "/first":
            begun.set()
            await ended.wait()
            if asks == "receive":
                await receive()
                with trio.move_on_after(0.1):
                    await receive()
            else:
                assert not await scope["extensions"]["vivero.has_left"]()
        await apps.respond(send, scope["raw_path"])

    async with running(app) as server:
        client = await server.connect()
        await client.send(b"GET /first HTTP/1.1\r\nHost: a\r\n\r\n")
        await begun.wait()
        await client.send(b"GET /second HTTP/1.1\r\nHost: a\r\n\r\n")
        await client.stream.send_eof()
        ended.set()
        assert [(await client.answer()).body for _ in range(2)] == [b"/first", b"/second"]
        assert await client.closed()


@pytest.mark.parametrize("way", ["end", "reset"])
async def test_a_client_that_closes_the_other_side_later_is_noticed(running, way, monkeypatch):
    monkeypatch.setattr("vivero.api.http1.wire.HUNG_UP_S", 0.01)
    told, heard = trio.open_memory_channel(1)

    async def app(scope, receive, send):
        await receive()
        assert not await scope["extensions"]["vivero.has_left"]()
        told.send_nowait("waits")
        told.send_nowait(await receive())

    async with running(app) as server:
        client = await server.connect()
        await client.send(GET)
        await client.stream.send_eof()
        assert await heard.receive() == "waits"
        if way == "reset":
            client.stream.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        client.stream.socket.close()
        assert await heard.receive() == {"type": "http.disconnect"}
