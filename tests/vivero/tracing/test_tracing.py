"""Traces of whole programs: what a collector gets."""

from opentelemetry.trace import SpanKind

from tests.vivero.tracing.spans import EVERYTHING, NOT_BY_ITSELF, PARENT, SPAN, TRACE, traced
from vivero.tracing.settings import TracingSettings

ACTIVATION = {"type": "greet", "timeout": 60_000, "maxJobsToActivate": 5, "worker": "w", "requestTimeout": 20_000}

ONE_TASK = """
POST /v2/process-instances 200
  append PROCESS_INSTANCE_CREATION:CREATE
    process PROCESS_INSTANCE_CREATION:CREATE
      POST /v2/jobs/{jobKey}/completion 204
        append JOB:COMPLETE
          process JOB:COMPLETE
            commit
      activate job
      commit
"""


async def test_one_trace_shows_an_instance_from_its_client_to_its_end(monkeypatch, database):
    async with traced(monkeypatch, database, NOT_BY_ITSELF) as (node, traces):
        await node.deploy()
        body = {"processDefinitionId": "greet", "variables": {"secret": "canary"}}
        answer = await node.client.post("/v2/process-instances", json=body, headers=PARENT)
        assert answer.status_code == 200, answer.text
        (job,) = (await node.client.post("/v2/jobs/activation", json=ACTIVATION, timeout=30)).json()["jobs"]
        headers = {"traceparent": job["customHeaders"]["traceparent"]}
        path = f"/v2/jobs/{job['jobKey']}/completion"
        assert (await node.client.post(path, json={}, headers=headers)).status_code == 204
        await traces.until(ONE_TASK)
        spans = await traces.all()
    by_name = {span.name: span for span in spans}
    assert headers["traceparent"].startswith(f"00-{TRACE}-")
    kinds = {name.split()[0]: span.kind for name, span in by_name.items()}
    assert kinds == {
        "POST": SpanKind.SERVER,
        "append": SpanKind.PRODUCER,
        "process": SpanKind.CONSUMER,
        "commit": SpanKind.INTERNAL,
        "activate": SpanKind.INTERNAL,
    }
    assert f"{by_name['POST /v2/process-instances'].parent.span_id:016x}" == SPAN
    created = by_name["process PROCESS_INSTANCE_CREATION:CREATE"]
    assert created.attributes["vivero.process_instance.key"] == answer.json()["processInstanceKey"]
    batches = [span for span in spans if span.name == "process batch"]
    assert {link.context.span_id for span in batches for link in span.links} >= {created.context.span_id}
    assert created.links[0].context.span_id in {span.context.span_id for span in batches}
    assert not any("canary" in span.to_json() for span in spans)
    assert all(span.end_time >= span.start_time for span in spans)
    resource = spans[0].resource.attributes
    assert (resource["service.name"], resource["service.instance.id"]) == ("vivero", "one")


async def test_nothing_is_traced_unless_it_is_sampled(monkeypatch, database):
    async with traced(monkeypatch, database, NOT_BY_ITSELF) as (node, traces):
        await node.deploy()
        for headers in ({}, {"traceparent": f"00-{TRACE}-{SPAN}-00"}, {"traceparent": "00-garbage"}):
            body = {"processDefinitionId": "greet"}
            assert (await node.client.post("/v2/process-instances", json=body, headers=headers)).status_code == 200
        jobs = (await node.client.post("/v2/jobs/activation", json=ACTIVATION, timeout=30)).json()["jobs"]
        assert [job["customHeaders"] for job in jobs] == [{}] * len(jobs)
        assert not await traces.all()


async def test_without_a_collector_there_is_no_tracer(monkeypatch, database):
    async with traced(monkeypatch, database, TracingSettings()) as (node, _):
        assert node.tree.tracing.tracer is None
        assert node.tree.engine.consumers[1].tracer is None
        await node.deploy()
        answer = await node.client.post("/v2/process-instances", json={"processDefinitionId": "greet"}, headers=PARENT)
        assert answer.status_code == 200
        await node.metrics()


async def test_probes_and_scrapes_leave_no_spans(monkeypatch, database):
    async with traced(monkeypatch, database, EVERYTHING) as (node, traces):
        for path in ("/live", "/ready", "/startup", "/v2/status", "/metrics", "/v2/topology", "/nowhere"):
            await node.client.get(path)
        assert {span.name for span in await traces.all()} - {"GET"} == {"GET /v2/topology"}
