"""The routes of decisions, as a part of the table of contents."""

from __future__ import annotations

from vivero.api.access.needs import (
    CREATE_DECISION_INSTANCE,
    DELETE_DECISION_INSTANCE,
    READ_DECISION,
    READ_DECISION_INSTANCE,
    READ_REQUIREMENTS,
)
from vivero.api.access.scopes import Scope
from vivero.api.callers import audited
from vivero.api.routes import decision_definitions, decisions
from vivero.api.routes.route import Route, of_key, variables_limit

DECISION_ROUTES = (
    Route(
        "POST",
        "/v2/decision-definitions/evaluation",
        decisions.evaluate,
        CREATE_DECISION_INSTANCE,
        variables_limit,
        is_new=True,
        scope=Scope.BODY,
        audited=audited.EVALUATE_DECISION,
    ),
    Route("POST", "/v2/decision-instances/search", decisions.search, READ_DECISION_INSTANCE, scope=Scope.RESULTS),
    Route(
        "GET",
        "/v2/decision-instances/{decisionEvaluationInstanceKey}",
        decisions.get,
        READ_DECISION_INSTANCE,
        scope=Scope.BODY,
    ),
    Route(
        "POST",
        "/v2/decision-instances/{decisionEvaluationKey}/deletion",
        decisions.delete,
        DELETE_DECISION_INSTANCE,
        scope=Scope.BODY,
        audited=audited.DELETE_DECISION,
        has_dry_run=True,
    ),
    Route(
        "POST",
        "/v2/decision-definitions/search",
        decision_definitions.search_definitions,
        READ_DECISION,
        scope=Scope.RESULTS,
    ),
    of_key(
        "GET",
        "/v2/decision-definitions/{decisionDefinitionKey}",
        decision_definitions.get_definition,
        READ_DECISION,
    ),
    of_key(
        "GET",
        "/v2/decision-definitions/{decisionDefinitionKey}/xml",
        decision_definitions.definition_xml,
        READ_DECISION,
    ),
    Route(
        "POST",
        "/v2/decision-definitions/statistics/decision-instances",
        decision_definitions.evaluation_counts,
        READ_DECISION_INSTANCE,
        scope=Scope.RESULTS,
    ),
    of_key(
        "GET",
        "/v2/decision-definitions/{decisionDefinitionKey}/statistics/rules",
        decision_definitions.rule_counts,
        READ_DECISION_INSTANCE,
    ),
    Route(
        "POST",
        "/v2/decision-requirements/search",
        decision_definitions.search_requirements,
        READ_REQUIREMENTS,
        scope=Scope.RESULTS,
    ),
    of_key(
        "GET",
        "/v2/decision-requirements/{decisionRequirementsKey}",
        decision_definitions.get_requirements,
        READ_REQUIREMENTS,
    ),
    of_key(
        "GET",
        "/v2/decision-requirements/{decisionRequirementsKey}/xml",
        decision_definitions.requirements_xml,
        READ_REQUIREMENTS,
    ),
)
