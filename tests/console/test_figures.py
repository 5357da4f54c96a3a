"""Figures over time of a process: what happened by day, how many run, how long versions take, and the oldest."""

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.process


def test_the_page_of_a_process_leads_to_its_figures(console, api):
    """The counts of an instance are there at once. All of it is in a table, too, and the choice of days in the URL."""
    page = console.page
    key = api.start("claim-review", "FIGURES-1", claim="C")
    api.post(f"/process-instances/{key}/cancellation", {})
    console.open("/processes/claim-review")
    page.get_by_role("link", name="Figures", exact=True).last.click()
    figure = page.get_by_role("figure", name="The past 14 days")
    expect(figure.get_by_role("row")).to_have_count(15)
    started, ended, _incidents, running = figure.get_by_role("row").last.get_by_role("cell").all_inner_texts()
    assert int(started) >= int(ended) >= 1
    assert int(running) >= 0
    expect(page.get_by_role("heading", name="Cycle time by version")).to_be_visible()
    expect(page.get_by_role("heading", name="The longest-running instances")).to_be_visible()
    page.get_by_label("Days").select_option("62")
    expect(page.get_by_role("figure", name="The past 62 days").get_by_role("row")).to_have_count(63)
    assert "days=62" in page.url
    console.check("figures")
