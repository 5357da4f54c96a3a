"""The wizard of a migration: suggested mappings, a choice by the diagrams or the table, a preview, and the act."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.conftest import ORDER
from tests.core.event_models import call, model
from tests.core.models import end, start, task

pytestmark = pytest.mark.process

ROSES = [{"sku": "rose", "price": 12, "quantity": 2}]


@pytest.fixture(scope="module")
def versions(api):
    """The keys of two definitions: an order, and its next version with another id and name for one of its tasks."""
    model = ORDER.read_bytes().replace(b'"order"', b'"order-moves"')
    other = model.replace(b'"charge-card"', b'"collect"').replace(b"Charge the card", b"Collect the money")
    api.deploy("order_moves.bpmn", model)
    api.deploy("order_moves.bpmn", other.replace(b'taskDefinition type="collect"', b'taskDefinition type="other"'))
    body = {"filter": {"processDefinitionId": "order-moves"}, "sort": [{"field": "version"}]}
    found = api.post("/process-definitions/search", body)["items"]
    return [one["processDefinitionKey"] for one in found]


def started(api, business_id):
    """The key of an instance of the first version, in which a card and a parcel wait."""
    body = {"processDefinitionId": "order-moves", "processDefinitionVersion": 1, "businessId": business_id}
    key = api.post("/process-instances", body | {"variables": {"card": "4111", "items": ROSES}})["processInstanceKey"]
    api.complete("check-stock", inStock=True)
    return key


def side(console, number):
    return console.page.locator(".pair .canvas").nth(number)


def pick(console, number, id):
    side(console, number).locator(f"[data-element-id={id}] .djs-hit").first.click()


@pytest.mark.long
def test_an_instance_is_migrated(console, api, versions):
    key = started(api, "MOVE-1")
    console.open(f"/instances/{key}")
    console.more()
    console.page.get_by_role("link", name="Migrate …").click()
    console.settle()
    table = console.page.get_by_role("table", name="Mappings")
    row = table.get_by_role("row", name=re.compile("^Charge the card 1"))
    expect(row).to_contain_text("Collect the money same neighbours")
    expect(table.get_by_role("row", name=re.compile("^Pick the items 1 Pick the items same id"))).to_be_visible()
    expect(console.page.locator(".links path")).to_have_count(3)
    expect(side(console, 1).get_by_label("Collect the money, service task, planned +1")).to_be_visible()
    pick(console, 0, "charge-card")
    pick(console, 1, "send-confirmation")
    expect(row).to_contain_text("chosen")
    expect(console.page.locator(".links .strong")).to_have_count(1)
    assert console.violations() == []
    row.get_by_label("Target of Charge the card").select_option("")
    expect(console.page.get_by_text("1 with tokens but no target: Charge the card")).to_be_visible()
    expect(side(console, 0).locator("[data-element-id=charge-card].is-wrong")).to_be_visible()
    console.page.get_by_role("button", name="Preview").click()
    problem = console.page.get_by_role("alert").filter(has_text="no mapping instruction defined for active element")
    expect(problem).to_contain_text("charge-card")
    row.get_by_label("Target of Charge the card").select_option("Collect the money")
    console.page.get_by_role("button", name="Preview").click()
    preview = console.page.get_by_role("region", name="Preview")
    expect(preview.get_by_role("row", name="Jobs 0 0 2")).to_be_visible()
    expect(preview.get_by_role("listitem").first).to_have_text("~ stays: charge-card → collect element")
    assert console.violations() == []
    console.page.set_viewport_size({"width": 390, "height": 800})  # one below the other, and the lines follow
    expect(console.page.locator(".links path")).to_have_count(3)
    upper, lower = (side(console, number).bounding_box() for number in (0, 1))
    assert lower["y"] >= upper["y"] + upper["height"]
    console.page.set_viewport_size({"width": 1280, "height": 800})
    console.page.get_by_role("button", name="Migrate …").click()
    dialog = console.page.get_by_role("dialog", name="Migrate instance")
    dialog.get_by_text("Copy as curl or vivero").click()
    expect(dialog.get_by_label("vivero", exact=True)).to_contain_text(
        f"vivero migrate-instance {key} --to {versions[1]}"
    )
    with console.page.expect_request("**/migration") as sent:
        dialog.get_by_role("button", name="Migrate", exact=True).click()
    assert re.fullmatch('"[0-9]+"', sent.value.headers["if-match"])
    expect(console.page).to_have_url(re.compile(f"/instances/{key}$"))
    expect(console.page.get_by_label("Collect the money, service task, 1 Active")).to_be_visible()
    assert api.http.get(f"/process-instances/{key}").json()["processDefinitionKey"] == versions[1]
    before = console.page.get_by_role("button", name=re.compile("activated charge-card"))
    before.click()  # the past has the model of its time
    expect(console.page.get_by_label("Charge the card, service task, 1 Active")).to_be_visible()


@pytest.mark.long
def test_all_instances_that_match_are_foreseen_and_migrated(console, api, versions):
    """Their list leads to the wizard with its filter. The numbers at the elements follow what happens meanwhile."""
    keys = [started(api, f"MANY-{number}") for number in range(2)]
    started(api, "OTHER-1")
    console.open("/instances?q=MANY-*")
    refused = console.page.get_by_role("button", name=re.compile("Migrate … Choose the process and the version"))
    expect(refused).to_have_attribute("aria-disabled", "true")
    filters = console.page.get_by_role("search", name="Filters")
    filters.get_by_label("Process", exact=True).select_option("order-moves")
    filters.get_by_label("Version").select_option("1")
    console.tab_to("Migrate …")
    console.press("Enter")
    console.settle()
    mappings = console.page.get_by_role("table", name="Mappings")
    row = mappings.get_by_role("row", name=re.compile("^Charge the card 2"))
    expect(row).to_contain_text("Collect the money")
    late = api.post(
        "/process-instances",
        {"processDefinitionKey": versions[0], "businessId": "MANY-LATE", "variables": {"items": ROSES}},
    )["processInstanceKey"]
    mappings.get_by_role("button", name="Check the stock").click()
    mappings.get_by_label("Target of Check the stock").select_option("")
    expect(console.page.get_by_text("1 with tokens but no target: Check the stock")).to_be_visible()
    console.page.get_by_role("button", name="Forecast").click()
    forecast = console.page.get_by_role("region", name="Forecast")
    expect(forecast.get_by_role("status")).to_have_text("2 of 3 would succeed")
    expect(forecast.get_by_role("listitem")).to_contain_text("1 would fail: INVALID_STATE: Expected to migrate")
    expect(forecast.get_by_role("link", name=late)).to_have_attribute("href", f"/console/instances/{late}")
    console.check("migrate_all")
    console.page.get_by_role("button", name="Migrate all 3 …").click()
    dialog = console.page.get_by_role("dialog", name="Migrate all 3")
    dialog.get_by_text("Copy as curl or vivero").click()
    expect(dialog.get_by_label("vivero", exact=True)).to_contain_text(f"migrate-instance --all --from {versions[0]} ")
    assert console.violations() == []
    dialog.get_by_role("button", name="Migrate all 3").click()
    expect(console.page.get_by_text("3 of 3")).to_be_visible()
    expect(console.page.get_by_text("Failed 1")).to_be_visible()
    found = [api.http.get(f"/process-instances/{key}").json()["processDefinitionKey"] for key in (*keys, late)]
    assert found == [versions[1], versions[1], versions[0]]


@pytest.mark.long
def test_called_instances_are_migrated_with_their_caller(console, api):
    def deploy(id, element, name):
        api.deploy(f"{id}.bpmn", model(start(), element, end(), f"start > {name} > end", id=id))

    deploy("called-moves", task("pay"), "pay")
    deploy("calls-moves", call("ask", "called-moves"), "ask")
    key = api.start("calls-moves", "CALLS-1")
    deploy("called-moves", task("pay-later", "pay"), "pay-later")
    deploy("calls-moves", call("ask-more", "called-moves"), "ask-more")
    console.open(f"/instances/{key}")
    console.more()
    console.page.get_by_role("link", name="Migrate …").click()
    console.settle()
    console.page.get_by_label("Also migrate the instances that they called").check()
    called = console.page.get_by_role("list", name="Also migrate the instances that they called")
    expect(called.get_by_role("listitem")).to_have_text(re.compile("called-moves v1 → v2 1 called"))
    assert console.violations() == []
    console.page.get_by_role("button", name="Preview").click()
    expect(console.page.get_by_role("region", name="Preview")).to_be_visible()
    console.page.get_by_role("button", name="Migrate …").click()
    dialog = console.page.get_by_role("dialog", name="Migrate instance")
    dialog.get_by_text("Copy as curl or vivero").click()
    expect(dialog.get_by_label("vivero", exact=True)).to_contain_text(re.compile(" --map ask:ask-more .*--called "))
    dialog.get_by_role("button", name="Migrate", exact=True).click()
    expect(console.page).to_have_url(re.compile(f"/instances/{key}$"))
    ran = api.post("/process-instances/search", {"filter": {"parentProcessInstanceKey": key}})["items"]
    assert [one["processDefinitionVersion"] for one in ran] == [2]
