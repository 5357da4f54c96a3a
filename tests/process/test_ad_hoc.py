"""Ad-hoc sub-processes through the whole program: requests and results over HTTP, and killed in the middle."""

from tests.core.event_models import ad_hoc, model
from tests.core.models import end, start, task
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.process.load import send_files

OPEN = ad_hoc("open", task("A"), task("B"), active='=["A"]', output="=x", into="xs", until="=count(xs) = 3")
AGENT = ad_hoc("agent", task("C"), task("D"), job="agent", output="=x", into="results")
MODEL = model(start(), OPEN, AGENT, end(), "start > open > agent > end")
ACTIVATION = "/v2/element-instances/ad-hoc-activities/{}/activation"


async def test_they_go_on_after_a_kill(program):
    await program.restart()
    async with Caller(program.port) as caller:
        assert (await send_files(caller, {"p.bpmn": MODEL.decode()})).status == 200
        created = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "p"})
        instance = created.json["processInstanceKey"]
        scope = await _element(caller, "open")
        await _refused(caller, instance, scope)
        body = {"elements": [{"elementId": "B", "variables": {"x": 0}}]}
        assert (await caller.call("POST", ACTIVATION.format(scope), body)).status == 204
    await program.kill()
    await program.restart()
    async with Caller(program.port) as caller:
        assert (await caller.call("POST", ACTIVATION.format(scope), body)).status == 204
        assert await _jobs(caller) == ["A", "B", "B"]
        for number, id in enumerate(("B", "A", "B")):
            await _complete(caller, id, {"variables": {"x": number}})
        await _complete(caller, "agent", {"result": _result("C", "D")})
    await program.kill()
    await program.restart()
    async with Caller(program.port) as caller:
        await _complete(caller, "C", {"variables": {"x": "c"}})
        [job] = await _found(caller, "agent")
        assert job["kind"] == "AD_HOC_SUB_PROCESS"
        await _complete(caller, "D", {"variables": {"x": "d"}})
        stale = await caller.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {"result": _result("C")})
        assert stale.status == 404
        await _complete(caller, "agent", {"result": _result() | {"isCompletionConditionFulfilled": True}})
        await eventually(lambda: _has_ended(caller, instance), "it ends")
        assert await _variables(caller, instance) == {"xs": "[0,1,2]", "results": '["c","d"]'}
        assert await _types(caller, instance) >= {"AD_HOC_SUB_PROCESS", "AD_HOC_SUB_PROCESS_INNER_INSTANCE"}


async def _refused(caller, instance, scope):
    """The answers to wrong requests."""
    element = {"elementId": "A"}
    for key, body, status, text in (
        (instance, {"elements": [element]}, 400, "is not an ad-hoc sub-process."),
        (1, {"elements": [element]}, 404, "no ad-hoc sub-process instance found with key '1'."),
        (scope, {"elements": [{"elementId": "X"}]}, 404, "but the given elements [X] do not exist."),
        (scope, {"elements": [element, element]}, 400, "but duplicate activities were given."),
        (scope, {"elements": []}, 400, "No elements provided."),
        (scope, {}, 400, "No elements provided."),
        (scope, {"elements": [{}]}, 400, "No elements[0].elementId provided."),
    ):
        answer = await caller.call("POST", ACTIVATION.format(key), body)
        assert (answer.status, text in answer.json["detail"]) == (status, True), answer


def _result(*ids):
    return {"type": "adHocSubProcess", "activateElements": [{"elementId": id} for id in ids]}


async def _found(caller, id):
    query = {"filter": {"elementId": id, "state": "CREATED"}, "sort": [{"field": "jobKey"}]}
    return (await caller.call("POST", "/v2/jobs/search", query)).json["items"]


async def _complete(caller, id, body):
    """Complete the first open job of an element."""
    job, *_ = await _found(caller, id)
    answer = await caller.call("POST", f"/v2/jobs/{job['jobKey']}/completion", body)
    assert answer.status == 204, answer


async def _jobs(caller):
    found = await caller.call("POST", "/v2/jobs/search", {"filter": {"state": "CREATED"}})
    return sorted(job["elementId"] for job in found.json["items"])


async def _element(caller, id):
    found = await caller.call("POST", "/v2/element-instances/search", {"filter": {"elementId": id}})
    return found.json["items"][0]["elementInstanceKey"]


async def _types(caller, key):
    found = await caller.call("POST", "/v2/element-instances/search", {"filter": {"processInstanceKey": key}})
    return {element["type"] for element in found.json["items"]}


async def _variables(caller, key):
    query = {"filter": {"processInstanceKey": key, "scopeKey": key}}
    found = await caller.call("POST", "/v2/variables/search", query)
    return {one["name"]: one["value"] for one in found.json["items"]}


async def _has_ended(caller, key):
    found = await caller.call("GET", f"/v2/process-instances/{key}")
    return found.status == 200 and found.json["state"] == "COMPLETED"
