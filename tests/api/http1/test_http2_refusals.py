"""HTTP/2 without TLS: calls of gRPC are refused in gRPC, others with 505, and the work of one client is bounded."""

import h2.connection
import h2.events
import h2.settings
import msgspec
import pytest
import trio

from vivero.api.http1 import grpc
from vivero.api.http1.connection import HTTP2_PREFACE
from vivero.api.http1.http2_refusals import DETAIL, MAX_EVENTS, SLICE_BYTES, Http2Refusals

GRPC = [(b"content-type", b"application/grpc+proto"), (b"te", b"trailers")]


class Http2Client:
    """A client by the library, over any exchange of bytes."""

    def __init__(self) -> None:
        self.connection = h2.connection.H2Connection()
        self.connection.initiate_connection()
        self.events: list[h2.events.Event] = []

    def request(self, headers=(), method=b"POST", body=b"") -> int:
        stream = self.connection.get_next_available_stream_id()
        head = [(b":method", method), (b":path", b"/gateway_protocol.Gateway/Topology?x"), (b":scheme", b"http")]
        self.connection.send_headers(stream, [*head, (b":authority", b"a"), *headers], end_stream=not body)
        if body:
            self.connection.send_data(stream, body, end_stream=True)
        return stream

    def hears(self, data: bytes) -> None:
        for event in self.connection.receive_data(data):
            self.events.append(event)
            if isinstance(event, h2.events.DataReceived):
                self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

    def headers(self, stream: int) -> dict[bytes, bytes]:
        """The headers of an answer. Fails if there are none, or two."""
        (found,) = [
            event
            for event in self.events
            if isinstance(event, h2.events.ResponseReceived) and event.stream_id == stream
        ]
        return dict(found.headers)

    def trailers(self, stream: int) -> dict[bytes, bytes]:
        """The trailers of an answer. Fails if there are none."""
        (found,) = [
            event
            for event in self.events
            if isinstance(event, h2.events.TrailersReceived) and event.stream_id == stream
        ]
        return dict(found.headers)

    def ended(self, stream: int) -> bool:
        return any(isinstance(event, h2.events.StreamEnded) and event.stream_id == stream for event in self.events)


def exchange(client: Http2Client, refusals: Http2Refusals) -> None:
    while sent := client.connection.data_to_send():
        client.hears(refusals.received(sent))


@pytest.fixture
def pair() -> tuple[Http2Client, Http2Refusals]:
    return Http2Client(), Http2Refusals()


def is_refused_in_grpc(client, stream) -> bool:
    """Trailers only: one block of headers that ends the stream."""
    headers, ended = client.headers(stream), client.ended(stream)
    return ended and headers == {
        b":status": b"200",
        b"content-type": b"application/grpc",
        b"grpc-status": b"12",
        b"grpc-message": grpc.MESSAGE.encode(),
    }


def test_the_message_needs_no_escape():
    assert "/v2" in grpc.MESSAGE
    assert grpc.MESSAGE.isascii()
    assert grpc.MESSAGE.isprintable()
    assert "%" not in grpc.MESSAGE


def test_calls_of_grpc_are_refused_in_grpc_without_an_end_of_the_connection(pair):
    client, refusals = pair
    for size in (0, 5, 10_000, 0):
        stream = client.request(GRPC, body=b"x" * size)
        exchange(client, refusals)
        assert is_refused_in_grpc(client, stream)
    assert not refusals.ended
    assert not any(isinstance(event, h2.events.ConnectionTerminated) for event in client.events)


def test_bodies_never_use_up_the_window_of_the_connection(pair):
    client, refusals = pair
    for _ in range(40):  # together six times the first window
        stream = client.request(GRPC, body=b"x" * 10_000)
        exchange(client, refusals)
        assert is_refused_in_grpc(client, stream)


def test_other_requests_get_505(pair):
    client, refusals = pair
    stream = client.request()
    exchange(client, refusals)
    assert client.headers(stream) == {b":status": b"505", b"content-type": b"application/problem+json"}
    (body,) = [event.data for event in client.events if isinstance(event, h2.events.DataReceived)]
    problem = msgspec.json.decode(body)
    assert problem["detail"] == DETAIL
    assert problem["instance"] == "/gateway_protocol.Gateway/Topology"
    assert client.ended(stream)
    head = client.request(method=b"HEAD")
    exchange(client, refusals)
    assert client.headers(head)[b":status"] == b"505"
    assert client.ended(head)


def test_a_client_without_room_gets_the_status_alone(pair):
    client, refusals = pair
    client.connection.update_settings({h2.settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
    stream = client.request()
    exchange(client, refusals)
    assert client.headers(stream)[b":status"] == b"505"
    assert client.ended(stream)


def test_pings_are_answered_and_counted(pair):
    client, refusals = pair
    client.connection.ping(b"12345678")
    exchange(client, refusals)
    assert any(isinstance(event, h2.events.PingAckReceived) for event in client.events)
    for _ in range(MAX_EVENTS):
        client.connection.ping(b"12345678")
    exchange(client, refusals)
    assert refusals.ended
    assert any(isinstance(event, h2.events.ConnectionTerminated) for event in client.events)


def test_requests_that_are_given_up_at_once_get_no_answer(pair):
    client, refusals = pair
    for _ in range(200):  # more than may be open at a time
        client.connection.reset_stream(client.request(GRPC))
    last = client.request(GRPC)
    exchange(client, refusals)
    assert is_refused_in_grpc(client, last)


@pytest.mark.parametrize(
    "nonsense",
    [
        b"\0\0\0\xff\0\0\0\0\1rubbish",
        b"\0\0\5\1\4\0\0\0\1\xff\xff\xff\xff\xff",
        b"\xff\xff\xff\1\4\0\0\0\1",
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
def test_nonsense_ends_the_connection_without_an_error(nonsense):
    refusals = Http2Refusals()
    for data in (HTTP2_PREFACE + b"\0\0\0\4\0\0\0\0\0", nonsense, b"\0" * 100):
        refusals.received(data)
    refusals.last_bytes()
    assert refusals.ended


@pytest.mark.parametrize("size", [1, 7, 24, 100_000])
async def test_the_preface_may_come_in_pieces(start, apps, autojump_clock, size):
    client, stream = Http2Client(), start(apps.echo).connect().stream
    wanted = client.request(GRPC)
    sent = client.connection.data_to_send()
    for begin in range(0, len(sent), size):
        await stream.send_all(sent[begin : begin + size])
    while not client.ended(wanted):
        client.hears(bytes(await stream.receive_some()))
    assert is_refused_in_grpc(client, wanted)


async def test_an_idle_connection_ends_as_others(start, apps, autojump_clock):
    server = start(apps.echo, keep_alive_s=75)
    client, stream = Http2Client(), server.connect().stream
    await stream.send_all(client.connection.data_to_send())
    began = trio.current_time()
    while await stream.receive_some():
        pass
    assert 70 < trio.current_time() - began < 80


async def test_half_a_preface_gets_408(start, apps, autojump_clock):
    client = start(apps.echo, header_timeout_s=10).connect()
    answer = await client.ask(HTTP2_PREFACE[:10])
    assert answer.status == 408


async def test_requests_that_begin_like_the_preface_are_served(start, apps, autojump_clock):
    client = start(apps.echo).connect()
    await client.send(b"P", b"U", b"T /x HTTP/1.1\r\nHost: a\r\ncontent-length: 1\r\n\r\ny")
    assert (await client.answer()).body == b"PUT /x 1 y"


async def test_a_flood_leaves_turns_to_others(start, apps, autojump_clock):
    """Thousands of pings in one packet are answered in slices, and other tasks have turns between them."""
    client, stream = Http2Client(), start(apps.echo).connect().stream
    for _ in range(3000):
        client.connection.ping(b"12345678")
    sent = client.connection.data_to_send()
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(others)
        await stream.send_all(sent)
        acknowledged = 0
        while acknowledged < 3000:
            client.hears(bytes(await stream.receive_some()))
            acknowledged = sum(isinstance(event, h2.events.PingAckReceived) for event in client.events)
        nursery.cancel_scope.cancel()
    assert turns > len(sent) // SLICE_BYTES
