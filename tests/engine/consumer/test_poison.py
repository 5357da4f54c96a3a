"""Rows that cannot be read, loaded for or saved, and handlers that raise: each fails alone, all others are served."""

from functools import partial

import pytest
import trio

from tests.core.engine import apply_by, raw
from tests.core.models import ONE_TASK, end, process, start, sub, task
from tests.engine.consumer.serial_runs import Serial, append, beat, dump, keep_leading, make_consumer, pin_clock
from vivero.core.records.codec import decode_command
from vivero.core.records.instances import CancelInstance, CreateInstance, ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, JobCompleted, ThrowJobError
from vivero.engine.consumer import batch
from vivero.engine.consumer.rejected_commands import RejectedCommands
from vivero.engine.definitions.cache import UnreadableResource
from vivero.storage.log import command_log
from vivero.storage.work import activation
from vivero.storage.work.activation import ActivationRequest

TENANT = "<default>"


@pytest.fixture
def serial():
    """A deployment and three instances."""
    serial = Serial()
    serial.deploy(ONE_TASK)
    serial.keys = [serial.start(a=number) for number in range(3)]
    serial.job_keys = list(serial.state.jobs)
    return serial


async def lead_until(consumer, observer, last):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        nursery.cancel_scope.cancel()


def text(**fields):
    """A payload as text, for what no command would say."""
    return "{" + ",".join(f'"{name}":{value}' for name, value in fields.items()) + "}"


async def put(connection, intent, payload, tenant=TENANT):
    """A log row by SQL, whatever its bytes are."""
    rows = await connection.execute(
        "INSERT INTO command_log (partition_id, position, append_id, ord, at, tenant_id, intent, payload)"
        " VALUES (1, nextval('log_position_1'), gen_random_uuid(), 0, clock_now(), $1, $2, $3)"
        " RETURNING position",
        (tenant, intent, payload),
    )
    return rows.rows[0][0]


def deep(levels):
    return "[" * levels + "]" * levels


UNREADABLE = {
    "an unknown intent": ("PROCESS_INSTANCE:DANCE", b"{}"),
    "no JSON": ("JOB:COMPLETE", b"\x00\xff\xfe"),
    "nothing": ("JOB:COMPLETE", b""),
    "no object": ("JOB:COMPLETE", b"[1]"),
    "a missing field": ("JOB:COMPLETE", b"{}"),
    "a text for a key": ("JOB:COMPLETE", b'{"key":"7"}'),
    "no UTF-8 in a name": ("PROCESS_INSTANCE_CREATION:CREATE", b'{"process_id":"\xff"}'),
    "no UTF-8 in a variable": ("PROCESS_INSTANCE_CREATION:CREATE", b'{"process_id":"p","variables":{"a":"\xff"}}'),
    "a lone surrogate in a name": ("PROCESS_INSTANCE_CREATION:CREATE", b'{"process_id":"\\ud800"}'),
    "too deep": (
        "PROCESS_INSTANCE_CREATION:CREATE",
        f'{{"process_id":"p","variables":{{"a":{deep(100_000)}}}}}'.encode(),
    ),
}


@pytest.mark.parametrize("case", UNREADABLE)
async def test_a_row_that_cannot_be_read_is_rejected_and_the_log_goes_on(migrated, connection, serial, case):
    await append(connection, serial.commands)
    position = await put(connection, *UNREADABLE[case])
    last = await append(connection, [(TENANT, CompleteJob(serial.job_keys[0]))])
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, last)
    rejection = observer.outcomes[position].rejection
    assert rejection.code == "PROCESSING_ERROR"
    assert f"the log row at position {position} ({UNREADABLE[case][0]}) cannot be read" in rejection.reason
    assert observer.outcomes[last].rejection is None
    assert consumer.stats.terms == 1


async def test_a_row_at_which_the_decoder_has_a_bug_is_rejected_alone(migrated, connection, serial, monkeypatch):
    """It is decoded each time before anybody could refuse it."""
    await append(connection, serial.commands)
    position = await put(connection, "JOB:COMPLETE", b'{"key":4711}')
    last = await append(connection, [(TENANT, CompleteJob(serial.job_keys[0]))])
    decode = decode_command

    def explode(intent, payload):
        if b"4711" in payload:
            raise OverflowError("too large")
        return decode(intent, payload)

    monkeypatch.setattr(batch, "decode_command", explode)
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, last)
    assert "cannot be read: too large" in observer.outcomes[position].rejection.reason
    assert observer.outcomes[last].rejection is None
    assert consumer.stats.terms == 1


# ---- what the database refuses to look for, and keys of no partition, which it is not asked for

HUGE, BUG = 2**63, "PROCESSING_ERROR"
UNASKABLE = {
    "a job": ("JOB:COMPLETE", text(key=HUGE), "NOT_FOUND"),
    "a job with a lease": ("JOB:COMPLETE", text(key=HUGE, lease='"00000000-0000-4000-8000-000000000000"'), BUG),
    "a negative job": ("JOB:FAIL", text(key=-HUGE - 1), "NOT_FOUND"),
    "an instance": ("PROCESS_INSTANCE:CANCEL", text(key=HUGE), "NOT_FOUND"),
    "an incident": ("INCIDENT:RESOLVE", text(key=HUGE), "NOT_FOUND"),
    "a timer": ("TIMER:TRIGGER", text(key=HUGE, due_at=1), None),
    "a definition": ("PROCESS_INSTANCE_CREATION:CREATE", text(definition_key=HUGE), BUG),
    "a process id with NUL": ("PROCESS_INSTANCE_CREATION:CREATE", text(process_id='"a\\u0000b"'), BUG),
}


@pytest.mark.parametrize("case", UNASKABLE)
async def test_what_the_database_cannot_be_asked_for_is_rejected_alone(migrated, connection, serial, case):
    """A timer that does not exist is an old trigger, and nothing happens."""
    intent, payload, code = UNASKABLE[case]
    await append(connection, serial.commands)
    position = await put(connection, intent, payload.encode())
    last = await append(connection, [(TENANT, CompleteJob(serial.job_keys[0]))])
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, last)
    rejection = observer.outcomes.pop(position).rejection
    assert (rejection and rejection.code) == code
    assert all(outcome.rejection is None for outcome in observer.outcomes.values())
    assert len(observer.received) == last - (1 << 51), "each is answered once"


async def test_a_deployed_file_that_cannot_be_read_any_more_stops_its_own_commands_only(migrated, connection, serial):
    await append(connection, serial.commands)
    last = await append(connection, [(TENANT, CancelInstance(77))])
    consumer, observer = make_consumer(migrated, serial.resources)

    async def unreadable(sha256, _connection):
        raise UnreadableResource(sha256)

    consumer.definitions.cold.update(serial.resources)
    consumer.definitions.resource = unreadable
    await lead_until(consumer, observer, last)
    codes = [
        observer.outcomes[position].rejection and observer.outcomes[position].rejection.code
        for position in observer.received
    ]
    assert codes == [None, *["PROCESSING_ERROR"] * 3, "NOT_FOUND"]


# ---- what the database refuses to save

NUL = '"\\u0000"'
UNSAVABLE = {
    "NUL in a variable's name": (
        "VARIABLE_DOCUMENT:UPDATE",
        lambda s: text(key=s.keys[0], variables='{"a\\u0000b":1}'),
    ),
    "NUL in a message": ("JOB:FAIL", lambda s: text(key=s.job_keys[0], retries=1, message=NUL)),
    "NUL in an incident": ("JOB:FAIL", lambda s: text(key=s.job_keys[0], retries=0, message=NUL)),
    "NUL in an error code": ("JOB:THROW_ERROR", lambda s: text(key=s.job_keys[0], code=NUL)),
    "a number beyond 32 bits": ("JOB:UPDATE", lambda s: text(key=s.job_keys[0], priority=2**40)),
    "NUL in a tag": ("PROCESS_INSTANCE_CREATION:CREATE", lambda s: text(process_id='"p"', tags=f"[{NUL}]")),
    "NUL in a business id": ("PROCESS_INSTANCE_CREATION:CREATE", lambda s: text(process_id='"p"', business_id=NUL)),
}


@pytest.mark.parametrize("case", UNSAVABLE)
async def test_what_cannot_be_saved_is_rejected_alone(migrated, connection, serial, case):
    """22P05 (or 22003) in the middle of a batch: the neighbours on both sides are processed as if it were not there."""
    intent, payload = UNSAVABLE[case]
    await pin_clock(connection)
    await append(connection, serial.commands)
    before = await append(connection, [(TENANT, CompleteJob(serial.job_keys[1]))])
    position = await put(connection, intent, payload(serial).encode())
    last = await append(
        connection, [(TENANT, CompleteJob(serial.job_keys[0])), (TENANT, CancelInstance(serial.keys[2]))]
    )
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, last)
    rejection = observer.outcomes.pop(position).rejection
    assert rejection.code == "PROCESSING_ERROR"
    assert rejection.reason.startswith("the database rejects what the command names or would write: ")
    assert len(observer.outcomes) == last - (1 << 51) - 1
    withheld = intent in (FailJob.intent, ThrowJobError.intent)
    rejected = [position for position, outcome in observer.outcomes.items() if outcome.rejection is not None]
    assert rejected == ([last - 1] if withheld else []), "the job has an incident, and nobody works on it"
    assert observer.outcomes[before]
    assert len(observer.received) == last - (1 << 51), "each is answered once"
    states = await connection.execute("SELECT state FROM process_instances ORDER BY process_instance_key")
    assert [state for (state,) in states.rows] == ["ACTIVATED" if withheld else "COMPLETED", "COMPLETED", "TERMINATED"]
    logged = await connection.execute("SELECT count(*), count(rejection), count(DISTINCT position) FROM event_log")
    count = last - (1 << 51)
    assert logged.rows == [(count, 1 + len(rejected), count)]
    assert consumer.rejected == RejectedCommands(careful_until=consumer.rejected.careful_until)
    assert consumer.rejected.careful_until >= position


REFUSES = "ALTER TABLE jobs ADD CONSTRAINT no_bad_type CHECK (type <> 'bad')"
"""Values of expressions are checked when they are evaluated: so the database refuses one that nothing else minds."""
TYPED = process(start(), sub("s", start("i"), task("work", type="=kind"), end(), "i > work > end"), "start > s")


async def test_deferred_work_that_cannot_be_saved_is_an_incident_and_goes_on_when_it_is_resolved(migrated, connection):
    """No client has sent the command with the culprit: without its incident the rest of the instance would lie there
    for ever, and nobody would know."""
    serial = Serial()
    serial.deploy(TYPED)
    await connection.execute(REFUSES)
    await pin_clock(connection)
    await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources, quantum_items=1)
    kinds = [{"kind": "bad", "n": 1}, {"kind": "good", "n": 2}]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_leading, consumer, [])
        work_off = partial(appended, connection, consumer, observer)
        await work_off(*(CreateInstance("p", variables=raw(kind)) for kind in kinds))
        assert await rows_of(connection, "SELECT type FROM jobs") == [("good",)]
        ((incident, instance, stage, said),) = await rows_of(
            connection,
            "SELECT incident_key, process_instance_key, stage, message FROM incidents WHERE state = 'ACTIVE'",
        )
        assert stage == "command"
        assert said.startswith("Command 'PROCESS_INSTANCE:CONTINUE' at position ")
        assert "the database rejects what the command names or would write: " in said
        assert await rows_of(connection, HAS_WORK) == [(instance,)]
        await work_off(ResolveIncident(incident))
        ((again,),) = await rows_of(connection, "SELECT incident_key FROM incidents WHERE state = 'ACTIVE'")
        assert again > incident, "nothing has changed: it is refused once more"
        await work_off(SetVariables(instance, raw({"kind": "better"})), ResolveIncident(again))
        assert await rows_of(connection, "SELECT type FROM jobs ORDER BY 1") == [("better",), ("good",)]
        assert await rows_of(connection, "SELECT DISTINCT state FROM incidents") == [("RESOLVED",)]
        assert await rows_of(connection, HAS_WORK) == []
        nursery.cancel_scope.cancel()


async def test_deferred_work_that_cannot_be_saved_does_not_keep_its_instance_from_being_cancelled(migrated, connection):
    serial = Serial()
    serial.deploy(TYPED)
    await connection.execute(REFUSES)
    await pin_clock(connection)
    await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources, quantum_items=1)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_leading, consumer, [])
        work_off = partial(appended, connection, consumer, observer)
        await work_off(CreateInstance("p", variables=raw({"kind": "bad"})))
        ((instance,),) = await rows_of(connection, HAS_WORK)
        await work_off(CancelInstance(instance))
        nursery.cancel_scope.cancel()
    assert await rows_of(connection, "SELECT state FROM process_instances") == [("TERMINATED",)]
    assert await rows_of(connection, "SELECT state FROM incidents") == [("RESOLVED",)]
    assert await rows_of(connection, "SELECT type FROM jobs") == []


HAS_WORK = "SELECT process_instance_key FROM process_instances WHERE work::text <> '[]'"


async def rows_of(connection, query):
    return (await connection.execute(query)).rows


async def appended(connection, consumer, observer, *commands):
    """Append commands and wait for them, and for all that is left for later by them."""
    last = await append(connection, [(TENANT, command) for command in commands])
    while last:
        consumer.partition_duty.wake()
        await observer.reached(last)
        last = await command_log.forward(connection, 1, 10)


async def test_nul_inside_a_value_can_be_saved(migrated, connection, serial):
    """A value is JSON text, in which NUL is an escape like any other."""
    await append(connection, serial.commands)
    payload = text(key=serial.keys[0], variables=f'{{"a":{NUL}}}')
    last = await put(connection, "VARIABLE_DOCUMENT:UPDATE", payload.encode())
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, last)
    assert observer.outcomes[last].rejection is None
    values = await connection.execute("SELECT value FROM variables WHERE scope_key = $1", (serial.keys[0],))
    assert values.rows == [(NUL,)]


async def test_several_culprits_in_one_batch_are_all_found(migrated, connection, serial):
    await append(connection, serial.commands)
    bad = []
    for job in serial.job_keys:
        bad.append(await put(connection, "JOB:FAIL", text(key=job, retries=1, message=NUL).encode()))
        last = await append(connection, [(TENANT, CreateInstance("p"))])
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, last)
    assert [position for position in observer.received if observer.outcomes[position].rejection] == bad
    assert len(observer.received) == last - (1 << 51)


async def test_a_poison_command_harms_no_later_batch(migrated, connection, serial, monkeypatch):
    """Behind the suspects batches are as large as before."""
    monkeypatch.setattr(batch, "COMPUTE_S", 60)
    await append(connection, serial.commands)
    await put(connection, "JOB:FAIL", text(key=serial.job_keys[0], retries=1, message=NUL).encode())
    suspects = await append(connection, [(TENANT, CompleteJob(serial.job_keys[0]))])
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(suspects)
        batches = consumer.stats.batches
        async with connection.transaction():
            last = await append(connection, [(TENANT, CreateInstance("p")) for _ in range(50)])
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert consumer.stats.batches - batches <= 3


async def test_a_handler_that_raises_harms_its_own_command_alone(migrated, connection, serial, monkeypatch):
    """The bug leaves an incident that parks the command; resolving it runs the command again, through the inbox."""
    armed = [True]

    def mined(usual, state, event):
        if armed and event.key == serial.job_keys[1]:
            raise ZeroDivisionError("a bug")
        return usual(state, event)

    apply_by(monkeypatch, JobCompleted, mined)
    await append(connection, serial.commands)
    last = await append(connection, [(TENANT, CompleteJob(job, raw({"r": 1}))) for job in serial.job_keys])
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(last)
        rejected = [position for position in observer.received if observer.outcomes[position].rejection]
        assert rejected == [last - 1]
        assert observer.outcomes[last - 1].rejection.reason == "handling the command raised ZeroDivisionError: a bug"
        ((incident, key, stage),) = (
            await connection.execute("SELECT incident_key, process_instance_key, stage FROM incidents")
        ).rows
        assert (key, stage) == (serial.keys[1], "command")
        assert (await activation.activate(connection, ActivationRequest("work", TENANT, 10, 1, "w"))).leases == [], (
            "it is withheld"
        )
        armed.clear()
        resolved = await append(connection, [(TENANT, ResolveIncident(incident))])
        consumer.partition_duty.wake()
        await observer.until(lambda: observer.inbox_notices)
        again = await command_log.forward(connection, 1, 10)
        consumer.partition_duty.wake()
        await observer.reached(again)
        nursery.cancel_scope.cancel()
    assert observer.outcomes[resolved].rejection is None
    states = await connection.execute("SELECT DISTINCT state FROM process_instances")
    assert states.rows == [("COMPLETED",)]
    values = await connection.execute("SELECT count(*) FROM variables WHERE name = 'r' AND value = '1'")
    assert values.rows == [(3,)]


# ---- the lease columns (docs/design/log.md §7)


async def columns(connection, job):
    rows = await connection.execute(
        "SELECT ready, available_at IS NULL, lease_token IS NULL, worker FROM jobs WHERE job_key = $1", (job,)
    )
    return rows.rows[0]


async def test_a_change_of_a_leased_job_leaves_its_lease_alone(migrated, connection, serial):
    """A delta for each event, never the cached row: that would undo the activation."""
    job = serial.job_keys[0]
    base = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(base)
        leases = (
            await activation.activate(connection, ActivationRequest("work", TENANT, 10, 60_000, "worker-1"))
        ).leases
        before = await connection.execute(
            "SELECT ready, available_at, lease_token FROM jobs WHERE job_key = $1", (job,)
        )
        last = await put(connection, "JOB:UPDATE", text(key=job, priority=5).encode())
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    after = await connection.execute("SELECT ready, available_at, lease_token FROM jobs WHERE job_key = $1", (job,))
    assert len(leases) == 3
    assert after.rows == before.rows
    assert (await connection.execute("SELECT priority FROM jobs WHERE job_key = $1", (job,))).rows == [(5,)]


ENDS = {
    "completed": ("JOB:COMPLETE", {}),
    "failed without retries": ("JOB:FAIL", {"retries": 0}),
    "error thrown": ("JOB:THROW_ERROR", {"code": '"E"'}),
}


@pytest.mark.parametrize("case", ENDS)
async def test_a_finished_job_is_not_handed_out_again_when_its_lease_runs_out(migrated, connection, serial, case):
    intent, fields = ENDS[case]
    job = serial.job_keys[0]
    base = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(base)
        await activation.activate(connection, ActivationRequest("work", TENANT, 10, 1, "worker-1"))
        last = await put(connection, intent, text(key=job, **fields).encode())
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    await connection.execute("UPDATE clock SET shift = '1 day', revision = revision + 1")
    assert await columns(connection, job) == (False, True, True, "worker-1")
    again = (await activation.activate(connection, ActivationRequest("work", TENANT, 10, 1_000, "worker-2"))).leases
    assert {lease.job_key for lease in again} == set(serial.job_keys) - {job}


async def test_a_cancelled_job_is_not_handed_out_again(migrated, connection, serial):
    base = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        await observer.reached(base)
        await activation.activate(connection, ActivationRequest("work", TENANT, 10, 1, "worker-1"))
        last = await append(connection, [(TENANT, CancelInstance(key)) for key in serial.keys])
        consumer.partition_duty.wake()
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    await connection.execute("UPDATE clock SET shift = '1 day', revision = revision + 1")
    assert (
        await activation.activate(connection, ActivationRequest("work", TENANT, 10, 1_000, "worker-2"))
    ).leases == []


async def test_a_failed_job_waits_for_its_backoff_and_then_is_handed_out(migrated, connection, serial):
    job = serial.job_keys[0]
    await pin_clock(connection)
    await append(connection, serial.commands)
    failed = text(key=job, retries=1, backoff_ms=60_000)
    last = await put(connection, "JOB:FAIL", failed.encode())
    consumer, observer = make_consumer(migrated, serial.resources)
    await lead_until(consumer, observer, last)
    assert await columns(connection, job) == (False, False, True, None)
    early = (await activation.activate(connection, ActivationRequest("work", TENANT, 10, 1_000, "w"))).leases
    assert {lease.job_key for lease in early} == set(serial.job_keys) - {job}
    last = await put(connection, "JOB:COMPLETE", text(key=job).encode())
    await lead_until(consumer, observer, last)
    refused = observer.outcomes[last].rejection
    assert refused is not None
    assert "in state 'FAILED'" in refused.reason
    await connection.execute("UPDATE clock SET pinned_at = pinned_at + interval '60 s', revision = revision + 1")
    late = (await activation.activate(connection, ActivationRequest("work", TENANT, 10, 1_000, "w"))).leases
    assert job in {lease.job_key for lease in late}
    await connection.execute("UPDATE clock SET pinned_at = pinned_at - interval '60 s', revision = revision + 1")
    last = await put(connection, "JOB:COMPLETE", text(key=job).encode())
    await lead_until(consumer, observer, last)
    assert observer.outcomes[last].rejection is None


async def test_a_job_whose_incident_is_resolved_is_handed_out_at_once(migrated, connection, serial):
    serial.fail("work")
    serial.update("work", retries=1)
    serial.resolve()
    last = await append(connection, serial.commands)
    consumer, observer = make_consumer(migrated, serial.resources, batch_commands=1)
    await lead_until(consumer, observer, last)
    leases = (await activation.activate(connection, ActivationRequest("work", TENANT, 10, 1_000, "w"))).leases
    assert {lease.job_key for lease in leases} == set(serial.job_keys)


# ---- keep


async def test_waking_and_polling_find_the_same(migrated, connection, serial):
    """Nobody wakes it: the poll is the fallback."""
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=0.02)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(keep_leading, consumer)
        await observer.until(lambda: observer.terms)
        last = await append(connection, serial.commands)
        await observer.reached(last)
        nursery.cancel_scope.cancel()
    assert (await dump(connection))["process_instances"]
