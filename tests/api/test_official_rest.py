"""Every operation that is served, by the official Python client, which decodes the answers strictly.

The other tests with this client tell stories. Here are the operations that they leave out.
"""

import re
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest

from tests.api.official import PACKAGE, Later, models
from tests.api.test_official_client import start, variables
from tests.api.whole_program import whole_program
from tests.core import message_models
from tests.core.models import end, flow, process, task
from tests.core.models import start as begin
from tests.core.task_listener_models import user_task
from tests.imports import ROOT
from tests.rest_operations import operations

types = Later(f"{PACKAGE}.types")
DAY = timedelta(days=1)
DECISION = (
    '<definitions xmlns="https://www.omg.org/spec/DMN/20191111/MODEL/" id="sizes" name="Sizes" namespace="n">'
    '<decision id="size" name="Size"><variable name="size"/><literalExpression><text>1 + 1</text></literalExpression>'
    "</decision></definitions>"
)
HOT = (
    '<startEvent id="hot"><conditionalEventDefinition><condition>=degrees &gt; 30</condition>'
    "</conditionalEventDefinition></startEvent>"
)
CONTENTS = {
    "broken.bpmn": process(
        begin(), task("work", inputs=[("=assert(n, n > 0)", "n")]), end(), "start > work > end", id="broken"
    ),
    "asks.bpmn": process(begin(), user_task("ask"), end(), "start > ask > end", id="asks"),
    "heat.bpmn": process(HOT, end(), flow("hot", "end"), id="heat"),
    "paid.bpmn": message_models.model(
        begin(),
        message_models.catch("wait"),
        end(),
        "start > wait > end",
        id="paid",
        roots=(message_models.message("paid", "=7"),),
    ),
    "sizes.dmn": DECISION.encode(),
}


@pytest.fixture
async def program_address(rows, database, nursery):
    """A program whose clock clients may set."""
    from vivero.config.sections import Config  # imported late, as whole_program() does

    async with whole_program(Config(control_clock=True), database, nursery) as url:
        yield url


def method(operation: str) -> str:
    """The name of the client's method."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", operation.replace("XML", "Xml")).lower()


def test_every_operation_is_called_by_an_official_client():
    """Those of an alpha included. The scripts call the client for JavaScript, which validates answers, too."""
    files = [path for path in (ROOT / "tests" / "api").rglob("*") if path.suffix in (".py", ".mjs")]
    called = {
        name
        for file in files
        if "official" in (text := file.read_text(encoding="utf-8")) or file.suffix == ".mjs"
        for name in re.findall(r"\bclient\.(\w+)", text)
    }
    left = [one.operation for one in operations() if not one.here.startswith("no")]
    assert [name for name in left if not {name, method(name)} & called] == []


def of(model, **values):
    """The body of a request."""
    return getattr(models, model).from_dict(values)


def ids(found, name):
    return [str(getattr(each, name)) for each in found.items]


def administer(client):
    client.create_admin_user(data=of("UserRequest", username="root", password="a long password", name="R", email="r@x"))
    client.create_user(data=of("UserRequest", username="ann", password="a long password", name="Ann", email="a@x"))
    changed = client.update_user("ann", data=of("UserUpdateRequest", name="Anne", email="a@x"))
    assert changed.name == client.get_user("ann").name == "Anne"
    assert set(ids(client.search_users(), "username")) >= {"root", "ann"}
    rule = {"claimName": "groups", "claimValue": "staff", "name": "Staff"}
    client.create_mapping_rule(data=of("MappingRuleCreateRequest", mappingRuleId="staff", **rule))
    client.update_mapping_rule("staff", data=of("MappingRuleUpdateRequest", **rule | {"name": "Team"}))
    assert client.get_mapping_rule("staff").name == "Team"
    assert ids(client.search_mapping_rule(), "mapping_rule_id") == ["staff"]
    client.create_role(data=of("RoleCreateRequest", roleId="cook", name="Cook"))
    assert client.update_role("cook", data=of("RoleUpdateRequest", name="Chef", description="d")).name == "Chef"
    assert client.get_role("cook").name == "Chef"
    assert "cook" in ids(client.search_roles(), "role_id")
    client.create_group(data=of("GroupCreateRequest", groupId="crew", name="Crew"))
    assert client.update_group("crew", data=of("GroupUpdateRequest", name="Team", description="d")).name == "Team"
    assert client.get_group("crew").name == "Team"
    assert ids(client.search_groups(), "group_id") == ["crew"]
    client.create_tenant(data=of("TenantCreateRequest", tenantId="acme", name="Acme"))
    assert client.update_tenant("acme", data=of("TenantUpdateRequest", name="ACME", description="d")).name == "ACME"
    assert client.get_tenant("acme").name == "ACME"
    assert "acme" in ids(client.search_tenants(), "tenant_id")
    grant = {"ownerId": "ann", "ownerType": "USER", "resourceId": "*", "resourceType": "DOCUMENT"}
    data = of("AuthorizationIdBasedRequest", **grant, permissionTypes=["READ"])
    key = client.create_authorization(data=data).authorization_key
    client.update_authorization(
        key, data=of("AuthorizationIdBasedRequest", **grant, permissionTypes=["READ", "CREATE"])
    )
    assert sorted(map(str, client.get_authorization(key).permission_types)) == ["CREATE", "READ"]
    assert str(key) in ids(client.search_authorizations(), "authorization_key")
    assert client.search_own_authorizations().items == []


def assign(client):
    """Members come and go."""
    client.assign_client_to_tenant("acme", "robot")
    client.assign_group_to_tenant("acme", "crew")
    client.assign_mapping_rule_to_tenant("acme", "staff")
    client.assign_role_to_tenant("acme", "cook")
    client.assign_user_to_tenant("acme", "ann")
    assert ids(client.search_clients_for_tenant("acme"), "client_id") == ["robot"]
    assert ids(client.search_group_ids_for_tenant("acme"), "group_id") == ["crew"]
    assert ids(client.search_mapping_rules_for_tenant("acme"), "mapping_rule_id") == ["staff"]
    assert ids(client.search_roles_for_tenant("acme"), "role_id") == ["cook"]
    assert ids(client.search_users_for_tenant("acme"), "username") == ["ann"]
    client.unassign_client_from_tenant("acme", "robot")
    client.unassign_group_from_tenant("acme", "crew")
    client.unassign_mapping_rule_from_tenant("acme", "staff")
    client.unassign_role_from_tenant("acme", "cook")
    client.unassign_user_from_tenant("acme", "ann")
    assert client.search_users_for_tenant("acme").items == []

    client.assign_role_to_client("cook", "robot")
    client.assign_role_to_group("cook", "crew")
    client.assign_role_to_mapping_rule("cook", "staff")
    client.assign_role_to_user("cook", "ann")
    assert ids(client.search_roles_for_group("crew"), "role_id") == ["cook"]
    assert ids(client.search_clients_for_role("cook"), "client_id") == ["robot"]
    assert ids(client.search_groups_for_role("cook"), "group_id") == ["crew"]
    assert ids(client.search_mapping_rules_for_role("cook"), "mapping_rule_id") == ["staff"]
    assert ids(client.search_users_for_role("cook"), "username") == ["ann"]
    client.unassign_role_from_client("cook", "robot")
    client.unassign_role_from_group("cook", "crew")
    client.unassign_role_from_mapping_rule("cook", "staff")
    client.unassign_role_from_user("cook", "ann")
    assert client.search_users_for_role("cook").items == []

    client.assign_client_to_group("crew", "robot")
    client.assign_mapping_rule_to_group("crew", "staff")
    client.assign_user_to_group("crew", "ann")
    assert ids(client.search_clients_for_group("crew"), "client_id") == ["robot"]
    assert ids(client.search_mapping_rules_for_group("crew"), "mapping_rule_id") == ["staff"]
    assert ids(client.search_users_for_group("crew"), "username") == ["ann"]
    client.unassign_client_from_group("crew", "robot")
    client.unassign_mapping_rule_from_group("crew", "staff")
    client.unassign_user_from_group("crew", "ann")
    assert client.search_users_for_group("crew").items == []


def dismiss(client):
    for key in client.search_authorizations().items:
        client.delete_authorization(key.authorization_key)
    client.delete_tenant("acme")
    client.delete_group("crew")
    client.delete_role("cook")
    client.delete_mapping_rule("staff")
    client.delete_user("ann")
    assert "ann" not in ids(client.search_users(), "username")


def listen(client):
    made = {"id": "l", "type": "told", "eventTypes": ["completing"]}
    assert client.create_global_task_listener(data=of("CreateGlobalTaskListenerRequest", **made)).retries == 3
    changed = {"type": "told", "eventTypes": ["completing"], "priority": 7}
    assert client.update_global_task_listener("l", data=of("UpdateGlobalTaskListenerRequest", **changed)).priority == 7
    assert client.get_global_task_listener("l").priority == 7
    assert ids(client.search_global_task_listeners(), "id") == ["l"]
    client.delete_global_task_listener("l")


def decide(client):
    (decision,) = client.search_decision_definitions().items
    key = decision.decision_definition_key
    assert client.get_decision_definition(key).decision_definition_id == "size"
    assert client.get_decision_definition_xml(key) == DECISION
    (requirements,) = client.search_decision_requirements().items
    key = requirements.decision_requirements_key
    assert client.get_decision_requirements(key).decision_requirements_id == "sizes"
    assert client.get_decision_requirements_xml(key) == DECISION
    evaluate = of("DecisionEvaluationByID", decisionDefinitionId="size", variables={})
    first = client.evaluate_decision(data=evaluate).decision_evaluation_key
    client.delete_decision_instance(first, data=None)
    assert client.search_decision_instances().items == []
    client.evaluate_decision(data=evaluate)
    body = of("DecisionInstanceDeletionBatchOperationRequest", filter={"decisionDefinitionId": "size"})
    assert client.delete_decision_instances_batch_operation(data=body).batch_operation_key


def count(client):
    now = datetime.now(UTC)
    time = {"from": (now - DAY).isoformat(), "to": (now + DAY).isoformat()}
    assert client.get_global_job_statistics(from_=now - DAY, to=now + DAY).created.count >= 1
    assert client.get_job_type_statistics(data=of("JobTypeStatisticsQuery", filter=time)).items
    kind = time | {"jobType": "work"}
    client.get_job_worker_statistics(data=of("JobWorkerStatisticsQuery", filter=kind))
    client.get_job_time_series_statistics(data=of("JobTimeSeriesStatisticsQuery", filter=kind))
    client.get_job_error_statistics(data=of("JobErrorStatisticsQuery", filter=kind))
    (waiting,) = client.get_process_definition_message_subscription_statistics().items
    assert waiting.process_definition_id == "paid"
    assert set(ids(client.get_process_definition_instance_statistics(), "process_definition_id")) == {
        *("asks", "broken", "paid")
    }
    versions = of("ProcessDefinitionInstanceVersionStatisticsQuery", filter={"processDefinitionId": "asks"})
    assert len(client.get_process_definition_instance_version_statistics(data=versions).items) == 1
    (error,) = client.get_process_instance_statistics_by_error().items
    by_definition = of(
        "IncidentProcessInstanceStatisticsByDefinitionQuery", filter={"errorHashCode": error.error_hash_code}
    )
    (broken,) = client.get_process_instance_statistics_by_definition(data=by_definition).items
    assert broken.process_definition_id == "broken"


def operate(client):
    asked = start(client, "asks").process_instance_key
    given = [variables("ProcessInstanceCreationInstructionBaseVariables", n=number) for number in range(2)]
    start(client, "broken", variables=given[1])
    start(client, "paid")
    broken = start(client, "broken", variables=given[0]).process_instance_key
    (waits,) = client.get_process_instance_wait_state_statistics(asked).items
    assert waits.element_id == "ask"
    search = of("UserTaskSearchQuery", filter={"processInstanceKey": asked})
    (task,) = client.search_user_tasks(data=search).items
    assert client.search_user_task_effective_variables(task.user_task_key).items == []
    client.search_user_task_audit_logs(task.user_task_key)
    (logged, *_) = client.search_audit_logs().items
    assert client.get_audit_log(logged.audit_log_key).audit_log_key == logged.audit_log_key
    count(client)
    assert client.resolve_process_instance_incidents(broken).batch_operation_key
    heat = of("ConditionalEvaluationInstruction", variables={"degrees": 40})
    assert len(client.evaluate_conditionals(data=heat).process_instances) == 1

    client.cancel_process_instance(asked, data=None)
    client.delete_process_instance(asked, data=None)
    body = of("ProcessInstanceDeletionBatchOperationRequest", filter={"processDefinitionId": "heat"})
    assert client.delete_process_instances_batch_operation(data=body).batch_operation_key
    client.pin_clock(data=of("ClockPinRequest", timestamp=4_102_444_800_000))
    client.reset_clock()


async def test_what_other_tests_leave_out(in_thread):
    def use(client):
        files = [types.File(payload=BytesIO(content), file_name=name) for name, content in CONTENTS.items()]
        client.create_deployment(data=models.CreateDeploymentData(resources=files))
        administer(client)
        assign(client)
        dismiss(client)
        listen(client)
        decide(client)
        operate(client)

    await in_thread(use)
