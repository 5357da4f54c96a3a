"""Searches on PostgreSQL: every operator, every order, pages that cover everything exactly once, and no injection."""

import base64
import json
import random
from datetime import UTC, datetime, timedelta
from typing import Any

import psycopg
import pytest

from tests.server_objects import new_database
from vivero.storage.postgres import driver
from vivero.storage.search.element_instances import ELEMENT_INSTANCES
from vivero.storage.search.incidents import INCIDENTS
from vivero.storage.search.jobs import JOBS
from vivero.storage.search.problems import BadQuery, Invalid, UnexpectedValue, Unparsable
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.queries import MAX_TOTAL, SearchQuery, Sort
from vivero.storage.search.statements import get, prepare, run, statement
from vivero.storage.search.variables import VARIABLE, VARIABLE_PREVIEWS, VARIABLES

START = datetime(2026, 11, 21, 1, 2, 3, 456000, tzinfo=UTC)
RESOURCES = [
    PROCESS_DEFINITIONS,
    PROCESS_INSTANCES,
    ELEMENT_INSTANCES,
    INCIDENTS,
    JOBS,
    VARIABLE,
    VARIABLES,
    VARIABLE_PREVIEWS,
]


@pytest.fixture
def sync(database):
    """A psycopg connection to a database with the schema, to put rows in."""
    with psycopg.connect(database, autocommit=True) as connection:
        yield connection


@pytest.fixture
async def connection(sync, database):
    connection = await driver.connect(database, name="vivero test")
    yield connection
    connection.close()


def put(sync, table, **row):
    names = ", ".join(row)
    places = ", ".join(["%s"] * len(row))
    sync.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", list(row.values()))


def put_instance(sync, key, **row):
    defaults = {
        "process_instance_key": key,
        "root_key": key,
        "process_definition_key": 1,
        "process_id": "order",
        "process_version": 1,
        "tenant_id": "<default>",
        "depth": 1,
        "state": "ACTIVATED",
        "tokens": "{}",
        "live": 0,
        "incidents": 0,
        "interrupted": False,
        "started_at": START,
        "version": 1,
        "created_position": 1,
    }
    put(sync, "process_instances", **(defaults | row))


def put_element(sync, key, instance=1, **row):
    defaults = {
        "element_instance_key": key,
        "root_key": instance,
        "process_instance_key": instance,
        "scope_key": instance,
        "path": [key, instance],
        "process_definition_key": 1,
        "process_id": "order",
        "element_id": "task",
        "element_type": "SERVICE_TASK",
        "tenant_id": "<default>",
        "state": "ACTIVATED",
        "loop_index": -1,
        "tokens": "{}",
        "live": 0,
        "incidents": 0,
        "interrupted": False,
        "started_at": START,
    }
    put(sync, "element_instances", **(defaults | row))


def put_variable(sync, key, instance, name, value, scope=None):
    put(
        sync,
        "variables",
        variable_key=key,
        scope_key=scope or instance,
        process_instance_key=instance,
        root_key=instance,
        tenant_id="<default>",
        name=name,
        value=value,
    )


def put_definition(sync, key, process_id="order", version=1, state="ACTIVE", **row):
    defaults = {
        "process_definition_key": key,
        "deployment_key": 1,
        "tenant_id": "<default>",
        "process_id": process_id,
        "version": version,
        "resource_name": "order.bpmn",
        "sha256": "00",
        "state": state,
        "deployed_at": START,
    }
    put(sync, "process_definitions", **(defaults | row))


def put_job(sync, key, **row):
    defaults = {
        "job_key": key,
        "root_key": 1,
        "process_instance_key": 1,
        "element_instance_key": 2,
        "path": [2, 1],
        "process_definition_key": 1,
        "process_id": "order",
        "process_version": 1,
        "element_id": "task",
        "type": "work",
        "kind": "BPMN_ELEMENT",
        "listener_event": "UNSPECIFIED",
        "listener_index": 0,
        "state": "CREATED",
        "retries": 3,
        "priority": 0,
        "headers": '{"h":"1"}',
        "tags": [],
        "tenant_id": "<default>",
        "created_at": START,
        "updated_at": START,
        "ready": True,
    }
    put(sync, "jobs", **(defaults | row))


def put_incident(sync, key, **row):
    defaults = {
        "incident_key": key,
        "root_key": 1,
        "process_instance_key": 1,
        "element_instance_key": 2,
        "process_definition_key": 1,
        "process_id": "order",
        "element_id": "task",
        "stage": "activate",
        "type": "IO_MAPPING_ERROR",
        "message": "no",
        "state": "ACTIVE",
        "tenant_id": "<default>",
        "created_at": START,
    }
    put(sync, "incidents", **(defaults | row))


async def search(connection, resource, query):
    return await run(connection, prepare(resource, query))


def by_name(resource, name):
    return next(field for field in resource.fields if field.name == name)


def key_name(resource):
    return next(field.name for field in resource.fields if field.sql == resource.key)


async def keys(connection, resource, filter=None, **query):
    page = await search(connection, resource, SearchQuery(filter or {}, **query))
    name = key_name(resource)
    return [int(json.loads(item)[name]) for item in page.items]


# ------------------------------------------------------------------------------------------------------ documents


async def test_an_instance_has_every_field(sync, connection):
    put_instance(sync, 7, process_version=2, tags=["a", "b"], incidents=1)
    assert json.loads(await get(connection, PROCESS_INSTANCES, 7)) == {
        "processDefinitionId": "order",
        "processDefinitionName": None,
        "processDefinitionVersion": 2,
        "processDefinitionVersionTag": None,
        "startDate": "2026-11-21T01:02:03.456Z",
        "endDate": None,
        "state": "ACTIVE",
        "suspendedDate": None,
        "suspensionReason": None,
        "hasIncident": True,
        "dueDate": None,
        "lateDate": None,
        "tenantId": "<default>",
        "processInstanceKey": "7",
        "processDefinitionKey": "1",
        "parentProcessInstanceKey": None,
        "parentElementInstanceKey": None,
        "rootProcessInstanceKey": "7",
        "tags": ["a", "b"],
        "businessId": None,
    }
    assert await get(connection, PROCESS_INSTANCES, 8) is None


@pytest.mark.parametrize(
    ("column", "ended", "shown"),
    [
        ("ACTIVATING", False, "ACTIVE"),
        ("ACTIVATED", False, "ACTIVE"),
        ("COMPLETING", False, "ACTIVE"),
        ("TERMINATING", False, "ACTIVE"),
        ("COMPLETED", True, "COMPLETED"),
        ("TERMINATED", True, "TERMINATED"),
    ],
)
async def test_states_are_those_of_the_api(sync, connection, column, ended, shown):
    put_instance(sync, 1, state=column, ended_at=START if ended else None)
    put_element(sync, 2, state=column, ended_at=START if ended else None)
    for resource, key in ((PROCESS_INSTANCES, 1), (ELEMENT_INSTANCES, 2)):
        assert json.loads(await get(connection, resource, key))["state"] == shown
        for state in ("ACTIVE", "COMPLETED", "TERMINATED"):
            assert await keys(connection, resource, {"state": state}) == ([key] if state == shown else [])


async def test_an_element_without_a_name_is_named_by_its_id(sync, connection):
    put_element(sync, 2)
    put_element(sync, 3, element_name="Pay")
    names = [json.loads(await get(connection, ELEMENT_INSTANCES, key))["elementName"] for key in (2, 3)]
    assert names == ["task", "Pay"]
    assert await keys(connection, ELEMENT_INSTANCES, {"elementName": "task"}) == [2]


async def test_a_transaction_is_shown_and_found_as_a_sub_process(sync, connection):
    for key, type_ in ((2, "TRANSACTION"), (3, "SUB_PROCESS"), (4, "SERVICE_TASK")):
        put_element(sync, key, element_type=type_)
    assert json.loads(await get(connection, ELEMENT_INSTANCES, 2))["type"] == "SUB_PROCESS"
    assert await keys(connection, ELEMENT_INSTANCES, {"type": "SUB_PROCESS"}) == [2, 3]
    with pytest.raises(UnexpectedValue):
        await keys(connection, ELEMENT_INSTANCES, {"type": "TRANSACTION"})


async def test_a_complex_gateway_is_shown_and_found_as_unknown(sync, connection):
    for key, type_ in ((2, "COMPLEX_GATEWAY"), (3, "INCLUSIVE_GATEWAY")):
        put_element(sync, key, element_type=type_)
    assert json.loads(await get(connection, ELEMENT_INSTANCES, 2))["type"] == "UNKNOWN"
    assert await keys(connection, ELEMENT_INSTANCES, {"type": "UNKNOWN"}) == [2]


async def test_long_values_are_cut_in_searches_only(sync, connection):
    value = json.dumps("é" * 9000, ensure_ascii=False)
    put_variable(sync, 5, 1, "long", value)
    put_variable(sync, 6, 1, "short", "1")
    shown = [json.loads(item) for item in (await search(connection, VARIABLE_PREVIEWS, SearchQuery())).items]
    assert [(each["value"], each["isTruncated"]) for each in shown] == [(value[:8191], True), ("1", False)]
    whole = [json.loads(item) for item in (await search(connection, VARIABLES, SearchQuery())).items]
    assert [(each["value"], each["isTruncated"]) for each in whole] == [(value, False), ("1", False)]
    one = json.loads(await get(connection, VARIABLE, 5))
    assert one["value"] == value
    assert "isTruncated" not in one


async def test_deleted_definitions_are_not_there(sync, connection):
    put_definition(sync, 1, version=1)
    put_definition(sync, 2, version=2, state="DRAINING", deployment_key=7)
    put_definition(sync, 3, version=3, state="DELETED")
    assert await keys(connection, PROCESS_DEFINITIONS) == [1, 2]
    assert await keys(connection, PROCESS_DEFINITIONS, {"isLatestVersion": True}) == [1]
    assert await keys(connection, PROCESS_DEFINITIONS, {"isLatestVersion": False}) == [2]
    assert await keys(connection, PROCESS_DEFINITIONS, {"state": "draining"}) == [2]
    assert await keys(connection, PROCESS_DEFINITIONS, {"deploymentKey": "7"}) == [2]
    assert json.loads(await get(connection, PROCESS_DEFINITIONS, 2))["deploymentDate"] == "2026-11-21T01:02:03.456Z"
    assert await get(connection, PROCESS_DEFINITIONS, 3) is None


async def test_a_leased_job_shows_its_lease(sync, connection):
    leased_until = START.replace(year=START.year + 100)
    put_job(sync, 1)
    put_job(sync, 2, ready=False, available_at=leased_until, worker="w", lease_token="0" * 32, state="FAILED")
    put_job(sync, 3, ready=False, available_at=START, retries=0, state="FAILED")
    jobs = [json.loads(item) for item in (await search(connection, JOBS, SearchQuery())).items]
    assert [job["deadline"] for job in jobs] == [None, "2126-11-21T01:02:03.456Z", None]
    assert [job["worker"] for job in jobs] == ["", "w", ""]
    assert [job["hasFailedWithRetriesLeft"] for job in jobs] == [False, True, False]
    assert jobs[0]["customHeaders"] == {"h": "1"}
    assert await keys(connection, JOBS, {"hasFailedWithRetriesLeft": True}) == [2]
    assert await keys(connection, JOBS, {"deadline": {"$exists": True}}) == [2]


async def test_a_job_is_found_by_the_deadline_that_is_shown(sync, connection):
    put_job(sync, 1, ready=False, available_at=START.replace(microsecond=456789), lease_token="0" * 32)
    (job,) = [json.loads(item) for item in (await search(connection, JOBS, SearchQuery())).items]
    shown = job["deadline"]
    assert shown == "2026-11-21T01:02:03.456Z"
    for filter, found in ((shown, [1]), ({"$lte": shown}, [1]), ({"$gt": shown}, []), ({"$in": [shown]}, [1])):
        assert await keys(connection, JOBS, {"deadline": filter}) == found


# -------------------------------------------------------------------------------------------------------- filters


@pytest.fixture(scope="module")
def database_of_five(postgres_dsn, template_database):
    """A database for tests that only read: five instances, some with a business id, some ended."""
    with new_database(postgres_dsn, "search_among_five", f"TEMPLATE {template_database} STRATEGY file_copy") as dsn:
        with psycopg.connect(dsn, autocommit=True) as connection:
            put_five(connection)
        yield dsn


def put_five(sync):
    for key in range(1, 6):
        put_instance(
            sync,
            key,
            process_id=f"p{key % 2}",
            process_version=key,
            business_id=[None, "a%b", "a_b", "a\\b", "ab"][key - 1],
            started_at=START + timedelta(hours=key),
            ended_at=START if key > 3 else None,
            state="COMPLETED" if key > 3 else "ACTIVATED",
            incidents=1 if key == 1 else 0,
        )


@pytest.fixture
async def five(database_of_five):
    connection = await driver.connect(database_of_five, name="vivero test")
    yield connection
    connection.close()


@pytest.mark.parametrize(
    ("filter", "found"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"processInstanceKey": "2"}, [2]),
        ({"processInstanceKey": {"$eq": "2"}}, [2]),
        ({"processInstanceKey": {"$neq": "2"}}, [1, 3, 4, 5]),
        ({"processInstanceKey": {"$in": ["2", "4", "9"]}}, [2, 4]),
        ({"processInstanceKey": {"$in": []}}, [1, 2, 3, 4, 5]),
        ({"processInstanceKey": {"$eq": "2", "$in": [], "$notIn": []}}, [2]),
        ({"processInstanceKey": {"$in": ["2", "4"], "$notIn": []}}, [2, 4]),
        ({"processInstanceKey": {"$notIn": ["2", "4"]}}, [1, 3, 5]),
        ({"processInstanceKey": {"$exists": True}}, [1, 2, 3, 4, 5]),
        ({"processInstanceKey": {"$in": ["1", "2"], "$neq": "1"}}, [2]),
        ({"processInstanceKey": {}}, [1, 2, 3, 4, 5]),
        ({"processInstanceKey": None}, [1, 2, 3, 4, 5]),
        ({"parentProcessInstanceKey": {"$exists": False}}, [1, 2, 3, 4, 5]),
        ({"parentProcessInstanceKey": "1"}, []),
        ({"businessId": "ab"}, [5]),
        ({"businessId": {"$neq": "ab"}}, [1, 2, 3, 4]),
        ({"businessId": {"$notIn": ["ab", "a_b"]}}, [1, 2, 4]),
        ({"businessId": {"$exists": False}}, [1]),
        ({"businessId": {"$like": "a*"}}, [2, 3, 4, 5]),
        ({"businessId": {"$like": "a?b"}}, [2, 3, 4]),
        ({"businessId": {"$like": "a%b"}}, [2]),
        ({"businessId": {"$like": "a_b"}}, [3]),
        ({"businessId": {"$like": "a\\\\b"}}, [4]),
        ({"businessId": {"$like": "a\\?b"}}, []),
        ({"businessId": {"$like": "*b"}}, [2, 3, 4, 5]),
        ({"businessId": {"$like": "a*\\"}}, []),
        ({"processDefinitionVersion": 3}, [3]),
        ({"processDefinitionVersion": "3"}, [3]),
        ({"processDefinitionVersion": {"$gt": 1, "$lte": 3}}, [2, 3]),
        ({"processDefinitionVersion": {"$gte": 4}}, [4, 5]),
        ({"processDefinitionVersion": {"$lt": 2}}, [1]),
        ({"processDefinitionVersion": 2**62}, []),
        ({"startDate": {"$gte": "2026-11-21T03:02:03.456+00:00", "$lt": "2026-11-21T05:02:03.456Z"}}, [2, 3]),
        ({"startDate": "2026-11-21T04:02:03.456+02:00"}, [1]),
        ({"startDate": {"$in": ["2026-11-21T02:02:03.456Z"]}}, [1]),
        ({"startDate": {"$eq": "2026-11-22T02:01:03.456+23:59"}}, [1]),
        ({"startDate": {"$in": ["2026-11-20T02:03:03.456-23:59"]}}, [1]),
        ({"startDate": {"$neq": "2026-11-21T02:02:03.456Z"}}, [2, 3, 4, 5]),
        ({"endDate": {"$exists": False}}, [1, 2, 3]),
        ({"state": "active"}, [1, 2, 3]),
        ({"state": {"$neq": "ACTIVE"}}, [4, 5]),
        ({"state": {"$in": ["COMPLETED", "TERMINATED"]}}, [4, 5]),
        ({"state": {"$in": []}}, [1, 2, 3, 4, 5]),
        ({"state": {"$like": "*TI*", "$in": [], "$notIn": []}}, [1, 2, 3]),
        ({"state": {"$notIn": ["COMPLETED"]}}, [1, 2, 3]),
        ({"state": {"$like": "*TI*"}}, [1, 2, 3]),
        ({"state": {"$like": "?OMPLETED"}}, [4, 5]),
        ({"state": {"$exists": True}}, [1, 2, 3, 4, 5]),
        ({"state": "SUSPENDED"}, []),
        ({"hasIncident": True}, [1]),
        ({"hasIncident": False}, [2, 3, 4, 5]),
        ({"processDefinitionId": "p1", "state": "ACTIVE"}, [1, 3]),
        ({"batchOperationKey": "1"}, []),
        ({"$or": [{"processInstanceKey": "1"}, {"state": "COMPLETED", "processDefinitionId": "p0"}]}, [1, 4]),
        ({"$or": [{"processInstanceKey": "1"}, {"state": "COMPLETED"}], "processDefinitionId": "p1"}, [1, 5]),
        ({"$or": [{}]}, [1, 2, 3, 4, 5]),
        ({"$or": []}, [1, 2, 3, 4, 5]),
        ({"$or": None}, [1, 2, 3, 4, 5]),
    ],
)
async def test_filters_of_fields(five, filter, found):
    assert await keys(five, PROCESS_INSTANCES, filter) == found


async def test_filters_on_what_belongs_to_an_instance(sync, connection):
    for key in (1, 2, 3):
        put_instance(sync, key, tags=[["x", "y"], ["x"], []][key - 1])
    put_variable(sync, 11, 1, "color", '"red"')
    put_variable(sync, 12, 1, "size", "10000")
    put_variable(sync, 13, 2, "color", '"blue"')
    put_variable(sync, 14, 2, "size", "10000", scope=99)
    put_element(sync, 21, 1, element_id="pay", state="COMPLETED", ended_at=START)
    put_element(sync, 22, 1, element_id="ship", incidents=1)
    put_element(sync, 23, 2, element_id="pay")
    put_incident(sync, 31, process_instance_key=1, message="no such variable x")
    put_incident(sync, 32, process_instance_key=2, message="no such variable x", resolved_at=START)
    put_job(sync, 41, process_instance_key=2, state="FAILED", retries=1)

    async def found(**filter):
        return await keys(connection, PROCESS_INSTANCES, filter)

    assert await found(tags=["x"]) == [1, 2]
    assert await found(tags=["y", "x"]) == [1]
    assert await found(tags=[]) == [1, 2, 3]
    assert await found(variables=[{"name": "color", "value": '"red"'}]) == [1]
    assert await found(variables=[{"name": "color", "value": {"$like": '"*e*"'}}]) == [1, 2]
    assert await found(variables=[{"name": "color", "value": {"$neq": '"red"'}}]) == [2]
    both = [{"name": "size", "value": "10000"}, {"name": "color", "value": '"blue"'}]
    assert await found(variables=both) == [2]
    assert await found(variables=[{"name": "size", "value": "red"}]) == []
    assert await found(elementId="pay") == [1, 2]
    assert await found(elementId="pay", elementInstanceState="ACTIVE") == [2]
    assert await found(elementId="pay", hasElementInstanceIncident=True) == []
    assert await found(elementId="ship", hasElementInstanceIncident=True) == [1]
    assert await found(errorMessage={"$like": "*variable*"}) == [1]
    assert await found(errorMessage={"$in": [], "$notIn": []}) == [1, 2, 3]
    assert await found(variables=[{"name": "color", "value": {"$eq": '"red"', "$in": [], "$notIn": []}}]) == [1]
    assert await found(variables=[{"name": "color", "value": {"$in": [], "$notIn": []}}]) == [1, 2]
    assert await found(hasRetriesLeft=True) == [2]
    assert await found(hasRetriesLeft=False) == [1, 3]
    assert await keys(connection, VARIABLES, {"value": '"red"'}) == [11]
    assert await keys(connection, VARIABLES, {"value": {"$in": ['"red"', '"blue"']}}) == [11, 13]
    assert await keys(connection, VARIABLES, {"name": {"$like": "c*"}, "processInstanceKey": "2"}) == [13]


@pytest.mark.parametrize(
    ("resource", "filter", "error", "where"),
    [
        (PROCESS_INSTANCES, {"nonsense": 1}, Unparsable, "filter.nonsense"),
        (PROCESS_INSTANCES, {"rootProcessInstanceKey": "1"}, Unparsable, "filter.rootProcessInstanceKey"),
        (PROCESS_INSTANCES, {"processInstanceKey": 1}, Unparsable, "filter.processInstanceKey"),
        (PROCESS_INSTANCES, {"processInstanceKey": "x"}, Unparsable, "filter.processInstanceKey"),
        (PROCESS_INSTANCES, {"processInstanceKey": "9" * 20}, Unparsable, "filter.processInstanceKey"),
        (PROCESS_INSTANCES, {"processInstanceKey": {"$like": "1"}}, Unparsable, "filter.processInstanceKey.$like"),
        (PROCESS_INSTANCES, {"processInstanceKey": {"$in": "1"}}, Unparsable, "filter.processInstanceKey.$in"),
        (PROCESS_INSTANCES, {"processInstanceKey": {"$in": ["1", 2]}}, Unparsable, "filter.processInstanceKey.$in[1]"),
        (PROCESS_INSTANCES, {"processInstanceKey": {"$exists": 1}}, Unparsable, "filter.processInstanceKey.$exists"),
        (PROCESS_INSTANCES, {"processInstanceKey": {"eq": "1"}}, Unparsable, "filter.processInstanceKey.eq"),
        (PROCESS_INSTANCES, {"processDefinitionVersion": 1.5}, Unparsable, "filter.processDefinitionVersion"),
        (PROCESS_INSTANCES, {"processDefinitionVersion": True}, Unparsable, "filter.processDefinitionVersion"),
        (PROCESS_INSTANCES, {"processDefinitionVersion": 2**63}, Unparsable, "filter.processDefinitionVersion"),
        (PROCESS_INSTANCES, {"startDate": "yesterday"}, Unparsable, "filter.startDate"),
        (PROCESS_INSTANCES, {"startDate": "2026-11-21T00:00:00"}, Unparsable, "filter.startDate"),
        (PROCESS_INSTANCES, {"startDate": {"$gt": "0001-01-01T00:00:00+01:00"}}, Unparsable, "filter.startDate.$gt"),
        (PROCESS_INSTANCES, {"hasIncident": "true"}, Unparsable, "filter.hasIncident"),
        (PROCESS_INSTANCES, {"hasIncident": {"$eq": True}}, Unparsable, "filter.hasIncident"),
        (PROCESS_INSTANCES, {"$or": {}}, Unparsable, "filter.$or"),
        (PROCESS_INSTANCES, {"$or": [{"$or": []}]}, Unparsable, "filter.$or[0].$or"),
        (PROCESS_INSTANCES, {"tags": "x"}, Unparsable, "filter.tags"),
        (PROCESS_INSTANCES, {"variables": [{"name": "x"}]}, Unparsable, "filter.variables[0]"),
        (PROCESS_INSTANCES, {"variables": [{"name": "x", "value": 1}]}, Unparsable, "filter.variables[0].value"),
        (INCIDENTS, {"$or": []}, Unparsable, "filter.$or"),
        (ELEMENT_INSTANCES, {"elementInstanceKey": {"$eq": "1"}}, Unparsable, "filter.elementInstanceKey"),
        (JOBS, {"customHeaders": {}}, Unparsable, "filter.customHeaders"),
    ],
)
def test_filters_that_are_none(resource, filter, error, where):
    with pytest.raises(error) as caught:
        statement(resource, SearchQuery(filter))
    assert caught.value.path == where


def test_filters_that_ask_too_much():
    with pytest.raises(UnexpectedValue):
        statement(PROCESS_INSTANCES, SearchQuery({"state": "DONE"}))
    for filter in (
        {"businessId": {"$like": "*" * 1001}},
        {"$or": [{"businessId": {"$in": ["x"] * 1000}}] * 11},
        {"businessId": {"$in": ["x"] * 1001}},
        {"$or": [{}] * 501},
        {"$or": [{"businessId": "x"}] * 500 + [{"businessId": "y"}]},
        {"tags": ["x"] * 101},
        {"variables": [{"name": "x", "value": "1"}] * 101},
    ):
        with pytest.raises(Invalid):
            statement(PROCESS_INSTANCES, SearchQuery(filter))


def test_a_pattern_with_many_runs_is_matched_in_time():
    pattern = "*A" * 400 + "*"
    text, _ = statement(PROCESS_INSTANCES, SearchQuery({"state": {"$like": pattern}}))
    assert "(false)" in text


# ----------------------------------------------------------------------------------------------------- injection

ATTACKS = [  # each is marked by zq in front
    "'",
    "''; DROP TABLE jobs; --",
    "') OR ('1'='1",
    "\\",
    "$1",
    "%s",
    "*/",
    "{}",
    'a"b',
    "ａ＇",
    "\u202e",
    "1; SELECT pg_sleep(10)",
    "x' AND 1=(SELECT 1 FROM pg_class)--",
]


@pytest.mark.long
@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.name)
async def test_no_value_becomes_part_of_a_statement(five, resource):
    for attack in [f"zq{attack}" for attack in ATTACKS]:
        for field in resource.fields:
            for filter in attacks_on(field, attack):
                try:
                    text, _ = statement(resource, SearchQuery(filter))
                except BadQuery:
                    continue
                assert "zq" not in text
                await search(five, resource, SearchQuery(filter))
        with pytest.raises(Unparsable):
            statement(resource, SearchQuery({attack: attack}))


def attacks_on(field, attack):
    """Filters that have the attack in every place there is for a value or an operator."""
    yield {field.name: attack}
    yield {field.name: {attack: attack}}
    for operator in sorted(field.operators):
        yield {field.name: {operator: [attack] if operator in ("$in", "$notIn") else attack}}


async def test_many_variables_must_all_fit_and_are_not_all_joined(sync, connection):
    for instance in (1, 2):
        put_instance(sync, instance)
        for n in range(100):
            put_variable(sync, instance * 1000 + n, instance, f"x{n}", "2" if (instance, n) == (2, 99) else "1")
    sought = [{"name": f"x{n}", "value": "1"} for n in range(100)]
    assert await keys(connection, PROCESS_INSTANCES, {"variables": sought}) == [1]
    assert await keys(connection, PROCESS_INSTANCES, {"variables": sought[:99]}) == [1, 2]
    looked_up = []
    for filter in ({}, {"variables": sought}):
        text, values = statement(PROCESS_INSTANCES, SearchQuery(filter))
        plan = (await connection.execute(f"EXPLAIN {text}", values)).rows
        looked_up.append(sum(line.strip().startswith("SubPlan") for (line,) in plan))
    assert looked_up[1] - looked_up[0] == 2 * 95, "PostgreSQL would take seconds to plan a join of all of them"


@pytest.mark.parametrize("resource", RESOURCES, ids=lambda resource: resource.name)
async def test_every_field_can_be_sorted_and_filtered_by(five, resource):
    """The statement for each is one that PostgreSQL understands."""
    examples: Any = {
        "bigint": ["5"],
        "text": ["x"],
        "boolean": [True],
        "timestamptz": ["2026-11-21T00:00:00Z"],
    }
    for field in resource.fields:
        for descending in (False, True) if field.sort else ():
            await search(five, resource, SearchQuery(sort=(Sort(field, descending),)))
        for operator in sorted(field.operators):
            example = field.values[0] if field.values else examples[field.type.cast][0]
            value: Any = {"$exists": True, "$in": [example], "$notIn": [example]}.get(operator, example)
            filter = {field.name: value if operator == "$eq" else {operator: value}}
            await search(five, resource, SearchQuery(filter))


# --------------------------------------------------------------------------------------------------------- pages


async def all_pages(connection, resource, limit, sort=(), backwards=False):
    """The keys of all pages, one after the other, by cursor."""
    found, cursor = [], None
    while True:
        at = {"before" if backwards else "after": cursor} if cursor or not backwards else {}
        if backwards and cursor is None:
            last = await search(connection, resource, SearchQuery(sort=sort, limit=10_000))
            if not last.items:
                return []
            found = [int(json.loads(last.items[-1])[key_name(resource)])]
            cursor = last.end
            continue
        page = await search(connection, resource, SearchQuery(sort=sort, limit=limit, **at))
        some = [int(json.loads(item)[key_name(resource)]) for item in page.items]
        if not some:
            return found
        found = some + found if backwards else found + some
        cursor = page.start if backwards else page.end


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_pages_by_cursor_cover_everything_once(sync, connection, seed):
    print("seed", seed)
    pick = random.Random(seed)
    for key in pick.sample(range(1, 1000), 60):
        ended = pick.random() < 0.5
        put_instance(
            sync,
            key,
            process_id=pick.choice("abc"),
            business_id=pick.choice([None, "x", "y", "é'\"\\"]),
            started_at=START + timedelta(microseconds=pick.choice([0, 1, 1000, 5])),
            ended_at=START + timedelta(hours=pick.randrange(3)) if ended else None,
            state="COMPLETED" if ended else "ACTIVATED",
            incidents=pick.randrange(2),
        )
    fields = ["businessId", "startDate", "endDate", "state", "hasIncident", "processDefinitionId", "suspendedDate"]
    for _ in range(6):
        sort = tuple(
            Sort(by_name(PROCESS_INSTANCES, name), pick.random() < 0.5)
            for name in pick.sample(fields, pick.randrange(4))
        )
        limit = pick.choice([1, 7, 20, 60])
        expected = await keys(connection, PROCESS_INSTANCES, sort=sort, limit=10_000)
        assert len(expected) == 60
        assert await all_pages(connection, PROCESS_INSTANCES, limit, sort) == expected
        assert await all_pages(connection, PROCESS_INSTANCES, limit, sort, backwards=True) == expected


async def test_pages_by_offset(five):
    page = await search(five, PROCESS_INSTANCES, SearchQuery(limit=2, offset=3))
    assert [json.loads(item)["processInstanceKey"] for item in page.items] == ["4", "5"]
    assert (page.total, page.more) == (5, False)
    beyond = await search(five, PROCESS_INSTANCES, SearchQuery(limit=2, offset=9))
    assert (beyond.items, beyond.total, beyond.start, beyond.end) == ([], 5, None, None)


async def test_a_page_has_a_size(sync, connection):
    put_instance(sync, 1)
    for key in (11, 12, 13):
        put_variable(sync, key, 1, f"x{key}", '"' + "é" * 1000 + '"')
    page = await search(connection, VARIABLES, SearchQuery(limit=2, max_bytes=5000))
    assert (len(page.items), page.total) == (2, 3)
    with pytest.raises(Invalid, match=r"have [67]\d\d\d bytes but must not have more than 5000 together"):
        await search(connection, VARIABLES, SearchQuery(max_bytes=5000))
    alone = await search(connection, VARIABLES, SearchQuery(limit=1, after=page.end, max_bytes=10))
    assert [json.loads(item)["name"] for item in alone.items] == ["x13"]
    nothing = await search(connection, VARIABLES, SearchQuery({"name": "y"}, max_bytes=10))
    assert (nothing.items, nothing.total) == ([], 0)


async def test_totals_are_counted_up_to_a_limit(sync, connection):
    sync.execute(
        "INSERT INTO variables SELECT n, n, 1, 1, '<default>', 'x', '1' FROM generate_series(1, %s) n", [MAX_TOTAL]
    )
    page = await search(connection, VARIABLES, SearchQuery(limit=1))
    assert (page.total, page.more) == (MAX_TOTAL, False)
    put_variable(sync, 20_000, 20_000, "x", "1")
    page = await search(connection, VARIABLES, SearchQuery(limit=1))
    assert (page.total, page.more) == (MAX_TOTAL, True)


async def test_a_page_by_cursor_is_an_index_scan(sync, connection):
    sync.execute("INSERT INTO variables SELECT n, n, 1, 1, '<default>', 'x', '1' FROM generate_series(1, 20000) n")
    sync.execute("ANALYZE variables")
    first = await search(connection, VARIABLES, SearchQuery(limit=100))
    text, values = statement(VARIABLES, SearchQuery(limit=100, after=first.end))
    plan = "\n".join(row[0] for row in (await connection.execute(f"EXPLAIN {text}", values)).rows)
    assert "Index Cond: (variable_key > '100'::bigint)" in plan
    assert "Sort Method" not in plan


def cursor_of(*values):
    return base64.b64encode(json.dumps(values).encode()).decode()


@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "====",
        "é",
        cursor_of(),
        cursor_of(None),
        cursor_of(1, 2),
        cursor_of("1"),
        cursor_of(1.5),
        cursor_of(True),
        cursor_of(2**63),
        cursor_of([1]),
        base64.b64encode(b"{}").decode(),
        base64.b64encode(b"[" * 5000).decode(),
        base64.b64encode(b"\xff").decode(),
        "WzFd" * 10_000,
    ],
)
def test_cursors_that_are_none(cursor):
    for query in (SearchQuery(after=cursor), SearchQuery(before=cursor)):
        with pytest.raises(Invalid):
            statement(VARIABLES, query)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("businessId", 1),
        ("businessId", "a\0"),
        ("startDate", "2026"),
        ("startDate", "2026-01-01T00:00:00"),
        ("startDate", "9999-12-31T23:59:59-01:00"),
        ("startDate", 5),
        ("hasIncident", 0),
        ("processDefinitionVersion", "x"),
    ],
)
def test_cursors_of_another_order(field, value):
    sort = (Sort(by_name(PROCESS_INSTANCES, field)),)
    with pytest.raises(Invalid):
        statement(PROCESS_INSTANCES, SearchQuery(sort=sort, after=cursor_of(value, 1)))
