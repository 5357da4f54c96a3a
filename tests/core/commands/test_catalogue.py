"""Deployments, versions, deletion; and creating instances by id, version and key."""

import pytest

from tests.core.engine import raw
from tests.core.models import ONE_TASK, end, file, process, process_element, start, task
from vivero.core.memory import InvalidDeployment
from vivero.core.records.catalogue import DeleteResource, RetireDefinition
from vivero.core.records.effects import RejectionCode
from vivero.core.records.instances import CancelInstance, CreateInstance

NOTHING = process(start(), end(), "start > end")


def version(number, tag=None):
    """A process `p` whose files differ by version."""
    return process(start(), task("work", type=f"v{number}"), "start > work", tag=tag)


def create(engine, **how):
    return engine.run(CreateInstance(**how))


def states(engine):
    return {row["version"]: row["state"] for (table, _), row in engine.rows.items() if table == "Definition"}


# ---- deploying


def test_a_deployment_answers_with_keys_and_versions(engine):
    reply = engine.memory.deploy(NOTHING, "x.bpmn")
    (deployed,) = reply.processes
    assert (deployed.process_definition_id, deployed.process_definition_version) == ("p", 1)
    assert (deployed.resource_name, deployed.tenant_id, reply.tenant_id) == ("x.bpmn", "<default>", "<default>")
    assert deployed.process_definition_key > reply.deployment_key


def test_another_file_is_the_next_version(engine):
    first, second = engine.deploy(version(1)), engine.deploy(version(2))
    assert second > first
    assert states(engine) == {1: "ACTIVE", 2: "ACTIVE"}
    engine.start()
    assert engine.job("work").type == "v2"


def test_the_same_file_again_answers_with_the_existing_key(engine):
    first = engine.deploy(version(1))
    assert engine.deploy(version(1)) == first
    assert states(engine) == {1: "ACTIVE"}


def test_the_same_content_under_another_name_is_another_version(engine):
    first = engine.deploy(version(1))
    assert engine.deploy(version(1), name="other.bpmn") != first


def test_an_old_file_again_is_a_new_version(engine):
    engine.deploy(version(1), version(2), version(1))
    assert states(engine) == {1: "ACTIVE", 2: "ACTIVE", 3: "ACTIVE"}
    engine.start()
    assert engine.job("work").type == "v1"


def test_versions_count_per_process_and_tenant(engine):
    engine.deploy(version(1), version(2))
    engine.deploy(process(start(), id="q"))
    engine.memory.deploy(version(3), tenant="other")
    found = sorted(
        (row["tenant"], row["process_id"], row["version"])
        for (table, _), row in engine.rows.items()
        if table == "Definition"
    )
    assert found == [("<default>", "p", 1), ("<default>", "p", 2), ("<default>", "q", 1), ("other", "p", 1)]


def test_all_processes_of_a_file_are_deployed_in_order(engine):
    keys = engine.deploy(file(process_element(start("s"), id="b"), process_element(start("t"), id="a")))
    assert keys == sorted(keys)
    assert len(set(keys)) == 2
    assert engine.start("a")
    assert engine.start("b")


def test_a_file_of_which_one_process_is_new_is_deployed_whole(engine):
    engine.deploy(file(process_element(start("s"), id="b"), process_element(start("t"), id="a")))
    engine.deploy(process(start("x"), id="a"))
    engine.deploy(file(process_element(start("s"), id="b"), process_element(start("t"), id="a")))
    versions = sorted(
        (row["process_id"], row["version"]) for (table, _), row in engine.rows.items() if table == "Definition"
    )
    assert versions == [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("b", 2)]


def test_a_file_with_problems_is_refused_with_all_of_them(engine):
    with pytest.raises(InvalidDeployment) as refused:
        engine.deploy(process(start(), '<serviceTask id="x"/>', '<serviceTask id="y"/>', "start > x > y"))
    needs = "needs a zeebe:taskDefinition with the type of the job"
    assert refused.value.problems == [f"'p.bpmn' line 1 element '{id}': {needs}" for id in "xy"]
    assert engine.memory.log == []


# ---- creating


def test_creating_answers_with_what_was_created(engine):
    (key,) = engine.deploy(version(1))
    response = create(engine, process_id="p", tags=("t",), business_id="b").response
    assert response.process_definition_key == key
    assert (response.process_definition_id, response.process_definition_version) == ("p", 1)
    assert (response.tenant_id, response.tags, response.business_id) == ("<default>", ("t",), "b")
    instance = engine.state.trees[response.process_instance_key].root
    assert (instance.tags, instance.business_id, instance.created_position, instance.depth) == (("t",), "b", 2, 1)
    assert (instance.name, instance.started_at, instance.version_tag) == ("Process p", 1_000, None)


def test_instances_are_created_by_latest_version_and_key(engine):
    (first,) = engine.deploy(version(1))
    engine.deploy(version(2))
    assert create(engine, process_id="p").response.process_definition_version == 2
    assert create(engine, process_id="p", version=1).response.process_definition_version == 1
    assert create(engine, definition_key=first).response.process_definition_version == 1


def test_an_instance_is_created_by_the_latest_version_with_a_tag(engine):
    engine.deploy(version(1, "stable"))
    (second,) = engine.deploy(version(2, "stable"))
    engine.deploy(version(3, "beta"))
    engine.deploy(version(4))
    assert create(engine, process_id="p", version_tag="stable").response.process_definition_version == 2
    assert create(engine, process_id="p", version_tag="beta").response.process_definition_version == 3
    engine.run(DeleteResource(second))
    assert create(engine, process_id="p", version_tag="stable").response.process_definition_version == 1


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        ({"process_id": "x"}, "process ID 'x'"),
        ({"process_id": "p", "version": 9}, "process ID 'p' and version '9'"),
        ({"process_id": "p", "version": 0}, "process ID 'p' and version '0'"),
        ({"process_id": "p", "version_tag": "x"}, "process ID 'p' and version tag 'x'"),
        ({"definition_key": 77}, "key '77'"),
        ({}, "process ID 'None'"),
    ],
)
def test_an_unknown_definition_is_not_found(engine, how, wanted):
    engine.deploy(version(1))
    rejection = create(engine, **how).rejection
    assert rejection.code is RejectionCode.NOT_FOUND
    assert rejection.reason == f"Expected to find process definition with {wanted}, but none found"


def test_another_tenants_definition_is_not_found(engine):
    (key,) = engine.deploy(version(1))
    for command in (CreateInstance(definition_key=key), CreateInstance("p"), CreateInstance("p", version=1)):
        assert engine.run(command, "other").rejection.code is RejectionCode.NOT_FOUND


def test_instances_go_on_with_the_version_that_they_began_with(engine):
    model = [process(start(), task("a"), task(f"b{n}"), f"start > a > b{n}") for n in (1, 2)]
    engine.deploy(model[0])
    engine.start()
    engine.deploy(model[1])
    engine.complete("a")
    assert engine.jobs == ["b1"]


# ---- deleting


def test_deleting_what_nobody_runs_takes_effect_at_once(engine):
    (key,) = engine.deploy(version(1))
    assert engine.run(DeleteResource(key)).rejection is None
    assert states(engine) == {1: "DELETED"}
    for how in ({"process_id": "p"}, {"definition_key": key}, {"process_id": "p", "version": 1}):
        assert create(engine, **how).rejection.code is RejectionCode.NOT_FOUND


def test_the_version_before_becomes_the_latest(engine):
    engine.deploy(version(1))
    (second,) = engine.deploy(version(2))
    engine.run(DeleteResource(second))
    assert create(engine, process_id="p").response.process_definition_version == 1


def test_a_deleted_versions_number_is_not_given_again(engine):
    (key,) = engine.deploy(version(1))
    engine.run(DeleteResource(key))
    engine.deploy(version(1))
    assert states(engine) == {1: "DELETED", 2: "ACTIVE"}


@pytest.fixture
def draining(engine):
    """Version 1 and a running instance of version 2, which is being deleted."""
    engine.deploy(version(1))
    (engine.second,) = engine.deploy(version(2))
    engine.running = engine.start(), engine.start()
    assert engine.run(DeleteResource(engine.second)).rejection is None
    return engine


def test_a_definition_with_running_instances_drains(draining):
    assert states(draining) == {1: "ACTIVE", 2: "DRAINING"}
    assert create(draining, definition_key=draining.second).rejection.code is RejectionCode.NOT_FOUND
    assert create(draining, process_id="p").response.process_definition_version == 1


def test_a_draining_version_may_still_be_started_by_its_number(draining):
    assert create(draining, process_id="p", version=2).rejection is None


@pytest.mark.parametrize("how", ["complete", "cancel"])
def test_a_draining_definition_goes_when_its_last_instance_ends(draining, how):
    for key in draining.running:
        assert states(draining)[2] == "DRAINING"
        if how == "complete":
            draining.complete("work")
        else:
            draining.run(CancelInstance(key))
    assert states(draining) == {1: "ACTIVE", 2: "DELETED"}
    retired = [row for logged in draining.memory.log for row in logged.handled if row.events and row.seq == 1]
    assert [type(event).__name__ for event in retired[-1].events] == ["DefinitionDeleted"]


def test_deleting_again_while_it_drains_is_accepted(draining):
    handled = draining.run(DeleteResource(draining.second))
    assert (handled.rejection, handled.events) == (None, [])


def test_retiring_what_is_not_draining_does_nothing(draining):
    (first,) = draining.deploy(version(3))
    for key in (draining.second, first, 77):
        handled = draining.run(RetireDefinition(key))
        assert (handled.rejection, handled.events) == (None, [])


def test_an_instance_started_before_the_retirement_keeps_the_definition(draining):
    """The last one ends, and with it the retirement follows; a start by number in between holds it."""
    third = create(draining, process_id="p", version=2).response.process_instance_key
    for key in draining.running:
        draining.run(CancelInstance(key))
    assert states(draining)[2] == "DRAINING"
    draining.run(CancelInstance(third))
    assert states(draining)[2] == "DELETED"


@pytest.mark.parametrize("tenant", ["<default>", "other"])
def test_a_resource_that_is_not_there_cannot_be_deleted(engine, tenant):
    (key,) = engine.deploy(version(1))
    asked = key if tenant == "other" else 77
    rejection = engine.run(DeleteResource(asked), tenant).rejection
    assert rejection.code is RejectionCode.NOT_FOUND
    assert rejection.reason == f"Expected to delete resource but no resource found with key `{asked}`"


def test_a_deleted_definition_cannot_be_deleted_again(engine):
    (key,) = engine.deploy(version(1))
    engine.run(DeleteResource(key))
    assert engine.run(DeleteResource(key)).rejection.code is RejectionCode.NOT_FOUND


def test_running_instances_are_counted(engine):
    (key,) = engine.deploy(ONE_TASK)
    engine.start()
    engine.run(CreateInstance("p", variables=raw({"a": 1})))
    assert engine.state.catalogue.usage[key].running == 2
    engine.complete("work")
    assert engine.state.catalogue.usage[key].running == 1
