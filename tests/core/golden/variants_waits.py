"""Messages, signals and user tasks in the content of a scope, for golden traces: `x` is what a variant is about.

A variant takes what makes `x` an incident until `ok` is true.
"""

from tests.core.event_models import boundary, catch, final, loop, mapped, on, throw, together
from tests.core.models import end, par, start, task


def message(inputs=(), name="hello"):
    """The definition; with `inputs` its correlation key is an incident until `ok` is true."""
    return f'<messageEventDefinition messageRef="{name}{"-checked" if inputs else ""}"/>'


def signal(inputs=(), name="alarm"):
    return f'<signalEventDefinition signalRef="{name}{"-checked" if inputs else ""}"/>'


def condition(_inputs=()):
    return "<conditionalEventDefinition><condition>=met > 0</condition></conditionalEventDefinition>"


def receive(inputs=()):
    return f'<receiveTask id="x" messageRef="hello{"-checked" if inputs else ""}"></receiveTask>'


EVENTS = ("creating", "assigning", "assigning", "completing", "canceling")
TASK_LISTENERS = "".join(f'<zeebe:taskListener eventType="{event}" type="{event}-listener"/>' for event in EVENTS)


def person(inputs=(), listeners=""):
    settings = '<zeebe:userTask/><zeebe:assignmentDefinition assignee="jo" candidateGroups="=[&quot;g&quot;]"/>'
    settings += '<zeebe:priorityDefinition priority="7"/>'
    settings += f"<zeebe:taskListeners>{listeners}</zeebe:taskListeners>" if listeners else ""
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


def mapped_at_boundary(event, interrupting=True):
    """A mapping of `x` makes it an incident."""
    return lambda inputs: [
        start("b"),
        task("host"),
        boundary("x", "host", event(), interrupting=interrupting, inputs=inputs),
        task("after"),
        end("e"),
        "b > host > e",
        "x > after",
    ]


def mapped_aside(event, interrupting=True):
    return lambda inputs: [
        start("b"),
        task("main"),
        on(event(), "x", task("handled"), "x-start > handled", interrupting=interrupting, inputs=inputs),
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


def received(inputs):
    """A receive task behind an event-based gateway."""
    return [
        start("b"),
        '<eventBasedGateway id="x"/>',
        receive(inputs).replace('id="x"', 'id="first"'),
        '<receiveTask id="second" messageRef="other"></receiveTask>',
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


def several(inputs=()):
    """The definitions of an event with several."""
    return message(inputs) + signal(name="calm")


def _together(part):
    """With all definitions of its event awaited, if it has several."""
    return together(part) if "calm" in part else part


VARIANTS = {
    "several_catch": alone(lambda inputs: catch("x", several(inputs))),
    "several_boundary": at_boundary(several),
    "several_boundary_beside": at_boundary(several, interrupting=False),
    "several_event_sub_process": aside(several),
    "several_event_sub_process_beside": aside(several, interrupting=False),
    "several_gateway": chosen(several),
    "several_throw": told(lambda inputs: throw("x", signal(inputs) + signal(name="calm")), signal),
    "several_end": told(lambda inputs: final("x", signal(inputs) + signal(name="calm")), signal),
    "all_catch": alone(lambda inputs: together(catch("x", several(inputs)))),
    "all_boundary": lambda inputs: list(map(_together, at_boundary(several)(inputs))),
    "all_boundary_beside": lambda inputs: list(map(_together, at_boundary(several, interrupting=False)(inputs))),
    "all_event_sub_process": lambda inputs: list(map(_together, aside(several)(inputs))),
    "all_event_sub_process_beside": lambda inputs: list(map(_together, aside(several, interrupting=False)(inputs))),
    "all_gateway": lambda inputs: [
        together(part) if 'id="first"' in part else part for part in chosen(several)(inputs)
    ],
    "receive_task": alone(receive),
    "receive_task_in_a_loop": lambda inputs: [start("b"), loop(receive(inputs), "=[1, 2]"), end("e"), "b > x > e"],
    "message_catch": alone(lambda inputs: catch("x", message(inputs))),
    "message_boundary": at_boundary(message),
    "message_boundary_beside": at_boundary(message, interrupting=False),
    "message_event_sub_process": aside(message),
    "message_event_sub_process_beside": aside(message, interrupting=False),
    "message_gateway": chosen(message),
    "receive_gateway": received,
    "message_throw": told(thrower(THROW, PUBLISH, message()), message),
    "message_throw_job": alone(thrower(THROW, MAIL, message())),
    "message_end": told(thrower(END, PUBLISH, message()), message),
    "message_end_job": told(thrower(END, MAIL, message()), message),
    "send_task_publish": told(thrower(SEND_TASK, PUBLISH), message),
    "conditional_catch": alone(lambda inputs: catch("x", condition(), inputs)),
    "conditional_boundary": mapped_at_boundary(condition),
    "conditional_boundary_beside": mapped_at_boundary(condition, interrupting=False),
    "conditional_event_sub_process": mapped_aside(condition),
    "conditional_event_sub_process_beside": mapped_aside(condition, interrupting=False),
    "signal_catch": alone(lambda inputs: catch("x", signal(inputs))),
    "signal_boundary": at_boundary(signal),
    "signal_boundary_beside": at_boundary(signal, interrupting=False),
    "signal_event_sub_process": aside(signal),
    "signal_event_sub_process_beside": aside(signal, interrupting=False),
    "signal_gateway": chosen(signal),
    "signal_throw": told(lambda inputs: throw("x", signal(), inputs), signal),
    "signal_end": told(lambda inputs: final("x", signal(), inputs), signal),
    "user_task": alone(person),
    "user_task_listened": alone(lambda inputs: person(inputs, TASK_LISTENERS)),
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
