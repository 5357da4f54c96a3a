"""Task listeners through the whole program: requests wait for them, and learn of denials, also across new starts."""

import json
from contextlib import asynccontextmanager

import pytest
import trio

from tests.eventually import eventually
from tests.process.http_client import Caller, Unanswered
from tests.process.load import deploy
from tests.process.test_listeners import Worker


class TaskWorker(Worker):
    """A worker that answers task listeners, and asks for changes of the only task."""

    async def answer(self, type_, **result):
        job = await self.activate(type_)
        body = {"result": {"type": "userTask", **result}} if result else {}
        await self.accepted("POST", f"/v2/jobs/{job['jobKey']}/completion", body)
        return job

    async def task(self):
        (task,) = await self.found("user-tasks")
        return task


@pytest.fixture
def impatient(make_program, database, unsafe):
    """A program that waits 1.5 s for the outcome of a command."""
    environment = unsafe | {"VIVERO_API_RESPONSE_TIMEOUT_S": "1.5"}
    program = make_program("--database-url", database, environment=environment)
    yield program
    program.end()


@asynccontextmanager
async def waiting(port, method, path, body, answers):
    """Send a request on a connection of its own, and put its answer into `answers` when it comes."""
    async with trio.open_nursery() as nursery, Caller(port) as caller:

        async def ask():
            try:
                answers.append(await caller.call(method, path, body))
            except Unanswered as error:
                answers.append(error)

        nursery.start_soon(ask)
        yield
        await eventually(lambda: bool(answers), "the request has its answer")


async def begin(program, caller):
    await deploy(program.port, "task_listeners.bpmn")
    answer = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "approval"})
    return answer.json["processInstanceKey"]


async def test_a_task_from_its_creation_to_its_completion(program):
    await program.restart()
    async with Caller(program.port) as caller:
        worker = TaskWorker(caller)
        key = await begin(program, caller)
        task = await worker.task()
        assert (task["state"], task["assignee"]) == ("CREATING", None)
        path = f"/v2/user-tasks/{task['userTaskKey']}"
        prepared = await worker.answer("prepare", corrections={"priority": 70, "candidateUsers": ["bob"]})
        assert (prepared["kind"], prepared["listenerEventType"]) == ("TASK_LISTENER", "CREATING")
        assert prepared["userTask"] == {
            "action": "",
            "assignee": "ada",
            "candidateGroups": ["sales"],
            "candidateUsers": [],
            "changedAttributes": [],
            "dueDate": None,
            "followUpDate": None,
            "formKey": None,
            "priority": 50,
            "userTaskKey": task["userTaskKey"],
        }
        assert (await worker.task())["state"] == "ASSIGNING"
        await worker.answer("check-assignee")
        task = await worker.task()
        assert (task["state"], task["assignee"], task["priority"], task["candidateUsers"]) == (
            "CREATED",
            "ada",
            70,
            ["bob"],
        )

        answers = []
        body = {"variables": {"approved": True, "n": 1.50}, "action": "approve"}
        async with waiting(program.port, "POST", f"{path}/completion", body, answers):
            job = await worker.activate("check-result")
            assert (job["userTask"]["action"], job["variables"]) == ("approve", {"approved": True, "n": 1.5})
            (found,) = await worker.found("user-tasks", state="COMPLETING")
            assert found["userTaskKey"] == task["userTaskKey"]
            assert await worker.found("user-tasks", state="CREATED") == []
            other = await caller.call("PATCH", path, {"changeset": {"priority": 1}})
            assert (other.status, other.title) == (409, "INVALID_STATE")
            assert other.json["detail"].endswith("but it is in state 'COMPLETING'")
            wrong = f"/v2/jobs/{job['jobKey']}/completion"
            for result, text in (
                ({"corrections": {"name": "x"}}, "property 'name' cannot be corrected"),
                ({"corrections": {"priority": 101}}, "must be within the [0,100] range"),
                ({"corrections": {"dueDate": "soon"}}, "cannot be parsed as a date"),
                ({"denied": True, "corrections": {"priority": 1}}, "but the job result is denied"),
            ):
                refused = await caller.call("POST", wrong, {"result": {"type": "userTask", **result}})
                assert (refused.status, text in refused.json["detail"]) == (400, True), refused.json
            refused = await caller.call("POST", wrong, {"variables": {"x": 1}})
            assert refused.status == 400
            assert answers == []
            denial = {"denied": True, "deniedReason": "not before noon"}  # as clients of Camunda 8.7 send it
            await worker.accepted("POST", wrong, {"result": denial})
        assert (answers[0].status, answers[0].title) == (409, "INVALID_STATE")
        told = "was denied by Task Listener. Reason to deny: 'not before noon'"
        assert answers[0].json["detail"].endswith(told)
        (denied,) = await worker.found("jobs", isDenied=True)
        assert (denied["jobKey"], denied["deniedReason"], denied["state"]) == (
            job["jobKey"],
            "not before noon",
            "COMPLETED",
        )
        assert len(await worker.found("jobs", isDenied=False)) == 2
        assert (await worker.task())["state"] == "CREATED"
        assert await worker.found("variables", processInstanceKey=key) == []

        answers.clear()
        async with waiting(program.port, "POST", f"{path}/completion", body, answers):
            await worker.answer("check-result", corrections={"assignee": ""})
        assert answers[0].status == 204
        task = await worker.task()
        assert (task["state"], task["assignee"]) == ("COMPLETED", None)
        assert (await caller.call("GET", f"/v2/process-instances/{key}")).json["state"] == "COMPLETED"
        found = {item["name"]: item["value"] for item in await worker.found("variables", scopeKey=key)}
        assert found == {"approved": "true", "n": "1.5"}


async def test_a_transition_outlives_the_program_and_the_request(program):
    """The client of the killed program gets no answer; that of the new one sees the end by the position."""
    await program.restart()
    answers = []
    async with Caller(program.port) as caller:
        worker = TaskWorker(caller)
        key = await begin(program, caller)
        await worker.answer("prepare")
        await worker.answer("check-assignee")
        path = f"/v2/user-tasks/{(await worker.task())['userTaskKey']}"
        async with waiting(program.port, "POST", f"{path}/completion", {"variables": {"x": 1}}, answers):
            await worker.activate("check-result")
            await program.kill()
    assert isinstance(answers[0], Unanswered)
    await program.restart()
    async with Caller(program.port) as caller:
        worker = TaskWorker(caller)
        (job,) = await worker.found("jobs", type="check-result")
        assert (await worker.task())["state"] == "COMPLETING"
        await worker.accepted("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
        assert (await caller.call("GET", f"/v2/process-instances/{key}")).json["state"] == "COMPLETED"


@pytest.mark.long
async def test_a_request_whose_patience_ends_gets_504_and_the_transition_goes_on(impatient):
    program = impatient
    await program.restart()
    async with Caller(program.port) as caller:
        worker = TaskWorker(caller)
        await begin(program, caller)
        await worker.answer("prepare")
        await worker.answer("check-assignee")
        path = f"/v2/user-tasks/{(await worker.task())['userTaskKey']}"
        answer = await caller.call("PATCH", path, {"changeset": {"priority": 9}})
        assert (answer.status, answer.title) == (504, "DEADLINE_EXCEEDED")
        position = answer.headers["command-position"]
        assert (await worker.task())["state"] == "UPDATING"
        await worker.answer("check-update", denied=True, deniedReason="no")
        rejected = await caller.call("GET", f"/v2/commands/{position}")
        assert rejected.json["status"] == "REJECTED"
        assert (await worker.task())["priority"] == 50


async def test_a_cancellation_waits_for_its_listener(program):
    await program.restart()
    answers = []
    async with Caller(program.port) as caller:
        worker = TaskWorker(caller)
        key = await begin(program, caller)
        await worker.answer("prepare")
        async with waiting(program.port, "POST", f"/v2/process-instances/{key}/cancellation", {}, answers):
            job = await worker.activate("tell-canceled")
            assert (await worker.task())["state"] == "CANCELING"
            (canceled,) = await worker.found("jobs", type="check-assignee")
            assert canceled["state"] == "CANCELED"
            assert answers == []
            await worker.accepted("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
        assert answers[0].status == 204
        assert (await worker.task())["state"] == "CANCELED"
        assert (await caller.call("GET", f"/v2/process-instances/{key}")).json["state"] == "TERMINATED"


@pytest.mark.long
async def test_a_listener_of_the_whole_cluster_hears_at_once_of_every_task(program):
    path = "/v2/global-task-listeners"
    await program.restart()
    answers = []
    async with Caller(program.port) as caller:
        worker = TaskWorker(caller)
        await begin(program, caller)
        await worker.answer("prepare")
        await worker.answer("check-assignee")
        body = {"id": "audit", "type": "told", "eventTypes": ["updating", "COMPLETING", "updating"], "priority": 60}
        created = await caller.call("POST", path, body)
        listener = {
            "id": "audit",
            "type": "told",
            "retries": 3,
            "afterNonGlobal": False,
            "priority": 60,
            "eventTypes": ["updating", "completing"],
            "source": "API",
        }
        assert (created.status, created.json) == (201, listener)
        assert (await caller.call("POST", path, body)).status == 409
        assert (await caller.call("GET", f"{path}/audit")).json == listener
        for wrong in ({"id": "a b"}, {"eventTypes": ["claiming"]}, {"retries": 0}, {"type": " "}, {"eventTypes": []}):
            assert (await caller.call("POST", path, body | wrong)).status == 400, wrong

        task = f"/v2/user-tasks/{(await worker.task())['userTaskKey']}"
        async with waiting(program.port, "PATCH", task, {"changeset": {"priority": 9}}, answers):
            first = await worker.answer("told")
            assert (first["listenerEventType"], first["userTask"]["priority"]) == ("UPDATING", 9)
            changed = {"type": "later", "eventTypes": ["all", "creating"], "afterNonGlobal": True, "retries": 1}
            replaced = await caller.call("PUT", f"{path}/audit", changed)
            assert (replaced.status, replaced.json["eventTypes"], replaced.json["priority"]) == (200, ["all"], 50)
            await worker.answer("check-update")
        assert answers[0].status == 204

        answers.clear()
        async with waiting(program.port, "POST", f"{task}/completion", {}, answers):
            await worker.answer("check-result")
            assert (await worker.activate("later"))["retries"] == 1
            await program.kill()
    configured = {"configured": {"type": "configured", "event_types": ["creating"]}}
    program.environment["VIVERO_USER_TASKS_LISTENERS"] = json.dumps(configured)
    await program.restart()
    async with Caller(program.port) as caller:
        worker = TaskWorker(caller)
        for filter in ({"eventTypes": ["all"]}, {"id": "audit"}, {"type": {"$like": "la*"}}, {"source": "API"}):
            assert [one["id"] for one in await worker.found("global-task-listeners", **filter)] == ["audit"]
        assert await worker.found("global-task-listeners", eventTypes=["updating"]) == []
        (job,) = await worker.found("jobs", type="later")
        await worker.accepted("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
        assert (await worker.task())["state"] == "COMPLETED"
        await worker.accepted("DELETE", f"{path}/audit")
        for method in ("GET", "DELETE"):
            assert (await caller.call(method, f"{path}/audit")).status == 404
        assert (await caller.call("PUT", f"{path}/audit", changed)).status == 404
        audited = await worker.found("audit-logs", entityType="RESOURCE", entityKey="audit")
        assert {one["operationType"] for one in audited} == {"CREATE", "UPDATE", "DELETE"}

        (found,) = await worker.found("global-task-listeners", source="CONFIGURATION")
        assert (found["id"], found["type"], found["eventTypes"], found["priority"]) == (
            *("configured", "configured"),
            ["creating"],
            50,
        )
        for method, more in (("PUT", changed), ("DELETE", None)):
            refused = await caller.call(method, f"{path}/configured", more)
            assert (refused.status, refused.title) == (409, "INVALID_STATE")
        await begin(program, caller)
        assert (await worker.answer("configured"))["listenerEventType"] == "CREATING"
        assert (await worker.answer("prepare"))["listenerEventType"] == "CREATING"
