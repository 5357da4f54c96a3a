"""Expressions: evaluate FEEL with the variables of the request and of a scope."""

from __future__ import annotations

from typing import Any

import msgspec

from vivero.api.access import tenants
from vivero.api.access.needs import EVALUATE, READ_CLUSTER_VARIABLE, READ_INSTANCE, denied
from vivero.api.computing.evaluation import SMALL_TEXT, Evaluated, Evaluation
from vivero.api.computing.evaluation import evaluate as compute
from vivero.api.computing.large_bodies import body_of, variables_of
from vivero.api.computing.turns import computed
from vivero.api.http.decoding import Body, Key, Violations, as_key, decoder
from vivero.api.http.problems import Problem, not_found
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.core.expressions.camunda_context import CAMUNDA, ExpressionContext
from vivero.core.feel import FeelError, FeelLimits, compile_attribute
from vivero.engine.compute.turns import WorkKind
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import expression_context, single_reads


class ExpressionEvaluationBody(Body, frozen=True):
    expression: str | None = None
    tenant_id: str | None = None
    scope_key: Key | None = None
    variables: dict[str, Any] | None = None


_evaluation_decoder = decoder(ExpressionEvaluationBody)


async def evaluate(request: Request, services: Services) -> Response:
    """POST /v2/expression/evaluation: evaluate a text with a leading `=`. Other texts are constants."""
    limits = services.files.limits.feel
    body = await body_of(request, services, _evaluation_decoder)
    found = Violations()
    found.require("expression", body.expression)
    found.longest("expression", body.expression, limits.source_length, "feel.source_length")
    found.check()
    tenant = _tenant(request, services, body.tenant_id)
    expression = body.expression or ""
    scope_key = as_key(body.scope_key, "scopeKey")
    if scope_key is not None and request.caller.rights.ids(READ_INSTANCE) is not None:
        raise denied(READ_INSTANCE)  # an expression can give away every variable of the scope
    reads_context = _reads_context(expression, limits)
    if reads_context and request.caller.rights.ids(READ_CLUSTER_VARIABLE) is not None:
        raise denied(READ_CLUSTER_VARIABLE)
    given = variables_of(services, body.variables)

    async def read(connection: Connection, tenants: Tenants) -> tuple[int, bytes | None, ExpressionContext | None]:
        now_ms, seen = await single_reads.scope(connection, scope_key, tenants)
        if seen is None or not reads_context:
            return now_ms, seen, None
        return now_ms, seen, await expression_context.read(connection, scope_key, tenant, tenants)

    now_ms, seen, context = await read_of(services, request.tenants, read)
    if seen is None:
        raise not_found("Scope", scope_key or 0)
    values = {name: bytes(value) for name, value in given.items()}
    evaluated = await _evaluated(services, Evaluation(expression, bytes(seen), values, now_ms, limits, context))
    return _answer(expression, evaluated)


def _tenant(request: Request, services: Services, named: str | None) -> str | None:
    """The tenant whose cluster variables the expression sees; None: those of the cluster alone. Raises Problem."""
    if named is None and services.access.multi_tenancy:
        return None
    return tenants.named(request, services, named, "Evaluate Expression", EVALUATE)


def _reads_context(expression: str, limits: FeelLimits) -> bool:
    """Whether the expression may read the context `camunda`. One that cannot be compiled reads nothing."""
    if CAMUNDA not in expression or len(expression) > SMALL_TEXT:
        return CAMUNDA in expression
    try:
        return CAMUNDA in compile_attribute(expression, limits).variables
    except FeelError:
        return False


async def _evaluated(services: Services, evaluation: Evaluation) -> Evaluated:
    """Evaluate at once if that is short, and otherwise in a compute process, which may use all steps."""
    if evaluation.is_small:
        found = compute(evaluation.with_small_limits())
        if not found.is_limited:
            return found
    return await computed(services, WorkKind.EXPRESSIONS, compute, evaluation)


def _answer(expression: str, evaluated: Evaluated) -> Response:
    if evaluated.error is not None:
        shortened = expression if len(expression) <= 200 else f"{expression[:200]}…"
        reason = f"Expected to evaluate expression '{shortened}', but it failed: {evaluated.error}"
        raise Problem(400, "INVALID_ARGUMENT", f"Command 'EVALUATE' rejected with code 'INVALID_ARGUMENT': {reason}")
    document = {
        "expression": expression,
        "result": msgspec.Raw(evaluated.result),
        "warnings": [{"message": message} for message in evaluated.warnings],
        "referencedSecrets": [],
    }
    return json_response(document)
