"""The official Python client with a password and with OAuth 2, unmodified, against the whole program.

The identity provider is a small HTTP server: discovery, keys, and a token endpoint for client credentials.
"""

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import pytest
import trio

from tests.api.access.conftest import AUDIENCE, PASSWORD
from tests.api.official import sdk
from tests.api.whole_program import whole_program
from vivero.config.sections import Config


@pytest.fixture
def issuer(provider) -> Iterator[str]:
    """The URL of an identity provider whose only client is `robot`."""

    class Handler(BaseHTTPRequestHandler):
        @property
        def url(self):
            assert isinstance(self.server, ThreadingHTTPServer)
            return f"http://127.0.0.1:{self.server.server_port}"

        def do_GET(self):
            if self.path == "/.well-known/openid-configuration":
                return self.answer({"issuer": self.url, "jwks_uri": f"{self.url}/keys"})
            return self.answer(json.loads(provider.jwks))

        def do_POST(self):
            asked = parse_qs(self.rfile.read(int(self.headers["content-length"])).decode())
            if asked["client_secret"] != ["secret of the robot"]:
                return self.answer({"error": "invalid_client"}, 401)
            token = provider.token(iss=self.url, aud=asked["audience"][0], client_id=asked["client_id"][0])
            return self.answer({"access_token": token, "expires_in": 300, "token_type": "Bearer"})

        def answer(self, document, status=200):
            body = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, daemon=True)
        serving.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        serving.join()


@pytest.fixture
async def address(people, database, nursery, issuer, auth_settings):
    """The URL of a whole program that requires authentication. `ann` and `robot` may work."""
    people.user("ann", "operator")
    people.member("ROLE", "worker", "CLIENT", "robot")
    config = replace(Config(), auth=replace(auth_settings, oidc_issuer=issuer))
    async with whole_program(config, database, nursery) as url:
        yield url


@pytest.fixture
def who(address, monkeypatch):
    """Asks with the official client and these settings who the caller is."""

    async def ask(**settings):
        for name, value in {"REST_ADDRESS": address, "SDK_LOG_LEVEL": "error", **settings}.items():
            monkeypatch.setenv(f"CAMUNDA_{name}", value)

        def run():
            with sdk.CamundaClient() as client:
                client.get_topology()
                caller = client.get_authentication()
                return caller.username, caller.roles

        with trio.fail_after(60):
            return await trio.to_thread.run_sync(run, abandon_on_cancel=True)

    return ask


BASIC = {"AUTH_STRATEGY": "BASIC", "BASIC_AUTH_USERNAME": "ann"}
OAUTH = {"AUTH_STRATEGY": "OAUTH", "CLIENT_ID": "robot", "TOKEN_DISK_CACHE_DISABLE": "true"}


@pytest.mark.long
async def test_a_password(who):
    assert await who(**BASIC, BASIC_AUTH_PASSWORD=PASSWORD) == ("ann", ["operator"])


async def test_a_wrong_password(who):
    with pytest.raises(sdk.errors.UnauthorizedError):
        await who(**BASIC, BASIC_AUTH_PASSWORD="wrong")


async def test_client_credentials(who, issuer):
    more = {"OAUTH_URL": f"{issuer}/token", "TOKEN_AUDIENCE": AUDIENCE, "CLIENT_SECRET": "secret of the robot"}
    assert await who(**OAUTH, **more) == ("robot", ["worker"])


@pytest.mark.long
async def test_client_credentials_for_another_audience(who, issuer):
    more = {"OAUTH_URL": f"{issuer}/token", "TOKEN_AUDIENCE": "another", "CLIENT_SECRET": "secret of the robot"}
    with pytest.raises(sdk.errors.UnauthorizedError):
        await who(**OAUTH, **more)
