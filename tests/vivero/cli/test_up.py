"""`vivero up` as a process: what it says, how it ends, and that it goes on where it stood."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests import plain_http
from tests.eventually import eventually_sync

pytestmark = pytest.mark.process

MODEL = Path(__file__).parents[3] / "examples" / "first" / "greet.bpmn"
LATE = {
    "boto3",
    "cryptography",
    "httpcore",
    "httpx",
    "hypercorn",
    "jinja2",
    "jwt",
    "opentelemetry",
    "prometheus_client",
    "quart",
    "rich",
    "trio_asyncio",
}
"""The modules that a server imports when a setting or a request needs it."""


def post(address, path, body):
    return plain_http.post(f"{address}{path}", json=body, timeout=30)


def deploy(address):
    plain_http.post(
        f"{address}/v2/deployments", files=[("resources", ("greet.bpmn", MODEL.read_bytes()))], timeout=30
    ).raise_for_status()


def one_line(program):
    return program.ends(), program.logged.splitlines()[-1:]


def test_it_says_what_runs_and_ends_when_told(up, database, ask):
    program = up(database, "--chaos")
    version = ask(database, "SHOW server_version")
    assert "Vivero is ready" in program.said
    assert f"{program.address}/v2" in program.said
    assert f"PostgreSQL   {version} at " in program.said
    assert "fsync off, synchronous_commit off: a crash may lose acknowledged commands" in program.said
    assert "chaos        on" in program.said
    program.process.send_signal(signal.SIGTERM)
    assert program.ends() == 0
    assert "Traceback" not in program.logged


def test_it_is_ready_before_the_libraries_that_few_use_are_imported(database):
    """They made up half of the time of a start: pages, TLS, connectors, tokens, metrics, archives."""
    code = f"""
import gc, os, sys
from vivero.cli import main
from vivero.cli.shared import loading
server = loading.load("vivero.cli.server.up")
def ready(*_):
    found = sorted({LATE!r} & set(sys.modules))
    print(found, gc.isenabled(), gc.get_freeze_count() > 100_000, flush=True)
    os._exit(0)
server._say_ready = ready
main(["up", "--port", "0", "--database-url", {database!r}])
"""
    environment = {**os.environ, "VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "true"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env=environment)
    assert (done.stdout, done.stderr) == ("[] True True\n", "")


def test_it_goes_on_where_it_stood(up, database):
    first = up(database)
    deploy(first.address)
    created = post(first.address, "/v2/process-instances", {"processDefinitionId": "greet"}).json()
    first.process.send_signal(signal.SIGINT)
    assert first.ends() == 0

    second = up(database)
    wanted = {"type": "greet", "timeout": 60000, "maxJobsToActivate": 10, "requestTimeout": 20000}
    [job] = post(second.address, "/v2/jobs/activation", wanted).json()["jobs"]
    assert job["processInstanceKey"] == created["processInstanceKey"]
    assert post(second.address, f"/v2/jobs/{job['jobKey']}/completion", {}).status_code == 204
    instance = plain_http.get(f"{second.address}/v2/process-instances/{created['processInstanceKey']}").json()
    assert instance["state"] == "COMPLETED"
    second.process.send_signal(signal.SIGTERM)
    assert second.ends() == 0


def test_the_log_is_json_on_request(up, database):
    program = up(database, "--log-format", "json")
    program.process.send_signal(signal.SIGTERM)
    assert program.ends() == 0
    lines = [json.loads(line) for line in program.logged.splitlines() if not line.startswith("migration ")]
    assert {"level", "timestamp", "event"} <= lines[0].keys()
    assert any(line["event"] == "stopping" and line["signal"] == "SIGTERM" for line in lines)


def test_the_node_is_known_by_the_name_it_leads_with(up, database):
    program = up(database, VIVERO_API_NODE_NAME="blue")

    def brokers():
        return plain_http.get(f"{program.address}/v2/topology").json()["brokers"]

    eventually_sync(
        lambda: [partition["role"] for broker in brokers() for partition in broker["partitions"]],
        accept=lambda found: found == ["leader"],
    )
    assert brokers()[0]["brokerId"].startswith("blue-")


def test_limits_of_expressions_hold_for_what_is_evaluated_and_what_is_deployed(up, database):
    program = up(database, VIVERO_FEEL_STEPS="100", VIVERO_FEEL_SOURCE_LENGTH="60")
    sum_up = {"expression": "=sum(for i in 1..1000 return i)"}
    assert "100" in post(program.address, "/v2/expression/evaluation", sum_up).json()["detail"]
    assert post(program.address, "/v2/expression/evaluation", {"expression": "=1" + "+1" * 40}).status_code == 400
    model = MODEL.read_text().replace('type="greet"', f'type="=&quot;a&quot;{"+&quot;a&quot;" * 40}"')
    files = [("resources", ("greet.bpmn", model.encode()))]
    refused = plain_http.post(f"{program.address}/v2/deployments", files=files)
    assert refused.status_code == 400
    assert "at most 60" in refused.json()["detail"]


def test_too_many_failures_end_it_with_70(up, database):
    program = up(database, "--chaos", VIVERO_SUPERVISION_MAX_FAILURES="0")
    plain_http.post(f"{program.address}/chaos/children/listener?kind=raise").raise_for_status()
    code, said = one_line(program)
    assert code == 70
    assert said[0].startswith("Error: ")
    assert "Traceback" not in said[0]


def test_a_port_that_is_taken(vivero, database):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        program = vivero("up", "--port", port, "--database-url", database)
        assert one_line(program) == (
            1,
            [
                f"Error: cannot listen on port {port} of 127.0.0.1: another program is already listening there; "
                "stop it, or choose another port"
            ],
        )
    assert "Traceback" not in program.logged


@pytest.mark.parametrize(
    ("url", "complaint"),
    [("postgresql://127.0.0.1:{port}/x", "127.0.0.1"), ("nonsense", "the database URL is not valid")],
)
def test_a_database_that_cannot_be_used(vivero, unused_port, url, complaint):
    program = vivero("up", "--port", "0", "--database-url", url.format(port=unused_port))
    assert program.ends() == 1
    assert program.logged.startswith("Error: ")
    assert complaint in program.logged
    assert "Traceback" not in program.logged


def test_commits_that_could_be_lost_are_refused(vivero, database):
    program = vivero("up", "--port", "0", "--database-url", database)
    assert program.ends() == 1
    assert program.logged.startswith("Error: ")
    assert "synchronous_commit" in program.logged
    assert "Traceback" not in program.logged


@pytest.mark.long
def test_migrating_beforehand(vivero, empty_database):
    unsafe = {"VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS": "on"}
    checked = vivero("migrate", "--check", "--database-url", empty_database, **unsafe)
    assert checked.ends() == 1
    assert "pending: 0051_" in checked.logged
    done = vivero("migrate", "--database-url", empty_database, **unsafe)
    assert done.ends() == 0
    assert "migrations done; the schema is up to date" in done.said
    assert "making the tables of a new database" in done.logged
    again = vivero("migrate", "--check", "--database-url", empty_database, **unsafe)
    assert (again.ends(), again.said) == (0, "the schema is up to date\n")


def test_the_url_of_the_embedded_server(vivero, postgres_root, postgres_dsn):
    program = vivero("database-url", "--data-dir", str(postgres_root))
    assert (program.ends(), program.said) == (0, f"{postgres_dsn}\n")


@pytest.mark.long
def test_a_version_that_is_not_adjacent_does_not_start(up, vivero, database):
    """And leaves the database and the running node as they are."""
    running = up(database)

    def versions():
        return {broker["version"] for broker in plain_http.get(f"{running.address}/v2/topology").json()["brokers"]}

    eventually_sync(versions, accept=lambda found: found == {"0.1.0"})
    arguments = ("up", "--port", "0", "--database-url", database)
    status, (said,) = one_line(
        vivero(*arguments, VIVERO_DATABASE_ALLOW_UNSAFE_COMMITS="on", VIVERO_API_VERSION="0.3.0")
    )
    assert status == 1
    assert "runs version 0.1.0, and this program is version 0.3.0" in said
    assert said.endswith("Upgrade that node to version 0.2 first, or stop all other nodes")
    adjacent = up(database, VIVERO_API_VERSION="0.2.0")
    eventually_sync(versions, accept=lambda found: found == {"0.1.0", "0.2.0"})
    adjacent.process.send_signal(signal.SIGTERM)
    assert adjacent.ends() == 0
