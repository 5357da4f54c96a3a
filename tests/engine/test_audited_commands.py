"""Commands that carry a record: the batch that processes them adds it to the audit log, with keys and result."""

from uuid import UUID

import pytest

from tests.core import message_models, task_listener_models
from tests.core.engine import raw
from tests.core.models import ONE_TASK, end, task
from tests.engine.several_partitions import PartitionsEngine
from tests.engine.whole_engine import TENANT, WholeEngine
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.jobs import CompleteJob, UserTaskResult
from vivero.core.records.messages import CorrelateMessage
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.engine.appender.calls import Append
from vivero.storage.access import audit_log
from vivero.storage.access.audit_log import AuditRecord
from vivero.storage.log import command_log
from vivero.storage.postgres import driver

ANOTHER = UUID(int=7)
STARTED = message_models.model(
    message_models.starts("begun", "b"),
    task("work"),
    end(),
    "begun > work > end",
    roots=(message_models.message("begin", None, "b"),),
    id="started",
)
JOBS = "SELECT count(*) FROM jobs"
COLUMNS = "actor_id, entity_type, operation, entity_key, result, position, process_instance_key, process_id, tenant_id"


def record(entity, operation, key=None):
    made = AuditRecord("USER", "ann", "DEPLOYED_RESOURCES", entity, operation, None if key is None else str(key), key)
    return audit_log.encode(made)


@pytest.fixture
async def engine(migrated):
    async with WholeEngine(migrated).running() as engine:
        yield engine


async def run(engine, command, audit, idempotency=None):
    item = Append(command, TENANT, audit=audit, idempotency=idempotency)
    appended = await engine.appender.append(item, deadline_s=10)
    await engine.until(lambda: appended.position in engine.answers)
    return engine.answers[appended.position]


async def recorded(engine):
    return await engine.rows(f"SELECT {COLUMNS} FROM audit_log ORDER BY audit_log_key")


async def test_a_record_has_the_keys_and_the_result_of_its_command(engine):
    await engine.deploy(ONE_TASK)
    assert await recorded(engine) == [], "a command without a record leaves none"
    created = await run(engine, CreateInstance("p"), record("PROCESS_INSTANCE", "CREATE"))
    key = created.reply.process_instance_key
    cancelled = await run(engine, CancelInstance(key), record("PROCESS_INSTANCE", "CANCEL", key))
    again = await run(engine, CancelInstance(key), record("PROCESS_INSTANCE", "CANCEL", key))
    unknown = await run(engine, CancelInstance(5), record("PROCESS_INSTANCE", "CANCEL", 5))
    assert again.rejection is not None
    about = ("ann", "PROCESS_INSTANCE")
    assert await recorded(engine) == [
        (*about, "CREATE", str(key), "SUCCESS", created.position, key, "p", TENANT),
        (*about, "CANCEL", str(key), "SUCCESS", cancelled.position, key, "p", TENANT),
        (*about, "CANCEL", str(key), "FAIL", again.position, key, "p", TENANT),
        (*about, "CANCEL", "5", "FAIL", unknown.position, None, None, None),
    ]


async def test_one_idempotency_key_has_one_record(engine):
    await engine.deploy(ONE_TASK)
    outcomes = [
        await run(engine, CreateInstance("p"), record("PROCESS_INSTANCE", "CREATE"), ("key", b"x" * 32))
        for _ in range(3)
    ]
    assert len({outcome.position for outcome in outcomes}) == 1
    assert [row[5] for row in await recorded(engine)] == [outcomes[0].position]


async def test_a_command_that_is_read_from_the_log_is_recorded(migrated):
    """The appender of another program has written it, so no segment brings it."""
    engine = WholeEngine(migrated)
    connection = await driver.connect(migrated, name="vivero test")
    try:
        session = await command_log.begin(connection, ANOTHER, 1)
        entry = command_log.LogEntry(
            TENANT, CancelInstance.intent, b'{"key":5}', 5, audit=record("PROCESS_INSTANCE", "CANCEL", 5)
        )
        (appended,) = await command_log.append(connection, session, 1, ANOTHER, None, [entry])
    finally:
        connection.close()
    async with engine.running():
        await engine.until(lambda: appended.position in engine.answers)
        assert [(row[4], row[5]) for row in await recorded(engine)] == [("FAIL", appended.position)]


async def test_a_change_that_a_listener_denies_after_a_restart_is_recorded_as_failed(migrated):
    engine = WholeEngine(migrated)
    async with engine.running():
        await engine.deploy(task_listener_models.model("completing ask"))
        await engine.create(count=2)
        tasks = [row[0] for row in await engine.rows("SELECT user_task_key FROM user_tasks ORDER BY 1")]
        items = [Append(CompleteUserTask(key), TENANT, audit=record("USER_TASK", "COMPLETE", key)) for key in tasks]
        positions = [one.position for one in await engine.appender.append_all(items, deadline_s=10)]
        await engine.until_value(2, JOBS)
        assert not engine.answers.keys() & set(positions), "their listeners decide"
    engine = WholeEngine(migrated)
    async with engine.running():
        denied, allowed = [
            row[0] for row in await engine.rows("SELECT job_key FROM jobs ORDER BY element_instance_key")
        ]
        await engine.run(CompleteJob(denied, result=UserTaskResult(denied=True)))
        await engine.run(CompleteJob(allowed, result=UserTaskResult()))
        await engine.until(lambda: engine.answers.keys() >= set(positions))
        assert [row[3:6] for row in await recorded(engine)] == [
            (str(tasks[0]), "FAIL", positions[0]),
            (str(tasks[1]), "SUCCESS", positions[1]),
        ]


async def test_a_message_whose_start_cannot_be_saved_is_recorded_as_failed(engine):
    await engine.deploy(STARTED)
    command = CorrelateMessage("begin", "x", variables=raw({"no column can hold this name: \0": 1}))
    refused = await run(engine, command, record("PROCESS_INSTANCE", "UPDATE"))
    assert refused.rejection.code == "PROCESSING_ERROR"
    assert [row[4:6] for row in await recorded(engine)] == [("FAIL", refused.position)]


async def test_a_command_that_another_partition_handles_is_recorded_there(migrated):
    """It goes by way of the inbox, with its record, and keeps the position that its client knows."""
    async with PartitionsEngine(migrated).running() as engine:
        await engine.deploy(ONE_TASK)
        created = await engine.run(CreateInstance("p"), at=2)
        key = created.reply.process_instance_key
        item = Append(CancelInstance(key), TENANT, partition=3, audit=record("PROCESS_INSTANCE", "CANCEL", key))
        appended = await engine.appender.append(item, deadline_s=10)
        await engine.until(lambda: appended.position in engine.answers)
        assert [row[2:7] for row in await recorded(engine)] == [("CANCEL", str(key), "SUCCESS", appended.position, key)]


async def test_records_are_deleted_when_they_are_old(engine):
    for _ in range(3):
        await audit_log.add(engine.connection, AuditRecord("USER", "ann", "ADMIN", "USER", "CREATE", "bob"))
    await engine.rows("UPDATE audit_log SET at = at - interval '2 days' WHERE audit_log_key <= 2")
    assert await audit_log.purge(engine.connection, 86_400_000, 1) == 1
    assert await audit_log.purge(engine.connection, 86_400_000, 10) == 1
    assert await audit_log.purge(engine.connection, 86_400_000, 10) == 0
    assert len(await recorded(engine)) == 1


@pytest.mark.parametrize(("tenants", "own"), [("b", False), ("b,c", False), ("", False), (f"b,{TENANT}", True)])
async def test_an_attempt_with_a_key_of_another_tenant_is_recorded_like_one_with_an_unknown_key(engine, tenants, own):
    """It is no matter of the tenant that has the key, and must not tell it of the sender."""
    await engine.deploy(ONE_TASK)
    created = await engine.run(CreateInstance("p"))
    key = created.reply.process_instance_key
    made = AuditRecord("USER", "ann", "ADMIN", "PROCESS_INSTANCE", "CANCEL", str(key), key, tenants=tenants)
    item = Append(CancelInstance(key), tenants, audit=audit_log.encode(made))
    appended = await engine.appender.append(item, deadline_s=10)
    await engine.until(lambda: appended.position in engine.answers)
    await audit_log.add(engine.connection, made, audit_log.FAIL)  # as for a forbidden attempt, which is no command
    of_tenant = (key, "p", TENANT) if own else (None, None, None)
    assert [row[3:5] + row[6:] for row in await recorded(engine)] == [
        (str(key), "SUCCESS" if own else "FAIL", *of_tenant),
        (str(key), "FAIL", *of_tenant),
    ]
