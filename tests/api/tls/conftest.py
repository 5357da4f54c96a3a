"""A server with TLS on loopback, with a certificate that the clients of these tests trust."""

import ssl
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

import httpx
import pytest
import trio
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from vivero.api.http1.settings import ServerSettings
from vivero.api.serving.certificate import Certificate
from vivero.api.serving.server import Endpoint, open_listeners
from vivero.api.tls import server


def write_certificate(directory, name="localhost", subject_name=None, ends_in_days=1):
    """A certificate that signs itself, and its key. `subject_name`: the host, `localhost` by default."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(subject).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number()).not_valid_before(now - timedelta(days=3))
    builder = builder.not_valid_after(now + timedelta(days=ends_in_days))
    names = [subject_name or x509.DNSName("localhost")]
    builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    paths = directory / "chain.pem", directory / "key.pem"
    paths[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    paths[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    return paths


@pytest.fixture
def files(tmp_path):
    return write_certificate(tmp_path)


@pytest.fixture
def serve(files, nursery):
    """`async with serve(app, **settings) as it`: `it.port`, `it.certificate`, `it.stop()`, `it.client(http2=…)`."""

    @asynccontextmanager
    async def serving(app, beat=lambda: None, **settings):
        listeners = await open_listeners("127.0.0.1", 0)
        certificate, drain, done = Certificate(*files), trio.Event(), trio.Event()
        endpoint = Endpoint(listeners, certificate=certificate)

        async def run(task_status):
            await server.serve(
                app, endpoint, certificate,
                settings=ServerSettings(**settings), drain=drain, beat=beat, task_status=task_status,
            )  # fmt: skip
            done.set()

        async def stop():
            drain.set()
            with trio.fail_after(20):
                await done.wait()

        await nursery.start(run)
        port = listeners[0].socket.getsockname()[1]
        trust = ssl.create_default_context(cafile=str(files[0]))
        it = SimpleNamespace(
            port=port, certificate=certificate, stop=stop, drain=drain, done=done, trust=trust,
            figures=endpoint.figures, streams=[],
            client=lambda http2=True: httpx.AsyncClient(
                http1=not http2, http2=http2, verify=trust, base_url=f"https://localhost:{port}", timeout=20
            ),
        )  # fmt: skip
        try:
            yield it
        finally:
            await stop()
            for closing in (*it.streams, *listeners):
                await closing.aclose()

    return serving


async def open_tcp(it):
    """A connection without TLS."""
    it.streams.append(await trio.open_tcp_stream("127.0.0.1", it.port))
    return it.streams[-1]


async def connect(it, alpn=("http/1.1",)):
    """A connection with TLS, for a client that misbehaves."""
    it.trust.set_alpn_protocols(list(alpn))
    stream = trio.SSLStream(await open_tcp(it), it.trust, server_hostname="localhost", https_compatible=True)
    await stream.do_handshake()
    return stream


async def rest(stream):
    """The rest that the server sends until it closes."""
    found = b""
    try:
        with trio.fail_after(20):
            while data := await stream.receive_some():
                found += data
    except trio.BrokenResourceError:
        pass
    return found
