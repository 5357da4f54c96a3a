"""Elements that few engines execute, through the whole program: over HTTP, and killed in the middle."""

import pytest

from tests.core.compensation_models import T, cancelled, done, in_line
from tests.core.elements.test_conditional_flows import forked
from tests.core.elements.test_loop_cardinality import several
from tests.core.elements.test_quantities import joined
from tests.core.elements.test_standard_loop import looped
from tests.core.models import end, start, sub, task
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import send_files

RUNS = {
    "standard-loop": (looped("=loopCounter < 3"), {}, ["work", "work", "work", "after"]),
    "loop-cardinality": (several("=n"), {"n": 2}, ["work", "work", "after"]),
    "quantities": (joined(2), {}, ["a", "b", "t"]),
    "conditional-flows": (forked(default="t-b", free="c"), {"a": False}, ["t", "b", "c"]),
    "compensation": (in_line(sub("in", start("i"), done("a"), end("j"), "i > a > j"), T), {}, ["a", "ua"]),
    "transaction": (in_line(cancelled(), task("z")), {}, ["v", "w", "uw", "uv", "z"]),
}
"""Process id → model, variables, and the jobs that it has, one after the other."""
TYPES = {
    "standard-loop": {"MULTI_INSTANCE_BODY"},
    "loop-cardinality": {"MULTI_INSTANCE_BODY"},
    "transaction": {"SUB_PROCESS", "BOUNDARY_EVENT"},
    "compensation": {"SUB_PROCESS", "BOUNDARY_EVENT", "INTERMEDIATE_THROW_EVENT"},
}
"""The types of elements beside those that every model has, as the REST API names them."""
COMMON = {"START_EVENT", "END_EVENT", "SERVICE_TASK", "PARALLEL_GATEWAY"}


@pytest.mark.long
async def test_they_go_on_after_a_kill(program):
    await program.restart()
    async with Caller(program.port) as caller:
        files = {f"{id}.bpmn": _renamed(model, id) for id, (model, _, _) in RUNS.items()}
        assert (await send_files(caller, files)).status == 200
        keys = {id: await _create(caller, id) for id in RUNS}
    for _ in range(2):
        await program.kill()
        await program.restart()
        async with Caller(program.port) as caller:
            await _work(caller)
    async with Caller(program.port) as caller:
        while await _work(caller):
            pass
        for id, key in keys.items():
            await eventually(lambda key=key: _has_ended(caller, key), f"{id} ends")
            assert await _jobs(caller, key) == RUNS[id][2], id
            assert await _types(caller, key) - COMMON == TYPES.get(id, set()), id


def _renamed(model, id):
    return model.decode().replace('<process id="p"', f'<process id="{id}"').replace('type="', f'type="{id}-')


async def _create(caller, id):
    answer = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": id, "variables": RUNS[id][1]})
    assert answer.status == 200, answer
    return answer.json["processInstanceKey"]


async def _work(caller):
    """Complete the jobs that are open; how many they were."""
    found = await caller.call("POST", "/v2/jobs/search", {"filter": {"state": "CREATED"}})
    for job in found.json["items"]:
        answer = await caller.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {})
        assert answer.status == 204, answer
    return len(found.json["items"])


async def _jobs(caller, key):
    query = {"filter": {"processInstanceKey": key}, "sort": [{"field": "jobKey"}]}
    found = await caller.call("POST", "/v2/jobs/search", query)
    return [job["elementId"] for job in found.json["items"]]


async def _types(caller, key):
    found = await caller.call("POST", "/v2/element-instances/search", {"filter": {"processInstanceKey": key}})
    return {element["type"] for element in found.json["items"]}


async def _has_ended(caller, key):
    found = await caller.call("GET", f"/v2/process-instances/{key}")
    return found.status == 200 and found.json["state"] == "COMPLETED"
