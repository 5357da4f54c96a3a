"""`vivero status --processes`: what the parent's admin port says, as the command shows it."""

import json
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import httpx
import pytest
import trio
from click.testing import CliRunner
from rich.text import Text

from vivero.api.http.request import Request
from vivero.cli import main
from vivero.cli.looking.status import duration, figure_texts
from vivero.cli.shared import server_options
from vivero.cli.shared.admin_port import admin_address
from vivero.client.rest import Client
from vivero.engine.supervision.children import ChildHealth
from vivero.processes.admin import Admin
from vivero.processes.channel import Status
from vivero.processes.child_process import NoAnswer


class Process:
    """A process that answers as given."""

    def __init__(self, name, answer) -> None:
        self.name, self.pid, self.answer = name, 40 + int(name), answer

    async def status(self):
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def child(name, healthy=True):
    return ChildHealth(name, "running", healthy, 0.0, 0, True, None)


def said(name, **changes):
    values = {"healthy": True, "connections": 3, "requests": 70, "children": [child("api")]} | changes
    return Status(1, f"node-{name}", accepted=5, **values)


@contextmanager
def admin_port(*answers):
    """The address of a server that gives the status of processes with these answers, and the headers it received."""
    processes = [Process(str(number), answer) for number, answer in enumerate(answers, 1)]
    asked = Request("GET", "/status", [], b"", b"", {})
    response = trio.run(Admin(processes, lambda: [child("postgresql")], False).status, asked)
    received = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            received.append((self.path, dict(self.headers)))
            self.send_response(response.status)
            self.send_header("content-length", str(len(response.body)))
            self.end_headers()
            self.wfile.write(response.body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}", received
        finally:
            server.shutdown()
            thread.join()


def status(*arguments, **environment):
    return CliRunner().invoke(main, ("status", *arguments), env=environment, catch_exceptions=False)


FIGURES = {
    "partitions": [
        {"partitionId": 1, "hasLeader": True, "commands": 1200, "seconds": 3.25},
        {"partitionId": 2, "hasLeader": False, "commands": 7, "seconds": 9.0},
    ],
    "instances": {"running": 12345},
    "jobs": {"ready": 3, "leased": 0, "backoff": 1, "failed": 0},
    "incidents": {"active": 2},
    "timers": {"pending": 4, "overdueSeconds": 30.0},
    "waiting": {"messages": 5, "userTasks": 6},
    "retention": [
        {
            "partitionId": 1,
            "behindSeconds": 5.0,
            "deleted": 1234,
            "secondsSinceRun": 61.0,
            "overdueSeconds": 0.0,
            "archiveAwaySeconds": 0.0,
            "logsKeptBy": None,
            "deletedByLastRun": 7,
            "overdueKey": None,
            "overdueBecauseOf": None,
        },
        {
            "partitionId": 2,
            "behindSeconds": 7200.0,
            "deleted": 0,
            "secondsSinceRun": 1.0,
            "overdueSeconds": 90000.0,
            "archiveAwaySeconds": 600.0,
            "logsKeptBy": "consumer",
            "deletedByLastRun": 0,
            "overdueKey": "77",
            "overdueBecauseOf": "a start lock",
        },
    ],
    "server": {"databaseBytes": 1_234_000_000},
}


def test_figures_for_people():
    assert [(name, Text.from_markup(text).plain) for name, text in figure_texts(FIGURES)] == [
        ("backlog", "1,207 commands, the oldest 9.0 s old"),
        ("partition", "2: no node leads it"),
        ("instances", "12,345 running"),
        ("jobs", "3 ready, 1 backoff"),
        ("incidents", "2"),
        ("timers", "4 pending, overdue by 30.0 s"),
        ("waiting", "6 user tasks, 5 messages"),
        ("retention", "partition 1: 1,234 deleted, 7 by the last run 1 min 1 s ago"),
        (
            "retention",
            "partition 2: 0 deleted, 0 by the last run 1 s ago, the archive has been away for 10 min 0 s, 2 h 0 min"
            " behind the clock, 77 stays 1 d 1 h too long: a start lock, old logs stay because of a consumer of events"
            " that stands still",
        ),
        ("database", "1,234 MB"),
    ]
    assert list(figure_texts(dict.fromkeys(FIGURES))) == []


def test_counts_that_ended_at_the_limit_say_so():
    shown = dict(figure_texts(FIGURES | {"maxCount": 4}))
    assert (shown["jobs"], shown["waiting"]) == ("4+; of the first: 3 ready, 1 backoff", "6+ user tasks, 5+ messages")
    assert shown["backlog"].startswith("1,207+ commands")
    assert shown["incidents"] == "[red]2[/]"


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.9, "59 s"), (3_600, "1 h 0 min"), (90_000, "1 d 1 h"), (-5, "0 s")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_each_process_is_shown():
    with admin_port(said("1"), said("2", requests=8)) as (address, received):
        shown = status("--processes", "--admin", address, VIVERO_TOKEN="secret")
        as_json = status("--admin", address, "--json")
    assert shown.exit_code == 0, shown.output
    assert [line.split() for line in shown.stdout.splitlines()] == [
        ["process", "health", "pid", "node", "connections", "requests"],
        ["1", "healthy", "41", "node-1", "3", "70"],
        ["2", "healthy", "42", "node-2", "3", "8"],
    ]
    assert shown.stderr == "2 processes: 6 connections, 78 requests\n"
    assert json.loads(as_json.stdout)["requests"] == 78
    assert {path for path, _ in received} == {"/status"}
    assert not [headers for _, headers in received if "authorization" in map(str.lower, headers)]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (NoAnswer("process 2 does not answer"), "process 2 does not answer"),
        (said("2", healthy=False, children=[child("timers", False)]), "process 2: timers makes no progress"),
    ],
)
def test_an_unhealthy_process_is_named_and_fails_the_command(answer, problem):
    with admin_port(said("1"), answer) as (address, _):
        shown = status("--admin", address)
    assert shown.exit_code == 1
    assert shown.stdout.splitlines()[2].split()[:2] == ["2", "unhealthy"]
    assert shown.stderr.splitlines()[1:] == [problem]


@pytest.mark.parametrize("source", ["environment", "file"])
def test_the_settings_name_the_admin_port(tmp_path, source):
    """Without a server at the default port, and with one at the setting's."""
    with admin_port(said("1")) as (address, received):
        port = address.rpartition(":")[2]
        if source == "file":
            (tmp_path / "vivero.toml").write_text(f"[admin]\nport = {port}\n")
            shown = status("--processes", "--config", str(tmp_path / "vivero.toml"))
        else:
            shown = status("--processes", VIVERO_ADMIN_PORT=port)
    assert shown.exit_code == 0, shown.output
    assert [path for path, _ in received] == ["/status"]


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({}, "http://127.0.0.1:9600"),
        ({"VIVERO_ADMIN_HOST": "0.0.0.0", "VIVERO_ADMIN_PORT": "7"}, "http://127.0.0.1:7"),
        ({"VIVERO_ADMIN_HOST": "::1"}, "http://[::1]:9600"),
    ],
)
def test_the_address_to_connect_to(monkeypatch, settings, address):
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    assert admin_address(None) == address


def test_a_port_that_the_server_chose_must_be_named():
    shown = status("--processes", VIVERO_ADMIN_PORT="0")
    assert shown.exit_code == 1
    assert "name it with --admin" in shown.stderr


def test_without_an_admin_port_the_command_says_who_has_one(unused_port):
    shown = status("--admin", f"http://127.0.0.1:{unused_port}")
    assert shown.exit_code == 1
    assert "no server answers" in shown.stderr
    assert "Only a program with --processes has an admin port." in shown.stderr


class Locked:
    """A server with authentication: only the health is for everybody."""

    def __call__(self, request) -> httpx.Response:
        if request.url.path == "/v2/status":
            return httpx.Response(204)
        return httpx.Response(401, json={"title": "Unauthorized", "status": 401, "detail": "needs credentials"})


def test_without_credentials_the_health_is_shown(monkeypatch):
    monkeypatch.setattr(server_options, "Client", partial(Client, transport=httpx.MockTransport(Locked())))
    nobody = dict.fromkeys(("VIVERO_TOKEN", "VIVERO_USERNAME", "VIVERO_ADDRESS"))
    said = CliRunner().invoke(main, ["status"], env=nobody)
    assert (said.exit_code, said.stdout.splitlines()[0]) == (0, "health\thealthy")
    assert "VIVERO_TOKEN" in said.stdout
    wrong = CliRunner().invoke(main, ["status"], env={**nobody, "VIVERO_TOKEN": "wrong"})
    assert wrong.exit_code == 1
    assert "needs credentials (401 Unauthorized). Set VIVERO_TOKEN" in wrong.stderr


@pytest.mark.parametrize(("slow", "shown"), [(True, ["too slow: it withholds 93% of the time"]), (False, [])])
def test_a_server_on_a_slow_machine_is_healthy_and_says_so(monkeypatch, slow, shown):
    answers = {
        "/v2/topology": {"brokers": [], "gatewayVersion": "8.9.0", "clusterId": "c"},
        "/cluster/nodes": {"nodes": []},
        "/cluster/status": {"machine": {"slow": slow, "withheldShare": 0.93, "withheldSeconds": 9.0}},
        "/cluster/figures": {},
    }

    def answer(request):
        found = answers.get(request.url.path)
        return httpx.Response(204) if found is None else httpx.Response(200, json=found)

    monkeypatch.setattr(server_options, "Client", partial(Client, transport=httpx.MockTransport(answer)))
    said = CliRunner().invoke(main, ["status"], catch_exceptions=False)
    lines = said.stdout.splitlines()
    assert (said.exit_code, lines[0]) == (0, "health\thealthy")
    assert [line.split("\t")[1][:38] for line in lines if line.startswith("machine")] == shown


@pytest.mark.parametrize(
    ("path", "answer", "why"),
    [
        ("/v2/topology", {}, "missing required field `brokers`"),
        ("/v2/topology", {"brokers": [1], "gatewayVersion": "8", "clusterId": None}, "`$.brokers[0]`"),
        ("/cluster/nodes", {"nodes": 7}, "Expected `array`, got `int`"),
        ("/cluster/nodes", {"nodes": [{}]}, "`$.nodes[0]`"),
        ("/cluster/status", {"machine": []}, "Expected `object`, got `array`"),
        ("/cluster/figures", {"timers": {}}, "`$.timers`"),
    ],
)
def test_an_answer_of_another_program_is_named(monkeypatch, path, answer, why):
    usual = {"/v2/topology": {"brokers": [], "gatewayVersion": "8", "clusterId": None}, "/cluster/nodes": {"nodes": []}}

    def reply(request):
        return httpx.Response(200, json=answer if request.url.path == path else usual.get(request.url.path, {}))

    monkeypatch.setattr(server_options, "Client", partial(Client, transport=httpx.MockTransport(reply)))
    said = CliRunner().invoke(main, ["status"], catch_exceptions=False)
    assert (said.exit_code, said.stdout) == (1, "")
    assert said.stderr.startswith(f"Error: the answer of {path} is not as expected: ")
    assert why in said.stderr
    assert said.stderr.endswith(": is it a Vivero server?\n")
