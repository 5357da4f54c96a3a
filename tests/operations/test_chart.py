"""The chart gives what it should: what Helm rendered is kept, and is that of the chart as it stands."""

import functools
import re
import subprocess

import pytest
import yaml

from tests.operations import charts
from tests.operations.tools import ROOT, optional, run, tool
from vivero.config import roles, sections, sources

CUSTOM = {"ServiceMonitor"}
"""Kinds that are no part of Kubernetes; their schemas come with what serves them."""
POD_SETTINGS = {"VIVERO_TOKEN", "VIVERO_ADDRESS", "VIVERO_CONFIG"}


@pytest.fixture
def helm():
    found = optional("helm")
    if found is None:
        pytest.skip("Helm is not installed: make chart builds it, which takes minutes")
    return found


@functools.cache
def manifests(case):
    return [document for document in yaml.safe_load_all((charts.HERE / f"{case}.yaml").read_text()) if document]


def pods(case):
    return [
        (document["metadata"]["name"], document["spec"]["template"]["spec"])
        for document in manifests(case)
        if document["kind"] in ("Deployment", "Job")
    ]


def kinds(case):
    return sorted(f"{document['kind']} {document['metadata']['name']}" for document in manifests(case))


@pytest.mark.parametrize("case", charts.CASES)
def test_what_is_kept_is_what_the_chart_gives(case):
    first = (charts.HERE / f"{case}.yaml").read_text().partition("\n")[0]
    assert first == f"# {charts.digest(case)}: make chart"


@pytest.mark.long
@pytest.mark.parametrize("case", charts.CASES)
def test_helm_renders_the_same(helm, case):
    assert charts.rendered(helm, case) == (charts.HERE / f"{case}.yaml").read_text()


@pytest.mark.long
def test_kubernetes_accepts_the_manifests(tmp_path):
    """Those of all cases and the plain ones in one run, because the tool takes seconds to start."""
    plain = ROOT / "docs" / "operations" / "kubernetes.yaml"
    file = tmp_path / "manifests.yaml"
    known = [document for case in charts.CASES for document in manifests(case) if document["kind"] not in CUSTOM]
    file.write_text(yaml.safe_dump_all(known))
    said = run(tool("kubernetes-validate"), "--strict", file, plain)
    assert said.count("passed") == len(known) + 3


def test_each_case_has_its_parts():
    assert kinds("default") == [
        "Deployment vivero-all",
        "Job vivero-migration",
        "PodDisruptionBudget vivero-all",
        "Service vivero",
        "Service vivero-metrics",
    ]
    assert kinds("production") == [
        "ConfigMap vivero",
        "ConfigMap vivero-migration",
        "Deployment vivero-api",
        "Deployment vivero-engine",
        "Deployment vivero-jobs",
        "HorizontalPodAutoscaler vivero-api",
        "HorizontalPodAutoscaler vivero-engine",
        "Ingress vivero",
        "Job vivero-migration",
        "NetworkPolicy vivero",
        "PodDisruptionBudget vivero-api",
        "PodDisruptionBudget vivero-engine",
        "Service vivero",
        "Service vivero-metrics",
        "ServiceMonitor vivero",
    ]


@pytest.mark.parametrize("case", charts.CASES)
def test_every_variable_is_a_setting(case):
    known = {f"VIVERO_{name.replace('.', '_').upper()}" for name in sections.names()} | set(sources.SHORT_NAMES)
    for name, pod in pods(case):
        for variable in pod["containers"][0]["env"]:
            assert variable["name"].removesuffix("_FILE") in known | POD_SETTINGS, f"{name}: {variable}"
            if variable["name"] == "VIVERO_ROLES":
                assert roles.parse(variable["value"])


def test_the_settings_file_is_read(tmp_path):
    [text, migration] = [
        document["data"]["vivero.toml"] for document in manifests("production") if document["kind"] == "ConfigMap"
    ]
    file = tmp_path / "vivero.toml"
    file.write_text(text)
    assert sources.load(file, {}).auth.oidc_audience == "vivero"
    assert migration == text


def test_every_pod_gets_the_settings_file():
    """Also the job that migrates, which runs before the release's own ConfigMap is there."""
    for name, pod in pods("production"):
        [container] = pod["containers"]
        assert {"name": "VIVERO_CONFIG", "value": "/etc/vivero/vivero.toml"} in container["env"], name
        [source] = [volume["configMap"]["name"] for volume in pod["volumes"] if volume["name"] == "settings"]
        assert source == ("vivero-migration" if name == "vivero-migration" else "vivero"), name
    made = {
        document["kind"]: int(document["metadata"]["annotations"].get("helm.sh/hook-weight", 0))
        for document in manifests("production")
        if document["metadata"]["name"] == "vivero-migration"
    }
    assert made["ConfigMap"] < made["Job"]


@pytest.mark.parametrize("case", charts.CASES)
def test_every_group_can_be_drained(case):
    """A budget that keeps as many pods as there are blocks the drain of a machine for ever."""
    found = {document["metadata"]["name"]: document["spec"] for document in manifests(case) if "spec" in document}
    budgets = [document["spec"] for document in manifests(case) if document["kind"] == "PodDisruptionBudget"]
    assert budgets
    for budget in budgets:
        labels = budget["selector"]["matchLabels"]
        group = f"vivero-{labels['app.kubernetes.io/component']}"
        scalers = [
            document["spec"]["minReplicas"]
            for document in manifests(case)
            if (document["kind"], document["metadata"]["name"]) == ("HorizontalPodAutoscaler", group)
        ]
        assert min(scalers, default=found[group].get("replicas")) > budget["minAvailable"], group


@pytest.mark.parametrize("case", charts.CASES)
def test_nothing_is_open_and_nothing_secret_is_written_down(case):
    text = (charts.HERE / f"{case}.yaml").read_text()
    assert "insecure" not in text.lower()
    for name, pod in pods(case):
        [container] = pod["containers"]
        assert pod["automountServiceAccountToken"] is False, name
        assert pod["securityContext"]["runAsNonRoot"] is True, name
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in pod["volumes"]}, name
        for variable in container["env"]:
            assert not re.search(r"PASSWORD|SECRET|DATABASE_URL|TOKEN", variable["name"]) or (
                "valueFrom" in variable or variable["name"].endswith("_FILE")
            ), variable


@pytest.mark.parametrize("case", charts.CASES)
def test_a_stop_has_the_time_that_it_needs(case):
    longest = re.search(r"terminationGracePeriodSeconds: (\d+)", (ROOT / "docs/operations/kubernetes.yaml").read_text())
    for name, pod in pods(case):
        if "lifecycle" in pod["containers"][0]:
            before = sum(map(int, re.findall(r"\b(\d+)\b", str(pod["containers"][0]["lifecycle"]))))
            assert pod["terminationGracePeriodSeconds"] - before >= int(longest[1]), name


def test_clients_reach_nodes_that_serve_them_alone():
    found = {
        document["metadata"]["name"]: document["spec"]["template"]["metadata"]["labels"]["vivero/serves-clients"]
        for document in manifests("production")
        if document["kind"] == "Deployment"
    }
    assert found == {"vivero-api": "true", "vivero-engine": "false", "vivero-jobs": "false"}
    [service] = [document for document in manifests("production")
                 if (document["kind"], document["metadata"]["name"]) == ("Service", "vivero")]  # fmt: skip
    assert service["spec"]["selector"]["vivero/serves-clients"] == "true"


def test_a_drain_trusts_the_private_authority_of_the_nodes_certificate():
    drains = [str(pod["containers"][0]["lifecycle"]) for name, pod in pods("production") if name == "vivero-engine"]
    assert ["SSL_CERT_FILE=/run/secrets/tls/ca.crt; vivero drain" in drain for drain in drains] == [True]


def test_a_restricted_node_reaches_the_service_that_drains_it():
    [policy] = [document["spec"] for document in manifests("production") if document["kind"] == "NetworkPolicy"]
    own = {"to": [{"podSelector": policy["podSelector"]}], "ports": [{"port": "http"}]}
    assert own in policy["egress"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("nodes[0].roles=everything,nodes[0].name=a", "roles"),
        ("nodez.all.roles=api", "nodez"),
        ("image.repository=", "repository"),
        ("nodes[0].autoscaling.maxReplicas=3,nodes[0].name=a,nodes[0].roles=api", "autoscaling"),
    ],
)
def test_wrong_values_are_named(helm, wrong, said):
    done = subprocess.run(
        (helm, "template", "vivero", charts.CHART, charts.KUBERNETES, "--set", wrong),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert said in done.stderr
