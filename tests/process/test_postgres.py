"""PostgreSQL dies, freezes, or ends sessions under load: the program says so, resumes, and nothing is lost."""

import signal

import psutil
import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.load import Load, deploy
from tests.process.status_watch import StatusWatch

RECOVERS_S = 40.0
NAMES = ("api", "appender", "completions", "listener", "announcer", "consumer-writer", "consumer-reader")


@pytest.mark.long
async def test_postgresql_goes_and_comes_back(program_with_own_server, server):
    faults = (server.kill_postmaster, server.freeze, server.kill_supervisor)
    await hurt(program_with_own_server, server, faults)
    with psycopg.connect(server.dsn) as connection:
        (last,) = connection.execute("SELECT max(position) FROM command_log").fetchone()
    assert last > 1_000_000  # after a crash no position is given out that may have been lost with it


@pytest.mark.long
async def test_postgresql_refuses_for_a_while(program_with_own_server, server):
    await hurt(program_with_own_server, server, (server.read_only, server.no_connection_left, server.table_lock))


@pytest.mark.long
async def test_postgresql_is_stopped(program_with_own_server, server):
    await hurt(program_with_own_server, server, (server.stop_immediately, server.stop_fast))


async def hurt(program, server, faults):
    """One fault after the other, under load: each is seen, and costs nothing."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    dsn = server.dsn
    load, watch = Load([program.port]), StatusWatch(program.port)
    bites = 0
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        nursery.start_soon(watch.run)
        for fault in faults:
            await load.progress(30, within_s=RECOVERS_S)
            if not bites:
                await load.busy()
            bites += load.ledger.in_flight > 0
            began = trio.current_time()
            await fault()
            shown = await watch.unhealthy(began, within_s=RECOVERS_S)
            ended = trio.current_time()
            recovered = await watch.next(204, within_s=RECOVERS_S)
            print(
                f"{fault.__name__:<16} fault {ended - began:.2f} s, 503 after {shown - began:.2f} s, "
                f"healthy again {recovered - ended:.2f} s after it"
            )
        await load.progress(30, within_s=RECOVERS_S)
        await load.stop_creating()
        await settled(dsn)
        nursery.cancel_scope.cancel()
    count = await audit(dsn, load.ledger)
    print(f"{count} instances, {bites} faults with commands in flight; {load.ledger}")
    assert bites > 0
    program.signal(signal.SIGTERM)
    assert await program.wait() == 0


async def test_sessions_that_are_ended_are_replaced(program, database):
    """Each task's own, in turn, while it works."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load, watch = Load([program.port]), StatusWatch(program.port)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        nursery.start_soon(watch.run)
        for name in NAMES:
            await load.progress(10)
            ended = await _end_session(database, f"vivero:{name}")
            began = trio.current_time()
            await load.progress(10, within_s=RECOVERS_S)
            recovered = await watch.next(204, within_s=RECOVERS_S)
            print(f"{name:<16} {ended} ended, healthy and working after {recovered - began:.2f} s")
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")


async def _end_session(dsn, name):
    """End the sessions of that name; there is at least one, or there will be in a moment."""
    with psycopg.connect(dsn, autocommit=True) as connection:

        async def ended():
            return connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE application_name = %s AND datname = current_database()",
                [name],
            ).fetchall()

        return len(await eventually(ended, f"there is a session {name}"))


@pytest.mark.long
async def test_a_stop_while_postgresql_is_frozen(program_with_own_server, server):
    """A request that cannot be finished is given up in time, and its client does not hear of a success."""
    program = program_with_own_server
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load = Load([program.port], creators=4, workers=0)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(4)
        with server.frozen():
            began = trio.current_time()
            await eventually(lambda: _all_wait(load), "every creator waits")
            program.signal(signal.SIGTERM)
            assert await program.wait() == 0
            print(f"stopped in {trio.current_time() - began:.2f} s")
        await program.restart()
        nursery.start_soon(Load([program.port], creators=0).run)
        await load.stop_creating()
        await settled(server.dsn)
        nursery.cancel_scope.cancel()
    print(f"{await audit(server.dsn, load.ledger)} instances; {load.ledger}")


async def _all_wait(load):
    return load.ledger.in_flight == 4


@pytest.mark.long
async def test_a_server_that_keeps_dying_ends_the_program_with_the_reason(program_with_own_server, server):
    """The user who started the program must see that PostgreSQL cannot live."""
    program = program_with_own_server
    await program.restart()
    for _ in range(6):
        killed = server.postmaster

        async def another(killed=killed):
            return not program.running or server.postmaster != killed

        await server.kill_postmaster()
        await eventually(another, "another postmaster", within_s=20)
    assert await program.wait() == 70
    assert "died 6 times in 60 s" in program.whole_log()


@pytest.mark.long
async def test_a_stopped_supervisor_is_resumed(program_with_own_server, server):
    program = program_with_own_server
    await program.restart()
    supervisor = psutil.Process(server.supervisor)
    supervisor.suspend()

    async def resumed():
        return supervisor.status() != psutil.STATUS_STOPPED

    await eventually(resumed, "the supervisor goes on", within_s=20)
    await server.kill_postmaster()
    await program.ready()

    async def told():
        return program.logged("the supervisor of the embedded PostgreSQL was stopped: resuming it")

    await eventually(told, "the program tells of it", within_s=20)
