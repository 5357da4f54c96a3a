"""Golden traces of messages, signals and user tasks: in scopes of each kind, with an incident, cancelled, listened to.

`pytest --rewrite-golden` writes tests/core/golden/waits_*.txt anew; a change of behaviour is a readable diff.
"""

import pytest

from tests.core.engine import Engine, raw
from tests.core.event_models import mapped
from tests.core.golden.recording import ROOTS, play, text_of
from tests.core.golden.variants_waits import VARIANTS, condition, message, person, signal
from tests.core.listener_models import listening_everywhere
from tests.core.models import end, file, process_element, start, sub, task
from vivero.core.records.conditionals import EvaluateConditionals
from vivero.core.records.messages import CorrelateMessage, PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.user_tasks import AssignUserTask, ClaimUserTask, CompleteUserTask, UpdateUserTask

MINUTE_MS = 60_000


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_trace_is_the_golden_one(variant, golden):
    golden(f"waits_{variant}", text_of(VARIANTS[variant]))


# ---- what has no scope around it


def lines_of(engine, act):
    """The trace of what `act` does."""
    before = len(engine.trace)
    act(engine)
    return engine.trace[before:]


def started_by(event, *parts):
    begin = f'<startEvent id="begun">{mapped(outputs=[("=assert(ok, ok)", "checked")])}{event}</startEvent>'
    return file(ROOTS, process_element(begin, sub("s", start("b"), task("t"), "b > t"), "begun > s", *parts))


def say(engine, ttl_ms=0, **variables):
    engine.run(PublishMessage("hello", "x", ttl_ms, None, raw(variables)))


def one_for_each_key(engine):
    """A second message waits for the end of the first one's instance; a third one expires meanwhile."""
    say(engine, MINUTE_MS, ok=True, n=1)
    say(engine, MINUTE_MS, ok=True, n=2)
    say(engine, 1_000, ok=True, n=3)
    engine.memory.now += 2_000
    play(engine)


def with_an_incident(engine):
    say(engine, ok=False)
    engine.set(engine.element("begun").key, local=True, ok=True)
    engine.resolve()
    play(engine)


def cancelled(engine):
    """The one behind it starts at once."""
    say(engine, MINUTE_MS, ok=True, n=1)
    say(engine, MINUTE_MS, ok=True, n=2)
    engine.cancel(next(iter(engine.state.trees)))
    play(engine)


def correlated(engine):
    engine.run(CorrelateMessage("hello", "x", raw({"ok": True})))
    engine.run(CorrelateMessage("hello", "x", raw({"ok": True})))
    play(engine)


def with_listeners(engine):
    engine.deploy(listening_everywhere(started_by(message()), {"begun"}))
    say(engine, ok=True)
    play(engine)


def broadcast_with_listeners(engine):
    engine.deploy(listening_everywhere(started_by(signal()), {"begun"}))
    engine.run(BroadcastSignal("alarm", raw({"ok": True})))
    play(engine)


def broadcast(engine):
    """Every signal starts an instance."""
    for ok in (True, False):
        engine.run(BroadcastSignal("alarm", raw({"ok": ok})))
    engine.set(engine.element("begun").key, local=True, ok=True)
    engine.resolve()
    play(engine)


def broadcast_and_cancelled(engine):
    engine.run(BroadcastSignal("alarm", raw({"ok": True})))
    engine.cancel(next(iter(engine.state.trees)))


def evaluated(engine):
    """One that is true, and one that is not."""
    for met in (1, 0):
        engine.run(EvaluateConditionals(raw({"met": met, "ok": False})))
    engine.set(engine.element("begun").key, local=True, ok=True)
    engine.resolve()
    play(engine)


def evaluated_and_cancelled(engine):
    engine.run(EvaluateConditionals(raw({"met": 1, "ok": True})))
    engine.cancel(next(iter(engine.state.trees)))


def evaluated_with_listeners(engine):
    engine.deploy(listening_everywhere(started_by(condition()), {"begun"}))
    engine.run(EvaluateConditionals(raw({"met": 1, "ok": True})))
    play(engine)


STARTS = {
    "conditional_start": (condition(), [evaluated, evaluated_and_cancelled, evaluated_with_listeners]),
    "message_start": (message(), [one_for_each_key, with_an_incident, cancelled, correlated, with_listeners]),
    "signal_start": (signal(), [broadcast, broadcast_and_cancelled, broadcast_with_listeners]),
}


@pytest.mark.parametrize("name", STARTS)
def test_starts_are_the_golden_ones(name, golden):
    event, acts = STARTS[name]
    text = ""
    for act in acts:
        engine = Engine()
        engine.deploy(started_by(event))
        text += f"# {act.__name__}\n" + "\n".join(lines_of(engine, act)) + "\n\n"
        assert not engine.state.elements
    golden(f"waits_{name}", text)


def test_the_life_of_a_user_task_is_the_golden_one(golden):
    engine = Engine()
    engine.deploy(file(process_element(start(), person(), end(), "start > x > end")))

    def act(engine):
        engine.start()
        (key,) = engine.state.user_tasks
        for command in (
            ClaimUserTask(key, "mia"),
            AssignUserTask(key, None, "unassign"),
            ClaimUserTask(key, "mia"),
            UpdateUserTask(key, {"candidate_groups": ("a", "b"), "priority": 9, "due_at": 5_000}),
            CompleteUserTask(key, raw({"done": True}), "approve"),
            CompleteUserTask(key),
        ):
            engine.run(command)

    golden("waits_user_task_life", "\n".join(lines_of(engine, act)) + "\n")
