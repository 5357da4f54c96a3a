"""Migration of process instances: one test for each row of the table of refusals. Nothing happens then."""

import pytest

from tests.core import message_models as messages
from tests.core.ad_hoc_models import tools
from tests.core.compensation_models import done, in_line, transaction
from tests.core.event_models import boundary, catch, complex_gateway, inc, loop, model, script, throw
from tests.core.listener_models import listening
from tests.core.migration_models import Migrating
from tests.core.models import end, flow, par, process, start, sub, task
from vivero.core.execution.step import StepLimits
from vivero.core.migration import decision
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.messages import PublishMessage
from vivero.core.records.migrations import MigrateInstance
from vivero.core.records.suspensions import SuspendInstance
from vivero.core.records.timers import FireTimer

TIMER = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
SIGNAL = '<signalEventDefinition signalRef="s"/>'


def line(*parts, id="p"):
    """start, the parts one after the other, end. Flows are named by their ends."""
    names = [part.partition('id="')[2].partition('"')[0] for part in parts]
    return model(start(), *parts, end(), " > ".join(["start", *names, "end"]), id=id)


def user_task(id, native=True):
    marker = "<extensionElements><zeebe:userTask/></extensionElements>" if native else ""
    return f'<userTask id="{id}">{marker}</userTask>'


def test_the_instance_and_the_target_are_there():
    engine = Migrating(line(task("a")), line(task("a")))
    unknown = "Expected to migrate process instance but no process instance found with key '5'"
    assert engine.refused("a", key=5) == ("NOT_FOUND", unknown)
    element = engine.element("a").key
    assert engine.refused("a", key=element)[0] == "NOT_FOUND", "an element is no instance"
    unknown = "Expected to migrate process instance to process definition but no process definition found with key '5'"
    assert engine.refused("a", to=5) == ("NOT_FOUND", unknown)
    assert engine.refused("a", to=engine.key)[0] == "NOT_FOUND"
    engine.run(DeleteResource(engine.target))
    assert engine.refused("a")[0] == "NOT_FOUND", "nothing runs on a deleted definition"
    handled = engine.run(MigrateInstance(engine.key, engine.source, (("a", "a"),)), tenant="other")
    assert handled.rejection is not None
    assert handled.rejection.code == "NOT_FOUND"


@pytest.mark.parametrize(
    ("mappings", "text"),
    [
        (("a:b", "a:c"), "contain duplicate source element ids '[a]'"),
        (("x:b",), "non-existing source element id 'x'. Elements must exist in the source process definition"),
        (("a:x",), "non-existing target element id 'x'. Elements must exist in the target process definition"),
        (("a:start-a",), "'a' and 'start-a' are not both sequence flows"),
    ],
)
def test_mappings_that_fit_no_instance(mappings, text):
    engine = Migrating(line(task("a")), line(task("a"), task("b"), task("c")))
    code, reason = engine.refused(*mappings)
    assert code == "INVALID_ARGUMENT"
    assert reason.startswith(f"Expected to migrate process instance '{engine.key}' but mapping instructions") or (
        "sequence flows" in reason
    )
    assert text in reason


HOST = sub("s", start("i"), task("in"), end("j"), "i > in > j")
PLAIN = line(task("a"))


def both(*parts, id="p"):
    """Two branches, so that the first tokens wait at the join `g`."""
    return model(start(), par("f"), *parts, end(), "start > f", "g > end", id=id)


BRANCHES = (task("a"), task("b"), par("g"), "f > a > g", "f > b > g")
THIRD = (task("c"), "f > c > g")
REFUSED = {
    "an element that cannot rest": (
        line(transaction("t", start("i"), task("in"), end("j"), "i > in > j")),
        line(transaction("t", start("i"), task("in"), end("j"), "i > in > j")),
        ("t", "in"),
        "active element with id 't' has an unsupported type. The migration of a TRANSACTION is not supported",
    ),
    "no mapping": (
        PLAIN,
        PLAIN,
        (),
        "no mapping instruction defined for active element with id 'a'. Elements cannot be migrated without a mapping.",
    ),
    "other type": (
        PLAIN,
        line(script("x", "=1", "r")),
        ("a:x",),
        "active element with id 'a' and type 'SERVICE_TASK' is mapped to an element with id 'x' and different type "
        "'SCRIPT_TASK'. Elements must be mapped to elements of the same type.",
    ),
    "user task of the engine to one of a worker": (
        line(user_task("a")),
        line(user_task("b", native=False)),
        ("a:b",),
        "active user task with id 'a' and implementation 'zeebe user task' is mapped to an user task with id 'b' and "
        "different implementation 'job worker'. Elements must be mapped to elements of the same implementation.",
    ),
    "the worker of an ad-hoc sub-process is gone": (
        tools(job="decide"),
        tools(),
        ("h",),
        "'job worker' is mapped to an ad-hoc sub-process with id 'h' and different implementation 'BPMN'",
    ),
    "nested": (
        PLAIN,
        line(HOST),
        ("a:in",),
        "the flow scope of active element with id 'a' is changed. The flow scope of the active element is expected to "
        "be 'p' but was 's'. The flow scope of an element cannot be changed during migration.",
    ),
    "unnested": (line(HOST), line(HOST, task("b")), ("s", "in:b"), "the flow scope of active element with id 'in' is"),
    "detached": (
        line(task("a"), task("b")).replace(b"</process>", boundary("late", "a", TIMER).encode() + b"</process>"),
        line(task("a"), task("b")).replace(b"</process>", boundary("late", "b", TIMER).encode() + b"</process>"),
        ("a", "late"),
        "These mappings detach the boundary event from the element in the target process",
    ),
    "another boundary event": (
        line(task("a")).replace(b"</process>", boundary("late", "a", TIMER).encode() + b"</process>"),
        messages.model(start(), task("a"), messages.boundary("a", "told"), end(), "start > a > end"),
        ("a", "late:told"),
        "the event with id 'late' and event type 'TIMER' is mapped to 'told' and different event type 'MESSAGE'. "
        "Elements must be mapped to the same event type.",
    ),
    "another catch event": (
        line(catch("a", TIMER)),
        messages.model(start(), messages.catch("b"), end(), "start > b > end"),
        ("a:b",),
        "active element with id 'a' and event type 'TIMER' is mapped to an element with id 'b' and different event "
        "type 'MESSAGE'. Elements must be mapped to elements of the same event type.",
    ),
    "two events to one": (
        line(task("a")).replace(
            b"</process>", f"{boundary('x', 'a', TIMER)}{boundary('y', 'a', TIMER, False)}</process>".encode()
        ),
        line(task("a")).replace(b"</process>", boundary("late", "a", TIMER).encode() + b"</process>"),
        ("a", "x:late", "y:late"),
        "more than one catch event is mapped to the target catch event with id 'late'",
    ),
    "a loop more": (
        PLAIN,
        line(loop(task("a"), "=[1]")),
        ("a",),
        "active element with id 'a' has different loop characteristics than the target element with id 'a'",
    ),
    "a loop less": (
        line(loop(task("a"), "=[1]")),
        PLAIN,
        ("a",),
        "'parallel multi-instance' and 'none'. Both must be the same.",
    ),
    "a loop in another order": (
        line(loop(task("a"), "=[1]")),
        line(loop(task("a"), "=[1]", sequential=True)),
        ("a",),
        "'parallel multi-instance' and 'sequential multi-instance'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_the_live_elements(name):
    source, target, mappings, text = REFUSED[name]
    engine = Migrating(source, target, k="k")
    code, reason = engine.refused(*mappings)
    assert code == "INVALID_STATE"
    assert reason.startswith(f"Expected to migrate process instance '{engine.key}' but ")
    assert text in reason


JOINS = {
    "no mapping of the join": (
        both(*BRANCHES),
        ("b",),
        "no mapping instruction defined for active element with id 'g', at which tokens wait. Elements cannot be "
        "migrated without a mapping.",
    ),
    "fewer flows": (
        both(task("b"), par("g"), "f > b > g", flow("f", "g")).replace(b'id="f-g"', b'id="a-g"'),
        ("b", "g", "a-g"),
        None,
    ),
    "another flow scope": (
        both(task("b"), sub("s", start("i"), par("h"), "i > h"), "f > s", "f > b > g", par("g")),
        ("b", "g:h"),
        "the flow scope of active element with id 'g' is changed, and tokens wait at it.",
    ),
    "another type": (
        both(task("a"), task("b"), inc("g"), "f > a > g", "f > b > g"),
        ("b", "g"),
        "active element with id 'g' and type 'PARALLEL_GATEWAY' is mapped to an element with id 'g' and different type",
    ),
    "the taken flow is gone": (
        both(task("x"), task("b"), par("g"), "f > x > g", "f > b > g"),
        ("b", "g"),
        "the taken sequence flow with id 'a-g' of the gateway with id 'g', which is mapped to 'g', is mapped to none "
        "of its incoming sequence flows. Add a mapping instruction for the sequence flow.",
    ),
}


@pytest.mark.parametrize("name", JOINS)
def test_what_does_not_fit_the_tokens_that_wait_at_a_join(name):
    target, mappings, text = JOINS[name]
    engine = Migrating(both(*BRANCHES), target)
    engine.complete("a")
    if text is None:
        engine.go(*mappings)  # as many flows, one of which has another source
        return
    code, reason = engine.refused(*mappings)
    assert code == "INVALID_STATE"
    assert text in reason


def test_a_join_with_fewer_incoming_flows():
    engine = Migrating(both(*BRANCHES, *THIRD), both(*BRANCHES))
    engine.complete("a")
    code, reason = engine.refused("b", "c:b", "g")
    assert "target gateway with id 'g' has less incoming sequence flows than the source gateway" in reason
    assert code == "INVALID_STATE"


def test_tokens_at_a_complex_gateway():
    gateway = complex_gateway("g", "=activationCount > 1")
    source = both(task("a"), task("b"), gateway, "f > a > g", "f > b > g")
    engine = Migrating(source, source)
    engine.complete("a")
    assert "The migration of a COMPLEX_GATEWAY is not supported" in engine.refused("b", "g")[1]


def test_a_message_that_an_unmapped_event_awaits():
    def told(id):
        return messages.model(start(), task("a"), messages.boundary("a", id), end(), "start > a > end")

    engine = Migrating(told("x"), told("y"), k="k")
    _, reason = engine.refused("a")
    assert "a subscription to the message 'hello' is open at the event with id 'x'" in reason
    assert reason.endswith("Map 'x' to 'y'.")
    engine.go("a", "x:y")


def test_an_instance_that_a_message_with_a_key_started():
    def starting(id):
        return messages.model(messages.starts(), task("a"), end(), "start > a > end", id=id)

    engine = Migrating(process(start(), "start > end", end(), id="other"), starting("q"), process_id="other")
    (mine,) = engine.deploy(starting("p"))
    engine.accepted(PublishMessage("hello", "k1", 0, None, {}))
    keys = {one.process_id: one.key for one in engine.state.trees.values() for one in [one.root]}
    _, reason = engine.refused("a", key=keys["p"])
    assert "The cardinality of the message start event cannot be kept" in reason
    engine.go("a", key=keys["p"], to=mine)


def test_an_event_that_cannot_be_opened():
    late = boundary("late", "a", TIMER.replace("PT1H", "=wait"))
    target = line(task("a")).replace(b"</process>", late.encode() + b"</process>")
    engine = Migrating(PLAIN, target)
    code, reason = engine.refused("a")
    assert code == "INVALID_STATE"
    assert "wait" in reason
    engine.set(engine.key, wait="PT1M")
    engine.go("a")
    assert [timer.due_at for timer in engine.state.timers.values()] == [61_000]


def test_one_element_gets_several_timers():
    waits = "".join(boundary(f"t{n}", "a", TIMER, False) for n in range(3))
    engine = Migrating(line(task("a")), line(task("a")).replace(b"</process>", waits.encode() + b"</process>"))
    engine.go("a")
    assert len(engine.state.timers) == 3


def test_a_listener_that_is_elsewhere_in_the_target():
    source = listening(PLAIN, a=["start x", "start y"])
    engine = Migrating(source, listening(PLAIN, a=["start y"]))
    assert "waits for its 'START' listener with type 'x'" in engine.refused("a")[1]
    engine.go("a", to=engine.deploy(source + b" ")[0])


def test_deferred_work():
    """An instance that never comes to rest: the command has waited for it a hundred times."""
    engine = Migrating(PLAIN, PLAIN)
    tree = engine.state.trees[engine.key]
    tree.work = ((engine.key, "settle", 0),)
    handled = engine.run(MigrateInstance(engine.key, engine.target, (("a", "a"),), attempt=100))
    assert handled.rejection is not None
    code, reason = handled.rejection.code, handled.rejection.reason
    assert "a concurrent command was executed on the process instance. Please retry the migration" in reason
    assert code == "INVALID_STATE"


def test_an_instance_that_is_being_cancelled():
    source = listening(PLAIN, p=["cancel bye"])
    engine = Migrating(source, source)
    engine.run(CancelInstance(engine.key))
    assert "a concurrent command" in engine.refused("a")[1]


def test_a_completed_activity_that_loses_its_handler():
    source = in_line(done("a"), task("b"))
    engine = Migrating(source, in_line(task("a"), task("b")))
    engine.complete("a")
    _, reason = engine.refused("b")
    assert "completed element with id 'a' can be compensated, and no mapping instruction is defined for it." in reason
    assert "nothing compensates the target element with id 'a'" in engine.refused("a", "b")[1]


@pytest.mark.parametrize("other", [script("x", "=1", "r"), sub("h", start("i"), task("x"), "i > x")])
def test_a_completed_activity_that_becomes_something_else(other):
    """Another type, and another flow scope."""
    engine = Migrating(in_line(done("a"), task("b")), in_line(other, task("b")))
    engine.complete("a")
    _, reason = engine.refused("a:x", "b")
    assert reason.endswith("the target element with id 'x' has another type or flow scope.")


def test_two_completed_activities_that_become_one():
    source = in_line(done("a"), done("c"), task("b"))
    engine = Migrating(source, source)
    engine.complete("a")
    engine.complete("c")
    _, reason = engine.refused("a:c", "c", "b")
    assert reason.endswith("another one that can be, too, is mapped to the same target element with id 'c'.")


def test_two_taken_flows_that_become_one():
    engine = Migrating(both(*BRANCHES, *THIRD), both(*BRANCHES, *THIRD))
    engine.complete("a")
    engine.complete("c")
    _, reason = engine.refused("b", "g", "a-g:c-g", "c-g")
    assert "shares its target with another. Add a mapping instruction for the sequence flow." in reason


def test_a_start_event_with_a_listener_that_is_not_in_the_target():
    """The instance has yet to begin at it."""

    def started_by(id):
        parts = start(), messages.starts(id), task("a"), end(), "start > a > end", f"{id} > a"
        return listening(messages.model(*parts), p=["start x"])

    engine = Migrating(started_by("go"), started_by("other"))
    engine.run(DeleteResource(engine.target))
    engine.deploy(started_by("go"))
    engine.accepted(PublishMessage("hello", "", 0, None, {}))
    key = max(engine.state.trees)
    (other,) = engine.deploy(started_by("other"))
    _, reason = engine.refused(key=key, to=other)
    assert reason.endswith("it begins at the start event with id 'go', which has no mapping instruction.")
    engine.go("go:other", key=key, to=other)


def test_all_problems_are_told():
    engine = Migrating(both(*BRANCHES), line(task("x")))
    handled = engine.migrate("a:x")
    assert handled.rejection is not None
    assert [one.element for one in handled.rejection.violations] == ["b"]
    handled = engine.migrate()
    assert [one.element for one in handled.rejection.violations] == ["a", "b"]
    assert handled.rejection.reason == handled.rejection.violations[0].message


def test_a_tree_that_is_too_large():
    source = line(loop(task("a"), "=items"))
    engine = Migrating(source, source, limits=StepLimits(max_whole_rows=5), items=list(range(6)))
    assert "has 8 live elements, and at most 5 are allowed" in engine.refused("a")[1]


@pytest.mark.parametrize(
    ("source", "id", "type"),
    [
        (listening(PLAIN, start=["end x"]), "start", "START_EVENT"),
        (listening(line(catch("a", TIMER), throw("t")), t=["start x"]), "t", "INTERMEDIATE_THROW_EVENT"),
        (listening(line('<manualTask id="t"></manualTask>'), t=["start x"]), "t", "MANUAL_TASK"),
    ],
    ids=["start", "throw", "task"],
)
def test_what_has_no_work_of_its_own_and_waits_for_a_listener(source, id, type):
    engine = Migrating(source, source)
    for timer in list(engine.state.timers):
        engine.run(FireTimer(timer))
    assert engine.jobs == [id], "its listener runs"
    assert f"The migration of a {type} is not supported" in engine.refused(id)[1]


def test_a_suspended_instance():
    engine = Migrating(PLAIN, PLAIN)
    engine.accepted(SuspendInstance(engine.key))
    code, reason = engine.refused("a")
    assert code == "INVALID_STATE"
    assert reason.endswith("is suspended: resume it first")


def test_too_many_waits_at_once(monkeypatch):
    """One transaction saves all changes."""
    monkeypatch.setattr(decision, "STAGE_CHANGES", 3)
    waits = "".join(boundary(f"t{n}", "a", TIMER, False) for n in range(3))
    target = line(task("a")).replace(b"</process>", waits.encode() + b"</process>")
    engine = Migrating(PLAIN, target)
    assert "it would open and close 3 waits at once, and 3 is the limit" in engine.refused("a")[1]


def test_too_many_completed_activities():
    """The elements that live are few."""
    inner = sub("m", start("i"), done("a"), end("j"), "i > a > j")
    source = in_line(loop(inner, "=items"), task("b"))
    engine = Migrating(source, source, limits=StepLimits(max_whole_rows=5), items=list(range(3)))
    for _ in range(3):
        engine.complete("a")
    assert "it has more than 5 completed elements that can be compensated" in engine.refused("b", "m", "a")[1]


def test_a_runtime_instruction_that_would_never_end_it():
    engine = Migrating(line(task("a"), task("b")), line(task("a"), task("c")))
    handled = engine.run(CreateInstance(definition_key=engine.source, terminate_after=("b",)))
    key = handled.response.process_instance_key
    assert "a runtime instruction ends it after the element with id 'b'" in engine.refused("a", key=key)[1]
    engine.go("a", "b:c", key=key)
    engine.complete_at(key, "p/a", {})
    engine.complete_at(key, "p/c", {})
    assert engine.state_of(key) == "TERMINATED"
