"""Golden traces: a run in, one compact line per event out. `pytest --rewrite-golden` writes them anew.

A change of behaviour is a readable diff of tests/core/golden.
"""

from pathlib import Path

import pytest

from tests.core.engine import Engine, sample
from tests.core.event_models import call, together
from tests.core.message_models import message, receive
from tests.core.models import end, file, flow, par, process, process_element, start, sub, task, xor
from vivero.core.execution.step import StepLimits
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.codec import EVENTS
from vivero.core.records.instances import VariableSet
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import ExpireMessage, PublishMessage
from vivero.core.records.migrations import CalledMigration, MigrateInstance
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.records.timers import TriggerTimer
from vivero.core.trace import Trace

MODELS = Path(__file__).parents[2] / "models"


def one_task(engine):
    engine.deploy(
        process(start(), task("work", inputs=[("=a + 1", "b")], outputs=[("=r", "c")]), end(), "start > work > end")
    )
    engine.start(a=1)
    engine.complete("work", r=3)


def order(engine):
    """The model of the README: repaired once, then worked in parallel and in a sub-process."""
    engine.deploy((MODELS / "order.bpmn").read_bytes())
    engine.start("order", order={"items": [1, 2]}, tries=0, urgent=True)
    engine.complete("check", verdict="repair")
    engine.complete("repair", tries=1)
    engine.complete("check", verdict="ok")
    engine.complete("pay")
    engine.complete("pack")
    engine.complete("ship")


def surplus(engine):
    """Two tokens on each of two flows of a join."""
    twice = [flow("start", target, id=f"{target}{n}") for target in "ab" for n in (1, 2)]
    engine.deploy(process(start(), task("a"), task("b"), par("j"), *twice, "a > j > end", "b > j", end()))
    engine.start()
    for name in ("a", "a", "b", "b"):
        engine.complete(name)


def incidents(engine):
    """A failing mapping, a choice without a way out, a job without retries; each resolved."""
    engine.deploy(
        process(
            start(),
            task("work", inputs=[("=assert(x, x > 0)", "y")]),
            xor("g"),
            end(),
            "start > work > g",
            flow("g", "end", "=x > 1"),
        )
    )
    key = engine.start(x=0)
    engine.set(key, x=1)
    engine.resolve()
    engine.fail("work", message="boom")
    engine.resolve()
    engine.update("work", retries=1)
    engine.resolve()
    engine.complete("work")
    engine.set(key, x=2)
    engine.resolve()


def cancelled(engine):
    """A task in a sub-process with an incident, and one beside it."""
    inner = sub("s", start("i"), task("deep"), "i > deep")
    engine.deploy(process(start(), inner, task("beside"), "start > s", "start > beside"))
    key = engine.start()
    engine.fail("deep")
    engine.cancel(key)


def deadlock(engine):
    """A join in a sub-process that never gets its second token; resolved in vain, then a timer ends the sub-process."""
    inner = sub("s", start("i"), xor("g", default="g-a"), task("a"), par("j"), "i > g > a > j", flow("g", "j", "=both"))
    hour = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
    late = f'<boundaryEvent id="late" attachedToRef="s">{hour}</boundaryEvent>'
    engine.deploy(process(start(), inner, late, end(), "start > s > end", "late > end"))
    key = engine.start(both=False)
    engine.complete("a")
    engine.resolve()
    engine.fire_at(key, "p/s", "late")


def suspended(engine):
    """Suspended while a called instance runs and a timer is due; refused, set, resumed."""
    hour = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
    late = f'<boundaryEvent id="late" attachedToRef="work" cancelActivity="false">{hour}</boundaryEvent>'
    child = process_element(start("i"), task("inner"), "i > inner", id="child")
    parts = start(), task("work"), late, call("c", "child"), task("after"), "start > work", "start > c > after"
    engine.deploy(file(child, process_element(*parts)))
    key = engine.start()
    engine.accepted(SuspendInstance(key, reason="a holiday"))
    engine.complete("work")
    engine.set(key, x=1)
    engine.complete("inner", y=2)
    (timer,) = engine.state.timers.values()
    engine.memory.now = timer.due_at
    engine.accepted(TriggerTimer(timer.key, timer.due_at))
    engine.accepted(ResumeInstance(key))


def business_ids(engine):
    """Assigned with a job. A message for another instance does not come then; a call chooses, another inherits."""
    child = process_element(start("i"), task("inner"), "i > inner", id="child")
    roots = message(key="=1")
    parts = start(), task("work"), receive("wait"), call("c", "child", businessId="=own"), call("d", "child")
    engine.deploy(file(roots, child, process_element(*parts, "start > work > wait > c", "wait > d")))
    key = engine.start(own="O-1")
    engine.accepted(CompleteJob(engine.job("work").key, business_id="order-7"))
    assert engine.run(AssignBusinessId(key, "order-8")).rejection is not None
    engine.accepted(PublishMessage("hello", "1", business_id="order-8"))
    engine.accepted(PublishMessage("hello", "1", business_id="order-7"))


def pending_start(engine):
    """Messages that start an instance together: one is kept and erased; then all come."""
    names = "ABC"
    definitions = "".join(f'<messageEventDefinition messageRef="{name}"/>' for name in names)
    begins = together(f'<startEvent id="start">{definitions}</startEvent>')
    roots = "".join(message(name, None, name) for name in names)
    engine.deploy(file(roots, process_element(begins, task("work"), end(), "start > work > end")))
    engine.publish("A", "x", n=1)
    (kept,) = engine.state.channels["<default>", "x"].pending.values()
    engine.accepted(ExpireMessage(kept.key, "<default>", "x"))
    for name in "BCA":
        engine.publish(name, "x", of=name)
    engine.complete("work")


def migration(engine):
    """Tokens that wait, a timer that stays, one that ends, a message that is awaited from now on; a called instance."""
    hour = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
    told = '<messageEventDefinition messageRef="m"/>'
    message = (
        '<message id="m" name="paid"><extensionElements><zeebe:subscription correlationKey="=order"/>'
        "</extensionElements></message>"
    )

    def order(task_id, join, *events, version):
        parts = (start(), par("f"), task(task_id), call("c", "child"), par(join), end())
        ways = (f"start > f > {task_id} > {join} > end", f"f > c > {join}", f"f > {join}")
        return file(process_element(*parts, *ways, *(bound(task_id, *one) for one in events), tag=version), message)

    def bound(host, id, event):
        return f'<boundaryEvent id="{id}" attachedToRef="{host}" cancelActivity="false">{event}</boundaryEvent>'

    engine.deploy(file(process_element(start("i"), task("inner"), "i > inner", id="child")))
    engine.deploy(order("work", "j", ("late", hour), ("later", hour), version="1"))
    key = engine.start(order=7)
    (child,) = engine.deploy(file(process_element(start("i"), task("deep"), task("z"), "i > deep > z", id="child")))
    (target,) = engine.deploy(order("labour", "k", ("late", hour), ("told", told), version="2"))
    (source,) = (one.definition_key for one in engine.state.elements.values() if one.element == "child")
    called = (CalledMigration(source, child, (("inner", "deep"),)),)
    mappings = (("work", "labour"), ("late", "late"), ("c", "c"), ("j", "k"), ("f-j", "f-k"))
    engine.run(MigrateInstance(key, target, mappings[:1], called=called))
    engine.accepted(MigrateInstance(key, target, mappings, called=called))
    engine.publish("paid", "7")
    for one in ("deep", "z", "labour"):
        engine.complete(one)


def in_quanta(engine):
    """One work item a quantum: what is left is deferred and goes on in a later command."""
    inner = sub("s", start("i"), task("deep"), "i > deep")
    engine.deploy(process(start(), inner, task("beside"), "start > s", "start > beside"))
    engine.cancel(engine.start())


BEGINS = ("> CreateInstance", "> PublishMessage")
RUNS = [one_task, order, surplus, incidents, cancelled, deadlock, suspended, business_ids]
RUNS += [migration, in_quanta, pending_start]


@pytest.mark.parametrize("run", RUNS, ids=lambda run: run.__name__)
def test_the_trace_is_the_golden_one(run, golden):
    engine = Engine(StepLimits(quantum_items=1)) if run is in_quanta else Engine()
    run(engine)
    lines = engine.trace
    begin = next(number for number, line in enumerate(lines) if line.startswith(BEGINS))
    golden(run.__name__, "\n".join(lines[begin:]) + "\n")


@pytest.mark.parametrize("kind", EVENTS, ids=lambda kind: kind.__name__)
def test_every_event_has_a_line(kind):
    line = Trace().line(sample(kind))
    assert line.startswith(kind.__name__)
    assert line.isprintable()


def test_a_line_stays_a_line():
    line = Trace().line(VariableSet(1, 2, "a\nb", '"x\u2028y\x00"'))
    assert line == 'VariableSet        #2.a\\nb = "x\\u2028y\\x00"'
