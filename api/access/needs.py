"""The needs of routes: nothing, any caller, or a permission. Every route of the table names one of these."""

from __future__ import annotations

from enum import Enum

from vivero.api.access.caller import Caller
from vivero.api.access.permissions import Permission
from vivero.api.problems import Problem


class Open(Enum):
    """A route without a permission."""

    PUBLIC = "everybody, without credentials"
    ANY_CALLER = "everybody with valid credentials"


Need = Permission | Open

PUBLIC, ANY_CALLER = Open.PUBLIC, Open.ANY_CALLER

DEPLOY = Permission("RESOURCE", "CREATE")
DELETE_PROCESS = Permission("RESOURCE", "DELETE_PROCESS")
READ_DEFINITION = Permission("PROCESS_DEFINITION", "READ_PROCESS_DEFINITION")
READ_INSTANCE = Permission("PROCESS_DEFINITION", "READ_PROCESS_INSTANCE")
CREATE_INSTANCE = Permission("PROCESS_DEFINITION", "CREATE_PROCESS_INSTANCE")
UPDATE_INSTANCE = Permission("PROCESS_DEFINITION", "UPDATE_PROCESS_INSTANCE")
CANCEL_INSTANCE = Permission("PROCESS_DEFINITION", "CANCEL_PROCESS_INSTANCE")
READ_TASK = Permission("PROCESS_DEFINITION", "READ_USER_TASK")
UPDATE_TASK = Permission("PROCESS_DEFINITION", "UPDATE_USER_TASK")
COMPLETE_TASK = Permission("PROCESS_DEFINITION", "COMPLETE_USER_TASK")
SEND_MESSAGE = Permission("MESSAGE", "CREATE")
EVALUATE = Permission("EXPRESSION", "EVALUATE")
READ_AUDIT_LOG = Permission("AUDIT_LOG", "READ")
READ_SYSTEM = Permission("SYSTEM", "READ")
UPDATE_SYSTEM = Permission("SYSTEM", "UPDATE")


def authorise(caller: Caller, need: Need) -> frozenset[str] | None:
    """The ids of the resources for which the caller has a route's permission; None for all.

    Raises Problem 403 if there is no such resource.
    """
    if not isinstance(need, Permission):
        return None
    ids = caller.rights.ids(need)
    if ids is not None and not ids:
        raise denied(need)
    return ids


def denied(need: Permission) -> Problem:
    """403. It names the permission, and never the resource."""
    detail = f"Unauthorized to perform operation '{need.action}' on resource '{need.resource}'"
    return Problem(403, "FORBIDDEN", detail)
