"""The Dockerfile, compose.yaml, the unit of systemd and the manifests are accepted by the tools that read them."""

import json
import re
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml

from tests.operations import third_party
from tests.operations.tools import ROOT, run, tool
from vivero.config import sections, sources
from vivero.processes.parent import longest_stop_s

OPERATIONS = ROOT / "docs" / "operations"
COMPOSE = OPERATIONS / "compose"
FILES = (
    *(ROOT / "Dockerfile", ROOT / "compose.yaml", COMPOSE / "database.yaml", COMPOSE / "oidc.yaml"),
    *(OPERATIONS / "vivero.service", OPERATIONS / "kubernetes.yaml"),
)
SECRETS = {"VIVERO_DB_PASSWORD": "p", "VIVERO_ADMIN_PASSWORD": "a"}
OF_COMPOSE = {*SECRETS, "VIVERO_IMAGE"}
KEYCLOAK = {"KEYCLOAK_ADMIN_PASSWORD": "k", "KEYCLOAK_CLIENT_SECRET": "c"}


def code(path):
    """The lines of a file that are no comments."""
    return "\n".join(line for line in path.read_text().splitlines() if not line.lstrip().startswith("#"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_every_setting_exists_and_nothing_is_open(path):
    text = code(path)
    variables = {f"VIVERO_{name.replace('.', '_').upper()}" for name in sections.names()} | set(sources.SHORT_NAMES)
    known = variables | {f"{name}_FILE" for name in variables}
    others = {*sources.OTHER_VARIABLES, *OF_COMPOSE}
    assert set(re.findall(r"\bVIVERO_[A-Z_]+", text)) - known - others == set()
    assert "insecure" not in text.lower()
    assert "VIVERO_AUTH_MODE=required" in code(ROOT / "Dockerfile"), "and so in what is made of it"


def test_a_program_has_the_time_that_its_longest_stop_takes():
    limits = r"(?:terminationGracePeriodSeconds: |TimeoutStopSec=|stop_grace_period: )(\d+)"
    seconds = [int(found) for path in FILES for found in re.findall(limits, code(path))]
    assert len(seconds) == 5, "one for each program, and one for PostgreSQL in compose.yaml"
    assert longest_stop_s(sections.Config(processes=6, engine_processes=2)) < min(seconds)


def test_the_unit_asks_for_credentials():
    text = (ROOT / "docs" / "installation.md").read_text()
    assert 'mode = "required"' in text


def test_the_image_is_small_and_has_no_root():
    text = code(ROOT / "Dockerfile")
    last = text.rpartition("FROM ")[2]
    assert re.search(r"^USER [1-9]\d*:[1-9]\d*$", last, re.MULTILINE)
    assert not re.search(r"^(RUN|COPY) (?!--from=build)", last, re.MULTILINE)
    assert "/ready" in last


def test_hadolint_accepts_the_dockerfile():
    assert run(tool("hadolint"), "Dockerfile") == ""


def test_the_image_gets_all_that_the_wheel_is_built_of():
    """The .dockerignore must not hide what pyproject.toml names."""
    visible = set(re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE))
    needed = {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "hatch_build.py",
        "vivero",
        "core",
        "engine",
        "storage",
        "api",
        "console",
    }
    assert needed | {"examples", "requirements"} == visible


def composed(*files, **environment):
    """The services that Compose reads from files. Fails with its message if it refuses them."""
    options = [word for file in files for word in ("-f", file)]
    return yaml.safe_load(run(tool("docker-compose"), *options, "config", **environment))["services"]


def test_compose_accepts_its_file_and_wants_passwords():
    services = composed("compose.yaml", **SECRETS)
    assert services["vivero"]["environment"]["PGPASSWORD"] == "p"
    assert services["vivero"]["image"] == f"vivero:{version('vivero')}"
    assert "build" not in services["vivero"]
    [port] = services["vivero"]["ports"]
    assert port["host_ip"] == "127.0.0.1", "no TLS, so this machine alone"
    refused = run(tool("docker-compose"), "-f", "compose.yaml", "config", **SECRETS | {"VIVERO_ADMIN_PASSWORD": ""})
    assert "set it in the file .env" in refused


def test_compose_accepts_a_database_apart_and_an_identity_provider():
    """The server and the realm say the same of the client; the image is the one that is asked for."""
    image = {"VIVERO_IMAGE": "registry.example.com/vivero:1"}
    apart = composed(COMPOSE / "database.yaml", **SECRETS, **image)["vivero"]
    assert apart["image"] == image["VIVERO_IMAGE"]
    assert apart["secrets"] == [{"source": "database-url", "target": "/run/secrets/database-url"}]
    services = composed("compose.yaml", COMPOSE / "oidc.yaml", **SECRETS, **KEYCLOAK)
    server, provider = services["vivero"]["environment"], services["id"]["environment"]
    realm = json.loads((COMPOSE / "realm.json").read_text())
    [client] = realm["clients"]
    assert server["VIVERO_AUTH_OIDC_ISSUER"] == f"{provider['KC_HOSTNAME']}/realms/{realm['realm']}"
    assert server["VIVERO_AUTH_OIDC_CLIENT_ID"] == client["clientId"]
    assert server["VIVERO_AUTH_OIDC_CLIENT_SECRET"] == provider["KEYCLOAK_CLIENT_SECRET"] == "c"
    assert client["redirectUris"] == [f"{server['VIVERO_AUTH_PUBLIC_URL']}/console/login/return"]
    [mapper] = client["protocolMappers"]
    assert mapper["config"]["included.client.audience"] == server["VIVERO_AUTH_OIDC_AUDIENCE"]


def test_systemd_accepts_the_unit(tmp_path):
    unit = tmp_path / "vivero.service"
    program = Path(sys.executable).with_name("vivero")
    unit.write_text((OPERATIONS / "vivero.service").read_text().replace("/opt/vivero/bin/vivero", str(program)))
    assert run(tool("systemd-analyze"), "verify", "--man=no", unit) == ""
    run(tool("systemd-analyze"), "security", "--offline=true", "--threshold=20", unit)


def test_the_probes_exist():
    paths = re.findall(r"path: (/\w+)", code(OPERATIONS / "kubernetes.yaml"))
    routes = (ROOT / "api" / "routes" / "probes.py").read_text()
    assert sorted(paths[:3]) == ["/live", "/ready", "/startup"]
    assert all(f"GET {path}:" in routes for path in paths[:3])


def test_the_page_of_licences_has_what_is_installed():
    page = (ROOT / "docs" / "third-party.md").read_text()
    listed = {
        name.lower(): text
        for text, names in re.findall(r"^- (.+?): (`.+)$", page, re.MULTILINE)
        for name in re.findall("`(.+?)`", names)
    }
    program = third_party.closure(f"vivero[{','.join(third_party.extras())}]")
    del program["vivero"]
    assert set(program) - set(listed) == set(), "python -m tests.operations.third_party > docs/third-party.md"
    assert [name for name, reason in third_party.reasons().items() if not reason] == [], "say in pyproject.toml why"
    assert third_party.purposes() in page
    console = third_party.console_packages()
    assert {name: listed.get(name.lower()) for name in console} == console
    locked = set(re.findall(r"^([\w.-]+)==", (ROOT / "requirements" / "program.txt").read_text(), re.MULTILINE))
    assert len(locked & set(listed)) > 50
