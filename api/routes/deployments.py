"""Deployments of all files of a request or none."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.api.access import tenants
from vivero.api.access.needs import DEPLOY
from vivero.api.commands import submission
from vivero.api.deployment.checks import examined_by, problems_of_webhooks, reject
from vivero.api.deployment.sent_files import contents_of, files_in, renamed, tenant_in
from vivero.api.deployment.verdicts import all_warnings
from vivero.api.http.multipart import FormPart, read_parts
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
from vivero.engine.compute.models import unpacked
from vivero.storage.state.definitions import store_resources

_reply_decoder = msgspec.json.Decoder(DeploymentReply)


async def create(request: Request, services: Services) -> Response:
    """POST /v2/deployments: parse and check all files, store their bytes, then let the engine assign versions."""
    parts = read_parts(request, services.settings.max_deployment_files + 1)
    tenant = tenants.named(request, services, tenant_in(parts), "Deploy Resources", DEPLOY)
    files = files_in(parts)
    contents = contents_of(files)
    found = await examined_by(services, contents)
    reject(found.problems)
    parsed = found.parsed or [await unpacked(each) for each in found.packed]
    reject(await problems_of_webhooks(services, tenant, parsed))
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
    warnings = renamed(parts, files) + await all_warnings(services, parsed, contents, tenant)
    document = _document(reply, warnings, submitted.appended.position)
    return json_response(document, submitted.position)


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
