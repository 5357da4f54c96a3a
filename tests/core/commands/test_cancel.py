"""Cancelling an instance: at every point where it can be quiet, in quanta, and what is rejected."""

import pytest

from tests.core.engine import Engine
from tests.core.models import ONE_TASK, end, flow, par, process, start, sub, task, xor
from vivero.core.execution.step import StepLimits
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, ContinueWork

QUANTA = [1, 7, 500]
ENDED = {"COMPLETED", "TERMINATED"}


def everything():
    """Two tasks beside a sub-process in a sub-process, a choice without a way out, and a join that waits."""
    inner = sub(
        "inner", start("i1"), task("deep"), xor("stuck"), "i1 > deep > stuck", flow("stuck", "i2", "=false"), end("i2")
    )
    outer = sub("outer", start("o1"), inner, task("beside"), "o1 > inner", "o1 > beside")
    return process(
        start(), par("f"), outer, task("a"), par("j"), task("after"), "start > f > outer > j > after", "f > a > j"
    )


def quiet_points():
    """Paths through `everything`: each prefix of these completions is a point where the instance is quiet."""
    return [["a"], ["deep", "a"], ["beside", "deep"], ["a", "beside", "deep"]]


def prefixes():
    return sorted({tuple(path[:n]) for path in quiet_points() for n in range(len(path) + 1)})


def is_over(engine, key):
    live = [
        row for (table, _), row in engine.rows.items() if table in {"Element", "Instance"} and row["state"] not in ENDED
    ]
    jobs = [row for (table, _), row in engine.rows.items() if table == "Job" and row["ended_at"] is None]
    incidents = [row for (table, _), row in engine.rows.items() if table == "Incident" and row["state"] != "RESOLVED"]
    state = engine.state
    held = [state.elements, state.jobs, state.incidents, state.trees, state.ended, state.dirty]
    return (live, jobs, incidents, [len(part) for part in held], state.weight) == ([], [], [], [0] * 6, 0)


@pytest.mark.parametrize("limit", QUANTA)
@pytest.mark.parametrize("path", prefixes(), ids="-".join)
def test_an_instance_can_be_cancelled_at_every_quiet_point(path, limit):
    engine = Engine(StepLimits(quantum_items=limit))
    engine.deploy(everything())
    key = engine.start()
    for name in path:
        engine.complete(name)
    handled = engine.cancel(key)
    assert handled.rejection is None
    assert is_over(engine, key)
    assert engine.state_of(key) == "TERMINATED"
    (cancelled_at,) = [logged.position for logged in engine.memory.log if isinstance(logged.command, CancelInstance)]
    later = [
        row for logged in engine.memory.log for row in logged.handled if row.answered and row.request == cancelled_at
    ]
    assert handled.answered + len(later) == 1, "answered once, when the instance has ended"


def test_children_end_before_their_scopes(engine):
    engine.deploy(everything())
    engine.cancel(engine.start())
    ended = [line.split()[1] for line in engine.trace if line.strip().startswith("ElementTerminated")]
    assert ended.index("deep") < ended.index("inner") < ended.index("outer") < ended.index("p")
    assert ended.index("beside") < ended.index("outer")
    assert ended[-1] == "p"


def test_a_cancelled_job_and_a_cancelled_incident_are_over(engine):
    engine.deploy(ONE_TASK)
    key = engine.start()
    engine.fail("work")
    engine.cancel(key)
    (job,) = [row for (table, _), row in engine.rows.items() if table == "Job"]
    (incident,) = [row for (table, _), row in engine.rows.items() if table == "Incident"]
    assert (job["state"], job["ended_at"]) == ("CANCELED", 1_000)
    assert (incident["state"], incident["resolved_at"]) == ("RESOLVED", 1_000)


def test_two_thousand_children_are_ended_in_pages(engine):
    """More than a quantum: the rest is deferred, and other commands come in between."""
    wide = sub("s", start("s1"), *[task(f"t{n}") for n in range(50)], *[flow("s1", f"t{n}") for n in range(50)])
    engine.deploy(process(start(), wide, *[flow("start", "s", id=f"f{n}") for n in range(50)]))
    key = engine.start()
    assert len(engine.jobs) == 2_500
    engine.cancel(key)
    assert is_over(engine, key)
    quanta = [logged for logged in engine.memory.log if type(logged.command).__name__ == "ContinueWork"]
    assert len(quanta) >= 2
    told = [
        sum(type(event).__name__ == "ElementTerminated" for event in row.events)
        for logged in engine.memory.log
        for row in logged.handled
    ]
    assert max(told) <= 2_000 + 100


def test_cancelling_twice_answers_the_second_at_once():
    engine = Engine(StepLimits(quantum_items=1))
    engine.deploy(everything())
    key = engine.start()
    first = engine.memory.handle(CancelInstance(key), "<default>", None)
    assert not first[0].answered
    second = engine.memory.handle(CancelInstance(key), "<default>", None)
    assert second[0].rejection is None
    assert second[0].events == []


def test_what_is_not_there_cannot_be_cancelled(engine):
    engine.deploy(ONE_TASK)
    ended = engine.start()
    engine.complete("work")
    other = engine.start()
    for key, tenant in ((77, "<default>"), (ended, "<default>"), (other, "other")):
        rejection = engine.run(CancelInstance(key), tenant).rejection
        assert rejection.code is RejectionCode.NOT_FOUND
        assert rejection.reason == (
            f"Expected to cancel a process instance with key '{key}', but no such process was found"
        )


def test_an_element_instance_is_no_process_instance(engine):
    engine.deploy(ONE_TASK)
    engine.start()
    assert engine.cancel(engine.element("work").key).rejection.code is RejectionCode.NOT_FOUND


def test_going_on_with_what_has_ended_is_rejected(engine):
    rejection = engine.run(ContinueWork(77)).rejection
    assert (
        rejection.reason
        == "Expected to continue process instance with key '77', but no such process instance was found"
    )
