"""`vivero assign-business-id`: the request that it makes, and what it says."""

import json

import httpx
import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.shared import server_options
from vivero.client.rest import Client


@pytest.fixture
def asked(monkeypatch):
    """The requests that the server gets. It refuses the key 10."""
    requests = []

    def answer(request) -> httpx.Response:
        requests.append((request.method, request.url.path, json.loads(request.content)))
        if "/10/" in request.url.path:
            return httpx.Response(409, json={"status": 409, "title": "INVALID_STATE", "detail": "it has another one"})
        return httpx.Response(204, headers={"command-position": "7"})

    transport = httpx.MockTransport(answer)
    monkeypatch.setattr(server_options, "Client", lambda *given, **more: Client(*given, **more, transport=transport))
    return requests


def invoke(*arguments):
    return CliRunner().invoke(main, ["assign-business-id", *arguments], catch_exceptions=False)


def test_an_id_is_assigned(asked):
    result = invoke("9", "order-7")
    assert (result.exit_code, result.output) == (0, "9: has the business id order-7\n")
    assert asked == [("POST", "/v2/process-instances/9/business-id-assignment", {"businessId": "order-7"})]
    assert json.loads(invoke("9", "order-7", "--json").output) == {"key": "9", "position": 7}


def test_a_refusal_is_told(asked):
    result = invoke("10", "order-7")
    assert (result.exit_code, "it has another one" in result.output) == (1, True)


@pytest.mark.parametrize("arguments", [(), ("9",), ("nine", "order-7")])
def test_both_arguments_are_needed(asked, arguments):
    assert (invoke(*arguments).exit_code, asked) == (2, [])
