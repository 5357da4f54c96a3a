"""The table of contents of the REST API: method and path → handler. Each resource has one module.

Entry: `route`.
Imports: core, storage, engine, access, activation, admission, callers, commands, computing, deployment, documents,
http, job_reports, mcp, search.
"""

from __future__ import annotations

from collections.abc import Iterator

from vivero.api.access.needs import (
    ANY_CALLER,
    CANCEL_INSTANCE,
    CREATE_INSTANCE,
    DELETE_DECISIONS,
    DELETE_FORM,
    DELETE_INSTANCE,
    DELETE_PROCESS,
    DELETE_RESOURCE,
    DEPLOY,
    EVALUATE,
    MODIFY_INSTANCE,
    PUBLIC,
    READ_AUDIT_LOG,
    READ_DEFINITION,
    READ_INSTANCE,
    READ_MESSAGE,
    READ_RESOURCE,
    READ_SYSTEM,
    SEND_MESSAGE,
    SUSPEND_INSTANCE,
    UPDATE_INSTANCE,
    UPDATE_SYSTEM,
)
from vivero.api.access.scopes import Scope
from vivero.api.callers import audited
from vivero.api.callers.audited import SYSTEM, Audited, administration
from vivero.api.callers.permissions import Permission
from vivero.api.routes import (
    agent_calls,
    audit_logs,
    authorizations,
    background_jobs,
    business_ids,
    chaos,
    clock,
    commands,
    compensations,
    conditionals,
    deployments,
    directory,
    element_instances,
    erasures,
    events,
    expressions,
    forms,
    incidents,
    job_activation,
    jobs,
    messages,
    migration_plans,
    migrations,
    modifications,
    own_password,
    process_definitions,
    process_instances,
    recent_commands,
    resources,
    sessions,
    signals,
    simulations,
    snapshots,
    statistics,
    suspensions,
    timers,
    tokens,
    traces,
    undos,
    validations,
    variables,
    wait_states,
)
from vivero.api.routes.agents import agent_routes
from vivero.api.routes.alert_rule_routes import ALERT_RULE_ROUTES
from vivero.api.routes.batch_routes import BATCH_ROUTES
from vivero.api.routes.cluster_routes import CLUSTER_ROUTES
from vivero.api.routes.cluster_wide_routes import CLUSTER_WIDE_ROUTES
from vivero.api.routes.decision_routes import DECISION_ROUTES
from vivero.api.routes.directory import Entries
from vivero.api.routes.document_routes import DOCUMENT_ROUTES
from vivero.api.routes.model_draft_routes import MODEL_DRAFT_ROUTES
from vivero.api.routes.route import Handler, Route, deployment_limit, exports, of_key, of_tree, variables_limit
from vivero.api.routes.saved_view_routes import SAVED_VIEW_ROUTES
from vivero.api.routes.statistics_routes import STATISTICS_ROUTES
from vivero.api.routes.task_routes import TASK_ROUTES
from vivero.api.routes.webhook_routes import WEBHOOK_ROUTES
from vivero.api.search.search_requests import searching

__all__ = ["ROUTES", "Handler", "Route"]


def _entries(entries: Entries) -> Iterator[Route]:
    """The routes of one kind of the directory, and of its members, who are part of it."""
    kind = entries.kind.type
    create, read, update, delete = (Permission(kind, action) for action in ("CREATE", "READ", "UPDATE", "DELETE"))
    path = f"/v2/{entries.path}"
    one = f"{path}/{{{entries.parameter}}}"
    yield Route("POST", path, directory.creating(entries), create, audited=administration(kind, "CREATE"))
    yield Route("POST", f"{path}/search", searching(entries.resource), read)
    yield Route("GET", one, directory.getting(entries), read)
    yield Route("PUT", one, directory.updating(entries), update, audited=administration(kind, "UPDATE"))
    yield Route("DELETE", one, directory.deleting(entries), delete, audited=administration(kind, "DELETE"))
    for members in map(directory.MEMBERS.__getitem__, entries.members):
        member = f"{one}/{members.path}/{{{members.parameter}}}"
        yield Route("POST", f"{one}/{members.path}/search", directory.listing(entries, members), read)
        assigned, unassigned = (administration(kind, each, members.type) for each in ("ASSIGN", "UNASSIGN"))
        yield Route("PUT", member, directory.assigning(entries, members), update, audited=assigned)
        yield Route("DELETE", member, directory.unassigning(entries, members), update, audited=unassigned)


def _reports_job(report: str, handler: Handler, record: Audited) -> Route:
    """A route of workers, with the variables of their job."""
    path = f"/v2/jobs/{{jobKey}}/{report}"
    return of_tree("POST", path, handler, UPDATE_INSTANCE, record, is_limited=False, max_body_bytes=variables_limit)


def _reads_jobs(method: str, path: str, handler: Handler) -> Route:
    """A route that shows background jobs."""
    return Route(method, path, handler, READ_SYSTEM, of_no_tenant=True)


def _changes_jobs(method: str, path: str, handler: Handler) -> Route:
    """A route that changes background jobs."""
    return Route(method, path, handler, UPDATE_SYSTEM, audited=SYSTEM, of_no_tenant=True)


_SIGN_OUT = administration("USER", "UPDATE")
_CREATE_TOKEN, _REVOKE_TOKEN = administration("CLIENT", "CREATE"), administration("CLIENT", "DELETE")
_OWN_ACCESS = (
    Route("GET", "/v2/authentication/me/sessions", sessions.list_own, ANY_CALLER),
    Route("DELETE", "/v2/authentication/me/sessions/{sessionKey}", sessions.end_own, ANY_CALLER, audited=_SIGN_OUT),
    Route("GET", "/v2/authentication/me/tokens", tokens.list_own, ANY_CALLER),
    Route("POST", "/v2/authentication/me/tokens", tokens.create_own, ANY_CALLER, audited=_CREATE_TOKEN),
    Route("DELETE", "/v2/authentication/me/tokens/{tokenName}", tokens.revoke_own, ANY_CALLER, audited=_REVOKE_TOKEN),
)
"""Sessions and tokens of the user who asks. Their handlers refuse other callers."""
_READ_USER, _UPDATE_USER = Permission("USER", "READ"), Permission("USER", "UPDATE")
_READ_ROLE, _UPDATE_ROLE = Permission("ROLE", "READ"), Permission("ROLE", "UPDATE")
_ACCESS_OF_OTHERS = (
    Route("GET", "/v2/users/{username}/sessions", sessions.list_of_user, _READ_USER),
    Route("DELETE", "/v2/users/{username}/sessions", sessions.end_all_of_user, _UPDATE_USER, audited=_SIGN_OUT),
    Route(
        "DELETE", "/v2/users/{username}/sessions/{sessionKey}", sessions.end_of_user, _UPDATE_USER, audited=_SIGN_OUT
    ),
    Route("POST", "/v2/tokens", tokens.create, _UPDATE_ROLE, audited=_CREATE_TOKEN),
    Route("POST", "/v2/tokens/search", tokens.search, _READ_ROLE),
    Route("DELETE", "/v2/tokens/{tokenName}", tokens.revoke, _UPDATE_ROLE, audited=_REVOKE_TOKEN),
)
"""A token has roles: whoever may give roles may make one."""

_REST = (
    # the cluster, and who asks
    *CLUSTER_ROUTES,
    Route("POST", "/v2/authentication/me/authorizations/search", authorizations.search_own, ANY_CALLER),
    Route(
        "PUT",
        "/v2/authentication/me/password",
        own_password.change,
        ANY_CALLER,
        audited=administration("USER", "UPDATE"),
    ),
    *_OWN_ACCESS,
    *SAVED_VIEW_ROUTES,
    *ALERT_RULE_ROUTES,
    *MODEL_DRAFT_ROUTES,
    Route("POST", "/v2/setup/user", directory.create_first_admin, PUBLIC, audited=administration("USER", "CREATE")),
    # background jobs
    _reads_jobs("POST", "/background-jobs/search", background_jobs.search),
    _reads_jobs("GET", "/background-jobs/{id}", background_jobs.get),
    _reads_jobs("GET", "/background-job-consumers", background_jobs.list_consumers),
    _changes_jobs("DELETE", "/background-job-consumers/{type}", background_jobs.drop_consumer),
    _reads_jobs("GET", "/background-job-types", background_jobs.list_types),
    _reads_jobs("GET", "/queued-commands/{id}", background_jobs.queued),
    _changes_jobs("POST", "/background-jobs", background_jobs.add),
    _changes_jobs("POST", "/background-jobs/deletion", background_jobs.delete_all),
    _changes_jobs("DELETE", "/background-jobs/{id}", background_jobs.delete),
    _changes_jobs("POST", "/background-jobs/{id}/run", background_jobs.run_now),
    _changes_jobs("POST", "/background-jobs/{id}/retry", background_jobs.retry),
    _changes_jobs("POST", "/background-jobs/{id}/cancel", background_jobs.cancel),
    _changes_jobs("PUT", "/background-job-types/{type}/pause", background_jobs.pause),
    _changes_jobs("DELETE", "/background-job-types/{type}/pause", background_jobs.resume),
    *WEBHOOK_ROUTES,
    # deployments
    Route(
        "POST",
        "/v2/deployments",
        deployments.create,
        DEPLOY,
        deployment_limit,
        takes_json=False,
        is_new=True,
        audited=audited.DEPLOY,
    ),
    Route("POST", "/v2/deployments/validation", validations.validate, DEPLOY, deployment_limit, takes_json=False),
    of_key(
        "POST",
        "/v2/resources/{resourceKey}/deletion",
        resources.delete,
        DELETE_PROCESS,
        audited.DELETE_DEFINITION,
        needs_for_parts=(DELETE_FORM, DELETE_DECISIONS, DELETE_RESOURCE),
    ),
    Route("POST", "/v2/resources/search", resources.search, READ_RESOURCE, scope=Scope.RESULTS),
    of_key("GET", "/v2/resources/{resourceKey}", resources.get, READ_RESOURCE),
    of_key("GET", "/v2/resources/{resourceKey}/content", resources.content, READ_RESOURCE),
    of_key("GET", "/v2/resources/{resourceKey}/content/binary", resources.binary, READ_RESOURCE),
    Route("POST", "/v2/forms/search", forms.search, READ_RESOURCE, scope=Scope.RESULTS),
    of_key("GET", "/v2/forms/{formKey}", forms.get, READ_RESOURCE),
    *DOCUMENT_ROUTES,
    # process definitions
    Route("POST", "/v2/process-definitions/search", process_definitions.search, READ_DEFINITION, scope=Scope.RESULTS),
    of_key("GET", "/v2/process-definitions/{processDefinitionKey}", process_definitions.get, READ_DEFINITION),
    of_key("GET", "/v2/process-definitions/{processDefinitionKey}/xml", process_definitions.xml, READ_DEFINITION),
    of_key(
        "POST", "/v2/process-definitions/{processDefinitionKey}/migration-plan", migration_plans.suggest, READ_INSTANCE
    ),
    of_key("GET", "/v2/process-definitions/{processDefinitionKey}/form", forms.of_process, READ_DEFINITION),
    of_key(
        "POST",
        "/v2/process-definitions/{processDefinitionKey}/variable-names/search",
        process_definitions.variable_names,
        READ_INSTANCE,
    ),
    *DECISION_ROUTES,
    # process instances
    Route(
        "POST",
        "/v2/process-instances",
        process_instances.create,
        CREATE_INSTANCE,
        variables_limit,
        is_new=True,
        scope=Scope.BODY,
        audited=audited.CREATE_INSTANCE,
        parameters=frozenset({"timeout"}),
    ),
    Route("POST", "/v2/process-instances/search", process_instances.search, READ_INSTANCE, scope=Scope.RESULTS),
    *exports("/v2/process-instances/export", process_instances.export, READ_INSTANCE),
    of_key("GET", "/v2/process-instances/{processInstanceKey}", process_instances.get, READ_INSTANCE),
    of_tree(
        "POST",
        "/v2/process-instances/{processInstanceKey}/cancellation",
        process_instances.cancel,
        CANCEL_INSTANCE,
        audited.CANCEL_INSTANCE,
        is_limited=False,
        has_dry_run=True,
    ),
    of_tree(
        "POST",
        "/v2/process-instances/{processInstanceKey}/modification",
        modifications.modify,
        MODIFY_INSTANCE,
        audited.MODIFY_INSTANCE,
        has_dry_run=True,
    ),
    of_tree(
        "POST",
        "/v2/process-instances/{processInstanceKey}/migration",
        migrations.migrate,
        UPDATE_INSTANCE,
        audited.MIGRATE_INSTANCE,
        has_dry_run=True,
    ),
    of_tree(
        "POST",
        "/v2/process-instances/{processInstanceKey}/suspension",
        suspensions.suspend,
        SUSPEND_INSTANCE,
        audited.SUSPEND_INSTANCE,
        has_dry_run=True,
    ),
    of_tree(
        "POST",
        "/v2/process-instances/{processInstanceKey}/resumption",
        suspensions.resume,
        SUSPEND_INSTANCE,
        audited.RESUME_INSTANCE,
        has_dry_run=True,
    ),
    of_tree(
        "POST",
        "/v2/process-instances/{processInstanceKey}/business-id-assignment",
        business_ids.assign,
        UPDATE_INSTANCE,
        audited.ASSIGN_BUSINESS_ID,
        has_dry_run=True,
    ),
    of_key("GET", "/v2/process-instances/{processInstanceKey}/undo", undos.get, READ_INSTANCE),
    of_tree(
        "POST",
        "/v2/process-instances/{processInstanceKey}/undo",
        undos.undo,
        MODIFY_INSTANCE,
        audited.MODIFY_INSTANCE,
        needs_for_parts=(UPDATE_INSTANCE, SUSPEND_INSTANCE),
        has_dry_run=True,
    ),
    of_key(
        "POST",
        "/v2/process-instances/{processInstanceKey}/deletion",
        process_instances.delete,
        DELETE_INSTANCE,
        audited.DELETE_INSTANCE,
        has_dry_run=True,
    ),
    Route("POST", "/v2/erasures", erasures.erase, DELETE_INSTANCE, audited=audited.DELETE_INSTANCE),
    of_key(
        "POST",
        "/v2/process-instances/{processInstanceKey}/incidents/search",
        incidents.search_of_instance,
        READ_INSTANCE,
    ),
    Route("GET", "/v2/process-instances/{processInstanceKey}/snapshot", snapshots.get, READ_INSTANCE),
    Route("GET", "/v2/process-instances/{processInstanceKey}/events", events.get, READ_INSTANCE),
    Route("GET", "/v2/process-instances/{processInstanceKey}/trace", traces.get, READ_INSTANCE),
    of_key("GET", "/v2/process-instances/{processInstanceKey}/compensations", compensations.get, READ_INSTANCE),
    of_key("GET", "/v2/process-instances/{processInstanceKey}/agent-calls", agent_calls.get, READ_INSTANCE),
    Route("GET", "/v2/process-instances/{processInstanceKey}/call-hierarchy", statistics.call_hierarchy, READ_INSTANCE),
    of_key(
        "GET", "/v2/process-instances/{processInstanceKey}/sequence-flows", statistics.sequence_flows, READ_INSTANCE
    ),
    # statistics
    *STATISTICS_ROUTES,
    # batch operations
    *BATCH_ROUTES,
    # user tasks
    *TASK_ROUTES,
    # jobs
    Route("POST", "/v2/jobs/activation", job_activation.activate, UPDATE_INSTANCE, unrecorded=True),
    Route("POST", "/v2/jobs/search", jobs.search, READ_INSTANCE, scope=Scope.RESULTS),
    of_tree("PATCH", "/v2/jobs/{jobKey}", jobs.update, UPDATE_INSTANCE, audited.UPDATE_JOB),
    _reports_job("completion", jobs.complete, audited.COMPLETE_JOB),
    _reports_job("failure", jobs.fail, audited.REPORT_JOB),
    _reports_job("error", jobs.throw_error, audited.REPORT_JOB),
    # variables
    Route("POST", "/v2/variables/search", variables.search, READ_INSTANCE, scope=Scope.RESULTS),
    of_key("GET", "/v2/variables/{variableKey}", variables.get, READ_INSTANCE),
    of_tree(
        "PUT",
        "/v2/element-instances/{elementInstanceKey}/variables",
        variables.set,
        UPDATE_INSTANCE,
        audited.SET_VARIABLES,
        max_body_bytes=variables_limit,
    ),
    # element instances
    Route("POST", "/v2/element-instances/search", element_instances.search, READ_INSTANCE, scope=Scope.RESULTS),
    Route("POST", "/v2/element-instances/wait-states/search", wait_states.search, READ_INSTANCE, scope=Scope.RESULTS),
    of_key("GET", "/v2/element-instances/{elementInstanceKey}", element_instances.get, READ_INSTANCE),
    of_tree(
        "POST",
        "/v2/element-instances/ad-hoc-activities/{adHocSubProcessInstanceKey}/activation",
        element_instances.activate,
        UPDATE_INSTANCE,
        audited.UPDATE_INSTANCE,
        max_body_bytes=variables_limit,
    ),
    of_key(
        "POST",
        "/v2/element-instances/{elementInstanceKey}/incidents/search",
        incidents.search_of_element,
        READ_INSTANCE,
    ),
    # incidents
    Route("POST", "/v2/incidents/search", incidents.search, READ_INSTANCE, scope=Scope.RESULTS),
    *exports("/v2/incidents/export", incidents.export, READ_INSTANCE),
    of_key("GET", "/v2/incidents/{incidentKey}", incidents.get, READ_INSTANCE),
    of_tree(
        "POST", "/v2/incidents/{incidentKey}/resolution", incidents.resolve, UPDATE_INSTANCE, audited.RESOLVE_INCIDENT
    ),
    # timers
    Route("POST", "/v2/timers/search", timers.search, READ_INSTANCE, scope=Scope.RESULTS),
    of_key("GET", "/v2/timers/{timerKey}", timers.get, READ_INSTANCE),
    of_tree("PATCH", "/v2/timers/{timerKey}", timers.move, UPDATE_INSTANCE, audited.UPDATE_TIMER),
    of_tree("POST", "/v2/timers/{timerKey}/trigger", timers.trigger, UPDATE_INSTANCE, audited.UPDATE_TIMER),
    # messages and signals
    Route(
        "POST",
        "/v2/messages/publication",
        messages.publish,
        SEND_MESSAGE,
        variables_limit,
        is_new=True,
        scope=Scope.BODY,
        audited=audited.TELL_INSTANCES,
    ),
    Route(
        "POST",
        "/v2/messages/correlation",
        messages.correlate,
        SEND_MESSAGE,
        variables_limit,
        is_new=True,
        scope=Scope.BODY,
        audited=audited.TELL_INSTANCES,
    ),
    Route("POST", "/v2/messages/search", messages.search_buffered, READ_MESSAGE),
    Route("POST", "/v2/message-subscriptions/search", messages.search, READ_INSTANCE, scope=Scope.RESULTS),
    Route(
        "POST",
        "/v2/correlated-message-subscriptions/search",
        messages.search_correlated,
        READ_INSTANCE,
        scope=Scope.RESULTS,
    ),
    Route(
        "POST",
        "/v2/signals/broadcast",
        signals.broadcast,
        UPDATE_INSTANCE,
        variables_limit,
        is_new=True,
        audited=audited.TELL_INSTANCES,
    ),
    Route(
        "POST",
        "/v2/conditionals/evaluation",
        conditionals.evaluate,
        CREATE_INSTANCE,
        variables_limit,
        is_new=True,
        audited=audited.CREATE_INSTANCE,
    ),
    # expressions
    Route("POST", "/v2/expression/evaluation", expressions.evaluate, EVALUATE, variables_limit),
    Route("POST", "/v2/simulations", simulations.simulate, EVALUATE),
    # the clock
    Route("PUT", "/v2/clock", clock.pin, UPDATE_SYSTEM, audited=SYSTEM),
    Route("POST", "/v2/clock/reset", clock.reset, UPDATE_SYSTEM, audited=SYSTEM),
    # who may do what
    *(route for entries in directory.KINDS for route in _entries(entries)),
    *_ACCESS_OF_OTHERS,
    Route("POST", "/v2/groups/{groupId}/roles/search", directory.roles_of_group, Permission("GROUP", "READ")),
    Route(
        "POST",
        "/v2/authorizations",
        authorizations.create,
        Permission("AUTHORIZATION", "CREATE"),
        audited=administration("AUTHORIZATION", "CREATE"),
    ),
    Route("POST", "/v2/authorizations/search", authorizations.search, Permission("AUTHORIZATION", "READ")),
    Route("GET", "/v2/authorizations/{authorizationKey}", authorizations.get, Permission("AUTHORIZATION", "READ")),
    Route(
        "PUT",
        "/v2/authorizations/{authorizationKey}",
        authorizations.update,
        Permission("AUTHORIZATION", "UPDATE"),
        audited=administration("AUTHORIZATION", "UPDATE"),
    ),
    Route(
        "DELETE",
        "/v2/authorizations/{authorizationKey}",
        authorizations.delete,
        Permission("AUTHORIZATION", "DELETE"),
        audited=administration("AUTHORIZATION", "DELETE"),
    ),
    # task listeners and variables of the whole cluster
    *CLUSTER_WIDE_ROUTES,
    # who did what
    Route("POST", "/v2/audit-logs/search", audit_logs.search, READ_AUDIT_LOG),
    Route("GET", "/v2/audit-logs/{auditLogKey}", audit_logs.get, READ_AUDIT_LOG),
    # the log, and fault injection
    Route("GET", "/v2/commands", recent_commands.get, READ_SYSTEM),
    Route("GET", "/v2/commands/{position}", commands.get, READ_SYSTEM),
    Route(
        "POST", "/chaos/children/{name}", chaos.inject, UPDATE_SYSTEM, unrecorded=True, parameters=frozenset({"kind"})
    ),
)
ROUTES = (*_REST, *agent_routes(_REST))
