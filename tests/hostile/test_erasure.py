"""A person who came in by every way over HTTP is erased, while others work: no column and no log line has them then."""

from tests.engine.connectors.webhook_models import properties
from tests.eventually import eventually
from tests.process.http_client import Caller
from tests.storage.personal_data import ESCAPED, PERSON, SPELLINGS, erase, places_of

PROGRAM_ENVIRONMENT = {"VIVERO_CONNECTORS_ENABLED": "true"}
LOGIN = "ann.smith-1970"
"""The same person in headers, which are ASCII."""
GIVEN = {"email": PERSON, "customer": {"mail": f"To: {PERSON}!", "login": LOGIN}}
HOUR_MS = 3_600_000
FLOW = '<bpmn:sequenceFlow id="{before}-{after}" sourceRef="{before}" targetRef="{after}"/>'
MODELS = f"""
<bpmn:message id="m" name="erased-hello"><bpmn:extensionElements>
  <zeebe:subscription correlationKey="=k"/></bpmn:extensionElements></bpmn:message>
<bpmn:message id="g" name="erased-greeting"/>
<bpmn:signal id="a" name="erased-alarm"/>
<bpmn:error id="e" errorCode="erased-broken"/>
<bpmn:process id="erased-job" isExecutable="true"><bpmn:startEvent id="s"/>{FLOW.format(before="s", after="t")}
  <bpmn:serviceTask id="t"><bpmn:extensionElements>
    <zeebe:taskDefinition type="erased-job" retries="=tries"/></bpmn:extensionElements></bpmn:serviceTask>
  <bpmn:boundaryEvent id="b" attachedToRef="t"><bpmn:errorEventDefinition errorRef="e"/></bpmn:boundaryEvent>
</bpmn:process>
<bpmn:process id="erased-wait" isExecutable="true"><bpmn:startEvent id="s2"/>{FLOW.format(before="s2", after="c2")}
  <bpmn:intermediateCatchEvent id="c2"><bpmn:messageEventDefinition messageRef="m"/></bpmn:intermediateCatchEvent>
</bpmn:process>
<bpmn:process id="erased-task" isExecutable="true"><bpmn:startEvent id="s3"/>{FLOW.format(before="s3", after="u3")}
  <bpmn:userTask id="u3"><bpmn:extensionElements><zeebe:userTask/></bpmn:extensionElements></bpmn:userTask>
</bpmn:process>
<bpmn:process id="erased-greeting" isExecutable="true">
  <bpmn:startEvent id="s4"><bpmn:messageEventDefinition messageRef="g"/></bpmn:startEvent></bpmn:process>
<bpmn:process id="erased-alarm" isExecutable="true">
  <bpmn:startEvent id="s5"><bpmn:signalEventDefinition signalRef="a"/></bpmn:startEvent></bpmn:process>
<bpmn:process id="erased-condition" isExecutable="true">
  <bpmn:startEvent id="s6"><bpmn:conditionalEventDefinition><bpmn:condition>=ready</bpmn:condition>
  </bpmn:conditionalEventDefinition></bpmn:startEvent></bpmn:process>
<bpmn:process id="erased-webhook" isExecutable="true"><bpmn:startEvent id="s7">
  {properties("erased", resultVariable="called").replace("extensionElements", "bpmn:extensionElements")}
</bpmn:startEvent></bpmn:process>
"""
OURS = {"processDefinitionId": {"$like": "erased-*"}}


class Writer:
    """Sends requests with the person, and checks how they are answered."""

    def __init__(self, target, caller) -> None:
        self._target, self._caller = target, caller

    async def post(self, path, body, status=200, headers=(), method="POST"):
        answer = await self._caller.call(method, path, body, headers=headers)
        assert answer.status == status, (path, answer)
        return answer.json

    async def create(self, process, status=200, headers=(), **variables):
        body = {"processDefinitionId": process, "businessId": PERSON, "variables": GIVEN | variables}
        return await self.post("/v2/process-instances", body, status, headers)

    async def job(self):
        """A new job; its path."""
        await self.create("erased-job", tries=1)
        ask = {"type": "erased-job", "worker": PERSON, "timeout": HOUR_MS, "maxJobsToActivate": 1}
        answer = await self.post("/v2/jobs/activation", ask | {"requestTimeout": 20_000})
        return f"/v2/jobs/{answer['jobs'][0]['jobKey']}"

    async def user_task(self):
        """A new user task; its path."""
        key = (await self.create("erased-task"))["processInstanceKey"]

        async def there():
            return await self._target.search("user-tasks", processInstanceKey=key)

        return f"/v2/user-tasks/{(await eventually(there, 'a user task'))[0]['userTaskKey']}"


async def by_instances(writer):
    await writer.create("erased-job", tries=PERSON)  # an incident that shows the value
    key = (await writer.create("erased-wait", k=PERSON))["processInstanceKey"]
    path = f"/v2/element-instances/{key}/variables"
    await writer.post(path, {"variables": {PERSON: 1, "email": PERSON}}, 204, method="PUT")
    await writer.create("erased-task", headers=[("Idempotency-Key", LOGIN)])


async def by_jobs(writer):
    await writer.post(f"{await writer.job()}/completion", {"variables": GIVEN}, 204)
    failed = {"retries": 0, "errorMessage": f"no mail to {PERSON}", "variables": GIVEN}
    await writer.post(f"{await writer.job()}/failure", failed, 204)
    for code in ("erased-broken", PERSON):
        thrown = {"errorCode": code, "errorMessage": f"no mail to {PERSON}", "variables": GIVEN}
        await writer.post(f"{await writer.job()}/error", thrown, 204)


async def by_user_tasks(writer):
    path = await writer.user_task()
    await writer.post(f"{path}/assignment", {"assignee": PERSON, "action": PERSON}, 204)
    await writer.post(path, {"changeset": {"candidateUsers": [PERSON, LOGIN]}}, 204, method="PATCH")
    await writer.post(f"{path}/completion", {"variables": GIVEN}, 204)


async def by_events(writer):
    message = {"correlationKey": PERSON, "messageId": PERSON, "businessId": PERSON, "variables": GIVEN}
    await writer.create("erased-wait", k=PERSON)
    for name in ("erased-hello", "erased-greeting", "erased-nobody"):
        await writer.post("/v2/messages/publication", message | {"name": name, "timeToLive": HOUR_MS})
    await writer.create("erased-wait", k=LOGIN)
    correlated = {"name": "erased-hello", "correlationKey": LOGIN, "variables": GIVEN}
    await writer.post("/v2/messages/correlation", correlated)
    await writer.post("/v2/signals/broadcast", {"signalName": "erased-alarm", "variables": GIVEN})
    await writer.post("/v2/conditionals/evaluation", {"variables": GIVEN | {"ready": True}})
    await writer.post("/inbound/erased", GIVEN)


async def by_rejections(writer):
    await writer.create("erased-nosuch", 404, headers=[("Idempotency-Key", f"{LOGIN}:nosuch")])
    nobody = {"name": "erased-nosuch", "correlationKey": PERSON, "variables": GIVEN}
    await writer.post("/v2/messages/correlation", nobody, 404)
    unknown = 2**51 + 1
    await writer.post(f"/v2/jobs/{unknown}/completion", {"variables": GIVEN}, 404)
    await writer.post(f"/v2/user-tasks/{unknown}/assignment", {"assignee": PERSON}, 404)
    await writer.post(f"/v2/element-instances/{unknown}/variables", {"variables": GIVEN}, 404, method="PUT")


WAYS = (by_instances, by_jobs, by_user_tasks, by_events, by_rejections)


async def all_ended(writer, target):
    """Cancel what has the person, by a batch operation whose filter has them, and then the rest."""
    filter = OURS | {"variables": [{"name": "email", "value": ESCAPED}]}
    batch = (await writer.post("/v2/process-instances/cancellation", {"filter": filter}))["batchOperationKey"]

    async def over():
        answer = await target.call("GET", f"/v2/batch-operations/{batch}")
        return answer.status == 200 and answer.json["state"] == "COMPLETED"

    await eventually(over, "the batch operation ends", within_s=60, every_s=0.1)
    for instance in await target.search("process-instances", state="ACTIVE", **OURS):
        await target.canceled(instance["processInstanceKey"])


async def test_nothing_is_left_of_a_person_who_came_in_by_every_way(target):
    await target.deployed(MODELS)
    async with Caller(target.port) as caller:
        writer = Writer(target, caller)
        for way in WAYS:
            await way(writer)
        await all_ended(writer, target)
    before = places_of(target.database, LOGIN)
    async with target.attacked(within_s=180):
        _, kept, counts = await erase(target.call, values=[PERSON, LOGIN])
    written = {place.partition(".")[0] for place in before}
    assert {"variables", "messages", "idempotency_keys", "batch_operations", "jobs", "incidents"} <= written
    assert places_of(target.database, LOGIN) == set(), (kept, counts)
    said = target.program.whole_log()
    assert [text for text in (*SPELLINGS, LOGIN) if text in said] == []
