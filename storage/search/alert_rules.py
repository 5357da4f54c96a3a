"""Alert rules that can be searched, with their state and the outcome of the newest delivery. A rule with two receivers
shows the one that has not been told."""

from __future__ import annotations

from vivero.storage.background.alert_rules import METRICS
from vivero.storage.search.fields import FLAG, KEY, NUMBER, PLAIN, TEXT, TIME, Field, enumeration, filtered
from vivero.storage.search.resources import Resource

DELIVERY_STATES = ("PENDING", "DELIVERED", "FAILED")

ALERT_RULES = Resource(
    "Alert rule",
    "alert_rules a LEFT JOIN LATERAL (SELECT n.* FROM (SELECT DISTINCT ON (d.receiver) d.* FROM alert_deliveries d"
    " WHERE d.alert_rule_key = a.alert_rule_key AND CASE d.receiver WHEN 'URL' THEN a.url <> '' ELSE a.to_outbox END"
    " ORDER BY d.receiver, d.revision DESC) n ORDER BY n.state = 'DELIVERED', n.revision DESC LIMIT 1) d ON true",
    "a.alert_rule_key",
    (
        Field("alertRuleKey", "a.alert_rule_key", KEY, PLAIN, sort=True),
        filtered("name", "a.name", TEXT, sort=True),
        filtered("processDefinitionId", "nullif(a.process_id, '')", TEXT),
        enumeration("metric", "a.metric", METRICS),
        Field("threshold", "a.threshold", NUMBER),
        Field("clearsAt", "a.clears_at", NUMBER),
        Field("everySeconds", "a.every_s", NUMBER),
        Field("url", "nullif(a.url, '')", TEXT),
        Field("toOutbox", "a.to_outbox", FLAG),
        Field("secret", "a.secret", TEXT),
        filtered("isRaised", "a.is_raised", FLAG, sort=True),
        Field("since", "a.since", TIME),
        Field("value", "a.value", NUMBER),
        Field("error", "a.error", TEXT),
        Field("evaluationDate", "a.evaluated_at", TIME),
        Field("mutedUntil", "a.muted_until", TIME),
        Field("deliveryKind", "d.kind", TEXT),
        Field("deliveryState", "d.state", TEXT),
        Field("deliveryAttempts", "d.attempts", NUMBER),
        Field("deliveryError", "d.error", TEXT),
        filtered("madeBy", "a.made_by", TEXT),
        filtered("tenantId", "a.tenant_id", TEXT),
        Field("creationDate", "a.created_at", TIME),
        Field("lastUpdatedDate", "a.updated_at", TIME),
    ),
)
