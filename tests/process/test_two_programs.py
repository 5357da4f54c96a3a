"""Two programs on one database: both serve, one leads, and the other one takes over from whatever becomes of it."""

import signal
import statistics

import pytest
import trio

from tests.eventually import eventually
from tests.process.audit import audit, settled
from tests.process.http_client import Caller
from tests.process.load import MODELS, Load, send_files
from tests.process.rows import rows

TAKES_OVER_S = 30.0
KEYS = 60
DEPLOYMENTS = 20
FROZEN_S = 7.0
"""Longer than the lease, which is 5 s."""


async def roles(programs):
    """The state that each program reports."""
    found = []
    for program in programs:
        async with Caller(program.port) as caller:
            topology = (await caller.call("GET", "/v2/topology")).json
        found.append(topology["brokers"][0]["partitions"][0]["role"])
    return found


async def leader_first(programs):
    return [
        program
        for _, program in sorted(
            zip(await roles(programs), programs, strict=True), key=lambda pair: pair[0] != "leader"
        )
    ]


async def epoch(dsn):
    ((found,),) = rows(dsn, "SELECT epoch FROM partitions")
    return found


async def takes_over(dsn, before):
    """Wait for the next term; after how many seconds it began."""
    began = trio.current_time()

    async def next_term():
        return await epoch(dsn) > before

    await eventually(next_term, "another term begins", within_s=TAKES_OVER_S)
    return trio.current_time() - began


async def finish(load, dsn, nursery):
    await load.stop_creating()
    await settled(dsn)
    nursery.cancel_scope.cancel()


async def test_both_serve_and_one_leads(pair, database):
    assert sorted(await roles(pair)) == ["follower", "leader"]
    leader, follower = await leader_first(pair)
    before = await epoch(database)
    load = Load([program.port for program in pair], workers=4)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(200)
        await finish(load, database, nursery)
    count = await audit(database, load.ledger)
    for program, role in ((leader, "leader"), (follower, "follower")):
        seconds = load.ledger.seconds[program.port]
        print(f"{role:<8} {len(seconds)} creations, median {1000 * statistics.median(seconds):.1f} ms")
        assert len(seconds) > 20
    print(f"{count} instances; {load.ledger}")
    assert await epoch(database) == before, "leadership does not move by itself"


async def test_the_other_takes_over_when_the_leader_ends(pair, database):
    """The leader is killed. The one that took over then stops, and the one that was killed, and follows, takes over."""
    load = Load([program.port for program in pair], workers=4)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        for how in (signal.SIGKILL, signal.SIGTERM):
            await load.progress(60)
            leader, follower = await leader_first(pair)
            before = await epoch(database)
            leader.signal(how)
            seconds = await takes_over(database, before)
            await load.progress(20)
            await leader.wait()
            assert await roles([follower]) == ["leader"]
            print(f"{leader.name} ended by {how.name}, {follower.name} leads after {seconds:.2f} s")
            await leader.restart()
            assert await roles(pair) == [("follower", "leader")[program is follower] for program in pair]
        await finish(load, database, nursery)
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")


@pytest.mark.long
async def test_a_frozen_leader_is_replaced_and_steps_down(pair, database):
    load = Load([program.port for program in pair], workers=4)
    async with trio.open_nursery() as nursery:
        await nursery.start(load.run)
        await load.progress(60)
        leader, follower = await leader_first(pair)
        before = await epoch(database)
        leader.signal(signal.SIGSTOP)
        try:
            seconds = await takes_over(database, before)
            await trio.sleep(max(0, FROZEN_S - seconds))
        finally:
            leader.signal(signal.SIGCONT)

        async def steps_down():
            return await roles([leader, follower]) == ["follower", "leader"]

        await leader.ready()
        await eventually(steps_down, "the frozen one is a node again, and follows")
        print(f"{leader.name} frozen, {follower.name} leads after {seconds:.2f} s")
        await load.progress(60)
        await finish(load, database, nursery)
    print(f"{await audit(database, load.ledger)} instances; {load.ledger}")


async def test_one_idempotency_key_at_both_programs_has_one_effect(pair, database):
    answers = {}

    async def ask(port, number):
        async with Caller(port) as caller:
            body = {"processDefinitionId": "one-task", "tags": [f"n{number}"]}
            headers = [("Idempotency-Key", f"key-{number}")]
            answer = await caller.call("POST", "/v2/process-instances", body, headers=headers)
        assert answer.status == 200, answer
        answers.setdefault(number, set()).add(answer.body)

    for first in range(0, KEYS, 10):
        async with trio.open_nursery() as nursery:
            for number in range(first, first + 10):
                for program in 2 * pair:
                    nursery.start_soon(ask, program.port, number)
    assert {number: len(bodies) for number, bodies in answers.items()} == dict.fromkeys(range(KEYS), 1)
    assert rows(database, "SELECT count(*), count(DISTINCT tags) FROM process_instances") == [(KEYS, KEYS)]


async def test_what_one_program_deployed_the_other_one_starts(pair):
    """At once: the answer to a deployment is the promise that nobody starts an older version any more."""
    async with Caller(pair[0].port) as one, Caller(pair[1].port) as other:
        for version in range(2, DEPLOYMENTS + 2):
            deployer, starter = (one, other) if version % 2 else (other, one)
            await redeploy(deployer, version)
            answer = await starter.call("POST", "/v2/process-instances", {"processDefinitionId": "one-task"})
            assert answer.json["processDefinitionVersion"] == version


async def redeploy(caller, version):
    """The model with another name, which makes it another version."""
    model = (MODELS / "one_task.bpmn").read_text().replace('name="One task"', f'name="Version {version}"')
    answer = await send_files(caller, {"one_task.bpmn": model})
    assert answer.json["deployments"][0]["processDefinition"]["processDefinitionVersion"] == version
