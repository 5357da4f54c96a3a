"""Service tasks that link deployed files: their jobs get the keys of the versions of their time."""

import json

import pytest

from tests.core.models import process, start
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.modifications import ActivateInstruction, ModifyInstance

RPA = '{{"id": "robot", "versionTag": "{}", "script": "{}"}}'


def model(*links, more=""):
    found = "".join(f"<zeebe:linkedResource {link}/>" for link in links)
    task = (
        f'<serviceTask id="work"><extensionElements><zeebe:taskDefinition type="w"/>'
        f"<zeebe:linkedResources>{found}</zeebe:linkedResources></extensionElements></serviceTask>{more}"
    )
    return process(start(), task, "start > work")


LATEST = 'resourceId="note.md" resourceType="text" linkName="note"'


def deploy(engine, content, name="note.md", tenant="<default>"):
    """The key of a version of a generic resource."""
    content = content if isinstance(content, bytes) else content.encode()
    return engine.memory.deploy(content, name, tenant).resources[0].resource_key


def linked(engine):
    """The keys that the newest job got."""
    job = max(engine.state.jobs.values(), key=lambda job: job.key)
    return [int(link["resourceKey"]) for link in json.loads(job.headers["linkedResources"])]


def test_a_job_gets_what_its_task_links(engine, golden):
    note, robot = deploy(engine, "one"), deploy(engine, RPA.format("v1", "a"), "a.rpa")
    form = engine.memory.deploy(b'{"id": "ask", "components": []}', "ask.form").forms[0].form_key
    robots, forms = 'resourceId="=who" resourceType="RPA" linkName="r"', 'resourceId="ask" resourceType="Form"'
    engine.deploy(model(LATEST, robots, forms))
    engine.start(who="robot")
    assert json.loads(engine.job("work").headers["linkedResources"]) == [
        {"resourceKey": str(note), "resourceType": "text", "linkName": "note"},
        {"resourceKey": str(robot), "resourceType": "RPA", "linkName": "r"},
        {"resourceKey": str(form), "resourceType": "Form", "linkName": None},
    ]
    golden("linked_resources", "\n".join(engine.trace) + "\n")


def test_a_job_keeps_the_version_that_was_the_latest_when_its_task_began(engine):
    engine.deploy(model(LATEST))
    first = deploy(engine, "one")
    engine.start()
    second = deploy(engine, "two")
    assert linked(engine) == [first]
    engine.start()
    assert linked(engine) == [second]
    engine.run(DeleteResource(second))
    assert linked(engine) == [second]
    engine.start()
    assert linked(engine) == [first]


def test_what_is_not_deployed_is_an_incident_until_it_is(engine):
    engine.deploy(model(LATEST))
    engine.start()
    text = "Expected to link a resource with id 'note.md', but none is found. Deploy it, and resolve the incident."
    assert engine.incidents == [("work", "RESOURCE_NOT_FOUND", text)]
    deploy(engine, "of another tenant", tenant="t")
    engine.resolve()
    assert [kind for _, kind, _ in engine.incidents] == ["RESOURCE_NOT_FOUND"]
    key = deploy(engine, "one")
    engine.resolve()
    assert (engine.incidents, linked(engine)) == ([], [key])


def test_a_form_that_is_not_deployed_is_an_incident_of_its_own_type(engine):
    engine.deploy(model('resourceId="ask" resourceType="form"'))
    engine.start()
    assert [(kind, text[:38]) for _, kind, text in engine.incidents] == [
        ("FORM_NOT_FOUND", "Expected to link a form with id 'ask',"),
    ]


@pytest.mark.parametrize(
    ("binding", "text"),
    [
        ('bindingType="versionTag" versionTag="v2"', " and version tag 'v2', but none is found."),
        ('bindingType="deployment"', " in the deployment of the process, but it has none. Deploy the process with"),
    ],
)
def test_the_binding_selects_the_version(engine, binding, text):
    content = model(f'resourceId="robot" resourceType="RPA" {binding}')
    engine.deploy(content)
    deploy(engine, RPA.format("v1", "a"), "a.rpa")
    engine.start()
    ((_, kind, message),) = engine.incidents
    assert (kind, message.startswith(f"Expected to link a resource with id 'robot'{text}")) == (
        "RESOURCE_NOT_FOUND",
        True,
    )
    tagged = deploy(engine, RPA.format("v2", "b"), "a.rpa")
    deploy(engine, RPA.format("v3", "c"), "a.rpa")
    files = {"p.bpmn": content + b"<!-- new -->", "a.rpa": RPA.format("v4", "d").encode()}
    together = engine.memory.deploy_all(files).resources[0].resource_key
    engine.start()
    assert linked(engine) == [tagged if "versionTag" in binding else together]


def test_the_id_of_a_link_is_a_text(engine):
    engine.deploy(model('resourceId="=7" resourceType="text"'))
    engine.start()
    assert [kind for _, kind, _ in engine.incidents] == ["EXTRACT_VALUE_ERROR"]


def test_a_task_that_a_modification_begins_links_the_version_of_now(engine):
    engine.deploy(model(LATEST))
    deploy(engine, "one")
    instance = engine.start()
    second = deploy(engine, "two")
    handled = engine.run(ModifyInstance(instance, (ActivateInstruction("work"),)))
    assert handled.rejection is None
    assert linked(engine) == [second]
