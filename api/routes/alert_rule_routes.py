"""The routes of alert rules."""

from __future__ import annotations

from vivero.api.access.needs import DEPLOY, READ_INSTANCE
from vivero.api.callers import audited
from vivero.api.routes import alert_rules
from vivero.api.routes.route import Route

ALERT_RULE_ROUTES = (
    Route("POST", "/v2/alert-rules", alert_rules.save, DEPLOY, audited=audited.SAVE_ALERT_RULE),
    Route("POST", "/v2/alert-rules/search", alert_rules.search, READ_INSTANCE),
    Route("PATCH", "/v2/alert-rules/{alertRuleKey}", alert_rules.change, DEPLOY, audited=audited.SAVE_ALERT_RULE),
    Route("DELETE", "/v2/alert-rules/{alertRuleKey}", alert_rules.delete, DEPLOY, audited=audited.DELETE_ALERT_RULE),
    Route("POST", "/v2/alert-rules/{alertRuleKey}/test", alert_rules.test, DEPLOY, audited=audited.SAVE_ALERT_RULE),
)
"""A rule makes the engine call a URL, as a model does: who may deploy may make rules."""
