"""Deployments of all files of a request or none."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from vivero.api.access import tenants
from vivero.api.access.needs import DEPLOY
from vivero.api.commands import submission
from vivero.api.deployment.checks import check_webhooks, examined_by, reject
from vivero.api.deployment.cluster_variables import warnings_of_variables
from vivero.api.deployment.names import name_within
from vivero.api.deployment.warnings import warnings_of, warnings_of_files
from vivero.api.http.multipart import FormPart, read_parts
from vivero.api.http.problems import bad_request, invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.services import Services
from vivero.core.records.catalogue import (
    Deploy,
    DeployedForm,
    DeployedGenericResource,
    DeployedProcess,
    DeploymentReply,
)
from vivero.core.records.decisions import DeployedDecision, DeployedRequirements
from vivero.core.resources.generic_resources import MAX_NAME
from vivero.engine.compute.models import unpacked
from vivero.storage.state.definitions import store_resources

TENANT = "tenantId"

_reply_decoder = msgspec.json.Decoder(DeploymentReply)


async def create(request: Request, services: Services) -> Response:
    """POST /v2/deployments: parse and check all files, store their bytes, then let the engine assign versions."""
    parts = read_parts(request, services.settings.max_deployment_files + 1)
    tenant = tenants.named(request, services, _tenant(parts), "Deploy Resources", DEPLOY)
    files = _files(parts)
    contents = [(file.file_name or "", file.content) for file in files]
    found = await examined_by(services, contents)
    reject(found.problems)
    parsed = found.parsed or [await unpacked(each) for each in found.packed]
    await check_webhooks(services, tenant, parsed)
    async with services.reads.pool.connection() as connection:
        stored = [(digest, file.content) for digest, file in zip(found.digests, files, strict=True)]
        await store_resources(connection, stored)
    for digest, resource in zip(found.digests, parsed, strict=True):
        if resource.processes:
            services.files.definitions.put(digest, resource)
    contents_by_digest = dict(stored)
    for reference in found.references:
        if reference.requirements is not None:
            needed = (reference.sha256, *reference.requirements.imports)
            await services.files.definitions.prepare_decisions({each: contents_by_digest[each] for each in needed})
    content = None if request.header(b"idempotency-key") is None else _content(parts)
    command = Deploy(found.references)
    submitted = await submission.submit(request, services, command, content=content, tenant=tenant)
    if submitted.outcome is None:
        return await submission.accepted(services, submitted.appended)
    if services.files.webhooks is not None:
        services.files.webhooks.registry.outdated()  # the notification may come after the client's next call
    reply = submitted.outcome.reply_by(_reply_decoder)
    has_secret = None if services.files.webhooks is None else services.files.webhooks.has_secret
    warnings = _renamed(parts, files) + warnings_of(parsed, services.files.webhooks is not None, has_secret)
    warnings += await warnings_of_files(parsed, services, tenant)
    warnings += await warnings_of_variables(contents, services, tenant)
    document = _document(reply, warnings, submitted.appended.position)
    return json_response(document, submitted.position)


def _tenant(parts: list[FormPart]) -> str | None:
    return next((part.content.decode(errors="replace") for part in parts if part.name == TENANT), None)


def _files(parts: list[FormPart]) -> list[FormPart]:
    """The files of a request. Raises Problem 400."""
    files = []
    for part in parts:
        if part.name == "resources":
            files.append(part)
        elif part.name != TENANT:
            raise bad_request(
                f"Request property [{part.name[:100]}] cannot be parsed: the parts of a deployment are called resources"
            )
    if not files:
        raise invalid_argument("No resources provided")
    return [file._replace(file_name=_name(file.file_name or "")) for file in files]


def _name(sent: str) -> str:
    """The name of a file as it is stored. Raises Problem 400."""
    name = name_within(sent)
    if name is None or len(name) > MAX_NAME:
        raise invalid_argument(
            f"Every resource needs a file name of at most {MAX_NAME} characters, and '{sent[:100]}' is none"
        )
    return name


def _renamed(parts: list[FormPart], files: list[FormPart]) -> list[str]:
    """A warning for each file that is stored under another name than its client sent."""
    sent = [part.file_name or "" for part in parts if part.name == "resources"]
    found = Counter(file.file_name for file in files)
    return [
        f"'{path}' leads out of the folder of its deployment: the file is deployed as '{file.file_name}'"
        + (f", which is the name of {found[file.file_name]} files of this request" if found[file.file_name] > 1 else "")
        for path, file in zip(sent, files, strict=True)
        if path != file.file_name
    ]


def _content(parts: list[FormPart]) -> bytes:
    """The content for the fingerprint of an idempotent request, without the random boundaries."""
    return msgspec.json.encode([(part.name, part.file_name, part.content) for part in parts])


def _document(reply: DeploymentReply, warnings: list[str], position: int) -> dict[str, Any]:
    """The answer. `warnings` and `commandPosition` are additions to Camunda's, which clients ignore."""
    return {
        "deploymentKey": str(reply.deployment_key),
        "tenantId": reply.tenant_id,
        "deployments": [
            *map(_process, reply.processes),
            *map(_decision, reply.decisions),
            *map(_requirements, reply.requirements),
            *map(_form, reply.forms),
            *map(_resource, reply.resources),
        ],
        "warnings": warnings,
        "commandPosition": str(position),
    }


def _process(process: DeployedProcess) -> dict[str, Any]:
    document = {
        "processDefinitionId": process.process_definition_id,
        "processDefinitionVersion": process.process_definition_version,
        "resourceName": process.resource_name,
        "tenantId": process.tenant_id,
        "processDefinitionKey": str(process.process_definition_key),
    }
    return _NOTHING | {"processDefinition": document}


def _form(form: DeployedForm) -> dict[str, Any]:
    document = {
        "formId": form.form_id,
        "version": form.version,
        "resourceName": form.resource_name,
        "tenantId": form.tenant_id,
        "formKey": str(form.form_key),
    }
    return _NOTHING | {"form": document}


def _resource(resource: DeployedGenericResource) -> dict[str, Any]:
    document = {
        "resourceId": resource.resource_id,
        "resourceName": resource.resource_name,
        "version": resource.version,
        "tenantId": resource.tenant_id,
        "resourceKey": str(resource.resource_key),
    }
    return _NOTHING | {"resource": document}


def _decision(decision: DeployedDecision) -> dict[str, Any]:
    document = {
        "decisionDefinitionId": decision.decision_definition_id,
        "version": decision.version,
        "name": decision.name,
        "tenantId": decision.tenant_id,
        "decisionRequirementsId": decision.decision_requirements_id,
        "decisionDefinitionKey": str(decision.decision_definition_key),
        "decisionRequirementsKey": str(decision.decision_requirements_key),
    }
    return _NOTHING | {"decisionDefinition": document}


def _requirements(requirements: DeployedRequirements) -> dict[str, Any]:
    document = {
        "decisionRequirementsId": requirements.decision_requirements_id,
        "decisionRequirementsName": requirements.decision_requirements_name,
        "version": requirements.version,
        "resourceName": requirements.resource_name,
        "tenantId": requirements.tenant_id,
        "decisionRequirementsKey": str(requirements.decision_requirements_key),
    }
    return _NOTHING | {"decisionRequirements": document}


_NOTHING = dict.fromkeys(("processDefinition", "decisionDefinition", "decisionRequirements", "form", "resource"))
