"""`GET /console/live?topic=…`: the stream of hints, as server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from quart import Response, request
from quart_trio import QuartTrio

from vivero.api.access.authentication import Authenticator
from vivero.api.http.problems import Problem, bad_request
from vivero.web.live import MAX_TOPIC, MAX_TOPICS, Hub, TooManyStreams
from vivero.web.mount import PREFIX
from vivero.web.requests import address, as_response, headers

RETRY_AFTER = (b"retry-after", b"5")
HEADERS = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def add(application: QuartTrio, hub: Hub, authenticator: Authenticator | None) -> None:
    """Add the route."""

    @application.get(f"{PREFIX}/live")
    async def live() -> Response:
        topics = request.args.getlist("topic")
        if len(topics) > MAX_TOPICS or any(len(topic) > MAX_TOPIC for topic in topics):
            return as_response(bad_request(f"There are at most {MAX_TOPICS} topics of {MAX_TOPIC} characters"))
        try:
            client = await _client(authenticator)
            hub.check(client)
        except TooManyStreams:
            return as_response(_too_many())
        except Problem as problem:
            return as_response(problem)
        response = Response(_stream(hub, client, topics, request.headers.get("Last-Event-ID", "")), headers=HEADERS)
        response.timeout = None
        return response


async def _client(authenticator: Authenticator | None) -> str:
    """The client that a stream counts for. Raises Problem 401."""
    if authenticator is None:
        return address()
    caller = await authenticator.authenticate(headers(), address())
    return f"{caller.kind} {caller.id}"


async def _stream(hub: Hub, client: str, topics: list[str], last_id: str) -> AsyncGenerator[bytes]:
    try:
        with hub.admitted(client):
            async with aclosing(hub.hints(topics, last_id)) as hints:
                async for event in hints:
                    yield event
    except TooManyStreams:  # another stream was faster
        return


def _too_many() -> Problem:
    return Problem(503, "RESOURCE_EXHAUSTED", "There are too many streams of hints; try again later", RETRY_AFTER)
