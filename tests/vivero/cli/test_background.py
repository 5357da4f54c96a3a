"""`vivero background`: what the lists print."""

import json
from types import SimpleNamespace

import pytest
import trio
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.server import background
from vivero.cli.shared import each

EXECUTION = {
    "id": "0198",
    "type": "send-invoice",
    "state": "failed",
    "attempts": 3,
    "executeAt": "2027-01-31T03:00:00.000Z",
    "nodeId": None,
    "error": "ValueError: no such order",
}


@pytest.fixture
def asked():
    """The requests of the command."""
    return []


@pytest.fixture
def run(monkeypatch, asked):
    def run(items, *arguments):
        answer = {"items": items, "page": {"totalItems": 7}}
        monkeypatch.setenv("COLUMNS", "200")
        asked.clear()

        async def request(method, path, body=None):
            asked.append((method, path, body))
            return SimpleNamespace(document=answer)

        async def get(path):
            return (await request("GET", path)).document

        client = SimpleNamespace(request=request, get=get)
        monkeypatch.setattr(background, "talk", lambda _address, work: trio.run(work, client))
        return CliRunner().invoke(main, ("background", *arguments), catch_exceptions=False)

    return run


def test_a_list_is_a_table_and_says_what_is_left(run):
    said = run([EXECUTION], "list")
    header, row = said.stdout.splitlines()
    assert header.split() == ["id", "type", "state", "attempts", "due", "node", "error"]
    assert row.split()[:6] == ["0198", "send-invoice", "failed", "3", "2027-01-31", "03:00:00"]
    assert row.endswith("ValueError: no such order")
    assert said.stderr == "6 more; see --limit\n"


def test_a_list_is_a_line_of_json_for_each_execution(run):
    said = run([EXECUTION, EXECUTION], "list", "--json")
    assert [json.loads(line) for line in said.stdout.splitlines()] == [EXECUTION] * 2
    assert said.stderr == ""


def test_chores_of_the_program_are_apart(run, asked):
    run([], "list", "--kind", "chore")
    assert asked[0][2]["filter"] == {"type": None, "state": None, "kind": "chore"}
    run([], "types")
    assert asked == [("GET", "/background-job-types?kind=user", None)]


def test_an_empty_list_has_no_header(run):
    assert run([], "types").stdout == ""


def test_consumers_are_listed_with_what_they_are_behind(run):
    place = {"type": "mirror", "partitionId": 2, "position": "7", "behind": 3, "acknowledged": "2027-01-31T03:00:00Z"}
    header, row = run([place], "consumers").stdout.splitlines()
    assert header.split() == ["type", "partition", "position", "behind", "acknowledged"]
    assert row.split()[:4] == ["mirror", "2", "7", "3"]


class Recording:
    """A client that notes its requests. More than one deletion is needed."""

    def __init__(self) -> None:
        self.asked = []

    async def request(self, method, path, body=None):
        self.asked.append((method, path.removeprefix("/background-jobs"), body))
        deleted = {"deleted": 500, "more": True} if len(self.asked) == 1 else {"deleted": 1, "more": False}
        return SimpleNamespace(document={"id": "0198"} if path == "/background-jobs" else deleted)


MAIL = {"type": "mail", "payload": None, "executeAt": None, "uniqueKey": None}
OLD = {"filter": {"type": "mail", "failedBefore": "2026-01-01T00:00:00Z"}}


@pytest.mark.parametrize(
    ("arguments", "asked", "said"),
    [
        (("add", "mail", "--key", "ann"), [("POST", "", MAIL | {"uniqueKey": "ann"})], "0198\n"),
        (("add", "mail", "--allow-unknown"), [("POST", "", MAIL | {"allowUnknownType": True})], "0198\n"),
        (("delete", "a"), [("DELETE", "/a", None)], "deleted a\n"),
        (
            ("delete", "--all", "--type", "mail", "--failed-before", "2026-01-01T00:00:00Z"),
            2 * [("POST", "/deletion", OLD)],
            "deleted 501 executions\n",
        ),
        (
            ("delete", "--all", "--state", "failed", "--json"),
            2 * [("POST", "/deletion", {"filter": {"state": "failed"}})],
            '{"deleted": 501}\n',
        ),
        (
            ("cancel", "a", "b"),
            [("POST", "/a/cancel", None), ("POST", "/b/cancel", None)],
            "cancelled a\ncancelled b\n",
        ),
    ],
)
def test_unique_executions_are_added_and_runs_are_cancelled(monkeypatch, arguments, asked, said):
    client = Recording()

    def talk(_address, work, _goes_on=None):
        return trio.run(work, client)

    monkeypatch.setattr(background, "talk", talk)
    monkeypatch.setattr(each, "talk", talk)
    done = CliRunner().invoke(main, ("background", *arguments), catch_exceptions=False)
    assert (client.asked, done.stdout) == (asked, said)


@pytest.mark.parametrize(
    "arguments",
    [("delete",), ("delete", "--all"), ("delete", "a", "--all", "--type", "m"), ("delete", "a", "--type", "m")],
)
def test_a_deletion_names_ids_or_what_matches(arguments):
    assert CliRunner().invoke(main, ("background", *arguments)).exit_code == 2


def test_a_server_that_deletes_nothing_is_not_asked_for_ever(monkeypatch):
    async def request(_client, method, path, body):
        return SimpleNamespace(document={"deleted": 0, "more": True})

    monkeypatch.setattr("vivero.client.rest.Client.request", request)
    done = CliRunner().invoke(main, ("background", "delete", "--all", "--state", "failed", "--yes"))
    assert (done.exit_code, "deletes nothing although more match" in done.stderr) == (1, True)


def test_types_that_no_node_runs_are_named(monkeypatch):
    counts = {"running": 0, "failed": 0, "schedule": None, "paused": False}
    items = [
        {"type": "mail", "pending": 1, "nodes": 1, **counts},
        {"type": "mial", "pending": 3, "nodes": 0, **counts},
    ]
    monkeypatch.setattr(background, "talk", lambda _address, _work: {"items": items})
    done = CliRunner().invoke(main, ("background", "types"), catch_exceptions=False)
    assert done.stderr == "no node runs mial: 3 of its executions wait\n"
