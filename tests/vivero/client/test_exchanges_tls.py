"""The requests of workers over TLS: servers that must not get them, and connections that are used again."""

import ssl
from functools import partial
from ipaddress import ip_address

import anyio
import pytest
from anyio.streams.tls import TLSAttribute, TLSListener
from cryptography.x509 import DNSName, IPAddress

from tests.api.tls.conftest import write_certificate
from tests.vivero.client.test_exchanges import OK, Server, asked
from vivero.client.rest import Client, Unreachable

RECORD = 16 * 1024
"""The most bytes of a record of TLS."""
HERE = IPAddress(ip_address("127.0.0.1"))


class SecureServer(Server):
    """A server with a certificate, for which clients ask by its address."""

    def __init__(self, certificate, *answers) -> None:
        super().__init__(*answers)
        self.tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self.tls.load_cert_chain(*certificate)
        self.tls.set_alpn_protocols(["h2", "http/1.1"])
        self.scheme = "https"
        self.protocols = []

    def listener(self, plain):
        return TLSListener(plain, self.tls, standard_compatible=False)

    async def _serve(self, stream):
        self.protocols.append(stream.extra(TLSAttribute.alpn_protocol))
        await super()._serve(stream)


@pytest.fixture(params=["asyncio", "trio"])
def run(request):
    return partial(anyio.run, backend=request.param)


@pytest.fixture
def secure(tmp_path, monkeypatch):
    """A server, whose certificate the client trusts unless another one is `trusted`."""

    def make(*answers, trusted=None, **options):
        certificate = write_certificate(tmp_path, **{"subject_name": HERE, **options})
        monkeypatch.setenv("SSL_CERT_FILE", str(trusted or certificate[0]))
        return SecureServer(certificate, *answers)

    return make


def test_a_connection_with_tls_is_used_again(run, secure):
    server = secure(OK, OK, OK)
    assert run(partial(asked, times=3), server) == [(b"{}", None)] * 3
    assert (server.connections, server.protocols) == (1, ["http/1.1"])


def test_what_comes_with_an_answer_is_never_the_answer_to_the_next_request(run, secure):
    """Records of TLS, which the client has read from the network and not yet decrypted."""
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 16342\r\n\r\n"
    first = head + b"x" * 16342
    assert len(first) == RECORD
    server = secure(first + OK.replace(b"{}", b"[]"), OK)
    assert run(partial(asked, times=2), server)[1] == (b"{}", None)
    assert server.connections == 2


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"subject_name": DNSName("other.example")}, "IP address mismatch"),
        ({"ends_in_days": -1}, "certificate has expired"),
        ({"trusted": True}, "self-signed certificate"),
    ],
    ids=["of another host", "expired", "of nobody known"],
)
def test_a_server_without_a_valid_certificate_gets_no_request(run, secure, tmp_path, options, says):
    if "trusted" in options:
        (tmp_path / "other").mkdir()
        options = {"trusted": write_certificate(tmp_path / "other", name="other")[0]}
    server = secure(OK, **options)
    (error,) = run(asked, server)
    assert isinstance(error, Unreachable)
    assert (error.in_doubt, says in str(error), server.requests) == (False, True, []), error


def test_a_server_without_tls_gets_no_request(run):
    server = Server(b"HTTP/1.1 400 Bad Request\r\n\r\n", closes=True)

    async def ask():
        async with server.running() as address, Client(address.replace("http:", "https:"), credentials="t") as client:
            with pytest.raises(Unreachable, match="does not speak TLS"):
                await client.exchange("POST", "/v2/x", b"{}")

    run(ask)
    assert b"POST" not in b"".join(server.requests)
