"""Lists have saved views. New tasks in them are counted in the title and told by notifications."""

import pytest
from playwright.sync_api import expect

from tests.console.test_hostile_texts import ATTACK
from tests.eventually import eventually_sync

pytestmark = pytest.mark.process

NOTIFICATION = """
    window.notes = [];
    window.answer = 'denied';
    window.Notification = class {
        static permission = 'default';
        static requestPermission = async () => (Notification.permission = window.answer);
        constructor(title, options) { window.notes.push(Object.assign(this, {title, ...options})); }
        close() { this.closed = true; }
    };
"""
TOLD = "notes.map(({title, body}) => [title, body])"
OUT_OF_SIGHT = """
    Object.defineProperty(document, 'hidden', {configurable: true, get: () => true});
    document.dispatchEvent(new Event('visibilitychange'));
"""
ME = {
    "username": "eve",
    "displayName": "Eve",
    "groups": ["sales"],
    "roles": [],
    "tenants": [],
    "authorizedComponents": [],
    "canLogout": False,
}
GRANT = {
    "resourceType": "PROCESS_DEFINITION",
    "resourceId": "*",
    "resourcePropertyName": None,
    "permissionTypes": ["READ_USER_TASK"],
}


@pytest.fixture
def eve(timed):
    """A tab of a user with a group, in a browser whose notifications the test reads."""
    timed.page.add_init_script(NOTIFICATION)
    timed.page.route("**/v2/authentication/me", lambda route: route.fulfill(json=ME))
    timed.page.route("**/me/authorizations/search", lambda route: route.fulfill(json={"items": [GRANT], "page": {}}))
    return timed


def task_of(api, business_id, **changes):
    """The key of a new task, changed after it began."""
    instance = api.start("claim-review", business_id, claim=business_id)
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": instance}})["items"]
    api.http.patch(f"/user-tasks/{task['userTaskKey']}", json={"changeset": changes}).raise_for_status()
    return task["userTaskKey"]


@pytest.mark.long
def test_new_tasks_are_counted_in_the_title_until_the_list_is_in_sight(eve, api):
    """Those of the user and of a group count, and one that somebody forwards. Those of others do not."""
    page = eve.page
    forwarded = task_of(api, "NEW-1", candidateGroups=["support"])
    task_of(api, "NEW-2", candidateGroups=["sales"])
    eve.open("/")
    eventually_sync(lambda: page.evaluate("localStorage.getItem('vivero.tasks.eve')"), accept=bool)
    expect(page).to_have_title("Home · Vivero")
    task_of(api, "NEW-3", candidateGroups=["support"])
    task_of(api, "NEW-4", candidateGroups=["sales"])
    api.post(f"/user-tasks/{forwarded}/assignment", {"assignee": "eve"})
    expect(page).to_have_title("(2) Home · Vivero")
    eve.open("/processes")
    expect(page).to_have_title("(2) Processes · Vivero")
    eve.go("/tasks")
    expect(page).to_have_title("Tasks · Vivero")
    eve.go("/")
    expect(page).to_have_title("Home · Vivero")


@pytest.mark.long
def test_a_notification_comes_after_a_click_once_and_leads_to_its_task(eve, api):
    page = eve.page
    eve.open("/tasks")
    notify = page.get_by_role("button", name="Notify me")
    expect(notify).to_have_attribute("aria-pressed", "false")
    notify.click()
    expect(page.get_by_role("alert")).to_contain_text("blocks notifications")
    assert eve.violations() == []
    page.evaluate("answer = 'granted'")
    notify.click()
    expect(notify).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_role("alert")).to_have_count(0)
    assert [title for title, _ in page.evaluate(TOLD)] == ["Notifications of new tasks are on"]
    page.evaluate(OUT_OF_SIGHT)
    key = task_of(api, ATTACK, candidateGroups=["sales"])
    page.clock.run_for(60_000)
    expect(page).to_have_title("(1) Tasks · Vivero")
    task_of(api, "NEW-6", candidateGroups=["sales"])
    task_of(api, "NEW-7", candidateGroups=["sales"])
    page.clock.run_for(60_000)
    expect(page).to_have_title("(3) Tasks · Vivero")
    told = page.evaluate(TOLD)[1:]
    assert told == [["Review the claim", f"Claim review · {ATTACK}"], ["2 new tasks", "Review the claim"]]
    page.evaluate("notes[1].onclick()")
    expect(page).to_have_url(f"{eve.address}/console/tasks/{key}")
    assert page.evaluate("notes[1].closed")


@pytest.mark.long
def test_a_view_is_saved_opened_replaced_shared_and_deleted(console, api):
    """By keyboard. Its name is a text."""
    page = console.page
    console.open("/tasks?view=unassigned&sort=newest")
    console.tab_to("Views")
    console.press("Enter")
    expect(page.get_by_text("No saved views yet.")).to_be_visible()
    console.tab_to("Name of the view")
    page.keyboard.type(ATTACK)
    console.tab_to("Save view")
    console.press("Enter")
    view = page.get_by_role("link", name=ATTACK, exact=True)
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
    expect(page.get_by_text("No saved views yet.")).to_be_visible()
    console.open("/tasks")
    page.get_by_text("Views", exact=True).click()
    page.get_by_role("button", name=f"Delete the view “{ATTACK}”").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("The view is shared: others lose it, too.")).to_be_visible()
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_text("No saved views yet.")).to_be_visible()
    assert api.post("/saved-views/search", {})["items"] == []
