"""Runs of a variant of an element, for golden traces: in scopes of each kind, with an incident, cancelled, listened to.

A variant makes the content of a scope, with the input mappings (or other settings) of the element that it is about.
"""

from tests.core.decision_models import one
from tests.core.engine import Engine, raw
from tests.core.event_models import call, loop, model
from tests.core.listener_models import listening_everywhere
from tests.core.models import end, process_element, start, sub, task
from vivero.core.records.ad_hoc import AdHocResult, ElementToActivate
from vivero.core.records.instances import SetVariables
from vivero.core.records.jobs import CompleteJob, ThrowJobError
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.timers import TriggerTimer
from vivero.core.records.user_tasks import CompleteUserTask

SUBJECTS = {"x", "h", "host"}
"""The element that a variant is about; what it stands at, if it is a boundary event."""

CHECK = [("=assert(ok, ok)", "checked")]
"""The input mapping that fails until `ok` is true."""

ROOTS = """
<message id="hello" name="hello"><extensionElements><zeebe:subscription correlationKey="=&quot;x&quot;"/>
</extensionElements></message>
<message id="hello-checked" name="hello"><extensionElements>
<zeebe:subscription correlationKey="=if ok then &quot;x&quot; else null"/></extensionElements></message>
<message id="other" name="other"><extensionElements><zeebe:subscription correlationKey="=&quot;x&quot;"/>
</extensionElements></message>
<signal id="alarm" name="alarm"/><signal id="alarm-checked" name="=if ok then &quot;alarm&quot; else null"/>
<signal id="calm" name="calm"/>"""
"""An element with `checked` in its id is an incident until `ok` is true."""

CALLED = process_element(start("called-b"), task("inner"), "called-b > inner", id="called") + ROOTS


def in_process(content):
    return model(*content, beside=(CALLED,))


def in_sub_process(content):
    return model(start(), sub("s", *content), end(), "start > s > end", beside=(CALLED,))


def in_loop(content):
    return model(start(), loop(sub("s", *content), "=[1, 2]"), end(), "start > s > end", beside=(CALLED,))


def in_called_process(content):
    caller = [start(), call("c", "child"), end(), "start > c > end"]
    return model(*caller, beside=(CALLED, process_element(*content, id="child")))


def play(engine, steps=None):
    """Do what there is to do; how many steps it took."""
    done = 0
    while done != steps and (command := following(engine)) is not None:
        assert engine.run(command).rejection is None
        done += 1
        assert done < 50
    return done


def following(engine):
    """Take the next step: say what is waited for, once to each event of an element; then the timer that is due first,
    when it is due; then the oldest job, then the oldest user task.

    `h` throws an error.
    """
    said = engine.said = getattr(engine, "said", set())
    for wait in engine.state.subscriptions.values():
        if (about := (wait.element.key, wait.target, wait.name)) not in said:
            said.add(about)
            if wait.kind == "SIGNAL":
                return BroadcastSignal(wait.name, raw({"said": len(said)}))
            if wait.kind == "CONDITION":
                return SetVariables(wait.element.instance.key, raw({"met": len(said)}))
            return PublishMessage(wait.name, wait.correlation_key, 0, None, raw({"said": len(said)}))
    for due_at, key in sorted((timer.due_at, key) for key, timer in engine.state.timers.items()):
        engine.memory.now = max(engine.memory.now, due_at)
        return TriggerTimer(key, due_at)
    for key, job in engine.state.jobs.items():
        if job.kind == "AD_HOC_SUB_PROCESS":
            return CompleteJob(key, result=decided(job.element))
        return ThrowJobError(key, "A") if job.element.element == "h" else CompleteJob(key)
    for key in engine.state.user_tasks:
        return CompleteUserTask(key)
    return None


def decided(scope):
    """The decision of the worker of an ad-hoc sub-process: `t`, and then nothing more."""
    begun = scope.ad_hoc is not None and scope.ad_hoc.begun
    return AdHocResult(fulfilled=True) if begun else AdHocResult((ElementToActivate("t"),))


def listened(file):
    """With execution listeners at the element of the variant, for whatever can have them."""
    return listening_everywhere(file, {"x", "x-start", "t"})


def deployed(file, make=Engine):
    """An engine that is made for the file and has it, and the decision that business rule tasks call."""
    engine = make()
    if b"calledDecision" in file:
        engine.memory.deploy(one("Price", "1 + 1"), "prices.dmn")
    engine.deploy(file)
    return engine


def traced(file, act, make=Engine, **variables):
    engine = deployed(file, make)
    act(engine, engine.start(**variables))
    assert not engine.state.elements
    lines = engine.trace
    begin = next(number for number, line in enumerate(lines) if line.startswith("> CreateInstance"))
    return lines[begin:]


def to_the_end(engine, _key):
    play(engine)


def with_an_incident(engine, key):
    play(engine)
    assert [id for id, _, _ in engine.incidents], "it fails until ok is true"
    engine.set(key, ok=True)
    while engine.state.incidents:
        engine.resolve(next(iter(engine.state.incidents)))
    play(engine)


def stands(engine):
    """Whether the element of the variant is active, or, of a boundary event, the activity that it stands at."""
    return not SUBJECTS.isdisjoint(engine.elements)


def cancelled(file, make=Engine):
    """Cancelled as late as the element of the variant stands, or as late as possible; None for what never waits."""
    engine = deployed(file)  # looks only, so it is the usual one
    engine.start()
    standing = [stands(engine)]
    while play(engine, 1):
        standing.append(stands(engine))
    standing.pop()
    steps = max((n for n, stood in enumerate(standing) if stood), default=len(standing) - 1)

    def act(engine, key):
        play(engine, steps)
        engine.cancel(key)
        play(engine)  # listeners of the cancellation

    return traced(file, act, make) if standing else None


def sections(content, make=Engine):
    """(name, trace) of each run of a variant."""
    for wrap in (in_process, in_sub_process, in_loop, in_called_process):
        yield wrap.__name__, traced(wrap(content(())), to_the_end, make)
    yield "with_an_incident", traced(in_process(content(CHECK)), with_an_incident, make, ok=False)
    ended = cancelled(in_process(content(())), make)
    if ended is not None:
        yield "cancelled", ended
    yield "with_listeners", traced(listened(in_process(content(()))), to_the_end, make)


def text_of(variant, make=Engine):
    """The golden text of a variant, played by the engines that `make` makes."""
    return "".join(f"# {name}\n" + "\n".join(lines) + "\n\n" for name, lines in sections(variant, make))
