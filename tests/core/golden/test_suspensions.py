"""Golden traces of suspended process instances, from the suspension on: one for each row of the table in
docs/suspension.md. The rows without commands have tests on PostgreSQL: activation of jobs, and deletion.
"""

import pytest

from tests.core.elements.test_user_task import user
from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import LIMITS, boundary, call, catch, error, escalation, final, loop, model, on
from tests.core.events.test_conditional import when
from tests.core.events.test_timers import HOUR, timer
from tests.core.message_models import catch as caught
from tests.core.message_models import message, receive, starts
from tests.core.message_models import model as message_model
from tests.core.models import end, process, process_element, start, task
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.instances import ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob
from vivero.core.records.messages import CorrelateMessage
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.modifications import ModifyInstance, TerminateInstruction
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance
from vivero.core.records.timers import TriggerTimer
from vivero.core.records.user_tasks import AssignUserTask, ClaimUserTask, CompleteUserTask, UpdateUserTask

WORK = model(start(), task("work"), end(), "start > work > end")
RECEIVING = message_model(start(), receive(), end(), "start > receive > end")


def suspended(engine, file, **variables):
    """The key of a suspended instance of the file's process."""
    engine.deploy(file)
    key = engine.start(**variables)
    engine.accepted(SuspendInstance(key))
    return key


def resume(engine, key):
    engine.accepted(ResumeInstance(key))


def due(engine, after_ms):
    """Trigger the timers that are due after this time, as the timer task does."""
    engine.memory.now += after_ms
    pending = [
        each for each in engine.state.timers.values() if each.state == "PENDING" and each.due_at <= engine.memory.now
    ]
    for each in pending:
        engine.run(TriggerTimer(each.key, each.due_at))


def reports_about_jobs(engine):
    key = suspended(engine, WORK)
    (job,) = engine.state.jobs
    for command in (CompleteJob(job), FailJob(job, 1), ThrowJobError(job, "E"), UpdateJob(job, retries=9)):
        engine.run(command)
    resume(engine, key)
    engine.run(CompleteJob(job))


def changes_of_user_tasks(engine):
    key = suspended(engine, process(start(), user(), end(), "start > decide > end"))
    (of_user,) = engine.state.user_tasks
    for command in (
        *(CompleteUserTask(of_user), AssignUserTask(of_user, "ann"), AssignUserTask(of_user, None)),
        *(ClaimUserTask(of_user, "ann"), UpdateUserTask(of_user, {"priority": 1})),
    ):
        engine.run(command)
    resume(engine, key)
    engine.run(CompleteUserTask(of_user))


def operations_on_the_instance(engine):
    engine.deploy(WORK)
    key = engine.start()
    engine.fail("work")
    engine.accepted(SuspendInstance(key))
    (incident,) = engine.state.incidents
    definition = engine.state.elements[key].definition_key
    for command in (
        ModifyInstance(key, terminate=(TerminateInstruction(element_id="work"),)),
        MigrateInstance(key, definition, (("work", "work"),)),
        ResolveIncident(incident, 1),
        AssignBusinessId(key, "b-1"),
        SuspendInstance(key),
    ):
        engine.run(command)
    resume(engine, key)
    engine.run(ResumeInstance(key))


def variables(engine):
    key = suspended(engine, process(start(), user(), end(), "start > decide > end"))
    engine.set(key, x=1)
    engine.run(SetVariables(engine.element("decide").key, raw({"x": 2})))


def cancellation(engine):
    engine.cancel(suspended(engine, WORK))


def messages_that_wait_or_are_lost(engine):
    key = suspended(engine, RECEIVING, k="a")
    engine.publish("hello", "a", lost=True)
    engine.publish("hello", "a", ttl_ms=HOUR, lost=False)
    resume(engine, key)


def a_message_whose_time_is_over(engine):
    key = suspended(engine, RECEIVING, k="a")
    engine.publish("hello", "a", ttl_ms=1_000)
    engine.memory.now += 5_000
    resume(engine, key)


def a_message_for_the_next_instance(engine):
    suspended(engine, RECEIVING, k="a")
    engine.start(k="a")
    engine.publish("hello", "a")


def a_correlation(engine):
    suspended(engine, RECEIVING, k="a")
    engine.run(CorrelateMessage("hello", "a"))


def a_signal(engine):
    key = suspended(engine, message_model(start(), caught(on="signal"), end(), "start > catch > end"))
    engine.broadcast("alarm")
    resume(engine, key)
    engine.broadcast("alarm")


def a_timer_that_was_due(engine):
    key = suspended(engine, model(start(), catch("wait", timer("timeDuration", "PT1H")), end(), "start > wait > end"))
    due(engine, 3 * HOUR)
    resume(engine, key)
    due(engine, 0)


def a_cycle_that_was_due_several_times(engine):
    beside = boundary("b", "work", timer("timeCycle", "R/PT1H"), interrupting=False)
    key = suspended(engine, model(start(), task("work"), beside, end(), "start > work > end", "b > end"))
    due(engine, 4 * HOUR + 7)
    resume(engine, key)
    due(engine, 0)


def a_gateway_with_several_overdue_events(engine):
    events = [catch(name, timer("timeDuration", "PT1H")) for name in ("one", "two")]
    gateway = '<eventBasedGateway id="g"/>'
    key = suspended(engine, model(start(), gateway, *events, end(), "start > g > one > end", "g > two > end"))
    due(engine, 2 * HOUR)
    resume(engine, key)
    due(engine, 0)


def a_condition(engine):
    key = suspended(engine, model(start(), catch("wait", when("=x > 10")), end(), "start > wait > end"), x=1)
    for x in (11, 12):
        engine.set(key, x=x)
    resume(engine, key)


def calling(*content):
    child = process_element(*content, id="child")
    beside = on(escalation("A"), "handler", task("told"), "handler-start > told", interrupting=False)
    flows = "start > c > after > end", "failed > end"
    parts = start(), call("c", "child"), boundary("failed", "c", error("A")), task("after"), beside, end()
    return model(*parts, *flows, beside=(child,))


def a_called_instance_that_completes(engine):
    key = suspended(engine, calling(start("i"), task("inner"), end("ie"), "i > inner > ie"))
    engine.complete("inner", found=1)
    resume(engine, key)


def an_error_out_of_a_called_instance(engine):
    key = suspended(engine, calling(start("i"), task("inner"), final("bad", error("A")), "i > inner > bad"))
    engine.complete("inner")
    resume(engine, key)


def an_error_for_an_event_sub_process(engine):
    child = process_element(start("i"), task("inner"), final("bad", error("A")), "i > inner > bad", id="child")
    beside = on(error("A"), "handler", task("told"), "handler-start > told")
    key = suspended(engine, model(start(), call("c", "child"), beside, end(), "start > c > end", beside=(child,)))
    engine.complete("inner")
    resume(engine, key)


def an_escalation_out_of_a_called_instance(engine):
    key = suspended(engine, calling(start("i"), task("inner"), final("said", escalation("A")), "i > inner > said"))
    engine.complete("inner")
    resume(engine, key)


def start_events(engine):
    content = start("byHand"), starts(), task("work"), "byHand > work", "start > work"
    key = suspended(engine, message_model(*content, roots=[message(key=None)]))
    engine.publish("hello", "")
    resume(engine, key)


def a_loop(engine):
    child = process_element(start("i"), task("inner"), end("ie"), "i > inner > ie", id="child")
    called = loop(call("c", "child", outputs=[("=n", "n")]), "=[1, 2]", "n", "=n", "all", sequential=True)
    key = suspended(engine, model(start(), called, end(), "start > c > end", beside=(child,)))
    engine.complete("inner")
    resume(engine, key)
    engine.complete("inner")


ROWS = (
    *(reports_about_jobs, changes_of_user_tasks, operations_on_the_instance, variables, cancellation),
    *(messages_that_wait_or_are_lost, a_message_whose_time_is_over, a_message_for_the_next_instance, a_correlation),
    *(a_signal, a_timer_that_was_due, a_cycle_that_was_due_several_times, a_gateway_with_several_overdue_events),
    *(a_condition, a_called_instance_that_completes, an_error_out_of_a_called_instance),
    *(an_error_for_an_event_sub_process, an_escalation_out_of_a_called_instance, start_events, a_loop),
)


def traced(row):
    engine = Engine()
    row(engine)
    lines = engine.trace
    return lines[next(number for number, line in enumerate(lines) if line.startswith("> SuspendInstance")) :]


def test_each_row_of_the_table_has_the_golden_trace(golden):
    golden("suspensions", "".join(f"# {row.__name__}\n" + "\n".join(traced(row)) + "\n\n" for row in ROWS))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__name__)
def test_each_row_ends_alike_in_whole_commands_and_in_quanta_and_when_it_is_replayed(row):
    ends = []
    for limits in LIMITS.values():
        engine = Engine(limits)
        row(engine)
        rebuilt(engine)
        subscriptions = sorted((each.target, each.state) for each in engine.state.subscriptions.values())
        timers = sorted((each.target, each.state, each.due_at) for each in engine.state.timers.values())
        ends.append((engine.elements, engine.jobs, engine.incidents, subscriptions, timers))
    assert ends[1:] == ends[:-1]
