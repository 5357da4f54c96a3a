"""Processes that messages start: the latest version, one instance for each key, and what is kept for the next one."""

import pytest

from tests.core.engine import raw
from tests.core.message_models import boundary, event_sub, message, model, receive, starts
from tests.core.models import ONE_TASK, end, start, task
from vivero.core.bpmn.parser import parse
from vivero.core.events.starts import InvalidStart, metadata_of
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import CorrelateMessage, PublishMessage

ROOTS = (message("begin", None, "b"), message("other", None, "o"), message())
STARTED = model(starts("start", "m"), task("work"), end(), "start > work > end", roots=(message("begin", None),))


def say(engine, name="begin", key="x", ttl_ms=0, **variables):
    return engine.run(PublishMessage(name, key, ttl_ms, None, raw(variables)))


def instances(engine):
    """Their keys, in the order in which they began."""
    return sorted(key for (table, key) in engine.rows if table == "Instance")


def live(engine):
    return sorted(engine.state.trees)


def answer(engine):
    """The answer to the last command's client, in whatever row."""
    (row,) = [row for row in engine.memory.log[-1].handled if row.answered or (row.rejection and row.seq == 0)]
    assert row.request in (None, len(engine.memory.log))
    return row


def open_starts(engine):
    return [(start.name, start.definition) for start in engine.state.catalogue.starts.rows.values()]


def test_a_message_starts_an_instance_with_its_variables(engine):
    engine.deploy(STARTED)
    say(engine, a=1)
    (key,) = live(engine)
    assert engine.jobs == ["work"]
    assert engine.variables_of(key) == {"a": 1}
    engine.complete("work")
    assert engine.state_of(key) == "COMPLETED"


def test_one_instance_for_each_key_while_it_lives(engine):
    engine.deploy(STARTED)
    say(engine)
    say(engine)
    assert len(live(engine)) == 1
    say(engine, key="y")
    assert len(live(engine)) == 2
    engine.complete("work")
    say(engine)
    assert len(live(engine)) == 2


def test_without_a_key_each_message_starts_one(engine):
    engine.deploy(STARTED)
    for _ in range(3):
        say(engine, key="", ttl_ms=1000)
    assert len(live(engine)) == 3


@pytest.mark.parametrize("ending", ["complete", "cancel"])
def test_when_it_ends_the_oldest_kept_message_starts_the_next(engine, ending):
    engine.deploy(STARTED)
    for number in range(3):
        say(engine, ttl_ms=1000, n=number)
    assert [engine.variables_of(key)["n"] for key in live(engine)] == [0]
    if ending == "complete":
        engine.complete("work")
    else:
        engine.cancel(live(engine)[0])
    assert [engine.variables_of(key)["n"] for key in live(engine)] == [1]
    engine.memory.now += 1000
    engine.complete("work")
    assert not live(engine), "the third has expired"
    assert not engine.state.channels["<default>", "x"].locks


def test_any_message_of_the_latest_version_may_start_the_next(engine):
    old = model(starts("a", "b"), task("work"), "a > work", roots=ROOTS)
    new = model(starts("a", "b"), starts("c", "o"), task("work"), "a > work", "c > work", roots=ROOTS)
    engine.deploy(old)
    say(engine)
    engine.deploy(new)
    say(engine, "other", ttl_ms=1000)
    engine.complete("work")
    assert [engine.element("work").instance.version_number] == [2]


def test_only_the_latest_version_is_started(engine):
    (first,) = engine.deploy(STARTED)
    (second,) = engine.deploy(STARTED.replace(b'"work"', b'"work2"'))
    assert open_starts(engine) == [("begin", second)]
    say(engine)
    assert len(live(engine)) == 1
    assert engine.state.trees[live(engine)[0]].root.definition_key == second != first


def test_a_version_without_message_start_is_not_started(engine):
    engine.deploy(STARTED, ONE_TASK)
    say(engine)
    assert not live(engine)
    assert open_starts(engine) == []


def test_deleting_the_latest_version_restores_the_one_before(engine):
    (first,) = engine.deploy(STARTED)
    (second,) = engine.deploy(ONE_TASK)
    engine.run(DeleteResource(second))
    assert open_starts(engine) == [("begin", first)]
    engine.run(DeleteResource(first))
    assert open_starts(engine) == []
    say(engine)
    assert not live(engine)


def test_deleting_an_older_version_changes_nothing(engine):
    (first,) = engine.deploy(STARTED)
    (second,) = engine.deploy(STARTED.replace(b'"work"', b'"work2"'))
    engine.run(DeleteResource(first))
    assert open_starts(engine) == [("begin", second)]


def test_a_running_instance_gets_the_message_before_a_new_one_is_started(engine):
    roots = (message("begin", None, "b"), message("begin", "=k", "m"))
    engine.deploy(model(starts("start", "b"), receive("again"), end(), "start > again > end", roots=roots))
    say(engine, k="x")
    (key,) = live(engine)
    say(engine, key="x")
    assert engine.state_of(key) == "COMPLETED"
    assert instances(engine) == [key]


@pytest.mark.parametrize("way", [PublishMessage, CorrelateMessage])
def test_a_business_id_is_that_of_the_instance_which_the_message_starts(engine, way):
    engine.deploy(STARTED)
    engine.run(way("begin", "x", business_id="order-7"))
    assert [tree.root.business_id for tree in engine.state.trees.values()] == ["order-7"]


def test_a_kept_message_keeps_its_business_id(engine):
    engine.deploy(STARTED)
    for number in (1, 2):
        engine.run(PublishMessage("begin", "x", 1000, business_id=f"order-{number}"))
    engine.complete("work")
    assert [tree.root.business_id for tree in engine.state.trees.values()] == ["order-2"]


def test_each_process_is_started_once(engine):
    engine.deploy(STARTED, STARTED.replace(b'id="p"', b'id="q"'))
    say(engine)
    assert sorted(tree.root.process_id for tree in engine.state.trees.values()) == ["p", "q"]


def test_correlating_answers_the_instance_that_it_starts(engine):
    engine.deploy(STARTED)
    engine.run(CorrelateMessage("begin", "x"))
    assert [answer(engine).response.process_instance_key] == live(engine)
    assert engine.run(CorrelateMessage("begin", "x")).rejection.code == RejectionCode.NOT_FOUND


def test_a_process_without_none_start_event_is_not_created_by_hand(engine):
    engine.deploy(STARTED)
    rejection = engine.run(CreateInstance("p")).rejection
    expected = "Expected to create instance of process with none start event, but there is no such event"
    assert (rejection.code, rejection.reason) == (RejectionCode.INVALID_STATE, expected)


def test_both_ways_to_start(engine):
    engine.deploy(
        model(start("by-hand"), starts("start", "b"), task("work"), "start > work", "by-hand > work", roots=ROOTS)
    )
    say(engine, key="x")
    engine.start()
    assert engine.jobs == ["work", "work"]


def test_an_incident_in_the_start_event_keeps_the_lock(engine):
    failing = '<extensionElements><zeebe:ioMapping><zeebe:output source="=assert(null, false)" target="a"/>'
    failing += "</zeebe:ioMapping></extensionElements><messageEvent"
    content = STARTED.replace(b"<messageEvent", failing.encode(), 1)
    engine.deploy(content)
    say(engine, ttl_ms=1000)
    say(engine, ttl_ms=1000)
    assert [element for element, _, _ in engine.incidents] == ["start"]
    engine.cancel(live(engine)[0])
    assert len(live(engine)) == 1


def test_a_scope_of_a_started_process_waits_like_any_other(engine):
    engine.deploy(
        model(
            starts("start", "b"),
            task("work"),
            boundary("work", "stop"),
            end(),
            event_sub("aside", task("inner"), "aside-start > inner", on="o", interrupting=False),
            "start > work",
            "stop > end",
            roots=(message("begin", None, "b"), message("other", "=k", "o"), message()),
        )
    )
    say(engine, k="x")
    say(engine, "other")
    assert engine.jobs == ["inner", "work"]
    say(engine, "hello")
    assert engine.jobs == ["inner"]


def test_when_each_instance_ends_at_once_all_that_is_kept_is_worked_off(engine):
    engine.deploy(STARTED)
    say(engine)
    for number in range(50):
        say(engine, ttl_ms=1000, n=number)
    engine.deploy(process_that_ends_at_once())
    engine.complete("work")
    assert not live(engine)
    assert len(instances(engine)) == 51


def process_that_ends_at_once():
    return model(starts("start", "m"), end(), "start > end", roots=(message("begin", None),))


@pytest.mark.parametrize(
    "name", ['="a" + "\\u0000"', '=string join(for i in 1..5000 return "0123456789")'], ids=["NUL", "long"]
)
def test_a_name_that_no_column_can_hold_is_refused_before_it_is_deployed(name):
    assert refusal_of(name).startswith("element 'start': the name must be a text without NUL characters")


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ('="order " + string(today())', "cannot be evaluated: Failed to invoke function 'today'"),
        ('=if now() = null then "a" else "b"', "cannot be evaluated: Failed to invoke function 'now'"),
        ("=string(random number())", "each evaluation gives another name"),
    ],
)
def test_a_name_that_another_evaluation_would_change_is_refused(name, why):
    """The deletion of a later version evaluates it again, and opens the start event under its name."""
    assert why in refusal_of(name)


def test_a_name_may_depend_on_a_function_that_always_fails():
    """The value is known at the deployment, although `number` cannot read its text."""
    name = '=if number("x") = null then "unread" else "read"'.replace('"', "&quot;")
    content = model(starts("start", "m"), end(), "start > end", roots=(message(name, None),))
    (start,) = metadata_of(parse(content, "p.bpmn").processes[0]).starts
    assert start.name == "unread"


@pytest.mark.parametrize("warning", ['number("x")', '1 + "a"'])
def test_a_clock_is_missed_behind_many_other_warnings(warning):
    """An evaluation keeps its first warnings."""
    name = f'=if count(for i in 1..150 return {warning}) = 150 and now() = null then "a" else "b"'
    assert "too many warnings" in refusal_of(name)


def refusal_of(name):
    content = model(starts("start", "m"), end(), "start > end", roots=(message(name.replace('"', "&quot;"), None),))
    with pytest.raises(InvalidStart) as caught:
        metadata_of(parse(content, "p.bpmn").processes[0])
    return str(caught.value)
