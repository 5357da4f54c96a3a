"""The program under attack: ways to hurt it, and what must hold while somebody does."""

from contextlib import asynccontextmanager

import psycopg
import trio

from tests.eventually import eventually
from tests.hostile.others import Others, Report, p99
from tests.process.http_client import Caller
from tests.process.load import send_files

BPMN = """<?xml version="1.0" encoding="UTF-8"?>
<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"
                  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
                  xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"
                  targetNamespace="https://vivero.example/hostile">
{}
</bpmn:definitions>"""
WAITS_FOR_WORKER = (
    '<bpmn:process id="{id}" isExecutable="true"><bpmn:startEvent id="s"/>'
    '<bpmn:sequenceFlow id="f" sourceRef="s" targetRef="t"/><bpmn:serviceTask id="t"><bpmn:extensionElements>'
    '<zeebe:taskDefinition type="{id}"/></bpmn:extensionElements></bpmn:serviceTask></bpmn:process>'
)
MOST_TERMS = 3
ROUNDS = 20
SERVED_WITHIN_S = 60.0
HEALTHY_WITHIN_S = 30.0


def waits_for_worker(id):
    """A process with a job whose type is its id. Others, who work the jobs of `one-task`, do not get it."""
    return WAITS_FOR_WORKER.format(id=id)


class Target:
    """The module's program. What a test deploys and creates stays there for the module's other tests."""

    def __init__(self, program, idle_s, database, name, note, headers=()) -> None:
        self.program, self.port, self.database = program, program.port, database
        self.directory, self._headers = program.directory, headers
        self._idle_s, self._name, self._note = idle_s, name, note

    @asynccontextmanager
    async def attacked(self, *, tolerated=(), terms=MOST_TERMS, rounds=ROUNDS, within_s=SERVED_WITHIN_S):
        """Others work beside the body, and for `rounds` more rounds after it.

        Afterwards it is asserted that the same process lives and is healthy, that others did their rounds within
        `within_s` and none of their requests failed (but with the statuses in `tolerated`; 0 is no answer), that no
        more than `terms` terms began beside those after attempts that do not count, as the machine is too slow, and
        that no child ended with an error that nobody expected, which its restart would hide. Others' p99 goes into the
        report at the end of the run.
        """
        pid, bugs = self.program.pid, len(self._bugs())
        before, uncounted = self._terms(), self._uncounted()
        others = Others(self.port, self._headers)
        async with trio.open_nursery() as nursery:
            others.start(nursery)
            yield others
            await others.rounds_done(rounds, within_s)
            nursery.cancel_scope.cancel()
        begun = self._terms() - before
        self._note(Report(self._name, p99(others.seconds), self._idle_s, begun, len(others.seconds)))
        assert self.program.running, f"the program has ended:\n{self.program.said()}"
        assert self.program.pid == pid, "the program was started anew"
        await eventually(self._healthy, "the program is healthy", within_s=HEALTHY_WITHIN_S)
        assert begun <= terms + self._uncounted() - uncounted, f"{begun} terms began:\n{self.program.said()}"
        assert self._bugs()[bugs:] == []
        others.check(tolerated)

    async def call(self, method, path, document=None, *, headers=(), within_s=60.0):
        """One request on a connection of its own; the answer."""
        async with Caller(self.port) as caller:
            return await caller.call(method, path, document, headers=(*self._headers, *headers), within_s=within_s)

    async def deploy(self, content):
        """Deploy one or more `<bpmn:process>` elements (with messages, errors, … beside them): the answer."""
        async with Caller(self.port) as caller:
            return await send_files(caller, {"hostile.bpmn": BPMN.format(content)})

    async def deployed(self, content):
        """Deploy what must be taken."""
        answer = await self.deploy(content)
        assert answer.status == 200, answer
        return answer.json

    async def create(self, process_id, variables=None, **fields):
        """Create an instance: the answer."""
        body = {"processDefinitionId": process_id, "variables": variables or {}, **fields}
        return await self.call("POST", "/v2/process-instances", body)

    async def created(self, process_id, variables=None, **fields):
        """Create an instance that must be taken: its key."""
        answer = await self.create(process_id, variables, **fields)
        assert answer.status == 200, answer
        return answer.json["processInstanceKey"]

    async def search(self, what, **filter):
        """The items of a search."""
        answer = await self.call("POST", f"/v2/{what}/search", {"filter": filter})
        assert answer.status == 200, answer
        return answer.json["items"]

    async def incident(self, key, within_s=60.0):
        """The first incident of an instance, when there is one."""

        async def raised():
            return await self.search("incidents", processInstanceKey=key)

        return (await eventually(raised, f"an incident of {key}", within_s=within_s, every_s=0.1))[0]

    async def ended(self, key, within_s=60.0):
        """The state in which an instance has ended."""

        async def over():
            answer = await self.call("GET", f"/v2/process-instances/{key}")
            return answer.status == 200 and answer.json["state"] != "ACTIVE" and answer.json["state"]

        return await eventually(over, f"{key} ends", within_s=within_s, every_s=0.25)

    async def canceled(self, key, within_s=60.0):
        """Cancel an instance, and wait for its end."""
        answer = await self.call("POST", f"/v2/process-instances/{key}/cancellation", {}, within_s=within_s)
        assert answer.status in (204, 504), answer  # a big tree may need more than a request's patience
        assert await self.ended(key, within_s) == "TERMINATED"

    def sql(self, statement, parameters=None):
        """Run a statement on the program's database: its rows, if any. Others, if any work, wait meanwhile."""
        with psycopg.connect(self.database, autocommit=True) as connection:
            cursor = connection.execute(statement, parameters)
            return cursor.fetchall() if cursor.description else []

    async def query(self, statement, parameters=None):
        """The rows of a statement. The loop goes on, so that the time of others, who work in it, lacks this wait."""
        return await trio.to_thread.run_sync(self.sql, statement, parameters)

    async def _healthy(self):
        return await self.program.status() == 204

    def _uncounted(self):
        """The attempts that took too long because the machine gave the program too little time: each ends a term."""
        return len([entry for entry in self.program.logged("an attempt took too long") if not entry["counts"]])

    def _terms(self):
        return len(self.program.logged("leading the partition"))

    def _bugs(self):
        """The ends of children by errors that are neither an outage nor a fault that a test made."""
        return [entry for entry in self.program.logged("child ended") if "raised" in entry]
