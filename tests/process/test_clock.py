"""The engine's clock: one for all programs of a database, and for clients only where the program was told so."""

import pytest

from tests.eventually import eventually
from tests.process.audit import settled
from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.process.rows import rows

DUE = "2100-01-01T00:00:00Z"
DUE_MS = 4_102_444_800_000


@pytest.fixture
async def programs(make_program, database, unsafe):
    """By a variable, by an option, and not at all: may clients set the clock?"""
    url = ("--database-url", database)
    programs = [
        make_program(*url, environment=unsafe | {"VIVERO_CONTROL_CLOCK": "true"}, name="variable"),
        make_program(*url, "--control-clock", environment=unsafe, name="option"),
        make_program(*url, environment=unsafe, name="neither"),
    ]
    for program in programs:
        await program.restart()
    yield programs
    for program in programs:
        program.end()


async def call(program, method, path, document=None):
    async with Caller(program.port) as caller:
        return await caller.call(method, path, document)


async def start(program):
    document = {"processDefinitionId": "timer_due", "variables": {"due": DUE}}
    answer = await call(program, "POST", "/v2/process-instances", document)
    assert answer.status == 200, answer


async def ended(database, count):
    """Wait until so many instances have ended."""

    async def have():
        return rows(database, "SELECT count(*) FROM process_instances WHERE state = 'COMPLETED'") == [(count,)]

    await eventually(have, f"{count} instances have ended", within_s=20)


@pytest.mark.long
async def test_each_program_sets_the_clock_of_all_that_may(programs, database):
    """One of them leads and fires; whoever sets the clock, it hears of it, and not only at its next look."""
    await deploy(programs[0].port, "timer_due.bpmn")
    for number, program in enumerate(programs[:2], 1):
        assert (await call(program, "POST", "/v2/clock/reset")).status == 204
        await start(programs[2])
        assert (await call(program, "PUT", "/v2/clock", {"timestamp": DUE_MS - 1})).status == 204
        await start(programs[2])
        assert (await call(program, "PUT", "/v2/clock", {"timestamp": DUE_MS})).status == 204
        await ended(database, 2 * number)
    forbidden = [
        await call(programs[2], "PUT", "/v2/clock", {"timestamp": 0}),
        await call(programs[2], "POST", "/v2/clock/reset"),
    ]
    assert [(answer.status, answer.title) for answer in forbidden] == [(403, "FORBIDDEN")] * 2


@pytest.mark.long
async def test_a_pinned_clock_outlives_the_programs(programs, database):
    await deploy(programs[0].port, "timer_due.bpmn")
    await call(programs[0], "PUT", "/v2/clock", {"timestamp": DUE_MS - 1})
    await start(programs[1])
    for program in programs:
        await program.kill()
    await programs[0].restart()
    assert (await call(programs[0], "PUT", "/v2/clock", {"timestamp": DUE_MS})).status == 204
    await settled(database)
    await ended(database, 1)
    times = rows(database, "SELECT to_epoch_ms(created_at), to_epoch_ms(triggered_at) FROM timers")
    assert times == [(DUE_MS - 1, DUE_MS)]
