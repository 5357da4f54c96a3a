"""Timers of elements in the core: boundaries, event sub-processes, gateways, and triggers that do nothing."""

import pytest

from tests.core.models import end, flow, process, start, task
from vivero.core.records.effects import RejectionCode
from vivero.core.records.timers import FireTimer, MoveTimer, TriggerTimer

HOUR = 3_600_000


def timer(kind, text):
    return f"<timerEventDefinition><{kind}>{text}</{kind}></timerEventDefinition>"


def boundary(id, host, kind, text, interrupting=True):
    cancels = str(interrupting).lower()
    head = f'<boundaryEvent id="{id}" attachedToRef="{host}" cancelActivity="{cancels}">'
    return f"{head}{timer(kind, text)}</boundaryEvent>"


def catch(id, text):
    return f'<intermediateCatchEvent id="{id}">{timer("timeDuration", text)}</intermediateCatchEvent>'


HOST = (start(), task("work"), end(), "start > work > end")


def pending(engine):
    """(target, due in hours from the start) of each pending timer."""
    return sorted((timer.target, (timer.due_at - 1_000) / HOUR) for timer in engine.state.timers.values())


def trigger(engine, target, at=None):
    """Fire the timer of an element when it is due, or at another time."""
    found = next(timer for timer in engine.state.timers.values() if timer.target == target)
    engine.memory.now = found.due_at if at is None else at
    return engine.run(TriggerTimer(found.key, found.due_at))


def test_an_interrupting_boundary_ends_its_host_and_what_else_waits_there(engine):
    late, remind = (
        boundary("late", "work", "timeDuration", "PT2H"),
        boundary("remind", "work", "timeCycle", "R/PT1H", False),
    )
    engine.deploy(process(*HOST, late, remind, task("escalate"), "late > escalate", task("nudge"), "remind > nudge"))
    engine.start()
    assert pending(engine) == [("late", 2), ("remind", 1)]
    trigger(engine, "remind")
    assert pending(engine) == [("late", 2), ("remind", 2)]
    assert engine.jobs == ["nudge", "work"]
    trigger(engine, "late")
    assert (pending(engine), engine.jobs) == ([], ["escalate", "nudge"])


def test_a_bounded_cycle_fires_so_often(engine):
    engine.deploy(process(*HOST, boundary("b", "work", "timeCycle", "R2/PT1H", False), task("t"), "b > t"))
    engine.start()
    trigger(engine, "b")
    trigger(engine, "b")
    assert (pending(engine), engine.jobs) == ([], ["t", "t", "work"])


def test_a_completed_host_takes_its_timers_with_it(engine):
    engine.deploy(process(*HOST, boundary("b", "work", "timeDuration", "PT1H"), end("e2"), "b > e2"))
    key = engine.start()
    engine.complete("work")
    assert (pending(engine), engine.state_of(key)) == ([], "COMPLETED")


def test_if_one_boundary_timer_fails_none_is_scheduled(engine):
    """The effects of a stage that fails are dropped, also those before the failure."""
    good, bad = boundary("good", "work", "timeDuration", "PT1H"), boundary("bad", "work", "timeDuration", "=x")
    engine.deploy(process(*HOST, good, bad))
    key = engine.start(x=None)
    assert (pending(engine), len(engine.incidents)) == ([], 1)
    engine.set(key, x="PT2H")
    engine.resolve()
    assert (pending(engine), engine.incidents) == ([("bad", 2.0), ("good", 1.0)], [])


def test_the_first_timer_behind_a_gateway_wins(engine):
    parts = (start(), '<eventBasedGateway id="g"/>', catch("one", "PT1H"), catch("two", "PT2H"), task("a"), task("b"))
    engine.deploy(process(*parts, "start > g > one > a", flow("g", "two"), flow("two", "b")))
    engine.start()
    assert pending(engine) == [("one", 1), ("two", 2)]
    trigger(engine, "one")
    assert (pending(engine), engine.jobs) == ([], ["a"])


def test_what_cannot_be_evaluated_is_an_incident_that_is_resolved(engine):
    engine.deploy(process(start(), catch("wait", "=later"), end(), "start > wait > end"))
    key = engine.start()
    ((element, type_, message),) = engine.incidents
    assert (element, type_) == ("wait", "EXTRACT_VALUE_ERROR")
    assert message == "Invalid timer duration expression 'later': its value is null, which is no duration"
    engine.set(key, later="PT1H")
    engine.resolve()
    assert pending(engine) == [("wait", 1)]


@pytest.mark.parametrize("wrong", [(0, -1), (0, 1), (1, 0)])
def test_a_trigger_of_another_date_or_timer_changes_nothing(engine, wrong):
    engine.deploy(process(start(), catch("wait", "PT1H"), end(), "start > wait > end"))
    engine.start()
    ((key, found),) = engine.state.timers.items()
    engine.memory.now = found.due_at + HOUR
    handled = engine.run(TriggerTimer(key + wrong[0] * 1_000, found.due_at + wrong[1]))
    assert (handled.rejection, handled.events) == (None, [])
    assert pending(engine) == [("wait", 1)]


def test_a_trigger_before_the_due_date_changes_nothing_and_the_timer_is_told_again(engine):
    engine.deploy(process(start(), catch("wait", "PT1H"), end(), "start > wait > end"))
    engine.start()
    engine.memory.processor.notices.timers.clear()
    assert trigger(engine, "wait", at=0).events == []
    ((key, found),) = engine.state.timers.items()
    assert engine.memory.processor.notices.timers == {key: (found.due_at, "<default>")}


def test_a_cycle_that_is_fired_by_hand_goes_on_with_its_next_date(engine):
    engine.deploy(process(*HOST, boundary("b", "work", "timeCycle", "R3/PT1H", False), task("t"), "b > t"))
    engine.start()
    (key,) = engine.state.timers
    engine.run(FireTimer(key))
    assert (pending(engine), engine.jobs) == ([("b", 2)], ["t", "work"])


def test_a_timer_is_moved_within_the_years_that_can_be_kept(engine):
    engine.deploy(process(start(), catch("wait", "PT1H"), end(), "start > wait > end"))
    engine.start()
    (key,) = engine.state.timers
    engine.run(MoveTimer(key, 1_000 + 5 * HOUR))
    assert pending(engine) == [("wait", 5)]
    for at in (-1, 253_402_300_800_000):
        assert engine.run(MoveTimer(key, at)).rejection.code is RejectionCode.INVALID_ARGUMENT
    assert engine.run(MoveTimer(key, 5), tenant="other").rejection.code is RejectionCode.NOT_FOUND
