"""Cluster variables through two programs: a change holds for the next expression, whoever leads and whatever ends."""

import pytest

from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.process.test_listeners import Worker

LIMIT = "/v2/cluster-variables/global/limit"


async def elements(programs, totals):
    """The elements at which instances with these totals wait. The programs start them in turn."""
    found = []
    for number, total in enumerate(totals):
        async with Caller(programs[number % len(programs)].port) as caller:
            body = {"processDefinitionId": "configured", "variables": {"total": total}}
            answer = await caller.call("POST", "/v2/process-instances", body)
            assert answer.status == 200, answer
            key = answer.json["processInstanceKey"]
            (task,) = await Worker(caller).found("element-instances", processInstanceKey=key, type="SERVICE_TASK")
            found.append(task["elementId"])
    return found


async def set_limit(program, value):
    async with Caller(program.port) as caller:
        answer = await caller.call("PUT", LIMIT, {"value": value})
        assert answer.status == 200, answer


@pytest.mark.long
async def test_a_change_holds_at_once_on_both_programs_and_after_kills(pair):
    one, other = pair
    await deploy(one.port, "cluster_variables.bpmn")
    async with Caller(one.port) as caller:
        created = await caller.call("POST", "/v2/cluster-variables/global", {"name": "limit", "value": 10})
        assert created.status == 200, created
    assert await elements(pair, [11, 11, 10]) == ["large", "large", "small"]
    await set_limit(other, 20)
    assert await elements(pair, [11, 20, 21]) == ["small", "small", "large"]
    await set_limit(one, 5)
    for program in pair:
        await program.kill()
        assert await elements([other if program is one else one], [6, 5]) == ["large", "small"]
        await program.restart()
    async with Caller(one.port) as caller:
        worker = Worker(caller)
        instances = await worker.found("process-instances", processDefinitionId="configured")
        ask = {"type": "large", "timeout": 60_000, "maxJobsToActivate": 10, "worker": "w"}
        jobs = (await caller.call("POST", "/v2/jobs/activation", ask)).json["jobs"]
        assert [job["variables"]["limit"] for job in jobs] == [10, 10, 20, 5, 5]
        keys = {int(instance["processInstanceKey"]) for instance in instances}
        assert {job["variables"]["key"] for job in jobs} <= keys
        assert [str(job["variables"]["key"]) for job in jobs] == [job["processInstanceKey"] for job in jobs]
