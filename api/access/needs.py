"""The needs of routes: nothing, any caller, or a permission. Every route of the table names one of these."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import Allowed, Permission
from vivero.api.http.problems import Problem
from vivero.api.http.request import parse_key
from vivero.storage.access.tenants import Tenants
from vivero.storage.search.user_tasks import GrantedTasks


class Open(Enum):
    """A route without a permission."""

    PUBLIC = "everybody, without credentials"
    ANY_CALLER = "everybody with valid credentials"


Need = Permission | Open

PUBLIC, ANY_CALLER = Open.PUBLIC, Open.ANY_CALLER

DEPLOY = Permission("RESOURCE", "CREATE")
DELETE_PROCESS = Permission("RESOURCE", "DELETE_PROCESS")
DELETE_FORM = Permission("RESOURCE", "DELETE_FORM")
DELETE_RESOURCE = Permission("RESOURCE", "DELETE_RESOURCE")
DELETE_DECISIONS = Permission("RESOURCE", "DELETE_DRD")
READ_RESOURCE = Permission("RESOURCE", "READ")
READ_DEFINITION = Permission("PROCESS_DEFINITION", "READ_PROCESS_DEFINITION")
READ_DECISION = Permission("DECISION_DEFINITION", "READ_DECISION_DEFINITION")
READ_REQUIREMENTS = Permission("DECISION_REQUIREMENTS_DEFINITION", "READ")
READ_INSTANCE = Permission("PROCESS_DEFINITION", "READ_PROCESS_INSTANCE")
CREATE_INSTANCE = Permission("PROCESS_DEFINITION", "CREATE_PROCESS_INSTANCE")
UPDATE_INSTANCE = Permission("PROCESS_DEFINITION", "UPDATE_PROCESS_INSTANCE")
MODIFY_INSTANCE = Permission("PROCESS_DEFINITION", "MODIFY_PROCESS_INSTANCE")
CANCEL_INSTANCE = Permission("PROCESS_DEFINITION", "CANCEL_PROCESS_INSTANCE")
SUSPEND_INSTANCE = Permission("PROCESS_DEFINITION", "SUSPEND_PROCESS_INSTANCE")
"""Enough for the resumption, too."""
DELETE_INSTANCE = Permission("PROCESS_DEFINITION", "DELETE_PROCESS_INSTANCE")
READ_TASK = Permission("PROCESS_DEFINITION", "READ_USER_TASK")
UPDATE_TASK = Permission("PROCESS_DEFINITION", "UPDATE_USER_TASK")
CLAIM_TASK = Permission("PROCESS_DEFINITION", "CLAIM_USER_TASK")
COMPLETE_TASK = Permission("PROCESS_DEFINITION", "COMPLETE_USER_TASK")
CREATE_DECISION_INSTANCE = Permission("DECISION_DEFINITION", "CREATE_DECISION_INSTANCE")
READ_DECISION_INSTANCE = Permission("DECISION_DEFINITION", "READ_DECISION_INSTANCE")
DELETE_DECISION_INSTANCE = Permission("DECISION_DEFINITION", "DELETE_DECISION_INSTANCE")
SEND_MESSAGE = Permission("MESSAGE", "CREATE")
READ_MESSAGE = Permission("MESSAGE", "READ")
EVALUATE = Permission("EXPRESSION", "EVALUATE")
READ_CLUSTER_VARIABLE = Permission("CLUSTER_VARIABLE", "READ")
CREATE_DOCUMENT = Permission("DOCUMENT", "CREATE")
READ_DOCUMENT = Permission("DOCUMENT", "READ")
DELETE_DOCUMENT = Permission("DOCUMENT", "DELETE")
READ_AUDIT_LOG = Permission("AUDIT_LOG", "READ")
READ_BATCH = Permission("BATCH", "READ")
UPDATE_BATCH = Permission("BATCH", "UPDATE")
CREATE_BATCH = Permission("BATCH", "CREATE")
"""Enough for batch operations of every type."""
READ_JOB_METRIC = Permission("SYSTEM", "READ_JOB_METRIC")
READ_USAGE_METRIC = Permission("SYSTEM", "READ_USAGE_METRIC")
READ_SYSTEM = Permission("SYSTEM", "READ")
UPDATE_SYSTEM = Permission("SYSTEM", "UPDATE")


ON_TASKS: Mapping[Permission, Permission] = {
    READ_TASK: Permission("USER_TASK", "READ"),
    UPDATE_TASK: Permission("USER_TASK", "UPDATE"),
    CLAIM_TASK: Permission("USER_TASK", "CLAIM"),
    COMPLETE_TASK: Permission("USER_TASK", "COMPLETE"),
}
"""Permission on the user tasks of a process → the one on single user tasks. Each of the two is enough."""


def authorise(caller: Caller, need: Need) -> Allowed | None:
    """The resources for which the caller has a route's permission; None: all. Raises Problem 403 for none."""
    if not isinstance(need, Permission):
        return None
    ids = caller.rights.ids(need)
    if ids is None:
        return None
    on_tasks = ON_TASKS.get(need)
    if on_tasks is not None:
        return _on_tasks(caller, need, ids, on_tasks)
    if not ids:
        raise denied(need)
    return Allowed(need, ids)


def may_use(caller: Caller, need: Need) -> bool:
    """Whether the caller has the permission for some resources."""
    try:
        authorise(caller, need)
    except Problem:
        return False
    return True


def _on_tasks(caller: Caller, need: Permission, processes: frozenset[str], on_tasks: Permission) -> Allowed | None:
    keys, properties = caller.rights.ids(on_tasks), caller.rights.properties(on_tasks)
    if keys is None:
        return None
    if not (processes or keys or properties):
        raise denied(need)
    user = caller.id if caller.kind == "USER" else None
    tasks = GrantedTasks(
        processes,
        frozenset(key for text in keys if (key := parse_key(text)) is not None),
        user if "assignee" in properties else None,
        user if "candidateUsers" in properties else None,
        frozenset(caller.groups) if "candidateGroups" in properties else frozenset(),
    )
    return Allowed(need, processes, tasks)


def check_all_tenants(tenants: Tenants, need: Need) -> None:
    """Raise Problem 403 for a caller with some tenants: what the route shows or changes belongs to none of them."""
    if tenants is not None and isinstance(need, Permission):
        raise Problem(403, "FORBIDDEN", f"{denied(need).detail}: it belongs to no tenant, so it needs all tenants")


def denied(need: Permission) -> Problem:
    """403. It names the permission, and never the resource."""
    detail = f"Unauthorized to perform operation '{need.action}' on resource '{need.resource}'"
    return Problem(403, "FORBIDDEN", detail)
