"""Wrong or slow rows of the command log cost nobody else anything."""

import json
from uuid import uuid4

import psycopg
import pytest
import trio

from tests.process.audit import audit, settled
from tests.process.http_client import Caller
from tests.process.load import Load

SLOW = """
    CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF random() < 0.3 THEN PERFORM pg_sleep(random() * 0.03); END IF;
        RETURN NULL;
    END $$;
    CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON command_log_1_0 DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION slow()"""

POISON = {
    "no JSON": ("PROCESS_INSTANCE_CREATION:CREATE", '{"process_id":'),
    "no such command": ("PROCESS_INSTANCE:EXPLODE", "{}"),
    "another type": ("JOB:COMPLETE", '{"key":"all"}'),
    "refused by the database": (
        "PROCESS_INSTANCE_CREATION:CREATE",
        '{"process_id":"one-task","business_id":"a\\u0000b"}',
    ),
    "refused by the database, too": (
        "PROCESS_INSTANCE_CREATION:CREATE",
        '{"process_id":"one-task","tags":["\\u0000"]}',
    ),
}


@pytest.mark.long
async def test_a_slow_committer_loses_no_command(pair, database):
    """Two appenders, and commits that take their time: positions become visible in order all the same."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(SLOW)
    load = Load([program.port for program in pair], creators=8, workers=4)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(300)
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")


async def test_a_poisoned_command_fails_alone_and_visibly(pair, database):
    """Inserted behind the API's back, in the middle of the load: nothing like it comes in by the front door."""
    program = pair[0]
    load = Load([program.port])
    positions = {}
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        for name, (intent, payload) in POISON.items():
            await load.progress(10)
            positions[name] = append(database, intent, payload)
        await load.progress(30)
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")
    async with Caller(program.port) as caller:
        for name, position in positions.items():
            command = (await caller.call("GET", f"/v2/commands/{position}")).json
            print(f"{name}: {command['rejection']}")
            assert command["status"] == "REJECTED"
            assert command["rejection"]["code"] == "PROCESSING_ERROR"
            assert command["events"] == []
    refused = sum(len(each.logged("the database rejects a batch")) for each in pair)
    assert refused >= 2, "no batch was refused as a whole: the test did not bite"


def append(dsn, intent, payload):
    """Put a command into the log, as the appender does; its position."""
    entries = json.dumps([{"o": 0, "tenant": "<default>", "intent": intent, "payload": payload}])
    with psycopg.connect(dsn, autocommit=True) as connection:
        session = uuid4(), 1
        connection.execute("SELECT begin_appends(%s, %s)", session)
        row = connection.execute(
            "SELECT pos FROM append_commands(1, gen_random_uuid(), NULL, %s::json, %s, %s)", [entries, *session]
        ).fetchone()
    return row[0]
