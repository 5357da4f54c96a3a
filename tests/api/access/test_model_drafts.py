"""Drafts of models: who sees them, versions that nobody overwrites, their limits, and their end with a tenant."""

import pytest

from tests.api.access.conftest import basic
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.one_caller import OneCaller
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS
from vivero.api.routes import model_drafts as routes
from vivero.storage.access import directory

PATH = "/v2/model-drafts"
ROUTES = {f"POST {PATH}", f"POST {PATH}/search", *(f"{each} {PATH}/{{modelDraftKey}}" for each in ("PUT", "DELETE"))}
CONTENT = "<x><script>alert('ñ \u202e \U0001f9ea')</script>"
DRAFT = {"name": "order.bpmn", "content": CONTENT}


@pytest.fixture
def staff(people):
    """Two people who may deploy, and one who may not."""
    for name, role in (("ada", "developer"), ("bob", "developer"), ("vera", "viewer")):
        people.user(name, role)


@pytest.fixture
def ask(secured, staff):
    """The answer to somebody's request for a draft, or for the path without one."""

    async def ask(who, method, key=None, body=b"", version=None):
        tag = [] if version is None else [(b"if-match", b'"%d"' % version)]
        path = PATH if key is None else f"{PATH}/{key}"
        return await secured(method, path, body, [*basic(who), *tag])

    return ask


async def test_people_who_may_deploy_see_who_has_changed_a_draft_and_when(ask, rows):
    made = await ask("ada", "POST", body=DRAFT)
    assert (made.status, made.json["version"], made.headers[b"etag"]) == (201, 1, b'"1"')
    key = made.json["modelDraftKey"]
    saved = await ask("bob", "PUT", key, DRAFT | {"content": "<y/>"}, version=1)
    assert (saved.status, saved.json["version"], saved.json["updatedBy"]) == (200, 2, "bob")
    found = await ask("ada", "GET", key)
    assert (found.headers[b"etag"], found.json["lastUpdatedDate"]) == (b'"2"', saved.json["lastUpdatedDate"])
    shown = {"name": "order.bpmn", "content": "<y/>", "version": 2, "createdBy": "ada", "updatedBy": "bob"}
    assert {name: found.json[name] for name in shown} == shown
    [listed] = (await ask("bob", "POST", "search", {"sort": [{"field": "lastUpdatedDate", "order": "DESC"}]})).json[
        "items"
    ]
    assert listed == {name: value for name, value in found.json.items() if name != "content"}
    assert [(await ask("vera", each, key, DRAFT, version=2)).status for each in ("GET", "PUT", "DELETE")] == [403] * 3
    assert [(await ask("bob", "DELETE", key)).status for _ in range(2)] == [204, 404]
    records = str(rows.execute("SELECT a::text FROM audit_log a").fetchall())
    assert f"PUT {PATH}/{key}" in records
    assert "order.bpmn" not in records


async def test_nobody_overwrites_what_somebody_else_has_written(ask):
    key = (await ask("ada", "POST", body=DRAFT)).json["modelDraftKey"]
    assert (await ask("ada", "PUT", key, DRAFT | {"content": "<a/>"}, version=1)).status == 200
    late = await ask("bob", "PUT", key, DRAFT | {"content": "<b/>"}, version=1)
    assert (late.status, late.problem["title"]) == (412, "PRECONDITION_FAILED")
    assert late.problem["detail"].startswith(f"'ada' has changed draft '{key}' at ")
    assert "its version is 2 now" in late.problem["detail"]
    assert (await ask("bob", "GET", key)).json["content"] == "<a/>"
    blind = await ask("bob", "PUT", key, DRAFT)
    assert (blind.status, "needs the version" in blind.problem["detail"]) == (400, True)
    assert (await ask("bob", "PUT", int(key) + 1, DRAFT, version=1)).status == 404


@pytest.mark.parametrize(
    ("more", "detail"),
    [
        ({"name": " "}, "No name provided"),
        ({"name": "x" * 201}, "must not be longer than 200"),
        ({"name": "../x.bpmn"}, "no other folder"),
        ({"content": ""}, "No content provided"),
        ({"content": "x" * 1_000_001}, "must not be longer than 1000000"),
        ({"content": "a\0b"}, "NUL"),
        ({"author": "eve"}, "author"),
        ({"tenantId": "a"}, "multi-tenancy is disabled"),
    ],
)
async def test_what_is_refused_names_the_field(reader, more, detail):
    answer = await reader("POST", PATH, DRAFT | more)
    assert (answer.status, detail in answer.problem["detail"]) == (400, True), answer.body


async def test_their_number_is_limited_in_each_tenant(stored, rows, monkeypatch):
    monkeypatch.setattr(routes, "MOST_DRAFTS", 1)
    both = Client(api_app.build(changed(stored, access=of("a", "b"), multi_tenancy=True)))
    for tenant in "ab":
        rows.put("tenants", tenant_id=tenant, name=tenant)
    asked = [await both("POST", PATH, DRAFT | {"tenantId": tenant}) for tenant in "aab"]
    assert [each.status for each in asked] == [201, 409, 201]
    assert "delete some" in asked[1].problem["detail"]


def of(*tenants):
    return OneCaller(Caller("USER", "ann", ALL_RIGHTS, tenants=frozenset(tenants)))


async def test_a_draft_of_another_tenant_is_an_unknown_draft_and_ends_with_the_tenant(stored, rows):
    both, one = (
        Client(api_app.build(changed(stored, access=of(*tenants), multi_tenancy=True))) for tenants in ("ab", "b")
    )
    assert (await both("POST", PATH, DRAFT | {"tenantId": "a"})).status == 409, "the tenant is not there"
    for tenant in "ab":
        rows.put("tenants", tenant_id=tenant, name=tenant)
    keys = [(await both("POST", PATH, DRAFT | {"tenantId": tenant})).json["modelDraftKey"] for tenant in "ab"]
    assert [(await one("POST", PATH, DRAFT | more)).status for more in ({"tenantId": "a"}, {})] == [403, 400]
    tag = [(b"if-match", b'"1"')]
    assert [(await one("PUT", f"{PATH}/{key}", DRAFT, tag)).status for key in keys] == [404, 200]
    assert [(await one("DELETE", f"{PATH}/{key}")).status for key in keys] == [404, 204]
    async with stored.reads.pool.connection() as connection:
        assert await directory.delete(connection, directory.TENANT, "a") == "done"
    assert rows.execute("SELECT count(*) FROM model_drafts").fetchone() == (0,)
