"""Processes that several messages of one correlation key start together (BPMN 2.0.2 §10.5.5, parallelMultiple)."""

from itertools import permutations

import pytest

from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import LIMITS, mapped, together
from tests.core.events.test_message_starts import instances, live
from tests.core.message_models import message, model
from tests.core.models import ONE_TASK, end, task
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import CorrelateMessage, ExpireMessage, PublishMessage, StartAwaited, StartCollected
from vivero.core.rules import PENDING_START_MS

ROOTS = tuple(message(name, None, name) for name in "ABCD")


def begun_by(names, more=()):
    definitions = "".join(f'<messageEventDefinition messageRef="{name}"/>' for name in names)
    start = together(f'<startEvent id="s">{mapped(outputs=more)}{definitions}</startEvent>')
    return model(start, task("t"), end(), "s > t > end", roots=ROOTS)


@pytest.fixture(params=LIMITS, ids=list(LIMITS))
def engine(request):
    return Engine(LIMITS[request.param])


def pending(engine, key="x"):
    """The names of the messages that wait for others, in order of arrival."""
    channel = engine.state.channels.get(("<default>", key))
    return [] if channel is None else ["".join(one.name for one in row.kept) for row in channel.pending.values()]


def test_one_that_is_to_be_erased_is_forgotten(engine):
    """Those of other keys, processes and start events wait on."""
    engine.deploy(begun_by("AB"))
    for key in ("x", "y"):
        engine.publish("A", key, ttl_ms=60_000)
    (row,) = engine.state.channels["<default>", "x"].pending.values()
    erased = engine.run(ExpireMessage(row.key, "<default>", "x"))
    assert [type(event) for event in erased.events] == [StartCollected]
    assert (pending(engine), pending(engine, "y")) == ([], ["A"])
    rebuilt(engine)
    for key in (row.key, 5):
        assert engine.run(ExpireMessage(key, "<default>", "x")).events == [], "nothing waits any more"
    engine.publish("B", "x")
    assert (live(engine), pending(engine)) == ([], ["B"])


@pytest.mark.parametrize("order", ["".join(order) for order in permutations("ABC")])
def test_an_instance_starts_with_the_last_in_any_order(engine, order):
    engine.deploy(begun_by("ABC"))
    for number, name in enumerate(order, 1):
        assert (engine.jobs, pending(engine)) == ([], [order[: number - 1]] if number > 1 else [])
        engine.publish(name, "x", of=name, **{name: number})
        rebuilt(engine)
    assert (engine.jobs, pending(engine)) == (["t"], [])
    (key,) = live(engine)
    assert engine.variables_of(key) == {"of": order[2]} | {name: number for number, name in enumerate(order, 1)}
    received = [row["name"] for (table, _), row in engine.rows.items() if table == "Correlation"]
    assert received == list(order)
    engine.complete("t")
    assert engine.state_of(key) == "COMPLETED"


def test_messages_of_different_keys_do_not_meet(engine):
    engine.deploy(begun_by("AB"))
    engine.publish("A", "x")
    engine.publish("B", "y")
    assert not live(engine)
    engine.publish("B", "x")
    engine.publish("A", "y")
    assert engine.jobs == ["t", "t"]


def test_a_message_without_a_key_is_for_no_start(engine):
    engine.deploy(begun_by("AB"))
    for _ in range(2):
        engine.publish("A", "")
        engine.publish("B", "")
    assert not live(engine)
    assert pending(engine, "") == []


def test_a_second_one_of_the_same_name_counts_for_the_next_instance(engine):
    engine.deploy(begun_by("AB"))
    engine.publish("A", "x", ttl_ms=60_000, n=1)
    engine.publish("A", "x", ttl_ms=60_000, n=2)
    engine.publish("A", "x", n=3)
    assert pending(engine) == ["A"]
    engine.publish("B", "x")
    assert [engine.variables_of(key)["n"] for key in live(engine)] == [1]
    engine.complete("t")
    assert pending(engine) == ["A"], "the one that is stored, and not the one that is not"
    engine.publish("B", "x")
    assert [engine.variables_of(key)["n"] for key in live(engine)] == [2]


def test_stored_messages_start_the_next_one_together(engine):
    engine.deploy(begun_by("ABC"))
    for name in "ABC":
        engine.publish(name, "x")
    for name in "BCDA":
        engine.publish(name, "x", ttl_ms=60_000, last=name)
    assert (engine.jobs, pending(engine)) == (["t"], [])
    engine.complete("t")
    assert (engine.jobs, pending(engine)) == (["t"], [])
    assert [engine.variables_of(key)["last"] for key in live(engine)] == ["A"]
    assert len(instances(engine)) == 2


def test_another_start_event_of_the_process_does_not_wait_for_them(engine):
    other = begun_by("AB").replace(
        b"</process>",
        b'<startEvent id="o"><messageEventDefinition messageRef="C"/></startEvent>'
        b'<sequenceFlow id="o-t" sourceRef="o" targetRef="t"/></process>',
    )
    engine.deploy(other)
    engine.publish("A", "x", n=1)
    engine.publish("C", "x")
    assert engine.jobs == ["t"]
    engine.publish("B", "x", ttl_ms=60_000)
    assert (engine.jobs, pending(engine)) == (["t"], ["A"]), "the key is locked"
    engine.complete("t")
    assert (engine.jobs, pending(engine)) == (["t"], [])


def test_output_mappings_see_all_variables(engine):
    engine.deploy(begun_by("AB", [("=a + b", "sum")]))
    engine.publish("A", "x", a=1)
    engine.publish("B", "x", b=2)
    (key,) = live(engine)
    assert engine.variables_of(key) == {"sum": 3}


def test_the_latest_business_id_counts(engine):
    engine.deploy(begun_by("AB"))
    engine.accepted(PublishMessage("A", "x", 0, None, {}, business_id="of-a"))
    engine.publish("B", "x")
    (key,) = live(engine)
    assert engine.state.trees[key].root.business_id == "of-a"


def test_only_the_last_one_can_be_correlated(engine):
    """The answer to a correlation names an instance."""
    engine.deploy(begun_by("AB"))
    rejection = engine.run(CorrelateMessage("A", "x", raw({}))).rejection
    assert rejection.code is RejectionCode.NOT_FOUND
    assert pending(engine) == []
    engine.publish("B", "x")
    position = len(engine.memory.log) + 1
    engine.run(CorrelateMessage("A", "x", raw({})))
    (key,) = live(engine)
    (answered,) = [row for one in engine.memory.log for row in one.handled if row.answered and row.request == position]
    assert answered.response.process_instance_key == key


def test_a_command_cannot_start_it(engine):
    engine.deploy(begun_by("AB"))
    assert engine.run(CreateInstance("p")).rejection.code is RejectionCode.INVALID_STATE


# ---- versions, deletion, time


def test_a_new_version_goes_on_with_what_has_come(engine):
    engine.deploy(begun_by("AB"))
    engine.publish("A", "x", n=1)
    (second,) = engine.deploy(begun_by("AC"))
    engine.publish("C", "x")
    (key,) = live(engine)
    assert engine.state.trees[key].root.definition_key == second
    assert engine.variables_of(key) == {"n": 1}


def test_what_a_new_version_does_not_await_counts_no_more(engine):
    engine.deploy(begun_by("AB"))
    engine.publish("A", "x")
    engine.deploy(begun_by("BC"))
    engine.publish("B", "x")
    assert pending(engine) == ["B"]
    engine.publish("C", "x")
    assert engine.jobs == ["t"]


def test_a_version_with_another_start_event_leaves_it_alone(engine):
    engine.deploy(begun_by("AB"))
    engine.publish("A", "x")
    (second,) = engine.deploy(ONE_TASK)
    engine.publish("B", "x")
    assert (live(engine), pending(engine)) == ([], ["A"])
    engine.accepted(DeleteResource(second))
    engine.publish("B", "x")
    assert engine.jobs == ["t"], "the version before is the latest again"


def test_a_deleted_process_starts_no_more(engine):
    (key,) = engine.deploy(begun_by("AB"))
    engine.publish("A", "x")
    engine.accepted(DeleteResource(key))
    engine.publish("B", "x")
    assert not live(engine)


@pytest.mark.parametrize("ttl_ms", [0, 1_000, PENDING_START_MS + 5_000])
def test_it_is_given_up_after_its_time(engine, ttl_ms):
    engine.deploy(begun_by("AB"))
    engine.publish("A", "x", ttl_ms=ttl_ms, n=1)
    engine.memory.now += max(ttl_ms, PENDING_START_MS) - 1
    engine.publish("C", "x")
    assert pending(engine) == ["A"]
    engine.memory.now += 1
    engine.publish("B", "x", n=2)
    assert (live(engine), pending(engine)) == ([], ["B"])
    engine.publish("A", "x", m=3)
    (key,) = live(engine)
    assert engine.variables_of(key) == {"n": 2, "m": 3}


def test_each_message_extends_the_time(engine):
    engine.deploy(begun_by("ABC"))
    for name in "ABC":
        engine.publish(name, "x")
        engine.memory.now += PENDING_START_MS - 1
    assert engine.jobs == ["t"]


def test_the_log_says_what_has_come_and_that_it_is_over(engine):
    engine.deploy(begun_by("AB"))
    engine.publish("A", "x", n=1)
    (awaited,) = events(engine, StartAwaited)
    assert [(one.name, one.variables) for one in awaited.messages] == [("A", {"n": "1"})]
    engine.publish("B", "x")
    assert [event.key for event in events(engine, StartCollected)] == [awaited.key]


def events(engine, kind):
    logged = (event for one in engine.memory.log for row in one.handled for event in row.events)
    return [event for event in logged if isinstance(event, kind)]
