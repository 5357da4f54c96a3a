"""Messages: who gets them, once, in which order, and what is kept."""

import pytest

from tests.core.engine import Engine, raw
from tests.core.message_models import (
    boundary,
    catch,
    event_sub,
    inputs,
    message,
    model,
    outputs,
    publish,
    receive,
    throw,
)
from tests.core.models import end, file, flow, par, process_element, start, sub, task
from vivero.core.execution.step import StepLimits
from vivero.core.records.effects import RejectionCode
from vivero.core.records.messages import (
    AcknowledgeCorrelation,
    CloseSubscription,
    CorrelateMessage,
    ExpireMessage,
    MessageExpired,
    MessageReceived,
    Offer,
    OpenSubscription,
    PublishMessage,
    TriggerSubscription,
)
from vivero.core.records.signals import BroadcastSignal

WAITS = model(start(), receive(), end(), "start > receive > end")
MANY = model(
    start(), task("work"), boundary("work", "heard", interrupting=False), task("each"), "start > work", "heard > each"
)


def say(engine, name="hello", key="x", ttl_ms=0, id=None, **variables):
    return engine.run(PublishMessage(name, key, ttl_ms, id, raw(variables)))


def answers(engine):
    """The answer to the last command's request, in whatever row."""
    return [row for logged in engine.memory.log for row in logged.handled if row.answered][-1]


def waiting(engine):
    """(element, correlation key) of each open subscription."""
    return sorted((s.element.element, s.correlation_key) for s in engine.state.subscriptions.values())


def channel(engine, key="x"):
    return engine.state.channels["<default>", key]


# ---- waiting


@pytest.mark.parametrize("waits", [receive("wait"), catch("wait")])
def test_a_message_completes_what_waits_for_it_and_brings_its_variables(engine, waits):
    engine.deploy(model(start(), waits, end(), "start > wait > end"))
    key = engine.start(k="x")
    assert waiting(engine) == [("wait", "x")]
    say(engine, a=1)
    assert engine.state_of(key) == "COMPLETED"
    assert engine.variables_of(key) == {"k": "x", "a": 1}
    assert not channel(engine).subscriptions


def test_with_an_output_mapping_only_what_it_chooses_leaves(engine):
    waits = catch("wait", extensions=outputs(b="=a + 1"))
    engine.deploy(model(start(), waits, end(), "start > wait > end"))
    key = engine.start(k="x")
    say(engine, a=1, c=3)
    assert engine.variables_of(key) == {"k": "x", "b": 2}


@pytest.mark.parametrize(("name", "key"), [("hello", "y"), ("hallo", "x"), ("hello", "")])
def test_another_name_or_key_reaches_nobody(engine, name, key):
    engine.deploy(WAITS)
    instance = engine.start(k="x")
    say(engine, name, key)
    assert engine.state_of(instance) == "ACTIVATED"


def test_another_tenant_reaches_nobody(engine):
    engine.deploy(WAITS)
    instance = engine.start(k="x")
    engine.run(PublishMessage("hello", "x"), tenant="other")
    assert engine.state_of(instance) == "ACTIVATED"


@pytest.mark.parametrize("value", [7, "7"])
def test_a_number_and_its_text_are_one_key(engine, value):
    engine.deploy(WAITS)
    instance = engine.start(k=value)
    say(engine, key="7")
    assert engine.state_of(instance) == "COMPLETED"


@pytest.mark.parametrize(("value", "kind"), [(None, "NULL"), (True, "BOOLEAN"), ([1], "ARRAY"), ({"a": 1}, "OBJECT")])
def test_a_key_that_is_neither_text_nor_number_is_an_incident_that_can_be_resolved(engine, value, kind):
    engine.deploy(WAITS)
    instance = engine.start(k=value)
    text = "Failed to extract the correlation key for 'k': The value must be either a string or a number, but was "
    assert engine.incidents == [("receive", "EXTRACT_VALUE_ERROR", f"{text}'{kind}'.")]
    assert not waiting(engine)
    engine.set(instance, k="x")
    engine.resolve()
    assert waiting(engine) == [("receive", "x")]


NO_TEXT = "Expected result of the expression 'bad' to be a text {}, but was '{}'."


@pytest.mark.parametrize("thing", ["correlation key", "message id"])
@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ("a\0b", NO_TEXT.format("without NUL characters", "a\\u0000b")),
        ("x" * 32_769, NO_TEXT.format("of at most 32768 characters", f"{'x' * 100}…")),
    ],
    ids=["NUL", "long"],
)
def test_a_key_that_no_table_can_hold_is_an_incident(engine, thing, bad, said):
    """A text may have NUL inside, as JSON has; a column of text may not."""
    says = throw("say", "m", publish(**({"key": "=bad"} if thing == "correlation key" else {"id": "=bad"})))
    engine.deploy(model(start(), says, end(), "start > say > end"))
    instance = engine.start(k="x", bad=bad)
    assert engine.incidents == [("say", "EXTRACT_VALUE_ERROR", said)]
    engine.set(instance, bad="ab")
    engine.resolve()
    assert engine.state_of(instance) == "COMPLETED"


def test_name_and_key_are_those_of_the_moment_of_waiting(engine):
    model_ = model(start(), catch("wait"), end(), "start > wait > end", roots=(message("=n"),))
    engine.deploy(model_)
    instance = engine.start(k="x", n="first")
    engine.set(instance, k="y", n="second")
    say(engine, "second", "y")
    assert engine.state_of(instance) == "ACTIVATED"
    say(engine, "first", "x")
    assert engine.state_of(instance) == "COMPLETED"


def test_who_is_cancelled_waits_no_longer(engine):
    engine.deploy(WAITS)
    engine.cancel(engine.start(k="x"))
    assert not waiting(engine)
    assert not channel(engine).subscriptions


# ---- who gets it


def test_of_one_process_the_longest_wait_gets_it_and_every_process_once(engine):
    engine.deploy(WAITS, model(start(), receive(), "start > receive", id="q"))
    first, second, other = engine.start(k="x"), engine.start(k="x"), engine.start("q", k="x")
    say(engine)
    assert [engine.state_of(key) for key in (first, second, other)] == ["COMPLETED", "ACTIVATED", "COMPLETED"]
    say(engine)
    assert engine.state_of(second) == "COMPLETED"


def test_versions_of_a_process_are_one_process(engine):
    engine.deploy(WAITS)
    first = engine.start(k="x")
    engine.deploy(model(start(), receive(), "start > receive"))
    second = engine.start(k="x")
    say(engine)
    assert [engine.state_of(key) for key in (first, second)] == ["COMPLETED", "ACTIVATED"]


def test_a_stale_subscription_gives_the_message_to_the_next_one(engine):
    engine.deploy(WAITS)
    first, second = engine.start(k="x"), engine.start(k="x")
    stale = next(iter(channel(engine).subscriptions.values()))
    engine.cancel(first)
    engine.run(OpenSubscription(stale.key, "<default>", "hello", "x", "p", True))
    assert stale.key not in channel(engine).subscriptions, "what waits no longer does not come back"
    channel(engine).subscriptions = {stale.key: stale} | channel(engine).subscriptions
    stale.state = "OPEN"
    say(engine, ttl_ms=1000)
    assert engine.state_of(second) == "COMPLETED"
    assert not channel(engine).subscriptions
    assert [m.given for m in channel(engine).messages.values()] == [("p",)]


def test_closing_what_is_not_open_does_nothing(engine):
    assert engine.run(CloseSubscription(5, "<default>", "x")).events == []


def test_signals_for_nobody_do_nothing(engine):
    assert engine.run(TriggerSubscription(5, Offer("alarm"))).events == []


# ---- kept messages


def test_a_message_that_is_to_be_erased_goes_to_nobody(engine):
    engine.deploy(WAITS)
    say(engine, ttl_ms=1000)
    (stored,) = channel(engine).messages.values()
    expired = engine.run(ExpireMessage(stored.key, "<default>", "x"))
    assert [type(event) for event in expired.events] == [MessageExpired]
    assert engine.run(ExpireMessage(stored.key, "<default>", "x")).events == [], "once"
    assert engine.run(ExpireMessage(5, "<default>", "x")).events == [], "there is no such message"
    assert engine.state_of(engine.start(k="x")) == "ACTIVATED"


def test_without_a_time_to_live_it_is_gone_at_once(engine):
    engine.deploy(WAITS)
    say(engine)
    instance = engine.start(k="x")
    assert engine.state_of(instance) == "ACTIVATED"


def test_kept_messages_come_first_in_first_out(engine):
    engine.deploy(model(start(), receive("a"), receive("b"), end(), "start > a > b > end"))
    say(engine, ttl_ms=1000, n=1)
    say(engine, ttl_ms=1000, n=2)
    first = engine.start(k="x")
    assert engine.variables_of(first)["n"] == 2, "both were given, the first one first"
    events = [event for logged in engine.memory.log for row in logged.handled for event in row.events]
    received = [event.message for event in events if isinstance(event, MessageReceived)]
    assert received == sorted(channel(engine).messages)


def test_a_process_gets_a_kept_message_once_however_many_wait(engine):
    engine.deploy(WAITS)
    say(engine, ttl_ms=1000)
    first, second = engine.start(k="x"), engine.start(k="x")
    assert [engine.state_of(key) for key in (first, second)] == ["COMPLETED", "ACTIVATED"]


@pytest.mark.parametrize(("after_ms", "state"), [(999, "COMPLETED"), (1000, "ACTIVATED")])
def test_an_expired_message_is_not_given_even_if_it_is_still_there(engine, after_ms, state):
    engine.deploy(WAITS)
    say(engine, ttl_ms=1000)
    engine.memory.now += after_ms
    assert engine.state_of(engine.start(k="x")) == state


def test_an_id_is_unique_among_what_is_kept(engine):
    assert say(engine, ttl_ms=1000, id="one").rejection is None
    rejection = say(engine, id="one").rejection
    assert rejection.code == RejectionCode.ALREADY_EXISTS
    expected = "Expected to publish a new message with id 'one', but a message with that id was already published"
    assert rejection.reason == expected
    assert say(engine, key="y", id="one").rejection is None, "of another key"
    assert say(engine, "hallo", id="one").rejection is None, "of another name"
    engine.memory.now += 1000
    assert say(engine, ttl_ms=1, id="one").rejection is None


def test_an_id_without_a_time_to_live_can_be_used_again(engine):
    say(engine, id="one")
    assert say(engine, id="one").rejection is None


# ---- boundaries, event sub-processes, gateways


def test_an_interrupting_boundary_ends_its_host(engine):
    engine.deploy(model(start(), task("work"), boundary("work"), task("after"), "start > work", "boundary > after"))
    engine.start(k="x")
    assert waiting(engine) == [("work", "x")]
    say(engine)
    assert engine.jobs == ["after"]
    assert not waiting(engine)


def test_a_non_interrupting_boundary_fires_each_time(engine):
    engine.deploy(MANY)
    engine.start(k="x")
    for _ in range(3):
        say(engine)
    assert engine.jobs == ["each", "each", "each", "work"]
    engine.complete("work")
    assert not channel(engine).subscriptions


def test_a_non_interrupting_boundary_takes_all_that_is_kept(engine):
    engine.deploy(MANY)
    for number in range(3):
        say(engine, ttl_ms=1000, n=number)
    instance = engine.start(k="x")
    assert engine.jobs == ["each", "each", "each", "work"]
    assert engine.variables_of(instance)["n"] == 2


def test_the_job_that_is_done_first_wins(engine):
    engine.deploy(model(start(), task("work"), boundary("work"), task("after"), "start > work", "boundary > after"))
    instance = engine.start(k="x")
    engine.complete("work")
    say(engine)
    assert engine.state_of(instance) == "COMPLETED"


@pytest.mark.parametrize("interrupting", [True, False])
def test_an_event_sub_process(engine, interrupting):
    engine.deploy(
        model(
            start(),
            task("work"),
            event_sub("aside", task("inner"), "aside-start > inner", interrupting=interrupting),
            "start > work",
        )
    )
    instance = engine.start(k="x")
    say(engine, a=1)
    assert engine.jobs == (["inner"] if interrupting else ["inner", "work"])
    say(engine, a=2)
    assert engine.jobs.count("inner") == (1 if interrupting else 2)
    assert engine.variables_of(instance)["a"] == (1 if interrupting else 2)
    for name in list(engine.jobs):
        engine.complete(name)
    assert engine.state_of(instance) == "COMPLETED"
    assert not channel(engine).subscriptions


def test_a_nested_event_sub_process_waits_inside_an_event_sub_process(engine):
    inner = event_sub("inner", task("deep"), "inner-start > deep", on="message")
    outer = event_sub("outer", task("shallow"), inner, "outer-start > shallow", on="signal")
    engine.deploy(model(start(), task("work"), outer, "start > work"))
    engine.start(k="x")
    engine.run(BroadcastSignal("alarm"))
    assert engine.jobs == ["shallow"]
    say(engine)
    assert engine.jobs == ["deep"]


@pytest.mark.parametrize(("name", "taken"), [("hello", "a"), ("other", "b")])
def test_behind_an_event_based_gateway_the_first_message_wins(engine, name, taken):
    engine.deploy(
        model(
            start(),
            '<eventBasedGateway id="which"/>',
            receive("one"),
            receive("two", "n"),
            task("a"),
            task("b"),
            "start > which > one > a",
            "which > two > b",
            roots=(message(), message("other", id="n")),
        )
    )
    engine.start(k="x")
    assert waiting(engine) == [("which", "x"), ("which", "x")]
    say(engine, name, a=1)
    assert engine.jobs == [taken]
    assert not channel(engine).subscriptions


def test_two_hosts_around_each_other_both_wait_and_the_longer_wait_gets_it(engine):
    inner = sub("inside", start("s2"), task("work"), boundary("work", "near"), task("a"), "s2 > work", "near > a")
    engine.deploy(model(start(), inner, boundary("inside", "far"), task("b"), "start > inside", "far > b"))
    engine.start(k="x")
    say(engine)
    assert engine.jobs == ["b"]


def test_what_waits_on_takes_one_kept_message_after_the_other(engine):
    """It is asked for the next as soon as it has taken one, whether that comes at once or later."""
    engine.deploy(MANY)
    engine.start(k="x")
    for number in range(3):
        say(engine, ttl_ms=1000, n=number)
        assert engine.jobs.count("each") == number + 1
    assert [one.state for one in channel(engine).subscriptions.values()] == ["OPEN"]


def test_what_has_been_closed_before_it_says_that_it_took_a_message_is_no_bug(engine):
    engine.run(AcknowledgeCorrelation(4711, "<default>", Offer("hello", {}, 7, "x")))
    assert engine.memory.processor.notices.poisoned == []


# ---- publishing from a process


@pytest.mark.parametrize(
    "thrower",
    [
        throw("say", "m", inputs(n="=k") + publish()),
        throw("say", "m", inputs(n="=k") + publish(), tag="endEvent"),
        '<sendTask id="say" messageRef="m"><extensionElements>'
        f"{inputs(n='=k')}{publish()}</extensionElements></sendTask>",
    ],
)
def test_a_process_publishes_with_its_local_variables(engine, thrower):
    engine.deploy(WAITS, model(start(), thrower, "start > say", id="q"))
    instance = engine.start(k="x")
    sender = engine.start("q", k="x")
    assert (engine.state_of(instance), engine.state_of(sender)) == ("COMPLETED", "COMPLETED")
    assert engine.variables_of(instance) == {"k": "x", "n": "x"}


def test_what_a_process_publishes_is_kept_for_its_time_and_its_id_is_unique(engine):
    engine.deploy(model(start(), throw("say", "m", publish(ttl="PT1S", id="=i")), "start > say", id="q"), WAITS)
    assert [engine.state_of(engine.start("q", k="x", i="one")) for _ in range(2)] == ["COMPLETED", "COMPLETED"]
    assert [(m.message_id, m.deadline) for m in channel(engine).messages.values()] == [("one", 2_000)]
    assert engine.state_of(engine.start(k="x")) == "COMPLETED"


def test_a_time_to_live_that_is_none_is_an_incident(engine):
    engine.deploy(model(start(), throw("say", "m", publish(ttl="=t")), "start > say"))
    engine.start(k="x", t="soon")
    assert [(element, type_) for element, type_, _ in engine.incidents] == [("say", "EXTRACT_VALUE_ERROR")]


@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
def test_a_thrown_message_with_a_task_definition_is_a_job(engine, tag):
    engine.deploy(model(start(), throw("say", "m", '<zeebe:taskDefinition type="mail"/>', tag), "start > say"))
    instance = engine.start(k="x")
    assert engine.jobs == ["say"]
    engine.complete("say")
    assert engine.state_of(instance) == "COMPLETED"


def test_a_process_can_answer_itself_in_one_command(engine):
    parts = (start(), par("fork"), receive(), throw("say", "m", publish()), "start > fork > receive", "fork > say")
    engine.deploy(model(*parts))
    assert engine.state_of(engine.start(k="x")) == "COMPLETED"


# ---- correlation with an answer


def test_correlating_answers_the_instance_that_got_it(engine):
    engine.deploy(WAITS)
    instance = engine.start(k="x")
    handled = engine.run(CorrelateMessage("hello", "x", raw({"a": 1})))
    assert [type(event).__name__ for event in handled.events] == ["MessagePublished", "MessageCorrelated"]
    row = answers(engine)
    assert row.request == len(engine.memory.log)
    assert row.response.process_instance_key == instance
    assert engine.variables_of(instance)["a"] == 1


def test_correlating_what_nobody_waits_for_is_refused_and_never_kept(engine):
    engine.deploy(WAITS)
    rejection = engine.run(CorrelateMessage("hello", "x")).rejection
    assert rejection.code == RejectionCode.NOT_FOUND
    assert "name 'hello' and correlation key 'x'" in rejection.reason
    assert engine.state_of(engine.start(k="x")) == "ACTIVATED"


def test_correlating_to_a_stale_subscription_is_refused_later(engine):
    engine.deploy(WAITS)
    instance = engine.start(k="x")
    stale = next(iter(channel(engine).subscriptions.values()))
    engine.cancel(instance)
    channel(engine).subscriptions[stale.key] = stale
    stale.state = "OPEN"
    engine.run(CorrelateMessage("hello", "x"))
    row = answers(engine)
    assert (row.request, row.rejection.code) == (len(engine.memory.log), RejectionCode.NOT_FOUND)


def test_deferred_work_keeps_the_order_of_a_channel():
    """With one work item a quantum, everything that can wait does; in the end it is the same."""
    ends = []
    for items in (1, 7, 500):
        engine = Engine(StepLimits(items))
        engine.deploy(MANY)
        for number in range(3):
            say(engine, ttl_ms=1000, n=number)
        instance = engine.start(k="x")
        say(engine, n=3)
        engine.complete("work")
        ends.append((engine.jobs, engine.variables_of(instance), sorted(channel(engine).subscriptions)))
    assert ends[0] == ends[1] == ends[2] == (["each"] * 4, {"k": "x", "n": 3}, [])


def test_two_waits_in_two_branches(engine):
    engine.deploy(
        model(start(), par("fork"), receive("a"), receive("b"), flow("start", "fork"), "fork > a", "fork > b")
    )
    instance = engine.start(k="x")
    say(engine)
    assert waiting(engine) == [("b", "x")]
    say(engine)
    assert engine.state_of(instance) == "COMPLETED"


def test_pools_of_one_file_talk_to_each_other(engine):
    asks = process_element(start("go"), throw("ask", "m", publish()), end("gone"), "go > ask > gone", id="asks")
    hears = process_element(start(), receive(), end(), "start > receive > end", id="hears")
    engine.deploy(file(message(), asks, hears))
    instance = engine.start("hears", k="x")
    engine.start("asks", k="x")
    assert engine.state_of(instance) == "COMPLETED"
