"""Slow commands that are not refused: put into the log behind the API, or slowed by the database."""

import json
import uuid

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.hostile.choice import one_of

LATE = (503, 504)
REPEATS = 5
"""Terms: one more than the batch's own, its three attempts, and a claim that met what was in doubt."""
MODEL = """<bpmn:process id="slow" isExecutable="true">
  <bpmn:startEvent id="start"/><bpmn:sequenceFlow id="f" sourceRef="start" targetRef="task"/>
  <bpmn:serviceTask id="task"><bpmn:extensionElements>
    <zeebe:taskDefinition type="slow"/></bpmn:extensionElements></bpmn:serviceTask>
  <bpmn:boundaryEvent id="late" attachedToRef="task"><bpmn:timerEventDefinition>
    <bpmn:timeDuration>P1D</bpmn:timeDuration></bpmn:timerEventDefinition></bpmn:boundaryEvent>
</bpmn:process>"""
SLOW = """
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.name = 'slow' THEN PERFORM pg_sleep(30); END IF;
        RETURN NEW;
    END $$;
    CREATE TRIGGER slow BEFORE INSERT ON variables FOR EACH ROW EXECUTE FUNCTION slow()"""
MANY = 250_000


@pytest.fixture
async def instance(target):
    await target.deployed(MODEL)
    return await target.created("slow")


@pytest.fixture
def slow_inserts(target):
    """A variable `slow` takes longer than a transaction may."""
    target.sql(SLOW)
    yield
    target.sql("DROP TRIGGER slow ON variables; DROP FUNCTION slow()")


def put(target, intent, **payload):
    """Append a command as nobody's API would; its position."""
    entry = {"o": 0, "tenant": "<default>", "intent": intent, "payload": json.dumps(payload)}
    session = uuid.uuid4(), 1
    with psycopg.connect(target.database, autocommit=True) as connection:
        connection.execute("SELECT begin_appends(%s, %s)", session)
        query = "SELECT pos FROM append_commands(1, gen_random_uuid(), NULL, %s::json, %s, %s)"
        return connection.execute(query, (json.dumps([entry]), *session)).fetchone()[0]


def many(count=MANY):
    return {f"v{number}": number % 10 for number in range(count)}


async def processed(target, position, within_s=120.0):
    """The rejection of the command, or None."""

    async def there():
        return target.sql("SELECT rejection FROM event_log WHERE position = %s AND seq = 0", (position,))

    return (await eventually(there, f"{position} is processed", within_s=within_s, every_s=0.1))[0][0]


def check_attempts_are_forgotten(target):
    assert target.sql("SELECT * FROM attempts") == []


MANY_VARIABLES = {
    "a-creation": lambda key, job: ("PROCESS_INSTANCE_CREATION:CREATE", {"process_id": "slow", "variables": many()}),
    "a-change": lambda key, job: ("VARIABLE_DOCUMENT:UPDATE", {"key": key, "variables": many()}),
    "a-completion": lambda key, job: ("JOB:COMPLETE", {"key": job, "variables": many()}),
}


@pytest.mark.parametrize("name", MANY_VARIABLES)
async def test_250000_variables(target, instance, name):
    """By the budget of a stage, or else by attempts."""
    ((job,),) = target.sql("SELECT job_key FROM jobs WHERE process_instance_key = %s", (int(instance),))
    intent, payload = MANY_VARIABLES[name](int(instance), job)
    async with target.attacked(tolerated=LATE, terms=REPEATS, within_s=120):
        rejection = await processed(target, put(target, intent, **payload))
    assert rejection["code"] == "PROCESSING_ERROR", rejection
    check_attempts_are_forgotten(target)


async def test_a_save_that_outlives_its_transaction(target, instance, slow_inserts):
    async with target.attacked(tolerated=LATE, terms=REPEATS + 3, within_s=180):
        position = put(target, "VARIABLE_DOCUMENT:UPDATE", key=int(instance), variables={"slow": 1})
        rejection = await processed(target, position, within_s=180)
    assert rejection["code"] == "PROCESSING_ERROR"
    assert "timeout" in rejection["reason"]
    ((incident,),) = target.sql("SELECT message FROM incidents WHERE process_instance_key = %s", (int(instance),))
    assert f"at position {position}" in incident
    check_attempts_are_forgotten(target)


async def test_a_save_that_outlives_its_transaction_among_many(target, instance, slow_inserts):
    """One among a hundred of a batch: the hundred are done, each once."""
    others = []
    async with target.attacked(tolerated=LATE, terms=REPEATS + 3, within_s=180):
        for number in range(100):
            if number == 50:
                position = put(target, "VARIABLE_DOCUMENT:UPDATE", key=int(instance), variables={"slow": 2})
            others.append(put(target, "PROCESS_INSTANCE_CREATION:CREATE", process_id="slow"))
        assert (await processed(target, position, within_s=180))["code"] == "PROCESSING_ERROR"
        for other in others:
            assert await processed(target, other) is None
    created = "SELECT created_position, count(*) FROM process_instances WHERE created_position = ANY (%s) GROUP BY 1"
    assert sorted(target.sql(created, (others,))) == [(other, 1) for other in others]


async def test_what_was_rejected_can_be_done_when_it_is_slow_no_more(target, instance):
    target.sql(SLOW)
    async with target.attacked(tolerated=LATE, terms=REPEATS + 3, within_s=180):
        position = put(target, "VARIABLE_DOCUMENT:UPDATE", key=int(instance), variables={"slow": 3})
        assert (await processed(target, position, within_s=180))["code"] == "PROCESSING_ERROR"
        target.sql("DROP TRIGGER slow ON variables; DROP FUNCTION slow()")
        incident = await target.incident(instance)
        answer = await target.call("POST", f"/v2/incidents/{incident['incidentKey']}/resolution", {})
        assert answer.status == 204, answer
        await eventually(lambda: variable(target, instance, "slow"), "the change is made after all")


async def variable(target, instance, name):
    await trio.lowlevel.checkpoint()
    query = "SELECT value FROM variables WHERE process_instance_key = %s AND name = %s"
    return target.sql(query, (int(instance), name))


async def test_a_timer_whose_trigger_is_slow(target, instance):
    target.sql(
        "CREATE FUNCTION slower() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " IF NEW.state = 'TRIGGERED' THEN PERFORM pg_sleep(30); END IF; RETURN NEW; END $$;"
        "CREATE TRIGGER slower BEFORE UPDATE ON timers FOR EACH ROW EXECUTE FUNCTION slower()"
    )
    ((timer,),) = target.sql("SELECT timer_key FROM timers WHERE process_instance_key = %s", (int(instance),))
    try:
        async with target.attacked(tolerated=LATE, terms=REPEATS + 3, within_s=180):
            position = put(target, "TIMER:FIRE", key=timer)
            assert (await processed(target, position, within_s=180))["code"] == "PROCESSING_ERROR"
        assert target.sql("SELECT count(*) FROM incidents WHERE process_instance_key = %s", (int(instance),)) == [(1,)]
    finally:
        target.sql("DROP TRIGGER slower ON timers; DROP FUNCTION slower()")


HOLDS = {
    "the-table-of-attempts": "LOCK TABLE attempts IN ACCESS EXCLUSIVE MODE",
    "the-variables": "LOCK TABLE variables IN ACCESS EXCLUSIVE MODE",
    "the-instances": "SELECT * FROM process_instances FOR UPDATE",
    "the-event-log": "LOCK TABLE event_log IN SHARE MODE",
}


@pytest.mark.parametrize("name", HOLDS)
async def test_locks_that_are_held_while_commands_are_tried_alone_reject_nothing(target, instance, name):
    """Somebody else's fault, for longer than three attempts would take."""
    terms = len(target.program.logged("leading the partition"))
    async with target.attacked(tolerated=LATE, terms=60, within_s=180):
        with psycopg.connect(target.database, application_name="somebody") as somebody:
            somebody.execute(HOLDS[name])
            position = put(target, "VARIABLE_DOCUMENT:UPDATE", key=int(instance), variables={"late": 1})
            await eventually(
                lambda: done_or_repeated(target, position, terms), "many terms begin, or it is done at once"
            )
            somebody.rollback()
        assert await processed(target, position) is None
    assert await variable(target, instance, "late")
    check_attempts_are_forgotten(target)


async def done_or_repeated(target, position, terms):
    """More often than three attempts would be; or nothing of the lock is in the way."""
    if len(target.program.logged("leading the partition")) - terms > REPEATS:
        return True
    with psycopg.connect(target.database, autocommit=True, options="-c lock_timeout=1s") as connection:
        return connection.execute("SELECT 1 FROM event_log WHERE position = %s", (position,)).fetchall()


ROWS = {
    "for-a-position-that-is-not-there-yet": (10**12, 10**12, []),
    "for-a-position-long-gone": (1, 1, ["beat"] * 9),
    "for-a-far-end": (1, 10**15, []),
}


@pytest.mark.parametrize("name", one_of(ROWS))
async def test_rows_of_attempts_that_nobody_of_ours_wrote(target, instance, name):
    """They make the next term slow at worst; nothing is rejected for them."""
    position, until, causes = ROWS[name]
    target.sql("INSERT INTO attempts VALUES (1, %s, %s, 1, 0, true, %s)", (position, until, causes))
    async with target.attacked(tolerated=LATE, terms=2):
        assert await target.program.hurt("consumer", "raise") == 204
        assert await processed(target, put(target, "PROCESS_INSTANCE_CREATION:CREATE", process_id="slow")) is None
    target.sql("DELETE FROM attempts")
    await target.program.hurt("consumer", "raise")


async def test_hangs_made_on_purpose_at_every_command_reject_nothing(target, instance):
    positions = []
    async with target.attacked(tolerated=LATE, terms=12, within_s=120):
        for _ in range(6):
            await target.program.hurt("consumer", "hang")
            positions.append(
                put(target, "VARIABLE_DOCUMENT:UPDATE", key=int(instance), variables={uuid.uuid4().hex: 1})
            )
        for position in positions:
            assert await processed(target, position) is None
