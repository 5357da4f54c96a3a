"""Conditional start events of processes: evaluate them."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.api import commands
from vivero.api.decoding import Body, Key, Violations, as_key, as_variables, check_tenant, decode, decoder
from vivero.api.request import Request
from vivero.api.response import Response, json_response
from vivero.api.services import Services
from vivero.engine.core.records.conditionals import ConditionalsReply, EvaluateConditionals


class EvaluationBody(Body, frozen=True):
    variables: dict[str, Any] | None = None
    process_definition_key: Key | None = None
    tenant_id: str | None = None


_evaluation_decoder = decoder(EvaluationBody)
_reply_decoder = msgspec.json.Decoder(ConditionalsReply)


async def evaluate(request: Request, services: Services) -> Response:
    """POST /v2/conditionals/evaluation: starts an instance at each start event whose condition is true."""
    body = decode(request, _evaluation_decoder, services.settings)
    found = Violations()
    found.require("variables", body.variables)
    found.check()
    check_tenant(body.tenant_id, "Evaluate Conditional")
    variables = as_variables(body.variables, services.settings)
    command = EvaluateConditionals(variables, as_key(body.process_definition_key, "processDefinitionKey"))
    submitted = await commands.submit(request, services, command)
    if submitted.outcome is None:
        return await commands.accepted(services, submitted.appended)
    reply = _reply_decoder.decode(submitted.outcome.response or b"")
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
