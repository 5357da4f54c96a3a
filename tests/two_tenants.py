"""Rows of a tenant in every table that a caller of the API can ask."""

from hashlib import md5
from urllib.parse import urlencode
from uuid import UUID

from tests.api.rows import KEY, NOW
from vivero.core.records.codec import encode_command, encode_events
from vivero.core.records.instances import InstanceCreated
from vivero.core.records.jobs import CompleteJob
from vivero.storage.reads import usage_metrics

OTHER = KEY + 1000
USED = 5
"""The use of a tenant: two instances, a deleted one, a decision, and the assignee of a deleted user task."""
ENDED = 30
"""The distance of the key of an instance that has ended."""
ERROR = int.from_bytes(md5(b"No more retries left.").digest()[:4], signed=True)
"""The number of the error that the incidents of tests have."""
OFFSETS = {
    "processDefinitionKey": 0,
    "resourceKey": 22,
    "formKey": 15,
    "decisionDefinitionKey": 17,
    "decisionRequirementsKey": 18,
    "processInstanceKey": 0,
    "elementInstanceKey": 1,
    "adHocSubProcessInstanceKey": 1,
    "variableKey": 2,
    "jobKey": 3,
    "incidentKey": 4,
    "userTaskKey": 5,
    "timerKey": 6,
    "position": 8,
    "auditLogKey": 14,
    "batchOperationKey": 15,
    "decisionEvaluationInstanceKey": 17,
    "documentId": 21,
    "modelDraftKey": 23,
}
"""Parameter of a path → the distance of its key from the key of the instance: of tests of tenants and of scopes."""


def key_text(parameter, key):
    """The text in a path for a parameter, of what belongs to the instance with this key."""
    number = "-1" if parameter == "decisionEvaluationInstanceKey" else ""
    return f"{key + OFFSETS[parameter]}{number}"


def fill(rows, key, tenant):
    """A process of the tenant with an instance, and one row of everything that belongs to it."""
    process = f"process-of-{tenant}"
    own = {"process_id": process, "process_definition_key": key, "tenant_id": tenant}
    tree = {"root_key": key, "process_instance_key": key}
    element = tree | {"element_instance_key": key + 1}
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES (%s, '<xml/>')", [process])
    rows.definition(key, process_id=process, sha256=process, tenant_id=tenant)
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES (%s, '{}')", [f"form {process}"])
    rows.form(key + 15, form_id=process, sha256=f"form {process}", tenant_id=tenant)
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES (%s, '{}')", [f"resource {process}"])
    rows.generic_resource(key + 22, resource_id=process, sha256=f"resource {process}", tenant_id=tenant)
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES (%s, '<x/>')", [f"decision {process}"])
    rows.decision(key + 17, decision_id=process, sha256=f"decision {process}", tenant_id=tenant)
    rows.instance(key, **own)
    rows.instance(key + ENDED, **own, state="COMPLETED", ended_at=NOW)
    rows.element(key + 1, **own, **tree, scope_key=key, path=[key + 1, key], flows=["in"])
    rows.variable(key + 2, scope_key=key, **tree, tenant_id=tenant)
    rows.job(key + 3, **own, **element, error_message="boom", worker=f"worker-of-{tenant}")
    rows.incident(key + 4, **own, **element)
    lists: dict[str, list[str]] = {"tags": [], "candidate_groups": ["g", "h"], "candidate_users": ["u"]}
    more = {"process_version": 1, "priority": 50, "state": "CREATED", "headers": "{}", "element_id": "task"}
    rows.put("user_tasks", user_task_key=key + 5, created_at=NOW, **own, **element, **lists, **more)
    said = {"author": "ann", "text": f"said in {tenant}", "created_at": NOW}
    rows.put("user_task_comments", user_task_key=key + 5, **tree, tenant_id=tenant, **said)
    rows.put(
        "agent_answers",
        job_key=key + 3,
        digest="d",
        process_instance_key=key,
        tenant_id=tenant,
        created_at=NOW,
        answer="{}",
    )
    rows.put(
        "agent_calls",
        job_key=key + 3,
        call_id="c",
        process_instance_key=key,
        element_instance_key=key + 1,
        process_id=process,
        element_id="task",
        tenant_id=tenant,
        ended_at=NOW,
        turn=1,
        cause="PROMPT",
        duration_ms=7,
        provider="openai",
        model=f"model-of-{tenant}",
        outcome="ANSWERED",
        request_digest="d",
        input_tokens=10,
        output_tokens=5,
        cost=20,
        currency="EUR",
        tools_offered=["task"],
        tools_called=[],
    )
    rows.put("agent_usage", tenant_id=tenant, process_id=process, process_instance_key=key, day=NOW, calls=1, tokens=9)
    rows.put("agent_stops", tenant_id=tenant, process_id=process, model="m", stopped_at=NOW)
    rows.put(
        "inbound_connectors", process_definition_key=key, element_id="wait", tenant_id=tenant, process_id=process,
        type="x", state="ACTIVE", waiting=1, events=0, errors=0, node="n", updated_at=NOW,
    )  # fmt: skip
    owner = {"owner_type": "USER", "owner_id": "bob", "owner_provider": "PASSWORD"}
    view = {"resource": "user-tasks", "name": "late", "query": f"process=process-of-{tenant}", "is_shared": True}
    rows.put("saved_views", **owner, **view, tenant_id=tenant, created_at=NOW, updated_at=NOW)
    rule = {"name": f"rule-of-{tenant}", "process_id": process, "metric": "INCIDENTS", "threshold": 1, "clears_at": 1}
    target = {"every_s": 60, "url": "https://example.org", "made_by": "ann", "next_at": NOW, "since": NOW}
    rows.put("alert_rules", **rule, **target, tenant_id=tenant, created_at=NOW, updated_at=NOW)
    notice = {"revision": 1, "kind": "RAISED", "state": "PENDING", "made_at": NOW, "due_at": NOW}
    made = rows.execute("SELECT max(alert_rule_key) FROM alert_rules").fetchone()[0]
    rows.put("alert_deliveries", alert_rule_key=made, **notice)
    draft = (key + OFFSETS["modelDraftKey"], tenant, "order.bpmn", f"<process-of-{tenant}/>", 1, "ann", NOW, "bob", NOW)
    rows.execute(f"INSERT INTO model_drafts OVERRIDING SYSTEM VALUE VALUES ({', '.join(['%s'] * 9)})", draft)
    more = {"partition_id": 1, "type": "INTERMEDIATE", "due_at_ms": 1, "repetitions": 1, "state": "PENDING"}
    rows.put("timers", timer_key=key + 6, created_at=NOW, target_element_id="wait", **own, **element, **more)
    _messages(rows, key, own, element)
    _logs(rows, key, tenant)
    rows.execute(
        "INSERT INTO audit_log (audit_log_key, at, actor_type, actor_id, category, entity_type, entity_key, operation,"
        " result, tenant_id, user_task_key) OVERRIDING SYSTEM VALUE VALUES (%s, %s, 'USER', 'ann', 'USER_TASKS',"
        " 'USER_TASK', %s, 'CREATE', 'SUCCESS', %s, %s)",
        [key + 14, NOW, str(key + 5), tenant, key + 5],
    )
    kind = "CANCEL_PROCESS_INSTANCE"
    rows.put(
        "batch_operations",
        batch_operation_key=key + 15,
        type=kind,
        resource="process-instances",
        filter="{}",
        actor_kind="USER",
        actor_id="ann",
        tenants=[tenant],
        request_key=str(key),
        body_sha=b"",
    )
    item = {"batch_operation_key": key + 15, "item_key": key, "type": kind, "process_id": process, "tenant_id": tenant}
    rows.put("batch_operation_items", **item, **tree)
    rows.put("cluster_variables", tenant_id=tenant, name="limit", value="1", normal="1", metadata="{}")
    rows.put("loop_items", body_key=key + 1, index=0, item="1")
    rows.put("paged_loop_items", body_key=key + 1, first=0, items="[1]")
    rows.put("work_items", process_instance_key=key, suspended=False, number=0, items="[]")
    registration = {"scope_key": key, "element_instance_key": key + 1, "element_id": "task", "is_scope": False}
    place = {"process_instance_key": key, "tenant_id": tenant, "registered": "{}", "running": False}
    rows.put("compensations", compensation_key=key + 16, **registration, **place)
    decision_instance(rows, key + 17, **tree, tenant_id=tenant, decision_id=f"decision-of-{tenant}")
    document(rows, key, tenant)
    counts = {"process_definition_key": key, "element_id": "task", "active": 1, "completed": 0, "canceled": 0}
    rows.put("element_counts", partition_id=1, **counts)
    rows.put("element_count_changes", partition_id=1, **counts)
    rows.put("element_counts", partition_id=1, **counts | {"element_id": ""})
    durations = {"process_definition_key": key, "element_id": "task", "bucket": 9, "completed": 1, "duration_ms": 9}
    rows.put("element_durations", partition_id=1, **durations)
    happened = {"process_definition_key": key, "started": 1, "completed": 1, "canceled": 0, "incidents": 0}
    rows.put("instance_counts", partition_id=1, period="2026-11-18T11:00:00Z", **happened)
    took = {"process_definition_key": key, "bucket": 9, "completed": 1}
    rows.put("instance_durations", partition_id=1, day="2026-11-18T00:00:00Z", **took)
    rows.put("usual_durations", process_definition_key=key, usual_ms=60_000, computed_at=NOW)
    counts = {"tenant_id": tenant, "type": "work", "status": "COMPLETED", "worker": f"worker-of-{tenant}", "jobs": 1}
    rows.put("deleted_usage", metric="processInstances", period="2026-11-18T11:00:00Z", tenant_id=tenant, number=1)
    rows.put("deleted_assignees", period="2026-11-18T11:00:00Z", tenant_id=tenant, assignee=UUID(int=key))
    rows.put("job_counts", partition_id=1, period="2026-11-18T11:05:00Z", last_at=NOW, **counts)
    rows.put("job_count_changes", partition_id=1, last_at="2026-11-18T10:00:00Z", **counts)


def document(rows, key, tenant):
    """A document whose id is a number, like the keys of the other rows."""
    rows.execute(
        "INSERT INTO document_contents (content_key, tenant_id, store_id, sha256, bytes) OVERRIDING SYSTEM VALUE"
        " VALUES (%s, %s, 'postgres', %s, 1)",
        [key, tenant, tenant],
    )
    rows.put("document_parts", content_key=key, first=0, content=tenant.encode())
    names = {"content_type": "text/plain", "file_name": tenant, "custom_properties": "{}"}
    place = {"document_id": str(key + OFFSETS["documentId"]), "store_id": "postgres", "tenant_id": tenant}
    rows.put("documents", **place, content_key=key, created_at=NOW, **names)


def decision_instance(rows, evaluation, number=1, **more):
    """A decision that an evaluation took."""
    decision = {"decision_definition_key": evaluation, "decision_id": "d", "name": "D", "version": 1}
    place = {"root_decision_definition_key": evaluation, "decision_requirements_key": evaluation + 2}
    values = {"type": "DECISION_TABLE", "state": "EVALUATED", "result": "1", "inputs": "[]", "rules": "[]"}
    key = {"decision_instance_key": evaluation + number, "decision_evaluation_key": evaluation, "number": number}
    usual = {"tenant_id": "<default>", "evaluated_at": NOW}
    rows.put("decision_instances", **key | decision | place | values | usual | more)


def counting_requests(route):
    """The requests (target, body) of a route of statistics that together count the rows of all processes."""
    if route.path.endswith("/usage-metrics"):
        time = {"startTime": "2026-11-18T11:00:00Z", "endTime": "2026-11-18T12:00:00Z"}
        return [(f"{route.path}?{urlencode(time)}",)]
    if route.path.endswith("/by-day"):
        return [(f"{route.path}?{urlencode({'startTime': '2026-11-18T00:00:00Z', 'days': 1})}",)]
    if "/jobs/" in route.path:
        time = {"from": "2026-11-18T11:00:00Z", "to": "2026-11-18T12:00:00Z", "jobType": "work"}
        if route.method == "GET":
            return [(f"{route.path}?{urlencode(time)}",)]
        return [(route.path, {"filter": time})]
    if route.path.endswith("-by-version"):
        processes = ("order", "secret", "process-of-a", "process-of-b")
        return [(route.path, {"filter": {"processDefinitionId": id}}) for id in processes]
    if route.path.endswith("-by-definition"):
        return [(route.path, {"filter": {"errorHashCode": ERROR}})]
    if route.path.endswith("/decision-instances"):
        keys = [str(key + OFFSETS["decisionDefinitionKey"]) for key in (KEY, OTHER)]
        return [(route.path, {"decisionDefinitionKeys": keys})]
    return [(route.path, {})]


def counted(document):
    """The number of rows in all groups of an answer."""
    if "activeTenants" in document:
        return sum(document[name] for name in usage_metrics.NAMES) / USED
    items = document.get("items", [document])
    if any("started" in item for item in items):
        return sum(item["started"] for item in items)
    if any("completed" in item for item in items):
        return sum(item["completed"]["count"] for item in items)
    fields = (
        "activeInstancesWithoutIncidentCount",
        "activeInstancesWithErrorCount",
        "activeIncidentsCount",
        "activeSubscriptions",
        "decisionInstances",
        "workers",
    )
    return sum(item[field] for item in items for field in fields if field in item)


def _messages(rows, key, own, element):
    at = {"created_at": NOW, "updated_at": NOW, "process_version": 1, "interrupting": True}
    waits = {"target_element_id": "wait", "type": "INTERMEDIATE", "kind": "MESSAGE", "name": "paid", "state": "CREATED"}
    rows.put("subscriptions", subscription_key=key + 10, correlation_key="1", **own, **element, **at, **waits)
    start = {"opened_at": NOW, "element_id": "start", "kind": "MESSAGE", "name": "ordered"}
    rows.put("start_subscriptions", subscription_key=key + 11, **own, **start)
    got = {"message_correlation_key": key + 12, "message_key": key + 13, "subscription_key": key + 10}
    more = {"correlated_at": NOW, "element_id": "wait", "name": "paid", "correlation_key": "1"}
    rows.put("message_correlations", **got, **own, **element, **more)
    buffered = {"deadline_ms": 2**50, "partition_id": 1, "name": "paid", "correlation_key": "1", "variables": "{}"}
    rows.put("messages", message_key=key + 15, tenant_id=own["tenant_id"], given=[], **buffered)


def log_command(rows, position, tenants, root):
    """A command by key, and its event in the tree of `root` (None: it changed no instance)."""
    command = CompleteJob(position)
    at = {"partition_id": 1, "position": position}
    more = {"append_id": "0" * 32, "ord": 0, "at": NOW, "tenant_id": tenants, "key": position}
    rows.put("command_log", **at, **more, intent=command.intent, payload=encode_command(command))
    created = InstanceCreated(root or 0, root or 0, "order", 1, None, None, "<default>", None, ())
    events = encode_events([created]).decode()
    rows.put("event_log", **at, seq=0, root_key=root, version=1, processed_at=NOW, events=events)


def _logs(rows, key, tenant):
    log_command(rows, key + 8, tenant, key)
    log_command(rows, key + 9, tenant, None)
