"""Random runs of random models (`random_models.py`), and what must hold at every quiet point of each."""

import json
import signal
from collections import Counter, deque
from contextlib import contextmanager
from random import Random
from traceback import format_exception
from typing import Any

from tests.core.engine import Engine, keep_rows, raw, recorded_batches
from tests.core.randomised.random_models import CODES, DECISIONS, NAMES, random_model
from vivero.core.records.ad_hoc import ActivateAdHocElements, AdHocResult, ElementToActivate
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance, ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.suspensions import ResumeInstance
from vivero.core.records.timers import FireTimer
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.core.replay import replay
from vivero.core.shared.occurrences import can_happen
from vivero.core.shared.suspended_work import is_stopped
from vivero.core.state.instance_tree import ACTIVATED, MISSING, SUSPENDED, TERMINATING, Instance
from vivero.core.state.state import State

SCOPES = {
    *("PROCESS", "SUB_PROCESS", "EVENT_SUB_PROCESS", "TRANSACTION"),
    *("AD_HOC_SUB_PROCESS", "AD_HOC_SUB_PROCESS_INNER_INSTANCE"),
}
JOINS = {"PARALLEL_GATEWAY", "INCLUSIVE_GATEWAY", "COMPLEX_GATEWAY"}
MOST_EVENTS = 2_000
"""A run with more spins: it is cancelled at once. Follow-ups count like commands. One model in ten spins, and takes as
long as all others together if there may be four times as many."""
MOST_OF_CANCELLATION = 16_000
EVENTS_OF_A_ROW = 10
"""A row of the log counts like so many: some models go round without an event."""
COST_OF_A_LATE_ONE = 100
"""The cost of a command that was pending when all was cancelled."""
RESUMED = 0.7
"""The chance that what is suspended in the end is resumed before it is cancelled."""
MOST_SECONDS = 20
"""Seconds of processor time, for one run: only a command that never ends takes so long."""


class Spins(Exception):
    pass


class NeverEnds(BaseException):
    """No `Exception`: the engine takes those for a bug of the command, and goes on."""


def nothing(engine):
    """Nothing more at this moment."""


def play(
    random, size, limits, steps=20, keeps_rows=True, meanwhile=nothing, between=lambda engine: (), at_rest=nothing
):
    """A run of a random model, cancelled in the end; the engine, and whether the model spins. Raises AssertionError.

    `meanwhile` is called after each command. `between` is called after each quantum; the commands that it returns come
    next. `at_rest` is called whenever nothing is pending.
    """
    engine = Engine(limits, keeps_rows)
    engine.memory.deploy(DECISIONS, "decisions.dmn")
    engine.deploy(random_model(random, size))
    run = Run(engine, between, at_rest)
    variables = {"k": "1", "o": None, "items": list(range(random.randrange(4)))}
    variables |= {f"v{number}": random.randrange(2) for number in range(3)}
    try:
        run.command(CreateInstance("p", variables=raw(variables)))
        meanwhile(engine)
        for _ in range(steps):
            if not engine.state.elements:
                break
            engine.memory.now += 10
            run.command(next_command(random, engine))
            meanwhile(engine)
        if random.random() < RESUMED:
            run.resume()
    except Spins:
        run.spins = True
    run.cancel()
    return engine, run.spins


class Run:
    """Commands on an engine, with all that follows from them, if that is not too much."""

    def __init__(self, engine, between=lambda engine: (), at_rest=nothing) -> None:
        self.engine, self.between, self.at_rest = engine, between, at_rest
        self.spins, self.left = False, MOST_EVENTS
        self.pending = deque()

    def command(self, command):
        self.pending.append((command, "<default>", None))
        self.go_on()

    def go_on(self):
        """Raises Spins; what is to follow is pending then."""
        memory = self.engine.memory
        while self.pending:
            if self.left <= 0:
                raise Spins
            rows = memory.handle(*self.pending.popleft())
            self.left -= sum(EVENTS_OF_A_ROW + len(handled.events) for handled in rows)
            self.pending.extend(memory.take_inbox())
            self.pending.extendleft((command, "<default>", None) for command in self.between(self.engine))
            for handled in rows:
                bug = handled.rejection is not None and handled.rejection.code is RejectionCode.PROCESSING_ERROR
                assert not bug, handled.rejection
        check(self.engine)
        self.at_rest(self.engine)

    def resume(self):
        """Resume what is suspended: all that has waited is done."""
        self.between = lambda engine: ()
        for element in list(self.engine.state.elements.values()):
            if isinstance(element, Instance) and element.suspended_at is not None:
                self.command(ResumeInstance(element.key))

    def cancel(self):
        """End everything, even what spins: pending commands then come too late and do next to nothing."""
        self.between = lambda engine: ()
        self.left = MOST_OF_CANCELLATION + COST_OF_A_LATE_ONE * len(self.pending)
        self.pending.extendleft((CancelInstance(root), "<default>", None) for root in self.engine.state.trees)
        try:
            self.go_on()
            while self.engine.state.jobs:
                self._hear(next(iter(self.engine.state.jobs.values())))
        except Spins:
            raise AssertionError("it goes on though it is cancelled") from None

    def _hear(self, job):
        """The worker of a listener learns of the cancellation, which waits for it."""
        assert job.listener_event == "CANCELING", f"{job.element.element} still has a job"
        if job.retries == 0:
            self.command(UpdateJob(job.key, retries=1))
            job = self.engine.state.jobs[job.key]  # after a command the state may be another one
        for incident in list(job.element.waits.incidents):  # also of a job that was given retries alone
            self.command(ResolveIncident(incident))
        self.command(CompleteJob(job.key))


@contextmanager
def bounded():
    """End a run that takes too much processor time, wherever it is."""

    def end(_signal, _frame):
        raise NeverEnds(f"more than {MOST_SECONDS} s of processor time")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, MOST_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def play_many(seeds, limits, replayed=1, between=lambda random: lambda engine: ()):
    """A run for each seed: how many spin; the seeds at fault, with what is wrong. One in `replayed` is replayed.

    `between(random)` returns what `play` calls between quanta.
    """
    spinning, faults = 0, {}
    for seed in seeds:
        random = Random(seed)
        try:
            with bounded():
                size, keeps_rows = random.choice((4, 6, 9)), seed % replayed == 0
                engine, spins = play(random, size, limits, keeps_rows=keeps_rows, between=between(Random(seed)))
                check_end(engine)
            spinning += spins
        except (Exception, NeverEnds) as fault:
            faults[seed] = "".join(format_exception(fault, limit=-2))
    return spinning, faults


def next_command(random, engine):
    """The possible actions of a client, a worker or the clock."""
    state, variables = engine.state, raw({f"v{random.randrange(3)}": random.randrange(2), "o": random.randrange(5)})
    commands: list[Any] = [SetVariables(random.choice(list(state.trees)), variables)]
    for job in state.jobs:
        commands += [CompleteJob(job, variables, result=_result(random, state.jobs[job]))] * 3
        commands += [ThrowJobError(job, random.choice((*CODES, "C")), "", {}), FailJob(job, 0, 0, "", {})]
    commands += [FireTimer(timer) for timer in state.timers]
    commands += [CompleteUserTask(task) for task in state.user_tasks] * 2
    for incident in state.incidents.values():
        given = incident.job is not None and incident.job in state.jobs and state.jobs[incident.job].retries == 0
        commands.append(UpdateJob(incident.job, retries=1) if given else ResolveIncident(incident.key))
    for element in state.elements.values():
        if element.type == "AD_HOC_SUB_PROCESS" and element.node is not MISSING:
            given = _to_activate(random, element)
            commands.append(ActivateAdHocElements(element.key, given, random.random() < 0.3))
    if state.subscriptions:
        name = random.choice(NAMES)
        commands += [PublishMessage(name, "1", random.choice((0, 10**7)), None, {}), BroadcastSignal(name, {})] * 2
    return random.choice(commands)


def _result(random, job):
    """The decision of the worker of an ad-hoc sub-process; None for other jobs."""
    if job.kind != "AD_HOC_SUB_PROCESS" or random.random() < 0.1:
        return None
    fulfilled, cancels = random.random() < 0.3, random.random() < 0.3
    return AdHocResult(() if fulfilled else _to_activate(random, job.element), fulfilled, cancels)


def _to_activate(random, scope):
    loose = list(scope.node.ad_hoc.activatable)
    return tuple(ElementToActivate(id, {}) for id in random.sample(loose, random.randint(1, min(3, len(loose)))))


def check(engine):
    state = engine.state
    for element in state.elements.values():
        _check_element(element, engine)
    for row in (*state.jobs.values(), *state.incidents.values(), *state.timers.values(), *state.subscriptions.values()):
        assert row.element is None or row.element.key in state.elements, row
    told = {key for channel in state.channels.values() for key in channel.subscriptions}
    waits = {one.key for one in state.subscriptions.values() if one.kind == "MESSAGE"}
    suspended = {one.key for one in state.subscriptions.values() if one.suspended}
    leaving = {key for key in waits if _takes_nothing(state.subscriptions[key])}
    assert told <= waits - suspended, "channels know who waits"
    assert waits - suspended - told <= leaving, "channels know all who wait"
    stopped = [state.subscriptions[key].element for key in suspended]
    stopped += [one.element for one in state.timers.values() if one.state == SUSPENDED]
    assert all(map(_stands_still, stopped)), "what is suspended has not gone on"


def _check_element(element, engine):
    """It rests: it is active, or an incident or a listener says why it is not; and it counts what is in it.

    An element may stand still anywhere if its instance is suspended, or if a suspended scope around it ends early.
    """
    name, stopped = element.element, _stands_still(element)
    if element.state is TERMINATING:
        assert _awaits_cancellation(element), f"{name} does not end"
    else:
        held = stopped or element.waits.incidents or _listener_of(element) is not None
        assert element.state is ACTIVATED or held, f"{name} does not go on: {element.state}"
    assert element.scope is None or element.scope.key in engine.state.elements, f"{name} has lost its scope"
    if element.pages is None:
        assert element.live == len(element.children), f"{name} does not know how many live in it"
    node = engine.memory.processor.view.node(element)
    if element.type in SCOPES and not stopped and (element.is_inner or node.loop is None):
        _check_tokens(element, engine)


def _takes_nothing(subscription):
    """Whether the subscription's element has ended but for a leave that comes later, or that an incident holds up."""
    element = subscription.element
    return _leaves_later(element) or not can_happen(subscription.type, element)


def _leaves_later(element):
    """A message that comes for a boundary event is refused then, and its channel forgets the subscription."""
    return any(item[:2] == (element.key, "leave") for item in element.instance.suspended_work)


def _stands_still(element):
    around = element
    while around is not None:
        if is_stopped(around) and (around is element or around.then is not None):
            return True
        around = around.scope
    return False


def _listener_of(element):
    return next((job for job in element.waits.jobs.values() if job.listener_event != "UNSPECIFIED"), None)


def _awaits_cancellation(element):
    """Whether a listener has to hear of the cancellation, of this element or of one in it."""
    job = _listener_of(element)
    heard = job is not None and job.listener_event == "CANCELING"
    held = any(one.stage == "canceling listeners" for one in element.waits.incidents.values())
    return heard or held or any(map(_awaits_cancellation, element.children.values()))


def _check_tokens(scope, engine):
    """Tokens stand in what lives, or wait before joins; a scope without any has completed, a stuck one says so."""
    model = engine.memory.processor.view.model(scope.instance.definition_key)
    there = {place: count for place, count in scope.tokens.items() if place not in model.flows}
    assert there == Counter(child.element for child in scope.children.values()), f"tokens of {scope.element}"
    if _awaits_cancellation(scope):
        return  # nothing arrives in a scope that ends early
    for place in scope.tokens.keys() & model.flows.keys():
        target = model.nodes[model.flows[place].target]
        if target.start_quantity == 1:
            assert target.type in JOINS, place
            assert len(target.incoming) > 1 or target.type == "COMPLEX_GATEWAY", place  # it waits for its condition
    if scope.type == "AD_HOC_SUB_PROCESS":  # it may wait for requests
        return
    if scope.state is ACTIVATED and not scope.children and not scope.waits.incidents:
        waits = (*scope.waits.timers.values(), *scope.waits.subscriptions.values())
        assert scope.tokens, f"{scope.element} is empty"
        assert any(wait.type != "BOUNDARY" for wait in waits), f"{scope.element} is stuck"


def check_end(engine):
    """All have ended, nothing is left of them, and the events alone give the same rows."""
    state = engine.state
    assert not any(isinstance(element, Instance) for element in state.elements.values())
    for left in (state.elements, state.jobs, state.timers, state.subscriptions, state.incidents, state.user_tasks):
        assert not left
    assert (state.watching, state.variable_changes) == ({}, [])
    if not engine.keeps_rows:
        return
    rebuilt = State(1, state.next_key)
    rows = keep_rows(rebuilt)
    replay(rebuilt, recorded_batches(engine))
    assert _as_json(rows) == _as_json(engine.rows)


def _as_json(rows):
    """A deferred item has a tuple in memory where its event, once it was read, has a list."""
    return {place: json.dumps(row, sort_keys=True) for place, row in rows.items()}
