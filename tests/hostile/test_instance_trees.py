"""Instance trees of many rows: loops in loops, processes that call themselves, chains. They run, and end, in parts."""

import os

import pytest
import trio

from tests.eventually import eventually

PATIENCE_S = 600.0
LONG_PATIENCE_S = 1200.0
SIDE = int(os.environ.get("VIVERO_SIDE", "50"))
"""Items of a loop, and of each loop in it."""
LOOP = (
    "<bpmn:multiInstanceLoopCharacteristics><bpmn:extensionElements><zeebe:loopCharacteristics "
    'inputCollection="{items}" inputElement="item" {output}/>'
    "</bpmn:extensionElements></bpmn:multiInstanceLoopCharacteristics>"
)
OUTPUT = 'outputCollection="results" outputElement="=item"'
TASK = (
    '<bpmn:serviceTask id="{id}"><bpmn:extensionElements><zeebe:taskDefinition type="{id}"/>'
    "</bpmn:extensionElements>{loop}</bpmn:serviceTask>"
)
SCRIPT = (
    '<bpmn:scriptTask id="script"><bpmn:extensionElements><zeebe:script expression="=item + 1" resultVariable="r"/>'
    "</bpmn:extensionElements>{loop}</bpmn:scriptTask>"
)
CALL = (
    '<bpmn:callActivity id="{id}"><bpmn:extensionElements><zeebe:calledElement processId="{called}" '
    'propagateAllChildVariables="false"/>{input}</bpmn:extensionElements>{loop}</bpmn:callActivity>'
)
SIGNAL_EVENT = '<bpmn:signalEventDefinition signalRef="s-{signal}"/>'
SIGNAL = '<bpmn:signal id="s-{signal}" name="{signal}"/>'


def loop(items="=items", output=""):
    return LOOP.format(items=items, output=output)


def task(id, loop=""):
    return TASK.format(id=id, loop=loop)


def call(id, called, loop="", input=""):
    return CALL.format(id=id, called=called, loop=loop, input=input)


def scope(start, *first, event=""):
    """A start event, and what follows it at once."""
    flows = (
        f'<bpmn:sequenceFlow id="{start}-{number}" sourceRef="{start}" targetRef="{id_of(element)}"/>'
        for number, element in enumerate(first)
    )
    return f'<bpmn:startEvent id="{start}">{event}</bpmn:startEvent>' + "".join((*first, *flows))


def id_of(element):
    return element.partition('id="')[2].partition('"')[0]


def sub(id, inside, loop=""):
    return f'<bpmn:subProcess id="{id}">{inside}{loop}</bpmn:subProcess>'


def process(id, inside):
    return f'<bpmn:process id="{id}" isExecutable="true">{inside}</bpmn:process>'


def twice(id):
    return process(id, scope("s", call("left", id), call("right", id)))


def on_signal(id, signal, inside, interrupting):
    event = SIGNAL_EVENT.format(signal=signal)
    start = scope(f"{id}-start", inside, event=event).replace(
        "<bpmn:startEvent ", f'<bpmn:startEvent isInterrupting="{str(interrupting).lower()}" ', 1
    )
    return f'<bpmn:subProcess id="{id}" triggeredByEvent="true">{start}</bpmn:subProcess>'


def numbers(count):
    return {"items": list(range(count))}


async def rows_of(target, *keys):
    """Live elements and process instances of trees."""
    tables = ("element_instances", "process_instances")
    counts = (f"(SELECT count(*) FROM {table} WHERE root_key = ANY (%s) AND ended_at IS NULL)" for table in tables)
    roots = [int(key) for key in keys]
    return (await target.query(f"SELECT {' + '.join(counts)}", (roots, roots)))[0][0]


async def jobs_of(target, type):
    return (await target.query("SELECT count(*) FROM jobs WHERE type = %s AND ended_at IS NULL", (type,)))[0][0]


async def until(look, expected, what, within_s=PATIENCE_S):
    """Wait until `look()`, a query, gives at least so many."""

    async def there():
        return await look() >= expected

    await eventually(there, what, within_s=within_s, every_s=0.25)


async def has_nothing_left(target, key, within_s=PATIENCE_S):
    await target.canceled(key, within_s)
    assert await rows_of(target, key) == 0
    tables = {"jobs": "ended_at", "incidents": "resolved_at", "subscriptions": "ended_at"}
    for table, ended in tables.items():
        left = await target.query(f"SELECT count(*) FROM {table} WHERE root_key = %s AND {ended} IS NULL", (int(key),))
        assert left == [(0,)], table


async def test_a_loop_of_loops_of_scripts(target):
    script = SCRIPT.format(loop=loop(output=OUTPUT))
    await target.deployed(process("scripts", scope("s", sub("outer", scope("i", script), loop(output=OUTPUT)))))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("scripts", numbers(SIDE))
        assert await target.ended(key, PATIENCE_S) == "COMPLETED"
    completed = "SELECT count(*) FROM element_instances WHERE root_key = %s AND element_id = 'script' AND state = %s"
    assert await target.query(completed, (int(key), "COMPLETED")) == [(SIDE * (SIDE + 1),)], "with the bodies"


async def test_a_loop_of_loops_of_tasks_is_cancelled(target):
    """Quanta are short while others have commands, so that it takes minutes on a busy machine."""
    inside = scope("s", sub("outer", scope("i", task("inner", loop())), loop()))
    await target.deployed(process("tasks", inside))
    async with target.attacked(within_s=LONG_PATIENCE_S):
        key = await target.created("tasks", numbers(SIDE))
        await until(lambda: jobs_of(target, "inner"), SIDE * SIDE, "all jobs are there", LONG_PATIENCE_S)
        await has_nothing_left(target, key, LONG_PATIENCE_S)


async def test_loops_in_loops_in_loops_are_cancelled(target):
    middle = sub("middle", scope("j", task("innermost", loop())), loop())
    await target.deployed(process("thrice", scope("s", sub("outer", scope("i", middle), loop()))))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("thrice", numbers(16))
        await until(lambda: jobs_of(target, "innermost"), 16**3, "all jobs are there")
        await has_nothing_left(target, key)


async def test_a_loop_of_loops_of_which_workers_complete_some_is_cancelled(target):
    """In each of the outer ones, while it is cancelled, too."""
    inside = scope("s", sub("outer", scope("i", task("some", loop())), loop()))
    await target.deployed(process("worked", inside))
    ask = {"type": "some", "worker": "w", "timeout": 600_000, "maxJobsToActivate": 60}
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("worked", numbers(40))
        await until(lambda: jobs_of(target, "some"), 1_600, "all jobs are there")
        jobs = (await target.call("POST", "/v2/jobs/activation", ask)).json["jobs"]
        assert jobs
        async with trio.open_nursery() as nursery:
            for number, job in enumerate(jobs):
                nursery.start_soon(complete, target, job)
                if number == len(jobs) // 2:
                    nursery.start_soon(has_nothing_left, target, key)


async def complete(target, job):
    answer = await target.call("POST", f"/v2/jobs/{job['jobKey']}/completion", {}, within_s=PATIENCE_S)
    assert answer.status in (204, 404, 409), answer


@pytest.mark.parametrize("rows", [500, 2_000])
async def test_a_process_that_calls_itself_twice_is_cancelled_while_it_grows(target, rows):
    id = f"twice-{rows}"
    await target.deployed(twice(id))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created(id)
        await until(lambda: rows_of(target, key), rows, "it has grown")
        await has_nothing_left(target, key)


async def test_a_process_that_calls_itself_twice_stops_at_its_limit(target):
    """Then the engine is put down, and has to load it."""
    await target.deployed(twice("limited"))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("limited")

        async def stopped():
            return await target.search("incidents", processDefinitionId="limited")

        incident = (await eventually(stopped, "an incident", within_s=PATIENCE_S, every_s=0.5))[0]
        assert incident["elementId"] in ("left", "right")
        assert "consumer.max_part_rows" in incident["errorMessage"] or "maximum depth" in incident["errorMessage"]
        assert await target.program.hurt("consumer", "raise") == 204
        await has_nothing_left(target, key)


@pytest.mark.parametrize("depth", [200, 1_000])
async def test_a_chain_is_cancelled_within_its_request(target, depth):
    again = call("again", "chain", input='<zeebe:ioMapping><zeebe:input source="=n + 1" target="n"/></zeebe:ioMapping>')
    flows = (
        '<bpmn:exclusiveGateway id="x" default="deeper"/>'
        '<bpmn:sequenceFlow id="deeper" sourceRef="x" targetRef="again"/>'
        f'<bpmn:sequenceFlow id="enough" sourceRef="x" targetRef="bottom-{depth}">'
        f"<bpmn:conditionExpression>=n &gt;= {depth}</bpmn:conditionExpression></bpmn:sequenceFlow>"
        '<bpmn:sequenceFlow id="f" sourceRef="s" targetRef="x"/>'
    )
    await target.deployed(process("chain", f'<bpmn:startEvent id="s"/>{flows}{again}{task(f"bottom-{depth}")}'))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("chain", {"n": 1})
        await until(lambda: jobs_of(target, f"bottom-{depth}"), 1, "its bottom is reached")
        assert await rows_of(target, key) == 2 * depth
        began = trio.current_time()
        answer = await target.call("POST", f"/v2/process-instances/{key}/cancellation", {})
        print(f"a chain of {depth} was cancelled in {trio.current_time() - began:.2f} s")
        assert answer.status == 204, answer
        assert await rows_of(target, key) == 0


async def test_a_process_that_calls_itself_in_a_loop_of_501_items(target):
    """Each instance is a part in that of its caller, a thousand deep; each loop is paged by its own width."""
    again = call("again", "deep", loop=loop("=for i in 1..501 return i"))
    await target.deployed(process("deep", scope("s", sub("around", scope("i", again)))))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("deep", {"item": 1})
        await until(lambda: rows_of(target, key), 1_000, "it has grown")
        assert await target.program.hurt("consumer", "raise") == 204
        await until(lambda: rows_of(target, key), 1_300, "it goes on")
        await has_nothing_left(target, key)


async def test_a_loop_whose_inner_instances_have_thousands_of_rows(target):
    """Pages of them are bounded by rows."""
    await target.deployed(twice("large"))
    await target.deployed(process("of-large", scope("s", call("each", "large", loop=loop()))))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("of-large", numbers(200))
        await until(lambda: rows_of(target, key), 5_000, "it has grown")
        assert await target.program.hurt("consumer", "raise") == 204
        await has_nothing_left(target, key)


@pytest.mark.parametrize("interrupting", [False, True])
async def test_nested_loops_in_an_event_sub_process(target, interrupting):
    """It is entered beside nested loops, or instead of them; then all of it is cancelled."""
    name = f"inside-{interrupting}".lower()
    before, after = f"before-{interrupting}".lower(), f"after-{interrupting}".lower()
    outer = sub("outer", scope("i", task(before, loop())), loop())
    handler = sub("inner", scope("j", task(after, loop())), loop())
    content = scope("s", outer) + on_signal("handler", name, handler, interrupting)
    await target.deployed(SIGNAL.format(signal=name) + process(name, content))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created(name, numbers(40))
        await until(lambda: jobs_of(target, before), 1_600, "all jobs are there")
        answer = await target.call("POST", "/v2/signals/broadcast", {"signalName": name}, within_s=PATIENCE_S)
        assert answer.status == 200, answer
        await until(lambda: jobs_of(target, after), 1_600, "all jobs of the event sub-process are there")
        assert await jobs_of(target, before) == (0 if interrupting else 1_600)
        await has_nothing_left(target, key)


async def test_a_signal_that_every_inner_instance_hears(target):
    """Each has an event sub-process: 2,500 of them are entered at once."""
    heard = on_signal("hears", "everywhere", task("heard"), interrupting=False)
    inner = sub("inner", scope("j", task("waits")) + heard, loop())
    content = process("hearing", scope("s", sub("outer", scope("i", inner), loop())))
    await target.deployed(SIGNAL.format(signal="everywhere") + content)
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("hearing", numbers(50))
        await until(lambda: jobs_of(target, "waits"), 2_500, "all jobs are there")
        await target.call("POST", "/v2/signals/broadcast", {"signalName": "everywhere"}, within_s=PATIENCE_S)
        await until(lambda: jobs_of(target, "heard"), 2_500, "all have heard it")
        await has_nothing_left(target, key)


async def test_an_error_from_nested_loops_ends_them(target):
    """The boundary event of the outermost loop catches it."""
    caught = (
        '<bpmn:boundaryEvent id="caught" attachedToRef="outer"><bpmn:errorEventDefinition/></bpmn:boundaryEvent>'
        f'{task("caught-it")}<bpmn:sequenceFlow id="c" sourceRef="caught" targetRef="caught-it"/>'
    )
    outer = sub("outer", scope("i", task("throws", loop())), loop())
    await target.deployed(process("thrown", scope("s", outer) + caught))
    async with target.attacked(within_s=PATIENCE_S):
        key = await target.created("thrown", numbers(40))
        await until(lambda: jobs_of(target, "throws"), 1_600, "all jobs are there")
        ask = {"type": "throws", "worker": "w", "timeout": 600_000, "maxJobsToActivate": 1}
        (job,) = (await target.call("POST", "/v2/jobs/activation", ask)).json["jobs"]
        thrown = {"errorCode": "any"}
        answer = await target.call("POST", f"/v2/jobs/{job['jobKey']}/error", thrown, within_s=PATIENCE_S)
        assert answer.status == 204, answer
        await until(lambda: jobs_of(target, "caught-it"), 1, "the error is caught")
        assert await jobs_of(target, "throws") == 0
        await has_nothing_left(target, key)


async def test_many_trees_that_grow_at_once(target):
    await target.deployed(twice("many"))
    async with target.attacked(within_s=PATIENCE_S):
        keys = [await target.created("many") for _ in range(20)]
        await until(lambda: rows_of(target, *keys), 10_000, "they have grown")
        async with trio.open_nursery() as nursery:
            for key in keys:
                nursery.start_soon(has_nothing_left, target, key)
