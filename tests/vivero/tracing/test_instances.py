"""One instance with a parallel gateway, a timer, a message and an HTTP connector is one tree with nothing missing."""

from pathlib import Path

import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.engine.connectors.conftest import serving
from tests.vivero.tracing.spans import EVERYTHING, NOT_BY_ITSELF, PARENT, SPAN, TRACE, traced
from vivero.engine.connectors.outbox.settings import OutboxSettings
from vivero.engine.connectors.settings import ConnectorSettings
from vivero.engine.jobs.settings import JobSettings

FORK = Path(__file__).with_name("fork.bpmn").read_bytes()
CONNECTORS = ConnectorSettings(enabled=True, allowed_targets="127.0.0.1", poll_interval="PT10M")
CREATED = """
POST /v2/process-instances 200
  append PROCESS_INSTANCE_CREATION:CREATE
    process PROCESS_INSTANCE_CREATION:CREATE
      commit
"""
UNSAMPLED = {"traceparent": f"00-{TRACE}-{SPAN}-00"}
STATE = {"tracestate": "vendor=1"}

WHOLE = """
POST /v2/messages/publication 200
  append MESSAGE:PUBLISH
    process MESSAGE:PUBLISH
      commit
      process PROCESS_MESSAGE_SUBSCRIPTION:CORRELATE
        process MESSAGE_SUBSCRIPTION:DELETE
POST /v2/process-instances 200
  append PROCESS_INSTANCE_CREATION:CREATE
    process PROCESS_INSTANCE_CREATION:CREATE
      activate job
      commit
      process MESSAGE_SUBSCRIPTION:CREATE
      process TIMER:TRIGGER
        commit
      work job
        POST 200
        append JOB:COMPLETE
          process JOB:COMPLETE
            commit
"""


async def start(node, server, **headers):
    files = {"resources": ("fork.bpmn", FORK)}
    assert (await node.client.post("/v2/deployments", files=files)).status_code == 200
    body = {"processDefinitionId": "fork", "variables": {"service": server.url, "order": "7"}}
    answer = await node.client.post("/v2/process-instances", json=body, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()["processInstanceKey"]


async def publish(node, **headers):
    body = {"name": "paid", "correlationKey": "7", "timeToLive": 60_000}
    answer = await node.client.post("/v2/messages/publication", json=body, headers=headers)
    assert answer.status_code == 200, answer.text


async def test_an_instance_is_one_tree(monkeypatch, database):
    async with serving() as server:
        async with traced(monkeypatch, database, NOT_BY_ITSELF, connectors=CONNECTORS) as (node, traces):
            key = await start(node, server, **PARENT, **STATE)
            await publish(node, **PARENT)
            await traces.until(WHOLE)
            spans = await traces.of()
        (received,) = server.received
    (call,) = (span for span in spans if span.name == "POST")
    assert received.headers["traceparent"] == f"00-{TRACE}-{call.context.span_id:016x}-01"
    assert received.headers["tracestate"] == "vendor=1"
    assert call.attributes["server.address"] == "127.0.0.1"
    keys = {span.attributes.get("vivero.process_instance.key") for span in spans} - {None}
    assert keys == {key}


MESSAGE_FROM_ELSEWHERE = """
POST /v2/process-instances 200
  append PROCESS_INSTANCE_CREATION:CREATE
    process PROCESS_INSTANCE_CREATION:CREATE
      activate job
      commit
      process MESSAGE_SUBSCRIPTION:CREATE
      process PROCESS_MESSAGE_SUBSCRIPTION:CORRELATE
        commit
        process MESSAGE_SUBSCRIPTION:DELETE
      process TIMER:TRIGGER
        commit
      work job
        POST 200
        append JOB:COMPLETE
          process JOB:COMPLETE
            commit
"""
ELSEWHERE = "0af7651916cd43dd8448eb211c80319c"


async def test_a_message_of_another_trace_is_linked(monkeypatch, database):
    connected = traced(monkeypatch, database, NOT_BY_ITSELF, connectors=CONNECTORS)
    async with serving() as server, connected as (node, traces):
        await start(node, server, **PARENT)
        await publish(node, traceparent=f"00-{ELSEWHERE}-b7ad6b7169203331-01")
        await traces.until(MESSAGE_FROM_ELSEWHERE)
        spans, others = await traces.of(), await traces.of(ELSEWHERE)
    (correlated,) = (span for span in spans if span.name == "process PROCESS_MESSAGE_SUBSCRIPTION:CORRELATE")
    (published,) = (span for span in others if span.name == "process MESSAGE:PUBLISH")
    assert published.context.span_id in {link.context.span_id for link in correlated.links}


FROM_A_TIMER = """
process TIMER:TRIGGER
  commit
  process PROCESS_INSTANCE:START
"""


async def test_an_instance_of_a_timer_begins_a_trace(monkeypatch, database):
    model = FORK.replace(
        b'<startEvent id="start"/>',
        b'<startEvent id="start"><timerEventDefinition><timeCycle>R1/PT0.1S</timeCycle></timerEventDefinition>'
        b"</startEvent>",
    ).replace(b'sourceRef="start" targetRef="split"', b'sourceRef="start" targetRef="end"')
    async with traced(monkeypatch, database, EVERYTHING) as (node, traces):
        files = {"resources": ("fork.bpmn", model)}
        answer = await node.client.post(
            "/v2/deployments", files=files, headers={"traceparent": PARENT["traceparent"][:-1] + "0"}
        )
        assert answer.status_code == 200, answer.text
        await traces.until_there("process TIMER:TRIGGER")
        (fired,) = (span for span in await traces.all() if span.name == "process TIMER:TRIGGER")
        assert fired.parent is None
        await traces.until(FROM_A_TIMER, f"{fired.context.trace_id:032x}")


@pytest.mark.long
async def test_a_trace_goes_from_node_to_node(monkeypatch, database):
    """The second node takes the request, and the first one leads the partition. Both are in one trace."""
    exporter = InMemorySpanExporter()
    first = traced(monkeypatch, database, NOT_BY_ITSELF, exporter, name="one")
    second = traced(monkeypatch, database, NOT_BY_ITSELF, exporter, name="two")
    async with first as (one, traces), second as (two, others):
        await one.deploy()
        body = {"processDefinitionId": "greet"}
        assert (await two.client.post("/v2/process-instances", json=body, headers=PARENT)).status_code == 200
        await others.all()
        await traces.until(CREATED)
        spans = await traces.of()
    nodes = {span.name.split()[0]: span.resource.attributes["service.instance.id"] for span in spans}
    assert nodes == {"POST": "two", "append": "two", "process": "one", "commit": "one"}


async def test_the_outbox_takes_the_trace_of_the_instance_along(monkeypatch, database):
    async with serving() as server:
        outbox = OutboxSettings(server.url, "JobCreated", from_start=True)
        jobs = JobSettings(poll_interval="PT0.1S")
        connectors = ConnectorSettings(enabled=False, allowed_targets="127.0.0.1")
        async with traced(monkeypatch, database, NOT_BY_ITSELF, outbox=outbox, jobs=jobs, connectors=connectors) as (
            node,
            traces,
        ):
            await node.deploy()
            body = {"processDefinitionId": "greet"}
            assert (await node.client.post("/v2/process-instances", json=body, headers=PARENT)).status_code == 200
            await traces.until_there("POST")
            spans = {span.name: span for span in await traces.of()}
        (received,) = server.received
    call, created = spans["POST"], spans["process PROCESS_INSTANCE_CREATION:CREATE"]
    assert received.headers["traceparent"] == f"00-{TRACE}-{call.context.span_id:016x}-01"
    assert call.parent.span_id == created.context.span_id
