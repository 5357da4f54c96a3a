"""GraphQL, SendGrid and Slack against a server on loopback: requests, answers, errors and secrets."""

import base64
import json
from contextlib import nullcontext
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from tests.engine.connectors.test_email import FILE
from tests.engine.connectors.test_http_json import written
from vivero.core.shared.secret_places import HEADER
from vivero.engine.connectors.contents import BY_TYPE
from vivero.engine.connectors.outbound import sendgrid, slack
from vivero.engine.connectors.outbound.graphql import GraphQL
from vivero.engine.connectors.work.calls import outcome
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.results import Completion, Failure
from vivero.engine.connectors.work.secrets import UsedSecrets

GRAPHQL, SENDGRID, SLACK = "io.camunda:connector-graphql:1", "io.camunda:sendgrid:1", "io.camunda:slack:1"
HANDLERS = {GRAPHQL: GraphQL, SENDGRID: sendgrid.SendGrid, SLACK: slack.Slack}


class Files:
    """Documents of a node: one."""

    max_bytes = 1000

    def turn(self):
        return nullcontext()

    async def files(self, given, _tenant):
        return [FILE for _ in given]


@pytest.fixture
def work(client, server, monkeypatch):
    monkeypatch.setattr(sendgrid, "URL", f"{server.url}/mail")
    monkeypatch.setattr(slack, "URL", f"{server.url}/api/")

    async def run(type, inputs):
        contract = BY_TYPE[type]
        headers = {HEADER: written(inputs), "resultVariable": "r"}
        variables = msgspec.Raw(json.dumps(inputs).encode())
        job = ConnectorJob("1", type, "call", "1", "<default>", 3, headers, variables, "lease")
        around = SimpleNamespace(contract=contract, client=client, documents=Files())
        return await outcome(contract, HANDLERS[type](around), job, UsedSecrets({"KEY": "canary-secret"}), 20.0)

    return run


def failed(outcome, said, retries):
    assert isinstance(outcome, Failure), outcome
    assert said in outcome.message
    assert outcome.retries == retries
    assert "canary-secret" not in str(outcome)
    return True


QUERY = {"url": "", "query": "query Q($n: Int) { {{secrets.KEY}} }", "variables": {"n": 1}}


async def test_a_query_is_posted_and_secrets_are_in_the_connection_only(server, work):
    server.answer = lambda request: (200, {}, {"data": {"token": request.headers["authorization"]}})
    access = {"type": "bearer", "token": "{{secrets.KEY}}"}
    done = await work(GRAPHQL, {"graphql": QUERY | {"url": server.url, "method": "POST"}, "authentication": access})
    assert isinstance(done, Completion)
    assert done.variables["r"]["body"] == {"data": {"token": "Bearer ***"}}
    [request] = server.received
    assert request.json == {"query": QUERY["query"], "variables": {"n": 1}}
    assert request.headers["authorization"] == "Bearer canary-secret"


async def test_a_query_by_get_is_in_the_url(server, work):
    assert isinstance(await work(GRAPHQL, {"graphql": QUERY | {"url": server.url, "method": "get"}}), Completion)
    [request] = server.received
    assert parse_qs(urlsplit(request.target).query) == {"query": [QUERY["query"]], "variables": ['{"n":1}']}


@pytest.mark.parametrize(("errors", "said"), [([{"message": "no"}], "GRAPHQL_ERROR: no"), (["x"], "GRAPHQL_ERROR: x")])
async def test_errors_in_the_answer_to_a_query_fail_the_job(server, work, errors, said):
    server.answer = lambda _: (200, {}, {"data": None, "errors": errors})
    assert failed(await work(GRAPHQL, {"graphql": QUERY | {"url": server.url}}), said, None)


MAIL = {"apiKey": "{{secrets.KEY}}", "from": {"email": "a@a.example", "name": "Ann"}, "to": {"email": "b@b.example"}}


async def test_sendgrid_gets_a_text_with_files(server, work):
    server.answer = lambda _: (202, {"X-Message-Id": "m1"}, b"")
    inputs = MAIL | {"content": {"subject": "Hi", "value": "{{secrets.KEY}}"}, "attachments": [{}]}
    done = await work(SENDGRID, inputs)
    assert done.variables["r"]["headers"]["X-Message-Id"] == "m1"
    [request] = server.received
    assert request.headers["authorization"] == "Bearer canary-secret"
    assert request.json == {
        "personalizations": [{"to": [{"email": "b@b.example"}]}],
        "from": {"email": "a@a.example", "name": "Ann"},
        "subject": "Hi",
        "content": [{"type": "text/plain", "value": "{{secrets.KEY}}"}],
        "attachments": [
            {"content": base64.b64encode(FILE.content).decode(), "filename": FILE.name, "type": FILE.content_type}
        ],
    }


async def test_sendgrid_gets_a_template_and_may_refuse(server, work):
    inputs = MAIL | {"template": {"id": "t1", "data": {"n": 1}}}
    assert failed(await work(SENDGRID, inputs), "200: SendGrid did not accept the mail", None)
    assert server.received[0].json["personalizations"][0]["dynamic_template_data"] == {"n": 1}
    server.answer = lambda _: (429, {"Retry-After": "7"}, {"errors": ["canary-secret"]})
    limited = await work(SENDGRID, inputs)
    assert failed(limited, "429: Too Many Requests", None)
    assert limited.backoff_ms == 7000


@pytest.mark.parametrize(
    ("method", "data", "sent"),
    [
        ("chat.postMessage", {"channel": "#all", "text": "Hi", "thread": "1.2"},
         {"channel": "#all", "text": "Hi", "thread_ts": "1.2"}),
        ("chat.postMessage", {"channel": "C1", "messageType": "messageBlock", "blockContent": '{"blocks": [{"a": 1}]}'},
         {"channel": "C1", "blocks": [{"a": 1}], "text": ""}),
        ("chat.postMessage", {"channel": "#a", "text": "@here"}, {"channel": "#a", "text": "@here"}),
        ("conversations.create", {"newChannelName": "new", "visibility": "private"},
         {"name": "new", "is_private": True}),
        ("conversations.invite", {"channelName": "C1", "users": "U1, U2"}, {"channel": "C1", "users": "U1,U2"}),
        ("reactions.add", {"channel": "C1", "timestamp": "1.2", "emoji": ":ok:"},
         {"channel": "C1", "timestamp": "1.2", "name": "ok"}),
        ("pins.remove", {"channel": "C1", "timestamp": "1.2"}, {"channel": "C1", "timestamp": "1.2"}),
    ],
)  # fmt: skip
async def test_methods_of_slack(server, work, method, data, sent):
    server.answer = lambda _: (200, {}, {"ok": True, "ts": "3.4"})
    done = await work(SLACK, {"token": "{{secrets.KEY}}", "method": method, "data": data})
    assert done.variables["r"] == {"ok": True, "ts": "3.4"}
    [request] = server.received
    assert (request.target, request.json) == (f"/api/{method}", sent)
    assert request.headers["authorization"] == "Bearer canary-secret"


@pytest.mark.parametrize(
    ("body", "said", "retries"),
    [
        ({"ok": False, "error": "channel_not_found"}, "SLACK_ERROR: channel_not_found", 0),
        ({"ok": False, "error": "ratelimited"}, "SLACK_ERROR: ratelimited", None),
        (b"<html>", "SLACK_ERROR: the answer is not one of Slack's API", None),
    ],
)
async def test_errors_of_slack(server, work, body, said, retries):
    server.answer = lambda _: (200, {}, body)
    assert failed(await work(SLACK, {"token": "t", "data": {"channel": "C1", "text": "Hi"}}), said, retries)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (
            {"channel": "@ann", "text": "Hi"},
            "INVALID_INPUT: the input data.channel is the name of a person",
        ),
        ({"channel": "C1"}, "INVALID_INPUT: the input data.text is missing"),
        ({"channel": "C1", "messageType": "messageBlock", "blockContent": "{"}, "data.blockContent is not valid JSON"),
        ({"channel": "C1", "text": "Hi", "documents": [{}]}, "UNSUPPORTED_DOCUMENT"),
    ],
)
async def test_wrong_messages_to_slack_reach_nobody(server, work, data, said):
    assert failed(await work(SLACK, {"token": "t", "data": data}), said, 0)
    assert server.received == []
