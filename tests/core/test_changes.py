"""The rules of docs/living-with-changes.md that no test of an element or a command has."""

import json

import pytest

from tests.core.engine import raw
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


def deploy_together(engine, number, **binding):
    """The key of the called process."""
    reply = engine.memory.deploy(file(called(number), caller(**binding)), "p.bpmn")
    return next(one.process_definition_key for one in reply.processes if one.process_definition_id == "c")


@pytest.mark.parametrize(("binding", "then"), list(zip(BOUND, ["work-2", "work-1", "work-2"], strict=True)), ids=str)
def test_a_running_caller_takes_what_its_binding_says_at_its_next_call(engine, binding, then):
    deploy_together(engine, 1, **binding)
    engine.start()
    deploy_together(engine, 2, **binding)
    assert engine.jobs == ["work-1"]
    engine.complete("work-1")
    assert engine.jobs == [then]


@pytest.mark.parametrize(("binding", "then"), list(zip(BOUND, ["work-1", None, "work-1"], strict=True)), ids=str)
def test_a_call_of_a_deleted_version(engine, binding, then):
    """Bound by deployment, only the version of that deployment would do; a later deployment is another one."""
    engine.deploy(file(called(1)), name="c.bpmn")
    second = deploy_together(engine, 2, **binding)
    engine.start()
    engine.run(DeleteResource(second))
    engine.complete("work-2")
    if then is not None:
        assert (engine.jobs, engine.incidents) == ([then], [])
        return
    assert [type for _, type, _ in engine.incidents] == ["CALLED_ELEMENT_ERROR"]
    deploy_together(engine, 3, **binding)
    engine.resolve()
    assert [type for _, type, _ in engine.incidents] == ["CALLED_ELEMENT_ERROR"]


def test_a_job_keeps_what_it_was_created_with(engine):
    engine.deploy(process(start(), task("work", type="=kind"), task("next", type="n1"), "start > work > next"))
    key = engine.start(kind="old")
    engine.deploy(process(start(), task("work", type="other"), task("next", type="n2"), "start > work > next"))
    engine.set(key, kind="new")
    assert engine.job("work").type == "old"
    engine.complete("work")
    assert engine.job("next").type == "n1", "of its version"


def test_a_job_that_failed_is_completed_by_hand_after_its_incident_is_resolved(engine):
    engine.deploy(process(start(), task("work"), end(), "start > work > end"))
    key = engine.start()
    job = engine.job("work").key
    engine.fail("work")
    assert len(engine.incidents) == 1
    assert engine.run(CompleteJob(job)).rejection is not None
    engine.update("work", retries=1)
    engine.resolve()
    assert engine.job("work").type == "work"
    assert engine.run(CompleteJob(job)).rejection is None
    assert engine.state_of(key) == "COMPLETED"


def test_what_an_old_caller_does_not_give_is_null_in_a_new_called_process(engine):
    old = process_element(start("cs"), task("work"), "cs > work", id="c")
    new = process_element(
        start("cs"), task("work", inputs=[('=if currency = null then "EUR" else currency', "c")]), "cs > work", id="c"
    )
    engine.deploy(file(old), file(process_element(start(), task("before"), call("x", "c"), "start > before > x")))
    engine.start(total=1)
    engine.deploy(file(new), name="c.bpmn")
    engine.complete("before")
    assert engine.incidents == []
    assert engine.variables("work")["c"] == "EUR"


def test_a_due_date_moves_with_nothing(engine):
    engine.deploy(process(start(), catch("wait", "=pause"), end(), "start > wait > end"))
    key = engine.start(pause="PT2H")
    engine.set(key, pause="PT1H")
    engine.deploy(process(start(), catch("wait", "PT9H"), end(), "start > wait > end"))
    assert pending(engine) == [("wait", 2.0)]


def cycle(text):
    return process(f'<startEvent id="s">{timer("timeCycle", text)}</startEvent>', task("work"), "s > work")


def test_the_cycle_of_a_start_event_begins_anew_with_each_latest_version(engine):
    engine.deploy(cycle("R3/PT2H"))
    engine.memory.now += HOUR
    (second,) = engine.deploy(cycle("R/PT4H"))
    assert pending(engine) == [("s", 5.0)]
    engine.memory.now += HOUR
    engine.run(DeleteResource(second))
    assert pending(engine) == [("s", 4.0)]
    assert [timer.repetitions for timer in engine.state.timers.values()] == [3]


BEGIN = (message("begin", None),)


def started(work):
    return model(starts("start", "m"), task(work), end(), f"start > {work} > end", roots=BEGIN)


def say(engine, ttl_ms=0):
    engine.run(PublishMessage("begin", "x", ttl_ms, None, raw({})))


def test_one_key_has_one_instance_over_all_versions(engine):
    engine.deploy(started("old"))
    say(engine)
    engine.deploy(started("new"))
    say(engine, ttl_ms=HOUR)
    assert engine.jobs == ["old"]
    engine.complete("old")
    assert engine.jobs == ["new"]


def test_a_deployment_starts_nothing_for_messages_that_wait(engine):
    say(engine, ttl_ms=HOUR)
    engine.deploy(started("work"))
    assert engine.jobs == []
    say(engine)
    assert engine.jobs == ["work"]


def form(label):
    return json.dumps({"id": "f", "components": [{"type": "text", "text": label}]}).encode()


def test_a_task_waits_for_ever_if_the_form_of_its_deployment_is_deleted(engine):
    task = (
        '<userTask id="ask"><extensionElements><zeebe:userTask/>'
        '<zeebe:formDefinition formId="f" bindingType="deployment"/></extensionElements></userTask>'
    )
    content = process(start(), task, end(), "start > ask > end")
    reply = engine.memory.deploy_all({"p.bpmn": content, "f.form": form("one")})
    engine.run(DeleteResource(reply.forms[0].form_key))
    engine.start()
    engine.memory.deploy_all({"p.bpmn": content, "f.form": form("two")})
    engine.resolve()
    assert [type for _, type, _ in engine.incidents] == ["FORM_NOT_FOUND"]
    assert states(engine, "ask") == ["ACTIVATING"]
