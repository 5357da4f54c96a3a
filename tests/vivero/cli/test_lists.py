"""Lists: tables on a terminal of 80 columns, plain rows into a pipe, JSON Lines, keys, and totals."""

import io
import json
import sys
from functools import partial

import httpx
import pytest
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.looking.lists import in_lines
from vivero.cli.shared import server_options
from vivero.client.rest import Client


def instance(number):
    return {
        "processInstanceKey": str(2251799813685255 + number),
        "processDefinitionId": "order",
        "processDefinitionVersion": 1,
        "state": "ACTIVE",
        "hasIncident": False,
        "startDate": "2026-11-23T08:16:51.509Z",
        "endDate": None,
        "businessId": f"ORDER-2026-000{number}",
        "tags": ["a", "b"],
    }


class Server:
    """Has `count` instances, and says that it counted no further than `total`."""

    def __init__(self, count, total=None) -> None:
        self.count, self.total = count, total

    def __call__(self, request) -> httpx.Response:
        page = json.loads(request.content)["page"]
        first = int(page.get("after") or 0)
        last = min(first + page["limit"], self.count)
        counted = {"totalItems": self.total or self.count, "hasMoreTotalItems": self.total is not None}
        items = [instance(number) for number in range(first, last)]
        return httpx.Response(200, json={"items": items, "page": {**counted, "endCursor": str(last)}})


@pytest.fixture
def serve(monkeypatch):
    def use(*arguments):
        transport = httpx.MockTransport(Server(*arguments))
        monkeypatch.setattr(server_options, "Client", partial(Client, transport=transport))

    return use


def run(*arguments):
    return CliRunner().invoke(main, arguments, env={"VIVERO_ADDRESS": None}, catch_exceptions=False)


def test_into_a_pipe_all_pages_have_one_header(serve):
    serve(5)
    said = run("instances", "--limit", "2", "--all")
    assert said.exit_code == 0
    rows = [line.split("\t") for line in said.stdout.splitlines()]
    assert rows[0] == ["key", "process", "version", "state", "started", "ended", "business id", "tags"]
    assert [row[6] for row in rows[1:]] == [f"ORDER-2026-000{number}" for number in range(5)]
    assert {len(row) for row in rows} == {8}
    assert said.stderr == "5 of 5\n"


def test_keys_alone_are_for_other_commands(serve):
    serve(3)
    said = run("instances", "--keys")
    assert said.stdout.splitlines() == [str(2251799813685255 + number) for number in range(3)]
    assert said.stderr == ""
    assert run("instances", "--keys", "--json").exit_code == 2


@pytest.mark.parametrize(
    ("count", "total", "says"),
    [
        (60, None, "50 of 60; next page: --after 50"),
        (60, 10_000, "50 of 10,000+; next page: --after 50"),
        (0, None, "0 of 0"),
    ],
)
def test_totals(serve, count, total, says):
    serve(count, total)
    assert run("instances").stderr == f"{says}\n"


def test_what_a_list_says_below_it_breaks_between_its_parts():
    parts = ["3 of 10,000+", "no room for created: use a wider terminal, or --json", "next page: --after WzIyNTE3XQ=="]
    assert in_lines(parts, None) == ["; ".join(parts)]
    assert in_lines(parts, 80) == ["; ".join(parts[:2]), parts[2]]
    assert in_lines(parts, 40) == parts


@pytest.mark.long
def test_a_total_that_was_read_is_no_longer_uncertain(serve):
    serve(10_100, 10_000)
    said = run("instances", "--all", "--limit", "1000", "--keys")
    assert len(said.stdout.splitlines()) == 10_100
    assert run("instances", "--all", "--limit", "1000").stderr == "10,100 of 10,100\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_of_80_columns_shows_whole_keys(serve, monkeypatch, capsys):
    serve(3)
    screen = Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "dumb")
    main(["instances", "--address", "localhost:1"], standalone_mode=False)
    lines = screen.getvalue().splitlines()
    assert [line.split()[0] for line in lines] == ["key", *(str(2251799813685255 + number) for number in range(3))]
    assert max(map(len, lines)) <= 80
    assert "no room for tags: use a wider terminal, or --json" in capsys.readouterr().err


def test_suspended_instances_can_be_listed(monkeypatch):
    asked = []

    def answer(request) -> httpx.Response:
        asked.append(json.loads(request.content)["filter"])
        return httpx.Response(200, json={"items": [], "page": {"totalItems": 0, "endCursor": None}})

    monkeypatch.setattr(server_options, "Client", partial(Client, transport=httpx.MockTransport(answer)))
    assert run("instances", "--state", "suspended", "--keys").exit_code == 0
    assert asked == [{"state": "SUSPENDED"}]
