"""Slow and silent clients, on a clock that jumps."""

import pytest
import structlog
import trio
from trio.testing import lockstep_stream_pair, wait_all_tasks_blocked

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
# Idle connections are looked for this often.
TICK_S = 0.25


class Stopwatch:
    def __init__(self) -> None:
        self.begun = trio.current_time()

    def shows(self, seconds: float, *, about_s: float = 0.001) -> bool:
        return abs(trio.current_time() - self.begun - seconds) <= about_s


async def test_silent_new_connection_is_closed(start, apps, autojump_clock):
    client = start(apps.echo, header_timeout_s=10).connect()
    watch = Stopwatch()
    assert await client.closed()
    assert watch.shows(10, about_s=TICK_S)


async def test_idle_connection_is_closed_later(start, apps, autojump_clock):
    client = start(apps.echo, header_timeout_s=10, keep_alive_s=75).connect()
    for _ in range(3):
        await trio.sleep(9)
        await client.ask(GET)
    watch = Stopwatch()
    assert await client.closed()
    assert watch.shows(75, about_s=TICK_S)


@pytest.mark.parametrize("requests_before", [0, 1])
async def test_dripped_header_gets_408(start, apps, autojump_clock, requests_before):
    server = start(apps.echo, header_timeout_s=10, keep_alive_s=75)
    client = server.connect()
    for _ in range(requests_before):
        await client.ask(GET)
    watch = Stopwatch()

    async def drip() -> None:
        await client.send(b"GET / HTTP/1.1\r\n")
        with pytest.raises(trio.BrokenResourceError):  # noqa: PT012
            while True:
                await trio.sleep(1)
                await client.send(b"X: y\r\n")

    server.nursery.start_soon(drip)
    answer = await client.answer()
    assert watch.shows(10)
    assert (answer.status, answer.problem["title"]) == (408, "Request Timeout")
    assert await client.closed()


async def test_dripped_body_gets_408_after_all_its_time(start, apps, autojump_clock):
    server = start(apps.echo, body_timeout_s=30)
    client = server.connect()
    watch = Stopwatch()
    await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")

    async def drip() -> None:
        with pytest.raises(trio.BrokenResourceError):  # noqa: PT012
            while True:
                await trio.sleep(1)
                await client.send(b"x")

    server.nursery.start_soon(drip)
    answer = await client.answer()
    assert watch.shows(30, about_s=0.01)
    assert answer.status == 408
    assert await client.closed()


async def test_a_slow_upload_that_goes_on_is_not_late(start, autojump_clock, apps):
    client = start(apps.echo, body_timeout_s=30).connect()
    size = 32 * 1024
    await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (100 * size))
    for _ in range(100):
        await trio.sleep(2)
        await client.send(b"x" * size)
    assert (await client.answer()).status == 200


async def test_a_slow_handler_does_not_use_up_the_clients_time(start, apps, autojump_clock):
    async def app(scope, receive, send):
        for _ in range(5):
            await trio.sleep(20)
            await receive()
        await apps.respond(send)

    client = start(app, body_timeout_s=1).connect()
    await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
    for _ in range(5):
        await client.send(b"1\r\nx\r\n")
        await trio.sleep(20)
    await client.send(b"0\r\n\r\n")
    assert (await client.answer()).status == 200


async def test_a_body_nobody_reads_is_waited_for_no_longer_than_a_body(start, apps, autojump_clock):
    async def app(scope, receive, send):
        await apps.respond(send)

    client = start(app, body_timeout_s=30).connect()
    watch = Stopwatch()
    assert (await client.ask(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n")).status == 200
    assert await client.closed()
    assert watch.shows(30)


@pytest.mark.parametrize("size", [10, 10_000_000])
async def test_a_client_that_does_not_read_is_given_up(start, apps, autojump_clock, size):
    ended = []

    async def app(scope, receive, send):
        try:
            await apps.respond(send, b"x" * size)
        finally:
            ended.append(trio.current_time())

    server = start(app, send_timeout_s=30)
    client = server.connect(lockstep_stream_pair())
    watch = Stopwatch()
    with structlog.testing.capture_logs() as logs:
        await client.send(GET)
        await trio.sleep(29)
        assert not ended
        await trio.sleep(2)
    assert ended == [watch.begun + 30]
    assert server.ended == 1
    assert [entry["log_level"] for entry in logs] == ["debug"]


async def test_a_slow_reader_gets_all_of_a_large_response(start, apps, autojump_clock):
    async def app(scope, receive, send):
        await apps.respond(send, b"x" * 1_000_000)

    client = start(app, send_timeout_s=30).connect(lockstep_stream_pair())
    await client.send(GET)
    received = b""
    while not received.endswith(b"x" * 1_000_000):
        await trio.sleep(0.5)
        received += await client.stream.receive_some(2000)
    assert trio.current_time() > 200


async def test_refused_client_is_listened_to_for_a_moment_only(start, apps, autojump_clock):
    server = start(apps.echo, linger_s=1)
    client = server.connect()
    watch = Stopwatch()
    assert (await client.ask(b"rubbish\r\n\r\n")).status == 400
    assert await client.closed()
    assert server.ended == 0
    while not server.ended:
        await client.send(b"more rubbish")
        await wait_all_tasks_blocked()
        await trio.sleep(0.1)
    assert watch.shows(1, about_s=0.1001)


async def test_refused_client_that_sends_on_fast_has_more_time(start, apps, autojump_clock):
    server = start(apps.echo, max_body_bytes=1, linger_s=1)
    client = server.connect()
    assert (await client.ask(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4000000\r\n\r\n")).status == 413
    assert await client.closed()
    for _ in range(8):
        await trio.sleep(0.5)
        await client.send(b"x" * 500_000)
        await wait_all_tasks_blocked()
    assert server.ended == 0
    await client.aclose()


async def test_refused_client_that_sends_on_is_cut_off(start, apps, autojump_clock):
    server = start(apps.echo, linger_s=1000)
    client = server.connect()
    assert (await client.ask(b"rubbish\r\n\r\n")).status == 400
    with pytest.raises(trio.BrokenResourceError):  # noqa: PT012
        while True:
            await client.send(b"x" * 65536)
            await wait_all_tasks_blocked()


async def test_a_chunk_that_is_malformed_in_the_headers_packet_is_refused_at_once(start, apps, autojump_clock):
    client = start(apps.echo, body_timeout_s=30).connect()
    watch = Stopwatch()
    answer = await client.ask(b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")
    assert (answer.status, answer.headers["connection"]) == (400, "close")
    assert watch.shows(0)


async def test_blank_lines_do_not_keep_a_connection(start, apps, autojump_clock):
    server = start(apps.echo, header_timeout_s=10, keep_alive_s=75)
    client = server.connect()
    await client.ask(GET)
    watch = Stopwatch()

    async def drip() -> None:
        with pytest.raises(trio.BrokenResourceError):  # noqa: PT012
            while True:
                await trio.sleep(20)
                await client.send(b"\r\n")

    server.nursery.start_soon(drip)
    assert await client.closed()
    assert watch.shows(75, about_s=TICK_S)


async def test_bytes_that_came_fast_are_no_credit_for_a_pause(start, apps, autojump_clock):
    client = start(apps.echo, body_timeout_s=30, min_body_bytes_per_s=1000).connect()
    await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000001\r\n\r\n", b"x" * 1_000_000)
    await wait_all_tasks_blocked()
    watch = Stopwatch()
    assert (await client.answer()).status == 408
    assert watch.shows(30, about_s=0.01)


async def test_a_body_below_the_rate_is_late(start, apps, autojump_clock):
    server = start(apps.echo, body_timeout_s=30, min_body_bytes_per_s=1000)
    client = server.connect()
    await client.send(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
    watch = Stopwatch()

    async def drip() -> None:
        with pytest.raises(trio.BrokenResourceError):  # noqa: PT012
            while True:
                await trio.sleep(1)
                await client.send(b"x" * 900)

    server.nursery.start_soon(drip)
    assert (await client.answer()).status == 408
    assert watch.shows(300, about_s=10)


async def test_a_reader_below_the_rate_is_given_up(start, apps, autojump_clock):
    async def app(scope, receive, send):
        await apps.respond(send, b"x" * 10_000_000)

    server = start(app, send_timeout_s=30, min_send_bytes_per_s=4096)
    client = server.connect(lockstep_stream_pair())
    await client.send(GET)
    received = 0
    while data := await client.stream.receive_some(3000):
        received += len(data)
        await trio.sleep(1)
    assert 100_000 < received < 500_000
    assert server.ended == 1
