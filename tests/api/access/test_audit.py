"""The audit log: who changed what, when, from where, and with which result."""

import json

import pytest
from psycopg.rows import dict_row

from tests.api.access.conftest import PASSWORD, basic, bearer
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.official import decode
from tests.api.rows import KEY
from vivero.api import app as api_app
from vivero.api.callers.audited import AuditSettings, Weight
from vivero.api.callers.caller import ANYBODY, Caller
from vivero.api.callers.permissions import ALL_RIGHTS
from vivero.api.routes import ROUTES
from vivero.storage.search.audit_log import ENTITY_TYPES, OPERATIONS

ROOT = basic("root")
READ_ONLY = (
    *(
        "/search",
        "/export",
        "/evaluation",
        "/element-instances",
        "/migration-plan",
        "/deployments/validation",
        "/simulations",
    ),
    *("/jobs/activation", "/chaos/children/{name}", "/mcp/cluster", "/mcp/processes"),
)
"""The ends of paths of routes that are not recorded: they change nothing, or (activation) are the work of job workers;
fault injection exists in tests only. The tools of agents are requests of other routes."""


@pytest.fixture
def recorded(rows):
    """The records so far, the oldest first."""

    def read(*columns):
        cursor = rows.execute("SELECT * FROM audit_log ORDER BY audit_log_key")
        cursor.row_factory = dict_row
        return [tuple(row[column] for column in columns) for row in cursor.fetchall()]

    return read


async def test_a_change_names_who_made_it_and_what_changed(people, secured, recorded):
    people.user("root", "admin")
    body = {"username": "ann", "password": PASSWORD}
    assert (await secured("POST", "/v2/users", body, ROOT)).status == 201
    assert (await secured("PUT", "/v2/roles/viewer/users/ann", headers=ROOT)).status == 204
    assert (await secured("PUT", "/v2/roles/viewer/users/ann", headers=ROOT)).status == 409
    assert (await secured("GET", "/v2/users/ann", headers=ROOT)).status == 200
    assert (await secured("DELETE", "/v2/users/ann", headers=ROOT)).status == 204
    role = ("USER", "root", "ADMIN", "ROLE", "viewer")
    assert recorded("actor_type", "actor_id", "category", "entity_type", "entity_key", "operation", "result") == [
        ("USER", "root", "ADMIN", "USER", "ann", "CREATE", "SUCCESS"),
        (*role, "ASSIGN", "SUCCESS"),
        (*role, "ASSIGN", "FAIL"),
        ("USER", "root", "ADMIN", "USER", "ann", "DELETE", "SUCCESS"),
    ]
    assert recorded("related_type", "related_key", "description")[1] == (
        *("USER", "ann", "PUT /v2/roles/viewer/users/ann"),
    )
    assert PASSWORD not in str(recorded("description", "entity_key", "related_key"))


async def test_a_forbidden_attempt_is_recorded_and_an_unknown_caller_is_not(people, secured, recorded):
    people.user("vic", "viewer")
    token = people.token("worker", "worker")
    assert (await secured("DELETE", "/v2/users/root", headers=basic("vic"))).status == 403
    assert (await secured("PUT", "/v2/clock", {"timestamp": 1}, bearer(token))).status == 403
    assert (await secured("POST", f"/v2/process-instances/{KEY}/cancellation", headers=basic("vic"))).status == 403
    assert (await secured("DELETE", "/v2/users/root")).status == 401
    assert (await secured("DELETE", "/v2/users/root", headers=basic("vic", "wrong password"))).status == 401
    assert recorded("actor_type", "actor_id", "entity_type", "entity_key", "operation", "result") == [
        ("USER", "vic", "USER", "root", "DELETE", "FAIL"),
        ("CLIENT", "worker", "RESOURCE", "", "UPDATE", "FAIL"),
        ("USER", "vic", "PROCESS_INSTANCE", str(KEY), "CANCEL", "FAIL"),
    ]


async def test_a_change_that_fails_has_no_record_of_a_success(people, secured, rows, recorded):
    """The record and the change are one transaction: neither is there without the other."""
    people.user("root", "admin")
    rows.execute("ALTER TABLE audit_log ADD CONSTRAINT full_disk CHECK (operation <> 'CREATE')")
    answer = await secured("POST", "/v2/groups", {"groupId": "staff", "name": "Staff"}, ROOT)
    assert answer.status >= 400
    assert rows.execute("SELECT count(*) FROM user_groups").fetchone()[0] == 0
    assert recorded("operation") == []


async def test_what_cannot_be_recorded_as_rejected_is_rejected_all_the_same(people, secured, rows, recorded):
    people.user("vic", "viewer")
    rows.execute("ALTER TABLE audit_log ADD CONSTRAINT full_disk CHECK (operation <> 'DELETE')")
    assert (await secured("DELETE", "/v2/users/root", headers=basic("vic"))).status == 403
    assert recorded("operation") == []


async def test_names_are_recorded_without_their_control_characters(people, secured, recorded):
    people.user("root", "admin")
    assert (await secured("DELETE", "/v2/tokens/a\x1bb\n", headers=ROOT)).status == 404
    assert (await secured("DELETE", "/v2/tokens/\0", headers=ROOT)).status == 400
    assert recorded("entity_key", "result") == [("a\ufffdb\ufffd", "FAIL")]


async def test_the_last_admin_is_not_removed_and_the_attempt_is_recorded(people, secured, recorded):
    people.user("root", "admin")
    assert (await secured("DELETE", "/v2/users/root", headers=ROOT)).status == 409
    assert (await secured("DELETE", "/v2/roles/admin/users/root", headers=ROOT)).status == 409
    assert recorded("entity_type", "operation", "result") == [("USER", "DELETE", "FAIL"), ("ROLE", "UNASSIGN", "FAIL")]


# ------------------------------------------------------------------------------------------------------- commands


def by(kind):
    """A client of an application whose callers all are of one kind."""

    class Known:
        async def authenticate(self, headers, address):
            return Caller(kind, "ann", ALL_RIGHTS)

    return Known()


@pytest.mark.parametrize(
    ("kind", "changes", "carried"),
    [
        *[("USER", "people", True), ("TOKEN", "people", False), ("CLIENT", "people", False)],
        *[("USER", "all", True), ("TOKEN", "all", True), ("USER", "none", False)],
    ],
)
async def test_which_creations_carry_a_record(services, engine, kind, changes, carried):
    app = api_app.build(changed(services, access=by(kind), audit=AuditSettings(changes)))
    await Client(app)(
        "POST", "/v2/process-instances", {"processDefinitionId": "order", "variables": {"secret": "s3cr3t"}}
    )
    (item,) = engine.appended
    assert (item.audit is not None) == carried
    assert "s3cr3t" not in (item.audit or "")


@pytest.mark.parametrize("kind", ["USER", "TOKEN"])
async def test_reports_of_job_workers_carry_no_record(services, engine, kind):
    client = Client(api_app.build(changed(services, access=by(kind))))
    await client("POST", f"/v2/jobs/{KEY}/completion", {})
    await client("POST", f"/v2/jobs/{KEY}/failure", {"retries": 1})
    await client("POST", f"/v2/jobs/{KEY}/error", {"errorCode": "x"})
    assert [item.audit for item in engine.appended] == [None] * 3
    await client("POST", f"/v2/process-instances/{KEY}/cancellation")
    assert '"operation":"CANCEL"' in engine.appended[-1].audit


async def test_without_authentication_interventions_are_recorded(client, engine):
    await client("POST", f"/v2/process-instances/{KEY}/cancellation")
    await client("POST", "/v2/process-instances", {"processDefinitionId": "order"})
    assert [item.audit is not None for item in engine.appended] == [True, False]
    assert '"actor_type":"ANONYMOUS"' in engine.appended[0].audit


@pytest.mark.parametrize(
    ("multi_tenancy", "tenants", "carried"), [(True, {"a", "b"}, '"a,b"'), (True, None, None), (False, set(), None)]
)
async def test_a_record_carries_the_tenants_of_its_actor(services, engine, multi_tenancy, tenants, carried):
    """With them the batch does not record the keys of other tenants. None: it may record all."""

    class Known:
        async def authenticate(self, headers, address):
            return Caller("USER", "ann", ALL_RIGHTS, tenants=None if tenants is None else frozenset(tenants))

    app = api_app.build(changed(services, access=Known(), multi_tenancy=multi_tenancy))
    await Client(app)("POST", f"/v2/process-instances/{KEY}/cancellation")
    (item,) = engine.appended
    assert json.loads(item.audit).get("tenants") == (None if carried is None else json.loads(carried))


# ------------------------------------------------------------------------------------------------------- searches


async def test_records_are_found_as_the_clients_expect_them(people, secured):
    people.user("root", "admin")
    people.user("otto", "operator")
    for name in ("a", "b"):
        await secured("POST", "/v2/groups", {"groupId": name, "name": name}, ROOT)
    await secured("DELETE", "/v2/groups/c", headers=ROOT)
    query = {"filter": {"result": "FAIL", "actorId": {"$like": "ro*"}, "category": "ADMIN"}}
    found = (await secured("POST", "/v2/audit-logs/search", query, basic("otto"))).json
    decode("AuditLogSearchQueryResult", found)
    (item,) = found["items"]
    assert (item["entityKey"], item["entityType"], item["operationType"]) == ("c", "GROUP", "DELETE")
    assert item["timestamp"].endswith("Z")
    one = await secured("GET", f"/v2/audit-logs/{item['auditLogKey']}", headers=basic("otto"))
    assert one.json == item
    decode("AuditLogResult", one.json)
    assert (await secured("GET", "/v2/audit-logs/99", headers=ROOT)).status == 404
    latest = {"sort": [{"field": "timestamp", "order": "desc"}], "page": {"limit": 1}}
    assert (await secured("POST", "/v2/audit-logs/search", latest, ROOT)).json["page"]["totalItems"] == 3
    assert (await secured("POST", "/v2/audit-logs/search", {"filter": {"x": 1}}, ROOT)).status == 400


async def test_the_records_of_a_user_task(people, secured, rows):
    people.user("root", "admin")
    people.user("rita")
    people.grant("USER", "rita", "PROCESS_DEFINITION", "other", "READ_USER_TASK")
    people.grant("USER", "rita", "USER_TASK", str(KEY), "READ")  # the task itself is gone
    who = {
        "actor_type": "USER",
        "actor_id": "ann",
        "category": "USER_TASKS",
        "entity_type": "USER_TASK",
        "result": "FAIL",
    }
    for number, operation in enumerate(("ASSIGN", "COMPLETE", "COMPLETE")):
        key = KEY + number // 2
        rows.put("audit_log", **who, operation=operation, entity_key=str(key), user_task_key=key, process_id="order")
    path = f"/v2/user-tasks/{KEY}/audit-logs/search"
    found = (await secured("POST", path, {"filter": {"actorId": "ann"}}, ROOT)).json
    assert [item["operationType"] for item in found["items"]] == ["ASSIGN", "COMPLETE"]
    assert (await secured("POST", path, {"filter": {"entityKey": "x"}}, ROOT)).status == 400
    assert (await secured("POST", path, headers=basic("rita"))).json["items"] == []


# -------------------------------------------------------------------------------------------------------- the table


def changes(route):
    if route.path in ("/v2/conditionals/evaluation", "/v2/decision-definitions/evaluation", "/inbound/{path}"):
        return True  # they start instances, or leave decision instances
    return route.method != "GET" and not route.path.endswith(READ_ONLY) and "/statistics/" not in route.path


def test_every_change_is_recorded():
    assert [route for route in ROUTES if (route.audited is not None) != changes(route)] == []
    recorded = [route for route in ROUTES if route.audited is not None]
    assert [route for route in recorded if route.audited.entity not in ENTITY_TYPES] == []
    assert [route for route in recorded if route.audited.operation not in OPERATIONS] == []


def test_only_the_work_of_people_clients_and_workers_is_not_always_recorded():
    found = {route.audited: route.audited.weight for route in ROUTES if route.audited is not None}
    assert {(each.entity, each.operation) for each, weight in found.items() if weight is Weight.JOBS} == {
        *[("JOB", "COMPLETE"), ("JOB", "UPDATE")]
    }
    assert {(each.entity, each.operation) for each, weight in found.items() if weight is Weight.BY_PEOPLE} == {
        *[("PROCESS_INSTANCE", "CREATE"), ("PROCESS_INSTANCE", "UPDATE"), ("VARIABLE", "UPDATE")],
        ("DECISION", "EVALUATE"),
        *[("RESOURCE", operation) for operation in ("CREATE", "UPDATE", "DELETE")],  # documents
        *[("USER_TASK", operation) for operation in ("ASSIGN", "UNASSIGN", "UPDATE", "COMPLETE")],
    }
    always = [each for each, weight in found.items() if weight is Weight.ALWAYS]
    assert all(AuditSettings("none").records(each, ANYBODY) for each in always)


def test_what_cannot_be_set():
    with pytest.raises(ValueError, match="people, all, none"):
        AuditSettings("some")
