"""SIGTERM and SIGINT: what was begun is finished, whoever was answered can rely on it, and the end comes soon."""

import os
import signal

import psutil
import psycopg
import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.http_client import Caller, Unanswered
from tests.process.load import Load, deploy
from vivero.storage.schema.migrate import LOCK_KEY

STOPS_S = 30.0
AWAITED = {"processDefinitionId": "one-task", "awaitCompletion": True, "requestTimeout": 600_000}


async def test_a_stop_under_load_finishes_what_was_begun(program, database):
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load, begun = Load([program.port]), set()
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        for number in (signal.SIGTERM, signal.SIGINT):
            await load.progress(50)
            while not load.ledger.in_flight:
                await load.progress(1)
            in_flight = set(load.ledger.open)
            assert in_flight
            begun |= in_flight
            began = trio.current_time()
            program.signal(number)
            assert await program.wait(STOPS_S) == 0
            print(f"{number.name}: {trio.current_time() - began:.2f} s, {len(in_flight)} commands were in flight")
            assert "Traceback" not in program.whole_log()
            await program.restart()
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    assert begun & load.ledger.unanswered == set()
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")


@pytest.mark.long
async def test_a_stop_during_the_start(make_program, database, unsafe, random_faults):
    """At any moment: before the program listens for signals it just ends, afterwards in good order."""
    codes = []
    for number in range(8):
        program = make_program("--database-url", database, environment=unsafe, name="starting")
        program.is_forked = False
        program.start()
        await trio.sleep(random_faults.uniform(0.0, 3.0) * number / 7)
        program.signal(signal.SIGTERM)
        codes.append(await program.wait(STOPS_S))
        assert "Traceback" not in program.whole_log()
    print(f"exit codes {codes}")
    assert set(codes) <= {0, -signal.SIGTERM}


@pytest.mark.long
async def test_a_stop_while_another_program_migrates(make_program, database, unsafe):
    with psycopg.connect(database, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [LOCK_KEY])
        program = make_program("--database-url", database, environment=unsafe)
        program.start()

        async def waits():
            return other.execute("SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").fetchall()

        await eventually(waits, "the program waits for the lock")
        program.signal(signal.SIGTERM)
        assert await program.wait(STOPS_S) == 0


@pytest.mark.long
async def test_who_awaits_an_end_is_told_where_it_can_be_asked_for(program):
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    async with trio.open_nursery() as nursery:
        answers = await nursery.start(_awaited, program.port)
        await eventually(lambda: _created(program.port), "the instance is created")
        program.signal(signal.SIGTERM)
        assert await program.wait(STOPS_S) == 0
    (answer,) = answers
    assert answer.status == 504
    await program.restart()
    (instance,) = await _created(program.port)
    assert answer.json["processInstanceKey"] == instance["processInstanceKey"]
    assert instance["state"] == "ACTIVE"


async def _awaited(port, task_status):
    answers = []
    task_status.started(answers)
    async with Caller(port) as caller:
        answers.append(await caller.call("POST", "/v2/process-instances", AWAITED))


@pytest.mark.long
async def test_a_second_signal_ends_at_once(program):
    """The first waits for an awaited instance that nobody works on."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    async with trio.open_nursery() as nursery, Caller(program.port) as caller:
        nursery.start_soon(_await_for_ever, caller)
        await eventually(lambda: _created(program.port), "the instance is created")
        program.signal(signal.SIGTERM)

        async def stopping():
            return program.logged("stopping: finishing open requests")

        await eventually(stopping, "the program is stopping")
        began = trio.current_time()

        async def told_again():
            """As often as it takes: two signals within 0.2 s count as one, and a third may end it before it logs."""
            program.signal(signal.SIGTERM)
            return program.logged("stopping at once")

        await eventually(told_again, "the program ends at once", every_s=0.5)
        code = await program.wait(STOPS_S)
        print(f"ended {trio.current_time() - began:.3f} s after the first signal with {code}")
        assert "Traceback" not in program.whole_log()


async def _await_for_ever(caller):
    with pytest.raises(Unanswered):
        await caller.call("POST", "/v2/process-instances", AWAITED)


async def _created(port):
    async with Caller(port) as caller:
        return (await caller.call("POST", "/v2/process-instances/search", {})).json["items"]


@pytest.mark.long
async def test_a_signal_that_comes_twice_is_one(program):
    """As `timeout` sends it: to the program, and to its process group."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    async with trio.open_nursery() as nursery:
        answers = await nursery.start(_awaited, program.port)
        await eventually(lambda: _created(program.port), "the instance is created")
        for number in (signal.SIGTERM, signal.SIGINT):
            os.kill(program.pid, number)  # nothing between them: signals within 0.2 s count as one
        assert await program.wait(STOPS_S) == 0
    assert answers[0].status == 504
    assert not program.logged("stopping at once")


@pytest.mark.long
@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.long)])
async def test_a_hangup_reloads_nothing_without_tls_and_ends_nothing(make_program, database, unsafe, processes):
    """Also when the whole process group gets it, as from a terminal."""
    arguments = ("--database-url", database, "--processes", str(processes))
    program = make_program(*arguments, environment=unsafe | {"VIVERO_DATABASE_POOL_SIZE": "2"})
    await program.restart()
    await program.all_serve()
    await deploy(program.port, "one_task.bpmn")
    load = Load([program.port])
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(20)
        for each in (program.pid, *(child.pid for child in psutil.Process(program.pid).children(recursive=True))):
            os.kill(each, signal.SIGHUP)

        async def refused():
            return program.logged("SIGHUP is ignored without TLS: restart the program to read its settings")

        await eventually(refused, "the log says that nothing was reloaded")
        await load.progress(20)
        assert program.running
        assert not load.ledger.unanswered
        await load.stop_creating()
        await settled(database)
        nursery.cancel_scope.cancel()
    program.signal(signal.SIGTERM)
    assert await program.wait(STOPS_S) == 0
