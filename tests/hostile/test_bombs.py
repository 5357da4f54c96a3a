"""Processes that start each other without end, more and more of them. They have a program of their own."""

import pytest
import trio

from tests.eventually import eventually
from tests.hostile.choice import one_of

MODEL = (
    '<bpmn:signal id="s-{id}" name="{id}"/><bpmn:process id="{id}" isExecutable="true">'
    '<bpmn:startEvent id="start"><bpmn:signalEventDefinition signalRef="s-{id}"/></bpmn:startEvent>'
    "{ends}</bpmn:process>"
)
END = (
    '<bpmn:endEvent id="end-{n}"><bpmn:signalEventDefinition signalRef="s-{id}"/></bpmn:endEvent>'
    '<bpmn:sequenceFlow id="f-{n}" sourceRef="start" targetRef="end-{n}"/>'
)


@pytest.mark.parametrize("throws", one_of([1, 2]))
async def test_processes_that_start_each_other_for_ever_end_with_their_definition(target, throws):
    """Nobody can cancel instances that are gone at once; with two throws they are ever more.

    While they double, the engine may refuse a new instance (503): no work that it has begun, and not for long.
    """
    id = f"bomb-{throws}"
    ends = "".join(END.format(id=id, n=n) for n in range(throws))
    answer = await target.deployed(MODEL.format(id=id, ends=ends))
    (deployed,) = [one["processDefinition"] for one in answer["deployments"] if one.get("processDefinition")]
    definition = deployed["processDefinitionKey"]
    async with target.attacked(tolerated=(503,), within_s=120):
        await target.call("POST", "/v2/signals/broadcast", {"signalName": id})
        await trio.sleep(2)  # they start each other beside others
        answer = await target.call("POST", f"/v2/resources/{definition}/deletion", {})
        assert answer.status in (200, 204), answer

        async def none_is_left():
            return not await target.search("process-instances", processDefinitionId=id, state="ACTIVE")

        await eventually(none_is_left, "no instance is left", within_s=60, every_s=0.5)
