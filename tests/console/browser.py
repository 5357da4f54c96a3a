"""A browser for tests: Chromium of the machine, driven by playwright."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from unittest import mock

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, expect, sync_playwright

from tests import plain_http
from tests.console.conftest import CONSOLE
from tests.eventually import eventually_sync

AXE = CONSOLE / "node_modules" / "axe-core" / "axe.min.js"
NAME = """e => e.matches('body, dialog') ? ''
    : [e.getAttribute('aria-label') ?? '', e.labels?.[0]?.innerText ?? '', e.innerText ?? ''].join(' ')"""
CAN_BE_FOCUSED = f"""([name, exact]) => [...document.querySelectorAll(
        'a, button, input, select, textarea, summary, [tabindex], [contenteditable]'
    )].some(e => {{
        const found = ({NAME})(e);
        return (exact ? found.trim() === name : found.includes(name)) && e.checkVisibility() && !e.matches(':disabled');
    }})"""
"""Whether the page has such an element by now: its scripts and data come later than its other elements."""
PATIENCE_MS = 20_000
"""The time that a page may take to show what a test expects, on a machine that does much else."""
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
AXE_OPTIONS = {"resultTypes": ["violations"], "preload": {"assets": ["media"]}}
"""Otherwise axe describes each element that passes a rule, which is most of its work, and asks for all style sheets
again, which none of these rules reads."""
COLOURS = ["color-contrast", "link-in-text-block"]
"""The rules that depend on the theme."""
PICTURES = CONSOLE.parent / "docs" / "pictures"
PAGE_WITH_PICTURES = PICTURES.parent / "console.md"
WIDTHS = (1280, 640, 390)
"""A small screen, the same with a zoom of 200 %, and a phone."""
UNSETTLED = "main .loading, main [aria-busy=true], .canvas:not([data-ready]), .form:not([data-ready])"


BROWSERS = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
"""The first has no windows. The others draw a toolbar for each context, for twice the CPU that our pages take."""


def chromium() -> str | None:
    """The path of the machine's Chromium; None without one."""
    return os.environ.get("VIVERO_CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)


@contextmanager
def browsing(path: str) -> Iterator[Browser]:
    """A running Chromium. Its driver needs a loop of asyncio's own: trio-asyncio, once imported, makes others."""
    expect.set_options(timeout=PATIENCE_MS)
    with mock.patch("asyncio.new_event_loop", asyncio.SelectorEventLoop), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@contextmanager
def new_context(browser: Browser) -> Iterator[BrowserContext]:
    """Tabs with cookies and storage of their own: light, and in English."""
    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB", timezone_id="Europe/Madrid")
    context.set_default_timeout(PATIENCE_MS)
    yield context
    context.close()


@dataclass
class Console:
    """A page of the console in a browser, with all errors that it reported.

    A violation of the content security policy is one of them.
    """

    page: Page
    address: str
    errors: list[str] = field(default_factory=list)
    expected: str | None = None
    """Errors with this text do not count, whenever they come: a fault that lasts is reported again and again."""
    urls: list[str] = field(default_factory=list)
    """Every URL that it asked for."""

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("console", self._said)
        self.page.on("request", lambda request: self.urls.append(request.url))
        self.page.on("dialog", self._asked)

    def _said(self, message: ConsoleMessage) -> None:
        if message.type == "error" and (self.expected is None or self.expected not in message.text):
            self.errors.append(f"{message.text} {message.location.get('url', '')}".rstrip())

    def _asked(self, dialog: Dialog) -> None:
        """A question of the browser is an error, and is answered: everything would wait for the answer for ever."""
        self.errors.append(f"dialog {dialog.type} {dialog.message}")
        dialog.accept()

    def open(self, path: str) -> None:
        """Go to a page and wait until it shows its data."""
        self.page.goto(f"{self.address}/console{path}")
        self.settle()

    def settle(self) -> None:
        """Wait until the page shows its data, and its diagram if it has one."""
        expect(self.page.locator("main h1")).to_be_visible()
        expect(self.page.locator(UNSETTLED)).to_have_count(0)

    def go(self, path: str) -> None:
        """Go to another page of the console without loading it anew, and wait until it shows its data."""
        self.page.evaluate(
            "to => { history.pushState(null, '', to); dispatchEvent(new PopStateEvent('popstate')); }",
            f"/console{path}",
        )
        self.settle()

    def violations(self, rules: Sequence[str] = RULES) -> list[str]:
        """The findings of axe on the page, by these rules or those with these tags."""
        if not self.page.evaluate("'axe' in window"):
            self.page.evaluate(AXE.read_text())
        found = self.page.evaluate("options => axe.run(options)", AXE_OPTIONS | {"runOnly": rules})
        return [f"{v['id']}: {v['help']}: {v['nodes'][0]['html'][:200]}" for v in found["violations"]]

    def check(self, name: str) -> None:
        """Both themes, with their pictures if they are wanted; widths; forced colours.

        In the dark only the rules of colours, because `check_dark` has all of them.
        """
        themes: tuple[tuple[Literal["light", "dark"], list[str]], ...] = (("light", RULES), ("dark", COLOURS))
        for theme, rules in themes:
            self._be(theme)
            if "VIVERO_PICTURES" in os.environ and f"pictures/{name}-{theme}.png" in PAGE_WITH_PICTURES.read_text():
                (PICTURES / f"{name}-{theme}.png").write_bytes(self.picture())
            found = self.violations(rules)
            assert not found, (theme, found)
        self.page.emulate_media(color_scheme="light", forced_colors="active")
        for width in WIDTHS:
            self.page.set_viewport_size({"width": width, "height": 800})
            assert self.page.evaluate("document.documentElement.scrollWidth") <= width, width
        self.page.emulate_media(forced_colors="none")
        self.page.set_viewport_size({"width": WIDTHS[0], "height": 800})

    def picture(self) -> bytes:
        """The page as a PNG, as soon as two in a row are the same: parts of a page and their styles come late."""
        pictures = [b""]

        def is_still() -> bool:
            self.settle()
            pictures.append(self.page.screenshot(animations="disabled"))
            return pictures[-1] == pictures[-2]

        eventually_sync(is_still, "the page shows the same twice")
        return pictures[-1]

    def is_uncovered(self, selector: str) -> bool:
        """Whether nothing lies over an element: the licence of the diagrams and forms asks for that."""
        uncovered: bool = self.page.evaluate(
            """selector => {
                const logo = document.querySelector(selector);
                logo.scrollIntoView({ block: 'center' });
                const box = logo.getBoundingClientRect();
                return logo.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
            }""",
            selector,
        )
        return uncovered

    def check_dark(self) -> None:
        """The dark theme by all rules."""
        self._be("dark")
        found = self.violations()
        assert not found, found

    def _be(self, theme: Literal["light", "dark"]) -> None:
        self.page.emulate_media(color_scheme=theme, reduced_motion="reduce")
        expect(self.page.locator(f"html[data-theme={theme}]")).to_be_visible()

    def more(self) -> None:
        """Open what the head of the page offers beside its buttons."""
        self.page.locator(".more > summary").click()

    def press(self, *keys: str) -> None:
        """Press keys one after another."""
        for key in keys:
            self.page.keyboard.press(key)

    def next_error(self) -> str:
        """The error that the page reports, which is then removed."""
        eventually_sync(lambda: self.errors or self.page.evaluate("undefined"))
        return self.errors.pop(0)

    def hold(self, *files: Path) -> Callable[[], None]:
        """Drag files of the machine over the middle of the window, as a file manager does. The answer drops them."""
        session = self.page.context.new_cdp_session(self.page)
        event = {"x": 600, "y": 400, "data": {"items": [], "files": [*map(str, files)], "dragOperationsMask": 1}}
        for kind in ("dragEnter", "dragOver"):
            session.send("Input.dispatchDragEvent", event | {"type": kind})

        def release() -> None:
            session.send("Input.dispatchDragEvent", event | {"type": "drop"})

        return release

    def row_to(self, name: str, *, most: int = 40) -> None:
        """Press j until the focus is on a row with this in its text, once there is one."""
        expect(self.page.locator("main").get_by_text(name).first).to_be_visible()
        for _ in range(most):
            self.page.keyboard.press("j")
            if name in self.page.evaluate("document.activeElement.innerText"):
                return
        raise AssertionError(f"{name!r} cannot be reached with j on {self.page.url}")

    def tab_to(self, name: str, *, exact: bool = False, most: int = 80) -> None:
        """Press Tab until the focus is on an element with this in its text or label, or with exactly this, once there
        is one."""
        eventually_sync(lambda: self.page.evaluate(CAN_BE_FOCUSED, [name, exact]), f"the page has {name!r}")
        for _ in range(most):
            self.page.keyboard.press("Tab")
            found = self.page.evaluate(f"({NAME})(document.activeElement)")
            if name == found.strip() if exact else name in found:
                return
        raise AssertionError(f"{name!r} cannot be reached with Tab on {self.page.url}")


def forget(console: Console) -> None:
    """Close a tab, with what it has left for the next one: cookies, and what the page has stored."""
    page, context = console.page, console.page.context
    if page.url.startswith(console.address):
        page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    page.close()  # before its cookies go: a page that asks without them is refused
    context.clear_cookies()


class Api:
    """The work of programs meanwhile, over the REST API."""

    def __init__(self, address: str, auth: tuple[str, str] | None = None) -> None:
        self.http = plain_http.client(base_url=f"{address}/v2", timeout=30, auth=auth)

    def post(self, path: str, body: object) -> dict:
        """The JSON of an answer, {} if there is none."""
        answer = self.http.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json() if answer.content else {}

    def put(self, path: str, body: object = None) -> None:
        """Change something; assign a member."""
        answer = self.http.put(path, json=body) if body is not None else self.http.put(path)
        assert answer.is_success, answer.text

    def deploy(self, name: str, content: bytes) -> None:
        """Deploy one file."""
        answer = self.http.post("/deployments", files={"resources": (name, content)})
        assert answer.is_success, answer.text

    def deploy_all(self, *files: Path) -> None:
        """Deploy files together."""
        answer = self.http.post("/deployments", files=[("resources", (file.name, file.read_bytes())) for file in files])
        assert answer.is_success, answer.text

    def start(self, process: str, business_id: str, **variables: object) -> str:
        """The key of a new instance."""
        body = {"processDefinitionId": process, "businessId": business_id, "variables": variables}
        return self.post("/process-instances", body)["processInstanceKey"]

    def job(self, type: str, of: str | None = None) -> str:
        """The key of a job of a type, and of an instance if it must be one of its own. It is leased."""
        body = {"type": type, "timeout": 60_000, "maxJobsToActivate": 1, "worker": "tests"}
        while True:
            job = self.post("/jobs/activation", body)["jobs"][0]
            if of in (None, job["processInstanceKey"]):
                return job["jobKey"]

    def complete(self, type: str, **variables: object) -> None:
        """Do the next job of a type."""
        self.post(f"/jobs/{self.job(type)}/completion", {"variables": variables})

    def fail(self, type: str, message: str, of: str | None = None) -> None:
        """Let the next job of a type, and of an instance, fail for good."""
        self.post(f"/jobs/{self.job(type, of)}/failure", {"retries": 0, "errorMessage": message})
