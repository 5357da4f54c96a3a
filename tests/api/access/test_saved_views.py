"""Saved views: whose they are, who sees shared ones, their limits, and their end with a person or a tenant."""

import pytest
import trio

from tests.api.access.conftest import basic, bearer
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.eventually import eventually
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS
from vivero.api.routes import saved_views as routes
from vivero.storage.access import directory, saved_views
from vivero.storage.access.saved_views import View, ViewOwner

PATH = "/v2/saved-views"
ROUTES = {f"POST {PATH}", f"POST {PATH}/search", f"DELETE {PATH}/{{savedViewKey}}"}
NAME = "<img src=x onerror=alert(1)> 'late' \u202e ñ"
VIEW = {"resource": "user-tasks", "name": NAME, "query": "due=past&value=%22%3Cscript%3E%22"}


@pytest.fixture
def staff(people):
    """An operator, two viewers, and somebody who may read instances only."""
    for name, role in (("ada", "operator"), ("vera", "viewer"), ("eve", "viewer")):
        people.user(name, role)
    people.user("ian")
    people.grant("USER", "ian", "PROCESS_DEFINITION", "order", "READ_PROCESS_INSTANCE")


async def names(client, who):
    found = (await client("POST", f"{PATH}/search", {"sort": [{"field": "name"}]}, basic(who))).json
    assert found["page"]["totalItems"] == len(found["items"])
    return [(each["name"], each["owner"]) for each in found["items"]]


async def save(client, who, **more):
    return await client("POST", PATH, VIEW | more, basic(who))


async def test_a_view_is_its_owners_alone_and_comes_back_as_it_was(secured, staff, rows):
    made = await save(secured, "vera")
    assert made.status == 200
    [found] = (await secured("POST", f"{PATH}/search", headers=basic("vera"))).json["items"]
    assert {name: found[name] for name in VIEW} == VIEW
    assert (found["savedViewKey"], found["isShared"], found["tenantId"]) == (
        made.json["savedViewKey"],
        False,
        "<default>",
    )
    assert await names(secured, "ada") == []
    for who, status in (("ada", 404), ("eve", 404), ("vera", 204), ("vera", 404)):
        assert (await secured("DELETE", f"{PATH}/{found['savedViewKey']}", headers=basic(who))).status == status
    records = str(rows.execute("SELECT a::text FROM audit_log a").fetchall())
    assert f"POST {PATH}" in records
    assert "onerror" not in records


async def test_a_view_of_the_same_name_is_replaced(secured, staff):
    first, second = await save(secured, "vera"), await save(secured, "vera", query="q=1", name=f" {NAME} ")
    assert first.json == second.json
    other = await save(secured, "vera", resource="process-instances")
    assert other.json != first.json
    found = (await secured("POST", f"{PATH}/search", {"filter": {"resource": "user-tasks"}}, basic("vera"))).json
    assert [each["query"] for each in found["items"]] == ["q=1"]


async def test_somebody_of_the_same_name_at_another_provider_is_another_owner(secured, staff, rows):
    await save(secured, "ada", isShared=True)
    rows.execute("UPDATE saved_views SET owner_provider = 'OIDC', name = 'other'")
    await save(secured, "ada")
    found = (await secured("POST", f"{PATH}/search", headers=basic("ada"))).json["items"]
    assert {(each["name"], each["owner"], each["isOwn"]) for each in found} == {
        ("other", "ada", False),
        (NAME, "ada", True),
    }
    assert not {"ownerType", "ownerProvider"} & found[0].keys()


async def test_people_who_may_read_the_list_see_what_people_who_may_change_it_share(secured, staff):
    assert (await save(secured, "vera", isShared=True)).status == 403
    key = (await save(secured, "ada", isShared=True)).json["savedViewKey"]
    assert [await names(secured, who) for who in ("ada", "vera", "ian")] == [[(NAME, "ada")]] * 2 + [[]]
    assert [
        (await secured("DELETE", f"{PATH}/{key}", headers=basic(who))).status for who in ("vera", "ian", "ada")
    ] == [403, 404, 204]
    instances = await save(secured, "ada", isShared=True, resource="process-instances")
    assert await names(secured, "ian") == [(NAME, "ada")]
    await save(secured, "ada", isShared=False, resource="process-instances")
    assert await names(secured, "ian") == []
    assert (await secured("DELETE", f"{PATH}/{instances.json['savedViewKey']}", headers=basic("ian"))).status == 404


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({"name": " "}, "No name provided"),
        ({"name": "x" * 101}, "must not be longer than 100"),
        ({"name": "a\0b"}, "NUL"),
        ({"query": "x" * 4001}, "must not be longer than 4000"),
        ({"resource": None}, "No resource provided"),
        ({"resource": "jobs"}, "resource"),
        ({"owner": "eve"}, "owner"),
        ({"isShared": "yes"}, "isShared"),
        ({"tenantId": "a"}, "multi-tenancy is disabled"),
    ],
)
async def test_what_is_refused_names_the_field(reader, more, detail):
    answer = await reader("POST", PATH, VIEW | more)
    assert (answer.status, detail in answer.problem["detail"]) == (400, True), answer.body


async def test_their_number_is_limited(secured, staff, people, monkeypatch):
    people.user("amy", "operator")
    monkeypatch.setattr(routes, "MOST_VIEWS", 2)
    monkeypatch.setattr(routes, "MOST_SHARED", 1)
    asked = [("ada", "1", True), ("ada", "2", True), ("amy", "1", True), ("ada", "2", False), ("ada", "3", False)]
    asked += [("ada", "1", True), ("amy", "1", False)]
    statuses = [(await save(secured, who, name=name, isShared=shared)).status for who, name, shared in asked]
    assert statuses == [200, 409, 409, 200, 409, 200, 200]


class As:
    """Access that takes everybody for a caller with some tenants."""

    def __init__(self, *tenants) -> None:
        self.caller = Caller("USER", "ann", ALL_RIGHTS, tenants=frozenset(tenants))

    async def authenticate(self, headers, address):
        return self.caller


async def test_a_view_of_another_tenant_is_an_unknown_view(stored, rows):
    both, one = (
        Client(api_app.build(changed(stored, access=As(*tenants), multi_tenancy=True))) for tenants in ("ab", "b")
    )
    assert (await both("POST", PATH, VIEW | {"tenantId": "a"})).status == 409, "the tenant is not there"
    for tenant in "ab":
        rows.put("tenants", tenant_id=tenant, name=tenant)
    keys = [(await both("POST", PATH, VIEW | {"tenantId": tenant})).json["savedViewKey"] for tenant in "ab"]
    assert [(await one("POST", PATH, VIEW | more)).status for more in ({"tenantId": "a"}, {})] == [403, 400]
    assert [(await one("DELETE", f"{PATH}/{key}")).status for key in keys] == [404, 204]
    assert rows.execute("SELECT tenant_id FROM saved_views").fetchall() == [("a",)]


async def test_views_end_with_their_owner_and_their_tenant(secured, staff, rows, stored):
    await save(secured, "vera")
    await save(secured, "ada", isShared=True)
    rows.put("tenants", tenant_id="t", name="t")
    rows.execute("UPDATE saved_views SET owner_provider = 'OIDC', tenant_id = 't' WHERE owner_id = 'ada'")
    async with stored.reads.pool.connection() as connection:
        for name in ("ada", "vera"):
            assert await directory.delete(connection, directory.USER, name) == "done"
        left = rows.execute("SELECT owner_id FROM saved_views").fetchall()
        assert await directory.delete(connection, directory.TENANT, "t") == "done"
    assert left == [("ada",)], "a person of the identity provider with the name of a local user is another one"
    assert rows.execute("SELECT count(*) FROM saved_views").fetchall() == [(0,)]


async def test_views_end_with_their_token_and_a_later_one_of_its_name_has_none(secured, people, rows):
    async def saved(token):
        answer = await secured("POST", PATH, VIEW, bearer(token))
        return answer.status, rows.execute("SELECT count(*) FROM saved_views").fetchone()

    people.user("ada", "operator")
    first, second = people.token("robot", "operator"), people.token("of ada", "operator")
    rows.execute("UPDATE api_tokens SET owner = 'ada', owner_provider = 'PASSWORD' WHERE name = 'of ada'")
    assert (await saved(first), await saved(second)) == ((200, (1,)), (200, (2,)))
    assert (await secured("POST", PATH, VIEW | {"name": "of the user"}, basic("ada"))).status == 200
    rows.execute("DELETE FROM api_tokens WHERE name = 'robot'")
    rows.execute("DELETE FROM users WHERE username = 'ada'")  # its tokens end with it
    assert rows.execute("SELECT owner_type FROM saved_views").fetchall() == [("USER",)]
    later = bearer(people.token("robot", "operator"))
    assert (await secured("POST", f"{PATH}/search", headers=later)).json["items"] == []


OWNERS = {
    "user": (
        View("<default>", ViewOwner("USER", "ann", "PASSWORD"), "user-tasks", "x", "", False),
        directory.USER,
        "ann",
    ),
    "tenant": (View("t", ViewOwner("USER", "eve", "OIDC"), "user-tasks", "x", "", False), directory.TENANT, "t"),
}


@pytest.mark.parametrize(("view", "kind", "id"), OWNERS.values(), ids=OWNERS)
@pytest.mark.parametrize("saved_first", [True, False])
async def test_no_view_is_left_of_an_owner_that_is_deleted_while_it_saves(
    stored, rows, people, view, kind, id, saved_first
):
    """The save waits for the deletion, or the deletion for the save."""
    people.user("ann")
    rows.put("tenants", tenant_id="t", name="t")
    connections, done = stored.reads.pool.connection, []

    async def save_view(connection):
        return await saved_views.keep_owner(connection, view) and bool(await saved_views.save(connection, view, 9, 9))

    async def delete_owner(connection):
        return await directory.delete(connection, kind, id)

    first, second = (save_view, delete_owner) if saved_first else (delete_owner, save_view)

    async def come_second():
        async with connections() as connection, connection.transaction():
            done.append(await second(connection))

    async with trio.open_nursery() as nursery, connections() as connection, connection.transaction():
        done.append(await first(connection))
        nursery.start_soon(come_second)
        await eventually(
            lambda: rows.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchall() != [(0,)], "it waits"
        )
    assert done == ([True, "done"] if saved_first else ["done", False])
    assert rows.execute("SELECT count(*) FROM saved_views").fetchall() == [(0,)]


async def test_a_view_that_is_deleted_and_saved_at_the_same_moment_is_saved(stored, rows):
    """The save waits for the deletion, and neither is the victim of a deadlock."""
    view = View("<default>", ViewOwner("USER", "ann", ""), "user-tasks", "x", "", False)
    waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'saved_views'::regclass"
    connections, keys = stored.reads.pool.connection, []

    async def save_view():
        async with connections() as connection, connection.transaction():
            keys.append(await saved_views.save(connection, view, 1, 1))

    await save_view()
    async with trio.open_nursery() as nursery, connections() as connection, connection.transaction():
        assert await saved_views.find(connection, keys[0], view.owner) is not None
        nursery.start_soon(save_view)
        await eventually(lambda: rows.execute(waiting).fetchall() != [(0,)], "the save waits")
        await saved_views.delete(connection, keys[0])
    assert rows.execute("SELECT view_key FROM saved_views").fetchall() == [(keys[1],)]
    assert keys[0] != keys[1]
