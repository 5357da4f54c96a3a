"""Compensation that cannot be executed as drawn: each problem with its element."""

import pytest

from tests.core.compensation_models import as_handler, association, compensation, done, handled
from tests.core.event_models import boundary, error, final, model, on, throw
from tests.core.models import end, start, sub, task
from vivero.core.resources.kinds import read_resource

LINE = (start("s"), end("e"))
A = (*LINE, task("a"), "s > a > e")
BOUNDARY, HANDLER = boundary("c", "a", compensation()), as_handler(task("u"))
SUB = ("s > q > e", *LINE)
ESP = on(compensation(), "esp", "esp-start > ee", end("ee"))
LISTENED = BOUNDARY.replace(
    "<compensate",
    '<extensionElements><zeebe:executionListeners><zeebe:executionListener eventType="end" type="t"/>'
    "</zeebe:executionListeners></extensionElements><compensate",
)
REFERENCED = "The referenced compensation activity 'a'"

REFUSED = {
    "incoming": (
        [*A, HANDLER, "a > u"],
        [("u", "A compensation handler should have no incoming sequence flows")],
    ),
    "outgoing": (
        [*A, HANDLER, "u > e"],
        [("u", "A compensation handler should have no outgoing sequence flows")],
    ),
    "boundary event at a handler": (
        [*A, HANDLER, boundary("x", "u", error("A"))],
        [("u", "A compensation handler should have no boundary events")],
    ),
    "an event sub-process as a handler": (
        [*A, as_handler(on(error("A"), "esp", "esp-start > ee", end("ee")))],
        [("esp", "an event sub-process cannot be a compensation handler")],
    ),
    "flow out of the boundary event": (
        [*A, BOUNDARY, "c > e"],
        [("c-e", "leaves the compensation boundary event 'c'")],
    ),
    "listeners": (
        [*A, LISTENED],
        [("c", "a compensation boundary event has no listeners; its handler can have them")],
    ),
    "two boundary events": (
        [*A, BOUNDARY, boundary("d", "a", compensation())],
        [("d", "a second compensation boundary event at 'a': 'c' is one already")],
    ),
    "two handlers": (
        [*A, BOUNDARY, HANDLER, as_handler(task("v")), association("c", "u"), association("c", "v")],
        [("c", "a second compensation handler, 'v': 'u' is one already")],
    ),
    "a shared handler": (
        [*LINE, done("a"), task("b"), boundary("d", "b", compensation()), association("d", "ua"), "s > a > b > e"],
        [("d", "its compensation handler 'ua' is that of 'ca' already")],
    ),
    "no handler at the association": (
        [*A, BOUNDARY, association("c", "a")],
        [("c", "its association must lead to a compensation handler: 'a' is not isForCompensation")],
    ),
    "a handler in another scope": (
        [*A, BOUNDARY, association("c", "u"), sub("q", start("i"), end("j"), HANDLER, "i > j")],
        [("c", "its compensation handler 'u' is in another scope")],
    ),
    "an event sub-process of the process": (
        [*A, ESP],
        [("esp", "an event sub-process of the process itself cannot be started by compensation")],
    ),
    "two event sub-processes": (
        [*SUB, sub("q", start("i"), end("j"), ESP, ESP.replace("e", "f", 0).replace('"e', '"f'), "i > j")],
        [("fsp", "a second event sub-process that compensates 'q': 'esp' is one already")],
    ),
    "boundary event and event sub-process": (
        [*SUB, handled(sub("q", start("i"), end("j"), ESP, "i > j"), "q")],
        [("esp", "'q' has a compensation boundary event, too: one of the two is too much")],
    ),
    "an unknown activity": (
        [start("s"), final("e", compensation("a")), "s > e"],
        [("e", f"{REFERENCED} doesn't exist")],
    ),
    "an activity without compensation": (
        [*A, throw("t", compensation("a")), "a > t"],
        [("t", f"{REFERENCED} must have either a compensation boundary event or be a subprocess")],
    ),
    "an activity in another scope": (
        [*SUB, sub("q", start("i"), done("a"), "i > a"), throw("t", compensation("a")), "q > t"],
        [("t", f"{REFERENCED} must be in the same scope as the compensation throw event")],
    ),
    "a start of a process": (
        [f'<startEvent id="s">{compensation()}</startEvent>', end("e"), "s > e"],
        [("s", "a compensation event cannot start a process")],
    ),
}


@pytest.mark.parametrize(("parts", "problems"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_executed_is_refused(parts, problems):
    found = read_resource("p.bpmn", model(*parts)).problems
    assert [(one.element_id, one.message) for one in found] == problems
    assert all(one.line for one in found)


def test_a_handler_is_reached_and_an_activity_reference_elsewhere_is_a_warning():
    parts = [
        *LINE,
        done("a"),
        "s > a > e",
        sub("q", start("i"), ESP.replace("Definition/>", 'Definition activityRef="a"/>')),
    ]
    warnings = read_resource("p.bpmn", model(*parts)).warnings
    text = "activityRef has no effect here: only a throwing compensation event names an activity"
    assert [(one.element_id, one.message) for one in warnings] == [
        ("q", "nothing leads to it: it is never entered"),
        ("esp-start", text),
    ]


def test_an_event_sub_process_names_an_activity_around_it():
    esp = on(error("A"), "esp", throw("t", compensation("a")), "esp-start > t")
    assert read_resource("p.bpmn", model(*LINE, done("a"), "s > a > e", esp)).problems == ()
