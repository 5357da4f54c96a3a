"""Messages and signals: crowds that wait, crowds that are kept, and processes that answer themselves or each other."""

import pytest
import trio

from tests.eventually import eventually
from tests.process.http_client import Caller

MESSAGE = (
    '<bpmn:message id="m-{id}" name="{id}"><bpmn:extensionElements><zeebe:subscription correlationKey="{key}"/>'
    "</bpmn:extensionElements></bpmn:message>"
)
WORK = (
    '<bpmn:serviceTask id="{id}"><bpmn:extensionElements><zeebe:taskDefinition type="{id}"/></bpmn:extensionElements>'
    "</bpmn:serviceTask>"
)
PUBLISH = '<bpmn:extensionElements><zeebe:publishMessage correlationKey="{key}"/></bpmn:extensionElements>'
LARGE = "v" * 1_000_000


def message(id, key="=k"):
    return MESSAGE.format(id=id, key=key)


def signal(id):
    return f'<bpmn:signal id="s-{id}" name="{id}"/>'


def event(tag, id, on, reference, attributes="", extensions=""):
    definition = f'<bpmn:{on}EventDefinition {on}Ref="{on[0]}-{reference}"/>'
    return f'<bpmn:{tag} id="{id}"{attributes}>{extensions}{definition}</bpmn:{tag}>'


def start(id="start"):
    return f'<bpmn:startEvent id="{id}"/>'


def work(id="work-here"):
    """A service task; its job's type is its id, which no other test's workers take."""
    return WORK.format(id=id)


def flow(source, target):
    return f'<bpmn:sequenceFlow id="{source}-{target}" sourceRef="{source}" targetRef="{target}"/>'


def process(id, *parts):
    return f'<bpmn:process id="{id}" isExecutable="true">{"".join(parts)}</bpmn:process>'


def aside(id, on, reference, *parts):
    """An event sub-process that does not interrupt."""
    begin = event("startEvent", f"{id}-start", on, reference, ' isInterrupting="false"')
    return f'<bpmn:subProcess id="{id}" triggeredByEvent="true">{begin}{"".join(parts)}</bpmn:subProcess>'


def waiting(id, message_id):
    """Waits for a message, then ends."""
    first, wait = f"{id}-start", f"{id}-wait"
    return process(id, start(first), event("intermediateCatchEvent", wait, "message", message_id), flow(first, wait))


async def publish(target, name, key, **fields):
    body = {"name": name, "correlationKey": key, **fields}
    return await target.call("POST", "/v2/messages/publication", body)


async def published(target, name, key, count, at_once=8, **fields):
    """Many of one kind, on a few connections."""
    body = {"name": name, "correlationKey": key, **fields}

    async def some(number):
        async with Caller(target.port) as caller:
            for _ in range(number):
                answer = await caller.call("POST", "/v2/messages/publication", body)
                assert answer.status == 200, answer

    async with trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(some, count // at_once)


async def jobs(target, key):
    return len(await target.search("jobs", processInstanceKey=key, state="CREATED"))


async def test_a_key_with_thousands_of_kept_messages_still_reaches_who_waits(target):
    await target.deployed(message("crowd") + waiting("crowd", "crowd"))
    first = await target.created("crowd", {"k": "c"})
    async with target.attacked():
        await published(target, "noise", "c", 2_400, timeToLive=3_600_000)
        await publish(target, "crowd", "c")
    assert await target.ended(first) == "COMPLETED"


async def test_kept_messages_of_a_crowded_key_come_in_their_order(target):
    await target.deployed(message("late") + waiting("late", "late"))
    async with target.attacked():
        await published(target, "noise", "l", 2_400, timeToLive=3_600_000)
        for number in range(3):
            await publish(target, "late", "l", timeToLive=3_600_000, variables={"n": number})
        keys = [await target.created("late", {"k": "l"})]
    assert await target.ended(keys[0]) == "COMPLETED"
    (found,) = await target.search("variables", processInstanceKey=keys[0], name="n")
    assert found["value"] == "0", "the oldest first"


async def test_five_hundred_that_wait_with_one_key_each_get_one(target):
    """Each message goes to one instance of a process."""
    await target.deployed(message("many") + waiting("many", "many"))
    async with target.attacked():
        keys = []
        async with Caller(target.port) as caller:
            for _ in range(500):
                body = {"processDefinitionId": "many", "variables": {"k": "m"}}
                keys.append((await caller.call("POST", "/v2/process-instances", body)).json["processInstanceKey"])
        await published(target, "many", "m", 496)
        for _ in range(4):
            await publish(target, "many", "m")
    assert {await target.ended(key) for key in keys} == {"COMPLETED"}


@pytest.mark.parametrize("on", ["message", "signal"])
async def test_a_process_that_answers_itself_for_ever_can_be_cancelled(target, on):
    id, extensions = f"self-{on}", PUBLISH.format(key="=k") if on == "message" else ""
    throw = event("endEvent", "again", on, id, extensions=extensions)
    handler = aside("handler", on, id, throw, flow("handler-start", "again"))
    model = process(id, start(), work(), flow("start", "work-here"), handler)
    await target.deployed((message(id) if on == "message" else signal(id)) + model)
    key = await target.created(id, {"k": "self"})
    async with target.attacked():
        if on == "message":
            await publish(target, id, "self")
        else:
            await target.call("POST", "/v2/signals/broadcast", {"signalName": id})
        await trio.sleep(2)  # it spins beside others
        await target.canceled(key)


async def test_a_loop_that_begins_and_ends_to_wait_without_end_can_be_cancelled(target):
    """Each turn opens a wait, closes it, and throws what starts the next one."""
    scope = (
        f'<bpmn:subProcess id="scope">{start("in")}<bpmn:endEvent id="out"/>{flow("in", "out")}</bpmn:subProcess>'
        + event("boundaryEvent", "heard", "message", "opens", ' attachedToRef="scope"')
    )
    throw = event("intermediateThrowEvent", "again", "signal", "turns")
    turn = aside("turn", "signal", "turns", scope, throw, flow("turn-start", "scope"), flow("scope", "again"))
    model = process("turning", start(), work(), flow("start", "work-here"), turn)
    await target.deployed(message("opens") + signal("turns") + model)
    key = await target.created("turning", {"k": "turning"})
    async with target.attacked():
        await target.call("POST", "/v2/signals/broadcast", {"signalName": "turns"})
        await trio.sleep(2)  # it spins beside others
        await target.canceled(key)


@pytest.mark.parametrize(
    ("variables", "named"),
    [({}, "null"), ({"k": None}, "null"), ({"k": {"a": 1}}, "object"), ({"k": [1]}, "array"), ({"k": True}, "boolean")],
    ids=["missing", "null", "object", "list", "boolean"],
)
async def test_a_key_that_is_none_is_an_incident_of_who_waits(target, variables, named):
    await target.deployed(message("no-key") + waiting("no-key", "no-key"))
    async with target.attacked():
        incident = await target.incident(await target.created("no-key", variables))
    assert incident["elementId"].endswith("-wait")
    assert named in incident["errorMessage"].lower()


async def test_a_key_of_a_million_characters_is_served_or_refused(target):
    await target.deployed(message("long-key") + waiting("long-key", "long-key"))
    key = "k" * 1_000_000
    async with target.attacked():
        answer = await target.create("long-key", {"k": key})
        told = await publish(target, "long-key", key)
    assert told.status in (200, 400), told
    if answer.status == 200 and told.status == 200:
        assert await target.ended(answer.json["processInstanceKey"]) == "COMPLETED"
    elif answer.status == 200:
        assert told.json["detail"]
        found = await target.incident(answer.json["processInstanceKey"])
        assert found["elementId"].endswith("-wait")


@pytest.mark.parametrize(
    "fields",
    [
        {"timeToLive": -1},
        {"timeToLive": 2**63},
        {"timeToLive": "soon"},
        {"timeToLive": 1e300},
        {"name": ""},
        {"name": None},
    ],
    ids=["negative", "too-long", "text", "infinite", "empty-name", "no-name"],
)
async def test_odd_messages_are_refused_by_name_or_taken(target, fields):
    async with target.attacked():
        answer = await target.call("POST", "/v2/messages/publication", {"name": "odd", "correlationKey": "o", **fields})
    assert answer.status in (200, 400), answer
    if answer.status == 400:
        assert next(iter(fields)) in answer.json["detail"], answer.json


async def test_a_large_message_for_thirty_processes(target):
    names = [f"wide-{number}" for number in range(30)]
    await target.deployed(message("wide") + "".join(waiting(name, "wide") for name in names))
    keys = [await target.created(name, {"k": "w"}) for name in names]
    async with target.attacked(within_s=120):
        answer = await publish(target, "wide", "w", variables={"large": LARGE})
        assert answer.status == 200, answer
    assert {await target.ended(key) for key in keys} == {"COMPLETED"}


async def test_a_task_with_three_hundred_boundary_messages(target):
    """All of them hear; each branch is a job."""
    ids = [f"b{number}" for number in range(300)]
    events = [
        event("boundaryEvent", id, "message", id, ' attachedToRef="host" cancelActivity="false"') + work(f"after-{id}")
        for id in ids
    ]
    flows = [flow(id, f"after-{id}") for id in ids]
    model = process("edges", start(), work("host"), flow("start", "host"), *events, *flows)
    await target.deployed("".join(map(message, ids)) + model)
    async with target.attacked(within_s=120):
        key = await target.created("edges", {"k": "e"})
        for id in ids[:20]:
            await publish(target, id, "e")

        async def all_have_heard():
            return await jobs(target, key) >= 21

        await eventually(all_have_heard, "all have heard", within_s=60, every_s=0.2)
        assert await jobs(target, key) == 21
        await target.canceled(key)


async def test_one_that_does_not_interrupt_hears_a_thousand_times(target):
    bell = event("boundaryEvent", "bell", "message", "rings", ' attachedToRef="work-here" cancelActivity="false"')
    parts = (start(), work(), flow("start", "work-here"), bell, work("rung"), flow("bell", "rung"))
    model = process("bells", *parts)
    await target.deployed(message("rings") + model)
    key = await target.created("bells", {"k": "b"})
    async with target.attacked(within_s=120):
        await published(target, "rings", "b", 1_000)
        await target.canceled(key)


async def test_scopes_in_scopes_that_all_wait_for_one_signal(target):
    inner, depth = work("deepest"), 60
    for level in range(depth):
        handler = aside(f"a{level}", "signal", "deep", work(f"w{level}"), flow(f"a{level}-start", f"w{level}"))
        below = "deepest" if level == 0 else f"s{level - 1}"
        begin = start(f"in{level}") + flow(f"in{level}", below)
        inner = f'<bpmn:subProcess id="s{level}">{begin}{inner}{handler}</bpmn:subProcess>'
    await target.deployed(signal("deep") + process("deep", start(), inner, flow("start", f"s{depth - 1}")))
    key = await target.created("deep")
    async with target.attacked(within_s=120):
        await target.call("POST", "/v2/signals/broadcast", {"signalName": "deep"})

        async def all_have_heard():
            return await jobs(target, key) == depth + 1

        await eventually(all_have_heard, "all scopes have heard", within_s=60, every_s=0.2)
        await target.canceled(key)


async def test_a_key_that_takes_long_to_compute(target):
    """Its own element says so, or waits with what came out."""
    key = "=string(count(for i in 1..1000, j in 1..1000 return i))"
    await target.deployed(message("slow-key", key) + waiting("slow-key", "slow-key"))
    async with target.attacked(within_s=120):
        instance = await target.created("slow-key")
        found = await target.search("incidents", processInstanceKey=instance)
    assert not found or found[0]["elementId"].endswith("-wait")
    await target.canceled(instance)
