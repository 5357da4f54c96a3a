"""Alert rules, by keyboard: a rule is created, tested, muted and deleted. Its name is a text."""

import pytest
from playwright.sync_api import expect

from tests.console.test_hostile_texts import ATTACK

pytestmark = pytest.mark.process


@pytest.mark.long
def test_a_rule_is_created_tested_muted_and_deleted(console, api):
    page = console.page
    console.open("/alert-rules")
    expect(page.get_by_text("No alert rules here.")).to_be_visible()
    page.get_by_role("button", name="Create an alert rule").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(ATTACK)
    dialog.get_by_label("Figure").select_option("OLDEST_SECONDS")
    dialog.get_by_label("Alert above").fill("900000")
    dialog.get_by_role("textbox", name="URL").fill("https://example.invalid/hook")
    dialog.get_by_label("Send to the outbox").check()
    console.press("Enter")
    row = page.get_by_role("row").filter(has_text=ATTACK)
    expect(row).to_contain_text("900,000")
    expect(row).to_contain_text("OK")
    [rule] = api.post("/alert-rules/search", {})["items"]
    assert (rule["name"], rule["metric"], rule["threshold"]) == (ATTACK, "OLDEST_SECONDS", 900_000)
    assert (rule["url"], rule["toOutbox"]) == ("https://example.invalid/hook", True)
    console.check("alert-rules")
    row.get_by_role("button", name="Test").click()
    expect(row).to_contain_text("TEST")
    row.get_by_role("button", name="Mute for 1 hour").click()
    expect(row).to_contain_text("Muted until")
    row.get_by_role("button", name="Unmute").click()
    expect(row).not_to_contain_text("Muted until")
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No alert rules here.")).to_be_visible()
    assert api.post("/alert-rules/search", {})["items"] == []
