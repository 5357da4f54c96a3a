"""kill -9 at random moments under load: whatever was acknowledged is there, exactly once, and ends."""

import os

import pytest
import trio

from tests.process.audit import audit, settled
from tests.process.load import Load, deploy
from tests.rounds import few_and_many

KILLS_OF_ALL = int(os.environ.get("VIVERO_KILLS") or 16) // 2
START_S = 0.6
"""About as long as a start takes: some are killed in it."""


async def kill_under_load(program, dsn, random, rounds, kill):
    """Start, load, and `kill()` again and again; then count."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load = Load([program.port])
    bites = starts = 0
    longest_s = 0.0
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        for _ in range(rounds):
            await load.progress(random.randrange(1, 120))
            await trio.sleep(random.uniform(0, 0.01))
            if not bites:
                await load.busy()
            bites += load.ledger.in_flight > 0
            await kill()
            if random.random() < 0.3:
                starts += 1
                program.start()
                await trio.sleep(random.uniform(0, START_S))
                await kill()
            began = trio.current_time()
            await program.restart()
            longest_s = max(longest_s, trio.current_time() - began)
        await load.stop_creating()
        await settled(dsn)
        nursery.cancel_scope.cancel()
    count = await audit(dsn, load.ledger)
    print(f"{rounds} kills, {bites} with commands in flight, {starts} during a start; {count} instances; {load.ledger}")
    print(f"ready again in at most {longest_s:.2f} s")
    assert bites > 0


@few_and_many(3, 16, "VIVERO_KILLS")
async def test_kills_under_load(program, database, random_faults, count):
    await kill_under_load(program, database, random_faults, count, program.kill)


@pytest.mark.long
async def test_many_kills_of_program_and_postgresql(program_with_own_server, server, random_faults):
    """Everything goes at once, as in a crash of the machine (whose caches survive, though)."""
    program = program_with_own_server

    async def kill():
        await program.kill()
        await server.kill_both()

    await kill_under_load(program, server.dsn, random_faults, KILLS_OF_ALL, kill)
