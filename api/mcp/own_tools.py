"""The tools that only Vivero has: explain, preview, validate, simulate, decide, and deploy with a question before."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Annotated
from urllib.parse import quote

import msgspec

from vivero.api.access.needs import DEPLOY, EVALUATE, authorise
from vivero.api.commands.inner_requests import InnerRequest
from vivero.api.computing.simulation import simulated
from vivero.api.deployment.verdicts import Verdict, judged
from vivero.api.http.problems import bad_request
from vivero.api.http.response import Response, json_response
from vivero.api.mcp.cluster_tools import INSTANCE, OBJECT, TEXT
from vivero.api.mcp.tools import Call, Parameter, Place, Schema, Tool, composed, decoded

_FILES: Schema = {
    "type": "array",
    "description": "The files. Names end with .bpmn, .dmn or .form",
    "items": {
        "type": "object",
        "properties": {"name": TEXT, "content": TEXT},
        "required": ["name", "content"],
        "additionalProperties": False,
    },
}
_RESOURCES = Parameter("resources", _FILES, required=True)
_DEPLOYMENT = ("POST", "/v2/deployments")
_EVALUATION = ("POST", "/v2/expression/evaluation")
MOST_FILES = 50
MOST_NAME = 500


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=MOST_NAME)]
    content: str


class _Deployment(msgspec.Struct, frozen=True, rename="camel"):
    resources: Annotated[list[File], msgspec.Meta(min_length=1, max_length=MOST_FILES)]
    tenant_id: str | None = None
    confirmation: str | None = None

    def digest(self) -> str:
        """Differs for each set of files and each tenant."""
        return hashlib.sha256(msgspec.json.encode((self.tenant_id, self.resources))).hexdigest()


async def _judged(call: Call, files: list[File]) -> Verdict:
    return await judged(
        call.services, call.request, [(each.name, each.content.encode()) for each in files], tenant=None
    )


async def _validate(_tool: Tool, call: Call) -> Response:
    authorise(call.request.caller, DEPLOY)
    return json_response(await _judged(call, decoded(call, _Deployment).resources))


async def _deploy(_tool: Tool, call: Call) -> Response:
    """Deploy files for which the caller has the confirmation. It comes with the answer to a call without one."""
    deployment: _Deployment = decoded(call, _Deployment)
    digest = deployment.digest()
    if deployment.confirmation == digest:  # the REST API checks the permission, and records a refusal
        body, kind = b"".join(_multipart(deployment, digest)), f"multipart/form-data; boundary={digest}"
        return await call.send(InnerRequest(*_DEPLOYMENT, body, content_type=kind))
    authorise(call.request.caller, DEPLOY)
    if deployment.confirmation is None:
        verdict = await _judged(call, deployment.resources)
        asks = {"deployed": False, **msgspec.to_builtins(verdict)}
        if verdict.valid:
            asks["confirmation"] = digest
            asks["next"] = "Ask the user. After a yes, repeat the call with this confirmation and the same files."
        return json_response(asks)
    raise bad_request("The confirmation belongs to other files: call without one, and ask the user again")


def _multipart(deployment: _Deployment, boundary: str) -> Iterator[bytes]:
    """The body of the deployment (RFC 7578), with names of files in the form that any text has (RFC 8187)."""
    head = 'Content-Disposition: form-data; name="{}"'
    if deployment.tenant_id is not None:
        yield f"--{boundary}\r\n{head.format('tenantId')}\r\n\r\n{deployment.tenant_id}\r\n".encode()
    for file in deployment.resources:
        name = quote(file.name, safe="")
        yield f"--{boundary}\r\n{head.format('resources')}; filename*=UTF-8''{name}\r\n\r\n".encode()
        yield file.content.encode() + b"\r\n"
    yield f"--{boundary}--\r\n".encode()


async def _simulate(_tool: Tool, call: Call) -> Response:
    authorise(call.request.caller, EVALUATE)
    return json_response(await simulated(call.services, call.request, msgspec.json.encode(call.arguments)))


async def _preview(tool: Tool, call: Call) -> Response:
    inner = composed(tool, call.arguments)
    return await call.send(InnerRequest(inner.method, inner.path, inner.body, "dryRun=true"))


def _previews() -> Iterator[Tool]:
    instructions: Schema = {"type": "array", "items": OBJECT}
    for operation, would, parameters in (
        (
            "modification",
            "activates, moves or terminates elements ([{elementId}], [{sourceElementId, targetElementId}], "
            "[{elementId}] or [{elementInstanceKey}])",
            ("activateInstructions", "moveInstructions", "terminateInstructions"),
        ),
        (
            "migration",
            "moves an instance to another version, with mappings [{sourceElementId, targetElementId}]",
            ("targetProcessDefinitionKey", "mappingInstructions"),
        ),
        ("suspension", "suspends an instance", ()),
        ("resumption", "resumes a suspended instance", ()),
    ):
        shown = (Parameter(each, TEXT if each.endswith("Key") else instructions) for each in parameters)
        yield Tool(
            f"preview{operation.capitalize()}",
            f"Tell what would happen, and all problems, if somebody {would}. Nothing is changed.",
            ("POST", f"/v2/process-instances/{{processInstanceKey}}/{operation}"),
            (INSTANCE, *shown),
            run=_preview,
        )


OWN_TOOLS = (
    Tool(
        "explainProcessInstance",
        "Tell the story of a process instance and of all that it calls, one line an event: what ran, which values"
        " conditions had, what it waits for.",
        ("GET", "/v2/process-instances/{processInstanceKey}/trace"),
        (INSTANCE, Parameter("after", {"type": "string", "description": "`next` of the last page"}, Place.QUERY)),
    ),
    *_previews(),
    Tool(
        "validateResources",
        "Check BPMN, DMN and form files without deploying them: problems that would refuse a deployment, and warnings.",
        _DEPLOYMENT,
        (_RESOURCES,),
        run=_validate,
    ),
    Tool(
        "simulateProcess",
        "Run a model here and now with test data, without a database and without effects: every step, the variables"
        " at the end, incidents, and elements that were not reached. Jobs, user tasks and messages are answered with"
        " the given variables, or with none; timers fire at once.",
        _EVALUATION,
        (
            _RESOURCES,
            Parameter("processId", {"type": "string", "description": "Needed if the files have several processes"}),
            Parameter("startAt", {"type": "string", "description": "The id of a start event or element"}),
            Parameter("variables", OBJECT),
            Parameter(
                "jobs",
                {
                    "type": "object",
                    "description": "Job type or element id → {variables} or {errorCode, variables} or {failure: text}",
                },
            ),
            Parameter("userTasks", {"type": "object", "description": "Element id → {variables}"}),
            Parameter("messages", {"type": "object", "description": "Message name → {variables}"}),
            Parameter("waitFor", {"type": "array", "items": TEXT, "description": "Element ids that stay open"}),
        ),
        run=_simulate,
    ),
    Tool(
        "evaluateDecision",
        "Evaluate a deployed decision with variables. The evaluation is kept, with its matched rules.",
        ("POST", "/v2/decision-definitions/evaluation"),
        (
            Parameter("decisionDefinitionId", TEXT),
            Parameter("decisionDefinitionKey", TEXT),
            Parameter("variables", OBJECT),
            Parameter("tenantId", TEXT),
        ),
        changes=True,
    ),
    Tool(
        "deployResources",
        "Deploy BPMN, DMN and form files. The first call only checks them and gives a confirmation: ask the user, then"
        " call again with it.",
        _DEPLOYMENT,
        (_RESOURCES, Parameter("tenantId", TEXT), Parameter("confirmation", TEXT)),
        changes=True,
        run=_deploy,
    ),
)
