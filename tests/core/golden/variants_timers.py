"""Timers in the content of a scope, for golden traces: `x` is what a variant is about.

A variant takes what makes `x` an incident until `ok` is true.
"""

from tests.core.event_models import catch
from tests.core.golden.variants_waits import aside, at_boundary
from tests.core.models import end, start, task


def timer(kind, text):
    """A timer of the kind; where the variant is to have an incident its text is null until `ok` is true."""

    def event(inputs=()):
        value = f'=if ok then "{text}" else null' if inputs else text
        return f"<timerEventDefinition><{kind}>{value}</{kind}></timerEventDefinition>"

    return event


DATE, DURATION = timer("timeDate", "1970-01-01T01:00:00Z"), timer("timeDuration", "PT1M")
TWICE = timer("timeCycle", "R2/PT1M")


def caught(event):
    return lambda inputs: [start("b"), catch("x", event(inputs)), end("e"), "b > x > e"]


def chosen(inputs):
    """Behind the gateway a timer comes before another."""
    return [
        start("b"),
        '<eventBasedGateway id="x"/>',
        catch("first", DURATION(inputs)),
        catch("second", timer("timeDuration", "PT1H")()),
        task("m"),
        task("n"),
        "b > x > first > m",
        "x > second > n",
    ]


VARIANTS = {
    "date_catch": caught(DATE),
    "duration_catch": caught(DURATION),
    "duration_boundary": at_boundary(DURATION),
    "duration_boundary_beside": at_boundary(DURATION, interrupting=False),
    "cycle_boundary_beside": at_boundary(TWICE, interrupting=False),
    "date_event_sub_process": aside(DATE),
    "duration_event_sub_process_beside": aside(DURATION, interrupting=False),
    "cycle_event_sub_process_beside": aside(TWICE, interrupting=False),
    "duration_gateway": chosen,
}
"""Name → the content of a scope, with what makes the element that it is about an incident until `ok` is true."""
