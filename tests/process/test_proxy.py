"""Behind nginx, with the configuration and the settings of docs/operations.md."""

import re
import ssl
import subprocess

import httpx
import pytest

from tests.eventually import eventually
from tests.operations.tools import ROOT, tool
from tests.process.program import free_port
from vivero.embedded.processes import dying_with_us

PAGE = (ROOT / "docs" / "operations.md").read_text()
HEAD = "daemon off; pid {0}/pid; events {{}} http {{ access_log off; client_body_temp_path {0}; proxy_temp_path {0};"


@pytest.fixture
def proxy(tmp_path, make_program, database, unsafe):
    """The program with the page's settings, behind nginx with the page's configuration: the proxy's port."""
    settings = tmp_path / "vivero.toml"
    settings.write_text(re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[-1])
    environment = unsafe | {"VIVERO_CONFIG": str(settings), "VIVERO_AUTH_ADMIN_PASSWORD": "of the first admin"}
    program = make_program("--database-url", database, environment=environment)
    program.start()
    certificate, key, port = tmp_path / "vivero.pem", tmp_path / "vivero.key", free_port()
    command = ("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")
    names = ("-subj", "/CN=vivero.example.com", "-keyout", str(key), "-out", str(certificate))
    subprocess.run([tool("openssl"), *command, *names], check=True, capture_output=True)
    text = (ROOT / "docs" / "operations" / "nginx.conf").read_text()
    for old, new in (
        ("127.0.0.1:8080", f"127.0.0.1:{program.port}"),
        ("listen 443", f"listen 127.0.0.1:{port}"),
        ("/etc/nginx/vivero.pem", str(certificate)),
        ("/etc/nginx/vivero.key", str(key)),
    ):
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid {tmp_path}/pid; events {{}} http {{ access_log off; {text} }}"
    )
    command = [tool("nginx"), "-p", str(tmp_path), "-e", "stderr", "-c", str(tmp_path / "nginx.conf")]
    running = subprocess.Popen(command, stderr=subprocess.PIPE, preexec_fn=dying_with_us())
    yield program, port, certificate
    running.terminate()
    print(running.communicate(timeout=30)[1].decode())


async def test_the_example_of_a_proxy_serves_the_api_and_the_console(proxy):
    program, port, certificate = proxy
    await program.ready()
    context = ssl.create_default_context(cafile=str(certificate))
    headers = {"Host": f"vivero.example.com:{port}", "X-Forwarded-For": "203.0.113.9"}
    hello = {"sni_hostname": "vivero.example.com"}
    async with httpx.AsyncClient(verify=context, base_url=f"https://127.0.0.1:{port}", headers=headers) as client:

        async def reached():
            try:
                return (await client.get("/v2/status", extensions=hello)).status_code == 204
            except httpx.TransportError:
                return False

        await eventually(reached, "the proxy reaches the program")
        search = {"url": "/v2/audit-logs/search", "json": {}, "extensions": hello}
        assert (await client.post(**search)).status_code == 401
        assert (await client.post(**search, auth=("admin", "wrong"))).status_code == 401
        answer = await client.post(**search, auth=("admin", "of the first admin"))
        assert answer.status_code == 200
        foreign = await client.post(
            **search, auth=("admin", "of the first admin"), headers={"Origin": "https://a.example"}
        )
        assert foreign.status_code == 403
        own = {"Origin": "https://vivero.example.com"}
        assert (await client.post(**search, auth=("admin", "of the first admin"), headers=own)).status_code == 200
        assert [(await client.get(path, extensions=hello)).status_code for path in ("/metrics", "/ready")] == [404, 404]
