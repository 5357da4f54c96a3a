"""kill -9 around due dates: no timer is lost, none fires twice, none fires early."""

from datetime import UTC, datetime, timedelta

import psycopg
import pytest
import trio

from tests.process.audit import settled
from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.rounds import few_and_many

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


@pytest.mark.long
@few_and_many(2, 16, "VIVERO_KILLS")
async def test_kills_around_due_dates(program, database, random_faults, count):
    await kill_around_due_dates(program, database, random_faults, count)
