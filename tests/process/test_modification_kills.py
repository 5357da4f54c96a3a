"""kill -9 of a program while a modification of thousands of elements goes on in pages: each element moves once.

Each round moves all tokens from one task to the other one. A lock lets one transaction of the program pass at a time.
The first kill of a round comes at a random border between two pages, the second one while sources end and targets
begin. Each kill meets a transaction that waits for the lock.
"""

import os

import psycopg
import pytest
import trio

from tests.chaos import replayed
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import send_files
from vivero.core.records.modifications import ModifyInstance
from vivero.core.rules import TreeRules

TOKENS = int(os.environ.get("VIVERO_TREE") or 3_000)
"""More than 1,000 begin in later quanta, and more than 500 end in pages."""
ROUNDS = int(os.environ.get("VIVERO_KILLS") or 4)
ENDS_S = 240.0
TASK = '<serviceTask id="{0}"><extensionElements><zeebe:taskDefinition type="{0}"/></extensionElements></serviceTask>'
MODEL = f"""<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org/tests"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="moved" isExecutable="true"><startEvent id="start"/>
  {TASK.format("a")}{TASK.format("b")}<sequenceFlow id="f" sourceRef="start" targetRef="a"/></process></definitions>"""
PROGRESS = """
    SELECT count(*) FILTER (WHERE element_id = %(source)s AND state = 'TERMINATING')::int,
        count(*) FILTER (WHERE element_id = %(source)s AND ended_at IS NULL AND state <> 'TERMINATING')::int,
        count(*) FILTER (WHERE element_id = %(target)s AND ended_at IS NULL AND state = 'ACTIVATED')::int
    FROM element_instances WHERE element_id IN ('a', 'b')"""
ENDED = "SELECT count(*)::int FROM element_instances WHERE element_id IN ('a', 'b') AND state = 'TERMINATED'"
JOBS = """
    SELECT count(*)::int, count(DISTINCT element_instance_key)::int FROM jobs
    WHERE element_id = %s AND ended_at IS NULL"""
COMMANDS = f"SELECT count(*)::int FROM command_log WHERE intent = '{ModifyInstance.intent}'"
PAGE = TreeRules().migration_page
HOLD = "BEGIN; LOCK TABLE element_instances IN SHARE MODE"


async def begin(port):
    """The key of an instance that has all tokens at `a`."""
    async with Caller(port) as caller:
        await send_files(caller, {"moved.bpmn": MODEL})
        created = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "moved"})
        assert created.status == 200, created
        key = created.json["processInstanceKey"]
    await modify(port, key, {"activateInstructions": [{"elementId": "a"}] * (TOKENS - 1)})
    return key


async def modify(port, key, change):
    async with Caller(port) as caller:
        answer = await caller.call("POST", f"/v2/process-instances/{key}/modification", change)
    assert answer.status == 204, answer


def move(source, target):
    by_id = {"sourceType": "byId", "sourceElementId": source}
    return {"moveInstructions": [{"sourceElementInstruction": by_id, "targetElementId": target}]}


class Borders:
    """Stops the program at the borders between its transactions that change elements."""

    def __init__(self, connection) -> None:
        self.connection = connection

    def hold(self):
        self.connection.execute(HOLD)

    def pass_one(self):
        """Let the transaction that waits commit, if there is one, and hold up the next one: locks are given in turn."""
        self.connection.execute(f"COMMIT; {HOLD}")

    def release(self):
        self.connection.execute("COMMIT")

    async def reach(self, places, accept):
        """Go on from border to border, held up now, up to one that is accepted. Its progress; the lock is held."""

        async def look():
            self.pass_one()
            found = self.connection.execute(PROGRESS, places).fetchone()
            return found if accept(found) else None

        return await eventually(look, "the modification goes on", within_s=ENDS_S, every_s=0.002)


async def settled(connection, places):
    async def is_over():
        return connection.execute(PROGRESS, places).fetchone() == (0, 0, TOKENS)

    await eventually(is_over, "all tokens are there", within_s=ENDS_S)


async def restarted(program, borders):
    await program.kill()
    borders.release()
    await program.restart()


@pytest.mark.long
async def test_kills_between_the_pages_of_a_modification(program, database, random_faults):
    await program.restart()
    key = await begin(program.port)
    with psycopg.connect(database, autocommit=True) as connection:
        borders, places, between_pages = Borders(connection), {"source": "b", "target": "a"}, 0
        await settled(connection, places)
        for number in range(1, ROUNDS + 1):
            places = {"source": places["target"], "target": places["source"]}
            between_pages += await kill_twice(program, borders, key, places, random_faults)
            await settled(connection, places)
            assert connection.execute(ENDED).fetchone() == (TOKENS * number,)
            assert connection.execute(JOBS, (places["target"],)).fetchone() == (TOKENS, TOKENS)
            assert connection.execute(JOBS, (places["source"],)).fetchone() == (0, 0)
            assert connection.execute(COMMANDS).fetchone() == (1 + number,)
    print(f"{2 * ROUNDS} kills, {between_pages} of them between pages, while {TOKENS} tokens moved {ROUNDS} times")
    assert between_pages > 0
    print(f"{await replayed.check(database)} rows are as the events say")


async def kill_twice(program, borders, key, places, random):
    """Whether a page was to follow at the first kill."""
    async with trio.open_nursery() as nursery:
        borders.hold()
        nursery.start_soon(modify, program.port, key, move(places["source"], places["target"]))
        least = random.randrange(TOKENS - 2 * PAGE)
        _, waiting, _ = await borders.reach(places, lambda found: found[0] > least)
    await restarted(program, borders)
    borders.hold()
    await borders.reach(places, lambda found: found[1] == 0)
    await restarted(program, borders)
    return waiting > 0
