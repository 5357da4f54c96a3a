"""Processes that messages start: the latest version, one instance for each key, and what is kept for the next one."""

import pytest

from tests.core.bench import raw
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


def say(bench, name="begin", key="x", ttl_ms=0, **variables):
    return bench.run(PublishMessage(name, key, ttl_ms, None, raw(variables)))


def instances(bench):
    """Their keys, in the order in which they began."""
    return sorted(key for (table, key) in bench.rows if table == "Instance")


def live(bench):
    return sorted(bench.state.trees)


def answer(bench):
    """What the last command's client was told, in whatever row."""
    (row,) = [row for row in bench.engine.log[-1].handled if row.answered or (row.rejection and row.seq == 0)]
    assert row.request in (None, len(bench.engine.log))
    return row


def open_starts(bench):
    return [(start.name, start.definition) for start in bench.state.catalogue.starts.rows.values()]


def test_a_message_starts_an_instance_with_its_variables(bench):
    bench.deploy(STARTED)
    say(bench, a=1)
    (key,) = live(bench)
    assert bench.jobs == ["work"]
    assert bench.variables_of(key) == {"a": 1}
    bench.complete("work")
    assert bench.state_of(key) == "COMPLETED"


def test_one_instance_for_each_key_while_it_lives(bench):
    bench.deploy(STARTED)
    say(bench)
    say(bench)
    assert len(live(bench)) == 1
    say(bench, key="y")
    assert len(live(bench)) == 2
    bench.complete("work")
    say(bench)
    assert len(live(bench)) == 2


def test_without_a_key_each_message_starts_one(bench):
    bench.deploy(STARTED)
    for _ in range(3):
        say(bench, key="", ttl_ms=1000)
    assert len(live(bench)) == 3


@pytest.mark.parametrize("ending", ["complete", "cancel"])
def test_when_it_ends_the_oldest_kept_message_starts_the_next(bench, ending):
    bench.deploy(STARTED)
    for number in range(3):
        say(bench, ttl_ms=1000, n=number)
    assert [bench.variables_of(key)["n"] for key in live(bench)] == [0]
    if ending == "complete":
        bench.complete("work")
    else:
        bench.cancel(live(bench)[0])
    assert [bench.variables_of(key)["n"] for key in live(bench)] == [1]
    bench.engine.now += 1000
    bench.complete("work")
    assert not live(bench), "the third has expired"
    assert not bench.state.channels["<default>", "x"].locks


def test_any_message_of_the_latest_version_may_start_the_next(bench):
    old = model(starts("a", "b"), task("work"), "a > work", roots=ROOTS)
    new = model(starts("a", "b"), starts("c", "o"), task("work"), "a > work", "c > work", roots=ROOTS)
    bench.deploy(old)
    say(bench)
    bench.deploy(new)
    say(bench, "other", ttl_ms=1000)
    bench.complete("work")
    assert [bench.element("work").instance.version_number] == [2]


def test_only_the_latest_version_is_started(bench):
    (first,) = bench.deploy(STARTED)
    (second,) = bench.deploy(STARTED.replace(b'"work"', b'"work2"'))
    assert open_starts(bench) == [("begin", second)]
    say(bench)
    assert len(live(bench)) == 1
    assert bench.state.trees[live(bench)[0]].root.definition_key == second != first


def test_a_version_without_message_start_is_not_started(bench):
    bench.deploy(STARTED, ONE_TASK)
    say(bench)
    assert not live(bench)
    assert open_starts(bench) == []


def test_deleting_the_latest_version_restores_the_one_before(bench):
    (first,) = bench.deploy(STARTED)
    (second,) = bench.deploy(ONE_TASK)
    bench.run(DeleteResource(second))
    assert open_starts(bench) == [("begin", first)]
    bench.run(DeleteResource(first))
    assert open_starts(bench) == []
    say(bench)
    assert not live(bench)


def test_deleting_an_older_version_changes_nothing(bench):
    (first,) = bench.deploy(STARTED)
    (second,) = bench.deploy(STARTED.replace(b'"work"', b'"work2"'))
    bench.run(DeleteResource(first))
    assert open_starts(bench) == [("begin", second)]


def test_a_running_instance_gets_the_message_before_a_new_one_is_started(bench):
    roots = (message("begin", None, "b"), message("begin", "=k", "m"))
    bench.deploy(model(starts("start", "b"), receive("again"), end(), "start > again > end", roots=roots))
    say(bench, k="x")
    (key,) = live(bench)
    say(bench, key="x")
    assert bench.state_of(key) == "COMPLETED"
    assert instances(bench) == [key]


@pytest.mark.parametrize("way", [PublishMessage, CorrelateMessage])
def test_a_business_id_is_that_of_the_instance_which_the_message_starts(bench, way):
    bench.deploy(STARTED)
    bench.run(way("begin", "x", business_id="order-7"))
    assert [tree.root.business_id for tree in bench.state.trees.values()] == ["order-7"]


def test_a_kept_message_keeps_its_business_id(bench):
    bench.deploy(STARTED)
    for number in (1, 2):
        bench.run(PublishMessage("begin", "x", 1000, business_id=f"order-{number}"))
    bench.complete("work")
    assert [tree.root.business_id for tree in bench.state.trees.values()] == ["order-2"]


def test_an_instance_that_waits_keeps_its_own_business_id(bench):
    bench.deploy(model(start(), receive(), task("work"), "start > receive > work", roots=(message("hello", "=k"),)))
    bench.run(CreateInstance("p", variables=raw({"k": "x"}), business_id="mine"))
    bench.run(PublishMessage("hello", "x", business_id="other"))
    assert bench.jobs == ["work"]
    assert [tree.root.business_id for tree in bench.state.trees.values()] == ["mine"]


def test_each_process_is_started_once(bench):
    bench.deploy(STARTED, STARTED.replace(b'id="p"', b'id="q"'))
    say(bench)
    assert sorted(tree.root.process_id for tree in bench.state.trees.values()) == ["p", "q"]


def test_correlating_answers_the_instance_that_it_starts(bench):
    bench.deploy(STARTED)
    bench.run(CorrelateMessage("begin", "x"))
    assert [answer(bench).response.process_instance_key] == live(bench)
    assert bench.run(CorrelateMessage("begin", "x")).rejection.code == RejectionCode.NOT_FOUND


def test_a_process_without_none_start_event_is_not_created_by_hand(bench):
    bench.deploy(STARTED)
    rejection = bench.run(CreateInstance("p")).rejection
    expected = "Expected to create instance of process with none start event, but there is no such event"
    assert (rejection.code, rejection.reason) == (RejectionCode.INVALID_STATE, expected)


def test_both_ways_to_start(bench):
    bench.deploy(
        model(start("by-hand"), starts("start", "b"), task("work"), "start > work", "by-hand > work", roots=ROOTS)
    )
    say(bench, key="x")
    bench.start()
    assert bench.jobs == ["work", "work"]


def test_an_incident_in_the_start_event_keeps_the_lock(bench):
    failing = '<extensionElements><zeebe:ioMapping><zeebe:output source="=assert(null, false)" target="a"/>'
    failing += "</zeebe:ioMapping></extensionElements><messageEvent"
    content = STARTED.replace(b"<messageEvent", failing.encode(), 1)
    bench.deploy(content)
    say(bench, ttl_ms=1000)
    say(bench, ttl_ms=1000)
    assert [element for element, _, _ in bench.incidents] == ["start"]
    bench.cancel(live(bench)[0])
    assert len(live(bench)) == 1


def test_a_scope_of_a_started_process_waits_like_any_other(bench):
    bench.deploy(
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
    say(bench, k="x")
    say(bench, "other")
    assert bench.jobs == ["inner", "work"]
    say(bench, "hello")
    assert bench.jobs == ["inner"]


def test_when_each_instance_ends_at_once_all_that_is_kept_is_worked_off(bench):
    bench.deploy(STARTED)
    say(bench)
    for number in range(50):
        say(bench, ttl_ms=1000, n=number)
    bench.deploy(process_that_ends_at_once())
    bench.complete("work")
    assert not live(bench)
    assert len(instances(bench)) == 51


def process_that_ends_at_once():
    return model(starts("start", "m"), end(), "start > end", roots=(message("begin", None),))


@pytest.mark.parametrize(
    "name", ['="a" + "\\u0000"', '=string join(for i in 1..5000 return "0123456789")'], ids=["NUL", "long"]
)
def test_a_name_that_no_column_can_hold_is_refused_before_it_is_deployed(name):
    content = model(starts("start", "m"), end(), "start > end", roots=(message(name.replace('"', "&quot;"), None),))
    with pytest.raises(InvalidStart, match="element 'start': the name must be a text without NUL characters"):
        metadata_of(parse(content, "p.bpmn").processes[0])
