"""A real Prometheus scrapes two programs under load: each panel of the dashboard has data, and the alerts work."""

import json
import shutil
import signal
import subprocess

import httpx
import pytest
import trio

from tests import plain_http
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import Load, deploy, send_files
from tests.process.program import free_port
from tests.process.test_logs import FAILING
from tests.vivero.metrics.test_operations import OPERATIONS, panels
from vivero.embedded.processes import dying_with_us

WITHIN_S = 90.0
MIGHT_BE_EMPTY = {"Requests refused or failed", "Refused as too much", "Lateness of timers"}
"""Panels without a series while nothing goes wrong, and while no timer fires."""

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(shutil.which("prometheus") is None, reason="prometheus is not installed (Debian: prometheus)"),
]


class Prometheus:
    """A server of its own, which scrapes every two seconds and evaluates the alerts of `docs/operations`."""

    def __init__(self, directory, ports) -> None:
        self.port = free_port()
        targets = [f"127.0.0.1:{port}" for port in ports]
        configuration = {
            "global": {"scrape_interval": "2s", "evaluation_interval": "1s"},
            "rule_files": [str(OPERATIONS / "alerts.yml")],
            "scrape_configs": [{"job_name": "vivero", "static_configs": [{"targets": targets}]}],
        }
        file = directory / "prometheus.yml"  # JSON is YAML, too
        file.write_text(json.dumps(configuration))
        self._log = (directory / "prometheus.log").open("wb")
        self._process = subprocess.Popen(
            [
                "prometheus",
                f"--config.file={file}",
                f"--storage.tsdb.path={directory / 'series'}",
                f"--web.listen-address=127.0.0.1:{self.port}",
            ],
            stdout=self._log,
            stderr=self._log,
            preexec_fn=dying_with_us(),
        )
        self._client = plain_http.async_client(base_url=f"http://127.0.0.1:{self.port}/api/v1", timeout=10)

    async def ask(self, path, **parameters):
        try:
            answer = await self._client.get(path, params=parameters)
        except httpx.TransportError:
            return None
        if answer.status_code == 503:  # it begins
            return None
        assert answer.status_code == 200, answer.text
        return answer.json()["data"]

    async def query(self, expression):
        found = await self.ask("/query", query=expression)
        return [] if found is None else found["result"]

    async def rules(self):
        found = await self.ask("/rules")
        return {} if found is None else {one["name"]: one for group in found["groups"] for one in group["rules"]}

    async def close(self):
        await self._client.aclose()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(20)
        self._log.close()


@pytest.fixture
async def prometheus(pair, tmp_path):
    server = Prometheus(tmp_path, [program.port for program in pair])
    yield server
    await server.close()


def as_asked(expression):
    """A query of the dashboard, as Grafana asks it."""
    return expression.replace("$__rate_interval", "15s").replace("$node", ".*")


async def give_all_something_to_show(pair):
    """An incident, a job that nobody takes, a request that fails, and a task that restarts too often."""
    async with Caller(pair[0].port) as caller:
        assert (await send_files(caller, {"fails.bpmn": FAILING})).status == 200
        for variables in ({}, {"x": 1, "type": "nobody-works-it"}):
            body = {"processDefinitionId": "fails", "variables": variables}
            assert (await caller.call("POST", "/v2/process-instances", body)).status == 200
        assert (await caller.call("GET", "/v2/process-instances/1")).status == 404
    for _ in range(5):
        assert await pair[1].hurt("listener", "cancel") in (204, 409)
        await pair[1].ready()


async def test_each_panel_has_data_and_an_alert_fires(pair, prometheus):
    await deploy(pair[0].port, "timer_due.bpmn")
    load = Load([program.port for program in pair], workers=4)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)

        async def both_up():
            return [one["value"][1] for one in await prometheus.query("up")] == ["1", "1"]

        await eventually(both_up, "both programs are scraped", within_s=WITHIN_S, every_s=0.2)
        await give_all_something_to_show(pair)
        missing = {}

        async def all_have_data():
            missing.clear()
            for panel in panels():
                for target in panel["targets"]:
                    found = await prometheus.query(as_asked(target["expr"]))
                    if not any(one["value"][1] != "NaN" for one in found) and panel["title"] not in MIGHT_BE_EMPTY:
                        missing[panel["title"]] = target["expr"]
            return not missing

        with trio.move_on_after(WITHIN_S):
            await eventually(all_have_data, "each panel has data", within_s=2 * WITHIN_S, every_s=0.5)
        assert missing == {}

        async def restarts_are_told():
            rules = await prometheus.rules()
            return rules and rules["ViveroTaskRestarts"]["state"] == "firing" and rules

        rules = await eventually(restarts_are_told, "an alert fires", within_s=WITHIN_S, every_s=0.5)
        nursery.cancel_scope.cancel()
    assert {name: rule.get("lastError") for name, rule in rules.items() if rule["health"] != "ok"} == {}
    (alert,) = rules["ViveroTaskRestarts"]["alerts"]
    assert alert["labels"]["child"] == "listener"
    assert "listener" in alert["annotations"]["summary"]
    quiet = {"ViveroLogLag", "ViveroNoLeader", "ViveroFiguresMissing", "ViveroPoolExhausted", "ViveroOldTransaction"}
    assert {name for name in quiet if rules[name]["state"] == "firing"} == set()
