"""The editor: a version is opened, edited and examined, and becomes the next version. Nobody else loads its chunks."""

import json
import re
from html import unescape

import pytest
from playwright.sync_api import expect

from tests.console.conftest import DECISIONS
from tests.eventually import eventually_sync

pytestmark = [pytest.mark.process, pytest.mark.long]

HOSTILE = "<img src=x onerror=alert(1)> & 'stock'"


def leaves(page):
    """Whether the browser would leave the page without asking."""
    return page.evaluate("dispatchEvent(new Event('beforeunload', {cancelable: true}))")


def open_group(page, title):
    """Open a group of the panel of properties, or close it."""
    page.locator(".bio-properties-panel-group-header").filter(has_text=title).click()


def test_a_version_is_edited_examined_and_deployed(console, api):
    page = console.page
    console.open("/processes/order")
    assert not [url for url in console.urls if "/editor-" in url]
    console.more()
    page.get_by_role("link", name="Edit", exact=True).click()
    console.settle()
    assert [url for url in console.urls if "/editor-" in url]
    findings = page.get_by_role("region", name="Problems")
    expect(findings).to_contain_text("No problems: the model can be deployed.")
    expect(findings).to_contain_text("Git is the source of truth")
    assert console.is_uncovered(".bjs-powered-by")

    page.locator('[data-element-id="check-stock"] .djs-hit').first.click()
    open_group(page, "General")
    page.locator("#bio-properties-panel-name").fill(HOSTILE)
    open_group(page, "Task definition")
    type = page.locator("#bio-properties-panel-taskDefinitionType")
    type.fill("")
    expect(findings).to_contain_text("check-stock")
    expect(page.locator('[data-element-id="check-stock"].is-wrong')).to_be_visible()
    page.locator(".djs-container svg").first.press("Escape")
    findings.get_by_role("button", name="check-stock").click()
    expect(page.locator('[data-element-id="check-stock"].selected')).to_be_visible()
    page.locator(".bio-properties-panel-group-header").filter(has_text="Input mapping").locator(
        ".bio-properties-panel-add-entry"
    ).click()
    expect(page.locator(".bio-properties-panel .cm-editor")).to_be_visible()
    assert page.locator(".cm-editor").evaluate("e => getComputedStyle(e).display") == "flex", "it has its styles"
    console.check("editor")
    page.get_by_role("button", name="Undo").click()
    type.fill("check-stock")
    expect(findings).to_contain_text("No problems")

    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(findings.get_by_role("link", name="Order")).to_be_visible()
    expect(findings.get_by_role("button", name=re.compile("Start"))).to_be_visible()
    versions = api.post("/process-definitions/search", {"filter": {"processDefinitionId": "order"}})["items"]
    assert sorted(each["version"] for each in versions) == [1, 2]
    key = next(each["processDefinitionKey"] for each in versions if each["version"] == 2)
    assert f'name="{HOSTILE}"' in unescape(api.http.get(f"/process-definitions/{key}/xml").text)
    console.go("/processes")
    page.go_back()
    console.settle()
    expect(page.locator('[data-element-id="check-stock"]')).to_be_visible()  # also where nothing is left to go on with


def test_a_draft_is_kept_and_nobody_overwrites_it(console, api):
    page = console.page
    console.open("/processes")
    page.get_by_role("link", name="New process").click()
    console.settle()
    findings = page.get_by_role("region", name="Problems")
    page.get_by_role("button", name="Save draft").click()
    expect(findings).to_contain_text("Draft saved by anonymous")
    expect(page).to_have_url(re.compile(r"\?draft=\d+$"))
    key = page.url.rpartition("=")[2]
    draft = api.http.get(f"/model-drafts/{key}").json()
    theirs = {"name": draft["name"], "content": draft["content"].replace('id="start"', 'id="start" name="Theirs"')}
    api.http.put(f"/model-drafts/{key}", json=theirs, headers={"If-Match": '"1"'}).raise_for_status()

    page.locator('[data-element-id="start"] .djs-hit').first.click()
    open_group(page, "General")
    page.locator("#bio-properties-panel-name").fill(HOSTILE)
    assert not leaves(page), "the library holds the text back for a moment"
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    console.expected = "412"
    page.get_by_role("button", name="Save draft").click()
    expect(findings.get_by_role("alert")).to_contain_text("'anonymous' has changed draft")
    page.get_by_role("button", name="Save mine as a new draft").click()
    expect(findings).to_contain_text("Draft saved by anonymous")
    eventually_sync(lambda: leaves(page), "the draft is saved")
    held = []
    page.route("**/v2/model-drafts/*", lambda route: held.append(route))  # the save after the pause
    page.locator("#bio-properties-panel-name").fill("Held")
    expect(page.locator(".bio-properties-panel-header")).to_contain_text("Held")
    eventually_sync(lambda: not leaves(page), "the new text is not saved")
    page.unroute("**/v2/model-drafts/*")
    for route in held:
        route.continue_()
    page.locator("#bio-properties-panel-name").fill(f"Left {HOSTILE}")
    expect(page.locator(".bio-properties-panel-header")).to_contain_text("Left")
    console.go("/editor/drafts")
    expect(page.get_by_role("link", name=draft["name"])).to_have_count(2)
    assert console.violations() == []
    _, mine = api.post("/model-drafts/search", {"sort": [{"field": "modelDraftKey"}]})["items"]
    eventually_sync(  # the page has saved the last change when it was left
        lambda: unescape(api.http.get(f"/model-drafts/{mine['modelDraftKey']}").json()["content"]),
        accept=lambda content: f'name="Left {HOSTILE}"' in content and "Theirs" not in content,
    )
    console.open(f"/editor?draft={key}")
    expect(page.locator(".canvas").get_by_text("Theirs")).to_be_visible()

    api.http.put(f"/model-drafts/{key}", json=theirs, headers={"If-Match": '"2"'}).raise_for_status()
    page.locator('[data-element-id="start"] .djs-hit').first.click()
    open_group(page, "General")
    page.locator("#bio-properties-panel-name").fill("Mine")
    expect(page.get_by_role("button", name="Undo")).to_be_enabled()
    page.get_by_role("button", name="Save draft").click()
    expect(findings.get_by_role("alert")).to_contain_text("'anonymous' has changed draft")
    console.go("/processes")
    page.get_by_role("link", name="New process").click()
    console.settle()
    expect(page.locator(".canvas").get_by_text("Mine")).to_be_visible()  # it belongs to no draft, and is not lost
    text = rf"\1<\2documentation>{'x' * 1_000_001}</\2documentation>"
    long = re.sub(r"(<(bpmn:|bpmn2:|)process [^>]*>)", text, draft["content"]).encode()
    page.locator("input[type=file]").first.set_input_files([{"name": "l.bpmn", "mimeType": "", "buffer": long}])
    expect(page.locator(".canvas").get_by_text("Mine")).to_have_count(0)
    page.get_by_role("button", name="Save draft").click()
    expect(findings.get_by_role("alert")).to_contain_text("drafts of up to 1,000,000 characters")


def test_a_model_runs_right_there(console, api):
    page = console.page
    console.open("/processes/order")
    console.more()
    page.get_by_role("link", name="Edit", exact=True).click()
    console.settle()
    page.get_by_role("button", name="Try it").click()
    trial = page.get_by_role("region", name="Try it")
    trial.get_by_label("Variables").fill('{"items": []}')
    trial.get_by_label("Answers").fill('{"jobs": {"check-stock": {"variables": {"inStock": false}}}}')
    trial.get_by_role("button", name="Run").click()
    expect(trial).to_contain_text(re.compile(r"COMPLETED \d+ of \d+ elements reached"))
    trial.get_by_role("button", name="charge-card").click()
    expect(page.locator('[data-element-id="charge-card"].selected')).to_be_visible()
    expect(page.locator('[data-element-id="refuse-order"].is-done')).to_be_visible()
    trial.get_by_role("button", name="started").click()
    expect(page.locator('[data-element-id="check-stock"].is-active')).to_be_visible()
    expect(page.locator(".is-done")).to_have_count(0)
    console.check("trial")
    trial.get_by_label("Answers").fill('{"jobs": {"check-stock": {"failure": "<img src=x onerror=alert(1)>"}}}')
    trial.get_by_role("button", name="Run").click()
    expect(trial).to_contain_text("<img src=x onerror=alert(1)>")


TEMPLATE = {
    "$schema": "@camunda/zeebe-element-templates-json-schema",
    "id": "mail",
    "name": HOSTILE,
    "version": 1,
    "description": f"{HOSTILE}<a href='javascript:alert(1)'>Help</a>",
    "icon": {"contents": "https://example.invalid/x.svg"},
    "appliesTo": ["bpmn:Task"],
    "elementType": {"value": "bpmn:ServiceTask"},
    "properties": [
        {"type": "Hidden", "value": "mail", "binding": {"type": "zeebe:taskDefinition", "property": "type"}},
        {
            "label": f"Told {HOSTILE}",
            "description": f"{HOSTILE}<script>alert(2)</script>",
            "type": "String",
            "feel": "optional",
            "binding": {"type": "zeebe:input", "name": "to"},
        },
    ],
}


def select_template(page, name):
    """Choose a template in the dialog, which the panel of properties opens."""
    page.get_by_title("Select a template").click()
    page.get_by_role("dialog", name="Choose a template").get_by_role("button", name=name).click()


def test_templates_are_offered_and_expressions_completed(console, api):
    """The templates of the server, of deployed files and of a file; wrong ones are told. No text of them is code."""
    api.deploy("element-templates/mail.json", json.dumps(TEMPLATE).encode())
    broken = [TEMPLATE | {"id": "broken", "name": "Broken", "appliesTo": 1}]
    api.deploy("element-template-broken.json", json.dumps(broken).encode())
    page = console.page
    console.open("/processes/order")
    console.more()
    page.get_by_role("link", name="Edit", exact=True).click()
    console.settle()
    expect(page.get_by_role("region", name="Problems")).to_contain_text("Broken does not follow the schema")
    page.locator('[data-element-id="check-stock"] .djs-hit').first.click()
    page.get_by_title("Select a template").click()
    dialog = page.get_by_role("dialog", name="Choose a template")
    expect(dialog.get_by_role("button", name="HTTP call")).to_be_visible()
    own = json.dumps(TEMPLATE | {"id": "own", "name": "Own"}).encode()
    dialog.get_by_label("Open a file with templates").set_input_files(
        [
            {"name": "no.json", "mimeType": "", "buffer": b"{"},
            {"name": "own.json", "mimeType": "", "buffer": own},
        ]
    )
    expect(dialog).to_contain_text("no.json is not valid JSON")
    expect(dialog.get_by_role("button", name="Own")).to_be_visible()
    assert console.violations() == []
    dialog.get_by_label("Search in templates").fill("onerror")
    dialog.get_by_role("button", name=HOSTILE).first.click()
    open_group(page, "Custom properties")
    expect(page.get_by_text(f"Told {HOSTILE}")).to_be_visible()
    found = "document.querySelectorAll('[onerror], img[src=x], a[href^=\"javascript:\"]').length"
    assert page.evaluate(found) == 0
    assert {error.partition(" violates")[0] for error in console.errors} <= {"Executing inline event handler"}
    console.errors.clear()  # the browser reports it while the text is read, before the attribute is removed
    console.check("template")
    page.get_by_text("Applied").click()
    page.get_by_text("Change", exact=True).click()
    dialog.get_by_role("button", name="HTTP call").click()
    open_group(page, "Request")
    page.get_by_role("textbox", name="URL").fill("https://example.com")
    findings = page.get_by_role("region", name="Problems")
    expect(findings).to_contain_text("it uses the connector io.camunda:http-json:1, but connectors are disabled")
    editor = page.locator(".bio-properties-panel-entry").filter(has_text="Query parameters").locator(".cm-content")
    editor.click()
    page.keyboard.type("{sum: tota")
    expect(page.get_by_role("option", name="total")).to_be_visible()  # an output mapping writes it
    page.keyboard.type("l")
    expect(editor).to_have_text("{sum: total}")
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(findings.get_by_role("link", name="Order")).to_be_visible()
    [newest, *_] = api.post("/process-definitions/search", {"sort": [{"field": "version", "order": "DESC"}]})["items"]
    model = api.http.get(f"/process-definitions/{newest['processDefinitionKey']}/xml").text
    assert 'zeebe:modelerTemplate="vivero.http-json"' in model
    assert '<zeebe:input source="={sum: total}" target="queryParameters" />' in model


def entry(page, of, text):
    """The cell of a decision table that shows this."""
    return page.locator(f".dmn-decision-table-container td.{of}").filter(has_text=re.compile(rf"^{re.escape(text)}$"))


def test_a_decision_is_edited_tried_and_deployed(console, api):
    api.deploy("discount.dmn", (DECISIONS / "discount.dmn").read_bytes())
    page = console.page
    console.open("/decisions/discount")
    page.get_by_role("link", name="Edit", exact=True).click()
    console.settle()
    assert [url for url in console.urls if "/editor-dmn" in url]
    assert not [url for url in console.urls if "/editor-bpmn" in url], "nobody needs the editor of processes here"
    findings = page.get_by_role("region", name="Problems")
    expect(findings).to_contain_text("No problems")
    assert console.is_uncovered(".bjs-powered-by")

    page.get_by_label("View").select_option(label="Diagram")
    expect(page.locator(".dmn-drd-container .djs-connection")).to_have_count(4)  # the file has no diagram
    page.locator('[data-element-id="price"] .djs-hit').first.click()
    open_group(page, "General")
    page.locator("#bio-properties-panel-name").fill(HOSTILE)
    expect(page.get_by_label("View")).to_contain_text(HOSTILE)
    assert console.is_uncovered(".bjs-powered-by")
    console.check("editor-decision")
    page.get_by_label("View").select_option(label="Discount")
    entry(page, "output-cell", "0.1").click()
    page.keyboard.press("Control+A")
    page.keyboard.type("0.1 +")
    expect(findings).to_contain_text("gold: FEEL expression: failed to parse")
    page.keyboard.press("Backspace")
    page.keyboard.type("+ 0.1")
    expect(findings).to_contain_text("No problems")
    assert [one for one in console.violations() if not one.startswith("empty-table-header")] == []  # dmn-js has it

    page.get_by_role("button", name="Save draft").click()
    expect(page).to_have_url(re.compile(r"draft=\d+$"))
    eventually_sync(lambda: leaves(page), "the draft is saved")
    console.open(f"/editor?draft={page.url.rpartition('=')[2]}")
    page.get_by_label("View").select_option(label="Discount")
    expect(entry(page, "output-cell", "0.1 + 0.1")).to_be_visible()
    page.get_by_role("button", name="Try it").click()
    trial = page.get_by_role("region", name="Try it")
    trial.get_by_label("Decision").select_option(label=HOSTILE)
    trial.get_by_label("Variables").fill('{"total": 200, "customer": "gold"}')
    imported = trial.get_by_label("Imported files")
    imported.set_input_files([{"name": "rates.dmn", "mimeType": "", "buffer": b"<definitions"}])
    console.expected = "400"
    trial.get_by_role("button", name="Evaluate").click()
    expect(trial).to_contain_text("rates.dmn")
    imported.set_input_files([])
    trial.get_by_role("button", name="Evaluate").click()
    expect(trial.get_by_role("group", name=HOSTILE, exact=True).first).to_contain_text("160")
    page.get_by_label("View").select_option(label="Diagram")
    console.check("decision-trial")
    page.locator(".dmn-definitions-name").fill("Named last")
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(findings.get_by_role("link", name=HOSTILE)).to_be_visible()
    versions = api.post("/decision-definitions/search", {"filter": {"decisionDefinitionId": "price"}})["items"]
    found = {each["version"]: (each["name"], each["decisionRequirementsName"]) for each in versions}
    assert found == {1: ("Price", "Discounts"), 2: (HOSTILE, "Named last")}


def test_a_form_is_edited_previewed_and_deployed(console, api):
    """A field is added, its label is an attack; the preview shows it with data, and the next version has it."""
    greeting = {"id": "greeting", "type": "default", "schemaVersion": 19, "components": []}
    api.deploy("greeting.form", json.dumps(greeting).encode())
    page = console.page
    console.open("/resources?state=forms")
    page.get_by_role("link", name="greeting.form").click()
    console.settle()
    assert not [url for url in console.urls if "/editor-" in url]
    page.get_by_role("link", name="Edit", exact=True).click()
    console.settle()
    assert not [url for url in console.urls if "/editor-bpmn" in url or "/editor-dmn" in url]
    findings = page.get_by_role("region", name="Problems")
    expect(findings).to_contain_text("No problems")
    assert console.is_uncovered(".fjs-powered-by-link")
    page.get_by_title("Create a Text field element").press("Enter")
    page.locator(".editing .fjs-form-field-textfield").click()
    open_group(page, "General")
    page.locator("#bio-properties-panel-label").click()
    page.keyboard.press("Control+A")
    page.keyboard.type(HOSTILE)
    page.locator("#bio-properties-panel-key").fill("who")
    page.get_by_role("button", name="Try it").click()
    trial = page.get_by_role("region", name="Try it")
    trial.locator("textarea").first.fill('{"who": "Ada"}')
    expect(trial.locator(".fjs-input")).to_have_value("Ada")
    expect(trial.get_by_text(HOSTILE)).to_be_visible()
    console.check("editor-form")
    page.get_by_role("button", name="Save draft").click()
    expect(page).to_have_url(re.compile(r"draft=\d+$"))
    eventually_sync(lambda: leaves(page), "the draft is saved")
    console.open(f"/editor?draft={page.url.rpartition('=')[2]}")
    expect(page.locator(".fjs-editor-container, .fjs-form-editor").get_by_text(HOSTILE).first).to_be_visible()
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(findings.get_by_role("link", name="greeting")).to_be_visible()
    [newest, _] = api.post("/forms/search", {"sort": [{"field": "version", "order": "DESC"}]})["items"]
    [field] = json.loads(api.http.get(f"/forms/{newest['formKey']}").json()["schema"])["components"]
    assert (field["type"], field["key"], field["label"]) == ("textfield", "who", HOSTILE)
