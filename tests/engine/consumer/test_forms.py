"""Forms and generic resources in the tables, with a consumer that loads everything anew."""

import json

import pytest

from tests.chaos import replayed
from tests.engine.whole_engine import HEAD, START_MS, WholeEngine
from vivero.core.records.catalogue import DeleteResource
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.cluster import clock

MODEL = (
    f'{HEAD}<process id="p" isExecutable="true"><startEvent id="start"><extensionElements>'
    '<zeebe:formDefinition formId="begin" bindingType="versionTag" versionTag="v1"/></extensionElements></startEvent>'
    '<userTask id="ask"><extensionElements><zeebe:userTask/><zeebe:formDefinition formId="ask"/></extensionElements>'
    '</userTask><sequenceFlow id="in" sourceRef="start" targetRef="ask"/></process></definitions>'
).encode()
TASKS = "SELECT form_key FROM user_tasks ORDER BY user_task_key"


def form(label, tag=None):
    return json.dumps({"id": "ask", "components": [{"type": "text", "text": label}], "versionTag": tag}).encode()


@pytest.fixture
async def engine(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, consumer_settings=ConsumerSettings(cache_bytes=0, max_definitions=0))
    async with engine.running():
        yield engine


async def test_tasks_get_the_latest_form_of_their_time_and_replay_gives_the_same(engine, database):
    await engine.deploy(MODEL)
    await engine.create()
    keys = []
    for label in ("one", "two"):
        keys.append(await engine.deploy_form(form(label, "v1")))
        await engine.create()
    await engine.run(DeleteResource(keys[1]))
    await engine.create()
    assert [key for (key,) in await engine.rows(TASKS)] == [*keys, keys[0]]
    assert await engine.rows("SELECT type FROM incidents") == [("FORM_NOT_FOUND",)]
    assert await replayed.check(database) > 0


async def test_a_version_is_a_row(engine):
    key = await engine.deploy_form(form("one", "v1"))
    assert await engine.deploy_form(form("one", "v1")) == key
    row = await engine.rows(
        "SELECT form_key, tenant_id, form_id, version, version_tag, resource_name, state, to_epoch_ms(deployed_at)"
        " FROM forms"
    )
    assert row == [(key, "<default>", "ask", 1, "v1", "a.form", "ACTIVE", START_MS)]
    await engine.run(DeleteResource(key))
    await engine.deploy_form(form("one", "v1"))
    assert await engine.rows("SELECT version, state FROM forms ORDER BY 1") == [(1, "DELETED"), (2, "ACTIVE")]


async def test_a_start_form_is_kept_with_its_definition(engine):
    (key,) = await engine.deploy(MODEL)
    row = await engine.rows("SELECT start_form_id, start_form_binding, start_form_version_tag FROM process_definitions")
    assert row == [("begin", "versionTag", "v1")]
    assert await engine.deploy(MODEL) == [key]


BOUND = MODEL.replace(b'formId="ask"', b'formId="ask" bindingType="deployment"')


async def test_a_bundle_is_compared_with_what_its_deployment_has_made(engine, database):
    bundle, alone = {"p.bpmn": BOUND, "a.form": form("one")}, {"a.form": form("two")}

    async def versions(files):
        reply = await engine.deploy_together(files)
        return [one["processDefinitionVersion"] for one in reply["processes"]] + [
            one["version"] for one in reply.get("forms", ())
        ]

    assert [await versions(files) for files in (bundle, bundle, alone, bundle | alone, bundle | alone)] == [
        *([1, 1], [1, 1], [2]),
        *([2, 3], [2, 3]),
    ]
    assert await versions({"p.bpmn": BOUND}) == [3]
    assert await replayed.check(database) > 0


LINKED = (
    f'{HEAD}<process id="p" isExecutable="true"><startEvent id="start"/><serviceTask id="work"><extensionElements>'
    '<zeebe:taskDefinition type="w"/><zeebe:linkedResources><zeebe:linkedResource resourceId="note.md"'
    ' resourceType="text" bindingType="deployment"/></zeebe:linkedResources></extensionElements></serviceTask>'
    '<sequenceFlow id="in" sourceRef="start" targetRef="work"/></process></definitions>'
).encode()


async def test_jobs_get_the_resource_of_the_deployment_and_replay_gives_the_same(engine, database):
    versions = []
    for content in (b"one", b"one", b"two"):
        reply = await engine.deploy_together({"p.bpmn": LINKED, "note.md": content})
        versions.append(reply["resources"][0]["version"])
        await engine.create()
    await engine.run(DeleteResource(reply["resources"][0]["resourceKey"]))
    await engine.create()
    assert versions == [1, 1, 2]
    keys = [key for (key,) in await engine.rows("SELECT resource_key FROM generic_resources ORDER BY 1")]
    headers = await engine.rows("SELECT headers::json ->> 'linkedResources' FROM jobs ORDER BY job_key")
    assert [int(json.loads(text)[0]["resourceKey"]) for (text,) in headers] == [keys[0], keys[0], keys[1]]
    assert await engine.rows("SELECT type FROM incidents") == [("RESOURCE_NOT_FOUND",)]
    states = await engine.rows("SELECT resource_id, version, state FROM generic_resources ORDER BY version")
    assert states == [("note.md", 1, "ACTIVE"), ("note.md", 2, "DELETED")]
    assert await replayed.check(database) > 0
