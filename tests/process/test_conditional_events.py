"""Conditional events through the whole program: variables come over HTTP, and a restart forgets no condition."""

from functools import partial

import pytest

from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import deploy
from tests.process.rows import rows

ENDS = "SELECT element_id FROM element_instances WHERE element_id IN ('approved', 'settled') AND state = 'COMPLETED'"


@pytest.mark.long
async def test_conditions_are_watched_again_after_a_kill(program, database):
    await program.restart()
    await deploy(program.port, "conditional.bpmn")
    async with Caller(program.port) as caller:
        order = {"processDefinitionId": "conditional", "variables": {"total": 10}}
        created = await caller.call("POST", "/v2/process-instances", order)
        assert created.status == 200, created
        key = created.json["processInstanceKey"]
        await _set(caller, key, total=999)
        assert _ends(database) == []
    await program.kill()
    await program.restart()
    async with Caller(program.port) as caller:
        await _set(caller, key, total=1001)
        canceled = {"filter": {"processInstanceKey": key, "state": "CANCELED"}}
        found = await caller.call("POST", "/v2/jobs/search", canceled)
        assert [job["elementId"] for job in found.json["items"]] == ["approve"], "its host has ended"
        await _set(caller, key, paid=True)
        await eventually(partial(_is_ended, database), "it ends at the event behind the condition")
        assert await _started(caller, temperature=30) == []
        [started] = await _started(caller, temperature=31)
        await eventually(partial(_has_completed, caller, started), "the process that a condition starts ends")


async def _started(caller, **variables):
    answer = await caller.call("POST", "/v2/conditionals/evaluation", {"variables": variables})
    assert answer.status == 200, answer
    return [one["processInstanceKey"] for one in answer.json["processInstances"]]


async def _has_completed(caller, key):
    found = await caller.call("GET", f"/v2/process-instances/{key}")
    return found.status == 200 and (found.json["processDefinitionId"], found.json["state"]) == (
        "by-condition",
        "COMPLETED",
    )


async def _set(caller, key, **variables):
    answer = await caller.call("PUT", f"/v2/element-instances/{key}/variables", {"variables": variables})
    assert answer.status == 204, answer


def _ends(database):
    return [element for (element,) in rows(database, ENDS)]


async def _is_ended(database):
    return _ends(database) == ["settled"]
