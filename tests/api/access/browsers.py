"""A browser with cookies, as far as sign-in needs one, in front of the pages and the API."""

from http.cookies import SimpleCookie
from urllib.parse import urlsplit

from tests.api.changed_services import changed
from tests.vivero.web.conftest import Browser, Page
from vivero.api import app as api_app
from vivero.api.settings import ApiSettings
from vivero.web import application
from vivero.web.application import WebParts
from vivero.web.live import Hub
from vivero.web.mount import mount
from vivero.web.sign_in.sign_in_pages import SignIn


def application_of(stored, authenticator, auth, flow=None, settings=None):
    """The API and the pages with authentication."""
    settings = settings or ApiSettings()
    parts = WebParts(settings, Hub(5, 5), None, SignIn(authenticator, stored.reads.pool, auth, flow))
    return mount(api_app.build(changed(stored, access=authenticator, settings=settings)), application.build(parts))


class Visitor:
    """Somebody at a browser. `cookies` by name; `jar` has the attributes."""

    def __init__(self, app, origin="http://localhost:8080") -> None:
        self.origin = origin
        parts = urlsplit(origin)
        self.browser = Browser(app, parts.scheme, (b"host", parts.netloc.encode()))
        self.jar = SimpleCookie()

    @property
    def cookies(self):
        return {name: morsel.value for name, morsel in self.jar.items() if morsel.value}

    async def __call__(self, method, target, headers=(), form=None, body=b"", own=True, json=False) -> Page:
        """A request of our own page, or of another (`own`)."""
        sent = list(headers)
        if self.cookies:
            sent.append((b"cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()).encode()))
        if method != "GET" and own:
            sent.append((b"origin", self.origin.encode()))
        if json:
            sent.append((b"content-type", b"application/json"))
        page = await self.browser(method, target, sent, form, body)
        for cookie in page.cookies:
            self.jar.load(cookie)
        return page

    async def sign_in(self, username, password, **more):
        return await self("POST", "/console/login", form={"username": username, "password": password, **more})

    async def who(self):
        """The name of the user, or the status."""
        page = await self("GET", "/v2/authentication/me")
        return page.json["username"] if page.status == 200 else page.status
