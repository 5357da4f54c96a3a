"""Actions beside the stories: go anywhere, send signals, evaluate conditions, start elsewhere, delete."""

import re

import pytest
from playwright.sync_api import expect

from tests.console.conftest import DECISIONS, MODELS
from tests.eventually import eventually_sync

pytestmark = [pytest.mark.process, pytest.mark.long]


def test_the_palette_goes_to_a_page_a_process_a_decision_and_an_instance(console, api):
    api.deploy("discount.dmn", (DECISIONS / "discount.dmn").read_bytes())
    key = api.start("claim-review", "CLM-PALETTE", claim="CLM-PALETTE")
    console.open("/")
    for text, steps, to in (
        ("aud", 0, "/access/audit"),
        ("claim rev", 0, "/processes/claim-review"),
        ("discount", 0, "/decisions/discount"),
        ("CLM-PALETTE", 0, key),
    ):
        console.press("Control+k")
        palette = console.page.get_by_role("dialog")
        palette.get_by_role("combobox").fill(text)
        expect(palette.get_by_role("option", selected=True)).to_contain_text(re.compile(text, re.IGNORECASE))
        if text == "CLM-PALETTE":
            expect(palette.get_by_role("option", name="CLM-PALETTE Claim review")).to_be_visible()
        assert console.violations() == []
        console.press(*["ArrowDown"] * steps, "Enter")
        expect(console.page).to_have_url(re.compile(re.escape(to)))


def test_keys_before_the_palette_is_there_are_its_own_and_arrows_choose(console):
    held = []
    console.page.route("**/assets/palette-*.js", lambda route: held.append(route))
    console.open("/about")
    console.press("Control+k", "g", "i")
    eventually_sync(lambda: console.page.evaluate("undefined") or held, "the palette is asked for")
    held[0].continue_()
    field = console.page.get_by_role("dialog").get_by_role("combobox")
    expect(field).to_be_focused()
    expect(field).to_have_value("gi")
    field.fill("")
    console.press("ArrowDown", "ArrowDown", "ArrowUp")
    expect(console.page.get_by_role("dialog").get_by_role("option", selected=True)).to_have_text("Tasks")
    console.press("Enter")
    expect(console.page.get_by_role("heading", name="Tasks")).to_be_visible()


def test_single_keys_can_be_switched_off(console):
    console.open("/")
    console.press("?")
    help = console.page.get_by_role("dialog", name="Keyboard")
    help.get_by_label("Single-key shortcuts").focus()
    console.press("Space", "Escape")
    expect(help).to_have_count(0)
    console.press("g", "i", "?")
    expect(console.page.get_by_role("heading", name="Home")).to_be_visible()
    expect(help).to_have_count(0)
    console.press("Control+k")
    expect(console.page.get_by_role("dialog").get_by_role("combobox")).to_be_focused()


def test_rows_and_panes_stay_as_they_were_arranged(console, stuck):
    console.open("/about")
    console.page.get_by_label("Rows").select_option("comfortable")
    console.open("/instances?state=all")
    key = stuck("ORD-PANES")
    console.open("/instances?state=all")
    row = console.page.get_by_role("row").nth(1)
    assert row.bounding_box()["height"] >= 36
    console.open(f"/instances/{key}")
    aside = console.page.get_by_role("complementary")
    width = aside.bounding_box()["width"]
    console.page.get_by_role("separator", name="Width of the details").focus()
    console.press("ArrowLeft", "ArrowLeft")
    eventually_sync(lambda: aside.bounding_box()["width"], accept=lambda found: found == width + 48)
    console.page.reload()
    console.settle()
    eventually_sync(lambda: aside.bounding_box()["width"], accept=lambda found: found == width + 48)
    divider = console.page.get_by_role("separator", name="Height of the history").bounding_box()
    history = console.page.get_by_role("region", name="History")
    height = history.bounding_box()["height"]
    console.page.mouse.move(divider["x"] + 50, divider["y"] + 4)
    console.page.mouse.down()
    console.page.mouse.move(divider["x"] + 50, divider["y"] - 36)
    console.page.mouse.up()
    eventually_sync(lambda: history.bounding_box()["height"], accept=lambda found: found == height + 40)
    console.tab_to("Map", exact=True, most=300)
    console.press("Enter")
    expect(console.page.locator(".djs-minimap.open .map")).to_be_visible()
    console.tab_to("Full screen")
    console.press("Enter")
    navigation = console.page.get_by_role("navigation", name="Main")
    expect(navigation).to_be_hidden()
    expect(history).to_be_hidden()
    expect(aside).to_be_visible()
    assert console.violations() == []
    console.press("Enter")
    expect(navigation).to_be_visible()
    console.tab_to("Details", exact=True)
    console.press("Enter")
    expect(aside).to_be_hidden()
    console.page.reload()
    console.settle()
    expect(console.page.locator(".djs-minimap.open .map")).to_be_visible()
    expect(aside).to_be_hidden()
    assert console.violations() == []
    assert console.is_uncovered(".bjs-powered-by")


def test_why_a_message_matches_nobody(console, api):
    key = api.start("claim-review", "CLM-MATCH", claim="CLM-Match")
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    api.post(f"/user-tasks/{task['userTaskKey']}/completion", {})
    console.open("/messages/match?name=payment received&key=clm-match")
    answer = console.page.get_by_role("listitem").filter(has_text="waits for this name with another key")
    expect(answer.first).to_contain_text("CLM-Match The keys differ only in case, spaces or quotes.")
    assert console.violations() == []
    console.page.get_by_label("Correlation key").fill("CLM-Match")
    console.press("Enter")
    expect(console.page.get_by_text("waits for exactly this message.")).to_be_visible()
    console.page.get_by_label("Name").fill("no such name")
    console.page.get_by_label("Correlation key").fill("no such key")
    console.press("Enter")
    expect(console.page.get_by_text("Nothing waits for this name or this key")).to_be_visible()


def test_a_published_message_is_buffered(console):
    console.open("/messages/buffered")
    dialog = console.page.get_by_role("dialog")
    console.page.get_by_role("button", name="Publish …").click()
    dialog.get_by_label("Name").fill("parcel sent")
    dialog.get_by_label("Correlation key").fill("P-7")
    dialog.get_by_role("button", name="Publish").click()
    expect(console.page.get_by_role("row", name=re.compile("parcel sent P-7"))).to_be_visible()


def test_a_signal_is_broadcast_and_conditions_are_evaluated(console, api):
    api.deploy("messages.bpmn", (MODELS / "messages.bpmn").read_bytes())
    api.deploy("conditional.bpmn", (MODELS / "conditional.bpmn").read_bytes())
    console.open("/messages")
    dialog = console.page.get_by_role("dialog")
    console.page.get_by_role("button", name="Broadcast signal …").click()
    dialog.get_by_label("Name").fill("news")
    with console.page.expect_request("**/v2/signals/broadcast") as sent:
        dialog.get_by_role("button", name="Broadcast signal").click()
    assert sent.value.post_data_json == {"signalName": "news", "variables": {}}
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    console.page.get_by_role("button", name="Evaluate conditions …").click()
    dialog.get_by_label("Variables (JSON)").fill('{"temperature": 41}')
    dialog.get_by_role("button", name="Evaluate conditions").click()
    expect(console.page.get_by_role("heading", name="by-condition Completed")).to_be_visible()


def test_an_instance_starts_before_a_chosen_element_of_a_model_without_a_diagram(console, api, invoice):
    console.open("/processes/invoice")
    expect(console.page.get_by_role("button", name=re.compile("^Send a reminder, service task"))).to_be_visible()
    console.page.get_by_role("button", name="Start …").click()
    dialog = console.page.get_by_role("dialog")
    dialog.locator("summary", has_text="Start before elements").click()
    assert dialog.get_by_label("paid").count() == 0, "an element after an event-based gateway cannot be the first"
    dialog.get_by_label("Send a reminder").check()
    dialog.get_by_role("button", name="Start").click()
    expect(console.page.get_by_label("Send a reminder, service task, 1 Active")).to_be_visible()
    assert [job["type"] for job in jobs_of(api, console.page.url.split("/")[-1])] == ["remind"]


def jobs_of(api, key):
    return api.post("/jobs/search", {"filter": {"processInstanceKey": key}})["items"]


def test_a_version_is_deleted(console, api, invoice):
    console.open("/processes/invoice")
    console.more()
    console.page.get_by_role("button", name="Delete …").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    [found] = api.post("/process-definitions/search", {"filter": {"processDefinitionId": "invoice"}})["items"] or [None]
    assert found is None or found["state"] != "ACTIVE"


@pytest.fixture
def invoice(api):
    """A process whose file has no diagram."""
    model = (MODELS.parents[1] / "examples" / "invoice" / "invoice.bpmn").read_bytes()
    assert b"BPMNDiagram" not in model
    api.deploy("invoice.bpmn", model)


BARE = """<?xml version="1.0"?>
<b:definitions xmlns:b="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
<b:process id="other" isExecutable="true"><b:startEvent id="alone"/></b:process>
<b:process id="bare" isExecutable="true">
  <b:startEvent id="start"/>
  <b:exclusiveGateway id="split" default="no"><b:outgoing>yes</b:outgoing></b:exclusiveGateway>
  <b:manualTask id="left" name="Left"/><b:boundaryEvent id="late" attachedToRef="left"><b:timerEventDefinition>
    <b:timeDuration>PT1H</b:timeDuration></b:timerEventDefinition></b:boundaryEvent>
  <b:subProcess id="inside" name="Inside"><b:startEvent id="in"/><b:manualTask id="deep" name="Deep"/>
    <b:sequenceFlow id="in-deep" sourceRef="in" targetRef="deep"/></b:subProcess>
  <b:endEvent id="end"/><b:endEvent id="too-late"/>
  <b:sequenceFlow id="go" sourceRef="start" targetRef="split"/>
  <b:sequenceFlow id="no" sourceRef="split" targetRef="inside"/>
  <b:sequenceFlow id="yes" sourceRef="split" targetRef="left">
    <b:conditionExpression xmlns:x="http://www.w3.org/2001/XMLSchema-instance" x:type="b:tFormalExpression">=true
    </b:conditionExpression></b:sequenceFlow>
  <b:sequenceFlow id="left-end" sourceRef="left" targetRef="end"/>
  <b:sequenceFlow id="in-end" sourceRef="inside" targetRef="end"/>
  <b:sequenceFlow id="late-end" sourceRef="late" targetRef="too-late"/>
</b:process></b:definitions>"""


def test_a_model_without_diagram_is_drawn_with_its_flows_and_open_sub_processes(console, api):
    """Nodes need not name their flows in BPMN, and a file may have several processes."""
    api.deploy("bare.bpmn", BARE.encode())
    console.open("/processes/bare")
    drawn = {
        element: console.page.locator(f'[data-element-id="{element}"]')
        for element in (
            "start",
            "split",
            "left",
            "late",
            "inside",
            "deep",
            "end",
            "go",
            "no",
            "yes",
            "in-deep",
            "late-end",
        )
    }
    for shape in drawn.values():
        expect(shape).to_have_count(1)
    expect(console.page.locator('[data-element-id="alone"]')).to_have_count(0)
    around, within = drawn["inside"].bounding_box(), drawn["deep"].bounding_box()
    for place, size in (("x", "width"), ("y", "height")):
        assert around[place] < within[place]
        assert within[place] + within[size] < around[place] + around[size]
    columns = [drawn[element].bounding_box()["x"] for element in ("start", "split", "left", "end")]
    assert columns == sorted(set(columns)), "it reads from left to right"
    font = "text => [getComputedStyle(text).fontFamily.split(',')[0], document.fonts.check('12px Arimo')]"
    assert drawn["deep"].locator("text").evaluate(font) == ["Arimo", True], "labels are as wide on each system"


def test_a_diagram_is_drawn_without_the_face_of_its_labels(console, api):
    """A policy of a browser may bar fonts of pages."""
    refused = []

    def refuse(route):
        refused.append(route.request.url)
        route.abort()

    console.page.route("**/*arimo*", refuse)
    console.open("/processes/claim-review")
    expect(console.page.locator(".djs-shape").first).to_be_visible()
    assert refused
    console.errors.clear()


def test_everything_that_matches_is_cancelled_as_a_batch(console, api):
    for number in range(3):
        api.start("claim-review", f"BATCH-{number}", claim="CLM")
    console.open("/instances?q=BATCH-*")
    console.page.get_by_role("button", name="Cancel all 3 …").click()
    dialog = console.page.get_by_role("dialog", name="Cancel all 3")
    dialog.get_by_text("Copy as curl or vivero").click()
    expect(dialog).to_contain_text("vivero cancel --all --filter")
    assert console.violations() == []
    dialog.get_by_role("button", name="Cancel all 3").click()
    expect(console.page).to_have_url(re.compile("/batches/[0-9]+$"))
    expect(console.page.get_by_text("3 of 3")).to_be_visible()
    expect(console.page.get_by_role("heading", name="Cancel instances Completed")).to_be_visible()
    expect(console.page.get_by_role("table", name="Items").get_by_text("Completed")).to_have_count(3)
    assert console.violations() == []
    assert console.page.get_by_role("button", name="Pause").count() == 0
    console.press("g", "b")
    expect(console.page.get_by_role("table", name="Batches").get_by_text("3 of 3")).to_be_visible()


def test_ended_instances_are_deleted(console, api):
    """One by itself, and all that match a filter. What runs can be cancelled only."""
    keys = [api.start("claim-review", f"GONE-{number}", claim="CLM") for number in range(4)]
    for key in keys[:3]:
        api.post(f"/process-instances/{key}/cancellation", {})
    console.open(f"/instances/{keys[3]}")
    expect(console.page.get_by_role("button", name="Delete instance …")).to_have_count(0)
    console.open(f"/instances/{keys[0]}")
    console.page.get_by_role("button", name="Delete instance …").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Delete instance").click()
    expect(console.page).to_have_url(re.compile("/instances.state=all"))
    assert api.http.get(f"/process-instances/{keys[0]}").status_code == 404
    console.open("/instances?state=terminated&q=GONE-*")
    console.page.get_by_role("button", name="Delete all 2 …").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Delete all 2").click()
    expect(console.page.get_by_role("heading", name="Delete instances Completed")).to_be_visible()
    console.open("/instances?state=all&q=GONE-*")
    expect(console.page.get_by_role("row")).to_have_count(2)


def test_a_version_is_deleted_with_its_history(console, api):
    model = (MODELS / "claim_review.bpmn").read_bytes().replace(b"claim-review", b"short-lived")
    api.deploy("short_lived.bpmn", model)
    key = api.start("short-lived", "SHORT", claim="CLM")
    api.post(f"/process-instances/{key}/cancellation", {})
    console.open("/processes/short-lived")
    console.more()
    console.page.get_by_role("button", name="Delete …").click()
    dialog = console.page.get_by_role("dialog")
    expect(console.page.get_by_role("link", name="Versions")).to_be_hidden()  # the menu, of which the dialog is
    console.press("Escape")
    expect(console.page.locator(".more > summary")).to_be_focused()
    expect(console.page.locator(".more[open]")).to_have_count(0)
    console.more()
    console.page.get_by_role("button", name="Delete …").click()
    dialog.get_by_label("Also delete its ended instances").check()
    assert console.violations() == []
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(console.page).to_have_url(re.compile("/batches/[0-9]+$"))
    expect(console.page.get_by_text("1 of 1")).to_be_visible()
    assert api.http.get(f"/process-instances/{key}").status_code == 404


def test_all_incidents_of_one_cause_are_retried_as_a_batch(console, api):
    """All, and only these: the same words at another element, and other words at this one, stay."""
    messages = [f"card '{number}' (50% *off*) has no limit of {number} EUR" for number in range(21)]
    for number, message in enumerate([*messages, "card has no limit", "card of Ada"]):
        api.start("order", f"CAUSE-{number}", card="none", items=[{"sku": "rose", "price": 1, "quantity": 1}])
        api.complete("check-stock", inStock=True)
        if message == "card of Ada":
            api.fail("pick-items", messages[0])
        else:
            api.complete("pick-items", pickedIn="north")
            api.fail("charge-card", message)
    console.open("/incidents")
    group = console.page.get_by_role("listitem").filter(has_text="has no limit of")
    expect(group.locator(".place")).to_have_count(2)
    expect(group.get_by_role("link", name="Instances: 22")).to_be_visible()
    expect(group.locator(".place").filter(has_text="pick-items").get_by_role("button", name="Retry …")).to_be_visible()
    group.get_by_role("button", name="Retry all 21 …").click()
    console.page.get_by_role("dialog").get_by_role("button", name="Retry all 21").click()
    expect(console.page.get_by_text("21 of 21")).to_be_visible()
    console.open("/incidents")
    expect(group.get_by_role("link", name="Instances: 1")).to_be_visible()
    group.get_by_role("link", name="Instances: 1").click()
    expect(console.page.get_by_role("row")).to_have_count(2)
    console.page.get_by_role("button", name="One cause of incidents").click()
    expect(console.page).to_have_url(re.compile("/instances$"))


def is_of_the_longest_running(request):
    """Whether a request asks for instances that run, suspended ones among them. Home shows six of them."""
    asked = {"state": {"$in": ["ACTIVE", "SUSPENDED"]}}
    return request.url.endswith("/process-instances/search") and request.post_data_json["filter"] == asked


def test_an_instance_is_suspended_and_resumed(console, api, stuck):
    key = stuck("ORD-HELD")
    console.open(f"/instances/{key}")
    console.page.get_by_role("button", name="Suspend …").click()
    dialog = console.page.get_by_role("dialog")
    dialog.get_by_label("Reason (optional)").fill("the price list is wrong")
    dialog.get_by_label("Suspend the instances that it called, too").check()
    dialog.get_by_text("Copy as curl or vivero").click()
    command = f"vivero suspend {key} --reason 'the price list is wrong' --include-called"
    expect(dialog.get_by_label("vivero", exact=True)).to_have_text(command)
    dialog.get_by_role("button", name="Preview").click()
    preview = dialog.get_by_role("region", name="Preview")
    expect(preview.get_by_role("row", name=re.compile("^Elements 0 0 "))).to_be_visible()
    assert console.violations() == []
    with console.page.expect_request("**/suspension") as sent:
        dialog.get_by_role("button", name="Suspend", exact=True).click()
    assert sent.value.post_data_json == {"includeCalled": True, "reason": "the price list is wrong"}
    expect(console.page.get_by_role("heading", name="ORD-HELD Suspended")).to_be_visible()
    details = console.page.get_by_role("complementary", name="Details")
    expect(details).to_contain_text("the price list is wrong")
    expect(details).to_contain_text("The instance does nothing until it is resumed.")
    expect(details).to_contain_text("Resume it first, then retry.")
    expect(console.page.get_by_role("button", name="Retry …")).to_have_count(0)
    expect(console.page.get_by_role("button", name="suspended the price list is wrong")).to_be_visible()
    assert console.violations() == []
    console.open("/instances?state=suspended&q=ORD-HELD&sort=-suspendedDate")
    expect(console.page.get_by_role("table", name="Instances").get_by_role("row")).to_have_count(2)
    console.go("/processes")
    expect(
        console.page.get_by_role("row", name=re.compile("order")).get_by_role("link", name="1", exact=True)
    ).to_be_visible()
    with console.page.expect_request(is_of_the_longest_running):
        console.go("/")
    expect(console.page.get_by_role("link", name="1 suspended instances")).to_be_visible()
    console.go("/incidents")
    expect(console.page.get_by_role("listitem").filter(has_text=key).last).to_have_text(re.compile("Suspended$"))
    console.go("/jobs?state=failed")
    expect(console.page.get_by_role("row").filter(has_text=key)).to_contain_text("Suspended")
    console.go(f"/instances/{key}")
    console.page.get_by_role("button", name="Resume …").click()
    dialog.get_by_role("button", name="Preview").click()
    expect(preview.get_by_role("row", name=re.compile("^Elements 0 0 "))).to_be_visible()
    dialog.get_by_role("button", name="Resume", exact=True).click()
    expect(console.page.get_by_role("heading", name="ORD-HELD Incident")).to_be_visible()
    expect(console.page.get_by_role("button", name="Retry …").first).to_be_visible()


@pytest.mark.long
def test_the_work_of_a_suspended_instance_says_so(console, api):
    key = api.start("claim-review", "STILL-TASK", claim="STILL-TASK", amount=1)
    other = api.start("claim-review", "FREE-TASK", claim="FREE-TASK", amount=1)
    of = {"filter": {"processInstanceKey": {"$in": [key, other]}}, "sort": [{"field": "creationDate"}]}
    held, free = [one["userTaskKey"] for one in api.post("/user-tasks/search", of)["items"]]
    console.open(f"/tasks/{held}?q=*-TASK")
    pane = console.page.get_by_role("region", name="Task", exact=True)
    complete = pane.get_by_role("button", name="Complete")
    expect(complete).to_be_enabled()
    api.post(f"/process-instances/{key}/suspension", {})
    expect(pane.get_by_role("note")).to_contain_text("Its process instance is suspended.")
    expect(complete).to_be_disabled()
    expect(pane.get_by_role("button", name="Claim")).to_have_count(0)
    rows = console.page.get_by_role("region", name="Tasks").get_by_role("listitem")
    expect(rows.filter(has_text="STILL-TASK")).to_contain_text("Suspended")
    expect(rows.filter(has_text="FREE-TASK")).not_to_contain_text("Suspended")
    console.check("suspended_task")
    console.go("/")
    expect(console.page.get_by_role("row").filter(has_text="STILL-TASK").first).to_contain_text("Suspended")
    console.go(f"/tasks/{held}")
    api.post(f"/process-instances/{key}/resumption", {})
    expect(complete).to_be_enabled()
    expect(pane.get_by_role("note")).to_have_count(0)
    api.post(f"/user-tasks/{free}/completion", {})


@pytest.mark.long
def test_everything_that_matches_is_suspended_and_resumed(console, api):
    """And cancelled: a suspended instance can be."""
    for number in range(3):
        api.start("claim-review", f"HELD-{number}", claim="CLM")
    for state, what, title in (
        ("active", "Suspend", "Suspend instances"),
        ("suspended", "Resume", "Resume instances"),
        ("active", "Suspend", "Suspend instances"),
        ("suspended", "Cancel", "Cancel instances"),
    ):
        console.open(f"/instances?state={state}&q=HELD-*")
        console.page.get_by_role("button", name=f"{what} all 3 …").click()
        dialog = console.page.get_by_role("dialog", name=f"{what} all 3")
        dialog.get_by_text("Copy as curl or vivero").click()
        expect(dialog).to_contain_text(f"vivero {what.lower()} --all --filter")
        dialog.get_by_role("button", name="Forecast").click()
        expect(dialog.get_by_role("region", name="Forecast")).to_have_text("3 of 3 would succeed")
        dialog.get_by_role("button", name=f"{what} all 3").click()
        expect(console.page.get_by_role("heading", name=f"{title} Completed")).to_be_visible()
        expect(console.page.get_by_text("3 of 3")).to_be_visible()


def test_a_cluster_variable_is_created_changed_and_deleted(console, api):
    """By keyboard, with its metadata; a change of somebody else is shown before it would be overwritten."""
    page = console.page
    console.open("/cluster-variables")
    expect(page.get_by_text("No cluster variables here.")).to_be_visible()
    console.tab_to("Create a cluster variable …")
    console.press("Enter")
    expect(page.get_by_role("textbox", name="Name")).to_be_focused()
    page.keyboard.type("api-url")
    console.tab_to("Value (JSON)")
    page.keyboard.type('"https://')
    expect(page.get_by_role("dialog").get_by_role("alert")).to_be_visible()
    page.keyboard.type('api.example.com"')
    console.tab_to("Metadata")
    page.keyboard.type('{"team": "billing"}')
    console.tab_to("Create", exact=True)
    console.press("Enter")
    row = page.get_by_role("row", name="api-url")
    expect(row).to_contain_text("camunda.vars.cluster.`api-url`")
    made = api.http.get("/cluster-variables/global/api-url").json()
    assert (made["value"], made["metadata"]) == ('"https://api.example.com"', {"team": "billing"})

    long = list(range(3000))
    default = "/cluster-variables/tenants/%3Cdefault%3E"
    api.post(default, {"name": "numbers", "value": long})
    console.open("/cluster-variables?state=TENANT")
    expect(row).to_have_count(0)
    expect(page.get_by_role("row", name="numbers")).to_contain_text("camunda.vars.tenant.numbers")
    console.check("cluster-variables")
    console.row_to("numbers")
    console.press("Enter")
    value = page.get_by_role("dialog").get_by_label("Value (JSON)")
    expect(value).to_have_value(re.compile(r"2999\s*\]$"))
    assert console.violations() == []
    value.fill("[1]")
    api.put(f"{default}/numbers", {"value": 2, "metadata": {"of": "ops"}})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Somebody else has changed this in the meantime.")).to_be_visible()
    page.get_by_role("button", name="Overwrite").click()
    expect(page.get_by_role("row", name="numbers")).to_contain_text("[1]")
    expect(page).to_have_url(re.compile(r"/cluster-variables\?state=TENANT$"))
    page.get_by_role("row", name="numbers").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Expressions that read numbers see null from now on.")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No cluster variables here.")).to_be_visible()
    assert api.http.get(f"{default}/numbers").status_code == 404
