"""Requests of web pages: what a foreign one may not do, and that programs are not affected."""

from dataclasses import replace

import pytest

from tests.api.changed_services import changed
from vivero.api import app
from vivero.api.settings import ApiSettings

KEY = 2251799813685249
CANCEL = ("POST", f"/v2/process-instances/{KEY}/cancellation")
HOST = (b"host", b"localhost:8080")
FOREIGN = [
    [(b"origin", b"https://evil.example")],
    [(b"origin", b"null")],
    [(b"origin", b"http://localhost:3000")],
    [(b"origin", b"http://localhost")],
    [(b"origin", b"http://127.0.0.1:8080")],
    [(b"origin", b"http://localhost:8080.evil.example")],
    [(b"origin", b"http://evil@localhost:8080")],
    [(b"origin", b"file://localhost:8080")],
    [(b"origin", b"")],
    [(b"origin", b"http://localhost:8080"), (b"origin", b"https://evil.example")],
    [(b"sec-fetch-site", b"cross-site")],
    [(b"sec-fetch-site", b"same-site")],
    [(b"sec-fetch-site", b"")],
    [(b"sec-fetch-site", b"none"), (b"sec-fetch-site", b"cross-site")],
    [(b"origin", b"http://localhost:8080"), (b"sec-fetch-site", b"cross-site")],
    [(b"origin", b"https://evil.example"), (b"sec-fetch-site", b"same-origin")],
]
OWN = [
    [],
    [(b"origin", b"http://localhost:8080")],
    [(b"origin", b"https://localhost:8080")],
    [(b"origin", b"HTTP://LocalHost:8080")],
    [(b"sec-fetch-site", b"same-origin")],
    [(b"sec-fetch-site", b"none")],
    [(b"origin", b"http://localhost:8080"), (b"sec-fetch-site", b"same-origin")],
]


@pytest.fixture
def asking(client, services, engine):
    """Calls the application as it is with these settings."""

    async def ask(method, path, headers, body=b"", **settings):
        client.app = app.build(changed(services, settings=replace(services.settings, **settings)))
        return await client(method, path, body, headers)

    return ask


class TestOrigins:
    @pytest.mark.parametrize("headers", FOREIGN)
    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            (*CANCEL, b""),
            (*CANCEL, b"{}"),
            ("POST", f"/v2/resources/{KEY}/deletion", b""),
            ("POST", "/v2/deployments", b"--b\r\n"),
            ("POST", "/v2/jobs/activation", b"{}"),
            ("PUT", "/v2/clock", b"{}"),
            ("PATCH", f"/v2/jobs/{KEY}", b"{}"),
            ("DELETE", f"/v2/user-tasks/{KEY}/assignee", b""),
            ("POST", "/chaos/children/api", b""),
            ("POST", "/v2/nothing", b""),
        ],
    )
    async def test_a_foreign_page_cannot_write(self, asking, engine, method, path, body, headers):
        answer = await asking(method, path, [HOST, *headers], body)
        assert (answer.status, answer.problem["title"]) == (403, "Forbidden")
        assert "api.allowed_origins" in answer.problem["detail"]
        assert engine.appended == []

    @pytest.mark.parametrize("headers", OWN)
    async def test_its_own_pages_and_programs_can(self, asking, engine, headers):
        assert (await asking(*CANCEL, [HOST, *headers])).status == 204
        assert len(engine.appended) == 1

    @pytest.mark.parametrize(
        ("host", "origin"),
        [
            (b"a.example", b"http://a.example:80"),
            (b"a.example:443", b"https://a.example"),
            (b"[::1]:8080", b"http://[::1]:8080"),
            (b"[::1]", b"http://[::1]"),
        ],
    )
    async def test_default_ports_are_the_same_with_and_without(self, asking, host, origin):
        headers = [(b"host", host), (b"origin", origin)]
        assert (await asking(*CANCEL, headers, host="0.0.0.0")).status == 204

    async def test_an_origin_without_a_host_is_foreign(self, asking):
        assert (await asking(*CANCEL, [(b"origin", b"http://localhost:8080")])).status == 403
        assert (await asking(*CANCEL, [(b"host", b""), (b"origin", b"http://")])).status == 403

    @pytest.mark.parametrize("headers", FOREIGN)
    async def test_reading_is_the_browsers_to_refuse(self, asking, headers):
        assert (await asking("GET", "/v2/status", [HOST, *headers])).status == 204

    async def test_origins_can_be_allowed(self, asking):
        allowed = "https://one.example, https://Two.example"
        cross = (b"sec-fetch-site", b"cross-site")
        for origin in (b"https://one.example", b"https://two.example"):
            headers = [HOST, (b"origin", origin), cross]
            assert (await asking(*CANCEL, headers, allowed_origins=allowed)).status == 204
        for headers in ([HOST, (b"origin", b"https://three.example")], [HOST, cross]):
            assert (await asking(*CANCEL, headers, allowed_origins=allowed)).status == 403

    @pytest.mark.parametrize("headers", FOREIGN)
    async def test_all_origins_can_be_allowed(self, asking, headers):
        assert (await asking(*CANCEL, [HOST, *headers], allowed_origins="*")).status == 204


class TestHosts:
    @pytest.mark.parametrize(
        "host",
        [b"evil.example", b"evil.example:8080", b"localhost.evil.example", b"127.0.0.1.evil.example", b"xlocalhost"],
    )
    @pytest.mark.parametrize("method", ["GET", "HEAD"])
    async def test_a_foreign_host_is_not_served_on_loopback(self, asking, host, method):
        answer = await asking(method, "/v2/status", [(b"host", host)])
        assert answer.status == 421
        assert (answer.problem["title"], "api.allowed_hosts" in answer.problem["detail"]) == (
            "Misdirected Request",
            True,
        )

    @pytest.mark.parametrize("listening", ["127.0.0.1", "127.1.2.3", "::1", "localhost", "LOCALHOST"])
    async def test_whatever_loopback_is_called(self, asking, listening):
        assert (await asking("GET", "/v2/status", [(b"host", b"evil.example")], host=listening)).status == 421

    @pytest.mark.parametrize(
        "host",
        [
            b"localhost",
            b"LocalHost:1",
            b"localhost.",
            b"a.localhost:8080",
            b"127.0.0.1:8080",
            b"[::1]:8080",
            b"10.0.0.1",
            b"",
        ],
    )
    async def test_addresses_and_localhost_are_served(self, asking, host):
        for _ in range(2):
            assert (await asking("GET", "/v2/status", [(b"host", host)])).status == 204

    async def test_a_request_without_a_host_comes_from_no_browser(self, asking):
        assert (await asking("GET", "/v2/status", [])).status == 204

    @pytest.mark.parametrize("listening", ["0.0.0.0", "", "::", "10.0.0.1", "vivero.example"])
    async def test_a_server_on_a_network_has_any_name(self, asking, listening):
        assert (await asking("GET", "/v2/status", [(b"host", b"any.example")], host=listening)).status == 204

    async def test_names_can_be_allowed(self, asking):
        allowed = "One.example, .two.example"
        for host, status in (
            (b"one.example", 204),
            (b"ONE.example:80", 204),
            (b"a.two.example", 204),
            (b"two.example", 421),
            (b"a.one.example", 421),
            (b"atwo.example", 421),
        ):
            assert (await asking("GET", "/v2/status", [(b"host", host)], allowed_hosts=allowed)).status == status, host
        assert (await asking("GET", "/v2/status", [(b"host", b"any")], allowed_hosts="*")).status == 204

    async def test_hosts_that_were_looked_at_are_bounded(self, client):
        for number in range(1000):
            answer = await client("GET", "/v2/status", headers=[(b"host", b"a%d.localhost" % number)])
            assert answer.status == 204
        assert (await client("GET", "/v2/status", headers=[(b"host", b"evil.example")])).status == 421


class TestSettings:
    @pytest.mark.parametrize("value", ["evil.example", "https://", "https://a/b", "https://a b"])
    def test_origins_that_are_none(self, value):
        with pytest.raises(ValueError, match="not an origin"):
            ApiSettings(allowed_origins=value)

    @pytest.mark.parametrize("value", ["a:80", "http://a", "a b", "a/b"])
    def test_hosts_that_are_none(self, value):
        with pytest.raises(ValueError, match="not a host name"):
            ApiSettings(allowed_hosts=value)
