"""Usage metrics, the configuration of the system, the status and topology of the whole cluster, and other paths."""

from datetime import datetime, timedelta
from hashlib import md5
from urllib.parse import urlencode
from uuid import UUID

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.rows import KEY
from tests.api.rows import NOW as TEXT_NOW
from tests.two_tenants import decision_instance
from vivero.api import app
from vivero.storage.postgres.errors import ConnectionLost

NOW = datetime.fromisoformat(TEXT_NOW)
DAY, QUARTER = timedelta(days=1), timedelta(minutes=15)
USAGE = "/v2/system/usage-metrics"


def usage(start=NOW - DAY, end=NOW + DAY, **more):
    return f"{USAGE}?{urlencode({'startTime': start.isoformat(), 'endTime': end.isoformat(), **more})}"


def user_task(rows, key, **more):
    lists: dict[str, list[str]] = {"tags": [], "candidate_groups": [], "candidate_users": []}
    keys = {"user_task_key": key, "root_key": KEY, "process_instance_key": KEY, "element_instance_key": key}
    model = {"process_definition_key": KEY, "process_version": 1, "process_id": "order", "element_id": "task"}
    usual = {"priority": 50, "state": "CREATED", "headers": "{}", "created_at": NOW, "tenant_id": "<default>"}
    rows.put("user_tasks", **keys | model | lists | usual | more)


@pytest.fixture
def used(rows):
    """Two tenants with work at NOW, and a day and more before and after it."""
    for number, (moment, tenant) in enumerate(
        [(NOW, "a"), (NOW, "b"), (NOW, "b"), (NOW - 2 * DAY, "a"), (NOW + 2 * DAY, "c")]
    ):
        rows.instance(KEY + number, started_at=moment, tenant_id=tenant)
        decision_instance(rows, KEY + 100 * number, evaluated_at=moment, tenant_id=tenant)
    for number, (moment, tenant, assignee) in enumerate(
        [(NOW, "a", "ann"), (NOW, "b", "ann"), (NOW, "b", "bob"), (NOW, "b", None), (NOW + 2 * DAY, "a", "eve")]
    ):
        user_task(rows, KEY + number, created_at=moment, tenant_id=tenant, assignee=assignee)


async def test_the_use_of_a_time_by_tenant(used, reader):
    answer = (await reader("GET", usage())).json
    assert answer == {
        "processInstances": 3,
        "decisionInstances": 3,
        "assignees": 2,
        "activeTenants": 2,
        "tenants": {},
    }
    answer = (await reader("GET", usage(withTenants="true"))).json
    assert answer["tenants"] == {
        "a": {"processInstances": 1, "decisionInstances": 1, "assignees": 1},
        "b": {"processInstances": 2, "decisionInstances": 2, "assignees": 2},
    }


async def test_deleted_rows_stay_in_the_numbers(used, rows, reader):
    """Each row counts once, and so does each assignee, in one statement or several, whoever deletes the rows."""
    target = usage(withTenants="true")
    before = (await reader("GET", target)).json
    rows.execute("UPDATE process_instances SET state = 'COMPLETED', ended_at = started_at")
    rows.execute("UPDATE user_tasks SET process_instance_key = %s WHERE tenant_id = 'b'", [KEY + 1])
    for keys in ([KEY, KEY + 1], [KEY + 1, KEY + 2], [KEY + 3, KEY + 4]):
        rows.execute("SELECT delete_trees(%s::bigint[], 'RETENTION')", [keys])
        assert (await reader("GET", target)).json == before
    kept = {str(one) for (one,) in rows.execute("SELECT assignee FROM deleted_assignees")}
    names = {str(UUID(md5(name.encode()).hexdigest())) for name in ("ann", "bob", "eve")}
    assert len(kept) == len(names), "of the names"
    assert not kept & names, "a list of names does not find them"
    rows.execute("DELETE FROM decision_instances")
    assert (await reader("GET", target)).json == before
    assert rows.execute("SELECT count(*) FROM process_instances").fetchone() == (0,)
    rows.instance(KEY, started_at=NOW, tenant_id="a")
    user_task(rows, KEY, tenant_id="a", assignee="ann")
    assert (await reader("GET", usage())).json | {"tenants": before["tenants"]} == before | {"processInstances": 4}


async def test_deleted_rows_count_in_the_quarter_of_an_hour_in_which_they_began(rows, reader):
    quarter = NOW.replace(minute=NOW.minute // 15 * 15, second=0, microsecond=0)
    for number in range(3):
        rows.instance(
            KEY + number, started_at=quarter + number * timedelta(minutes=14), state="COMPLETED", ended_at=NOW
        )
    rows.execute("SELECT delete_trees(%s::bigint[], 'RETENTION')", [[KEY, KEY + 1, KEY + 2]])
    counts = [
        (await reader("GET", usage(quarter + start * QUARTER, quarter + end * QUARTER - short))).json
        for short in (timedelta(0), timedelta(milliseconds=1))
        for start, end in ((-1, 0), (0, 1), (1, 2), (2, 3), (-1, 2))
    ]
    assert [count["processInstances"] for count in counts] == [0, 2, 1, 0, 3] * 2, (
        "each time ends where the next begins"
    )


async def test_the_use_of_one_tenant(used, reader):
    answer = (await reader("GET", usage(tenantId="a", withTenants="true"))).json
    assert (answer["processInstances"], answer["activeTenants"], list(answer["tenants"])) == (1, 1, ["a"])
    answer = (await reader("GET", usage(tenantId="nobody"))).json
    assert answer == dict.fromkeys(("processInstances", "decisionInstances", "assignees", "activeTenants"), 0) | {
        "tenants": {}
    }


async def test_both_ends_of_the_time_are_included(used, reader):
    assert (await reader("GET", usage(NOW, NOW))).json["processInstances"] == 3
    later = NOW + timedelta(milliseconds=1)
    assert (await reader("GET", usage(later, later))).json["processInstances"] == 0


@pytest.mark.parametrize(
    ("query", "detail"),
    [
        ("", "Required parameter 'startTime' is not present."),
        ("?startTime=2026-01-01T00:00:00Z", "Required parameter 'endTime' is not present."),
        ("?startTime=yesterday&endTime=2026-01-01T00:00:00Z", "Failed to convert 'startTime' with value: 'yesterday'"),
        (
            "?startTime=2026-01-02T00:00:00Z&endTime=2026-01-01T00:00:00Z",
            "The endTime must not be before the startTime.",
        ),
        (
            "?startTime=2026-01-01T00:00:00Z&endTime=2026-01-01T00:00:00Z&withTenants=1",
            "Failed to convert 'withTenants' with value: '1'",
        ),
    ],
)
async def test_a_use_without_a_time_is_400(client, query, detail):
    answer = await client("GET", f"{USAGE}{query}")
    assert (answer.status, answer.problem["detail"]) == (400, detail)


async def test_the_configuration_tells_limits_and_switches(client, services):
    plain = (await client("GET", "/v2/system/configuration")).json
    assert plain["jobMetrics"]["exportInterval"] == "PT5M"
    assert plain["deployment"] == {"isMultiTenancyEnabled": False, "maxRequestSize": 16 * 1024 * 1024}
    assert plain["authentication"] == {"canLogout": False, "isLoginDelegated": False}
    delegated = Client(app.build(changed(services, multi_tenancy=True, login_delegated=True)))
    answer = (await delegated("GET", "/v2/system/configuration")).json
    assert answer["deployment"]["isMultiTenancyEnabled"] is True
    assert answer["authentication"]["isLoginDelegated"] is True


async def test_the_status_of_the_cluster(client, health):
    assert (await client("GET", "/cluster/v2/status")).json == {"status": "DEGRADED"}
    appender, consumer = health.health()
    consumer.healthy = True
    assert (await client("GET", "/cluster/v2/status")).json == {"status": "HEALTHY"}
    appender.healthy = False
    answer = await client("GET", "/cluster/v2/status")
    assert (answer.status, answer.json) == (503, {"status": "DOWN"})


async def test_a_physical_tenant_is_another_name_of_the_api(rows, reader):
    rows.instance(KEY)
    for path in (f"/v2/process-instances/{KEY}", "/v2/license", "/v2/status"):
        plain, alias = await reader("GET", path), await reader("GET", f"/physical-tenants/default{path}")
        assert (alias.status, alias.body) == (plain.status, plain.body)
        assert (await reader("GET", f"/physical-tenants/other{path}")).status == 404
    assert (await reader("GET", "/physical-tenants/default/cluster/nodes")).status == 404
    answer = await reader("GET", "/physical-tenants/default/v2/process-instances/1")
    assert answer.problem["instance"] == "/physical-tenants/default/v2/process-instances/1"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("/v1/tasks/search", "/v2/user-tasks/search"),
        ("/v1/tasks/7/complete", "/v2/user-tasks/7/completion"),
        ("/v1/tasks/7/assign", "/v2/user-tasks/7/assignment"),
        ("/v1/flownode-instances/search", "/v2/element-instances/search"),
        ("/v1/process-instances/7/statistics", "/v2/process-instances/7/statistics/element-instances"),
        ("/v1/process-definitions/7/xml", "/v2/process-definitions/7/xml"),
        ("/v1/drd/search", "/v2/decision-requirements/search"),
    ],
)
async def test_version_1_is_404_with_its_successor(client, old, new):
    answer = await client("POST", old, {})
    assert answer.status == 404
    assert answer.problem["detail"].endswith(f"; version 1 of the API is not served, use {new}")


@pytest.mark.parametrize("path", ["/v1", "/v1/", "/v1/nothing", "/v1/tasks/7/8/9"])
async def test_other_paths_of_version_1_name_none(client, path):
    answer = await client("GET", path)
    assert (answer.status, "version 1" in answer.problem["detail"]) == (404, False)


async def test_the_status_needs_no_database(make_client):
    class Lost:
        def connection(self):
            raise ConnectionLost("gone")

    assert (await make_client(pool=Lost())("GET", "/cluster/v2/status")).status == 200
