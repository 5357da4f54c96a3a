"""Cluster variables over HTTP: their operations, limits, filters, tenants, and records."""

import json

import pytest
import trio

from tests.api.access.conftest import basic
from tests.api.access.test_tenant_reads import As, separated
from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.official import decode
from tests.api.rows import KEY
from vivero.api import app as api_app
from vivero.storage.access import row_security
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool
from vivero.storage.state import cluster_variables

GLOBAL, TENANTS = "/v2/cluster-variables/global", "/v2/cluster-variables/tenants"
ADMIN = basic("root")


@pytest.fixture
def admin(people, secured):
    """Calls the API as an administrator. A status that is given must be that of the answer."""
    people.user("root", "admin")

    async def call(method, path, body=b"", status=200):
        answer = await secured(method, path, body, ADMIN)
        assert answer.status == status, answer.body
        return answer

    return call


async def found(call, filter=None, query="", **body):
    answer = await call("POST", f"/v2/cluster-variables/search{query}", {"filter": filter or {}, **body})
    return answer.json["items"]


async def names(call, filter=None, **body):
    return [item["name"] for item in await found(call, filter, **body)]


@pytest.mark.parametrize(
    ("place", "scope", "tenant"), [(GLOBAL, "GLOBAL", None), (f"{TENANTS}/<default>", "TENANT", "<default>")]
)
async def test_the_life_of_a_variable(admin, place, scope, tenant):
    value = {"b": [1, 2.5, None], "a": "ö"}
    made = (await admin("POST", place, {"name": "api.url-1", "value": value, "metadata": {"team": "x", "n": 1.5}})).json
    assert made == {
        "name": "api.url-1",
        "scope": scope,
        "tenantId": tenant,
        "metadata": {"team": "x", "n": 1.5},
        "kind": "JSON",
        "value": '{"b":[1,2.5,null],"a":"ö"}',
    }
    assert (await admin("POST", place, {"name": "api.url-1", "value": 1}, 409)).problem["title"] == "ALREADY_EXISTS"
    one = f"{place}/api.url-1"
    assert (await admin("GET", one)).json == made
    decode("ClusterVariableResult", made)
    (item,) = await found(admin)
    assert item == made | {"isTruncated": False}
    decode("ClusterVariableSearchResult", item)
    changed = (await admin("PUT", one, {"value": "new"})).json
    assert changed == made | {"value": '"new"', "metadata": {}}
    assert (await admin("GET", one)).json == changed
    await admin("DELETE", one, status=204)
    for method, body in (("GET", b""), ("PUT", {"value": 1}), ("DELETE", b"")):
        assert (await admin(method, one, body, 404)).problem["title"] == "NOT_FOUND"


async def test_the_same_name_in_both_scopes(admin):
    await admin("POST", GLOBAL, {"name": "x", "value": 1})
    await admin("POST", f"{TENANTS}/<default>", {"name": "x", "value": 2})
    assert [(item["scope"], item["value"]) for item in await found(admin)] == [("GLOBAL", "1"), ("TENANT", "2")]
    await admin("DELETE", f"{GLOBAL}/x", status=204)
    assert [item["scope"] for item in await found(admin)] == ["TENANT"]


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({"value": 1}, "No name provided"),
        ({"name": "x"}, "No value provided"),
        ({"name": "x", "value": None}, "No value provided"),
        ({"name": "a b", "value": 1}, "The provided name 'a b' is not valid"),
        ({"name": "x" * 257, "value": 1}, "is not valid"),
        ({"name": "x\n", "value": 1}, "is not valid"),
        ({"name": "x", "value": "v" * 65535}, "The provided value is 65537 bytes long"),
        ({"name": "x", "value": 1, "kind": "SECRET_REFERENCE"}, "The kind 'SECRET_REFERENCE' is not supported"),
        ({"name": "x", "value": 1, "kind": "other"}, "Unexpected value 'other' for enum field 'kind'"),
        ({"name": "x", "value": 1, "metadata": {str(n): n for n in range(51)}}, "metadata has 51 entries"),
        ({"name": "x", "value": 1, "metadata": {"n" * 257: 1}}, "The provided name of metadata is 257"),
        ({"name": "x", "value": 1, "metadata": {"a": "t" * 1001}}, "The provided metadata.a is 1001"),
        ({"name": "x", "value": 1, "metadata": {"a": True}}, "metadata.a"),
        ({"name": "x", "value": 1, "more": 1}, "more"),
        ({"name": "x", "value": "\ud800"}, "cannot be parsed"),
        ({"name": "x", "value": 1, "metadata": {"a": "\0"}}, "NUL"),
        ({"name": 1, "value": 1}, "name"),
    ],
)
async def test_what_is_refused_is_named(admin, body, detail):
    assert detail in (await admin("POST", GLOBAL, body, 400)).problem["detail"]
    assert await found(admin) == []


async def test_the_largest_name_value_and_metadata(admin):
    metadata = {"n" * 256: "t" * 1000, **{str(n): n for n in range(49)}}
    made = await admin("POST", GLOBAL, {"name": "x" * 256, "value": "v" * 65534, "metadata": metadata})
    assert (await admin("GET", f"{GLOBAL}/{'x' * 256}")).json == made.json
    for path in (f"{GLOBAL}/{'x' * 257}", f"{GLOBAL}/a%20b"):
        assert "is not valid" in (await admin("GET", path, status=400)).problem["detail"]


async def test_a_value_may_be_false_or_empty(admin):
    for name, value in (("a", False), ("b", 0), ("c", ""), ("d", []), ("e", {})):
        assert json.loads((await admin("POST", GLOBAL, {"name": name, "value": value})).json["value"]) == value


async def test_there_is_a_limit_of_variables_and_of_characters(admin, monkeypatch):
    monkeypatch.setattr(cluster_variables, "MOST_VARIABLES", 2)
    monkeypatch.setattr(cluster_variables, "MOST_JSON_CHARACTERS", 20)
    await admin("POST", GLOBAL, {"name": "a", "value": "0123456789"})
    await admin("POST", GLOBAL, {"name": "b", "value": "012345"})
    refused = await admin("POST", GLOBAL, {"name": "c", "value": 1}, 400)
    assert "there are 2 already, and there must not be more than 2" in refused.problem["detail"]
    refused = await admin("PUT", f"{GLOBAL}/b", {"value": "0123456789"}, 400)
    assert "more than 20 characters together" in refused.problem["detail"]
    await admin("PUT", f"{GLOBAL}/b", {"value": "0123"})
    await admin("POST", f"{TENANTS}/<default>", {"name": "c", "value": 1})


async def test_filters_and_orders(admin):
    for name, value, metadata in (
        ("a", {"x": 1, "y": 2}, {"team": "red", "level": 1}),
        ("b", "text", {"team": "rose", "level": 10, "mixed": "5"}),
        ("c", 3, {"level": 2.5, "mixed": 5}),
    ):
        await admin("POST", GLOBAL, {"name": name, "value": value, "metadata": metadata})
    await admin("POST", f"{TENANTS}/<default>", {"name": "d", "value": "text"})
    for filter, expected in (
        ({"name": "a"}, "a"),
        ({"name": {"$in": ["a", "d"]}}, "ad"),
        ({"name": {"$like": "?"}}, "abcd"),
        ({"value": '{"y":2.0, "x":1}'}, "a"),
        ({"value": {"$like": '"te*'}}, "bd"),
        ({"scope": "GLOBAL"}, "abc"),
        ({"scope": {"$neq": "GLOBAL"}}, "d"),
        ({"tenantId": "<default>"}, "d"),
        ({"tenantId": {"$exists": False}}, "abc"),
        ({"kind": "JSON"}, "abcd"),
        ({"kind": "SECRET_REFERENCE"}, ""),
        ({"isTruncated": False}, "abcd"),
        ({"metadata": {"team": "red"}}, "a"),
        ({"metadata": {"team": {"$like": "r*e"}}}, "b"),
        ({"metadata": {"team": {"$exists": True}}}, "ab"),
        ({"metadata": {"team": {"$exists": False}}}, "cd"),
        ({"metadata": {"team": {"$in": ["red", "blue"]}}}, "a"),
        ({"metadata": {"level": 2.5}}, "c"),
        ({"metadata": {"level": {"$gt": 1, "$lt": 10}}}, "c"),
        ({"metadata": {"level": {"$gte": 1, "$lte": 10}}}, "abc"),
        ({"metadata": {"level": {"$in": [1, 10]}}}, "ab"),
        ({"metadata": {"team": {"$gt": "red"}}}, "b"),
        ({"metadata": {"mixed": 5}}, "c"),
        ({"metadata": {"mixed": "5"}}, "b"),
        ({"metadata": {"team": "red", "level": 10}}, ""),
        ({"metadata": {"none": "x' OR '1'='1"}}, ""),
        ({"metadata": {"x' OR '1'='1": 1}}, ""),
        ({"metadata": {}}, "abcd"),
    ):
        assert "".join(sorted(await names(admin, filter))) == expected, filter
    for field, expected in (("name", "dcba"), ("value", "acbd"), ("scope", "dabc"), ("tenantId", "abcd")):
        sort = [{"field": field, "order": "DESC"}]
        assert "".join(await names(admin, sort=sort)) == expected, field
    for wrong in ([], {"level": {"$gt": []}}, {"level": {"$in": [1, "x"]}}, {"level": True}, {"level": {"$like": 1}}):
        await admin("POST", "/v2/cluster-variables/search", {"filter": {"metadata": wrong}}, 400)


async def test_searches_truncate_and_a_read_does_not(admin):
    await admin("POST", GLOBAL, {"name": "long", "value": "v" * 9000})
    (item,) = await found(admin)
    assert (len(item["value"]), item["isTruncated"]) == (8191, True)
    (item,) = await found(admin, query="?truncateValues=false")
    assert (len(item["value"]), item["isTruncated"]) == (9002, False)
    assert len((await admin("GET", f"{GLOBAL}/long")).json["value"]) == 9002
    assert await names(admin, {"isTruncated": True}) == ["long"]


async def test_an_unknown_tenant_and_one_without_multi_tenancy(admin):
    refused = await admin("POST", f"{TENANTS}/blue", {"name": "x", "value": 1}, 400)
    assert "multi-tenancy is disabled" in refused.problem["detail"]
    await admin("GET", f"{TENANTS}/blue/x", status=404)


async def test_changes_are_recorded_with_their_tenant(admin, rows):
    await admin("POST", GLOBAL, {"name": "x", "value": "hidden"})
    await admin("POST", f"{TENANTS}/<default>", {"name": "y", "value": "hidden"})
    await admin("PUT", f"{TENANTS}/<default>/y", {"value": "hidden"})
    await admin("DELETE", f"{TENANTS}/<default>/z", status=404)
    await admin("DELETE", f"{GLOBAL}/x", status=204)
    columns = "category, entity_type, entity_key, operation, result, tenant_id"
    records = rows.execute(f"SELECT {columns} FROM audit_log ORDER BY audit_log_key").fetchall()
    assert [record[2:] for record in records] == [
        ("x", "CREATE", "SUCCESS", None),
        ("y", "CREATE", "SUCCESS", "<default>"),
        ("y", "UPDATE", "SUCCESS", "<default>"),
        ("z", "DELETE", "FAIL", "<default>"),
        ("x", "DELETE", "SUCCESS", None),
    ]
    assert {record[:2] for record in records} == {("ADMIN", "VARIABLE")}
    assert "hidden" not in str(rows.execute("SELECT * FROM audit_log").fetchall())


async def test_a_deleted_tenant_leaves_no_variable_to_a_later_one(admin, rows):
    await admin("POST", "/v2/tenants", {"tenantId": "blue", "name": "Blue"}, 201)
    rows.put("cluster_variables", tenant_id="blue", name="x", value="1", normal="1", metadata="{}")
    before = rows.execute("SELECT n FROM definitions_seq").fetchone()[0]
    await admin("DELETE", "/v2/tenants/blue", status=204)
    assert rows.execute("SELECT count(*) FROM cluster_variables").fetchone()[0] == 0
    assert rows.execute("SELECT n FROM definitions_seq").fetchone()[0] > before


# ---------------------------------------------------------------------------------------------------- expressions


async def evaluated(call, expression, **body):
    answer = await call("POST", "/v2/expression/evaluation", {"expression": expression, **body})
    decode("ExpressionEvaluationResult", answer.json)
    return answer.json["result"], [warning["message"] for warning in answer.json["warnings"]]


async def test_an_evaluation_sees_the_variables_and_the_instance_of_its_scope(admin, rows):
    await admin("POST", GLOBAL, {"name": "x", "value": {"a": 1}})
    await admin("POST", f"{TENANTS}/<default>", {"name": "x", "value": {"b": 2.5}})
    rows.instance(business_id="order-1")
    rows.element()
    everything = {"cluster": {"x": {"a": 1}}, "tenant": {"x": {"b": 2.5}}, "env": {"x": {"b": 2.5}}}
    assert await evaluated(admin, "=camunda.vars") == (everything, [])
    assert await evaluated(admin, "=camunda.processInstance") == ({"key": None, "businessId": None}, [])
    for key in (KEY, KEY + 1):
        result, _ = await evaluated(admin, "=camunda.processInstance", scopeKey=str(key))
        assert result == {"key": KEY, "businessId": "order-1"}
    _, warnings = await evaluated(admin, "=camunda.vars.env.y")
    assert warnings == ["No context entry found with key 'y'. Available keys: 'x'"]
    long = f'=if "{"v" * 600}" = "" then 1 else camunda.vars.cluster.x.a'
    assert await evaluated(admin, long) == (1, [])
    assert await evaluated(admin, "=camunda.x", variables={"camunda": {"x": 3}}) == (3, [])
    rows.variable(scope_key=KEY, name="camunda", value="7")
    assert await evaluated(admin, "=camunda", scopeKey=str(KEY)) == (7, [])


async def test_an_evaluation_needs_the_permission_only_for_the_context(people, secured, rows):
    people.user("eve")
    rows.put(
        "authorizations",
        owner_type="USER",
        owner_id="eve",
        resource_type="EXPRESSION",
        resource_id="*",
        permission_types=["EVALUATE"],
    )
    for expression, status in (
        ("=1 + 1", 200),
        ('="camunda.vars"', 200),
        ("=camunda.vars.env", 403),
        ('=get value(camunda, "vars")', 403),
        ("=camunda.vars.", 400),
        (f'="{"v" * 600}" = camunda.vars.env.x', 403),
    ):
        answer = await secured("POST", "/v2/expression/evaluation", {"expression": expression}, basic("eve"))
        assert answer.status == status, expression
        if status == 403:
            assert "'READ' on resource 'CLUSTER_VARIABLE'" in answer.problem["detail"]


# -------------------------------------------------------------------------------------------------------- tenants


@pytest.fixture
async def of_tenants(migrated, services, rows):
    """Makes a client for a caller with some tenants. The tenants `a` and `b` exist."""
    await separated(migrated)
    for tenant in "ab":
        rows.put("tenants", tenant_id=tenant, name=tenant)
    pools = []

    def pool_of(dsn):
        pools.append(Pool(lambda deadline: driver.connect(dsn, name="vivero test", deadline=deadline), 2))
        return pools[-1]

    pool, readers = pool_of(migrated), pool_of(row_security.reader_of(migrated))

    def client(*tenants):
        other = changed(services, pool=pool, readers=readers, multi_tenancy=True, access=As(*tenants))
        return Client(api_app.build(other))

    yield client
    for each in pools:
        each.close()


async def test_tenants_see_their_own_and_those_of_the_cluster_and_change_their_own(of_tenants):
    everything, one = of_tenants("*"), of_tenants("a")
    assert (await everything("POST", GLOBAL, {"name": "g", "value": 1})).status == 200
    for tenant in "ab":
        answer = await everything("POST", f"{TENANTS}/{tenant}", {"name": "own", "value": tenant})
        assert answer.status == 200, answer.body
    assert await names(one) == ["g", "own"]
    assert [item["tenantId"] for item in await found(one)] == [None, "a"]
    assert (await one("GET", f"{GLOBAL}/g")).status == 200
    assert (await one("GET", f"{TENANTS}/a/own")).status == 200
    foreign, unknown = [await one("GET", f"{TENANTS}/{tenant}/own") for tenant in "bu"]
    assert (foreign.status, unknown.status) == (404, 404)
    assert foreign.json["detail"].replace("'b'", "'u'") == unknown.json["detail"]
    for method, path, body in (
        ("POST", f"{TENANTS}/b", {"name": "x", "value": 1}),
        ("PUT", f"{TENANTS}/b/own", {"value": 1}),
        ("DELETE", f"{TENANTS}/b/own", b""),
        ("POST", f"{TENANTS}/u", {"name": "x", "value": 1}),
        ("POST", GLOBAL, {"name": "x", "value": 1}),
        ("PUT", f"{GLOBAL}/g", {"value": 1}),
        ("DELETE", f"{GLOBAL}/g", b""),
    ):
        assert (await one(method, path, body)).status == 403, path
    assert (await one("PUT", f"{TENANTS}/a/own", {"value": 2})).status == 200
    assert (await everything("POST", f"{TENANTS}/u", {"name": "x", "value": 1})).status == 404
    assert (await one("DELETE", f"{TENANTS}/a/own")).status == 204
    assert [(item["tenantId"], item["value"]) for item in await found(everything)] == [(None, "1"), ("b", '"b"')]


async def test_an_evaluation_sees_the_tenant_that_it_names_or_that_of_its_scope(of_tenants, rows):
    everything, one = of_tenants("*"), of_tenants("a")
    for place, value in ((GLOBAL, "g"), (f"{TENANTS}/a", "a"), (f"{TENANTS}/b", "b")):
        assert (await everything("POST", place, {"name": "x", "value": value})).status == 200
    rows.instance(KEY, tenant_id="a")
    rows.instance(KEY + 1, tenant_id="b")
    env = "=camunda.vars.env.x"
    assert await evaluated(one, env) == ("g", [])
    assert await evaluated(one, env, scopeKey=str(KEY)) == ("a", [])
    assert await evaluated(everything, env, scopeKey=str(KEY + 1)) == ("b", [])
    foreign = await one("POST", "/v2/expression/evaluation", {"expression": env, "scopeKey": str(KEY + 1)})
    assert foreign.status == 404
    foreign = await one("POST", "/v2/expression/evaluation", {"expression": env, "tenantId": "b"})
    assert foreign.status == 403


async def test_the_limit_holds_for_changes_at_the_same_time(of_tenants, monkeypatch):
    monkeypatch.setattr(cluster_variables, "MOST_VARIABLES", 1)
    client, statuses = of_tenants("*"), []

    async def create(name):
        statuses.append((await client("POST", GLOBAL, {"name": name, "value": 1})).status)

    async with trio.open_nursery() as nursery:
        nursery.start_soon(create, "a")
        nursery.start_soon(create, "b")
    assert sorted(statuses) == [200, 400]
