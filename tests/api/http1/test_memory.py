"""The memory budget: bodies that wait for it or are refused, answers that nobody reads, and that all comes back."""

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
LIMIT = 1_000_000
SIZE = 600_000
HEAD = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"


@pytest.fixture
def holding(start, apps):
    """`holding(**settings)`: a server whose handlers read their body and then wait until `release` is set."""

    def holding(**settings):
        async def app(scope, receive, send):
            body, _ = await apps.read_body(receive)
            if scope["path"] == "/hold":
                await server.release.wait()
            await apps.respond(send, b"%d" % len(body))

        server = start(app, **({"memory_bytes": LIMIT, "memory_wait_s": 2} | settings))
        server.release = trio.Event()
        return server

    return holding


async def held(server, path: bytes = b"/hold"):
    client = server.connect()
    await client.send(HEAD % (path, SIZE), b"x" * SIZE)
    await wait_all_tasks_blocked()
    return client


async def test_a_body_that_does_not_fit_gets_503_and_when_to_come_again(holding, autojump_clock):
    server = holding()
    first = await held(server)
    assert server.state.memory.used == SIZE
    second = await held(server, b"/")
    begun = trio.current_time()
    answer = await second.answer()
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
    assert (answer.headers["retry-after"], answer.headers["connection"]) == ("1", "close")
    assert trio.current_time() - begun == pytest.approx(2, abs=0.01)
    assert server.state.memory.used == SIZE
    server.release.set()
    assert (await first.answer()).body == b"%d" % SIZE
    assert server.state.memory.used == 0


async def test_a_body_waits_for_room(holding, autojump_clock):
    server = holding()
    first = await held(server)
    second = await held(server, b"/")
    await trio.sleep(1)
    server.release.set()
    assert (await first.answer()).status == 200
    assert (await second.answer()).body == b"%d" % SIZE
    assert server.state.memory.used == 0


async def test_small_bodies_are_served_all_the_same(holding, autojump_clock):
    server = holding()
    await held(server)
    client = server.connect()
    await client.send(HEAD % (b"/", 65536), b"x" * 65536)
    assert (await client.answer()).status == 200


async def test_a_stalled_body_makes_room_for_another(holding, autojump_clock):
    server = holding(memory_bytes=700_000)
    slow = server.connect()
    await slow.send(HEAD % (b"/", SIZE), b"x" * (SIZE - 1))
    await wait_all_tasks_blocked()
    assert server.state.memory.used == SIZE - 1
    await trio.sleep(1.5)
    other = await held(server, b"/")
    assert (await other.answer()).status == 200
    answer = await slow.answer()
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
    assert server.state.memory.used == 0


async def test_a_body_waits_until_one_that_stalls_is_slow_enough(holding, autojump_clock):
    """No other event says meanwhile that there may be capacity."""
    server = holding(memory_bytes=700_000)
    slow = server.connect()
    await slow.send(HEAD % (b"/", SIZE), b"x" * (SIZE - 1))
    await wait_all_tasks_blocked()
    other = await held(server, b"/")
    assert (await other.answer()).status == 200
    assert (await slow.answer()).status == 503
    assert server.state.memory.used == 0


async def test_a_body_that_is_let_go_is_not_counted(start, apps, autojump_clock):
    async def app(scope, receive, send):
        await apps.read_body(receive)
        await send({"type": "http.request.release"})
        await receive()

    server = start(app, memory_bytes=LIMIT)
    clients = [await held(server) for _ in range(5)]
    assert server.state.memory.used == 0
    for client in clients:
        await client.aclose()
    await wait_all_tasks_blocked()
    assert server.state.in_flight == 0
    assert server.state.memory.used == 0


@pytest.mark.parametrize("end", ["leave", "raise", "unread"])
async def test_all_is_given_back_whatever_ends_the_request(start, apps, autojump_clock, end):
    async def app(scope, receive, send):
        if end == "unread":
            while server.state.memory.used < 100_000:
                await receive()
        else:
            await apps.read_body(receive)
        if end == "raise":
            raise LookupError("a bug")
        await apps.respond(send)

    server = start(app, memory_bytes=LIMIT)
    client = server.connect()
    await client.send(HEAD % (b"/", SIZE), b"x" * (SIZE - (end == "leave")))
    await wait_all_tasks_blocked()
    await client.aclose()
    await wait_all_tasks_blocked()
    await trio.sleep(40)
    assert server.ended == 1
    assert server.state.memory.used == 0


@pytest.mark.long
async def test_answers_that_nobody_reads_stay_within_the_budget(running, apps):
    body = 3_900_000
    limit = 20_000_000

    async def app(scope, receive, send):
        await apps.respond(send, b"x" * (body if scope["path"] == "/big" else 2))

    async with running(app, memory_bytes=limit, max_connections=300) as server:
        good = await server.connect()
        for _ in range(100):
            client = await server.connect(receive_buffer=4096, address="127.0.0.2")
            await client.send(GET.replace(b"/ ", b"/big "))
            assert (await good.ask(GET)).status == 200
            assert server.state.memory.used <= limit
        await server.until(lambda state: len(state.capacity.slow) == limit // body)
        reader = await server.connect()
        assert len((await reader.ask(GET.replace(b"/ ", b"/big "))).body) == body
        assert server.state.memory.used <= limit
        for client in server.clients:
            await client.aclose()
        await server.until(lambda state: not state.open)
        assert server.state.memory.used == 0


async def test_an_answer_larger_than_the_budget_is_sent_to_who_reads(running, apps):
    async def app(scope, receive, send):
        await apps.respond(send, b"x" * 100_000)

    async with running(app, memory_bytes=1000) as server:
        client = await server.connect()
        assert len((await client.ask(GET)).body) == 100_000
