"""A trace goes on after kill -9: the log, the instance and the job have its context."""

from contextlib import AsyncExitStack, contextmanager
from typing import NamedTuple

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.engine.connectors.conftest import serving
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.process.program import free_port

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
INSTANCES = 8
ACTIVATION = {"type": "work", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 20_000}
pytestmark = pytest.mark.long


class Span(NamedTuple):
    """A span of the trace, and the process that exported it."""

    id: str
    parent: str
    name: str
    process: int


def exported(collector):
    """The spans of the trace, from all processes that wrote to the collector."""
    requests = [ExportTraceServiceRequest.FromString(each.body) for each in collector.received]
    return [
        Span(one.span_id.hex(), one.parent_span_id.hex(), one.name, process_of(resource.resource))
        for request in requests
        for resource in request.resource_spans
        for scope in resource.scope_spans
        for one in scope.spans
        if one.trace_id.hex() == TRACE
    ]


def process_of(resource):
    (found,) = (one.value.int_value for one in resource.attributes if one.key == "process.pid")
    return found


def spans_of(collector):
    """The names of the trace's spans, and of the parent of each."""
    spans = exported(collector)
    names = {one.id: one.name for one in spans}
    return {one.name: names.get(one.parent, one.parent) for one in spans if one.name != "commit"}


@contextmanager
def arrives(collector, *names):
    async def arrived():
        return set(names) <= set(spans_of(collector))

    yield arrived


CREATED = {
    "POST /v2/process-instances": SPAN,
    "append PROCESS_INSTANCE_CREATION:CREATE": "POST /v2/process-instances",
    "process PROCESS_INSTANCE_CREATION:CREATE": "append PROCESS_INSTANCE_CREATION:CREATE",
}
COMPLETED = {
    "activate job": "process PROCESS_INSTANCE_CREATION:CREATE",
    "process JOB:COMPLETE": "process PROCESS_INSTANCE_CREATION:CREATE",
}


async def test_a_trace_goes_on_after_a_kill(make_program, database, unsafe):
    """The worker does not know of traces, so only what is stored can continue this one."""
    async with serving(lambda _request: (200, {}, b"")) as collector:
        environment = unsafe | {
            "VIVERO_TRACING_OTLP_ENDPOINT": f"{collector.url}/v1/traces",
            "VIVERO_TRACING_SAMPLE_RATIO": "0",
        }
        program = make_program("--database-url", database, environment=environment)
        await program.restart()
        await deploy(program.port, "one_task.bpmn")
        async with Caller(program.port) as caller:
            headers = [("traceparent", f"00-{TRACE}-{SPAN}-01")]
            answer = await caller.call(
                "POST", "/v2/process-instances", {"processDefinitionId": "one-task"}, headers=headers
            )
            assert answer.status == 200
        with arrives(collector, *CREATED) as arrived:
            await eventually(arrived, "the spans of the creation arrive")
        await program.kill()
        await program.restart()
        async with Caller(program.port) as caller:
            (job,) = (await caller.call("POST", "/v2/jobs/activation", ACTIVATION)).json["jobs"]
            assert job["customHeaders"]["traceparent"].startswith(f"00-{TRACE}-")
            assert (await caller.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})).status == 204
        with arrives(collector, *COMPLETED) as arrived:
            await eventually(arrived, "the spans of the completion arrive")
        assert spans_of(collector) == CREATED | COMPLETED
        program.end()


async def test_the_spans_of_two_processes_are_one_tree(make_program, database, unsafe):
    """Requests meet any process and the leader does the work: spans of both arrive, and each has its parent."""
    async with serving(lambda _request: (200, {}, b"")) as collector:
        settings = {
            "VIVERO_TRACING_OTLP_ENDPOINT": f"{collector.url}/v1/traces",
            "VIVERO_TRACING_SAMPLE_RATIO": "0",
            "VIVERO_DATABASE_POOL_SIZE": "2",
            "VIVERO_ADMIN_PORT": str(free_port()),
        }
        program = make_program("--database-url", database, "--processes", "2", environment=unsafe | settings)
        program.start()
        await program.ready(within_s=120)
        await program.all_serve()
        await deploy(program.port, "one_task.bpmn")
        headers = [("traceparent", f"00-{TRACE}-{SPAN}-01")]
        async with AsyncExitStack() as open_ones:
            for _ in range(INSTANCES):  # new connections meet both processes: they stay open, and are divided
                caller = await open_ones.enter_async_context(Caller(program.port))
                body = {"processDefinitionId": "one-task"}
                answer = await caller.call("POST", "/v2/process-instances", body, headers=headers)
                assert answer.status == 200
        for _ in range(INSTANCES):
            async with Caller(program.port) as caller:
                (job,) = (await caller.call("POST", "/v2/jobs/activation", ACTIVATION)).json["jobs"]
                sent = [("traceparent", job["customHeaders"]["traceparent"])]
                path = f"/v2/jobs/{job['jobKey']}/completion"
                assert (await caller.call("POST", path, {}, headers=sent)).status == 204
        expected = {
            "POST /v2/process-instances": SPAN,
            "append PROCESS_INSTANCE_CREATION:CREATE": "POST /v2/process-instances",
            "process PROCESS_INSTANCE_CREATION:CREATE": "append PROCESS_INSTANCE_CREATION:CREATE",
            "activate job": "process PROCESS_INSTANCE_CREATION:CREATE",
            "POST /v2/jobs/{jobKey}/completion": "process PROCESS_INSTANCE_CREATION:CREATE",
            "append JOB:COMPLETE": "POST /v2/jobs/{jobKey}/completion",
            "process JOB:COMPLETE": "append JOB:COMPLETE",
        }

        async def complete():
            found = exported(collector)
            return all(len([one for one in found if one.name == name]) == INSTANCES for name in expected) and found

        spans = await eventually(complete, "all spans of both processes arrive")
        names = {one.id: one.name for one in spans}
        assert {(one.name, names.get(one.parent, one.parent)) for one in spans if one.name != "commit"} == set(
            expected.items()
        )
        assert len(names) == len(spans), "no span is exported twice"
        served = {one.process for one in spans if one.name == "POST /v2/process-instances"}
        assert len(served) == 2, "both processes have served requests"
        assert len({one.process for one in spans if one.name.startswith("process ")}) == 1, "one leads"
        program.end()
