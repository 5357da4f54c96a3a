"""The built console, and a browser on it. What is lacking skips its tests; with `VIVERO_CONSOLE=required` they fail."""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

CONSOLE = Path(__file__).parents[2] / "console"
MODELS = Path(__file__).parents[1] / "models"
ORDER = Path(__file__).parents[2] / "examples" / "order" / "order.bpmn"


def lacking(what: str) -> None:
    """Skip the test, or fail where nothing may be lacking."""
    if os.environ.get("VIVERO_CONSOLE") == "required":
        pytest.fail(what)
    pytest.skip(what)


def wait_until(condition: Callable[[], object], timeout: float = 20.0) -> None:
    """Wait until a condition holds; fail after `timeout` seconds."""
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, condition
        time.sleep(0.01)


@pytest.fixture(scope="session")
def dist() -> Path:
    """The folder of the built console."""
    if not (CONSOLE / "dist" / "index.html").is_file():
        lacking("the console is not built: make console")
    return CONSOLE / "dist"


@pytest.fixture(scope="module")
def browser(dist) -> Iterator:
    """Chromium. One for each module: its driver must not run beside Trio in other modules."""
    from tests.console.browser import browsing, chromium

    path = chromium()
    if path is None:
        lacking("there is no Chromium: install it, or name it in VIVERO_CHROMIUM")
    with browsing(path) as running:
        yield running


@pytest.fixture(scope="module")
def address(
    browser, postgres_dsn: str, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The address of a server for the tests of a module."""
    from tests.vivero.conftest import programs, serve

    with psycopg.connect(postgres_dsn, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE console TEMPLATE {template_database} STRATEGY file_copy")
        try:
            with programs(tmp_path_factory.mktemp("console")) as start:
                yield serve(start, wait_until, psycopg.conninfo.make_conninfo(postgres_dsn, dbname="console")).address
        finally:
            connection.execute("DROP DATABASE console WITH (FORCE)")


@pytest.fixture(scope="module")
def api(address):
    """Programs that use the server meanwhile."""
    from tests.console.browser import Api

    api = Api(address)
    api.deploy("order.bpmn", ORDER.read_bytes())
    api.deploy("claim_review.bpmn", (MODELS / "claim_review.bpmn").read_bytes())
    yield api
    api.http.close()


@pytest.fixture
def stuck(api) -> Callable[[str], str]:
    """Starts an order that gets an incident: its card has expired."""

    def start(business_id: str) -> str:
        key = api.start("order", business_id, card="expired", items=[{"sku": "rose", "price": 12, "quantity": 2}])
        api.complete("check-stock", inStock=True)
        api.complete("pick-items", pickedIn="north")
        api.fail("charge-card", "the card has expired")
        return key

    return start


@pytest.fixture
def console(browser, api, address) -> Iterator:
    """A new tab, light and in English, which must report no error."""
    from tests.console.browser import Console

    context = browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-GB", timezone_id="Europe/Madrid")
    context.set_default_timeout(10_000)
    opened = Console(context.new_page(), address)
    yield opened
    context.close()
    assert opened.errors == []
