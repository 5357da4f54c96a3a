"""Comments on user tasks: who may write and read them, their limits, and their end with the instance."""

import pytest
import trio

from tests.api.access.conftest import basic
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.rows import KEY
from tests.eventually import eventually_blocked
from tests.two_tenants import OFFSETS, OTHER, fill
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS
from vivero.api.routes import task_comments as routes
from vivero.storage.retention import history
from vivero.storage.work import task_comments

TASK = KEY + 9
ROUTES = {"POST /v2/user-tasks/{userTaskKey}/comments"}
PATH = f"/v2/user-tasks/{TASK}/comments"
TEXT = "<img src=x onerror=alert(1)> 'quoted' \u202e ñ\nsecond line"


@pytest.fixture
def task(rows):
    """A user task of the process `order`."""
    own = {"process_id": "order", "tenant_id": "<default>"}
    tree = {"process_instance_key": KEY, "root_key": KEY}
    rows.definition(KEY)
    rows.instance(KEY, **own, state="COMPLETED", ended_at="2026-11-18T11:06:40Z")
    lists = {"tags": [], "candidate_groups": [], "candidate_users": []}
    more = {"process_version": 1, "priority": 50, "state": "COMPLETED", "headers": "{}", "element_id": "task"}
    at = {"element_instance_key": KEY + 1, "process_definition_key": KEY, "created_at": "2026-11-18T11:06:40Z"}
    rows.put("user_tasks", user_task_key=TASK, ended_at="2026-11-18T11:06:40Z", **own, **tree, **lists, **more, **at)


@pytest.mark.parametrize("action", ["UPDATE_USER_TASK", "CLAIM_USER_TASK", "COMPLETE_USER_TASK"])
async def test_whoever_works_on_the_task_writes_and_the_audit_log_has_no_text(people, secured, rows, task, action):
    people.user("ada")
    people.grant("USER", "ada", "PROCESS_DEFINITION", "order", action, "READ_USER_TASK")
    made = await secured("POST", PATH, {"text": TEXT}, basic("ada"))
    assert (made.status, made.json["author"]) == (201, "ada")
    [found] = (await secured("POST", f"{PATH}/search", headers=basic("ada"))).json["items"]
    assert (found["text"], found["author"], found["userTaskKey"]) == (TEXT, "ada", str(TASK))
    assert {name: found[name] for name in made.json} == made.json
    [record] = rows.execute("SELECT entity_type, operation, user_task_key, a::text FROM audit_log a").fetchall()
    assert record[:3] == ("USER_TASK", "UPDATE", TASK)
    assert f"POST {PATH}" in record[3]
    assert "onerror" not in record[3]


async def test_a_reader_does_not_write_and_a_stranger_does_not_read(people, secured, rows, task):
    people.user("vera")
    people.grant("USER", "vera", "PROCESS_DEFINITION", "order", "READ_USER_TASK")
    people.user("eve")
    people.grant("USER", "eve", "PROCESS_DEFINITION", "other", "READ_USER_TASK", "UPDATE_USER_TASK")
    assert (await secured("POST", PATH, {"text": "x"}, basic("vera"))).status == 403
    assert (await secured("POST", f"{PATH}/search", headers=basic("vera"))).status == 200
    assert (await secured("POST", PATH, {"text": "x"}, basic("eve"))).status == 403
    assert (await secured("POST", f"{PATH}/search", headers=basic("eve"))).status == 403
    assert rows.execute("SELECT count(*) FROM user_task_comments").fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "No text provided"),
        ({"text": " \n"}, "No text provided"),
        ({"text": "x" * 4001}, "must not be longer than 4000"),
        ({"text": "a\0b"}, "NUL"),
        ({"text": "x", "author": "eve"}, "author"),
    ],
)
async def test_what_is_refused_names_the_field(reader, task, body, detail):
    answer = await reader("POST", PATH, body)
    assert (answer.status, detail in answer.problem["detail"]) == (400, True), answer.body


async def test_a_task_has_a_limited_number(reader, task, monkeypatch):
    monkeypatch.setattr(routes, "MOST_COMMENTS", 2)
    statuses = [(await reader("POST", PATH, {"text": str(n)})).status for n in range(3)]
    assert statuses == [201, 201, 409]
    query = {"sort": [{"field": "creationDate", "order": "DESC"}], "page": {"limit": 1}}
    found = (await reader("POST", f"{PATH}/search", query)).json
    assert found["page"]["totalItems"] == 2
    assert (await reader("POST", f"/v2/user-tasks/{TASK + 1}/comments", {"text": "x"})).status == 404
    assert (await reader("POST", f"/v2/user-tasks/{TASK + 1}/comments/search")).status == 404


class As:
    """Access that takes everybody for a caller with one tenant."""

    def __init__(self, tenant) -> None:
        self.caller = Caller("USER", "ann", ALL_RIGHTS, tenants=frozenset({tenant}))

    async def authenticate(self, headers, address):
        return self.caller


async def test_a_task_of_another_tenant_is_an_unknown_task(stored, rows):
    for key, tenant in ((KEY, "a"), (OTHER, "b")):
        fill(rows, key, tenant)
    client = Client(api_app.build(changed(stored, access=As("b"), multi_tenancy=True)))
    mine, foreign, unknown = (f"/v2/user-tasks/{key + OFFSETS['userTaskKey']}/comments" for key in (OTHER, KEY, 7))
    answers = [await client("POST", path, {"text": "x"}) for path in (mine, foreign, unknown)]
    assert [answer.status for answer in answers] == [201, 404, 404]
    found = rows.execute("SELECT tenant_id, count(*) FROM user_task_comments GROUP BY 1 ORDER BY 1").fetchall()
    assert found == [("a", 1), ("b", 2)]


async def test_a_comment_that_comes_beside_the_deletion_of_its_tree_goes_with_it(stored, rows, task):
    """The deletion waits for it; one that comes later finds no task."""
    pool = stored.reads.pool
    async with pool.connection() as writing, pool.connection() as deleting, pool.connection() as looking:
        async with trio.open_nursery() as nursery, writing.transaction():
            assert await task_comments.add(writing, TASK, "ada", "late", 10)

            async def delete():
                async with deleting.transaction():
                    verdicts = await history.delete_trees(deleting, [KEY], history.REQUEST)
                assert verdicts == {KEY: history.DELETED}

            nursery.start_soon(delete)
            await eventually_blocked(looking)
        assert await task_comments.add(writing, TASK, "ada", "later", 10) is None
    assert rows.execute("SELECT count(*) FROM user_task_comments").fetchall() == [(0,)]
