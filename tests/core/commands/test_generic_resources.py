"""Deployments and deletions of generic resources: versions, what is unchanged, and what belongs together."""

import pytest

from tests.core.commands.test_forms import deploy, model, of_type
from tests.core.models import process, start
from vivero.core.records.catalogue import DeleteResource, GenericResourceAdded, GenericResourceDeleted
from vivero.core.records.codec import decode_command, decode_events, encode_command, encode_events
from vivero.core.records.effects import RejectionCode

FILE = "note.md"


def versions(handled):
    return [one.version for one in handled.response.resources]


def test_each_change_of_the_bytes_is_a_new_version(engine):
    found = [deploy(engine, (FILE, content)) for content in (b"a", b"a", b"", b"", b"a")]
    assert [versions(handled) for handled in found] == [[1], [1], [2], [2], [3]]
    assert [len(of_type(handled, GenericResourceAdded)) for handled in found] == [1, 0, 1, 0, 1]
    assert found[0].response.resources == found[1].response.resources


def test_versions_are_counted_for_each_id_and_tenant(engine):
    assert versions(deploy(engine, (FILE, b"a"))) == [1]
    assert versions(deploy(engine, ("other.md", b"b"), ("third", b"c"))) == [1, 1]
    assert versions(deploy(engine, (FILE, b"b"), tenant="t")) == [1]


def test_a_script_that_names_itself_keeps_its_id_in_another_file(engine):
    first, second = (deploy(engine, (name, b'{"id": "robot"}')) for name in ("a.rpa", "b.rpa"))
    assert (versions(first), versions(second)) == ([1], [2])


def test_a_deployment_with_something_new_makes_everything_in_it_new(engine):
    files = [("p.bpmn", model()), (FILE, b"a")]
    assert versions(deploy(engine, *files)) == [1]
    assert versions(deploy(engine, ("p.bpmn", model("new")), files[1])) == [2]


def test_a_row_has_everything_that_is_known_of_the_file(engine):
    engine.memory.now = 7_000
    handled = deploy(engine, ("a.rpa", b'{"id": "robot", "versionTag": "v1"}'), tenant="t")
    ((_, row),) = [item for item in engine.rows.items() if item[0][0] == "GenericResourceVersion"]
    assert row == {
        "key": handled.response.resources[0].resource_key,
        "deployment": handled.response.deployment_key,
        "tenant": "t",
        "resource_id": "robot",
        "version": 1,
        "version_tag": "v1",
        "resource": "a.rpa",
        "sha256": b'{"id": "robot", "versionTag": "v1"}'.hex(),
        "state": "ACTIVE",
        "deployed_at": 7_000,
    }


def test_a_deleted_version_is_not_the_latest_and_keeps_its_number(engine):
    first, second = (deploy(engine, (FILE, content)).response.resources[0].resource_key for content in (b"a", b"b"))
    handled = engine.run(DeleteResource(second))
    assert of_type(handled, GenericResourceDeleted) == [GenericResourceDeleted(second)]
    assert deploy(engine, (FILE, b"a")).response.resources[0].resource_key == first
    assert versions(deploy(engine, (FILE, b"b"))) == [3]
    assert engine.run(DeleteResource(second)).rejection.code is RejectionCode.NOT_FOUND


def test_the_file_of_another_tenant_cannot_be_deleted(engine):
    key = deploy(engine, (FILE, b"a"), tenant="t").response.resources[0].resource_key
    foreign, unknown = (engine.run(DeleteResource(one), "b").rejection for one in (key, key + 99))
    assert foreign.reason.replace(str(key), "KEY") == unknown.reason.replace(str(key + 99), "KEY")
    assert engine.run(DeleteResource(key), "t,b").rejection is None


LINKED = (
    '<zeebe:linkedResources><zeebe:linkedResource resourceId="note.md" resourceType="text" bindingType="{}"/>'
    "</zeebe:linkedResources>"
)


@pytest.mark.parametrize(("binding", "version"), [("latest", 2), ("deployment", 3)])
def test_files_that_were_deployed_one_by_one_get_a_version_together_if_a_process_asks(engine, binding, version):
    task = '<serviceTask id="t"><extensionElements><zeebe:taskDefinition type="w"/>{}</extensionElements></serviceTask>'
    content = process(start(), task.format(LINKED.format(binding)), "start > t")
    deploy(engine, ("p.bpmn", content), (FILE, b"a"))
    deploy(engine, (FILE, b"b"))
    handled = deploy(engine, ("p.bpmn", content), (FILE, b"b"))
    assert versions(handled) == [version]


def test_what_is_stored_is_read_again(engine):
    handled = deploy(engine, ("a.rpa", b'{"id": "robot", "versionTag": "v1"}'))
    command = engine.memory.log[-1].command
    assert decode_command(command.intent, encode_command(command)) == command
    assert list(decode_events(encode_events(handled.events))) == handled.events
