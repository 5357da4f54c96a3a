"""Migration of process instances: what stays, what is closed, what is opened, and how it goes on."""

import pytest

from tests.core import message_models as messages
from tests.core.ad_hoc_models import activate, tools
from tests.core.compensation_models import T, done, in_line
from tests.core.engine import apply_by, explode, rebuilt, recorded_batches, snapshot
from tests.core.event_models import LIMITS, boundary, call, catch, inc, loop, model, on, script
from tests.core.listener_models import listening
from tests.core.migration_models import Migrating
from tests.core.models import end, flow, par, start, sub, task, xor
from tests.core.task_listener_models import user_task
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.execution.step import StepLimits
from vivero.core.needs import NeedKind, NotLoaded
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.instances import CreateInstance
from vivero.core.records.migrations import MigrateInstance, MoveSubscription
from vivero.core.records.timers import FireTimer, TimerCanceled, TriggerTimer
from vivero.core.records.user_tasks import AssignUserTask, CompleteUserTask
from vivero.core.replay import apply_row
from vivero.core.state.instance_tree import Element, Job
from vivero.core.state.message_channels import ANY_BUSINESS_ID
from vivero.core.state.migrations import Migration
from vivero.core.state.state import State
from vivero.storage.state.migrated_rows import documents_of

TOLD = '<messageEventDefinition messageRef="m"/>'


def timer(text="PT1H", kind="timeDuration"):
    return f"<timerEventDefinition><{kind}>{text}</{kind}></timerEventDefinition>"


def line(*parts, id="p", more=""):
    names = [part.partition('id="')[2].partition('"')[0] for part in parts]
    return messages.model(start(), *parts, end(), " > ".join(["start", *names, "end"]), *filter(None, [more]), id=id)


def bound(id, event, *after, host="a", interrupting=True):
    """A boundary event with a task behind it."""
    return boundary(id, host, event, interrupting) + task(f"{id}-then") + flow(id, f"{id}-then")


def test_keys_variables_and_scopes_stay():
    engine = Migrating(line(sub("s", start("i"), task("a"), end("j"), "i > a > j")), renamed(), x=1)
    before = {element.key: element.path for element in engine.state.elements.values()}
    job = engine.job("a")
    engine.fail("a", retries=2, message="no", y=3)
    row = dict(engine.rows["Job", job.key])
    engine.go("s:s2", "a:a2")
    assert engine.places == [("a2", engine.target), ("p", engine.target), ("s2", engine.target)]
    assert {element.key: element.path for element in engine.state.elements.values()} == before
    assert engine.rows["Job", job.key] == row, "key, retries, backoff, state"
    instance = engine.state.trees[engine.key].root
    assert (instance.version_number, instance.name) == (2, "Process p")
    assert engine.element("a2").label == "Task a2"
    engine.complete("a2")
    assert engine.jobs == ["b2"], "the new model follows"
    engine.complete("b2")
    assert engine.state_of(engine.key) == "COMPLETED"
    assert engine.variables("p") == {"x": 1}


def renamed():
    return line(sub("s2", start("i2"), task("a2"), task("b2"), end("j2"), "i2 > a2 > b2 > j2"))


def test_nothing_is_evaluated_for_what_stays():
    target = line(task("a", type="=missing", inputs=[("=1/0", "z")], retries="=other"))
    engine = Migrating(line(task("a")), target)
    engine.go("a")
    assert engine.job("a").type == "a"
    assert engine.incidents == []


def test_another_process_up_and_down():
    engine = Migrating(line(task("a")), line(task("b"), id="q"))
    engine.go("a:b")
    instance = engine.state.trees[engine.key].root
    assert (instance.process_id, instance.element, instance.version_number) == ("q", "q", 1)
    usage = {key: row.running for key, row in engine.state.catalogue.usage.items()}
    assert usage == {engine.source: 0, engine.target: 1}
    engine.go("b:a", to=engine.source)
    assert engine.places == [("a", engine.source), ("p", engine.source)]
    engine.complete("a")
    assert engine.state_of(engine.key) == "COMPLETED"


def test_a_draining_definition_retires_with_its_last_instance():
    engine = Migrating(line(task("a")), line(task("a"), task("b")))
    engine.run(DeleteResource(engine.source))
    assert engine.state.catalogue.definitions[engine.source].state == "DRAINING"
    engine.go("a")
    assert engine.state.catalogue.definitions[engine.source].state == "DELETED"


# ---- user tasks


def test_a_user_task_keeps_what_people_changed():
    engine = Migrating(line(user_task("a")), line(user_task("b", assignee="model")))
    (key,) = engine.state.user_tasks
    engine.run(AssignUserTask(key, "ann", "assign"))
    engine.go("a:b")
    assert engine.state.user_tasks[key].assignee == "ann"
    assert engine.state.user_tasks[key].element.element == "b"
    engine.run(CompleteUserTask(key, {}, "complete"))
    assert engine.state_of(engine.key) == "COMPLETED"


@pytest.mark.parametrize("listeners", [(), ("creating told",)])
def test_a_task_of_a_worker_becomes_one_of_the_engine(listeners):
    engine = Migrating(line('<userTask id="a"/>'), line(user_task("a", *listeners, assignee="ann")))
    job = engine.job("a").key
    engine.go("a")
    assert engine.rows["Job", job]["state"] == "CANCELED"
    (key,) = engine.state.user_tasks
    if listeners:
        assert [one.kind for one in engine.state.jobs.values()] == ["TASK_LISTENER"]
        engine.complete("a")
    assert engine.state.user_tasks[key].assignee == "ann"


# ---- events


def test_a_mapped_timer_keeps_its_due_date():
    source = line(task("a"), more=bound("late", timer("R3/PT1H", "timeCycle"), interrupting=False))
    target = line(task("b"), more=bound("later", timer("PT5S"), host="b"))
    engine = Migrating(source, target)
    (before,) = engine.state.timers.values()
    key, due, left = before.key, before.due_at, before.repetitions
    engine.memory.now += 1_000_000
    engine.go("a:b", "late:later")
    after = engine.state.timers[key]
    assert (after.due_at, after.repetitions, after.target) == (due, left, "later")
    assert (after.definition, after.process_id) == (engine.target, "p")
    engine.memory.now = due
    engine.run(TriggerTimer(key, due))
    assert engine.jobs == ["later-then"], "it interrupts, as the target says"


def test_timers_change_places():
    parts = bound("x", timer("PT1H"), interrupting=False) + bound("y", timer("PT2H"), interrupting=False)
    engine = Migrating(line(task("a"), more=parts), line(task("a"), more=parts))
    before = {one.key: one.target for one in engine.state.timers.values()}
    engine.go("a", "x:y", "y:x")
    assert {one.key: one.target for one in engine.state.timers.values()} == {
        key: {"x": "y", "y": "x"}[target] for key, target in before.items()
    }


def test_unmapped_events_are_closed_and_opened():
    source = line(task("a"), more=bound("late", timer()))
    target = line(task("a"), more=bound("told", TOLD) + bound("slow", timer("=wait")))
    engine = Migrating(source, target, k="one", wait="PT2H")
    engine.go("a")
    (pending,) = engine.state.timers.values()
    assert (pending.target, pending.due_at) == ("slow", engine.memory.now + 7_200_000)
    engine.publish("hello", "one")
    assert engine.jobs == ["told-then"]


def test_a_message_that_waited_goes_to_an_event_that_is_opened():
    target = line(task("a"), more=bound("told", TOLD))
    engine = Migrating(line(task("a")), target, k="one")
    engine.publish("hello", "one", ttl_ms=100_000)
    engine.go("a")
    assert engine.jobs == ["told-then"]


def test_a_one_time_event_does_not_happen_again():
    """A non-interrupting timer that has fired has no wait. Mapped, it gets none."""
    parts = bound("late", timer(), interrupting=False)
    engine = Migrating(line(task("a"), more=parts), line(task("a"), more=parts))
    (key,) = engine.state.timers
    engine.run(FireTimer(key))
    engine.go("a", "late", "late-then")
    assert engine.state.timers == {}


@pytest.mark.parametrize("process_id", ["p", "q"])
@pytest.mark.parametrize("interrupting", [True, False])
def test_a_mapped_message_keeps_its_name_and_key(process_id, interrupting):
    told = TOLD
    source = line(task("a"), more=bound("told", told))
    target = line(task("b"), more=bound("heard", told, host="b", interrupting=interrupting), id=process_id)
    engine = Migrating(source, target, k="one")
    (key,) = engine.state.subscriptions
    engine.go("a:b", "told:heard")
    engine.set(engine.key, k="two")
    (channel,) = engine.state.channels.values()
    moved = channel.subscriptions[key]
    assert (moved.process_id, moved.interrupting, moved.state) == (process_id, interrupting, "OPEN")
    engine.publish("hello", "one")
    assert engine.jobs == (["heard-then"] if interrupting else ["b", "heard-then"])
    engine.publish("hello", "one")
    assert engine.jobs == (["heard-then"] if interrupting else ["b", "heard-then", "heard-then"])


def test_a_message_that_it_had_does_not_come_again_in_another_process():
    told = TOLD
    source = line(task("a"), more=bound("told", told, interrupting=False))
    target = line(task("a"), more=bound("told", told, interrupting=False), id="q")
    engine = Migrating(source, target, k="one")
    engine.publish("hello", "one", ttl_ms=1_000_000)
    engine.go("a", "told", "told-then")
    engine.publish("hello", "one", ttl_ms=1_000_000)
    assert engine.jobs == ["a", "told-then", "told-then"]


def test_messages_that_are_in_the_database_only_do_not_come_again():
    """All that the former process has had are loaded, page by page, before the subscription is of another process."""
    parts = bound("told", TOLD, interrupting=False)
    engine = Migrating(line(task("a"), more=parts), line(task("a"), more=parts, id="q"), k="one")
    engine.publish("hello", "one", ttl_ms=1_000_000)
    (channel,) = engine.state.channels.values()
    (key,) = channel.subscriptions
    channel.complete, processor = False, engine.memory.processor
    command = CommandRecord(9_000, "<default>", MoveSubscription(key, "<default>", "one", "q", False))
    with pytest.raises(NotLoaded) as missing:
        processor.process(command, 2_000, {})
    assert missing.value.need.kind is NeedKind.MESSAGES
    assert missing.value.need.key[:5] == ("<default>", "one", "hello", "q", 0)
    channel.known["hello", "q", ANY_BUSINESS_ID] = None  # the last page has come
    processor.process(command, 2_000, {})
    assert [message.given for message in channel.messages.values()] == [("p", "q")]
    assert channel.subscriptions[key].process_id == "q"


def test_signals_and_conditions():
    alarm, holds = '<signalEventDefinition signalRef="s"/>', conditional("=x > 1")
    source = line(task("a"), more=bound("rung", alarm, interrupting=False))
    target = line(task("b"), more=bound("ring", alarm, host="b", interrupting=False) + bound("met", holds, host="b"))
    engine = Migrating(source, target, x=0)
    engine.go("a:b", "rung:ring")
    engine.broadcast("alarm")
    assert engine.jobs == ["b", "ring-then"]
    engine.set(engine.key, x=2)
    assert engine.jobs == ["met-then", "ring-then"]


def conditional(text):
    return (
        f"<conditionalEventDefinition><condition>{text.replace('>', '&gt;')}</condition></conditionalEventDefinition>"
    )


def test_a_condition_that_holds_already_when_it_is_opened():
    engine = Migrating(line(task("a")), line(task("a"), more=bound("met", conditional("=x > 1"))), x=5)
    engine.go("a")
    assert engine.jobs == ["met-then"]


@pytest.mark.parametrize("catching", ["receive", "catch"])
def test_catch_events_and_receive_tasks(catching):
    make = getattr(messages, catching)
    engine = Migrating(line(make("a")), line(make("b"), task("c")), k="one")
    engine.go("a:b")
    engine.publish("hello", "one")
    assert engine.jobs == ["c"]


def choice(*events, id="g"):
    """An event-based gateway with these events (id, element), each with a task behind it."""
    parts = [part for name, event in events for part in (event, task(f"{name}-then"), f"{id} > {name} > {name}-then")]
    return messages.model(start(), f'<eventBasedGateway id="{id}"/>', *parts, f"start > {id}")


def test_an_event_based_gateway():
    source = choice(("late", catch("late", timer())), ("told", messages.catch("told")))
    target = choice(("later", catch("later", timer("PT1S"))), ("rung", messages.catch("rung", "signal")), id="h")
    engine = Migrating(source, target, k="one")
    (pending,) = engine.state.timers.values()
    key, due = pending.key, pending.due_at
    engine.go("g:h", "late:later")
    assert (engine.state.timers[key].target, engine.state.timers[key].due_at) == ("later", due)
    assert [one.target for one in engine.state.subscriptions.values()] == ["rung"]
    engine.broadcast("alarm")
    assert engine.jobs == ["rung-then"]
    assert engine.state.timers == {}


@pytest.mark.parametrize("mapping", ["e:f", "e-start:f-start"])
def test_event_sub_processes(mapping):
    source = line(task("a"), more=on(timer(), "e", task("x"), "e-start > x", interrupting=False))
    beside = messages.event_sub("t", task("y"), "t-start > y")
    engine = Migrating(
        source, line(task("a"), more=on(timer(), "f", task("x"), "f-start > x", interrupting=False) + beside), k="one"
    )
    (pending,) = engine.state.timers.values()
    key, due = pending.key, pending.due_at
    engine.go("a", mapping)
    assert (engine.state.timers[key].target, engine.state.timers[key].due_at) == ("f", due)
    engine.run(FireTimer(key))
    assert engine.jobs == ["a", "x"]
    engine.go("a", "f:e", "x", to=engine.source)
    assert engine.elements == ["a", "e", "p", "x"]
    assert engine.state.subscriptions == {}
    engine.go("a", mapping, "x")
    engine.publish("hello", "one")
    assert engine.jobs == ["y"], "the new one interrupts"


# ---- joins


def both(*parts):
    return model(start(), par("f"), *parts, task("z"), end(), "start > f", "g > z > end")


@pytest.mark.parametrize("gateway", [par, inc])
def test_tokens_keep_counting_at_a_join(gateway):
    source = both(task("a"), task("b"), gateway("g"), "f > a > g", "f > b > g")
    other = model(
        start(),
        par("f"),
        task("a"),
        task("b"),
        gateway("h"),
        task("z"),
        end(),
        "start > f",
        "f > a > h",
        "f > b > h",
        "h > z > end",
    )
    engine = Migrating(source, other)
    engine.complete("a")
    engine.go("b", "g:h", "a-g:a-h")
    engine.complete("b")
    assert engine.jobs == ["z"]


def test_a_join_with_one_more_flow_waits_for_ever():
    """Nobody else can see it. The incident says it, and a migration back resolves it."""
    source = both(task("a"), task("b"), par("g"), "f > a > g", "f > b > g")
    target = both(task("a"), task("b"), task("c"), par("g"), "f > a > g", "f > b > g", "f > c > g")
    engine = Migrating(source, target)
    engine.complete("a")
    engine.go("b", "g")
    engine.complete("b")
    assert engine.incidents == [("p", "UNKNOWN", "Deadlock: tokens wait at [g]")]


# ---- scopes


@pytest.mark.parametrize("sequential", [True, False])
@pytest.mark.parametrize("limits", LIMITS)
def test_a_loop_keeps_items_results_and_counters(sequential, limits):
    def looped(activity, *more):
        settings = {"item": "i", "output": "=r", "into": "rs", "sequential": sequential}
        return line(loop(activity, "=items", **settings), *more)

    engine = Migrating(looped(task("a")), looped(task("b"), task("c")), limits=LIMITS[limits], items=[1, 2, 3])
    engine.complete("a", r=10)
    engine.go("a:b")
    assert set(engine.elements) == {"b", "p"}
    engine.complete("b", r=20)
    engine.complete("b", r=30)
    assert engine.jobs == ["c"]
    assert engine.variables("p")["rs"] == [10, 20, 30]


def test_a_boundary_event_of_a_loop_stays_with_the_body():
    parts = bound("late", timer(), host="a")
    engine = Migrating(line(loop(task("a"), "=[1,2]"), more=parts), line(loop(task("a"), "=[1,2]"), more=parts))
    engine.go("a", "late")
    assert len(engine.state.timers) == 1
    engine.run(FireTimer(next(iter(engine.state.timers))))
    assert engine.jobs == ["late-then"]


def test_a_paged_loop():
    def looped(id):
        return line(loop(task(id), "=items", item="i"))

    limits = StepLimits(paged_from=3)
    engine = Migrating(looped("a"), looped("b"), limits=limits, items=list(range(6)))
    assert engine.state.paged
    engine.go("a:b")
    for _ in range(6):
        engine.complete("b")
    assert engine.state_of(engine.key) == "COMPLETED"


def test_parts_of_a_paged_loop_stay_until_the_commit():
    """Otherwise the database would give them back by their old names."""

    def looped(id):
        return line(loop(task(id), "=items", item="i"))

    engine = Migrating(looped("a"), looped("b"), limits=StepLimits(paged_from=3), items=list(range(6)))
    retained: list[int] = []
    saved = engine.state.begin_batch

    def kept():
        retained.extend(part.commits_under_way for part in engine.state.parts.values())
        saved()

    engine.state.begin_batch = kept
    engine.go("a:b")
    assert retained == [1] * 6


def test_a_paged_loop_gets_no_conditional_events():
    def looped(more=""):
        return line(loop(sub("s", start("i"), task("a"), end("j"), "i > a > j", *filter(None, [more])), "=items"))

    target = looped(boundary("met", "a", conditional("=x > 1")))
    engine = Migrating(looped(), target, limits=StepLimits(paged_from=3), items=list(range(6)))
    assert "is a long loop, which is loaded in pages" in engine.refused("s", "a")[1]


def test_ad_hoc_sub_processes():
    engine = Migrating(tools(), tools(task("D")))
    activate(engine, "A", "B")
    engine.go("h", "A", "B:C")
    assert engine.jobs == ["A", "C"]
    activate(engine, "D")
    for one in ("A", "C", "D"):
        engine.complete(one)
    assert engine.state_of(engine.key) == "COMPLETED"


def test_a_called_instance_is_migrated_by_itself():
    child, other = line(task("c"), id="child"), line(task("d"), id="other")
    engine = Migrating(line(call("a", "child")), line(call("b", "child"), task("z")), beside=[child])
    called = engine.element("child").key
    engine.go("a:b")
    assert engine.element("child").instance.definition_key != engine.target
    (to,) = engine.deploy(other)
    engine.go("c:d", key=called, to=to)
    assert engine.element("b").tokens == {"other": 1}
    engine.complete("d")
    assert engine.jobs == ["z"]


def test_a_call_activity_with_the_id_of_the_process_that_it_calls():
    """The tokens of a call activity have the id of the process, which no mapping of elements is about."""
    child = line(task("c"), id="child")
    engine = Migrating(line(call("child", "child")), line(call("b", "child"), task("z")), beside=[child])
    engine.go("child:b")
    assert engine.element("b").tokens == {"child": 1}
    engine.complete("c")
    assert engine.jobs == ["z"]


# ---- incidents, listeners, compensation


def test_an_incident_runs_the_stage_of_the_new_model():
    engine = Migrating(line(task("a", inputs=[("=missing.x + 1", "y")], type="=nothing")), line(task("b"), task("c")))
    assert len(engine.incidents) == 1
    engine.go("a:b")
    assert engine.incidents[0][0] == "b"
    engine.resolve()
    assert engine.jobs == ["b"]


def test_a_gateway_with_an_incident():
    def choosing(condition):
        parts = (xor("x"), task("a"), flow("x", "a", condition, id="maybe"))
        return model(start(), *parts, end(), "start > x", "a > end")

    engine = Migrating(choosing("=missing.y"), choosing("=true"))
    engine.go("x")
    engine.resolve()
    assert engine.jobs == ["a"]


@pytest.mark.parametrize("event", ["start", "end"])
def test_a_listener_that_runs_stays(event):
    source = listening(line(task("a")), a=[f"{event} x", f"{event} y"])
    target = listening(line(task("b"), task("c")), b=[f"{event} x", f"{event} y"])
    engine = Migrating(source, target)
    if event == "end":
        engine.complete("a")
    engine.go("a:b")
    assert engine.job("b").type == "x"
    engine.complete("b")
    assert engine.job("b").type == "y"
    engine.complete("b")
    assert engine.jobs == (["b"] if event == "start" else ["c"])


def test_completed_activities_are_compensated_by_the_new_handlers():
    source = in_line(done("a"), task("b"), T)
    target = in_line(done("x", task("undo")), task("b"), T)
    engine = Migrating(source, target)
    engine.complete("a")
    engine.go("a:x", "b")
    engine.complete("b")
    assert engine.jobs == ["undo"]
    engine.complete("undo")
    assert engine.state_of(engine.key) == "COMPLETED"


@pytest.mark.parametrize("left", [0, 1], ids=["completed", "active"])
def test_completed_inner_instances_of_a_loop(left):
    """Inner instances have the id of their loop."""

    def looped(first, second, handler):
        inside = sub(f"m{first}", start("i"), done(first, task(handler)), end("j"), f"i > {first} > j")
        return in_line(loop(inside, "=items"), task(second), T)

    engine = Migrating(looped("a", "b", "u"), looped("x", "y", "w"), items=[1, 2])
    for _ in range(2 - left):
        engine.complete("a")
    engine.go("ma:mx", "a:x", *(["b:y"] if not left else []))
    for _ in range(left):
        engine.complete("x")
    engine.complete("y")
    for _ in range(2):
        assert engine.jobs == ["w"], "one after the other"
        engine.complete("w")
    assert engine.state_of(engine.key) == "COMPLETED"


def test_what_is_registered_inside_of_completed_scopes():
    def nested(first, second, handler):
        inside = sub(f"in{first}", start("i"), done(first, task(handler)), end("j"), f"i > {first} > j")
        return in_line(inside, task(second), T)

    engine = Migrating(nested("a", "b", "u"), nested("x", "y", "w"))
    engine.complete("a")
    assert "completed element with id 'a' can be compensated" in engine.refused("ina:inx", "b:y")[1]
    engine.go("ina:inx", "a:x", "b:y")
    engine.complete("y")
    assert engine.jobs == ["w"]


# ---- properties

EVERYTHING = line(
    sub(
        "s",
        start("i"),
        par("f"),
        task("a"),
        loop(task("b"), "=items", item="n", output="=n", into="ns"),
        messages.catch("c"),
        par("g"),
        end("j"),
        "i > f > a > g > j",
        "f > b > g",
        "f > c > g",
        boundary("late", "a", timer(), False),
    ),
    script("after", "=1", "r"),
    more=boundary("told", "s", TOLD, False)
    + on('<signalEventDefinition signalRef="s"/>', "e", task("x"), "e-start > x", interrupting=False),
)


ALL = ("s", "a", "b", "c", "g", "late", "told", "e", "x")
OTHERS = tuple(f"{id}9" for id in ALL)
THERE = tuple(map("{}:{}".format, ALL, OTHERS))
BACK = tuple(map("{}:{}".format, OTHERS, ALL))


def everything(limits=LIMITS["whole"]):
    """An instance with a bit of everything, whose elements all have other ids in the target."""
    target = EVERYTHING
    for id in ALL:
        target = target.replace(f'"{id}"'.encode(), f'"{id}9"'.encode())
    engine = Migrating(EVERYTHING, target, limits, items=[1, 2], k="one")
    engine.broadcast("alarm")
    engine.complete("b")
    return engine


@pytest.mark.parametrize("limits", LIMITS)
def test_a_migration_to_the_same_definition_changes_nothing(limits):
    engine = everything(LIMITS[limits])
    before = snapshot(engine.state)
    handled = engine.go(*ALL, to=engine.source)
    assert [type(event).__name__ for event in handled.events] == ["InstanceMigrated"]
    assert snapshot(engine.state) == before


@pytest.mark.parametrize("limits", LIMITS)
def test_there_and_back_is_where_it_was(limits):
    engine = everything(LIMITS[limits])
    before = snapshot(engine.state)
    engine.go(*THERE)
    assert engine.places == sorted(
        (id if id == "p" else f"{id}9", engine.target) for id in ("a", "b", "b", "c", "e", "p", "s", "x")
    )
    engine.go(*BACK, to=engine.source)
    after = snapshot(engine.state)
    after["catalogue"] = [row for row in after["catalogue"] if row.get("running") != 0]
    assert after == before


def test_a_failure_behind_the_renaming_takes_it_back(monkeypatch):
    engine = everything()
    before = owners(engine)
    apply_by(monkeypatch, TimerCanceled, explode)
    handled = engine.migrate(*(mapping for mapping in THERE if mapping != "late:late9"))
    assert handled.rejection is not None
    assert handled.rejection.code == "PROCESSING_ERROR"
    assert owners(engine) == before
    assert {element.element for element in engine.state.elements.values()} == {"p", *"sabcex"}


def owners(engine):
    """The fields that a migration renames."""
    state = engine.state
    elements = {one.key: (one.element, one.label, one.tokens) for one in state.elements.values()}
    timers = {one.key: (one.target, one.definition, one.process_id) for one in state.timers.values()}
    subscriptions = {one.key: (one.target, one.interrupting) for one in state.subscriptions.values()}
    return elements, timers, subscriptions


def test_elements_whose_owners_alone_change_are_saved_together():
    def looped(id):
        return line(loop(task(id), "=items", item="i"))

    engine = Migrating(looped("a"), looped("b"), items=list(range(6)))
    dirty, keep = [], engine.state.begin_batch

    def kept():
        dirty.extend(engine.state.dirty)
        keep()

    engine.state.begin_batch = kept
    engine.go("a:b")
    assert len([row for row in dirty if isinstance(row, Element | Job)]) <= 3, "the process, the body, the tree's root"
    (migration,) = [row for row in dirty if isinstance(row, Migration)]
    documents = {name: [len(one["keys"]) for one in some] for name, some in documents_of([migration])}
    assert documents == {"migrated_instances": [1], "migrated_elements": [7], "migrated_jobs": [6]}


def test_the_events_alone_give_the_same_rows_and_go_on():
    engine, other = everything(), everything()
    for one in (engine, other):
        one.go(*THERE)
    rebuilt(other)
    for one in (engine, other):
        one.complete("a9")
        one.complete("b9")
        one.publish("hello", "one")
        one.complete("x9")
    assert engine.trace == other.trace
    assert engine.state_of(engine.key) == other.state_of(other.key)
    assert engine.rows == other.rows


def test_it_waits_for_deferred_work():
    """In quanta of one item, a request that comes while the instance goes on is done when it has come to rest."""
    engine = Migrating(line(task("a")), line(task("a"), task("b")), limits=StepLimits(quantum_items=1))
    (other,) = engine.deploy(line(*(script(f"s{n}", "=1", "r") for n in range(5)), task("z"), id="slow"))
    memory = engine.memory
    memory.handle(CreateInstance("slow"), "<default>", None)
    (key,) = engine.state.trees.keys() - {engine.key}
    assert engine.state.trees[key].work
    handled = engine.run(MigrateInstance(key, other, (("z", "z"),)))
    assert handled.rejection is None
    assert not handled.answered
    answers = [row for logged in memory.log for row in logged.handled if isinstance(logged.command, MigrateInstance)]
    assert [row.answered for row in answers][-1]
    assert answers[-1].request == handled.request or answers[-1].rejection is None
    assert engine.jobs == ["a", "z"]


def test_what_ends_between_two_migrations_in_one_batch_keeps_the_definition_by_which_it_ran():
    """The rows of a loop share a document if they have the same owners: those that have ended have others."""
    source = line(loop(task("n"), "=[1, 2, 3]"))
    engine = Migrating(source, source + b" ")
    engine.go("n")
    engine.complete("n")
    engine.go("n", to=engine.source)
    state = State(1)
    for row in (row for batch in recorded_batches(engine) for row in batch):
        apply_row(state, row)
    documents = dict(documents_of(row for row in state.dirty if isinstance(row, Migration)))
    for name, number in (("migrated_jobs", 3), ("migrated_elements", 4)):
        found = {key: (one["definition"], one["process_id"]) for one in documents[name] for key in one["keys"]}
        assert len(found) == number
        assert list(found.values()).count((engine.target, "p")) == 1, "the one that has ended"
