"""Background jobs over HTTP: adding, looking, changing; bad input."""

import pytest

from vivero.api.routes import background_jobs

TRACEPARENT = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
ID = "00000000-0000-4000-8000-000000000001"


@pytest.fixture(autouse=True)
def node(rows):
    """A node that has run these types, and does not live."""
    rows.execute("INSERT INTO job_dispatchers (node, types) VALUES ('earlier', '{mail,call}')")


@pytest.fixture
def failed(rows):
    rows.execute(
        f"INSERT INTO job_executions (id, job_type, state, attempt_index, failed_at, error, payload)"
        f" VALUES ('{ID}', 'mail', 'failed', 5, now(), 'no paper', '[1]')"
    )


async def test_an_execution_is_added_found_run_and_deleted(rows, reader):
    body = {"type": "mail", "payload": {"to": "ann"}, "executeAt": "2200-01-01T00:00:00Z"}
    answer = await reader("POST", "/background-jobs", body, headers=[(b"traceparent", TRACEPARENT.encode())])
    assert answer.status == 201
    id = answer.json["id"]
    found = (await reader("GET", f"/background-jobs/{id}")).json
    assert found["payload"] == {"to": "ann"}
    assert (found["type"], found["state"], found["attempts"]) == ("mail", "pending", 0)
    assert found["executeAt"] == "2200-01-01T00:00:00.000Z"
    assert rows.execute("SELECT trace_context FROM job_executions").fetchone() == ({"traceparent": TRACEPARENT},)
    assert (await reader("POST", f"/background-jobs/{id}/run")).status == 204
    assert (await reader("POST", f"/background-jobs/{id}/run")).status == 409, "it is due already"
    assert (await reader("DELETE", f"/background-jobs/{id}")).status == 204
    assert (await reader("GET", f"/background-jobs/{id}")).status == 404


async def test_a_failed_execution_is_shown_and_tried_again(failed, reader):
    found = (await reader("POST", "/background-jobs/search", {"filter": {"state": "failed", "type": "mail"}})).json
    assert found["page"] == {"totalItems": 1}
    assert (found["items"][0]["error"], found["items"][0]["payload"]) == ("no paper", [1])
    assert (await reader("POST", f"/background-jobs/{ID}/retry")).status == 204
    assert (await reader("POST", f"/background-jobs/{ID}/retry")).status == 409
    assert (await reader("GET", f"/background-jobs/{ID}")).json["state"] == "pending"


async def test_types_are_counted_paused_and_resumed(failed, reader):
    assert (await reader("PUT", "/background-job-types/mail/pause")).status == 204
    assert (await reader("PUT", "/background-job-types/mail/pause")).status == 204
    listed = (await reader("GET", "/background-job-types")).json["items"]
    counts = {"pending": 0, "running": 0, "failed": 1}
    assert listed == [{"type": "mail", **counts, "schedule": None, "paused": True, "nodes": 0}]
    assert (await reader("DELETE", "/background-job-types/mail/pause")).status == 204
    assert not (await reader("GET", "/background-job-types")).json["items"][0]["paused"]


async def test_types_without_executions_are_listed_while_a_node_knows_them(rows, reader):
    rows.execute(
        "INSERT INTO job_dispatchers (node, types)"
        " VALUES ('a', '{mail}'), ('a/chores', '{vivero.x}'), ('gone', '{old}')"
    )
    rows.execute(
        "INSERT INTO nodes (id, roles, version, schema, host, port, pid, backend_start)"
        " VALUES ('a', '{jobs}', '1', 1, 'h', 1, 1, now())"
    )
    listed = (await reader("GET", "/background-job-types")).json["items"]
    assert [(each["type"], each["nodes"], each["pending"]) for each in listed] == [("mail", 1, 0)]
    listed = (await reader("GET", "/background-job-types?kind=any")).json["items"]
    assert [each["type"] for each in listed] == ["mail", "vivero.x"]
    assert (await reader("GET", "/background-job-types?kind=all")).status == 400


async def test_chores_of_the_program_are_found_by_their_kind_or_type_alone(rows, reader):
    rows.execute("INSERT INTO job_executions (job_type) VALUES ('mail'), ('vivero.x')")

    async def found(**filter):
        answer = (await reader("POST", "/background-jobs/search", {"filter": filter})).json
        assert answer["page"]["totalItems"] == len(answer["items"])
        return sorted(each["type"] for each in answer["items"])

    assert await found() == await found(kind="user") == ["mail"]
    assert await found(kind="chore") == await found(type="vivero.x") == ["vivero.x"]
    assert await found(kind="any") == ["mail", "vivero.x"]


@pytest.mark.parametrize("columns", ["schedule) VALUES ('mail', '0 3 * * *'", "partition_id) VALUES ('mail', 1"])
async def test_a_type_that_runs_by_itself_gets_no_further_execution(rows, reader, columns):
    """It would run for ever, beside the one of the schedule or the consumer."""
    rows.execute(f"INSERT INTO job_executions (job_type, {columns})")
    answer = await reader("POST", "/background-jobs", {"type": "mail"})
    assert (answer.status, "has a schedule or follows events" in answer.problem["detail"]) == (400, True)


async def test_what_a_transaction_has_queued_tells_its_outcome(rows, reader):
    rows.execute("UPDATE job_dispatchers SET types = '{mail}'")
    (id,) = rows.execute("SELECT defer('mail', '{\"to\": \"ann\"}')").fetchone()
    found = (await reader("GET", f"/queued-commands/{id}")).json
    assert found == {"id": str(id), "state": "QUEUED"} | dict.fromkeys(
        ("commandPosition", "backgroundJobId", "code", "reason", "answer")
    )
    rows.execute("SELECT take_background_jobs(0, 10, NULL, 'x')")
    found = (await reader("GET", f"/queued-commands/{id}")).json
    assert found["state"] == "DONE"
    assert (await reader("GET", f"/background-jobs/{found['backgroundJobId']}")).json["payload"] == {"to": "ann"}
    assert (await reader("GET", f"/queued-commands/{id + 1}")).status == 404
    assert (await reader("GET", "/queued-commands/x")).status in (400, 404)


async def test_a_unique_key_admits_one_execution_that_waits_or_runs(rows, reader):
    async def add(type, key):
        answer = await reader("POST", "/background-jobs", {"type": type, "uniqueKey": key})
        return answer.status, answer.json["id"]

    status, first = await add("mail", "ann")
    assert status == 201
    assert await add("mail", "ann") == (200, first)
    for other in (("mail", "bob"), ("call", "ann")):
        assert (await add(*other))[0] == 201
    assert (await reader("GET", f"/background-jobs/{first}")).json["uniqueKey"] == "ann"
    rows.execute("UPDATE job_executions SET state = 'failed', failed_at = now() WHERE id = %s", (first,))
    status, second = await add("mail", "ann")
    assert (status, second != first) == (201, True)
    assert (await reader("POST", f"/background-jobs/{first}/retry")).status == 409, "the key is another's by now"
    assert (await reader("DELETE", f"/background-jobs/{second}")).status == 204
    assert (await reader("POST", f"/background-jobs/{first}/retry")).status == 204


@pytest.fixture
def running(rows):
    rows.execute(
        f"INSERT INTO job_executions (id, job_type, state, lease) VALUES ('{ID}', 'mail', 'running', gen_random_uuid())"
    )


async def test_a_run_is_cancelled_for_good(running, reader):
    assert (await reader("POST", f"/background-jobs/{ID}/cancel")).status == 204
    found = (await reader("GET", f"/background-jobs/{ID}")).json
    assert (found["state"], found["error"]) == ("failed", "cancelled")
    assert (await reader("POST", f"/background-jobs/{ID}/cancel")).status == 409


async def test_the_run_of_a_schedule_cannot_be_cancelled(running, rows, reader):
    rows.execute("UPDATE job_executions SET schedule = 'PT1S'")
    assert (await reader("POST", f"/background-jobs/{ID}/cancel")).status == 409


async def test_a_consumer_that_no_node_runs_is_forgotten(rows, reader):
    """With its executions, and with what the outbox has not delivered. Others stay."""
    rows.execute(
        "INSERT INTO event_consumers SELECT type, partition, 7, 0, 0"
        " FROM unnest(ARRAY['mirror', 'vivero-outbox']) type, generate_series(1, 2) partition"
    )
    rows.execute(
        "INSERT INTO job_executions (job_type, partition_id) SELECT consumer, partition_id FROM event_consumers"
    )
    rows.execute(
        "INSERT INTO outbox_deliveries (partition_id, position, seq, ordinal, root_key, type, document, state)"
        " VALUES (1, 1, 0, 0, 7, 'E', '{}', 'pending')"
    )
    rows.execute("INSERT INTO job_dispatchers (node, types) VALUES ('a', '{mirror}')")
    rows.execute(
        "INSERT INTO nodes (id, roles, version, schema, host, port, pid, backend_start)"
        " VALUES ('a', '{jobs}', '1', 1, 'h', 1, 1, now())"
    )
    counts = (
        "SELECT (SELECT count(*) FROM event_consumers), (SELECT count(*) FROM job_executions),"
        " (SELECT count(*) FROM outbox_deliveries)"
    )
    assert (await reader("DELETE", "/background-job-consumers/nobody")).status == 404
    answer = await reader("DELETE", "/background-job-consumers/mirror")
    assert (answer.status, "still runs on a node" in answer.problem["detail"]) == (409, True)
    assert rows.execute(counts).fetchone() == (4, 4, 1)
    rows.execute("UPDATE nodes SET heartbeat_at = heartbeat_at - interval '1 hour'")
    assert (await reader("DELETE", "/background-job-consumers/mirror")).status == 204
    assert rows.execute(counts).fetchone() == (2, 2, 1)
    assert (await reader("DELETE", "/background-job-consumers/vivero-outbox")).status == 204
    assert rows.execute(counts).fetchone() == (0, 0, 0)
    found = rows.execute("SELECT entity_key, result FROM audit_log ORDER BY audit_log_key").fetchall()
    assert found[-3:] == [("mirror", "FAIL"), ("mirror", "SUCCESS"), ("vivero-outbox", "SUCCESS")]


async def test_the_places_of_consumers_are_listed(rows, reader):
    rows.execute("INSERT INTO event_consumers VALUES ('mirror', 1, 1::bigint << 51, 0, 0, 'epoch')")
    rows.execute(
        "INSERT INTO event_log (partition_id, position, seq, events, version, processed_at)"
        " VALUES (1, 1::bigint << 51 | 7, 0, '[]', 1, now())"
    )
    listed = (await reader("GET", "/background-job-consumers")).json["items"]
    place = {"partitionId": 1, "position": str(1 << 51), "behind": 7, "acknowledged": "1970-01-01T00:00:00.000Z"}
    assert listed == [{"type": "mirror", **place}]


async def test_what_runs_cannot_be_deleted(running, reader):
    for method, path in (("DELETE", ""), ("POST", "/run"), ("POST", "/retry")):
        answer = await reader(method, f"/background-jobs/{ID}{path}")
        assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")


async def test_bad_executions_are_refused(reader):
    for body in [
        {},
        {"type": ""},
        {"type": "x" * 201},
        {"type": "m", "executeAt": "soon"},
        {"type": "m", "more": 1},
        {"type": "m", "executeAt": "2026-01-01T00:00:00"},
        {"type": "a\0b"},
        {"type": "vivero.timers"},
        {"type": "m", "uniqueKey": ""},
        {"type": "m", "uniqueKey": "a\0b"},
        {"type": "m", "kind": "user"},
    ]:
        assert (await reader("POST", "/background-jobs", body)).status == 400


async def test_bad_ids_filters_and_names_are_refused(reader):
    assert (await reader("GET", "/background-jobs/1")).status == 400
    assert (await reader("GET", f"/background-jobs/{ID}")).status == 404
    assert (await reader("POST", "/background-jobs/search", {"filter": {"state": "lost"}})).status == 400
    assert (await reader("POST", "/background-jobs/search", {"page": {"limit": 0}})).status == 400
    assert (await reader("PUT", f"/background-job-types/{'x' * 201}/pause")).status == 400


async def test_each_change_is_recorded_and_a_rejected_one_as_failed(failed, rows, reader):
    added = (await reader("POST", "/background-jobs", {"type": "mail", "payload": "s3cr3t"})).json["id"]
    for method, path, status in (
        ("POST", f"/background-jobs/{ID}/retry", 204),
        ("POST", f"/background-jobs/{ID}/retry", 409),
        ("DELETE", f"/background-jobs/{ID}", 204),
        ("POST", f"/background-jobs/{added}/run", 409),
        ("PUT", "/background-job-types/mail/pause", 204),
        ("DELETE", "/background-job-types/mail/pause", 204),
    ):
        assert (await reader(method, path)).status == status, path
    records = rows.execute("SELECT * FROM audit_log").fetchall()
    assert "s3cr3t" not in str(records)
    of_whom = rows.execute("SELECT DISTINCT actor_type, category, entity_type, operation, tenant_id FROM audit_log")
    assert of_whom.fetchall() == [("ANONYMOUS", "ADMIN", "RESOURCE", "UPDATE", None)]
    found = rows.execute("SELECT entity_key, description, result FROM audit_log ORDER BY audit_log_key").fetchall()
    assert found == [
        (added, "POST /background-jobs", "SUCCESS"),
        (ID, f"POST /background-jobs/{ID}/retry", "SUCCESS"),
        (ID, f"POST /background-jobs/{ID}/retry", "FAIL"),
        (ID, f"DELETE /background-jobs/{ID}", "SUCCESS"),
        (added, f"POST /background-jobs/{added}/run", "FAIL"),
        ("mail", "PUT /background-job-types/mail/pause", "SUCCESS"),
        ("mail", "DELETE /background-job-types/mail/pause", "SUCCESS"),
    ]


async def test_a_type_that_no_node_runs_is_refused_unless_it_is_wanted(rows, reader):
    refused = await reader("POST", "/background-jobs", {"type": "mial"})
    assert refused.status == 400
    assert refused.problem["detail"] == (
        "No node runs background jobs of type 'mial' (did you mean 'mail'?), and none has lately. "
        "With allowUnknownType (--allow-unknown) it waits for one."
    )
    assert rows.execute("SELECT count(*) FROM job_executions").fetchone() == (0,)
    wanted = {"type": "mial", "allowUnknownType": True}
    assert (await reader("POST", "/background-jobs", wanted)).status == 201
    assert (await reader("PUT", "/background-job-types/mial/pause")).status == 204, "an execution has the type"


async def test_a_type_that_nobody_knows_cannot_be_paused(rows, reader):
    for method in ("PUT", "DELETE"):
        refused = await reader(method, "/background-job-types/mial/pause")
        assert (refused.status, "did you mean 'mail'?" in refused.problem["detail"]) == (400, True)
    assert rows.execute("SELECT count(*) FROM paused_job_types").fetchone() == (0,)


@pytest.fixture
def many(rows):
    """Failed ones of two types from two years, and what must stay: a schedule, a consumer, a run."""
    rows.execute(
        "INSERT INTO job_executions (job_type, state, failed_at, created_at)"
        " SELECT type, 'failed', year::timestamptz, '2020-01-01' FROM unnest(ARRAY['mail', 'other']) AS type,"
        " unnest(ARRAY['2024-06-01', '2025-06-01']) AS year;"
        "INSERT INTO job_executions (job_type) VALUES ('mail'), ('mail');"
        "INSERT INTO job_executions (job_type, schedule) VALUES ('mail', 'PT1S');"
        "INSERT INTO job_executions (job_type, partition_id) VALUES ('mail', 1);"
        "INSERT INTO job_executions (job_type, state, lease, alive_at)"
        " VALUES ('mail', 'running', gen_random_uuid(), now())"
    )

    def left():
        counted = rows.execute("SELECT job_type, state, count(*) FROM job_executions GROUP BY 1, 2 ORDER BY 1, 2")
        return {(type, state): count for type, state, count in counted.fetchall()}

    return left


@pytest.mark.parametrize(
    ("filter", "deleted", "gone"),
    [
        ({"state": "failed"}, 4, {("mail", "failed"): 2, ("other", "failed"): 2}),
        ({"type": "mail"}, 2, {("mail", "failed"): 2}),
        ({"type": "mail", "failedBefore": "2025-01-01T00:00:00Z"}, 1, {("mail", "failed"): 1}),
        ({"failedBefore": "2025-01-01T00:00:00Z"}, 2, {("mail", "failed"): 1, ("other", "failed"): 1}),
        ({"type": "mail", "state": "pending"}, 2, {("mail", "pending"): 2}),
        ({"type": "nosuch"}, 0, {}),
    ],
)
async def test_executions_are_deleted_by_a_filter(many, reader, filter, deleted, gone):
    before = many()
    answer = await reader("POST", "/background-jobs/deletion", {"filter": filter})
    assert (answer.status, answer.json) == (200, {"deleted": deleted, "more": False})
    after = many()
    assert {key: count - after.get(key, 0) for key, count in before.items() if count != after.get(key, 0)} == gone


async def test_one_request_deletes_a_bounded_number(many, reader, monkeypatch):
    monkeypatch.setattr(background_jobs, "MAX_DELETED", 3)
    body = {"filter": {"state": "failed"}}
    answers = [(await reader("POST", "/background-jobs/deletion", body)).json for _ in range(2)]
    assert answers == [{"deleted": 3, "more": True}, {"deleted": 1, "more": False}]


@pytest.mark.parametrize(
    "body",
    [{}, {"filter": {}}, {"filter": {"type": None}}, {"filter": {"state": "running"}}, {"filter": {"state": "pending"}},
     {"filter": {"type": ""}}, {"filter": {"failedBefore": "soon"}}, {"filter": {"more": 1}},
     {"filter": {"type": "mail", "state": "pending", "failedBefore": "2025-01-01T00:00:00Z"}}],
)  # fmt: skip
async def test_a_deletion_says_what_it_deletes(many, reader, body):
    before = many()
    assert (await reader("POST", "/background-jobs/deletion", body)).status == 400
    assert many() == before
