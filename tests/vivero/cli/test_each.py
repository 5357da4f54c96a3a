"""Several keys at once: each is tried, each outcome is shown, and the exit code tells of failures."""

import json
import re
from collections import deque
from functools import partial

import httpx
import pytest
import trio
from click.testing import CliRunner

from vivero.cli import main
from vivero.cli.shared import each, server_options
from vivero.client.rest import Client


class Server:
    """Cancels the instance 1, knows 2 as one that has ended, and nothing else. `9` gets no answer."""

    def __init__(self) -> None:
        self.asked = []

    def __call__(self, request) -> httpx.Response:
        key = request.url.path.split("/")[3]
        self.asked.append((request.method, key))
        if key == "9":
            raise httpx.ConnectError("refused")
        if key == "8":
            raise httpx.ReadError("lost")
        if request.method == "GET" and key == "2":
            return httpx.Response(200, json={"state": "COMPLETED", "endDate": "2026-11-22T20:00:00.000Z"})
        if key == "1":
            return httpx.Response(204)
        return httpx.Response(404, json={"title": "NOT_FOUND", "status": 404, "detail": f"no instance '{key}'"})


@pytest.fixture
def server(monkeypatch):
    server = Server()
    monkeypatch.setattr(server_options, "Client", partial(Client, transport=httpx.MockTransport(server)))
    return server


def run(*arguments, stdin=None):
    return CliRunner().invoke(main, arguments, input=stdin, env={"VIVERO_ADDRESS": None}, catch_exceptions=False)


def test_each_key_is_tried_and_each_outcome_shown(server):
    said = run("cancel", "3", "1", "2")
    assert said.exit_code == 1
    assert said.stdout == "cancelled 1\n"
    assert said.stderr.splitlines() == [
        "Error: no instance '3' (404 NOT_FOUND)",
        "Error: process instance 2 ended already: COMPLETED at 2026-11-22T20:00:00.000Z",
        "Error: 2 of 3 failed",
    ]


def test_all_good_is_zero_and_one_failure_is_one_line(server):
    assert run("cancel", "1").exit_code == 0
    said = run("cancel", "3")
    assert (said.exit_code, said.stderr) == (1, "Error: no instance '3' (404 NOT_FOUND)\n")


def test_outcomes_as_json(server):
    said = run("cancel", "1", "2", "--json")
    assert said.exit_code == 1
    assert [json.loads(line) for line in said.stdout.splitlines()] == [
        {"key": "1", "outcome": "cancelled"},
        {
            "key": "2",
            "outcome": "failed",
            "status": 404,
            "title": "NOT_FOUND",
            "reason": "process instance 2 ended already: COMPLETED at 2026-11-22T20:00:00.000Z",
        },
    ]


def test_keys_come_from_standard_input_each_once(server):
    said = run("cancel", "1", "-", stdin="3 1\n\n4\n")
    assert [key for method, key in server.asked if method == "POST"] == ["1", "3", "4"]
    assert said.stderr.endswith("Error: 2 of 3 failed\n")


def test_no_keys_on_standard_input_are_no_failure(server):
    said = run("cancel", "-", stdin="")
    assert (said.exit_code, said.stdout) == (0, "")
    assert said.stderr == "no keys on standard input: nothing to do\n"
    assert server.asked == []


def test_a_server_that_is_gone_ends_it_and_the_rest_is_named(server):
    said = run("cancel", "1", "9", "4", "5")
    assert said.exit_code == 1
    assert said.stdout == "cancelled 1\n"
    assert said.stderr.endswith("is `vivero up` running?\nNot tried: 9, 4, 5\n")
    assert ("POST", "4") not in server.asked


def test_an_outcome_that_nobody_knows_is_named(server):
    said = run("cancel", "8", "1")
    assert said.stderr.endswith("\nUnknown: 8\nNot tried: 1\n")


def test_many_keys_are_tried_several_at_once_and_a_lost_server_ends_it(server, monkeypatch):
    monkeypatch.setattr(each, "IN_ORDER", 3)
    keys = [f"1{number}" for number in range(40)]
    said = run("cancel", "--json", "-", stdin="\n".join(["1", "2", *keys]))
    assert said.stderr.endswith("Error: 41 of 42 failed\n")
    assert {json.loads(line)["key"] for line in said.stdout.splitlines()} == {"1", "2", *keys}
    said = run("cancel", "-", stdin="\n".join([*keys[:20], "9", *keys[20:]]))
    assert re.search(r"no server answers .*\nNot tried: 9, .* and \d+ more\n", said.stderr)


async def test_as_many_requests_as_allowed_are_open_at_once():
    open_, most = 0, 0

    async def work(_client, _key):
        nonlocal open_, most
        open_ += 1
        most = max(most, open_)
        await trio.lowlevel.checkpoint()
        open_ -= 1

    attempt = each.Attempt(work, "done", False, None, deque(str(number) for number in range(100)))
    await each.try_all(None, attempt)
    assert (most, attempt.failed, list(attempt.left)) == (each.AT_ONCE, 0, [])


def test_after_an_interruption_it_says_how_far_the_keys_are():
    attempt = each.Attempt(None, "done", False, None, deque(["3", "4"]), asked=["2"])
    assert each.interrupted(attempt, 4) == "1 of 4 were tried\nUnknown: 2\nNot tried: 3, 4"
    attempt.left.extend(str(number) for number in range(5, 2005))
    assert each.interrupted(attempt, 2004).endswith("\nNot tried: 3, 4, 5 and 1,999 more")


def test_keys_are_parts_of_paths_and_no_more(server):
    assert run("cancel", "-", stdin="../1").exit_code == 1
    assert server.asked[0] == ("POST", "../1".replace("/", "%2F")) or server.asked[0][0] == "POST"
    assert not [key for _, key in server.asked if key == "1"]
