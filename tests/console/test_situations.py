"""Situations: the server goes away, the stream of hints ends or is refused, two people edit one thing, empty lists."""

import csv
import io
import json
import re
from datetime import datetime
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import psycopg
import pytest
from playwright.sync_api import expect

from tests.eventually import eventually_sync

pytestmark = [pytest.mark.process, pytest.mark.long]

NOTHING = {"items": [], "page": {"totalItems": 0, "hasMoreTotalItems": False, "startCursor": None, "endCursor": None}}
LISTS = {
    "/": "Home",
    "/processes": "Processes",
    "/instances": "Instances",
    "/incidents": "Incidents",
    "/tasks": "Tasks",
    "/messages": "Messages",
    "/jobs": "Jobs",
    "/timers": "Timers",
}


def test_a_server_that_is_away_is_told_and_comes_back(timed, api):
    timed.open("/instances?state=all")
    timed.expected = "ERR_FAILED"
    timed.page.route(re.compile("/v2/|/console/live"), lambda route: route.abort())
    timed.page.get_by_text("Completed", exact=True).click()
    expect(timed.page.locator(".banner")).to_have_text(re.compile("The server cannot be reached"))
    timed.page.clock.run_for(2000)
    expect(timed.page.locator(".banner")).to_be_visible()
    api.start("order", "ORD-AWAY")
    timed.page.get_by_text("All", exact=True).click()
    timed.page.unroute(re.compile("/v2/|/console/live"))
    timed.page.clock.run_for(15_000)
    expect(timed.page.get_by_text("ORD-AWAY")).to_be_visible()
    expect(timed.page.locator(".banner")).to_have_count(0)
    assert timed.errors == []


def test_a_refused_stream_makes_the_page_poll(timed, api):
    timed.expected = "503"
    timed.page.route("**/console/live*", lambda route: route.fulfill(status=503, body="too many"))
    timed.open("/instances?state=all")
    expect(timed.page.get_by_role("button", name="Live", exact=True)).to_have_attribute(
        "title", "The page refreshes every five seconds"
    )
    api.start("order", "ORD-POLLED")
    timed.page.clock.run_for(7000)
    expect(timed.page.get_by_text("ORD-POLLED")).to_be_visible()
    assert timed.errors == []


def test_after_bye_the_page_polls_and_then_has_a_stream_again(timed, api):
    bye = {"status": 200, "content_type": "text/event-stream", "body": "event: bye\ndata: {}\n\n"}
    timed.page.route("**/console/live*", lambda route: route.fulfill(**bye))
    timed.open("/instances?state=all")
    live = timed.page.get_by_role("button", name="Live", exact=True)
    timed.page.clock.run_for(100)
    expect(live).to_have_attribute("title", "The page refreshes every five seconds")
    timed.page.unroute("**/console/live*")
    timed.page.clock.run_for(7000)
    expect(live).to_have_attribute("title", "The page follows the server")


def test_a_change_before_a_stream_begins_is_seen(console, api):
    """Also when the topics change, and the page opens another stream. Nothing is polled here."""
    console.page.add_init_script("window.setInterval = () => 0")
    held, holds = [], True
    console.page.route("**/console/live*", lambda route: held.append(route) if holds else route.continue_())
    early, between = ("/instances?state=all", "order", "ORD-EARLY"), ("/tasks", "claim-review", "CLM-BETWEEN")
    for show, (path, process, business_id) in ((console.open, early), (console.go, between)):
        holds = True
        show(path)
        eventually_sync(lambda: held or console.page.evaluate("undefined"))
        api.start(process, business_id, claim=business_id)
        holds = False
        while held:
            held.pop().continue_()
        expect(console.page.get_by_text(business_id)).to_be_visible()


def test_two_people_edit_one_variable(console, api):
    key = api.start("claim-review", "CLM-BOTH", claim="CLM-BOTH", amount=1)
    console.open(f"/instances/{key}")
    aside = console.page.get_by_role("complementary", name="Details")
    console.tab_to("Edit", most=300)
    console.press("Enter")
    editor = aside.get_by_label("Value of amount")
    expect(editor).to_have_value("1")
    send = aside.get_by_role("button", name="Set variables")
    expect(send).to_be_disabled()
    editor.fill("2,5")
    expect(aside.get_by_role("alert")).to_have_text("This is not a JSON number.")
    editor.fill("2")
    expect(aside.get_by_role("table", name="Changes").get_by_role("row")).to_have_text("amount12")
    api.put(f"/element-instances/{key}/variables", {"variables": {"amount": 3}})
    send.click()
    conflict = aside.get_by_role("alert")
    expect(conflict.get_by_role("row", name="amount 1 3 2")).to_be_visible()
    assert value_of(api, key, "amount") == 3
    assert console.violations() == []
    with console.page.expect_request("**/variables") as sent:
        console.page.get_by_role("button", name="Overwrite").click()
    assert re.fullmatch('"[0-9]+"', sent.value.headers["if-match"])
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    assert value_of(api, key, "amount") == 2


def test_numbers_of_many_digits_are_no_conflict(console, api):
    """They are compared with all their digits, and others beside them by their values."""
    numbers = '{"big": 9007199254740993, "whole": 100.0}'
    key = api.start("claim-review", "CLM-DIGITS", claim="CLM-DIGITS", numbers=json.loads(numbers), amount=1)
    console.open(f"/instances/{key}")
    aside = console.page.get_by_role("complementary", name="Details")
    aside.get_by_role("row", name=re.compile("^numbers")).get_by_role("button", name="Edit").click()
    editor = aside.get_by_label("Value of numbers")
    editor.fill(editor.input_value().replace("big", "bigger"))
    aside.get_by_role("button", name="Set variables").click()
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    assert value_of(api, key, "numbers") == {"bigger": 9007199254740993, "whole": 100}


def test_another_change_of_the_instance_is_no_conflict(console, api):
    """The version of the instance has changed between the check and the command (412): it is checked again."""
    key = api.start("claim-review", "CLM-412", claim="CLM-412", amount=1)
    sent = []

    def meanwhile(route):
        sent.append(route.request.headers["if-match"])
        if len(sent) == 1:
            api.put(f"/element-instances/{key}/variables", {"variables": {"other": 5}})
        route.continue_()

    console.page.route("**/element-instances/*/variables", meanwhile)
    console.open(f"/instances/{key}")
    console.page.get_by_role("button", name="Set variables …").click()
    dialog = console.page.get_by_role("dialog")
    editor = dialog.get_by_label("Variables (JSON)")
    expect(editor).to_have_value('{\n  "amount": 1,\n  "claim": "CLM-412"\n}')
    editor.fill('{"amount": 2}')
    expect(dialog.get_by_role("table", name="Changes").get_by_role("row")).to_have_text("amount12")
    assert console.violations() == []
    dialog.get_by_role("button", name="Set variables").click()
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    assert len(sent) == len(set(sent)) == 2
    assert (value_of(api, key, "amount"), value_of(api, key, "other")) == (2, 5)
    assert all("412" in error for error in console.errors)
    console.errors.clear()


def value_of(api, key, name):
    """The value of a variable of an instance."""
    [found] = api.post("/variables/search", {"filter": {"processInstanceKey": key, "name": name}})["items"]
    return json.loads(found["value"])


def test_a_task_that_somebody_else_claimed(console, api):
    key = api.start("claim-review", "CLM-TAKEN", claim="CLM-TAKEN")
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    path = f"/user-tasks/{task['userTaskKey']}"
    console.page.route("**/console/live*", lambda route: None)  # it never begins, and nobody hears of the change
    console.open(f"/tasks/{task['userTaskKey']}")
    console.page.get_by_role("button", name="Assign …").click()
    console.page.get_by_label("Assignee").fill("grace")
    api.post(f"{path}/assignment", {"assignee": "ada"})
    console.page.get_by_role("dialog").get_by_role("button", name="Assign").click()
    conflict = console.page.get_by_role("dialog").get_by_role("alert")
    expect(conflict.get_by_role("row", name="Assignee – ada grace")).to_be_visible()
    assert api.http.get(path).json()["assignee"] == "ada"
    console.errors.clear()


def test_an_empty_list_says_what_to_do(console):
    """Each has a text, and either a link or a command to go on with, or says that all is well."""
    console.page.route("**/v2/**/search", lambda route: route.fulfill(json=NOTHING))
    console.open("/")
    expect(console.page.get_by_role("heading", name="First steps")).to_be_visible()
    assert console.violations() == []
    for path, name in LISTS.items():
        console.go(path)
        expect(console.page.get_by_role("heading", name=name, exact=True)).to_be_visible()
        empty = console.page.locator(".empty, .home").first
        expect(empty).to_be_visible()
        words = empty.inner_text()
        ways = empty.locator("a, button, pre").count()
        assert ways or "No incidents" in words, path


def test_an_empty_list_of_batches_leads_to_where_batches_are_made(console):
    console.page.route("**/v2/**/search", lambda route: route.fulfill(json=NOTHING))
    console.open("/batches")
    expect(console.page.locator(".empty").get_by_role("link", name="Instances")).to_be_visible()
    expect(console.page.locator(".empty").get_by_role("link")).to_have_count(1)


def test_what_was_deleted_or_never_existed_leads_to_its_list(console, api):
    """The same request would get the same answer, so nobody is told to try again."""
    lists = {"/instances/2251799999999999": "Instances", "/batches/2251799999999999": "Batches"}
    for path, name in (lists | {"/tasks/2251799999999999": "Tasks", "/instances/no-key": "Instances"}).items():
        console.open(path)
        told = console.page.get_by_role("alert")
        expect(told).to_contain_text("It was deleted, or it never existed.")
        expect(told.get_by_role("link", name=name, exact=True)).to_be_visible()
        expect(console.page.get_by_role("button", name="Try again")).to_have_count(0)
        assert console.violations() == []
    assert all(re.search("40[04]", error) for error in console.errors)
    console.errors.clear()


def test_home_has_a_chart_of_the_past_days(console, api):
    """It asks from the beginning of a day of the browser on, and has its figures as a table, too."""
    key = api.start("claim-review", "CHART-1", claim="C")
    api.post(f"/process-instances/{key}/cancellation", {})
    with console.page.expect_request("**/by-day**") as asked:
        console.open("/")
    [start], [days] = parse_qs(urlsplit(asked.value.url).query).values()
    began = datetime.fromisoformat(start).astimezone(ZoneInfo("Europe/Madrid"))
    assert (began.hour, began.minute, days) == (0, 0, "14")
    figure = console.page.get_by_role("figure", name="The past 14 days")
    expect(figure.get_by_role("row")).to_have_count(15)
    today = figure.get_by_role("row").last.get_by_role("cell")
    counted = [int(cell.replace(",", "")) for cell in today.all_inner_texts()]
    assert counted[0] >= counted[1] >= 1
    expect(figure.locator("rect.started")).to_have_count(14)
    assert console.violations() == []


def test_a_part_that_cannot_be_loaded_says_so(console):
    """A server of another version has other files."""
    console.page.route("**/assets/days*.js", lambda route: route.fulfill(status=404))
    console.open("/")
    expect(console.page.get_by_role("alert")).to_have_text(
        "This part of the console cannot be loaded. Load the page again."
    )
    assert all("404" in error for error in console.errors)
    console.errors.clear()


def test_a_list_has_chosen_columns_a_file_and_ticked_rows(console, api):
    """Found by a part of the business id. No cell of the file is a formula, and the batch has the ticked rows only."""
    claims = ["=1+1", 'a "b", c', "-5", "x;@y\n-z"]
    keys = [api.start("claim-review", f"TICK-{n}", claim=claim, amount=-n) for n, claim in enumerate(claims)]
    page = console.page
    console.open("/instances?q=ICK-&sort=startDate")
    expect(page.get_by_role("row")).to_have_count(5)
    console.tab_to("Columns")
    console.press("Enter")
    page.get_by_label("Tags").uncheck()
    for name in ("claim", "amount"):
        page.get_by_label("Variable").fill(name)
        console.press("Enter")
    expect(page.get_by_role("columnheader")).to_have_text(
        ["Instance", "Process", "State", "Started↑", "Duration", "claim", "amount"]
    )
    expect(page.get_by_role("row").nth(2)).to_contain_text('"a \\"b\\", c"-1')
    assert console.violations() == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    page.set_viewport_size({"width": 1280, "height": 800})
    console.tab_to("Columns")
    console.press("Enter")
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    assert saved.value.suggested_filename == "process-instances.csv"
    head, *rows = csv.reader(io.StringIO(saved.value.path().read_text(encoding="utf-8-sig"), newline=""))
    process = ["processDefinitionId", "processDefinitionName", "processDefinitionVersion"]
    assert head[:5] == ["processInstanceKey", "businessId", *process]
    assert head[-3:] == ["claim", "amount", "readAt"]
    assert [row[0] for row in rows] == keys
    assert [row[-3] for row in rows] == ["'=1+1", 'a "b", c', "-5", "x;'@y\n'-z"]
    assert [row[-2] for row in rows] == ["0", "-1", "-2", "-3"]
    for key in keys[:2]:
        page.get_by_label(f"Select {key}").check()
    page.get_by_role("button", name="Cancel all 2 …").click()
    dialog = page.get_by_role("dialog", name="Cancel all 2")
    dialog.get_by_role("button", name="Cancel all 2").click()
    expect(page.get_by_text("2 of 2")).to_be_visible()
    found = api.post("/process-instances/search", {"filter": {"processInstanceKey": {"$in": keys}, "state": "ACTIVE"}})
    assert sorted(one["processInstanceKey"] for one in found["items"]) == keys[2:]


def test_background_jobs_are_run_retried_paused_and_deleted(console, api, dsn):
    """A failed execution tells its whole traceback; what is in it is text."""
    trace = "Traceback (most recent call last):\n  File 'invoices.py', line 7\nValueError: <img src=x onerror=alert(1)>"
    page = console.page
    console.open("/background-jobs")
    expect(page.get_by_text("No job types are known.")).to_be_visible()
    body = {"type": "send-invoice", "payload": {"order": "<b>7</b>"}, "allowUnknownType": True}
    body["executeAt"] = "2999-01-01T00:00:00Z"
    one, _ = (api.http.post(f"{console.address}/background-jobs", json=body).json()["id"] for _ in range(2))
    with psycopg.connect(dsn, autocommit=True) as database:
        failed = (
            "UPDATE job_executions SET state = 'failed', attempt_index = 5, error = %s, failed_at = now() WHERE id = %s"
        )
        database.execute(failed, [trace, one])
    console.open("/background-jobs")
    types = page.get_by_role("table", name="Types")
    expect(types).to_contain_text("send-invoice")
    expect(types).not_to_contain_text("vivero.")
    page.get_by_role("link", name="Chores of the program").click()
    expect(types).to_contain_text("vivero.expired-messages")
    console.check("background-jobs")
    page.get_by_role("link", name="Jobs of users").click()
    types.get_by_role("row", name="send-invoice").get_by_role("link", name="send-invoice").click()
    rows = page.get_by_role("table", name="Executions").locator("tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_text("Failed", exact=True).last.click()
    failed_row = page.get_by_role("row", name="ValueError")
    expect(failed_row).to_contain_text("5")
    failed_row.get_by_role("button", name="send-invoice …").click()
    expect(page.get_by_role("dialog")).to_contain_text(trace.splitlines()[1])
    expect(page.get_by_role("dialog")).to_contain_text("<b>7</b>")
    console.press("Escape")
    failed_row.get_by_role("button", name="Retry").click()
    expect(page.get_by_text("No executions here.")).to_be_visible()
    types.get_by_role("button", name="Pause: send-invoice").click()
    expect(types.get_by_role("button", name="Resume: send-invoice")).to_be_visible()
    console.go("/background-jobs?type=send-invoice&state=pending")
    expect(rows).to_have_count(2)
    rows.first.get_by_role("button", name="Delete …").focus()
    console.press("Enter")
    page.get_by_role("dialog").get_by_role("button", name="Delete", exact=True).focus()
    console.press("Enter")
    expect(rows).to_have_count(1)
    expect(rows.get_by_role("button").first).to_be_focused()  # the next row has the focus of the one that is gone
