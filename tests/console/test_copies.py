"""Each action shows what it sends, as curl and as a command of vivero, and tells its position and duration.

All actions share one way to be sent, which the last test proves. Therefore `make test` has those of two pages, and
`make test-long` all.
"""

import itertools
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.console.browser import Api, Console
from tests.console.conftest import CLAIM, CONSOLE, MODELS, serving

pytestmark = pytest.mark.process

NO_COMMAND = "vivero has no command for this."
SOURCES = CONSOLE / "src"
counter = itertools.count(1)


@pytest.fixture(scope="module")
def address(browser, postgres_dsn, template_database, tmp_path_factory):
    """A server whose batch operations go slowly, so that one can pause them."""
    slow = {f"VIVERO_BATCH_OPERATIONS_{name}": "1" for name in ("IN_FLIGHT", "PORTION", "SCAN_ROWS")}
    with serving(postgres_dsn, template_database, tmp_path_factory.mktemp("copies"), "copies", **slow) as (address, _):
        yield address


def offers(where: Locator, method: str, path: str, cli: str | None, label: str = "") -> None:
    """The part of the page shows its request, and its command line or that there is none."""
    summary = where.locator("details.commands summary", has_text=f"Copy as curl or vivero{label}").first
    summary.click()
    details = summary.locator("xpath=..")
    curl = details.get_by_label("curl", exact=True)
    expect(curl).to_contain_text(re.compile(rf"curl -X {method} 'http://[^']*/v2/{path}'"))
    if cli is None:
        expect(details).to_contain_text(NO_COMMAND)
        expect(details.get_by_label("vivero", exact=True)).to_have_count(0)
    else:
        expect(details.get_by_label("vivero", exact=True)).to_have_text(re.compile(rf"vivero {cli}"))
        expect(details).not_to_contain_text(NO_COMMAND)
    expect(details.get_by_role("button", name="Copy curl")).to_be_visible()
    summary.click()


def told(console: Console, label: str, outcome: str = r"Done (at position \S+ )?in \d+(\.\d)? m?s") -> None:
    """The newest notice tells that it is done, where and how fast, and offers its commands. It goes."""
    notice = console.page.locator(".notice", has=console.page.get_by_text(label, exact=True)).last
    expect(notice).to_contain_text(re.compile(outcome))
    notice.locator("summary").click()
    expect(notice.get_by_label("curl", exact=True)).to_contain_text("curl -X")
    notice.get_by_role("button", name="Close").click()


def dialog_of(console: Console, button: str | re.Pattern[str]) -> Locator:
    """Open the dialog of a button."""
    console.page.locator("main").get_by_role("button", name=button).first.click()
    return console.page.get_by_role("dialog")


def claimed(api: Api) -> tuple[str, str]:
    """A new claim and its user task."""
    key = api.start("claim-review", f"CLM-{next(counter)}", claim="C")
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    return key, task["userTaskKey"]


def act(console: Console, button: str, sent: tuple[str, str, str | None], *, confirm: str, told_as: str = "") -> None:
    """Open the dialog of an action, see what it offers, do it, and see what the page tells."""
    dialog = dialog_of(console, f"{button} …")
    offers(dialog, *sent)
    dialog.get_by_role("button", name=confirm, exact=True).click()
    told(console, told_as or confirm)


@pytest.mark.long
def test_actions_of_an_instance(console, api, stuck):
    key = stuck("ORD-COPY")
    console.open(f"/instances/{key}")
    dialog = dialog_of(console, "Set variables …")
    dialog.get_by_label("Variables (JSON)").fill('{"card": "it\'s"}')
    offers(dialog, "PUT", rf"element-instances/{key}/variables", rf"set {key} --variables ")
    dialog.get_by_role("button", name="Set variables").click()
    told(console, "Set variables")
    dialog = dialog_of(console, re.compile("^Retry …"))
    dialog.get_by_label("Set these variables first").fill('{"card": "4444"}')
    offers(dialog, "PUT", r"element-instances/\d+/variables", r"resolve \d+ --variables '\{\"card\":\"4444\"\}'$")
    dialog.get_by_role("button", name="Retry", exact=True).click()
    told(console, "Retry")
    cancellation = ("POST", rf"process-instances/{key}/cancellation", rf"cancel {key}$")
    act(console, "Cancel instance", cancellation, confirm="Cancel instance")
    deletion = ("POST", rf"process-instances/{key}/deletion", rf"delete {key}$")
    act(console, "Delete instance", deletion, confirm="Delete instance")


@pytest.mark.long
def test_actions_of_timers_and_jobs(console, api, stuck):
    key, _ = claimed(api)
    [timer] = api.post("/timers/search", {"filter": {"processInstanceKey": key}})["items"]
    path = f"timers/{timer['timerKey']}"
    console.open(f"/instances/{key}?element={timer['elementId']}")
    act(console, "Move", ("PATCH", path, rf"move {timer['timerKey']} 2\S+Z$"), confirm="Move")
    act(console, "Fire now", ("POST", f"{path}/trigger", rf"fire {timer['timerKey']}$"), confirm="Fire now")
    stuck("ORD-RETRIES")
    console.open("/jobs?state=failed")
    dialog = dialog_of(console, "Edit: charge-card")
    offers(dialog, "PATCH", r"jobs/\d+", r"job update \d+ --retries 3$")
    dialog.get_by_role("button", name="Set retries").click()
    told(console, "Set retries")


@pytest.mark.long
def test_actions_of_messages(console, api):
    api.deploy("conditional.bpmn", (MODELS / "conditional.bpmn").read_bytes())
    console.open("/messages")
    for button, path, cli in (
        ("Publish", "messages/publication", "message publish news --ttl 3600$"),
        ("Broadcast signal", "signals/broadcast", "signal news$"),
    ):
        dialog = dialog_of(console, f"{button} …")
        dialog.get_by_label("Name").fill("news")
        offers(dialog, "POST", path, cli)
        dialog.get_by_role("button", name=button, exact=True).click()
        told(console, button)
    sent = ("POST", "conditionals/evaluation", None)
    act(console, "Evaluate conditions", sent, confirm="Evaluate conditions")


@pytest.mark.long
def test_actions_of_a_task(console, api):
    _, task = claimed(api)
    console.open(f"/tasks/{task}")
    pane = console.page.get_by_role("region", name="Task", exact=True)
    for label, method, path, cli in (
        ("Claim", "POST", "assignment", rf"task claim {task} --user \S+$"),
        ("Release", "DELETE", "assignee", f"task unassign {task}$"),
    ):
        offers(pane, method, f"user-tasks/{task}/{path}", cli, f": {label}")
        pane.get_by_role("button", name=label, exact=True).click()
        told(console, label)
    expect(pane.get_by_role("button", name="Claim", exact=True)).to_be_visible()  # the page has read the task again
    dialog = dialog_of(console, "Assign …")
    dialog.get_by_label("Assignee").fill("demo")
    offers(dialog, "POST", f"user-tasks/{task}/assignment", f"task assign demo {task}$")
    dialog.get_by_role("button", name="Assign").click()
    told(console, "Assign")
    pane.get_by_role("button", name="Release", exact=True).click()
    told(console, "Release")
    offers(pane, "POST", f"user-tasks/{task}/comments", None, ": Comment")
    form = pane.locator("form").first
    form.locator("summary").click()
    expect(form.get_by_label("vivero", exact=True)).to_have_text(f"vivero task complete {task}")
    pane.get_by_role("button", name="Complete", exact=True).click()
    told(console, "Complete")


@pytest.mark.long
def test_actions_by_forms(console, api):
    """A start by a form, and a task by another: what is shown follows what is entered."""
    api.deploy_all(*CLAIM.glob("*.bpmn"), *CLAIM.glob("*.form"))
    console.open("/processes/claim")
    dialog = dialog_of(console, re.compile("^Start …"))
    for label, text in (("Customer", "Ada"), ("Amount", "1200"), ("Damage", "wet"), ("Business id", "CLM-FORM")):
        dialog.get_by_label(label).fill(text)
    cli = r"start claim --version 1 --variables '\{\"customer\":\"Ada\",.*\}' --business-id CLM-FORM$"
    offers(dialog, "POST", "process-instances", cli)
    dialog.get_by_role("button", name="Start", exact=True).click()
    told(console, "Start")
    [task] = api.post("/user-tasks/search", {"filter": {"businessId": "CLM-FORM"}})["items"]
    console.open(f"/tasks/{task['userTaskKey']}")
    form = console.page.locator(".form[data-ready]")
    form.get_by_label("Approve").check()
    form.locator("summary").click()
    shown = form.get_by_label("curl", exact=True)
    expect(shown).to_contain_text('"decision":"approve"')
    expect(form.get_by_label("vivero", exact=True)).to_contain_text(f"vivero task complete {task['userTaskKey']} ")
    text = shown.inner_text()  # before the page goes on to the next task
    with console.page.expect_request("**/completion") as sent:
        form.get_by_role("button", name="Complete", exact=True).click()
    assert sent.value.post_data in text
    told(console, "Complete")


@pytest.mark.long
def test_actions_of_a_process(console, api):
    console.open("/deploy")
    model = (MODELS / "claim_review.bpmn").read_bytes().replace(b"claim-review", b"copied")
    file = {"name": "a copy.bpmn", "mimeType": "application/xml", "buffer": model}
    console.page.get_by_label("Choose files").set_input_files(files=[file])
    expect(console.page.get_by_role("heading", name="Deployed")).to_be_visible()
    offers(console.page.locator("main"), "POST", "deployments", r"deploy 'a copy\.bpmn'$")
    expect(console.page.get_by_label("curl", exact=True).first).to_contain_text("-F 'resources=@a copy.bpmn'")
    told(console, "Deploy")
    console.open("/processes/copied")
    dialog = dialog_of(console, re.compile("^Start …"))
    dialog.get_by_label("Variables (JSON)").fill('{"claim": 7}')
    offers(dialog, "POST", "process-instances", r"start copied --version 1 --variables '\{\"claim\":7\}'$")
    dialog.locator("summary", has_text="Start before elements").click()
    dialog.get_by_role("group").get_by_role("checkbox").first.check()
    offers(dialog, "POST", "process-instances", None)
    dialog.get_by_role("button", name="Start", exact=True).click()
    told(console, "Start")
    console.open("/processes/copied")
    console.more()
    sent = ("POST", r"resources/\d+/deletion", None)
    act(console, "Delete", sent, confirm="Delete", told_as="Delete v1")


@pytest.mark.long
def test_actions_on_everything_that_matches(console, api, stuck):
    for name in ("CAUSE-1", "CAUSE-2"):
        stuck(name)
    console.open("/incidents")
    dialog = dialog_of(console, re.compile(r"^Retry all \d …"))
    offers(dialog, "POST", "incidents/resolution", "resolve --all --filter ")
    dialog.get_by_role("button", name="Close").last.click()
    console.open("/instances?state=incidents&q=CAUSE-*")
    dialog = dialog_of(console, "Retry all 2 …")
    offers(dialog, "POST", "process-instances/incident-resolution", None)
    dialog.get_by_role("button", name="Retry all 2").click()
    told(console, "Retry all 2", "The batch has started")
    for _ in range(300):
        api.start("claim-review", "MANY", claim="C")
    console.open("/instances?q=MANY")
    dialog = dialog_of(console, "Cancel all 300 …")
    offers(dialog, "POST", "process-instances/cancellation", "cancel --all --filter ")
    dialog.get_by_role("button", name="Cancel all 300").click()
    told(console, "Cancel all 300", "The batch has started")
    console.page.wait_for_url("**/batches/*")
    key, main = console.page.url.rsplit("/", 1)[1], console.page.locator("main")
    for label, path, cli in (("Pause", "suspension", "suspend"), ("Resume", "resumption", "resume")):
        offers(main, "POST", f"batch-operations/{key}/{path}", f"batches {cli} {key}$", f": {label}")
        main.get_by_role("button", name=label, exact=True).click()
        told(console, label)
    main.get_by_role("button", name="Pause", exact=True).click()
    told(console, "Pause")
    sent = ("POST", f"batch-operations/{key}/cancellation", f"batches cancel {key}$")
    act(console, "Cancel the rest", sent, confirm="Cancel the rest")
    expect(main.get_by_text("Not started").first).to_be_visible()
    for _ in range(2):
        api.post(f"/process-instances/{api.start('claim-review', 'ENDED', claim='C')}/cancellation", {})
    console.open("/instances?state=terminated&q=ENDED")
    dialog = dialog_of(console, "Delete all 2 …")
    offers(dialog, "POST", "process-instances/deletion", "delete --all --filter ")


@pytest.mark.long
def test_actions_of_access(console, api):
    api.post("/groups", {"groupId": "crew", "name": "Crew"})
    console.open("/access/users")
    dialog = dialog_of(console, "New User …")
    for label, text in (("Id", "zoe"), ("Name (optional)", "Zoe Z."), ("Password", "correct horse battery")):
        dialog.get_by_label(label, exact=True).fill(text)
    offers(dialog, "POST", "users", "user add zoe --name 'Zoe Z.'$")
    expect(dialog).not_to_contain_text("correct horse")
    dialog.get_by_role("button", name="Create").click()
    told(console, "New User")
    page = console.page
    page.get_by_role("region", name="Groups").get_by_role("button", name="Crew: Add").click()
    offers(page.get_by_role("dialog"), "PUT", "groups/crew/users/zoe", None)
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    told(console, "Crew: Add")
    page.get_by_role("region", name="Roles").get_by_role("button", name="operator: Add").click()
    offers(page.get_by_role("dialog"), "PUT", "roles/operator/users/zoe", "role assign operator zoe$")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    told(console, "Operator: Add")
    dialog = dialog_of(console, "New grant …")
    dialog.get_by_label("create process instance").check()
    offers(dialog, "POST", "authorizations", None)
    dialog.get_by_role("button", name="Create").click()
    told(console, "New grant")
    grants = page.get_by_role("region", name="Grants")
    for button, method, confirm in (("Change", "PUT", "Save"), ("Delete", "DELETE", "Delete")):
        grants.get_by_role("button", name=f"{button} …").click()
        offers(page.get_by_role("dialog"), method, r"authorizations/\d+", None)
        page.get_by_role("dialog").get_by_role("button", name=confirm).click()
        told(console, f"{button} grant")
    console.go("/access/groups/crew")
    users = page.get_by_role("region", name="Users")
    users.get_by_role("button", name="Remove zoe").click()
    offers(page.get_by_role("dialog"), "DELETE", "groups/crew/users/zoe", None)
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    told(console, "Remove zoe")
    users.get_by_label("Add: Users").fill("zoe")
    offers(users, "PUT", "groups/crew/users/zoe", None)
    users.get_by_role("button", name="Add", exact=True).click()
    told(console, "Add")
    act(console, "Change", ("PUT", "groups/crew", None), confirm="Save", told_as="Change Group")
    act(console, "Delete", ("DELETE", "groups/crew", None), confirm="Delete")
    console.go("/access/users/zoe")
    act(console, "Delete", ("DELETE", "users/zoe", "user delete zoe$"), confirm="Delete")


def test_an_expression(console):
    console.open("/feel")
    console.page.get_by_label("Expression").fill("1 + a")
    console.page.get_by_label("Variables (JSON)").fill('{"a": 2}')
    cli = r"feel '1 \+ a' --context '\{\"a\":2\}'$"
    offers(console.page.locator("main"), "POST", "expression/evaluation", cli)


def test_numbers_with_more_digits_than_those_of_javascript(console):
    """They are sent and shown as they are."""
    console.open("/feel")
    console.page.get_by_label("Expression").fill("[a + 1, c]")
    console.page.get_by_label("Variables (JSON)").fill('{"a": 9007199254740992, "b": 0.1234567890123456789, "c": 1}')
    with console.page.expect_request("**/v2/expression/evaluation") as sent:
        console.page.get_by_role("button", name="Evaluate").click()
    assert '"a":9007199254740992,"b":0.1234567890123456789,"c":1' in sent.value.post_data
    expect(console.page.locator("pre.json")).to_contain_text("9007199254740993")
    console.page.get_by_label("Variables (JSON)").fill("9007199254740993")
    expect(console.page.get_by_role("button", name="Evaluate")).to_be_disabled()


def test_changes_are_sent_where_they_are_told():
    """Pages change by `attempt` and `perform`, whose notices have the commands. Some send, and show, by themselves.

    The editor saves its draft at each pause, and says who saved it and when.
    """
    change = r"\bsend(<\w+>)?\(\w+\)|\b(send(<.*>)?|fetch)\(.*method: '(PUT|PATCH|DELETE)'"
    senders = {
        path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.ts*") if re.search(change, path.read_text())
    }
    pages = {"editor/drafts.ts", "pages/feel.tsx"}
    assert senders == {"lib/commands.ts", "lib/deployments.ts", "lib/documents.ts", *pages}
