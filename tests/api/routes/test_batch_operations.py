"""Batch operations over HTTP: creation, progress, items, suspension, resumption, cancellation; bad input."""

import msgspec
import pytest

from tests.api.official import decode
from tests.api.rows import KEY, NOW
from vivero.storage.work.activation import MAX_TIMEOUT_MS

CANCELLATION, RESOLUTION = "/v2/process-instances/cancellation", "/v2/process-instances/incident-resolution"
CREATIONS = (CANCELLATION, RESOLUTION, "/v2/process-instances/deletion", "/v2/incidents/resolution")
FILTER = {"filter": {"processDefinitionId": "order", "state": "ACTIVE"}}


async def create(reader, path=CANCELLATION, body=FILTER, headers=()):
    answer = await reader("POST", path, body, headers)
    assert answer.status == 200, answer.body
    return answer.json["batchOperationKey"]


async def test_a_batch_is_created_found_and_read(reader, rows):
    key = await create(reader)
    other = await create(reader, RESOLUTION)
    found = await reader("GET", f"/v2/batch-operations/{key}")
    decode("BatchOperationResponse", found.json)
    assert found.json == {
        "batchOperationKey": key,
        "state": "CREATED",
        "batchOperationType": "CANCEL_PROCESS_INSTANCE",
        "startDate": None,
        "endDate": None,
        "actorType": "ANONYMOUS",
        "actorId": "anonymous",
        "tenantId": None,
        **{f"operations{each}Count": 0 for each in ("Total", "Completed", "Failed", "Skipped", "Canceled")},
        "errors": [],
    }
    body = {"filter": {"operationType": "RESOLVE_INCIDENT"}, "sort": [{"field": "startDate", "order": "DESC"}]}
    (item,) = (await reader("POST", "/v2/batch-operations/search", body)).json["items"]
    assert item["batchOperationKey"] == other
    stored = rows.execute("SELECT filter, tenants, processes FROM batch_operations ORDER BY 1::text").fetchall()
    assert stored[0] == (FILTER["filter"], None, None)


async def test_items_show_how_they_ended(reader, rows):
    key = int(await create(reader))
    tree = {"process_instance_key": KEY, "root_key": KEY, "process_id": "order", "tenant_id": "<default>"}
    kind = {"batch_operation_key": key, "type": "CANCEL_PROCESS_INSTANCE"}
    rows.put("batch_operation_items", **kind, item_key=KEY, **tree)
    failed = {"state": "FAILED", "error": "NOT_FOUND: gone", "processed_at": NOW}
    rows.put("batch_operation_items", **kind, item_key=KEY + 1, **tree, **failed)
    rows.execute("UPDATE batch_operations SET error = 'too slow', total = 2, failed = 1")
    search = {"filter": {"batchOperationKey": str(key), "state": "FAILED"}}
    answer = await reader("POST", "/v2/batch-operation-items/search", search)
    assert answer.json["items"] == [
        {
            "operationType": "CANCEL_PROCESS_INSTANCE",
            "batchOperationKey": str(key),
            "itemKey": str(KEY + 1),
            "processInstanceKey": str(KEY),
            "rootProcessInstanceKey": str(KEY),
            "state": "FAILED",
            "processedDate": NOW,
            "errorMessage": "NOT_FOUND: gone",
            "tenantId": "<default>",
        }
    ]
    everything = await reader("POST", "/v2/batch-operation-items/search", {"page": {"limit": 1}})
    assert everything.json["page"]["totalItems"] == 2
    after = {"page": {"after": everything.json["page"]["endCursor"]}}
    assert len((await reader("POST", "/v2/batch-operation-items/search", after)).json["items"]) == 1
    decode("BatchOperationItemSearchQueryResult", everything.json)
    batch = (await reader("GET", f"/v2/batch-operations/{key}")).json
    assert batch["errors"] == [{"partitionId": 1, "type": "QUERY_FAILED", "message": "too slow"}]
    assert (batch["operationsTotalCount"], batch["operationsFailedCount"]) == (2, 1)


async def test_instances_are_found_by_the_batch_that_changed_them(reader, rows):
    rows.instance(KEY)
    rows.instance(KEY + 1)
    tree = {"process_instance_key": KEY, "root_key": KEY, "process_id": "order", "tenant_id": "<default>"}
    rows.put("batch_operation_items", batch_operation_key=7, type="CANCEL_PROCESS_INSTANCE", item_key=KEY, **tree)
    for name in ("batchOperationKey", "batchOperationId"):
        for key, found in (("7", [str(KEY)]), ("8", [])):
            answer = await reader("POST", "/v2/process-instances/search", {"filter": {name: key}})
            assert [item["processInstanceKey"] for item in answer.json["items"]] == found


async def test_a_batch_is_suspended_resumed_and_cancelled(reader, rows):
    key = await create(reader)
    path = f"/v2/batch-operations/{key}"

    async def change(verb):
        answer = await reader("POST", f"{path}/{verb}", {})
        return answer.status, (await reader("GET", path)).json["state"]

    assert await change("suspension") == (204, "SUSPENDED")
    assert await change("suspension") == (204, "SUSPENDED"), "a repeated request changes nothing"
    assert await change("resumption") == (204, "CREATED"), "its items do not exist yet"
    rows.execute("UPDATE batch_operations SET state = 'ACTIVE', scanned = true")
    assert await change("suspension") == (204, "SUSPENDED")
    assert await change("resumption") == (204, "ACTIVE")
    assert await change("resumption") == (204, "ACTIVE")
    assert await change("cancellation") == (204, "CANCELED")
    assert await change("cancellation") == (204, "CANCELED")
    assert await change("suspension") == (409, "CANCELED")
    assert await change("resumption") == (409, "CANCELED")
    assert (await reader("GET", path)).json["endDate"] is not None
    columns = "entity_type, operation, entity_key, result, batch_operation_key"
    records = rows.execute(f"SELECT {columns} FROM audit_log ORDER BY audit_log_key").fetchall()
    changed = ["CREATE", "SUSPEND", "RESUME", "SUSPEND", "RESUME", "CANCEL"]
    assert records[:6] == [("BATCH", operation, key, "SUCCESS", int(key)) for operation in changed]
    assert [record[3] for record in records[6:]] == ["FAIL", "FAIL"]


async def test_a_change_wakes_the_owner(reader, rows):
    rows.execute("LISTEN vivero_batches")
    key = await create(reader)
    await reader("POST", f"/v2/batch-operations/{key}/suspension")
    assert [each.channel for each in rows.notifies(timeout=5, stop_after=2)] == ["vivero_batches"] * 2


async def test_a_repeated_creation_with_a_key_creates_one_batch(reader, rows):
    headers = [(b"idempotency-key", b"once")]
    first = await create(reader, headers=headers)
    assert await create(reader, headers=headers) == first
    other = await reader("POST", CANCELLATION, {"filter": {"state": "ACTIVE"}}, headers)
    assert (other.status, other.problem["title"]) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert await create(reader) != await create(reader), "without a key, each request is another one"
    assert rows.execute("SELECT count(*) FROM audit_log").fetchone() == (3,)


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (b"", "No filter provided"),
        ({}, "No filter provided"),
        ({"filter": None}, "No filter provided"),
        ({"filter": {}}, "No filter provided"),
        ({"filter": {"state": None}}, "No filter provided"),
        ({"filter": {"$or": []}}, "No filter provided"),
        ({"filter": {"processInstanceKey": {}}}, "No filter provided"),
        ({"filter": {"processInstanceKey": {"$eq": None}}}, "No filter provided"),
        ({"filter": {"processInstanceKey": {"$in": []}}}, "The list of filter.processInstanceKey is empty"),
        (
            {"filter": {"state": "ACTIVE", "processInstanceKey": {"$eq": None, "$in": [], "$notIn": []}}},
            "The list of filter.processInstanceKey is empty",
        ),
        ({"filter": {"nothing": 1}}, "filter.nothing"),
        ({"filter": {"state": "GONE"}}, "Unexpected value 'GONE'"),
        ({"filter": {"processInstanceKey": 5}}, "filter.processInstanceKey"),
        ({"filter": {"state": "ACTIVE"}, "operationReference": 0}, "operationReference"),
        ({"filter": {"state": "ACTIVE"}, "more": 1}, "more"),
        ({"filter": [1]}, "filter"),
    ],
)
@pytest.mark.harmless
async def test_bad_filters_create_no_batch(reader, rows, body, says):
    for path in CREATIONS:
        if body and b"$or" in msgspec.json.encode(body) and path == "/v2/incidents/resolution":
            continue  # its filter has no alternatives
        answer = await reader("POST", path, body)
        assert answer.status == 400
        assert says in answer.problem["detail"]
        if says == "No filter provided":
            everything = '{"state": {"$neq": "ACTIVE"}}' if "deletion" in path else '{"state": "ACTIVE"}'
            assert answer.problem["detail"].endswith(f"say so: {everything}.")
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)


@pytest.mark.parametrize("branches", [[{}], [{"state": "ACTIVE"}, {}], [{"state": None}], [{"state": {"$in": []}}]])
@pytest.mark.harmless
async def test_no_alternative_of_a_filter_selects_everything(reader, rows, branches):
    answer = await reader("POST", CANCELLATION, {"filter": {"processDefinitionId": "order", "$or": branches}})
    assert answer.status == 400
    assert "filter.$or[" in answer.problem["detail"]
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)


async def test_operators_that_a_client_names_and_does_not_use_are_no_obstacle(reader, rows):
    """Camunda's Java client sends them."""
    key = {"$eq": str(KEY), "$in": [], "$notIn": []}
    await create(reader, body={"filter": {"processInstanceKey": key, "tags": [], "$or": [], "state": None}})


async def test_keys_that_the_api_documents_as_texts_may_be_any_text(reader, rows):
    rows.instance(KEY)
    rows.put(
        "batch_operation_items",
        batch_operation_key=77,
        type="CANCEL_PROCESS_INSTANCE",
        item_key=KEY,
        process_instance_key=KEY,
        root_key=KEY,
        process_id="order",
        tenant_id="<default>",
    )
    everything = {"$neq": "no key"}, {"$notIn": ["no key", "99999999999999999999"]}, "77", {"$in": ["x", "77"]}
    nothing = "no key", "", "077", "7", "-1", "99999999999999999999", {"$in": ["x", "y"]}, {"$neq": "77"}
    patterns = {"$like": "7*"}, {"$like": "?7"}
    instances, items = "process-instances", "batch-operation-items"
    for resource, given in (
        *((instances, each) for each in (*everything, *patterns)),
        *((items, e) for e in everything),
    ):
        found = await reader("POST", f"/v2/{resource}/search", {"filter": {"batchOperationKey": given}})
        assert (found.status, len(found.json["items"])) == (200, 1), (resource, given, found.body)
    for resource, given in (
        *((instances, each) for each in (*nothing, {"$like": "no*"})),
        *((items, e) for e in nothing),
    ):
        found = await reader("POST", f"/v2/{resource}/search", {"filter": {"batchOperationKey": given}})
        assert (found.status, len(found.json["items"])) == (200, 0), (resource, given, found.body)
    assert (
        await reader("POST", f"/v2/{items}/search", {"filter": {"batchOperationKey": {"$like": "7*"}}})
    ).status == 400
    assert (await reader("POST", f"/v2/{items}/search", {"filter": {"batchOperationKey": 77}})).status == 400


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("batch-operations", "batchOperationKey"),
        ("batch-operation-items", "itemKey"),
        ("audit-logs", "userTaskKey"),
        ("audit-logs", "batchOperationKey"),
        ("incidents", "incidentKey"),
        ("correlated-message-subscriptions", "messageKey"),
        ("process-instances", "batchOperationId"),
    ],
)
async def test_so_may_others_of_them(reader, rows, path, name):
    for given in ("no key", {"$in": ["no key"]}):
        found = await reader("POST", f"/v2/{path}/search", {"filter": {name: given}})
        assert (found.status, found.json["items"]) == (200, [])
    assert (await reader("POST", f"/v2/{path}/search", {"filter": {name: {"$neq": "no key"}}})).status == 200


async def test_the_filter_of_incidents_is_that_of_their_search(reader, rows):
    key = await create(reader, "/v2/incidents/resolution", {"filter": {"errorType": "JOB_NO_RETRIES"}})
    assert (await reader("POST", "/v2/incidents/resolution", {"filter": {"tags": ["a"]}})).status == 400
    rows.instance()
    other = await reader("POST", f"/v2/process-instances/{KEY}/incident-resolution")
    assert (await reader("POST", f"/v2/process-instances/{KEY + 1}/incident-resolution")).status == 404
    stored = rows.execute(
        "SELECT batch_operation_key::text, resource, filter FROM batch_operations ORDER BY 1"
    ).fetchall()
    assert stored == [
        (key, "incidents", {"errorType": "JOB_NO_RETRIES"}),
        (other.json["batchOperationKey"], "incidents", {"processInstanceKey": str(KEY)}),
    ]


PLAN = {"targetProcessDefinitionKey": "7", "mappingInstructions": [{"sourceElementId": "a", "targetElementId": "b"}]}


async def test_a_migration_keeps_its_plan(reader, rows):
    await create(reader, "/v2/process-instances/migration", FILTER | {"migrationPlan": PLAN})
    stored = rows.execute("SELECT type, filter, plan FROM batch_operations").fetchone()
    assert stored == ("MIGRATE_PROCESS_INSTANCE", FILTER["filter"], {"target": 7, "mappings": [["a", "b"]]})


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "No filter provided. No migrationPlan provided."),
        ({"filter": {}, "migrationPlan": PLAN}, "No filter provided. To select everything, say so"),
        (FILTER | {"migrationPlan": {}}, "No targetProcessDefinitionKey provided. No mappingInstructions provided."),
        (
            FILTER | {"migrationPlan": PLAN | {"mappingInstructions": [{"sourceElementId": "a"}]}},
            "[sourceElementId, targetElementId] are required in mappingInstructions.",
        ),
        (
            FILTER | {"migrationPlan": PLAN | {"calledInstances": [{}]}},
            "No sourceProcessDefinitionKey provided. No targetProcessDefinitionKey provided.",
        ),
        (
            FILTER | {"migrationPlan": PLAN | {"calledInstances": [PLAN | {"sourceProcessDefinitionKey": "5"}] * 2}},
            "The sourceProcessDefinitionKey '5' must not be in calledInstances more than once.",
        ),
        (
            FILTER | {"migrationPlan": PLAN | {"calledInstances": [PLAN | {"sourceProcessDefinitionKey": "5"}] * 101}},
            "The provided calledInstances are 101 but must not be more than 100.",
        ),
        (FILTER | {"migrationPlan": PLAN, "operationReference": -1}, "must be greater than 0"),
    ],
)
async def test_migrations_that_are_refused(reader, rows, body, detail):
    answer = await reader("POST", "/v2/process-instances/migration", body)
    assert answer.status == 400
    assert detail in answer.problem["detail"]
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)


UPDATE = "/v2/jobs/batch-update"
OF_JOBS = {"filter": {"type": "work"}}


@pytest.mark.parametrize(
    ("changeset", "plan"),
    [
        ({"retries": 3}, {"retries": 3, "priority": None, "timeout_ms": None}),
        ({"retries": None, "priority": -5}, {"retries": None, "priority": -5, "timeout_ms": None}),
        (
            {"retries": 1, "timeout": 2**62, "priority": 0},
            {"retries": 1, "priority": 0, "timeout_ms": MAX_TIMEOUT_MS},
        ),
    ],
)
async def test_an_update_of_jobs_keeps_its_changes(reader, rows, changeset, plan):
    answer = await reader("POST", UPDATE, OF_JOBS | {"changeset": changeset, "operationReference": 3})
    assert answer.json["batchOperationType"] == "UPDATE_JOB"
    decode("BatchOperationCreatedResult", answer.json)
    stored = rows.execute("SELECT type, resource, filter, plan FROM batch_operations").fetchone()
    assert stored == ("UPDATE_JOB", "jobs", OF_JOBS["filter"], plan)


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "No filter provided. At least one of [retries, timeout, priority] is required."),
        ({"filter": {}, "changeset": {"retries": 1}}, 'To select everything, say so: {"retries": {"$gte": 0}}.'),
        ({"filter": {"tags": ["a"]}, "changeset": {"retries": 1}}, "filter.tags"),
        (OF_JOBS | {"changeset": {}}, "At least one of [retries, timeout, priority] is required."),
        (OF_JOBS | {"changeset": {"retries": None}}, "At least one of [retries, timeout, priority] is required."),
        (
            OF_JOBS | {"changeset": {"retries": 0, "timeout": 0}},
            "retries is '0' but must be greater than 0. The value for timeout is '0' but must be greater than 0.",
        ),
        (OF_JOBS | {"changeset": {"priority": 2**31}}, "changeset"),
        (OF_JOBS | {"changeset": {"state": "CREATED"}}, "state"),
        (OF_JOBS | {"changeset": {"retries": 1}, "operationReference": 0}, "must be greater than 0"),
    ],
)
async def test_updates_of_jobs_that_are_refused(reader, rows, body, detail):
    answer = await reader("POST", UPDATE, body)
    assert answer.status == 400
    assert detail in answer.problem["detail"]
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)


MODIFICATION = "/v2/process-instances/modification"
MOVES = [{"sourceElementId": "a", "targetElementId": "b"}]


async def test_a_modification_keeps_its_moves(reader, rows):
    await create(reader, MODIFICATION, FILTER | {"moveInstructions": MOVES})
    stored = rows.execute("SELECT type, filter, plan FROM batch_operations").fetchone()
    assert stored == ("MODIFY_PROCESS_INSTANCE", FILTER["filter"], {"moves": [["a", "b"]]})


@pytest.mark.parametrize(
    ("body", "detail"),
    [
        ({}, "No filter provided. No moveInstructions provided."),
        ({"filter": {}, "moveInstructions": MOVES}, "No filter provided. To select everything, say so"),
        ({"filter": {"state": "GONE"}, "moveInstructions": MOVES}, "Unexpected value 'GONE'"),
        (FILTER | {"moveInstructions": []}, "No moveInstructions provided."),
        (
            FILTER | {"moveInstructions": [{"sourceElementId": "a"}, {"targetElementId": "b"}]},
            "[sourceElementId, targetElementId] are required in moveInstructions.",
        ),
        (FILTER | {"moveInstructions": MOVES * 2}, "The sourceElementId 'a' is in several moveInstructions."),
        (FILTER | {"moveInstructions": MOVES * 1001}, "are 1001 but must not be more than 1000"),
        (FILTER | {"moveInstructions": [MOVES[0] | {"targetElementId": "b" * 1001}]}, "targetElementId"),
        (FILTER | {"moveInstructions": MOVES, "activateInstructions": []}, "activateInstructions"),
        (FILTER | {"moveInstructions": MOVES, "operationReference": -1}, "must be greater than 0"),
    ],
)
async def test_modifications_that_are_refused(reader, rows, body, detail):
    answer = await reader("POST", MODIFICATION, body)
    assert answer.status == 400
    assert detail in answer.problem["detail"]
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (0,)


@pytest.mark.parametrize("key", ["77", "no-key", "9" * 30])
@pytest.mark.harmless
async def test_unknown_keys_are_404(reader, key):
    for method, path in (("GET", ""), ("POST", "/suspension"), ("POST", "/resumption"), ("POST", "/cancellation")):
        answer = await reader(method, f"/v2/batch-operations/{key}{path}")
        assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")
