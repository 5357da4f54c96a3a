"""Stories by keyboard alone: mend an incident and watch it go on, work a task, deploy a file and start it.

`test_many_instances.py` tells some of them again among 100,000 instances.
"""

import json
import re
from base64 import b64decode

import pytest
from playwright.sync_api import expect

from tests.console.conftest import CLAIM, MODELS, ORDER

pytestmark = pytest.mark.process

COVER = """
    const cover = document.createElement('p');
    cover.style = 'position: fixed; inset: 0';
    document.getElementById('main').append(cover);
"""


def test_an_incident_is_mended_and_goes_on_live(console, api, stuck):
    key = stuck("ORD-1")
    console.open("/")
    console.press("g", "e")
    expect(console.page.get_by_role("heading", name="Incidents")).to_be_visible()
    console.page.get_by_text("the card has expired").wait_for()
    console.row_to(key)
    console.press("Enter")
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
    expect(console.page.get_by_role("list", name="Events").get_by_text("Order fulfilled").first).to_be_visible()
    assert any(f"/{key}/events?after=" in url for url in console.urls), "it asks for what it knows"


@pytest.mark.long
def test_a_traceback_keeps_its_lines(console, api):
    """The first line stands out. The whole can be copied."""
    key = api.start("order", "ORD-LINES", items=[{"sku": "rose", "price": 12, "quantity": 2}])
    text = 'ValueError: no such card\nTraceback (most recent call last):\n  File "pay.py", line 3'
    api.fail("check-stock", text, key)
    console.open(f"/instances/{key}")
    message = console.page.locator(".incident .message").first
    expect(message.locator("b")).to_have_text("ValueError: no such card")
    assert message.locator("pre").inner_text() == text.split("\n", 1)[1]
    expect(message.get_by_role("button", name=re.compile("Copy"))).to_be_visible()
    assert console.violations() == []


@pytest.mark.long
def test_the_past_of_an_instance(console, stuck):
    key = stuck("ORD-2")
    console.open(f"/instances/{key}")
    console.page.get_by_role("list", name="Events").get_by_text("incident", exact=True).wait_for()
    for _ in range(6):
        console.press("[")
    expect(console.page.get_by_text("You see the past")).to_be_visible()
    expect(console.page).to_have_url(re.compile("at="))
    expect(console.page.get_by_role("button", name="Retry …")).to_have_count(0)
    console.tab_to("Back to live")
    console.press("Enter")
    expect(console.page.get_by_role("button", name="Retry …").first).to_be_visible()


@pytest.mark.long
def test_a_diagram_is_walked_with_arrows(console, stuck):
    console.open(f"/instances/{stuck('ORD-3')}")
    console.tab_to("Order placed, start event")
    console.press("ArrowRight", "ArrowRight")
    expect(console.page.locator(":focus")).to_have_attribute("aria-label", re.compile(r"^In stock\?"))
    console.press("ArrowLeft", "Enter")
    expect(console.page.get_by_role("heading", name="Check the stock")).to_be_visible()
    expect(console.page).to_have_url(re.compile("element=check-stock"))


def test_a_task_is_claimed_and_completed_with_json(console, api):
    key = api.start("claim-review", "CLM-1", claim="CLM-1")
    console.open("/")
    console.press("g", "t")
    console.page.get_by_role("search").wait_for()
    console.press("/")
    console.page.keyboard.type("CLM-1")
    console.press("Enter")
    expect(console.page.get_by_role("link", name="Claim review · CLM-1")).to_have_count(1)
    console.tab_to("Claim review · CLM-1")
    console.press("Enter")
    console.tab_to("Claim", exact=True)
    console.press("Enter")
    expect(console.page.get_by_role("button", name="Release")).to_be_visible()
    console.tab_to("Result (JSON, optional)")
    console.page.keyboard.type('{"approved": true}')
    console.tab_to("Complete", exact=True)
    console.press("Enter")
    expect(console.page.get_by_text("No task matches these filters.")).to_be_visible()
    found = api.post("/variables/search", {"filter": {"processInstanceKey": key, "name": "approved"}})["items"]
    assert [variable["value"] for variable in found] == ["true"]


@pytest.mark.long
def test_tasks_are_filtered_ordered_and_told_when_they_are_late(console, api):
    """Each filter is in the URL, and the address shows the same list to somebody else."""
    keys = {}
    for name, changes in {
        "LATE-1": {"dueDate": "2020-02-01T00:00:00Z", "candidateGroups": ["sales"], "priority": 60},
        "LATE-2": {"dueDate": "2020-01-01T00:00:00Z", "candidateGroups": ["support"], "priority": 70},
        "LATE-3": {"dueDate": "2999-01-01T00:00:00Z", "followUpDate": "2020-01-01T00:00:00Z"},
    }.items():
        instance = api.start("claim-review", name, claim=name)
        [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": instance}})["items"]
        api.http.patch(f"/user-tasks/{task['userTaskKey']}", json={"changeset": changes}).raise_for_status()
        keys[name] = task["userTaskKey"]
    page, rows = console.page, console.page.locator("ul a.task")
    console.open("/tasks?q=LATE-")
    expect(rows).to_contain_text(["LATE-2", "LATE-1", "LATE-3"])
    expect(rows.nth(0)).to_contain_text("! Overdue for")
    expect(rows.nth(2)).not_to_contain_text("Overdue")
    page.get_by_role("combobox", name="Order").select_option("Due date")
    expect(rows).to_contain_text(["LATE-2", "LATE-1", "LATE-3"])
    page.get_by_role("button", name="More filters").click()
    console.check("task-filters")
    page.get_by_role("combobox", name="Due", exact=True).select_option("Overdue")
    expect(rows).to_contain_text(["LATE-2", "LATE-1"])
    page.get_by_label("Group", exact=True).fill("sales")
    page.get_by_label("Priority from").fill("55")
    page.get_by_label("Name contains").fill("e")
    page.get_by_label("Variable", exact=True).fill("claim")
    page.get_by_label("equals", exact=True).fill("LATE-1")
    page.get_by_role("combobox", name="Process").select_option("claim-review")
    expect(rows).to_contain_text(["LATE-1"])
    console.open(page.url.partition("/console")[2])
    expect(rows).to_contain_text(["LATE-1"])
    page.get_by_label("equals", exact=True).fill("LATE-2")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No task matches these filters.")).to_be_visible()
    page.get_by_role("link", name="Clear").first.click()
    expect(page.get_by_role("combobox", name="Due", exact=True)).to_have_value("")
    console.open(f"/tasks/{keys['LATE-3']}?q=LATE-&followUp=past")
    expect(rows).to_contain_text(["LATE-3"])
    expect(page.locator("main dl")).to_contain_text("Follow-up")


@pytest.mark.long
def test_comments_and_a_note_stay_with_the_task(console, api):
    """By keyboard: a comment, and a note when the task goes to somebody else. Both are texts, whatever is in them.

    The note is written once, also if its answer is lost or the assignment fails at first.
    """
    key = api.start("claim-review", "SAID-1", claim="SAID-1")
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    page, comments = console.page, console.page.locator("ol.comments > li")
    console.open(f"/tasks/{task['userTaskKey']}")
    console.tab_to("New comment")
    page.keyboard.type("<b>Ask</b> the garage")
    console.tab_to("Comment", exact=True)
    console.press("Enter")
    expect(comments).to_contain_text(["<b>Ask</b> the garage"])
    expect(page.get_by_label("New comment")).to_have_value("")
    console.check("task-comments")
    page.get_by_role("button", name="Assign …").click()
    page.get_by_role("dialog").get_by_label("Assignee").fill("eve")
    page.get_by_role("dialog").get_by_label("Note (a comment on the task)").fill("You know the garage.")
    page.route("**/comments", lambda route: (route.fetch(), route.fulfill(status=503)), times=1)
    page.route("**/assignment", lambda route: route.fulfill(status=503), times=1)
    for _ in range(2):
        page.get_by_role("dialog").get_by_role("button", name="Assign", exact=True).click()
        assert "503" in console.next_error()
    page.get_by_role("dialog").get_by_role("button", name="Assign", exact=True).click()
    expect(page.get_by_text("This task is assigned to eve.")).to_be_visible()
    assert len(api.post(f"/user-tasks/{task['userTaskKey']}/comments/search", {})["items"]) == 2
    expect(comments).to_contain_text(["You know the garage.", "<b>Ask</b> the garage"])


@pytest.mark.long
def test_a_start_form_and_the_form_of_a_task(console, api):
    """By keyboard alone: a process starts by its form, and its task is done by another, whose page has both themes."""
    api.deploy_all(*CLAIM.glob("*.bpmn"), *CLAIM.glob("*.form"))
    console.open("/processes/claim")
    console.tab_to("Start …")
    console.press("Enter")
    expect(console.page.get_by_text("What happened, and what did it cost?")).to_be_visible()
    console.tab_to("Start", exact=True)
    console.press("Enter")
    expect(console.page.get_by_text("Field is required.")).to_have_count(2)
    expect(console.page.get_by_label("Customer")).to_be_focused()
    assert console.violations() == []
    assert console.is_uncovered(".fjs-powered-by-link")
    console.page.keyboard.type("Ada")
    console.tab_to("Amount")
    console.page.keyboard.type("1200")
    console.tab_to("Damage")
    console.page.keyboard.type(damage := "The parcel arrived wet.")
    console.tab_to("Business id")
    console.page.keyboard.type("CLM-2")
    with console.page.expect_request("**/v2/process-instances") as sent:
        console.tab_to("Start", exact=True)
        console.press("Enter")
    assert sent.value.post_data_json["variables"] == {"customer": "Ada", "amount": 1200, "damage": damage}
    expect(console.page.get_by_role("heading", name="CLM-2")).to_be_visible()

    (task,) = api.post("/user-tasks/search", {"filter": {"businessId": "CLM-2"}})["items"]
    console.open(f"/tasks/{task['userTaskKey']}")
    expect(console.page.get_by_text("Ada claims 1200 EUR.")).to_be_visible()
    expect(console.page.get_by_label("Reason")).to_have_count(0)
    console.tab_to("Approve", exact=True, most=300)
    console.press("ArrowDown")
    expect(console.page.get_by_label("Decline")).to_be_checked()
    console.check("form")
    console.tab_to("Reason")
    console.tab_to("Complete", exact=True)
    console.press("Enter")
    expect(console.page.get_by_text("Field is required.")).to_be_visible()
    expect(console.page.get_by_label("Reason")).to_be_focused()
    assert console.is_uncovered(".fjs-powered-by-link")
    console.page.get_by_label("Reason").focus()
    console.page.keyboard.type("too late")
    with console.page.expect_request("**/completion") as sent:
        console.tab_to("Complete", exact=True)
        console.press("Enter")
    assert sent.value.post_data_json == {"variables": {"damage": damage, "decision": "decline", "reason": "too late"}}
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    console.open(f"/tasks/{task['userTaskKey']}")
    expect(console.page.get_by_label("Reason")).to_have_js_property("readOnly", True)
    expect(console.page.get_by_role("button", name="Complete", exact=True)).to_have_count(0)


PIXEL = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAoAAAAKCAYAAACNMs+9AAAAFUlEQVR42mP8z8BQz0AEYBxVSF+FABJADveWkH6oAAAAAElFTkSuQmCC"
)
PAPERS = {"type": "documentPreview", "id": "shown", "label": "Papers", "dataSource": "=papers"}
SCANS = {
    "type": "filepicker",
    "id": "chosen",
    "key": "papers",
    "label": "Scans",
    "multiple": "=true",
    "validate": {"required": True},
}
LETTER = {"type": "filepicker", "id": "chosen", "key": "letter", "label": "Letter"}
FILING = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="filing" isExecutable="true">
    <startEvent id="start"><extensionElements><zeebe:formDefinition formId="scans" /></extensionElements></startEvent>
    <sequenceFlow id="a" sourceRef="start" targetRef="file" />
    <userTask id="file" name="File the papers"><extensionElements>
      <zeebe:userTask /><zeebe:formDefinition formId="papers" /></extensionElements></userTask>
  </process></definitions>"""


def picked(name, content=b"1", type="text/plain"):
    """A file that somebody chooses."""
    return {"name": name, "mimeType": type, "buffer": content}


@pytest.mark.long
def test_files_of_a_form_become_documents_that_the_next_form_shows(console, api):
    """Stored when the form is sent, each once; a refusal stands at the field. What is shown never runs as a page."""
    for id, components in (("scans", [SCANS]), ("papers", [PAPERS, LETTER])):
        api.deploy(f"{id}.form", json.dumps({"id": id, "schemaVersion": 19, "components": components}).encode())
    api.deploy("filing.bpmn", FILING.encode())
    page = console.page
    console.open("/processes/filing")
    console.tab_to("Start …")
    console.press("Enter")
    page.get_by_label("Choose files: Scans").wait_for()
    console.tab_to("Choose files: Scans")
    console.tab_to("Start", exact=True)
    console.press("Enter")
    expect(page.get_by_text("Field is required.")).to_be_visible()
    expect(page.get_by_label("Choose files: Scans")).to_be_focused()
    files = page.locator("input[type=file]")
    files.set_input_files([picked("a.html", b"<script>alert(4)</script>"), picked(f"{'x' * 300}.txt")])
    files.set_input_files([picked("b.png", PIXEL, "image/png"), picked("c.pdf", b"%PDF-", "application/pdf")])
    assert console.violations() == []
    console.expected = "400"  # a name is too long
    page.get_by_role("button", name="Start", exact=True).click()
    refused = page.locator(".files").get_by_role("alert")
    expect(refused).to_contain_text("xxx.txt was not stored. The provided fileName is 304 bytes long")
    expect(page.get_by_label("Choose files: Scans")).to_be_focused()
    page.get_by_label("Remove xxx").focus()
    console.press("Enter")
    expect(page.get_by_label("Choose files: Scans")).to_be_focused()
    with page.expect_request("**/v2/process-instances") as sent:
        page.get_by_role("button", name="Start", exact=True).click()
    papers = sent.value.post_data_json["variables"]["papers"]
    assert [paper["metadata"]["fileName"] for paper in papers] == ["a.html", "b.png", "c.pdf"]
    assert {paper["metadata"]["processDefinitionId"] for paper in papers} == {"filing"}
    assert {paper["camunda.document.type"] for paper in papers} == {"camunda"}
    assert len([url for url in console.urls if url.endswith("/v2/documents")]) == 4
    page.wait_for_url("**/instances/*")
    key = page.url.rpartition("/")[2]

    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    api.http.delete(f"/documents/{papers[2]['documentId']}")
    changed = [*papers, {"documentId": "..", "metadata": {}}]
    api.put(f"/element-instances/{key}/variables", {"variables": {"papers": changed}})
    console.expected = "404"  # the document that is gone
    console.open(f"/tasks/{task['userTaskKey']}")
    shown = page.get_by_role("list", name="Papers")
    expect(shown.get_by_text("The document was deleted, or has expired.")).to_be_visible()
    expect(page.get_by_text("1 values here do not refer to documents.")).to_be_visible()
    assert page.get_by_role("img", name="b.png").evaluate("e => e.decode().then(() => e.naturalWidth)") == 10
    page.get_by_label("Show: a.html").focus()
    console.press("Enter")
    expect(shown.get_by_text("<script>alert(4)</script>")).to_be_visible()
    with page.expect_download() as loaded:
        page.get_by_label("Download: a.html").click()
    assert loaded.value.suggested_filename == "a.html"
    console.check("form-documents")
    for name in ("d.txt", "e.txt"):
        page.locator("input[type=file]").set_input_files(picked(name))
    with page.expect_request("**/completion") as sent:
        page.get_by_role("button", name="Complete", exact=True).click()
    [letter] = sent.value.post_data_json["variables"]["letter"]
    assert letter["metadata"]["fileName"] == "e.txt"
    assert letter["metadata"]["processInstanceKey"] == key
    expect(page.get_by_text("Done at position")).to_be_visible()
    assert api.http.get(f"/documents/{letter['documentId']}").content == b"1"


@pytest.mark.long
def test_a_pdf_is_shown_by_the_viewer_of_the_browser(console, api):
    """The type that the page sets is that of the viewer. Without a viewer one can only download the document."""
    form = {"id": "pdf", "schemaVersion": 19, "components": [PAPERS]}
    api.deploy("pdf.form", json.dumps(form).encode())
    api.deploy("pdf.bpmn", FILING.replace('"filing"', '"pdf"').replace('formId="papers"', 'formId="pdf"').encode())
    file = {"file": ("f.pdf", b"<script>alert(5)</script>", "application/pdf")}
    paper = api.http.post("/documents", files=file).json()
    key = api.start("pdf", "PDF-1", papers=paper)
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    for enabled in ("false", "true"):
        console.page.add_init_script(
            f"Object.defineProperty(navigator, 'pdfViewerEnabled', {{value: {enabled}, configurable: true}})"
        )
        console.open(f"/tasks/{task['userTaskKey']}")
        expect(console.page.get_by_label("Download: f.pdf")).to_be_visible()
        expect(console.page.get_by_label("Show: f.pdf")).to_have_count(int(enabled == "true"))
    console.page.get_by_label("Show: f.pdf").click()
    viewer = console.page.locator("embed[title='f.pdf']")
    expect(viewer).to_have_attribute("type", "application/pdf")
    expect(viewer).to_have_attribute("src", re.compile("^blob:"))


@pytest.mark.long
def test_the_form_of_a_task_of_somebody_else_can_only_be_read(console, api):
    api.deploy_all(*CLAIM.glob("*.bpmn"), *CLAIM.glob("*.form"))
    key = api.start("claim", "CLM-3", customer="Bob", amount=5, damage="a dent")
    task = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"][0]["userTaskKey"]
    api.post(f"/user-tasks/{task}/assignment", {"assignee": "eve"})
    console.open(f"/tasks/{task}")
    expect(console.page.get_by_text("This task is assigned to eve.")).to_be_visible()
    expect(console.page.get_by_label("Damage")).to_have_value("a dent")
    expect(console.page.get_by_role("button", name="Complete", exact=True)).to_have_count(0)
    console.tab_to("Release", exact=True)
    console.press("Enter")
    expect(console.page.get_by_role("button", name="Complete", exact=True)).to_be_visible()


LEDGER = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="ledger" isExecutable="true">
    <startEvent id="start" /><sequenceFlow id="flow" sourceRef="start" targetRef="book" />
    <userTask id="book"><extensionElements>
      <zeebe:userTask /><zeebe:formDefinition formId="ledger" /></extensionElements></userTask>
  </process></definitions>"""


@pytest.mark.long
def test_a_form_keeps_the_digits_of_a_number_that_nobody_changes(console, api):
    """JavaScript has doubles: the form shows another number, and would send it."""
    fields = [{"type": "number", "id": key, "key": key, "label": key.title()} for key in ("account", "amount")]
    api.deploy("ledger.form", json.dumps({"type": "default", "id": "ledger", "components": fields}).encode())
    api.deploy("ledger.bpmn", LEDGER.encode())
    key = api.start("ledger", "LEDGER-1", account=9007199254740993, amount=1)
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    console.open(f"/tasks/{task['userTaskKey']}")
    console.page.get_by_label("Amount").fill("2")
    with console.page.expect_request("**/completion") as sent:
        console.page.get_by_role("button", name="Complete", exact=True).click()
    assert sent.value.post_data_json == {"variables": {"account": 9007199254740993, "amount": 2}}
    expect(console.page.get_by_text("Done at position")).to_be_visible()


@pytest.mark.long
def test_a_file_is_deployed_and_started(console, api):
    console.open("/deploy")
    choose = console.page.get_by_label("Choose files")
    expect(choose).to_be_enabled()  # once the page knows that its user may deploy
    choose.focus()
    expect(choose).to_be_focused()
    with console.page.expect_file_chooser() as chooser:
        console.press("Space")
    model = (MODELS / "claim_review.bpmn").read_bytes().replace(b"claim-review", b"claim.second")
    note = {"name": "note.md", "mimeType": "text/markdown", "buffer": b"Dear reader"}
    chooser.value.set_files([{"name": "second.bpmn", "mimeType": "application/xml", "buffer": model}, note])
    expect(console.page.get_by_role("heading", name="Deployed")).to_be_visible()
    with console.page.expect_download() as download:
        console.page.get_by_role("link", name="note.md").click()
    assert (download.value.suggested_filename, download.value.path().read_bytes()) == ("note.md", b"Dear reader")
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


@pytest.mark.long
def test_files_are_dropped_on_any_page_and_started_by_a_form(console, api):
    """A process and its forms, all in one deployment; the rest by keyboard alone."""
    console.open("/")
    release = console.hold(*sorted(CLAIM.glob("*.bpmn")), *sorted(CLAIM.glob("*.form")))
    expect(console.page.get_by_text("Drop to deploy")).to_be_visible()
    assert console.violations() == []
    console.page.evaluate(COVER)  # as rows do that come meanwhile: now `dragenter` asks, and not `dragover`
    release()
    expect(console.page.get_by_text("Drop to deploy")).to_have_count(0)
    expect(console.page.get_by_role("heading", name="Deployed")).to_be_visible()
    expect(console.page.locator(".done li")).to_have_count(len([*CLAIM.glob("*.bpmn"), *CLAIM.glob("*.form")]))
    assert len([url for url in console.urls if url.endswith("/v2/deployments")]) == 1
    console.tab_to("claim", exact=True)
    console.press("Enter")
    console.settle()
    console.tab_to("Start …")
    console.press("Enter")
    expect(console.page.get_by_text("What happened, and what did it cost?")).to_be_visible()
    for label, text in (("Customer", "Grace"), ("Amount", "7"), ("Damage", "a scratch"), ("Business id", "CLM-DROP")):
        console.tab_to(label)
        console.page.keyboard.type(text)
    console.tab_to("Start", exact=True)
    console.press("Enter")
    expect(console.page.get_by_role("heading", name="CLM-DROP")).to_be_visible()


@pytest.mark.long
def test_a_file_is_dropped_on_the_page_of_deployments(console, tmp_path):
    """A second file after one with problems; and nothing is dropped behind a dialog."""
    broken, sound = tmp_path / "broken.bpmn", tmp_path / "sound.bpmn"
    model = (MODELS / "claim_review.bpmn").read_bytes().replace(b"claim-review", b"dropped")
    sound.write_bytes(model)
    broken.write_bytes(ORDER.read_bytes().replace(b"=inStock", b"=inStock +"))
    console.open("/deploy")
    console.hold(broken)()
    expect(console.page.get_by_text("Nothing was deployed")).to_be_visible()
    assert console.next_error().startswith("Failed to load resource")
    console.hold(sound)()
    expect(console.page.get_by_role("heading", name="Deployed")).to_be_visible()
    expect(console.page.get_by_text("Nothing was deployed")).to_have_count(0)
    console.tab_to("dropped", exact=True)
    console.press("Enter", "?")
    expect(console.page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    release = console.hold(sound)
    expect(console.page.get_by_text("Drop to deploy")).to_have_count(0)
    release()
    assert "/processes/dropped" in console.page.url
    assert len([url for url in console.urls if url.endswith("/v2/deployments")]) == 2


@pytest.mark.long
def test_problems_of_a_file_are_listed_and_drawn(console):
    console.open("/deploy")
    broken = ORDER.read_bytes().replace(b"=inStock", b"=inStock +")
    file = {"name": "order.bpmn", "mimeType": "application/xml", "buffer": broken}
    console.page.get_by_label("Choose files").set_input_files(files=[file])
    expect(console.page.get_by_text("expected an expression but found end of input")).to_be_visible()
    expect(console.page.get_by_text("Nothing was deployed. Problems: 1")).to_be_visible()
    console.settle()
    assert console.next_error().startswith("Failed to load resource")
    drawn = ".is-incident, .is-incident-around, [data-element-id=in-stock-yes].is-incident"
    expect(console.page.locator(drawn)).to_have_count(1)
