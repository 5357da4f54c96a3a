"""kill -9 of whole programs while a batch migrates instances: each instance is migrated once, whoever does it."""

import os

import psycopg
import pytest
import trio

from tests.chaos import replayed
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import deploy, send_files

INSTANCES = 400
KILLS = int(os.environ.get("VIVERO_KILLS") or 10)
SMALL = {"VIVERO_BATCH_OPERATIONS_PORTION": "1", "VIVERO_BATCH_OPERATIONS_IN_FLIGHT": "1"}
"""A batch sends one command at a time, so that it is killed between them."""
CREATORS = 8
ENDS_S = 120.0
MODEL = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org/tests"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><process id="migrated" isExecutable="true"><startEvent id="start"/>
  <serviceTask id="labour"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
  <boundaryEvent id="late" attachedToRef="labour"><timerEventDefinition><timeDuration>PT9H</timeDuration>
  </timerEventDefinition></boundaryEvent>
  <sequenceFlow id="f" sourceRef="start" targetRef="labour"/></process></definitions>"""
ONE_EACH = "count(*), count(DISTINCT process_instance_key)"
EACH_ONCE = {
    "commands": "SELECT count(*), count(DISTINCT key) FROM command_log WHERE intent = 'PROCESS_INSTANCE:MIGRATE'",
    "instances": "SELECT count(*), count(*) FROM process_instances WHERE process_id = 'migrated'",
    "elements": f"SELECT {ONE_EACH} FROM element_instances WHERE element_id = 'labour'",
    "jobs": f"SELECT {ONE_EACH} FROM jobs WHERE element_id = 'labour' AND ended_at IS NULL",
    "timers": f"SELECT {ONE_EACH} FROM timers WHERE state = 'PENDING'",
    "items": "SELECT count(*), count(DISTINCT item_key) FROM batch_operation_items WHERE state = 'COMPLETED'",
}


async def begin(port):
    """Instances of `one-task`, and a batch that migrates them."""
    source = (await deploy(port, "one_task.bpmn"))["deployments"][0]["processDefinition"]["processDefinitionKey"]
    async with trio.open_nursery() as nursery:
        for _ in range(CREATORS):
            nursery.start_soon(create, port, source, INSTANCES // CREATORS)
    async with Caller(port) as caller:
        deployed = (await send_files(caller, {"migrated.bpmn": MODEL})).json["deployments"][0]
        plan = {
            "targetProcessDefinitionKey": deployed["processDefinition"]["processDefinitionKey"],
            "mappingInstructions": [{"sourceElementId": "work", "targetElementId": "labour"}],
        }
        body = {"filter": {"processDefinitionKey": source}, "migrationPlan": plan}
        answer = await caller.call("POST", "/v2/process-instances/migration", body)
    assert answer.status == 200, answer


async def create(port, key, count):
    async with Caller(port) as caller:
        for _ in range(count):
            answer = await caller.call("POST", "/v2/process-instances", {"processDefinitionKey": key})
            assert answer.status == 200, answer


OPEN = "SELECT open FROM batch_operations"
SENT = "SELECT count(*) FROM command_log WHERE intent = 'PROCESS_INSTANCE:MIGRATE'"


async def sent_more(connection, before):
    """Wait until the log has more commands than `before`, or the batch has ended; the number of commands."""
    sent = 0

    async def more():
        nonlocal sent
        (sent,) = connection.execute(SENT).fetchone()
        return sent > before or not connection.execute(OPEN).fetchone()[0]

    await eventually(more, "the batch goes on", within_s=ENDS_S, every_s=0.005)
    return sent


async def kill_while_it_migrates(programs, dsn, random, kills):
    await begin(programs[0].port)
    bitten = sent = 0
    with psycopg.connect(dsn, autocommit=True) as connection:
        for _ in range(kills):
            sent = await sent_more(connection, sent + random.randrange(8))
            bitten += connection.execute(OPEN).fetchone()[0]
            victim = random.choice(programs)
            await victim.kill()
            await victim.restart()
        await sent_more(connection, INSTANCES)
        counts = {name: connection.execute(query).fetchone() for name, query in EACH_ONCE.items()}
    print(f"{kills} kills, {bitten} of them while {INSTANCES} instances were migrated")
    assert bitten > 1
    assert counts == dict.fromkeys(EACH_ONCE, (INSTANCES, INSTANCES))
    print(f"{await replayed.check(dsn)} rows are as the events say")


@pytest.mark.long
async def test_kills_of_the_only_program(program, database, random_faults):
    program.environment |= SMALL
    await program.restart()
    await kill_while_it_migrates([program], database, random_faults, KILLS)


@pytest.fixture
def unsafe(unsafe):
    return unsafe | SMALL


@pytest.mark.long
async def test_kills_of_one_of_two_programs(pair, database, random_faults):
    await kill_while_it_migrates(pair, database, random_faults, KILLS)
