"""Signals: everybody who waits now gets them, in pages, and nobody twice."""

import pytest

from tests.core.engine import Engine, raw
from tests.core.message_models import boundary, catch, event_sub, inputs, model, signal, starts, throw
from tests.core.models import end, start, task
from vivero.core.commands.signal import SUBSCRIPTIONS_PER_PAGE
from vivero.core.records.messages import SubscriptionTriggered
from vivero.core.records.signals import BroadcastSignal, DeliverSignal

WAITS = model(start(), catch("wait", "signal"), end(), "start > wait > end")


def broadcast(engine, name="alarm", **variables):
    return engine.run(BroadcastSignal(name, raw(variables)))


def test_everybody_who_waits_gets_it_with_its_variables(engine):
    engine.deploy(WAITS)
    keys = [engine.start() for _ in range(3)]
    reply = broadcast(engine, a=1).response
    assert reply.signal_key > keys[-1]
    assert [engine.state_of(key) for key in keys] == ["COMPLETED"] * 3
    assert [engine.variables_of(key) for key in keys] == [{"a": 1}] * 3


def test_it_is_not_kept(engine):
    engine.deploy(WAITS)
    broadcast(engine)
    assert engine.state_of(engine.start()) == "ACTIVATED"


def test_another_name_or_tenant_reaches_nobody(engine):
    engine.deploy(WAITS)
    key = engine.start()
    broadcast(engine, "other")
    engine.run(BroadcastSignal("alarm"), tenant="other")
    assert engine.state_of(key) == "ACTIVATED"


def test_more_than_a_page(engine):
    engine.deploy(WAITS)
    keys = [engine.start() for _ in range(SUBSCRIPTIONS_PER_PAGE * 2 + 1)]
    broadcast(engine)
    assert {engine.state_of(key) for key in keys} == {"COMPLETED"}
    pages = [logged for logged in engine.memory.log if isinstance(logged.command, DeliverSignal)]
    assert len(pages) == 2, "the first page comes with the signal, the others in commands of their own"


def waiting_on(engine, count):
    """Instances that wait on when the signal has come; the keys of their subscriptions."""
    engine.deploy(model(start(), task("work"), boundary("work", "heard", "signal", False), task("each"), *HEARD))
    for _ in range(count):
        engine.start()
    return sorted(engine.state.subscriptions)


HEARD = ("start > work", "heard > each")


def triggered(engine):
    """The receivers of each row of the log that has any."""
    told = [
        [
            event.key
            for handled in logged.handled
            for event in handled.events
            if isinstance(event, SubscriptionTriggered)
        ]
        for logged in engine.memory.log
    ]
    return [keys for keys in told if keys]


def test_who_waits_on_is_told_once_whatever_page_it_is_on(engine):
    keys = waiting_on(engine, SUBSCRIPTIONS_PER_PAGE * 2 + 1)
    broadcast(engine)
    pages = [SUBSCRIPTIONS_PER_PAGE, SUBSCRIPTIONS_PER_PAGE * 2]
    assert triggered(engine) == [keys[: pages[0]], keys[pages[0] : pages[1]], keys[pages[1] :]]
    assert engine.jobs == ["each"] * len(keys) + ["work"] * len(keys)


def test_who_is_in_memory_behind_the_page_that_was_loaded_is_told_with_a_later_one(engine):
    """Between the last one that was loaded and one that happens to be here may be others."""
    keys = waiting_on(engine, 4)
    engine.state.loaded_pages["<default>", "alarm", 0] = keys[1]
    broadcast(engine)
    assert triggered(engine) == [keys[:2], keys[2:]]


def test_a_page_of_those_who_wait_since_later_is_the_last(engine):
    """Else a signal would follow a loop for ever that waits again each time."""
    keys = waiting_on(engine, 2)
    engine.state.loaded_pages["<default>", "alarm", 0] = keys[-1] + 1_000
    broadcast(engine)
    assert triggered(engine) == [keys]
    assert not [logged for logged in engine.memory.log if isinstance(logged.command, DeliverSignal)]


@pytest.mark.parametrize("items", [1, 500])
def test_a_loop_that_waits_again_is_not_hit_twice(items):
    from vivero.core.execution.step import StepLimits

    engine = Engine(StepLimits(items))
    engine.deploy(model(start(), catch("wait", "signal"), "start > wait", "wait > wait"))
    keys = [engine.start() for _ in range(SUBSCRIPTIONS_PER_PAGE + 5)]
    broadcast(engine)
    triggered = [line for line in engine.trace if "SubscriptionTriggered" in line]
    assert len(triggered) == len(keys)


@pytest.mark.parametrize("interrupting", [True, False])
def test_boundary(engine, interrupting):
    engine.deploy(
        model(
            start(),
            task("work"),
            boundary("work", "stop", "signal", interrupting),
            task("after"),
            "start > work",
            "stop > after",
        )
    )
    engine.start()
    broadcast(engine)
    broadcast(engine)
    assert engine.jobs == (["after"] if interrupting else ["after", "after", "work"])


@pytest.mark.parametrize("interrupting", [True, False])
def test_event_sub_process(engine, interrupting):
    aside = event_sub("aside", task("inner"), "aside-start > inner", on="signal", interrupting=interrupting)
    engine.deploy(model(start(), task("work"), aside, "start > work"))
    engine.start()
    broadcast(engine)
    broadcast(engine)
    assert engine.jobs == (["inner"] if interrupting else ["inner", "inner", "work"])


def test_behind_an_event_based_gateway(engine):
    engine.deploy(
        model(
            start(),
            '<eventBasedGateway id="which"/>',
            catch("one", "signal"),
            catch("two", "m"),
            task("a"),
            task("b"),
            "start > which > one > a",
            "which > two > b",
        )
    )
    engine.start(k="x")
    broadcast(engine)
    assert engine.jobs == ["a"]
    assert not engine.state.subscriptions


def test_it_starts_the_latest_version_each_time(engine):
    engine.deploy(model(starts("start", "signal"), task("old"), "start > old"))
    engine.deploy(model(starts("start", "signal"), task("new"), "start > new"))
    broadcast(engine, a=1)
    broadcast(engine)
    assert engine.jobs == ["new", "new"]
    assert engine.variables_of(min(engine.state.trees)) == {"a": 1}


@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
def test_a_process_throws_one_with_its_local_variables(engine, tag):
    engine.deploy(WAITS, model(start(), throw("say", "s", inputs(n="=1 + 1"), tag), "start > say", id="q"))
    key = engine.start()
    sender = engine.start("q", secret=1)
    assert (engine.state_of(key), engine.state_of(sender)) == ("COMPLETED", "COMPLETED")
    assert engine.variables_of(key) == {"n": 2}


def test_the_command_that_throws_is_answered_with_its_own_answer(engine):
    engine.deploy(model(start(), task("work"), throw("say", "s"), "start > work > say"))
    engine.start()
    handled = engine.complete("work")
    assert handled.answered
    assert handled.response is None
    assert not any(row.answered for row in engine.memory.log[-1].handled[1:])


def test_the_name_is_evaluated_when_the_wait_begins(engine):
    engine.deploy(model(start(), catch("wait", "signal"), end(), "start > wait > end", roots=(signal("=n"),)))
    key = engine.start(n="mine")
    broadcast(engine, "mine")
    assert engine.state_of(key) == "COMPLETED"
