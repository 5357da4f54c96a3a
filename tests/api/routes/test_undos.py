"""Undo over HTTP: the offer, the command that takes the operation back, and refusals."""

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.one_caller import OneCaller
from tests.api.rows import KEY
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import ALL_RIGHTS, rights
from vivero.core.commands.conditional_change import change_of
from vivero.core.records.business_ids import AssignBusinessId, BusinessIdAssigned
from vivero.core.records.conditional_changes import ChangeIfMatch
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import (
    ElementActivated,
    ElementActivating,
    ElementCompleted,
    ElementTerminated,
    ElementTerminating,
    VariableSet,
)
from vivero.core.records.jobs import JobCanceled, JobCreated
from vivero.core.records.migrations import CalledMigration, InstanceMigrated, MigrateInstance
from vivero.core.records.modifications import ElementRestored, InstanceModified, ModifyInstance, TerminateInstruction
from vivero.core.records.suspensions import InstanceResumed, InstanceSuspended, ResumeInstance, SuspendInstance
from vivero.storage.access.identities import Grant
from vivero.storage.reads import latest_changes

PATH = f"/v2/process-instances/{KEY}/undo"
MIGRATED = InstanceMigrated(KEY, 9, "order", 2, None, None, {"a": "b", "order": "order"}, former=(8, "order"))


async def test_a_suspension_is_taken_back_at_its_version(happened, reader, engine):
    happened(1, ElementCompleted(KEY + 1))
    happened(2, InstanceSuspended(KEY, "prices"))
    answer = await reader("GET", PATH)
    assert answer.json == {"offered": True, "operation": "SUSPEND", "version": 1, "reason": None}
    assert answer.headers[b"etag"] == b'"1"'
    assert (await reader("POST", PATH, {"operationReference": 3})).status == 204
    assert isinstance(engine.command, ChangeIfMatch)
    assert (engine.command.key, engine.command.versions, engine.command.untaken) == (KEY, (1,), ())
    assert change_of(engine.command) == ResumeInstance(KEY)


async def test_a_resumption_is_taken_back_with_its_reason(happened, reader, engine):
    happened(1, InstanceSuspended(KEY, "prices"))
    happened(2, InstanceResumed(KEY))
    assert (await reader("POST", PATH)).status == 204
    assert change_of(engine.command) == SuspendInstance(KEY, False, "prices")


async def test_a_late_business_id_is_taken_back_and_recorded_as_an_update(happened, stored, engine):
    happened(1, BusinessIdAssigned(KEY, "order-7"))
    client = Client(api_app.build(changed(stored, access=OneCaller(Caller("USER", "ann", ALL_RIGHTS)))))
    assert (await client("GET", PATH)).json["operation"] == "ASSIGN_BUSINESS_ID"
    assert (await client("POST", PATH)).status == 204
    assert change_of(engine.command) == AssignBusinessId(KEY, None)
    assert b'"operation":"UPDATE"' in engine.appended[0].audit.encode()


async def test_called_instances_go_back_unless_a_worker_has_got_one_of_their_jobs(happened, rows, reader, engine):
    called = InstanceMigrated(KEY + 9, 9, "order", 2, None, None, {"a": "b", "order": "order"}, former=(8, "order"))
    happened(1, MIGRATED, called)
    rows.job(key=KEY + 3, process_instance_key=KEY + 9)
    rows.job(key=KEY + 4, process_instance_key=KEY + 99)
    assert (await reader("POST", PATH)).status == 204
    back = CalledMigration(9, 8, (("b", "a"),), (KEY + 9,))
    assert change_of(engine.command) == MigrateInstance(KEY, 8, (("b", "a"),), called=(back,))
    assert engine.command.untaken == (KEY + 3,)
    rows.execute("UPDATE jobs SET lease_token = gen_random_uuid()")
    assert (await reader("GET", PATH)).json["reason"] == f"a worker has got job '{KEY + 3}'"


async def test_a_migration_goes_back_unless_a_worker_has_got_a_job(happened, rows, reader, engine):
    happened(1, MIGRATED)
    rows.job(key=KEY + 3)
    assert (await reader("POST", PATH)).status == 204
    assert change_of(engine.command) == MigrateInstance(KEY, 8, (("b", "a"),))
    assert engine.command.untaken == (KEY + 3,)
    rows.execute("UPDATE jobs SET lease_token = gen_random_uuid()")
    answer = await reader("GET", PATH)
    assert answer.json == {
        "offered": False,
        "operation": "MIGRATE",
        "version": 1,
        "reason": f"a worker has got job '{KEY + 3}'",
    }
    answer = await reader("POST", PATH)
    assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    assert answer.problem["detail"].endswith(f"but a worker has got job '{KEY + 3}'")


async def test_a_move_is_taken_back_unless_a_worker_had_the_job(happened, rows, reader, engine):
    former = (
        ElementRestored(KEY + 1, KEY + 1, KEY, "a", "SERVICE_TASK", "ACTIVATED"),
        JobCreated(KEY + 2, KEY + 1, "a", 3, 0, {}),
    )
    happened(
        1,
        InstanceModified(KEY, ("b",), (KEY + 1,), former),
        ElementActivating(KEY + 3, KEY, "b", "SERVICE_TASK"),
        ElementTerminating(KEY + 1),
        JobCanceled(KEY + 2),
        ElementTerminated(KEY + 1),
        ElementActivated(KEY + 3),
        JobCreated(KEY + 4, KEY + 3, "b", 3, 0, {}),
    )
    rows.job(key=KEY + 2, state="CANCELED")
    assert (await reader("GET", PATH)).json["offered"] is True
    assert (await reader("POST", PATH)).status == 204
    assert change_of(engine.command) == ModifyInstance(
        KEY, (), (TerminateInstruction(KEY + 3),), is_undo=True, restore=former
    )
    assert engine.command.untaken == (KEY + 4,)
    rows.execute("UPDATE jobs SET worker = ''")
    answer = await reader("POST", PATH)
    assert answer.status == 409
    assert answer.problem["detail"].endswith(
        f"but a worker had got job '{KEY + 2}', which it has terminated, and may still work"
    )


async def test_a_modification_that_lost_something_has_no_undo(happened, reader):
    happened(1, InstanceModified(KEY, (), (KEY + 1,), (), "it has terminated a throwing event"))
    answer = await reader("GET", PATH)
    assert (answer.json["offered"], answer.json["reason"]) == (False, "it has terminated a throwing event")


@pytest.mark.parametrize("events", [[(1, ())], [(1, (InstanceSuspended(KEY),)), (2, (VariableSet(1, KEY, "a", "1"),))]])
async def test_another_change_has_no_undo(happened, reader, engine, events):
    for position, of_command in events:
        happened(position, *of_command)
    answer = await reader("GET", PATH)
    assert (answer.json["offered"], answer.json["operation"]) == (False, None)
    assert (
        answer.json["reason"] == "the latest change of its instance tree is not an operation on this process instance"
    )
    assert (await reader("POST", PATH)).status == 409
    assert engine.appended == []


async def test_a_change_that_the_log_has_no_more_has_no_undo(rows, reader):
    rows.instance()
    answer = await reader("GET", PATH)
    assert (answer.json["offered"], answer.json["operation"]) == (False, None)
    assert answer.json["reason"] == "the event log does not have the latest change of its instance tree any more"
    answer = await reader("POST", PATH)
    assert answer.status == 409
    assert answer.problem["detail"].endswith(
        "but the event log does not have the latest change of its instance tree any more"
    )


GONE = {
    "ended": ["UPDATE process_instances SET ended_at = now(), state = 'TERMINATED'"],
    "deleted or archived": ["DELETE FROM process_instances"],
    "erased": ["DELETE FROM process_instances", "UPDATE event_log SET events = '[]'"],
    "without its logs": ["DELETE FROM process_instances", "DELETE FROM event_log"],
}


@pytest.mark.parametrize("gone", GONE)
@pytest.mark.parametrize("query", ["", "?dryRun=true"])
async def test_an_instance_that_is_gone_has_no_undo(happened, rows, reader, engine, gone, query):
    happened(1, InstanceSuspended(KEY))
    for statement in GONE[gone]:
        rows.execute(statement)
    for method, path in (("GET", PATH), ("POST", PATH + query)):
        answer = await reader(method, path)
        assert (answer.status, answer.problem["title"]) == (404, "NOT_FOUND")
        reason = "it has ended: neither a cancellation nor another end can be taken back"
        assert answer.problem["detail"].endswith(
            f"but {reason if gone == 'ended' else 'no process instance with this key is running'}"
        )
    assert engine.appended == []


async def test_an_instance_that_ends_meanwhile_is_not_found(happened, reader, engine):
    """The engine handles the undo after the end."""
    happened(1, InstanceSuspended(KEY))
    engine.rejection = Rejection(RejectionCode.NOT_FOUND, "no such process was found")
    assert (await reader("POST", PATH)).status == 404


async def test_a_change_with_more_rows_than_can_be_compared_has_no_undo(happened, reader, monkeypatch):
    monkeypatch.setattr(latest_changes, "LATEST_ROWS", 1)
    happened(1, InstanceSuspended(KEY))
    happened(1, InstanceSuspended(KEY + 1), seq=1)
    answer = await reader("GET", PATH)
    assert (answer.json["offered"], answer.json["operation"]) == (False, "SUSPEND")
    assert answer.json["reason"] == "it has more rows than can be compared"


async def test_quanta_of_the_same_command_count(happened, reader):
    happened(1, InstanceSuspended(KEY))
    happened(1, ElementCompleted(KEY + 1), seq=1)
    answer = await reader("GET", PATH)
    assert (answer.json["operation"], answer.json["offered"]) == ("SUSPEND", False)
    assert answer.json["reason"] == "it has led to more than can be taken back: ElementCompleted"


async def test_requests_that_are_wrong(happened, rows, reader, engine):
    happened(1, InstanceSuspended(KEY))
    assert (await reader("POST", PATH, {"operationReference": -1})).status == 400
    answer = await reader("POST", PATH, headers=[(b"if-match", b'"7"')])
    assert answer.status == 412
    assert answer.problem["detail"].endswith(f"instance with key '{KEY}' at another version, but its version is 1")
    for method in ("GET", "POST"):
        assert (await reader(method, PATH.replace(str(KEY), str(KEY + 77)))).status == 404
    assert engine.appended == []
    engine.rejection = Rejection(RejectionCode.PRECONDITION_FAILED, "late")
    answer = await reader("POST", PATH)
    assert (answer.status, answer.problem["title"]) == (409, "INVALID_STATE")
    assert "something else has happened since" in answer.problem["detail"]
    rows.execute("UPDATE process_instances SET ended_at = now()")
    assert (await reader("GET", PATH)).status == 404


def ann(*grants):
    return OneCaller(Caller("USER", "ann", rights((), grants)))


@pytest.mark.parametrize(
    ("action", "status"),
    [("SUSPEND_PROCESS_INSTANCE", 204), ("MODIFY_PROCESS_INSTANCE", 403), ("READ_PROCESS_INSTANCE", 403)],
)
async def test_the_permission_is_that_of_the_operation(happened, stored, action, status):
    happened(1, InstanceSuspended(KEY))
    access = ann(Grant("PROCESS_DEFINITION", "order", (action,)))
    client = Client(api_app.build(changed(stored, access=access)))
    assert (await client("POST", PATH)).status == status


@pytest.mark.parametrize(("processes", "status"), [(("order", "former"), 204), (("order",), 403)])
async def test_a_migration_goes_back_to_a_process_that_the_caller_may_update(happened, rows, stored, processes, status):
    happened(1, MIGRATED)
    rows.definition(8, process_id="former")
    access = ann(*(Grant("PROCESS_DEFINITION", id, ("UPDATE_PROCESS_INSTANCE",)) for id in processes))
    client = Client(api_app.build(changed(stored, access=access)))
    assert (await client("POST", PATH)).status == status


@pytest.mark.parametrize(("processes", "status"), [(("order", "called"), 204), (("order",), 403)])
async def test_called_instances_go_back_to_a_process_that_the_caller_may_update(
    happened, rows, stored, processes, status
):
    happened(1, MIGRATED, InstanceMigrated(KEY + 9, 9, "order", 2, None, None, {"a": "b"}, former=(7, "called")))
    rows.definition(7, process_id="called")
    rows.definition(8)
    access = ann(*(Grant("PROCESS_DEFINITION", id, ("UPDATE_PROCESS_INSTANCE",)) for id in processes))
    client = Client(api_app.build(changed(stored, access=access)))
    assert (await client("POST", PATH)).status == status


async def test_the_audit_log_has_the_operation_that_is_done(happened, stored, engine):
    happened(1, InstanceSuspended(KEY))
    client = Client(api_app.build(changed(stored, access=OneCaller(Caller("USER", "ann", ALL_RIGHTS)))))
    assert (await client("POST", PATH)).status == 204
    assert b'"operation":"RESUME"' in engine.appended[0].audit.encode()


async def test_another_tenant_knows_no_such_instance(happened, rows, stored):
    happened(1, InstanceSuspended(KEY))
    access = OneCaller(Caller("USER", "ann", ALL_RIGHTS, tenants=frozenset(["b"])))
    services = changed(stored, access=access, multi_tenancy=True, readers=stored.reads.pool)
    client = Client(api_app.build(services))
    for method in ("GET", "POST"):
        assert (await client(method, PATH)).status == 404
