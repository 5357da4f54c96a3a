"""A machine that gives the program a twentieth of a processor: it is slow, nothing is restarted, and it does not end.

A child that really hangs is found all the same.
"""

from random import Random

import pytest
import trio

from tests.eventually import eventually
from tests.hostile.starvation import NoQuota, crowded, quota, throttle
from tests.process.http_client import Caller

SHARE = 0.05
PERIODS = 100
CLIENTS = 8
ANSWERS = 12
SLOW = "the machine gives the program too little time: it is slow, and nothing is restarted for that"
ENOUGH = "the machine gives the program enough time again"
HUNG = "child gives no sign of life"
PATIENCE_S = 300.0


class Watched:
    """A program that must live, and that tells that it is slow."""

    def __init__(self, program) -> None:
        self.program, self._pid, self._begin = program, program.pid, program.log_bytes
        told = [entry["event"] for entry in program.entries() if entry.get("event") in (SLOW, ENOUGH)]
        self.was_slow = told[-1:] == [SLOW]
        """The tests beside this one have made it slow before: it tells of changes alone."""

    def logged(self, event):
        return [entry for entry in self.program.entries(self._begin) if entry.get("event") == event]

    async def answers(self):
        """It answers the requests of several clients with 204 and 200, however late."""
        async with trio.open_nursery() as nursery:
            for _ in range(CLIENTS):
                nursery.start_soon(self._ask)

    async def _ask(self):
        async with Caller(self.program.port) as caller:
            for _ in range(ANSWERS):
                assert (await caller.call("GET", "/v2/status", within_s=PATIENCE_S)).status == 204
                body = {"processDefinitionId": "one-task"}
                answer = await caller.call("POST", "/v2/process-instances", body, within_s=PATIENCE_S)
                assert answer.status in (200, 504), answer

    async def withheld_s(self):
        """The seconds that the machine has not given it."""
        async with Caller(self.program.port) as caller:
            answer = await caller.call("GET", "/cluster/status", within_s=PATIENCE_S)
        return answer.json["machine"]["withheldSeconds"]

    async def check(self):
        assert self.program.running, self.program.said()
        assert self.program.pid == self._pid
        assert [(entry["child"], entry["error"]) for entry in self.logged("child ended")] == []
        assert self.logged(HUNG) == []
        await eventually(self._healthy, "it is healthy when it has time again")

    async def _healthy(self):
        return await self.program.status() == 204


@pytest.fixture
def watched(running):
    return Watched(running[0])


async def test_stopped_for_nineteen_of_twenty_moments(watched, seed):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(throttle, watched.program.pid, Random(seed), SHARE, PERIODS)
        await watched.answers()
    await watched.check()
    assert watched.was_slow or watched.logged(SLOW)


async def test_a_real_hang_while_it_is_stopped_for_nineteen_of_twenty_moments(watched, seed):
    async with trio.open_nursery() as nursery:
        nursery.start_soon(throttle, watched.program.pid, Random(seed), SHARE, 10 * PERIODS)
        async with Caller(watched.program.port) as caller:
            answer = await caller.call("POST", "/chaos/children/announcer", {"kind": "hang"}, within_s=PATIENCE_S)
            assert answer.status == 204

        async def found():
            return watched.logged("child ended")

        ended = await eventually(found, "the hang is found", within_s=PATIENCE_S)
        nursery.cancel_scope.cancel()
    assert [entry["child"] for entry in watched.logged(HUNG)] == ["announcer"]
    assert [entry["child"] for entry in ended] == ["announcer"]


async def test_beside_25_busy_processes(watched):
    with crowded():
        await watched.answers()
    await watched.check()


async def test_a_quota_of_a_twentieth_of_a_processor(watched):
    before_s = await watched.withheld_s()
    try:
        with quota(watched.program.pid):
            await watched.answers()
    except NoQuota as reason:
        pytest.skip(str(reason))
    await watched.check()
    assert await watched.withheld_s() > before_s + 1
