"""kill -9 at random moments under load: whatever was acknowledged is there, exactly once, and ends."""

import os

import pytest
import trio
from process_audit import audit, settled
from process_load import Load, deploy

ROUNDS = 8
TORTURE_ROUNDS = int(os.environ.get("VIVERO_KILLS", "50"))


async def kill_under_load(program, database, random, rounds):
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load = Load([program.port])
    bites = down = 0
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        for _ in range(rounds):
            await load.progress(random.randrange(1, 120))
            await trio.sleep(random.uniform(0, 0.01))
            bites += load.books.in_flight > 0
            await program.kill()
            began = trio.current_time()
            await program.restart()
            down = max(down, trio.current_time() - began)
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    count = await audit(database, load.books)
    print(f"{rounds} kills, {bites} with commands in flight; {count} instances; ready again in at most {down:.2f} s")
    print(load.books)
    assert bites > 0


async def test_kills_under_load(program, database, random_faults):
    await kill_under_load(program, database, random_faults, ROUNDS)


@pytest.mark.torture
async def test_many_kills_under_load(program, database, random_faults):
    await kill_under_load(program, database, random_faults, TORTURE_ROUNDS)
