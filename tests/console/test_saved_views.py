"""Saved views of lists, by keyboard: a view is saved, opened, replaced, shared and deleted. Its name is a text."""

import pytest
from playwright.sync_api import expect

from tests.console.test_hostile_texts import ATTACK

pytestmark = pytest.mark.process


def test_a_view_is_saved_opened_replaced_shared_and_deleted(console, api):
    page = console.page
    console.open("/tasks?view=unassigned&sort=newest")
    console.tab_to("Views")
    console.press("Enter")
    expect(page.get_by_text("No view is saved yet.")).to_be_visible()
    console.tab_to("Name of the view")
    page.keyboard.type(ATTACK)
    console.tab_to("Save view")
    console.press("Enter")
    view = page.get_by_role("link", name=ATTACK)
    expect(view).to_have_attribute("aria-current", "true")
    console.check("saved-views")
    [found] = api.post("/saved-views/search", {})["items"]
    assert (found["name"], found["query"], found["isShared"]) == (ATTACK, "view=unassigned&sort=newest", False)
    console.go("/tasks?q=other")
    expect(view).not_to_have_attribute("aria-current", "true")
    view.click()
    expect(page).to_have_url(f"{console.address}/console/tasks?view=unassigned&sort=newest")
    page.get_by_label("Name of the view").fill(ATTACK)
    page.get_by_label("Share with all who see this list").check()
    page.get_by_role("button", name="Replace view").click()
    expect(page.get_by_text("shared", exact=True)).to_be_visible()
    console.open("/instances?state=all")
    page.get_by_text("Views", exact=True).click()
    expect(page.get_by_text("No view is saved yet.")).to_be_visible()
    console.open("/tasks")
    page.get_by_text("Views", exact=True).click()
    page.get_by_role("button", name=f"Delete the view “{ATTACK}”").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("Others see it, too, and lose it.")).to_be_visible()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No view is saved yet.")).to_be_visible()
    assert api.post("/saved-views/search", {})["items"] == []
