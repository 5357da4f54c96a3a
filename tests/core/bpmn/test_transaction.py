"""Transactions and cancel events that cannot be executed as drawn: each problem with its element and line."""

import pytest

from tests.core.compensation_models import CANCEL, as_handler, compensation, handled, transaction
from tests.core.event_models import boundary, final, loop, model, on
from tests.core.models import end, start, sub, task
from vivero.core.resources.kinds import read_resource

LINE = (start("s"), end("e"), "s > tx > e")
NO = (start("i"), final("no", CANCEL), "i > no")
CAUGHT = boundary("c", "tx", CANCEL)
ELSEWHERE = "boundary event with cancelEventDefinition only supported on transaction subprocesses"
OUTSIDE = "end event with cancelEventDefinition only supported inside transaction subprocess"
HANDLES = "a cancel end event cannot stand in {!r}, which runs to compensate something".format
ESP = on(compensation(), "esp", final("no", CANCEL), "esp-start > no")

REFUSED = {
    "at a sub-process": ([*LINE, sub("tx", start("i")), CAUGHT], [("c", ELSEWHERE)]),
    "at a task": ([*LINE, task("tx"), CAUGHT], [("c", ELSEWHERE)]),
    "two at one transaction": (
        [*LINE, transaction("tx", *NO), CAUGHT, boundary("d", "tx", CANCEL)],
        [("d", "multiple boundary events with cancelEventDefinition not supported on same transaction subprocess")],
    ),
    "in a process": ([start("s"), final("no", CANCEL), "s > no"], [("no", OUTSIDE)]),
    "in a sub-process": ([*LINE, sub("tx", *NO)], [("no", OUTSIDE)]),
    "without a boundary event": (
        [*LINE, transaction("tx", *NO)],
        [("no", "the transaction 'tx' needs a cancel boundary event: it is what follows this end event")],
    ),
    "at the outer transaction only": (
        [*LINE, transaction("tx", start("j"), transaction("ti", *NO), "j > ti"), CAUGHT],
        [("no", "the transaction 'ti' needs a cancel boundary event: it is what follows this end event")],
    ),
    "in a handler": (
        [*LINE, transaction("tx", start("j"), handled(task("a"), "a", sub("u", *NO)), "j > a"), CAUGHT],
        [("no", HANDLES("u"))],
    ),
    "in a handler that is a transaction": (
        [start("s"), end("e"), "s > a > e", handled(task("a"), "a", transaction("u", *NO))],
        [("no", "the transaction 'u' needs a cancel boundary event: it is what follows this end event")],
    ),
    "in an event sub-process that compensates": (
        [*LINE, transaction("tx", start("j"), sub("q", start("i"), ESP), "j > q"), CAUGHT],
        [("no", HANDLES("esp"))],
    ),
    "a start event": (
        [f'<startEvent id="s">{CANCEL}</startEvent>', end("e"), "s > e"],
        [("s", "a cancel event cannot start a process")],
    ),
    "a catch event": (
        [start("s"), f'<intermediateCatchEvent id="k">{CANCEL}</intermediateCatchEvent>', end("e"), "s > k > e"],
        [("k", "a cancel event cannot be an intermediate catch event")],
    ),
    "a throw event": (
        [start("s"), f'<intermediateThrowEvent id="k">{CANCEL}</intermediateThrowEvent>', end("e"), "s > k > e"],
        [("k", "a cancel event cannot be an intermediate throw event")],
    ),
    "the start of an event sub-process": (
        [*LINE, transaction("tx", start("i"), on(CANCEL, "esp", end("x"), "esp-start > x"))],
        [("esp-start", "a cancel event cannot start an event sub-process")],
    ),
    "before another definition": (
        [*LINE, transaction("tx", start("i"), final("no", CANCEL + "<terminateEventDefinition/>"), "i > no"), CAUGHT],
        [("no", "cancelEventDefinition: the definitions behind it would never be thrown")],
    ),
    "beside another definition, outside": (
        [start("s"), final("no", '<signalEventDefinition signalRef="g"/>' + CANCEL), "s > no"],
        [("no", OUTSIDE)],
    ),
    "an event sub-process": (
        [
            start("s"),
            end("e"),
            "s > e",
            ESP.replace("<subProcess", "<transaction").replace("</subProcess", "</transaction"),
        ],
        None,
    ),
    "end listeners": (
        [
            *(*LINE, CAUGHT),
            transaction(
                "tx",
                start("i"),
                final(
                    "no",
                    '<extensionElements><zeebe:executionListeners><zeebe:executionListener eventType="end" type="t"/>'
                    "</zeebe:executionListeners></extensionElements>" + CANCEL,
                ),
                "i > no",
            ),
        ],
        [
            (
                "no",
                "zeebe:executionListener: a cancel end event has no end listeners: it never completes;"
                " the cancel boundary event can have them",
            )
        ],
    ),
}


@pytest.mark.parametrize(("parts", "problems"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_executed_is_refused(parts, problems):
    file = model(*parts).replace(b"</definitions>", b'<signal id="g" name="g"/></definitions>')
    found = read_resource("p.bpmn", file).problems
    assert all(one.line for one in found)
    if problems is None:
        assert ("esp", "an event sub-process cannot be a transaction") in [
            (one.element_id, one.message) for one in found
        ]
    else:
        assert [(one.element_id, one.message) for one in found] == problems


@pytest.mark.parametrize("method", ["##Image", "##Store", "https://example.org/method"])
def test_another_method_is_a_warning(method):
    parsed = read_resource("p.bpmn", model(*LINE, transaction("tx", *NO, method=method), CAUGHT))
    assert parsed.problems == ()
    text = f"method='{method}' has no effect: a cancelled transaction is compensated (##Compensate)"
    assert [(one.element_id, one.message) for one in parsed.warnings] == [("tx", text)]


def test_a_boundary_event_that_should_not_interrupt_is_a_warning():
    beside = boundary("c", "tx", CANCEL, interrupting=False)
    parsed = read_resource("p.bpmn", model(*LINE, transaction("tx", *NO, method="##Compensate"), beside))
    assert parsed.problems == ()
    text = "cancelActivity has no effect: a cancel boundary event always interrupts"
    assert [(one.element_id, one.message) for one in parsed.warnings] == [("c", text)]


def test_a_cancel_end_event_may_stand_at_any_depth():
    deep = transaction("tx", start("k"), loop(sub("q", start("j"), sub("r", *NO), "j > r")), "k > q")
    in_handler = as_handler(
        transaction("u", *(part.replace("no", "nu").replace('"i"', '"iu"') for part in NO[:2]), "iu > nu")
    )
    caught = boundary("cu", "u", CANCEL)
    assert read_resource("p.bpmn", model(*LINE, deep, CAUGHT)).problems == ()
    found = read_resource("p.bpmn", model(*LINE, deep, CAUGHT, in_handler, caught)).problems
    assert [one.message for one in found] == ["A compensation handler should have no boundary events"]
