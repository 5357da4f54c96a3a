"""Other people's ordinary work beside an attack, and how long they waited."""

from typing import NamedTuple

import trio

from tests.process.http_client import Caller, Unanswered
from tests.process.load import deploy

PEOPLE = 3
PAUSE_S = 0.03
IDLE_ROUNDS = 15
PATIENCE_S = 30.0
PROCESS = {"processDefinitionId": "one-task"}
ASK = {"type": "work", "worker": "other", "timeout": 60_000, "maxJobsToActivate": 1, "requestTimeout": 10_000}


class Report(NamedTuple):
    """The effect of one attack on others. Nothing here is asserted: machines are busy."""

    name: str
    p99_s: float
    idle_s: float
    terms: int
    requests: int

    def line(self):
        return (
            f"{self.p99_s * 1000:>13.0f} {self.idle_s * 1000:>7.0f} {self.p99_s / self.idle_s:>6.1f} "
            f"{self.terms:>5} {self.requests:>8}  {self.name}"
        )


def p99(seconds):
    ordered = sorted(seconds)
    return ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))] if ordered else 0.0


async def idle_p99_s(port, headers=()):
    """Deploy what others use; the 99th percentile of their requests while nothing else happens."""
    await deploy(port, "one_task.bpmn", headers=headers)
    others = Others(port, headers)
    async with trio.open_nursery() as nursery:
        others.start(nursery)
        await others.rounds_done(IDLE_ROUNDS, PATIENCE_S)
        nursery.cancel_scope.cancel()
    others.check(())
    return p99(others.seconds)


class Others:
    """A few clients that create, activate and complete again and again, each over a connection of its own."""

    def __init__(self, port, headers=()) -> None:
        self.port, self.headers = port, headers
        self.rounds = 0
        self.seconds = []
        self.failures = []
        self._moved = trio.Event()

    def start(self, nursery):
        for _ in range(PEOPLE):
            nursery.start_soon(self._work)

    async def rounds_done(self, rounds, within_s):
        """Wait until so many more rounds are done."""
        goal = self.rounds + rounds
        with trio.move_on_after(within_s) as patience:
            while self.rounds < goal:
                await self._moved.wait()
        done = self.rounds - goal + rounds
        assert not patience.cancelled_caught, f"others did only {done} rounds in {within_s} s: {self.failures[:5]}"

    def check(self, tolerated):
        """Nobody was refused or left without an answer, but for the statuses that a test tolerates."""
        failures = [failure for failure in self.failures if failure[1] not in tolerated]
        assert not failures, f"others failed {len(failures)} times: {failures[:5]}"

    async def _work(self):
        async with Caller(self.port) as caller:
            while True:
                if await self._round(caller):
                    self.rounds += 1
                    self._moved.set()
                    self._moved = trio.Event()
                await trio.sleep(PAUSE_S)

    async def _round(self, caller):
        """One instance from its creation to the completion of its job; False when a request failed."""
        if await self._request(caller, "/v2/process-instances", PROCESS, 200) is None:
            return False
        answer = await self._request(caller, "/v2/jobs/activation", ASK, 200)
        if answer is None or not answer.json["jobs"]:
            return False
        (job,) = answer.json["jobs"]
        if job["variables"]:  # others would do the work of the attack then, and not their ordinary work
            self.failures.append((ASK, 0, f"a job of the attack: {job['processDefinitionId']}"))
            return False
        path = f"/v2/jobs/{job['jobKey']}/completion"
        return await self._request(caller, path, {}, 204) is not None

    async def _request(self, caller, path, body, expected):
        began = trio.current_time()
        try:
            answer = await caller.call("POST", path, body, headers=self.headers)
        except Unanswered as unanswered:
            self.failures.append((path, 0, str(unanswered)))
            return None
        if not path.endswith("activation"):  # it waits for a job, as it is asked to
            self.seconds.append(trio.current_time() - began)
        if answer.status == expected:
            return answer
        self.failures.append((path, answer.status, answer.body[:300]))
        return None
