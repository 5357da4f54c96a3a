"""The span of a request, whose context is current while it is served, and those of the jobs that it activates."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any

import msgspec

from vivero.api.http.request import Receive, Send
from vivero.engine.tracing.current import CURRENT, within
from vivero.engine.tracing.names import ELEMENT_ID, ERROR_TYPE, INSTANCE, JOB_KEY, JOB_TYPE
from vivero.engine.tracing.tracer import Begun, SpanRole, Tracer, Value
from vivero.engine.tracing.w3c import of_job

Scope = MutableMapping[str, Any]
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"}
UNTRACED = {"/live", "/ready", "/startup", "/metrics", "/v2/status"}
"""Routes that schedulers and scrapers ask all the time."""
ROUTE = "route"
"""The path of the route in the scope, once it is known."""
STATUS = "status"
"""The status of the response in the scope, once there is one."""


async def traced(
    tracer: Tracer, serve: Callable[[Scope, Receive, Send], Awaitable[None]], scope: Scope, receive: Receive, send: Send
) -> None:
    """Serve a request, with a span if it is sampled."""
    begun = tracer.from_headers(scope["headers"])
    if begun is None:
        await serve(scope, receive, send)
        return
    try:
        with within(begun.context):
            await serve(scope, receive, send)
    finally:
        if scope.get(ROUTE) not in UNTRACED:
            _end(tracer, begun, scope)


def _end(tracer: Tracer, begun: Begun, scope: Scope) -> None:
    """Record the span. Neither path nor query: they may have names of people."""
    method, route, status = scope["method"], scope.get(ROUTE), scope.get(STATUS)
    known = method if method in METHODS else "_OTHER"
    attributes: dict[str, Value] = {"http.request.method": known, "url.scheme": scope.get("scheme", "http")}
    if route is not None:
        attributes["http.route"] = route
    error = None
    if status is None:
        attributes[ERROR_TYPE] = "client_left"
    else:
        attributes["http.response.status_code"] = status
        if status >= 500:
            error = attributes[ERROR_TYPE] = str(status)
    name = known if known in METHODS else "HTTP"
    tracer.end(begun, name if route is None else f"{name} {route}", SpanRole.SERVER, attributes, error=error)


class _Traced(msgspec.Struct, rename="camel", gc=False):
    """The attributes of the span of an activation: key, type, element and instance of the job."""

    job_key: str
    type: str
    element_id: str
    process_instance_key: str
    custom_headers: dict[str, Any]


_decode = msgspec.json.Decoder(_Traced).decode
_MARK = b'"traceparent"'


def activated(tracer: Tracer, jobs: Iterable[bytes]) -> None:
    """Record that a worker has got jobs, given as the API shows them. Only sampled ones name a trace."""
    request = CURRENT.get()
    links = () if request is None or not request.sampled else (request,)
    for job in jobs:
        if _MARK in job:
            shown = _decode(job)
            context = of_job(shown.custom_headers)
            if context is not None:
                attributes: dict[str, Value] = {
                    JOB_KEY: shown.job_key,
                    JOB_TYPE: shown.type,
                    ELEMENT_ID: shown.element_id,
                    INSTANCE: shown.process_instance_key,
                }
                tracer.end(tracer.below(context), "activate job", SpanRole.INTERNAL, attributes, links)
