"""A connection that begins with HTTP/2 and without TLS: each request is answered with where to go instead.

A call of gRPC gets a status of gRPC, another request gets 505. The connection stays open: a client of gRPC whose
connection ends with GOAWAY connects again at once, and shows nothing. `api.tls` serves HTTP/2 itself.
"""

from __future__ import annotations

import h2.events
import structlog
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.exceptions import ProtocolError

from vivero.api.http1 import grpc
from vivero.api.http1.problems import problem_body
from vivero.storage.postgres.errors import describe

log = structlog.get_logger("vivero.api.http1")

SLICE_BYTES = 512
"""The bytes that are parsed between two turns of the event loop: at most some forty requests, 5 ms."""
MAX_EVENTS = 10_000
"""Requests, pings and changes of settings of one connection. Then the client must connect again."""
DETAIL = "HTTP/2 is supported with TLS only: use HTTP/1.1"


class Http2Refusals:
    """One connection: bytes in, bytes out, without input and output."""

    def __init__(self) -> None:
        self._connection = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self._connection.initiate_connection()
        self._events_left = MAX_EVENTS
        self.ended = False
        """Whether nothing more can be answered."""

    def received(self, data: bytes) -> bytes:
        """The bytes to send after the client has sent `data`."""
        connection = self._connection
        try:
            events = connection.receive_data(data)
            self._answer(events)
            self._events_left -= len(events)
        except ProtocolError as error:  # h2 has written the GOAWAY
            log.debug("a connection with HTTP/2 failed", error=describe(error))
            self.ended = True
        if self._events_left <= 0:
            self.end()
        return connection.data_to_send()

    def end(self) -> None:
        """Tell the client that no more requests are answered."""
        if not self.ended:
            self._connection.close_connection()
            self.ended = True

    def last_bytes(self) -> bytes:
        """The bytes to send before the connection is closed."""
        self.end()
        return self._connection.data_to_send()

    def _answer(self, events: list[h2.events.Event]) -> None:
        given_up = {event.stream_id for event in events if isinstance(event, h2.events.StreamReset)}
        for event in events:
            if isinstance(event, h2.events.RequestReceived) and event.stream_id not in given_up:
                self._refuse(event)
            elif isinstance(event, h2.events.DataReceived):  # a body, which nobody reads
                self._connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.ConnectionTerminated):
                self.ended = True

    def _refuse(self, request: h2.events.RequestReceived) -> None:
        connection, stream, headers = self._connection, request.stream_id, dict(request.headers)
        if grpc.is_grpc(request.headers):
            connection.send_headers(stream, [(b":status", b"200"), *grpc.HEADERS, *grpc.TRAILERS], end_stream=True)
            return
        path = headers.get(b":path", b"/").partition(b"?")[0].decode("ascii", "replace")
        body = problem_body(505, DETAIL, path)
        has_body = headers[b":method"] != b"HEAD" and connection.local_flow_control_window(stream) >= len(body)
        answer = [(b":status", b"505"), (b"content-type", b"application/problem+json")]
        connection.send_headers(stream, answer, end_stream=not has_body)
        if has_body:
            connection.send_data(stream, body, end_stream=True)
