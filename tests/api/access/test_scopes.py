"""A caller with rights on the process `order` only, in a database with the processes `order` and `secret`."""

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.rows import KEY, NOW
from tests.two_tenants import OFFSETS, OTHER, counted, counting_requests, decision_instance
from vivero.api import app as api_app
from vivero.api.access.scopes import OWNERS, Scope
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import RESOURCES, rights
from vivero.api.routes import ROUTES
from vivero.storage.access.identities import Grant


class Restricted:
    """Has all permissions, but for the ids `order` and `paid` only, and for all ids of some resources."""

    def __init__(self, *everything) -> None:
        self.everything = everything

    async def authenticate(self, headers, address):
        grants = [Grant(resource, id, tuple(RESOURCES[resource])) for resource in RESOURCES for id in ("order", "paid")]
        grants += [Grant(resource, "*", tuple(RESOURCES[resource])) for resource in self.everything]
        return Caller("USER", "ann", rights((), grants))


def fill(rows, key, process):
    """One row of each kind, of a process."""
    own = {"process_id": process, "process_definition_key": key}
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES (%s, '<xml/>')", [process])
    rows.definition(key, process_id=process, sha256=process)
    rows.form(key + 15, form_id=process, sha256=process)
    rows.generic_resource(key + 22, resource_id=process, sha256=process)
    rows.instance(key, **own)
    shared = {"root_key": key, "process_instance_key": key}
    rows.element(key + 1, **own, **shared, scope_key=key, path=[key + 1, key])
    rows.variable(key + 2, scope_key=key, **shared)
    rows.job(key + 3, **own, **shared, element_instance_key=key + 1)
    rows.incident(key + 4, **own, **shared, element_instance_key=key + 1)
    lists: dict[str, list[str]] = {"tags": [], "candidate_groups": [], "candidate_users": []}
    task = own | shared | lists | {"element_instance_key": key + 1, "element_id": "task", "tenant_id": "<default>"}
    more = {"process_version": 1, "priority": 50, "state": "CREATED", "headers": "{}"}
    rows.put("user_tasks", user_task_key=key + 5, created_at=NOW, **task, **more)
    timer = own | shared | {"element_instance_key": key + 7, "target_element_id": "wait", "tenant_id": "<default>"}
    more = {"partition_id": 1, "type": "INTERMEDIATE", "due_at_ms": 1, "repetitions": 1, "state": "PENDING"}
    rows.put("timers", timer_key=key + 6, created_at=NOW, **timer, **more)
    counts = {"active": 1, "completed": 0, "canceled": 0}
    rows.put("element_counts", partition_id=1, process_definition_key=key, element_id="", **counts)
    happened = {"period": "2026-11-18T11:00:00Z", "started": 1, "completed": 0, "canceled": 0, "incidents": 0}
    rows.put("instance_counts", partition_id=1, process_definition_key=key, **happened)
    keys = {"subscription_key": key + 8, "element_instance_key": key + 1, "tenant_id": "<default>"}
    more = {"process_version": 1, "interrupting": True, "target_element_id": "wait", "type": "INTERMEDIATE"}
    more |= {"kind": "MESSAGE", "name": "paid", "correlation_key": "1", "state": "CREATED", "updated_at": NOW}
    rows.put("subscriptions", created_at=NOW, **own, **shared, **keys, **more)
    decision_instance(rows, key + 17, decision_id=process)
    rows.decision(key + 17, decision_id=process, sha256=process)


@pytest.fixture
def database(module_database):
    """One for all tests of this file: none of their requests changes anything."""
    return module_database


@pytest.fixture
def data(rows):
    if rows.execute("SELECT count(*) FROM process_instances").fetchone() == (0,):
        fill(rows, KEY, "order")
        fill(rows, OTHER, "secret")
    return rows


@pytest.fixture
async def restricted(stored):
    return Client(api_app.build(changed(stored, access=Restricted(), clock_changed=lambda: None)))


def path(route, key):
    return "/".join(
        str(key + OFFSETS.get(segment[1:-1], 0)) if segment.startswith("{") else segment
        for segment in route.path.split("/")
    )


def of(scope):
    return pytest.mark.parametrize(
        "route", [route for route in ROUTES if route.scope is scope], ids=lambda route: f"{route.method} {route.path}"
    )


def is_closed(route):
    closed = isinstance(route.needs, tuple) or route.path == "/v2/setup/user"  # with authentication setup is over
    return closed or route.path.startswith(("/v2/authentication/me/sessions", "/v2/authentication/me/tokens"))


async def test_routes_without_a_scope_are_closed(restricted):
    """Those of sessions and tokens are of an account, and the caller has none."""
    wrong = {}
    for route in (route for route in ROUTES if route.scope is Scope.EVERYTHING):
        answer = await restricted(route.method, path(route, KEY), b"{")
        if (answer.status == 403) != is_closed(route):
            wrong[route.method, route.path] = answer.status, answer.body
    assert wrong == {}


@of(Scope.KEY)
async def test_keys_of_other_processes_are_closed(data, restricted, route):
    other = await restricted(route.method, path(route, OTHER), b"{")
    assert (other.status, other.problem["title"]) == (403, "FORBIDDEN")
    assert "secret" not in other.problem["detail"]
    own = await restricted(route.method, path(route, KEY), b"{")
    assert own.status != 403, own.body


@pytest.mark.parametrize("parameter", sorted(OWNERS))
def test_every_parameter_is_in_a_route(parameter):
    assert any(f"{{{parameter}}}" in route.path for route in ROUTES if route.scope is Scope.KEY)


def test_routes_by_key_have_a_key():
    for route in ROUTES:
        if route.scope is Scope.KEY:
            names = [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
            assert len(names) == 1, route
            assert names[0] in OWNERS, route


COUNTING = [route for route in ROUTES if route.scope is Scope.RESULTS and "/statistics/" in route.path]


@pytest.mark.parametrize("route", COUNTING, ids=lambda route: route.path)
async def test_groups_count_own_processes_only(data, restricted, reader, route):
    counts = []
    for client in (restricted, reader):
        answers = [(await client(route.method, *request)).json for request in counting_requests(route)]
        assert client is reader or "secret" not in str(answers)
        counts.append(sum(map(counted, answers)))
    assert counts == [1, 2]


@pytest.mark.parametrize(
    "route",
    [route for route in ROUTES if route.scope is Scope.RESULTS and route not in COUNTING],
    ids=lambda route: f"{route.method} {route.path}",
)
async def test_searches_find_own_processes_only(data, restricted, reader, route):
    if route.path.endswith("/export"):
        everything, found = [(await client(route.method, route.path)).body for client in (reader, restricted)]
        assert (everything.count(b"\r\n"), found.count(b"\r\n")) == (3, 2)
        assert str(OTHER)[:-1].encode() not in found
        assert b"secret" not in found
        return
    everything = (await reader(route.method, route.path)).json
    found = (await restricted(route.method, route.path)).json
    keys = str(found["items"])
    assert str(OTHER)[:-1] not in keys
    assert "secret" not in keys
    assert found["page"]["totalItems"] == len(found["items"])
    if "correlated" not in route.path:  # of which there are no rows; the code is the same
        each = 3 if "wait-states" in route.path else 1  # a job, a user task and a subscription
        assert (everything["page"]["totalItems"], found["page"]["totalItems"]) == (2 * each, each)


@pytest.mark.parametrize(
    "filter", [{"processDefinitionId": "secret"}, {"$or": [{"processDefinitionId": "secret"}, {}]}]
)
async def test_a_filter_does_not_widen_the_search(data, restricted, filter):
    answer = await restricted("POST", "/v2/process-instances/search", {"filter": filter})
    assert "secret" not in str(answer.json)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"processDefinitionId": "order"}, 200),
        ({"processDefinitionId": "secret"}, 403),
        ({"processDefinitionKey": str(KEY)}, 200),
        ({"processDefinitionKey": str(OTHER)}, 403),
    ],
)
async def test_creations(data, restricted, engine, body, status):
    answer = await restricted("POST", "/v2/process-instances?wait=false", body, [(b"prefer", b"respond-async")])
    assert (answer.status == 403) == (status == 403), answer.body
    assert len(engine.appended) == (status == 200)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"decisionDefinitionId": "order"}, 202),
        ({"decisionDefinitionId": "secret"}, 403),
        ({"decisionDefinitionKey": str(KEY + 17)}, 202),
        ({"decisionDefinitionKey": str(OTHER + 17)}, 403),
        ({"decisionDefinitionKey": "1"}, 202),
    ],
)
async def test_evaluations_of_decisions(data, restricted, engine, body, status):
    answer = await restricted("POST", "/v2/decision-definitions/evaluation?wait=false", body)
    assert answer.status == status, answer.body
    assert len(engine.appended) == (status == 202)


@pytest.mark.parametrize(("key", "status"), [(KEY, 200), (OTHER, 403), (KEY + 5000, 404)])
async def test_decision_instances(data, restricted, key, status):
    assert (await restricted("GET", f"/v2/decision-instances/{key + 17}-1")).status == status


@pytest.mark.parametrize("operation", ["publication", "correlation"])
async def test_messages(restricted, engine, operation):
    body = {"name": "other", "correlationKey": "1"}
    assert (await restricted("POST", f"/v2/messages/{operation}", body)).status == 403
    assert engine.appended == []
    answer = await restricted("POST", f"/v2/messages/{operation}", body | {"name": "paid"})
    assert answer.status != 403
    assert len(engine.appended) == 1


def _to(target, called=()):
    mappings = [{"sourceElementId": "a", "targetElementId": "b"}]
    of_called = [
        {
            "sourceProcessDefinitionKey": str(one),
            "targetProcessDefinitionKey": str(other),
            "mappingInstructions": mappings,
        }
        for one, other in called
    ]
    return {"targetProcessDefinitionKey": str(target), "mappingInstructions": mappings, "calledInstances": of_called}


@pytest.mark.parametrize(
    ("plan", "is_denied"),
    [
        (_to(KEY), False),
        (_to(OTHER), True),
        (_to(KEY, called=[(KEY, OTHER)]), True),
        (_to(KEY, called=[(OTHER, KEY)]), True),
        (_to(KEY, called=[(KEY, KEY)]), False),
    ],
)
async def test_migrations_need_rights_on_all_processes(data, stored, plan, is_denied):
    """Otherwise a caller with rights on one process could run another one."""
    restricted = Client(api_app.build(changed(stored, access=Restricted("BATCH"))))
    filter = {"processDefinitionKey": str(KEY)}
    one = await restricted("POST", f"/v2/process-instances/{KEY}/migration", plan)
    many = await restricted("POST", "/v2/process-instances/migration", {"filter": filter, "migrationPlan": plan})
    assert [answer.status == 403 for answer in (one, many)] == [is_denied] * 2, (one.body, many.body)
    if is_denied:
        assert "UPDATE_PROCESS_INSTANCE" in one.problem["detail"]


async def test_an_expression_does_not_read_variables_of_others(data, restricted, stored):
    class Evaluator:
        async def authenticate(self, headers, address):
            return Caller("USER", "ann", rights((), [Grant("EXPRESSION", "*", ("EVALUATE",))]))

    client = Client(api_app.build(changed(stored, access=Evaluator())))
    assert (await client("POST", "/v2/expression/evaluation", {"expression": "=1"})).status == 200
    answer = await client("POST", "/v2/expression/evaluation", {"expression": "=x", "scopeKey": str(OTHER)})
    assert answer.status == 403
