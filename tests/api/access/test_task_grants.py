"""Grants on user tasks: by key, and by what the caller is to a task. Each key of a task has the property it is for."""

import pytest

from tests.api.access.test_scopes import fill
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.rows import KEY
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import RESOURCES, rights
from vivero.api.routes import ROUTES
from vivero.storage.access.identities import Grant

ASSIGNED, CANDIDATE, OF_GROUP, FOREIGN = (KEY + 1000 * number for number in range(4))
COLUMNS = {
    ASSIGNED: "assignee = 'ann'",
    CANDIDATE: "candidate_users = '{bob,ann}'",
    OF_GROUP: "candidate_groups = '{staff}'",
}
TASK = 5
"""The distance of a task's key from the key of its instance."""
ACTIONS = tuple(sorted(RESOURCES["USER_TASK"]))
OF_TASKS = [route for route in ROUTES if "{userTaskKey}" in route.path]


@pytest.fixture
def data(rows):
    for key in (ASSIGNED, CANDIDATE, OF_GROUP, FOREIGN):
        fill(rows, key, f"process-{key}")
    for key, change in COLUMNS.items():
        rows.execute(f"UPDATE user_tasks SET {change} WHERE user_task_key = {key + TASK}")
    return rows


@pytest.fixture
def client_of(stored):
    def make(*grants, kind="USER"):
        class As:
            async def authenticate(self, headers, address):
                return Caller(kind, "ann", rights((), grants), groups=("staff",))

        return Client(api_app.build(changed(stored, access=As())))

    return make


def by(*names, actions=ACTIONS):
    return [Grant("USER_TASK", None, actions, name) for name in names]


async def found(client):
    answer = await client("POST", "/v2/user-tasks/search")
    assert answer.status == 200, answer.body
    keys = {int(item["userTaskKey"]) - TASK for item in answer.json["items"]}
    assert answer.json["page"]["totalItems"] == len(keys)
    return keys


@pytest.mark.parametrize(
    ("grants", "tasks"),
    [
        (by("assignee"), {ASSIGNED}),
        (by("candidateUsers"), {CANDIDATE}),
        (by("candidateGroups"), {OF_GROUP}),
        (by("assignee", "candidateUsers", "candidateGroups"), {ASSIGNED, CANDIDATE, OF_GROUP}),
        ([Grant("USER_TASK", str(FOREIGN + TASK), ACTIONS)], {FOREIGN}),
        ([Grant("USER_TASK", "*", ACTIONS)], {ASSIGNED, CANDIDATE, OF_GROUP, FOREIGN}),
        (
            [*by("assignee"), Grant("PROCESS_DEFINITION", f"process-{FOREIGN}", ("READ_USER_TASK",))],
            {ASSIGNED, FOREIGN},
        ),
    ],
)
async def test_a_search_finds_the_granted_tasks(data, client_of, grants, tasks):
    assert await found(client_of(*grants)) == tasks


@pytest.mark.parametrize("route", OF_TASKS, ids=lambda route: f"{route.method} {route.path}")
async def test_every_route_of_a_task_is_open_for_granted_tasks_only(data, client_of, route):
    client = client_of(*by("assignee"))
    own, foreign, unknown = [
        await client(route.method, route.path.replace("{userTaskKey}", str(key + TASK)), b"{")
        for key in (ASSIGNED, FOREIGN, KEY + 9000)
    ]
    assert own.status != 403, own.body
    assert (foreign.status, foreign.problem["title"]) == (403, "FORBIDDEN")
    assert unknown.status != 403


async def test_what_belongs_to_a_granted_task_is_found(data, client_of):
    client = client_of(*by("assignee", actions=("READ",)))
    answer = await client("POST", f"/v2/user-tasks/{ASSIGNED + TASK}/variables/search")
    assert (answer.status, answer.json["page"]["totalItems"]) == (200, 1)
    assert (await client("POST", f"/v2/user-tasks/{ASSIGNED + TASK}/completion")).status == 403
    assert (await client("POST", "/v2/variables/search")).status == 403


async def test_a_client_with_the_name_of_a_user_is_not_the_user(data, client_of):
    assert await found(client_of(*by("assignee", "candidateUsers", "candidateGroups"), kind="CLIENT")) == {OF_GROUP}


@pytest.mark.parametrize(
    "grant",
    [Grant("USER_TASK", "*", ("CLAIM",)), Grant("PROCESS_DEFINITION", f"process-{FOREIGN}", ("CLAIM_USER_TASK",))],
)
@pytest.mark.parametrize(
    ("kind", "body", "done"),
    [
        ("USER", {"assignee": "ann", "allowOverride": False}, True),
        ("USER", {"assignee": "ann"}, False),
        ("USER", {"assignee": "bob", "allowOverride": False}, False),
        ("CLIENT", {"assignee": "ann", "allowOverride": False}, False),
    ],
)
async def test_claims(data, client_of, engine, grant, kind, body, done):
    answer = await client_of(grant, kind=kind)("POST", f"/v2/user-tasks/{FOREIGN + TASK}/assignment", body)
    assert (answer.status == 403) != done, answer.body
    assert len(engine.appended) == done


async def test_who_may_update_tasks_assigns_them_to_anybody(data, client_of, engine):
    client = client_of(Grant("USER_TASK", str(FOREIGN + TASK), ("UPDATE",)))
    assert (await client("POST", f"/v2/user-tasks/{FOREIGN + TASK}/assignment", {"assignee": "bob"})).status != 403
    assert len(engine.appended) == 1
