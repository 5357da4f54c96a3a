"""`vivero modify`: the request that it makes, and what it refuses."""

import json

import httpx
import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.shared import server_options
from vivero.client.rest import Client

INFERRED = {"ancestorScopeType": "inferred"}


@pytest.fixture
def asked(monkeypatch):
    """The bodies that the server gets."""
    bodies = []

    def answer(request) -> httpx.Response:
        bodies.append((request.url.raw_path.decode(), json.loads(request.content)))
        if request.url.query:
            return httpx.Response(200, json=FORECAST)
        if request.url.path == "/v2/process-instances/modification":
            return httpx.Response(200, json={"batchOperationKey": "7"})
        return httpx.Response(204, headers={"command-position": "1"})

    transport = httpx.MockTransport(answer)
    monkeypatch.setattr(server_options, "Client", lambda *given, **more: Client(*given, **more, transport=transport))
    return bodies


def invoke(key, *arguments):
    given = [] if key is None else [key]
    return CliRunner().invoke(main, ["modify", *given, *arguments], catch_exceptions=False)


def test_all_instructions_are_one_request(asked):
    given = ["--activate", "a", "--move", "b:c", "--move", "12:d", "--terminate", "e", "--terminate", "13"]
    result = invoke("9", *given, "--variables", '{"x": 1}')
    assert (result.exit_code, result.output) == (0, "9: activated a; moved b:c, 12:d; terminated e, 13\n")
    variables = [{"variables": {"x": 1}}]
    sources = [
        ({"sourceType": "byId", "sourceElementId": "b"}, "c"),
        ({"sourceType": "byKey", "sourceElementInstanceKey": "12"}, "d"),
    ]
    moves = [
        {
            "sourceElementInstruction": source,
            "targetElementId": target,
            "ancestorScopeInstruction": INFERRED,
            "variableInstructions": variables,
        }
        for source, target in sources
    ]
    body = {
        "activateInstructions": [{"elementId": "a", "variableInstructions": variables}],
        "moveInstructions": moves,
        "terminateInstructions": [{"elementId": "e"}, {"elementInstanceKey": "13"}],
    }
    assert asked == [("/v2/process-instances/9/modification", body)]


def test_all_that_match_are_modified_by_a_batch(asked):
    result = invoke(None, "--all", "--process", "order", "--move", "b:c", "--move", "d:e", "--detach", "--yes")
    assert (result.exit_code, result.output) == (0, "7\n")
    moves = [{"sourceElementId": source, "targetElementId": target} for source, target in ("bc", "de")]
    body = {"filter": {"processDefinitionId": "order"}, "moveInstructions": moves}
    assert asked == [("/v2/process-instances/modification", body)]


FORECAST = {
    "total": 1009,
    "wouldSucceed": 1000,
    "wouldSkip": [{"reason": "no source", "count": 1, "exampleKeys": ["3"]}],
    "wouldFail": [{"reason": "no target", "count": 7, "exampleKeys": ["1", "2"]}],
    "notTried": [{"reason": "too large", "count": 1, "exampleKeys": ["4"]}],
    "stoppedAt": {"bound": "INSTANCES", "value": 1009},
}


def test_a_dry_run_prints_what_would_become_of_each(asked):
    given = ["--all", "--process", "order", "--move", "b:c", "--dry-run"]
    assert invoke(None, *given).output.splitlines() == [
        "1,009 tried: 1,000 would succeed",
        "1 would be skipped: no source (3)",
        "7 would fail: no target (1, 2, …)",
        "1 could not be tried: too large (4)",
        "It stopped after 1,009 instances: there may be more.",
    ]
    assert json.loads(invoke(None, *given, "--json").output) == FORECAST
    assert [path for path, _ in asked] == ["/v2/process-instances/modification?dryRun=true"] * 2


CHANGES = (
    *("cancel", "delete", "delete-evaluations", "job update --retries 1", "migrate-instance --to 6"),
    *("modify --move a:b", "resolve", "resume", "suspend"),
)
CHOSEN = {"migrate-instance": ("--from", "5"), "delete-evaluations": ("--failed",)}
FILTERS = {"migrate-instance": {"processDefinitionKey": "5"}, "delete-evaluations": {"state": "FAILED"}}


@pytest.mark.parametrize("command", CHANGES)
def test_the_dry_run_of_a_command(asked, command):
    name = command.split()[0]
    all_of_it = ["--all", *CHOSEN.get(name, ("--process", "order"))]
    result = CliRunner().invoke(main, [*command.split(), *all_of_it, "--dry-run"], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    ((path, body),) = asked
    assert path.endswith("?dryRun=true")
    assert body["filter"] == FILTERS.get(name, {"processDefinitionId": "order"})


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--move", "a:b"], "name keys, or use --all"),
        (["--all", "--process", "p"], "say what to --activate, --move or --terminate"),
        (["--all", "--process", "p", "--move", "a"], "'a' is not of the form FROM:TO"),
        (["--all", "--process", "p", "--move", "a:b", "--activate", "c"], "need a key"),
        (["--all", "--move", "a:b"], "name what to change"),
    ],
)
def test_wrong_options_without_a_key(asked, arguments, text):
    result = invoke(None, *arguments)
    assert (result.exit_code, asked) == (2, [])
    assert text in result.output


def test_a_key_excludes_what_selects(asked):
    assert "--process needs --all" in invoke("9", "--process", "p", "--move", "a:b").output
    assert "name keys, or use --all" in invoke("9", "--all", "--process", "p", "--move", "a:b").output
    assert asked == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], "say what to --activate, --move or --terminate"),
        (["--move", "a"], "'a' is not of the form FROM:TO"),
        (["--move", ":a"], "':a' is not of the form FROM:TO"),
        (["--terminate", "a", "--variables", "{}"], None),
        (["--terminate", "a", "--variables", '{"x": 1}'], "--variables needs --activate or --move"),
    ],
)
def test_wrong_options(asked, arguments, text):
    result = invoke("9", *arguments)
    assert (result.exit_code, len(asked)) == ((0, 1) if text is None else (2, 0))
    assert text is None or text in result.output
