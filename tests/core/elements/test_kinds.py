"""The kinds of cases of betsy (github.com/uniba-dsg/betsy) for the rest of BPMN, built anew from their descriptions.

Each has the trace that BPMN 2.0.2 asks for: the tasks as they complete, in the order of their jobs. `.` at the end: the
instance has completed; `?`: it stands still; `!`: it has an incident. A case that is refused has the element and a part
of the reason instead. `COUNTS` says how many cases of each kind are right and refused; none may be wrong.
"""

from collections import Counter
from typing import Any

import pytest

from tests.core.compensation_models import CANCEL, compensation, done, transaction
from tests.core.elements.test_inner_events import behaving, thrown
from tests.core.elements.test_quantities import gives, needs
from tests.core.elements.test_standard_loop import repeated
from tests.core.engine import Engine
from tests.core.event_models import (
    ad_hoc,
    boundary,
    catch,
    complex_gateway,
    error,
    final,
    model,
    on,
    throw,
    together,
)
from tests.core.models import end, flow, par, start, sub, task, xor
from vivero.core.bpmn.parser import parse

MOST = 20
SIGNAL, OTHER = '<signalEventDefinition signalRef="s"/>', '<signalEventDefinition signalRef="o"/>'
NEVER = "<timerEventDefinition><timeDuration>P1D</timeDuration></timerEventDefinition>"
SHARED = (
    '<signal id="s" name="s"/><signal id="o" name="o"/><signalEventDefinition id="shared" signalRef="s"/>'
    '<errorEventDefinition id="shared-error" errorRef="error-A"/>'
    '<message id="m" name="m"/>'
)
REFERENCE = "<eventDefinitionRef>{}</eventDefinitionRef>"
TWO, ALL = "=activationCount >= 2", "=activationCount >= 3"


def line(*parts, beside=(SHARED,)):
    """A process whose parts follow each other; of a part with several elements, the first does."""
    names = [part.partition('id="')[2].partition('"')[0] for part in parts if not part.startswith("<boundaryEvent")]
    return model(start(), *parts, end(), " > ".join(["start", *names, "end"]), beside=beside)


def looped(activity, *given, **settings):
    return line(repeated(activity, *given, **settings), task("z"))


def forked(names, gateway, *more, behind="g > z > end"):
    """The tasks of `names` begin together and lead to the gateway `g`."""
    flows = [way for name in names for way in (f"f > {name}", f"{name} > g")]
    return model(start(), par("f"), *map(task, names), gateway, task("z"), end(), "start > f", *flows, behind, *more)


def out_of(activity, ways, *more, default=None, gateway=""):
    """Flows out of `a`: target → condition, None for none."""
    head = activity if default is None else activity.replace(' id="', f' default="x-{default}" id="', 1)
    flows = [flow("a", target, condition, id=f"x-{target}") for target, condition in ways.items()]
    ends = [f"{target} > end-{target}" for target in ways]
    parts = [each for target in ways for each in (task(target), end(f"end-{target}"))]
    return model(start(), head, *parts, "start > a", *flows, *ends, gateway, *more)


A, BOTH = task("a"), '=["a", "b"]'
YES, NO = "=n = 1", "=n = 2"
FAILS = sub("a", start("i"), final("bad", error("A")), "i > bad")


def booked(*parts, flows):
    return model(start(), *parts, end(), *flows, beside=(SHARED,))


def tx(*inside, flows, behind=("no-booking", "end-none")):
    caught = boundary("cancelled", "tx", CANCEL)
    return model(
        start(), transaction("tx", start("i"), *inside, *flows), caught, task("undone"), task("z"), end(),
        "start > tx > z > end", "cancelled > undone", beside=(SHARED,),
    )  # fmt: skip


def mi(activity, behavior, attributes="", inside="", interrupting=False):
    caught = boundary("b", "x", '<signalEventDefinition signalRef="s-done"/>', interrupting=interrupting)
    return behaving(behavior, attributes, inside, activity, (caught, "b > aside"), sequential=True)


NONE, ONE = ' noneBehaviorEventRef="done"', ' oneBehaviorEventRef="done"'
GLOBAL = (
    '<globalScriptTask id="g"><extensionElements><zeebe:script expression="=2" resultVariable="n"/></extensionElements>'
    "</globalScriptTask>"
)
INSTANTIATING = '<receiveTask id="r" instantiate="true" messageRef="m"/>'

KINDS: dict[str, dict[str, tuple[Any, Any]]] = {
    "loops": {
        "condition after": (looped(A, "=loopCounter < 3"), "a a a z."),
        "condition false, after": (looped(A, "=false"), "a z."),
        "condition false, before": (looped(A, "=false", before=True), "z."),
        "condition before": (looped(A, "=loopCounter < 2", before=True), "a a z."),
        "maximum only": (looped(A, None, 2), "a a z."),
        "maximum of one": (looped(A, None, 1), "a z."),
        "maximum first": (looped(A, "=true", 3), "a a a z."),
        "condition first": (looped(A, "=loopCounter < 2", 5), "a a z."),
        "maximum, before": (looped(A, "=true", 2, before=True), "a a z."),
        "sub-process": (looped(sub("l", start("i"), A, task("b"), end("j"), "i > a > b > j"), None, 2), "a b a b z."),
        "negative maximum": (looped(A, None, -1), ("a", "loopMaximum")),
        "maximum of zero": (looped(A, None, 0), ("a", "loopMaximum")),
        "neither": (looped(A), ("a", "loopMaximum")),
    },
    "quantities": {
        "two of one": (line(needs(A, 2)), "?"),
        "two of two": (forked("ab", needs(task("g"), 2)), "a b g z."),
        "gives two": (line(gives(A, 2), task("z")), "a z z."),
        "gives and needs two": (line(gives(A, 2), needs(task("b"), 2), task("z")), "a b z."),
        "needs zero": (line(needs(A, 0)), ("a", "startQuantity")),
        "gives less than zero": (line(gives(A, -1)), ("a", "completionQuantity")),
    },
    "conditional flows": {
        "true": (out_of(A, {"b": YES, "c": None}), "a b c."),
        "false": (out_of(A, {"b": NO, "c": None}), "a c."),
        "two true": (out_of(A, {"b": YES, "c": YES}), "a b c."),
        "default not needed": (out_of(A, {"b": YES, "c": None}, default="c"), "a b."),
        "default": (out_of(A, {"b": NO, "c": None}, default="c"), "a c."),
        "default beside an unconditional one": (out_of(A, {"b": NO, "c": None, "d": None}, default="d"), "a c d."),
        "none": (out_of(A, {"b": NO, "c": NO}), "a!"),
        "only one, false": (out_of(A, {"b": NO}), "a!"),
        "of a sub-process": (out_of(sub("a", start("i"), task("w"), "i > w"), {"b": NO, "c": YES}), "w c."),
        "of a loop": (out_of(repeated(A, None, 2), {"b": NO, "c": YES}), "a a c."),
        "no condition is read after an interruption": (
            out_of(FAILS, {"b": YES, "c": None}, boundary("e", "a", error("A")), task("d"), "e > d"), "d."),
        "of an event": (model(start(), throw("a"), task("b"), "start > a", flow("a", "b", YES)), ("a-b", "condition")),
        "behind a parallel gateway": (out_of(par("a"), {"b": NO, "c": YES}), "b c."),
        "behind a parallel gateway, all false": (out_of(par("a"), {"b": NO, "c": NO}), "b c."),
        "behind a parallel gateway, one": (out_of(par("a"), {"b": NO, "c": None}), "b c."),
        "behind a joining parallel gateway": (forked("ab", par("g"), flow("g", "c", NO), task("c")), "a b z c."),
    },
    "complex gateway": {
        "one of two": (forked("ab", complex_gateway("g", "=activationCount >= 1")), "a b z."),
        "two of two": (forked("ab", complex_gateway("g", TWO)), "a b z."),
        "two of three": (forked("abc", complex_gateway("g", TWO)), "a b c z."),
        "three of three": (forked("abc", complex_gateway("g", ALL)), "a b c z."),
        "never": (forked("ab", complex_gateway("g", "=false")), "a b?"),
        "a third branch ends otherwise": (
            model(start(), par("f"), FAILS, boundary("e", "a", error("A")), task("b"), task("c"), task("d"),
                complex_gateway("g", TWO), task("z"), "start > f > a > g > z", "f > b > g", "f > c > g", "e > d"),
            "b c d z."),
        "forks: one": (model(start(), complex_gateway("g"), A, task("b"), "start > g", flow("g", "a", YES),
            flow("g", "b", NO)), "a."),
        "forks: both": (model(start(), complex_gateway("g"), A, task("b"), "start > g", flow("g", "a", YES),
            flow("g", "b", YES)), "a b."),
        "forks: default": (model(start(), complex_gateway("g", default="d"), A, task("b"), "start > g",
            flow("g", "a", NO), flow("g", "b", id="d")), "b."),
        "forks: none": (model(start(), complex_gateway("g"), A, task("b"), "start > g", flow("g", "a", NO),
            flow("g", "b", NO)), "!"),
        "a new round": (
            model(start(), xor("x"), par("f"), A, task("b"), complex_gateway("g", TWO), task("z"), xor("y", "out"),
                end(), "start > x > f > a > g > z > y", "f > b > g", flow("y", "x", "=again"),
                flow("y", "end", id="out")), "a b z."),
        "no condition": (forked("ab", complex_gateway("g")), ("g", "activationCondition")),
    },
    "multiple events": {
        "throws both": (line(throw("t", SIGNAL + OTHER), A), "a."),
        "either": (model(start(), par("f"), catch("c", SIGNAL + NEVER), A, throw("t", SIGNAL), end(),
            "start > f > c > end", "f > a > t", beside=(SHARED,)), "a."),
        "both, one comes": (model(start(), par("f"), together(catch("c", SIGNAL + OTHER)), A, throw("t", SIGNAL),
            "start > f > c", "f > a > t", beside=(SHARED,)), "a?"),
        "both come": (model(start(), par("f"), together(catch("c", SIGNAL + OTHER)), A, throw("t", SIGNAL + OTHER),
            task("z"), "start > f > c > z", "f > a > t", beside=(SHARED,)), "a z."),
        "at an activity": (model(start(), par("f"), task("w"), boundary("b", "w", SIGNAL + NEVER), A, task("z"),
            throw("t", SIGNAL), "start > f > a > t", "f > w", "b > z", beside=(SHARED,)), "a z."),
        "one of them an error": (line(catch("c", SIGNAL + error("A"))), ("c", "error")),
    },
    "shared definitions": {
        "throw": (line(throw("t", REFERENCE.format("shared")), A), "a."),
        "catch": (model(start(), par("f"), catch("c", REFERENCE.format("shared")), A, throw("t", SIGNAL), task("z"),
            "start > f > c > z", "f > a > t", beside=(SHARED,)), "a z."),
        "boundary and end": (
            model(start(), sub("x", start("i"), A, final("bad", REFERENCE.format("shared-error")), "i > a > bad"),
                boundary("b", "x", REFERENCE.format("shared-error")), task("z"), "start > x", "b > z",
                beside=(SHARED,)), "a z."),
        "unknown": (line(throw("t", REFERENCE.format("no"))), ("t", "no")),
    },
    "compensation": {
        "throw": (line(done("a"), throw("t", compensation()), task("z")), "a ua z."),
        "end": (booked(done("a"), final("t", compensation()), flows=("start > a > t",)), "a ua."),
        "one activity": (line(done("a"), done("b"), throw("t", compensation("a")), task("z")), "a b ua z."),
        "latest first": (line(done("a"), done("b"), throw("t", compensation()), task("z")), "a b ub ua z."),
        "event sub-process": (line(sub("s", start("i"), A, "i > a", on(compensation(), "e", task("u"), "e-start > u")),
            throw("t", compensation()), task("z")), "a u z."),
    },
    "transactions": {
        "completes": (tx(A, end("j"), xor("x", "ok"), final("no", CANCEL), flows=("i > a > x", flow("x", "j", id="ok"),
            flow("x", "no", NO))), "a z."),
        "cancelled": (tx(A, final("no", CANCEL), flows=("i > a > no",)), "a undone."),
        "cancelled and compensated": (tx(done("a"), done("b"), final("no", CANCEL), flows=("i > a > b > no",)),
            "a b ub ua undone."),
        "cancelled beside others": (tx(par("f"), A, task("b"), final("no", CANCEL), flows=("i > f > a > no", "f > b")),
            "a undone."),
        "error": (model(start(), transaction("tx", start("i"), done("a"), final("bad", error("A")), "i > a > bad"),
            boundary("b", "tx", error("A")), boundary("c", "tx", CANCEL), task("z"), "start > tx", "b > z"), "a z."),
    },
    "ad-hoc": {
        "parallel": (line(ad_hoc("h", A, task("b"), active=BOTH), task("z")), "a b z."),
        "sequential": (line(ad_hoc("h", A, task("b"), active=BOTH, ordering="Sequential"), task("z")), "a b z."),
        "completion condition": (line(ad_hoc("h", A, task("b"), active=BOTH, until="=true"), task("z")), "a z."),
    },
    "behavior": {
        "all": (mi(task("x"), "All"), "x x after."),
        "none": (mi(task("x"), "None", NONE), "x aside x aside after."),
        "one": (mi(task("x"), "One", ONE), "x aside x after."),
        "complex": (mi(task("x"), "Complex", "", thrown("=item = 2")), "x x aside after."),
        "complex, never": (mi(task("x"), "Complex", "", thrown("=item = 3")), "x x after."),
        "none, interrupting": (mi(task("x"), "None", NONE, interrupting=True), "x aside."),
        "one, interrupting": (mi(task("x"), "One", ONE, interrupting=True), "x aside."),
        "another": (mi(task("x"), "Some"), ("x", "behavior")),
    },
    "instantiating receive task": {"message": (model(INSTANTIATING, A, "r > a", beside=(SHARED,)), "a.")},
    "global task": {"called": (line('<callActivity id="c" calledElement="g"/>', A, beside=(SHARED, GLOBAL)), "a.")},
}  # fmt: skip
COUNTS = {
    "loops": (10, 3),
    "quantities": (4, 2),
    "conditional flows": (15, 1),
    "complex gateway": (11, 1),
    "multiple events": (5, 1),
    "shared definitions": (3, 1),
    "compensation": (5, 0),
    "transactions": (5, 0),
    "ad-hoc": (3, 0),
    "behavior": (7, 1),
    "instantiating receive task": (1, 0),
    "global task": (1, 0),
}
"""Kind → cases that are right, and refused."""
CASES = [(kind, name) for kind, cases in KINDS.items() for name in cases]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_a_case_is_right(kind, name):
    content, expected = KINDS[kind][name]
    if isinstance(expected, str):
        assert trace(content) == expected
    else:
        element, reason = expected
        problems = [each for each in parse(content, "p.bpmn").deployment_problems if reason in each.message]
        assert {(each.element_id, each.line) for each in problems} == {(element, 1)}


def test_so_many_cases_of_each_kind_are_right_and_refused():
    found = {kind: Counter(type(expected) for _, expected in cases.values()) for kind, cases in KINDS.items()}
    assert {kind: (count[str], count[tuple]) for kind, count in found.items()} == COUNTS


def trace(content):
    """The tasks that complete, in the order of their jobs, and how the instance ends."""
    engine = Engine(keeps_rows=False)
    engine.deploy(content)
    if "instantiate=" in content.decode():
        engine.publish("m", "1")
    else:
        engine.start(n=1, items=[1, 2], again=False)
    completed = []
    while engine.state.jobs and len(completed) < MOST:
        job = next(iter(engine.state.jobs.values()))
        completed.append(job.element.element)
        engine.complete(job.element.element)
    stuck = any(type == "DEADLOCK" or "Deadlock" in message for _, type, message in engine.incidents)
    end = "." if not engine.state.elements else "?" if stuck or not engine.incidents else "!"
    return " ".join(completed) + end
