"""The deletion of ended instances over HTTP: who may, what is gone, and why not."""

import gzip
import json
import shutil

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.one_caller import OneCaller
from tests.api.rows import KEY, NOW
from tests.two_tenants import ENDED, OTHER, fill
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS, rights
from vivero.engine.retention.archive.archive import Archive
from vivero.engine.retention.archive.directory import DirectoryStore
from vivero.storage.access import row_security
from vivero.storage.access.identities import Grant
from vivero.storage.postgres import driver
from vivero.storage.postgres.pool import Pool

COMMENT_LATER_THAN_FILE = """
    WITH file AS (INSERT INTO archive_files (name, partition_id, state, waiting)
        VALUES ('f', (%(root)s::bigint >> 51)::int, 'COMPLETE', ARRAY[%(root)s::bigint]))
    INSERT INTO user_task_comments
        (user_task_key, process_instance_key, root_key, tenant_id, author, created_at, text)
    VALUES (1, %(root)s, %(root)s, '<default>', 'ada', now(), 'later')"""

PATH = f"/v2/process-instances/{KEY}/deletion"


async def test_an_ended_instance_is_gone_with_the_answer(reader, rows):
    rows.instance(state="COMPLETED", ended_at=NOW)
    rows.variable()
    assert (await reader("POST", PATH, {"operationReference": 5})).status == 204
    assert (await reader("GET", f"/v2/process-instances/{KEY}")).status == 404
    assert (await reader("POST", "/v2/variables/search", {})).json["items"] == []
    assert (await reader("POST", PATH)).status == 404
    found = rows.execute("SELECT entity_type, entity_key, operation, result FROM audit_log ORDER BY audit_log_key")
    assert found.fetchall() == [
        ("PROCESS_INSTANCE", str(KEY), "DELETE", "SUCCESS"),
        ("PROCESS_INSTANCE", str(KEY), "DELETE", "FAIL"),
    ]


async def test_what_runs_or_was_called_or_is_referred_to_is_409(reader, rows):
    rows.instance()
    answer = await reader("POST", PATH)
    assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    assert answer.problem["detail"] == f"Expected to delete process instance with key '{KEY}', but it has not ended"
    rows.execute("UPDATE process_instances SET ended_at = now()")
    rows.instance(KEY + 1, root_key=KEY, parent_process_instance_key=KEY, ended_at=NOW)
    detail = (await reader("POST", f"/v2/process-instances/{KEY + 1}/deletion")).problem["detail"]
    assert detail.endswith(f"another one called it. Delete the root process instance '{KEY}' instead.")
    rows.execute("INSERT INTO start_locks VALUES (%s, default, 't', 'k', 'p')", [KEY + 1])
    assert "a start lock still refers to it" in (await reader("POST", PATH)).problem["detail"]
    assert rows.execute("SELECT count(*) FROM process_instances").fetchone() == (2,)


async def test_a_dry_run_judges_as_the_deletion_and_changes_nothing(reader, rows):
    async def foreseen(key):
        answer = await reader("POST", f"/v2/process-instances/{key}/deletion?dryRun=true")
        assert answer.status == 200, answer.body
        return answer.json

    async def refused(key):
        answer = await foreseen(key)
        assert (answer["processInstanceCount"], answer["refusal"]["status"]) == (0, 409)
        (problem,) = answer["problems"]
        assert (await reader("POST", f"/v2/process-instances/{key}/deletion")).problem["detail"] == problem["message"]

    rows.instance()
    await refused(KEY)
    rows.execute("UPDATE process_instances SET ended_at = now()")
    rows.instance(KEY + 1, root_key=KEY, parent_process_instance_key=KEY, ended_at=NOW)
    await refused(KEY + 1)
    rows.execute("INSERT INTO start_locks VALUES (%s, default, 't', 'k', 'p')", [KEY + 1])
    await refused(KEY)
    rows.execute("DELETE FROM start_locks")
    records = rows.execute("SELECT count(*) FROM audit_log").fetchone()
    assert await foreseen(KEY) == {"processInstanceCount": 2, "problems": [], "refusal": None}
    assert rows.execute("SELECT count(*) FROM process_instances").fetchone() == (2,)
    assert rows.execute("SELECT count(*) FROM audit_log").fetchone() == records
    assert (await reader("POST", PATH)).status == 204
    assert (await reader("POST", f"{PATH}?dryRun=true")).status == 404


async def test_an_unknown_key_and_a_bad_body(reader):
    assert (await reader("POST", PATH)).status == 404
    assert (await reader("POST", PATH, {"deleteHistory": True})).status == 400
    assert (await reader("POST", "/v2/process-instances/x/deletion")).status == 400


async def test_an_archive_has_the_instance_before_it_is_deleted(stored, rows, tmp_path):
    archive = Archive(DirectoryStore(tmp_path / "a" / "b"), stored.reads.pool.connection)
    client = Client(api_app.build(changed(stored, archive=archive, archive_deletions=True)))
    rows.instance(root_key=KEY)
    answer = await client("POST", PATH)
    assert (answer.status, answer.problem["detail"].endswith("it has not ended")) == (409, True)
    rows.execute("UPDATE process_instances SET ended_at = now()")
    rows.instance(KEY + 1, root_key=KEY, parent_process_instance_key=KEY, ended_at=NOW)
    answer = await client("POST", f"/v2/process-instances/{KEY + 1}/deletion")
    assert (answer.status, "another one called it" in answer.problem["detail"]) == (409, True)
    shutil.rmtree(tmp_path / "a")
    (tmp_path / "a").write_text("no directory")
    answer = await client("POST", PATH)
    assert (answer.status, "cannot write to the archive" in answer.problem["detail"]) == (503, True)
    assert rows.execute("SELECT count(*) FROM process_instances").fetchone() == (2,)
    (tmp_path / "a").unlink()
    assert (await client("POST", PATH)).status == 204
    (file,) = (tmp_path / "a").rglob("*.gz")
    instances = json.loads(gzip.decompress(file.read_bytes()))["process_instances"]
    assert [each["process_instance_key"] for each in instances] == [KEY, KEY + 1]
    assert (await client("POST", PATH)).status == 404


async def test_the_archive_may_be_for_retention_alone(stored, rows, tmp_path):
    archive = Archive(DirectoryStore(tmp_path / "archive"), stored.reads.pool.connection)
    client = Client(api_app.build(changed(stored, archive=archive)))
    rows.instance(root_key=KEY, state="COMPLETED", ended_at=NOW)
    rows.execute(COMMENT_LATER_THAN_FILE, {"root": KEY})
    assert (await client("POST", f"{PATH}?dryRun=true")).json["refusal"] is None
    assert (await client("POST", PATH)).status == 204
    assert not (tmp_path / "archive").exists()


@pytest.fixture
async def client_of(rows, stored, database):
    """A client with these tenants and grants; there are ended instances of tenants `a` and `b`."""
    for key, tenant in ((KEY, "a"), (OTHER, "b")):
        fill(rows, key, tenant)
    rows.execute("DELETE FROM batch_operation_items")
    connection = await driver.connect(database, name="vivero test")
    await row_security.make_reader(connection)
    await row_security.prepare(connection, row_security.reader_of(database))
    connection.close()
    reader = row_security.reader_of(database)
    pool = Pool(lambda deadline: driver.connect(reader, name="vivero test", deadline=deadline), 2)

    def make(tenants, allowed=ALL_RIGHTS):
        ann = OneCaller(Caller("USER", "ann", allowed, tenants=frozenset(tenants)))
        return Client(api_app.build(changed(stored, readers=pool, multi_tenancy=True, access=ann)))

    yield make
    pool.close()


async def test_a_foreign_instance_is_an_unknown_one(client_of, rows):
    client = client_of("a")
    paths = [f"/v2/process-instances/{key + ENDED}/deletion" for key in (OTHER, KEY + 5000, KEY)]
    answers = [await client("POST", path) for path in paths]
    assert [answer.status for answer in answers] == [404, 404, 204]
    foreign, unknown = (answer.problem["detail"] for answer in answers[:2])
    assert foreign.replace(str(OTHER + ENDED), "") == unknown.replace(str(KEY + 5000 + ENDED), "")
    assert rows.execute("SELECT root_key FROM deleted_trees").fetchall() == [(KEY + ENDED,)]


async def test_the_right_may_be_for_one_process(client_of):
    path = f"/v2/process-instances/{KEY + ENDED}/deletion"
    for process, status in (("process-of-b", 403), ("process-of-a", 204)):
        allowed = rights((), [Grant("PROCESS_DEFINITION", process, ("DELETE_PROCESS_INSTANCE",))])
        assert (await client_of("ab", allowed)("POST", path)).status == status


async def test_a_dry_run_needs_the_rights_to_delete_and_to_read(client_of, rows):
    path = f"/v2/process-instances/{KEY + ENDED}/deletion?dryRun=true"
    both = "DELETE_PROCESS_INSTANCE", "READ_PROCESS_INSTANCE"
    for given, status in ((both[:1], 403), (both[1:], 403), (both, 200)):
        allowed = rights((), [Grant("PROCESS_DEFINITION", "process-of-a", given)])
        assert (await client_of("ab", allowed)("POST", path)).status == status
    assert (await client_of("b")("POST", path)).status == 404
    assert rows.execute("SELECT count(*) FROM deleted_trees").fetchone() == (0,)


async def test_a_definition_is_deleted_with_the_history_of_its_instances(engine, reader, rows):
    rows.definition()
    body = {"deleteHistory": True}
    answer = await reader("POST", f"/v2/resources/{KEY}/deletion", body, [(b"idempotency-key", b"once")])
    assert answer.status == 200, answer.body
    batch = answer.json["batchOperation"]
    assert batch["batchOperationType"] == "DELETE_PROCESS_INSTANCE"
    stored = rows.execute("SELECT batch_operation_key::text, type, filter FROM batch_operations").fetchall()
    filter = {"processDefinitionKey": str(KEY)}
    assert stored == [(batch["batchOperationKey"], "DELETE_PROCESS_INSTANCE", filter)]
    await reader("POST", f"/v2/resources/{KEY}/deletion", body, [(b"idempotency-key", b"once")])
    assert rows.execute("SELECT count(*) FROM batch_operations").fetchone() == (1,)


async def test_a_form_has_no_history(engine, reader, rows):
    rows.form()
    answer = await reader("POST", f"/v2/resources/{KEY + 15}/deletion", {"deleteHistory": True})
    assert (answer.status, answer.json["batchOperation"]) == (200, None)


async def test_decision_instances_of_another_tenant_are_unknown(client_of, rows):
    client = client_of("a")
    paths = [f"/v2/decision-instances/{key + 17}/deletion" for key in (OTHER, KEY + 5000, KEY)]
    answers = [await client("POST", path) for path in paths]
    assert [answer.status for answer in answers] == [404, 404, 204]
    foreign, unknown = (answer.problem["detail"] for answer in answers[:2])
    assert foreign.replace(str(OTHER + 17), "") == unknown.replace(str(KEY + 5017), "")
    assert rows.execute("SELECT tenant_id FROM decision_instances").fetchall() == [("b",)]


async def test_the_right_to_delete_decision_instances_may_be_for_one_decision(client_of):
    path = f"/v2/decision-instances/{KEY + 17}/deletion"
    for decision, status in (("decision-of-b", 403), ("decision-of-a", 204)):
        allowed = rights((), [Grant("DECISION_DEFINITION", decision, ("DELETE_DECISION_INSTANCE",))])
        assert (await client_of("ab", allowed)("POST", path)).status == status


async def test_its_dry_run_needs_the_right_to_read_too(client_of, rows):
    path = f"/v2/decision-instances/{KEY + 17}/deletion?dryRun=true"
    both = "DELETE_DECISION_INSTANCE", "READ_DECISION_INSTANCE"
    for given, status in ((both[:1], 403), (both[1:], 403), (both, 200)):
        allowed = rights((), [Grant("DECISION_DEFINITION", "decision-of-a", given)])
        assert (await client_of("ab", allowed)("POST", path)).status == status
    assert (await client_of("b")("POST", path)).status == 404
    assert rows.execute("SELECT count(*) FROM decision_instances").fetchone() == (2,)
