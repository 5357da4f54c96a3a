"""Secrets do not come back in any form that servers and libraries give them: an echo of whole requests shows none."""

import base64
import html
import json
import random
import re
from contextlib import suppress
from typing import Any
from urllib.parse import unquote, unquote_plus

import msgspec
import pytest

from tests.engine.connectors.http_calls import HTTP_TYPE, HttpCalls
from tests.engine.connectors.test_http_json import written
from vivero.core.shared.secret_places import HEADER
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.masks import MOST_CHOICES, forms_of
from vivero.engine.connectors.work.results import Failure
from vivero.engine.connectors.work.secrets import UsedSecrets

SIGNS = "aZ09/+ =\"\\%&?#<>'{}~:@;,$!*()[]|^`-._"
PEM = "-----BEGIN-----\n" + "MIIE/+v9\n" * (MOST_CHOICES // 8) + '"ü"'
SECRET = "{{secrets.K}}"
PLACES: dict[str, dict[str, Any]] = {
    "path": {"url": f"/a/{SECRET}"},
    "query": {"url": f"/?k={SECRET}"},
    "parameters": {"queryParameters": {"k": SECRET}},
    "header": {"headers": {"X": SECRET}},
    "name of a header": {"headers": {SECRET: "1"}},
    "body": {"method": "POST", "body": {"k": SECRET}},
    "text": {"method": "POST", "body": f"<{SECRET}>"},
    "form": {"method": "POST", "headers": {"Content-Type": "application/x-www-form-urlencoded"}, "body": {"k": SECRET}},
    "basic": {"authentication": {"type": "basic", "username": "u", "password": SECRET}},
    "bearer": {"authentication": {"type": "bearer", "token": SECRET}},
    "key": {"authentication": {"type": "apiKey", "apiKeyLocation": "query", "name": "k", "value": SECRET}},
    "method": {"method": SECRET},
    "timeout": {"readTimeoutInSeconds": SECRET},
}


def echo(request):
    """The answer of a diagnostic server: the request in JSON, and its parts as they came, as in pages and in logs."""
    body, target = request.body.decode(errors="replace"), request.target
    small = re.sub("%[0-9A-F]{2}", lambda found: found[0].lower(), target)
    shown = {"url": f"http://h{target}", "small": small, "headers": request.headers, "data": body}
    page, log = html.escape(f"{unquote(target)} {body}"), json.dumps(shown).replace("/", "\\/")
    return (
        200,
        {},
        {**shown, "page": page, "log": log, "base64": base64.urlsafe_b64encode(unquote(target[5:]).encode()).decode()},
    )


def texts(value):
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from (name, *texts(item))


def readings(text):
    """All that a reader finds in a text who knows how programs write."""
    yield from (text, unquote(text), unquote_plus(text), html.unescape(text))
    for word in re.findall(r"[A-Za-z0-9+/_-]{4,}", text):
        if len(word) % 4 != 1:
            standard = word.translate(str.maketrans("-_", "+/")) + "=" * (-len(word) % 4)
            yield base64.b64decode(standard).decode(errors="replace")
    for quoted in re.findall(r'"(?:[^"\\]|\\.)*"', text):
        with suppress(ValueError):
            yield json.loads(quoted, strict=False)


async def leaks(server, client, secret):
    connector = HttpCalls(client)
    for place, given in PLACES.items():
        inputs = {**given, "url": server.url + given.get("url", "/")}
        headers = {HEADER: written(inputs), "resultVariable": "r"}
        variables = msgspec.Raw(json.dumps(inputs).encode())
        job = ConnectorJob("1", HTTP_TYPE, "call", "1", "<default>", 3, headers, variables, "lease")
        outcome = await connector.work(job, UsedSecrets({"K": secret}))
        for text in (*texts(dict(outcome.variables)), getattr(outcome, "message", "")):
            if any(secret in reading for reading in readings(text)):
                yield place, text


async def test_no_echo_shows_a_secret(server, client, seed):
    choose = random.Random(seed)
    server.answer = echo
    for n in range(6):
        signs = SIGNS + ("üß€𝄞" if n % 2 else "")
        secret = "".join(choose.choices(signs, k=choose.randint(6, 14))).strip().ljust(6, "x")
        assert [leak async for leak in leaks(server, client, secret)] == [], secret
        assert server.received, "the secret was sent"


async def test_no_echo_shows_a_long_secret(server, client):
    server.answer = echo
    assert [leak async for leak in leaks(server, client, PEM)] == []


@pytest.mark.parametrize("sign", ["\\", "%", "/", "&", "%25", "a"])
def test_no_form_backtracks(sign):
    """The text and the answer may come from the same stranger. Backtracking would take longer than anybody waits."""
    times = MOST_CHOICES // len(sign)
    pattern = re.compile("|".join(form.pattern for form in forms_of(sign * times)))
    for almost in (sign * 2, json.dumps(sign)[1:-1], html.escape(sign), "%25"):
        assert pattern.search(almost * (times // 2 - 1) + "x") is None


async def test_credentials_are_bounded(server, client):
    given = {"type": "apiKey", "name": "k", "value": "a" * 20_000}
    inputs = {"url": server.url, "authentication": given}
    variables = msgspec.Raw(json.dumps(inputs).encode())
    job = ConnectorJob("1", HTTP_TYPE, "call", "1", "<default>", 3, {}, variables, "lease")
    outcome = await HttpCalls(client).work(job, UsedSecrets({}))
    assert isinstance(outcome, Failure)
    assert "authentication.value has more than 16384 characters" in outcome.message
    assert server.received == []
