"""A working day with the client of `vivero.client`, under asyncio and Trio. Its test also runs it with the client that
blocks: `await` and `async` left out."""

from vivero.client import (
    AsyncViveroClient,
    BadRequest,
    Conflict,
    NotCompleted,
    NotFound,
    NotSendable,
    StillRunning,
    Where,
)

MODELS = """<?xml version="1.0"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
    xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" targetNamespace="t">
  <message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=orderId" /></extensionElements>
  </message>
  <process id="NAME-review" isExecutable="true">
    <startEvent id="start" /><sequenceFlow id="f1" sourceRef="start" targetRef="check" />
    <userTask id="check"><extensionElements><zeebe:userTask /></extensionElements></userTask>
    <sequenceFlow id="f2" sourceRef="check" targetRef="end" /><endEvent id="end" />
  </process>
  <process id="NAME-short" isExecutable="true">
    <startEvent id="start2" /><sequenceFlow id="g1" sourceRef="start2" targetRef="end2" /><endEvent id="end2" />
  </process>
  <process id="NAME-pay" isExecutable="true">
    <startEvent id="start3" /><sequenceFlow id="h1" sourceRef="start3" targetRef="wait" />
    <intermediateCatchEvent id="wait"><messageEventDefinition messageRef="m" /></intermediateCatchEvent>
    <sequenceFlow id="h2" sourceRef="wait" targetRef="choose" />
    <exclusiveGateway id="choose" />
    <sequenceFlow id="h3" sourceRef="choose" targetRef="end3">
      <conditionExpression xsi:type="tFormalExpression">=amount &gt; 1</conditionExpression>
    </sequenceFlow>
    <endEvent id="end3" />
  </process>
</definitions>"""


async def raised(kind, attempt, *arguments, **named):
    """The exception of a call, which must be of this kind."""
    try:
        await attempt(*arguments, **named)
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


async def working_day(address, name, decisions, lossy):
    """`lossy`: the transport of a second client, which loses the first answer to each command."""
    async with AsyncViveroClient(address, credentials="") as client:
        deployed = await client.deploy((f"{name}.bpmn", MODELS.replace("NAME", name).encode()), decisions)
        assert {one.process_definition_id for one in deployed.processes} == {
            f"{name}-{each}" for each in ("review", "short", "pay")
        }
        await tasks(client, name)
        await instances(client, name)
        await messages_and_incidents(client, name)
        await what_instances_share(client, name)
        assert await client.decide("discount", customer="gold", total=200) == 0.1
        await failures(client, name)
    async with AsyncViveroClient(address, credentials="", transport=lossy) as client:
        await lost_answers(client, name, lossy)


async def tasks(client, name):
    for number in range(7):
        await client.start(f"{name}-review", {"number": number}, business_id=f"{name}-{number}")
    found = client.tasks(process=f"{name}-review", state="CREATED", sort="creation_date", page_items=3)
    ids = [task.business_id async for task in found]
    assert ids == [f"{name}-{number}" for number in range(7)]
    assert await found.count() == 7
    assert len(await found.all()) == 7
    first = await found.first()
    await client.assign(first, "ada")
    assert [task.user_task_key async for task in client.tasks(process=f"{name}-review", assignee="ada")] == [
        first.user_task_key
    ]
    refused = await raised(Conflict, client.assign, first, "bob", override=False)
    assert (refused.status, refused.title) == (409, "INVALID_STATE")
    await client.update(first, priority=80, candidate_groups=["sales"])
    changed = await client.tasks(priority=Where(gt=70), candidate_group="sales", process=f"{name}-review").first()
    assert changed.user_task_key == first.user_task_key
    await client.unassign(first)
    await client.complete(first, approved=True)
    instance = client.instance(first.process_instance_key)
    assert await instance.result() == {"number": 0, "approved": True}
    either = [{"business_id": f"{name}-1"}, {"business_id": f"{name}-2", "state": "ACTIVE"}]
    found = await client.instances(any_of=either).all()
    assert {one.business_id for one in found} == {f"{name}-1", f"{name}-2"}
    (only,) = await client.instances(process=f"{name}-review", variables={"number": 3}).all()
    assert only.business_id == f"{name}-3"


async def instances(client, name):
    assert await client.run(f"{name}-short", {"a": [1, None]}, b="x") == {"a": [1, None], "b": "x"}
    waiting = await raised(StillRunning, client.run, f"{name}-review", timeout_s=0.05)
    instance = client.instance(waiting.key)
    assert (await raised(StillRunning, instance.result, timeout_s=0.05)).key == waiting.key
    await instance.set_variables(a=1)
    assert await instance.variables() == {"a": 1}
    await client.modify(instance, move={"check": "check"}, variables={"moved": True})
    assert [task.element_id async for task in instance.tasks()] == ["check"]
    (definition,) = await client.definitions(process=f"{name}-review").all()
    await client.suspend(instance, "lunch")
    assert (await instance.get()).suspension_reason == "lunch"
    await client.resume(instance)
    await client.migrate(instance, definition, {"check": "check"})
    await instance.cancel()
    assert (await raised(NotCompleted, instance.result)).key == waiting.key
    batch = await client.cancel_all(process=f"{name}-review", business_id=[f"{name}-5", f"{name}-6"])
    assert (await batch.wait(timeout_s=60)).operations_completed_count == 2


async def messages_and_incidents(client, name):
    paying = await client.start(f"{name}-pay", orderId=f"{name}-7")
    sent = await client.correlate("paid", f"{name}-7", amount=None)
    assert sent.process_instance_key == paying.key
    (incident,) = await client.incidents(process_instance_key=paying.key, state="ACTIVE").all()
    assert "amount" in incident.error_message
    await paying.set_variables(amount=2)
    await client.resolve(incident)
    assert (await paying.result())["amount"] == 2
    first = await client.publish("paid", f"{name}-8", time_to_live_s=3600, message_id="once", amount=3)
    assert (await raised(Conflict, client.publish, "paid", f"{name}-8", time_to_live_s=60, message_id="once")).position
    (buffered,) = await client.messages(correlation_key=f"{name}-8").all()
    assert buffered.message_key == first.message_key
    late = await client.start(f"{name}-pay", orderId=f"{name}-8")
    assert await late.result() == {"orderId": f"{name}-8", "amount": 3}
    assert (await client.signal("nobody hears this")).signal_key


async def what_instances_share(client, name):
    for value in ({"limit": 12345678901234567}, [1, None]):
        await client.set_cluster_variable(name, value, metadata={"of": "tests"})
        assert await client.cluster_variable(name) == value
    await client.delete_cluster_variable(name)
    await raised(NotFound, client.cluster_variable, name)
    for _ in range(2):
        await client.add_members("roles", "worker", users=[f"{name}-ada", f"{name}-bob"])
    await client.remove_members("roles", "worker", users=[f"{name}-bob"])
    members = [one.id async for one in client.members("roles", "worker", "users")]
    assert [id for id in members if id.startswith(name)] == [f"{name}-ada"]
    stored = await client.upload("a b.txt", b"\x00text", content_type="text/plain", properties={"of": name})
    assert (stored.metadata["fileName"], stored.metadata["size"]) == ("a b.txt", 5)
    holder = await client.start(f"{name}-review", contract=stored)
    assert await client.download((await holder.variables())["contract"]) == b"\x00text"
    await client.delete_document(stored)
    await raised(NotFound, client.download, stored)
    (definition,) = await client.definitions(process=f"{name}-review").all()
    (check,) = [one for one in await client.counts(definition) if one.element_id == "check"]
    assert (check.completed, check.active >= 1, check.incidents) == (1, True, 0)
    await holder.cancel()


async def failures(client, name):
    missing = await raised(NotFound, client.start, f"{name}-nothing")
    assert missing.status == 404
    assert f"{name}-nothing" in missing.detail
    await raised(NotFound, client.cancel, 1)
    await raised(BadRequest, client.deploy, ("bad.bpmn", b"<definitions />"))
    await raised(BadRequest, client.tasks(state="NONSENSE").all)
    await raised(NotSendable, client.start, f"{name}-short", at=object())
    await raised(NotSendable, client.cancel_all)
    assert (await client.request("GET", "/v2/topology"))["partitionsCount"] >= 1


async def lost_answers(client, name, lossy):
    started = await client.start(f"{name}-review", business_id=f"{name}-lost")
    assert lossy.lost == 1
    (only,) = await client.instances(business_id=f"{name}-lost").all()
    assert only.process_instance_key == started.key
    await client.complete(await started.tasks().first())
    assert await started.result() == {}
    assert await client.run(f"{name}-short", z=1) == {"z": 1}
    assert await client.instances(process=f"{name}-short", variables={"z": 1}).count() == 1
    assert (await client.deploy((f"{name}.bpmn", MODELS.replace("NAME", name).encode()))).processes
    assert lossy.lost == 4
