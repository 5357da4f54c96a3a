"""Answers of other servers that never end, or that unpack to very much: whoever reads one reads a bounded part."""

import gzip
import socket
import threading
from contextlib import contextmanager

import pytest

from vivero.api.access import code_flow, signing_keys
from vivero.api.access.code_flow import ProviderFailed
from vivero.api.access.verified import KeysUnavailable
from vivero.client import answers
from vivero.client.rest import Client, ClientError
from vivero.engine.buckets import client as bucket_client
from vivero.engine.buckets.client import Bucket
from vivero.engine.retention.archive.s3 import S3Store
from vivero.storage.retention.archives import ArchiveProblem
from vivero.tracing.collectors import MAX_ANSWER_BYTES, CollectorSession

BUFFERED = 16 << 20
"""Bytes that sockets hold at most."""
PIECE = b"10000\r\n" + b" " * 0x10000 + b"\r\n"
PLAIN = b"HTTP/1.1 %s\r\nContent-Type: application/json\r\n%bTransfer-Encoding: chunked\r\n\r\n"


class Endless:
    """A server that answers each request without end."""

    def __init__(self, status=b"200 OK", headers=b"", content=None) -> None:
        self.head, self.content, self.sent = PLAIN % (status, headers), content, 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.thread = threading.Thread(target=self._serve)

    def _serve(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._answer(connection)

    def _answer(self, connection):
        try:
            connection.recv(1 << 16)
            connection.sendall(self.head)
            if self.content is not None:
                connection.sendall(b"%x\r\n%b\r\n0\r\n\r\n" % (len(self.content), self.content))
                return
            while self.sent < 1 << 30:
                connection.sendall(PIECE)
                self.sent += len(PIECE)
        except OSError:
            return  # the client has closed the connection

    def close(self):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.thread.join()


@contextmanager
def endless(*given, **more):
    server = Endless(*given, **more)
    server.thread.start()
    try:
        yield server
    finally:
        server.close()


def packed():
    """Few bytes of many."""
    return gzip.compress(bytes(50 << 20))


@pytest.mark.parametrize(("status", "code"), [(b"200 OK", 200), (b"500 Error", 500)])
def test_a_collector(status, code):
    with endless(status) as server:
        response = CollectorSession().request("POST", server.url, data=b"spans", timeout=10, allow_redirects=False)
        assert response.status_code == code
    assert server.sent <= MAX_ANSWER_BYTES + BUFFERED


async def test_an_identity_provider():
    with endless() as server:
        with pytest.raises(KeysUnavailable, match="more than"):
            await signing_keys.fetch(server.url)
        with pytest.raises(ProviderFailed):
            await code_flow.post(server.url, {}, {})
    assert server.sent <= 2 * (signing_keys.MAX_BYTES + BUFFERED)
    packing = endless(headers=b"Content-Encoding: gzip\r\n", content=packed())
    with packing as server, pytest.raises(KeysUnavailable, match="is packed"):
        await signing_keys.fetch(server.url)


@pytest.mark.parametrize("status", [b"200 OK", b"400 Bad Request"])
async def test_the_client(monkeypatch, status):
    monkeypatch.setattr(answers, "MAX_ANSWER_BYTES", 1 << 20)
    with endless(status) as server:
        async with Client(server.url) as client:
            with pytest.raises(ClientError, match="has more than 1 MiB"):
                await client.topology()
            with pytest.raises(ClientError, match="has more than 1 MiB"):
                await client.metrics()
    assert server.sent <= 2 * ((1 << 20) + BUFFERED)
    with endless(status, headers=b"Content-Encoding: gzip\r\n", content=packed()) as server:
        async with Client(server.url) as client:
            with pytest.raises(ClientError, match="is packed"):
                await client.topology()


@pytest.mark.parametrize("status", [b"200 OK", b"403 Forbidden"])
def test_an_object_store(monkeypatch, status):
    monkeypatch.setattr(bucket_client, "MAX_ANSWER_BYTES", 1 << 20)
    with endless(status) as server:
        store = S3Store(Bucket("b", "", server.url, "us-east-1", "a", "b"))
        with pytest.raises(ArchiveProblem, match="more than 1048576 bytes"):
            list(store.names())
        if not status.startswith(b"200"):
            with pytest.raises(ArchiveProblem, match="more than 1048576 bytes"):
                list(store.parts("x"))
    assert server.sent <= 2 * ((1 << 20) + BUFFERED)
