"""The client that blocks connects as the others do: with credentials of the environment, and with limits of answers."""

import base64
import ssl

import httpx
import pytest

from vivero.client import BadAddress, ClientError, NotSendable, Unreachable, ViveroClient, answers
from vivero.client.failures import failure_of

TOPOLOGY = "/v2/topology"


def sent_by(serve=None, **options):
    """The request that a client sends."""
    got = []

    def handle(request):
        got.append(request)
        return httpx.Response(200, json={}) if serve is None else serve()

    with ViveroClient(transport=httpx.MockTransport(handle), **options) as client:
        client.request("GET", TOPOLOGY)
    return got[0]


def test_address_and_credentials_of_the_environment(monkeypatch):
    for name in ("VIVERO_TOKEN", "VIVERO_USERNAME", "VIVERO_PASSWORD"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("VIVERO_ADDRESS", "http://server:1/v2")
    assert str(sent_by().url) == f"http://server:1{TOPOLOGY}"
    assert "authorization" not in sent_by().headers
    monkeypatch.setenv("VIVERO_USERNAME", "ada")
    monkeypatch.setenv("VIVERO_PASSWORD", "secret")
    assert sent_by().headers["authorization"] == f"Basic {base64.b64encode(b'ada:secret').decode()}"
    monkeypatch.setenv("VIVERO_TOKEN", "abc")
    assert sent_by().headers["authorization"] == "Bearer abc"
    assert sent_by(credentials="def").headers["authorization"] == "Bearer def"
    assert "authorization" not in sent_by(credentials="").headers


def test_what_cannot_connect():
    with pytest.raises(BadAddress, match="is not a valid server address"):
        ViveroClient("ftp://server")
    with pytest.raises(NotSendable, match="the token has characters that a token cannot have"):
        ViveroClient("http://server", credentials="a\nb")
    with (
        ViveroClient("http://127.0.0.1:1", retry_s=0) as client,
        pytest.raises(Unreachable, match=r"no server answers at http://127\.0\.0\.1:1") as error,
    ):
        client.request("GET", TOPOLOGY)
    assert not error.value.in_doubt


@pytest.mark.parametrize("path", ["http://other/v2/topology", "v2/topology", ""])
def test_no_other_server_gets_the_credentials(path):
    hosts = []

    def serve(request):
        hosts.append(request.url.host)
        return httpx.Response(204)

    with ViveroClient("http://server", credentials="abc", transport=httpx.MockTransport(serve)) as client:
        with pytest.raises(NotSendable, match="must begin with /"):
            client.request("GET", path)
        client.request("GET", "//other/v2/topology")
    assert hosts == ["server"]


def test_a_number_beyond_floats_keeps_its_value():
    variable = {"name": "big", "value": '{"big": 1e400, "small": 1.5}', "isTruncated": False}
    keys = ("variableKey", "scopeKey", "processInstanceKey", "rootProcessInstanceKey", "tenantId")
    answer = {"items": [variable | dict.fromkeys(keys, "7")], "page": {"totalItems": 1}}
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=answer))
    with ViveroClient("http://server", transport=transport) as client:
        assert client.variables_of(7) == {"big": {"big": 10**400, "small": 1.5}}


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (httpx.Response(200, content=b"{}", headers={"content-encoding": "identity, x"}), "is packed"),
        (httpx.Response(200, content=b"[" + b" " * 2000), "has more than"),
        (httpx.Response(200, content=b"<html>"), "the answer is not what a Vivero server sends"),
        (httpx.Response(503, content=b"<html>"), "503 Service Unavailable"),
    ],
)
def test_answers_that_no_server_of_ours_sends(monkeypatch, answer, reason):
    monkeypatch.setattr(answers, "MAX_ANSWER_BYTES", 1000)
    with pytest.raises(ClientError, match=reason):
        sent_by(lambda: answer, address="http://server", retry_s=0)


@pytest.mark.parametrize("says", [True, False], ids=["in the error", "in its cause"])
def test_a_certificate_that_is_not_trusted_is_named_as_the_reason(says):
    """The server runs, so the advice is another one. Under Trio, httpx gives the text to the cause alone."""
    cause = ssl.SSLError(1, "[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: self-signed certificate")
    error = httpx.ConnectError(str(cause) if says else "")
    error.__cause__ = cause
    said = str(failure_of(error, "https://server:1"))
    assert said.startswith("the certificate of https://server:1 is not trusted ([SSL: CERTIFICATE_VERIFY_FAILED]")
    assert said.endswith("self-signed certificate): SSL_CERT_FILE names a file with the certificate of its authority")
    assert "is `vivero up` running?" in str(failure_of(httpx.ConnectError("refused"), "https://server:1"))
