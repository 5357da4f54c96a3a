"""The parser from bytes to requests. Only this module uses httptools, a binding of the C parser llhttp.

llhttp in its strict mode refuses the means of request smuggling (RFC 9112 sections 5 and 6): Content-Length with
Transfer-Encoding, two Content-Length, a Transfer-Encoding that does not end in chunked, bare CR or LF, folded headers,
a space before the colon. This module adds limits and the rules for Host, and refuses requests that llhttp accepts: with
a second Transfer-Encoding, with unsupported codings and expectations, of RTSP, and with endless blank lines.

The fields of most requests have been parsed before (`known_heads`). Such a request does not go to llhttp.
"""

from collections import deque
from itertools import chain
from typing import Any

import httptools

from vivero.api.http1.known_heads import END, LINE, KnownHeads
from vivero.api.http1.problems import Refusal
from vivero.api.http1.request import MAX_LENGTH_DIGITS, Headers, ParsedRequest, check_host, parsed_request
from vivero.api.http1.settings import ServerSettings

# The most bytes that are parsed ahead of the handler. This bounds the requests of a pipeline that wait in memory.
SLICE_BYTES = 4096
# Chunk sizes, extensions and trailers may have this size, and 8 bytes for each byte of body (1-byte chunks need 6).
CHUNK_OVERHEAD_BYTES = 64 * 1024
# The size of blank lines before a request; RFC 9112 section 2.2 requires a server to skip one.
MAX_BLANK_BYTES = 64
# The other bytes of a header field, beside its name and value; and of a header, beside method, target and fields.
FIELD_BYTES = len(b": \r\n")
LINE_BYTES = len(b"  HTTP/1.1\r\n\r\n")
EMPTY_LINE_BYTES = len(b"\r\n")

_SINGLE = frozenset((b"host", b"content-length", b"transfer-encoding", b"expect"))
# Methods of RTSP and ICE, which llhttp parses, too.
_OTHER_PROTOCOLS = frozenset(
    (
        "ANNOUNCE",
        "DESCRIBE",
        "FLUSH",
        "GET_PARAMETER",
        "PAUSE",
        "PLAY",
        "RECORD",
        "REDIRECT",
        "SETUP",
        "SET_PARAMETER",
        "SOURCE",
        "TEARDOWN",
    )
)
_TLS_HANDSHAKE = b"\x16\x03"


class RequestParser:
    """The parser of one connection. `feed` appends to `ready` each request whose header is complete.

    Later feeds append to the body of the newest request, in the same object. After a protocol error, `error` holds the
    refusal and parsing stops. Earlier complete requests stay in `ready` and are answered first.
    """

    __slots__ = (
        "_arriving",
        "_blank_fed",
        "_body_fed",
        "_ends",
        "_fields",
        "_first_slice",
        "_head_fed",
        "_headers",
        "_host",
        "_is_known",
        "_known",
        "_max_header_bytes",
        "_most_plain",
        "_parser",
        "_settings",
        "_size",
        "_target",
        "error",
        "in_head",
        "method",
        "ready",
        "slice_bytes",
    )

    def __init__(self, settings: ServerSettings, known: KnownHeads | None = None) -> None:
        """`known`: the fields that were parsed with the same settings."""
        self._known = KnownHeads() if known is None else known
        self._is_known = False
        """Whether the body that arrives belongs to a request with known fields."""
        self._ends = False
        """Whether no request follows the newest one."""
        self._size = 0
        self.ready: deque[ParsedRequest] = deque()
        self.error: Refusal | None = None
        self.in_head = False
        self.method = ""
        self._settings = settings
        self._max_header_bytes = settings.max_header_bytes
        self.slice_bytes = min(SLICE_BYTES, settings.max_header_bytes)
        self._most_plain = settings.max_header_bytes - EMPTY_LINE_BYTES
        """The most bytes of a request line with its end, and of the fields."""
        self._arriving: ParsedRequest | None = None
        self._target = b""
        self._headers: Headers = []
        self._fields: dict[bytes, bytes] = {}
        self._host = b""
        self._head_fed = self._body_fed = self._blank_fed = 0
        self._first_slice = True
        self._parser: Any = httptools.HttpRequestParser(self)

    def close(self) -> None:
        """Break the reference cycle with the C parser, so that a closed connection is freed at once."""
        self._parser = None

    @property
    def path(self) -> str:
        """The path of the newest request as far as it has arrived, which is the instance of a refusal."""
        return self._target.partition(b"?")[0].decode("ascii", "replace")

    def step_bytes(self) -> int:
        """The size of the next `feed`: a slice, or the rest of a body of known length."""
        size = self.slice_bytes
        if self._arriving is not None:
            size = max(size, self._arriving.unread or 0)
        return size

    def feed(self, data: bytes | memoryview) -> None:
        """Parse `data`. Sets `error` if it is invalid, and does not raise."""
        if self._is_known:
            data = self._take_body(data)
        block = b""
        while data and self._arriving is None and not (self.in_head or self._ends or self.error):
            data = bytes(data)
            taken, block = self._take_known(data)
            if not taken:
                break
            if taken >= len(data):
                return
            data = data[taken:]
        if data and self.error is None:
            self._feed_parser(data, block)

    def _take_known(self, data: bytes) -> tuple[int, bytes]:
        """Take a request with known fields from the beginning of `data`. Returns the taken bytes and the fields.

        The bytes may be more than `data` has: then the rest of the body follows.
        """
        line = LINE.match(data)
        if line is None:
            return 0, b""
        start = line.end()
        end = data.find(END, start - 2) + 4
        block = data[start:end]
        head = self._known.get(block)
        if head is None:
            return 0, block
        headers, fields, length, size = head
        if size + start > self._most_plain or start > self._settings.max_target_bytes:
            return 0, b""
        method, path, query = line.groups(b"")
        self.method = name = method.decode()
        self._target = path
        request = ParsedRequest(name, path.decode(), path, query, "1.1", headers, fields, True, length)
        self.ready.append(request)
        self._blank_fed = 0
        if length:
            self._begin_body(request, data[end : end + length])
        else:
            request.complete = True
        return end + length, block

    def _begin_body(self, request: ParsedRequest, part: bytes) -> None:
        """Take the first part of a body of known length, which may be empty."""
        if part:
            request.parts.append(part)
        request.received = received = len(part)
        if received == request.content_length:
            request.complete = True
        else:
            self._arriving = request
            self._is_known = True

    def _take_body(self, data: bytes | memoryview) -> bytes | memoryview:
        """Take more of the body of a request with known fields. Returns the rest, which does not belong to it."""
        request = self._arriving
        assert request is not None
        part = bytes(data[: request.content_length - request.received])
        self.on_body(part)
        if request.received == request.content_length:
            request.complete = True
            self._arriving = None
            self._is_known = False
        return data[len(part) :]

    def _feed_parser(self, data: bytes | memoryview, block: bytes) -> None:
        """Let the C parser parse `data`, which begins with a request that has these fields, if it has any."""
        between, newest = self._arriving is None and not self.in_head, len(self.ready)
        self._parse(data)
        if self.error is not None:
            return
        if block and len(self.ready) == newest + 1:
            self._known.remember(block, self.ready[-1], self._size)
        if self.in_head or self._arriving is not None:
            self._check_fed(len(data))
        elif between and not self.ready:
            self._check_blank(len(data))

    def _parse(self, data: bytes | memoryview) -> None:
        while True:
            try:
                self._parser.feed_data(data)
                return
            except httptools.HttpParserUpgrade as pause:
                end = pause.args[0]
            except httptools.HttpParserError as error:
                if bytes(data[:2]) == _TLS_HANDSHAKE and not self.method:
                    self.error = Refusal(
                        400, "This port serves HTTP without TLS: use http://, or a proxy that ends TLS"
                    )
                else:
                    self.error = _refusal(error)
                return
            self._decline_upgrade()  # not while an exception is handled: it would become the context of the next one
            data = memoryview(data)[end:]

    def _decline_upgrade(self) -> None:
        """Continue with HTTP/1.1 although the client offers an upgrade, as RFC 9110 section 7.8 permits.

        llhttp stops after the header of such a request and does not parse its body. A new parser that gets only the
        framing of the body continues at that byte. (The JDK's client offers h2c to every server.)
        """
        fields = self._fields
        self._parser = httptools.HttpRequestParser(_WithoutHead(self))
        framing = (
            b"%b: %b\r\n" % (name, fields[name]) for name in fields if name in (b"content-length", b"transfer-encoding")
        )
        self._parser.feed_data(b"POST / HTTP/1.1\r\n" + b"".join(framing) + b"\r\n")

    def _check_blank(self, size: int) -> None:
        self._blank_fed += size
        if self._blank_fed > MAX_BLANK_BYTES:
            self.error = Refusal(400, "The request begins with too many blank lines")

    def _check_fed(self, size: int) -> None:
        """Bound the bytes of a header and of a chunked body's framing, for which there are no callbacks."""
        if self._first_slice:  # it may also contain the end of the previous request
            self._first_slice = False
        elif self.in_head:
            self._head_fed += size
            if self._head_fed > self._max_header_bytes:
                self.error = self._header_too_large()
        elif (request := self._arriving) is not None and request.chunked:
            self._body_fed += size
            if self._body_fed > CHUNK_OVERHEAD_BYTES + 8 * request.received:
                self.error = Refusal(400, "The chunks of the request body carry more framing than data")

    # Callbacks of the C parser, in the order of a message.

    def on_message_begin(self) -> None:
        self.in_head = self._first_slice = True
        self._head_fed = self._body_fed = self._blank_fed = 0
        self._target = b""
        self._headers = []
        self._fields = {}
        self.method = ""

    def on_url(self, part: bytes) -> None:
        self._target += part
        if len(self._target) > self._settings.max_target_bytes:
            raise Refusal(414, f"The request target is longer than {self._settings.max_target_bytes} bytes")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._arriving is not None:
            return  # a trailer, which nothing reads
        name = name.lower()
        value = value.rstrip(b" \t")  # llhttp strips only leading white space
        self._headers.append((name, value))
        if name in _SINGLE:
            if name in self._fields:
                raise Refusal(400, f"The request has more than one {name.decode().title()} header")
            if name == b"host" and value != self._host:
                check_host(value)
                self._host = value  # later requests of the connection usually have the same value
        self._fields[name] = value

    def on_headers_complete(self) -> None:
        self.in_head = False
        parser = self._parser
        self.method = method = parser.get_method().decode("ascii")
        self._check_size(method)
        version = parser.get_http_version()
        self._check_head(method, version)
        keep_alive = parser.should_keep_alive()
        self._ends = not keep_alive
        request = parsed_request(method, self._target, version, self._headers, self._fields, keep_alive)
        self._frame(request)
        self._arriving = request
        self.ready.append(request)

    def _check_size(self, method: str) -> None:
        """Bound the parts of a header, to the byte as they are usually written: its slices begin and end anywhere."""
        headers = self._headers
        self._size = size = sum(map(len, chain.from_iterable(headers))) + FIELD_BYTES * len(headers)
        if size + len(method) + len(self._target) + LINE_BYTES > self._max_header_bytes:
            raise self._header_too_large()

    def _header_too_large(self) -> Refusal:
        return Refusal(431, f"The request header is larger than {self._max_header_bytes} bytes")

    def _check_head(self, method: str, version: str) -> None:
        if version not in ("1.1", "1.0"):
            raise Refusal(505, f"HTTP/{version} is not supported, use HTTP/1.1")
        if version == "1.1" and b"host" not in self._fields:
            raise Refusal(400, "The request has no Host header")
        if len(self._headers) > self._settings.max_headers:
            raise Refusal(431, f"The request has more than {self._settings.max_headers} header fields")
        if method == "CONNECT":
            raise Refusal(501, "This server is not a proxy")
        if method in _OTHER_PROTOCOLS:
            raise Refusal(501, f"{method} is not a method of HTTP")

    def _frame(self, request: ParsedRequest) -> None:
        fields = self._fields
        if (coding := fields.get(b"transfer-encoding")) is not None:
            self._check_coding(coding, request.version)
            request.chunked = True
        elif (length := fields.get(b"content-length")) is not None:
            if len(length) > MAX_LENGTH_DIGITS:
                raise Refusal(400, "The Content-Length has too many digits")
            request.content_length = int(length)  # llhttp let only digits through
            if request.content_length > self._settings.max_body_bytes:
                raise self._too_large()
        if (expect := fields.get(b"expect")) is not None and request.version == "1.1":
            if expect.lower() != b"100-continue":
                raise Refusal(417, "The only expectation this server meets is 100-continue")
            request.expects_continue = True

    def _check_coding(self, coding: bytes, version: str) -> None:
        if coding.lower() != b"chunked":
            raise Refusal(501, "The only transfer coding this server decodes is chunked")
        if version == "1.0":
            raise Refusal(400, "Transfer-Encoding is not part of HTTP/1.0")

    def _too_large(self) -> Refusal:
        return Refusal(413, f"The request body is larger than {self._settings.max_body_bytes} bytes")

    def on_body(self, part: bytes) -> None:
        request = self._arriving
        assert request is not None
        request.parts.append(part)
        request.received += len(part)
        if request.received > self._settings.max_body_bytes:
            raise self._too_large()

    def on_message_complete(self) -> None:
        if self._arriving is not None and not self._parser.should_upgrade():
            self._arriving.complete = True
            self._arriving = None


class _WithoutHead:
    """Callbacks for a parser that gets an artificial header first: skips that header, then delegates all callbacks."""

    __slots__ = ("_sink", "_skip")

    def __init__(self, sink: RequestParser) -> None:
        self._sink = sink
        self._skip = True

    def on_message_begin(self) -> None:
        if not self._skip:
            self._sink.on_message_begin()

    def on_url(self, part: bytes) -> None:
        if not self._skip:
            self._sink.on_url(part)

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._skip:
            self._sink.on_header(name, value)

    def on_headers_complete(self) -> None:
        if not self._skip:
            self._sink.on_headers_complete()
        self._skip = False

    def on_body(self, part: bytes) -> None:
        self._sink.on_body(part)

    def on_message_complete(self) -> None:
        self._sink.on_message_complete()


def _refusal(error: httptools.HttpParserError) -> Refusal:
    """The refusal for a parser error: one that a callback raised, or one with llhttp's reason."""
    if isinstance(error.__context__, Refusal):
        return error.__context__
    if isinstance(error, httptools.HttpParserCallbackError):
        raise error  # a bug in a callback
    reason = str(error)
    if reason == "Pause on PRI/Upgrade":
        return Refusal(505, "HTTP/2 is not supported, use HTTP/1.1")
    if reason == "Invalid HTTP version":
        return Refusal(505, "This HTTP version is not supported, use HTTP/1.1")
    return Refusal(400, f"Malformed HTTP request: {reason}")
