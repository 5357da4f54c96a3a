"""The tools that Camunda's server has, by its names: an agent watches processes with them, and takes part in them."""

from __future__ import annotations

import msgspec

from vivero.api.commands.inner_requests import InnerRequest
from vivero.api.http.response import Response, json_response
from vivero.api.mcp.tools import Call, Parameter, Place, Schema, Tool, composed, failed, search, searching
from vivero.storage.search.incidents import INCIDENTS
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.user_tasks import USER_TASKS
from vivero.storage.search.variables import VARIABLES

TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
NUMBER: Schema = {"type": "integer"}
OBJECT: Schema = {"type": "object"}
_BY_VARIABLES = (
    (
        "variables",
        {
            "type": "array",
            "items": {"type": "object", "properties": {"name": TEXT, "value": {}}},
            "description": "Each value is JSON text, as in the answers: 'true', '42', '\"a text\"'",
        },
    ),
)


def key(name: str, of: str) -> Parameter:
    """The key in the path of a request."""
    return Parameter(name, {"type": ["string", "integer"], "description": f"The key of the {of}"}, Place.PATH, True)


def _query(name: str, schema: Schema) -> Parameter:
    return Parameter(name, schema, Place.QUERY)


INSTANCE = key("processInstanceKey", "process instance")
_VARIABLES_OBJECT: Schema = {"type": "object", "description": "Name → value, any JSON"}


async def _status(tool: Tool, call: Call) -> Response:
    """The REST API answers with a status only."""
    response = await call.send(composed(tool, call.arguments))
    return response if failed(response) else json_response({"status": "HEALTHY"})


class _Incident(msgspec.Struct, frozen=True, rename="camel"):
    job_key: str | None = None


class _Job(msgspec.Struct, frozen=True):
    retries: int


async def _resolve(_tool: Tool, call: Call) -> Response:
    """Resolve an incident. The job of one that has no retries left gets one: without it, the incident would return."""
    incident = await call.send(composed(_GET_INCIDENT, call.arguments))
    if failed(incident):
        return incident
    job_key = msgspec.json.decode(incident.body, type=_Incident).job_key
    if job_key is not None:
        job = await call.send(InnerRequest("POST", "/v2/jobs/search", b'{"filter":{"jobKey":"%s"}}' % job_key.encode()))
        if failed(job):
            return job
        if any(each.retries <= 0 for each in msgspec.json.decode(job.body, type=_Jobs).items):
            retries = InnerRequest("PATCH", f"/v2/jobs/{job_key}", b'{"changeset":{"retries":1}}')
            updated = await call.send(retries)
            if failed(updated):
                return updated
    return await call.send(composed(RESOLVE_INCIDENT, call.arguments))


class _Jobs(msgspec.Struct, frozen=True):
    items: list[_Job]


SEARCH_INCIDENTS = Tool(
    "searchIncidents",
    "Search incidents: what is wrong in process instances, with the error's type and message. An open one is ACTIVE.",
    ("POST", "/v2/incidents/search"),
    searching(INCIDENTS),
    run=search,
)
_GET_INCIDENT = Tool(
    "getIncident", "Get an incident.", ("GET", "/v2/incidents/{incidentKey}"), (key("incidentKey", "incident"),)
)
RESOLVE_INCIDENT = Tool(
    "resolveIncident",
    "Resolve an incident, so that its element goes on. Mend the cause first, for example wrong variables. The job of an"
    " incident gets a retry if it has none.",
    ("POST", "/v2/incidents/{incidentKey}/resolution"),
    (key("incidentKey", "incident"),),
    changes=True,
    run=_resolve,
)
SEARCH_VARIABLES = Tool(
    "searchVariables",
    "Search variables of process instances and their elements. Values are JSON text; long ones are cut"
    " (getVariable has all).",
    ("POST", "/v2/variables/search"),
    searching(VARIABLES),
    run=search,
)
GET_PROCESS_INSTANCE = Tool(
    "getProcessInstance", "Get a process instance.", ("GET", "/v2/process-instances/{processInstanceKey}"), (INSTANCE,)
)

CLUSTER_TOOLS = (
    Tool("getClusterStatus", "Tell whether the server can work.", ("GET", "/v2/status"), run=_status),
    Tool("getTopology", "Get nodes, partitions, their leaders and versions.", ("GET", "/v2/topology")),
    SEARCH_INCIDENTS,
    _GET_INCIDENT,
    RESOLVE_INCIDENT,
    Tool(
        "searchProcessDefinitions",
        "Search deployed processes, each of their versions.",
        ("POST", "/v2/process-definitions/search"),
        searching(PROCESS_DEFINITIONS, [("isLatestVersion", FLAG)]),
        run=search,
    ),
    Tool(
        "getProcessDefinition",
        "Get a version of a process.",
        ("GET", "/v2/process-definitions/{processDefinitionKey}"),
        (key("processDefinitionKey", "process definition"),),
    ),
    Tool(
        "getProcessDefinitionXml",
        "Get the BPMN model of a version of a process as XML.",
        ("GET", "/v2/process-definitions/{processDefinitionKey}/xml"),
        (key("processDefinitionKey", "process definition"),),
    ),
    Tool(
        "searchProcessInstances",
        "Search process instances, running and ended ones.",
        ("POST", "/v2/process-instances/search"),
        searching(PROCESS_INSTANCES, _BY_VARIABLES),
        run=search,
    ),
    GET_PROCESS_INSTANCE,
    Tool(
        "createProcessInstance",
        "Start an instance of a process, by the process's id (its newest version, or a named one) or a definition key.",
        ("POST", "/v2/process-instances"),
        (
            Parameter("processDefinitionId", TEXT),
            Parameter("processDefinitionVersion", NUMBER),
            Parameter("processDefinitionKey", TEXT),
            Parameter("variables", _VARIABLES_OBJECT),
            Parameter("businessId", TEXT),
            Parameter("tags", {"type": "array", "items": TEXT}),
            Parameter("tenantId", TEXT),
            Parameter("awaitCompletion", {"type": "boolean", "description": "Wait until the instance ends"}),
            Parameter("fetchVariables", {"type": "array", "items": TEXT}),
            Parameter("requestTimeout", {"type": "integer", "description": "Milliseconds to wait for the end"}),
        ),
        changes=True,
    ),
    Tool(
        "searchUserTasks",
        "Search tasks of people. An open one is CREATED.",
        ("POST", "/v2/user-tasks/search"),
        searching(USER_TASKS),
        run=search,
    ),
    Tool("getUserTask", "Get a user task.", ("GET", "/v2/user-tasks/{userTaskKey}"), (key("userTaskKey", "task"),)),
    Tool(
        "completeUserTask",
        "Complete a user task, with variables for the process.",
        ("POST", "/v2/user-tasks/{userTaskKey}/completion"),
        (key("userTaskKey", "task"), Parameter("variables", _VARIABLES_OBJECT), Parameter("action", TEXT)),
        changes=True,
    ),
    Tool(
        "assignUserTask",
        "Assign a user task to a user.",
        ("POST", "/v2/user-tasks/{userTaskKey}/assignment"),
        (
            key("userTaskKey", "task"),
            Parameter("assignee", TEXT, required=True),
            Parameter("allowOverride", FLAG),
            Parameter("action", TEXT),
        ),
        changes=True,
    ),
    Tool(
        "searchUserTaskVariables",
        "Search the variables that a user task sees.",
        ("POST", "/v2/user-tasks/{userTaskKey}/variables/search"),
        (key("userTaskKey", "task"), *searching(VARIABLES), _query("truncateValues", FLAG)),
        run=search,
    ),
    SEARCH_VARIABLES,
    Tool(
        "getVariable",
        "Get a variable with its whole value.",
        ("GET", "/v2/variables/{variableKey}"),
        (key("variableKey", "variable"),),
    ),
)
"""Eighteen tools."""
