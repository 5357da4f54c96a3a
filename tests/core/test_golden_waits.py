"""Golden traces of messages, signals and user tasks: in scopes of each kind, with an incident, cancelled.

`pytest --rewrite-golden` writes tests/core/golden/waits_*.txt anew; a change of behaviour is a readable diff.
"""

import pytest
from core_bench import Bench, raw
from core_events import boundary, catch, final, loop, mapped, on, throw
from core_golden import ROOTS, play, text_of
from core_models import end, file, par, process_element, start, sub, task

from engine.core.records import (
    AssignUserTask,
    BroadcastSignal,
    ClaimUserTask,
    CompleteUserTask,
    CorrelateMessage,
    PublishMessage,
    UpdateUserTask,
)

MINUTE_MS = 60_000


def message(inputs=(), name="hello"):
    """The definition; with `inputs` its correlation key is an incident until `ok` is true."""
    return f'<messageEventDefinition messageRef="{name}{"-checked" if inputs else ""}"/>'


def signal(inputs=(), name="alarm"):
    return f'<signalEventDefinition signalRef="{name}{"-checked" if inputs else ""}"/>'


def receive(inputs=()):
    return f'<receiveTask id="x" messageRef="hello{"-checked" if inputs else ""}"></receiveTask>'


def person(inputs=()):
    settings = '<zeebe:userTask/><zeebe:assignmentDefinition assignee="jo" candidateGroups="=[&quot;g&quot;]"/>'
    settings += '<zeebe:priorityDefinition priority="7"/>'
    return f'<userTask id="x">{mapped(settings, inputs)}</userTask>'


def alone(part):
    return lambda inputs: [start("b"), part(inputs), end("e"), "b > x > e"]


def at_boundary(event, interrupting=True):
    return lambda inputs: [
        start("b"),
        task("host"),
        boundary("x", "host", event(inputs), interrupting=interrupting),
        task("after"),
        end("e"),
        "b > host > e",
        "x > after",
    ]


def aside(event, interrupting=True):
    return lambda inputs: [
        start("b"),
        task("main"),
        on(event(inputs), "x", task("handled"), "x-start > handled", interrupting=interrupting),
        "b > main",
    ]


def chosen(event):
    """An event-based gateway: this event, or another that comes too late."""
    return lambda inputs: [
        start("b"),
        '<eventBasedGateway id="x"/>',
        catch("first", event(inputs)),
        catch("second", message(name="other")),
        task("m"),
        task("n"),
        "b > x > first > m",
        "x > second > n",
    ]


def told(part, event):
    """`x` tells what `hears` waits for, in the same scope."""
    return lambda inputs: [
        start("b"),
        par("f"),
        catch("hears", event()),
        part(inputs),
        "b > f > hears",
        "f > x",
    ]


PUBLISH = '<zeebe:publishMessage correlationKey="=&quot;x&quot;" messageId="one" timeToLive="PT1M"/>'
MAIL = '<zeebe:taskDefinition type="mail"/>'


def thrower(tag, settings, event=""):
    return lambda inputs: f'<{tag[0]} id="x"{tag[1]}>{mapped(settings, inputs)}{event}</{tag[0]}>'


SEND_TASK = ("sendTask", ' messageRef="hello"')
THROW, END = ("intermediateThrowEvent", ""), ("endEvent", "")

VARIANTS = {
    "receive_task": alone(receive),
    "receive_task_in_a_loop": lambda inputs: [start("b"), loop(receive(inputs), "=[1, 2]"), end("e"), "b > x > e"],
    "message_catch": alone(lambda inputs: catch("x", message(inputs))),
    "message_boundary": at_boundary(message),
    "message_boundary_beside": at_boundary(message, interrupting=False),
    "message_event_sub_process": aside(message),
    "message_event_sub_process_beside": aside(message, interrupting=False),
    "message_gateway": chosen(message),
    "message_throw": told(thrower(THROW, PUBLISH, message()), message),
    "message_throw_job": alone(thrower(THROW, MAIL, message())),
    "message_end": told(thrower(END, PUBLISH, message()), message),
    "message_end_job": told(thrower(END, MAIL, message()), message),
    "send_task_publish": told(thrower(SEND_TASK, PUBLISH), message),
    "signal_catch": alone(lambda inputs: catch("x", signal(inputs))),
    "signal_boundary": at_boundary(signal),
    "signal_boundary_beside": at_boundary(signal, interrupting=False),
    "signal_event_sub_process": aside(signal),
    "signal_event_sub_process_beside": aside(signal, interrupting=False),
    "signal_gateway": chosen(signal),
    "signal_throw": told(lambda inputs: throw("x", signal(), inputs), signal),
    "signal_end": told(lambda inputs: final("x", signal(), inputs), signal),
    "user_task": alone(person),
    "user_task_in_a_loop": lambda inputs: [start("b"), loop(person(inputs), "=[1, 2]"), end("e"), "b > x > e"],
    "user_task_interrupted": lambda inputs: [
        start("b"),
        person(inputs),
        boundary("late", "x", message()),
        end("e"),
        "b > x > e",
        "late > e",
    ],
}
"""Name → the content of a scope, with what makes the element that it is about an incident until `ok` is true."""


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_trace_is_the_golden_one(variant, golden):
    golden(f"waits_{variant}", text_of(VARIANTS[variant]))


# ---- what has no scope around it


def lines_of(bench, act):
    """The trace of what `act` does."""
    before = len(bench.trace)
    act(bench)
    return bench.trace[before:]


def started_by(event, *parts):
    begin = f'<startEvent id="begun">{mapped(outputs=[("=assert(ok, ok)", "checked")])}{event}</startEvent>'
    return file(ROOTS, process_element(begin, sub("s", start("b"), task("t"), "b > t"), "begun > s", *parts))


def say(bench, ttl_ms=0, **variables):
    bench.run(PublishMessage("hello", "x", ttl_ms, None, raw(variables)))


def one_for_each_key(bench):
    """A second message waits for the end of the first one's instance; a third one expires meanwhile."""
    say(bench, MINUTE_MS, ok=True, n=1)
    say(bench, MINUTE_MS, ok=True, n=2)
    say(bench, 1_000, ok=True, n=3)
    bench.engine.now += 2_000
    play(bench)


def with_an_incident(bench):
    say(bench, ok=False)
    bench.set(bench.element("begun").key, local=True, ok=True)
    bench.resolve()
    play(bench)


def cancelled(bench):
    """The one behind it starts at once."""
    say(bench, MINUTE_MS, ok=True, n=1)
    say(bench, MINUTE_MS, ok=True, n=2)
    bench.cancel(next(iter(bench.state.trees)))
    play(bench)


def correlated(bench):
    bench.run(CorrelateMessage("hello", "x", raw({"ok": True})))
    bench.run(CorrelateMessage("hello", "x", raw({"ok": True})))
    play(bench)


def broadcast(bench):
    """Every signal starts an instance."""
    for ok in (True, False):
        bench.run(BroadcastSignal("alarm", raw({"ok": ok})))
    bench.set(bench.element("begun").key, local=True, ok=True)
    bench.resolve()
    play(bench)


STARTS = {
    "message_start": (message(), [one_for_each_key, with_an_incident, cancelled, correlated]),
    "signal_start": (signal(), [broadcast]),
}


@pytest.mark.parametrize("name", STARTS)
def test_starts_are_the_golden_ones(name, golden):
    event, acts = STARTS[name]
    text = ""
    for act in acts:
        bench = Bench()
        bench.deploy(started_by(event))
        text += f"# {act.__name__}\n" + "\n".join(lines_of(bench, act)) + "\n\n"
        assert not bench.state.elements
    golden(f"waits_{name}", text)


def test_the_life_of_a_user_task_is_the_golden_one(golden):
    bench = Bench()
    bench.deploy(file(process_element(start(), person(), end(), "start > x > end")))

    def act(bench):
        bench.start()
        (key,) = bench.state.user_tasks
        for command in (
            ClaimUserTask(key, "mia"),
            AssignUserTask(key, None, "unassign"),
            ClaimUserTask(key, "mia"),
            UpdateUserTask(key, {"candidate_groups": ("a", "b"), "priority": 9, "due_at": 5_000}),
            CompleteUserTask(key, raw({"done": True}), "approve"),
            CompleteUserTask(key),
        ):
            bench.run(command)

    golden("waits_user_task_life", "\n".join(lines_of(bench, act)) + "\n")
