"""`--dry-run` and `vivero undo`: the requests, the diff, the question before the act, and the exit codes."""

import json

import httpx
import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.processes import previews
from vivero.cli.shared import server_options, streams
from vivero.client.rest import Client

NOTHING = {"opens": 0, "closes": 0, "stays": 0}
ITEM = {"formerElementId": None, "key": None}
REPORT = {
    "version": 7,
    "state": "ACTIVE",
    "lines": [],
    "effects": {
        "counts": {
            **dict.fromkeys(previews.KINDS, NOTHING),
            "elements": {"opens": 1, "closes": 1, "stays": 2},
            "jobs": {"opens": 1, "closes": 0, "stays": 1},
        },
        "items": [
            ITEM | {"effect": "OPENS", "kind": "USER_TASK", "elementId": "c", "detail": "unassigned"},
            ITEM | {"effect": "CLOSES", "kind": "JOB", "elementId": "a", "detail": "type a", "key": "12"},
            ITEM
            | {
                "effect": "STAYS",
                "kind": "ELEMENT",
                "elementId": "bb",
                "formerElementId": "b",
                "detail": "T",
                "key": "3",
            },
            ITEM | {"effect": "STAYS", "kind": "ELEMENT", "elementId": "p", "detail": "PROCESS", "key": "9"},
        ],
        "itemCount": 1_234,
        "starvingJoins": [{"elementId": "j", "scopeElementId": "p", "missingFlowIds": ["f1", "f2"]}],
    },
    "problems": [],
    "refusal": None,
}
REFUSED = REPORT | {
    "problems": [{"elementId": "x", "message": "unknown"}, {"elementId": None, "message": "too many"}],
    "refusal": {"status": 409, "title": "INVALID_STATE"},
}
DIFF = """\
9 at version 7: it would be ACTIVE
  + user task c, unassigned
  - job a, type a [12]
  ~ element b -> bb, T [3]
  ! j in p would wait for ever: no token can come to f1, f2
  stays: 2 elements, 1 jobs
  and more: there are 1,234 effects
"""


class Server:
    """Answers with `report` to dry runs, with `offer` to questions about undo, and 204 to all else."""

    def __init__(self) -> None:
        self.asked, self.report = [], REPORT
        self.offer = {"offered": True, "operation": "MIGRATE", "version": 7, "reason": None}

    def __call__(self, request) -> httpx.Response:
        body = json.loads(request.content) if request.content else None
        self.asked.append((request.method, request.url.raw_path.decode(), body))
        if request.url.query:
            return httpx.Response(200, json=self.report)
        if request.method == "GET":
            return httpx.Response(200, json=self.offer)
        return httpx.Response(204, headers={"command-position": "1"})


@pytest.fixture
def server(monkeypatch):
    server = Server()
    transport = httpx.MockTransport(server)
    monkeypatch.setattr(server_options, "Client", lambda *given, **more: Client(*given, **more, transport=transport))
    return server


@pytest.fixture
def person(monkeypatch):
    """A person is at the terminal."""
    monkeypatch.setattr(streams, "is_a_person_there", lambda: True)


def invoke(*arguments, **options):
    return CliRunner().invoke(main, arguments, catch_exceptions=False, **options)


COMMANDS = {
    "modification": ("modify", "9", "--terminate", "a"),
    "migration": ("migrate-instance", "9", "--to", "6", "--map", "a"),
    "suspension": ("suspend", "9"),
    "resumption": ("resume", "9"),
}
UNASKED = {"cancellation": ("cancel", "9"), "business-id-assignment": ("assign-business-id", "9", "order-7")}
"""Those that ask nobody before."""


@pytest.mark.parametrize("operation", COMMANDS | UNASKED)
def test_a_dry_run_is_a_diff(server, operation):
    result = invoke(*(COMMANDS | UNASKED)[operation], "--dry-run")
    assert (result.exit_code, result.output) == (0, DIFF)
    ((method, path, _),) = server.asked
    assert (method, path) == ("POST", f"/v2/process-instances/9/{operation}?dryRun=true")


def test_all_problems_of_a_refusal(server):
    server.report = REFUSED
    result = invoke("suspend", "9", "8", "--dry-run")
    assert result.exit_code == 1
    told = "{} at version 7: refused with 409 INVALID_STATE\n  ! x: unknown\n  ! too many\n"
    assert result.output == told.format(9) + told.format(8)


def test_json_is_the_report(server):
    result = invoke("resume", "9", "--dry-run", "--json")
    assert json.loads(result.output) == {"key": "9", **REPORT}


@pytest.mark.parametrize("operation", COMMANDS)
@pytest.mark.parametrize(("said", "sent"), [("y\n", 1), ("n\n", 0)])
def test_a_person_is_asked_before(server, person, operation, said, sent):
    result = invoke(*COMMANDS[operation], input=said)
    assert result.exit_code == 1 - sent
    assert f"{previews.VERBS[operation]} process instance 9?" in result.stderr
    assert len(server.asked) == sent


@pytest.mark.parametrize("operation", COMMANDS)
def test_yes_answers_the_question(server, person, operation):
    assert invoke(*COMMANDS[operation], "--yes").exit_code == 0
    ((_, path, _),) = server.asked
    assert path == f"/v2/process-instances/9/{operation}"


@pytest.mark.parametrize(
    ("undo", "told"),
    [
        ({"offered": True, "reason": None}, "it can be undone"),
        ({"offered": False, "reason": "a loop has gone on"}, "it cannot be undone: a loop has gone on"),
    ],
)
def test_the_diff_says_whether_it_can_be_undone(server, undo, told):
    server.report = REPORT | {"undo": undo}
    assert f"  {told}\n" in invoke("undo", "9", "--dry-run").output
    assert server.asked == [("POST", "/v2/process-instances/9/undo?dryRun=true", {})]


def test_undo(server):
    result = invoke("undo", "9")
    assert (result.exit_code, result.output) == (0, "undone 9\n")
    assert server.asked == [("POST", "/v2/process-instances/9/undo", None)]


def test_undo_asks_a_person(server, person):
    assert invoke("undo", "9", input="n\n").exit_code == 1
    assert server.asked == []
    assert invoke("undo", "9", "--yes").exit_code == 0


def test_offers_for_keys_of_standard_input(server):
    assert invoke("undo", "-", "--show", input="9 8\n9\n").output == "".join(
        f"{key}\tmigrate\tcan be undone\n" for key in "98"
    )
    assert [path for _, path, _ in server.asked] == [f"/v2/process-instances/{key}/undo" for key in "98"]


def test_an_offer_is_shown(server):
    assert invoke("undo", "9", "--show").output == "9\tmigrate\tcan be undone\n"
    server.offer = {"offered": False, "operation": None, "version": 7, "reason": "nothing happened"}
    assert invoke("undo", "9", "--show").output == "9\tnothing\tnothing happened\n"
    assert json.loads(invoke("undo", "9", "--show", "--json").output) == {"key": "9", **server.offer}
