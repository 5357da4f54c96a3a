"""Execution listeners through the whole program: jobs like any other, and nothing forgotten by a new start."""

from tests.process.http_client import Caller
from tests.process.load import deploy


class Worker:
    """Does jobs over HTTP, and looks."""

    def __init__(self, caller) -> None:
        self.call = caller.call

    async def activate(self, type_):
        """The only job of a type."""
        ask = {"type": type_, "timeout": 60_000, "maxJobsToActivate": 5, "requestTimeout": 20_000, "worker": "w"}
        answer = await self.call("POST", "/v2/jobs/activation", ask)
        (job,) = answer.json["jobs"]
        return job

    async def accepted(self, method, path, document=None):
        answer = await self.call(method, path, document)
        assert answer.status in (200, 204), answer

    async def complete(self, type_, **variables):
        job = await self.activate(type_)
        await self.accepted("POST", f"/v2/jobs/{job['jobKey']}/completion", {"variables": variables})
        return job

    async def found(self, what, **filter):
        answer = await self.call("POST", f"/v2/{what}/search", {"filter": filter})
        assert answer.status == 200, answer
        return answer.json["items"]


async def test_listeners_are_jobs_that_an_element_waits_for(program):
    await program.restart()
    await deploy(program.port, "listeners.bpmn")
    async with Caller(program.port) as caller:
        worker = Worker(caller)
        answer = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "listeners"})
        key = answer.json["processInstanceKey"]
        opened = await worker.complete("opened", kind="x")
        assert (opened["kind"], opened["listenerEventType"]) == ("EXECUTION_LISTENER", "START")
        assert (opened["elementId"], opened["elementInstanceKey"]) == ("listeners", key)

        before = await worker.activate("before-x")
        assert (before["retries"], before["customHeaders"]) == (1, {"of": "the task"})
        assert before["variables"] == {"kind": "x"}
        (element,) = await worker.found("element-instances", elementId="work")
        assert (element["state"], element["elementInstanceKey"]) == ("ACTIVE", before["elementInstanceKey"])
        path = f"/v2/jobs/{before['jobKey']}"
        refused = await caller.call("POST", f"{path}/error", {"errorCode": "A"})
        assert (refused.status, refused.title) == (409, "INVALID_STATE")
        await worker.accepted("POST", f"{path}/failure", {"retries": 0, "errorMessage": "boom"})
        (incident,) = await worker.found("incidents", processInstanceKey=key)
        assert (incident["errorType"], incident["errorMessage"]) == ("EXECUTION_LISTENER_NO_RETRIES", "boom")
        assert incident["jobKey"] == before["jobKey"]
        (failed,) = await worker.found("jobs", kind="EXECUTION_LISTENER", state="FAILED")
        assert (failed["jobKey"], failed["listenerEventType"]) == (before["jobKey"], "START")

    await program.kill()
    await program.restart()
    async with Caller(program.port) as caller:
        worker = Worker(caller)
        await worker.accepted("PATCH", path, {"changeset": {"retries": 1}})
        await worker.accepted("POST", f"/v2/incidents/{incident['incidentKey']}/resolution")
        await worker.complete("before-x", local=1)
        work = await worker.activate("work")
        assert (work["kind"], work["variables"]) == ("BPMN_ELEMENT", {"kind": "x", "local": 1})
        await worker.accepted("POST", f"/v2/jobs/{work['jobKey']}/completion", {"variables": {"done": True}})
        after = await worker.complete("after", audited="yes")
        assert (after["listenerEventType"], after["variables"]) == ("END", {"kind": "x", "local": 1, "done": True})
        closed = await worker.complete("closed", last=2)
        assert closed["variables"] == {"kind": "x", "done": True, "audited": "yes"}

        answer = await caller.call("GET", f"/v2/process-instances/{key}")
        assert answer.json["state"] == "COMPLETED"
        found = {item["name"]: item["value"] for item in await worker.found("variables", scopeKey=key)}
        assert found == {"kind": '"x"', "done": "true", "audited": '"yes"', "last": "2"}
        told = await worker.found("jobs", kind="EXECUTION_LISTENER", state="COMPLETED")
        assert {item["type"] for item in told} == {"opened", "before-x", "after", "closed"}


async def test_a_cancelled_instance_takes_its_listeners_along(program):
    await program.restart()
    await deploy(program.port, "listeners.bpmn")
    async with Caller(program.port) as caller:
        worker = Worker(caller)
        answer = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "listeners"})
        job = await worker.activate("opened")
        await worker.accepted("POST", f"/v2/process-instances/{answer.json['processInstanceKey']}/cancellation")
        (canceled,) = await worker.found("jobs", kind="EXECUTION_LISTENER")
        assert (canceled["jobKey"], canceled["state"]) == (job["jobKey"], "CANCELED")
        late = await caller.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
        assert late.status == 404, late
