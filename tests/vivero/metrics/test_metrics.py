"""Metrics of whole programs: what they show agrees with what was done, and with the tables of instruments."""

import socket
from dataclasses import replace
from functools import partial

import httpx
import pytest
import trio
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

from tests.eventually import eventually
from tests.process.program import free_port
from tests.vivero.metrics.nodes import running
from vivero.api.http1.listeners import open_listeners
from vivero.api.http1.settings import ServerSettings
from vivero.api.serving.server import Endpoint, serve
from vivero.config.sections import Config, ConfigError
from vivero.config.sources import load
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.engine.supervision.failures import Escalated, leaves
from vivero.engine.supervision.settings import SupervisionSettings
from vivero.metrics.histograms import HISTOGRAMS
from vivero.metrics.instruments import INSTRUMENTS
from vivero.metrics.settings import MetricsSettings
from vivero.processes.admin import merged
from vivero.storage.reads import figures

NAMES = [*(one.name for one in INSTRUMENTS), *(one.name for one in HISTOGRAMS)]
CREATION = "PROCESS_INSTANCE_CREATION:CREATE"
LAG_S = "vivero_log_lag_time_seconds"
QUICK = MetricsSettings(database_every_s=0.05)
FIGURES_EVERY_S = 0.1
"""The pause between two requests of all metrics, of which each takes some milliseconds of CPU."""


async def test_the_sums_of_two_programs_agree_with_what_was_asked(database):
    async with running(database, "one") as one, running(database, "two") as two:
        await one.deploy()
        for node in (one, two, one, two, two):
            await node.create()
        refused = await two.client.post("/v2/process-instances", json={"processDefinitionId": "unknown"})
        assert refused.status_code == 404
        shown = [await node.metrics() for node in (one, two)]

    def total(name, **labels):
        return sum(each.sum(name, **labels) for each in shown if name in {one.name for one in each.all})

    assert [each.labels("vivero_appends_total", "node") for each in shown] == [{"one"}, {"two"}]
    assert shown[0].sum("vivero_appends_total") == 3
    assert shown[1].sum("vivero_appends_total") >= 3
    assert sum(each.sum("vivero_engine_leads") for each in shown) == 1
    (leader,) = (each for each in shown if each.sum("vivero_engine_leads") == 1)
    assert leader.sum("vivero_commands_total", intent=CREATION, outcome="accepted") == 5
    assert leader.sum("vivero_commands_total") == leader.sum("vivero_batch_commands_sum")
    route = {"route": "/v2/process-instances", "method": "POST"}
    assert total("vivero_http_request_time_seconds_count", **route, status="200") == 5


async def test_every_instrument_is_shown(database):
    async with running(database, metrics=QUICK, retention=RetentionSettings(every_s=1)) as node:
        await node.deploy()
        await node.create()
        wanted = {name.replace(".", "_") for name in NAMES}

        async def missing():
            names = (await node.metrics()).names
            return not {each for each in wanted if not any(name.startswith(each) for name in names)} - HIDDEN

        await eventually(missing)


HIDDEN = {
    *(
        "vivero_instances_ended",
        "vivero_jobs_activated",
        "vivero_child_restarts",
        "vivero_incidents",
        "vivero_timers_next_due",
    ),
    *(f"vivero_jobs_{each}" for each in ("completed", "failed", "errors", "canceled")),
    *(f"vivero_agents_{each}" for each in ("calls", "tokens", "cost")),
    *(f"vivero_inbound_{each}" for each in ("events", "errors")),
    *("vivero_incidents_raised", "vivero_incidents_resolved"),
    *("vivero_postgres_replication_lag", "vivero_figures_failures", "vivero_background_executions"),
    *(f"vivero_documents_{each}" for each in ("contents", "size", "unused")),
    *("vivero_trace_spans_exported", "vivero_trace_spans_dropped"),
    *(f"vivero_background_{each}" for each in ("started", "completed", "retried", "failed", "lost")),
}
"""Instruments without a number in this program: nothing ended, failed or was activated, and there are no jobs, no
receivers, no documents and no traces."""


async def test_names_of_clients_are_no_labels(database):
    async with running(database) as node:
        for number, method in enumerate(("PROPFIND", "MOVE", "LOCK", "GET")):
            await node.client.request(method, f"/v2/{number}")
            await node.client.get(f"/v2/process-instances/{number}")
        shown = await node.metrics()
    routes = shown.labels("vivero_http_request_time_seconds_count", "route")
    assert routes == {"unknown", "/ready", "/v2/process-instances/{processInstanceKey}"}
    assert shown.labels("vivero_http_request_time_seconds_count", "method") == {"GET", "other"}


@pytest.mark.long
async def test_the_lag_grows_while_the_consumer_hangs_and_is_gone_when_it_works_again(database, connection):
    supervision = replace(SupervisionSettings(), hang_after_s=4.0)
    async with (
        running(database, metrics=QUICK, chaos=True, supervision=supervision) as node,
        trio.open_nursery() as more,
    ):
        await node.deploy()
        assert node.tree.supervisor.chaos("consumer", "hang")
        more.start_soon(partial(node.client.post, json={"processDefinitionId": "greet"}), "/v2/process-instances")

        async def lag():
            ((_partition, _led, behind, seconds),) = await figures.read(connection, "partitions")
            shown = await node.metrics()
            return behind == 1 and seconds > 0.2 and "vivero_log_lag" in shown.names and shown.sum(LAG_S) > 0.2

        async def none():
            shown = await node.metrics()
            return shown.sum("vivero_log_lag") == shown.sum(LAG_S) == 0 and shown

        await eventually(lag, every_s=FIGURES_EVERY_S)
        shown = await eventually(none, every_s=FIGURES_EVERY_S)
        assert shown.sum("vivero_child_restarts_total", child="consumer", reason="hung") == 1


@pytest.mark.long
async def test_without_a_leader_the_lag_is_shown_too(database, connection):
    """The engine's node is gone; one that serves the API and does the chores tells how far behind the log is."""
    async with running(database, "engine") as engine:
        await engine.deploy()
    async with running(database, "api", metrics=QUICK, roles="api,jobs") as node, trio.open_nursery() as more:
        more.start_soon(node.create)

        async def behind():
            shown = await node.metrics()
            return "vivero_log_lag" in shown.names and shown.sum("vivero_partition_led") == 0 and shown.sum(LAG_S) > 0.1

        await eventually(behind, every_s=FIGURES_EVERY_S)
        more.cancel_scope.cancel()


async def test_metrics_are_pushed_to_a_collector(database):
    received = []

    async def collect(scope, receive, send):
        message = await receive()
        received.append((scope["path"], message["body"]))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    listeners = await open_listeners("127.0.0.1", 0)
    url = f"http://127.0.0.1:{listeners[0].socket.getsockname()[1]}/v1/metrics"
    settings = MetricsSettings(otlp_endpoint=url, otlp_every_s=0.05)
    try:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(
                lambda: serve(collect, Endpoint(listeners), settings=ServerSettings(), drain=trio.Event(), beat=bool)
            )
            async with running(database, metrics=settings) as node:
                await node.deploy()
                before = len(received)
                # The numbers of the first push after it may be older than the deployment.
                await eventually(lambda: len(received), accept=lambda found: found >= before + 2)
                path, body = received[before + 1]
            nursery.cancel_scope.cancel()
    finally:
        for listener in listeners:
            listener.socket.close()
    assert path == "/v1/metrics"
    (resource,) = ExportMetricsServiceRequest.FromString(body).resource_metrics
    names = {one.name: one for scope in resource.scope_metrics for one in scope.metrics}
    assert names["vivero.appends"].sum.data_points[0].as_double + names["vivero.appends"].sum.data_points[0].as_int == 1
    assert names["vivero.append.call.time"].histogram.data_points[0].count == 1
    assert names["process.cpu.time"].sum.data_points[0].as_double > 0
    assert names["process.memory.usage"].gauge.data_points[0].as_double > 1e7
    assert {one.key: one.value.string_value for one in resource.resource.attributes}["service.instance.id"] == "one"


async def _true(value):
    return value


async def test_a_port_of_its_own_serves_metrics_alone(database):
    port = free_port()
    settings = MetricsSettings(port=port)
    async with running(database, metrics=settings) as node:
        assert (await node.client.get("/metrics")).status_code == 404
        base = f"http://127.0.0.1:{port}"
        answer = await eventually(lambda: _reached(node.client, f"{base}/metrics"))
        assert "vivero_appends_total" in answer.text
        assert (await node.client.get(f"{base}/v2/topology")).status_code == 404


async def test_a_taken_port_of_its_own_ends_the_program_with_the_reason(database):
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ExceptionGroup) as raised:
        async with running(database, metrics=MetricsSettings(port=taken.getsockname()[1])):
            await trio.sleep_forever()
    (escalated,) = (leaf for leaf in leaves(raised.value) if isinstance(leaf, Escalated))
    assert str(escalated).endswith("(setting metrics.port)")


async def _reached(client, url):
    try:
        return await client.get(url)
    except httpx.ConnectError:
        return None


async def test_metrics_that_are_off_are_not_there(database):
    async with running(database, metrics=MetricsSettings(enabled=False)) as node:
        answer = await node.client.get("/metrics")
    assert (answer.status_code, answer.json()["detail"]) == (
        404,
        "This node shows no metrics here (metrics.enabled, metrics.port)",
    )


def test_families_of_several_processes_occur_once():
    head = "# HELP a About a.\n# TYPE a counter\n"
    text = merged([f'{head}a{{node="1"}} 1\nb 2\n', f'{head}a{{node="2"}} 3\n'])
    assert text.count("# HELP a") == 1
    assert [line for line in text.splitlines() if line.startswith("a{")] == ['a{node="1"} 1', 'a{node="2"} 3']


def test_a_port_of_its_own_is_not_for_several_processes():
    with pytest.raises(ConfigError, match="the admin port of several processes serves GET /metrics"):
        load(environment={}, flags={"processes": 2, "metrics.port": 9000})
    assert Config().metrics.enabled
