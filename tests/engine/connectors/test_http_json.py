"""The connector: inputs of the element template to variables, errors, retries. Secrets come back nowhere."""

import base64
import json
import re

import msgspec
import pytest
import trio

from tests.engine.connectors.http_calls import HTTP_TYPE, HttpCalls
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError
from vivero.core.shared.secret_places import HEADER, digest
from vivero.engine.connectors.http.http_client import HttpResponse
from vivero.engine.connectors.work.job_commands import job_command
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.results import BpmnError, Completion, Failure
from vivero.engine.connectors.work.secrets import UsedSecrets

SECRETS = {"KEY": "c4n4ry/+ secret", "USER": "ca:nary-user", "PASSWORD": "canary-password"}


UNMARKED = ("16-le", "16-be", "32-le", "32-be")
LATIN = "<?xml version='1.0' encoding='ISO-8859-1'?>"
REFERENCE = re.compile(r"\{\{ ?secrets\.[A-Z]+ ?\}\}")


def written(inputs):
    """The header of a job whose inputs its author wrote as they are."""
    texts = {name: json.dumps(value) for name, value in inputs.items()}
    places = {name: [found.span() for found in REFERENCE.finditer(text)] for name, text in texts.items()}
    return json.dumps({name: [digest(texts[name]), found] for name, found in places.items() if found})


def job(inputs, retries=3, **headers):
    headers[HEADER] = written(inputs)
    variables = msgspec.Raw(json.dumps(inputs).encode())
    return ConnectorJob("2251799813685249", HTTP_TYPE, "call", "1", "<default>", retries, headers, variables, "lease")


@pytest.fixture
def work(client):
    connector = HttpCalls(client)

    async def run(inputs, retries=3, **headers):
        return await connector.work(job(inputs, retries, **headers), UsedSecrets(SECRETS))

    return run


async def test_result_variable_and_expression(server, work):
    server.answer = lambda request: (201, {"X-Id": "7"}, {"temp": 20.5, "list": [1, None]})
    outcome = await work(
        {"url": server.url},
        resultVariable="whole",
        resultExpression="={temp: response.body.temp, same: body.temp, code: status, id: response.headers.X-Id}",
    )
    assert isinstance(outcome, Completion)
    whole = outcome.variables["whole"]
    assert (whole["status"], whole["body"], whole["headers"]["X-Id"]) == (201, {"temp": 20.5, "list": [1, None]}, "7")
    assert {name: float(value or 0) for name, value in outcome.variables.items() if name in ("temp", "same")} == {
        "temp": 20.5,
        "same": 20.5,
    }
    assert outcome.variables["code"] == 201


async def test_without_a_result_there_are_no_variables(server, work):
    assert await work({"url": server.url}) == Completion({})


@pytest.mark.parametrize(
    ("body", "value"),
    [
        (b"", None),
        (b"plain", "plain"),
        (b'{"a": 1}', {"a": 1}),
        (b'"a\\u0000b"', "a\ufffdb"),
        (b"a\x00b", "a\ufffdb"),
        (b"1e99999999", "1e99999999"),
        (b"[" * 100_00, "[" * 100_00),
        (b"\xff", "\ufffd"),
    ],
)
async def test_bodies(server, work, body, value):
    server.answer = lambda _: (200, {}, body)
    outcome = await work({"url": server.url}, resultVariable="r")
    assert isinstance(outcome, Completion)
    assert outcome.variables["r"]["body"] == value
    assert isinstance(job_command(job({}), outcome), CompleteJob)


@pytest.mark.parametrize(
    ("type", "body", "value"),
    [
        ("text/plain; charset=iso-8859-1", "größe".encode("latin-1"), "größe"),
        ('text/plain; x=y; Charset="WINDOWS-1252"', "10 €".encode("cp1252"), "10 €"),
        ("text/csv;charset=utf-16", "größe".encode("utf-16"), "größe"),
        ("text/html; charset=Shift_JIS", "日本".encode("shift_jis"), "日本"),
        ("application/json; charset=ISO-8859-15", '{"a": "5 €"}'.encode("iso-8859-15"), {"a": "5 €"}),
        ("application/json", b"\xef\xbb\xbf" + '{"a": "ü"}'.encode(), {"a": "ü"}),
        ("application/json", '{"a": "ü"}'.encode("utf-16"), {"a": "ü"}),
        ("application/json", b"\x00\x00\xfe\xff" + "[1]".encode("utf-32-be"), [1]),
        ("application/json", '{"a": "ü"}'.encode("utf-32"), {"a": "ü"}),
        ("text/plain; charset=iso-8859-1", b"\xef\xbb\xbf" + "ü".encode(), "ü"),
        ("text/plain; charset=utf-8", b"\xef\xbb\xbf", None),
        ("text/plain; charset=klingon", "ü".encode(), "ü"),
        *(("application/json", '{"a": "5 €"}'.encode(f"utf-{name}"), {"a": "5 €"}) for name in UNMARKED),
        *((f"text/plain; charset=utf-{name[:2]}", "5 €".encode(f"utf-{name}"), "5 €") for name in UNMARKED),
        ("text/plain; charset=utf-16", "日本".encode("utf-16-be"), "日本"),
        ("text/xml", b"<?xml version='1.0' encoding='ISO-8859-1'?><a>\xfc</a>", f"{LATIN}<a>ü</a>"),
        ("application/a+xml; v=1", b"<?xml version='1.0' encoding='ISO-8859-1'?>\xfc", f"{LATIN}ü"),
        ("text/xml; charset=utf-8", f"{LATIN}ü".encode(), f"{LATIN}ü"),
        ("text/xml", "<?xml version='1.0' encoding='utf-16'?>ü".encode(), "<?xml version='1.0' encoding='utf-16'?>ü"),
        ("text/plain", f"{LATIN}ü".encode(), f"{LATIN}ü"),
        (
            "text/html",
            b'<p><meta content="text/html; charset=cp1252">\x80',
            '<p><meta content="text/html; charset=cp1252">€',
        ),
        ("TEXT/HTML", b"<META CharSet=windows-1252>\x80", "<META CharSet=windows-1252>€"),
        ("text/html", b"<meta " * 1_500, "<meta " * 1_500),
        ("text/plain; charset=punycode", b"a-b", "a-b"),
        ("text/plain; charset=unicode_escape", b"\\u0041", "\\u0041"),
        ("text/plain", "ü".encode("latin-1"), "\ufffd"),
    ],
)
async def test_the_charset_of_a_body(server, work, type, body, value):
    server.answer = lambda _: (200, {"Content-Type": type}, body)
    outcome = await work({"url": server.url}, resultVariable="r")
    assert outcome.variables["r"]["body"] == value


async def test_a_secret_in_another_charset_is_masked(server, client):
    server.answer = lambda _: (200, {"Content-Type": "text/plain; charset=utf-16"}, "päss".encode("utf-16"))
    inputs = {"url": server.url, "authentication": {"type": "apiKey", "apiKeyLocation": "query", "name": "k",
                                                    "value": "{{secrets.P}}"}}  # fmt: skip
    outcome = await HttpCalls(client).work(job(inputs, resultVariable="r"), UsedSecrets({"P": "päss"}))
    assert isinstance(outcome, Completion)
    assert outcome.variables["r"]["body"] == "***"


async def test_a_deep_response_fails_and_breaks_nothing(server, work):
    server.answer = lambda _: (200, {}, b"[" * 800 + b"]" * 800)
    outcome = await work({"url": server.url, "headers": {"X": "{{secrets.KEY}}"}}, resultVariable="r")
    failed = job_command(job({}), outcome)
    assert isinstance(failed, FailJob)
    assert (failed.message or "").startswith("BAD_RESPONSE")


class SlowClient:
    """Each of the two calls is fast enough by itself."""

    max_call_s = 10.0

    async def post(self, _url, _headers, _content):
        await trio.sleep(6)
        return 200, b'{"access_token": "t"}'

    async def call(self, _request, _credentials):
        await trio.sleep(6)
        return HttpResponse(200, (), b"")


async def test_the_call_for_a_token_is_within_the_limit_of_the_call(autojump_clock):
    inputs = {"url": "http://example.com", "authentication": OAUTH | {"oauthTokenEndpoint": "http://example.com"}}
    outcome = await HttpCalls(SlowClient()).work(job(inputs), UsedSecrets(SECRETS))
    assert isinstance(outcome, Failure)
    assert outcome.message.startswith("TIMEOUT")


async def test_a_status_of_an_error_fails_the_job(server, work):
    server.answer = lambda _: (404, {}, {"why": "gone"})
    outcome = await work({"url": server.url})
    assert isinstance(outcome, Failure)
    assert outcome.message == "404: Not Found"
    assert outcome.variables["error"]["variables"]["response"]["body"] == {"why": "gone"}
    failed = job_command(job({}, 3, retryBackoff="PT30S"), outcome)
    assert isinstance(failed, FailJob)
    assert (failed.retries, failed.backoff_ms, failed.lease) == (2, 30_000, "lease")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('=if error.code = "404" then bpmnError("GONE", "it is gone") else null', BpmnError("GONE", "it is gone", {})),
        (
            '=bpmnError("GONE", "x", {why: error.variables.response.body.why})',
            BpmnError("GONE", "x", {"why": "gone"}),
        ),
        ('={code: "OWN", message: "m"}', BpmnError("OWN", "m", {})),
        ('=jobError("later")', Failure("later", {})),
        ('=jobError("later", {a: 1}, 7, duration("PT1M"))', Failure("later", {"a": 1}, 7, 60_000)),
        ('=jobError(message: "never", retries: job.retries - 3)', Failure("never", {}, 0)),
        ("=ignoreError({found: false})", Completion({"found": False})),
        ("=ignoreError()", Completion({})),
        (
            "=if is defined(error) then bpmnError(error.code, error.message) else null",
            BpmnError("404", "Not Found", {}),
        ),
    ],
)
async def test_error_expressions(server, work, expression, expected):
    server.answer = lambda _: (404, {}, {"why": "gone"})
    assert await work({"url": server.url}, errorExpression=expression) == expected


@pytest.mark.parametrize("expression", ["=null", "={}", '=if error.code = "500" then bpmnError("a", "b") else null'])
async def test_an_error_expression_that_decides_nothing_leaves_the_failure(server, work, expression):
    server.answer = lambda _: (404, {}, {})
    outcome = await work({"url": server.url}, errorExpression=expression)
    assert isinstance(outcome, Failure)
    assert outcome.message == "404: Not Found"


async def test_an_error_expression_sees_good_answers_too(server, work):
    server.answer = lambda _: (200, {}, {"status": "failed"})
    text = '=if response.body.status = "failed" and x = 1 then bpmnError("FAILED", "x") else null'
    outcome = await work({"url": server.url}, errorExpression=text, resultExpression="={x: 1}")
    assert outcome == BpmnError("FAILED", "x", {})
    thrown = job_command(job({}), outcome)
    assert isinstance(thrown, ThrowJobError)
    assert thrown.code == "FAILED"


@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"resultExpression": "=1 +"}, "RESULT_EXPRESSION"),
        ({"resultExpression": "=5"}, "RESULT_EXPRESSION"),
        ({"errorExpression": "=if"}, "ERROR_EXPRESSION"),
        ({"errorExpression": '=jobError("x", {}, -1)'}, "ERROR_EXPRESSION"),
        ({"errorExpression": '=jobError("x", {}, 1, 5)'}, "ERROR_EXPRESSION"),
        ({"errorExpression": '=bpmnError("x", "y", 5)'}, "ERROR_EXPRESSION"),
    ],
)
async def test_wrong_expressions_leave_no_retries(server, work, headers, code):
    outcome = await work({"url": server.url}, **headers)
    assert isinstance(outcome, Failure)
    assert (outcome.message.partition(":")[0], outcome.retries) == (code, 0)


@pytest.mark.parametrize(
    "outcome",
    [
        Completion({"": 1}),
        Completion({"a" * 1025: 1}),
        Completion({"a": "x" * 5_000_000}),
        Completion({"a": "x\0y"}),
        BpmnError("a", "b", {"a\0": 1}),
    ],
)
def test_a_result_that_cannot_be_stored_is_a_failure(outcome):
    failed = job_command(job({}), outcome)
    assert isinstance(failed, FailJob)
    assert failed.retries == 0
    assert "cannot be stored" in (failed.message or "")


def test_backslashes_before_u0000_are_no_nul():
    assert isinstance(job_command(job({}), Completion({"a": "\\u0000"})), CompleteJob)


def test_a_wrong_backoff_is_told():
    failed = job_command(job({}, retryBackoff="soon"), Failure("404"))
    assert isinstance(failed, FailJob)
    assert failed.retries == 0
    assert "retryBackoff" in (failed.message or "")


# ------------------------------------------------------------------------------------------------------- credentials


@pytest.mark.parametrize(
    ("authentication", "header", "value"),
    [
        ({"type": "noAuth"}, "authorization", None),
        (
            {"type": "basic", "username": "{{secrets.USER}}", "password": "{{ secrets.PASSWORD }}"},
            "authorization",
            "Basic " + base64.b64encode(b"ca:nary-user:canary-password").decode(),
        ),
        ({"type": "bearer", "token": "{{secrets.KEY}}"}, "authorization", "Bearer c4n4ry/+ secret"),
        (
            {"type": "apiKey", "apiKeyLocation": "headers", "name": "X-Key", "value": "{{secrets.KEY}}"},
            "x-key",
            "c4n4ry/+ secret",
        ),
    ],
)
async def test_credentials_are_sent_and_never_come_back(server, work, authentication, header, value):
    """The server echoes everything, in every form."""
    server.answer = lambda request: (200, {"X-Echo": str(request.headers)}, dict(request.headers))
    outcome = await work({"url": server.url, "authentication": authentication}, resultVariable="r")
    assert server.received[0].headers.get(header) == value
    assert not shown(outcome)


async def test_an_api_key_in_the_query(server, work):
    server.answer = lambda request: (500, {}, {"url": request.target})
    given = {"type": "apiKey", "apiKeyLocation": "query", "name": "k", "value": "{{secrets.KEY}}"}
    outcome = await work({"url": server.url + "/p?a=1", "authentication": given})
    assert server.received[0].target == "/p?a=1&k=c4n4ry%2F%2B+secret"
    assert not shown(outcome)


async def test_secrets_in_all_inputs(server, work):
    server.answer = lambda request: (400, {}, request.body + request.target.encode() + str(request.headers).encode())
    outcome = await work(
        {
            "url": server.url + "/{{secrets.PASSWORD}}",
            "method": "post",
            "headers": {"X-A": "a-{{secrets.PASSWORD}}"},
            "queryParameters": {"q": "{{secrets.KEY}}"},
            "body": {"{{secrets.KEY}}": ["{{secrets.KEY}}", 5, None, {"x": "{{secrets.USER}}"}]},
        }
    )
    [request] = server.received
    assert request.json == {SECRETS["KEY"]: [SECRETS["KEY"], 5, None, {"x": SECRETS["USER"]}]}
    assert "canary-password" in request.target
    assert not shown(outcome)


@pytest.mark.parametrize(
    "inputs",
    [
        {"url": "http://{{secrets.PASSWORD}}.invalid:99999/"},
        {"url": "{{secrets.PASSWORD}}"},
        {"url": "http://localhost", "headers": {"X": "\n{{secrets.PASSWORD}}"}},
        {"url": "http://localhost", "method": "{{secrets.PASSWORD}}"},
        {"url": "http://localhost", "readTimeoutInSeconds": "{{secrets.PASSWORD}}"},
        {"url": "http://localhost", "authentication": {"type": "{{secrets.PASSWORD}}"}},
    ],
)
async def test_errors_show_no_secret(work, inputs):
    outcome = await work(inputs, errorExpression='=bpmnError("x", error.message)')
    assert not shown(outcome)
    assert not shown(await work(inputs))


def shown(outcome):
    """The secrets that an outcome contains in any form."""
    said = str(job_command(job({}), outcome)) + str(outcome)
    forms = {each for value in SECRETS.values() for each in (value, base64.b64encode(value.encode()).decode())}
    forms |= {"c4n4ry%2F%2B", base64.b64encode(b"ca:nary-user:canary-password").decode()}
    return {form for form in forms if form in said}


async def test_an_unknown_secret_is_named_and_leaves_no_retries(server, work):
    outcome = await work({"url": server.url + "/{{secrets.NONE}}"})
    assert isinstance(outcome, Failure)
    assert outcome.message.startswith("UNKNOWN_SECRET")
    assert "'NONE'" in outcome.message
    assert outcome.retries == 0
    assert server.received == []


async def test_text_from_secrets_is_not_resolved_again(server, client):
    connector = HttpCalls(client)
    used = UsedSecrets({"A": "{{secrets.B}}", "B": "inner-canary"})
    await connector.work(job({"url": server.url, "headers": {"X": "{{secrets.A}}"}}), used)
    assert server.received[0].headers["x"] == "{{secrets.B}}"


OAUTH = {
    "type": "oauth-client-credentials-flow",
    "clientId": "me",
    "clientSecret": "{{secrets.PASSWORD}}",
    "audience": "them",
    "scopes": "read",
}


@pytest.mark.parametrize("way", ["basicAuthHeader", "credentialsBody"])
async def test_an_oauth_token_is_fetched_once_and_renewed_if_rejected(server, other, work, way):
    tokens = iter(("token-one", "token-two"))
    other.answer = lambda _: (200, {}, {"access_token": next(tokens), "expires_in": 3600})
    given = OAUTH | {"oauthTokenEndpoint": other.url + "/token", "clientAuthentication": way}
    inputs = {"url": server.url, "authentication": given}
    server.answer = lambda request: (200, {}, {"echo": request.headers["authorization"]})
    outcome = await work(inputs, resultVariable="r")
    assert isinstance(outcome, Completion)
    assert outcome.variables["r"]["body"] == {"echo": "Bearer ***"}
    await work(inputs)
    assert len(other.received) == 1
    server.answer = lambda _: (401, {}, {})
    assert isinstance(await work(inputs), Failure)
    server.answer = lambda _: (200, {}, {})
    await work(inputs)
    assert [request.headers["authorization"][-3:] for request in server.received] == ["one", "one", "one", "two"]
    form = other.received[0].body.decode()
    assert "grant_type=client_credentials" in form
    assert "audience=them" in form
    assert ("client_secret=canary-password" in form) == (way == "credentialsBody")


@pytest.mark.parametrize("answer", [(400, {}, {"error": "no"}), (200, {}, b"no json"), (200, {}, {"token": 1})])
async def test_a_token_endpoint_that_gives_no_token(server, other, work, answer):
    other.answer = lambda _: answer
    given = OAUTH | {"oauthTokenEndpoint": other.url}
    outcome = await work({"url": server.url, "authentication": given})
    assert isinstance(outcome, Failure)
    assert outcome.message.startswith("TOKEN_REFUSED")
    assert server.received == []
