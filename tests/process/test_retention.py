"""Whole programs are killed while retention deletes: nothing is lost or halved, and what runs stays."""

import psycopg
import pytest

from tests.chaos import replayed
from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.process.program import eventually

ENDED, RUNNING, KILLS = 200, 5, 4
ENVIRONMENT = {
    "VIVERO_CONTROL_CLOCK": "true",
    "VIVERO_RETENTION_INSTANCES": "PT1H",
    "VIVERO_RETENTION_EVERY_S": "0.05",
    "VIVERO_RETENTION_CATCH_UP": "1000000",
}
HALVES = """
    SELECT count(*) FROM (
        SELECT process_instance_key FROM element_instances UNION ALL SELECT process_instance_key FROM variables
    ) x WHERE NOT EXISTS (SELECT FROM process_instances p WHERE p.process_instance_key = x.process_instance_key)"""
COUNTS = "SELECT (SELECT count(*) FROM process_instances), (SELECT count(*) FROM deleted_trees)"


@pytest.mark.long
async def test_kills_in_between_lose_and_double_nothing(make_program, database, unsafe, random_faults):
    program = make_program("--database-url", database, environment=unsafe | ENVIRONMENT)
    await program.restart()
    await deploy(program.port, "straight.bpmn")
    await deploy(program.port, "timer_due.bpmn")
    async with Caller(program.port) as caller:
        for number in range(ENDED + RUNNING):
            document = {"processDefinitionId": "straight", "variables": {"n": number}}
            if number < RUNNING:
                document = {"processDefinitionId": "timer_due", "variables": {"due": "2100-01-01T00:00:00Z"}}
            assert (await caller.call("POST", "/v2/process-instances", document)).status == 200
        assert (await caller.call("PUT", "/v2/clock", {"timestamp": 4_000_000_000_000})).status == 204
    seen = set()
    with psycopg.connect(database, autocommit=True) as connection:
        for _ in range(KILLS):
            before, enough = connection.execute(COUNTS).fetchone()[1], random_faults.randint(0, ENDED // KILLS)

            async def deleted(least=before + enough):
                return connection.execute(COUNTS).fetchone()[1] >= min(least, ENDED)

            await eventually(deleted, "retention deletes", within_s=30)
            await program.kill()
            present, gone = connection.execute(COUNTS).fetchone()
            assert (present + gone, connection.execute(HALVES).fetchone()[0]) == (ENDED + RUNNING, 0)
            seen.add(gone)
            await program.restart()

        async def all_deleted():
            return connection.execute(COUNTS).fetchone() == (RUNNING, ENDED)

        await eventually(all_deleted, "everything that has ended is deleted", within_s=30)
        running = connection.execute("SELECT count(*) FROM process_instances WHERE ended_at IS NULL").fetchone()
        assert running == (RUNNING,)
    print(f"killed after {sorted(seen)} deletions")
    await program.kill()
    assert await replayed.check(database) > 0
