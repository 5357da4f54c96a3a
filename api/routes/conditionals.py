"""Conditional start events of processes: evaluate them."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.api.access import tenants
from vivero.api.access.needs import CREATE_INSTANCE
from vivero.api.commands import submission
from vivero.api.computing.large_bodies import body_of, variables_of
from vivero.api.http.decoding import Body, Key, Violations, as_key, decoder
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.services import Services
from vivero.core.records.conditionals import ConditionalsReply, EvaluateConditionals


class ConditionalEvaluationBody(Body, frozen=True):
    variables: dict[str, Any] | None = None
    process_definition_key: Key | None = None
    tenant_id: str | None = None


_evaluation_decoder = decoder(ConditionalEvaluationBody)
_reply_decoder = msgspec.json.Decoder(ConditionalsReply)


async def evaluate(request: Request, services: Services) -> Response:
    """POST /v2/conditionals/evaluation: starts an instance at each start event whose condition is true."""
    body = await body_of(request, services, _evaluation_decoder)
    found = Violations()
    found.require("variables", body.variables)
    found.check()
    tenant = tenants.named(request, services, body.tenant_id, "Evaluate Conditional", CREATE_INSTANCE)
    variables = variables_of(services, body.variables)
    command = EvaluateConditionals(variables, as_key(body.process_definition_key, "processDefinitionKey"))
    submitted = await submission.submit(request, services, command, tenant=tenant)
    if submitted.outcome is None:
        return await submission.accepted(services, submitted.appended)
    reply = submitted.outcome.reply_by(_reply_decoder)
    document = {
        "conditionalEvaluationKey": str(reply.conditional_evaluation_key),
        "tenantId": reply.tenant_id,
        "processInstances": [
            {
                "processDefinitionKey": str(one.process_definition_key),
                "processInstanceKey": str(one.process_instance_key),
            }
            for one in reply.process_instances
        ],
        "commandPosition": str(submitted.appended.position),
    }
    return json_response(document, submitted.position)
