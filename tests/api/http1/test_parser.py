"""The parser alone: what becomes a request, what is refused and with which status, and that nothing is unbounded."""

import gc
import random

import pytest

from vivero.api.http1.known_heads import MAX_KNOWN, KnownHeads
from vivero.api.http1.parser import SLICE_BYTES, RequestParser
from vivero.api.http1.settings import ServerSettings

HOST = b"Host: a\r\n"


def parse(data: bytes, *, step: int | None = None, **settings) -> RequestParser:
    parser = RequestParser(ServerSettings(**settings))
    while data:
        size = step or parser.step_bytes()
        parser.feed(data[:size])
        data = data[size:]
    return parser


def parse_on(parser: RequestParser, data: bytes, step: int) -> None:
    while data:
        size = max(step, parser.step_bytes())
        parser.feed(memoryview(data)[:size])
        data = data[size:]


def seen(parser: RequestParser) -> list[tuple]:
    return [(r.method, r.path, r.query, b"".join(r.parts), r.complete, r.keep_alive) for r in parser.ready]


def post(*lines: bytes, body: bytes = b"") -> bytes:
    return b"".join((b"POST /p HTTP/1.1\r\n", HOST, *(line + b"\r\n" for line in lines), b"\r\n", body))


CHUNKED = b"Transfer-Encoding: chunked"
ABC_CHUNKED = b"2\r\nab\r\n1;ext=1\r\nc\r\n0\r\nX-Trailer: 1\r\n\r\n"

PIPELINE = b"".join(
    (
        b"\r\nGET /a%20b?q=%20 HTTP/1.1\r\n" + HOST + b"\r\n",
        post(b"Content-Length: 3", body=b"abc"),
        post(CHUNKED, body=ABC_CHUNKED),
        post(b"Connection: Upgrade", b"Upgrade: h2c", b"Content-Length: 3", body=b"abc"),
        post(b"Connection: Upgrade", b"Upgrade: websocket", CHUNKED, body=ABC_CHUNKED),
        b"GET /u HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"HEAD http://a:80/abs?x HTTP/1.1\r\n" + HOST + b"\r\n",
        b"OPTIONS * HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n",
    )
)
PIPELINED = [
    ("GET", "/a b", b"q=%20", b"", True, True),
    *[("POST", "/p", b"", b"abc", True, True)] * 4,
    ("GET", "/u", b"", b"", True, True),
    ("HEAD", "/abs", b"x", b"", True, True),
    ("OPTIONS", "*", b"", b"", True, False),
]


@pytest.mark.parametrize("step", [None, 1, 2, 3, 7, 64, 100_000])
def test_pipelined_requests_are_the_same_however_they_are_split(step):
    parser = parse(PIPELINE, step=step)
    assert parser.error is None
    assert seen(parser) == PIPELINED


@pytest.mark.parametrize("known", [None, KnownHeads()])
def test_random_splits_give_the_same_requests(seed, known):
    """Also with fields that were parsed before: they stay known from round to round."""
    rng = random.Random(seed)
    for _ in range(200):
        parser = RequestParser(ServerSettings(), known)
        cuts = sorted(rng.randrange(len(PIPELINE)) for _ in range(rng.randrange(12)))
        for start, end in zip([0, *cuts], [*cuts, len(PIPELINE)], strict=True):
            parser.feed(PIPELINE[start:end])
        assert (parser.error, seen(parser)) == (None, PIPELINED)


def test_scope_material_is_kept_as_it_was_sent():
    (request,) = parse(b"GET /a%2Fb?x=%41 HTTP/1.0\r\nX-Y: Z \r\nX-y: 2\r\nEmpty:\r\n\r\n").ready
    assert (request.raw_path, request.path, request.query) == (b"/a%2Fb", "/a/b", b"x=%41")
    assert request.headers == [(b"x-y", b"Z"), (b"x-y", b"2"), (b"empty", b"")]
    assert (request.version, request.keep_alive) == ("1.0", False)


def test_trailers_are_not_headers():
    (request,) = parse(post(CHUNKED, body=b"0\r\nX-Role: admin\r\nHost: b\r\n\r\n")).ready
    assert request.complete
    assert request.headers == [(b"host", b"a"), (b"transfer-encoding", b"chunked")]


@pytest.mark.parametrize(
    ("status", "data"),
    [
        # Smuggling: two readers could disagree about where the body ends (RFC 9112 section 6.3).
        (400, post(b"Content-Length: 3", CHUNKED, body=b"0\r\n\r\n")),
        (400, post(CHUNKED, b"Content-Length: 3", body=b"0\r\n\r\n")),
        (400, post(b"Content-Length: 3", b"Content-Length: 4", body=b"abcd")),
        (400, post(b"Content-Length: 3", b"Content-Length: 3", body=b"abc")),
        (400, post(b"Content-Length: 3, 3", body=b"abc")),
        (400, post(b"Content-Length: +3", body=b"abc")),
        (400, post(b"Content-Length: 0x3", body=b"abc")),
        (400, post(b"Content-Length: -1")),
        (400, post(b"Content-Length:")),
        (400, post(b"Content-Length: 99999999999999999999999")),
        (400, post(b"Content-Length : 3", body=b"abc")),
        (501, post(b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n")),
        (400, post(b"Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n")),
        (400, post(b"Transfer-Encoding:\x0bchunked", body=b"0\r\n\r\n")),
        (400, post(CHUNKED, CHUNKED, body=b"0\r\n\r\n")),
        (400, post(b"Transfer-Encoding: gzip", CHUNKED, body=b"0\r\n\r\n")),
        (400, post(b"Transfer-Encoding: identity", CHUNKED, body=b"0\r\n\r\n")),
        (400, post(b"Connection: Upgrade", b"Upgrade: h2c", b"Transfer-Encoding: gzip", CHUNKED, body=b"0\r\n\r\n")),
        (501, post(b"Transfer-Encoding: identity", body=b"0\r\n\r\n")),
        (501, post(b"Transfer-Encoding: ,chunked", body=b"0\r\n\r\n")),
        (501, post(b"Transfer-Encoding: chunked;q=1", body=b"0\r\n\r\n")),
        (501, post(b'Transfer-Encoding: "chunked"', body=b"0\r\n\r\n")),
        (400, post(b"Transfer-Encoding: chunked,", body=b"0\r\n\r\n")),
        (400, post(b"Transfer-Encoding:\r\n chunked", body=b"0\r\n\r\n")),
        (400, post(b"Transfer-Encoding:", b"Content-Length: 3", body=b"abc")),
        (400, post(b"Content-Length: " + b"0" * 5000 + b"3", body=b"abc")),
        (400, post(b"Content-Length: 1_0", body=b"abc")),
        (400, post(b"Content-Length:\r\n 3", body=b"abc")),
        (417, post(b"Expect: the-unexpected", b"Content-Length: 3", body=b"abc")),
        (400, post(b"Expect: 100-continue", b"Expect: 100-continue", b"Content-Length: 3", body=b"abc")),
        (501, post(b"Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n")),
        (400, b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        (400, post(CHUNKED, body=b"zz\r\n")),
        (400, post(CHUNKED, body=b"\r\n")),
        (400, post(CHUNKED, body=b"-1\r\n")),
        (400, post(CHUNKED, body=b"FFFFFFFFFFFFFFFFFF\r\n")),
        (400, post(CHUNKED, body=b"3\r\nabcd\r\n")),
        (400, post(CHUNKED, body=b"3\nabc\n0\n\n")),
        (400, post(CHUNKED, body=b"3\r\nabc\n0\r\n\r\n")),
        (400, post(CHUNKED, body=b"3 \r\nabc\r\n0\r\n\r\n")),
        (400, post(CHUNKED, body=b"0x3\r\nabc\r\n0\r\n\r\n")),
        (400, post(CHUNKED, body=b"3;a=b\nabc\r\n0\r\n\r\n")),
        (400, post(CHUNKED, body=b"3;a=\0\r\nabc\r\n0\r\n\r\n")),
        (400, post(CHUNKED, body=b'3;a="\r\n"\r\nabc\r\n0\r\n\r\n')),
        (400, post(CHUNKED, body=b"3\r\r\nabc\r\n0\r\n\r\n")),
        (400, post(CHUNKED, body=b"0\r\nX: a\r\n folded\r\n\r\n")),
        (400, post(CHUNKED, body=b"0\r\nContent-Length: 3\r\n\r\n")),
        (400, post(CHUNKED, body=b"0\r\nTransfer-Encoding: chunked\r\n\r\n")),
        # Heads that other servers read differently.
        (400, b"GET / HTTP/1.1\nHost: a\n\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\n folded\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rb: c\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + b": nameless\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + b"no colon\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + HOST + b"\r\n"),
        (400, b"GET / HTTP/1.1\r\n\r\n"),
        (400, b"GET /a#b HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /?a#b HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET a/b HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET * HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET ftp://a/ HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /\xc3\xa9 HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /%ff HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /%c0%af HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /a% HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /a%4 HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /a%zz HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /a%00 HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /a%0d%0ab HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /a\0b HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET /a\tb HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET http:///a HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET http://:80/a HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET http://user@b/a HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET http://a:b/a HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET http://a/b#c HTTP/1.1\r\n" + HOST + b"\r\n"),
        *[
            (400, b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
            for host in (b"a b", b"a,b/", b"a/b", b"u@a", b"a:b", b"a:999999", b"[::1", b"::1", b"a?b", b"a#b", b"a\\b")
        ],
        *[(400, b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n") for host in (b'"a"', b"\xc3\xa9", b"%4", b"a" * 300)],
        (400, b"GET / HTTP/1.1\r\n Host: a\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\nHost : a\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + b"X\0: a\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + b"X: a\r\r\n\r\n"),
        (400, b"GET / HTTP/1.1\r\n" + HOST + b"X: a\x7f\r\n\r\n"),
        (400, b"GET / HTTP/1.1 \r\n" + HOST + b"\r\n"),
        (400, b"GET\t/ HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET / http/1.1\r\n" + HOST + b"\r\n"),
        (400, b"GET / HTTP/1.10\r\n" + HOST + b"\r\n"),
        (501, b"DESCRIBE / RTSP/1.0\r\n" + HOST + b"\r\n"),
        (501, b"SOURCE / ICE/1.0\r\n" + HOST + b"\r\n"),
        (400, b"get / HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"BREW / HTTP/1.1\r\n" + HOST + b"\r\n"),
        (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
        (501, b"CONNECT a:443 HTTP/1.1\r\n" + HOST + b"\r\n"),
        (505, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        (505, b"GET / HTTP/2.0\r\n" + HOST + b"\r\n"),
        (505, b"GET / HTTP/1.2\r\n" + HOST + b"\r\n"),
        (505, b"GET /\r\n\r\n"),
    ],
)
@pytest.mark.parametrize("step", [None, 1])
def test_refused(status, data, step):
    parser = parse(data, step=step)
    assert parser.error is not None
    assert parser.error.status == status
    assert not any(request.complete for request in parser.ready)


def test_an_absolute_target_names_the_host():
    (request,) = parse(b"GET http://b:80/c?d HTTP/1.1\r\n" + HOST + b"\r\n").ready
    assert (request.path, request.query, request.headers) == ("/c", b"d", [(b"host", b"b:80")])
    (request,) = parse(b"GET http://b?d HTTP/1.1\r\n" + HOST + b"\r\n").ready
    assert (request.path, request.raw_path, request.query) == ("/", b"/", b"d")


@pytest.mark.parametrize("host", [b"", b"a", b"a.b-c_d:8080", b"[::1]", b"[::1]:80", b"127.0.0.1:1", b"a:"])
def test_hosts_that_are_ones(host):
    assert parse(b"GET / HTTP/1.1\r\nHost: " + host + b"\r\n\r\n").error is None


def test_tls_on_the_plain_port_is_told_so():
    assert "without TLS" in parse(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").error.detail


@pytest.mark.long
@pytest.mark.parametrize("step", [None, 1, 7])
def test_blank_lines_are_bounded_between_requests_too(step):
    request = post(b"Content-Length: 100", body=b"x" * 100)
    assert parse((request + b"\r\n" * 20) * 5, step=step).error is None
    parser = parse(request + b"\r\n" * 100_000, step=step or 1000)
    parser.ready.clear()
    parser.feed(b"\r\n" * 100)
    assert parser.error.status == 400


def test_refusal_comes_after_the_requests_before_it():
    parser = parse(b"GET /1 HTTP/1.1\r\n" + HOST + b"\r\nGET /2 HTTP/1.1\r\n" + HOST + b"\r\nrubbish\r\n\r\n")
    assert [request.path for request in parser.ready] == ["/1", "/2"]
    assert parser.error.status == 400


def test_parser_is_deaf_after_a_refusal():
    parser = parse(b"rubbish\r\n\r\n")
    parser.feed(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n")
    assert not parser.ready


class TestLimits:
    def test_header_of_the_limit_is_taken_and_above_it_refused(self):
        def head(size: int) -> bytes:
            start = b"GET / HTTP/1.1\r\n" + HOST + b"X: "
            return start + b"x" * (size - len(start) - 4) + b"\r\n\r\n"

        assert parse(head(10_000), max_header_bytes=10_000).error is None
        for size in (10_001, 10_000 + SLICE_BYTES):
            for step in (1, 1000, 100_000):
                assert parse(head(size), max_header_bytes=10_000, step=step).error.status == 431

    def test_each_request_of_a_pipeline_has_the_limit(self):
        one = b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"x" * 900 + b"\r\n\r\n"
        assert len(parse(one * 20, max_header_bytes=len(one)).ready) == 20
        parser = parse(one * 20 + one.replace(b"X: ", b"X: x"), max_header_bytes=len(one))
        assert (len(parser.ready), parser.error.status) == (20, 431)

    def test_many_fields_and_a_long_target_count_together(self):
        fields = b"".join(b"X%d: %b\r\n" % (n, b"y" * 90) for n in range(90))
        whole = b"GET /" + b"t" * 5000 + b" HTTP/1.1\r\n" + HOST + fields + b"\r\n"
        assert parse(whole, max_header_bytes=len(whole)).error is None
        assert parse(whole, max_header_bytes=len(whole) - 1).error.status == 431

    def test_endless_header_is_refused_within_one_slice_of_the_limit(self):
        parser = RequestParser(ServerSettings(max_header_bytes=10_000))
        parser.feed(b"GET / HTTP/1.1\r\n" + HOST + b"X: ")
        fed = 0
        while parser.error is None:
            parser.feed(b"x" * 1000)
            fed += 1000
        assert parser.error.status == 431
        assert fed <= 10_000 + SLICE_BYTES

    def test_number_of_headers(self):
        lines = [b"X%d: 1" % n for n in range(99)]
        assert parse(post(*lines), max_headers=100).error is None
        assert parse(post(*lines, b"Y: 1"), max_headers=100).error.status == 431

    def test_target(self):
        line = b"GET /" + b"x" * 99 + b" HTTP/1.1\r\n" + HOST + b"\r\n"
        assert parse(line, max_target_bytes=100).error is None
        assert parse(line, max_target_bytes=99).error.status == 414
        assert parse(line, max_target_bytes=99, step=1).error.status == 414

    def test_declared_body(self):
        assert parse(post(b"Content-Length: 100"), max_body_bytes=100).error is None
        parser = parse(post(b"Content-Length: 101"), max_body_bytes=100)
        assert parser.error.status == 413
        assert not parser.ready

    def test_chunked_body(self):
        chunk = b"32\r\n" + b"x" * 50 + b"\r\n"
        assert parse(post(CHUNKED, body=chunk * 2 + b"0\r\n\r\n"), max_body_bytes=100).error is None
        assert parse(post(CHUNKED, body=chunk * 2 + b"1\r\nx\r\n"), max_body_bytes=100).error.status == 413

    def test_chunk_extensions_without_end(self):
        parser = parse(post(CHUNKED, body=b"1;" + b"x" * 200_000))
        assert parser.error.status == 400
        assert "framing" in parser.error.detail

    def test_trailers_without_end(self):
        parser = parse(post(CHUNKED, body=b"0\r\n" + b"X: y\r\n" * 40_000))
        assert parser.error.status == 400

    def test_one_byte_chunks_are_a_valid_body(self):
        parser = parse(post(CHUNKED, body=b"1\r\nx\r\n" * 50_000 + b"0\r\n\r\n"))
        assert parser.error is None
        assert parser.ready[0].received == 50_000

    def test_long_upload_in_chunks_after_small_ones(self):
        body = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        parser = parse(post(CHUNKED, body=body * 20 + b"0\r\n\r\n"))
        assert parser.error is None
        assert parser.ready[0].complete


def test_one_slice_bounds_the_requests_parsed_ahead():
    request = b"GET / HTTP/1.1\r\nHost:\r\n\r\n"
    parser = RequestParser(ServerSettings())
    parser.feed((request * 200)[: parser.step_bytes()])
    assert len(parser.ready) == SLICE_BYTES // len(request)


def test_closed_parser_is_freed_without_the_cycle_collector():
    def use() -> None:
        parser = parse(PIPELINE)
        parser.close()

    gc.collect()
    gc.disable()
    try:
        use()
        assert not [found for found in gc.get_objects() if type(found) is RequestParser]
    finally:
        gc.enable()


class TestKnownFields:
    LINES = (b"Accept: */*", b"X-Y: Z \t", b"x-y: 2", b"Prefer: respond-async")
    REQUESTS = (
        b"GET /v2/jobs?a=%20&b HTTP/1.1\r\n" + HOST + b"Accept: */*\r\n\r\n",
        post(*LINES, b"Content-Length: 3", body=b"abc"),
        post(*LINES, b"Content-Length: 0"),
        post(b"Content-Length: 2", b"Connection: close", body=b"ab"),
        post(b"Content-Length: 2", b"Expect: 100-continue", body=b"ab"),
        post(b"Connection: Upgrade", b"Upgrade: h2c", b"Content-Length: 3", body=b"abc"),
        post(CHUNKED, body=ABC_CHUNKED),
        PIPELINE,
    )
    BYTES = (b"\r", b"\n", b"\r\n", b" ", b":", b"%", b"#", b"?", b"\0", b"\t", b"x", b"0", b"\xe4", b"", b"close")

    def seen(self, known, *parts, **settings):
        parser = RequestParser(ServerSettings(**settings), known)
        for part in parts:
            parser.feed(part)
        requests = [
            {name: getattr(each, name) for name in each.__slots__} | {"parts": b"".join(each.parts)}
            for each in parser.ready
        ]
        return parser.error and (parser.error.status, parser.error.detail), requests, parser.method, parser.path

    def test_they_change_nothing(self, seed):
        """Damaged requests, in two parts, are parsed or refused as by a parser that knows no fields."""
        rng, known = random.Random(seed), KnownHeads()
        for _ in range(600):
            data = b"".join(rng.choices(self.REQUESTS, k=rng.randrange(1, 4)))
            for _ in range(rng.randrange(3)):
                at = rng.randrange(len(data))
                data = data[:at] + rng.choice(self.BYTES) + data[at + rng.randrange(2) :]
            cut = rng.choice([0, rng.randrange(len(data) + 1)])
            parts = data[:cut], data[cut:]
            found = [self.seen(known, *parts) for _ in range(3)]
            assert found == [self.seen(KnownHeads(), *parts)] * 3, parts

    def test_the_third_request_is_not_parsed_again(self):
        parser = RequestParser(ServerSettings())
        for body in (b"abc", b"def", b"ghi"):
            parser.feed(post(*self.LINES, b"Content-Length: 3", body=body))
        first, second, third = parser.ready
        assert third.fields is second.fields is not first.fields
        assert [b"".join(each.parts) for each in parser.ready] == [b"abc", b"def", b"ghi"]

    @pytest.mark.parametrize("less", [{"max_header_bytes": 1}, {"max_target_bytes": 1}])
    def test_limits_are_kept_to_the_byte(self, less):
        [(name, by)] = less.items()
        head = b"GET /" + b"x" * 50 + b" HTTP/1.1\r\n" + HOST
        whole = head + b"X: " + b"x" * 100 + b"\r\n\r\n"
        limit = len(whole) if name == "max_header_bytes" else 51
        error, requests, *_ = self.seen(KnownHeads(), *[whole] * 3, **{name: limit})
        assert (error, len(requests)) == (None, 3)
        error, requests, *_ = self.seen(KnownHeads(), *[whole.replace(b"x", b"", by)] * 3, whole, **{name: limit - by})
        assert (error[0], len(requests)) == (431 if name == "max_header_bytes" else 414, 3)

    def test_a_large_body_arrives_in_parts(self):
        parser = RequestParser(ServerSettings())
        for step in (100_000, 100_000, 3000):
            parse_on(
                parser, post(b"Content-Length: 9000", body=b"y" * 9000) + post(b"Content-Length: 1", body=b"z"), step
            )
        assert [b"".join(each.parts) for each in parser.ready] == [b"y" * 9000, b"z"] * 3
        assert all(each.complete for each in parser.ready)

    def test_requests_with_an_id_of_their_own_displace_nothing(self):
        known, usual = KnownHeads(), post(*self.LINES)
        self.seen(known, usual, usual)
        for number in range(2 * MAX_KNOWN):
            self.seen(known, post(b"X-Request-Id: %d" % number))
        _, (request,), *_ = self.seen(known, usual)
        assert request["fields"] is self.seen(known, usual)[1][0]["fields"]
