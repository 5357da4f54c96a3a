"""Every route of the table with every kind of caller. A route without a line here fails."""

import re

import pytest

from tests.api.access import (
    test_alert_rules,
    test_batches,
    test_comments,
    test_foreign_keys,
    test_model_drafts,
    test_saved_views,
    test_tenant_reads,
    test_tenants,
)
from tests.api.access.conftest import basic, bearer
from tests.api.changed_services import changed
from tests.api.conftest import Client, NoDatabase
from vivero.api import app as api_app
from vivero.api.access import authentication
from vivero.api.access.needs import PUBLIC
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import BUILT_IN, NO_RIGHTS, RESOURCES, Permission, rights
from vivero.api.routes import ROUTES
from vivero.storage.search.directory import RESOURCE_TYPES

ALLOWED = """
*    GET    /v2/status
*    GET    /v2/license
*    GET    /cluster/v2/status
+    GET    /cluster/v2/topology
dov  GET    /v2/system/usage-metrics
+    GET    /v2/system/configuration
+    GET    /v2/topology
+    GET    /v2/authentication/me
+    POST   /v2/authentication/me/authorizations/search
+    PUT    /v2/authentication/me/password
+    GET    /v2/authentication/me/sessions
+    DELETE /v2/authentication/me/sessions/{sessionKey}
+    GET    /v2/authentication/me/tokens
+    POST   /v2/authentication/me/tokens
+    DELETE /v2/authentication/me/tokens/{tokenName}
d    POST   /v2/alert-rules
dovw POST   /v2/alert-rules/search
d    PATCH  /v2/alert-rules/{alertRuleKey}
d    DELETE /v2/alert-rules/{alertRuleKey}
d    POST   /v2/alert-rules/{alertRuleKey}/test
+    POST   /v2/saved-views
+    POST   /v2/saved-views/search
+    DELETE /v2/saved-views/{savedViewKey}
d    POST   /v2/model-drafts
d    POST   /v2/model-drafts/search
d    GET    /v2/model-drafts/{modelDraftKey}
d    PUT    /v2/model-drafts/{modelDraftKey}
d    DELETE /v2/model-drafts/{modelDraftKey}
-    POST   /v2/setup/user
+    POST   /mcp/cluster
+    POST   /mcp/processes
*    GET    /live
*    GET    /startup
*    GET    /ready
dov  GET    /metrics
dov  GET    /cluster/status
dov  GET    /cluster/nodes
dov  GET    /cluster/figures
     PUT    /cluster/nodes/{nodeId}/draining
     DELETE /cluster/nodes/{nodeId}/draining
     PUT    /cluster/nodes/{nodeId}/log-levels
     DELETE /cluster/nodes/{nodeId}/log-levels
     POST   /background-jobs
dov  POST   /background-jobs/search
dov  GET    /background-jobs/{id}
     POST   /background-jobs/deletion
     DELETE /background-jobs/{id}
     POST   /background-jobs/{id}/run
     POST   /background-jobs/{id}/retry
     POST   /background-jobs/{id}/cancel
dov  GET    /background-job-consumers
     DELETE /background-job-consumers/{type}
dov  GET    /background-job-types
dov  GET    /queued-commands/{id}
     PUT    /background-job-types/{type}/pause
     DELETE /background-job-types/{type}/pause
dov  GET    /webhooks
dov  GET    /inbound-connectors
*    POST   /inbound/{path}
*    GET    /inbound/{path}
*    PUT    /inbound/{path}
*    DELETE /inbound/{path}
dov  POST   /outbox/search
dov  GET    /outbox/{eventId}
     POST   /outbox/{eventId}/retry
     DELETE /outbox/{eventId}
d    POST   /v2/deployments
d    POST   /v2/deployments/validation
d    POST   /v2/resources/{resourceKey}/deletion
dov  POST   /v2/resources/search
dov  GET    /v2/resources/{resourceKey}
dov  GET    /v2/resources/{resourceKey}/content
dov  GET    /v2/resources/{resourceKey}/content/binary
dov  POST   /v2/forms/search
dov  GET    /v2/forms/{formKey}
dow  POST   /v2/documents
dow  POST   /v2/documents/batch
dovw GET    /v2/documents/{documentId}
do   DELETE /v2/documents/{documentId}
dovw POST   /v2/documents/{documentId}/links
*    GET    /v2/document-links/{link}
dovw POST   /v2/process-definitions/search
dovw GET    /v2/process-definitions/{processDefinitionKey}
dovw GET    /v2/process-definitions/{processDefinitionKey}/xml
dovw GET    /v2/process-definitions/{processDefinitionKey}/form
dovw POST   /v2/process-definitions/{processDefinitionKey}/migration-plan
dov  POST   /v2/decision-definitions/search
dov  GET    /v2/decision-definitions/{decisionDefinitionKey}
dov  GET    /v2/decision-definitions/{decisionDefinitionKey}/xml
dov  POST   /v2/decision-definitions/statistics/decision-instances
dov  GET    /v2/decision-definitions/{decisionDefinitionKey}/statistics/rules
dov  POST   /v2/decision-requirements/search
dov  GET    /v2/decision-requirements/{decisionRequirementsKey}
dov  GET    /v2/decision-requirements/{decisionRequirementsKey}/xml
dovw POST   /v2/process-definitions/{processDefinitionKey}/statistics/element-instances
dovw POST   /v2/process-definitions/{processDefinitionKey}/variable-names/search
dovw GET    /v2/process-definitions/{processDefinitionKey}/statistics/element-durations
dovw POST   /v2/process-definitions/statistics/process-instances
dovw POST   /v2/process-definitions/statistics/process-instances-by-version
dovw POST   /v2/process-definitions/statistics/message-subscriptions
do   POST   /v2/process-instances
dovw POST   /v2/process-instances/search
dovw GET    /v2/process-instances/export
dovw POST   /v2/process-instances/export
dovw GET    /v2/process-instances/{processInstanceKey}
do   POST   /v2/process-instances/{processInstanceKey}/cancellation
do   POST   /v2/process-instances/{processInstanceKey}/suspension
do   POST   /v2/process-instances/{processInstanceKey}/resumption
dow  POST   /v2/process-instances/{processInstanceKey}/business-id-assignment
do   POST   /v2/process-instances/{processInstanceKey}/deletion
do   POST   /v2/process-instances/{processInstanceKey}/modification
dow  POST   /v2/process-instances/{processInstanceKey}/migration
dow  POST   /v2/process-instances/{processInstanceKey}/undo
dovw GET    /v2/process-instances/{processInstanceKey}/undo
do   POST   /v2/erasures
do   POST   /v2/process-instances/cancellation
do   POST   /v2/process-instances/deletion
do   POST   /v2/process-instances/incident-resolution
do   POST   /v2/process-instances/migration
do   POST   /v2/process-instances/modification
do   POST   /v2/process-instances/resumption
do   POST   /v2/process-instances/suspension
do   POST   /v2/process-definitions/{processDefinitionKey}/instance-suspension
do   POST   /v2/process-definitions/{processDefinitionKey}/instance-resumption
do   POST   /v2/process-instances/{processInstanceKey}/incident-resolution
do   POST   /v2/incidents/resolution
do   POST   /v2/jobs/batch-update
do   POST   /v2/batch-operations/{batchOperationKey}/cancellation
do   POST   /v2/batch-operations/{batchOperationKey}/resumption
do   POST   /v2/batch-operations/{batchOperationKey}/suspension
dov  GET    /v2/batch-operations/{batchOperationKey}
dov  POST   /v2/batch-operations/search
dov  POST   /v2/batch-operation-items/search
dovw POST   /v2/process-instances/{processInstanceKey}/incidents/search
dovw GET    /v2/process-instances/{processInstanceKey}/snapshot
dovw GET    /v2/process-instances/{processInstanceKey}/events
dovw GET    /v2/process-instances/{processInstanceKey}/trace
dovw GET    /v2/process-instances/{processInstanceKey}/compensations
dovw GET    /v2/process-instances/{processInstanceKey}/agent-calls
dovw GET    /v2/process-instances/{processInstanceKey}/call-hierarchy
dovw GET    /v2/process-instances/{processInstanceKey}/sequence-flows
dovw GET    /v2/process-instances/statistics/by-day
dovw GET    /v2/process-definitions/{processDefinitionKey}/statistics/cycle-times
dovw GET    /v2/process-definitions/{processDefinitionKey}/statistics/agent-calls
dovw GET    /v2/process-instances/{processInstanceKey}/statistics/element-instances
dovw GET    /v2/process-instances/{processInstanceKey}/statistics/wait-states
dov  POST   /v2/user-tasks/search
dov  GET    /v2/user-tasks/export
dov  POST   /v2/user-tasks/export
dov  GET    /v2/user-tasks/{userTaskKey}
do   PATCH  /v2/user-tasks/{userTaskKey}
do   POST   /v2/user-tasks/{userTaskKey}/assignment
do   DELETE /v2/user-tasks/{userTaskKey}/assignee
do   POST   /v2/user-tasks/{userTaskKey}/completion
dov  GET    /v2/user-tasks/{userTaskKey}/form
dov  POST   /v2/user-tasks/{userTaskKey}/variables/search
dov  POST   /v2/user-tasks/{userTaskKey}/effective-variables/search
do   POST   /v2/user-tasks/{userTaskKey}/comments
dov  POST   /v2/user-tasks/{userTaskKey}/comments/search
dov  POST   /v2/user-tasks/{userTaskKey}/audit-logs/search
dow  POST   /v2/jobs/activation
dovw POST   /v2/jobs/search
dow  PATCH  /v2/jobs/{jobKey}
dow  POST   /v2/jobs/{jobKey}/completion
dow  POST   /v2/jobs/{jobKey}/failure
dow  POST   /v2/jobs/{jobKey}/error
dov  GET    /v2/jobs/statistics/global
dov  POST   /v2/jobs/statistics/by-types
dov  POST   /v2/jobs/statistics/by-workers
dov  POST   /v2/jobs/statistics/time-series
dov  POST   /v2/jobs/statistics/errors
dovw POST   /v2/variables/search
dovw GET    /v2/variables/{variableKey}
dow  PUT    /v2/element-instances/{elementInstanceKey}/variables
dovw POST   /v2/element-instances/search
dovw POST   /v2/element-instances/wait-states/search
dovw GET    /v2/element-instances/{elementInstanceKey}
dow  POST   /v2/element-instances/ad-hoc-activities/{adHocSubProcessInstanceKey}/activation
dovw POST   /v2/element-instances/{elementInstanceKey}/incidents/search
dovw POST   /v2/incidents/search
dovw GET    /v2/incidents/export
dovw POST   /v2/incidents/export
dovw GET    /v2/incidents/{incidentKey}
dow  POST   /v2/incidents/{incidentKey}/resolution
dovw POST   /v2/incidents/statistics/by-cause
dovw POST   /v2/incidents/statistics/process-instances-by-error
dovw POST   /v2/incidents/statistics/process-instances-by-definition
dovw POST   /v2/timers/search
dovw GET    /v2/timers/{timerKey}
dow  PATCH  /v2/timers/{timerKey}
dow  POST   /v2/timers/{timerKey}/trigger
dow  POST   /v2/messages/publication
dow  POST   /v2/messages/correlation
dov  POST   /v2/messages/search
dovw POST   /v2/message-subscriptions/search
dovw POST   /v2/correlated-message-subscriptions/search
dow  POST   /v2/signals/broadcast
do   POST   /v2/conditionals/evaluation
do   POST   /v2/decision-definitions/evaluation
dov  POST   /v2/decision-instances/search
dov  GET    /v2/decision-instances/{decisionEvaluationInstanceKey}
do   POST   /v2/decision-instances/{decisionEvaluationKey}/deletion
do   POST   /v2/decision-instances/deletion
dov  POST   /v2/expression/evaluation
dov  POST   /v2/simulations
     PUT    /v2/clock
     POST   /v2/clock/reset
     POST   /v2/users
     POST   /v2/users/search
     GET    /v2/users/{username}
     PUT    /v2/users/{username}
     DELETE /v2/users/{username}
     GET    /v2/users/{username}/sessions
     DELETE /v2/users/{username}/sessions
     DELETE /v2/users/{username}/sessions/{sessionKey}
     POST   /v2/tokens
     POST   /v2/tokens/search
     DELETE /v2/tokens/{tokenName}
     POST   /v2/groups
     POST   /v2/groups/search
     GET    /v2/groups/{groupId}
     PUT    /v2/groups/{groupId}
     DELETE /v2/groups/{groupId}
     POST   /v2/groups/{groupId}/users/search
     PUT    /v2/groups/{groupId}/users/{username}
     DELETE /v2/groups/{groupId}/users/{username}
     POST   /v2/groups/{groupId}/clients/search
     PUT    /v2/groups/{groupId}/clients/{clientId}
     DELETE /v2/groups/{groupId}/clients/{clientId}
     POST   /v2/groups/{groupId}/mapping-rules/search
     PUT    /v2/groups/{groupId}/mapping-rules/{mappingRuleId}
     DELETE /v2/groups/{groupId}/mapping-rules/{mappingRuleId}
     POST   /v2/roles
     POST   /v2/roles/search
     GET    /v2/roles/{roleId}
     PUT    /v2/roles/{roleId}
     DELETE /v2/roles/{roleId}
     POST   /v2/roles/{roleId}/users/search
     PUT    /v2/roles/{roleId}/users/{username}
     DELETE /v2/roles/{roleId}/users/{username}
     POST   /v2/roles/{roleId}/clients/search
     PUT    /v2/roles/{roleId}/clients/{clientId}
     DELETE /v2/roles/{roleId}/clients/{clientId}
     POST   /v2/roles/{roleId}/groups/search
     PUT    /v2/roles/{roleId}/groups/{groupId}
     DELETE /v2/roles/{roleId}/groups/{groupId}
     POST   /v2/roles/{roleId}/mapping-rules/search
     PUT    /v2/roles/{roleId}/mapping-rules/{mappingRuleId}
     DELETE /v2/roles/{roleId}/mapping-rules/{mappingRuleId}
     POST   /v2/tenants
     POST   /v2/tenants/search
     GET    /v2/tenants/{tenantId}
     PUT    /v2/tenants/{tenantId}
     DELETE /v2/tenants/{tenantId}
     POST   /v2/tenants/{tenantId}/users/search
     PUT    /v2/tenants/{tenantId}/users/{username}
     DELETE /v2/tenants/{tenantId}/users/{username}
     POST   /v2/tenants/{tenantId}/clients/search
     PUT    /v2/tenants/{tenantId}/clients/{clientId}
     DELETE /v2/tenants/{tenantId}/clients/{clientId}
     POST   /v2/tenants/{tenantId}/groups/search
     PUT    /v2/tenants/{tenantId}/groups/{groupId}
     DELETE /v2/tenants/{tenantId}/groups/{groupId}
     POST   /v2/tenants/{tenantId}/roles/search
     PUT    /v2/tenants/{tenantId}/roles/{roleId}
     DELETE /v2/tenants/{tenantId}/roles/{roleId}
     POST   /v2/tenants/{tenantId}/mapping-rules/search
     PUT    /v2/tenants/{tenantId}/mapping-rules/{mappingRuleId}
     DELETE /v2/tenants/{tenantId}/mapping-rules/{mappingRuleId}
     POST   /v2/mapping-rules
     POST   /v2/mapping-rules/search
     GET    /v2/mapping-rules/{mappingRuleId}
     PUT    /v2/mapping-rules/{mappingRuleId}
     DELETE /v2/mapping-rules/{mappingRuleId}
     POST   /v2/groups/{groupId}/roles/search
dov  POST   /v2/cluster-variables/search
     POST   /v2/cluster-variables/global
dov  GET    /v2/cluster-variables/global/{name}
     PUT    /v2/cluster-variables/global/{name}
     DELETE /v2/cluster-variables/global/{name}
     POST   /v2/cluster-variables/tenants/{tenantId}
dov  GET    /v2/cluster-variables/tenants/{tenantId}/{name}
     PUT    /v2/cluster-variables/tenants/{tenantId}/{name}
     DELETE /v2/cluster-variables/tenants/{tenantId}/{name}
     POST   /v2/global-task-listeners
     POST   /v2/global-task-listeners/search
     GET    /v2/global-task-listeners/{id}
     PUT    /v2/global-task-listeners/{id}
     DELETE /v2/global-task-listeners/{id}
     POST   /v2/authorizations
     POST   /v2/authorizations/search
     GET    /v2/authorizations/{authorizationKey}
     PUT    /v2/authorizations/{authorizationKey}
     DELETE /v2/authorizations/{authorizationKey}
o    POST   /v2/audit-logs/search
o    GET    /v2/audit-logs/{auditLogKey}
dov  GET    /v2/commands
dov  GET    /v2/commands/{position}
     POST   /chaos/children/{name}
"""
"""Callers of a route: developer, operator, viewer, worker; `+`: everybody with credentials; `*`: everybody; `-`:
nobody, because authentication is on."""

LETTERS = {"d": "developer", "o": "operator", "v": "viewer", "w": "worker"}
TABLE = {tuple(line[5:].split()): line[:4].strip() for line in ALLOWED.strip("\n").splitlines()}


def target(route):
    """A path of the route; its handler rejects the key, so that no database is needed."""
    return "/".join("x" if segment.startswith("{") else segment for segment in route.path.split("/"))


class As:
    """Access that takes everybody for one caller."""

    def __init__(self, *roles) -> None:
        self.caller = Caller("USER", "ann", rights(roles, ()) if roles else NO_RIGHTS, provider="PASSWORD")

    async def authenticate(self, headers, address):
        return self.caller


def test_the_table_has_every_route():
    assert set(TABLE) == {(route.method, route.path) for route in ROUTES}


def expected_of(allowed):
    """The roles that may use a route with these letters."""
    expected = {name: letter in allowed or allowed in ("+", "*") for letter, name in LETTERS.items()}
    return expected | {"admin": allowed != "-", "nobody": allowed in ("+", "*")}


async def test_roles(services):
    """All routes with all roles; the wrong ones are told together."""
    expected = {place: expected_of(allowed) for place, allowed in TABLE.items()}
    found = {place: {} for place in expected}
    for role in (*LETTERS.values(), "admin", "nobody"):
        access = As(*[role] * (role != "nobody"))
        made = changed(services, access=access, clock_changed=lambda: None, pool=NoDatabase())
        client = Client(api_app.build(made))
        for route in ROUTES:
            answer = await client(route.method, target(route), b"{")
            found[route.method, route.path][role] = answer.status != 403
            if answer.status == 403:
                assert answer.problem["title"] == "FORBIDDEN", route
                assert answer.problem["detail"].startswith("Unauthorized to perform operation '"), route
    assert {place: roles for place, roles in found.items() if roles != expected[place]} == {}


async def test_bad_credentials(secured, people, rows, bad_tokens):
    """All routes with all bad credentials: public routes ignore them, all others answer 401."""
    people.user("ann", "admin")
    revoked = people.token("revoked", "admin")
    rows.execute("DELETE FROM api_tokens")
    credentials = {what: bearer(token) for what, token in bad_tokens.items()}
    credentials |= {
        "nothing": [],
        "wrong password": basic("ann", "wrong"),
        "revoked": bearer(revoked),
        "expired": bearer(people.token("expired", "admin", expires_at="2020-01-01T00:00:00Z")),
        "forged": bearer("vivero_" + "A" * 43),
    }
    wrong = {}
    for what, headers in credentials.items():
        for route in ROUTES:
            answer = await secured(route.method, target(route), b"{", headers)
            if (answer.status == 401) == (route.needs is PUBLIC):
                wrong[what, route.method, route.path] = answer.status
    assert wrong == {}


@pytest.fixture(autouse=True)
def no_limits(monkeypatch):
    monkeypatch.setattr(authentication, "FAILURES_OF_USER", (10**6, 1.0))
    monkeypatch.setattr(authentication, "FAILURES_OF_ADDRESS", (10**6, 1.0))
    monkeypatch.setattr("vivero.api.access.passwords.verify", lambda *_: False)


def named(routes):
    return {f"{route.method} {route.path}" for route in routes}


OTHER_TENANT = {
    "a foreign key is an unknown key": {*test_foreign_keys.BODIES, *test_foreign_keys.IN_BODIES},
    "a foreign key is an unknown key for reads": named(test_tenant_reads.BY_KEY),
    "a search finds own rows": named(test_tenant_reads.SEARCHES),
    "groups count own rows": named(test_tenant_reads.COUNTING),
    "days count own rows": {f"GET {test_tenant_reads.BY_DAY}"},
    "another tenant's name is 403": {f"POST {path}" for path in test_tenants.NAMING} | {"POST /v2/jobs/activation"},
    "own tests": {
        "POST /v2/expression/evaluation",
        "GET /v2/commands",
        "POST /v2/process-definitions/{processDefinitionKey}/migration-plan",
    },
    "own tests of batches": test_batches.ROUTES,
    "own tests of cluster variables": {
        f"{method} /v2/cluster-variables/tenants/{{tenantId}}{rest}"
        for method, rest in (("POST", ""), ("GET", "/{name}"), ("PUT", "/{name}"), ("DELETE", "/{name}"))
    },
    "own tests of agents": {"POST /mcp/cluster", "POST /mcp/processes"},
    "own tests of undo": {"POST /v2/process-instances/{processInstanceKey}/undo"},
    "own tests of deletions": {
        "POST /v2/process-instances/{processInstanceKey}/deletion",
        "POST /v2/decision-instances/{decisionEvaluationKey}/deletion",
        "POST /v2/erasures",
    },
    "own tests of comments": test_comments.ROUTES,
    "own tests of saved views": test_saved_views.ROUTES,
    "own tests of drafts": test_model_drafts.ROUTES,
    "own tests of validations": {"POST /v2/deployments/validation"},
    "own tests of alert rules": test_alert_rules.ROUTES,
    "a simulation sees no tenant": {"POST /v2/simulations"},
    "own tests of lists as CSV": {
        f"{method} /v2/{resource}/export"
        for method in ("GET", "POST")
        for resource in ("incidents", "process-instances", "user-tasks")
    },
    "own tests of documents": {
        *("POST /v2/documents", "POST /v2/documents/batch", "DELETE /v2/documents/{documentId}"),
        "POST /v2/documents/{documentId}/links",
    },
}
"""The answers to callers of another tenant. The tests of that name are in the modules of the routes' lists."""
WITHOUT_TENANTS = re.compile(
    r"\w+ (/live|/startup|/ready|/metrics|/cluster/|/background-job|/queued-commands/|/webhooks|/inbound-connectors"
    r"|/inbound/|/outbox/"
    r"|/chaos/|/v2/(topology|status|license|authentication|setup|system/configuration|clock|authorizations)\b"
    r"|/v2/(global-task-listeners|cluster-variables/global|document-links)\b"
    r"|/v2/(users|groups|roles|tenants|mapping-rules|tokens)\b)"
)
"""Nodes, background jobs, the paths of webhooks, the clock and the directory belong to no tenant. A link to a document
is for everybody."""


def test_every_route_is_tried_by_callers_of_another_tenant():
    tried = {route: [what for what, routes in OTHER_TENANT.items() if route in routes] for route in named(ROUTES)}
    wrong = {route: by for route, by in tried.items() if bool(by) == bool(WITHOUT_TENANTS.match(route))}
    assert wrong == {}, "tried by nobody and not excused, or both"


def test_permissions_are_of_the_vocabulary():
    needed = {route.needs for route in ROUTES if isinstance(route.needs, Permission)}
    given = {permission for role in BUILT_IN.values() for permission in role}
    for permission in needed | given:
        assert permission.action in RESOURCES[permission.resource], permission
    assert set(RESOURCES) <= set(RESOURCE_TYPES)


async def test_without_authentication_everybody_may_do_everything(make_client):
    client = make_client(clock_changed=lambda: None)
    answer = await client("GET", "/v2/authentication/me")
    assert (answer.json["username"], answer.json["authorizedComponents"]) == ("anonymous", ["*"])
    assert (await client("PUT", "/v2/clock", b"{")).status not in (401, 403)
