"""The rules of docs/living-with-changes.md that no test of an element or a command has."""

import json

import pytest

from tests.core.bench import raw
from tests.core.event_models import call, states
from tests.core.events.test_timers import HOUR, catch, pending, timer
from tests.core.message_models import message, model, starts
from tests.core.models import end, file, process, process_element, start, task
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.jobs import CompleteJob
from vivero.core.records.messages import PublishMessage

BOUND = [{"bindingType": "latest"}, {"bindingType": "deployment"}, {"bindingType": "versionTag", "versionTag": "t"}]


def called(number, tag="t"):
    return process_element(start("cs"), task(f"work-{number}"), f"cs > work-{number}", id="c", tag=tag)


def caller(**binding):
    """It calls `c` again and again."""
    return process_element(start(), call("x", "c", **binding), "start > x", "x > x")


def deploy_together(bench, number, **binding):
    """The key of the called process."""
    reply = bench.engine.deploy(file(called(number), caller(**binding)), "p.bpmn")
    return next(one.process_definition_key for one in reply.processes if one.process_definition_id == "c")


@pytest.mark.parametrize(("binding", "then"), list(zip(BOUND, ["work-2", "work-1", "work-2"], strict=True)), ids=str)
def test_a_running_caller_takes_what_its_binding_says_at_its_next_call(bench, binding, then):
    deploy_together(bench, 1, **binding)
    bench.start()
    deploy_together(bench, 2, **binding)
    assert bench.jobs == ["work-1"]
    bench.complete("work-1")
    assert bench.jobs == [then]


@pytest.mark.parametrize(("binding", "then"), list(zip(BOUND, ["work-1", None, "work-1"], strict=True)), ids=str)
def test_a_call_of_a_deleted_version(bench, binding, then):
    """Bound by deployment, only the version of that deployment would do; a later deployment is another one."""
    bench.deploy(file(called(1)), name="c.bpmn")
    second = deploy_together(bench, 2, **binding)
    bench.start()
    bench.run(DeleteResource(second))
    bench.complete("work-2")
    if then is not None:
        assert (bench.jobs, bench.incidents) == ([then], [])
        return
    assert [type for _, type, _ in bench.incidents] == ["CALLED_ELEMENT_ERROR"]
    deploy_together(bench, 3, **binding)
    bench.resolve()
    assert [type for _, type, _ in bench.incidents] == ["CALLED_ELEMENT_ERROR"]


def test_a_job_keeps_what_it_was_created_with(bench):
    bench.deploy(process(start(), task("work", type="=kind"), task("next", type="n1"), "start > work > next"))
    key = bench.start(kind="old")
    bench.deploy(process(start(), task("work", type="other"), task("next", type="n2"), "start > work > next"))
    bench.set(key, kind="new")
    assert bench.job("work").type == "old"
    bench.complete("work")
    assert bench.job("next").type == "n1", "of its version"


def test_a_job_that_failed_is_completed_by_hand_after_its_incident_is_resolved(bench):
    bench.deploy(process(start(), task("work"), end(), "start > work > end"))
    key = bench.start()
    job = bench.job("work").key
    bench.fail("work")
    assert len(bench.incidents) == 1
    assert bench.run(CompleteJob(job)).rejection is not None
    bench.update("work", retries=1)
    bench.resolve()
    assert bench.job("work").type == "work"
    assert bench.run(CompleteJob(job)).rejection is None
    assert bench.state_of(key) == "COMPLETED"


def test_what_an_old_caller_does_not_give_is_null_in_a_new_called_process(bench):
    old = process_element(start("cs"), task("work"), "cs > work", id="c")
    new = process_element(
        start("cs"), task("work", inputs=[('=if currency = null then "EUR" else currency', "c")]), "cs > work", id="c"
    )
    bench.deploy(file(old), file(process_element(start(), task("before"), call("x", "c"), "start > before > x")))
    bench.start(total=1)
    bench.deploy(file(new), name="c.bpmn")
    bench.complete("before")
    assert bench.incidents == []
    assert bench.variables("work")["c"] == "EUR"


def test_a_due_date_moves_with_nothing(bench):
    bench.deploy(process(start(), catch("wait", "=pause"), end(), "start > wait > end"))
    key = bench.start(pause="PT2H")
    bench.set(key, pause="PT1H")
    bench.deploy(process(start(), catch("wait", "PT9H"), end(), "start > wait > end"))
    assert pending(bench) == [("wait", 2.0)]


def cycle(text):
    return process(f'<startEvent id="s">{timer("timeCycle", text)}</startEvent>', task("work"), "s > work")


def test_the_cycle_of_a_start_event_begins_anew_with_each_latest_version(bench):
    bench.deploy(cycle("R3/PT2H"))
    bench.engine.now += HOUR
    (second,) = bench.deploy(cycle("R/PT4H"))
    assert pending(bench) == [("s", 5.0)]
    bench.engine.now += HOUR
    bench.run(DeleteResource(second))
    assert pending(bench) == [("s", 4.0)]
    assert [timer.repetitions for timer in bench.state.timers.values()] == [3]


BEGIN = (message("begin", None),)


def started(work):
    return model(starts("start", "m"), task(work), end(), f"start > {work} > end", roots=BEGIN)


def say(bench, ttl_ms=0):
    bench.run(PublishMessage("begin", "x", ttl_ms, None, raw({})))


def test_one_key_has_one_instance_over_all_versions(bench):
    bench.deploy(started("old"))
    say(bench)
    bench.deploy(started("new"))
    say(bench, ttl_ms=HOUR)
    assert bench.jobs == ["old"]
    bench.complete("old")
    assert bench.jobs == ["new"]


def test_a_deployment_starts_nothing_for_messages_that_wait(bench):
    say(bench, ttl_ms=HOUR)
    bench.deploy(started("work"))
    assert bench.jobs == []
    say(bench)
    assert bench.jobs == ["work"]


def form(label):
    return json.dumps({"id": "f", "components": [{"type": "text", "text": label}]}).encode()


def test_a_task_waits_for_ever_if_the_form_of_its_deployment_is_deleted(bench):
    task = (
        '<userTask id="ask"><extensionElements><zeebe:userTask/>'
        '<zeebe:formDefinition formId="f" bindingType="deployment"/></extensionElements></userTask>'
    )
    content = process(start(), task, end(), "start > ask > end")
    reply = bench.engine.deploy_all({"p.bpmn": content, "f.form": form("one")})
    bench.run(DeleteResource(reply.forms[0].form_key))
    bench.start()
    bench.engine.deploy_all({"p.bpmn": content, "f.form": form("two")})
    bench.resolve()
    assert [type for _, type, _ in bench.incidents] == ["FORM_NOT_FOUND"]
    assert states(bench, "ask") == ["ACTIVATING"]
