"""The built console, and a browser on it. What is lacking skips its tests; with `VIVERO_CONSOLE=required` they fail."""

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.eventually import eventually_sync
from tests.server_objects import new_database

CONSOLE = Path(__file__).parents[2] / "console"
MODELS = Path(__file__).parents[1] / "models"
ORDER = Path(__file__).parents[2] / "examples" / "order" / "order.bpmn"
CLAIM = Path(__file__).parents[2] / "examples" / "claim"
DECISIONS = Path(__file__).parents[2] / "examples" / "decisions"


@dataclass(frozen=True, slots=True)
class Running:
    """A browser, and what ends it."""

    browser: Any
    stack: ExitStack


RUNNING = pytest.StashKey[Running]()
"""The browser that the tests of this folder share; absent while there is none."""


def lacking(what: str) -> None:
    """Skip the test, or fail where nothing may be lacking."""
    if os.environ.get("VIVERO_CONSOLE") == "required":
        pytest.fail(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def dist() -> Path:
    """The folder of the built console."""
    if not (CONSOLE / "dist" / "index.html").is_file():
        lacking("the console is not built: make console")
    return CONSOLE / "dist"


@pytest.fixture(scope="module")
def browser(dist, request):
    """Chromium: the one of the module before, if that was of this folder, too."""
    from tests.console.browser import browsing, chromium

    stash = request.config.stash
    if RUNNING in stash and not stash[RUNNING].browser.is_connected():
        stash[RUNNING].stack.close()
        del stash[RUNNING]
    if RUNNING not in stash:
        path = chromium()
        if path is None:
            lacking("there is no Chromium: install it, or name it in VIVERO_CHROMIUM")
        stack = ExitStack()
        stash[RUNNING] = Running(stack.enter_context(browsing(path)), stack)
    return stash[RUNNING].browser


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item, nextitem):
    """End Chromium after the last try of the last test here: its driver must not run beside Trio in other modules."""
    try:
        return (yield)
    finally:
        if RUNNING in item.config.stash and (nextitem is None or nextitem.path.parent != item.path.parent):
            item.config.stash[RUNNING].stack.close()
            del item.config.stash[RUNNING]


@contextmanager
def serving(
    postgres_dsn: str, template: str, directory: Path, name: str, *arguments: str, **environment: str
) -> Iterator[tuple[str, str]]:
    """A server on a database of its own: its address, and the database."""
    from tests.vivero.conftest import programs, serve

    copy = f"TEMPLATE {template} STRATEGY file_copy"
    with new_database(postgres_dsn, name, copy) as database, programs(directory) as start:
        begin = functools.partial(start, **environment)
        yield serve(begin, database, *arguments).address, database


@pytest.fixture(scope="module")
def served(
    browser, postgres_dsn: str, template_database: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, str]]:
    """A server for the tests of a module: its address, and the database."""
    directory = tmp_path_factory.mktemp("console")
    with serving(postgres_dsn, template_database, directory, "console") as served:
        yield served


@pytest.fixture(scope="module")
def address(served) -> str:
    """The address of the server of a module."""
    return served[0]


@pytest.fixture(scope="module")
def dsn(served) -> str:
    """The database of the server of a module."""
    return served[1]


@pytest.fixture(scope="module")
def api(address):
    """Programs that use the server meanwhile."""
    from tests.console.browser import Api

    api = Api(address)
    api.deploy("order.bpmn", ORDER.read_bytes())
    api.deploy("claim_review.bpmn", (MODELS / "claim_review.bpmn").read_bytes())
    yield api
    api.http.close()


@pytest.fixture(scope="module")
def keys(api):
    """The data of the pages: orders, one of which is stuck, and claims that wait for somebody."""
    roses = [{"sku": "rose", "price": 12, "quantity": 2}]
    stuck = api.start("order", "ORD-10017", card="expired", customer="Ada", items=roses)
    api.complete("check-stock", inStock=True)
    api.complete("pick-items", pickedIn="north")
    api.fail("charge-card", "the card has expired")
    for number in range(4711, 4715):
        api.start("order", f"ORD-{number}", card="4111", customer="Edsger", items=roses)
        api.complete("check-stock", inStock=True)
        api.complete("pick-items", pickedIn="north")
        api.fail("charge-card", f"the bank refused card '{number}' for {number % 10} EUR")
    api.start("order", "ORD-4720", card="4111", customer="Barbara", items=roses)
    api.fail("check-stock", "stock.example.com:5432 did not answer within 3000 ms")
    for number in range(10018, 10023):
        api.start("order", f"ORD-{number}", card="4111", customer="Grace", items=roses)
    for number in range(701, 705):
        api.start("claim-review", f"CLM-{number}", claim=f"CLM-{number}", amount=number * 3)
    own = {"filter": {"processDefinitionId": "claim-review"}, "sort": [{"field": "creationDate", "order": "ASC"}]}
    tasks = api.post("/user-tasks/search", own)["items"]
    api.post(f"/user-tasks/{tasks[-1]['userTaskKey']}/completion", {})
    old = [api.start("order", f"ORD-{number}", card="4111", items=roses) for number in (9001, 9002)]
    api.post("/process-instances/cancellation", {"filter": {"processInstanceKey": {"$in": old}}})
    ended = {"filter": {"processInstanceKey": {"$in": old}, "state": "TERMINATED"}}
    eventually_sync(
        lambda: api.post("/process-instances/search", ended)["page"]["totalItems"], accept=lambda found: found == 2
    )
    for number in (702, 703):
        message = {"name": "payment received", "correlationKey": f"CLM-{number}", "timeToLive": 3_600_000}
        api.post("/messages/publication", message)
    events = api.http.get(f"/process-instances/{stuck}/events").json()["items"]
    return {"stuck": stuck, "task": tasks[0]["userTaskKey"], "at": events[1]["commandPosition"]}


@pytest.fixture(scope="module")
def quoted(api):
    """The key of an instance whose task has evaluated two decisions."""
    api.deploy_all(DECISIONS / "discount.dmn", DECISIONS / "quote.bpmn")
    return api.start("quote", "QUOTE-1", total=200, customer="gold")


@pytest.fixture
def stuck(api) -> Callable[[str], str]:
    """Starts an order that gets an incident: its card has expired."""

    def start(business_id: str) -> str:
        key = api.start("order", business_id, card="expired", items=[{"sku": "rose", "price": 12, "quantity": 2}])
        api.complete("check-stock", inStock=True)
        api.complete("pick-items", pickedIn="north")
        api.fail("charge-card", "the card has expired", of=key)
        return key

    return start


@pytest.fixture(scope="module")
def context(browser) -> Iterator:
    """The browser that the tests of a module share, one after another, with the scripts that it has loaded."""
    from tests.console.browser import new_context

    with new_context(browser) as context:
        yield context


@pytest.fixture
def tab(browser, context) -> Iterator[Callable[..., object]]:
    """Opens tabs, light and in English. Each has cookies of its own, and must report no error."""
    from tests.console.browser import Console, forget, new_context

    opened = []
    with ExitStack() as stack:

        def open_tab(address: str, *, alone: bool = False) -> Console:
            """`alone`: in a context that no other test has."""
            among = stack.enter_context(new_context(browser)) if alone or opened else context
            opened.append(Console(among.new_page(), address))
            return opened[-1]

        yield open_tab
        for console in opened:
            forget(console)
    assert [console.errors for console in opened if console.errors] == []


@pytest.fixture
def console(tab, api, address):
    """A tab on the server of the module."""
    return tab(address)


@pytest.fixture
def timed(tab, api, address):
    """The same with a clock that a test moves. All tabs of a context have one clock."""
    console = tab(address, alone=True)
    console.page.clock.install()
    return console
