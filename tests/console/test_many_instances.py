"""The console with 100,000 instances in the database: every list shows rows, and the tests print how long it took.

    make test-long ARGS="-s -k many_instances"

Times are from the beginning of the navigation, with the console's files loaded anew. docs/benchmarks.md has figures.
"""

import psycopg
import pytest

from benchmarks.console import filling

pytestmark = [pytest.mark.process, pytest.mark.long]

INSTANCES = 100_000
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


def opened(console, path, selector):
    """Milliseconds until the first of these elements is visible."""
    console.page.goto(f"{console.address}/console{path}", wait_until="commit")
    console.page.locator(selector).first.wait_for()
    return console.page.evaluate("performance.now()")


@pytest.mark.parametrize("name", LISTS)
def test_lists_show_rows(console, stuck_instance, name):
    times = [opened(console, LISTS[name], ROWS) for _ in range(3)]
    print(f"\n{name}: first rows after {min(times):.0f} ms (of {', '.join(f'{each:.0f}' for each in times)})")
    assert console.page.locator(ROWS).count() > 0


@pytest.mark.parametrize("name", ["instance", "process"])
def test_pages_show_their_diagram(console, stuck_instance, name):
    path = {"instance": f"/instances/{stuck_instance}", "process": "/processes/order?heat=1"}[name]
    times = [opened(console, path, SHAPES) for _ in range(3)]
    print(f"\n{name}: diagram after {min(times):.0f} ms (of {', '.join(f'{each:.0f}' for each in times)})")
    assert console.page.locator(".canvas .djs-shape").count() > 10


def test_groups_have_the_numbers_of_the_server(console, stuck_instance):
    """2,000 instances have incidents with 50 messages, which differ in a number only."""
    console.open("/incidents")
    assert console.page.locator("ol.groups > li").count() == 1
    assert console.page.locator("ol.groups .big").inner_text() == "2,000"
