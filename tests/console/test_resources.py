"""Deployed files in a browser: those of workers are downloaded, and forms are shown with data that somebody types."""

import json
import re

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.process

NOTE = {"type": "textfield", "id": "n", "key": "note", "label": "Note"}
SCANS = {"type": "filepicker", "id": "f", "key": "scans", "label": "Scans"}
FORM = {"id": "claim-form", "schemaVersion": 19, "components": [NOTE, SCANS]}
"""A browser submits a form with one field of text when somebody presses Enter."""
PAGE = b"<script>alert(1)</script>"


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
    expect(page.get_by_text("pages/terms.html v1 is not found by new jobs and tasks from now on.")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No file here.")).to_be_visible()
    assert api.post("/resources/search", {"filter": {"resourceName": "pages/terms.html"}})["items"] == []


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
