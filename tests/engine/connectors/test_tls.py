"""Calls over TLS: the name of the host is kept for the server, and its certificate is verified."""

import ssl
from typing import Any

import pytest
import trio

from tests.api.tls.conftest import write_certificate
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.authentication import Credentials
from vivero.engine.connectors.http.http_client import HttpClient
from vivero.engine.connectors.http.requests import read_request
from vivero.engine.connectors.settings import ConnectorSettings


async def test_the_server_gets_the_name_and_its_certificate_must_be_trusted(tmp_path, nursery):
    """The connection goes to the checked address. Nothing is sent to a server that cannot prove its name."""
    names, received = [], []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*write_certificate(tmp_path))
    context.sni_callback = lambda _socket, name, _context: names.append(name)

    async def handle(stream):
        try:
            received.append(await stream.receive_some())
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            received.append(b"")

    listeners: Any = await trio.open_ssl_over_tcp_listeners(0, context, host="127.0.0.1")
    port = listeners[0].transport_listener.socket.getsockname()[1]
    nursery.start_soon(trio.serve_listeners, handle, listeners)

    async def resolve(_host, _port):
        return ["127.0.0.1"]

    client = HttpClient(ConnectorSettings(allowed_targets="127.0.0.1"), resolve)
    with pytest.raises(ConnectorError, match="CONNECTION_FAILED"):
        await client.call(read_request({"url": f"https://secure.example:{port}/"}), Credentials())
    await client.aclose()
    assert names == ["secure.example"]
    assert set(received) <= {b""}
