"""Every page in both themes: accessible (axe, WCAG 2.2 AA), without errors, without sideways scrolling.

With `VIVERO_PICTURES=1` the tests write the pictures of docs/console.md.
"""

import os
import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.process

PAGES = {
    "home": "/",
    "processes": "/processes",
    "process": "/processes/order?heat=1",
    "instances": "/instances",
    "filters": "/instances?state=all&variable=card&value=expired",
    "instance": "/instances/{stuck}",
    "past": "/instances/{stuck}?at={at}",
    "incidents": "/incidents",
    "tasks": "/tasks/{task}",
    "messages": "/messages",
    "buffered": "/messages/buffered",
    "match": "/messages/match?name=payment received&key=CLM-702",
    "jobs": "/jobs?state=all",
    "timers": "/timers",
    "batches": "/batches",
    "log": "/log",
    "system": "/system",
    "deploy": "/deploy",
    "feel": "/feel",
    "about": "/about",
    "missing": "/no/such/page",
}
ALIKE = {
    "buffered",
    "incidents",
    "log",
    "system",
    "deploy",
    "feel",
    "match",
    "processes",
    "filters",
    "messages",
    "jobs",
    "timers",
    "batches",
    "about",
    "missing",
    "past",
}
"""Pages like others: `test_many_instances.py` has them. Here they have their pictures made."""
DIAGRAMS = ("process", "instance", "past")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name in DIAGRAMS else pytest.mark.long)
        for name in PAGES
        if name not in ALIKE or "VIVERO_PICTURES" in os.environ
    ],
)
def test_a_page_is_accessible(console, keys, name):
    console.open(PAGES[name].format(**keys))
    console.check(name)
    if name in DIAGRAMS:
        assert console.is_uncovered(".bjs-powered-by")


def test_a_page_asks_for_all_its_scripts_at_once(console, keys):
    """Not for one after another as they run: here the first one never arrives."""
    console.page.route("**/assets/base-*.js", lambda _: None)
    with (
        console.page.expect_request("**/assets/diagram-*.js"),
        console.page.expect_request("**/assets/diagram-*.css"),
        console.page.expect_request("**/assets/instance-*.js"),
    ):
        console.page.goto(f"{console.address}/console/instances/{keys['stuck']}", wait_until="commit")


@pytest.mark.long
@pytest.mark.parametrize(("locale", "word"), [("es-ES", "Orden"), ("pt-BR", "Ordem"), ("fr-FR", "Order")])
def test_the_language_of_the_browser(browser, address, api, locale, word):
    """The language of a text that the first page does not have."""
    context = browser.new_context(locale=locale)
    page = context.new_page()
    page.goto(f"{address}/console/tasks")
    page.get_by_role("combobox", name=word, exact=True).wait_for()
    page.locator(f"html[lang={locale[:2] if locale != 'fr-FR' else 'en'}]").wait_for()
    context.close()


@pytest.mark.long
def test_the_replayed_history_ends_where_the_server_is(console, api, keys):
    """The last moment of the replay and the statistics of the server mark the same elements."""
    classes = "e => [e.dataset.elementId, e.getAttribute('class') ?? '']"
    last = f"[...document.querySelectorAll('[data-element-id]')].map({classes})"
    console.open(f"/instances/{keys['stuck']}")
    console.page.locator("[data-element-id].is-incident").first.wait_for(state="attached")
    present = console.page.evaluate(last)
    steps = api.http.get(f"/process-instances/{keys['stuck']}/events").json()["items"]
    console.open(f"/instances/{keys['stuck']}?element=charge-card&at={steps[-1]['commandPosition']}")
    console.page.get_by_text("You see the past").wait_for()
    console.page.locator("[data-element-id].is-incident").first.wait_for(state="attached")
    marks = {"is-done", "is-done-around", "is-active", "is-incident", "is-taken"}
    replayed = console.page.evaluate(last)
    assert [(i, marks & set(c.split())) for i, c in replayed] == [(i, marks & set(c.split())) for i, c in present]
    assert any("is-incident" in c for _, c in replayed)


@pytest.mark.long
def test_a_phone_has_a_drawer_the_error_before_the_diagram_and_cards(console, keys):
    page = console.page
    page.set_viewport_size({"width": 390, "height": 800})
    console.open(f"/instances/{keys['stuck']}")
    [error, diagram] = [page.locator(part).first.bounding_box()["y"] for part in (".incident", ".canvas")]
    assert error < diagram
    menu, link = page.get_by_role("button", name="Menu"), page.get_by_role("link", name="Processes", exact=True)
    expect(link).to_be_hidden()
    console.tab_to("Menu")
    console.press("Enter")
    expect(menu).to_have_attribute("aria-expanded", "true")
    assert console.violations() == []
    console.press("Tab", "Escape")
    expect(menu).to_be_focused()
    expect(link).to_be_hidden()
    menu.click()
    link.click()
    console.settle()
    expect(menu).to_have_attribute("aria-expanded", "false")
    row = page.get_by_role("table", name="Processes").get_by_role("row").nth(1)
    expect(row.get_by_role("cell").nth(1)).to_have_text("v1")
    assert row.bounding_box()["width"] < 390 < 4 * row.bounding_box()["height"]
    expect(page.get_by_role("columnheader", name="Suspended")).to_have_count(0)
    assert console.violations() == []


@pytest.mark.long
def test_the_history_shows_a_kind_of_events_or_those_of_one_command(console, keys):
    page = console.page
    console.open(f"/instances/{keys['stuck']}")
    events = page.get_by_role("list", name="Events").get_by_role("listitem")
    kind = page.get_by_role("combobox", name="Events to show")
    kind.select_option("Incidents")
    expect(events).to_have_text([re.compile("job failed"), re.compile("incident.*the card has expired")])
    kind.select_option("Waits")
    expect(events).to_have_text(["No event of this kind."])
    kind.select_option("By command")
    first = events.first.get_by_role("button")
    expect(first).to_contain_text("command")
    first.click()
    expect(page.get_by_text("You see the past")).to_be_visible()
    expect(events.nth(1)).to_contain_text("created")
