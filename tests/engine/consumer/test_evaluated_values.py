"""PostgreSQL takes the values of all expressions: a value that cannot be kept is an incident.

A table: every place of a model where an expression is evaluated, and values that some column cannot hold.
"""

import random

import pytest
import trio

from tests.core.engine import raw
from tests.core.event_models import boundary, call, error, escalation, final, loop, on, script, throw
from tests.core.listener_models import listening
from tests.core.message_models import inputs, message, signal
from tests.core.models import end, file, flow, process_element, start, task, xor
from tests.engine.consumer.serial_runs import Serial, append, beat, make_consumer, pin_clock
from vivero.core.records.base import DEFAULT_TENANT
from vivero.core.records.effects import MAX_MESSAGE
from vivero.core.records.instances import CreateInstance

NUL = "a\0b"
NOISE = "".join(chr(code) for code in random.Random(7).sample(range(0x10000, 0x20000), 30_000))
"""Text that does not get shorter by compression: 120 kB."""
VALUES = {
    "NUL": NUL,
    "NUL alone": "\0",
    "long": NOISE,
    "huge": NOISE * 3,
    "large": 10**30,
    "negative": -(10**30),
    "beyond 32 bits": 2**31,
    "small": 1e-300,
    "fraction": 0.5,
    "nothing": None,
    "empty": "",
    "flag": True,
    "a list with NUL": [NUL],
    "a list of long texts": [NOISE[:2000]] * 3,
    "a list of many": ["x"] * 5000,
    "a context with NUL": {NUL: NUL},
    "a late date": "+300000-01-01T00:00:00Z",
    "an early date": "-300000-01-01T00:00:00Z",
    "a date with NUL": "2027-01-01T00:00:00Z\0",
    "a long duration": "P300000Y",
    "a duration with NUL": "PT1S\0",
    "many times": "R2147483648/PT1S",
    "endless years": "R/P1000000Y",
    "a cycle with NUL": "R3/PT1H\0",
    "cron with NUL": "0 0 * * * *\0",
    "a number as text": "9" * 40,
}
ROOTS = (
    message("=v", "=&quot;k&quot;", "named"),
    message("keyed", "=v", "keyed"),
    message("plain", "=&quot;k&quot;", "plain"),
    signal("=v", "said"),
    '<error id="error-said" errorCode="=v"/><escalation id="escalation-said" escalationCode="=v"/>',
)


def alone(part, id="it"):
    return part, f"start > {id} > end"


def user(attributes, native=True):
    kind, name, value = attributes
    content = ("<zeebe:userTask/>" if native else "") + f'<zeebe:{kind} {name}="{value}"/>'
    return alone(f'<userTask id="it"><extensionElements>{content}</extensionElements></userTask>')


def waits(event):
    return alone(f'<intermediateCatchEvent id="it">{event}</intermediateCatchEvent>')


def timer(kind):
    name = {"date": "timeDate", "duration": "timeDuration", "cycle": "timeCycle"}[kind]
    return f"<timerEventDefinition><{name}>=v</{name}></timerEventDefinition>"


def publishes(message, **attributes):
    given = "".join(f' {name}="{value}"' for name, value in attributes.items())
    content = f"<extensionElements><zeebe:publishMessage{given}/></extensionElements>"
    return alone(
        f'<intermediateThrowEvent id="it">{content}<messageEventDefinition messageRef="{message}"/>'
        "</intermediateThrowEvent>"
    )


MESSAGE, SIGNAL = '<messageEventDefinition messageRef="{}"/>', '<signalEventDefinition signalRef="said"/>'
PLACES = {
    "job type": alone(task("it", type="=v")),
    "job retries": alone(task("it", retries="=v")),
    "job priority": alone(task("it", priority="=v")),
    "listener type": alone(task("it")),
    "listener retries": alone(task("it")),
    "input": alone(task("it", inputs=[("=v", "x"), ("=v", "y.z")])),
    "output": (start(outputs=[("=v", "x"), ("=v", "y.z")]), end(), "start > end"),
    "script": alone(script("it", "=v", "x")),
    "condition": (start(), xor("it", "it-end"), end(), "start > it", flow("it", "end"), flow("it", "end", "=v", "f")),
    "process id": alone(call("it", "=v")),
    "collection": alone(loop(task("it"), "=v", item="x")),
    "result": alone(loop(script("it", "=v", "x"), "=[1, 2]", output="=v", into="all")),
    "until": alone(loop(script("it", "=v", "x"), "=[1, 2]", until="=v")),
    "message name": waits(MESSAGE.format("named")),
    "correlation key": waits(MESSAGE.format("keyed")),
    "signal name": waits(SIGNAL),
    "boundary message": (task("it"), boundary("b", "it", MESSAGE.format("named")), "start > it > end", "b > end"),
    "boundary key": (task("it"), boundary("b", "it", MESSAGE.format("keyed")), "start > it > end", "b > end"),
    "boundary timer": (task("it"), boundary("b", "it", timer("duration")), "start > it > end", "b > end"),
    "cycle at a boundary": (
        task("it"),
        boundary("b", "it", timer("cycle"), interrupting=False),
        "start > it > end",
        "b > end",
    ),
    "event sub-process": (on(SIGNAL, "s", end("send"), "s-start > send"), task("it"), "start > it > end"),
    "receive task": alone('<receiveTask id="it" messageRef="keyed"/>'),
    "date": waits(timer("date")),
    "duration": waits(timer("duration")),
    "thrown message": publishes("named", correlationKey="=1"),
    "thrown key": publishes("plain", correlationKey="=v"),
    "message id": publishes("plain", correlationKey="k", messageId="=v", timeToLive="PT1H"),
    "time to live": publishes("plain", correlationKey="k", timeToLive="=v"),
    "kept message": publishes("plain", correlationKey="=v", timeToLive="PT1H"),
    "message as a job": alone(
        '<sendTask id="it" messageRef="plain"><extensionElements><zeebe:taskDefinition type="=v"/>'
        "</extensionElements></sendTask>"
    ),
    "variables of a message": alone(
        f'<intermediateThrowEvent id="it"><extensionElements><zeebe:publishMessage correlationKey="k"'
        f' timeToLive="PT1H"/>{inputs(x="=v")}</extensionElements>{MESSAGE.format("plain")}</intermediateThrowEvent>'
    ),
    "thrown signal": alone(throw("it", SIGNAL)),
    "thrown error": (final("it", error("said")), "start > it"),
    "thrown escalation": alone(throw("it", escalation("said"))),
    "assignee": user(("assignmentDefinition", "assignee", "=v")),
    "candidate groups": user(("assignmentDefinition", "candidateGroups", "=v")),
    "candidate users": user(("assignmentDefinition", "candidateUsers", "=v")),
    "due date": user(("taskSchedule", "dueDate", "=v")),
    "follow-up date": user(("taskSchedule", "followUpDate", "=v")),
    "priority": user(("priorityDefinition", "priority", "=v")),
    "external form": user(("formDefinition", "externalReference", "=v")),
    "form id": user(("formDefinition", "formId", "=v")),
    "header assignee": user(("assignmentDefinition", "assignee", "=v"), native=False),
    "header groups": user(("assignmentDefinition", "candidateGroups", "=v"), native=False),
    "header date": user(("taskSchedule", "dueDate", "=v"), native=False),
    "header form": user(("formDefinition", "formId", "=v"), native=False),
}
"""Processes in which `it` evaluates the variable `v`; they have `start` and `end` where they do not say otherwise."""
LISTENERS = {"listener type": "start =v", "listener retries": "start told =v"}


def model(place, id):
    parts = PLACES[place]
    texts = " ".join(parts)
    whole = [] if '<startEvent id="start"' in texts else [start()]
    whole += [] if '<endEvent id="end"' in texts or "> end" not in texts else [end()]
    content = file(*ROOTS, process_element(*whole, *parts, id=id))
    return listening(content, it=[LISTENERS[place]]) if place in LISTENERS else content


@pytest.mark.long
async def test_whatever_is_evaluated_the_database_takes_what_comes_of_it(migrated, connection):
    serial = Serial()
    ids = {place: f"p{number}" for number, place in enumerate(PLACES)}
    serial.deploy(*(model(place, id) for place, id in ids.items()))
    cases = [(place, value) for place in PLACES for value in VALUES]
    await pin_clock(connection)
    consumer, observer = make_consumer(migrated, serial.resources, poll_s=5)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(consumer.run, beat())
        first = await append(connection, serial.commands) + 1
        creations = [CreateInstance(ids[place], variables=raw({"v": VALUES[value]})) for place, value in cases]
        last = await append(connection, [(DEFAULT_TENANT, creation) for creation in creations])
        consumer.partition_duty.wake()
        await observer.until(lambda: observer.watermark >= last)
        nursery.cancel_scope.cancel()
    refused = {
        cases[position - first]: outcome.rejection.reason
        for position, outcome in observer.outcomes.items()
        if outcome.rejection is not None
    }
    assert refused == {}
    assert (consumer.stats.poisoned, consumer.stats.terms) == (0, 1)
    named = await connection.execute("SELECT element_id, max(length(message)) FROM incidents GROUP BY 1 ORDER BY 1")
    assert [element for element, _ in named.rows] == ["it", "start"]
    assert max(length for _, length in named.rows) <= MAX_MESSAGE
