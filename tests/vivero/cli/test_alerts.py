"""`vivero alerts`: the requests that it makes, and what it says."""

import json

import httpx
import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.processes import alerts
from vivero.cli.shared import server_options
from vivero.client.rest import Client
from vivero.storage.background.alert_rules import METRICS

PATH = "/v2/alert-rules"
UNTIL = "2030-01-01T08:00:00Z"
RULE = {"alertRuleKey": "7", "name": "stuck", "processDefinitionId": None, "metric": "INCIDENTS", "threshold": 3}
RULE |= {"value": 9, "isRaised": True, "error": None, "mutedUntil": None, "madeBy": "ada"}
RULE |= {"deliveryKind": "RAISED", "deliveryState": "PENDING", "deliveryError": "TIMEOUT: late"}


@pytest.fixture
def asked(monkeypatch):
    """The requests that the server gets. It has the rule 7 alone."""
    requests = []

    def answer(request) -> httpx.Response:
        path = request.url.path
        requests.append((request.method, path, json.loads(request.content or b"null")))
        if path == f"{PATH}/search":
            page = {"totalItems": 1, "hasMoreTotalItems": False, "startCursor": "a", "endCursor": None}
            return httpx.Response(200, json={"items": [RULE], "page": page})
        if path == PATH:
            return httpx.Response(200, json={"alertRuleKey": "7"})
        if path.startswith(f"{PATH}/7"):
            return httpx.Response(204)
        return httpx.Response(404, json={"status": 404, "title": "NOT_FOUND", "detail": "there is none"})

    transport = httpx.MockTransport(answer)
    monkeypatch.setattr(server_options, "Client", lambda *given, **more: Client(*given, **more, transport=transport))
    return requests


def invoke(*arguments):
    return CliRunner().invoke(main, ["alerts", *arguments], catch_exceptions=False)


def test_a_rule_is_saved(asked):
    """Options that are not given are not sent: the server has the defaults."""
    result = invoke("set", "stuck", "incidents", "3", "https://x", "--process", "order", "--clears-at", "0")
    assert (result.exit_code, result.output) == (0, "saved 7\n")
    body = {"name": "stuck", "metric": "INCIDENTS", "threshold": 3, "interval": "PT5M", "url": "https://x"}
    assert asked == [("POST", PATH, body | {"processDefinitionId": "order", "clearsAt": 0})]
    assert invoke("set", "stuck", "LOAD", "3", "https://x").exit_code == 2
    assert alerts.METRICS == METRICS
    assert invoke("set", "stuck", "incidents", "3").exit_code == 2, "nobody would hear of it"
    assert invoke("set", "stuck", "incidents", "3", "--outbox").exit_code == 0
    del body["url"]
    assert asked[1:] == [("POST", PATH, body | {"toOutbox": True})]


def test_a_list_shows_value_state_and_the_newest_delivery(asked):
    shown = invoke("list", "--raised").stdout
    assert all(text in shown for text in ("stuck", "INCIDENTS", "9", "raised", "RAISED PENDING TIMEOUT: late", "ada"))
    assert asked[0][2]["filter"] == {"isRaised": True}


def test_rules_are_muted_unmuted_tested_and_deleted(asked):
    for arguments in (("mute", "7", "--until", UNTIL), ("unmute", "7"), ("test", "7"), ("delete", "7", "8")):
        result = invoke(*arguments)
        assert result.exit_code == ("8" in arguments)
    methods = [(method, path.removeprefix(PATH)) for method, path, _ in asked]
    assert methods == [("PATCH", "/7"), ("PATCH", "/7"), ("POST", "/7/test"), ("DELETE", "/7"), ("DELETE", "/8")]
    assert [body for _, _, body in asked[:2]] == [{"mutedUntil": UNTIL}, {"mutedUntil": None}]
