"""The test kit: what its expectations accept and refuse, mocks, several instances, coverage."""

from datetime import timedelta

import pytest

from tests.core.dmn.models import decision, definitions, inputs, literal
from tests.core.event_models import ad_hoc, boundary, call, catch, model, throw
from tests.core.golden.recording import ROOTS
from tests.core.models import end, flow, start, task, xor
from tests.core.task_listener_models import user_task
from vivero.library import Rejected
from vivero.testing import BpmnError, JobFailure, Processes
from vivero.testing.coverage import Coverage, ProcessCoverage, from_json, to_json
from vivero.testing.processes import BEGIN

PERSON = '<userTask id="person"><extensionElements><zeebe:userTask/></extensionElements></userTask>'
HELLO = '<messageEventDefinition messageRef="hello"/>'
HOUR = "<timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>"
ERROR = '<errorEventDefinition errorRef="error-A"/>'


@pytest.fixture
def coverage():
    return Coverage()


@pytest.fixture
def made(tmp_path, coverage):
    """Processes with a file of one process `p`."""

    def make(*content):
        (tmp_path / "p.bpmn").write_bytes(model(*content, beside=(ROOTS,)))
        return Processes([tmp_path], coverage).use("p.bpmn")

    return make


@pytest.fixture
def one(made):
    """An instance that waits at `work`."""
    return made(start(), task("work", type="do"), end(), "start > work > end").start("p", {"a": 1})


def test_a_job_is_named_by_its_element_or_its_type(made):
    processes = made(start(), task("work", type="do"), end(), "start > work > end")
    for name in ("work", "do"):
        processes.start(variables={"a": 1}).complete(name, {"b": 2}).expect_completed().expect_variables({"a": 1}, b=2)


@pytest.mark.parametrize(
    ("expectation", "says"),
    [
        (lambda run: run.expect_active("end"), "'end' is not active."),
        (lambda run: run.expect_not_active("work"), "'work' is active."),
        (lambda run: run.expect_completed(), "The instance has not completed."),
        (lambda run: run.expect_completed("start", "work"), "'work' has not completed."),
        (lambda run: run.expect_path("start", "work"), "'work' has not completed at its place in start > work."),
        (lambda run: run.expect_not_entered("work"), "'work' was entered."),
        (lambda run: run.expect_terminated(), "The instance was not terminated."),
        (lambda run: run.expect_variables(b=1), "There is no variable 'b'."),
        (lambda run: run.expect_variables(a=[1]), "The variable 'a' is 1, not [1]."),
        (lambda run: run.expect_incident("work"), "There is no incident at 'work'."),
        (lambda run: run.complete("other"), "There is no job of 'other' to work on."),
        (lambda run: run.complete_user_task("work"), "There is no user task 'work'."),
        (lambda run: run.resolve("work"), "There is no incident at 'work'."),
    ],
)
def test_a_failure_says_what_the_instance_does(one, expectation, says):
    with pytest.raises(AssertionError) as failure:
        expectation(one)
    first, *others = str(failure.value).splitlines()
    assert first == says
    assert "  at 'work' for a job of type 'do'" in others
    assert "It has completed: start." in others
    assert "  a = 1" in others


@pytest.mark.parametrize(
    ("step", "says"),
    [
        (lambda run: run.expect_active("worc"), "The models have no element 'worc'. Did you mean 'work'?"),
        (lambda run: run.expect_not_active("worc"), "The models have no element 'worc'. Did you mean 'work'?"),
        (lambda run: run.expect_completed("Start"), "The models have no element 'Start'. Did you mean 'start'?"),
        (lambda run: run.expect_path("start", "qqq"), "The models have no element 'qqq'."),
        (lambda run: run.expect_not_entered("ennd"), "The models have no element 'ennd'. Did you mean 'end'?"),
        (lambda run: run.expect_incident("worc"), "The models have no element 'worc'. Did you mean 'work'?"),
        (lambda run: run.resolve("worc"), "The models have no element 'worc'. Did you mean 'work'?"),
        (lambda run: run.activate("work", "ennd"), "The models have no element 'ennd'. Did you mean 'end'?"),
        (lambda run: run.complete_user_task("worc"), "The models have no element 'worc'. Did you mean 'work'?"),
        (lambda run: run.complete("worc"), "There is no job of 'worc' to work on. Did you mean 'work'?"),
    ],
)
def test_a_name_that_the_models_do_not_have_fails_with_a_proposal(one, step, says):
    with pytest.raises(AssertionError) as failure:
        step(one)
    assert str(failure.value).splitlines()[0] == says


def test_expectations_that_hold(one):
    one.expect_active("work", "p").expect_not_active("end").expect_completed("start").expect_no_incidents()
    one.fail("work", "boom", retries=0).expect_incident("work", "boom").expect_incident("work", "JOB_NO_RETRIES")
    with pytest.raises(AssertionError, match="There are incidents"):
        one.expect_no_incidents()
    with pytest.raises(AssertionError, match="No incident at 'work' contains 'bang'"):
        one.expect_incident("work", "bang")
    one.cancel().expect_terminated()


def test_a_rejected_action_fails_the_test(one):
    one.cancel()
    with pytest.raises(AssertionError, match="has ended: it is TERMINATED"):
        one.set_variables({"x": 1})


def test_the_description_names_all_waits(made):
    run = made(
        *(start(), task("t"), PERSON, catch("later", HOUR), catch("told", HELLO)),
        *("start > t", "start > person", "start > later", "start > told"),
    ).start()
    run.fail("t", "busy", minutes=5)
    text = run.describe()
    for line in (
        "at 't' for a job of type 't', until 2026-01-01 00:05:00, after it failed: busy",
        "at 'person' for a user task",
        "at 'later' for a timer, due in 1:00:00",
        "at 'told' for a message 'hello' with correlation key 'x'",
    ):
        assert f"  {line}\n" in text


# ---- time


def test_time_passes_from_timer_to_timer_and_mocks_answer_in_between(made):
    processes = made(start(), catch("a", HOUR), task("t"), catch("b", HOUR), end(), "start > a > t > b > end")
    processes.mock_job("t")
    run = processes.start().advance(hours=2).expect_completed()
    assert run.now == BEGIN + timedelta(hours=2)


def test_a_job_comes_again_after_its_backoff(one):
    one.fail("work", "busy", hours=1)
    with pytest.raises(AssertionError, match="There is no job of 'work' to work on"):
        one.complete("work")
    one.advance(timedelta(hours=1)).complete("work").expect_completed()


# ---- mocks


def test_a_mocked_job_gets_the_visible_variables(made):
    processes = made(start(), task("t", inputs=[("=a + 1", "b")]), end(), "start > t > end")
    run = processes.mock_job("t", lambda seen: {"c": seen["a"] + seen["b"]}).start(variables={"a": 1})
    run.expect_completed().expect_variables(c=3)


def test_a_mock_throws_errors_and_fails(made):
    processes = made(start(), task("t"), boundary("b", "t", ERROR), end(), "start > t", "b > end")

    def raises(error):
        def answer(_seen):
            raise error

        return answer

    processes.mock_job("t", raises(BpmnError("A"))).start().expect_completed("b")
    processes.mock_job("t", raises(JobFailure("boom", 0))).start().expect_incident("t", "boom")


def test_a_mocked_user_task_waits_for_its_listeners(made):
    """The mock completes the task after its creation; what a listener denies, it does not try again."""
    listeners = ("creating prepare", "completing check")
    processes = made(start(), user_task("person", *listeners), end(), "start > person > end")
    run = processes.mock_user_task("person", {"y": 1}).start("p")
    run.complete("prepare")
    run.deny("check", "no")
    assert [one.state for one in run.instance.user_tasks] == ["CREATED"]
    run.complete_user_task("person", {"y": 2}).complete("check")
    assert (run.instance.state, run.instance.variables) == ("COMPLETED", {"y": 2})


def test_messages_timers_and_user_tasks_are_mocked(made):
    processes = made(
        start(), catch("told", HELLO), catch("later", HOUR), PERSON, end(), "start > told > later > person > end"
    )
    processes.mock_message("hello", {"x": 1}).mock_timer("later").mock_user_task(
        "person", lambda seen: {"y": seen["x"] + 1}
    )
    run = processes.start().expect_completed().expect_variables(x=1, y=2)
    assert run.now == BEGIN + timedelta(hours=1)


def test_a_called_process_is_mocked(made):
    processes = made(start(), call("c", "q"), end(), "start > c > end")
    processes.start().expect_incident("c", "CALLED_ELEMENT_ERROR")
    processes.mock_process("q", lambda seen: {"b": seen["a"] * 2})
    processes.start("p", {"a": 4}).expect_completed("c").expect_variables(b=8)


@pytest.mark.long
def test_mocks_that_go_round_end_with_an_error(made):
    processes = made(start(), xor("g"), task("t"), "start > g > t > g")
    with pytest.raises(AssertionError, match="answered 1000 times in a row"):
        processes.mock_job("t").start()


# ---- several instances


def test_what_an_instance_throws_reaches_the_others(made):
    publish = '<zeebe:publishMessage correlationKey="=k"/>'
    thrown = throw("say", HELLO).replace(">", f"><extensionElements>{publish}</extensionElements>", 1)
    processes = made(
        *(start(), catch("wait", HELLO), end(), f'<startEvent id="other">{HELLO}</startEvent>', thrown),
        *("start > wait > end", "other > say"),
    )
    waiting, another = processes.start(), processes.start()
    processes.start(at="other", variables={"k": "y"}).expect_completed()
    waiting.expect_active("wait")
    processes.start(at="other", variables={"k": "x"}).expect_completed()
    waiting.expect_completed()
    another.expect_completed()
    assert waiting.instance.key != another.instance.key


def started(event):
    return f'<startEvent id="begun">{event}</startEvent>'


def test_a_message_starts_a_process_once_for_each_key(made):
    processes = made(started(HELLO), task("work", type="do"), end(), "begun > work > end")
    [first] = processes.publish("hello", "k", {"a": 1})
    first.expect_active("work").expect_variables(a=1)
    assert processes.publish("hello", "k") == []
    assert processes.publish("other", "k") == []
    assert len(processes.publish("hello", "l")) == 1
    assert len(processes.publish("hello")) == len(processes.publish("hello")) == 1
    first.complete("work")
    [after] = processes.publish("hello", "k")
    assert after.instance.key != first.instance.key


def test_a_message_that_an_instance_takes_starts_no_other_one_of_its_process(made):
    flows = ("start > wait > end", "begun > end")
    processes = made(start(), catch("wait", HELLO), end(), started(HELLO), *flows)
    waiting = processes.start()
    assert processes.publish("hello", "x") == []
    waiting.expect_completed("wait")


def test_a_signal_and_a_thrown_one_start_processes(made):
    bang, flows = '<signalEventDefinition signalRef="alarm"/>', ("begun > work > end", "start > say > end")
    processes = made(started(bang), start(), throw("say", bang), task("work", type="do"), end(), *flows)
    [heard] = processes.broadcast("alarm", {"a": 1})
    heard.expect_active("work").expect_variables(a=1)
    processes.mock_job("do").start("p").expect_completed()
    heard.expect_completed()


def test_processes_that_start_each_other_for_ever_fail_the_test(made, monkeypatch):
    monkeypatch.setattr("vivero.testing.processes.MOST_DELIVERED", 20)
    bang = '<signalEventDefinition signalRef="alarm"/>'
    processes = made(started(bang), throw("say", bang), end(), "begun > say > end")
    with pytest.raises(AssertionError, match="The instances have thrown 20 messages and signals"):
        processes.broadcast("alarm")


@pytest.mark.parametrize(
    ("timer", "starts"),
    [
        ("<timeCycle>R3/PT1H</timeCycle>", [1, 2, 3]),
        ("<timeCycle>0 0 */2 * * *</timeCycle>", [2, 4]),
        ("<timeDate>2026-01-01T03:30:00Z</timeDate>", [3.5]),
        ("<timeDate>2025-01-01T00:00:00Z</timeDate>", [0]),
    ],
)
def test_timers_start_processes_at_their_due_dates(made, timer, starts):
    event = f"<timerEventDefinition>{timer}</timerEventDefinition>"
    processes = made(started(event), catch("later", HOUR), end(), "begun > later > end")
    runs = [*processes.advance(hours=2), *processes.advance(hours=3)]
    assert len(runs) == len(starts)
    for run, hours in zip(runs, starts, strict=True):
        ended = hours + 1 <= 5
        assert bool(run.instance.ended) == ended
        if not ended:
            assert run.instance.next_due == BEGIN + timedelta(hours=hours + 1)


def test_a_newer_version_takes_the_start_events_over(made, tmp_path):
    event = "<timerEventDefinition><timeCycle>R/PT1H</timeCycle></timerEventDefinition>"
    processes = made(started(event), task("old", type="do"), end(), "begun > old > end")
    (tmp_path / "p2.bpmn").write_bytes(model(started(event), task("new", type="do"), end(), "begun > new > end"))
    [first] = processes.advance(minutes=90)
    [second] = processes.use("p2.bpmn").advance(minutes=90)
    first.expect_active("old")
    second.expect_active("new")


def test_timers_start_a_bounded_number_of_instances(made, monkeypatch):
    monkeypatch.setattr("vivero.testing.processes.MOST_STARTED", 5)
    event = "<timerEventDefinition><timeCycle>R/PT1S</timeCycle></timerEventDefinition>"
    processes = made(started(event), end(), "begun > end")
    assert len(processes.advance(seconds=5)) == 5
    with pytest.raises(AssertionError, match="Timers have started 5 instances until 2026-01-01 00:00:11"):
        processes.advance(days=365)


def test_all_instances_share_the_clock(made):
    processes = made(start(), catch("later", HOUR), end(), "start > later > end")
    first = processes.start()
    processes.advance(minutes=30)
    second = processes.start()
    processes.advance(minutes=30)
    first.expect_completed()
    second.expect_active("later")


def test_the_process_must_be_there(made):
    with pytest.raises(Rejected, match=r"There is no process 'q'. The models have: p"):
        made(start(), end(), "start > end").start("q")
    with pytest.raises(FileNotFoundError, match=r"There is no file nowhere.bpmn in "):
        made(start(), end(), "start > end").use("nowhere.bpmn")


# ---- coverage


def test_coverage_counts_elements_and_flows(made, coverage):
    processes = made(start(), task("a"), task("b"), end(), "start > a > b > end")
    processes.start().complete("a")
    assert list(coverage.lines()) == [
        "p (p.bpmn): 71 % (3 of 4 elements, 2 of 3 flows)",
        "  elements never reached: end",
        "  flows never taken: b-end",
    ]
    assert coverage.lowest == 71
    processes.start().complete("a").complete("b")
    assert list(coverage.lines()) == ["p (p.bpmn): 100 % (4 of 4 elements, 3 of 3 flows)"]


def test_coverage_leaves_mocks_out(made, coverage):
    made(start(), call("c", "q"), end(), "start > c > end").mock_process("q").start("p").expect_completed()
    assert list(coverage.lines()) == ["p (p.bpmn): 100 % (3 of 3 elements, 2 of 2 flows)"]


def test_the_coverage_of_workers_is_added_up():
    def of(a, b):
        return Coverage({("p", "f"): ProcessCoverage("f", {"a": a, "b": b}, {"x": a}, {"b": "x"})})

    total = of(True, False)
    total.merge(from_json(to_json(of(False, True))))
    total.merge(Coverage({("q", "g"): ProcessCoverage("g", {"c": False})}))
    assert total.processes["p", "f"] == of(True, True).processes["p", "f"]
    assert total.lowest == 0
    assert Coverage().lowest == 100


def test_an_ad_hoc_sub_process_is_decided_and_activated(made):
    tools = ad_hoc("tools", task("a"), task("b"), job="agent", output="=x", into="xs")
    run = made(start(), tools, end(), "start > tools > end").start()
    run.decide("agent", "a", variables={"plan": 1}).activate("tools", "b", {"x": 0}).expect_active("a", "b")
    run.complete("a", {"x": 1}).complete("b", {"x": 2}).decide("tools", fulfilled=True)
    run.expect_completed().expect_variables({"plan": 1, "xs": [1, 2]})
    with pytest.raises(AssertionError, match="There is no ad-hoc sub-process 'tools'"):
        run.activate("tools", "a")


def test_a_business_rule_task_uses_the_decision_beside_it(made, tmp_path):
    called = '<zeebe:calledDecision decisionId="rate" resultVariable="rate"/>'
    rule = f'<businessRuleTask id="rule"><extensionElements>{called}</extensionElements></businessRuleTask>'
    processes = made(start(), rule, end(), "start > rule > end")
    (tmp_path / "rate.dmn").write_bytes(definitions(inputs("a") + decision("rate", literal("a * 2"), inputs=["a"])))
    processes.use("rate.dmn").start("p", {"a": 21}).expect_completed().expect_variables(a=21, rate=42)


def test_instances_see_the_cluster_variables_of_the_test_from_the_next_step_on(made):
    ways = (flow("x", "large", "=total > camunda.vars.env.limit", "x-large"), flow("x", "small", id="x-small"))
    tasks = (task("first"), task("small"), task("large"))
    processes = made(start(), xor("x", default="x-small"), *tasks, *ways, "start > first > x")
    processes.set_cluster_variable("limit", 10)
    run = processes.start(variables={"total": 15})
    processes.set_cluster_variable("limit", 20, of_tenant=True)
    other = processes.start(variables={"total": 21})
    run.complete("first").expect_active("small")
    other.complete("first").expect_active("large")
