"""Whole programs with TLS and with tenants, over real connections."""

import signal
import ssl
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest

from tests import plain_http
from tests.api.tls.conftest import write_certificate
from tests.eventually import eventually
from tests.process.load import MODELS
from vivero.client.rest import Client, Unreachable
from vivero.storage.access import row_security
from vivero.storage.postgres import driver

PASSWORD = "correct horse battery"
MODEL = {"resources": ("one_task.bpmn", (MODELS / "one_task.bpmn").read_bytes())}


@asynccontextmanager
async def https(program, certificate, **options):
    """A client that trusts this certificate alone."""
    trust = ssl.create_default_context(cafile=str(certificate))
    async with httpx.AsyncClient(base_url=f"https://localhost:{program.port}", verify=trust, **options) as client:
        yield client


async def served(program, certificate):
    """The version of HTTP of a healthy answer on a new connection; None without one."""
    try:
        async with https(program, certificate, http2=True) as client:
            answer = await client.get("/v2/status")
    except (httpx.TransportError, ssl.SSLError):
        return None
    return answer.http_version if answer.status_code == 204 else None


async def ask(program):
    """The answers to Vivero's own client."""
    async with Client(f"https://localhost:{program.port}", credentials="") as client:
        return await client.topology()


async def test_a_program_with_tls_takes_a_new_certificate(make_program, database, unsafe, tmp_path, monkeypatch):
    chain, key = write_certificate(tmp_path)
    old = tmp_path / "old.pem"
    old.write_bytes(chain.read_bytes())
    program = make_program(
        *("--database-url", database, "--tls-cert", str(chain), "--tls-key", str(key)), environment=unsafe
    )
    program.start()
    assert await eventually(lambda: served(program, chain), "it answers with TLS", every_s=0.05) == "HTTP/2"
    assert await program.status() == 0, "nobody is answered without TLS"
    with pytest.raises(Unreachable, match="CERTIFICATE_VERIFY_FAILED"):
        await ask(program)
    monkeypatch.setenv("SSL_CERT_FILE", str(chain))
    assert await ask(program), "our own commands trust what the environment says, on loopback too"

    async with https(program, old) as kept:
        deployed = await kept.post("/v2/deployments", files=MODEL)
        assert deployed.status_code == 200
        write_certificate(tmp_path)
        program.signal(signal.SIGHUP)
        await eventually(lambda: served(program, chain), "new connections get the new certificate")
        assert await served(program, old) is None
        created = await kept.post("/v2/process-instances", json={"processDefinitionId": "one-task"})
        assert created.status_code == 200, "an open connection goes on"

    good = tmp_path / "good.pem"
    good.write_bytes(chain.read_bytes())
    chain.write_text("nonsense")
    program.signal(signal.SIGHUP)

    async def refused():
        return program.logged("the new certificate cannot be used, so the old one stays")

    await eventually(refused, "the log says that the certificate is bad")
    assert await served(program, good) == "HTTP/2"
    program.signal(signal.SIGTERM)
    assert await program.wait() == 0, "it ends before its database goes"


class Someone:
    """A user with the password of all."""

    def __init__(self, program, name) -> None:
        self._client = plain_http.async_client(
            base_url=f"http://localhost:{program.port}", auth=(name, PASSWORD), timeout=30
        )
        self.aclose = self._client.aclose

    async def __call__(self, method, path, document=None, **more) -> tuple[int, Any]:
        """The status, and the answer's document."""
        answer = await self._client.request(method, f"/v2/{path}", json=document, **more)
        return answer.status_code, answer.json() if answer.content else None


@pytest.fixture
async def with_tenants(make_program, database, unsafe):
    """A program with tenants, in a database of one's own whose second role exists."""
    connection = await driver.connect(database, name="vivero test")
    await row_security.make_reader(connection)
    connection.close()
    environment = unsafe | {
        "VIVERO_TENANTS_ENABLED": "true",
        "VIVERO_AUTH_ADMIN_PASSWORD": PASSWORD,
        "VIVERO_DATABASE_READER_URL": row_security.reader_of(database),
    }
    program = make_program("--database-url", database, "--auth", "required", environment=environment)
    program.start()
    await program.ready()
    yield program
    program.end()  # before its database goes


async def test_a_program_with_tenants_keeps_them_apart(with_tenants):
    admin, ann, bob = (Someone(with_tenants, name) for name in ("admin", "ann", "bob"))
    for name, tenant in (("ann", "acme"), ("bob", "blue")):
        assert (await admin("POST", "users", {"username": name, "password": PASSWORD}))[0] == 201
        assert (await admin("POST", "tenants", {"tenantId": tenant, "name": tenant}))[0] == 201
        assert (await admin("PUT", f"roles/developer/users/{name}"))[0] == 204
        assert (await admin("PUT", f"tenants/{tenant}/users/{name}"))[0] == 204

    assert (await ann("POST", "deployments", files=MODEL, data={"tenantId": "blue"}))[0] == 403
    status, deployed = await ann("POST", "deployments", files=MODEL, data={"tenantId": "acme"})
    assert (status, deployed["tenantId"]) == (200, "acme")
    begin = {"processDefinitionId": "one-task", "tenantId": "acme"}
    status, created = await ann("POST", "process-instances", begin)
    assert (status, created["tenantId"]) == (200, "acme")
    key = created["processInstanceKey"]

    for somebody, seen in ((ann, 1), (bob, 0), (admin, 1)):
        for what in ("process-definitions", "process-instances", "jobs"):
            assert (await somebody("POST", f"{what}/search"))[1]["page"]["totalItems"] == seen, what
    foreign, unknown = [await bob("GET", f"process-instances/{each}") for each in (key, int(key) + 10**6)]
    assert foreign[0] == unknown[0] == 404
    assert (await bob("POST", f"process-instances/{key}/cancellation"))[0] == 404
    assert (await bob("POST", "process-instances", begin))[0] == 403
    poll = {"type": "work", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": -1}
    assert (await bob("POST", "jobs/activation", poll | {"tenantIds": ["blue"]}))[1]["jobs"] == []
    (job,) = (await ann("POST", "jobs/activation", poll | {"tenantIds": ["acme"]}))[1]["jobs"]
    assert (await bob("POST", f"jobs/{job['jobKey']}/completion"))[0] == 404
    assert (await ann("POST", f"jobs/{job['jobKey']}/completion"))[0] == 204

    assert (await admin("DELETE", "tenants/acme/users/ann"))[0] == 204

    async def sees_nothing():
        return (await ann("GET", f"process-instances/{key}"))[0] == 404

    await eventually(sees_nothing, "a former member has lost the tenant")
    for somebody in (admin, ann, bob):
        await somebody.aclose()
    assert PASSWORD not in with_tenants.said(10_000)
