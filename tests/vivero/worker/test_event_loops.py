"""The worker under asyncio, with the same functions as under Trio, and its spans."""

import asyncio
import threading

import anyio
import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.vivero.worker.stub_server import StubServer, job
from vivero.worker import Job, JobOutcome, Worker, spans


@pytest.fixture
def reports():
    return []


@pytest.fixture
def worker_of(reports):
    def make(server, **settings):
        return Worker(client=server, on_report=reports.append, on_trouble=lambda _error: None, **settings)

    return make


def test_async_and_plain_functions_work_under_asyncio(worker_of):
    server = StubServer(job(1), job(2))
    worker: Worker = worker_of(server, max_jobs=2, concurrency=2)
    meet = threading.Barrier(2)
    seen = set()

    @worker.job("t")
    def work(n: int):
        meet.wait(timeout=30)
        seen.add(threading.get_ident())
        return {"n": -n}

    anyio.run(worker.serve, backend="asyncio")
    assert sorted(server.told) == [("completion", "1", {"n": -1}), ("completion", "2", {"n": -2})]
    assert threading.get_ident() not in seen


def test_asyncios_own_calls_work_and_its_cancellations_are_failures(worker_of, reports):
    server = StubServer(*(job(number, how=how) for number, how in enumerate(("task", "cancelled", "exit", "timeout"))))
    worker: Worker = worker_of(server, max_jobs=4, concurrency=1)

    async def forty_two():
        return 42

    @worker.job("t", result="answer", backoff_s=0)
    async def work(how: str):
        if how == "cancelled":  # such as by a library that gives up
            task = asyncio.create_task(asyncio.Event().wait())
            task.cancel()
            await task
        if how == "exit":
            raise SystemExit(2)
        if how == "timeout":
            async with asyncio.timeout(0):
                await asyncio.Event().wait()
        return await asyncio.create_task(forty_two())

    async def main():
        await worker.serve()

    asyncio.run(main())
    assert server.told[0] == ("completion", "0", {"answer": 42})
    assert [(what, told[0].splitlines()[0]) for what, _, *told in server.told[1:]] == [
        ("failure", "CancelledError"),
        ("failure", "SystemExit: 2"),
        ("failure", "TimeoutError"),
    ]


def test_a_cancelled_task_of_asyncio_gives_its_jobs_back(worker_of, reports):
    server = StubServer(job(1))
    worker: Worker = worker_of(server)

    async def main():
        began = asyncio.Event()

        @worker.job("t")
        async def work():
            began.set()
            await asyncio.Event().wait()

        task = asyncio.create_task(worker.serve())
        await began.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert server.leases == [("1", 1)]
    assert [report.outcome for report in reports] == [JobOutcome.HANDED_BACK]


# ----------------------------------------------------------------------------------------------------------- spans

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.fixture
def finished(monkeypatch):
    """The spans that have ended."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter.get_finished_spans
    provider.shutdown()


@pytest.mark.parametrize("fails", [False, True])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_function_is_a_span_below_that_of_the_process(worker_of, finished, fails, is_async):
    server = StubServer(job(1) | {"customHeaders": {"traceparent": PARENT}})
    worker: Worker = worker_of(server, max_jobs=1)
    inner = []

    def work():
        inner.append(trace.get_current_span().get_span_context())
        if fails:
            raise KeyError("sku")

    async def work_async():
        work()

    worker.job("t")(work_async if is_async else work)
    anyio.run(worker.serve)
    [span] = finished()
    assert inner == [span.context], "calls of the function, such as by HTTP, continue the trace"
    assert format(span.context.trace_id, "032x") == PARENT[3:35]
    assert format(span.parent.span_id, "016x") == PARENT[36:52]
    assert span.attributes["vivero.job.key"] == "1"
    assert span.status.is_ok is not fails
    assert [event.name for event in span.events] == (["exception"] if fails else [])
    assert server.headers["traceparent"] == f"00-{PARENT[3:35]}-{span.context.span_id:016x}-01"


def test_without_a_provider_the_report_has_the_headers_of_the_process(worker_of):
    server = StubServer(job(1) | {"customHeaders": {"traceparent": PARENT, "tracestate": "a=b", "other": "x"}})
    worker: Worker = worker_of(server, max_jobs=1)
    worker.job("t")(lambda: None)
    anyio.run(worker.serve, backend="trio")
    assert server.headers == {"traceparent": PARENT, "tracestate": "a=b"}


def test_without_the_package_there_are_no_spans(worker_of, monkeypatch):
    monkeypatch.setattr(spans, "trace", None)
    server = StubServer(job(1) | {"customHeaders": {"traceparent": PARENT}})
    worker: Worker = worker_of(server, max_jobs=1)

    @worker.job("t")
    async def work(context: Job):
        raise KeyError("sku")

    anyio.run(worker.serve, backend="trio")
    assert server.told[0][0] == "failure"
    assert server.headers == {"traceparent": PARENT}
