"""Tokens are moved, begun and ended on the diagram of an instance, by pointer and by keyboard."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.conftest import ORDER
from tests.core.event_models import model
from tests.core.models import end, start, task
from tests.eventually import eventually_sync

pytestmark = pytest.mark.process

ROSES = [{"sku": "rose", "price": 12, "quantity": 2}]


@pytest.fixture
def order(api):
    """The key of an order that waits for its card and for its items."""
    key = api.start("order", "ORD-MODIFY", card="4111", items=ROSES)
    api.complete("check-stock", inStock=True)
    return key


def two_parcels(api):
    """The key of an order that ships two parcels at once: a loop."""
    loop = b'<zeebe:loopCharacteristics inputCollection="=[1, 2]" inputElement="parcel"/>'
    loop = b"<bpmn:extensionElements>%s</bpmn:extensionElements>" % loop
    loop = b"<bpmn:multiInstanceLoopCharacteristics>%s</bpmn:multiInstanceLoopCharacteristics>" % loop
    begin = b'<bpmn:subProcess id="ship" name="Ship">'
    model = ORDER.read_bytes().replace(b'"order"', b'"two-parcels"').replace(begin, begin + loop)
    api.deploy("two_parcels.bpmn", model)
    key = api.start("two-parcels", "ORD-TWO", card="4111", items=ROSES)
    api.complete("check-stock", inStock=True)
    return key


def shape(console, id):
    return console.page.locator(f"[data-element-id={id}] .djs-hit").first


def places(api, key):
    """(element, state) of all instances of tasks, sorted."""
    found = api.post("/element-instances/search", {"filter": {"processInstanceKey": key, "type": "SERVICE_TASK"}})
    return sorted((one["elementId"], one["state"]) for one in found["items"])


def drag(console, source, target):
    one, other = shape(console, source).bounding_box(), shape(console, target).bounding_box()
    console.page.mouse.move(one["x"] + 20, one["y"] + 20)
    console.page.mouse.down()
    console.page.mouse.move(other["x"] + 20, other["y"] + 20, steps=4)
    return console.page.mouse.up


@pytest.mark.long
def test_a_token_is_dragged_to_another_element(console, api, order):
    console.open(f"/instances/{order}")
    console.more()
    console.page.get_by_role("button", name="Modify").click()
    panel = console.page.get_by_role("complementary", name="Modify")
    expect(panel).to_contain_text("Drag a token to another element")
    release = drag(console, "charge-card", "placed")
    expect(console.page.locator(".is-target")).to_have_count(0)
    release()
    expect(panel).to_contain_text("No changes yet.")
    release = drag(console, "charge-card", "send-confirmation")
    expect(console.page.locator("[data-element-id=send-confirmation].is-target")).to_be_visible()
    release()
    expect(panel.get_by_role("listitem")).to_contain_text("Move Charge the card to Send a confirmation")
    expect(console.page.get_by_label("Send a confirmation, service task, planned +1")).to_be_visible()
    assert console.violations() == []
    panel.get_by_text("Variables and scope").click()
    panel.get_by_label("Variables (JSON)").fill('{"paid": true}')
    shape(console, "pick-items").click()
    panel.get_by_role("button", name="Terminate Pick the items").click()
    panel.get_by_role("button", name="Preview").click()
    preview = panel.get_by_role("region", name="Preview")
    expect(preview.get_by_role("row", name="Jobs 1 2 0")).to_be_visible()
    expect(preview.get_by_text("It cannot be undone: it has set the variable")).to_be_visible()
    expect(preview.get_by_role("listitem").filter(has_text="begins: Send a confirmation")).to_have_count(2)
    assert len(places(api, order)) == 3, "nothing has happened"
    assert console.violations() == []
    panel.get_by_role("button", name="Apply …").click()
    dialog = console.page.get_by_role("dialog", name="Modify instance")
    dialog.get_by_text("Copy as curl or vivero").click()
    changes = "--move charge-card:send-confirmation --terminate pick-items"
    cli = f"vivero modify {order} {changes} --variables '{{\"paid\":true}}'"
    expect(dialog.get_by_label("vivero", exact=True)).to_have_text(cli)
    assert console.violations() == []
    with console.page.expect_request("**/modification") as sent:
        dialog.get_by_role("button", name="Apply").click()
    assert re.fullmatch('"[0-9]+"', sent.value.headers["if-match"])
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    gone = [("charge-card", "TERMINATED"), ("check-stock", "COMPLETED"), ("pick-items", "TERMINATED")]
    assert places(api, order) == [*gone, ("send-confirmation", "ACTIVE")]
    expect(console.page.get_by_role("complementary", name="Details")).to_be_visible()
    expect(console.page.get_by_role("button", name=re.compile("modified − Pick the items"))).to_be_visible()
    command = console.page.get_by_role(
        "button", name=re.compile(r"process instance modification · modify \(If-Match\)")
    )
    expect(command).to_be_visible()


@pytest.mark.long
def test_a_token_is_moved_by_keyboard(console, api, order):
    console.open(f"/instances/{order}?element=charge-card")
    console.tab_to("More", exact=True)
    console.press("Enter")
    console.tab_to("Modify", exact=True)
    console.press("Enter")
    console.tab_to("Move to …")
    console.press("Enter")
    target = console.page.get_by_label("Move Charge the card to", exact=True)
    expect(target.locator("select")).to_be_focused()
    assert console.violations() == []
    console.press("Escape")
    console.tab_to("Move to …")
    console.press("Enter")
    console.page.keyboard.type("Refuse")
    expect(console.page.get_by_text("Move Charge the card to Refuse the order")).to_be_visible()
    console.tab_to("Apply …")
    console.press("Enter")
    console.tab_to("Apply", exact=True)
    console.press("Enter")
    expect(console.page.get_by_label("Refuse the order, service task, 1 Active")).to_be_visible()
    assert ("refuse-order", "ACTIVE") in places(api, order)


@pytest.mark.long
def test_the_problems_of_the_server_are_shown_at_their_elements(console, api):
    """In a loop, the server asks in which of several scopes an element begins: the choice solves it."""
    key = two_parcels(api)
    console.open(f"/instances/{key}?element=pack-parcel&modify=1")
    panel = console.page.get_by_role("complementary", name="Modify")
    panel.get_by_role("button", name="Activate Pack the parcel").click()
    panel.get_by_role("button", name="Apply …").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    problem = panel.get_by_role("listitem").get_by_role("alert")
    expect(problem).to_contain_text("more than one active instance")
    expect(console.page.locator("[data-element-id=pack-parcel].is-wrong")).to_be_visible()
    assert console.violations() == []
    scope = panel.get_by_label("Begin in")
    inner = [one for one in scope.locator("option").all_inner_texts() if one.startswith("Ship")]
    assert len(inner) == 3, "the body and two inner instances"
    scope.select_option(inner[-1])
    panel.get_by_role("button", name="Apply …").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    expect(console.page.get_by_label("Pack the parcel, service task, 1 Active")).to_be_visible()
    assert all("400" in error for error in console.errors)
    console.errors.clear()


@pytest.mark.long
def test_a_preview_tells_of_a_join_that_starves_and_goes_with_the_next_change(console, api, order):
    console.open(f"/instances/{order}?element=charge-card&modify=1")
    panel = console.page.get_by_role("complementary", name="Modify")
    panel.get_by_role("button", name="Terminate Charge the card").click()
    shape(console, "pick-items").click()
    panel.get_by_role("button", name="Activate Pick the items").click()
    panel.get_by_role("button", name="Preview").click()
    preview = panel.get_by_role("region", name="Preview")
    expect(preview.get_by_role("alert")).to_have_text(
        "done would wait forever: no token can arrive through charge-done."
    )
    console.check("modify")
    panel.get_by_role("button", name="Remove Terminate Charge the card").click()
    expect(preview).to_have_count(0)


@pytest.mark.long
def test_an_instance_that_moved_on_is_not_modified(console, api, order):
    console.page.route("**/console/live*", lambda route: None)  # nobody hears of the change
    console.open(f"/instances/{order}?element=charge-card&modify=1")
    panel = console.page.get_by_role("complementary", name="Modify")
    panel.get_by_role("button", name="Terminate Charge the card").click()
    panel.get_by_role("button", name="Apply …").click()
    api.put(f"/element-instances/{order}/variables", {"variables": {"other": 5}})
    console.page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    expect(console.page.locator(".notice.bad")).to_contain_text("Modify instance")
    assert ("charge-card", "ACTIVE") in places(api, order)
    assert "412" in console.next_error()


@pytest.mark.long
def test_a_late_business_id_is_undone(console, api):
    api.deploy("named.bpmn", model(start(), task("wait"), end(), "start > wait > end", id="named"))
    key = api.post("/process-instances", {"processDefinitionId": "named"})["processInstanceKey"]
    api.post(f"/process-instances/{key}/business-id-assignment", {"businessId": "ORD-LATE"})
    console.open(f"/instances/{key}")
    expect(console.page.get_by_role("heading", name="ORD-LATE")).to_be_visible()
    expect(console.page.get_by_role("button", name="business id ORD-LATE")).to_be_visible()
    console.page.get_by_role("button", name="Undo business id …").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Undo business id").click()
    expect(console.page.get_by_role("heading", name="ORD-LATE")).to_have_count(0)
    expect(console.page.get_by_role("button", name="business id −")).to_be_visible()
    assert api.http.get(f"/process-instances/{key}").json()["businessId"] is None


@pytest.mark.long
def test_a_modification_is_undone_while_nothing_else_has_happened(console, api, order):
    console.open(f"/instances/{order}")
    expect(console.page.get_by_role("button", name="Undo")).to_have_count(0)
    body = {"activateInstructions": [{"elementId": "refuse-order"}]}
    api.post(f"/process-instances/{order}/modification", body)
    console.page.get_by_role("button", name="Undo modification …").click()
    dialog = console.page.get_by_role("dialog", name="Undo modification")
    console.check("undo")
    with console.page.expect_request("**/undo") as sent:
        dialog.get_by_role("button", name="Undo modification").click()
    assert re.fullmatch('"[0-9]+"', sent.value.headers["if-match"])
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    assert ("refuse-order", "TERMINATED") in places(api, order)
    body = {"terminateInstructions": [{"elementId": "charge-card"}]}
    api.post(f"/process-instances/{order}/modification", body)
    console.open(f"/instances/{order}")  # before, the undo could be undone, too
    console.page.get_by_role("button", name="Undo modification …").click()
    dialog.get_by_role("button", name="Undo modification").click()
    eventually_sync(lambda: places(api, order), accept=lambda found: ("charge-card", "ACTIVE") in found)
    api.job("charge-card", of=order)
    api.post(f"/process-instances/{order}/modification", body)
    refused = console.page.get_by_role("button", name=re.compile("Undo modification … .*a worker had got job"))
    expect(refused).to_have_attribute("aria-disabled", "true")
    assert console.violations() == []
