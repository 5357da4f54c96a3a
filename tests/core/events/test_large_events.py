"""A message or signal with large variables for many: each gets its own copy, and one transaction has room for some."""

import pytest

from tests.core.engine import raw, rebuilt
from tests.core.message_models import catch, inputs, message, publish, receive, signal, starts, throw
from tests.core.models import end, file, process_element, start, task
from vivero.core.execution.outcomes import CommandRecord
from vivero.core.records.effects import Rejection, RejectionCode
from vivero.core.records.instances import CancelInstance, VariableSet
from vivero.core.records.messages import CorrelateMessage, DeliverEvent, PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.shared import deliveries

ROOTS = (message(), signal(), message("begin", None, "b"))
PROCESSES = 7
PAGE = 2
LARGE = "v" * 1_000


@pytest.fixture(autouse=True)
def room_for_two(monkeypatch):
    monkeypatch.setattr(deliveries, "QUANTUM_CHARACTERS", PAGE * (len(LARGE) + 2) + 1)


def copies(engine):
    """The number of copies of the variable that each position of the log has made."""
    sets = [[e for row in one.handled for e in row.events if isinstance(e, VariableSet)] for one in engine.memory.log]
    return [count for count in (sum(event.name == "v" for event in found) for found in sets) if count]


def deployed(engine, *parts):
    """Seven processes of the same parts: `{n}` is the number of each."""
    made = (process_element(*(part.replace("{n}", str(n)) for part in parts), id=f"p{n}") for n in range(PROCESSES))
    engine.deploy(file(*ROOTS, *made))


WAITS = (start("s{n}"), receive("r{n}"), end("e{n}"), "s{n} > r{n} > e{n}")
STARTS = (starts("s{n}", "b"), end("e{n}"), "s{n} > e{n}")


def states(engine, keys):
    return [engine.state_of(key) for key in keys]


@pytest.mark.parametrize("ttl_ms", [0, 60_000])
def test_all_that_wait_get_it_some_at_a_time(engine, ttl_ms):
    deployed(engine, *WAITS)
    keys = [engine.start(f"p{n}", k="x") for n in range(PROCESSES)]
    engine.run(PublishMessage("hello", "x", ttl_ms, None, raw({"v": LARGE})))
    assert copies(engine) == [2, 2, 2, 1]
    assert states(engine, keys) == ["COMPLETED"] * PROCESSES
    assert all(engine.variables_of(key)["v"] == LARGE for key in keys)


def test_all_that_start_with_it_do_some_at_a_time_and_are_the_only_ones_of_their_key(engine):
    deployed(engine, *STARTS)
    engine.run(PublishMessage("begin", "x", 0, None, raw({"v": LARGE})))
    assert copies(engine) == [2, 2, 2, 1]
    assert list(engine.ended.values()) == [("COMPLETED", {"v": LARGE})] * PROCESSES
    assert not engine.state.channels["<default>", "x"].locks


def test_a_signal_starts_some_at_a_time(engine):
    deployed(engine, starts("s{n}", "signal"), end("e{n}"), "s{n} > e{n}")
    engine.run(BroadcastSignal("alarm", raw({"v": LARGE})))
    assert copies(engine) == [2, 2, 2, 1]
    assert list(engine.ended.values()) == [("COMPLETED", {"v": LARGE})] * PROCESSES


def test_whoever_throws_it_goes_on_when_all_have_it(engine):
    deployed(engine, *WAITS)
    told = throw("told", "m", inputs(v="=v") + publish())
    engine.deploy(file(*ROOTS, process_element(start(), told, end("after"), "start > told > after", id="q")))
    keys = [engine.start(f"p{n}", k="x") for n in range(PROCESSES)]
    thrower = engine.start("q", k="x", v=LARGE)
    assert states(engine, [*keys, thrower]) == ["COMPLETED"] * (PROCESSES + 1)
    order = [line.split()[1] for line in engine.trace if line.startswith("  ElementCompleted")]
    assert order.index("told") > max(order.index(f"r{n}") for n in range(PROCESSES))


def test_the_client_hears_of_the_first_that_gets_it(engine):
    deployed(engine, *WAITS)
    keys = [engine.start(f"p{n}", k="x") for n in range(PROCESSES)]
    position = len(engine.memory.log) + 1
    engine.run(CorrelateMessage("hello", "x", raw({"v": LARGE})))
    rows = [row for one in engine.memory.log for row in one.handled if row.answered and row.request == position]
    assert [row.response.process_instance_key for row in rows] == [keys[0]]
    assert states(engine, keys) == ["COMPLETED"] * PROCESSES


def stepwise(engine, command):
    """Handle a command alone; what is to follow is given."""
    engine.memory.handle(command, "<default>", None)
    to_inbox = list(engine.memory.processor.notices.to_inbox)
    engine.memory.processor.notices.to_inbox.clear()
    return [one.command for one in to_inbox]


def test_what_has_been_chosen_takes_nothing_else_meanwhile_and_one_that_ends_gives_it_back(engine):
    """All are chosen at once: a later message does not come before, and a cancelled one takes nothing."""
    deployed(engine, *WAITS)
    keys = [engine.start(f"p{n}", k="x") for n in range(PROCESSES)]
    (rest,) = stepwise(engine, PublishMessage("hello", "x", 60_000, None, raw({"v": LARGE})))
    assert isinstance(rest, DeliverEvent)
    assert [one.state for one in engine.state.channels["<default>", "x"].subscriptions.values()] == ["CORRELATING"] * 5
    engine.run(PublishMessage("hello", "x", 0, None, raw({"v": "later"})))
    engine.run(CancelInstance(keys[-1]))
    rebuilt(engine)
    engine.run(rest)
    assert states(engine, keys) == ["COMPLETED"] * (PROCESSES - 1) + ["TERMINATED"]
    assert {engine.variables_of(key)["v"] for key in keys[:-1]} == {LARGE}
    (kept,) = engine.state.channels["<default>", "x"].messages.values()
    assert set(kept.given) == {f"p{n}" for n in range(PROCESSES - 1)}, "the cancelled one's process has not had it"


def test_a_delivery_that_cannot_be_handled_frees_those_it_was_for(engine):
    deployed(engine, *WAITS)
    made = process_element(starts("sq", "m"), task("tq"), "sq > tq", id="q")
    engine.deploy(file(*ROOTS, made))
    keys = [engine.start(f"p{n}", k="x") for n in range(PROCESSES)]
    (rest,) = stepwise(engine, PublishMessage("hello", "x", 60_000, None, raw({"v": LARGE})))
    assert len(rest.starts) == 1
    memory = engine.memory
    memory.processor.reject(
        CommandRecord(len(memory.log) + 1, "<default>", rest, None),
        memory.now,
        Rejection(RejectionCode.PROCESSING_ERROR, "no"),
    )
    follow_ups = [one.command for one in memory.processor.notices.to_inbox]
    memory.processor.notices.to_inbox.clear()
    for command in follow_ups:
        engine.run(command)
    channel = engine.state.channels["<default>", "x"]
    assert not channel.locks
    assert len([key for key in keys if engine.state.elements.get(key)]) == PROCESSES - PAGE
    assert {one.state for one in channel.subscriptions.values()} <= {"OPEN"}


def test_small_ones_go_to_all_at_once(engine):
    deployed(engine, *WAITS)
    for n in range(PROCESSES):
        engine.start(f"p{n}", k="x")
    assert stepwise(engine, PublishMessage("hello", "x", 0, None, raw({"v": 1}))) == []
    assert copies(engine) == [PROCESSES]


def test_a_catch_behind_another_hears_only_the_next_one(engine):
    """It begins to wait after the message has been chosen for others, and before they have it."""
    deployed(engine, start("s{n}"), catch("a{n}"), catch("b{n}"), end("e{n}"), "s{n} > a{n} > b{n} > e{n}")
    keys = [engine.start(f"p{n}", k="x") for n in range(PROCESSES)]
    engine.run(PublishMessage("hello", "x", 0, None, raw({"v": LARGE})))
    assert states(engine, keys) == ["ACTIVATED"] * PROCESSES
    engine.run(PublishMessage("hello", "x", 0, None, raw({"v": LARGE})))
    assert states(engine, keys) == ["COMPLETED"] * PROCESSES
