"""Rows for tests of searches and reads, with defaults of one process instance."""

KEY = 2251799813685249
NOW_MS = 1_795_000_000_123
NOW = "2026-11-18T11:06:40.123Z"


class Rows:
    """Puts rows into the tables of a database."""

    def __init__(self, connection) -> None:
        self.execute, self.notifies = connection.execute, connection.notifies

    def put(self, table, **row):
        names, places = ", ".join(row), ", ".join(["%s"] * len(row))
        self.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", list(row.values()))

    def definition(self, key=KEY, **row):
        defaults = {
            "process_definition_key": key,
            "deployment_key": KEY,
            "tenant_id": "<default>",
            "process_id": "order",
            "version": 1,
            "resource_name": "order.bpmn",
            "sha256": "aa",
            "state": "ACTIVE",
            "deployed_at": NOW,
        }
        self.put("process_definitions", **(defaults | row))

    def form(self, key=KEY + 15, **row):
        defaults = {
            "form_key": key,
            "deployment_key": KEY,
            "tenant_id": "<default>",
            "form_id": "ask",
            "version": 1,
            "resource_name": "ask.form",
            "sha256": "ff",
            "state": "ACTIVE",
            "deployed_at": NOW,
        }
        self.put("forms", **(defaults | row))

    def generic_resource(self, key=KEY + 22, **row):
        defaults = {
            "resource_key": key,
            "deployment_key": KEY,
            "tenant_id": "<default>",
            "resource_id": "robot",
            "version": 1,
            "resource_name": "robots/robot.rpa",
            "sha256": "ee",
            "state": "ACTIVE",
            "deployed_at": NOW,
        }
        self.put("generic_resources", **(defaults | row))

    def decision(self, key=KEY + 17, **row):
        """A decision, with the version of decision requirements that has it."""
        shared = {
            "deployment_key": KEY,
            "decision_requirements_key": key + 1,
            "tenant_id": "<default>",
            "version": 1,
            "sha256": "dd",
            "state": "ACTIVE",
            "deployed_at": NOW,
        } | row
        id = shared.pop("decision_id", "rate")
        tag = shared.pop("version_tag", None)
        self.put("decision_requirements", requirements_id=id, name="Rates", resource_name="rate.dmn", **shared)
        own = {"decision_definition_key": key, "decision_id": id, "name": "Rate", "version_tag": tag, "imports": []}
        self.put("decision_definitions", **own, **shared)

    def instance(self, key=KEY, **row):
        defaults = {
            "process_instance_key": key,
            "root_key": key,
            "process_definition_key": KEY,
            "process_id": "order",
            "process_version": 1,
            "tenant_id": "<default>",
            "tags": ["a"],
            "depth": 1,
            "state": "ACTIVATED",
            "tokens": "{}",
            "live": 0,
            "incidents": 0,
            "interrupted": False,
            "started_at": NOW,
            "version": 1,
            "created_position": 1,
        }
        self.put("process_instances", **(defaults | row))

    def element(self, key=KEY + 1, **row):
        defaults = {
            "element_instance_key": key,
            "root_key": KEY,
            "process_instance_key": KEY,
            "scope_key": KEY,
            "path": [key, KEY],
            "process_definition_key": KEY,
            "process_id": "order",
            "element_id": "task",
            "element_type": "SERVICE_TASK",
            "tenant_id": "<default>",
            "state": "ACTIVATED",
            "loop_index": -1,
            "tokens": "{}",
            "live": 0,
            "incidents": 0,
            "interrupted": False,
            "started_at": NOW,
        }
        self.put("element_instances", **(defaults | row))

    def variable(self, key=KEY + 2, name="x", value="1", **row):
        defaults = {
            "variable_key": key,
            "scope_key": KEY,
            "process_instance_key": KEY,
            "root_key": KEY,
            "tenant_id": "<default>",
            "name": name,
            "value": value,
        }
        self.put("variables", **(defaults | row))

    def job(self, key=KEY + 3, **row):
        defaults = {
            "job_key": key,
            "root_key": KEY,
            "process_instance_key": KEY,
            "element_instance_key": KEY + 1,
            "path": [KEY + 1, KEY],
            "process_definition_key": KEY,
            "process_id": "order",
            "process_version": 1,
            "element_id": "task",
            "type": "work",
            "kind": "BPMN_ELEMENT",
            "listener_event": "UNSPECIFIED",
            "listener_index": 0,
            "state": "CREATED",
            "retries": 3,
            "priority": 0,
            "headers": "{}",
            "tags": [],
            "tenant_id": "<default>",
            "created_at": NOW,
            "updated_at": NOW,
            "ready": True,
        }
        self.put("jobs", **(defaults | row))

    def incident(self, key=KEY + 4, **row):
        defaults = {
            "incident_key": key,
            "root_key": KEY,
            "process_instance_key": KEY,
            "element_instance_key": KEY + 1,
            "process_definition_key": KEY,
            "process_id": "order",
            "element_id": "task",
            "stage": "activate",
            "type": "JOB_NO_RETRIES",
            "message": "No more retries left.",
            "state": "ACTIVE",
            "tenant_id": "<default>",
            "created_at": NOW,
        }
        self.put("incidents", **(defaults | row))
