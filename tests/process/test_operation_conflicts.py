"""Operations on instances that never rest, over HTTP, while the program is killed again and again.

Workers, timers and messages go on in the instances. Operators suspend, resume, modify, migrate and undo, two of them
at once with the version that both have seen. No job of an instance is handed out after the answer to its suspension,
one of two changes of a version happens, and the events give the rows.
"""

import os

import psycopg
import pytest
import trio

from tests.chaos import replayed
from tests.core.event_models import catch
from tests.core.events.test_timers import timer
from tests.core.message_models import catch as catch_message
from tests.core.message_models import model
from tests.core.models import par, start, task, xor
from tests.eventually import eventually
from tests.process.http_client import Caller, Unanswered
from tests.process.load import send_files

KILLS = int(os.environ.get("VIVERO_KILLS") or 6)
BETWEEN = 40
"""Operations that are answered between two kills."""
INSTANCES = 3
WORKERS = 3
NEVER_EXPIRES_MS = 3_600_000
"""Messages that expire are deleted beside the log."""
REFUSALS = {400, 404, 409, 412, 429, 503, 504}
"""An element that is not active, a suspended instance, another version, and a server that begins or is overloaded."""


def endless(first):
    """Three loops: jobs, timers and messages. `first`: the id of the first task of the jobs."""
    parts = (start(), par("f"), xor("x"), task(first, "work"), task("b", "work"), xor("y"), xor("z"))
    waits = (catch("soon", timer("timeDuration", "PT0.05S")), catch_message("told"))
    flows = (f"start > f > x > {first} > b > x", "f > y > soon > y", "f > z > told > z")
    return model(*parts, *waits, *flows, id="endless")


CALM = model(start(), xor("z"), catch_message("told"), "start > z > told > z", id="calm")
"""Two operators can know a version of it."""
OTHER = {"a": "labour", "labour": "a"}
"""The first task of the jobs, in one version → in the other one."""


def mappings(first):
    pairs = [(first, OTHER[first]), *((id, id) for id in ("b", "soon", "told"))]
    return [{"sourceElementId": source, "targetElementId": target} for source, target in pairs]


class Trial:
    """The instances, the operations that were answered, and whether the program runs."""

    def __init__(self, program, random) -> None:
        self.program, self.random = program, random
        self.up = trio.Event()
        self.up.set()
        self.ended = False
        self.answered = self.raced = self.held = self.given = 0
        self.faults: list[str] = []
        self.suspended: dict[str, float] = {}
        """Key of an instance → when the answer to its suspension came, until its resumption is asked for."""

    async def call(self, caller, path, body=None, *, method="POST", headers=()):
        """The answer; None if it is unknown whether it happened."""
        try:
            answer = await caller.call(method, f"/v2{path}", body, headers=headers)
        except Unanswered:
            await self.up.wait()
            return None
        if answer.status not in {200, 204} | REFUSALS:
            self.faults.append(f"{path} {body}: {answer}")
        return answer

    async def operate(self, caller, key, operation, body=None, *, headers=()):
        answer = await self.call(caller, f"/process-instances/{key}/{operation}", body or {}, headers=headers)
        self.answered += answer is not None
        return answer

    async def work(self):
        """A worker. Jobs that come late belong to no instance that was suspended before it asked."""
        async with Caller(self.program.port) as caller:
            while not self.ended:
                asked, held = trio.current_time(), dict(self.suspended)
                wanted = {"type": "work", "maxJobsToActivate": 5, "timeout": 2_000, "requestTimeout": 200}
                answer = await self.call(caller, "/jobs/activation", wanted)
                jobs = [] if answer is None or answer.status != 200 else answer.json["jobs"]
                for job in jobs:
                    self.given += 1
                    key = job["processInstanceKey"]
                    if held.get(key, asked) < asked and self.suspended.get(key) == held[key]:
                        self.faults.append(f"job {job['jobKey']} of the suspended instance {key} was handed out")
                    await self.call(caller, f"/jobs/{job['jobKey']}/completion", {})

    async def tell(self, keys):
        async with Caller(self.program.port) as caller:
            while not self.ended:
                told = {"name": "hello", "correlationKey": self.random.choice(keys), "timeToLive": NEVER_EXPIRES_MS}
                await self.call(caller, "/messages/publication", told)

    async def suspend(self, key):
        """Suspends and resumes, and knows what the instance is in between: nobody else does it there."""
        async with Caller(self.program.port) as caller:
            while not self.ended:
                answer = await self.operate(caller, key, "suspension")
                if answer is None or (answer.status != 204 and b"it is already suspended" not in answer.body):
                    continue  # it may be suspended already, by a request whose answer was lost
                self.suspended[key] = trio.current_time()
                self.held += 1
                for _ in range(self.random.randrange(1, 5)):
                    await self.operate(caller, key, "modification", {"activateInstructions": [{"elementId": "b"}]})
                del self.suspended[key]
                while not self.ended and (answer := await self.operate(caller, key, "resumption")) is not None:
                    if answer.status in (204, 409):
                        break

    async def change(self, key, versions, *others):
        """Migrates there and back, and does something of `others` in between."""
        async with Caller(self.program.port) as caller:
            while not self.ended:
                for first, version in zip(("a", "labour"), versions, strict=True):
                    mapped = mappings(first)
                    body = {"targetProcessDefinitionKey": version, "mappingInstructions": mapped}
                    await self.operate(caller, key, "migration", body)
                    other = self.random.choice(others)
                    moves = [{"sourceElementId": "b", "targetElementId": OTHER[first]}]
                    await self.operate(caller, key, other, {} if other == "undo" else {"moveInstructions": moves})

    async def race(self, key):
        """Two operators have seen the same version: at most one of them changes it."""
        async with Caller(self.program.port) as one, Caller(self.program.port) as other:
            while not self.ended:
                seen = await self.call(one, f"/process-instances/{key}/undo", method="GET")
                if seen is None or seen.status != 200:
                    continue
                headers, statuses = [("If-Match", f'"{seen.json["version"]}"')], []

                async def change(caller, headers=headers, statuses=statuses):
                    body = {"activateInstructions": [{"elementId": "told"}]}
                    answer = await self.operate(caller, key, "modification", body, headers=headers)
                    statuses.append(None if answer is None else answer.status)

                async with trio.open_nursery() as nursery:
                    nursery.start_soon(change, one)
                    nursery.start_soon(change, other)
                self.raced += 204 in statuses
                if statuses.count(204) > 1:
                    self.faults.append(f"two changes of version {seen.json['version']} of {key} happened")

    async def kill(self, kills):
        for _ in range(kills):
            enough = self.answered + BETWEEN
            await eventually(lambda enough=enough: self.answered >= enough, "operations are answered", within_s=120)
            self.up = trio.Event()
            await self.program.kill()
            await self.program.restart()
            self.up.set()
        self.ended = True


async def created(port, version, number):
    async with Caller(port) as caller:
        body = {"processDefinitionKey": version, "variables": {"k": str(number)}}
        return (await caller.call("POST", "/v2/process-instances", body)).json["processInstanceKey"]


@pytest.mark.long
async def test_operations_conflict_with_all_that_happens(program, database, random_faults):
    program.start()
    await program.ready()
    versions = []
    async with Caller(program.port) as caller:
        for content in (CALM, endless("labour"), endless("a")):
            deployed = (await send_files(caller, {"m.bpmn": content.decode()})).json["deployments"]
            versions.append(deployed[0]["processDefinition"]["processDefinitionKey"])
    calm, *versions = versions
    keys = [await created(program.port, versions[1], number) for number in range(INSTANCES)]
    racing = await created(program.port, calm, INSTANCES)
    trial = Trial(program, random_faults)
    async with trio.open_nursery() as nursery:
        for _ in range(WORKERS):
            nursery.start_soon(trial.work)
        nursery.start_soon(trial.tell, [str(number) for number in range(INSTANCES + 1)])
        for key in keys[:2]:
            nursery.start_soon(trial.suspend, key)
        nursery.start_soon(trial.change, keys[1], versions, "modification")
        nursery.start_soon(trial.change, keys[2], versions, "modification", "undo")
        nursery.start_soon(trial.race, racing)
        nursery.start_soon(trial.kill, KILLS)
    figures = {"suspensions": trial.held, "races": trial.raced, "jobs": trial.given, "answers": trial.answered}
    print(f"{KILLS} kills, {figures}")
    assert not trial.faults, "\n".join(trial.faults[:5])
    assert min(figures.values()) > KILLS, figures
    async with Caller(program.port) as caller:
        for key in (*keys, racing):
            assert (await caller.call("POST", f"/v2/process-instances/{key}/cancellation", {})).status == 204
    with psycopg.connect(database, autocommit=True) as connection:
        for table in ("process_instances", "element_instances", "jobs", "timers", "subscriptions", "incidents"):
            column = "resolved_at" if table == "incidents" else "ended_at"
            query = f"SELECT count(*) FROM {table} WHERE {column} IS NULL"
            await eventually(
                lambda query=query: connection.execute(query).fetchone() == (0,), f"{table} have ended", within_s=60
            )
    print(f"{await replayed.check(database)} rows are as the events say")
