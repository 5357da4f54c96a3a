"""The spans of calls to other systems. A call of a sampled trace takes its context along."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Protocol

from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.requests import HttpRequest
from vivero.engine.tracing.current import CURRENT, within
from vivero.engine.tracing.names import ELEMENT_ID, ERROR_TYPE, JOB_KEY, JOB_TYPE
from vivero.engine.tracing.tracer import SpanRole, Tracer, Value
from vivero.engine.tracing.w3c import TRACEPARENT, of_job


class Job(Protocol):
    """An activated job of a connector."""

    @property
    def job_key(self) -> str: ...

    @property
    def type(self) -> str: ...

    @property
    def element_id(self) -> str: ...

    @property
    def custom_headers(self) -> Mapping[str, str]: ...


@contextmanager
def working(tracer: Tracer | None, job: Job) -> Generator[None]:
    """The block works a job, from its call to the report of the outcome, with a span if the job is sampled."""
    context = None if tracer is None else of_job(job.custom_headers)
    if tracer is None or context is None:
        yield
        return
    attributes: dict[str, Value] = {JOB_KEY: job.job_key, JOB_TYPE: job.type, ELEMENT_ID: job.element_id}
    tracer.end(tracer.below(context), "activate job", SpanRole.INTERNAL, attributes)
    begun = tracer.below(context)
    with within(begun.context):
        try:
            yield
        finally:
            tracer.end(begun, "work job", SpanRole.CONSUMER, attributes)


class CallSpan:
    """One call, with the request that takes the context along."""

    def __init__(self, request: HttpRequest) -> None:
        self.request = request
        self.status: int | None = None


@contextmanager
def called(tracer: Tracer | None, request: HttpRequest) -> Generator[CallSpan]:
    """The block makes a call, with a span if the current trace is sampled.

    Neither path nor query of the URL is recorded: they may have secrets. A `traceparent` of the model wins.
    """
    call, context = CallSpan(request), None if tracer is None else CURRENT.get()
    if tracer is None or context is None or not context.sampled:
        yield call
        return
    begun = tracer.below(context)
    if not any(name.lower() == TRACEPARENT for name in request.headers):
        call.request = replace(request, headers={**request.headers, **begun.context.headers})
    url, error = request.url, None
    attributes: dict[str, Value] = {
        "http.request.method": request.method,
        "server.address": url.host,
        "server.port": url.port or (443 if url.scheme == "https" else 80),
        "url.scheme": url.scheme,
    }
    try:
        yield call
    except ConnectorError as raised:
        error = attributes[ERROR_TYPE] = raised.code
        raise
    except BaseException as raised:
        error = attributes[ERROR_TYPE] = type(raised).__name__
        raise
    finally:
        if call.status is not None:
            attributes["http.response.status_code"] = call.status
            if call.status >= 400:
                error = attributes[ERROR_TYPE] = str(call.status)
        tracer.end(begun, request.method, SpanRole.CLIENT, attributes, error=error)
