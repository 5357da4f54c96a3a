"""The console with 100,000 instances in the database: every list shows rows, and the tests print how long it took.

    make test-long ARGS="-s -k many_instances"

Times are from the beginning of the navigation, each in a browser that has nothing of the console yet: the median of
three. docs/benchmarks.md has figures.
"""

import os
import statistics

import psycopg
import pytest

from benchmarks.console import filling

pytestmark = [pytest.mark.process, pytest.mark.long]

INSTANCES = 100_000
TIMES = 3
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


@pytest.fixture(scope="module")
def dsn(postgres_dsn):
    return psycopg.conninfo.make_conninfo(postgres_dsn, dbname="console")


@pytest.fixture(scope="module")
def stuck_instance(api, dsn):
    """The key of an instance with an incident, among very many."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute(filling(INSTANCES))
    body = {"filter": {"hasIncident": True, "state": "ACTIVE"}, "page": {"limit": 1}}
    return api.post("/process-instances/search", body)["items"][0]["processInstanceKey"]


@pytest.fixture
def opened(tab, address):
    """Opens a path in new tabs. Prints the median of the times until the first of some elements is visible."""

    def open_anew(name, path, selector):
        times = []
        for _ in range(TIMES):
            console = tab(address, alone=True)
            console.page.goto(f"{console.address}/console{path}", wait_until="commit")
            console.page.locator(selector).first.wait_for()
            times.append(console.page.evaluate("performance.now()"))
            count = console.page.locator(selector).count()
            console.page.goto("about:blank")  # it must not take part in what the next one takes
        shown = ", ".join(f"{each:.0f}" for each in times)
        print(f"\n{name}: {statistics.median(times):.0f} ms (of {shown}), load {os.getloadavg()[0]:.0f}")
        return count

    return open_anew


@pytest.mark.parametrize("name", LISTS)
def test_lists_show_rows(opened, stuck_instance, name):
    assert opened(name, LISTS[name], ROWS) > 0


@pytest.mark.parametrize("name", ["instance", "process"])
def test_pages_show_their_diagram(opened, stuck_instance, name):
    path = {"instance": f"/instances/{stuck_instance}", "process": "/processes/order?heat=1"}[name]
    assert opened(f"{name} with diagram", path, SHAPES) > 10


def test_groups_have_the_numbers_of_the_server(console, stuck_instance):
    """2,000 instances have incidents with 50 messages, which differ in a number only."""
    console.open("/incidents")
    assert console.page.locator("ol.groups > li").count() == 1
    assert console.page.locator("ol.groups .big").inner_text() == "2,000"
