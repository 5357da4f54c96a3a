"""A primary with a streaming standby, under load: the primary dies, the standby is promoted, and nothing is lost."""

import signal

import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.http_client import Caller
from tests.process.load import Load, deploy
from tests.process.status_watch import StatusWatch
from tests.replicas import dsn_of
from vivero.storage.cluster import leadership
from vivero.storage.postgres import driver
from vivero.storage.schema.migrate import migrate
from vivero.storage.state import save

RECOVERS_S = 40.0


@pytest.fixture
async def replicated(replicas):
    """(primary, standby); a commit waits for both."""
    first, second = replicas("first"), replicas("second")
    await first.initialise()
    await second.copy(first)
    first.sql("ALTER SYSTEM SET synchronous_standby_names = '*'")
    first.sql("SELECT pg_reload_conf()")

    async def synchronous():
        return first.sql("SELECT sync_state FROM pg_stat_replication") == [("sync",)]

    await eventually(synchronous, "the standby is synchronous")
    return first, second


@pytest.mark.long
@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGKILL, signal.SIGINT])
async def test_a_standby_is_promoted_under_load(replicated, make_program, how):
    """Killed, stopped immediately and stopped fast. What was acknowledged is there, once."""
    first, second = replicated
    program = make_program("--database-url", dsn_of(first, second))
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    load, watch = Load([program.port]), StatusWatch(program.port)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        nursery.start_soon(watch.run)
        await load.progress(100)
        in_flight, began = load.ledger.in_flight, trio.current_time()
        await first.stop(how)
        shown = await watch.unhealthy(began, within_s=RECOVERS_S)
        second.promote()
        promoted = trio.current_time()
        await load.progress(20, within_s=RECOVERS_S)
        working = load.ledger.moments[-20]
        healthy = await watch.next(204, within_s=RECOVERS_S)
        print(
            f"{in_flight} commands in flight; 503 after {shown - began:.2f} s; "
            f"first answer {working - promoted:.2f} s and healthy {healthy - promoted:.2f} s after the promotion"
        )
        await load.progress(100, within_s=RECOVERS_S)
        await load.stop_creating()
        await settled(second.dsn)
        nursery.cancel_scope.cancel()
    print(f"{await audit(second.dsn, load.ledger)} instances; {load.ledger}")
    ((last, term),) = second.sql("SELECT max(position), max(epoch) FROM command_log, batches")
    assert last % 2**51 > 1_000_000  # no position is given out that may have been lost
    assert term > 1
    assert program.ends_of("api") == []
    program.signal(signal.SIGTERM)
    assert await program.wait() == 0


@pytest.mark.long
async def test_nobody_is_primary_for_a_while(replicated, make_program):
    """Only the standby is left: requests get 503, and no child is restarted more often than the backoff says."""
    first, second = replicated
    program = make_program("--database-url", dsn_of(first, second))
    await program.restart()
    await deploy(program.port, "one_task.bpmn")
    await first.stop()
    async with Caller(program.port) as caller:
        body = {"processDefinitionId": "one-task"}
        answers = []
        until = trio.current_time() + 4
        while trio.current_time() < until:
            answers.append(await caller.call("POST", "/v2/process-instances", body))
            answers.append(await caller.call("POST", "/v2/process-instances/search", {}))
        assert {answer.status for answer in answers[2:]} <= {503, 504}
        refused = [answer for answer in answers if answer.status == 503]
        assert {answer.headers["retry-after"] for answer in refused} == {"1"}
        details = {answer.json["detail"] for answer in refused}
        print(details)
        assert any("no server accepts writes" in detail for detail in details)
        assert await program.status() == 503
        second.promote()
        await program.ready()
        answer = await caller.call("POST", "/v2/process-instances", body)
        assert answer.status == 200, answer
    for child in ("appender", "consumer", "chores"):
        assert 1 <= len(program.ends_of(child)) <= 4, program.said()
    assert len(program.logged("read failed")) <= 4


@pytest.mark.long
async def test_a_standby_that_is_behind_assigns_no_key_again(replicas):
    """It lacks the last batch, whose keys others may know."""
    first, second = replicas("first"), replicas("second")
    await first.initialise()
    await _work(first)
    await second.copy(first)
    await second.stop(signal.SIGINT)
    lost = await _work(first)
    await first.stop()
    await second.start()
    second.promote()
    assert await _work(second) > lost


async def _work(server):
    """A term with a batch that assigns ten keys. The last one."""
    connection = await driver.connect(server.dsn)
    await migrate(connection)
    claim = await leadership.claim(connection, 1, "a")
    last = claim.next_key + 9
    await connection.pipeline([save.fence(1, claim.epoch, claim.position, claim.position + 1, last + 1)])
    connection.close()
    return last


@pytest.mark.long
async def test_a_start_on_a_standby_alone_says_so(replicated, make_program):
    first, second = replicated
    await first.stop()
    program = make_program("--database-url", dsn_of(first, second))
    program.start()
    assert await program.wait() != 0
    assert "no host accepts writes" in program.whole_log()
