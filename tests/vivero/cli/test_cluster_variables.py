"""`vivero cluster-variables`: the requests that it makes, and what it says."""

import json

import httpx
import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.shared import server_options
from vivero.client.rest import Client

PATH = "/v2/cluster-variables"
FOUND = {"name": "LIMIT", "scope": "GLOBAL", "tenantId": None, "metadata": {"team": "x"}, "kind": "JSON", "value": "10"}


@pytest.fixture
def asked(monkeypatch):
    """The requests that the server gets. It has the variable LIMIT of the cluster alone."""
    requests = []

    def answer(request) -> httpx.Response:
        path = request.url.raw_path.decode()
        requests.append((request.method, path, json.loads(request.content or b"null")))
        if path.startswith(f"{PATH}/search"):
            page = {"totalItems": 1, "hasMoreTotalItems": False, "startCursor": "a", "endCursor": None}
            return httpx.Response(200, json={"items": [FOUND], "page": page})
        if request.method == "POST" or path == f"{PATH}/global/LIMIT":
            return httpx.Response(200, json=FOUND)
        return httpx.Response(404, json={"status": 404, "title": "NOT_FOUND", "detail": "there is none"})

    transport = httpx.MockTransport(answer)
    monkeypatch.setattr(server_options, "Client", lambda *given, **more: Client(*given, **more, transport=transport))
    return requests


def invoke(*arguments, given=None):
    return CliRunner().invoke(main, ["cluster-variables", *arguments], catch_exceptions=False, input=given)


def test_a_variable_is_created(asked):
    result = invoke("set", "url", '"https://x"', "--tenant", "a/b", "--metadata", '{"team": "y"}')
    assert (result.exit_code, result.output) == (0, "created url\n")
    body = {"name": "url", "value": "https://x", "metadata": {"team": "y"}}
    assert asked == [
        ("GET", f"{PATH}/tenants/a%2Fb/url", None),
        ("POST", f"{PATH}/tenants/a%2Fb", body),
    ]


@pytest.mark.parametrize(("options", "metadata"), [((), {"team": "x"}), (("--metadata", "{}"), {})])
def test_a_change_keeps_the_metadata_unless_there_are_others(asked, options, metadata):
    result = invoke("set", "LIMIT", "@-", "--json", *options, given="[1, 2.5]")
    assert json.loads(result.output) == {"name": "LIMIT", "outcome": "changed"}
    assert asked[1:] == [("PUT", f"{PATH}/global/LIMIT", {"value": [1, 2.5], "metadata": metadata})]


def test_a_list(asked):
    result = invoke("list", "--tenant", "acme", "--name", "L*")
    assert result.stdout.splitlines()[-1].split() == ["LIMIT", "10", "-", '{"team":"x"}']
    (_, path, body) = asked[0]
    assert path.startswith(f"{PATH}/search")
    assert body["filter"] == {"tenantId": "acme", "name": {"$like": "L*"}}
    assert body["sort"] == [{"field": "name", "order": "ASC"}]
    assert invoke("list", "--keys").stdout == "LIMIT\n"


def test_several_are_deleted(asked):
    result = invoke("delete", "LIMIT", "other")
    assert result.exit_code == 1
    assert [each[:2] for each in asked] == [("DELETE", f"{PATH}/global/LIMIT"), ("DELETE", f"{PATH}/global/other")]
    assert "there is none" in result.output


@pytest.mark.parametrize(
    "arguments", [("set", "x"), ("set", "x", "url"), ("set", "x", "1", "--metadata", "1"), ("delete",)]
)
def test_what_is_wrong_is_not_asked(asked, arguments):
    assert (invoke(*arguments).exit_code, asked) == (2, [])
