"""The official clients, unmodified, operate on running instances: every operation, one by one and as a batch."""

import os
from pathlib import Path

import pytest
import trio

from tests.api.official import models, sdk
from tests.api.test_official_client import activate, start
from tests.core.event_models import model
from tests.core.models import end, task
from tests.core.models import start as begins

SCRIPTS = [Path(__file__).with_name(f"{name}.mjs") for name in ("operations", "older_operations")]
ONE = model(begins(), task("work"), task("check"), end(), "start > work > check > end")
TWO = model(begins(), task("labour", type="work"), task("review"), end(), "start > labour > review > end")


def files(client, folder, **contents):
    """Deploy these files; the keys of their processes."""
    for name, content in contents.items():
        (folder / f"{name}.bpmn").write_bytes(content)
    paths = [str(folder / f"{name}.bpmn") for name in contents]
    return [each.process_definition_key for each in client.deploy_resources_from_files(paths).processes]


def elements(client, key):
    query = {"filter": {"processInstanceKey": key, "state": "ACTIVE"}}
    found = client.search_element_instances(data=models.ElementInstanceSearchQuery.from_dict(query)).items
    return sorted(each.element_id for each in found if each.type_ != "PROCESS")


def finished(client, made):
    """A batch operation at its end: its type, its state, and how many items it has completed."""
    found = client.get_batch_operation(batch_operation_key=made.batch_operation_key)
    while found.state in ("CREATED", "ACTIVE"):
        found = client.get_batch_operation(batch_operation_key=made.batch_operation_key)
    return found.batch_operation_type, found.state, found.operations_completed_count


def refused(function, **given):
    with pytest.raises(sdk.errors.ApiError) as error:
        function(**given)
    return error.value.status_code


@pytest.mark.long
async def test_operations_on_one_instance(in_thread, tmp_path):
    def use(client):
        files(client, tmp_path, one=ONE)
        key = start(client, "p").process_instance_key
        modification = {
            "activateInstructions": [{"elementId": "check"}],
            "terminateInstructions": [{"elementId": "work"}],
        }
        client.modify_process_instance(
            process_instance_key=key, data=models.ProcessInstanceModificationInstruction.from_dict(modification)
        )
        assert elements(client, key) == ["check"]
        source = {"sourceType": "byId", "sourceElementId": "check"}
        move = {"moveInstructions": [{"sourceElementInstruction": source, "targetElementId": "work"}]}
        client.modify_process_instance(
            process_instance_key=key, data=models.ProcessInstanceModificationInstruction.from_dict(move)
        )
        assert elements(client, key) == ["work"]

        (target,) = files(client, tmp_path, one=TWO)
        mapping = [{"sourceElementId": "work", "targetElementId": "labour"}]
        migration = models.ProcessInstanceMigrationInstruction.from_dict(
            {"targetProcessDefinitionKey": target, "mappingInstructions": mapping}
        )
        client.migrate_process_instance(process_instance_key=key, data=migration)
        assert (
            elements(client, key),
            client.get_process_instance(process_instance_key=key).process_definition_key,
        ) == (
            ["labour"],
            target,
        )

        # release 10.0.1 cannot encode a request without a body
        suspend = {"process_instance_key": key, "data": models.SuspendProcessInstanceRequest()}
        client.suspend_process_instance(**suspend)
        suspended = client.get_process_instance(process_instance_key=key)
        assert (suspended.state, suspended.suspended_date is None) == ("SUSPENDED", False)
        assert activate(client) == []
        assert refused(client.suspend_process_instance, **suspend) == 409
        client.resume_process_instance(process_instance_key=key, data=models.ResumeProcessInstanceRequest())
        assert client.get_process_instance(process_instance_key=key).suspended_date is None

    await in_thread(use)


@pytest.mark.long
async def test_business_ids(in_thread, tmp_path):
    def use(client):
        files(client, tmp_path, one=ONE)
        key, other = (start(client, "p").process_instance_key for _ in range(2))
        given = models.ProcessInstanceBusinessIdAssignmentInstruction(business_id="order-7")
        for _ in range(2):
            client.assign_process_instance_business_id(process_instance_key=key, data=given)
        assert client.get_process_instance(process_instance_key=key).business_id == "order-7"
        another = models.ProcessInstanceBusinessIdAssignmentInstruction(business_id="order-8")
        assert refused(client.assign_process_instance_business_id, process_instance_key=key, data=another) == 409
        for job in activate(client):
            assert job.business_id is None, "it was there before"
            done = models.JobCompletionRequest(
                business_id="order-8" if job.process_instance_key == other else "order-7"
            )
            client.complete_job(job_key=job.job_key, data=done)
        checks = {job.process_instance_key: job.business_id for job in activate(client, "check")}
        assert checks == {key: "order-7", other: "order-8"}
        query = {"filter": {"businessId": {"$like": "order-*"}}, "sort": [{"field": "businessId"}]}
        found = client.search_process_instances(data=models.ProcessInstanceSearchQuery.from_dict(query)).items
        assert [(each.process_instance_key, each.business_id) for each in found] == [
            (key, "order-7"),
            (other, "order-8"),
        ]

    await in_thread(use)


@pytest.mark.long
async def test_operations_as_batches(in_thread, tmp_path):
    def use(client):
        files(client, tmp_path, one=ONE)
        keys = [start(client, "p", tags=["batch"]).process_instance_key for _ in range(3)]
        chosen = {"filter": {"tags": ["batch"]}}
        moves = [{"sourceElementId": "work", "targetElementId": "check"}]
        made = client.modify_process_instances_batch_operation(
            data=models.ProcessInstanceModificationBatchOperationRequest.from_dict(chosen | {"moveInstructions": moves})
        )
        assert finished(client, made) == ("MODIFY_PROCESS_INSTANCE", "COMPLETED", 3)
        assert [elements(client, key) for key in keys] == [["check"]] * 3
        (target,) = files(client, tmp_path, one=TWO)
        mapping = [{"sourceElementId": "check", "targetElementId": "review"}]
        plan = {"migrationPlan": {"targetProcessDefinitionKey": target, "mappingInstructions": mapping}}
        made = client.migrate_process_instances_batch_operation(
            data=models.ProcessInstanceMigrationBatchOperationRequest.from_dict(chosen | plan)
        )
        assert finished(client, made) == ("MIGRATE_PROCESS_INSTANCE", "COMPLETED", 3)
        assert [elements(client, key) for key in keys] == [["review"]] * 3
        made = client.suspend_process_instances_batch_operation(
            data=models.ProcessInstanceSuspensionBatchOperationRequest.from_dict(chosen)
        )
        assert finished(client, made) == ("SUSPEND_PROCESS_INSTANCE", "COMPLETED", 3)
        made = client.resume_process_instances_batch_operation(
            data=models.ProcessInstanceResumptionBatchOperationRequest.from_dict(chosen)
        )
        assert finished(client, made) == ("RESUME_PROCESS_INSTANCE", "COMPLETED", 3)
        update = {"filter": {"processInstanceKey": keys[0]}, "changeset": {"retries": 7}}
        made = client.update_jobs_batch_operation(data=models.JobBatchUpdateRequest.from_dict(update))
        assert finished(client, made) == ("UPDATE_JOB", "COMPLETED", 1)
        assert len(activate(client, "check")) == 3

    await in_thread(use)


@pytest.mark.long
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
async def test_the_javascript_clients_operate(program_address, tmp_path, script):
    await run_javascript(script, program_address, tmp_path, one=ONE, two=TWO)


async def run_javascript(script, program_address, folder, **contents):
    """Run the script with these BPMN files. `VIVERO_JAVASCRIPT` names a folder with `node_modules`, which have the
    clients."""
    modules = os.environ.get("VIVERO_JAVASCRIPT")
    if modules is None:
        pytest.skip("VIVERO_JAVASCRIPT names no folder with the official JavaScript client")
    for name, content in contents.items():
        (folder / f"{name}.bpmn").write_bytes(content)
    command = ["node", str(script), modules, *map(str, sorted(folder.iterdir()))]
    strict = {"CAMUNDA_REST_ADDRESS": program_address, "CAMUNDA_SDK_VALIDATION": "req:strict,res:strict"}
    done = await trio.run_process(
        command, env=os.environ | strict, capture_stdout=True, capture_stderr=True, check=False
    )
    assert (done.returncode, done.stdout.decode().splitlines()[-1:]) == (0, ["done"]), done.stdout + done.stderr
    print(done.stdout.decode())
