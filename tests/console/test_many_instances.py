"""The console with 100,000 instances in the database: lists, pages in both themes by axe, and stories by keyboard.

    make test-long ARGS="-s -k 'many_instances and shows'"

prints how long lists and diagrams took: from the beginning of the navigation to the frame that shows them, each in a
browser that has nothing of the console yet, the median of three. With `VIVERO_BUDGETS=1` that must be within the
budgets, which only a machine that does nothing else can keep. benchmarks/results/figures.md has figures.
"""

import os
import statistics

import psycopg
import pytest

from benchmarks.console import filling
from tests.console.test_pages import PAGES
from tests.console.test_stories import test_a_start_form_and_the_form_of_a_task as test_forms_among_many
from tests.console.test_stories import test_a_task_is_claimed_and_completed_with_json as test_a_task_among_many
from tests.console.test_stories import test_an_incident_is_mended_and_goes_on_live as test_an_incident_among_many
from tests.console.test_stories import test_files_are_dropped_on_any_page_and_started_by_a_form as test_files_among_many

__all__ = ["test_a_task_among_many", "test_an_incident_among_many", "test_files_among_many", "test_forms_among_many"]

pytestmark = [pytest.mark.process, pytest.mark.long, pytest.mark.usefixtures("stuck_instance")]

INSTANCES = 100_000
TIMES = 3
ROWS_MS, DIAGRAM_MS = 400, 600
LISTS = {
    "instances": "/instances",
    "ended": "/instances?state=completed&sort=-endDate",
    "stuck": "/instances?state=incidents",
    "by variable": "/instances?state=all&variable=orderId&value=id-70000",
    "by element": "/instances?element=charge-card",
    "jobs": "/jobs",
    "failed jobs": "/jobs?state=failed",
    "timers": "/timers",
    "tasks": "/tasks",
    "incidents": "/incidents",
    "processes": "/processes",
    "home": "/",
}
ROWS = "main table.list tbody tr, main ul a.task, main ol.groups > li"
SHAPES = ".canvas[data-ready] .djs-shape"
WATCH = """
    const watcher = new MutationObserver(() => {
        if (!document.querySelector(SELECTOR)) return;
        watcher.disconnect();
        requestAnimationFrame(() => setTimeout(() => { window.shown = performance.now(); }));
    });
    watcher.observe(document, { subtree: true, childList: true, attributeFilter: ['data-ready'] });
"""
SHOWN = "new Promise(done => { const ask = () => window.shown ? done(window.shown) : setTimeout(ask, 20); ask(); })"


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    """The pictures of docs/console.md show few instances."""
    monkeypatch.delenv("VIVERO_PICTURES", raising=False)


@pytest.fixture(scope="module")
def stuck_instance(api, dsn):
    """The key of an instance with an incident, among very many."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(filling(INSTANCES))
    body = {"filter": {"hasIncident": True, "state": "ACTIVE"}, "page": {"limit": 1}}
    return api.post("/process-instances/search", body)["items"][0]["processInstanceKey"]


@pytest.fixture
def opened(tab, address):
    """Opens a path in new tabs. Prints the median of the times until the first of some elements is on the screen."""

    def open_anew(name, path, selector, budget_ms):
        times = []
        for _ in range(TIMES):
            console = tab(address, alone=True)
            console.page.add_init_script(WATCH.replace("SELECTOR", repr(selector)))
            console.page.goto(f"{console.address}/console{path}", wait_until="commit")
            times.append(console.page.evaluate(SHOWN))
            count = console.page.locator(selector).count()
            console.page.goto("about:blank")  # it must not take part in what the next one takes
        shown, median = ", ".join(f"{each:.0f}" for each in times), statistics.median(times)
        print(f"\n{name}: {median:.0f} ms (of {shown}), load {os.getloadavg()[0]:.1f}")
        assert "VIVERO_BUDGETS" not in os.environ or median <= budget_ms
        return count

    return open_anew


@pytest.mark.parametrize("name", LISTS)
def test_a_list_shows_rows(opened, name):
    assert opened(name, LISTS[name], ROWS, ROWS_MS) > 0


@pytest.mark.parametrize("name", ["instance", "process"])
def test_a_page_shows_its_diagram(opened, stuck_instance, name):
    path = {"instance": f"/instances/{stuck_instance}", "process": "/processes/order?heat=1"}[name]
    assert opened(f"{name} with diagram", path, SHAPES, DIAGRAM_MS) > 10


def test_groups_have_the_numbers_of_the_server(console):
    """2,000 instances have incidents with 50 messages, which differ in a number only."""
    console.open("/incidents")
    group = console.page.locator("ol.groups > li", has_text="the gateway of region")
    assert group.count() == 1
    assert group.locator(".big").inner_text() == "2,000"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_accessible_among_many(console, keys, name):
    console.open(PAGES[name].format(**keys))
    console.check(f"{name} among many")
