"""`vivero migrate-instance`: the requests that it makes, and what it refuses."""

import json

import httpx
import pytest
from click.testing import CliRunner

from tests.vivero.cli.test_batches import Server, operation
from vivero.cli import main
from vivero.cli.shared import server_options
from vivero.client.rest import Client

PLAN = {
    "mappingInstructions": [
        {"sourceElementId": "a", "targetElementId": "a"},
        {"sourceElementId": "b", "targetElementId": "c"},
    ],
    "elements": [
        {"elementId": "a", "active": 3, "targetElementId": "a", "reason": "SAME_ID"},
        {"elementId": "x", "active": 0, "targetElementId": None, "reason": None},
    ],
}


CALLED = {
    "sourceProcessDefinitionKey": "7",
    "targetProcessDefinitionKey": "8",
    "mappingInstructions": [{"sourceElementId": "k", "targetElementId": "k"}],
    "processDefinitionId": "pay",
    "sourceVersion": 1,
    "targetVersion": 4,
    "active": 2,
    "elements": [{"elementId": "k", "active": 2, "targetElementId": "k", "reason": "SAME_ID"}],
}


class MigrationServer(Server):
    def __call__(self, request) -> httpx.Response:
        if request.url.path.endswith("/migration-plan"):
            body = json.loads(request.content)
            self.asked.append((request.method, request.url.path, body))
            called = [CALLED] if body["includeCalled"] else []
            own = {"sourceProcessDefinitionKey": request.url.path.split("/")[3]}
            own["targetProcessDefinitionKey"] = body["targetProcessDefinitionKey"]
            return httpx.Response(200, json=PLAN | own | {"calledInstances": called})
        if request.url.path in ("/v2/process-instances/9", "/v2/process-instances/99"):
            return httpx.Response(200, json={"processDefinitionKey": "5"})
        if request.url.path.endswith("9/migration"):
            self.asked.append((request.method, request.url.path, json.loads(request.content)))
            return httpx.Response(204, headers={"command-position": "1"})
        return super().__call__(request)


@pytest.fixture
def server(monkeypatch):
    made = MigrationServer()
    transport = httpx.MockTransport(made)
    monkeypatch.setattr(server_options, "Client", lambda *given, **more: Client(*given, **more, transport=transport))
    return made


def invoke(*arguments):
    return CliRunner().invoke(main, ["migrate-instance", *arguments], catch_exceptions=False)


def pairs(*mappings):
    return [{"sourceElementId": one, "targetElementId": other} for one, other in mappings]


def test_by_key(server):
    assert invoke("9", "--to", "6", "--map", "a", "--map", "b:d").exit_code == 0
    body = {"targetProcessDefinitionKey": "6", "mappingInstructions": pairs(("a", "a"), ("b", "d"))}
    assert server.asked == [("POST", "/v2/process-instances/9/migration", body)]


def test_what_is_given_comes_before_what_is_suggested(server):
    assert invoke("9", "--to", "6", "--map", "z:c", "--suggested").exit_code == 0
    (_, path, _), (_, _, body) = server.asked
    assert path == "/v2/process-definitions/5/migration-plan"
    assert body["mappingInstructions"] == pairs(("a", "a"), ("z", "c"))


def test_all_of_a_definition(server):
    server.states = [operation("COMPLETED", 1, Completed=1)]
    result = invoke("--all", "--from", "5", "--to", "6", "--suggested", "--yes")
    assert result.exit_code == 0, result.stderr
    (_, path, body) = server.asked[1]
    assert path == "/v2/process-instances/migration"
    plan = {"targetProcessDefinitionKey": "6", "mappingInstructions": pairs(("a", "a"), ("b", "c"))}
    assert body == {"filter": {"processDefinitionKey": "5"}, "migrationPlan": plan}


def test_the_suggestion_is_shown(server):
    result = invoke("--from", "5", "--to", "6", "--show")
    assert result.stdout == "a\t3 active\ta\tsame id\nx\t0 active\tnot mapped\n"


OF_CALLED = ("sourceProcessDefinitionKey", "targetProcessDefinitionKey", "mappingInstructions")


def test_called_instances_go_to_their_latest_version(server):
    assert invoke("9", "--to", "6", "--map", "a", "--include-called").exit_code == 0
    (_, _, asked), (_, _, body) = server.asked
    assert asked == {"targetProcessDefinitionKey": "6", "includeCalled": True}
    assert body["mappingInstructions"] == pairs(("a", "a")), "no suggestion was asked for"
    assert body["calledInstances"] == [{name: CALLED[name] for name in OF_CALLED}]


def test_called_instances_go_where_they_should(server):
    server.states = [operation("COMPLETED", 1, Completed=1)]
    result = invoke("--all", "--from", "5", "--to", "6", "--map", "a", "--include-called", "--called", "7:3", "--yes")
    assert result.exit_code == 0, result.stderr
    (body,) = [body for _, path, body in server.asked if path == "/v2/process-instances/migration"]
    (called,) = body["migrationPlan"]["calledInstances"]
    assert called == {
        "sourceProcessDefinitionKey": "7",
        "targetProcessDefinitionKey": "3",
        "mappingInstructions": pairs(("a", "a"), ("b", "c")),
    }


def test_keys_share_suggestions(server):
    assert invoke("9", "99", "--to", "6", "--suggested", "--called", "7:3").exit_code == 0
    asked = [path for _, path, _ in server.asked]
    assert sorted(asked) == [
        "/v2/process-definitions/5/migration-plan",
        "/v2/process-definitions/7/migration-plan",
        "/v2/process-instances/9/migration",
        "/v2/process-instances/99/migration",
    ]
    first, second = (body for _, path, body in server.asked if path.endswith("/migration"))
    assert first == second
    assert len(first["calledInstances"]) == 1


def test_the_suggestion_for_called_instances_is_shown(server):
    result = invoke("--from", "5", "--to", "6", "--show", "--include-called")
    assert result.stdout.endswith("\npay\t2 called\tversion 1 to 4\nk\t2 active\tk\tsame id\n")
    result = invoke("--from", "5", "--to", "6", "--show", "--include-called", "--json")
    assert json.loads(result.stdout.splitlines()[-1])["processDefinitionId"] == "pay"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("9",), "Missing option '--to'"),
        (("9", "--to", "6", "--map", ":b"), "expected A:B, or A alone"),
        (("9", "--to", "6", "--map", "a:"), "expected A:B, or A alone"),
        (("9", "--to", "6", "--called", "7"), "--called 7: expected A:B"),
        (("9", "--to", "6", "--called", "7:x"), "'x' is not a key"),
        (("--to", "6", "--show"), "--show needs --from"),
        (("--all", "--to", "6"), "--all needs --from"),
        (("9", "--all", "--to", "6"), "name keys, or use --all"),
    ],
)
def test_command_lines_that_are_wrong(server, arguments, message):
    result = invoke(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert server.asked == []
