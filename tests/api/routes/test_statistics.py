"""Statistics of elements, sequence flows and the hierarchy of calls, over rows of the database."""

from urllib.parse import urlencode

import pytest

from tests.api.official import decode

KEY = 2251799813685249
NOW = "2026-11-18T11:06:40.123Z"


@pytest.fixture
def elements(rows):
    """Two instances of a definition; elements in all states, one with an incident, and a loop's body."""
    rows.instance()
    rows.instance(KEY + 100, state="COMPLETED", ended_at=NOW)
    for number, row in enumerate(
        [
            {},
            {"incidents": 1},
            {"state": "TERMINATED", "ended_at": NOW},
            {"state": "COMPLETED", "ended_at": NOW},
            {"element_type": "MULTI_INSTANCE_BODY"},
            {"element_id": "start", "state": "COMPLETED", "ended_at": NOW},
            {"process_instance_key": KEY + 100, "state": "COMPLETED", "ended_at": NOW},
        ]
    ):
        rows.element(KEY + 1 + number, **row)


def item(element, active=0, canceled=0, incidents=0, completed=0):
    counts = {"active": active, "canceled": canceled, "incidents": incidents, "completed": completed}
    return {"elementId": element, **counts}


async def test_an_instance(elements, reader):
    answer = await reader("GET", f"/v2/process-instances/{KEY}/statistics/element-instances")
    assert answer.json == {"items": [item("start", completed=1), item("task", 1, 1, 1, 1)]}
    assert len(decode("ProcessInstanceElementStatisticsQueryResult", answer.json).items) == 2


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v2/process-instances/{}/statistics/element-instances"),
        ("GET", "/v2/process-instances/{}/sequence-flows"),
        ("GET", "/v2/process-instances/{}/statistics/wait-states"),
        ("POST", "/v2/process-definitions/{}/statistics/element-instances"),
    ],
)
async def test_what_is_not_there_has_no_items(elements, reader, method, path):
    """As in Camunda: these operations have no 404, and its own suite wants 200 and no items for an unknown key."""
    answer = await reader(method, path.format(KEY + 7))
    assert (answer.status, answer.json) == (200, {"items": []})


DEFINITION = f"/v2/process-definitions/{KEY}/statistics/element-instances"


async def test_a_definition_is_answered_from_what_was_counted(elements, rows, reader):
    put = "INSERT INTO element_counts VALUES (%s, %s, %s, %s, %s, %s)"
    rows.execute(put, (1, KEY, "task", 40, 50, 60))
    rows.execute(put, (2, KEY, "task", 2, 0, 0))
    rows.execute(put, (1, KEY + 1, "task", 1, 1, 1))
    answer = await reader("POST", DEFINITION)
    assert answer.json == {"items": [item("task", 41, 60, 1, 50)]}
    assert decode("ProcessDefinitionElementStatisticsQueryResult", answer.json).items[0].active == 41


@pytest.mark.parametrize(
    ("filter", "items"),
    [
        ({"state": "ACTIVE"}, [item("start", completed=1), item("task", 1, 1, 1, 1)]),
        ({"state": "COMPLETED"}, [item("task", completed=1)]),
        ({"processInstanceKey": str(KEY + 100)}, [item("task", completed=1)]),
        (
            {"$or": [{"state": "ACTIVE"}, {"state": "COMPLETED"}]},
            [item("start", completed=1), item("task", 1, 1, 1, 2)],
        ),
        ({"elementId": "start"}, [item("start", completed=1), item("task", 1, 1, 1, 1)]),
        ({"businessId": "nobody"}, []),
    ],
)
async def test_a_definition_with_a_filter(elements, reader, filter, items):
    assert (await reader("POST", DEFINITION, {"filter": filter})).json == {"items": items}


async def test_a_filter_that_cannot_be_read(elements, reader):
    problem = (await reader("POST", DEFINITION, {"filter": {"state": "MEOW"}})).problem
    assert problem["detail"].startswith("Unexpected value 'MEOW' for enum field 'state'")
    problem = (await reader("POST", DEFINITION, {"page": {}})).problem
    assert problem["detail"] == "Request property [page] cannot be parsed"


async def test_sequence_flows(rows, reader):
    rows.instance()
    rows.element(KEY + 1, flows=["b", "a"])
    rows.element(KEY + 2, flows=["a"])
    rows.element(KEY + 3, flows=None)
    rows.element(KEY + 4, flows=["c"], process_instance_key=KEY + 1)
    answer = await reader("GET", f"/v2/process-instances/{KEY}/sequence-flows")
    assert [flow["elementId"] for flow in answer.json["items"]] == ["a", "b"]
    assert answer.json["items"][0] == {
        "sequenceFlowId": f"{KEY}_a",
        "processInstanceKey": str(KEY),
        "rootProcessInstanceKey": str(KEY),
        "processDefinitionKey": str(KEY),
        "processDefinitionId": "order",
        "elementId": "a",
        "tenantId": "<default>",
    }
    decode("ProcessInstanceSequenceFlowsQueryResult", answer.json)
    assert (await reader("GET", f"/v2/process-instances/{KEY + 5}/sequence-flows")).json == {"items": []}


async def test_the_hierarchy_of_calls(rows, reader):
    rows.instance(process_name="Order")
    rows.instance(KEY + 1, parent_process_instance_key=KEY, depth=2, process_id="pay", process_definition_key=KEY + 9)
    rows.instance(KEY + 2, parent_process_instance_key=KEY + 1, depth=3, process_name="Book")
    rows.instance(KEY + 3, parent_process_instance_key=KEY)
    answer = await reader("GET", f"/v2/process-instances/{KEY + 2}/call-hierarchy")
    assert answer.json == [
        {"processInstanceKey": str(KEY), "processDefinitionKey": str(KEY), "processDefinitionName": "Order"},
        {"processInstanceKey": str(KEY + 1), "processDefinitionKey": str(KEY + 9), "processDefinitionName": "pay"},
        {"processInstanceKey": str(KEY + 2), "processDefinitionKey": str(KEY), "processDefinitionName": "Book"},
    ]
    decode("ProcessInstanceCallHierarchyEntry", answer.json[0])
    (only,) = (await reader("GET", f"/v2/process-instances/{KEY}/call-hierarchy")).json
    assert only["processInstanceKey"] == str(KEY)
    problem = (await reader("GET", f"/v2/process-instances/{KEY + 77}/call-hierarchy")).problem
    assert (problem["status"], problem["detail"]) == (404, f"Process Instance with key '{KEY + 77}' not found")


async def test_durations(rows, reader):
    """Totals and changes that are not added up yet, of all partitions; the process itself has the element ''."""
    put = "INSERT INTO element_durations VALUES (%s, %s, %s, %s, %s, %s)"
    for element, bucket, partition, completed, total in [
        *[("task", 3, 1, 60, 180), ("task", 3, 2, 30, 90), ("task", 44, 1, 8, 36_864)],
        ("", 64, 1, 1, 140_000),
    ]:
        rows.execute(put, (KEY, element, bucket, partition, completed, total))
    rows.execute(put, (KEY + 1, "task", 1, 1, 1, 1))
    changes = "(partition_id, process_definition_key, element_id, active, completed, canceled, bucket, duration_ms)"
    rows.execute(f"INSERT INTO element_count_changes {changes} VALUES (1, {KEY}, 'task', -2, 2, 0, 3, 6)")
    rows.execute(f"INSERT INTO element_count_changes {changes} VALUES (1, {KEY}, 'task', 1, 0, 0, -1, 0)")
    answer = await reader("GET", f"/v2/process-definitions/{KEY}/statistics/element-durations")
    assert answer.json == {
        "processInstances": {"completed": 1, "meanMs": 140_000, "medianMs": 147_455, "percentile95Ms": 162_200},
        "items": [{"elementId": "task", "completed": 100, "meanMs": 371, "medianMs": 3, "percentile95Ms": 4_479}],
    }
    unknown = await reader("GET", f"/v2/process-definitions/{KEY + 9}/statistics/element-durations")
    assert unknown.json == {"processInstances": None, "items": []}


async def test_wait_states(rows, reader):
    """An element that waits for several things counts once; what has ended does not wait, nor does a scope."""
    rows.instance()
    for number, (element, ended) in enumerate(
        [("task", None), ("task", None), ("task", NOW), ("wait", None), ("sub", None)]
    ):
        rows.element(
            KEY + 1 + number, element_id=element, ended_at=ended, state="ACTIVATED" if ended is None else "COMPLETED"
        )
    for number, (of, ended) in enumerate([(1, None), (2, None), (3, NOW), (5, NOW)]):
        state = "CREATED" if ended is None else "COMPLETED"
        rows.job(KEY + 20 + number, element_instance_key=KEY + of, ended_at=ended, state=state)
    keys = {"partition_id": 1, "root_key": KEY, "process_instance_key": KEY, "process_definition_key": KEY}
    texts = {"process_id": "order", "target_element_id": "late", "tenant_id": "t", "type": "BOUNDARY"}
    for number, of in enumerate((1, 4)):
        own = {"timer_key": KEY + 30 + number, "element_instance_key": KEY + of}
        rows.put("timers", state="PENDING", due_at_ms=1, repetitions=1, created_at=NOW, **keys, **texts, **own)
    answer = await reader("GET", f"/v2/process-instances/{KEY}/statistics/wait-states")
    waiting = [{"elementId": "task", "waitingCount": 2}, {"elementId": "wait", "waitingCount": 1}]
    assert answer.json == {"items": waiting}
    decode("ProcessInstanceWaitStateStatisticsQueryResult", answer.json)


async def by_day(reader, start, **more):
    query = urlencode({"startTime": start, **more})
    return await reader("GET", f"/v2/process-instances/statistics/by-day?{query}")


async def test_what_happened_by_day(rows, reader):
    """A day is 24 hours from the moment on. A period of the counts belongs to the day in which it begins."""
    put = "INSERT INTO instance_counts VALUES (%s, %s, %s, %s, %s, %s, %s)"
    for period, key, partition, *numbers in [
        ("2026-11-17T22:45:00Z", KEY, 1, 90, 0, 0, 0),
        ("2026-11-17T23:00:00Z", KEY, 1, 3, 1, 0, 0),
        ("2026-11-17T23:00:00Z", KEY, 2, 2, 0, 1, 0),
        ("2026-11-18T22:45:00Z", KEY + 1, 1, 1, 0, 0, 0),
        ("2026-11-18T23:00:00Z", KEY, 1, 0, 2, 3, 1),
        ("2026-11-19T23:00:00Z", KEY, 1, 70, 0, 7, 0),
    ]:
        rows.execute(put, (period, key, partition, *numbers))
    rows.definition(KEY)
    rows.definition(KEY + 1, process_id="other")
    rows.execute("INSERT INTO element_counts VALUES (1, %s, '', 100, 3, 4), (1, %s, '', 20, 0, 0)", (KEY, KEY + 1))
    first = {"startTime": "2026-11-17T23:00:00.000Z", "started": 6, "ended": 2, "completed": 1, "terminated": 1}
    second = {"startTime": "2026-11-18T23:00:00.000Z", "started": 0, "ended": 5, "completed": 2, "terminated": 3}
    pinned = "UPDATE clock SET pinned_at = '2026-11-22T00:00:00Z'"
    rows.execute(pinned)
    answer = (await by_day(reader, "2026-11-18T00:00:00+01:00", days=2)).json
    assert answer == {
        "items": [first | {"incidents": 0, "running": 62}, second | {"incidents": 1, "running": 57}],
    }
    of_one = (await by_day(reader, "2026-11-18T00:00:00+01:00", days=2, processDefinitionId="other")).json["items"]
    assert [(day["started"], day["running"]) for day in of_one] == [(1, 20), (0, 20)]
    assert (await by_day(reader, "2026-11-18T00:00:00+01:00", days=2, tenantId="<default>")).json == answer
    of_other = (await by_day(reader, "2026-11-18T00:00:00+01:00", days=2, tenantId="other")).json["items"]
    assert [(day["started"], day["running"]) for day in of_other] == [(0, 0), (0, 0)]
    assert len((await by_day(reader, NOW)).json["items"]) == 14
    old = (await by_day(reader, "2026-01-01T00:00:00Z", days=1)).json["items"]
    assert [(day["started"], day["running"]) for day in old] == [(0, None)]


async def test_cycle_times(rows, reader):
    """The times of each version, in all days and day by day (UTC), without those of another process or tenant."""
    for key, version, more in [
        (KEY, 1, {}),
        (KEY + 1, 2, {}),
        (KEY + 2, 3, {"tenant_id": "other"}),
        (KEY + 3, 4, {"process_id": "other"}),
    ]:
        rows.definition(key, version=version, **more)
        for day, bucket, completed in (("2026-11-17", 3, 60), ("2026-11-17", 44, 40), ("2026-11-18", 64, version)):
            put = "INSERT INTO instance_durations VALUES (%s, %s, %s, 1, %s)"
            rows.execute(put, (f"{day}T00:00:00Z", key, bucket, completed))
    query = "startTime=2026-11-16T23:00:00Z&days=1"
    answer = await reader("GET", f"/v2/process-definitions/{KEY}/statistics/cycle-times?{query}")
    took = {"completed": 100, "medianMs": 3, "percentile90Ms": 4_863}
    day = {"startTime": "2026-11-17T00:00:00.000Z", **took}
    assert answer.json == {
        "items": [
            {"processDefinitionKey": str(KEY + 1), "processDefinitionVersion": 2, **took, "days": [day]},
            {"processDefinitionKey": str(KEY), "processDefinitionVersion": 1, **took, "days": [day]},
        ]
    }
    longer = await reader("GET", f"/v2/process-definitions/{KEY}/statistics/cycle-times?{query[:-1]}2")
    assert [version["completed"] for version in longer.json["items"]] == [102, 101]
    unknown = await reader("GET", f"/v2/process-definitions/{KEY + 9}/statistics/cycle-times?{query}")
    assert unknown.json == {"items": []}


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"startTime": "today"},
        {"startTime": "9999-12-30T00:00:00Z"},
        *({"startTime": NOW, "days": days} for days in (0, 63, "9" * 5000)),
    ],
    ids=lambda query: str(query)[:60],
)
async def test_days_that_cannot_be_counted(reader, query):
    answer = await reader("GET", f"/v2/process-instances/statistics/by-day?{urlencode(query)}")
    assert answer.status == 400
    assert (list(query)[-1] if query else "startTime") in answer.json["detail"]
