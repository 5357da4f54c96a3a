"""With authentication: the pages of access, a viewer without permissions, a session that ends while somebody edits."""

import re

import psycopg
import pytest
from playwright.sync_api import expect

from tests import plain_http
from tests.console.browser import Api
from tests.console.conftest import MODELS, serving
from tests.eventually import eventually_sync

pytestmark = [pytest.mark.process, pytest.mark.long]

ADMIN, PASSWORD = "admin", "correct horse battery"
PEOPLE = {"vera": "viewer", "olga": "operator"}
PAGES = {
    "access": "/access",
    "users": "/access/users",
    "user": "/access/users/vera",
    "group": "/access/groups/sales",
    "role": "/access/roles/clerk",
    "tokens": "/access/tokens",
    "grants": "/access/authorizations",
    "audit": "/access/audit",
}
ALIKE = {"grants", "tokens", "users", "user", "group", "role", "audit"}
"""Pages like others: `make test-long` has them."""


@pytest.fixture(scope="module")
def guarded(browser, postgres_dsn, template_database, tmp_path_factory):
    """The address of a server with authentication, its database, and its API for the administrator."""
    directory, environment = tmp_path_factory.mktemp("guarded"), {"VIVERO_AUTH_ADMIN_PASSWORD": PASSWORD}
    found = serving(postgres_dsn, template_database, directory, "guarded", "--auth", "required", **environment)
    with found as (address, database):
        api = Api(address, (ADMIN, PASSWORD))
        api.deploy("claim_review.bpmn", (MODELS / "claim_review.bpmn").read_bytes())
        for name, role in PEOPLE.items():
            api.post("/users", {"username": name, "name": name.title(), "password": PASSWORD})
            api.put(f"/roles/{role}/users/{name}")
        for group in ("sales", "support"):
            api.post("/groups", {"groupId": group, "name": group.title()})
        api.post("/roles", {"roleId": "clerk", "name": "Clerk"})
        api.put("/groups/sales/users/vera")
        for owner, permission in (("support", "CREATE_PROCESS_INSTANCE"), ("support", "READ_PROCESS_INSTANCE")):
            grant = {"ownerType": "GROUP", "ownerId": owner, "resourceType": "PROCESS_DEFINITION"}
            api.post("/authorizations", grant | {"resourceId": "claim-review", "permissionTypes": [permission]})
        yield address, database, api
        api.http.close()


@pytest.fixture
def signed_in(tab, guarded):
    """A tab in which somebody has signed in."""

    def sign_in(name, path="/"):
        console = tab(guarded[0])
        console.page.goto(f"{console.address}/console/login?next=/console{path}")
        console.page.get_by_label("User").fill(name)
        console.page.get_by_label("Password").fill(PASSWORD)
        console.page.get_by_role("button", name="Sign in").first.click()
        console.settle()
        return console

    return sign_in


def end_sessions(database, name):
    """The effect of `vivero user sign-out`."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("DELETE FROM sessions WHERE username = %s", [name])
        connection.execute("SELECT pg_notify('vivero_identities', '')")


def test_my_groups_have_the_tasks_of_my_groups(signed_in, guarded):
    api = guarded[2]
    for name, group in (("GRP-1", "sales"), ("GRP-2", "support")):
        key = api.start("claim-review", name, claim=name)
        [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
        changes = {"changeset": {"candidateGroups": [group]}}
        api.http.patch(f"/user-tasks/{task['userTaskKey']}", json=changes).raise_for_status()
    page = signed_in("vera", "/tasks").page
    page.get_by_text("My groups").click()
    expect(page.locator("ul a.task")).to_contain_text(["GRP-1"])
    assert signed_in("olga", "/tasks").page.get_by_text("My groups").count() == 0


def test_a_session_that_ends_while_somebody_edits(signed_in, guarded):
    """The dialog stays with what was typed; after the sign-in on the page it is sent. No secret was ever in a URL."""
    _, database, api = guarded
    key = api.start("claim-review", "CLM-1", claim="CLM-1")
    console = signed_in("olga", f"/instances/{key}")
    console.page.get_by_role("button", name="Set variables …").click()
    console.page.get_by_label("Variables (JSON)").fill('{"note": "TYPED-SECRET"}')
    session = {cookie["name"]: cookie["value"] for cookie in console.page.context.cookies()}

    def end_first(route):
        """The session ends while the request is on its way: if it ended before, the page might see it by itself."""
        end_sessions(database, "olga")
        me = f"{console.address}/v2/authentication/me"
        eventually_sync(
            lambda: plain_http.get(me, cookies=session, timeout=20).status_code, accept=lambda found: found == 401
        )
        route.continue_()

    console.page.route("**/variables", end_first, times=1)
    console.page.get_by_role("dialog").get_by_role("button", name="Set variables").click()
    again = console.page.get_by_role("dialog", name="Sign in again")
    expect(again.get_by_label("User")).to_have_value("olga")
    again.get_by_label("Password").fill("wrong")
    again.get_by_role("button", name="Sign in", exact=True).click()
    expect(again.get_by_text("The user or the password is wrong.")).to_be_visible()
    assert console.violations() == []
    again.get_by_label("Password").fill(PASSWORD)
    console.press("Enter")
    expect(again).to_have_count(0)
    expect(console.page.get_by_label("Variables (JSON)")).to_have_value('{"note": "TYPED-SECRET"}')
    console.page.get_by_role("dialog").get_by_role("button", name="Set variables").click()
    expect(console.page.get_by_text("Done at position")).to_be_visible()
    cookies = [cookie["value"] for cookie in console.page.context.cookies()]
    secrets = [*cookies, PASSWORD, PASSWORD.replace(" ", "%20"), PASSWORD.replace(" ", "+"), "TYPED-SECRET"]
    assert [url for url in console.urls for secret in secrets if secret in url] == []
    assert cookies
    assert all("401" in error for error in console.errors)
    console.errors.clear()


def test_a_viewer_sees_what_is_not_allowed_and_why(signed_in, guarded):
    api = guarded[2]
    key = api.start("claim-review", "CLM-2", claim="CLM-2")
    [task] = api.post("/user-tasks/search", {"filter": {"processInstanceKey": key}})["items"]
    console = signed_in("vera", f"/instances/{key}")
    cancel = console.page.get_by_role("button", name=re.compile("^Cancel instance"))
    expect(cancel).to_have_attribute("aria-disabled", "true")
    expect(cancel).to_have_accessible_name(re.compile("CANCEL_PROCESS_INSTANCE .PROCESS_DEFINITION."))
    cancel.focus()
    console.press("Enter")
    expect(console.page.get_by_role("dialog")).to_have_count(0)
    assert console.violations() == []
    pages = {f"/tasks/{task['userTaskKey']}": "COMPLETE_USER_TASK", "/deploy": "CREATE", "/access/users": "READ"}
    for path, permission in pages.items():
        console.go(path)
        expect(console.page.locator("main").get_by_text(f"no permission for this: {permission}").last).to_be_visible()
    console.go("/processes/claim-review")
    console.more()
    for name in ("Start", "Delete"):
        expect(console.page.get_by_role("button", name=re.compile(f"^{name} …"))).to_have_attribute(
            "aria-disabled", "true"
        )
    api.post("/cluster-variables/global", {"name": "LIMIT", "value": 10})
    console.go("/cluster-variables?name=LIMIT")
    expect(console.page.get_by_role("dialog", name="LIMIT")).to_contain_text("10")
    expect(console.page.get_by_role("textbox", name="Value (JSON)")).to_have_count(0)
    console.press("Escape")
    for name in ("Create a cluster variable", "Delete"):
        expect(console.page.get_by_role("button", name=re.compile(f"^{name} …"))).to_have_attribute(
            "aria-disabled", "true"
        )
    writes = [url for url in console.urls if url.endswith(("/cancellation", "/deletion", "/deployments"))]
    assert writes == []


@pytest.mark.parametrize("path", ["/access/users", "/access/audit", "/access/tokens"])
def test_a_page_without_permission_asks_for_nothing(signed_in, path):
    """Also when it is the first page, and the rights arrive after its script: no request is answered 403."""
    console = signed_in("vera")
    console.open(path)
    expect(console.page.locator("main").get_by_text("You have no permission for this")).to_be_visible()
    assert console.errors == []


def person(api, name, *permissions):
    """A user without roles, with permissions on one process; instead of one that an earlier try of a test has left."""
    assert api.http.delete(f"/users/{name}").status_code in (204, 404)
    api.post("/users", {"username": name, "name": name.title(), "password": PASSWORD})
    grant = {"ownerType": "USER", "ownerId": name, "resourceType": "PROCESS_DEFINITION", "resourceId": "claim-review"}
    if permissions:
        api.post("/authorizations", grant | {"permissionTypes": permissions})


def test_rights_on_one_process_are_enough_for_its_pages(signed_in, guarded):
    """The page lacks only what the user may not see."""
    api = guarded[2]
    key = api.start("claim-review", "CLM-3", claim="CLM-3")
    person(api, "pablo", "READ_PROCESS_DEFINITION", "READ_PROCESS_INSTANCE")
    console = signed_in("pablo", f"/instances/{key}")
    expect(console.page.get_by_role("heading", name="CLM-3")).to_be_visible()
    expect(console.page.locator(".canvas[data-ready] .djs-shape").first).to_be_visible()
    expect(console.page.get_by_role("row", name=re.compile("^claim"))).to_be_visible()
    for path, text in {"/": "CLM-", "/instances": "CLM-3", "/processes": "Claim review"}.items():
        console.go(path)
        expect(console.page.locator("main table.list a", has_text=text).first).to_be_visible()
    assert all("403" in error for error in console.errors)
    console.errors.clear()


def test_somebody_without_rights_reads_what_to_do(signed_in, guarded):
    person(guarded[2], "nora")
    console = signed_in("nora")
    expect(console.page.get_by_text("An administrator can give you a role.")).to_be_visible()
    assert console.violations() == []
    assert all("403" in error for error in console.errors)
    console.errors.clear()
    for path in ("/background-jobs", "/inbound-connectors"):
        console.go(path)
        expect(console.page.locator("main").get_by_text("no permission for this: READ (SYSTEM)")).to_be_visible()
        expect(console.page.locator("main").get_by_role("alert")).to_have_count(0)
    assert console.errors == []


def test_access_is_administered(signed_in, guarded):
    """A group with a member and a grant, and what the audit log says of it; then all of it is deleted."""
    api = guarded[2]
    console = signed_in(ADMIN, "/access/groups")
    page, dialog = console.page, console.page.get_by_role("dialog")
    page.get_by_role("button", name="New Group …").first.click()
    dialog.get_by_label("Id").fill("ops")
    dialog.get_by_label("Name").fill("Operations")
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="ops")).to_be_visible()
    page.get_by_label("Add: Users").fill("olga")
    page.get_by_role("region", name="Users").get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("link", name="olga")).to_be_visible()
    page.get_by_role("button", name="New grant …").click()
    dialog.get_by_label("Resource (* for all)").fill("claim-review")
    dialog.get_by_label("create process instance").check()
    dialog.get_by_role("button", name="Create").click()
    expect(
        page.get_by_role("row", name=re.compile("process definition claim-review create process instance"))
    ).to_be_visible()
    [grant] = api.post("/authorizations/search", {"filter": {"ownerId": "ops"}})["items"]
    assert (grant["ownerType"], grant["resourceId"], grant["permissionTypes"]) == (
        "GROUP",
        "claim-review",
        ["CREATE_PROCESS_INSTANCE"],
    )
    page.get_by_role("button", name="Change …").first.click()
    dialog.get_by_label("Name").fill("Mine")
    api.http.put("/groups/ops", json={"name": "Theirs"})
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_role("row", name="name Operations Theirs Mine")).to_be_visible()
    dialog.get_by_role("button", name="Overwrite").click()
    expect(dialog).to_have_count(0)
    assert api.http.get("/groups/ops").json()["name"] == "Mine"
    page.get_by_role("button", name="Delete …").first.click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", name="Groups")).to_be_visible()
    assert api.http.get("/groups/ops").status_code == 404
    console.go("/access/audit")
    expect(page.get_by_role("row", name=re.compile("admin .* delete group ops"))).to_be_visible()


def leave(console):
    """A page without a session goes on to ask; all that it reports is that."""
    console.page.goto("about:blank")
    assert {re.sub(r".*status of (\d+).*", r"\1", error) for error in console.errors} == {"401"}
    console.errors.clear()


def test_a_user_makes_a_token_and_ends_another_session(signed_in, guarded):
    """By keyboard alone. The token is shown once; then the list has its name. The other browser is signed out."""
    end_sessions(guarded[1], "olga")  # those of other tests
    other, console = signed_in("olga"), signed_in("olga", "/access")
    page, dialog = console.page, console.page.get_by_role("dialog")
    console.tab_to("New API token …")
    console.press("Enter")
    console.tab_to("Name")
    page.keyboard.type("laptop")
    expect(dialog.get_by_role("checkbox")).to_have_count(1)
    console.tab_to("operator")
    console.press("Space")
    console.tab_to("Create", exact=True)
    assert console.violations() == []
    console.press("Enter")
    shown = page.get_by_role("dialog", name="The token “laptop”")
    secret = shown.locator("pre").inner_text()
    assert secret.startswith("vivero_")
    assert console.violations() == []
    console.press("Escape")
    expect(shown).to_have_count(0)
    expect(
        page.get_by_role("table", name="Your API tokens").get_by_role("row", name=re.compile("laptop operator"))
    ).to_be_visible()
    assert secret not in page.content()
    assert secret not in "".join(console.urls)
    me = {"Authorization": f"Bearer {secret}"}
    assert plain_http.get(f"{guarded[0]}/v2/authentication/me", headers=me).json()["roles"] == ["operator"]
    console.tab_to("Revoke: laptop")
    console.press("Enter")
    console.tab_to("Revoke", exact=True)
    console.press("Enter")
    expect(page.get_by_text("There are no tokens yet.")).to_be_visible()
    eventually_sync(
        lambda: plain_http.get(f"{guarded[0]}/v2/authentication/me", headers=me).status_code,
        accept=lambda found: found == 401,
    )

    sessions = page.get_by_role("table", name="Your sessions")
    expect(sessions.get_by_role("row")).to_have_count(3)
    expect(sessions.get_by_role("row", name=re.compile("this browser")).get_by_role("button")).to_have_count(0)
    console.tab_to("Sign out …")
    console.press("Enter")
    console.tab_to("Sign out", exact=True)
    console.press("Enter")
    expect(sessions.get_by_role("row")).to_have_count(2)
    other.go("/instances")
    expect(other.page.get_by_role("dialog")).to_be_visible()
    leave(other)


def test_tokens_and_sessions_of_others(signed_in, guarded):
    """An administrator makes a token for a program and signs somebody out; a viewer finds neither list."""
    vera, console = signed_in("vera"), signed_in(ADMIN, "/access/tokens")
    vera.go("/access/tokens")
    expect(vera.page.locator("main").get_by_text("no permission for this: READ (ROLE)")).to_be_visible()
    page, dialog = console.page, console.page.get_by_role("dialog")
    page.get_by_role("button", name="New API token …").first.click()
    dialog.get_by_label("Name").fill("billing")
    dialog.get_by_label("worker", exact=True).check()
    dialog.locator("summary").click()
    expect(dialog.get_by_label("vivero", exact=True)).to_have_text(
        "vivero token create billing --role worker --expires 90d"
    )
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("dialog", name="The token “billing”")).to_contain_text("vivero_")
    console.press("Escape")
    expect(
        page.get_by_role("table", name="API tokens").get_by_role("row", name=re.compile("billing worker"))
    ).to_be_visible()
    console.go("/access/users/vera")
    sessions = page.get_by_role("region", name="Sessions")
    sessions.get_by_role("button", name="Sign out everywhere …").click()
    dialog.get_by_role("button", name="Sign out everywhere").click()
    expect(sessions.get_by_text("No browser is signed in.")).to_be_visible()
    vera.go("/instances")
    expect(vera.page.get_by_role("dialog")).to_be_visible()
    leave(vera)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in ALIKE else ()) for name in PAGES]
)
def test_a_page_of_access_is_accessible(signed_in, name):
    console = signed_in(ADMIN, PAGES[name])
    console.check(f"access-{name}" if name != "access" else name)


@pytest.mark.long
@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_access_is_accessible_in_the_dark(signed_in, name):
    signed_in(ADMIN, PAGES[name]).check_dark()
