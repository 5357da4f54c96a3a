"""Too many connections, over real sockets: who loses, who is served, and what everybody is told."""

from types import SimpleNamespace

import pytest
import trio

from vivero.api.http1.connection_capacity import ConnectionCapacity, Owners
from vivero.api.http1.settings import ServerSettings
from vivero.api.http1.socket_stream import SocketStream
from vivero.api.http1.wire import Wire

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HEALTH = b"GET /v2/status HTTP/1.1\r\nHost: a\r\n\r\n"
HEADER = b"GET / HTTP/1.1\r\nX: "
BODY = b"POST /body HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx"
BAD, GOOD = "127.0.0.2", "127.0.0.1"


def is_turned_away(answer) -> bool:
    assert (answer.status, answer.problem["title"]) == (503, "RESOURCE_EXHAUSTED")
    assert (answer.headers["retry-after"], answer.headers["connection"]) == ("1", "close")
    return True


async def stalled(server, number: int, start: bytes, address: str = BAD) -> list:
    """Connections that have begun, in this order, and do not go on."""
    clients = []
    for _ in range(number):
        before = len(server.state.capacity.slow)
        client = await server.connect(address=address)
        await client.send(start)
        await server.until(lambda state, before=before: len(state.capacity.slow) > before)
        clients.append(client)
    return clients


async def idle(server, number: int, address: str = GOOD) -> list:
    """Connections that have asked once, in this order."""
    clients = []
    for _ in range(number):
        client = await server.connect(address=address)
        before = len(server.state.capacity.idle)
        assert (await client.ask(GET)).status == 200
        await server.until(lambda state, before=before: len(state.capacity.idle) > before)
        clients.append(client)
    return clients


class TestTheAddressThatHoldsMost:
    @pytest.mark.parametrize("start", [HEADER, BODY])
    async def test_slow_clients_shut_nobody_out(self, running, apps, start):
        async with running(apps.echo, max_connections=10) as server:
            (good,) = await idle(server, 1)
            bad = await stalled(server, 9, start)
            for number in range(5):
                new = await server.connect(address=f"127.0.1.{number + 1}")
                assert (await new.ask(HEALTH)).status == 200
                assert is_turned_away(await bad[number].answer())
                assert await bad[number].closed()
            assert (await good.ask(GET)).status == 200

    async def test_a_slow_client_loses_before_an_idle_one_of_its_address(self, running, apps):
        async with running(apps.echo, max_connections=3) as server:
            (good,) = await idle(server, 1)
            first, second = await stalled(server, 2, HEADER, GOOD)
            new = await server.connect()
            assert (await new.ask(GET)).status == 200
            assert is_turned_away(await first.answer())
            assert (await good.ask(GET)).status == 200
            await second.send(b"y\r\nHost: a\r\n\r\n")
            assert (await second.answer()).status == 200

    async def test_one_that_never_asked_loses_before_one_that_has(self, running, apps):
        async with running(apps.echo, max_connections=2) as server:
            (good,) = await idle(server, 1)
            silent = await server.connect()
            await server.until(lambda state: len(state.capacity.idle) == 2)
            new = await server.connect()
            assert (await new.ask(GET)).status == 200
            assert await silent.closed()
            assert (await good.ask(GET)).status == 200

    async def test_many_idle_ones_lose_before_a_slow_one_of_another_address(self, running, apps):
        async with running(apps.echo, max_connections=5) as server:
            many = await idle(server, 4, BAD)
            (slow,) = await stalled(server, 1, HEADER, GOOD)
            new = await server.connect()
            assert (await new.ask(GET)).status == 200
            assert await many[0].closed()
            await slow.send(b"y\r\nHost: a\r\n\r\n")
            assert (await slow.answer()).status == 200

    async def test_nobody_loses_while_there_is_room(self, running, apps):
        async with running(apps.echo, max_connections=10) as server:
            bad = await stalled(server, 5, HEADER)
            good = await idle(server, 5)
            for client in bad:
                await client.send(b"y\r\nHost: a\r\n\r\n")
                assert (await client.answer()).status == 200
            for client in good:
                assert (await client.ask(GET)).status == 200

    async def test_a_client_that_does_not_read_loses_its_place(self, running, apps):
        async def app(scope, receive, send):
            await apps.respond(send, b"x" * (20_000_000 if scope["path"] == "/big" else 1))

        async with running(app, max_connections=2) as server:
            (good,) = await idle(server, 1)
            bad = await server.connect(receive_buffer=4096, address=BAD)
            await bad.send(GET.replace(b"/ ", b"/big "))
            await server.until(lambda state: state.capacity.slow)
            new = await server.connect()
            assert (await new.ask(GET)).status == 200
            with pytest.raises(EOFError):
                await bad.answer()
            assert (await good.ask(GET)).status == 200

    async def test_a_refused_client_that_lingers_loses_first(self, running, apps):
        async with running(apps.echo, max_connections=3, linger_s=1000) as server:
            (good,) = await idle(server, 1)
            (slow,) = await stalled(server, 1, HEADER, GOOD)
            refused = await server.connect()
            assert (await refused.ask(b"rubbish\r\n\r\n")).status == 400
            await server.until(lambda state: len(state.capacity.slow) == 2)
            new = await server.connect()
            assert (await new.ask(GET)).status == 200
            await slow.send(b"y\r\nHost: a\r\n\r\n")
            assert (await slow.answer()).status == 200
            assert (await good.ask(GET)).status == 200

    async def test_the_handler_of_a_slow_body_hears_of_its_end(self, running, apps):
        got, seen = trio.open_memory_channel(1)

        async def app(scope, receive, send):
            if scope["path"] == "/body":
                got.send_nowait(await receive())
            else:
                await apps.respond(send)

        async with running(app, max_connections=1) as server:
            (bad,) = await stalled(server, 1, BODY)
            new = await server.connect()
            assert (await new.ask(GET)).status == 200
            assert await seen.receive() == {"type": "http.disconnect"}
            assert is_turned_away(await bad.answer())

    async def test_a_flood_of_connections_costs_the_flood(self, running, apps):
        async with running(apps.echo, max_connections=20) as server:
            good = await idle(server, 5)
            for _ in range(300):
                server.connect_nowait(address=BAD).raw.send(HEADER)
                await trio.lowlevel.checkpoint()
            await server.until(lambda state: len(state.capacity.slow) >= 10)
            for client in good:
                assert (await client.ask(GET)).status == 200


class TestTrustedProxies:
    HEAD = b"POST /body HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: %b\r\nContent-Length: 9\r\n\r\nx"

    async def test_a_proxys_connection_counts_for_its_client(self, running, apps):
        async with running(apps.echo, max_connections=6, trusted_proxies=BAD) as server:
            (other,) = await stalled(server, 1, self.HEAD % b"10.0.0.2")
            (first, *_) = await stalled(server, 2, self.HEAD % b"10.9.9.9, 10.0.0.1, 127.0.0.2")
            await idle(server, 3, BAD)
            new = await server.connect()
            assert (await new.ask(GET)).status == 200
            assert is_turned_away(await first.answer())
            await other.send(b"y" * 8)
            assert (await other.answer()).status == 200

    async def test_its_own_connections_are_the_last_to_be_closed(self, running, apps):
        async with running(apps.echo, max_connections=4, trusted_proxies="127.0.0.2/32, 10.0.0.0/8") as server:
            of_proxy = await idle(server, 3, BAD)
            (direct,) = await stalled(server, 1, HEADER, GOOD)
            new = await server.connect()
            assert (await new.ask(GET)).status == 200
            assert is_turned_away(await direct.answer())
            await server.until(lambda state: len(state.capacity.idle) == 4)
            for client in of_proxy:
                assert (await client.ask(GET)).status == 200

    async def test_nobody_else_is_believed(self, running, apps):
        async with running(apps.echo, max_connections=5, trusted_proxies="10.0.0.0/8") as server:
            (good, other) = await stalled(server, 2, BODY, GOOD)
            bad = [(await stalled(server, 1, self.HEAD % b"10.7.7.%d" % number))[0] for number in range(3)]
            new = await server.connect(address="127.0.0.3")
            assert (await new.ask(GET)).status == 200
            assert is_turned_away(await bad[0].answer())
            for client in (good, other):
                await client.send(b"y" * 8)
                assert (await client.answer()).status == 200

    def test_addresses_of_ipv6_count_by_network(self):
        owners = Owners("")
        groups = {owners.of(fake_wire(address)) for address in ("2001:db8::1", "2001:db8::2", "2001:db8:0:1::1")}
        assert len(groups) == 2

    @pytest.mark.parametrize(
        ("said", "meant"),
        [
            (b"192.0.2.7:40001", "192.0.2.7"),
            (b"::ffff:192.0.2.7", "192.0.2.7"),
            (b"[::ffff:192.0.2.7]:40001", "192.0.2.7"),
            (b"[2001:db8::7]:40001", "2001:db8::"),
            (b"2001:db8::7", "2001:db8::"),
            (b"192.0.2.7, ::ffff:10.0.0.1", "192.0.2.7"),
            (b"192.0.2.7, 10.0.0.1:443", "192.0.2.7"),
            (b"unknown", "unknown"),
        ],
    )
    def test_proxies_write_addresses_in_many_ways(self, said, meant):
        """One client is one address, whatever its port; two clients of IPv4 are not one network of IPv6."""
        wire = fake_wire("10.0.0.1")
        wire.slow_request = SimpleNamespace(headers=[(b"x-forwarded-for", said)])
        assert Owners("10.0.0.0/8").of(wire) == meant

    def test_a_trusted_proxy_that_is_seen_over_ipv6(self):
        wire = fake_wire("::ffff:10.0.0.1")
        wire.slow_request = SimpleNamespace(headers=[(b"x-forwarded-for", b"192.0.2.7")])
        assert Owners("10.0.0.0/8").of(wire) == "192.0.2.7"

    def test_a_trusted_proxy_with_an_address_of_ipv6_is_the_last_to_lose(self):
        """Trusted is the address, and not the network that it would count for."""
        owners = Owners("2001:db8::1")
        assert owners.trusts(owners.of(fake_wire("2001:db8::1")))
        assert not owners.trusts(owners.of(fake_wire("2001:db8::2")))

    @pytest.mark.parametrize("value", ["nonsense", "10.0.0.1/8", "10.0.0.0/33"])
    def test_what_is_no_network(self, value):
        with pytest.raises(ValueError, match=r"."):
            ServerSettings(trusted_proxies=value)


def fake_wire(address: str) -> Wire:
    wire = object.__new__(Wire)
    wire.stream = object.__new__(SocketStream)
    wire.stream.client = (address, 1)
    wire.slow_request = wire._wait = None
    wire.lingering = wire.evicted = False
    return wire


class TestReserve:
    @pytest.fixture
    def busy(self, running, apps):
        """`busy(...)`: a server of one place, which is taken, and whose health check is answered."""

        def busy(**settings):
            async def app(scope, receive, send):
                await receive()
                if scope["path"] == "/busy":
                    await receive()
                await apps.respond(send, scope["path"].encode())

            return running(app, **({"max_connections": 1} | settings))

        return busy

    async def taken(self, server):
        client = await server.connect()
        await client.send(GET.replace(b"/ ", b"/busy "))
        await server.until(lambda state: state.in_flight)
        return client

    @pytest.mark.parametrize("method", [b"GET", b"HEAD"])
    async def test_health_is_told_while_all_are_busy(self, busy, method):
        async with busy() as server:
            await self.taken(server)
            for _ in range(100):
                client = await server.connect()
                answer = await client.ask(HEALTH.replace(b"GET", method), to_head=method == b"HEAD")
                assert (answer.status, answer.headers["connection"]) == (200, "close")
                assert await client.closed()

    async def test_others_are_told_so_with_an_answer(self, busy):
        async with busy() as server:
            await self.taken(server)
            for request in (
                GET,
                BODY[:-1] + b"x" * 9,
                b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            ):
                client = await server.connect()
                assert is_turned_away(await client.ask(request))
                assert await client.closed()

    async def test_the_reserve_too_is_not_for_slow_ones(self, busy):
        async with busy(reserved_connections=3) as server:
            await self.taken(server)
            for start in (HEADER, b"", HEADER) * 5:
                await (await server.connect(address=BAD)).send(start)
            for _ in range(10):
                client = await server.connect()
                assert (await client.ask(HEALTH)).status == 200

    async def test_without_any_place_there_is_still_an_answer(self, busy):
        async with busy(reserved_connections=1, health_path="/busy") as server:
            await self.taken(server)
            checking = await server.connect()
            await checking.send(GET.replace(b"/ ", b"/busy "))
            await server.until(lambda state: state.in_flight == 2)
            client = await server.connect()
            assert is_turned_away(await client.answer())
            assert await client.closed()

    async def test_the_limit_of_requests_is_not_for_health(self, busy):
        async with busy(max_connections=9, max_in_flight=1) as server:
            await self.taken(server)
            client = await server.connect()
            assert (await client.ask(HEALTH)).status == 200
            answer = await client.ask(GET)
            assert (answer.status, answer.headers["retry-after"]) == (503, "1")
            assert (await client.ask(HEALTH)).status == 200

    async def test_places_are_given_back(self, busy):
        async with busy(reserved_connections=2) as server:
            client = await self.taken(server)
            for _ in range(5):
                assert (await (await server.connect()).ask(HEALTH)).status == 200
            await client.aclose()
            await server.until(lambda state: not state.open)
            assert not (state := server.state).capacity.slow
            assert (state.capacity.idle, state.reserve.idle, state.reserve.slow) == ({}, {}, {})


class TestDisconnects:
    async def test_one_who_sent_much_and_left_is_noticed(self, running):
        got, seen = trio.open_memory_channel(1)

        async def app(scope, receive, send):
            await receive()
            got.send_nowait(await receive())

        async with running(app) as server:
            client = await server.connect()
            await client.send(GET, b"x" * 100_000)
            await client.stream.send_eof()
            await client.aclose()
            assert await seen.receive() == {"type": "http.disconnect"}


def test_one_look_chooses_several():
    looked = []

    class Counting(Owners):
        def of(self, wire):
            looked.append(wire)
            return super().of(wire)

    capacity = ConnectionCapacity(800, Counting(""))
    for number in range(800):
        wire = fake_wire("10.0.0.1")
        capacity.slow[wire] = float(number)
        capacity.open += 1
    order = list(capacity.slow)
    assert all(capacity.has_place(0.0) for _ in range(100))
    assert len(looked) == 800
    assert [wire for wire in order if wire.evicted] == order[:100]


async def test_a_stale_choice_is_not_closed():
    capacity = ConnectionCapacity(2, Owners(""))
    wires = [fake_wire("10.0.0.1") for _ in range(16)]
    for since, wire in enumerate(wires):
        capacity.slow[wire] = float(since)
    assert capacity.evict(0.0)
    capacity.slow[wires[1]] = 99.0  # it has gone on since
    assert capacity.evict(0.0)
    assert [wire.evicted for wire in wires[:4]] == [True, False, True, False]
