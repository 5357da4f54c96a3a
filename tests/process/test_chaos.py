"""Children that raise, are cancelled or hang under load: nothing is lost, and /v2/status tells the truth.

Times are printed, not asserted: the machine may be busy. What is asserted is that everything recovers at all.
"""

import contextlib
import itertools

import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.http_client import Unanswered
from tests.process.load import Load, deploy
from tests.process.status_watch import StatusWatch

CHILDREN = ("api", "appender", "consumer", "completions", "timers", "listener", "announcer")
RECOVERS_S = 20.0


async def hurt(program, watch, load, child, kind):
    """Hurt a child, and wait until all is well again: after how many seconds, and whether /v2/status showed it."""
    ends = len(program.ends_of(child))
    began = trio.current_time()
    assert await program.hurt(child, kind) == 204

    async def ended():
        return len(program.ends_of(child)) > ends

    await eventually(ended, f"{child} ends after {kind}", within_s=RECOVERS_S)
    recovered = await watch.next(204, within_s=RECOVERS_S)
    await load.progress(10, within_s=RECOVERS_S)
    return recovered - began, watch.unhealthy_since(began)


@pytest.mark.parametrize("kinds", [("raise", "cancel"), pytest.param(("hang",), marks=pytest.mark.long)], ids="-".join)
async def test_children_recover_under_load(program, database, kinds):
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load, watch = Load([program.port]), StatusWatch(program.port)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        nursery.start_soon(watch.run)
        await load.progress(10)
        for kind, child in itertools.product(kinds, CHILDREN):
            seconds, shown = await hurt(program, watch, load, child, kind)
            print(f"{kind:<7} {child:<12} healthy again after {seconds:.2f} s, /v2/status unhealthy for {shown:.3f} s")
            if kind == "hang":
                assert shown > 0, f"/v2/status said nothing of {child}, which hung"
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    count = await audit(database, load.ledger)
    silence = watch.longest_silence(load.ledger.moments)
    print(f"{count} instances; {load.ledger}; longest silence while healthy: {silence:.2f} s")


@pytest.mark.long
async def test_a_node_that_gets_nowhere_says_so(program, database):
    """Somebody holds the partition's row: the consumer lives and retries, but nothing is processed."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load, watch = Load([program.port], creators=2, workers=1), StatusWatch(program.port)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        nursery.start_soon(watch.run)
        await load.progress(10)
        with psycopg.connect(database) as holder:
            holder.execute("SELECT FROM partitions FOR UPDATE")
            began = trio.current_time()
            shown = await watch.next(503, within_s=RECOVERS_S)
            await trio.sleep(2)  # through several attempts: it must not say otherwise in between
            truthful = watch.between(shown, trio.current_time())
        released = trio.current_time()
        recovered = await watch.next(204, within_s=RECOVERS_S)
        await load.progress(10)
        print(f"503 after {shown - began:.2f} s, healthy {recovered - released:.2f} s after the release")
        assert set(truthful) == {503}
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    await audit(database, load.ledger)


@pytest.mark.long
async def test_who_cannot_be_helped_ends(program, database):
    """More failures than are tolerated: the process ends non-zero, and whoever started it can act. It takes several
    children to fail that often, for each is started again more and more slowly."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load = Load([program.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(10)
        hurt_s = trio.current_time()
        with trio.fail_after(RECOVERS_S):
            while program.running:
                for child in CHILDREN[1:]:
                    with contextlib.suppress(Unanswered):
                        await program.hurt(child, "raise")
        print(f"ended {trio.current_time() - hurt_s:.2f} s after the first failure")
        assert await program.wait() == 70
        assert "21 failures within 10 s" in program.whole_log()
        await program.restart()
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")
