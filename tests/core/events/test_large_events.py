"""A message or signal with large variables for many: each gets its own copy, and one transaction has room for some."""

import pytest

from tests.core.bench import raw, rebuilt
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


def copies(bench):
    """How many copies of the variable each position of the log has made."""
    sets = [[e for row in one.handled for e in row.events if isinstance(e, VariableSet)] for one in bench.engine.log]
    return [count for count in (sum(event.name == "v" for event in found) for found in sets) if count]


def deployed(bench, *parts):
    """Seven processes of the same parts: `{n}` is the number of each."""
    made = (process_element(*(part.replace("{n}", str(n)) for part in parts), id=f"p{n}") for n in range(PROCESSES))
    bench.deploy(file(*ROOTS, *made))


WAITS = (start("s{n}"), receive("r{n}"), end("e{n}"), "s{n} > r{n} > e{n}")
STARTS = (starts("s{n}", "b"), end("e{n}"), "s{n} > e{n}")


def states(bench, keys):
    return [bench.state_of(key) for key in keys]


@pytest.mark.parametrize("ttl_ms", [0, 60_000])
def test_all_that_wait_get_it_some_at_a_time(bench, ttl_ms):
    deployed(bench, *WAITS)
    keys = [bench.start(f"p{n}", k="x") for n in range(PROCESSES)]
    bench.run(PublishMessage("hello", "x", ttl_ms, None, raw({"v": LARGE})))
    assert copies(bench) == [2, 2, 2, 1]
    assert states(bench, keys) == ["COMPLETED"] * PROCESSES
    assert all(bench.variables_of(key)["v"] == LARGE for key in keys)


def test_all_that_start_with_it_do_some_at_a_time_and_are_the_only_ones_of_their_key(bench):
    deployed(bench, *STARTS)
    bench.run(PublishMessage("begin", "x", 0, None, raw({"v": LARGE})))
    assert copies(bench) == [2, 2, 2, 1]
    assert list(bench.ended.values()) == [("COMPLETED", {"v": LARGE})] * PROCESSES
    assert not bench.state.channels["<default>", "x"].locks


def test_a_signal_starts_some_at_a_time(bench):
    deployed(bench, starts("s{n}", "signal"), end("e{n}"), "s{n} > e{n}")
    bench.run(BroadcastSignal("alarm", raw({"v": LARGE})))
    assert copies(bench) == [2, 2, 2, 1]
    assert list(bench.ended.values()) == [("COMPLETED", {"v": LARGE})] * PROCESSES


def test_whoever_throws_it_goes_on_when_all_have_it(bench):
    deployed(bench, *WAITS)
    told = throw("told", "m", inputs(v="=v") + publish())
    bench.deploy(file(*ROOTS, process_element(start(), told, end("after"), "start > told > after", id="q")))
    keys = [bench.start(f"p{n}", k="x") for n in range(PROCESSES)]
    thrower = bench.start("q", k="x", v=LARGE)
    assert states(bench, [*keys, thrower]) == ["COMPLETED"] * (PROCESSES + 1)
    order = [line.split()[1] for line in bench.trace if line.startswith("  ElementCompleted")]
    assert order.index("told") > max(order.index(f"r{n}") for n in range(PROCESSES))


def test_the_client_hears_of_the_first_that_gets_it(bench):
    deployed(bench, *WAITS)
    keys = [bench.start(f"p{n}", k="x") for n in range(PROCESSES)]
    position = len(bench.engine.log) + 1
    bench.run(CorrelateMessage("hello", "x", raw({"v": LARGE})))
    rows = [row for one in bench.engine.log for row in one.handled if row.answered and row.request == position]
    assert [row.response.process_instance_key for row in rows] == [keys[0]]
    assert states(bench, keys) == ["COMPLETED"] * PROCESSES


def stepwise(bench, command):
    """Handle a command alone; what is to follow is given."""
    bench.engine.handle(command, "<default>", None)
    to_inbox = list(bench.engine.processor.notices.to_inbox)
    bench.engine.processor.notices.to_inbox.clear()
    return [one.command for one in to_inbox]


def test_what_has_been_chosen_takes_nothing_else_meanwhile_and_one_that_ends_gives_it_back(bench):
    """All are chosen at once: a later message does not come before, and a cancelled one takes nothing."""
    deployed(bench, *WAITS)
    keys = [bench.start(f"p{n}", k="x") for n in range(PROCESSES)]
    (rest,) = stepwise(bench, PublishMessage("hello", "x", 60_000, None, raw({"v": LARGE})))
    assert isinstance(rest, DeliverEvent)
    assert [one.state for one in bench.state.channels["<default>", "x"].subscriptions.values()] == ["CORRELATING"] * 5
    bench.run(PublishMessage("hello", "x", 0, None, raw({"v": "later"})))
    bench.run(CancelInstance(keys[-1]))
    rebuilt(bench)
    bench.run(rest)
    assert states(bench, keys) == ["COMPLETED"] * (PROCESSES - 1) + ["TERMINATED"]
    assert {bench.variables_of(key)["v"] for key in keys[:-1]} == {LARGE}
    (kept,) = bench.state.channels["<default>", "x"].messages.values()
    assert set(kept.given) == {f"p{n}" for n in range(PROCESSES - 1)}, "the cancelled one's process has not had it"


def test_a_delivery_that_cannot_be_handled_frees_those_it_was_for(bench):
    deployed(bench, *WAITS)
    made = process_element(starts("sq", "m"), task("tq"), "sq > tq", id="q")
    bench.deploy(file(*ROOTS, made))
    keys = [bench.start(f"p{n}", k="x") for n in range(PROCESSES)]
    (rest,) = stepwise(bench, PublishMessage("hello", "x", 60_000, None, raw({"v": LARGE})))
    assert len(rest.starts) == 1
    engine = bench.engine
    engine.processor.reject(
        CommandRecord(len(engine.log) + 1, "<default>", rest, None),
        engine.now,
        Rejection(RejectionCode.PROCESSING_ERROR, "no"),
    )
    follow_ups = [one.command for one in engine.processor.notices.to_inbox]
    engine.processor.notices.to_inbox.clear()
    for command in follow_ups:
        bench.run(command)
    channel = bench.state.channels["<default>", "x"]
    assert not channel.locks
    assert len([key for key in keys if bench.state.elements.get(key)]) == PROCESSES - PAGE
    assert {one.state for one in channel.subscriptions.values()} <= {"OPEN"}


def test_small_ones_go_to_all_at_once(bench):
    deployed(bench, *WAITS)
    for n in range(PROCESSES):
        bench.start(f"p{n}", k="x")
    assert stepwise(bench, PublishMessage("hello", "x", 0, None, raw({"v": 1}))) == []
    assert copies(bench) == [PROCESSES]


def test_a_catch_behind_another_hears_only_the_next_one(bench):
    """It begins to wait after the message has been chosen for others, and before they have it."""
    deployed(bench, start("s{n}"), catch("a{n}"), catch("b{n}"), end("e{n}"), "s{n} > a{n} > b{n} > e{n}")
    keys = [bench.start(f"p{n}", k="x") for n in range(PROCESSES)]
    bench.run(PublishMessage("hello", "x", 0, None, raw({"v": LARGE})))
    assert states(bench, keys) == ["ACTIVATED"] * PROCESSES
    bench.run(PublishMessage("hello", "x", 0, None, raw({"v": LARGE})))
    assert states(bench, keys) == ["COMPLETED"] * PROCESSES
