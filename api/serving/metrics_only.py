"""The service of the metrics port."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial

from vivero.api.app import App, Scope, send_response
from vivero.api.http.metrics import Metrics
from vivero.api.http.problems import Problem
from vivero.api.http.request import Receive, Send
from vivero.api.http.response import Response


def build(text: Callable[[], Awaitable[Metrics]]) -> App:
    """An application that serves GET /metrics and nothing else."""
    return partial(_answer, text)


async def _answer(text: Callable[[], Awaitable[Metrics]], scope: Scope, _receive: Receive, send: Send) -> None:
    if scope["path"] != "/metrics" or scope["method"] not in ("GET", "HEAD"):
        problem = Problem(404, "Not Found", "This port serves GET /metrics alone")
        await send_response(problem.response(scope["path"]), send)
        return
    shown = await text()
    await send_response(Response(200, shown.text, ((b"content-type", shown.content_type.encode()),)), send)
