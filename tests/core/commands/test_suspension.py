"""Suspended process instances: each kind of command and of wait, and that nothing is lost or done twice."""

import json
import random
from collections import deque
from functools import partial

import pytest

from tests.core.elements.test_user_task import user
from tests.core.engine import Engine, place_of, raw, rebuilt
from tests.core.event_models import LIMITS, boundary, call, catch, error, escalation, final, loop, model, on
from tests.core.events.test_conditional import happened, when
from tests.core.events.test_timers import HOUR, timer
from tests.core.message_models import model as message_model
from tests.core.message_models import receive
from tests.core.models import end, par, process, process_element, start, sub, task
from vivero.core.commands.conditional_change import conditional
from vivero.core.commands.subjects import subject_of
from vivero.core.dispatch import COMMANDS
from vivero.core.partitions import homes
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance, InstanceCreated, ResolveIncident, SetVariables
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError, UpdateJob, WithholdJob
from vivero.core.records.messages import CorrelateMessage, PublishMessage
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.modifications import ActivateInstruction, ModifyInstance
from vivero.core.records.suspensions import RESUME_WAITS, ResumeInstance, SuspendInstance
from vivero.core.records.timers import FireTimer, MoveTimer, TriggerTimer
from vivero.core.records.user_tasks import AssignUserTask, ClaimUserTask, CompleteUserTask, UpdateUserTask
from vivero.core.shared import suspended_work
from vivero.core.shared.suspended_work import WAITS_A_PAGE
from vivero.core.snapshots.codec import decode, encode
from vivero.core.snapshots.writer import snapshot_of
from vivero.core.state.instance_tree import SUSPENDED
from vivero.core.state.state import State
from vivero.core.state.subtrees import of_instance
from vivero.core.view import View

REFUSED = RejectionCode.INVALID_STATE
WORK = model(start(), task("work"), end(), "start > work > end")


@pytest.fixture(params=LIMITS)
def cut(request):
    """An engine, with whole commands and with commands cut into quanta."""
    return Engine(LIMITS[request.param])


def suspend(engine, key, **options):
    engine.accepted(SuspendInstance(key, **options))


def resume(engine, key, **options):
    """Resume. The events so far give the same state again."""
    rebuilt(engine)
    engine.accepted(ResumeInstance(key, **options))


def code_of(handled):
    return None if handled.rejection is None else handled.rejection.code


def test_each_command_about_a_part_of_an_instance_has_an_entry_at_the_gate():
    for command in COMMANDS:
        of_instance = command.home is homes.of_key
        assert (command.while_suspended is not None) == of_instance, f"{command.__name__}.while_suspended"


# The commands themselves ------------------------------------------------------------------------------------------


def test_suspension_and_resumption_once_each(cut):
    cut.deploy(WORK)
    key = cut.start()
    cut.memory.now = 5_000
    suspend(cut, key, reason="a holiday")
    instance = cut.state.elements[key]
    assert (instance.suspended_at, instance.suspended_reason) == (5_000, "a holiday")
    again = cut.run(SuspendInstance(key)).rejection
    assert again.code is REFUSED
    assert again.reason.endswith(f"with key '{key}', but it is already suspended")
    resume(cut, key)
    assert cut.state.elements[key].suspended_at is None
    assert cut.run(ResumeInstance(key)).rejection.reason.endswith("but it is not suspended")
    cut.memory.now = 9_000
    suspend(cut, key)
    assert cut.state.elements[key].suspended_at == 9_000
    resume(cut, key)
    cut.complete("work")
    assert cut.state_of(key) == "COMPLETED"
    assert cut.state.weight == 0


def test_what_is_no_live_instance_is_not_found(engine):
    engine.deploy(WORK)
    key = engine.start()
    for other in (77, engine.element("work").key):
        for command in (SuspendInstance, ResumeInstance):
            rejection = engine.run(command(other)).rejection
            assert (rejection.code, str(other) in rejection.reason) == (RejectionCode.NOT_FOUND, True)
    assert code_of(engine.run(SuspendInstance(key), "other")) is RejectionCode.NOT_FOUND
    engine.complete("work")
    assert code_of(engine.run(SuspendInstance(key))) is RejectionCode.NOT_FOUND


def test_an_instance_that_is_being_cancelled_is_neither_suspended_nor_resumed(engine):
    listener = '<zeebe:taskListeners><zeebe:taskListener eventType="canceling" type="t"/></zeebe:taskListeners>'
    engine.deploy(process(start(), user(mapping=listener), end(), "start > decide > end"))
    key = engine.start()
    suspend(engine, key)
    engine.cancel(key)
    assert engine.state.elements[key].suspended_at is None, "cleared on cancel"
    for command in (SuspendInstance(key), ResumeInstance(key)):
        assert engine.run(command).rejection.reason.endswith("but a cancel request is already in progress")
    (job,) = engine.state.jobs
    assert engine.run(CompleteJob(job)).rejection is None, "a cancellation comes to its end"
    assert engine.state_of(key) == "TERMINATED"


def test_a_called_instance_that_is_being_terminated_is_neither_suspended_nor_resumed(engine):
    """Its caller ends it, and nobody has cancelled the tree."""
    listener = '<zeebe:taskListeners><zeebe:taskListener eventType="canceling" type="t"/></zeebe:taskListeners>'
    engine.deploy(process(start(), user(mapping=listener), end(), "start > decide > end", id="called"))
    late = boundary("late", "c", timer("timeDuration", "PT1H"))
    engine.deploy(model(start(), call("c", "called"), late, end(), "start > c > end", "late > end"))
    engine.start()
    called = engine.element("called").key
    (due,) = engine.state.timers
    engine.run(FireTimer(due))
    for command in (SuspendInstance(called), ResumeInstance(called)):
        rejection = engine.run(command).rejection
        assert rejection.code is REFUSED
        assert rejection.reason.endswith("but it is already being terminated")


def test_called_instances_of_a_loop_in_pages_are_suspended_one_by_one(engine):
    """Only a database has pages: the tree counts the rows that are loaded in parts."""
    engine.deploy(WORK)
    key = engine.start()
    engine.state.trees[key].in_parts = 1
    for verb, command in (("suspend", SuspendInstance(key, True)), ("resume", ResumeInstance(key, True))):
        rejection = engine.run(command).rejection
        assert rejection.code is REFUSED
        assert rejection.reason == (
            f"Expected to {verb} a process instance with key '{key}', but a loop in it is so long that its called "
            "process instances can only be handled one by one"
        )
        engine.run(SuspendInstance(key))


def test_cancelling(cut):
    cut.deploy(model(start(), sub("s", start("i"), task("work"), end("e"), "i > work > e"), end(), "start > s > end"))
    key = cut.start()
    suspend(cut, key)
    assert cut.cancel(key).rejection is None
    assert (cut.state_of(key), cut.state.weight, cut.elements) == ("TERMINATED", 0, [])


# Refused commands -------------------------------------------------------------------------------------------------


def test_reports_of_jobs_are_refused_and_possible_again(cut):
    cut.deploy(WORK)
    key = cut.start()
    job = cut.job("work").key
    suspend(cut, key)
    commands = [
        *(CompleteJob(job), FailJob(job), ThrowJobError(job, "x")),
        *(UpdateJob(job, retries=2), WithholdJob(job, None, 9, 5)),
    ]
    for command in commands:
        rejection = cut.run(command).rejection
        assert rejection.code is REFUSED
        assert rejection.reason.endswith(f"its process instance with key '{key}' is suspended: resume it first")
    assert code_of(cut.run(conditional(CompleteJob(job), job, (cut.state.trees[key].revision,)))) is REFUSED
    assert code_of(cut.run(CompleteJob(job), "other")) is RejectionCode.NOT_FOUND, "another tenant learns nothing"
    resume(cut, key)
    assert cut.run(CompleteJob(job)).rejection is None
    assert cut.state_of(key) == "COMPLETED"


def test_operations_are_refused_with_their_names(cut):
    (definition,) = cut.deploy(WORK)
    key, stopped = cut.start(), "is suspended: resume it first"
    job = cut.job("work")
    suspend(cut, key)
    operations = {
        "modify process instance": ModifyInstance(key, (ActivateInstruction("work"),)),
        "migrate process instance": MigrateInstance(key, definition, (("work", "work"),)),
        "assign a business id to process instance": AssignBusinessId(key, "order-7"),
        "throw an error for job": ThrowJobError(job.key, "x"),
    }
    for name, operation in operations.items():
        rejection = cut.run(operation).rejection
        subject = job.key if "job" in name else key
        assert rejection.code is REFUSED
        assert rejection.reason == (
            f"Expected to {name} with key '{subject}', but its process instance with key '{key}' {stopped}"
        )


def test_changes_of_user_tasks_are_refused_and_their_variables_too(engine):
    engine.deploy(process(start(), user(), end(), "start > decide > end"))
    key = engine.start()
    (task_key,) = engine.state.user_tasks
    place = engine.element("decide").key
    suspend(engine, key)
    commands = [
        *(AssignUserTask(task_key, "ann"), AssignUserTask(task_key, None), ClaimUserTask(task_key, "ann")),
        *(UpdateUserTask(task_key, {"priority": 1}), CompleteUserTask(task_key), SetVariables(place, raw({"x": 1}))),
    ]
    rejections = [engine.run(command).rejection for command in commands]
    assert [one.code for one in rejections] == [REFUSED] * 6
    assert rejections[-1].reason.startswith(f"Expected to set variables in the scope with key '{place}'")
    assert engine.set(key, x=1).rejection is None, "variables of the instance can be set"
    resume(engine, key)
    assert engine.run(CompleteUserTask(task_key)).rejection is None


def test_incidents_wait(cut):
    cut.deploy(WORK)
    key = cut.start()
    cut.fail("work")
    cut.update("work", retries=1)
    (incident,) = cut.state.incidents
    suspend(cut, key)
    assert code_of(cut.run(ResolveIncident(incident))) is REFUSED
    resume(cut, key)
    assert cut.run(ResolveIncident(incident)).rejection is None


# Timers -----------------------------------------------------------------------------------------------------------


def due(engine):
    """Trigger each timer that is due, as the timer task does; how many there were."""
    pending = [
        one for one in engine.state.timers.values() if one.state == "PENDING" and one.due_at <= engine.memory.now
    ]
    for one in pending:
        engine.run(TriggerTimer(one.key, one.due_at))
    return len(pending)


def fired(engine, target):
    return sum(row["target"] == target and row["triggered_at"] is not None for row in rows_of(engine, "Timer"))


def rows_of(engine, table):
    return [row for (of, _), row in engine.rows.items() if of == table]


def test_a_timer_that_was_due_fires_once_after_the_resumption(cut):
    cut.deploy(model(start(), catch("wait", timer("timeDuration", "PT1H")), end(), "start > wait > end"))
    key = cut.start()
    suspend(cut, key)
    cut.memory.now += 3 * HOUR
    assert due(cut) == 1
    assert due(cut) == 0, "the timer task forgets it"
    (waiting,) = cut.state.timers.values()
    assert waiting.state == "SUSPENDED"
    for command in (FireTimer(waiting.key), MoveTimer(waiting.key, 1)):
        assert code_of(cut.run(command)) is REFUSED
    resume(cut, key)
    assert due(cut) == 1
    assert cut.state_of(key) == "COMPLETED"


def test_a_timer_that_is_not_due_keeps_its_date(engine):
    engine.deploy(model(start(), catch("wait", timer("timeDuration", "PT1H")), end(), "start > wait > end"))
    key = engine.start()
    suspend(engine, key)
    resume(engine, key)
    (waiting,) = engine.state.timers.values()
    assert (waiting.state, waiting.due_at) == ("PENDING", 1_000 + HOUR)


@pytest.mark.parametrize("repetitions", ["R", "R3"])
def test_a_cycle_fires_once_and_then_an_interval_later(cut, repetitions):
    beside = boundary("b", "work", timer("timeCycle", f"{repetitions}/PT1H"), interrupting=False)
    cut.deploy(model(start(), task("work"), beside, end(), "start > work > end", "b > end"))
    key = cut.start()
    cut.memory.now += HOUR
    assert due(cut) == 1
    suspend(cut, key)
    cut.memory.now += 5 * HOUR + 7
    assert due(cut) == 1
    resume(cut, key)
    resumed = cut.memory.now
    assert due(cut) == 1
    (following,) = cut.state.timers.values()
    assert (following.due_at, fired(cut, "b")) == (resumed + HOUR, 2)
    cut.memory.now = following.due_at
    assert due(cut) == 1
    assert bool(cut.state.timers) == (repetitions == "R"), "of three repetitions, none was lost"


def test_a_gateway_with_several_overdue_events_goes_on_once(cut):
    gateway = '<eventBasedGateway id="g"/>'
    events = [catch(name, timer("timeDuration", "PT1H")) for name in ("one", "two")]
    cut.deploy(model(start(), gateway, *events, end(), "start > g > one > end", "g > two > end"))
    key = cut.start()
    suspend(cut, key)
    cut.memory.now += 2 * HOUR
    assert due(cut) == 2
    resume(cut, key)
    assert due(cut) == 2
    assert cut.state_of(key) == "COMPLETED"
    assert sum(fired(cut, name) for name in ("one", "two")) == 1


# Conditions -------------------------------------------------------------------------------------------------------


def test_a_condition_that_became_true_occurs_once(cut):
    event = boundary("b", "work", when("=x > 10"), interrupting=False)
    cut.deploy(model(start(), task("work"), event, task("after"), end(), "start > work > end", "b > after"))
    key = cut.start(x=1)
    suspend(cut, key)
    for x in (11, 12, 13):
        assert cut.set(key, x=x).rejection is None
    assert happened(cut, "b") == 0
    resume(cut, key)
    assert happened(cut, "b") == 1
    assert cut.jobs == ["after", "work"]


def test_a_condition_that_is_not_true_any_more_does_not_occur(engine):
    engine.deploy(model(start(), catch("wait", when("=x > 10")), end(), "start > wait > end"))
    key = engine.start(x=1)
    suspend(engine, key)
    engine.set(key, x=11)
    engine.set(key, x=1)
    resume(engine, key)
    assert engine.elements == ["p", "wait"]


MANY = 2 * WAITS_A_PAGE + 1


def test_many_timers_that_were_due_go_on_page_by_page(cut, monkeypatch):
    """One item stands for all of them: the rows say which ones they are. The tree is walked once for all pages."""
    walks = []

    def walk(instance):
        walks.append(instance)
        return of_instance(instance)

    monkeypatch.setattr(suspended_work, "of_instance", walk)
    inner = sub("s", start("i"), catch("wait", timer("timeDuration", "PT1H")), end("e"), "i > wait > e")
    cut.deploy(model(start(), loop(inner, f"=for i in 1..{MANY} return i"), end(), "start > s > end"))
    key = cut.start()
    suspend(cut, key)
    cut.memory.now += 2 * HOUR
    assert due(cut) == MANY
    assert cut.state.elements[key].suspended_work == ((key, RESUME_WAITS, 0),)
    resume(cut, key)
    assert len(walks) == 1
    assert [one.state for one in cut.state.timers.values()] == ["PENDING"] * MANY
    assert due(cut) == MANY
    assert (cut.state_of(key), cut.state.weight) == ("COMPLETED", 0)


@pytest.mark.long
@pytest.mark.parametrize("steps", range(1, 12, 2))
def test_a_second_suspension_comes_while_timers_go_on(steps):
    engine = Engine(LIMITS["quanta"])
    inner = sub("s", start("i"), catch("wait", timer("timeDuration", "PT1H")), end("e"), "i > wait > e")
    engine.deploy(model(start(), loop(inner, f"=for i in 1..{MANY} return i"), end(), "start > s > end"))
    key = engine.start()
    suspend(engine, key)
    engine.memory.now += 2 * HOUR
    assert due(engine) == MANY
    on_the_way = deque([(ResumeInstance(key), "<default>", None)])
    for _ in range(steps):
        if on_the_way:
            step(engine, on_the_way)
    on_the_way.appendleft((SuspendInstance(key), "<default>", None))
    drain(engine, on_the_way)
    due(engine)
    assert {one.state for one in engine.state.timers.values()} == {SUSPENDED}
    resume(engine, key)
    assert due(engine) == MANY
    assert (engine.state_of(key), engine.state.weight) == ("COMPLETED", 0)


# Messages and signals ---------------------------------------------------------------------------------------------

RECEIVING = message_model(start(), receive(), end(), "start > receive > end")


def test_a_message_with_time_to_live_comes_after_the_resumption(cut):
    cut.deploy(RECEIVING)
    key = cut.start(k="a")
    suspend(cut, key)
    cut.publish("hello", "a", ttl_ms=HOUR, first=True)
    cut.publish("hello", "a", ttl_ms=HOUR, first=False)
    cut.publish("hello", "a")
    assert cut.elements == ["p", "receive"]
    resume(cut, key)
    assert (cut.state_of(key), cut.variables_of(key)["first"]) == ("COMPLETED", True)


def test_a_message_whose_time_is_over_is_lost_and_the_next_one_comes(cut):
    cut.deploy(RECEIVING)
    key = cut.start(k="a")
    suspend(cut, key)
    cut.publish("hello", "a", ttl_ms=1_000)
    cut.publish("hello", "a")
    cut.memory.now += 5_000
    resume(cut, key)
    assert cut.elements == ["p", "receive"]
    cut.publish("hello", "a")
    assert cut.state_of(key) == "COMPLETED"


@pytest.mark.parametrize("steps", range(4))
def test_a_resumption_while_a_message_goes_back_loses_no_later_one(steps):
    """The resumption comes after so many commands that follow from the message."""
    engine = Engine(LIMITS["quanta"])
    engine.deploy(RECEIVING)
    key = engine.start(k="a")
    suspend(engine, key)
    on_the_way = deque([(PublishMessage("hello", "a"), "<default>", None)])
    for _ in range(steps):
        if on_the_way:
            step(engine, on_the_way)
    on_the_way.appendleft((ResumeInstance(key), "<default>", None))
    drain(engine, on_the_way)
    engine.publish("hello", "a")
    assert engine.state_of(key) == "COMPLETED"


def test_a_correlation_is_refused_at_once(cut):
    cut.deploy(RECEIVING)
    key = cut.start(k="a")
    suspend(cut, key)
    cut.run(CorrelateMessage("hello", "a"))
    answers = [row for row in cut.memory.log[-1].handled if row.answered]
    answers += [row for logged in cut.memory.log[-3:] for row in logged.handled if row.rejection is not None]
    assert {row.rejection.code for row in answers} == {RejectionCode.NOT_FOUND}
    resume(cut, key)
    cut.accepted(CorrelateMessage("hello", "a"))
    assert cut.state_of(key) == "COMPLETED"


def test_a_message_goes_to_the_next_instance(engine):
    engine.deploy(RECEIVING)
    first, second = engine.start(k="a"), engine.start(k="a")
    suspend(engine, first)
    engine.publish("hello", "a")
    assert (engine.state_of(first), engine.state_of(second)) == ("ACTIVATED", "COMPLETED")


def test_a_signal_is_lost_and_the_next_one_is_caught(cut):
    signalled = '<intermediateCatchEvent id="wait"><signalEventDefinition signalRef="s"/></intermediateCatchEvent>'
    cut.deploy(message_model(start(), signalled, end(), "start > wait > end"))
    key = cut.start()
    suspend(cut, key)
    cut.broadcast("alarm")
    resume(cut, key)
    assert cut.elements == ["p", "wait"]
    cut.broadcast("alarm")
    assert cut.state_of(key) == "COMPLETED"


# Called instances -------------------------------------------------------------------------------------------------


def calling(*content):
    """A process that calls one with this content, and does `after`."""
    child = process_element(*content, id="child")
    caught = boundary("b", "c", error("A"))
    return model(
        *(start(), call("c", "child"), caught, task("after"), task("caught"), end()),
        *("start > c > after > end", "b > caught"),
        beside=(child,),
    )


INNER = (start("i"), task("inner"), end("ie"), "i > inner > ie")


def test_a_child_runs_on_and_the_caller_completes_after_the_resumption(cut):
    cut.deploy(calling(*INNER))
    key = cut.start()
    suspend(cut, key)
    cut.complete("inner", found=1)
    assert cut.jobs == []
    assert [row["state"] for row in rows_of(cut, "Instance") if row["element"] == "child"] == ["COMPLETED"]
    resume(cut, key)
    assert (cut.jobs, cut.variables_of(key)) == (["after"], {"found": 1})


def test_the_boundary_path_of_an_error_out_of_a_child_waits(cut):
    cut.deploy(calling(start("i"), task("inner"), final("failed", error("A")), "i > inner > failed"))
    key = cut.start()
    suspend(cut, key)
    cut.complete("inner")
    assert cut.jobs == []
    assert "c" not in cut.elements
    resume(cut, key)
    assert cut.jobs == ["caught"]


def test_an_escalation_of_a_child_is_taken_up_after_the_resumption(cut):
    child = process_element(start("i"), task("inner"), final("said", escalation("A")), "i > inner > said", id="child")
    beside = on(escalation("A"), "handler", task("told"), "handler-start > told")
    cut.deploy(model(start(), call("c", "child"), beside, end(), "start > c > end", beside=(child,)))
    key = cut.start()
    suspend(cut, key)
    cut.complete("inner")
    assert cut.jobs == []
    resume(cut, key)
    assert cut.jobs == ["told"]


TWO_TASKS = (start("i"), task("inner"), task("sibling"), par("both"), "i > both > inner", "both > sibling")
CATCHERS = {
    "an event sub-process": (call("c", "child"), on(error("A"), "handler", task("caught"), "handler-start > caught")),
    "one around the call": (
        sub(
            "c",
            *(start("s"), call("called", "child"), end("se"), "s > called > se"),
            on(error("A"), "handler", task("caught"), "handler-start > caught"),
        ),
    ),
    "the boundary of a scope": (
        sub("c", start("s"), call("called", "child"), end("se"), "s > called > se"),
        *(boundary("b", "c", error("A")), task("caught"), "b > caught"),
    ),
    "the boundary of the call": (call("c", "child"), boundary("b", "c", error("A")), task("caught"), "b > caught"),
}


@pytest.mark.parametrize("catcher", CATCHERS)
@pytest.mark.parametrize("thrown", ["an end event", "a job"])
@pytest.mark.parametrize("depth", [1, 2])
def test_an_error_out_of_a_child_ends_it_at_once_and_the_path_of_the_catcher_waits(cut, catcher, thrown, depth):
    """Only the caller is suspended, and nothing of the called instances may run on, at any depth."""
    content = *TWO_TASKS, final("failed", error("A")), "inner > failed"
    called = [process_element(*content, id="child" if depth == 1 else "below")]
    if depth == 2:
        called.append(process_element(start("m"), call("n", "below"), end("me"), "m > n > me", id="child"))
    cut.deploy(model(start(), *CATCHERS[catcher], end(), "start > c > end", beside=tuple(called)))
    key = cut.start()
    suspend(cut, key)
    if thrown == "a job":
        cut.throw("inner", "A")
    else:
        cut.complete("inner")
    assert cut.jobs == []
    assert not {"child", "below", "called", "inner", "sibling"}.intersection(cut.elements)
    resume(cut, key)
    assert cut.jobs == ["caught"]
    cut.complete("caught")
    assert cut.state_of(key) == "COMPLETED"


def test_an_interrupting_escalation_of_a_child_ends_everything_in_the_scope_of_its_catcher(cut):
    """Other children of the suspended instance end with it: they are in the interrupted scope, too."""
    child = process_element(*TWO_TASKS, final("said", escalation("A")), "inner > said", id="child")
    beside = on(escalation("A"), "handler", task("told"), "handler-start > told")
    parts = (
        start(),
        par("fork"),
        call("c", "child"),
        catch("wait", timer("timeDuration", "PT1H")),
        end(),
        "start > fork > c > end",
        "fork > wait > end",
    )
    cut.deploy(model(*parts, beside, beside=(child,)))
    key = cut.start()
    suspend(cut, key)
    cut.complete("inner")
    assert (cut.elements, cut.jobs) == (["p"], [])
    assert [one.state for one in cut.state.timers.values() if one.state == "PENDING"] == []
    resume(cut, key)
    assert cut.jobs == ["told"]


def test_an_error_for_the_caller_of_a_suspended_instance_ends_it_and_what_it_calls(cut):
    """The instance between catcher and thrower is suspended; its caller runs, and goes on."""
    below = process_element(*TWO_TASKS, final("failed", error("A")), "inner > failed", id="below")
    between = process_element(start("m"), call("n", "below"), end("me"), "m > n > me", id="child")
    beside = on(error("A"), "handler", task("caught"), "handler-start > caught")
    cut.deploy(model(start(), call("c", "child"), beside, end(), "start > c > end", beside=(below, between)))
    key = cut.start()
    suspend(cut, cut.element("child").key)
    cut.complete("inner")
    rebuilt(cut)
    assert cut.jobs == ["caught"]
    cut.complete("caught")
    assert cut.state_of(key) == "COMPLETED"


def test_a_cancellation_ends_a_scope_that_an_error_has_interrupted(cut):
    child = process_element(*TWO_TASKS, final("failed", error("A")), "inner > failed", id="child")
    beside = on(error("A"), "handler", task("caught"), "handler-start > caught")
    cut.deploy(model(start(), call("c", "child"), beside, end(), "start > c > end", beside=(child,)))
    key = cut.start()
    suspend(cut, key)
    cut.complete("inner")
    assert cut.cancel(key).rejection is None
    rebuilt(cut)
    assert (cut.elements, cut.state_of(key)) == ([], "TERMINATED")


def test_a_suspended_child_does_not_stop_its_caller(cut):
    cut.deploy(calling(*INNER))
    key = cut.start()
    child = cut.element("child").key
    suspend(cut, child)
    assert code_of(cut.cancel(child)) is REFUSED, "the message names the root"
    assert code_of(cut.complete("inner")) is REFUSED
    assert cut.cancel(key).rejection is None
    assert cut.elements == []


def test_called_instances_can_be_included(cut):
    cut.deploy(calling(*INNER))
    key = cut.start()
    child = cut.element("child").key
    suspend(cut, key, include_called=True)
    assert {one.suspended_at for one in (cut.state.elements[key], cut.state.elements[child])} == {1_000}
    assert code_of(cut.complete("inner")) is REFUSED
    resume(cut, key, include_called=True)
    cut.complete("inner")
    assert cut.jobs == ["after"]


# Work, loops, termination -----------------------------------------------------------------------------------------


def begun(steps):
    """An engine whose quanta are single items, after that many commands, and the commands that are on their way."""
    engine = Engine(LIMITS["quanta"])
    engine.deploy(fan())
    on_the_way = deque([(CreateInstance("p"), "<default>", None)])
    for _ in range(steps):
        if on_the_way:
            step(engine, on_the_way)
    return engine, on_the_way


def fan():
    names = [f"t{n}" for n in range(4)]
    inner = sub("s", start("i"), par("f"), *map(task, names), "i > f", *(f"f > {name}" for name in names))
    return model(start(), inner, task("after"), end(), "start > s > after > end")


def step(engine, on_the_way):
    engine.memory.handle(*on_the_way.popleft())
    on_the_way += engine.memory.take_inbox()


def drain(engine, on_the_way):
    while on_the_way:
        step(engine, on_the_way)


@pytest.mark.parametrize("steps", range(1, 22, 2))
def test_an_instance_is_suspended_at_every_quantum_border(steps):
    """Deferred work of any kind is neither lost nor done twice."""
    engine, on_the_way = begun(steps)
    (key,) = engine.state.trees
    before = len(engine.state.elements)
    on_the_way.append((SuspendInstance(key), "<default>", None))
    on_the_way.rotate(1)
    drain(engine, on_the_way)
    assert len(engine.state.elements) == before, "it takes no further step"
    on_the_way.append((ResumeInstance(key), "<default>", None))
    drain(engine, on_the_way)
    assert engine.jobs == ["t0", "t1", "t2", "t3"]
    for name in engine.jobs:
        engine.complete(name)
    engine.complete("after")
    assert (engine.state_of(key), engine.state.weight) == ("COMPLETED", 0)


@pytest.mark.parametrize("sequential", [True, False])
def test_nothing_of_a_loop_is_lost_or_done_twice(cut, sequential):
    child = process_element(*INNER, id="child")
    called = call("c", "child", outputs=[("=n", "n")])
    activity = loop(called, "=[1, 2, 3]", "n", "=n", "all", sequential=sequential)
    cut.deploy(model(start(), activity, end(), "start > c > end", beside=(child,)))
    key = cut.start()
    suspend(cut, key)
    while cut.jobs:
        cut.complete("inner")
    resume(cut, key)
    while cut.jobs:
        cut.complete("inner")
    assert (cut.state_of(key), cut.variables_of(key)["all"]) == ("COMPLETED", [1, 2, 3])
    created = [event for logged in cut.memory.log for one in logged.handled for event in one.events]
    assert sum(isinstance(event, InstanceCreated) for event in created) == 4


def test_suspended_work_is_in_snapshots(engine):
    engine.deploy(calling(*INNER))
    key = engine.start()
    suspend(engine, key, reason="r")
    engine.complete("inner")
    root = engine.state.elements[key]
    assert root.suspended_work
    written = encode(snapshot_of(root, engine.state.catalogue, version=1, at=1_000))
    process_entry = json.loads(written)["elements"][0]["process"]
    assert (process_entry["suspendedAt"], process_entry["suspendedReason"]) == (1_000, "r")
    assert decode(written).elements[0].process.suspended_work == root.suspended_work


def test_a_token_that_was_on_its_way_in_an_interrupted_scope_is_dropped(engine):
    """The completion of one child waits; then the error of another one interrupts the scope."""
    failing = process_element(start("j"), task("bad"), final("failed", error("A")), "j > bad > failed", id="failing")
    handler = on(error("A"), "handler", task("caught"), "handler-start > caught")
    content = (start(), par("f"), call("c", "child"), call("d", "failing"), par("j2"), end(), handler)
    flows = ("start > f > c > j2 > end", "f > d > j2")
    engine.deploy(model(*content, *flows, beside=(process_element(*INNER, id="child"), failing)))
    key = engine.start()
    suspend(engine, key)
    engine.complete("inner")
    engine.complete("bad")
    resume(engine, key)
    assert engine.jobs == ["caught"]
    engine.complete("caught")
    assert engine.state_of(key) == "COMPLETED"


# Suspension changes nothing else ----------------------------------------------------------------------------------

RANDOM_RUNS = 40


def random_model():
    """Tasks beside a loop of called instances, a condition, a message and a signal."""
    child = process_element(*INNER, id="child")
    calls = loop(call("c", "child", propagateAllChildVariables="false"), "=[1, 2]")
    failing = boundary("b", "work", error("A"))
    told = catch("told", when("=x > 2"))
    content = (start(), par("f"), task("work"), failing, calls, user("decide"), told, task("more"), end())
    flows = ("start > f > work > end", "f > c > end", "f > decide > end", "f > told > more > end", "b > more")
    return model(*content, *flows, beside=(child,))


def random_command(engine, key, chance, x):
    """(place of the job or task that it is about, what makes the command of its key); None if there is none."""
    jobs = {place_of(job.element): job.key for job in engine.state.jobs.values()}
    tasks = {place_of(one.element): one.key for one in engine.state.user_tasks.values()}
    complete, assign, fail = CompleteJob, partial(AssignUserTask, assignee="ann"), partial(FailJob, retries=1)
    makes = [
        *((place, make) for place in jobs for make in (complete, complete, fail, partial(ThrowJobError, code="A"))),
        *((place, make) for place in tasks for make in (CompleteUserTask, assign)),
        *[("p", lambda key: SetVariables(key, raw({"x": x})))] * 3,
    ]
    return chance.choice(makes)


def key_at(engine, root, place):
    """The key of the job or the task at a place, or else of the element there."""
    element = engine.at(root, place)
    return next(iter((*element.waits.jobs, *element.waits.user_tasks, element.key)))


def shape(engine):
    """Live elements and waits, without keys."""
    elements = sorted((place_of(element), str(element.state)) for element in engine.state.elements.values())
    jobs = sorted((place_of(job.element), job.retries, job.state) for job in engine.state.jobs.values())
    tasks = [one.assignee for one in engine.state.user_tasks.values()]
    return elements, jobs, tasks, len(engine.state.subscriptions), engine.incidents


@pytest.mark.parametrize("limit", LIMITS)
def test_a_suspension_is_the_same_as_leaving_out_what_it_refuses(limit):
    """Suspend; any commands; resume: the same as those that were accepted, without the suspension."""
    refused = kept = 0
    for number in range(RANDOM_RUNS):
        seed = f"{limit}-{number}"
        chance = random.Random(seed)
        one, other = Engine(LIMITS[limit], keeps_rows=False), Engine(LIMITS[limit], keeps_rows=False)
        for engine in (one, other):
            engine.deploy(random_model())
        key, twin = one.start(x=0), other.start(x=0)
        suspended = False
        for x in range(25):
            if key not in one.state.elements:
                break
            if chance.random() < 0.3:
                one.accepted((ResumeInstance if suspended else SuspendInstance)(key))
                suspended = not suspended
            elif twin in other.state.elements:  # the other one may be over before this one is resumed
                place, make = random_command(one, key, chance, x)
                if code_of(one.run(make(key_at(one, key, place)))) is None:
                    other.accepted(make(key_at(other, twin, place)))
                else:
                    refused += 1
            if not suspended:
                assert shape(one) == shape(other), f"seed {seed}"
            else:
                kept += len(one.state.elements[key].suspended_work)
        if suspended:
            one.accepted(ResumeInstance(key))
        assert shape(one) == shape(other), f"seed {seed}"
    assert refused > RANDOM_RUNS
    assert kept > RANDOM_RUNS


def test_a_command_that_must_not_pass_the_gate_names_a_part_of_a_tree():
    view = View(State(1), lambda _definition: None)
    with pytest.raises(LookupError, match="the first need of JOB:COMPLETE names no part of a tree"):
        subject_of(CompleteJob(1), lambda _command, _tenant: iter(()), view)
