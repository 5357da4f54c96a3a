"""Long computations: expressions times mappings, conditions, events, turns of a loop and variables.

Whatever is too much for one quantum is cut, and ends right; whatever cannot be cut is an incident of its element.
"""

import json
from itertools import pairwise

import pytest

from tests.process.http_client import Caller

PROCESS = '<bpmn:process id="{id}" isExecutable="true"><bpmn:startEvent id="start"/>{content}</bpmn:process>'
FLOW = '<bpmn:sequenceFlow id="{0}-{1}" sourceRef="{0}" targetRef="{1}"/>'
HEAVY = "every x in 1..{} satisfies x &gt; 0"
"""Six steps for each number; an evaluation has 200,000, a stage 400,000."""
NEARLY_ALL = HEAVY.format(33_000)
LOOP = """<bpmn:multiInstanceLoopCharacteristics{sequential}><bpmn:extensionElements>
  <zeebe:loopCharacteristics inputCollection="{items}" inputElement="turn" outputCollection="results"
    outputElement="{output}"/></bpmn:extensionElements>{until}</bpmn:multiInstanceLoopCharacteristics>"""


def process(id, *content, chain):
    flows = "".join(FLOW.format(*pair) for pair in pairwise(chain))
    return PROCESS.format(id=id, content="".join(content) + flows)


def manual(id, inputs=(), outputs=(), loop=""):
    mappings = "".join(f'<zeebe:input source="{s}" target="{t}"/>' for s, t in inputs)
    mappings += "".join(f'<zeebe:output source="{s}" target="{t}"/>' for s, t in outputs)
    extensions = f"<bpmn:extensionElements><zeebe:ioMapping>{mappings}</zeebe:ioMapping></bpmn:extensionElements>"
    return f'<bpmn:manualTask id="{id}">{extensions if mappings else ""}{loop}</bpmn:manualTask>'


def looped(items="=items", output="=1", until="", sequential=False):
    until = until and f"<bpmn:completionCondition>{until}</bpmn:completionCondition>"
    return LOOP.format(items=items, output=output, until=until, sequential=' isSequential="true"' if sequential else "")


def numbered(count, value=1):
    return {f"v{number}": value for number in range(count)}


async def sent(target, method, path, document):
    async with Caller(target.port) as caller:
        return await caller.call(method, path, document, within_s=60)


async def ends(target, key):
    assert await target.ended(key, within_s=300) == "COMPLETED"


ORDERS = [{"id": number, "amount": number % 97, "state": "open"} for number in range(14_000)]


@pytest.mark.parametrize("count", [10_001, 200_000, 330_000])
async def test_a_creation_with_too_many_variables(target, count):
    await target.deployed(process("many", chain=["start"]))
    body = json.dumps({"processDefinitionId": "many", "variables": numbered(count)}, separators=(",", ":")).encode()
    assert len(body) < 4 * 1024 * 1024
    async with target.attacked(), Caller(target.port) as caller:
        answer = await caller.send("POST", "/v2/process-instances", body, "application/json")
    assert answer.status == 400
    assert answer.json["detail"] == f"The request has {count} variables but must not have more than 10000."


async def test_a_creation_with_as_many_variables_as_there_may_be(target):
    await target.deployed(process("many", chain=["start"]))
    async with target.attacked():
        for _ in range(5):
            await ends(target, await target.created("many", numbered(10_000)))


async def test_a_loop_that_filters_many_orders_in_each_turn(target):
    found = manual("m", inputs=[("=count(orders[amount &gt; turn])", "found")], loop=looped(output="=found"))
    await target.deployed(process("filter", found, chain=["start", "m"]))
    async with target.attacked():
        await ends(target, await target.created("filter", {"items": list(range(500)), "orders": ORDERS}))


async def test_a_loop_that_copies_many_orders_in_each_turn(target):
    copied = manual("m", inputs=[("=orders", "mine")], loop=looped())
    await target.deployed(process("copy", copied, chain=["start", "m"]))
    async with target.attacked():
        await ends(target, await target.created("copy", {"items": list(range(30)), "orders": ORDERS}))


async def test_mappings_of_a_loop_that_use_up_two_evaluations_each(target):
    inputs = [(f"={NEARLY_ALL}", f"a{number}") for number in range(2)]
    await target.deployed(process("turns", manual("m", inputs=inputs, loop=looped()), chain=["start", "m"]))
    async with target.attacked():
        await ends(target, await target.created("turns", {"items": list(range(60))}))


@pytest.mark.parametrize("where", ["inputs", "outputs"])
async def test_twenty_mappings_that_use_up_an_evaluation_each(target, where):
    """In each turn of a loop over 50 items: 50 incidents."""
    mappings = {where: [(f"={NEARLY_ALL}", f"a{number}") for number in range(20)]}
    id = f"twenty-{where}"
    await target.deployed(process(id, manual("m", loop=looped(), **mappings), chain=["start", "m"]))
    async with target.attacked():
        key = await target.created(id, {"items": list(range(50))})
        incident = await target.incident(key)
    assert incident["elementId"] == "m"
    assert "steps that earlier evaluations have left" in incident["errorMessage"]
    await target.canceled(key)


async def test_a_gateway_with_a_thousand_conditions(target):
    condition = HEAVY.format(3_000)
    flows = "".join(
        f'<bpmn:sequenceFlow id="c{number}" sourceRef="g" targetRef="end"><bpmn:conditionExpression>=not({condition})'
        "</bpmn:conditionExpression></bpmn:sequenceFlow>"
        for number in range(1_000)
    )
    gateway = '<bpmn:exclusiveGateway id="g"/><bpmn:endEvent id="end"/>'
    await target.deployed(process("conditions", gateway, flows, chain=["start", "g"]))
    async with target.attacked():
        key = await target.created("conditions")
        incident = await target.incident(key)
    assert incident["elementId"] == "g"
    await target.canceled(key)


async def test_a_hundred_boundary_events_that_evaluate(target):
    duration = f'<bpmn:timeDuration>=if {NEARLY_ALL} then "PT1H" else "PT2H"</bpmn:timeDuration>'
    events = "".join(
        f'<bpmn:boundaryEvent id="b{number}" attachedToRef="task"><bpmn:timerEventDefinition>{duration}'
        "</bpmn:timerEventDefinition></bpmn:boundaryEvent>"
        for number in range(100)
    )
    task = '<bpmn:userTask id="task"/>'
    await target.deployed(process("boundaries", task, events, chain=["start", "task"]))
    async with target.attacked():
        key = await target.created("boundaries")
        incident = await target.incident(key)
    assert incident["elementId"] == "task"
    await target.canceled(key)


async def test_message_keys_that_evaluate_on_a_hundred_flows(target):
    message = f"""<bpmn:message id="slow" name="slow"><bpmn:extensionElements>
      <zeebe:subscription correlationKey="=if {NEARLY_ALL} then &quot;k&quot; else &quot;l&quot;"/>
      </bpmn:extensionElements></bpmn:message>"""
    tasks = "".join(f'<bpmn:receiveTask id="r{number}" messageRef="slow"/>' for number in range(100))
    flows = "".join(FLOW.format("start", f"r{number}") for number in range(100))
    await target.deployed(message + process("keys", tasks, flows, chain=["start"]))
    async with target.attacked():
        key = await target.created("keys")
        await sent(target, "POST", "/v2/messages/publication", {"name": "slow", "correlationKey": "k", "timeToLive": 0})
    await target.canceled(key)


async def test_a_collection_and_a_condition_that_use_up_an_evaluation(target):
    loop = looped(items=f"=if {NEARLY_ALL} then items else []", until=f"=not({NEARLY_ALL})", sequential=True)
    await target.deployed(process("condition", manual("m", loop=loop), chain=["start", "m"]))
    async with target.attacked():
        await ends(target, await target.created("condition", {"items": list(range(30))}))


async def test_a_condition_that_looks_at_all_results(target):
    loop = looped(output="=turn", until="=count(results) &lt; 0")
    await target.deployed(process("results", manual("m", loop=loop), chain=["start", "m"]))
    async with target.attacked():
        await ends(target, await target.created("results", {"items": list(range(600))}))


VALUES = {
    "fractions": lambda: [1.5] * 800_000,
    "empty lists": lambda: [[]] * 1_000_000,
    "contexts": lambda: [{"a": 1}] * 400_000,
    "text": lambda: "x" * 3_900_000,
}


@pytest.mark.parametrize("name", VALUES)
async def test_large_values_through_mappings(target, name):
    inputs = [("=a", "b"), ("=count([a])", "c")]
    await target.deployed(process("large", manual("m", inputs=inputs, outputs=[("=b", "d")]), chain=["start", "m"]))
    document = {"processDefinitionId": "large", "variables": {"a": VALUES[name]()}}
    body = json.dumps(document, separators=(",", ":")).encode()
    async with target.attacked(), Caller(target.port) as caller:
        answer = await caller.send("POST", "/v2/process-instances", body, "application/json")
        assert answer.status == 200
        await ends(target, answer.json["processInstanceKey"])


async def test_a_loop_of_called_processes_that_get_ten_thousand_variables_each(target):
    called = f"""<bpmn:callActivity id="c"><bpmn:extensionElements><zeebe:calledElement processId="called-many"
      propagateAllChildVariables="false"/></bpmn:extensionElements>{looped()}</bpmn:callActivity>"""
    await target.deployed(process("called-many", chain=["start"]))
    await target.deployed(process("calls", called, chain=["start", "c"]))
    async with target.attacked():
        await ends(target, await target.created("calls", numbered(9_900) | {"items": list(range(20))}))


async def test_a_message_with_ten_thousand_variables_for_many(target):
    message = """<bpmn:message id="hello" name="hello"><bpmn:extensionElements>
      <zeebe:subscription correlationKey="=k"/></bpmn:extensionElements></bpmn:message>"""
    flows = "".join(FLOW.format("start", f"r{number}") for number in range(40))
    tasks = "".join(f'<bpmn:receiveTask id="r{number}" messageRef="hello"/>' for number in range(40))
    await target.deployed(message + process("hearing", tasks, flows, chain=["start"]))
    async with target.attacked():
        key = await target.created("hearing", {"k": "k"})
        for _ in range(40):
            body = {"name": "hello", "correlationKey": "k", "timeToLive": 60_000, "variables": numbered(10_000)}
            answer = await sent(target, "POST", "/v2/messages/publication", body)
            assert answer.status == 200
        await ends(target, key)


async def test_a_signal_with_ten_thousand_variables_for_many(target):
    signal = '<bpmn:signal id="alarm" name="alarm-many"/>'
    catch = """<bpmn:intermediateCatchEvent id="wait"><bpmn:signalEventDefinition signalRef="alarm"/>
      </bpmn:intermediateCatchEvent>"""
    await target.deployed(signal + process("alarmed", catch, chain=["start", "wait"]))
    async with target.attacked():
        keys = [await target.created("alarmed") for _ in range(40)]
        answer = await sent(
            target, "POST", "/v2/signals/broadcast", {"signalName": "alarm-many", "variables": numbered(10_000)}
        )
        assert answer.status == 200
        for key in keys:
            await ends(target, key)
