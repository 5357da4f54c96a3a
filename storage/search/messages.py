"""Message subscriptions, correlations and buffered messages that can be searched."""

from __future__ import annotations

from vivero.storage.search import implied
from vivero.storage.search.fields import (
    KEY,
    NUMBER,
    OTHER,
    SORTED_PREFIX,
    TEXT,
    TEXT_KEY,
    TIME,
    Field,
    enumeration,
    filtered,
)
from vivero.storage.search.resources import Resource

SUBSCRIPTION_STATES = ("CORRELATED", "CREATED", "DELETED", "MIGRATED")
SUBSCRIPTION_TYPES = ("PROCESS_EVENT", "START_EVENT")

_OF_TOOL = """coalesce((SELECT json_object_agg(p.key, p.value) FROM json_each_text(s.properties) p
 WHERE p.key LIKE 'io.camunda.tool:%'), '{}')"""
"""The properties for agents of a start event. `%` is no placeholder here: the statements have numbered ones."""
_OPEN = {"CREATED": "s.state = 'CREATED' AND s.ended_at IS NULL"}
"""The second condition follows from the first one. Partial indexes have it."""

MESSAGE_SUBSCRIPTIONS = Resource(
    "Message subscription",
    "message_subscriptions s",
    "s.subscription_key",
    (
        filtered("messageSubscriptionKey", "s.subscription_key", KEY, sort=True),
        filtered("processDefinitionId", "s.process_id", TEXT, sort=True),
        filtered("processDefinitionKey", "s.process_definition_key", KEY),
        filtered("processDefinitionName", "s.process_name", TEXT, sort=True),
        filtered("processDefinitionVersion", "s.process_version", NUMBER, sort=True),
        filtered("processInstanceKey", "s.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "s.root_key", KEY),
        filtered("elementId", "s.element_id", TEXT, sort=True),
        filtered("elementInstanceKey", "s.element_instance_key", KEY, sort=True, implied=implied.by_element_key("s")),
        enumeration("messageSubscriptionState", "s.state", SUBSCRIPTION_STATES, sort=True, cases=_OPEN),
        enumeration("messageSubscriptionType", "s.subscription_type", SUBSCRIPTION_TYPES, sort=True),
        filtered("lastUpdatedDate", "s.updated_at", TIME, sort=True),
        filtered("messageName", "s.name", TEXT, sort=True, sort_sql=f"left(s.name, {SORTED_PREFIX})"),
        filtered(
            "correlationKey", "s.correlation_key", TEXT, sort=True, sort_sql=f"left(s.correlation_key, {SORTED_PREFIX})"
        ),
        filtered("tenantId", "s.tenant_id", TEXT, sort=True),
        filtered("toolName", "s.properties ->> 'io.camunda.tool:name'", TEXT, sort=True),
        filtered("inboundConnectorType", "s.properties ->> 'inbound.type'", TEXT, sort=True),
        filtered("businessId", "s.business_id", TEXT, implied=implied.by_business_id("s")),
        Field("toolProperties", _OF_TOOL, OTHER),
    ),
)

MESSAGE_CORRELATIONS = Resource(
    "Correlated message subscription",
    "message_correlations c",
    "c.message_correlation_key",
    (
        filtered("messageKey", "c.message_key", TEXT_KEY, sort=True),
        filtered("subscriptionKey", "c.subscription_key", KEY, sort=True),
        filtered("messageName", "c.name", TEXT, sort=True, sort_sql=f"left(c.name, {SORTED_PREFIX})"),
        filtered(
            "correlationKey",
            "nullif(c.correlation_key, '')",
            TEXT,
            sort=True,
            sort_sql=f"nullif(left(c.correlation_key, {SORTED_PREFIX}), '')",
        ),
        filtered("correlationTime", "c.correlated_at", TIME, sort=True),
        filtered("elementId", "c.element_id", TEXT, sort=True),
        filtered("elementInstanceKey", "c.element_instance_key", KEY, sort=True, implied=implied.by_element_key("c")),
        filtered("processDefinitionId", "c.process_id", TEXT, sort=True, implied=implied.by_process_id("c")),
        filtered(
            "processDefinitionKey", "c.process_definition_key", KEY, sort=True, implied=implied.by_definition_key("c")
        ),
        filtered("processInstanceKey", "c.process_instance_key", KEY, sort=True),
        Field("rootProcessInstanceKey", "c.root_key", KEY),
        filtered("partitionId", "(c.message_key >> 51)", NUMBER, sort=True),
        filtered("tenantId", "c.tenant_id", TEXT, sort=True),
        filtered("businessId", "c.business_id", TEXT, sort=True),
    ),
)

BUFFERED_MESSAGES = Resource(
    "Message",
    "messages m",
    "m.message_key",
    (
        filtered("messageKey", "m.message_key", KEY, sort=True),
        filtered("messageName", "m.name", TEXT, sort=True, sort_sql=f"left(m.name, {SORTED_PREFIX})"),
        filtered(
            "correlationKey",
            "nullif(m.correlation_key, '')",
            TEXT,
            sort=True,
            sort_sql=f"nullif(left(m.correlation_key, {SORTED_PREFIX}), '')",
        ),
        filtered("messageId", "m.message_id", TEXT),
        filtered("expirationDate", "from_epoch_ms(m.deadline_ms)", TIME, sort=True),
        filtered("businessId", "m.business_id", TEXT),
        filtered("tenantId", "m.tenant_id", TEXT, sort=True),
        Field("receivedBy", "to_json(m.given)", OTHER),
    ),
)
"""Messages that wait for later subscriptions. `receivedBy`: the processes that have got the message already."""
