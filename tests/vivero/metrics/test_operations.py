"""The dashboard and the alerts of docs/operations: their metrics exist, and Prometheus' own tool accepts the rules."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.vivero.metrics.names import shown
from vivero.metrics.histograms import HISTOGRAMS
from vivero.metrics.instruments import INSTRUMENTS, InstrumentKind

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations"
OF_PYTHON = {"process_cpu_seconds_total", "process_resident_memory_bytes"}


METRICS = OF_PYTHON | {shown(one) + "_total" * (one.kind is InstrumentKind.COUNTER) for one in INSTRUMENTS}
METRICS |= {shown(one) + end for one in HISTOGRAMS for end in ("_bucket", "_sum", "_count")}


def metrics_of(expression):
    return set(re.findall(r"\b(?:vivero|process)_[a-z_]+", expression))


def panels():
    return [
        one for one in json.loads((OPERATIONS / "grafana-dashboard.json").read_text())["panels"] if "targets" in one
    ]


def test_the_dashboard_shows_metrics_that_exist():
    shown = {panel["title"]: metrics_of(" ".join(one["expr"] for one in panel["targets"])) for panel in panels()}
    assert all(shown.values())
    assert {title: names - METRICS for title, names in shown.items() if names - METRICS} == {}


def test_the_panels_do_not_overlap():
    taken = set()
    for panel in json.loads((OPERATIONS / "grafana-dashboard.json").read_text())["panels"]:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert place["x"] + place["w"] <= 24, panel["title"]
        taken |= cells


def test_the_alerts_ask_for_metrics_that_exist():
    rules = (OPERATIONS / "alerts.yml").read_text()
    asked = metrics_of(" ".join(re.findall(r"expr: (?:>-\n)?((?:.|\n)+?)\n +(?:for|labels):", rules)))
    assert len(asked) > 10
    assert asked <= METRICS


@pytest.mark.long
@pytest.mark.parametrize("command", [("check", "rules", "alerts.yml"), ("test", "rules", "alerts.test.yml")])
def test_the_tool_of_prometheus_accepts_the_rules(command):
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    done = subprocess.run([tool, *command], cwd=OPERATIONS, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_each_alert_is_made_to_fire_in_a_test():
    """`promtool test rules` runs these: series in, alerts out."""
    alerts = set(re.findall(r"- alert: (\w+)", (OPERATIONS / "alerts.yml").read_text()))
    fired = re.findall(r"alertname: (\w+)\s+exp_alerts:\s*\n\s*- ", (OPERATIONS / "alerts.test.yml").read_text())
    assert alerts - set(fired) == set()


def test_each_alert_is_in_the_runbook():
    alerts = re.findall(r"- alert: (\w+)", (OPERATIONS / "alerts.yml").read_text())
    assert sorted(re.findall(r"\*\*(Vivero\w+)\*\*", (OPERATIONS / "runbook.md").read_text())) == sorted(alerts)


def test_every_query_of_the_dashboard_can_be_parsed(tmp_path):
    """As rules: the tool parses the expressions of rules."""
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed (Debian: prometheus)")
    queries = [one["expr"] for panel in panels() for one in panel["targets"]]
    rules = [
        {"record": f"query:{number}", "expr": query.replace("$__rate_interval", "1m").replace("$node", ".*")}
        for number, query in enumerate(queries)
    ]
    file = tmp_path / "queries.yml"  # JSON is YAML, too
    file.write_text(json.dumps({"groups": [{"name": "dashboard", "rules": rules}]}))
    done = subprocess.run([tool, "check", "rules", file], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
