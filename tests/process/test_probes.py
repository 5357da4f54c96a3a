"""The probes of whole programs over HTTP, in each state in which a scheduler may meet them."""

import signal

import psycopg
import pytest
import trio

from tests.eventually import NotInTime, eventually
from tests.process.http_client import Caller, Unanswered
from tests.process.load import deploy
from tests.process.test_shutdown import AWAITED
from tests.proxies import Proxy

PROBES = ("/live", "/startup", "/ready")
WITHIN_S = 60.0

pytestmark = pytest.mark.long


async def asked(program):
    """Statuses and documents of the probes; None while nobody answers."""
    async with Caller(program.port) as caller:
        try:
            answers = [await caller.call("GET", path, within_s=5) for path in PROBES]
        except Unanswered:
            return None
    for answer in answers:
        assert answer.json["status"] == ("UP" if answer.status == 200 else "DOWN")
        assert answer.status == 200 or answer.json["reasons"], "a probe that fails says why"
    return [answer.status for answer in answers], answers[-1].json["reasons"]


async def until(program, statuses, *tasks, within_s=WITHIN_S):
    """Wait until the probes have these statuses, and /ready names these tasks, among others; its reasons by task.

    They are asked without a pause: some states pass within milliseconds.
    """

    async def so():
        found = await asked(program)
        if found is None or found[0] != statuses:
            return None
        reasons = {one["task"]: one for one in found[1]}
        return (reasons or True) if set(tasks) <= set(reasons) else None

    return await eventually(so, f"the probes answer {statuses}, because of {tasks}", within_s=within_s, every_s=0)


async def test_a_program_that_starts_is_alive_and_neither_started_nor_ready(program, database):
    """Its first heartbeat cannot be written yet."""
    await program.restart()  # makes the tables
    await program.kill()
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE nodes IN EXCLUSIVE MODE")
        program.start()
        reasons = await until(program, [200, 503, 503], "cluster")
        assert reasons["cluster"]["state"] == "starting"
    assert await until(program, [200, 200, 200]) is True


async def reasons_of_a_hung_consumer(program):
    """Let the consumer hang until a probe has met it away: it is replaced faster than a slow machine may ask."""
    for _ in range(5):
        assert await program.hurt("consumer", "hang") == 204
        try:
            return await until(program, [200, 200, 503], "consumer", within_s=5)
        except NotInTime:
            assert await until(program, [200, 200, 200]) is True
    raise AssertionError("no probe met the consumer away, though it hung five times")


async def test_a_hung_task_makes_a_program_not_ready_and_is_named(program):
    await program.restart()
    assert await until(program, [200, 200, 200]) is True
    reasons = await reasons_of_a_hung_consumer(program)
    assert set(reasons) == {"consumer"}, "the others work"
    assert reasons["consumer"]["state"] in ("running", "hung", "restarting")
    assert await until(program, [200, 200, 200]) is True


async def test_a_program_whose_database_is_away_is_alive_not_ready_and_says_why(make_program, database, unsafe):
    proxy = Proxy()
    async with trio.open_nursery() as nursery:
        await nursery.start(proxy.serve)
        program = make_program("--database-url", proxy.dsn(database), environment=unsafe)
        await program.restart()
        proxy.swallow = True
        reasons = await until(program, [200, 200, 503], "consumer", "cluster", "appender")

        async def told():
            found = await asked(program)
            return found and {one["task"]: one["error"] for one in found[1]}.get("cluster")

        error = await eventually(told, "the reason is an error of the connection", within_s=WITHIN_S, every_s=0.05)
        assert error.split(":")[0] in ("ConnectFailed", "DeadlineExceeded", "ConnectionLost"), (error, reasons)
        assert "password" not in error
        proxy.swallow = False
        assert await until(program, [200, 200, 200]) is True
        program.end()
        nursery.cancel_scope.cancel()


async def test_a_program_that_drains_answers_no_probe_with_200(program):
    """It accepts no connection any more, so that a load balancer sends nobody; requests in progress are finished."""
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    answers = []

    async def wait_for_an_end():
        async with Caller(program.port) as caller:
            answers.append(await caller.call("POST", "/v2/process-instances", AWAITED))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(wait_for_an_end)

        async def waits():
            async with Caller(program.port) as caller:
                found = await caller.call("POST", "/v2/jobs/search", {})
                return found.json["items"]

        await eventually(waits, "the request waits for the end of its instance")
        program.signal(signal.SIGTERM)

        async def stopping():
            return program.logged("stopping: finishing open requests")

        await eventually(stopping, "the program stops", every_s=0.002)
        async with Caller(program.port) as late:
            try:
                answer = await late.call("GET", "/ready", within_s=0.5)
            except Unanswered:
                answer = None
        assert answer is None or answer.status == 503, answer
        assert await program.wait() == 0
    assert [answer.status for answer in answers] == [504]
