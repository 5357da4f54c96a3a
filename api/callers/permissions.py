"""Permissions: an action on a type of resource. The names are those of the API; the built-in roles are here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from vivero.storage.access.identities import ADMIN, Grant
from vivero.storage.search.user_tasks import GrantedTasks

EVERY = "*"
"""The resource id of a grant for all resources of a type."""


class Permission(NamedTuple):
    """An action on a type of resource: READ_PROCESS_INSTANCE on PROCESS_DEFINITION."""

    resource: str
    action: str


class Allowed(NamedTuple):
    """The resources for which a restricted caller has a permission: those with these ids, or these user tasks."""

    need: Permission
    ids: frozenset[str]
    tasks: GrantedTasks | None = None
    """The user tasks, if single ones can be granted too (`needs.ON_TASKS`)."""


class Rights:
    """The permissions of a caller: the ids of resources, and names of properties, by permission."""

    def __init__(
        self,
        ids: Mapping[Permission, frozenset[str] | None],
        properties: Mapping[Permission, frozenset[str]] | None = None,
        *,
        everything: bool = False,
    ) -> None:
        """None stands for all ids."""
        self._ids = ids
        self._properties = properties or {}
        self._everything = everything

    def ids(self, needed: Permission) -> frozenset[str] | None:
        """The ids of the resources for which the caller has a permission: None for all, empty for none."""
        return None if self._everything else self._ids.get(needed, frozenset())

    def properties(self, needed: Permission) -> frozenset[str]:
        """The properties that make the caller have a permission on a resource (`TASK_PROPERTIES`)."""
        return self._properties.get(needed, frozenset())


ALL_RIGHTS = Rights({}, everything=True)
NO_RIGHTS = Rights({})


def _of(resource: str, *actions: str) -> frozenset[Permission]:
    return frozenset(Permission(resource, action) for action in actions)


BATCH_TYPES = (
    *("CANCEL_PROCESS_INSTANCE", "DELETE_PROCESS_INSTANCE", "MIGRATE_PROCESS_INSTANCE", "MODIFY_PROCESS_INSTANCE"),
    *("DELETE_DECISION_INSTANCE", "RESOLVE_INCIDENT", "SUSPEND_PROCESS_INSTANCE", "UPDATE_JOB"),
)
"""The types of batch operations that have a permission of their own."""
_CRUD = ("CREATE", "READ", "UPDATE", "DELETE")
_WATCHING = (
    _of("PROCESS_DEFINITION", "READ_PROCESS_DEFINITION", "READ_PROCESS_INSTANCE", "READ_USER_TASK")
    | _of("DECISION_DEFINITION", "READ_DECISION_DEFINITION", "READ_DECISION_INSTANCE")
    | _of("DECISION_REQUIREMENTS_DEFINITION", "READ")
    | _of("RESOURCE", "READ")
    | _of("MESSAGE", "READ")
    | _of("SYSTEM", "READ", "READ_JOB_METRIC", "READ_USAGE_METRIC")
    | _of("EXPRESSION", "EVALUATE")
    | _of("COMPONENT", "ACCESS")
    | _of("BATCH", "READ")
    | _of("CLUSTER_VARIABLE", "READ")
    | _of("DOCUMENT", "READ")
)
_RUNNING = (
    _of(
        "PROCESS_DEFINITION",
        *("CREATE_PROCESS_INSTANCE", "UPDATE_PROCESS_INSTANCE", "MODIFY_PROCESS_INSTANCE", "CANCEL_PROCESS_INSTANCE"),
        *("DELETE_PROCESS_INSTANCE", "SUSPEND_PROCESS_INSTANCE", "UPDATE_USER_TASK", "CLAIM_USER_TASK"),
        "COMPLETE_USER_TASK",
    )
    | _of("DECISION_DEFINITION", "CREATE_DECISION_INSTANCE", "DELETE_DECISION_INSTANCE")
    | _of("MESSAGE", "CREATE")
    | _of("BATCH", "CREATE", "UPDATE")
    | _of("DOCUMENT", "CREATE", "DELETE")
)

BUILT_IN: Mapping[str, frozenset[Permission]] = {
    ADMIN: frozenset(),
    "operator": _WATCHING | _RUNNING | _of("AUDIT_LOG", "READ"),
    "developer": _WATCHING
    | _RUNNING
    | _of("RESOURCE", "CREATE", "DELETE_FORM", "DELETE_PROCESS", "DELETE_DRD", "DELETE_RESOURCE"),
    "worker": _of("PROCESS_DEFINITION", "READ_PROCESS_DEFINITION", "READ_PROCESS_INSTANCE", "UPDATE_PROCESS_INSTANCE")
    | _of("MESSAGE", "CREATE")
    | _of("DOCUMENT", "CREATE", "READ"),
    "viewer": _WATCHING,
}
"""Role → permissions, for all ids. The role `admin` may do everything."""

RESOURCES: Mapping[str, frozenset[str]] = {
    "AUDIT_LOG": frozenset({"READ"}),
    "AUTHORIZATION": frozenset(_CRUD),
    "BATCH": frozenset({"CREATE", "READ", "UPDATE", *(f"CREATE_BATCH_OPERATION_{type}" for type in BATCH_TYPES)}),
    "CLUSTER_VARIABLE": frozenset(_CRUD),
    "COMPONENT": frozenset({"ACCESS"}),
    "DECISION_DEFINITION": frozenset(
        permission.action for permission in _WATCHING | _RUNNING if permission.resource == "DECISION_DEFINITION"
    ),
    "DECISION_REQUIREMENTS_DEFINITION": frozenset({"READ"}),
    "DOCUMENT": frozenset({"CREATE", "READ", "DELETE"}),
    "EXPRESSION": frozenset({"EVALUATE"}),
    "GLOBAL_LISTENER": frozenset(f"{action}_TASK_LISTENER" for action in _CRUD),
    "GROUP": frozenset(_CRUD),
    "MAPPING_RULE": frozenset(_CRUD),
    "MESSAGE": frozenset({"CREATE", "READ"}),
    "PROCESS_DEFINITION": frozenset(
        permission.action for permission in _WATCHING | _RUNNING if permission.resource == "PROCESS_DEFINITION"
    ),
    "RESOURCE": frozenset({"CREATE", "READ", "DELETE_FORM", "DELETE_PROCESS", "DELETE_DRD", "DELETE_RESOURCE"}),
    "ROLE": frozenset(_CRUD),
    "SYSTEM": frozenset({"READ", "READ_JOB_METRIC", "READ_USAGE_METRIC", "UPDATE"}),
    "TENANT": frozenset(_CRUD),
    "USER": frozenset(_CRUD),
    "USER_TASK": frozenset({"READ", "UPDATE", "CLAIM", "COMPLETE"}),
}
"""The types of resources that routes protect, and their actions."""

_WITHOUT_EFFECT: Mapping[str, frozenset[str]] = {
    "BACKUP": frozenset({"CREATE", "READ", "DELETE", "RESTORE"}),
    "BATCH": frozenset(
        f"CREATE_BATCH_OPERATION_{type}" for type in ("DELETE_DECISION_DEFINITION", "DELETE_PROCESS_DEFINITION")
    ),
    "DECISION_REQUIREMENTS_DEFINITION": frozenset({"UPDATE", "DELETE"}),
    "EXPORTER": frozenset({"PAUSE"}),
    "SECRET": frozenset({"READ", "REVEAL"}),
}
"""Other permissions of Camunda's API. Nothing here needs them yet, but scripts that set up a cluster grant them."""

GRANTABLE: Mapping[str, frozenset[str]] = {
    type: RESOURCES.get(type, frozenset()) | _WITHOUT_EFFECT.get(type, frozenset())
    for type in sorted({*RESOURCES, *_WITHOUT_EFFECT})
}
"""The types of resources and actions that grants may name."""

TASK_PROPERTIES = ("assignee", "candidateGroups", "candidateUsers")
"""The properties of user tasks that grants may name: the caller is the task's assignee, or a candidate."""


def built_in_grants() -> Iterator[tuple[str, str, list[str]]]:
    """The permissions of built-in roles: (role, type of the resource, actions)."""
    for role, permissions in BUILT_IN.items():
        for resource, actions in sorted(RESOURCES.items()):
            held = [each for each in sorted(actions) if role == ADMIN or Permission(resource, each) in permissions]
            if held:
                yield role, resource, held


def rights(roles: Iterable[str], grants: Iterable[Grant]) -> Rights:
    """The rights from roles and grants together. Names that this version does not know give nothing."""
    roles = frozenset(roles)
    if ADMIN in roles:
        return ALL_RIGHTS
    found: dict[Permission, frozenset[str] | None] = {}
    properties: dict[Permission, frozenset[str]] = {}
    for grant in grants:
        for action in grant.permission_types:
            permission = Permission(grant.resource_type, action)
            if grant.resource_id is not None:
                _add(found, permission, grant.resource_id)
            elif grant.property_name in TASK_PROPERTIES:
                properties[permission] = properties.get(permission, frozenset()) | {grant.property_name}
    for role in roles:
        found.update(dict.fromkeys(BUILT_IN.get(role, ()), None))
    return Rights(found, properties)


def _add(found: dict[Permission, frozenset[str] | None], permission: Permission, id: str) -> None:
    known = found.get(permission, frozenset())
    found[permission] = None if id == EVERY or known is None else known | {id}
