"""All reading routes of the table, for a caller with the tenant `a`, in a database with the tenants `a` and `b`.

Each of the two defences, the conditions of the statements and row-level security, must hide the other tenant alone.
"""

import json
import re
from contextlib import ExitStack

import psycopg
import pytest
import trio

from tests.api.access import test_foreign_keys
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.rows import KEY, Rows
from tests.sent_statements import record_statements
from tests.two_tenants import ENDED, OFFSETS, OTHER, counted, counting_requests, fill, key_text, log_command
from vivero.api import app as api_app
from vivero.api import reading
from vivero.api.access.scopes import Scope
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS, RESOURCES, rights
from vivero.api.routes import ROUTES, directory
from vivero.api.search import search_requests as api_search
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.storage.access import row_security
from vivero.storage.access.identities import Grant
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool

UNKNOWN = KEY + 5000
OF_NO_TENANT = {entries.path for entries in directory.KINDS} | {
    "authorizations",
    "global-task-listeners",
    "global",
    "background-jobs",
    "background-job-types",
    "queued-commands",
    "webhooks",
    "inbound-connectors",
    "inbound",
    "background-job-consumers",
    "outbox",
    "tokens",
    "document-links",
}
ENDINGS = ("/search", "/statistics/element-instances")
READING = [
    route
    for route in ROUTES
    if (route.method == "GET" or route.path.endswith(ENDINGS)) and OF_NO_TENANT.isdisjoint(route.path.split("/"))
]
BY_KEY = [route for route in READING if "{" in route.path]
SEARCHES = [route for route in READING if route.path.endswith("/search") and "{" not in route.path]
USAGE = "/v2/system/usage-metrics"
BY_DAY = "/v2/process-instances/statistics/by-day"
COUNTING = [
    route
    for route in ROUTES
    if route.path == USAGE or ("/statistics/" in route.path and "{" not in route.path and route.path != BY_DAY)
]
DEFENCES = ("both", "conditions", "row-level security")


@pytest.fixture(scope="module")
def filled(module_database):
    with psycopg.connect(module_database, autocommit=True) as connection:
        for key, tenant in ((KEY, "a"), (OTHER, "b")):
            fill(Rows(connection), key, tenant)
    trio.run(separated, module_database)
    return module_database


async def separated(dsn):
    """Policies, and the role that they hold for."""
    connection = await driver.connect(dsn, name="vivero test")
    await row_security.make_reader(connection)
    await row_security.prepare(connection, row_security.reader_of(dsn))
    connection.close()


class As:
    """Access that takes everybody for one caller."""

    def __init__(self, *tenants, allowed=ALL_RIGHTS) -> None:
        self.caller = Caller("USER", "ann", allowed, tenants=frozenset(tenants) if tenants != ("*",) else None)

    async def authenticate(self, headers, address):
        return self.caller


@pytest.fixture
async def make(filled, databases, services, monkeypatch):
    """Makes a client for a caller and a defence."""
    sessions, stack = databases.sessions(filled), ExitStack()

    def pool_of(dsn):
        return stack.enter_context(sessions.pool(dsn))

    def client(access, defence="both"):
        if defence == "row-level security":
            for module in (reading, api_search):
                monkeypatch.setattr(module, "conditions", lambda _tenants: None)
        readers = pool_of(filled if defence == "conditions" else row_security.reader_of(filled))
        other = changed(services, pool=pool_of(filled), readers=readers, multi_tenancy=True, access=access)
        return Client(api_app.build(other))

    with stack:
        yield client


def path(route, key):
    if route.path.endswith("/snapshot"):
        key += ENDED  # of which the instance is everything
    days = "?startTime=2026-11-18T00:00:00Z" if re.search("/statistics/(cycle-times|agent-calls)$", route.path) else ""
    segments = (key_text(each[1:-1], key) if each.startswith("{") else each for each in route.path.split("/"))
    return "/".join(segments) + days


def every(routes):
    return pytest.mark.parametrize("route", routes, ids=lambda route: f"{route.method} {route.path}")


async def each(routes, check):
    """Check every route with the same clients. Those that fail are told together."""
    failed = {}
    for route in routes:
        try:
            await check(route)
        except AssertionError as error:
            failed[f"{route.method} {route.path}"] = str(error)
    assert failed == {}


@pytest.mark.parametrize("defence", DEFENCES)
async def test_foreign_keys_are_unknown_keys(make, defence):
    client = make(As("a"), defence)

    async def check(route):
        own, foreign, unknown = [await client(route.method, path(route, key)) for key in (KEY, OTHER, UNKNOWN)]
        assert own.status in (200, 204)
        assert own.status != unknown.status or own.body != unknown.body, "this test would find nothing"
        assert foreign.status == unknown.status
        assert masked(foreign, OTHER) == masked(unknown, UNKNOWN)

    await each(BY_KEY, check)


def masked(answer, key):
    """The body without keys that follow from the key of the request."""
    body = answer.body.decode()
    for offset in range(100):
        body = body.replace(str(key + offset), f"+{offset}")
    return body


COMMANDS = [route for route in ROUTES if f"{route.method} {route.path}" in test_foreign_keys.BODIES]
SOME_PROCESS = rights((), [Grant(resource, "no-process", tuple(RESOURCES[resource])) for resource in RESOURCES])


@pytest.mark.parametrize("allowed", [ALL_RIGHTS, SOME_PROCESS], ids=["unrestricted", "restricted"])
async def test_a_foreign_key_costs_the_statements_of_an_unknown_one(make, engine, monkeypatch, allowed):
    """Otherwise the time of the answer would tell that the key exists. (`tests/engine/test_foreign_keys_cost.py` tries
    what the engine does with commands.)"""
    client, sent = make(As("a", allowed=allowed)), record_statements(monkeypatch)
    engine.rejection = Rejection(RejectionCode.NOT_FOUND, "none")

    async def check(route):
        costs = []
        for key in (OTHER, UNKNOWN):
            sent.clear()
            engine.appended.clear()
            body = test_foreign_keys.BODIES.get(f"{route.method} {route.path}", b"")
            answer = await client(route.method, path(route, key), with_keys(body))
            assert answer.status == 404 or answer.json.get("items") == [] or route in OF_EVERYTHING
            costs.append((answer.status, list(sent), [type(item.command) for item in engine.appended]))
        assert costs[0] == costs[1]
        assert any(costs[0][1:]) or costs[0][0] == 403, "this test would find nothing"

    await each([*BY_KEY, *COMMANDS], check)


def with_keys(body):
    """The body with keys where it has only their names."""
    return body if isinstance(body, bytes) else json.loads(re.sub(r"\{\w+Key\}", "7", json.dumps(body)))


OF_EVERYTHING = [route for route in ROUTES if route.scope is Scope.EVERYTHING]
"""Closed to restricted callers, whatever the key."""


@pytest.mark.parametrize("defence", DEFENCES)
async def test_searches_and_totals_have_own_rows_only(make, defence):
    clients = [make(As(*tenants), defence) for tenants in ("a", "ab", "c")]

    async def check(route):
        found, everything, nothing = [await search(client, route) for client in clients]
        assert everything["page"]["totalItems"] == 2 * found["page"]["totalItems"] == 2 * len(found["items"]) > 0
        assert "process-of-b" not in json.dumps(found)
        assert str(OTHER)[:-3] not in json.dumps(found)
        assert {item.get("tenantId") for item in found["items"]} == {"a"}
        assert (nothing["items"], nothing["page"]["totalItems"]) == ([], 0)

    await each(SEARCHES, check)


EXPORTS = [route for route in ROUTES if route.path.endswith("/export")]


@pytest.mark.parametrize("defence", DEFENCES)
@every(EXPORTS)
async def test_lists_as_csv_have_own_rows_only(make, route, defence):
    own, both, none = [
        (await make(As(*tenants), defence)(route.method, route.path)).body for tenants in ("a", "ab", "c")
    ]
    assert 2 * (own.count(b"\r\n") - 1) == both.count(b"\r\n") - 1 > 0
    assert none.count(b"\r\n") == 1
    assert b"process-of-b" not in own
    assert str(OTHER)[:-3].encode() not in own


async def search(client, route, body=b""):
    answer = await client(route.method, route.path, body)
    assert answer.status == 200, answer.body
    return answer.json


@pytest.mark.parametrize("defence", DEFENCES)
async def test_a_filter_and_a_cursor_do_not_widen_a_search(make, defence):
    client, of_all = make(As("a"), defence), make(As("*"), defence)

    async def check(route):
        assert (await search(client, route, {"filter": {"tenantId": "b"}}))["items"] == []
        assert len((await search(client, route, {"filter": {"tenantId": "a"}}))["items"]) > 0
        cursor = (await search(of_all, route, {"page": {"limit": 1}}))["page"]["endCursor"]
        behind = await search(client, route, {"page": {"after": cursor}})
        assert str(OTHER)[:-3] not in json.dumps(behind["items"])

    await each(SEARCHES, check)


@pytest.mark.parametrize("tenants", ["*", "ab"])
async def test_a_search_by_tenant(make, tenants):
    client = make(As(*tenants))

    async def check(route):
        for tenant in "ab":
            found = await search(client, route, {"filter": {"tenantId": tenant}})
            assert {item["tenantId"] for item in found["items"]} == {tenant}

    await each(SEARCHES, check)


@pytest.mark.parametrize("defence", DEFENCES)
@pytest.mark.parametrize(
    ("resource", "filter", "count"),
    [
        ("process-instances", {"tags": ["a"]}, 2),
        ("process-instances", {"tags": ["a", "b"]}, 0),
        ("process-instances", {"processDefinitionId": {"$like": "process-of-*"}}, 2),
        ("process-instances", {"processDefinitionId": {"$like": "process-of-?"}}, 2),
        ("process-instances", {"processDefinitionId": {"$like": "process-of-"}}, 0),
        ("user-tasks", {"candidateGroup": "g", "state": "CREATED"}, 1),
        ("user-tasks", {"candidateGroup": {"$in": ["x", "h"]}, "state": "CREATED"}, 1),
        ("user-tasks", {"candidateGroup": {"$neq": "x"}, "state": "CREATED"}, 1),
        ("user-tasks", {"candidateGroup": {"$notIn": ["g"]}, "state": "CREATED"}, 0),
        ("user-tasks", {"candidateGroup": "g"}, 1),
        ("user-tasks", {"candidateUser": {"$eq": "u"}, "state": "CREATED"}, 1),
        ("user-tasks", {"candidateUser": {"$eq": "v"}, "state": "CREATED"}, 0),
        ("user-tasks", {"$or": [{"candidateUser": "u", "state": "CREATED"}, {"assignee": "x"}]}, 1),
    ],
)
async def test_conditions_for_indexes_change_no_answer(make, defence, resource, filter, count):
    for tenants in ("a", "ab"):
        answer = await make(As(*tenants), defence)("POST", f"/v2/{resource}/search", {"filter": filter})
        assert answer.status == 200, answer.body
        assert answer.json["page"]["totalItems"] == len(answer.json["items"]) == count * len(tenants)
        assert {item["tenantId"] for item in answer.json["items"]} <= set(tenants)


@pytest.mark.parametrize("defence", DEFENCES)
@pytest.mark.parametrize(("tenants", "counts"), [("a", [1, 0]), ("ab", [1, 1]), ("c", [0, 0])])
async def test_statistics(make, defence, tenants, counts):
    client = make(As(*tenants), defence)
    for path, method in (("process-definitions", "POST"), ("process-instances", "GET")):
        for body in (b"", {"filter": {"state": "ACTIVE"}})[: 2 if method == "POST" else 1]:
            targets = [f"/v2/{path}/{key}/statistics/element-instances" for key in (KEY, OTHER)]
            answers = [await client(method, target, body) for target in targets]
            assert [len(answer.json["items"]) for answer in answers] == counts


@pytest.mark.parametrize("defence", DEFENCES)
@pytest.mark.parametrize(("tenants", "statuses"), [("a", [404, 404]), ("ab", [409, 409]), ("c", [404, 404])])
async def test_migration_plans_need_both_definitions(make, defence, tenants, statuses):
    """The files of these definitions are no models."""
    client, found = make(As(*tenants), defence), []
    for source, target in ((KEY, OTHER), (OTHER, KEY)):
        body = {"targetProcessDefinitionKey": str(target)}
        found.append(await client("POST", f"/v2/process-definitions/{source}/migration-plan", body))
    assert [answer.status for answer in found] == statuses


@pytest.mark.parametrize("defence", DEFENCES)
@every(COUNTING)
async def test_groups_count_own_rows_only(make, route, defence):
    for tenants, count in (("a", 1), ("ab", 2), ("c", 0)):
        client = make(As(*tenants), defence)
        answers = [await client(route.method, *request) for request in counting_requests(route)]
        assert [answer.status for answer in answers] == [200] * len(answers), answers[0].body
        assert sum(counted(answer.json) for answer in answers) == count
        if tenants == "a":
            assert "process-of-b" not in str([answer.body for answer in answers])


@pytest.mark.parametrize("defence", DEFENCES)
async def test_days_count_own_rows_only(make, defence):
    """Each figure is that of a statement of its own."""

    async def day(tenants):
        answer = await make(As(*tenants), defence)("GET", f"{BY_DAY}?startTime=2026-11-18T00:00:00Z&days=1")
        [item] = answer.json["items"]
        return {name: item[name] for name in ("started", "ended", "incidents", "running")}

    own = await day("a")
    assert own["started"]
    assert own["running"]
    assert await day("ab") == {name: 2 * number for name, number in own.items()}
    assert await day("c") == dict.fromkeys(own, 0)


@pytest.mark.parametrize("defence", DEFENCES)
async def test_an_expression_reads_own_scopes_only(make, defence):
    client = make(As("a"), defence)

    async def evaluate(key):
        return await client("POST", "/v2/expression/evaluation", {"expression": "=x", "scopeKey": str(key)})

    own, foreign, unknown = [await evaluate(key + 1) for key in (KEY, OTHER, UNKNOWN)]
    assert (own.status, own.json["result"]) == (200, 1)
    assert foreign.status == unknown.status == 404
    assert masked(foreign, OTHER) == masked(unknown, UNKNOWN)


@pytest.mark.parametrize("defence", DEFENCES)
async def test_a_restricted_caller_gets_404_for_foreign_keys(make, defence):
    """403 is for keys that the caller may know of."""
    grants = [Grant(resource, "no-process", tuple(RESOURCES[resource])) for resource in RESOURCES]
    client = make(As("a", allowed=rights((), grants)), defence)
    for what in ("process-definitions", "process-instances"):
        statuses = [(await client("GET", f"/v2/{what}/{key}")).status for key in (KEY, OTHER, UNKNOWN)]
        assert statuses == [403, 404, 404]


@pytest.mark.parametrize("defence", DEFENCES)
async def test_a_grant_on_a_task_of_another_tenant_gives_nothing(make, defence):
    own, foreign = (key + OFFSETS["userTaskKey"] for key in (KEY, OTHER))
    grants = [Grant("USER_TASK", str(foreign), ("READ",))]
    for tenants, statuses, found in (("a", [403, 404], []), ("ab", [403, 200], [str(foreign)])):
        client = make(As(*tenants, allowed=rights((), grants)), defence)
        assert [(await client("GET", f"/v2/user-tasks/{key}")).status for key in (own, foreign)] == statuses
        answer = await client("POST", "/v2/user-tasks/search")
        assert [item["userTaskKey"] for item in answer.json["items"]] == found


@pytest.mark.parametrize("defence", DEFENCES)
async def test_a_command_by_key_does_not_tell_the_tenants_of_its_sender(make, filled, defence):
    with psycopg.connect(filled, autocommit=True) as connection:
        log_command(Rows(connection), KEY + 20, "a,b", KEY)
        try:
            answers = [await make(As(tenant), defence)("GET", f"/v2/commands/{KEY + 20}") for tenant in ("a", "b", "*")]
        finally:
            for table in ("command_log", "event_log"):
                connection.execute(f"DELETE FROM {table} WHERE position = {KEY + 20}")
    assert [answer.status for answer in answers] == [200, 404, 200]
    assert [answers[i].json["tenantId"] for i in (0, 2)] == ["a", "a"]


@pytest.mark.parametrize("defence", DEFENCES)
async def test_administrative_audit_records_are_for_callers_with_all_tenants(make, filled, defence):
    administrative = "INSERT INTO audit_log (actor_type, category, entity_type, entity_key, operation, result) VALUES"
    with psycopg.connect(filled, autocommit=True) as connection:
        values = "('USER', 'ADMIN', 'USER', 'x', 'CREATE', 'SUCCESS')"
        key = connection.execute(f"{administrative} {values} RETURNING audit_log_key").fetchone()[0]
        try:
            for tenants, status, count in (("a", 404, 0), ("ab", 404, 0), ("*", 200, 1)):
                client = make(As(*tenants), defence)
                body = {"filter": {"category": "ADMIN"}}
                found = (await client("POST", "/v2/audit-logs/search", body)).json
                assert (len(found["items"]), found["page"]["totalItems"]) == (count, count)
                assert (await client("GET", f"/v2/audit-logs/{key}")).status == status
        finally:
            connection.execute("DELETE FROM audit_log WHERE category = 'ADMIN'")


async def test_without_tenants_the_second_role_is_not_used(filled, services, make):
    make(As("*"))
    pool = Pool(lambda deadline: driver.connect(filled, name="vivero test", deadline=deadline), 2)
    client = Client(api_app.build(changed(services, pool=pool)))
    answer = await client("POST", "/v2/process-instances/search")
    assert {item["tenantId"] for item in answer.json["items"]} == {"a", "b"}
    pool.close()
