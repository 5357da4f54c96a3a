"""Signals: everybody who waits now gets them, in pages, and nobody twice."""

import pytest

from tests.core.bench import Bench, raw
from tests.core.message_models import boundary, catch, event_sub, inputs, model, signal, starts, throw
from tests.core.models import end, start, task
from vivero.core.commands.signal import SUBSCRIPTIONS_PER_PAGE
from vivero.core.records.messages import SubscriptionTriggered
from vivero.core.records.signals import BroadcastSignal, DeliverSignal

WAITS = model(start(), catch("wait", "signal"), end(), "start > wait > end")


def shout(bench, name="alarm", **variables):
    return bench.run(BroadcastSignal(name, raw(variables)))


def test_everybody_who_waits_gets_it_with_its_variables(bench):
    bench.deploy(WAITS)
    keys = [bench.start() for _ in range(3)]
    reply = shout(bench, a=1).response
    assert reply.signal_key > keys[-1]
    assert [bench.state_of(key) for key in keys] == ["COMPLETED"] * 3
    assert [bench.variables_of(key) for key in keys] == [{"a": 1}] * 3


def test_it_is_not_kept(bench):
    bench.deploy(WAITS)
    shout(bench)
    assert bench.state_of(bench.start()) == "ACTIVATED"


def test_another_name_or_tenant_reaches_nobody(bench):
    bench.deploy(WAITS)
    key = bench.start()
    shout(bench, "other")
    bench.run(BroadcastSignal("alarm"), tenant="other")
    assert bench.state_of(key) == "ACTIVATED"


def test_more_than_a_page(bench):
    bench.deploy(WAITS)
    keys = [bench.start() for _ in range(SUBSCRIPTIONS_PER_PAGE * 2 + 1)]
    shout(bench)
    assert {bench.state_of(key) for key in keys} == {"COMPLETED"}
    pages = [logged for logged in bench.engine.log if isinstance(logged.command, DeliverSignal)]
    assert len(pages) == 2, "the first page comes with the signal, the others in commands of their own"


def waiting_on(bench, count):
    """Instances that wait on when the signal has come; the keys of their subscriptions."""
    bench.deploy(model(start(), task("work"), boundary("work", "heard", "signal", False), task("each"), *HEARD))
    for _ in range(count):
        bench.start()
    return sorted(bench.state.subscriptions)


HEARD = ("start > work", "heard > each")


def triggered(bench):
    """Whom each row of the log has told, without those that told nobody."""
    told = [
        [
            event.key
            for handled in logged.handled
            for event in handled.events
            if isinstance(event, SubscriptionTriggered)
        ]
        for logged in bench.engine.log
    ]
    return [keys for keys in told if keys]


def test_who_waits_on_is_told_once_whatever_page_it_is_on(bench):
    keys = waiting_on(bench, SUBSCRIPTIONS_PER_PAGE * 2 + 1)
    shout(bench)
    pages = [SUBSCRIPTIONS_PER_PAGE, SUBSCRIPTIONS_PER_PAGE * 2]
    assert triggered(bench) == [keys[: pages[0]], keys[pages[0] : pages[1]], keys[pages[1] :]]
    assert bench.jobs == ["each"] * len(keys) + ["work"] * len(keys)


def test_who_is_in_memory_behind_the_page_that_was_loaded_is_told_with_a_later_one(bench):
    """Between the last one that was loaded and one that happens to be here may be others."""
    keys = waiting_on(bench, 4)
    bench.state.signal_pages["<default>", "alarm", 0] = keys[1]
    shout(bench)
    assert triggered(bench) == [keys[:2], keys[2:]]


def test_a_page_of_those_who_wait_since_later_is_the_last(bench):
    """Else a signal would follow a loop for ever that waits again each time."""
    keys = waiting_on(bench, 2)
    bench.state.signal_pages["<default>", "alarm", 0] = keys[-1] + 1_000
    shout(bench)
    assert triggered(bench) == [keys]
    assert not [logged for logged in bench.engine.log if isinstance(logged.command, DeliverSignal)]


@pytest.mark.parametrize("items", [1, 500])
def test_a_loop_that_waits_again_is_not_hit_twice(items):
    from vivero.core.execution.step import StepLimits

    bench = Bench(StepLimits(items))
    bench.deploy(model(start(), catch("wait", "signal"), "start > wait", "wait > wait"))
    keys = [bench.start() for _ in range(SUBSCRIPTIONS_PER_PAGE + 5)]
    shout(bench)
    triggered = [line for line in bench.trace if "SubscriptionTriggered" in line]
    assert len(triggered) == len(keys)


@pytest.mark.parametrize("interrupting", [True, False])
def test_boundary(bench, interrupting):
    bench.deploy(
        model(
            start(),
            task("work"),
            boundary("work", "stop", "signal", interrupting),
            task("after"),
            "start > work",
            "stop > after",
        )
    )
    bench.start()
    shout(bench)
    shout(bench)
    assert bench.jobs == (["after"] if interrupting else ["after", "after", "work"])


@pytest.mark.parametrize("interrupting", [True, False])
def test_event_sub_process(bench, interrupting):
    aside = event_sub("aside", task("inner"), "aside-start > inner", on="signal", interrupting=interrupting)
    bench.deploy(model(start(), task("work"), aside, "start > work"))
    bench.start()
    shout(bench)
    shout(bench)
    assert bench.jobs == (["inner"] if interrupting else ["inner", "inner", "work"])


def test_behind_an_event_based_gateway(bench):
    bench.deploy(
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
    bench.start(k="x")
    shout(bench)
    assert bench.jobs == ["a"]
    assert not bench.state.subscriptions


def test_it_starts_the_latest_version_each_time(bench):
    bench.deploy(model(starts("start", "signal"), task("old"), "start > old"))
    bench.deploy(model(starts("start", "signal"), task("new"), "start > new"))
    shout(bench, a=1)
    shout(bench)
    assert bench.jobs == ["new", "new"]
    assert bench.variables_of(min(bench.state.trees)) == {"a": 1}


@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
def test_a_process_throws_one_with_its_local_variables(bench, tag):
    bench.deploy(WAITS, model(start(), throw("say", "s", inputs(n="=1 + 1"), tag), "start > say", id="q"))
    key = bench.start()
    sender = bench.start("q", secret=1)
    assert (bench.state_of(key), bench.state_of(sender)) == ("COMPLETED", "COMPLETED")
    assert bench.variables_of(key) == {"n": 2}


def test_the_command_that_throws_is_answered_with_its_own_answer(bench):
    bench.deploy(model(start(), task("work"), throw("say", "s"), "start > work > say"))
    bench.start()
    handled = bench.complete("work")
    assert handled.answered
    assert handled.response is None
    assert not any(row.answered for row in bench.engine.log[-1].handled[1:])


def test_the_name_is_evaluated_when_the_wait_begins(bench):
    bench.deploy(model(start(), catch("wait", "signal"), end(), "start > wait > end", roots=(signal("=n"),)))
    key = bench.start(n="mine")
    shout(bench, "mine")
    assert bench.state_of(key) == "COMPLETED"
