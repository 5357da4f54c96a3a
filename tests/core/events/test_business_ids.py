"""Messages with a business id: only instances that began to wait with the same one receive them."""

import random

import pytest

from tests.core.engine import Engine, raw, rebuilt
from tests.core.event_models import LIMITS
from tests.core.message_models import boundary, message, model, receive, starts
from tests.core.models import end, start, task
from vivero.core.records.business_ids import AssignBusinessId
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CreateInstance
from vivero.core.records.messages import CorrelateMessage, PublishMessage
from vivero.core.records.suspensions import ResumeInstance, SuspendInstance

WAITS = model(start(), receive(), end(), "start > receive > end")
HOUR = 3_600_000

MATCHES = {
    "neither": (None, None, True),
    "only the instance": (None, "a", True),
    "only the message": ("a", None, False),
    "the same": ("a", "a", True),
    "different ones": ("b", "a", False),
}
"""Business ids of the message and of the instance → whether it receives the message."""


@pytest.fixture(params=LIMITS)
def cut(request):
    """An engine, with whole commands and with commands cut into quanta."""
    return Engine(LIMITS[request.param])


def begin(engine, business_id=None, process_id="p"):
    command = CreateInstance(process_id, variables=raw({"k": "x"}), business_id=business_id)
    return engine.accepted(command).response.process_instance_key


def publish(engine, business_id=None, ttl_ms=0, **variables):
    engine.accepted(PublishMessage("hello", "x", ttl_ms, None, raw(variables), business_id=business_id))


def has_received(engine, key):
    return engine.state_of(key) == "COMPLETED"


@pytest.mark.parametrize(("of_message", "of_instance", "fits"), MATCHES.values(), ids=MATCHES)
@pytest.mark.parametrize("way", ["published", "buffered", "correlated"])
def test_which_instances_receive_a_message(engine, way, of_message, of_instance, fits):
    engine.deploy(WAITS)
    if way == "buffered":
        publish(engine, of_message, HOUR)
    key = begin(engine, of_instance)
    if way == "published":
        publish(engine, of_message)
    elif way == "correlated":
        rejection = engine.run(CorrelateMessage("hello", "x", {}, of_message)).rejection
        assert (None if rejection is None else rejection.code) == (None if fits else RejectionCode.NOT_FOUND)
    assert has_received(engine, key) == fits


def test_the_longest_wait_counts_among_those_with_the_id(engine):
    engine.deploy(WAITS)
    keys = [begin(engine, id) for id in ("a", "b", None, "b")]
    publish(engine, "b")
    assert [has_received(engine, key) for key in keys] == [False, True, False, False]
    publish(engine)
    assert [has_received(engine, key) for key in keys] == [True, True, False, False]


def test_a_message_that_no_waiting_instance_takes_starts_one(engine):
    """The instance that waits has another id."""
    roots = (message("hello", "=k", "m"), message("hello", None, "b"))
    engine.deploy(
        model(start(), starts("told", "b"), receive(), task("work"), "start > receive", "told > work", roots=roots)
    )
    key = begin(engine, "a")
    publish(engine, "b")
    assert engine.state_of(key) == "ACTIVATED"
    assert [job.business_id for job in engine.state.jobs.values()] == ["b"]


def test_a_buffered_message_waits_for_its_instance(cut):
    cut.deploy(WAITS)
    publish(cut, "b", HOUR)
    publish(cut, "a", HOUR)
    first, second = begin(cut, "a"), begin(cut, "a")
    assert [has_received(cut, key) for key in (first, second)] == [True, False]
    rebuilt(cut)
    assert has_received(cut, begin(cut, "b"))


def test_a_late_assignment_changes_no_open_subscription(engine):
    engine.deploy(model(start(), receive("one"), receive("two"), end(), "start > one > two > end"))
    key = begin(engine)
    engine.accepted(AssignBusinessId(key, "a"))
    publish(engine, "a")
    assert "one" in engine.elements
    publish(engine)
    assert "two" in engine.elements, "it waits for any, and then for its own"
    publish(engine, "b")
    assert engine.state_of(key) == "ACTIVATED"
    publish(engine, "a")
    assert has_received(engine, key)


@pytest.mark.parametrize("late", [False, True])
def test_a_resumed_subscription_takes_what_it_took_before(cut, late):
    cut.deploy(WAITS)
    key = begin(cut, None if late else "a")
    if late:
        cut.accepted(AssignBusinessId(key, "a"))
    cut.accepted(SuspendInstance(key))
    publish(cut)
    rebuilt(cut)
    cut.accepted(ResumeInstance(key))
    publish(cut, "b")
    assert not has_received(cut, key)
    publish(cut, "a")
    assert has_received(cut, key) == (not late)
    publish(cut)
    assert has_received(cut, key)


def test_a_non_interrupting_subscription_takes_each_message_that_fits(cut):
    host = boundary("work", interrupting=False)
    cut.deploy(model(start(), task("work"), host, task("more"), "start > work", "boundary > more"))
    for number, id in enumerate(["a", "b", None, "a", "b"]):
        publish(cut, id, HOUR, number=number)
        if number == 1:
            begin(cut, "a")
    assert cut.jobs == ["more", "more", "more", "work"]


def test_random_messages_reach_the_instances_that_a_list_says():
    """Messages and instances in random order against two lists: who waits, and what is buffered."""
    for seed in range(60):
        chance, engine = random.Random(seed), Engine(keeps_rows=True)
        engine.deploy(WAITS)
        waiting, buffered, expected = {}, [], {}
        for number in range(30):
            id = chance.choice([None, "a", "b", "c"])
            if chance.random() < 0.5:
                key = begin(engine, id)
                took = next((one for one in buffered if one[0] in (None, id)), None)
                waiting[key] = id
            else:
                took, key = (id, number), next((key for key, own in waiting.items() if id in (None, own)), None)
                publish(engine, id, HOUR, number=number)
                buffered.append(took)
            if took is not None and key is not None:
                buffered.remove(took)
                del waiting[key]
                expected[key] = took[1]
        found = {key: engine.variables_of(key).get("number") for key in (*waiting, *expected)}
        assert found == dict.fromkeys(waiting) | expected, f"seed {seed}"
