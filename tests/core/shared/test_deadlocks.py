"""Scopes that can never go on tell it by an incident; whole and in quanta of one item. Others are silent there."""

import pytest

from tests.core.engine import Engine, apply_by, explode, keep_rows
from tests.core.event_models import LIMITS, boundary, call, catch, ended, error, final, inc, loop, model, on, run
from tests.core.models import chain, end, flow, par, start, sub, task, xor
from tests.core.quanta import set_quantum
from vivero.core.dispatch import COMMANDS, Handler
from vivero.core.records.codec import decode_events, encode_events
from vivero.core.records.instances import SetVariables, VariableSet
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.timers import FireTimer
from vivero.core.replay import Recorded, replay
from vivero.core.shared.flows import enter
from vivero.core.state.state import State

TIMER = '<timerEventDefinition><timeDuration>=duration("PT1H")</timeDuration></timerEventDefinition>'
STUCK = (start(), xor("g", default="g-a"), task("a"), task("b"), par("j"), task("after"), end())
STUCK_FLOWS = ("start > g > a > j > after > end", flow("g", "b", "=both"), "b > j")
"""An exclusive gateway forks what a parallel gateway joins: after `a`, `j` waits for ever."""
MESSAGE = "Deadlock: tokens wait at [j]"


def inner(id, *parts, name="s"):
    """A sub-process that gets stuck after the task `a`."""
    flows = (f"{name}-start > g > a > j > {name}-done", flow("g", "j", "=both"))
    body = (start(f"{name}-start"), xor("g", default="g-a"), task("a"), par("j"), end(f"{name}-done"))
    return sub(id, *body, *flows, *parts)


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


@pytest.fixture
def stuck(engine):
    engine.key = run(engine, model(*STUCK, *STUCK_FLOWS), both=False)
    assert engine.incidents == []
    engine.complete("a")
    return engine


def fire(engine, target):
    (timer,) = (timer for timer in engine.state.timers.values() if timer.target == target)
    engine.accepted(FireTimer(timer.key))


# ---- who is stuck


def test_a_process_whose_tokens_all_wait_before_joins_has_an_incident(stuck):
    assert stuck.incidents == [("p", "UNKNOWN", MESSAGE)]
    (incident,) = stuck.state.incidents.values()
    assert (incident.stage, incident.job) == ("deadlock", None)
    assert stuck.elements == ["p"]
    assert stuck.element("p").incidents == 1


def test_it_says_so_once(stuck):
    stuck.set(stuck.key, x=1)
    assert len(stuck.incidents) == 1


def test_the_message_names_every_join_once(engine):
    parts = (start(), task("a"), par("j2"), par("j1"), "start > a > j2", "a > j1", "j1 > j2", "j2 > j1")
    run(engine, model(*parts, flow("a", "j2", id="again")))
    engine.complete("a")
    assert engine.incidents == [("p", "UNKNOWN", "Deadlock: tokens wait at [j1, j2]")]


def test_inclusive_joins_that_wait_for_each_other_are_stuck(engine):
    """BPMN 2.0.2 §13.4.3: the token before each could still come to the empty flow of the other."""
    parts = (start(), par("f"), inc("i"), inc("k"), xor("x", default="x-k"), xor("y", default="y-i"))
    flows = ("start > f > i", "f > k", "i > x > k", "k > y > i", flow("x", "end", "=true"), flow("y", "end", "=true"))
    run(engine, model(*parts, end(), *flows))
    assert engine.incidents == [("p", "UNKNOWN", "Deadlock: tokens wait at [i, k]")]


def test_a_surplus_token_that_finds_no_partner_is_told_when_all_else_is_over(engine):
    twice = [flow("start", "a", id=f"a{number}") for number in (1, 2)]
    run(engine, model(start(), task("a"), task("b"), par("j"), task("after"), *twice, "start > b > j > after", "a > j"))
    for name in ("a", "a", "b"):
        engine.complete(name)
    assert (engine.jobs, engine.incidents) == (["after"], [])
    engine.complete("after")
    assert engine.incidents == [("p", "UNKNOWN", MESSAGE)]


def test_a_stuck_sub_process_has_it_and_not_the_scopes_around(engine):
    run(engine, model(start(), inner("s"), end(), "start > s > end"), both=False)
    engine.complete("a")
    assert engine.incidents == [("s", "UNKNOWN", MESSAGE)]
    assert [(e.element, e.incidents) for e in engine.state.elements.values()] == [("p", 1), ("s", 1)]


def test_each_stuck_instance_of_a_loop_has_its_own(engine):
    run(engine, model(start(), loop(inner("s"), "=[1, 2, 3]"), end(), "start > s > end"), both=False)
    engine.complete("a")
    engine.complete("a")
    assert engine.incidents == [("s", "UNKNOWN", MESSAGE)] * 2
    assert [incident.element.index for incident in engine.state.incidents.values()] == [0, 1]
    assert (engine.jobs, engine.element("p").incidents) == (["a"], 2)


def test_a_called_process_that_is_stuck_has_it(engine):
    run(engine, model(*STUCK, *STUCK_FLOWS, id="q"), model(start(), call("c", "q"), "start > c"), both=False)
    engine.complete("a")
    assert engine.incidents == [("q", "UNKNOWN", MESSAGE)]


def test_an_event_sub_process_that_is_stuck_has_it(engine):
    parts = (xor("g", default="g-j"), par("j"), end("e"), "x-start > g > j > e", flow("g", "j", "=both", id="other"))
    run(engine, model(start(), final("thrown", error("A")), on(error(), "x", *parts), "start > thrown"), both=False)
    assert engine.incidents == [("x", "UNKNOWN", MESSAGE)]


# ---- who is not


def test_a_scope_with_a_child_that_lives_is_not_stuck(engine):
    parts = (*STUCK, task("beside"), "start > beside", *STUCK_FLOWS)
    run(engine, model(*parts), both=False)
    engine.complete("a")
    assert engine.incidents == []
    engine.fail("beside")
    assert [element for element, _, _ in engine.incidents] == ["beside"], "its incident is the one to resolve"
    engine.update("beside", retries=1)
    engine.resolve()
    engine.complete("beside")
    assert engine.incidents == [("p", "UNKNOWN", MESSAGE)]


def test_a_scope_that_can_be_interrupted_from_within_is_not_stuck(engine):
    """Its event sub-process may still end it."""
    handler = on('<signalEventDefinition signalRef="alarm"/>', "x", task("late"), "x-start > late")
    alarm = '<signal id="alarm" name="alarm"/>'
    key = run(engine, model(*STUCK, *STUCK_FLOWS, handler, beside=(alarm,)), both=False)
    engine.complete("a")
    assert engine.incidents == []
    engine.accepted(BroadcastSignal("alarm"))
    assert (engine.jobs, engine.incidents) == (["late"], [])
    engine.complete("late")
    assert ended(engine, key) == "COMPLETED"


def test_a_scope_that_waits_for_an_event_that_interrupts_nothing_is_not_stuck(engine):
    """Its event sub-process may still bring a token, and throw; after it there is nothing to wait for."""
    run(
        engine,
        model(*STUCK, *STUCK_FLOWS, on(TIMER, "x", task("late"), "x-start > late", interrupting=False)),
        both=False,
    )
    engine.complete("a")
    assert engine.incidents == []
    fire(engine, "x")
    assert (engine.jobs, engine.incidents) == (["late"], [])
    engine.complete("late")
    assert engine.incidents == [("p", "UNKNOWN", MESSAGE)]


def test_what_catches_errors_brings_nothing_to_a_scope_where_nothing_can_throw(engine):
    run(engine, model(*STUCK, *STUCK_FLOWS, on(error(), "x", end("e"), "x-start > e")), both=False)
    engine.complete("a")
    assert engine.incidents == [("p", "UNKNOWN", MESSAGE)]


# ---- what becomes of it


def test_resolving_looks_again(stuck):
    (first,) = stuck.state.incidents
    resolved = stuck.resolve()
    assert resolved.rejection is None
    assert type(resolved.events[0]).__name__ == "IncidentResolved"
    (second,) = stuck.state.incidents
    assert second > first
    assert stuck.rows["Incident", first]["state"] == "RESOLVED"
    assert stuck.incidents == [("p", "UNKNOWN", MESSAGE)]


def test_it_closes_when_the_instance_is_cancelled(stuck):
    stuck.cancel(stuck.key)
    assert ended(stuck, stuck.key) == "TERMINATED"
    assert closed(stuck)


def test_it_closes_when_a_boundary_event_ends_the_scope(engine):
    """A boundary event is no wait state of the scope that it stands at, but of the one around it."""
    parts = (start(), inner("s"), end(), "start > s > end", boundary("b", "s", TIMER), task("late"), "b > late > end")
    key = run(engine, model(*parts), both=False)
    engine.complete("a")
    assert engine.incidents == [("s", "UNKNOWN", MESSAGE)]
    fire(engine, "b")
    assert closed(engine)
    assert engine.element("p").incidents == 0
    engine.complete("late")
    assert ended(engine, key) == "COMPLETED"


def test_it_stays_when_a_boundary_event_interrupts_nothing(engine):
    late = boundary("b", "s", TIMER, interrupting=False)
    run(engine, model(start(), inner("s"), end(), "start > s > end", late, task("late"), "b > late"), both=False)
    engine.complete("a")
    (incident,) = engine.state.incidents
    fire(engine, "b")
    assert list(engine.state.incidents) == [incident]


def test_it_closes_when_the_scope_around_ends(engine):
    parts = (start(), inner("s"), task("t"), final("stop", "<terminateEventDefinition/>"), "start > s", "start > t")
    key = run(engine, model(*parts, "t > stop"), both=False)
    engine.complete("a")
    assert len(engine.incidents) == 1
    engine.complete("t")
    assert ended(engine, key) == "COMPLETED"
    assert closed(engine)


@pytest.fixture
def helped(stuck, monkeypatch):
    """A command that enters the task `b`, as a person would who changes the instance."""

    def enter_b(command, at):
        scope = at.instance(command.key)
        return enter(at.model(scope.definition_key).nodes["b"], scope, at)

    known = COMMANDS[SetVariables]
    monkeypatch.setitem(COMMANDS, SetVariables, Handler(known.needs, enter_b))
    stuck.set(stuck.key)
    return stuck


def test_it_closes_when_a_token_is_brought_from_outside(helped):
    assert (helped.jobs, helped.incidents) == (["b"], [])
    assert closed(helped)
    helped.complete("b")
    helped.complete("after")
    assert ended(helped, helped.key) == "COMPLETED"


def closed(engine):
    """Whether no deadlock is open, after there was one."""
    found = [row for (table, _), row in engine.rows.items() if table == "Incident"]
    return bool(found) and {row["state"] for row in found} == {"RESOLVED"} and not engine.state.incidents


def test_a_scope_with_another_incident_is_looked_at_when_that_is_resolved(engine, monkeypatch):
    """A command that a bug of ours has quarantined at the instance."""
    key = run(engine, model(*STUCK, *STUCK_FLOWS), both=False)
    apply_by(monkeypatch, VariableSet, explode)
    engine.set(key, x=1)
    monkeypatch.undo()
    engine.complete("a")
    assert [message[:7] for _, _, message in engine.incidents] == ["Command"]
    engine.resolve()
    assert engine.incidents == [("p", "UNKNOWN", MESSAGE)]
    assert engine.variables_of(key)["x"] == 1


def test_no_incident_is_open_in_an_instance_that_has_completed(engine, monkeypatch):
    """The incident can no longer be resolved, whatever its cause."""
    key = run(engine, model(start(), task("a"), end(), "start > a > end"))
    apply_by(monkeypatch, VariableSet, explode)
    engine.set(key, x=1)
    monkeypatch.undo()
    assert len(engine.incidents) == 1
    engine.complete("a")
    assert ended(engine, key) == "COMPLETED"
    assert closed(engine)


# ---- quanta and replay


def done(engine):
    """Stuck scopes of all kinds, one after the other resolved, the instance cancelled."""
    beside = loop(inner("s"), "=[1, 2]", "n")
    parts = (start(), beside, call("c", "q"), catch("w", TIMER), "start > s", "start > c", "start > w")
    key = run(engine, model(*STUCK, *STUCK_FLOWS, id="q"), model(*parts), both=False)
    while engine.jobs:
        engine.complete("a")
    assert len(engine.incidents) == 3
    for incident in list(engine.state.incidents):
        engine.resolve(incident)
    engine.cancel(key)
    assert closed(engine)
    return engine


def test_replay_gives_the_same_incidents(engine):
    done(engine)
    state = State(1, engine.state.next_key)
    rows = keep_rows(state)
    batches = [
        [Recorded(logged.position, logged.now, decode_events(encode_events(h.events))) for h in logged.handled]
        for logged in engine.memory.log
    ]
    replay(state, batches)
    assert rows == engine.rows


def test_a_scope_whose_work_was_deferred_is_not_stuck():
    """Between two quanta another command may end the last child: what was deferred still brings its token."""
    engine = Engine()
    parts = (start(), task("a"), task("b"), task("c"), par("j"), task("after"))
    run(engine, model(*parts, "start > a > j > after", "start > b > j", "start > c"))
    engine.complete("a")
    memory, processor = engine.memory, engine.memory.processor
    set_quantum(engine, 1)
    memory.handle(CompleteJob(engine.job("b").key), "<default>", None)
    (work,) = (item for item in engine.element("p").tree.work if item[1] == "arrive")
    assert (work[2], engine.jobs) == ("b-j", ["c"])
    set_quantum(engine, 500)
    memory.handle(CompleteJob(engine.job("c").key), "<default>", None)
    assert (engine.elements, engine.incidents) == (["p"], [])
    (to_inbox,) = processor.notices.to_inbox
    engine.run(to_inbox.command)
    assert (engine.jobs, engine.incidents) == (["after"], [])


def test_quanta_come_to_the_same_end():
    whole, in_quanta = (told(done(Engine(LIMITS[name]))) for name in ("whole", "quanta"))
    assert whole == in_quanta


def told(engine):
    """The incidents there were, and what became of the elements."""
    rows = engine.rows.items()
    ends = sorted((row["element"], row["state"]) for (table, _), row in rows if table in ("Element", "Instance"))
    return sorted(row["message"] for (table, _), row in rows if table == "Incident"), ends


def test_a_loop_without_a_wait_is_no_deadlock(engine):
    engine.deploy(model(start(), xor("g", default="g-e"), end("e"), *map(chain, ("start > g > e",))))
    key = engine.start()
    assert ended(engine, key) == "COMPLETED"
    assert not [row for (table, _), row in engine.rows.items() if table == "Incident"]
