"""Work that computes: many clients let the program evaluate, parse, decode and hash for as long as they may."""

import itertools
import json
import re
import uuid
from collections import Counter
from contextlib import suppress

import psutil
import pytest
import trio

from tests.core.dmn.models import decision, definitions, literal
from tests.core.dmn.test_limits import HOSTILE
from tests.eventually import NotInTime, eventually
from tests.hostile.target import BPMN, waits_for_worker
from tests.process.http_client import Caller
from tests.process.load import send_files

BUSY = (200, 204, 400, 413, 503)
"""Done, too costly, too large, or too many others wait. Nothing else may happen to a client that computes."""
LARGE = 4_000_000
TASK = (
    '<bpmn:sequenceFlow id="f{n}" sourceRef="{before}" targetRef="t{n}"/><bpmn:serviceTask id="t{n}">'
    '<bpmn:extensionElements><zeebe:taskDefinition type="t{n}"/><zeebe:ioMapping>'
    '<zeebe:input source="=x + {n} * 2" target="y"/></zeebe:ioMapping></bpmn:extensionElements></bpmn:serviceTask>'
)
TIMERS = (
    '<bpmn:startEvent id="e{n}"><bpmn:timerEventDefinition><bpmn:timeCycle xsi:type="bpmn:tFormalExpression">'
    "=if count(for i in 1..60000 return i) &gt; 0 then cycle(1, duration(&quot;P9D&quot;)) else null"
    "</bpmn:timeCycle></bpmn:timerEventDefinition></bpmn:startEvent>"
)


def process(content):
    id = f"computed-{uuid.uuid4().hex}"
    return BPMN.format(f'<bpmn:process id="{id}" isExecutable="true">{content}</bpmn:process>')


def tasks(count):
    befores = ["s", *(f"t{n}" for n in range(count))]
    return '<bpmn:startEvent id="s"/>' + "".join(TASK.format(n=n, before=befores[n]) for n in range(count))


def sending(path, body):
    body = body.encode()

    async def send(caller):
        return await caller.send("POST", f"/v2/{path}", body, "application/json", within_s=120)

    return send


def evaluating(expression, **more):
    return sending("expression/evaluation", json.dumps({"expression": expression, **more}))


def deploying(content):
    async def deploy(caller):
        return await send_files(caller, {"computed.bpmn": process(content)})

    return deploy


def values(value, size=LARGE):
    return ",".join([value] * (size // (len(value) + 1)))


def creating(value):
    return sending(
        "process-instances", f'{{"processDefinitionId":"large-bodies","variables":{{"a":[{values(value)}]}}}}'
    )


def completing(value):
    """Jobs with large results: one instance after the other."""
    result = f'{{"variables":{{"a":[{values(value)}]}}}}'.encode()
    asked = {
        "type": "large-results",
        "worker": "w",
        "timeout": 60_000,
        "maxJobsToActivate": 1,
        "requestTimeout": 10_000,
    }

    async def complete(caller):
        created = await caller.call("POST", "/v2/process-instances", {"processDefinitionId": "large-results"})
        activated = await caller.call("POST", "/v2/jobs/activation", asked)
        if created.status != 200 or activated.status != 200 or not activated.json["jobs"]:
            return created if activated.status == 200 else activated
        path = f"/v2/jobs/{activated.json['jobs'][0]['jobKey']}/completion"
        return await caller.send("POST", path, result, "application/json", within_s=120)

    return complete


def form(components):
    content = json.dumps({"id": "f", "type": "default", "components": components})

    async def deploy(caller):
        return await send_files(caller, {"computed.form": content})

    return deploy


def attack(clients, work):
    return [(work, clients)]


ATTACKS = {
    "steps": lambda: attack(40, evaluating("=for i in 1..60000 return i * 2")),
    "regular-expressions": lambda: attack(
        40, evaluating('=for i in 1..1000 return matches("' + "a" * 60 + '!", "(a|aa)+$")')
    ),
    "large-contexts": lambda: attack(40, evaluating("=count(a)", variables={"a": [1.5] * 200_000})),
    "long-expressions": lambda: attack(40, evaluating("=1" + "+1" * 9_000)),
    "large-models": lambda: attack(8, deploying(tasks(4_000))),
    "small-models": lambda: attack(8, deploying(tasks(8))),
    "start-timers": lambda: attack(8, deploying("".join(TIMERS.format(n=n) for n in range(8)))),
    "expressions-and-models": lambda: [
        *attack(40, evaluating("=for i in 1..60000 return i * 2")),
        *attack(8, deploying(tasks(4_000))),
    ],
    "forms": lambda: attack(8, form([{"type": "textfield", "id": f"c{n}", "key": f"k{n}"} for n in range(4_000)])),
    "bodies-of-lists": lambda: attack(8, creating("[]")),
    "bodies-of-fractions": lambda: attack(8, creating("1.1")),
    "bodies-of-texts": lambda: attack(8, creating('"' + "x" * 100_000 + '"')),
    "completions": lambda: attack(8, completing("[]")),
    "searches-of-lists": lambda: attack(8, sending("variables/search", f'{{"filter":{{"a":[{values("[]")}]}}}}')),
    "searches-of-many-keys": lambda: attack(
        8,
        sending("jobs/search", json.dumps({"filter": {"jobKey": {"$in": [str(2**51 + n) for n in range(9_999)]}}})),
    ),
    "searches-of-many-conditions": lambda: attack(
        8,
        sending(
            "process-instances/search",
            json.dumps({"filter": {"$or": [{"processDefinitionId": {"$like": f"a{n}*"}} for n in range(200)]}}),
        ),
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
async def test_many_clients_that_let_it_compute(target, name):
    """Others go on. The ones that compute are served in turn, or told to come again."""
    counts = Counter()
    for id in ("large-results", "large-bodies"):
        await target.deployed(waits_for_worker(id))
    async with target.attacked(within_s=180), trio.open_nursery() as nursery:
        for work, clients in ATTACKS[name]():
            for number in range(clients):
                nursery.start_soon(compute, target.port, work, counts, number)
        await served(counts, 40)
        nursery.cancel_scope.cancel()
    assert set(counts) <= set(BUSY), counts
    assert set(counts) - {503}, "nobody is served"


DEEP = "for i in 1..20000 return if i = 1 then {a: 1} else {a: partial[-1]}"
DECISIONS = {kind: content for kind, (content, _) in HOSTILE.items()} | {
    "contexts in contexts": decision("bad", literal(DEEP))
}


async def test_many_clients_that_evaluate_hostile_decisions(target):
    """Others go on. Each evaluation fails by its budget, and names the decision and the limit."""
    ids = {kind: f"decides-{uuid.uuid4().hex}" for kind in DECISIONS}
    files = {
        f"{id}.dmn": definitions(DECISIONS[kind].replace('id="bad"', f'id="{id}"'))
        .decode()
        .replace('id="file"', f'id="{id}-file"')
        for kind, id in ids.items()
    }
    async with Caller(target.port) as caller:
        for name, file in files.items():  # they have decisions of one id
            answer = await send_files(caller, {name: file})
            assert answer.status == 200, answer
    counts = Counter()
    async with target.attacked(within_s=180), trio.open_nursery() as nursery:
        for id in ids.values():
            body = json.dumps({"decisionDefinitionId": id})
            for number in range(8):
                work = sending("decision-definitions/evaluation", body)
                nursery.start_soon(compute, target.port, work, counts, number)
        await served(counts, 40)
        nursery.cancel_scope.cancel()
    assert set(counts) <= {*BUSY, 504}, f"an evaluation that has begun may come too late: {counts}"
    for kind, id in ids.items():
        answer = await target.call("POST", "/v2/decision-definitions/evaluation", {"decisionDefinitionId": id})
        assert (answer.status, answer.json["failedDecisionDefinitionId"]) == (200, id), (kind, answer)
        assert re.search(r"limit of \d+|more than \d+", answer.json["failureMessage"]), (kind, answer)


async def compute(port, work, counts, number):
    async with Caller(port) as caller:
        for turn in itertools.count():
            if turn == 0:
                await trio.sleep(number * 0.01)
            answer = await work(caller)
            counts[answer.status] += 1
            if answer.status == 503:
                assert answer.headers["retry-after"]
                await trio.sleep(float(answer.headers["retry-after"]))


async def served(counts, answers, statuses=()):
    """Wait for so many answers to all clients, of which one is not 503, and some have each status; 30 s at most."""

    def are_served():
        return counts.total() >= answers and set(counts) - {503} and set(counts).issuperset(statuses)

    with suppress(NotInTime):
        await eventually(are_served, within_s=30)


async def test_compute_processes_that_are_killed_again_and_again(target):
    """Their tasks are done again, or refused."""
    counts = Counter()
    async with target.attacked(within_s=180), trio.open_nursery() as nursery:
        for number in range(8):
            nursery.start_soon(compute, target.port, evaluating("=for i in 1..60000 return i"), counts, number)
        for _ in range(20):
            for process in target.program.compute_processes():
                with suppress(psutil.NoSuchProcess):  # the program has ended it meanwhile
                    process.kill()
            await trio.sleep(0.2)
        nursery.cancel_scope.cancel()
    assert set(counts) <= set(BUSY), counts
    answer = await target.call(
        "POST", "/v2/expression/evaluation", {"expression": "=count(for i in 1..60000 return i)"}
    )
    assert answer.json["result"] == 60_000
