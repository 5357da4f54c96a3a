"""Deployments and deletions of forms: versions, what is unchanged, and what they have to do with processes."""

import json

import msgspec
import pytest

from tests.core.models import end, process
from vivero.core.commands.deployments import reference_of
from vivero.core.records.catalogue import (
    DefinitionAdded,
    DeleteResource,
    Deploy,
    FormAdded,
    FormDeleted,
    StartFormSet,
)
from vivero.core.records.codec import decode_command, decode_events, encode_command, encode_events
from vivero.core.records.effects import RejectionCode
from vivero.core.resources.kinds import read_resource


def form(label="label", id="ask", tag=None):
    return json.dumps({"id": id, "components": [{"type": "text", "text": label}], "versionTag": tag}).encode()


def model(name="p", start_form=""):
    begin = f'<startEvent id="start"><extensionElements>{start_form}</extensionElements></startEvent>'
    return process(begin, end(), "start > end").replace(b"Process p", name.encode())


START_FORM = '<zeebe:formDefinition formId="ask" bindingType="versionTag" versionTag="v1"/>'


def deploy(engine, *files, tenant="<default>"):
    """Deploy files in one deployment."""
    references = tuple(reference_of(read_resource(name, content), content.hex()) for name, content in files)
    return engine.run(Deploy(references), tenant)


def versions(handled):
    reply = handled.response
    return [one.process_definition_version for one in reply.processes], [one.version for one in reply.forms]


def of_type(handled, type_):
    return [event for event in handled.events if isinstance(event, type_)]


def test_each_change_of_a_form_is_a_new_version(engine):
    found = [deploy(engine, ("ask.form", form(label))) for label in "aabba"]
    assert [versions(handled)[1] for handled in found] == [[1], [1], [2], [2], [3]]
    assert [handled.response.forms[0].form_key for handled in found[:2]] == [found[0].response.forms[0].form_key] * 2
    assert [len(of_type(handled, FormAdded)) for handled in found] == [1, 0, 1, 0, 1]


def test_another_name_is_another_version(engine):
    assert versions(deploy(engine, ("ask.form", form()))) == ([], [1])
    assert versions(deploy(engine, ("b.form", form()))) == ([], [2])


def test_versions_are_counted_for_each_id_and_tenant(engine):
    deploy(engine, ("ask.form", form()))
    assert versions(deploy(engine, ("b.form", form(id="b")))) == ([], [1])
    assert versions(deploy(engine, ("ask.form", form("other")), tenant="t")) == ([], [1])


def test_a_deployment_with_something_new_makes_everything_in_it_new(engine):
    files = [("p.bpmn", model()), ("ask.form", form())]
    assert versions(deploy(engine, *files)) == ([1], [1])
    assert versions(deploy(engine, *files)) == ([1], [1])
    assert versions(deploy(engine, files[0], ("ask.form", form("new")))) == ([2], [2])
    assert versions(deploy(engine, ("p.bpmn", model("new")), ("ask.form", form("new")))) == ([3], [3])


def test_a_row_has_everything_that_is_known_of_the_form(engine):
    engine.memory.now = 7_000
    handled = deploy(engine, ("ask.form", form(tag="v1")), tenant="t")
    ((_, row),) = [item for item in engine.rows.items() if item[0][0] == "FormVersion"]
    assert row == {
        "key": handled.response.forms[0].form_key,
        "deployment": handled.response.deployment_key,
        "tenant": "t",
        "form_id": "ask",
        "version": 1,
        "version_tag": "v1",
        "resource": "ask.form",
        "sha256": form(tag="v1").hex(),
        "state": "ACTIVE",
        "deployed_at": 7_000,
    }


def test_a_deleted_version_is_not_the_latest_and_keeps_its_number(engine):
    first, second = (deploy(engine, ("ask.form", form(label))).response.forms[0].form_key for label in "ab")
    handled = engine.run(DeleteResource(second))
    assert of_type(handled, FormDeleted) == [FormDeleted(second)]
    assert deploy(engine, ("ask.form", form("a"))).response.forms[0].form_key == first
    assert versions(deploy(engine, ("ask.form", form("b")))) == ([], [3])
    assert engine.run(DeleteResource(second)).rejection.code is RejectionCode.NOT_FOUND


def test_a_form_of_another_tenant_cannot_be_deleted(engine):
    key = deploy(engine, ("ask.form", form()), tenant="t").response.forms[0].form_key
    foreign, unknown = (
        engine.run(DeleteResource(key), "b").rejection,
        engine.run(DeleteResource(key + 99), "b").rejection,
    )
    assert foreign.reason.replace(str(key), "KEY") == unknown.reason.replace(str(key + 99), "KEY")
    assert engine.run(DeleteResource(key), "t,b").rejection is None


def test_a_definition_knows_its_start_form(engine):
    handled = deploy(engine, ("p.bpmn", model(start_form=START_FORM)))
    (added,) = of_type(handled, DefinitionAdded)
    assert of_type(handled, StartFormSet) == [StartFormSet(added.key, "ask", "versionTag", "v1")]
    row = engine.state.catalogue.definitions[added.key]
    found = row.start_form_id, row.start_form_binding, row.start_form_version_tag
    assert found == ("ask", "versionTag", "v1")
    assert of_type(deploy(engine, ("q.bpmn", model())), StartFormSet) == []


def test_a_definition_from_before_start_forms_gets_its_own_when_it_is_deployed_again(engine):
    file = ("p.bpmn", model(start_form=START_FORM))
    (key,) = (one.process_definition_key for one in deploy(engine, file).response.processes)
    engine.state.catalogue.definitions[key].start_form_id = None
    assert [versions(deploy(engine, file)) for _ in range(2)] == [([2], []), ([2], [])]


@pytest.mark.parametrize("files", [[("ask.form", form(tag="v1"))], [("p.bpmn", model(start_form=START_FORM))]])
def test_what_is_stored_is_read_again(engine, files):
    handled = deploy(engine, *files)
    command = engine.memory.log[-1].command
    assert decode_command(command.intent, encode_command(command)) == command
    assert list(decode_events(encode_events(handled.events))) == handled.events


def test_without_forms_commands_and_answers_are_as_they_were(engine):
    """Other programs read them: a field that is not needed is not there."""
    handled = deploy(engine, ("p.bpmn", model()))
    assert b"form" not in encode_command(engine.memory.log[-1].command)
    assert b"orm" not in encode_events(handled.events)
    assert "forms" not in msgspec.to_builtins(handled.response)
