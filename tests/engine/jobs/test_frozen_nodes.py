"""Two nodes and one execution: heartbeats keep it, and a frozen node loses it, with everything that it then writes."""

from typing import Any
from uuid import uuid4

import pytest
import trio

from tests.eventually import eventually, eventually_rows
from vivero.engine.jobs.definitions import RescheduleIn, job
from vivero.engine.jobs.retries import RetrySettings
from vivero.engine.jobs.type_settings import JobTypeSettings
from vivero.storage.background import job_executions

RESTLESS = {"poll_interval": "PT0.02S", "keep_alive_interval": "PT0.08S", "stale_threshold": "PT0.4S"}
SOON = RetrySettings(max_attempts=3, initial_interval_s=0)
KEPT_ALIVE = "SELECT alive_at > clock_timestamp() - interval '20 s' FROM job_executions"


class Freezing:
    """The connection of a dispatcher, whose loop stops at the next call when it is frozen, as by SIGSTOP."""

    def __init__(self, connection, frozen) -> None:
        self._connection, self._frozen = connection, frozen

    def __getattr__(self, name) -> Any:
        return getattr(self._connection, name)

    async def execute(self, *arguments):
        while self._frozen:
            await self._frozen[0].wait()
        return await self._connection.execute(*arguments)

    async def pipeline(self, *arguments):
        while self._frozen:
            await self._frozen[0].wait()
        return await self._connection.pipeline(*arguments)


@pytest.fixture
async def ledger(connection):
    await connection.script("CREATE TABLE ledger (node text, attempt int)")

    async def read():
        return [tuple(row) for row in (await connection.execute("SELECT * FROM ledger ORDER BY attempt")).rows]

    return read


@pytest.mark.long
async def test_while_heartbeats_arrive_no_other_node_runs_the_execution(
    connection, dispatcher, nursery, until, beat, monkeypatch
):
    """The run is made to look older by half of the threshold, again and again."""
    seen, gate, recoveries, recover = [], trio.Event(), [], job_executions.recover

    async def counted(*arguments):
        recoveries.append(1)
        return await recover(*arguments)

    async def older():
        before = len(recoveries)
        await connection.script("UPDATE job_executions SET alive_at = alive_at - interval '30 s'")
        await eventually(lambda: len(recoveries), accept=lambda found: found > before + 2)
        await eventually_rows(connection, [(True,)], KEPT_ALIVE)

    def on(node):
        @job("long", retry=SOON)
        async def long(_execution):
            seen.append(node)
            await gate.wait()

        return long

    await job_executions.add(connection, str(uuid4()), "long", None, None)
    monkeypatch.setattr(job_executions, "recover", counted)
    types = {"long": JobTypeSettings(stale_threshold="PT60S")}
    first, second = (dispatcher(on(node), node=node, types=types, **RESTLESS) for node in "ab")
    nursery.start_soon(first.run, beat)
    await eventually(lambda: seen)
    nursery.start_soon(second.run, beat)
    for _ in range(6):
        await older()
    gate.set()
    await until([])
    assert seen == ["a"]
    assert (first.figures.lost, second.figures.recovered) == (0, 0)


@pytest.mark.long
@pytest.mark.parametrize("ends", ["complete", "reschedule", "fail", "thread"])
async def test_a_frozen_node_loses_its_execution_and_what_it_then_writes(
    ends, connection, connect, dispatcher, nursery, until, beat, ledger
):
    gate, attempts = trio.Event(), []

    def on(node):
        async def work(execution):
            attempts.append((node, execution.attempt))
            if ends != "thread":
                await execution.execute("INSERT INTO ledger VALUES ($1, $2)", (node, execution.attempt))
            if node == "a":
                await gate.wait()
                if ends == "reschedule":
                    return RescheduleIn(0)
                if ends == "fail":
                    raise RuntimeError("too late")
            return None

        def in_thread(execution):
            return trio.from_thread.run(work, execution)

        return job("long", retry=SOON)(in_thread if ends == "thread" else work)

    await job_executions.add(connection, str(uuid4()), "long", None, None)
    stops, thawed = [], trio.Event()

    async def freezing():
        return Freezing(await connect(), stops)

    frozen = dispatcher(on("a"), node="a", connects=freezing, **RESTLESS)
    other = dispatcher(on("b"), node="b", **RESTLESS)
    nursery.start_soon(frozen.run, beat)
    await eventually(lambda: attempts)
    stops.append(thawed)
    nursery.start_soon(other.run, beat)
    await until([])
    assert attempts == [("a", 0), ("b", 1)]
    assert other.figures.recovered == 1
    gate.set()
    stops.clear()
    thawed.set()
    await eventually(lambda: frozen.figures.lost == 1 and frozen.running == 0)
    turns = frozen.figures.turns
    await eventually(lambda: frozen.figures.turns, accept=lambda found: found > turns + 1)
    assert await ledger() == ([] if ends == "thread" else [("b", 1)])
    assert (await connection.execute("SELECT count(*) FROM job_executions")).rows == [(0,)]
    assert frozen.figures.completed == 0
