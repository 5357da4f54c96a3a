"""Figures over time of a process: what happened by day, how many run, how long versions take, and the oldest."""

from datetime import datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

pytestmark = pytest.mark.process

PROMISED = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="test"
    xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <process id="promise" isExecutable="true">
    <extensionElements><zeebe:properties><zeebe:property name="vivero.due" value="= promised"/></zeebe:properties>
    </extensionElements>
    <startEvent id="start"/>
    <userTask id="keep"><extensionElements><zeebe:userTask/>
      <zeebe:properties><zeebe:property name="vivero.due" value="= promised"/></zeebe:properties>
    </extensionElements></userTask>
    <sequenceFlow id="flow" sourceRef="start" targetRef="keep"/>
  </process>
</definitions>"""


@pytest.mark.long
def test_the_page_of_a_process_leads_to_its_figures(console, api):
    """The counts of an instance are there at once. All of it is in a table, too, and the choice of days in the URL."""
    page = console.page
    key = api.start("claim-review", "FIGURES-1", claim="C")
    api.post(f"/process-instances/{key}/cancellation", {})
    console.open("/processes/claim-review")
    console.more()
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


@pytest.mark.parametrize(
    "now", ["2026-10-25T22:30:00Z", "2026-11-28T22:30:00Z", "2026-03-29T00:10:00Z"], ids=["long", "after", "short"]
)
def test_the_days_end_with_today_where_clocks_change(timed, now):
    """Days of 24 hours that began 62 midnights ago would end an hour early in autumn, without the newest instances."""
    timed.page.clock.set_fixed_time(now)
    with timed.page.expect_request("**/statistics/by-day?*") as asked:
        timed.open("/figures?days=62")
    begins = datetime.fromisoformat(parse_qs(urlsplit(asked.value.url).query)["startTime"][0])
    left = begins + timedelta(days=62) - datetime.fromisoformat(now)
    assert timedelta(0) < left <= timedelta(days=1), begins


@pytest.mark.long
def test_late_instances_are_marked_counted_and_listed(console, api):
    page = console.page
    api.deploy("promise.bpmn", PROMISED.encode())
    late = api.start("promise", "LATE-1", promised="2000-01-01T00:00:00Z")
    api.start("promise", "LATE-2", promised="P1D")
    console.open("/processes/promise")
    details = page.get_by_role("complementary", name="Details")
    expect(details.locator("dt", has_text="Late").locator("+ dd")).to_have_text("1")
    details.locator("dt", has_text="Late").locator("+ dd").get_by_role("link").click()
    expect(page.get_by_role("radio", name="Late")).to_be_checked()
    rows = page.get_by_role("table", name="Instances").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("! Late by")
    expect(rows).to_have_count(2)
    console.check("late")
    console.open("/instances?state=all&process=promise")
    expect(rows).to_have_count(3)
    assert rows.filter(has_text="LATE-2").get_by_text("Late by").count() == 0
    console.open(f"/instances/{late}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("! Late by")
    console.open("/tasks?view=all&process=promise")
    expect(page.get_by_text("! Overdue for").first).to_be_visible()
