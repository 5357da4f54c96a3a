"""Requests and responses over a memory stream: bodies, framing, keep-alive, disconnects, handlers that fail."""

from unittest.mock import ANY

import pytest
import structlog
import trio
from trio.testing import lockstep_stream_pair, memory_stream_pair, wait_all_tasks_blocked

from vivero.api.http1 import state
from vivero.api.http1.problems import UnfinishedAnswer

GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
HEAD = b"HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"


def get(path: bytes, *lines: bytes, version: bytes = b"1.1") -> bytes:
    head = b"GET %b HTTP/%b\r\nHost: a\r\n" % (path, version)
    return head + b"".join(line + b"\r\n" for line in lines) + b"\r\n"


def post(body: bytes, *lines: bytes, path: bytes = b"/") -> bytes:
    head = b"POST %b HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n" % (path, len(body))
    return head + b"".join(line + b"\r\n" for line in lines) + b"\r\n" + body


def post_chunked(*chunks: bytes, end: bool = True) -> bytes:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + (b"0\r\n\r\n" if end else b"")


def streaming(*parts: bytes, status: int = 200, headers=()):
    async def app(scope, receive, send) -> None:
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        for part in parts:
            await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body"})

    return app


class TestRequests:
    async def test_scope(self, start, apps, autojump_clock):
        scopes = []

        async def app(scope, receive, send):
            scopes.append(scope)
            await apps.respond(send)

        client = start(app).connect()
        await client.ask(b"PUT /a%20b/%C3%A9?x=%20y HTTP/1.1\r\nHost: h:1\r\nX-A: 1\r\n\r\n")
        (scope,) = scopes
        assert scope == {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": "PUT",
            "scheme": "http",
            "path": "/a b/é",
            "raw_path": b"/a%20b/%C3%A9",
            "query_string": b"x=%20y",
            "root_path": "",
            "headers": [(b"host", b"h:1"), (b"x-a", b"1")],
            "client": None,
            "server": None,
            "extensions": {
                "http.request.release": {},
                "vivero.owner": ANY,
                "vivero.declared_bytes": 0,
                "vivero.has_left": ANY,
                "vivero.fields": {b"host": b"h:1", b"x-a": b"1"},
                "vivero.whole_body": ANY,
                "vivero.answer": ANY,
            },
        }

    async def test_fields_have_the_last_value_of_each_name_and_the_host_of_an_absolute_target(
        self, start, apps, autojump_clock
    ):
        found = []

        async def app(scope, receive, send):
            found.append((scope["headers"], scope["extensions"]["vivero.fields"]))
            await apps.respond(send)

        client = start(app).connect()
        await client.ask(b"GET http://b/ HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 2 \r\n\r\n")
        await client.ask(b"GET / HTTP/1.1\r\nHost: c\r\n\r\n")
        assert found == [
            ([(b"host", b"b"), (b"x-a", b"1"), (b"x-a", b"2")], {b"host": b"b", b"x-a": b"2"}),
            ([(b"host", b"c")], {b"host": b"c"}),
        ]

    async def test_a_body_that_is_here_needs_no_message(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            whole = scope["extensions"]["vivero.whole_body"]
            first = whole()
            body = (await receive())["body"] if first is None else b"nothing"
            await apps.respond(send, repr((first, body, whole())).encode())

        client = start(app).connect()
        assert (await client.ask(post(b"abc"))).body == b"(b'abc', b'nothing', None)"
        assert (await client.ask(post_chunked(b"ab", b"c"))).body == b"(b'abc', b'nothing', None)"
        assert (await client.ask(GET)).body == b"(b'', b'nothing', None)"
        head, _, _ = post(b"abcd").partition(b"\r\n\r\n")
        await client.send(head + b"\r\n\r\n", b"ab")
        await wait_all_tasks_blocked()
        assert (await client.ask(b"cd")).body == b"(None, b'abcd', None)", "the handler waits for the rest"

    async def test_a_small_body_is_one_message_however_it_arrives(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        request = post(b"x" * 60_000)
        for start_at in range(0, len(request), 1000):
            await client.send(request[start_at : start_at + 1000])
            await wait_all_tasks_blocked()
        answer = await client.answer()
        assert answer.body == b"POST / 1 " + b"x" * 60_000

    async def test_a_large_body_streams(self, start, apps, autojump_clock):
        sizes = []

        async def app(scope, receive, send):
            body, found = await apps.read_body(receive)
            sizes.extend(found)
            await apps.respond(send, b"%d" % len(body))

        client = start(app).connect()
        answer = await client.ask(post(b"x" * 1_000_000))
        assert answer.body == b"1000000"
        assert len(sizes) > 5
        assert max(sizes) <= 128 * 1024

    async def test_a_chunk_reaches_the_handler_before_the_next_is_sent(self, start, apps, autojump_clock):
        got, seen = trio.open_memory_channel(10)

        async def app(scope, receive, send):
            while (message := await receive())["more_body"]:
                got.send_nowait(message["body"])
            await apps.respond(send)

        client = start(app).connect()
        await client.send(post_chunked(b"one", end=False))
        assert await seen.receive() == b"one"
        await client.send(b"3\r\ntwo\r\n")
        assert await seen.receive() == b"two"
        await client.send(b"0\r\n\r\n")
        assert (await client.answer()).status == 200

    async def test_chunked_body_in_one_piece_is_one_message(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        assert (await client.ask(post_chunked(b"a", b"bc"))).body == b"POST / 1 abc"

    async def test_pipelined_requests_are_answered_in_order(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        await client.send(b"".join(post(b"%d" % n, path=b"/%d" % n) for n in range(500)))
        for n in range(500):
            assert (await client.answer()).body == b"POST /%d 1 %d" % (n, n)

    async def test_upgrade_is_declined_by_answering_in_http_1(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        upgrade = post(b"abc", b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk")
        await client.send(upgrade + GET)
        assert (await client.answer()).body == b"POST / 1 abc"
        assert (await client.answer()).body == b"GET / 1 "

    @pytest.mark.parametrize("size", [1, 100, 65536])
    async def test_an_unread_small_body_does_not_end_the_connection(self, start, apps, autojump_clock, size):
        async def app(scope, receive, send):
            await apps.respond(send, scope["path"].encode())

        client = start(app).connect()
        head, body = post(b"x" * size)[:-size], b"x" * size
        await client.send(head)
        assert (await client.answer()).body == b"/"
        await client.send(body + get(b"/next"))
        assert (await client.answer()).body == b"/next"

    @pytest.mark.parametrize("head", [post(b"x" * 65537)[:-65537], post_chunked(end=False)])
    async def test_an_unread_long_body_ends_the_connection(self, start, apps, autojump_clock, head):
        async def app(scope, receive, send):
            await apps.respond(send)

        client = start(app).connect()
        answer = await client.ask(head)
        assert answer.headers["connection"] == "close"
        assert await client.closed()

    async def test_an_answer_that_overtakes_its_request_has_time_to_be_read(self, start, autojump_clock, apps):
        async def app(scope, receive, send):
            await apps.respond(send, status=403)

        server = start(app, linger_s=1)
        client = server.connect()
        await client.send(post(b"x" * 100_000)[:-1])
        assert (await client.answer()).status == 403
        assert await client.closed()
        await client.send(b"x")
        assert server.ended == 0
        await trio.sleep(2)
        assert server.ended == 1


class TestExpectContinue:
    ASK = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-Continue\r\n\r\n"

    async def test_continue_is_sent_when_the_handler_reads(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        await client.send(self.ASK)
        assert await client.stream.receive_some() == b"HTTP/1.1 100 Continue\r\n\r\n"
        answer = await client.ask(b"abc")
        assert (answer.informational, answer.body) == ([], b"POST / 1 abc")
        assert (await client.ask(GET)).informational == []

    async def test_no_continue_for_a_body_that_is_there(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        assert (await client.ask(self.ASK + b"abc")).informational == []

    async def test_a_handler_that_does_not_read_answers_and_closes(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            await apps.respond(send, status=401)

        client = start(app).connect()
        answer = await client.ask(self.ASK)
        assert (answer.status, answer.informational, answer.headers["connection"]) == (401, [], "close")
        assert await client.closed()

    async def test_no_continue_once_the_response_has_begun(self, start, autojump_clock, apps):
        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200})
            await send({"type": "http.response.body", "body": b"begun ", "more_body": True})
            body, _ = await apps.read_body(receive)
            await send({"type": "http.response.body", "body": body})

        client = start(app).connect()
        await client.send(self.ASK)
        await wait_all_tasks_blocked()
        answer = await client.ask(b"abc")
        assert (answer.body, answer.headers["connection"]) == (b"begun abc", "close")

    async def test_http_1_0_has_no_continue(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        await client.send(self.ASK.replace(b"HTTP/1.1", b"HTTP/1.0"))
        await wait_all_tasks_blocked()
        assert (await client.ask(b"abc")).informational == []


class TestResponses:
    async def test_whole_response(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        answer = await client.ask(GET)
        assert (answer.version, answer.status, answer.body) == ("HTTP/1.1", 200, b"GET / 1 ")
        assert answer.headers.pop("date").endswith("GMT")
        assert answer.headers == {"content-type": "text/plain", "content-length": "8"}

    @pytest.mark.parametrize("version", [b"1.0", b"1.1"])
    @pytest.mark.parametrize("method", [b"GET", b"HEAD", b"POST"])
    @pytest.mark.parametrize("status", [200, 204, 304, 404, 299])
    async def test_a_response_in_one_call_has_the_bytes_of_its_messages(
        self, start, autojump_clock, monkeypatch, version, method, status
    ):
        monkeypatch.setattr(state, "formatdate", lambda usegmt: "Sun, 01 Nov 2026 00:00:00 GMT")
        headers = ((b"content-type", b"text/plain"), (b"x-a", b"1"), (b"x-a", b"2"))
        body = b"x" * 100_000 if version == b"1.1" else b"abc"

        async def messages(scope, receive, send):
            length = () if status == 204 else ((b"content-length", b"%d" % len(body)),)
            await send({"type": "http.response.start", "status": status, "headers": [*headers, *length]})
            await send({"type": "http.response.body", "body": body})

        async def one_call(scope, receive, send):
            await scope["extensions"]["vivero.answer"](status, headers, body)

        seen = []
        for app in (messages, one_call):
            client = start(app).connect()
            for connection in (b"keep-alive", b"close"):
                await client.send(
                    b"%b / HTTP/%b\r\nHost: a\r\nContent-Length: 1\r\nConnection: %b\r\n\r\n1"
                    % (method, version, connection)
                )
            answer = b""
            while data := await client.stream.receive_some(65536):
                answer += data
            seen.append(answer)
        assert seen[0] == seen[1]
        assert seen[1].count(b"HTTP/1.1 %d " % status) == 2

    @pytest.mark.parametrize(
        "headers",
        [((b"content-length", b"3"),), ((b"date", b"now"),), ((b"a", b"b\r\nc: d"),), ((b"a\n", b"b"),)],
    )
    async def test_a_response_in_one_call_has_only_headers_of_its_own(self, start, autojump_clock, headers):
        async def app(scope, receive, send):
            await scope["extensions"]["vivero.answer"](200, headers, b"abc")

        with structlog.testing.capture_logs() as logged:
            client = start(app).connect()
            assert (await client.ask(GET)).status == 500
        assert [type(line["exc_info"]) for line in logged] == [ValueError]

    @pytest.mark.parametrize("begins_with_a_message", [True, False])
    async def test_a_response_in_one_call_is_the_only_one(self, start, autojump_clock, begins_with_a_message):
        async def app(scope, receive, send):
            if begins_with_a_message:
                await send({"type": "http.response.start", "status": 200, "headers": []})
            else:
                await scope["extensions"]["vivero.answer"](200, (), b"first")
            await scope["extensions"]["vivero.answer"](200, (), b"second")

        with structlog.testing.capture_logs() as logged:
            client = start(app).connect()
            answer = await client.ask(GET)
        assert (answer.status, answer.body == b"first") == ((500, False) if begins_with_a_message else (200, True))
        assert [type(line["exc_info"]) for line in logged] == [RuntimeError]

    async def test_the_applications_date_and_close_are_kept(self, start, apps, autojump_clock):
        headers = [(b"Date", b"then"), (b"Connection", b"Close"), (b"Content-Length", b"2"), (b"Keep-Alive", b"x")]

        async def app(scope, receive, send):
            await apps.respond(send, b"ab", headers=headers)

        client = start(app).connect()
        answer = await client.ask(GET)
        assert answer.headers == {"date": "then", "connection": "close", "content-length": "2"}
        assert await client.closed()

    async def test_streamed_response_is_chunked(self, start, autojump_clock):
        client = start(streaming(b"one", b"", b"two" * 50_000)).connect()
        for _ in range(2):
            answer = await client.ask(GET)
            assert answer.headers["transfer-encoding"] == "chunked"
            assert answer.body == b"one" + b"two" * 50_000

    async def test_streamed_response_of_declared_length(self, start, autojump_clock):
        client = start(streaming(b"ab", b"cd", headers=[(b"content-length", b"4")])).connect()
        for _ in range(2):
            answer = await client.ask(GET)
            assert (answer.headers["content-length"], answer.body) == ("4", b"abcd")

    async def test_the_head_of_a_stream_is_sent_with_its_first_empty_part(self, start, autojump_clock):
        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200})
            await send({"type": "http.response.body", "more_body": True})
            await trio.sleep_forever()

        client = start(app).connect()
        await client.send(GET)
        assert (await client.stream.receive_some()).startswith(b"HTTP/1.1 200 OK\r\n")

    async def test_transfer_encoding_of_the_application_is_ignored(self, start, autojump_clock):
        client = start(streaming(b"ab", headers=[(b"transfer-encoding", b"gzip")])).connect()
        assert (await client.ask(GET)).body == b"ab"

    async def test_head_has_the_length_and_no_body(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        answer = await client.ask(HEAD, to_head=True)
        assert answer.headers["content-length"] == "9"
        assert (await client.ask(GET)).body == b"GET / 1 "

    async def test_head_of_a_stream(self, start, autojump_clock):
        client = start(streaming(b"abc")).connect()
        answer = await client.ask(HEAD, to_head=True)
        assert not answer.headers.keys() & {"content-length", "transfer-encoding"}
        assert (await client.ask(GET)).body == b"abc"

    async def test_head_with_a_declared_length(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            await apps.respond(send, headers=[(b"content-length", b"123")])

        client = start(app).connect()
        for _ in range(2):
            answer = await client.ask(HEAD, to_head=True)
            assert answer.headers["content-length"] == "123"

    @pytest.mark.parametrize(("status", "length"), [(204, None), (304, "5"), (205, "0")])
    async def test_statuses_without_content(self, start, apps, autojump_clock, status, length):
        async def app(scope, receive, send):
            headers = [(b"content-length", b"5")] if status == 304 else []
            await apps.respond(send, status=status, headers=headers)

        client = start(app).connect()
        for _ in range(2):
            answer = await client.ask(GET)
            assert (answer.status, answer.headers.get("content-length")) == (status, length)

    async def test_unusual_status(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            await apps.respond(send, status=599)

        client = start(app).connect()
        assert (await client.ask(GET)).status == 599

    async def test_many_headers(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            await apps.respond(send, headers=scope["headers"])

        client = start(app).connect()
        answer = await client.ask(get(b"/", *(b"X-%d: %d" % (n, n) for n in range(90))))
        assert [answer.headers[f"x-{n}"] for n in range(90)] == [str(n) for n in range(90)]


class TestConnections:
    async def test_close_is_obeyed(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        answer = await client.ask(get(b"/", b"Connection: close"))
        assert answer.headers["connection"] == "close"
        assert await client.closed()

    async def test_http_1_0_closes(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        answer = await client.ask(get(b"/", version=b"1.0"))
        assert (answer.headers["connection"], answer.body) == ("close", b"GET / 1 ")
        assert await client.closed()

    async def test_http_1_0_may_stay(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        for _ in range(2):
            answer = await client.ask(get(b"/", b"Connection: keep-alive", version=b"1.0"))
            assert answer.headers["connection"] == "keep-alive"

    async def test_http_1_0_gets_a_stream_until_the_end_of_the_connection(self, start, autojump_clock):
        client = start(streaming(b"ab", b"cd")).connect()
        answer = await client.ask(get(b"/", b"Connection: keep-alive", version=b"1.0"))
        assert "transfer-encoding" not in answer.headers
        assert answer.body == b"abcd"

    async def test_what_follows_close_is_not_answered(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        await client.send(get(b"/1", b"Connection: close") + get(b"/2"))
        assert (await client.answer()).body == b"GET /1 1 "
        assert await client.closed()

    async def test_a_client_that_only_stops_sending_gets_its_answers(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        await client.send(get(b"/1") + get(b"/2"))
        await client.stream.send_eof()
        assert (await client.answer()).body == b"GET /1 1 "
        assert (await client.answer()).body == b"GET /2 1 "
        assert await client.closed()

    @pytest.mark.parametrize("fragment", [b"", b"GE", b"GET / HTTP/1.1\r\nHo", post(b"abc")[:-1]])
    async def test_a_client_that_leaves_ends_the_connection_silently(self, start, autojump_clock, fragment):
        async def app(scope, receive, send):
            while (await receive())["type"] != "http.disconnect":
                pass

        server = start(app)
        client = server.connect()
        with structlog.testing.capture_logs() as logs:
            if fragment:
                await client.send(fragment)
            await wait_all_tasks_blocked()
            await client.aclose()
            await wait_all_tasks_blocked()
        assert server.ended == 1
        assert [entry for entry in logs if entry["log_level"] != "debug"] == []

    async def test_no_handler_is_called_in_a_connection_that_was_closed_as_idle(self, start, autojump_clock):
        called = []

        async def app(scope, receive, send):
            called.append(scope)

        server = start(app)
        mine, theirs = memory_stream_pair()
        server.connect((mine, theirs))
        await wait_all_tasks_blocked()
        theirs.receive_stream.put_data(GET)  # wakes the connection, which the next line closes before it runs
        server.state.start_draining()
        await wait_all_tasks_blocked()
        assert (called, server.ended) == ([], 1)


class TestRefusals:
    async def test_problem(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        answer = await client.ask(b"GET /v2/x?y HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n")
        assert answer.status == 400
        assert answer.headers["connection"] == "close"
        assert answer.problem == {
            "type": "about:blank",
            "title": "Bad Request",
            "status": 400,
            "detail": "The request has more than one Host header",
            "instance": "/v2/x",
        }
        assert await client.closed()

    async def test_earlier_requests_are_answered_first(self, start, apps, autojump_clock):
        client = start(apps.echo).connect()
        await client.send(GET + b"rubbish\r\n\r\n")
        assert (await client.answer()).status == 200
        assert (await client.answer()).status == 400

    async def test_refused_head_has_no_body(self, start, apps, autojump_clock):
        client = start(apps.echo, max_body_bytes=2).connect()
        await client.send(post(b"abc").replace(b"POST", b"HEAD"))
        assert (await client.answer(to_head=True)).status == 413
        assert await client.closed()

    @pytest.mark.parametrize(
        ("broken", "status"), [(b"zz\r\n", 400), (b"5\r\nabcdef", 400), (b"64\r\n" + b"x" * 100 + b"\r\n", 413)]
    )
    async def test_a_body_that_goes_wrong_is_answered_by_the_server(self, start, apps, autojump_clock, broken, status):
        messages = []

        async def app(scope, receive, send):
            messages.append(await receive())
            messages.append(await receive())
            await apps.respond(send, b"not this")
            messages.append(await receive())

        client = start(app, max_body_bytes=99).connect()
        await client.send(post_chunked(b"ab", end=False))
        await wait_all_tasks_blocked()
        await client.send(broken)
        answer = await client.answer()
        assert (answer.status, answer.problem["status"]) == (status, status)
        assert await client.closed()
        assert [message["type"] for message in messages] == ["http.request", "http.disconnect", "http.disconnect"]

    async def test_in_flight_limit(self, start, apps, autojump_clock):
        release = trio.Event()

        async def app(scope, receive, send):
            await release.wait()
            await apps.respond(send)

        server = start(app, max_in_flight=1)
        first, second = server.connect(), server.connect()
        await first.send(GET)
        await wait_all_tasks_blocked()
        answer = await second.ask(get(b"/v2/x"))
        assert answer.status == 503
        assert answer.problem["title"] == "RESOURCE_EXHAUSTED"
        assert answer.problem["instance"] == "/v2/x"
        release.set()
        assert (await first.answer()).status == 200
        assert (await second.ask(GET)).status == 200


class TestDisconnect:
    async def test_a_long_poll_learns_it_and_goes_on(self, start, apps, autojump_clock):
        got, seen = trio.open_memory_channel(10)

        async def app(scope, receive, send):
            await apps.read_body(receive)
            got.send_nowait(await receive())
            await trio.sleep(5)
            got.send_nowait("not cancelled")

        server = start(app)
        client = server.connect()
        await client.send(post(b"x"))
        await wait_all_tasks_blocked()
        await client.aclose()
        assert await seen.receive() == {"type": "http.disconnect"}
        assert await seen.receive() == "not cancelled"

    async def test_a_handler_that_does_not_listen_is_left_alone(self, start, apps, autojump_clock):
        done = trio.Event()

        async def app(scope, receive, send):
            await trio.sleep(5)
            done.set()
            await apps.respond(send)

        client = start(app).connect()
        await client.send(GET)
        await wait_all_tasks_blocked()
        await client.aclose()
        with trio.fail_after(6), structlog.testing.capture_logs() as logs:
            await done.wait()
            await wait_all_tasks_blocked()
        assert [entry["log_level"] for entry in logs] == ["debug"]

    async def test_an_answer_that_is_cut_is_incomplete_and_no_error(self, start):
        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200})
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
            raise ExceptionGroup("of a nursery", [UnfinishedAnswer()])

        client = start(app).connect()
        await client.send(GET)
        with structlog.testing.capture_logs() as logs, pytest.raises(EOFError):
            await client.answer()
        assert logs == []

    async def test_sending_to_a_client_that_left_raises_oserror(self, start, autojump_clock):
        raised = []

        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200})
            try:
                while True:
                    await send({"type": "http.response.body", "body": b"x", "more_body": True})
                    await trio.sleep(1)
            except OSError as error:
                raised.append(error)
                raise

        server = start(app)
        client = server.connect()
        await client.send(GET)
        await wait_all_tasks_blocked()
        await client.aclose()
        with structlog.testing.capture_logs() as logs:
            await trio.sleep(3)
        assert len(raised) == 1
        assert [entry["log_level"] for entry in logs] == ["debug"]
        assert server.ended == 1

    async def test_after_the_response_the_request_is_over(self, start, apps, autojump_clock):
        got, seen = trio.open_memory_channel(10)

        async def app(scope, receive, send):
            async def watch() -> None:
                await receive()
                got.send_nowait(await receive())

            async with trio.open_nursery() as nursery:
                nursery.start_soon(watch)
                await wait_all_tasks_blocked()
                await apps.respond(send)

        client = start(app).connect()
        for _ in range(3):
            assert (await client.ask(GET)).status == 200
            assert await seen.receive() == {"type": "http.disconnect"}

    async def test_what_comes_during_a_long_poll_is_answered_after_it(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            await receive()
            if scope["path"] == "/poll":
                with trio.move_on_after(5):
                    await receive()
            await apps.respond(send, scope["path"].encode())

        client = start(app).connect()
        await client.send(get(b"/poll"))
        await wait_all_tasks_blocked()
        await client.send(get(b"/1")[:10])
        await wait_all_tasks_blocked()
        await client.send(get(b"/1")[10:] + get(b"/2"))
        assert [(await client.answer()).body for _ in range(3)] == [b"/poll", b"/1", b"/2"]

    async def test_a_long_poll_holds_a_bounded_part_of_what_is_sent_meanwhile(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            await receive()
            with trio.move_on_after(60):
                await receive()
            await apps.respond(send)

        ours, theirs = lockstep_stream_pair()
        client = start(app).connect((ours, theirs))
        await client.send(GET)
        with trio.move_on_after(30) as gave_up:
            for _ in range(1000):
                await client.send(b"\r\n" * 500)
        assert gave_up.cancelled_caught
        assert (await client.answer()).status == 200

    async def test_after_a_send_that_was_cancelled_nothing_is_sent(self, start, autojump_clock):
        raised = []

        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200})
            with trio.move_on_after(1):
                await send({"type": "http.response.body", "body": b"x" * 1000, "more_body": True})
            try:
                await send({"type": "http.response.body", "body": b"y"})
            except OSError as error:
                raised.append(error)

        server = start(app)
        ours, theirs = lockstep_stream_pair()
        client = server.connect((ours, theirs))
        await client.send(GET)
        await trio.sleep(2)
        assert len(raised) == 1
        assert b"y" not in await client.stream.receive_some()
        assert await client.closed()

    async def test_a_last_send_that_was_cancelled_ends_the_connection(self, start, autojump_clock, apps):
        async def app(scope, receive, send):
            with trio.move_on_after(1):
                await apps.respond(send, b"x" * 1000)

        server = start(app)
        client = server.connect(lockstep_stream_pair())
        await client.send(GET)
        await trio.sleep(2)
        assert server.ended == 1


class TestHandlersThatFail:
    async def crash(self, start, app):
        client = start(app).connect()
        with structlog.testing.capture_logs() as logs:
            await client.send(get(b"/v2/x"))
            await wait_all_tasks_blocked()
        return client, [entry for entry in logs if entry["log_level"] == "error"]

    async def check_500(self, start, app) -> Exception:
        client, logs = await self.crash(start, app)
        answer = await client.answer()
        assert (answer.status, answer.headers["connection"]) == (500, "close")
        assert (answer.problem["title"], answer.problem["instance"]) == ("INTERNAL", "/v2/x")
        assert await client.closed()
        (entry,) = logs
        assert entry["method"] == "GET"
        return entry["exc_info"]

    async def test_before_the_response(self, start, autojump_clock):
        async def app(scope, receive, send):
            raise LookupError("broken")

        error = await self.check_500(start, app)
        assert repr(error) == "LookupError('broken')"
        assert error.__traceback__ is not None

    async def test_after_the_start_only(self, start, autojump_clock):
        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200})
            raise LookupError

        await self.check_500(start, app)

    async def test_in_a_nursery(self, start, autojump_clock):
        async def app(scope, receive, send):
            async with trio.open_nursery() as nursery:
                nursery.start_soon(trio.sleep_forever)
                raise LookupError

        assert isinstance(await self.check_500(start, app), ExceptionGroup)

    @pytest.mark.parametrize(
        "messages",
        [
            [],
            [{"type": "http.response.start", "status": 200}],
            [{"type": "http.response.start", "status": 200}] * 2,
            [{"type": "http.response.body"}],
            [{"type": "websocket.send"}],
            [{"type": "http.response.start", "status": 100}, {"type": "http.response.body"}],
            [{"type": "http.response.start", "status": 600}, {"type": "http.response.body"}],
        ],
    )
    async def test_messages_out_of_order(self, start, autojump_clock, messages):
        async def app(scope, receive, send):
            for message in messages:
                await send(message)

        await self.check_500(start, app)

    @pytest.mark.parametrize("length", [b"0", b"1", b"3", b"x", b"-2", b""])
    async def test_content_length_that_is_not_true(self, start, apps, autojump_clock, length):
        async def app(scope, receive, send):
            await apps.respond(send, b"ab", headers=[(b"content-length", length)])

        await self.check_500(start, app)

    @pytest.mark.parametrize("header", [(b"x", b"a\r\nset-cookie: b"), (b"x\n", b""), (b"x", b"a\rb"), (b"x", b"\0")])
    async def test_header_that_would_be_two(self, start, apps, autojump_clock, header):
        async def app(scope, receive, send):
            await apps.respond(send, headers=[header])

        await self.check_500(start, app)

    @pytest.mark.parametrize("headers", [[], [(b"content-length", b"100")]])
    async def test_in_the_middle_of_a_response_the_client_sees_it_is_cut(self, start, autojump_clock, headers):
        async def app(scope, receive, send):
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"ab", "more_body": True})
            raise LookupError

        client, logs = await self.crash(start, app)
        assert len(logs) == 1
        with pytest.raises(EOFError):
            await client.answer()

    async def test_after_the_response(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            await apps.respond(send)
            raise LookupError

        client, logs = await self.crash(start, app)
        assert (await client.answer()).status == 200
        assert await client.closed()
        assert len(logs) == 1

    async def test_a_second_response(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            await apps.respond(send)
            await apps.respond(send)

        client, logs = await self.crash(start, app)
        assert (await client.answer()).status == 200
        assert await client.closed()
        assert len(logs) == 1

    async def test_other_connections_go_on(self, start, apps, autojump_clock):
        async def app(scope, receive, send):
            if scope["path"] == "/crash":
                raise LookupError
            await apps.respond(send)

        server = start(app)
        fine, crashing = server.connect(), server.connect()
        for _ in range(3):
            assert (await fine.ask(GET)).status == 200
            assert (await crashing.ask(get(b"/crash"))).status == 500
            crashing = server.connect()


async def test_a_task_that_waits_for_a_disconnect_does_not_see_one_while_an_answer_is_sent(start):
    """Frameworks cancel the sending task when the waiting one learns of a disconnect. This client reads slowly."""

    async def app(scope, receive, send) -> None:
        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            nursery.cancel_scope.cancel()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(watch)
            await wait_all_tasks_blocked()
            await streaming(b"one", b"two")(scope, receive, send)

    client = start(app).connect(lockstep_stream_pair())
    assert (await client.ask(GET)).body == b"onetwo"
    assert (await client.ask(GET)).body == b"onetwo"
