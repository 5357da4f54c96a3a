"""Deployed files in a browser: those of workers are downloaded, forms are shown with data that somebody types, versions
of a process are compared, and the landscape shows who calls whom."""

import json
import re
from html import escape

import pytest
from playwright.sync_api import expect

from tests.console.conftest import ORDER
from tests.console.test_hostile_texts import ATTACK

pytestmark = pytest.mark.process

NOTE = {"type": "textfield", "id": "n", "key": "note", "label": "Note"}
SCANS = {"type": "filepicker", "id": "f", "key": "scans", "label": "Scans"}
FORM = {"id": "claim-form", "schemaVersion": 19, "components": [NOTE, SCANS]}
"""A browser submits a form with one field of text when somebody presses Enter."""
PAGE = b"<script>alert(1)</script>"
LANDSCAPE = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" targetNamespace="t"><message id="m" name="{message}"/>
  <process id="{name}" isExecutable="true"><startEvent id="s"/>{of}</process></definitions>"""
CALLS = {
    "waits": '<startEvent id="paid"><messageEventDefinition messageRef="m"/></startEvent>',
    "calls": """<sequenceFlow id="f" sourceRef="s" targetRef="c"/>
      <callActivity id="c"><extensionElements><zeebe:calledElement processId="nobody"/></extensionElements>
      </callActivity>      <sequenceFlow id="g" sourceRef="c" targetRef="t"/><endEvent id="t"><extensionElements>
      <zeebe:taskDefinition type="tell"/></extensionElements><messageEventDefinition messageRef="m"/></endEvent>""",
}


@pytest.mark.long
def test_a_file_of_workers_is_found_downloaded_and_deleted(console, api):
    api.deploy("pages/terms.html", PAGE)
    page = console.page
    console.open("/resources")
    console.check("resources")
    page.get_by_role("searchbox", name="File").or_(page.get_by_label("File", exact=True)).first.fill("terms")
    row = page.get_by_role("row", name="pages/terms.html")
    expect(row).to_contain_text("v1")
    with page.expect_download() as started:
        row.get_by_role("link", name="pages/terms.html").click()
    assert (started.value.suggested_filename, started.value.path().read_bytes()) == ("terms.html", PAGE)
    row.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("New jobs and tasks will not find pages/terms.html v1 any more.")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No files here.")).to_be_visible()
    assert api.post("/resources/search", {"filter": {"resourceName": "pages/terms.html"}})["items"] == []


@pytest.mark.long
def test_a_form_is_shown_with_data_and_sends_nothing(console, api):
    """Neither by Enter in a field, nor files that somebody chooses."""
    api.deploy("claim.form", json.dumps(FORM).encode())
    page = console.page
    console.open("/resources?state=forms&id=claim-form")
    console.row_to("claim.form")
    console.press("Enter")
    console.settle()
    expect(page.get_by_role("heading", name="claim-form v1")).to_be_visible()
    data = page.get_by_label("Data for the form (JSON)")
    data.fill('{"note": "x"')
    expect(page.get_by_role("alert")).to_be_visible()
    data.fill('{"note": "x", "hidden": 1}')
    expect(page.get_by_label("Note")).to_have_value("x")
    entered = page.locator(".form pre.json")
    expect(entered).to_contain_text('"note": "x"')
    assert "hidden" not in entered.inner_text()
    asked = len(console.urls)
    page.get_by_label("Note").fill("seen")
    expect(entered).to_contain_text('"note": "seen"')
    page.locator("input[type=file]").set_input_files([{"name": "a.txt", "mimeType": "text/plain", "buffer": b"1"}])
    page.get_by_label("Note").press("Enter")
    expect(entered).to_contain_text("a.txt")
    assert [url for url in console.urls[asked:] if re.search("/v2/(?!.*changes)", url)] == []
    expect(page.get_by_role("button", name="Complete")).to_have_count(0)
    console.check("form-preview")


@pytest.mark.long
def test_two_versions_are_compared_in_one_diagram(console, api):
    """Names and details are texts. Removed elements are outlined where they were."""
    old = (
        ORDER.read_text()
        .replace('id="order"', 'id="compared"')
        .replace('bpmnElement="order"', 'bpmnElement="compared"')
    )
    new = old.replace("send-confirmation", "tell-customer").replace('retries="2"', 'retries="5"')
    new = new.replace('name="Check the stock"', f'name="{escape(ATTACK)}"')
    for text in (old, new):
        api.deploy("compared.bpmn", text.encode())
    api.start("compared", "CMP-1", items=[])
    page = console.page
    console.open("/processes/compared")
    console.more()
    page.get_by_role("link", name="Versions", exact=True).click()
    rows = page.get_by_role("row")
    expect(rows.nth(1)).to_contain_text(re.compile(r"v2.*anonymous.*1"))
    expect(rows.nth(2)).to_contain_text(re.compile(r"v1.*anonymous.*0"))
    console.check("versions")
    page.get_by_role("link", name="since v1").click()
    console.settle()
    changes = page.locator("ul.differences > li")
    expect(page.get_by_text("added: 1 · removed: 1 · changed: 4")).to_be_visible()
    expect(changes.filter(has_text=ATTACK).locator("del, ins")).to_have_text(["Check the stock", ATTACK])
    expect(changes.filter(has_text="Charge the card")).to_contain_text(re.compile("taskDefinition retries.*2.*5", re.S))
    expect(page.get_by_label("Send a confirmation, service task, added")).to_be_visible()
    expect(page.locator("text.ghost")).to_have_text("− Send a confirmation")
    console.check("comparison")
    page.get_by_role("combobox", name="To").select_option(label="v1")
    expect(page.get_by_text("Both versions are the same")).to_be_visible()


@pytest.mark.long
def test_the_landscape_shows_who_calls_whom(console, api):
    """Also a process that nobody deployed, and a message between two processes, whose name is a text."""
    page = console.page
    for name, of in CALLS.items():
        api.deploy(f"{name}.bpmn", LANDSCAPE.format(name=name, of=of, message=escape(ATTACK)).encode())
    console.open("/landscape?process=waits")
    graph = page.get_by_role("region", name="Who calls whom")
    expect(graph.get_by_role("link")).to_have_text(["Process waits", f"Message {ATTACK}", "Process calls"])
    console.check("landscape")
    page.get_by_role("combobox", name="Process").select_option("calls")
    expect(graph).to_contain_text("nobody (not deployed)")
    graph.get_by_role("link", name="Process waits").click()
    expect(page).to_have_url(f"{console.address}/console/processes/waits")
