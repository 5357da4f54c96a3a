"""Commands that are too slow, in whole programs: rejected after three attempts; others are served (docs/adr/0014)."""

from functools import partial

import pytest
import trio

from tests.eventually import eventually
from tests.process.http_client import Caller, Unanswered
from tests.process.load import deploy
from tests.process.rows import rows
from tests.rounds import few_and_many

SLOW = "tests.process.slow_program"
BLOCKED_AFTER_S = "1.5"
CREATE = {"processDefinitionId": "one-task"}
REJECTION = "SELECT position, rejection::text FROM event_log WHERE rejection IS NOT NULL"
ATTEMPTS = "SELECT begun, open, causes FROM attempts"
MOST_LIVES = 8
PATIENT = {"VIVERO_SUPERVISION_HANG_AFTER_S": "300", "VIVERO_SUPERVISION_BLOCKED_AFTER_S": "300"}
IN_THE_LOG = "SELECT 1 FROM command_log WHERE intent LIKE 'VARIABLE%'"


@pytest.fixture
def slow_program(make_program, database, unsafe):
    """A program in which some commands are too slow."""
    environment = unsafe | {"VIVERO_SUPERVISION_BLOCKED_AFTER_S": BLOCKED_AFTER_S}
    program = make_program("--database-url", database, environment=environment)
    program.module = SLOW
    yield program
    program.end()


@pytest.fixture
def patient_program(make_program, database, unsafe):
    """The same, but nothing ends what is slow."""
    program = make_program("--database-url", database, environment=unsafe | PATIENT)
    program.module = SLOW
    yield program
    program.end()


async def begun(program):
    """A program that runs, with an instance."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    async with Caller(program.port) as caller:
        return (await caller.call("POST", "/v2/process-instances", CREATE)).json["processInstanceKey"]


async def change(program, key, name, answers):
    """Ask for a change of variables that is too slow."""
    async with Caller(program.port) as caller:
        try:
            path = f"/v2/element-instances/{key}/variables"
            answers.append(await caller.call("PUT", path, {"variables": {name: 1}}, within_s=100))
        except Unanswered as unanswered:
            answers.append(unanswered)


async def served(program):
    """Others create instances."""
    async with Caller(program.port) as caller:
        for _ in range(3):
            assert (await caller.call("POST", "/v2/process-instances", CREATE)).status == 200


def check_rejected(database, key, cause):
    ((_, rejection),) = rows(database, REJECTION)
    assert "PROCESSING_ERROR" in rejection
    assert f"({cause}, {cause}, {cause})" in rejection
    assert rows(database, "SELECT process_instance_key, stage FROM incidents") == [(int(key), "command")]
    assert rows(database, ATTEMPTS) == []


@pytest.mark.long
async def test_a_command_that_misses_each_beat_is_rejected_and_others_are_served(slow_program, database):
    key, pid, answers = await begun(slow_program), slow_program.pid, []
    terms = len(slow_program.logged("leading the partition"))
    async with trio.open_nursery() as nursery:
        nursery.start_soon(change, slow_program, key, "crawl", answers)
        await eventually(lambda: has(database, REJECTION), "the command is rejected", within_s=100)
        await served(slow_program)
    check_rejected(database, key, "beat")
    print(f"answered: {answers[0].status} {answers[0].body!r}")
    assert answers[0].status in (500, 504), "504 where the client's patience ended before"
    assert (slow_program.pid, slow_program.running) == (pid, True)
    assert len(slow_program.logged("leading the partition")) - terms == 4


async def leads_again(program):
    return len(program.logged("leading the partition")) > 1


async def has(database, query):
    await trio.lowlevel.checkpoint()
    return rows(database, query)


@pytest.mark.long
async def test_a_command_that_blocks_the_event_loop_is_rejected_after_three_restarts(slow_program, database):
    key, codes = await begun(slow_program), []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(change, slow_program, key, "block", [])
        codes.append(await slow_program.wait())
        nursery.cancel_scope.cancel()
    while not rows(database, REJECTION):
        assert len(codes) < MOST_LIVES
        slow_program.start()
        await eventually(lambda: over(slow_program, database), "the program ends, or rejects")
        if not slow_program.running:
            codes.append(await slow_program.wait())
    assert codes == [70] * 4
    check_rejected(database, key, "watchdog")
    await slow_program.ready()
    await served(slow_program)


async def over(program, database):
    return not program.running or await has(database, REJECTION)


@pytest.mark.long
@few_and_many(4, 12)
async def test_kills_in_the_middle_of_attempts_reject_nothing(patient_program, database, count):
    """More kills than attempts before a rejection. Neither watchdog nor supervisor ends the attempt before its kill."""
    key = await begun(patient_program)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(change, patient_program, key, "crawl", [])
        await eventually(lambda: has(database, IN_THE_LOG), "the command is in the log")
        await patient_program.kill()
        nursery.cancel_scope.cancel()
    patient_program.start()
    await eventually(partial(leads_again, patient_program), "a term begins, which makes no progress")
    await patient_program.kill()
    for kills in range(count):
        patient_program.start()
        await eventually(partial(has, database, f"{ATTEMPTS} WHERE open AND begun > {kills}"), "an attempt begins")
        await patient_program.kill()
    assert rows(database, ATTEMPTS) == [(count, True, [])]
    patient_program.module = "vivero"
    await patient_program.restart()
    await eventually(lambda: has(database, "SELECT 1 FROM variables WHERE name = 'crawl'"), "it is done")
    await served(patient_program)
    assert rows(database, REJECTION) == []
    assert rows(database, ATTEMPTS) == []
