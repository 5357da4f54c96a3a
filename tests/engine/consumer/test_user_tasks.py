"""User tasks, taken flows and counts in the tables, with a consumer that loads every tree anew."""

import json

import pytest

from tests.engine.whole_engine import HEAD, START_MS, WholeEngine
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance
from vivero.core.records.user_tasks import AssignUserTask, ClaimUserTask, CompleteUserTask, UpdateUserTask
from vivero.engine.consumer.settings import ConsumerSettings
from vivero.storage.cluster import clock

DECIDE = (
    f'{HEAD}<process id="p" name="Deciding" isExecutable="true"><startEvent id="start"/>'
    '<userTask id="decide" name="Decide"><extensionElements><zeebe:userTask/>'
    '<zeebe:assignmentDefinition candidateGroups="a, b" candidateUsers="u"/><zeebe:priorityDefinition priority="70"/>'
    '<zeebe:taskSchedule dueDate="2030-01-01T00:00:00Z"/><zeebe:formDefinition externalReference="form"/>'
    '<zeebe:taskHeaders><zeebe:header key="color" value="red"/></zeebe:taskHeaders>'
    '</extensionElements></userTask><endEvent id="end"/><sequenceFlow id="in" sourceRef="start" targetRef="decide"/>'
    '<sequenceFlow id="out" sourceRef="decide" targetRef="end"/></process></definitions>'
).encode()


@pytest.fixture
async def engine(migrated, connection):
    await clock.pin(connection, START_MS)
    engine = WholeEngine(migrated, consumer_settings=ConsumerSettings(cache_bytes=0))
    async with engine.running():
        await engine.deploy(DECIDE)
        yield engine


async def only(engine):
    """The only task, as a dictionary."""
    query = "SELECT row_to_json(t) FROM (SELECT *, to_epoch_ms(ended_at) AS ended FROM user_tasks) t"
    return json.loads(await engine.value(query))


async def test_a_task_is_a_row_with_what_is_known_of_its_instance(engine):
    await engine.create()
    row = await only(engine)
    assert (await engine.value("SELECT to_epoch_ms(due_at) FROM user_tasks")) == 1_893_456_000_000
    keys = ("element_id", "name", "process_id", "process_version", "process_name", "state", "assignee", "priority")
    assert [row[key] for key in keys] == ["decide", "Decide", "p", 1, "Deciding", "CREATED", None, 70]
    assert (row["candidate_groups"], row["candidate_users"], row["headers"]) == (["a", "b"], ["u"], {"color": "red"})
    assert (row["external_form"], row["form_key"], row["follow_up_at"], row["ended_at"]) == ("form", None, None, None)
    assert await engine.value("SELECT to_epoch_ms(created_at) FROM user_tasks") == START_MS


async def test_tasks_that_are_loaded_again_are_changed_and_completed(engine):
    await engine.create()
    key = (await only(engine))["user_task_key"]
    assert (await engine.run(ClaimUserTask(key, "ada"))).rejection is None
    assert (await engine.run(ClaimUserTask(key, "bob"))).rejection.code is RejectionCode.INVALID_STATE
    await engine.run(
        UpdateUserTask(key, {"priority": 1, "due_at": None, "candidate_groups": (), "follow_up_at": 5_000})
    )
    row = await only(engine)
    assert (row["assignee"], row["priority"], row["due_at"], row["candidate_groups"]) == ("ada", 1, None, [])
    assert (row["candidate_users"], row["headers"], row["external_form"]) == (["u"], {"color": "red"}, "form")
    assert await engine.value("SELECT to_epoch_ms(follow_up_at) FROM user_tasks") == 5_000
    await engine.run(AssignUserTask(key, None))
    assert (await only(engine))["assignee"] is None
    await engine.run(CompleteUserTask(key))
    row = await only(engine)
    assert (row["state"], row["ended"]) == ("COMPLETED", START_MS)
    assert list(engine.ended.values()) == ["COMPLETED"]
    assert (await engine.run(CompleteUserTask(key))).rejection.code is RejectionCode.NOT_FOUND


async def test_what_terminates_an_instance_is_known_when_it_is_loaded_again(engine):
    await engine.run(CreateInstance("p", terminate_after=("decide",)))
    await engine.run(CompleteUserTask((await only(engine))["user_task_key"]))
    assert list(engine.ended.values()) == ["TERMINATED"]
    assert await engine.rows("SELECT 1 FROM element_instances WHERE element_id = 'end'") == []


async def test_a_task_that_was_loaded_is_cancelled_with_its_instance(engine):
    await engine.create()
    row = await only(engine)
    assert (await engine.run(CancelInstance(row["process_instance_key"]))).rejection is None
    row = await only(engine)
    assert (row["state"], row["ended"]) == ("CANCELED", START_MS)


async def test_flows_that_were_taken_stand_at_the_element_that_took_them(engine):
    await engine.create(count=2)
    keys = [key for (key,) in await engine.rows("SELECT user_task_key FROM user_tasks ORDER BY 1")]
    flows = "SELECT element_id, flows FROM element_instances WHERE flows IS NOT NULL ORDER BY element_instance_key"
    assert await engine.rows(flows) == [("start", ["in"])] * 2
    await engine.run(CompleteUserTask(keys[0]))
    assert await engine.rows(flows) == [("start", ["in"]), ("decide", ["out"]), ("start", ["in"])]


async def test_elements_are_counted_in_each_state(engine):
    counts = (
        "SELECT element_id, sum(active)::int, sum(completed)::int, sum(canceled)::int "
        "FROM counted_elements WHERE element_id <> '' GROUP BY 1 ORDER BY 1"
    )
    await engine.create(count=3)
    assert await engine.rows(counts) == [("decide", 3, 0, 0), ("start", 0, 3, 0)]
    keys = [key for (key,) in await engine.rows("SELECT user_task_key FROM user_tasks ORDER BY 1")]
    await engine.run(CompleteUserTask(keys[0]))
    await engine.run(
        CancelInstance((await engine.rows("SELECT process_instance_key FROM user_tasks ORDER BY 1"))[1][0])
    )
    assert await engine.rows(counts) == [("decide", 1, 1, 1), ("end", 0, 1, 0), ("start", 0, 3, 0)]
