"""Decisions: evaluate one, and the instances that evaluations leave behind."""

from __future__ import annotations

import re
from typing import Any

import msgspec
import trio

from vivero.api.access import audit, tenants
from vivero.api.access.needs import CREATE_DECISION_INSTANCE, DELETE_DECISION_INSTANCE, READ_DECISION_INSTANCE
from vivero.api.access.scopes import require, require_all, require_decision
from vivero.api.commands import dry_runs, submission
from vivero.api.commands.submission import Submitted
from vivero.api.computing.large_bodies import body_of, variables_of
from vivero.api.http.decoding import Body, Int64, Key, Violations, as_key, check_reference, decode_optional, decoder
from vivero.api.http.problems import bad_request, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, encode, json_response, no_content
from vivero.api.reading import read_of
from vivero.api.search.search_requests import searching
from vivero.api.services import Services
from vivero.core.records.decision_evaluations import DecisionReply, EvaluatedDecision, EvaluateDecision
from vivero.storage.retention import decision_instances
from vivero.storage.search.decision_instances import DECISION_INSTANCE, DECISION_INSTANCES
from vivero.storage.search.statements import get as get_row

MAX_ID = 1000
"""Characters."""

search = searching(DECISION_INSTANCES)

_INSTANCE_KEY = re.compile(r"([0-9]{1,19})-([0-9]{1,9})", re.ASCII)


class DecisionEvaluationBody(Body, frozen=True):
    decision_definition_id: str | None = None
    decision_definition_key: Key | None = None
    variables: dict[str, Any] | None = None
    tenant_id: str | None = None


class DeletionBody(Body, frozen=True):
    operation_reference: Int64 | None = None


_evaluation_decoder = decoder(DecisionEvaluationBody)
_deletion_decoder = decoder(DeletionBody)
_reply_decoder = msgspec.json.Decoder(DecisionReply)


# Evaluation -----------------------------------------------------------------------------------------------------------


async def evaluate(request: Request, services: Services) -> Response:
    """POST /v2/decision-definitions/evaluation. A failed evaluation is a 200 that says why."""
    body = await body_of(request, services, _evaluation_decoder)
    _check(body)
    tenant = tenants.named(request, services, body.tenant_id, "Evaluate Decision", CREATE_DECISION_INSTANCE)
    key = as_key(body.decision_definition_key, "decisionDefinitionKey")
    if key is None:
        require(request, CREATE_DECISION_INSTANCE, body.decision_definition_id)
    else:
        await require_decision(request, services, CREATE_DECISION_INSTANCE, key)
    command = EvaluateDecision(body.decision_definition_id, key, variables_of(services, body.variables))
    deadline = trio.current_time() + services.settings.response_timeout_s
    decision, turns = (tenant, key or body.decision_definition_id or ""), services.commands.evaluations
    async with turns.turn(decision, deadline, request.unless_left):
        submitted = await submission.submit(request, services, command, tenant=tenant, deadline=deadline)
        if submitted.outcome is None:
            return await submission.accepted(services, submitted.appended)
        reply = submitted.outcome.reply_by(_reply_decoder)
        turns.note(decision, reply.steps)
    return _answer(reply, submitted)


def _check(body: DecisionEvaluationBody) -> None:
    found, both = Violations(), "[decisionDefinitionId, decisionDefinitionKey]"
    if not body.decision_definition_id and body.decision_definition_key is None:
        found.add(f"At least one of {both} is required")
    elif body.decision_definition_id and body.decision_definition_key is not None:
        found.add(f"Only one of {both} is allowed")
    found.longest("decisionDefinitionId", body.decision_definition_id, MAX_ID)
    found.check()


def _answer(reply: DecisionReply, submitted: Submitted) -> Response:
    evaluation, tenant = reply.decision_evaluation_key, reply.tenant_id
    document = {
        "decisionDefinitionId": reply.decision_definition_id,
        "decisionDefinitionKey": str(reply.decision_definition_key),
        "decisionDefinitionName": reply.decision_definition_name,
        "decisionDefinitionVersion": reply.decision_definition_version,
        "decisionRequirementsId": reply.decision_requirements_id,
        "decisionRequirementsKey": str(reply.decision_requirements_key),
        "decisionEvaluationKey": str(evaluation),
        "decisionInstanceKey": str(evaluation),
        "tenantId": tenant,
        "output": reply.output,
        "failedDecisionDefinitionId": reply.failed_decision_definition_id,
        "failureMessage": reply.failure_message,
        "evaluatedDecisions": [
            _decision(each, f"{evaluation}-{number}", tenant) for number, each in enumerate(reply.decisions, 1)
        ],
        "commandPosition": str(submitted.appended.position),
    }
    return json_response(encode(document), submitted.position)


def _decision(decision: EvaluatedDecision, key: str, tenant: str) -> dict[str, Any]:
    return {
        "decisionDefinitionId": decision.id,
        "decisionDefinitionKey": str(decision.definition_key),
        "decisionDefinitionName": decision.name,
        "decisionDefinitionVersion": decision.version,
        "decisionDefinitionType": decision.type,
        "decisionEvaluationInstanceKey": key,
        "output": decision.result,
        "tenantId": tenant,
        "evaluatedInputs": [
            {"inputId": each.id, "inputName": each.name, "inputValue": each.value} for each in decision.inputs
        ],
        "matchedRules": [
            {
                "ruleId": rule.id,
                "ruleIndex": rule.index,
                "evaluatedOutputs": [
                    {
                        "outputId": each.id,
                        "outputName": each.name,
                        "outputValue": each.value,
                        "ruleId": rule.id,
                        "ruleIndex": rule.index,
                    }
                    for each in rule.outputs
                ],
            }
            for rule in decision.rules
        ],
    }


# Decision instances ---------------------------------------------------------------------------------------------------


async def get(request: Request, services: Services) -> Response:
    """GET /v2/decision-instances/{key}: with the inputs of a table, and the rules that matched."""
    text = request.params["decisionEvaluationInstanceKey"]
    parts = _INSTANCE_KEY.fullmatch(text)
    if parts is None:
        raise bad_request(f"Failed to convert 'decisionEvaluationInstanceKey' with value: '{text[:100]}'")
    evaluation, number = map(int, parts.groups())
    found = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: get_row(connection, DECISION_INSTANCE, evaluation + number, tenants),
    )
    shown = None if found is None else _shown_decoder.decode(found)
    if found is None or shown is None or shown.decision_evaluation_instance_key != f"{evaluation}-{number}":
        raise not_found(DECISION_INSTANCES.name, text)
    require(request, READ_DECISION_INSTANCE, shown.decision_definition_id)
    return json_response(found)


class _Shown(msgspec.Struct, frozen=True, rename="camel"):
    """The properties of a row that its reader needs."""

    decision_definition_id: str
    decision_evaluation_instance_key: str


_shown_decoder = msgspec.json.Decoder(_Shown)


async def delete(request: Request, services: Services) -> Response:
    """POST /v2/decision-instances/{key}/deletion: delete all decision instances of an evaluation.

    With `dryRun` the answer is their number, and nothing is deleted (Vivero only).
    """
    key = request.key("decisionEvaluationKey")
    check_reference(decode_optional(request, _deletion_decoder, services.settings).operation_reference)
    is_dry = dry_runs.is_asked(request)
    if is_dry:
        request.audited = None  # it is no attempt to change anything
    counts = await read_of(
        services,
        request.tenants,
        lambda connection, tenants: decision_instances.decisions_of(connection, key, tenants),
    )
    if not counts:
        raise not_found(DECISION_INSTANCES.name, key)
    for id in counts:
        require(request, DELETE_DECISION_INSTANCE, id)
    if is_dry:
        require_all(request, READ_DECISION_INSTANCE, counts.keys())
        foreseen = {"decisionInstanceCount": sum(counts.values()), "problems": [], "refusal": None}
        return json_response(encode(foreseen))
    async with audit.changing(request, services) as connection:
        await decision_instances.delete_evaluations(connection, [key])
    return no_content()
