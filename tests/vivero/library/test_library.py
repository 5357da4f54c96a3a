"""The library: functions from a snapshot to a snapshot, without a database."""

import json
import re
import subprocess
import sys
import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.core.event_models import boundary, call, catch, loop, model, on, throw
from tests.core.models import end, flow, start, task, xor
from tests.core.task_listener_models import user_task
from tests.vivero.library.library_models import ALARM, HELLO, HOUR, NOON, ONE_TASK, models, timer
from vivero.library import (
    InvalidModel,
    InvalidSnapshot,
    MissingModel,
    Models,
    Rejected,
    TooMuchWork,
    advance,
    assign,
    broadcast,
    cancel,
    complete,
    complete_user_task,
    deny,
    fail,
    machine,
    publish,
    read,
    resolve,
    set_variables,
    throw_error,
)
from vivero.library import (
    start as begin,
)

ROOT = Path(__file__).parents[3]
PERSON = '<userTask id="person"><extensionElements><zeebe:userTask/></extensionElements></userTask>'


def key(result):
    """The key of the only open job."""
    (job,) = result.instance.jobs
    return job.key


def test_a_form_is_used_like_a_model():
    person = PERSON.replace("</ext", '<zeebe:formDefinition formId="ask"/></ext')
    model_only = models(start(), person, end(), "start > person > end")
    assert [incident.type for incident in begin(model_only, {}, now=NOON).happened.incidents] == ["FORM_NOT_FOUND"]
    both = Models(model_only.files | {"ask.form": b'{"id": "ask", "components": []}'})
    result = begin(both, {}, now=NOON)
    assert (result.happened.incidents, len(result.instance.user_tasks)) == ((), 1)
    assert read(result.snapshot).user_tasks == result.instance.user_tasks


def test_an_instance_from_start_to_end():
    result = begin(ONE_TASK, {"a": 1}, now=NOON)
    (job,) = result.happened.jobs
    assert (job.type, job.element, job.retries, job.variables, job.available) == (
        "work",
        "work",
        3,
        {"a": 1, "b": 2},
        True,
    )
    assert (result.version, result.instance.state, result.instance.at) == (1, "ACTIVE", NOON)
    assert [element.id for element in result.instance.elements] == ["p", "work"]
    result = complete(ONE_TASK, result.snapshot, job.key, {"r": 3}, now=NOON + HOUR)
    assert (result.version, result.instance.state, result.instance.variables) == (2, "COMPLETED", {"a": 1, "c": 3})
    assert (result.instance.at, result.instance.elements, result.happened.ended) == (NOON + HOUR, (), True)
    assert result.happened.completed == ("work", "end", "p")
    assert {("p", "work-end"), ("p", "end")} <= result.happened.reached
    assert read(result.snapshot) == result.instance


def test_the_same_arguments_give_the_same_document():
    def run():
        result = begin(ONE_TASK, {"a": 1}, now=NOON)
        return result.snapshot, complete(ONE_TASK, result.snapshot, key(result), {"r": 3}).snapshot

    assert run() == run()


def test_importing_it_needs_neither_trio_nor_a_database():
    code = "import sys, vivero.library; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(done.stdout.split())
    assert {"vivero", "msgspec", "lxml"} <= imported
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    dependencies = {re.split(r"[\[=>]", name)[0].replace("-", "_") for name in project["dependencies"]}
    assert len(dependencies) > 10
    assert imported & dependencies <= {"msgspec", "lxml", "regex", "tzdata"}


def test_an_ended_instance_rejects_everything():
    done = begin(models(start(), end(), "start > end"), {"x": 1}, now=NOON, business_id="b")
    assert (done.instance.state, done.instance.variables, done.instance.business_id) == ("COMPLETED", {"x": 1}, "b")
    with pytest.raises(Rejected, match="has ended: it is COMPLETED") as rejected:
        cancel(ONE_TASK, done.snapshot)
    assert rejected.value.code == "INVALID_STATE"


def test_a_rejection_is_what_the_server_says():
    result = begin(ONE_TASK, {"a": 1}, now=NOON)
    with pytest.raises(Rejected, match="Expected to complete job with key '7', but no such job was found") as rejected:
        complete(ONE_TASK, result.snapshot, 7)
    assert rejected.value.code == "NOT_FOUND"


def test_variables_that_the_database_reordered():
    """`jsonb` keeps neither the order of names nor the blanks."""
    result = begin(ONE_TASK, {"a": 1, "order": {"items": [1.5, None, "ü"]}}, now=NOON)
    turned = json.dumps(turn_around(json.loads(result.snapshot)), indent=1)
    again = complete(ONE_TASK, turned, key(result), {"r": 3})
    assert json.loads(again.snapshot) == json.loads(complete(ONE_TASK, result.snapshot, key(result), {"r": 3}).snapshot)


def test_a_number_that_is_too_large_for_a_double_is_infinite():
    """FEEL has larger numbers, and so does the snapshot."""
    script = '<zeebe:script expression="=10 ** 400" resultVariable="r"/>'
    large = f'<scriptTask id="large"><extensionElements>{script}</extensionElements></scriptTask>'
    files = models(start(), large, task("t"), "start > large > t")
    result = begin(files, now=NOON)
    assert result.instance.variables["r"] == float("inf")
    assert complete(files, result.snapshot, key(result), now=NOON).instance.state == "COMPLETED"


@pytest.mark.parametrize("value", [float("inf"), {"a": [1, -float("inf")]}, (None, float("nan"))])
def test_a_number_that_json_does_not_have_is_refused(value):
    """The encoder writes null for it."""
    begun = begin(ONE_TASK, {"none": None, "text": "null"}, now=NOON)
    with pytest.raises(TypeError, match="JSON has no infinite number and no NaN, and the variable 'a' has one"):
        complete(ONE_TASK, begun.snapshot, key(begun), {"a": value})
    with pytest.raises(TypeError, match="the variable 'a' has one"):
        begin(ONE_TASK, {"a": value}, now=NOON)


def turn_around(value):
    if isinstance(value, dict):
        return {name: turn_around(value[name]) for name in sorted(value, reverse=True)}
    return [turn_around(one) for one in value] if isinstance(value, list) else value


# ---- jobs


def test_a_failed_job_waits_and_comes_again():
    result = begin(ONE_TASK, {"a": 1}, now=NOON)
    result = fail(ONE_TASK, result.snapshot, key(result), "busy", retry_after=HOUR)
    (job,) = result.instance.jobs
    assert (job.retries, job.available, job.retry_at, job.error_message) == (2, False, NOON + HOUR, "busy")
    assert result.instance.next_due == NOON + HOUR
    assert result.instance.available_jobs == ()
    result = advance(ONE_TASK, result.snapshot, NOON + HOUR)
    assert result.instance.available_jobs == result.instance.jobs
    assert result.instance.next_due is None


def test_without_retries_there_is_an_incident_and_resolving_it_tries_again():
    result = begin(ONE_TASK, {"a": 1}, now=NOON)
    result = fail(ONE_TASK, result.snapshot, key(result), "boom", retries=0)
    (incident,) = result.happened.incidents
    assert (incident.type, incident.message, incident.element) == ("JOB_NO_RETRIES", "boom", "work")
    assert result.instance.available_jobs == ()
    result = resolve(ONE_TASK, result.snapshot, incident.key)
    assert [job.retries for job in result.instance.available_jobs] == [1]


def test_a_failing_mapping_is_resolved_after_a_change_of_variables():
    checks = models(start(), task("work", inputs=[("=assert(a, a > 0)", "b")]), "start > work")
    result = begin(checks, {"a": 0}, now=NOON)
    (incident,) = result.instance.incidents
    result = set_variables(checks, result.snapshot, {"a": 1})
    assert resolve(checks, result.snapshot, incident.key).happened.jobs[0].variables == {"a": 1, "b": 1}


def test_an_error_takes_its_boundary_event():
    error = '<errorEventDefinition errorRef="error-A"/>'
    broken = models(start(), task("work"), boundary("b", "work", error), end(), "start > work", "b > end")
    result = begin(broken, now=NOON)
    result = throw_error(broken, result.snapshot, key(result), "A", variables={"why": 1})
    assert result.happened.completed == ("b", "end", "p")


# ---- time


def test_timers_fire_at_their_due_dates():
    late = models(start(), catch("c1", timer("PT1H")), catch("c2", timer("PT1H")), end(), "start > c1 > c2 > end")
    result = begin(late, now=NOON)
    assert (result.instance.next_due, result.instance.timers[0].element) == (NOON + HOUR, "c1")
    result = advance(late, result.snapshot, NOON + HOUR * 1.5)
    assert (result.happened.timers, result.instance.next_due) == (1, NOON + 2 * HOUR)
    assert advance(late, begin(late, now=NOON).snapshot, NOON + 2 * HOUR).happened.timers == 2


def test_in_one_step_or_in_many_the_time_passes_alike():
    cycle = "<timerEventDefinition><timeCycle>R5/PT20M</timeCycle></timerEventDefinition>"
    both = models(start(), task("t"), boundary("b", "t", cycle, interrupting=False), task("u"), "start > t", "b > u")
    at_once = advance(both, begin(both, now=NOON).snapshot, NOON + 3 * HOUR)
    step = begin(both, now=NOON)
    for minutes in range(0, 181, 15):
        step = advance(both, step.snapshot, NOON + timedelta(minutes=minutes))
    first, last = (json.loads(result.snapshot) | {"version": 0} for result in (at_once, step))
    assert first == last
    assert [job.element for job in step.instance.jobs] == ["t"] + ["u"] * 5


def test_time_does_not_go_back():
    result = advance(ONE_TASK, begin(ONE_TASK, {"a": 1}, now=NOON).snapshot, NOON - HOUR)
    assert result.instance.at == NOON


def test_a_time_has_a_zone():
    with pytest.raises(ValueError, match=r"has no time zone: write datetime.now"):
        begin(ONE_TASK, now=datetime(2026, 1, 1))


# ---- messages and signals

WAITS = models(start(), catch("wait", HELLO), end(), "start > wait > end")


def test_a_message_finds_who_waits():
    result = begin(WAITS, now=NOON)
    (wait,) = result.instance.waits
    assert (wait.kind, wait.name, wait.correlation_key, wait.element) == ("MESSAGE", "hello", "x", "wait")
    assert publish(WAITS, result.snapshot, "hello", "another").instance.state == "ACTIVE"
    result = publish(WAITS, result.snapshot, "hello", "x", {"said": 1})
    assert (result.instance.state, result.instance.variables) == ("COMPLETED", {"said": 1})


def test_a_message_waits_in_the_snapshot_until_it_expires():
    later = models(start(), task("t"), catch("wait", HELLO), end(), "start > t > wait > end")
    result = begin(later, now=NOON)
    result = publish(later, result.snapshot, "hello", "x", {"said": 1}, time_to_live=HOUR, message_id="m")
    with pytest.raises(Rejected, match="already published"):
        publish(later, result.snapshot, "hello", "x", time_to_live=HOUR, message_id="m")
    assert complete(later, result.snapshot, key(result), now=NOON + HOUR / 2).instance.variables == {"said": 1}
    result = complete(later, result.snapshot, key(result), now=NOON + HOUR)
    assert result.instance.state == "ACTIVE"
    assert json.loads(result.snapshot).get("messages") is None


def test_a_message_is_given_once():
    """The message stays for others, but this process has had it: the second task waits."""
    twice = models(start(), catch("w1", HELLO), catch("w2", HELLO), end(), "start > w1 > w2 > end")
    result = publish(twice, begin(twice, now=NOON).snapshot, "hello", "x", time_to_live=HOUR)
    assert [wait.element for wait in result.instance.waits] == ["w2"]
    again = set_variables(twice, result.snapshot, {"x": 1})
    assert [wait.element for wait in again.instance.waits] == ["w2"]
    assert publish(twice, again.snapshot, "hello", "x").instance.state == "COMPLETED"


def test_a_message_that_does_not_interrupt_comes_again():
    told = models(start(), task("t"), on(HELLO, "e", task("u"), "e-start > u", interrupting=False), "start > t")
    result = begin(told, now=NOON)
    for _ in range(3):
        result = publish(told, result.snapshot, "hello", "x")
    assert [job.element for job in result.instance.jobs] == ["t", "u", "u", "u"]


def test_what_an_element_throws_is_told():
    thrown = models(
        start(),
        throw("m", HELLO.replace("/>", "><extensionElements/></messageEventDefinition>"))
        .replace("<extensionElements/>", "")
        .replace(
            'id="m">',
            'id="m"><extensionElements><zeebe:publishMessage correlationKey="k" timeToLive="PT1H"/>'
            '<zeebe:ioMapping><zeebe:input source="=1" target="a"/></zeebe:ioMapping></extensionElements>',
            1,
        ),
        throw("s", ALARM, inputs=[("=2", "b")]),
        end(),
        "start > m > s > end",
    )
    happened = begin(thrown, now=NOON).happened
    assert [(m.name, m.correlation_key, m.variables, m.time_to_live_ms) for m in happened.messages] == [
        ("hello", "k", {"a": 1}, 3_600_000)
    ]
    assert [(signal.name, signal.variables) for signal in happened.signals] == [("alarm", {"b": 2})]


def test_a_signal_reaches_all_who_wait():
    two = models(start(), catch("a", ALARM), catch("b", ALARM), "start > a", "start > b")
    result = broadcast(two, begin(two, now=NOON).snapshot, "alarm", {"x": 1})
    assert (result.instance.state, result.instance.variables) == ("COMPLETED", {"x": 1})


def test_an_instance_can_start_at_any_element():
    two = models(
        start(), task("a"), task("b"), f'<startEvent id="told">{HELLO}</startEvent>', "start > a > b", "told > b"
    )
    assert [job.element for job in begin(two, now=NOON).instance.jobs] == ["a"]
    assert [job.element for job in begin(two, now=NOON, at="b").instance.jobs] == ["b"]
    told = begin(two, {"x": 1}, now=NOON, at="told")
    assert "told" in told.happened.completed
    assert told.instance.variables == {"x": 1}
    assert read(told.snapshot) == told.instance, "no key is there twice: another call goes on with it"
    with pytest.raises(Rejected, match="nowhere"):
        begin(two, now=NOON, at="nowhere")


# ---- user tasks, cancellation


def test_a_user_task_is_assigned_and_completed():
    person = models(start(), PERSON, end(), "start > person > end")
    result = begin(person, {"x": 1}, now=NOON)
    (task_,) = result.instance.user_tasks
    assert (task_.element, task_.assignee, task_.variables) == ("person", None, {"x": 1})
    result = assign(person, result.snapshot, task_.key, "jo")
    assert result.instance.user_tasks[0].assignee == "jo"
    assert complete_user_task(person, result.snapshot, task_.key, {"y": 2}).instance.variables == {"x": 1, "y": 2}


def test_a_task_listener_denies_a_completion_and_then_agrees():
    listened = models(start(), user_task("person", "completing check"), end(), "start > person > end")
    result = begin(listened, now=NOON)
    (person,) = result.instance.user_tasks
    result = complete_user_task(listened, result.snapshot, person.key, {"y": 2})
    assert [(one.state, one.element) for one in result.instance.user_tasks] == [("COMPLETING", "person")]
    (job,) = result.instance.jobs
    assert (job.type, job.kind) == ("check", "TASK_LISTENER")
    result = deny(listened, result.snapshot, job.key, "too early")
    assert (result.instance.user_tasks[0].state, result.instance.variables) == ("CREATED", {})
    result = complete_user_task(listened, result.snapshot, person.key, {"y": 3})
    result = complete(listened, result.snapshot, result.instance.jobs[0].key)
    assert (result.instance.state, result.instance.variables) == ("COMPLETED", {"y": 3})


def test_a_cancelled_instance_is_terminated():
    result = cancel(ONE_TASK, begin(ONE_TASK, {"a": 1}, now=NOON).snapshot)
    assert (result.instance.state, result.happened.terminated) == ("TERMINATED", ("work", "p"))
    assert result.instance.variables == {"a": 1}


# ---- models

CALLS = model(start(), call("c", "q"), end(), "start > c > end")


def called(job):
    return model(start("q-start"), task(job), f"q-start > {job}", id="q")


def test_an_instance_continues_with_the_file_it_began_with():
    old, new = {"p.bpmn": CALLS, "q1.bpmn": called("old")}, {"q2.bpmn": called("new")}
    result = begin(Models(old), now=NOON, process_id="p")
    assert [job.element for job in result.instance.jobs] == ["old"]
    done = complete(Models(old | new), result.snapshot, key(result))
    assert done.instance.state == "COMPLETED"
    fresh = begin(Models(old | new), now=NOON, process_id="p")
    assert [job.element for job in fresh.instance.jobs] == ["new"]
    with pytest.raises(MissingModel, match=r"runs version 1 of process 'q', file 'q1.bpmn' with SHA-256 [0-9a-f]{64}"):
        complete(Models({"p.bpmn": CALLS} | new), result.snapshot, key(result))


def test_a_called_process_that_is_missing_is_an_incident():
    result = begin(Models({"p.bpmn": CALLS}), now=NOON)
    assert "process id 'q' to be deployed, but not found" in result.instance.incidents[0].message


def test_the_process_to_start_must_be_clear():
    both = Models({"p.bpmn": CALLS, "q.bpmn": called("t")})
    with pytest.raises(Rejected, match=r"Name the process to start. The models have: p, q"):
        begin(both, now=NOON)
    with pytest.raises(Rejected, match=r"There is no process 'r'. The models have: p, q"):
        begin(both, now=NOON, process_id="r")


def test_a_file_with_problems_is_no_model():
    with pytest.raises(InvalidModel, match=r"p.bpmn"):
        Models({"p.bpmn": b"<definitions"})


def test_models_are_read_from_files(tmp_path):
    (tmp_path / "p.bpmn").write_bytes(ONE_TASK.files["p.bpmn"])
    assert Models.read(tmp_path / "p.bpmn").process_ids() == ["p"]


# ---- limits


def test_a_loop_without_a_wait_state_ends_with_an_error(monkeypatch):
    monkeypatch.setattr(machine, "MOST_COMMANDS", 20)
    spins = models(start(), xor("a"), xor("b"), "start > a > b", flow("b", "a"))
    with pytest.raises(TooMuchWork, match="did not come to a wait state"):
        begin(spins, now=NOON)


@pytest.mark.long
def test_a_long_loop_is_in_its_snapshot():
    items = models(
        start(), loop(task("t"), "=for i in 1..600 return i", "i", "=i * 2", "out"), end(), "start > t > end"
    )
    result = begin(items, now=NOON)
    while result.instance.jobs:
        result = complete(items, result.snapshot, result.instance.jobs[0].key)
        if len(result.instance.jobs) == 590:
            break
    assert len(json.loads(result.snapshot)["elements"]) == 592


def test_a_damaged_snapshot_is_refused():
    with pytest.raises(InvalidSnapshot, match="damaged"):
        read("{}")
    document = json.loads(begin(ONE_TASK, {"a": 1}, now=NOON).snapshot)
    document["jobs"][0]["elementKey"] = "9000000000000000001"
    with pytest.raises(InvalidSnapshot, match=r"jobs\[0\].elementKey: no element has the key 9000000000000000001"):
        read(json.dumps(document))


def test_the_keys_of_any_partition_will_do():
    """A server with several partitions gives keys of each. In the library all belongs to one."""
    result = begin(WAITS, now=NOON, key=(3 << 51) + 7)
    assert result.instance.key == (3 << 51) + 7
    assert publish(WAITS, result.snapshot, "hello", "x").instance.state == "COMPLETED"


LIMITED = (
    start("s"),
    task("a", inputs=[("=camunda.vars.cluster.limit", "limit"), ("=camunda.vars.env.limit", "env")]),
    task("b", inputs=[("=camunda.vars.env.limit", "env")]),
    "s > a > b",
)


def test_expressions_see_the_cluster_variables_of_each_call():
    plain = models(*LIMITED)
    some = plain.with_cluster_variables({"limit": [1.5]}, {"limit": "own"})
    result = begin(some, now=NOON)
    assert result.instance.jobs[0].variables == {"limit": [1.5], "env": "own"}
    result = complete(some.with_cluster_variables({"limit": 2}), result.snapshot, key(result))
    assert result.instance.jobs[0].variables == {"env": 2}
    assert begin(plain, now=NOON).instance.jobs[0].variables == {"limit": None, "env": None}
