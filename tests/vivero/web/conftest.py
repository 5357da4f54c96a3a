"""The pages in process: an ASGI client, and a console of three files."""

import gzip
import json
from dataclasses import dataclass, field
from urllib.parse import urlencode

import pytest
import trio

from vivero.api.settings import ApiSettings
from vivero.web import application
from vivero.web.application import WebParts
from vivero.web.console import console_files
from vivero.web.live import Hub

HOST = (b"host", b"localhost:8080")
SCRIPT = b"console.log('vivero')\n" * 50


@dataclass
class Page:
    """An answer. A header that is sent more than once has its last value; `cookies` has all."""

    status: int = 0
    headers: dict = field(default_factory=dict)
    all: list = field(default_factory=list)
    cookies: list = field(default_factory=list)
    body: bytes = b""

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


class Browser:
    """Calls an ASGI application, and keeps the body's parts in the order in which they came."""

    def __init__(self, app, scheme="http", host=HOST) -> None:
        self.app, self.scheme, self.host = app, scheme, host

    async def __call__(self, method, target, headers=(), form=None, body=b"", page=None, gone=None) -> Page:
        path, _, query = target.partition("?")
        own = [self.host]
        if form is not None:
            body = urlencode(form).encode()
            own.append((b"content-type", b"application/x-www-form-urlencoded"))
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.4"},
            "http_version": "1.1",
            "method": method,
            "scheme": self.scheme,
            "path": path,
            "raw_path": path.encode(),
            "query_string": query.encode(),
            "root_path": "",
            "headers": [*own, (b"content-length", b"%d" % len(body)), *headers],
            "client": ("127.0.0.1", 5),
            "server": ("127.0.0.1", 8080),
            "extensions": {},
        }
        page = Page() if page is None else page
        parts = [body]

        async def receive():
            if parts:
                return {"type": "http.request", "body": parts.pop(), "more_body": False}
            await (trio.Event() if gone is None else gone).wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message["type"] == "http.response.start":
                page.status = message["status"]
                page.headers = {name.decode().lower(): value.decode() for name, value in message["headers"]}
                page.all = list(message["headers"])
                page.cookies = [value.decode() for name, value in message["headers"] if name.lower() == b"set-cookie"]
            else:
                page.body += message.get("body", b"")

        await self.app(scope, receive, send)
        return page


@pytest.fixture
def built(tmp_path):
    """A folder with a built console."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<!doctype html><title>console</title>")
    (tmp_path / "assets" / "app-1a2b3c.js").write_bytes(SCRIPT)
    (tmp_path / "assets" / "app-1a2b3c.js.gz").write_bytes(gzip.compress(SCRIPT))
    (tmp_path / "icon.svg").write_text("<svg/>")
    (tmp_path / ".stamp").write_text("secret")
    return tmp_path


@pytest.fixture
def hub():
    return Hub(4, 2)


@pytest.fixture
def parts(hub, built):
    return WebParts(ApiSettings(), hub, console_files.read(built))


@pytest.fixture
def browser(parts):
    return Browser(application.build(parts))
