"""Elements in the content of a scope, for golden traces: `x` is the element that a variant is about.

A variant takes input mappings (or other settings) for it: with some it is an incident until `ok` is true.
"""

from tests.core.compensation_models import CANCEL, as_handler, association, compensation, done, transaction
from tests.core.decision_models import rule
from tests.core.event_models import (
    TERMINATE,
    ad_hoc,
    boundary,
    call,
    catch,
    complex_gateway,
    error,
    escalation,
    final,
    inc,
    link,
    loop,
    mapped,
    on,
    script,
    throw,
)
from tests.core.models import end, flow, par, start, sub, task, xor


def activity(tag, extensions="", inputs=()):
    return f'<{tag} id="x">{mapped(extensions, inputs)}</{tag}>'


def alone(part):
    return [start("b"), part, end("e"), "b > x > e"]


def job(tag):
    return lambda inputs: alone(activity(tag, '<zeebe:taskDefinition type="job"/>', inputs))


def at_boundary(event, *host, interrupting=True):
    """`x` is a boundary event of `h`."""
    return lambda inputs: [
        start("b"),
        *host,
        boundary("x", "h", event, interrupting=interrupting, inputs=inputs),
        task("after"),
        end("e"),
        "b > h > e",
        "x > after",
    ]


def telling(event, *events):
    """A sub-process `h` that throws, with a task beside it."""
    return sub("h", start("hb"), par("f"), task("beside"), final("hx", event), "hb > f > hx", "f > beside", *events)


def telling_later(event):
    """A sub-process `h` that throws when a task in it is done."""
    return sub("h", start("hb"), task("before"), final("hx", event), "hb > before > hx")


def handled(event, thrown, interrupting=True):
    """`x-start` starts an event sub-process in the scope that throws."""
    return lambda inputs: [
        start("b"),
        par("f"),
        task("beside"),
        final("e", thrown),
        on(event, "x", task("handled"), "x-start > handled", interrupting=interrupting, inputs=inputs),
        "b > f > e",
        "f > beside",
    ]


def thrown(thrower, event):
    """`x` throws in a sub-process, and a boundary event catches it."""

    def content(inputs):
        scope = sub("s0", start("sb"), thrower("x", event, inputs), "sb > x")
        caught = boundary("c0", "s0", event, interrupting=True)
        return [start("b"), scope, caught, task("after"), end("e"), "b > s0 > e", "c0 > after"]

    return content


def chosen(gateway):
    """`x` decides between `m` and `n`."""

    def content(inputs):
        condition = "=assert(ok, ok)" if inputs else "=true"
        return [start("b"), gateway, task("m"), task("n"), "b > x", flow("x", "m", condition), flow("x", "n", "=false")]

    return content


def joined(gateway):
    """`x` joins what `m` and `n` do."""
    parts = (task("m"), gateway, end("e"), "b > f > m > x", "f > n > x > e")
    return lambda inputs: [start("b"), par("f"), task("n", inputs=inputs), *parts]


def looped(**settings):
    return lambda inputs: alone(loop(task("x", inputs=inputs), "=[1, 2]", "i", output="=i", into="all", **settings))


RESULTS = {"output": "=done", "into": "all", "until": "=count(all) = 1"}
THROWING = (
    '<multiInstanceLoopCharacteristics behavior="Complex"><loopCardinality>2</loopCardinality>'
    f"<complexBehaviorDefinition><condition>=numberOfCompletedInstances = 1</condition><event>{escalation('A')}</event>"
    "</complexBehaviorDefinition></multiInstanceLoopCharacteristics>"
)
TWICE = '<standardLoopCharacteristics loopMaximum="2"/>'
SEVERAL = "<multiInstanceLoopCharacteristics><loopCardinality>2</loopCardinality></multiInstanceLoopCharacteristics>"


def marked(activity, marker):
    """The activity with the marker of a loop."""
    head, closing, tail = activity.rpartition("</")
    return f"{head}{marker}{closing}{tail}"


VARIANTS = {
    "task": lambda inputs: alone(activity("task", "", inputs)),
    "manual_task": lambda inputs: alone(activity("manualTask", "", inputs)),
    "service_task": job("serviceTask"),
    "send_task": job("sendTask"),
    "business_rule_task": job("businessRuleTask"),
    "business_rule_task_decision": lambda inputs: alone(rule("x", inputs=inputs)),
    "script_task_job": job("scriptTask"),
    "script_task": lambda inputs: alone(script("x", "=1 + 1", "r", inputs=inputs)),
    "user_task_job": lambda inputs: alone(activity("userTask", '<zeebe:assignmentDefinition assignee="jo"/>', inputs)),
    "call_activity": lambda inputs: alone(call("x", "called", inputs=inputs)),
    "sub_process": lambda inputs: alone(sub("x", start("xb"), task("t"), end("xe"), "xb > t > xe", inputs=inputs)),
    "transaction": lambda inputs: alone(
        transaction("x", start("xb"), task("t"), end("xe"), "xb > t > xe", inputs=inputs)
    ),
    "ad_hoc": lambda inputs: alone(ad_hoc("x", task("t"), task("n"), active='=["t", "n"]', inputs=inputs)),
    "ad_hoc_until": lambda inputs: alone(
        ad_hoc("x", task("t"), task("n"), active='=["t", "n"]', inputs=inputs, **RESULTS)
    ),
    "ad_hoc_job": lambda inputs: alone(ad_hoc("x", task("t"), job="decide", output="=done", into="all", inputs=inputs)),
    "loop_parallel": looped(),
    "loop_sequential": looped(sequential=True),
    "loop_cardinality": lambda inputs: alone(marked(task("x", inputs=inputs), SEVERAL)),
    "loop_throwing": lambda inputs: [
        *(start("b"), boundary("told", "x", escalation("A"), interrupting=False), task("aside"), end("e")),
        marked(sub("x", start("xb"), task("t"), "xb > t", inputs=inputs), THROWING),
        *("b > x > e", "told > aside"),
    ],
    "loop_standard": lambda inputs: alone(marked(task("x", inputs=inputs), TWICE)),
    "loop_until": looped(until="=numberOfCompletedInstances = 1"),
    "exclusive_gateway": chosen(xor("x")),
    "inclusive_fork": chosen(inc("x")),
    "conditional_flows": chosen(task("x")),
    "inclusive_join": joined(inc("x")),
    "quantities": lambda inputs: [
        *(start("b"), par("f"), task("m"), end("e"), "b > f > m > x", "f > x > e"),
        task("x", inputs=inputs).replace(" id=", ' startQuantity="2" completionQuantity="2" id='),
    ],
    "parallel_join": joined(par("x")),
    "complex_fork": chosen(complex_gateway("x")),
    "complex_join": joined(complex_gateway("x", "=activationCount >= 1")),
    "none_start": lambda inputs: [start("x", inputs=inputs), end("e"), "x > e"],
    "none_end": lambda inputs: [start("b"), end("x", inputs=inputs), "b > x"],
    "error_end_caught": thrown(final, error("A")),
    "escalation_end_caught": thrown(final, escalation("A")),
    "escalation_throw_caught": thrown(throw, escalation("A")),
    "none_throw": lambda inputs: alone(throw("x", inputs=inputs)),
    "link": lambda inputs: [
        start("b"),
        throw("t", link("L")),
        catch("x", link("L"), inputs),
        end("e"),
        "b > t",
        "x > e",
    ],
    "terminate": lambda inputs: [
        start("b"),
        par("f"),
        task("beside"),
        final("x", TERMINATE, inputs),
        "b > f > x",
        "f > beside",
    ],
    "compensation_boundary": lambda inputs: [
        *(start("b"), task("host"), boundary("x", "host", compensation(), inputs=inputs), association("x", "u")),
        *(as_handler(task("u")), throw("k", compensation()), end("e"), "b > host > k > e"),
    ],
    "compensation_throw": lambda inputs: [
        *(start("b"), done("m"), throw("x", compensation(), inputs), end("e"), "b > m > x > e"),
    ],
    "compensation_end": lambda inputs: [start("b"), done("m"), final("x", compensation(), inputs), "b > m > x"],
    "compensation_event_sub_process": lambda inputs: [
        start("b"),
        sub("o", start("ob"), task("m"), on(compensation(), "x", task("w"), "x-start > w", inputs=inputs), "ob > m"),
        throw("k", compensation()),
        end("e"),
        "b > o > k > e",
    ],
    "cancel_boundary": at_boundary(
        CANCEL, transaction("h", start("hb"), done("m"), final("hx", CANCEL), "hb > m > hx")
    ),
    "cancel_end": lambda inputs: [
        *(start("b"), boundary("c0", "s0", CANCEL), task("after"), end("e")),
        transaction("s0", start("sb"), done("m"), final("x", CANCEL, inputs), "sb > m > x"),
        *("b > s0 > e", "c0 > after"),
    ],
    "error_boundary": at_boundary(error("A"), task("h")),
    "error_end": at_boundary(error(), telling(error("A"))),
    "error_event_sub_process": handled(error("A"), error("A")),
    "escalation_boundary": at_boundary(escalation("A"), telling(escalation("A"))),
    "escalation_boundary_later": at_boundary(escalation("A"), telling_later(escalation("A"))),
    "escalation_boundary_beside": at_boundary(escalation(), telling(escalation("A")), interrupting=False),
    "escalation_event_sub_process": handled(escalation("A"), escalation("A")),
    "escalation_event_sub_process_beside": handled(escalation(), escalation("A"), interrupting=False),
    "escalation_unheard": lambda inputs: alone(throw("x", escalation("A"), inputs)),
}
"""Name → the content of a scope, with the input mappings of the element that it is about."""
