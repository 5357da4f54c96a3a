"""Stories by keyboard alone: mend an incident and watch it go on, work a task, deploy a file and start it."""

import json

import pytest
from playwright.sync_api import expect

from tests.console.conftest import MODELS, ORDER

pytestmark = pytest.mark.process

FORM = {
    "type": "default",
    "id": "review",
    "schemaVersion": 19,
    "components": [
        {"type": "textfield", "key": "reason", "label": "Reason", "id": "a", "validate": {"required": True}},
        {"type": "number", "key": "amount", "label": "Amount", "id": "b"},
    ],
}


def test_an_incident_is_mended_and_goes_on_live(console, api, stuck):
    key = stuck("ORD-1")
    console.open("/")
    console.press("g", "e")
    expect(console.page.get_by_role("heading", name="Incidents")).to_be_visible()
    console.page.get_by_text("the card has expired").wait_for()
    console.press("j", "Enter")
    console.settle()
    assert f"/instances/{key}" in console.page.url
    expect(console.page.get_by_label("Charge the card, service task, 1 Incidents")).to_be_visible()
    console.tab_to("Retry …")
    console.press("Enter")
    console.tab_to("Set these variables first")
    console.page.keyboard.type('{"card": "4444"}')
    console.tab_to("Retry", exact=True)
    console.press("Enter")
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    expect(console.page.get_by_text("Waiting for a worker for “charge-card”")).to_be_visible()
    for job, result in (("charge-card", {"receipt": "R-1"}), ("pack-parcel", {}), ("send-confirmation", {})):
        api.complete(job, **result)
    expect(console.page.locator("h1 .state")).to_contain_text("Completed")


def test_the_past_of_an_instance(console, stuck):
    key = stuck("ORD-2")
    console.open(f"/instances/{key}")
    console.page.get_by_role("list", name="Events").get_by_text("incident", exact=True).wait_for()
    for _ in range(6):
        console.press("[")
    expect(console.page.get_by_text("You see the past")).to_be_visible()
    assert "at=" in console.page.url
    assert console.page.get_by_role("button", name="Retry …").count() == 0
    console.tab_to("Back to live")
    console.press("Enter")
    expect(console.page.get_by_role("button", name="Retry …").first).to_be_visible()


def test_a_diagram_is_walked_with_arrows(console, stuck):
    console.open(f"/instances/{stuck('ORD-3')}")
    console.tab_to("Order placed, start event")
    console.press("ArrowRight", "ArrowRight")
    assert console.page.evaluate("document.activeElement.getAttribute('aria-label')").startswith("In stock?")
    console.press("ArrowLeft", "Enter")
    expect(console.page.get_by_role("heading", name="Check the stock")).to_be_visible()
    assert "element=check-stock" in console.page.url


def test_a_task_is_claimed_and_completed_with_json(console, api):
    key = api.start("claim-review", "CLM-1", claim="CLM-1")
    console.open("/")
    console.press("g", "t")
    console.page.get_by_text("Claim review · CLM-1").wait_for()
    console.press("j", "Enter")
    console.tab_to("Claim", exact=True)
    console.press("Enter")
    expect(console.page.get_by_role("button", name="Release")).to_be_visible()
    console.tab_to("Result (JSON, optional)")
    console.page.keyboard.type('{"approved": true}')
    console.tab_to("Complete", exact=True)
    console.press("Enter")
    expect(console.page.get_by_text("No task is open here.")).to_be_visible()
    found = api.post("/variables/search", {"filter": {"processInstanceKey": key, "name": "approved"}})["items"]
    assert [variable["value"] for variable in found] == ["true"]


def test_a_task_with_a_form(console, api):
    """The server's answer for the form is played; the form, its validation and its completion are real."""
    key = api.start("claim-review", "CLM-2", claim="CLM-2", amount=7)
    task = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"][0]["userTaskKey"]
    answer = {"formId": "review", "formKey": "1", "version": 1, "tenantId": "<default>", "schema": json.dumps(FORM)}
    console.page.route("**/v2/user-tasks/*/form", lambda route: route.fulfill(json=answer))
    console.open(f"/tasks/{task}")
    expect(console.page.get_by_label("Amount")).to_have_value("7")
    assert console.violations() == []
    console.tab_to("Complete", exact=True)
    console.press("Enter")
    expect(console.page.get_by_text("Field is required.")).to_be_visible()
    console.page.get_by_label("Reason").focus()
    console.page.keyboard.type("fine")
    with console.page.expect_request("**/completion") as sent:
        console.tab_to("Complete", exact=True)
        console.press("Enter")
    assert sent.value.post_data_json == {"variables": {"reason": "fine", "amount": 7}}
    expect(console.page.get_by_text("Done at position")).to_be_visible()


def test_a_file_is_deployed_and_started(console, api):
    console.open("/deploy")
    console.page.get_by_label("Choose files").focus()
    with console.page.expect_file_chooser() as chooser:
        console.press("Space")
    model = (MODELS / "claim_review.bpmn").read_bytes().replace(b"claim-review", b"claim.second")
    chooser.value.set_files({"name": "second.bpmn", "mimeType": "application/xml", "buffer": model})
    expect(console.page.get_by_role("heading", name="Deployed")).to_be_visible()
    console.tab_to("claim.second")
    console.press("Enter")
    console.settle()
    console.page.reload()  # an id with a dot is no file
    console.settle()
    console.tab_to("Start …")
    console.press("Enter")
    console.tab_to("Variables (JSON)")
    console.page.keyboard.type('{"claim": "C-9"}')
    console.tab_to("Business id")
    console.page.keyboard.type("CLM-9")
    console.press("Enter")
    expect(console.page.get_by_role("heading", name="CLM-9")).to_be_visible()


def test_problems_of_a_file_are_listed_and_drawn(console):
    console.open("/deploy")
    broken = ORDER.read_bytes().replace(b"=inStock", b"=inStock +")
    file = {"name": "order.bpmn", "mimeType": "application/xml", "buffer": broken}
    console.page.get_by_label("Choose files").set_input_files(files=[file])
    expect(console.page.get_by_text("expected an expression but found end of input")).to_be_visible()
    expect(console.page.get_by_text("Nothing was deployed. Problems: 1")).to_be_visible()
    console.settle()
    assert console.errors.pop().startswith("Failed to load resource")
    assert (
        console.page.locator(".is-incident, .is-incident-around, [data-element-id=in-stock-yes].is-incident").count()
        == 1
    )
