"""Messages: who gets them, once, in which order, and what is kept."""

import pytest

from tests.core.bench import Bench, raw
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


def say(bench, name="hello", key="x", ttl_ms=0, id=None, **variables):
    return bench.run(PublishMessage(name, key, ttl_ms, id, raw(variables)))


def answers(bench):
    """What the last command's request was answered, in whatever row."""
    return [row for logged in bench.engine.log for row in logged.handled if row.answered][-1]


def waiting(bench):
    """(element, correlation key) of each open subscription."""
    return sorted((s.element.element, s.correlation_key) for s in bench.state.subscriptions.values())


def channel(bench, key="x"):
    return bench.state.channels["<default>", key]


# ---- waiting


@pytest.mark.parametrize("waits", [receive("wait"), catch("wait")])
def test_a_message_completes_what_waits_for_it_and_brings_its_variables(bench, waits):
    bench.deploy(model(start(), waits, end(), "start > wait > end"))
    key = bench.start(k="x")
    assert waiting(bench) == [("wait", "x")]
    say(bench, a=1)
    assert bench.state_of(key) == "COMPLETED"
    assert bench.variables_of(key) == {"k": "x", "a": 1}
    assert not channel(bench).subscriptions


def test_with_an_output_mapping_only_what_it_chooses_leaves(bench):
    waits = catch("wait", extensions=outputs(b="=a + 1"))
    bench.deploy(model(start(), waits, end(), "start > wait > end"))
    key = bench.start(k="x")
    say(bench, a=1, c=3)
    assert bench.variables_of(key) == {"k": "x", "b": 2}


@pytest.mark.parametrize(("name", "key"), [("hello", "y"), ("hallo", "x"), ("hello", "")])
def test_another_name_or_key_reaches_nobody(bench, name, key):
    bench.deploy(WAITS)
    instance = bench.start(k="x")
    say(bench, name, key)
    assert bench.state_of(instance) == "ACTIVATED"


def test_another_tenant_reaches_nobody(bench):
    bench.deploy(WAITS)
    instance = bench.start(k="x")
    bench.run(PublishMessage("hello", "x"), tenant="other")
    assert bench.state_of(instance) == "ACTIVATED"


@pytest.mark.parametrize("value", [7, "7"])
def test_a_number_and_its_text_are_one_key(bench, value):
    bench.deploy(WAITS)
    instance = bench.start(k=value)
    say(bench, key="7")
    assert bench.state_of(instance) == "COMPLETED"


@pytest.mark.parametrize(("value", "kind"), [(None, "NULL"), (True, "BOOLEAN"), ([1], "ARRAY"), ({"a": 1}, "OBJECT")])
def test_a_key_that_is_neither_text_nor_number_is_an_incident_that_can_be_resolved(bench, value, kind):
    bench.deploy(WAITS)
    instance = bench.start(k=value)
    text = "Failed to extract the correlation key for 'k': The value must be either a string or a number, but was "
    assert bench.incidents == [("receive", "EXTRACT_VALUE_ERROR", f"{text}'{kind}'.")]
    assert not waiting(bench)
    bench.set(instance, k="x")
    bench.resolve()
    assert waiting(bench) == [("receive", "x")]


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
def test_a_key_that_no_table_can_hold_is_an_incident(bench, thing, bad, said):
    """A text may have NUL inside, as JSON has; a column of text may not."""
    says = throw("say", "m", publish(**({"key": "=bad"} if thing == "correlation key" else {"id": "=bad"})))
    bench.deploy(model(start(), says, end(), "start > say > end"))
    instance = bench.start(k="x", bad=bad)
    assert bench.incidents == [("say", "EXTRACT_VALUE_ERROR", said)]
    bench.set(instance, bad="ab")
    bench.resolve()
    assert bench.state_of(instance) == "COMPLETED"


def test_name_and_key_are_those_of_the_moment_of_waiting(bench):
    model_ = model(start(), catch("wait"), end(), "start > wait > end", roots=(message("=n"),))
    bench.deploy(model_)
    instance = bench.start(k="x", n="first")
    bench.set(instance, k="y", n="second")
    say(bench, "second", "y")
    assert bench.state_of(instance) == "ACTIVATED"
    say(bench, "first", "x")
    assert bench.state_of(instance) == "COMPLETED"


def test_who_is_cancelled_waits_no_longer(bench):
    bench.deploy(WAITS)
    bench.cancel(bench.start(k="x"))
    assert not waiting(bench)
    assert not channel(bench).subscriptions


# ---- who gets it


def test_of_one_process_the_longest_wait_gets_it_and_every_process_once(bench):
    bench.deploy(WAITS, model(start(), receive(), "start > receive", id="q"))
    first, second, other = bench.start(k="x"), bench.start(k="x"), bench.start("q", k="x")
    say(bench)
    assert [bench.state_of(key) for key in (first, second, other)] == ["COMPLETED", "ACTIVATED", "COMPLETED"]
    say(bench)
    assert bench.state_of(second) == "COMPLETED"


def test_versions_of_a_process_are_one_process(bench):
    bench.deploy(WAITS)
    first = bench.start(k="x")
    bench.deploy(model(start(), receive(), "start > receive"))
    second = bench.start(k="x")
    say(bench)
    assert [bench.state_of(key) for key in (first, second)] == ["COMPLETED", "ACTIVATED"]


def test_a_stale_subscription_gives_the_message_to_the_next_one(bench):
    bench.deploy(WAITS)
    first, second = bench.start(k="x"), bench.start(k="x")
    stale = next(iter(channel(bench).subscriptions.values()))
    bench.cancel(first)
    bench.run(OpenSubscription(stale.key, "<default>", "hello", "x", "p", True))
    assert stale.key not in channel(bench).subscriptions, "what waits no longer does not come back"
    channel(bench).subscriptions = {stale.key: stale} | channel(bench).subscriptions
    stale.state = "OPEN"
    say(bench, ttl_ms=1000)
    assert bench.state_of(second) == "COMPLETED"
    assert not channel(bench).subscriptions
    assert [m.given for m in channel(bench).messages.values()] == [("p",)]


def test_closing_what_is_not_open_does_nothing(bench):
    assert bench.run(CloseSubscription(5, "<default>", "x")).events == []


def test_signals_for_nobody_do_nothing(bench):
    assert bench.run(TriggerSubscription(5, Offer("alarm"))).events == []


# ---- kept messages


def test_a_message_that_is_to_be_erased_goes_to_nobody(bench):
    bench.deploy(WAITS)
    say(bench, ttl_ms=1000)
    (stored,) = channel(bench).messages.values()
    expired = bench.run(ExpireMessage(stored.key, "<default>", "x"))
    assert [type(event) for event in expired.events] == [MessageExpired]
    assert bench.run(ExpireMessage(stored.key, "<default>", "x")).events == [], "once"
    assert bench.run(ExpireMessage(5, "<default>", "x")).events == [], "there is no such message"
    assert bench.state_of(bench.start(k="x")) == "ACTIVATED"


def test_without_a_time_to_live_it_is_gone_at_once(bench):
    bench.deploy(WAITS)
    say(bench)
    instance = bench.start(k="x")
    assert bench.state_of(instance) == "ACTIVATED"


def test_kept_messages_come_first_in_first_out(bench):
    bench.deploy(model(start(), receive("a"), receive("b"), end(), "start > a > b > end"))
    say(bench, ttl_ms=1000, n=1)
    say(bench, ttl_ms=1000, n=2)
    first = bench.start(k="x")
    assert bench.variables_of(first)["n"] == 2, "both were given, the first one first"
    events = [event for logged in bench.engine.log for row in logged.handled for event in row.events]
    received = [event.message for event in events if isinstance(event, MessageReceived)]
    assert received == sorted(channel(bench).messages)


def test_a_process_gets_a_kept_message_once_however_many_wait(bench):
    bench.deploy(WAITS)
    say(bench, ttl_ms=1000)
    first, second = bench.start(k="x"), bench.start(k="x")
    assert [bench.state_of(key) for key in (first, second)] == ["COMPLETED", "ACTIVATED"]


@pytest.mark.parametrize(("after_ms", "state"), [(999, "COMPLETED"), (1000, "ACTIVATED")])
def test_an_expired_message_is_not_given_even_if_it_is_still_there(bench, after_ms, state):
    bench.deploy(WAITS)
    say(bench, ttl_ms=1000)
    bench.engine.now += after_ms
    assert bench.state_of(bench.start(k="x")) == state


def test_an_id_is_unique_among_what_is_kept(bench):
    assert say(bench, ttl_ms=1000, id="one").rejection is None
    rejection = say(bench, id="one").rejection
    assert rejection.code == RejectionCode.ALREADY_EXISTS
    expected = "Expected to publish a new message with id 'one', but a message with that id was already published"
    assert rejection.reason == expected
    assert say(bench, key="y", id="one").rejection is None, "of another key"
    assert say(bench, "hallo", id="one").rejection is None, "of another name"
    bench.engine.now += 1000
    assert say(bench, ttl_ms=1, id="one").rejection is None


def test_an_id_without_a_time_to_live_can_be_used_again(bench):
    say(bench, id="one")
    assert say(bench, id="one").rejection is None


# ---- boundaries, event sub-processes, gateways


def test_an_interrupting_boundary_ends_its_host(bench):
    bench.deploy(model(start(), task("work"), boundary("work"), task("after"), "start > work", "boundary > after"))
    bench.start(k="x")
    assert waiting(bench) == [("work", "x")]
    say(bench)
    assert bench.jobs == ["after"]
    assert not waiting(bench)


def test_a_non_interrupting_boundary_fires_each_time(bench):
    bench.deploy(MANY)
    bench.start(k="x")
    for _ in range(3):
        say(bench)
    assert bench.jobs == ["each", "each", "each", "work"]
    bench.complete("work")
    assert not channel(bench).subscriptions


def test_a_non_interrupting_boundary_takes_all_that_is_kept(bench):
    bench.deploy(MANY)
    for number in range(3):
        say(bench, ttl_ms=1000, n=number)
    instance = bench.start(k="x")
    assert bench.jobs == ["each", "each", "each", "work"]
    assert bench.variables_of(instance)["n"] == 2


def test_the_job_that_is_done_first_wins(bench):
    bench.deploy(model(start(), task("work"), boundary("work"), task("after"), "start > work", "boundary > after"))
    instance = bench.start(k="x")
    bench.complete("work")
    say(bench)
    assert bench.state_of(instance) == "COMPLETED"


@pytest.mark.parametrize("interrupting", [True, False])
def test_an_event_sub_process(bench, interrupting):
    bench.deploy(
        model(
            start(),
            task("work"),
            event_sub("aside", task("inner"), "aside-start > inner", interrupting=interrupting),
            "start > work",
        )
    )
    instance = bench.start(k="x")
    say(bench, a=1)
    assert bench.jobs == (["inner"] if interrupting else ["inner", "work"])
    say(bench, a=2)
    assert bench.jobs.count("inner") == (1 if interrupting else 2)
    assert bench.variables_of(instance)["a"] == (1 if interrupting else 2)
    for name in list(bench.jobs):
        bench.complete(name)
    assert bench.state_of(instance) == "COMPLETED"
    assert not channel(bench).subscriptions


def test_a_nested_event_sub_process_waits_inside_an_event_sub_process(bench):
    inner = event_sub("inner", task("deep"), "inner-start > deep", on="message")
    outer = event_sub("outer", task("shallow"), inner, "outer-start > shallow", on="signal")
    bench.deploy(model(start(), task("work"), outer, "start > work"))
    bench.start(k="x")
    bench.run(BroadcastSignal("alarm"))
    assert bench.jobs == ["shallow"]
    say(bench)
    assert bench.jobs == ["deep"]


@pytest.mark.parametrize(("name", "taken"), [("hello", "a"), ("other", "b")])
def test_behind_an_event_based_gateway_the_first_message_wins(bench, name, taken):
    bench.deploy(
        model(
            start(),
            '<eventBasedGateway id="which"/>',
            catch("one"),
            receive("two", "n"),
            task("a"),
            task("b"),
            "start > which > one > a",
            "which > two > b",
            roots=(message(), message("other", id="n")),
        )
    )
    bench.start(k="x")
    assert waiting(bench) == [("which", "x"), ("which", "x")]
    say(bench, name, a=1)
    assert bench.jobs == [taken]
    assert not channel(bench).subscriptions


def test_two_hosts_around_each_other_both_wait_and_the_longer_wait_gets_it(bench):
    inner = sub("inside", start("s2"), task("work"), boundary("work", "near"), task("a"), "s2 > work", "near > a")
    bench.deploy(model(start(), inner, boundary("inside", "far"), task("b"), "start > inside", "far > b"))
    bench.start(k="x")
    say(bench)
    assert bench.jobs == ["b"]


def test_what_waits_on_takes_one_kept_message_after_the_other(bench):
    """It is asked for the next as soon as it has taken one, whether that comes at once or later."""
    bench.deploy(MANY)
    bench.start(k="x")
    for number in range(3):
        say(bench, ttl_ms=1000, n=number)
        assert bench.jobs.count("each") == number + 1
    assert [one.state for one in channel(bench).subscriptions.values()] == ["OPEN"]


def test_what_has_been_closed_before_it_says_that_it_took_a_message_is_no_bug(bench):
    bench.run(AcknowledgeCorrelation(4711, "<default>", Offer("hello", {}, 7, "x")))
    assert bench.engine.processor.notices.poisoned == []


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
def test_a_process_publishes_with_its_local_variables(bench, thrower):
    bench.deploy(WAITS, model(start(), thrower, "start > say", id="q"))
    instance = bench.start(k="x")
    sender = bench.start("q", k="x")
    assert (bench.state_of(instance), bench.state_of(sender)) == ("COMPLETED", "COMPLETED")
    assert bench.variables_of(instance) == {"k": "x", "n": "x"}


def test_what_a_process_publishes_is_kept_for_its_time_and_its_id_is_unique(bench):
    bench.deploy(model(start(), throw("say", "m", publish(ttl="PT1S", id="=i")), "start > say", id="q"), WAITS)
    assert [bench.state_of(bench.start("q", k="x", i="one")) for _ in range(2)] == ["COMPLETED", "COMPLETED"]
    assert [(m.message_id, m.deadline) for m in channel(bench).messages.values()] == [("one", 2_000)]
    assert bench.state_of(bench.start(k="x")) == "COMPLETED"


def test_a_time_to_live_that_is_none_is_an_incident(bench):
    bench.deploy(model(start(), throw("say", "m", publish(ttl="=t")), "start > say"))
    bench.start(k="x", t="soon")
    assert [(element, type_) for element, type_, _ in bench.incidents] == [("say", "EXTRACT_VALUE_ERROR")]


@pytest.mark.parametrize("tag", ["intermediateThrowEvent", "endEvent"])
def test_a_thrown_message_with_a_task_definition_is_a_job(bench, tag):
    bench.deploy(model(start(), throw("say", "m", '<zeebe:taskDefinition type="mail"/>', tag), "start > say"))
    instance = bench.start(k="x")
    assert bench.jobs == ["say"]
    bench.complete("say")
    assert bench.state_of(instance) == "COMPLETED"


def test_a_process_can_answer_itself_in_one_command(bench):
    parts = (start(), par("fork"), receive(), throw("say", "m", publish()), "start > fork > receive", "fork > say")
    bench.deploy(model(*parts))
    assert bench.state_of(bench.start(k="x")) == "COMPLETED"


# ---- correlation with an answer


def test_correlating_answers_the_instance_that_got_it(bench):
    bench.deploy(WAITS)
    instance = bench.start(k="x")
    handled = bench.run(CorrelateMessage("hello", "x", raw({"a": 1})))
    assert [type(event).__name__ for event in handled.events] == ["MessagePublished", "MessageCorrelated"]
    row = answers(bench)
    assert row.request == len(bench.engine.log)
    assert row.response.process_instance_key == instance
    assert bench.variables_of(instance)["a"] == 1


def test_correlating_what_nobody_waits_for_is_refused_and_never_kept(bench):
    bench.deploy(WAITS)
    rejection = bench.run(CorrelateMessage("hello", "x")).rejection
    assert rejection.code == RejectionCode.NOT_FOUND
    assert "name 'hello' and correlation key 'x'" in rejection.reason
    assert bench.state_of(bench.start(k="x")) == "ACTIVATED"


def test_correlating_to_a_stale_subscription_is_refused_later(bench):
    bench.deploy(WAITS)
    instance = bench.start(k="x")
    stale = next(iter(channel(bench).subscriptions.values()))
    bench.cancel(instance)
    channel(bench).subscriptions[stale.key] = stale
    stale.state = "OPEN"
    bench.run(CorrelateMessage("hello", "x"))
    row = answers(bench)
    assert (row.request, row.rejection.code) == (len(bench.engine.log), RejectionCode.NOT_FOUND)


def test_deferred_work_keeps_the_order_of_a_channel():
    """With one work item a quantum, everything that can wait does; in the end it is the same."""
    ends = []
    for items in (1, 7, 500):
        bench = Bench(StepLimits(items))
        bench.deploy(MANY)
        for number in range(3):
            say(bench, ttl_ms=1000, n=number)
        instance = bench.start(k="x")
        say(bench, n=3)
        bench.complete("work")
        ends.append((bench.jobs, bench.variables_of(instance), sorted(channel(bench).subscriptions)))
    assert ends[0] == ends[1] == ends[2] == (["each"] * 4, {"k": "x", "n": 3}, [])


def test_two_waits_in_two_branches(bench):
    bench.deploy(model(start(), par("fork"), receive("a"), receive("b"), flow("start", "fork"), "fork > a", "fork > b"))
    instance = bench.start(k="x")
    say(bench)
    assert waiting(bench) == [("b", "x")]
    say(bench)
    assert bench.state_of(instance) == "COMPLETED"


def test_pools_of_one_file_talk_to_each_other(bench):
    asks = process_element(start("go"), throw("ask", "m", publish()), end("gone"), "go > ask > gone", id="asks")
    hears = process_element(start(), receive(), end(), "start > receive > end", id="hears")
    bench.deploy(file(message(), asks, hears))
    instance = bench.start("hears", k="x")
    bench.start("asks", k="x")
    assert bench.state_of(instance) == "COMPLETED"
