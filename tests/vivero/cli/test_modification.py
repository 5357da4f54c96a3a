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
        bodies.append((request.url.path, json.loads(request.content)))
        return httpx.Response(204, headers={"command-position": "1"})

    transport = httpx.MockTransport(answer)
    monkeypatch.setattr(server_options, "Client", lambda *given, **more: Client(*given, **more, transport=transport))
    return bodies


def invoke(*arguments):
    return CliRunner().invoke(main, ["modify", *arguments], catch_exceptions=False)


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
