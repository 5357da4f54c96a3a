"""The memory of a program after many instances, and the time until it is ready again.

VIVERO_INSTANCES=100000 make test-long ARGS="-s tests/process/test_size.py"
"""

import json
import os
import signal
from uuid import uuid4

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import settled
from tests.process.load import deploy
from vivero import embedded

INSTANCES = int(os.environ.get("VIVERO_INSTANCES") or 10_000)
A_CALL = 1_000
MEMORY_MB = 150
CREATE = ("PROCESS_INSTANCE_CREATION:CREATE", '{"process_id":"one-task","variables":{"a":1,"b":"two","c":[3]}}')


def append(dsn, commands):
    """Put commands into the log, in calls of many."""
    entries = [
        {"o": number % A_CALL, "tenant": "<default>", "intent": intent, "payload": payload}
        for number, (intent, payload) in enumerate(commands)
    ]
    with psycopg.connect(dsn, autocommit=True) as connection:
        session = uuid4(), 1
        connection.execute("SELECT begin_appends(%s, %s)", session)
        query = "SELECT count(*) FROM append_commands(1, gen_random_uuid(), NULL, %s::json, %s, %s)"
        for first in range(0, len(entries), A_CALL):
            call = json.dumps(entries[first : first + A_CALL])
            connection.execute(query, [call, *session])


def job_keys(dsn):
    with psycopg.connect(dsn) as connection:
        return [key for (key,) in connection.execute("SELECT job_key FROM jobs ORDER BY job_key")]


@pytest.mark.long
async def test_memory_and_start_after_many_instances(program_with_own_server, server):
    program, dsn = program_with_own_server, server.dsn
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    print(f"when started: {program.memory[0]:.0f} MB")
    began = trio.current_time()
    append(dsn, INSTANCES * [CREATE])
    await eventually(lambda: _worked_off(dsn), "all are created", within_s=300, every_s=0.5)
    live, _ = program.memory
    print(f"{INSTANCES} live instances: {live:.0f} MB; processed in {trio.current_time() - began:.0f} s")
    ready_s = [await _ready_again(program, server) for _ in range(5)]
    assert len(job_keys(dsn)) == INSTANCES
    append(dsn, [("JOB:COMPLETE", f'{{"key":{key},"variables":{{"d":true}}}}') for key in job_keys(dsn)])
    await settled(dsn, within_s=300)
    ended, peak = program.memory
    print(f"{INSTANCES} ended instances: {ended:.0f} MB, at most {peak:.0f} MB")
    print(f"ready on its data after {min(ready_s):.2f} to {max(ready_s):.2f} s")
    assert max(live, ended, peak) <= MEMORY_MB


async def _worked_off(dsn):
    with psycopg.connect(dsn) as connection:
        query = "SELECT (SELECT max(to_pos) FROM batches) = (SELECT max(position) FROM command_log)"
        return connection.execute(query).fetchone()[0]


async def _ready_again(program, server):
    """Stopped in good order, PostgreSQL too, as a user would."""
    program.signal(signal.SIGTERM)
    assert await program.wait() == 0
    await trio.to_thread.run_sync(embedded.wait_stopped, server.root)
    began = trio.current_time()
    await program.restart()
    return trio.current_time() - began
