"""Ad-hoc sub-processes, task listeners and compensation for people: what can be done, what waits, and why."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.conftest import MODELS
from tests.console.test_decisions import (
    test_a_decision_instance_shows_values_and_the_rule_that_matched as test_a_decision_instance,
)
from tests.console.test_decisions import (
    test_the_page_of_a_decision_has_its_graph_its_table_and_its_versions as test_a_decision,
)
from tests.core.compensation_models import INSIDE, T, done, in_line
from tests.core.event_models import ad_hoc, loop, model, script
from tests.core.models import end, start, sub, task

__all__ = ["test_a_decision", "test_a_decision_instance"]

pytestmark = [pytest.mark.process, pytest.mark.long]

TOOLS = ad_hoc("tools", task("ask"), task("write"), until="=false", name="Tools")


@pytest.fixture(scope="module")
def tools(api):
    api.deploy("tools.bpmn", model(start(), TOOLS, end(), "start > tools > end", id="tools-process"))
    return lambda: api.start("tools-process", "TOOLS-1")


def test_elements_of_an_ad_hoc_sub_process_are_activated(console, api, tools):
    key = tools()
    console.open(f"/instances/{key}")
    aside = console.page.get_by_role("complementary")
    expect(aside).to_contain_text("In “Tools”, people can activate: Task ask, Task write.")
    aside.get_by_role("button", name="Activate …").click()
    dialog = console.page.get_by_role("dialog", name="Activate in “Tools”")
    expect(dialog.get_by_role("alert")).to_have_text("Choose at least one element.")
    expect(dialog.get_by_role("button", name="Activate")).to_be_disabled()
    dialog.get_by_label("Task ask").check()
    dialog.get_by_label("Task write").check()
    dialog.get_by_label("Variables for each").fill('{"to": "Ada"}')
    dialog.locator("summary").click()
    [scope] = api.post("/element-instances/search", {"filter": {"processInstanceKey": key, "elementId": "tools"}})[
        "items"
    ]
    told = f"""vivero activate {scope["elementInstanceKey"]} ask write --variables '{{"to":"Ada"}}'"""
    expect(dialog).to_contain_text(told)
    assert console.violations() == []
    with console.page.expect_request("**/activation") as sent:
        dialog.get_by_role("button", name="Activate").click()
    element = {"variables": {"to": "Ada"}}
    assert sent.value.post_data_json == {
        "elements": [{"elementId": "ask"} | element, {"elementId": "write"} | element],
        "cancelRemainingInstances": False,
    }
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    console.open(f"/instances/{key}?element=tools")
    expect(aside.get_by_role("heading", name="Activations: 2")).to_be_visible()
    expect(aside).to_contain_text("Task ask")
    expect(console.page.get_by_role("list", name="Events")).to_contain_text("Activation in Tools")
    assert console.violations() == []


def test_an_element_in_an_ad_hoc_sub_process_is_activated_instead_of_what_runs(console, api, tools):
    key = tools()
    console.open(f"/instances/{key}?element=write")
    aside = console.page.get_by_role("complementary")
    expect(aside).to_contain_text("Can be activated in “Tools”.")
    dialog = console.page.get_by_role("dialog")
    for _ in range(2):
        aside.get_by_role("button", name="Activate …").click()
        expect(dialog.get_by_label("Task write")).to_be_checked()
        dialog.get_by_label("First end everything").check()
        dialog.get_by_role("button", name="Activate").click()
        expect(dialog).to_have_count(0)
    found = api.post("/jobs/search", {"filter": {"processInstanceKey": key}})["items"]
    assert sorted(job["state"] for job in found) == ["CANCELED", "CREATED"]


def test_the_answer_to_an_activation_that_is_not_possible_can_be_read(console, api, tools):
    key = tools()
    console.open(f"/instances/{key}?element=tools")
    console.page.get_by_role("complementary").get_by_role("button", name="Activate …").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_label("Task ask").check()
    api.post(f"/process-instances/{key}/cancellation", {})
    console.expected = "404"
    dialog.get_by_role("button", name="Activate").click()
    expect(console.page.get_by_text("no ad-hoc sub-process instance found")).to_be_visible()


@pytest.fixture
def approval(api):
    """A task that waits for its first assignment, and the key of its instance."""
    api.deploy("task_listeners.bpmn", (MODELS / "task_listeners.bpmn").read_bytes())
    return api.start("approval", "APP-1")


def decide(api, type, **result):
    api.post(f"/jobs/{api.job(type)}/completion", {"result": {"type": "userTask", **result}})


def test_a_task_says_which_listener_it_waits_for_and_what_listeners_decided(console, api, approval):
    console.open(f"/instances/{approval}?element=approve")
    aside = console.page.get_by_role("complementary")
    expect(aside.get_by_role("note")).to_contain_text("The change (creating) has been waiting for the task listener")
    expect(aside.get_by_role("note")).to_contain_text("“prepare” for")
    expect(aside.get_by_role("note")).to_contain_text("Retries left: 3")
    assert console.violations() == []
    decide(api, "prepare", corrections={"priority": 70, "candidateUsers": ["bob", "eve"]})
    expect(aside.get_by_role("note")).to_contain_text("(assigning)")
    decide(api, "check-assignee", denied=True, deniedReason="ada is on holiday")
    events = console.page.get_by_role("list", name="Events")
    corrected = events.get_by_role("listitem").filter(has_text="listener corrected")
    expect(corrected).to_contain_text("Approve · prepare · Users: bob, eve · priority: 70")
    denied = events.get_by_role("listitem").filter(has_text="listener denied")
    expect(denied).to_contain_text("Approve · check-assignee · ada is on holiday")
    expect(aside.get_by_role("note")).to_have_count(0)
    expect(aside).to_contain_text("ada is on holiday")


def test_a_listener_without_retries_leads_to_its_incident(console, api, approval):
    api.fail("prepare", "the directory does not answer")
    [found] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": approval}})["items"]
    console.open(f"/tasks/{found['userTaskKey']}")
    note = console.page.get_by_role("note")
    expect(note).to_contain_text("the directory does not answer")
    assert console.violations() == []
    note.get_by_role("link", name="No retries left: resolve the incident").click()
    expect(console.page).to_have_url(re.compile(f"/instances/{approval}.element=approve"))
    expect(console.page.get_by_role("button", name="Retry …").first).to_be_visible()


def test_what_a_compensation_would_undo_and_what_it_has_undone(console, api):
    booking = in_line(done("book"), INSIDE, task("hold"), T, id="booking")
    api.deploy("booking.bpmn", booking)
    key = api.start("booking", "TRIP-1")
    for job in ("book", "b", "c"):
        api.complete(job)
    aside = console.page.get_by_role("complementary")
    for selected in ("", "?element=t"):
        console.open(f"/instances/{key}{selected}")
        expect(aside.get_by_role("heading", name="Compensation")).to_be_visible()
        expect(aside.locator("ol li")).to_have_text([re.compile("^in *2 inside"), "Task book ← Task ubook"])
        aside.locator("summary", has_text="2 inside").click()
        inside = aside.get_by_role("listitem").filter(has_text="inside").get_by_role("listitem")
        expect(inside).to_have_text(["Task c ← Task uc", "Task b ← Task ub"])
        assert console.violations() == []
    api.complete("hold")
    api.complete("uc")
    expect(aside.get_by_role("list").first.get_by_role("listitem")).to_have_text(
        [re.compile("Completed.*Task c ← Task uc"), re.compile("Active.*Task b ← Task ub")]
    )
    expect(aside).to_contain_text("Task book ← Task ubook")
    api.complete("ub")
    api.complete("ubook")
    expect(console.page.locator("h1 .state")).to_contain_text("Completed")
    expect(aside.get_by_role("list").first.get_by_role("listitem")).to_have_text(
        [re.compile(f"Completed.*Task {id} ← Task u{id}") for id in ("c", "b", "book")]
    )
    events = console.page.get_by_role("list", name="Events")
    expect(events.get_by_role("listitem").filter(has_text="compensation").first).to_be_visible()


def test_what_can_be_undone_is_shown_page_by_page(console, api):
    again = sub("often", start("i"), done("b"), end("j"), "i > b > j")
    booking = in_line(loop(again, collection="=for i in 1..60 return i"), task("keep"), T, id="often-booking")
    api.deploy("often.bpmn", booking)
    key = api.start("often-booking", "TRIP-60")
    for _ in range(60):
        api.complete("b")
    [body] = api.post(
        "/element-instances/search",
        {"filter": {"processInstanceKey": key, "elementId": "often", "type": "MULTI_INSTANCE_BODY"}},
    )["items"]
    console.open(f"/instances/{key}")
    aside = console.page.get_by_role("complementary")
    aside.locator("summary", has_text="60 inside").click()
    assert body["state"] == "COMPLETED"
    expect(aside.locator("ol ol > li")).to_have_count(50)
    aside.get_by_role("button", name="Next").click()
    expect(aside.locator("ol ol")).to_have_attribute("start", "51")
    expect(aside.locator("ol ol > li")).to_have_count(10)
    aside.get_by_role("button", name="From the beginning").click()
    expect(aside.locator("ol ol > li")).to_have_count(50)
    console.page.goto("about:blank")  # the page would ask for what has ended
    api.post(f"/process-instances/{key}/cancellation", {})


def test_a_called_global_task_has_a_diagram(console, api):
    """Its file draws its caller only. After a migration to another one of the file, each moment has its own."""
    inside = "<extensionElements><zeebe:userTask/></extensionElements>"
    tasks = [
        f'<globalUserTask id="{id}" name="{name} &lt;them&gt;">{inside}</globalUserTask>'
        for id, name in (("_ask", "Ask"), ("_tell", "Tell"))
    ]
    calls = [f'<callActivity id="{id[1:]}" calledElement="{id}"/>' for id in ("_ask", "_tell")]
    api.deploy("asking.bpmn", model(start(), *calls, end(), "start > ask > tell > end", id="asking", beside=tasks))
    caller = api.start("asking", "ASK-1")
    of = {"filter": {"parentProcessInstanceKey": caller}}
    [called] = api.post("/process-instances/search", of)["items"]
    console.open(f"/instances/{called['processInstanceKey']}")
    drawn = console.page.get_by_role("group", name="Diagram")
    expect(drawn.get_by_role("button")).to_have_count(2)
    drawn.get_by_label("Ask <them>, user task, 1 Active").click()
    expect(console.page).to_have_url(re.compile("element=_ask%23task"))
    expect(console.page.get_by_role("link", name="Open task")).to_be_visible()
    assert console.violations() == []
    console.more()
    console.page.get_by_role("button", name="Modify").click()
    panel = console.page.get_by_role("complementary", name="Modify")
    expect(panel.get_by_role("button", name="Terminate Ask <them>")).to_be_visible()
    expect(panel.get_by_role("button", name="Move")).to_have_count(0)
    panel.get_by_role("button", name="Activate Ask <them>").click()
    panel.get_by_role("button", name="Apply …").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Apply").click()
    expect(drawn.get_by_label("Ask <them>, user task, 2 Active")).to_be_visible()
    console.page.get_by_role("button", name="Undo").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Undo").click()
    expect(drawn.get_by_label("Ask <them>, user task, 1 Active")).to_be_visible()
    console.go("/processes/_ask")
    expect(drawn.get_by_label("Ask <them>, user task, 1 Active")).to_be_visible()
    expect(drawn.locator("[data-element-id='_ask#task'].is-active")).to_be_visible()

    of = {"filter": {"processDefinitionId": "_tell"}}
    [tell] = api.post("/process-definitions/search", of)["items"]
    mapping = {"sourceElementId": "_ask#task", "targetElementId": "_tell#task"}
    plan = {"targetProcessDefinitionKey": tell["processDefinitionKey"], "mappingInstructions": [mapping]}
    console.go(f"/instances/{called['processInstanceKey']}")
    expect(drawn.get_by_label("Ask <them>, user task, 1 Active")).to_be_visible()
    api.post(f"/process-instances/{called['processInstanceKey']}/migration", plan)
    expect(drawn.get_by_label("Tell <them>, user task, 1 Active")).to_be_visible()
    first = api.http.get(f"/process-instances/{called['processInstanceKey']}/events").json()["items"][0]
    console.go(f"/instances/{called['processInstanceKey']}?at={first['commandPosition']}")
    expect(drawn.get_by_label("Ask <them>, user task")).to_be_visible()
    expect(drawn.get_by_role("button")).to_have_count(2)


def test_a_loop_is_a_tree_of_iterations_with_their_items_and_called_instances(console, api):
    """By keyboard: page by page, found by value, with the variables of the chosen one and not those of all."""
    settings = '<extensionElements><zeebe:calledElement processId="claim-review"/></extensionElements>'
    each = loop(f'<callActivity id="each" name="Each claim">{settings}</callActivity>', item="claim")
    api.deploy("claims.bpmn", model(start(), each, end(), "start > each > end", id="claims"))
    key = api.start("claims", "CLAIMS-1", items=[f"CLM-{n}" for n in range(100, 125)])
    page = console.page
    console.open(f"/instances/{key}")
    aside = page.get_by_role("complementary", name="Details")
    expect(aside.locator("table.variables").get_by_role("row")).to_have_count(1)
    rows = aside.get_by_role("list").get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.last).to_contain_text("Each claim · loop")
    console.tab_to("Inside: Each claim")
    console.press("Enter")
    expect(rows).to_have_count(22)
    expect(rows.nth(2)).to_contain_text('#1 "CLM-100"')
    expect(rows.nth(2).get_by_role("link", name="Claim review")).to_be_visible()
    expect(aside).to_contain_text("20 of 25 element instances")
    aside.get_by_role("button", name="Show more").click()
    expect(rows).to_have_count(27)
    assert console.violations() == []
    aside.get_by_role("button", name='#3 "CLM-102"').click()
    expect(page).to_have_url(re.compile(r"element=each&scope=\d+"))
    local = aside.locator("table.variables").first
    expect(local.get_by_role("row", name="loopCounter")).to_contain_text("3")
    expect(local.get_by_role("row", name="claim")).to_contain_text("CLM-102")
    expect(aside.get_by_role("listitem")).to_have_count(1)  # the loop, not 25 equal rows
    aside.get_by_role("searchbox").fill("CLM-117")
    console.press("Enter")
    found = aside.get_by_role("button", name='#18 "CLM-117"')
    found.focus()
    console.press("Enter")
    expect(local.get_by_role("row", name="claim")).to_contain_text("CLM-117")
    aside.get_by_role("link", name="Claim review").click()
    expect(page.get_by_role("link", name="called by Process claims")).to_be_visible()
    page.goto("about:blank")  # a page may ask for what ends meanwhile
    api.post(f"/process-instances/{key}/cancellation", {})


def test_a_loop_leads_to_each_of_its_many_incidents(console, api):
    """More of them than the page reads at first, all in the iterations of one element."""
    each = loop(script("each", "=if item > 10 then assert(item, false) else item", "good"), item="item")
    api.deploy("stuck.bpmn", model(start(), each, end(), "start > each > end", id="stuck-loop"))
    key = api.start("stuck-loop", "STUCK-1", items=list(range(1, 621)))
    console.open(f"/instances/{key}?element=each")
    aside = console.page.get_by_role("complementary", name="Details")
    expect(aside.locator(".incident")).to_have_count(20)
    expect(aside).to_contain_text("20 of 610 incidents")
    rows = aside.locator(".tree > li")
    expect(rows).to_have_count(1)
    aside.get_by_label("Only with an incident").check()
    expect(rows).to_have_count(20)
    expect(rows.nth(1)).to_contain_text("#11 11")  # after the loop itself
    rest = aside.locator(".tree + .rest")
    for shown in (100, 500, 111):
        rest.get_by_role("button", name="Show more").click()
        expect(rows).to_have_count(shown)
    expect(rest).to_contain_text("501–611 of 611 element instances")
    expect(rows.last).to_contain_text("#620 620")
    rest.get_by_role("button", name="First").click()
    expect(rows.nth(1)).to_contain_text("#11 11")
    api.post(f"/process-instances/{key}/cancellation", {})
