"""kill -9 around due dates: no timer is lost, none fires twice, none fires early."""

import os
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import trio

from tests.process.audit import settled
from tests.process.http_client import Caller
from tests.process.load import deploy

ROUNDS = 4
TORTURE_ROUNDS = int(os.environ.get("VIVERO_KILLS", "50"))
TIMERS = 60
AUDIT = """
SELECT count(*), count(*) FILTER (WHERE state = 'TRIGGERED'),
       count(*) FILTER (WHERE to_epoch_ms(triggered_at) < due_at_ms),
       (SELECT count(*) FROM event_log WHERE events::text LIKE '%"TimerTriggered"%'),
       (SELECT count(*) FROM process_instances WHERE state = 'COMPLETED')
FROM timers
"""


async def create(port, random, count, spread_s):
    """Instances whose timers are due within so many seconds."""
    async with Caller(port) as caller:
        for _ in range(count):
            due = datetime.now(UTC) + timedelta(seconds=random.uniform(0, spread_s))
            document = {
                "processDefinitionId": "timer_due",
                "variables": {"due": due.isoformat(timespec="milliseconds")},
            }
            answer = await caller.call("POST", "/v2/process-instances", document)
            assert answer.status == 200, answer


async def kill_around_due_dates(program, database, random, rounds):
    await program.restart()
    await deploy(program.port, "timer_due.bpmn")
    for _ in range(rounds):
        await create(program.port, random, TIMERS, 1.5)
        await trio.sleep(random.uniform(0, 0.5))  # a moment among the due dates
        await program.kill()
        await program.restart()
    await settled(database)
    with psycopg.connect(database) as connection:
        timers, triggered, early, events, completed = connection.execute(AUDIT).fetchone()
    assert timers == triggered == events == completed == rounds * TIMERS
    assert early == 0


async def test_kills_around_due_dates(program, database, random_faults):
    await kill_around_due_dates(program, database, random_faults, ROUNDS)


@pytest.mark.torture
async def test_many_kills_around_due_dates(program, database, random_faults):
    await kill_around_due_dates(program, database, random_faults, TORTURE_ROUNDS)
