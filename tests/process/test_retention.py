"""Whole programs are killed while retention deletes: nothing is lost or halved, and what runs stays."""

import psycopg
import pytest

from tests.chaos import replayed
from tests.core import event_models, message_models
from tests.core.models import end, start
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import deploy, send_files

SETS, KILLS = 40, 4
"""Sets of trees: in each five end, and three do not."""
ENDED, RUNNING = 5 * SETS, 3 * SETS
FILES = {
    "calls.bpmn": event_models.model(start(), event_models.call("c", "straight"), end(), "start > c > end", id="calls"),
    "calls-again.bpmn": event_models.model(
        start(), event_models.call("c", "calls"), event_models.call("d", "straight"), end(), "start > c > d > end",
        id="calls-again",
    ),
    "calls-waiting.bpmn": event_models.model(
        start(), event_models.call("c", "timer_due"), end(), "start > c > end", id="calls-waiting"
    ),
    "waiting.bpmn": message_models.model(
        start(), message_models.catch(), end(), "start > catch > end", id="waiting"
    ),
}  # fmt: skip
"""Called instances go with their root, or stay with it; a message ends an instance, and others wait for one."""
ENVIRONMENT = {
    "VIVERO_CONTROL_CLOCK": "true",
    "VIVERO_RETENTION_INSTANCES": "PT1H",
    "VIVERO_RETENTION_EVERY_S": "0.05",
    "VIVERO_RETENTION_CATCH_UP": "1000000",
}
HALVES = """
    SELECT count(*) FROM (
        SELECT process_instance_key FROM element_instances UNION ALL SELECT process_instance_key FROM variables
        UNION ALL SELECT process_instance_key FROM timers UNION ALL SELECT process_instance_key FROM subscriptions
        UNION ALL SELECT process_instance_key FROM message_correlations
        UNION ALL SELECT parent_process_instance_key FROM process_instances
        WHERE parent_process_instance_key IS NOT NULL
    ) x WHERE NOT EXISTS (SELECT FROM process_instances p WHERE p.process_instance_key = x.process_instance_key)"""
COUNTS = "SELECT (SELECT count(DISTINCT root_key) FROM process_instances), (SELECT count(*) FROM deleted_trees)"
UNENDED = """
    SELECT count(DISTINCT root_key), count(*) FILTER (WHERE ended_at IS NULL), count(*),
        (SELECT count(*) FROM timers WHERE state = 'PENDING'), (SELECT count(*) FROM channel_subscriptions)
    FROM process_instances"""


def as_text(file):
    return file if isinstance(file, str) else file.decode()


async def create_trees(caller):
    """In each set: alone, called, called twice, with a message, terminated; and a timer, a called timer, a message."""
    for number in range(SETS):
        due = {"due": "2100-01-01T00:00:00Z"}
        for process_id, variables in (
            ("straight", {"n": number}),
            ("calls", {"n": number}),
            ("calls-again", {"n": number}),
            ("waiting", {"k": f"told {number}"}),
            ("timer_due", due),
            ("calls-waiting", due),
            ("waiting", {"k": f"never told {number}"}),
        ):
            document = {"processDefinitionId": process_id, "variables": variables}
            assert (await caller.call("POST", "/v2/process-instances", document)).status == 200
        answer = await caller.call(
            "POST", "/v2/process-instances", {"processDefinitionId": "timer_due", "variables": due}
        )
        path = f"/v2/process-instances/{answer.json['processInstanceKey']}/cancellation"
        assert (await caller.call("POST", path, {})).status == 204
        told = {"name": "hello", "correlationKey": f"told {number}"}
        assert (await caller.call("POST", "/v2/messages/publication", told)).status == 200


@pytest.mark.long
async def test_kills_in_between_lose_and_double_nothing(make_program, database, unsafe, random_faults):
    program = make_program("--database-url", database, environment=unsafe | ENVIRONMENT)
    await program.restart()
    await deploy(program.port, "straight.bpmn")
    await deploy(program.port, "timer_due.bpmn")
    async with Caller(program.port) as caller:
        assert (await send_files(caller, {name: as_text(file) for name, file in FILES.items()})).status == 200
        await create_trees(caller)
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
        # A tree with a called instance that waits is whole: its root, and what it called.
        assert connection.execute(UNENDED).fetchone() == (RUNNING, 4 * SETS, 4 * SETS, 2 * SETS, SETS)
    print(f"killed after {sorted(seen)} deletions")
    await program.kill()
    assert await replayed.check(database) > 0
