"""The official Python client, unmodified, against the whole program: every operation that it has and we serve.

It decodes every answer strictly: a missing field or an unknown value raises. It runs in a thread, blocking or with its
own asyncio loop, as its users run it.
"""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
import trio

from tests.api.official import models, sdk

MODELS = Path(__file__).parents[1] / "models"
AGENT = Path(__file__).parents[2] / "examples" / "agent" / "support.bpmn"
CLAIM = Path(__file__).parents[2] / "examples" / "claim"


def deploy(client, *names):
    return client.deploy_resources_from_files([str(MODELS / name) for name in names]).processes


def start(client, process_definition_id="one-task", **more):
    created = models.ProcessCreationById(process_definition_id=process_definition_id, **more)
    return client.create_process_instance(data=created)


def activate(client, type_="work", **more):
    ask = models.JobActivationRequest(type_=type_, timeout=60_000, max_jobs_to_activate=10, **more)
    return client.activate_jobs(data=ask).jobs


def variables(model, **values):
    return getattr(models, model).from_dict(values)


async def test_the_cluster(in_thread):
    def use(client):
        topology = client.get_topology()
        assert topology.brokers[0].partitions[0].role == "leader"
        assert client.get_license().valid_license
        assert client.get_authentication().username == "anonymous"
        client.get_status()

    await in_thread(use)


async def test_the_life_of_a_process(in_thread):
    def use(client):
        deployed = deploy(client, "one_task.bpmn", "order.bpmn")
        assert [process.process_definition_id for process in deployed] == ["one-task", "order"]
        key = deployed[0].process_definition_key
        assert client.get_process_definition(process_definition_key=key).name == "One task"
        assert "serviceTask" in client.get_process_definition_xml(process_definition_key=key)
        instance = start(client, tags=["a"], business_id="b-1")
        assert (instance.process_definition_version, instance.business_id, instance.tags) == (1, "b-1", ["a"])
        (job,) = activate(client)
        assert (job.process_instance_key, job.element_id, job.tags) == (instance.process_instance_key, "work", ["a"])
        done = models.JobCompletionRequest(variables=variables("JobCompletionRequestVariables", y=[1, {"z": None}]))
        client.complete_job(job_key=job.job_key, data=done)
        ended = client.get_process_instance(process_instance_key=instance.process_instance_key)
        assert ended.state == "COMPLETED"
        found = client.search_variables(data=models.VariableSearchQuery()).items
        assert [(variable.name, json.loads(variable.value)) for variable in found] == [("y", [1, {"z": None}])]
        variable = client.get_variable(variable_key=found[0].variable_key)
        assert variable.value == '[1,{"z":null}]'
        elements = client.search_element_instances(data=models.ElementInstanceSearchQuery()).items
        assert {(element.element_id, str(element.state)) for element in elements} == {
            ("start", "COMPLETED"),
            ("work", "COMPLETED"),
            ("end", "COMPLETED"),
        }
        key = elements[0].element_instance_key
        assert client.get_element_instance(element_instance_key=key).element_instance_key == key

    await in_thread(use)


async def test_a_job_that_fails_and_its_incident(in_thread):
    def use(client):
        deploy(client, "one_task.bpmn")
        start(client)
        (job,) = activate(client)
        client.fail_job(job_key=job.job_key, data=models.JobFailRequest(retries=1, error_message="once"))
        (job,) = activate(client)
        assert job.retries == 1
        client.fail_job(job_key=job.job_key, data=models.JobFailRequest(error_message="twice"))
        (incident,) = client.search_incidents(data=models.IncidentSearchQuery()).items
        assert (str(incident.error_type), incident.error_message) == ("JOB_NO_RETRIES", "twice")
        assert client.get_incident(incident_key=incident.incident_key).job_key == job.job_key
        of_instance = client.search_process_instance_incidents(
            process_instance_key=incident.process_instance_key, data=models.IncidentSearchQuery()
        )
        assert len(of_instance.items) == 1
        with pytest.raises(sdk.errors.ConflictError):
            client.resolve_incident(incident_key=incident.incident_key, data=models.IncidentResolutionRequest())
        changes = models.JobUpdateRequest(changeset=models.JobChangeset(retries=2))
        client.update_job(job_key=job.job_key, data=changes)
        client.resolve_incident(incident_key=incident.incident_key, data=models.IncidentResolutionRequest())
        (found,) = client.search_jobs(data=models.JobSearchQuery()).items
        assert (found.job_key, str(found.state), found.retries) == (job.job_key, "CREATED", 2)
        (job,) = activate(client)
        client.throw_job_error(job_key=job.job_key, data=models.JobErrorRequest(error_code="E1"))
        (incident,) = client.search_incidents(
            data=models.IncidentSearchQuery.from_dict({"filter": {"state": "ACTIVE"}})
        ).items
        assert str(incident.error_type) == "UNHANDLED_ERROR_EVENT"

    await in_thread(use)


async def test_instances_are_searched_cancelled_and_their_definition_deleted(in_thread):
    def use(client):
        (process,) = deploy(client, "one_task.bpmn")
        keys = [start(client, business_id=f"b-{n}").process_instance_key for n in range(3)]
        given = models.SetVariableRequest(variables=variables("SetVariableRequestVariables", size=10_000))
        client.create_element_instance_variables(element_instance_key=keys[1], data=given)

        def search(**filter):
            query = models.ProcessInstanceSearchQuery.from_dict({"filter": filter})
            return [item.process_instance_key for item in client.search_process_instances(data=query).items]

        assert search() == keys
        assert search(variables=[{"name": "size", "value": "10000"}]) == [keys[1]]
        assert search(businessId={"$in": ["b-0", "b-2"]}) == [keys[0], keys[2]]
        later = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
        assert search(startDate={"$lt": later}, state="ACTIVE") == keys
        client.cancel_process_instance(process_instance_key=keys[0], data=models.CancelProcessInstanceRequest())
        assert search(state="TERMINATED") == [keys[0]]
        with pytest.raises(sdk.errors.NotFoundError):
            client.cancel_process_instance(process_instance_key=keys[0], data=models.CancelProcessInstanceRequest())
        client.delete_resource(resource_key=process.process_definition_key, data=models.DeleteResourceRequest())
        (draining,) = client.search_process_definitions(data=models.ProcessDefinitionSearchQuery()).items
        assert str(draining.state) == "DRAINING"
        for key in keys[1:]:
            client.cancel_process_instance(process_instance_key=key, data=models.CancelProcessInstanceRequest())
        with pytest.raises(sdk.errors.NotFoundError):
            client.get_process_definition(process_definition_key=process.process_definition_key)
        with pytest.raises(sdk.errors.UnexpectedStatus) as unknown:
            start(client)
        assert unknown.value.status_code == 404

    await in_thread(use)


async def test_an_ad_hoc_sub_process(in_thread):
    def use(client):
        client.deploy_resources_from_files([str(AGENT)])
        given = variables("ProcessInstanceCreationInstructionBaseVariables", question="17?")
        start(client, process_definition_id="support", variables=given)
        (agent,) = activate(client, type_="support-agent")
        assert (str(agent.kind), agent.element_id) == ("AD_HOC_SUB_PROCESS", "agent")
        tool = {"elementId": "findOrder", "variables": {"toolCall": {"tool": "findOrder", "order": 17}}}
        asked = models.AdHocSubProcessActivateActivitiesInstruction.from_dict({"elements": [tool]})
        client.activate_ad_hoc_sub_process_activities(
            ad_hoc_sub_process_instance_key=agent.element_instance_key, data=asked
        )
        result = {"type": "adHocSubProcess", "activateElements": [tool]}
        client.complete_job(job_key=agent.job_key, data=models.JobCompletionRequest.from_dict({"result": result}))
        for job in activate(client, type_="find-order"):
            assert job.variables.to_dict()["order"] == 17
            client.complete_job(job_key=job.job_key, data=models.JobCompletionRequest())
        (agent,) = activate(client, type_="support-agent")
        assert len(agent.variables.to_dict()["results"]) == 2
        done = {"result": {"type": "adHocSubProcess", "isCompletionConditionFulfilled": True}}
        client.complete_job(job_key=agent.job_key, data=models.JobCompletionRequest.from_dict(done))
        elements = client.search_element_instances(data=models.ElementInstanceSearchQuery()).items
        assert sorted(str(element.type_) for element in elements if element.element_id.startswith("agent")) == [
            "AD_HOC_SUB_PROCESS",
            "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
            "AD_HOC_SUB_PROCESS_INNER_INSTANCE",
        ]
        assert {str(element.state) for element in elements} == {"COMPLETED"}

    await in_thread(use)


async def test_batch_operations(in_thread):
    def use(client):
        deploy(client, "one_task.bpmn")
        keys = {start(client, tags=["batch"]).process_instance_key for _ in range(3)}
        filter_ = models.ProcessInstanceCancellationBatchOperationRequest.from_dict({"filter": {"tags": ["batch"]}})
        made = client.cancel_process_instances_batch_operation(data=filter_)
        assert made.batch_operation_type == "CANCEL_PROCESS_INSTANCE"
        found = client.get_batch_operation(batch_operation_key=made.batch_operation_key)
        while found.state in ("CREATED", "ACTIVE"):
            found = client.get_batch_operation(batch_operation_key=made.batch_operation_key)
        counts = (found.operations_total_count, found.operations_completed_count, found.operations_failed_count)
        assert (found.state, counts, found.actor_id) == ("COMPLETED", (3, 3, 0), "anonymous")
        items = client.search_batch_operation_items(
            data=variables("BatchOperationItemSearchQuery", filter={"batchOperationKey": made.batch_operation_key})
        ).items
        assert {item.process_instance_key for item in items} == keys
        assert {item.state for item in items} == {"COMPLETED"}
        assert [each.state for each in client.search_batch_operations().items] == ["COMPLETED"]
        retry = models.ProcessInstanceIncidentResolutionBatchOperationRequest.from_dict({"filter": {"state": "ACTIVE"}})
        assert client.resolve_incidents_batch_operation(data=retry).batch_operation_type == "RESOLVE_INCIDENT"
        with pytest.raises(sdk.errors.BadRequestError, match="No filter provided"):
            client.resolve_incidents_batch_operation()
        with pytest.raises(sdk.errors.ApiError, match="it is in state 'COMPLETED'"):
            client.suspend_batch_operation(batch_operation_key=made.batch_operation_key)

    await in_thread(use)


async def test_pages(in_thread):
    def use(client):
        deploy(client, "one_task.bpmn")
        keys = [start(client).process_instance_key for _ in range(5)]
        found, page = [], {"limit": 2}
        while True:
            query = models.ProcessInstanceSearchQuery.from_dict({"page": page})
            answer = client.search_process_instances(data=query)
            if not answer.items:
                assert answer.page.total_items == 5
                break
            found += [item.process_instance_key for item in answer.items]
            page = {"after": answer.page.end_cursor, "limit": 2}
        assert found == keys

    await in_thread(use)


async def test_an_expression(in_thread):
    def use(client):
        ask = models.ExpressionEvaluationRequest(
            expression="=x * 2", variables=models.ExpressionEvaluationRequestVariables.from_dict({"x": 21})
        )
        assert client.evaluate_expression(data=ask).result == 42

    await in_thread(use)


async def test_an_instance_is_awaited_while_a_worker_works(in_thread, program_address):
    """A job worker with the client's own settings, but for its pause of a second between two polls."""

    async def use():
        async with sdk.CamundaAsyncClient() as client:
            await client.deploy_resources_from_files([str(MODELS / "one_task.bpmn")])

            async def work(job):
                return {"answer": job.variables.to_dict()["question"] * 2}

            config = sdk.WorkerConfig(job_type="work", job_timeout_milliseconds=60_000)
            worker = client.create_job_worker(config=config, callback=work)
            created = await client.create_process_instance(
                data=models.ProcessCreationById(
                    process_definition_id="one-task",
                    variables=models.ProcessInstanceCreationInstructionBaseVariables.from_dict({"question": 21}),
                    await_completion=True,
                    request_timeout=20_000,
                )
            )
            worker.stop()
            return created

    with trio.fail_after(60):
        created = await trio.to_thread.run_sync(partial(asyncio.run, use()), abandon_on_cancel=True)
    assert created.variables.to_dict() == {"question": 21, "answer": 42}


# ---- user tasks, messages, signals, and what belongs to instances


def deploy_text(client, folder, **models_by_name):
    """Deploy models that are made here."""
    for name, content in models_by_name.items():
        (folder / f"{name}.bpmn").write_bytes(content)
    return client.deploy_resources_from_files([str(folder / f"{name}.bpmn") for name in models_by_name]).processes


def create(client, process_id, **values):
    given = models.ProcessCreationById.from_dict({"processDefinitionId": process_id, "variables": values})
    return client.create_process_instance(data=given).process_instance_key


def bpmn(content, id, roots=""):
    """A file with one process; its parts are XML."""
    return (
        '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"'
        f' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">{roots}'
        f'<process id="{id}" isExecutable="true"><startEvent id="start"/>'
        f'<sequenceFlow id="f1" sourceRef="start" targetRef="it"/>{content}'
        '<sequenceFlow id="f2" sourceRef="it" targetRef="end"/><endEvent id="end"/></process></definitions>'
    ).encode()


USER_TASK = bpmn(
    '<userTask id="it" name="Approve"><extensionElements><zeebe:userTask/>'
    '<zeebe:assignmentDefinition assignee="=who" candidateGroups="sales" candidateUsers="mia, jo"/>'
    '<zeebe:taskSchedule dueDate="2031-01-01T00:00:00+02:00"/><zeebe:priorityDefinition priority="70"/>'
    "</extensionElements></userTask>",
    "approval",
)
WAITS = bpmn(
    '<intermediateCatchEvent id="it"><messageEventDefinition messageRef="m"/></intermediateCatchEvent>',
    "waits",
    '<message id="m" name="hello"><extensionElements><zeebe:subscription correlationKey="=k"/></extensionElements>'
    "</message>",
)
LISTENS = bpmn(
    '<intermediateCatchEvent id="it"><signalEventDefinition signalRef="s"/></intermediateCatchEvent>',
    "listens",
    '<signal id="s" name="alarm"/>',
)
CALLS = bpmn(
    '<callActivity id="it"><extensionElements><zeebe:calledElement processId="one-task"/></extensionElements>'
    "</callActivity>",
    "calls",
)


async def test_the_life_of_a_user_task(in_thread, tmp_path):
    def use(client):
        deploy_text(client, tmp_path, approval=USER_TASK)
        instance = create(client, "approval", who="jo")
        wanted = {"processInstanceKey": instance, "assignee": "jo", "priority": {"$gte": 60}, "candidateGroup": "sales"}
        query = models.UserTaskSearchQuery.from_dict({"filter": wanted, "sort": [{"field": "dueDate"}]})
        (task,) = client.search_user_tasks(data=query).items
        key = task.user_task_key
        assert (task.name, task.state, task.candidate_users, task.priority) == ("Approve", "CREATED", ["mia", "jo"], 70)
        assert task.due_date == datetime(2030, 12, 31, 22, tzinfo=UTC)
        client.unassign_user_task(user_task_key=key)
        claim = partial(models.UserTaskAssignmentRequest, allow_override=False)
        client.assign_user_task(user_task_key=key, data=claim(assignee="mia"))
        with pytest.raises(sdk.errors.ConflictError):
            client.assign_user_task(user_task_key=key, data=claim(assignee="jo"))
        change = {"changeset": {"dueDate": "", "candidateGroups": [], "priority": 5}}
        client.update_user_task(user_task_key=key, data=models.UserTaskUpdateRequest.from_dict(change))
        task = client.get_user_task(user_task_key=key)
        assert (task.assignee, task.due_date, task.candidate_groups, task.priority) == ("mia", None, [], 5)
        seen = client.search_user_task_variables(user_task_key=key, data=models.UserTaskVariableSearchQueryRequest())
        assert [(variable.name, variable.value) for variable in seen.items] == [("who", '"jo"')]
        done = models.UserTaskCompletionRequest.from_dict({"variables": {"approved": True}})
        client.complete_user_task(user_task_key=key, data=done)
        assert client.get_user_task(user_task_key=key).state == "COMPLETED"
        assert client.get_process_instance(process_instance_key=instance).state == "COMPLETED"
        with pytest.raises(sdk.errors.NotFoundError):
            client.complete_user_task(user_task_key=key, data=done)

    await in_thread(use)


async def test_forms_of_a_start_and_of_a_task(in_thread):
    """Deploying the form is what resolves the incident of a task without one."""

    def use(client):
        model, file, review = (CLAIM / name for name in ("claim.bpmn", "file-claim.form", "review-claim.form"))
        deployed = client.deploy_resources_from_files([str(model), str(file)])
        (process,), (form,) = deployed.processes, deployed.forms
        assert (form.form_id, form.version, form.resource_name) == ("file-claim", 1, "file-claim.form")
        found = client.get_start_process_form(process_definition_key=process.process_definition_key)
        assert (found.form_key, found.schema) == (form.form_key, file.read_text())
        assert client.get_form_by_key(form_key=form.form_key) == found
        create(client, "claim", amount=10)
        (incident,) = client.search_incidents(data=models.IncidentSearchQuery()).items
        assert incident.error_type == "FORM_NOT_FOUND"
        (review_form,) = client.deploy_resources_from_files([str(review)]).forms
        client.resolve_incident(incident_key=incident.incident_key, data=models.IncidentResolutionRequest())
        (task,) = client.search_user_tasks(data=models.UserTaskSearchQuery()).items
        assert task.form_key == review_form.form_key
        client.delete_resource(resource_key=review_form.form_key, data=models.DeleteResourceRequest())
        assert client.get_user_task_form(user_task_key=task.user_task_key).schema == review.read_text()
        with pytest.raises(sdk.errors.NotFoundError):
            client.get_form_by_key(form_key=review_form.form_key)
        with pytest.raises(sdk.errors.NotFoundError):
            client.get_resource(resource_key=form.form_key)

    await in_thread(use)


async def test_generic_resources(in_thread, tmp_path):
    def use(client):
        robot, note = tmp_path / "robot.rpa", tmp_path / "note.md"
        robot.write_text('{"id": "robot", "versionTag": "v1"}')
        note.write_bytes(b"\x00\xff")
        deployed = client.deploy_resources_from_files([str(robot), str(note)]).deployments
        made = {one.resource.resource_id: one.resource.resource_key for one in deployed}
        script, text = made["robot"], made["note.md"]
        asked = models.ResourceSearchQuery.from_dict({"filter": {"resourceId": {"$in": ["robot", "gone"]}}})
        assert [item.resource_key for item in client.search_resources(data=asked).items] == [script]
        assert client.get_resource(resource_key=script).version_tag == "v1"
        assert client.get_resource_content(resource_key=script).to_dict() == {"id": "robot", "versionTag": "v1"}
        assert client.get_resource_content_binary(resource_key=text).payload.read() == b"\x00\xff"
        client.delete_resource(resource_key=text, data=models.DeleteResourceRequest())
        with pytest.raises(sdk.errors.NotFoundError):
            client.get_resource(resource_key=text)

    await in_thread(use)


async def test_cluster_variables(in_thread):
    def use(client):
        create, update = models.CreateClusterVariableRequest.from_dict, models.UpdateClusterVariableRequest.from_dict
        made = client.create_global_cluster_variable(data=create({"name": "limit", "value": {"n": 10}}))
        assert (str(made.scope), made.tenant_id, json.loads(made.value)) == ("GLOBAL", None, {"n": 10})
        with pytest.raises(sdk.errors.ConflictError):
            client.create_global_cluster_variable(data=create({"name": "limit", "value": {}}))
        own = {"tenant_id": "<default>", "name": "limit"}
        request = create({"name": "limit", "value": {"n": 20}, "metadata": {"team": "x"}, "kind": "JSON"})
        assert client.create_tenant_cluster_variable(tenant_id="<default>", data=request).tenant_id == "<default>"
        changed = client.update_tenant_cluster_variable(**own, data=update({"value": {"n": 30}}))
        assert client.get_tenant_cluster_variable(**own) == changed
        query = models.ClusterVariableSearchQueryRequest.from_dict({"filter": {"name": "limit"}})
        found = client.search_cluster_variables(data=query).items
        assert [(str(each.scope), each.is_truncated) for each in found] == [("GLOBAL", False), ("TENANT", False)]
        told = models.ExpressionEvaluationRequest(expression="=camunda.vars.env.limit.n")
        assert client.evaluate_expression(data=told).result == 30
        client.delete_tenant_cluster_variable(**own)
        assert client.evaluate_expression(data=told).result == 10
        client.update_global_cluster_variable(name="limit", data=update({"value": {"n": 11}}))
        assert json.loads(client.get_global_cluster_variable(name="limit").value) == {"n": 11}
        client.delete_global_cluster_variable(name="limit")
        with pytest.raises(sdk.errors.NotFoundError):
            client.get_global_cluster_variable(name="limit")

    await in_thread(use)


async def test_messages_and_their_subscriptions(in_thread, tmp_path):
    def use(client):
        deploy_text(client, tmp_path, waits=WAITS)
        instance = create(client, "waits", k="x")
        mine = {"filter": {"processInstanceKey": instance}}
        query = models.MessageSubscriptionSearchQuery.from_dict(mine)
        (waiting,) = client.search_message_subscriptions(data=query).items
        told = (waiting.message_subscription_state, waiting.message_name, waiting.correlation_key, waiting.element_id)
        assert told == ("CREATED", "hello", "x", "it")
        say = models.MessageCorrelationRequest.from_dict(
            {"name": "hello", "correlationKey": "x", "variables": {"a": 1}}
        )
        assert client.correlate_message(data=say).process_instance_key == instance
        assert client.search_message_subscriptions(data=query).items[0].message_subscription_state == "CORRELATED"
        query = models.CorrelatedMessageSubscriptionSearchQuery.from_dict(mine)
        (correlated,) = client.search_correlated_message_subscriptions(data=query).items
        assert correlated.subscription_key == waiting.message_subscription_key
        with pytest.raises(sdk.errors.NotFoundError):
            client.correlate_message(data=say)
        kept = {"name": "hello", "correlationKey": "y", "timeToLive": 60_000, "messageId": "one"}
        publish = partial(client.publish_message, data=models.MessagePublicationRequest.from_dict(kept))
        publish()
        with pytest.raises(sdk.errors.ApiError) as refused:
            publish()
        assert refused.value.status_code == 409
        instance = create(client, "waits", k="y")
        assert client.get_process_instance(process_instance_key=instance).state == "COMPLETED"

    await in_thread(use)


async def test_signals_and_the_hierarchy_of_calls(in_thread, tmp_path):
    def use(client):
        deploy(client, "one_task.bpmn")
        deploy_text(client, tmp_path, listens=LISTENS, calls=CALLS)
        instance = create(client, "listens")
        client.broadcast_signal(data=models.SignalBroadcastRequest.from_dict({"signalName": "alarm"}))
        assert client.get_process_instance(process_instance_key=instance).state == "COMPLETED"
        root = create(client, "calls", a=1)
        query = models.ProcessInstanceSearchQuery.from_dict({"filter": {"parentProcessInstanceKey": root}})
        (called,) = client.search_process_instances(data=query).items
        child = called.process_instance_key
        above = client.get_process_instance_call_hierarchy(process_instance_key=child)
        assert [entry.process_instance_key for entry in above] == [root, child]
        flows = client.get_process_instance_sequence_flows(process_instance_key=root).items
        assert [flow.element_id for flow in flows] == ["f1"]
        counted = client.get_process_instance_statistics(process_instance_key=root).items
        assert {(one.element_id, one.active, one.completed) for one in counted} == {("start", 0, 1), ("it", 1, 0)}
        counted = client.get_process_definition_statistics(
            process_definition_key=called.process_definition_key, data=models.ProcessDefinitionElementStatisticsQuery()
        ).items
        assert {(one.element_id, one.active) for one in counted} == {("start", 0), ("work", 1)}
        with pytest.raises(sdk.errors.ApiError) as refused:
            client.cancel_process_instance(process_instance_key=child, data=None)
        assert refused.value.status_code == 409
        client.cancel_process_instance(process_instance_key=root, data=None)
        assert client.get_process_instance(process_instance_key=child).state == "TERMINATED"

    await in_thread(use)


FAILS = bpmn(
    '<extensionElements><zeebe:versionTag value="stable"/></extensionElements><scriptTask id="it"><extensionElements>'
    '<zeebe:script expression="=1" resultVariable="x"/><zeebe:ioMapping><zeebe:input source="=assert(a, a &gt; 0)"'
    ' target="b"/></zeebe:ioMapping></extensionElements></scriptTask>',
    "fails",
)
CALLS_IT = CALLS.replace(b"one-task", b"fails").replace(b'"calls"', b'"calls-it"')


async def test_incidents_of_what_was_called(in_thread, tmp_path):
    def use(client):
        deploy_text(client, tmp_path, fails=FAILS, calls=CALLS_IT)
        caller = create(client, "calls-it")
        every = models.IncidentSearchQuery()
        (incident,) = client.search_process_instance_incidents(process_instance_key=caller, data=every).items
        assert (incident.process_definition_id, incident.element_id) == ("fails", "it")
        assert client.get_process_instance(process_instance_key=caller).has_incident
        called = client.get_process_instance(process_instance_key=incident.process_instance_key)
        call = called.parent_element_instance_key
        (same,) = client.search_element_instance_incidents(element_instance_key=call, data=every).items
        assert same.incident_key == incident.incident_key

    await in_thread(use)


async def test_an_instance_by_version_tag(in_thread, tmp_path):
    def use(client):
        deploy_text(client, tmp_path, fails=FAILS)
        deploy_text(client, tmp_path, fails=FAILS.replace(b'"stable"', b'"next"'))
        tag = {"processDefinitionId": "fails", "processDefinitionVersionTag": "stable", "variables": {"a": 1}}
        created = client.create_process_instance(data=models.ProcessCreationByVersionTag.from_dict(tag))
        assert created.process_definition_version == 1
        ended = client.get_process_instance(process_instance_key=created.process_instance_key)
        assert (ended.state, ended.process_definition_version_tag) == ("COMPLETED", "stable")

    await in_thread(use)


async def test_the_system(in_thread):
    def use(client):
        deploy(client, "one_task.bpmn")
        start(client)
        now = datetime.now(UTC)
        used = client.get_usage_metrics(start_time=now - timedelta(days=1), end_time=now + timedelta(days=1))
        assert (used.process_instances, used.active_tenants) == (1, 1)
        assert client.get_system_configuration().job_metrics.export_interval == "PT5M"
        assert str(client.get_cluster_status().status) == "HEALTHY"
        topology = client.get_cluster_topology()
        (tenant,) = topology.physical_tenants
        assert (tenant.physical_tenant_id, tenant.partitions_count) == ("default", 1)
        assert tenant.brokers[0].broker_id == topology.brokers[0].broker_id

    await in_thread(use)


WAITING = """<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"
    targetNamespace="t">
  <message id="paid" name="paid">
    <extensionElements><zeebe:subscription correlationKey="=&quot;7&quot;"/></extensionElements>
  </message>
  <signal id="stop" name="stop"/>
  <process id="waiting" isExecutable="true">
    <startEvent id="start"/><parallelGateway id="fork"/><sequenceFlow id="f0" sourceRef="start" targetRef="fork"/>
    <serviceTask id="work"><extensionElements><zeebe:taskDefinition type="work"/></extensionElements></serviceTask>
    <boundaryEvent id="late" attachedToRef="work">
      <timerEventDefinition><timeDuration>PT1H</timeDuration></timerEventDefinition>
    </boundaryEvent>
    <userTask id="ask"><extensionElements><zeebe:userTask/></extensionElements></userTask>
    <intermediateCatchEvent id="message"><messageEventDefinition messageRef="paid"/></intermediateCatchEvent>
    <intermediateCatchEvent id="signal"><signalEventDefinition signalRef="stop"/></intermediateCatchEvent>
    <intermediateCatchEvent id="hot">
      <conditionalEventDefinition><condition>=degrees &gt; 30</condition></conditionalEventDefinition>
    </intermediateCatchEvent>
    <sequenceFlow id="f1" sourceRef="fork" targetRef="work"/><sequenceFlow id="f2" sourceRef="fork" targetRef="ask"/>
    <sequenceFlow id="f3" sourceRef="fork" targetRef="message"/>
    <sequenceFlow id="f4" sourceRef="fork" targetRef="signal"/><sequenceFlow id="f5" sourceRef="fork" targetRef="hot"/>
    <subProcess id="cooling" triggeredByEvent="true">
      <startEvent id="cold" isInterrupting="false">
        <conditionalEventDefinition>
          <extensionElements><zeebe:conditionalFilter variableEvents="update"/></extensionElements>
          <condition>=degrees &lt; 0</condition></conditionalEventDefinition>
      </startEvent>
    </subProcess>
  </process>
</definitions>
"""


async def test_wait_states_and_names_of_variables(in_thread, tmp_path):
    (tmp_path / "waiting.bpmn").write_text(WAITING)

    def use(client):
        (process,) = client.deploy_resources_from_files([str(tmp_path / "waiting.bpmn")]).processes
        given = variables("ProcessInstanceCreationInstructionBaseVariables", degrees=7, color="red", size=1)
        key = start(client, "waiting", variables=given).process_instance_key

        def found(**filter):
            query = models.ElementInstanceWaitStateQuery.from_dict({"filter": {"processInstanceKey": key, **filter}})
            return client.search_element_instance_wait_states(data=query).items

        waits = {(each.element_id, each.details.wait_state_type): each.details for each in found()}
        assert set(waits) == {
            ("work", "JOB"),
            ("work", "TIMER"),
            ("ask", "USER_TASK"),
            ("message", "MESSAGE"),
            ("signal", "SIGNAL"),
            ("hot", "CONDITION"),
        }
        assert (waits["work", "JOB"].job_type, waits["message", "MESSAGE"].correlation_key) == ("work", "7")
        assert waits["hot", "CONDITION"].expression == "=degrees > 30"
        assert sorted(map(str, waits["hot", "CONDITION"].events)) == ["create", "update"]
        (job,) = found(waitStateType="JOB")
        assert str(job.element_type) == "SERVICE_TASK"
        assert [
            each.element_id for each in found(elementInstanceKey=job.element_instance_key, waitStateType="TIMER")
        ] == ["work"]

        search = client.search_process_definition_variable_names
        named = partial(search, process_definition_key=process.process_definition_key)
        assert [each.name for each in named().items] == ["color", "degrees", "size"]
        query = models.ProcessDefinitionVariableNameSearchQuery.from_dict(
            {"filter": {"name": {"$like": "*e*"}}, "page": {"limit": 1}}
        )
        first = named(data=query)
        assert ([each.name for each in first.items], first.page.total_items) == (["degrees"], 2)

    await in_thread(use)
