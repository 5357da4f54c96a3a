"""Deployments of unchanged files: what binds by `deployment` gets a version that is deployed with its targets."""

import json

import pytest

from tests.core.event_models import call
from tests.core.models import end, process, process_element, start, task
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.user_tasks import UserTaskCreated

BOUND = process(start(), call("x", "c", bindingType="deployment"), "start > x")
LATEST = process(start(), call("x", "c"), "start > x")
USER = (
    '<userTask id="x"><extensionElements>{}<zeebe:formDefinition formId="ask" bindingType="deployment"/>'
    "</extensionElements></userTask>"
)
NATIVE = process(start(), USER.format("<zeebe:userTask/>"), "start > x")
OF_JOB = process(start(), USER.format(""), "start > x")
START_FORM = process(
    '<startEvent id="start"><extensionElements><zeebe:formDefinition formId="ask" bindingType="deployment"/>'
    "</extensionElements></startEvent>"
)
OTHER = process(start(), end(), "start > end", id="o")


def child(label="work"):
    return process(start("cs"), task("job", type=label), "cs > job", id="c")


def form(label="label"):
    return json.dumps({"id": "ask", "components": [{"type": "text", "text": label}]}).encode()


def deploy(engine, **files):
    """Deploy files together; their versions by name."""
    names = {"ask": "ask.form"}
    reply = engine.memory.deploy_all({names.get(name, f"{name}.bpmn"): content for name, content in files.items()})
    versions = {one.process_definition_id: one.process_definition_version for one in reply.processes}
    return versions | {one.form_id: one.version for one in reply.forms}


def test_files_that_were_deployed_one_by_one_get_a_version_together(engine):
    assert deploy(engine, p=BOUND) | deploy(engine, c=child()) == {"p": 1, "c": 1}
    engine.start()
    assert [(element, type) for element, type, _ in engine.incidents] == [("x", "CALLED_ELEMENT_ERROR")]
    assert deploy(engine, p=BOUND, c=child()) == {"p": 2, "c": 2}
    engine.start()
    assert engine.jobs == ["job"]


def test_the_same_bundle_again_changes_nothing(engine):
    deploy(engine, p=BOUND, c=child())
    before = dict(engine.rows)
    for _ in range(2):
        assert deploy(engine, c=child(), p=BOUND) == {"p": 1, "c": 1}
    assert {table for table, _ in engine.rows.keys() - before.keys()} == {"Deployment"}


def test_a_target_that_was_deployed_alone_meanwhile_is_taken_over(engine):
    """Else the caller would silently call the version of its old deployment."""
    deploy(engine, p=BOUND, c=child("old"))
    assert deploy(engine, c=child("new")) == {"c": 2}
    assert deploy(engine, p=BOUND, c=child("new")) == {"p": 2, "c": 3}
    engine.start()
    assert engine.job("job").type == "new"


def test_without_such_a_binding_unchanged_files_keep_their_versions(engine):
    deploy(engine, p=LATEST)
    deploy(engine, c=child())
    assert deploy(engine, p=LATEST, c=child()) == {"p": 1, "c": 1}


@pytest.mark.parametrize("caller", [NATIVE, OF_JOB, START_FORM], ids=["user task", "job", "start event"])
def test_forms_are_bound_likewise(engine, caller):
    deploy(engine, p=caller, ask=form("old"))
    deploy(engine, ask=form("new"))
    assert deploy(engine, p=caller, ask=form("new")) == {"p": 2, "ask": 3}
    assert deploy(engine, p=caller, ask=form("new")) == {"p": 2, "ask": 3}


def test_a_form_of_the_same_deployment_is_the_one_of_a_task(engine):
    deploy(engine, p=NATIVE, ask=form("old"))
    deploy(engine, ask=form("new"))
    deploy(engine, p=NATIVE, ask=form("new"))
    engine.start()
    (created,) = [
        event
        for logged in engine.memory.log
        for handled in logged.handled
        for event in handled.events
        if isinstance(event, UserTaskCreated)
    ]
    assert engine.state.catalogue.forms[created.form_key].version == 3


@pytest.mark.parametrize("more", [True, False], ids=["another file", "a file less"])
def test_other_files_beside_it_are_another_bundle(engine, more):
    small, large = {"p": BOUND, "c": child()}, {"p": BOUND, "c": child(), "o": OTHER}
    deploy(engine, **(small if more else large))
    if more:
        deploy(engine, o=OTHER)
    found = deploy(engine, **(large if more else small))
    assert (found["p"], found["c"]) == (2, 2)
    assert deploy(engine, **(large if more else small)) == found


def test_a_deleted_resource_is_no_part_of_the_bundle(engine):
    reply = engine.memory.deploy_all({"p.bpmn": BOUND, "c.bpmn": child(), "o.bpmn": OTHER})
    engine.run(DeleteResource(reply.processes[2].process_definition_key))
    assert deploy(engine, p=BOUND, c=child()) == {"p": 1, "c": 1}
    assert deploy(engine, p=BOUND, c=child(), o=OTHER) == {"p": 2, "c": 2, "o": 2}


def test_a_file_that_contains_both_is_a_bundle(engine):
    both = BOUND.replace(b"</definitions>", process_element(start("s"), id="c").encode() + b"</definitions>")
    assert deploy(engine, p=both) == deploy(engine, p=both) == {"p": 1, "c": 1}


def test_bundles_of_tenants_are_their_own(engine):
    files = {"p.bpmn": BOUND, "c.bpmn": child()}
    engine.memory.deploy_all(files, "a")
    deploy(engine, p=BOUND)
    deploy(engine, c=child())
    again = engine.memory.deploy_all(files, "a")
    assert [one.process_definition_version for one in again.processes] == [1, 1]
    assert deploy(engine, p=BOUND, c=child()) == {"p": 2, "c": 2}
