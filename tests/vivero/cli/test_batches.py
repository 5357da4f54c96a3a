"""`vivero cancel --all`, `vivero resolve --all` and `vivero batches`: what they ask the server, and what they print."""

import json
from dataclasses import asdict
from functools import partial
from types import SimpleNamespace

import httpx
import pytest
from click.testing import CliRunner

from vivero.api.erasure_pages import Answer
from vivero.cli import main
from vivero.cli.processes import batches
from vivero.cli.shared import server_options
from vivero.client.rest import Client
from vivero.storage.retention.erasure_by_value import Counts


def operation(state, total=0, **counts):
    return {
        "batchOperationKey": "7",
        "state": state,
        "batchOperationType": "CANCEL_PROCESS_INSTANCE",
        "actorId": "ann",
        "startDate": "2026-11-22T20:00:00.000Z",
        "endDate": None if state in (*batches.OPEN, "SUSPENDED") else "2026-11-22T20:00:02.500Z",
        "operationsTotalCount": total,
        **{f"operations{name}Count": counts.get(name, 0) for name in ("Completed", "Failed", "Skipped", "Canceled")},
        "errors": [],
    }


ITEM = {
    "itemKey": "9",
    "processInstanceKey": "9",
    "state": "FAILED",
    "processedDate": None,
    "errorMessage": "INVALID_STATE: no",
}


class Server:
    """Answers with the states of a batch operation, one after the other."""

    def __init__(self) -> None:
        self.states = [operation("COMPLETED", 2, Completed=2)]
        self.asked = []
        self.faults = []

    def __call__(self, request) -> httpx.Response:
        path = request.url.path
        body = json.loads(request.content) if request.content else None
        self.asked.append((request.method, path, body))
        of_one = "/operations/7/" in path.replace("batch-operations", "operations") or "/process-instances/5/" in path
        if of_one and path.endswith(("/suspension", "/resumption", "/cancellation")):
            return httpx.Response(204)
        if path.endswith("/batch-operation-items/search"):
            return httpx.Response(200, json=page([ITEM]))
        if path.endswith("/search"):
            return httpx.Response(200, json=page(self.states[:1]))
        if request.method == "POST":
            return httpx.Response(200, json={"batchOperationKey": "7", "batchOperationType": "X"})
        if self.faults:
            raise self.faults.pop()
        return httpx.Response(200, json=self.states.pop(0) if len(self.states) > 1 else self.states[0])


def page(items):
    return {"items": items, "page": {"totalItems": len(items), "endCursor": None}}


@pytest.fixture
def server(monkeypatch):
    server = Server()
    monkeypatch.setattr(server_options, "Client", partial(Client, transport=httpx.MockTransport(server)))
    monkeypatch.setattr(batches, "POLL_S", 0)
    return server


def run(*arguments):
    return CliRunner().invoke(main, arguments, env={"COLUMNS": "200"}, catch_exceptions=False)


def test_everything_that_matches_is_cancelled_and_the_counts_are_printed(server):
    server.states = [
        operation("CREATED", 1),
        operation("ACTIVE", 3, Completed=1),
        operation("COMPLETED", 3, Completed=2, Skipped=1),
    ]
    said = run(
        "cancel", "--all", "--process", "order", "--version", "3", "--tag", "a", "--filter", '{"hasIncident": true}'
    )
    assert said.exit_code == 0, said.stderr
    assert said.stdout == "batch operation 7 COMPLETED in 2.5 s, 3 items: 2 completed, 1 skipped\n"
    filter = {
        "processDefinitionId": "order",
        "processDefinitionVersion": 3,
        "tags": ["a"],
        "hasIncident": True,
    }
    assert server.asked[0] == ("POST", "/v2/process-instances/cancellation", {"filter": filter})


def test_incidents_are_selected_by_their_own_fields(server):
    said = run("resolve", "--all", "--process", "order", "--type", "job_no_retries", "--error", "*paper*")
    assert said.exit_code == 0, said.stderr
    filter = {
        "processDefinitionId": "order",
        "errorType": "JOB_NO_RETRIES",
        "errorMessage": {"$like": "*paper*"},
    }
    assert server.asked[0] == ("POST", "/v2/incidents/resolution", {"filter": filter})


def test_the_instances_of_a_definition_are_suspended_for_a_reason(server):
    said = run("suspend", "--all", "--definition", "77", "--reason", "a bug", "--detach")
    assert (said.exit_code, said.stdout) == (0, "7\n"), said.stderr
    body = {"filter": {"processDefinitionKey": "77"}, "reason": "a bug"}
    assert server.asked == [("POST", "/v2/process-instances/suspension", body)]


def test_open_jobs_are_updated_by_the_server(server):
    changes = ("--retries", "3", "--priority", "-5", "--timeout", "1.5")
    chosen = ("--type", "work", "--process", "order", "--error", "*paper*", "--filter", '{"retries": 0}')
    said = run("job", "update", "--all", *changes, *chosen, "--detach")
    assert (said.exit_code, said.stdout) == (0, "7\n"), said.stderr
    filter = {"type": "work", "processDefinitionId": "order", "errorMessage": {"$like": "*paper*"}, "retries": 0}
    body = {"filter": filter, "changeset": {"retries": 3, "priority": -5, "timeout": 1500}}
    assert server.asked == [("POST", "/v2/jobs/batch-update", body)]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("5", "--all", "--retries", "1"), "name keys, or use --all"),
        (("5", "--type", "work", "--retries", "1"), "--type needs --all"),
        (("--all", "--type", "work"), "say what to change"),
        (("--all", "--retries", "1"), "name what to change"),
    ],
)
def test_updates_of_jobs_that_are_refused(server, arguments, says):
    said = run("job", "update", *arguments)
    assert said.exit_code == 2
    assert says in said.stderr
    assert server.asked == []


@pytest.mark.parametrize("command", [("resolve",), ("job", "update", "--retries", "1")])
def test_a_dry_run_without_all_is_refused(server, command):
    said = run(*command, "5", "--dry-run")
    assert (said.exit_code, server.asked) == (2, [])
    assert "--dry-run needs --all" in said.stderr


@pytest.mark.parametrize(
    ("command", "path"), [("delete", "process-instances"), ("delete-evaluations", "decision-instances")]
)
def test_the_dry_run_of_a_deletion_by_key(monkeypatch, command, path):
    """The server would refuse the second key."""
    asked = []

    def answer(request):
        asked.append((request.method, str(request.url.raw_path, "ascii")))
        problems = [{"message": "it has not ended", "elementId": None}] if "/6/" in request.url.path else []
        refusal = {"status": 409, "title": "INVALID_STATE"} if problems else None
        return httpx.Response(200, json={"problems": problems, "refusal": refusal})

    monkeypatch.setattr(server_options, "Client", partial(Client, transport=httpx.MockTransport(answer)))
    said = run(command, "5", "6", "--dry-run")
    assert (said.exit_code, said.stdout) == (1, "would delete 5\n")
    assert "6: it has not ended (409 INVALID_STATE)" in said.stderr
    assert asked == [("POST", f"/v2/{path}/{key}/deletion?dryRun=true") for key in "56"]


@pytest.mark.parametrize(("command", "path"), [("suspend", "suspension"), ("resume", "resumption")])
def test_instances_are_suspended_and_resumed_by_the_server(server, command, path):
    said = run(command, "--all", "--process", "order", "--detach")
    assert (said.exit_code, said.stdout) == (0, "7\n"), said.stderr
    filter = {"processDefinitionId": "order"}
    assert server.asked == [("POST", f"/v2/process-instances/{path}", {"filter": filter})]


def test_instances_are_suspended_and_resumed_by_key(server):
    said = run("suspend", "5", "--reason", "r")
    assert (said.exit_code, said.stdout) == (0, "suspended 5\n"), said.stderr
    said = run("resume", "5", "--include-called")
    assert (said.exit_code, said.stdout) == (0, "resumed 5\n"), said.stderr
    path = "/v2/process-instances/5"
    suspension = {"includeCalled": False, "reason": "r"}
    assert server.asked == [
        ("POST", f"{path}/suspension", suspension),
        ("POST", f"{path}/resumption", {"includeCalled": True}),
    ]


def test_ended_instances_are_deleted_by_the_server(server):
    said = run("delete", "--all", "--process", "order", "--ended-before", "2026-01-01T00:00:00Z", "--detach")
    assert (said.exit_code, said.stdout) == (0, "7\n"), said.stderr
    filter = {"processDefinitionId": "order", "endDate": {"$lt": "2026-01-01T00:00:00Z"}}
    assert server.asked == [("POST", "/v2/process-instances/deletion", {"filter": filter})]


def test_evaluations_are_deleted_by_key_and_by_the_server(server):
    said = run("delete-evaluations", "5")
    assert (said.exit_code, said.stdout) == (0, "deleted 5\n"), said.stderr
    options = ("--decision", "Price", "--failed", "--evaluated-before", "2026-01-01T00:00:00Z", "--detach")
    said = run("delete-evaluations", "--all", *options)
    assert (said.exit_code, said.stdout) == (0, "7\n"), said.stderr
    filter = {
        "decisionDefinitionId": "Price",
        "state": "FAILED",
        "evaluationDate": {"$lt": "2026-01-01T00:00:00Z"},
    }
    assert server.asked == [
        ("POST", "/v2/decision-instances/5/deletion", {}),
        ("POST", "/v2/decision-instances/deletion", {"filter": filter}),
    ]


def test_failed_items_are_an_error(server):
    server.states = [operation("PARTIALLY_COMPLETED", 2, Completed=1, Failed=1)]
    said = run("cancel", "--all", "--process", "order")
    assert said.exit_code == 1
    assert said.stdout == "batch operation 7 PARTIALLY_COMPLETED in 2.5 s, 2 items: 1 completed, 1 failed\n"
    assert "see `vivero batches show 7`" in said.stderr


def test_it_is_watched_through_a_restart_of_the_server(server, monkeypatch):
    server.faults = [httpx.ConnectError("refused"), httpx.ReadError("lost")]
    said = run("cancel", "--all", "--process", "order")
    assert (said.exit_code, server.faults) == (0, []), said.stderr
    monkeypatch.setattr(batches, "PATIENCE_S", 0)
    server.faults = [httpx.ConnectError("refused")]
    said = run("cancel", "--all", "--process", "order")
    assert said.exit_code == 1
    assert "no server answers" in said.stderr
    assert "vivero batches watch 7" in said.stderr


def test_detached_it_only_prints_the_key(server):
    said = run("cancel", "--all", "--process", "order", "--detach")
    assert (said.exit_code, said.stdout) == (0, "7\n")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["cancel"], "name keys, or use --all"),
        (["cancel", "--all", "5"], "name keys, or use --all"),
        (["cancel", "--all"], "name what to change"),
        (["cancel", "5", "--process", "p"], "--process needs --all"),
        (["suspend"], "name keys, or use --all"),
        (["suspend", "--all", "--process", "p", "--include-called"], "--include-called needs keys"),
        (["resume", "--all", "--process", "p", "--include-called"], "--include-called needs keys"),
        (["delete", "5", "--ended-before", "2026-01-01"], "--ended-before needs --all"),
        (["delete", "--all"], """everything: --filter '{"state":{"$in":["COMPLETED","TERMINATED"]}}'"""),
        (["delete-evaluations"], "name keys, or use --all"),
        (["delete-evaluations", "5", "--failed"], "--failed needs --all"),
        (["delete-evaluations", "--all"], """everything: --filter '{"state":{"$in":["EVALUATED","FAILED"]}}'"""),
        (["erase"], "give either --business-id or --variable"),
        (["resolve", "5", "--error", "x"], "--error needs --all"),
        (["resolve", "--all", "--process", "p", "--retries", "3"], "--variables and --retries need keys"),
    ],
)
def test_keys_and_filters_do_not_mix(server, arguments, says):
    said = run(*arguments)
    assert said.exit_code == 2
    assert says in said.stderr
    assert server.asked == []


def test_a_person_is_asked_first(server, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda _self: True})())
    monkeypatch.setattr("click.confirm", lambda text, abort, err: asked.append(text))
    change = partial(batches.change_all, None, "process-instances/cancellation", "process-instances", {"tags": ["a"]})
    change(detach=True, yes=False, what="cancel")
    assert asked == ["cancel 1 process instances?"]
    assert server.asked[0][2]["filter"] == {"state": "ACTIVE", "tags": ["a"]}
    change(detach=True, yes=True, what="cancel")
    assert len(asked) == 1


MIGRATE = ("migrate-instance", "--all", "--from", "1", "--to", "2", "--map", "a")


@pytest.mark.parametrize("arguments", [("cancel", "--all", "--process", "order"), MIGRATE], ids=["cancel", "migrate"])
def test_suspended_instances_count_when_a_person_is_asked(server, monkeypatch, arguments):
    monkeypatch.setattr(batches, "is_a_person_there", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_texts, **_options: None)
    said = run(*arguments, "--detach")
    assert (said.exit_code, said.stdout) == (0, "7\n"), said.stderr
    assert server.asked[0][2]["filter"]["state"] == {"$in": ["ACTIVE", "SUSPENDED"]}
    assert "state" not in server.asked[1][2]["filter"]


def test_nobody_is_asked_about_nothing(server, monkeypatch, capsys):
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda _self: True})())
    server.states = []
    change = partial(batches.change_all, None, "process-instances/cancellation", "process-instances", {"tags": ["a"]})
    change(detach=False, yes=False, what="cancel")
    assert capsys.readouterr().err == "no process instances match: nothing to cancel\n"
    assert len(server.asked) == 1


def test_lists_show_counts_and_items_their_errors(server):
    header, row = run("batches", "list", "--state", "completed").stdout.splitlines()
    assert header.split()[:5] == ["key", "type", "state", "items", "completed"]
    assert row.split()[:5] == ["7", "CANCEL_PROCESS_INSTANCE", "COMPLETED", "2", "2"]
    assert server.asked[-1][2]["filter"] == {"state": "COMPLETED"}
    shown = run("batches", "show", "7", "--items", "FAILED").stdout
    assert "INVALID_STATE: no" in shown
    assert server.asked[-1][2]["filter"] == {"batchOperationKey": "7", "state": "FAILED"}


def test_a_batch_operation_is_shown_with_its_errors(server):
    server.states = [operation("FAILED") | {"errors": [{"message": "the filter took too long"}]}]
    assert run("batches", "show", "7").stdout.splitlines() == [
        "CANCEL_PROCESS_INSTANCE by ann, FAILED",
        "batch operation 7 FAILED in 2.5 s, 0 items",
        "the filter took too long",
    ]
    assert json.loads(run("batches", "show", "7", "--json").stdout)["state"] == "FAILED"


@pytest.mark.parametrize(
    ("verb", "path", "says"),
    [
        ("suspend", "suspension", "suspended"),
        ("resume", "resumption", "resumed"),
        ("cancel", "cancellation", "cancelled"),
    ],
)
def test_it_is_changed_by_key(server, verb, path, says):
    assert run("batches", verb, "7").stdout == f"{says} 7\n"
    assert server.asked == [("POST", f"/v2/batch-operations/7/{path}", {})]


def test_after_an_interruption_it_says_how_far_the_server_is():
    followed = batches.Followed("7")
    assert followed.goes_on().splitlines()[0] == "batch operation 7 goes on at the server:"
    followed.seen = operation("CREATED", 12_000)
    assert "(12,000 found)" in followed.goes_on()
    followed.seen = operation("ACTIVE", 12_000, Completed=7_000, Skipped=988)
    text = followed.goes_on()
    assert "(7,988 of 12,000)" in text
    assert max(map(len, text.splitlines())) < 80


def test_progress_is_watched_until_it_is_suspended(server):
    server.states = [operation("ACTIVE", 3, Completed=1), operation("SUSPENDED", 3, Completed=1)]
    assert run("batches", "watch", "7").stdout == "batch operation 7 SUSPENDED, 3 items: 1 completed\n"


def test_a_persons_data_are_erased_page_by_page_and_what_is_kept_is_an_error(server, monkeypatch):
    pages: dict[str | None, dict[str, object]] = {
        None: {"erased": ["1"], "kept": [], "next": "1"},
        "1": {"kept": [{"processInstanceKey": "2", "reason": "it has not ended"}], "next": "archive:"},
        "archive:": {"erasedFromArchive": ["3"], "missing": ["x.gz"], "damaged": ["y.gz"], "next": None},
    }
    none: dict[str, object] = {"erased": [], "erasedFromArchive": [], "missing": [], "damaged": [], "kept": []}

    async def request(_client, method, path, body):
        assert (method, path, body["variable"]) == ("POST", "/v2/erasures", {"name": "email", "value": '"ann"'})
        return SimpleNamespace(document=none | pages[body.get("after")])

    monkeypatch.setattr("vivero.client.rest.Client.request", request)
    said = run("erase", "--yes", "--variable", "email=ann")
    assert (said.exit_code, said.stdout) == (
        1,
        "erased 1\nkept 2: it has not ended\nerased 3 from the archive\nthe archive lacks x.gz\n"
        "y.gz is damaged: what it has is not erased\n",
    )
    assert "1 instances are kept" in said.stderr
    pages["1"] = {"next": "archive:", "counts": {"commands": 2, "inUse": 1}, "searched": "7/9"}
    said = run("erase", "--yes", "--variable", "email=ann")
    assert "erased: 2 commands\n" in said.stdout
    assert "searched the log to 7 of 9" in said.stderr
    assert "1 events stay" in said.stderr
    pages["1"] = {"next": "archive:", "counts": dict.fromkeys(Answer().document(dry=False)["counts"], 1)}
    (line,) = [
        each for each in run("erase", "--yes", "--variable", "email=ann").stdout.splitlines() if "erased: " in each
    ]
    assert line.count(", ") + 1 == len(asdict(Counts())) - 1, "each number but that of what is in use"
    pages["1"] = {"next": "archive:"}
    assert "2 files of the archive are missing or damaged" in run("erase", "--yes", "--variable", "email=ann").stderr
    pages["archive:"]["next"] = "1"
    assert "the answer repeats the page '1'" in run("erase", "--yes", "--variable", "email=ann").stderr
