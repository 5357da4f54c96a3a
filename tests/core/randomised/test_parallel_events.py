"""Random events that occur when all of their definitions have, against a count of what has occurred.

    VIVERO_PARALLEL_EVENTS=30000 make test-long WORKERS=0 ARGS="-s -k parallel_events"

plays as many from a printed seed. A model has several such events at one task, in event sub-processes and on the way;
their definitions occur in random order, some of them again and again.
"""

import os
from random import Random

import pytest

from tests.core.engine import Engine, rebuilt
from tests.core.event_models import boundary, catch, on, together
from tests.core.message_models import message, model, signal
from tests.core.models import par, start, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.timers import FireTimer

COUNT = 20
MANY = int(os.environ.get("VIVERO_PARALLEL_EVENTS") or 500)
TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
KINDS = ("boundary", "bell", "handler", "alarm", "catch")
"""At the task, interrupting or not; in an event sub-process, interrupting or not; on the way."""
STEPS = 25


class Awaited:
    """An event: what it awaits, and what the rules say of it."""

    def __init__(self, number, chance) -> None:
        self.id, self.kind = f"e{number}", chance.choice(KINDS)
        messages = [f"m-{self.id}-{n}" for n in range(chance.randint(1, 2))]
        signals = [f"s-{self.id}-{n}" for n in range(chance.randint(1, 2))]
        self.names = [*messages, *signals, *(["timer"] if chance.random() < 0.5 else [])]
        chance.shuffle(self.names)
        self.open = True
        self.occurred = {}

    @property
    def goes_on(self):
        return self.kind in ("bell", "alarm")

    def definitions(self):
        return "".join(map(self.definition, self.names))

    def definition(self, name):
        kind = {"m": "message", "s": "signal"}.get(name[0])
        return TIMER if kind is None else f'<{kind}EventDefinition {kind}Ref="{name}"/>'

    def parts(self):
        aside = f"after-{self.id}"
        if self.kind in ("boundary", "bell"):
            event = boundary(self.id, "t", self.definitions(), interrupting=self.kind == "boundary")
            return [together(event), task(aside), f"{self.id} > {aside}"]
        if self.kind == "catch":
            return [together(catch(self.id, self.definitions())), task(aside), f"f > {self.id} > {aside}"]
        flow, interrupting = f"{self.id}-start > {aside}", self.kind == "handler"
        return [together(on(self.definitions(), self.id, task(aside), flow, interrupting=interrupting))]


class Expected:
    """The jobs, waits and variables that there must be."""

    def __init__(self, events) -> None:
        self.events, self.jobs, self.variables = events, ["t"], {"k": "1"}

    @property
    def waits(self):
        return sum(len(event.names) - len(event.occurred) for event in self.events if event.open)

    def occur(self, event, name, said):
        if not event.open or name in event.occurred:
            return
        event.occurred[name] = said
        if len(event.occurred) < len(event.names):
            return
        for each in event.occurred.values():
            self.variables |= each
        self.jobs.append(f"after-{event.id}")
        event.occurred = {}
        event.open = event.goes_on
        if event.kind == "boundary":
            self.close("boundary", "bell")
            self.jobs.remove("t")
        elif event.kind == "handler":
            self.close(*KINDS)
            self.jobs = [f"after-{event.id}"]

    def close(self, *kinds):
        for event in self.events:
            event.open = event.open and event.kind not in kinds


def play(seed):
    """Play one; raises AssertionError."""
    chance = Random(seed)
    events = [Awaited(number, chance) for number in range(chance.randint(1, 4))]
    names = [name for event in events for name in event.names if name != "timer"]
    roots = [message(name, "=k", name) if name[0] == "m" else signal(name, name) for name in names]
    engine = Engine(StepLimits(quantum_items=chance.choice((1, 3, 500))))
    parts = [part for event in events for part in event.parts()]
    engine.deploy(model(start(), par("f"), task("t"), "start > f > t", *parts, roots=roots))
    engine.start(k="1")
    expected = Expected(events)
    for step in range(STEPS):
        assert sorted(engine.jobs) == sorted(expected.jobs)
        assert len(engine.state.subscriptions) + len(engine.state.timers) == expected.waits
        assert engine.variables("p") == expected.variables
        event = chance.choice(events)
        occur(engine, expected, event, chance.choice(event.names), step)
        if chance.random() < 0.2:
            rebuilt(engine)
    engine.cancel(next(iter(engine.state.trees)))
    assert not engine.state.elements
    assert not engine.state.subscriptions
    assert not engine.state.timers


def occur(engine, expected, event, name, step):
    said = {"last": step, name.replace("-", "_"): step}
    if name[0] == "m":
        engine.publish(name, "1", **said)
    elif name[0] == "s":
        engine.broadcast(name, **said)
    else:
        said = {}
        for key in [key for key, timer in engine.state.timers.items() if timer.target == event.id]:
            engine.accepted(FireTimer(key))
    expected.occur(event, name, said)


def faults_of(seeds):
    faults = {}
    for seed in seeds:
        try:
            play(seed)
        except AssertionError as fault:
            faults[seed] = str(fault)[:300]
    return faults


def test_parallel_events_occur_when_all_have(seed):
    assert not faults_of(range(seed, seed + COUNT)), "the number of each is its VIVERO_SEED"


@pytest.mark.long
def test_very_many_parallel_events(seed):
    faults = faults_of(range(seed, seed + MANY))
    print(f"VIVERO_SEED={seed}: {MANY} played, {len(faults)} at fault")
    assert not faults
