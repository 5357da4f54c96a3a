"""The answer to calls of gRPC, which this server does not have.

A client of gRPC shows its user only what comes in its own protocol: a status and a message in the trailers of HTTP/2
(the "Trailers-Only" form of gRPC over HTTP2). Any other answer is `http2 exception` there.
"""

from collections.abc import Iterable

from vivero.api.http1.request import Headers

MESSAGE = (
    "This server speaks REST, not gRPC: use the REST API at /v2 of this address. "
    "In clients of Camunda, set the REST address and prefer REST over gRPC"
)
"""The `grpc-message`, which may contain printable ASCII except `%` without an escape."""

_CONTENT_TYPE = b"application/grpc"

TRAILERS: Headers = [(b"grpc-status", b"12"), (b"grpc-message", MESSAGE.encode())]
"""The status UNIMPLEMENTED, which no client takes for a reason to try again."""

HEADERS: Headers = [(b"content-type", _CONTENT_TYPE)]
"""The header of an answer, whose status is 200."""


def is_grpc(headers: Iterable[tuple[bytes, bytes]]) -> bool:
    """Whether the headers of a request, with lower-case names, are those of a call of gRPC."""
    return any(name == b"content-type" and value.startswith(_CONTENT_TYPE) for name, value in headers)
