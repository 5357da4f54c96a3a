"""Batches while the whole program is killed again and again: each item's command happens once."""

from functools import partial

import pytest

from tests.eventually import eventually
from tests.process.conftest import UNSAFE
from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.process.rows import rows
from tests.rounds import few_and_many

INSTANCES = 150
SLOW = {"VIVERO_BATCH_OPERATIONS_PORTION": "5", "VIVERO_BATCH_OPERATIONS_IN_FLIGHT": "5"}
MOVED = """
SELECT count(*) FILTER (WHERE e.state = 'TERMINATED'), count(*) FILTER (WHERE e.state = 'ACTIVATED'), count(*)
FROM element_instances e WHERE e.element_type = 'SERVICE_TASK' GROUP BY e.process_instance_key
"""


@pytest.mark.long
@few_and_many(4, 12, "VIVERO_KILLS")
async def test_kills_during_a_modification(make_program, database, random_faults, count):
    program = make_program("--database-url", database, environment=UNSAFE | SLOW)
    try:
        await program.restart()
        await deploy(program.port, "one_task.bpmn")
        key = await begin(program.port)
        kills = 0
        for _ in range(count):
            at = random_faults.randrange(INSTANCES * 9 // 10)
            await eventually(partial(has_done, database, key, at), "items are done", every_s=0.005)
            kills += not await has_done(database, key, INSTANCES)
            await program.kill()
            await program.restart()
        await eventually(partial(state_of, database), "the batch ends", accept="COMPLETED".__eq__, within_s=120)
        check(database)
        print(f"{kills} of {count} kills with items left")
        assert kills > 0
    finally:
        program.end()  # before its database goes


async def begin(port):
    """Create instances that wait at their task, and a batch that moves each from its task to the same task."""
    async with Caller(port) as caller:
        for _ in range(INSTANCES):
            created = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "one-task"})
            assert created.status == 200, created
        moves = [{"sourceElementId": "work", "targetElementId": "work"}]
        body = {"filter": {"processDefinitionId": "one-task"}, "moveInstructions": moves}
        answer = await caller.call("POST", "/v2/process-instances/modification", body)
        assert answer.status == 200, answer
        return int(answer.json["batchOperationKey"])


async def has_done(database, key, number):
    return rows(database, f"SELECT completed FROM batch_operations WHERE batch_operation_key = {key}")[0][0] >= number


def state_of(database):
    """The state of the only batch."""
    return rows(database, "SELECT state FROM batch_operations")[0][0]


def check(database):
    (batch,) = rows(database, "SELECT total, completed, failed, skipped, canceled FROM batch_operations")
    assert batch == (INSTANCES, INSTANCES, 0, 0, 0)
    commands = rows(database, "SELECT count(*) FROM command_log WHERE intent LIKE '%:MODIFY' GROUP BY key")
    assert commands == [(1,)] * INSTANCES
    assert rows(database, MOVED) == [(1, 1, 2)] * INSTANCES
    assert rows(database, "SELECT count(*) FROM jobs WHERE ended_at IS NULL") == [(INSTANCES,)]
