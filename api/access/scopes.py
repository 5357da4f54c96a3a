"""Rights on single processes: how a route restricts a caller that has its permission for some processes only.

A route's scope says which part of the request names the process. The default is `EVERYTHING`: such a route needs the
permission for all resources (`*`), so a route that nobody thought about is closed to restricted callers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from enum import Enum
from functools import partial

from vivero.api.access.needs import authorise, denied
from vivero.api.callers.permissions import Allowed, Permission
from vivero.api.http.request import Request, parse_key
from vivero.api.reading import read_of
from vivero.api.services import Services
from vivero.storage.access.tenants import Tenants
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.decisions import DECISION_DEFINITIONS, DECISION_REQUIREMENTS
from vivero.storage.search.deployed_resources import FORMS, GENERIC_RESOURCES
from vivero.storage.search.element_instances import ELEMENT_INSTANCES
from vivero.storage.search.incidents import INCIDENTS
from vivero.storage.search.jobs import JOBS
from vivero.storage.search.process_definitions import PROCESS_DEFINITIONS
from vivero.storage.search.process_instances import PROCESS_INSTANCES
from vivero.storage.search.resources import Resource
from vivero.storage.search.statements import fits, process_of
from vivero.storage.search.timers import TIMERS
from vivero.storage.search.user_tasks import GRANTED, USER_TASKS, GrantedTasks
from vivero.storage.search.variables import VARIABLE


class Scope(Enum):
    """The behaviour of a route for a restricted caller."""

    EVERYTHING = "the caller needs the permission for all resources"
    KEY = "the key in the path belongs to a process, which the caller must have the permission for"
    RESULTS = "the search finds only what belongs to the caller's processes"
    BODY = "the handler checks what the body names, before it appends (`require`)"


OWNERS: Mapping[str, Sequence[Resource]] = {
    "processDefinitionKey": (PROCESS_DEFINITIONS,),
    "resourceKey": (PROCESS_DEFINITIONS, GENERIC_RESOURCES, FORMS, DECISION_REQUIREMENTS),
    "decisionDefinitionKey": (DECISION_DEFINITIONS,),
    "decisionRequirementsKey": (DECISION_REQUIREMENTS,),
    "formKey": (FORMS,),
    "processInstanceKey": (PROCESS_INSTANCES,),
    "elementInstanceKey": (ELEMENT_INSTANCES, PROCESS_INSTANCES),
    "adHocSubProcessInstanceKey": (ELEMENT_INSTANCES, PROCESS_INSTANCES),
    "userTaskKey": (USER_TASKS,),
    "jobKey": (JOBS,),
    "variableKey": (VARIABLE,),
    "incidentKey": (INCIDENTS,),
    "timerKey": (TIMERS,),
}
"""Parameter of a path → the resources that its keys can be of."""


async def restrict(
    services: Services, scope: Scope, allowed: Allowed, parameters: Mapping[str, str], tenants: Tenants = None
) -> Allowed:
    """The resources that a restricted caller may use with this request. Raises Problem 403 for nothing.

    With a key in the path, the result has `tasks` only if they are why the caller may use the key. An unknown key, and
    a key of other tenants, passes: the handler answers it with 404.
    """
    if scope is Scope.EVERYTHING:
        raise denied(allowed.need)
    if scope is not Scope.KEY:
        return allowed
    process = await _process(services, tenants, parameters)
    if process is None or process in allowed.ids:
        return Allowed(allowed.need, allowed.ids)
    if allowed.tasks is None or not await _is_granted(services, tenants, allowed.tasks, parameters):
        raise denied(allowed.need)
    return allowed


async def _process(services: Services, tenants: Tenants, parameters: Mapping[str, str]) -> str | None:
    """The id of the process that the key in the path belongs to; None for an unknown key."""
    ((name, text),) = parameters.items()
    key = parse_key(text)
    if key is None:
        return None
    for resource in OWNERS[name]:
        found = await read_of(services, tenants, partial(_process_of, resource, key))
        if found is not None:
            return found
    return None


async def _is_granted(services: Services, tenants: Tenants, tasks: GrantedTasks, parameters: Mapping[str, str]) -> bool:
    """Whether the user task with the key in the path is one of these."""
    key = parse_key(*parameters.values())
    if key is None:
        return False

    async def query(connection: Connection, tenants: Tenants) -> bool:
        return await fits(connection, USER_TASKS, key, (GRANTED, tasks), tenants)

    return await read_of(services, tenants, query)


async def _process_of(resource: Resource, key: int, connection: Connection, tenants: Tenants) -> str | None:
    return await process_of(connection, resource, key, tenants)


def require(request: Request, need: Permission, id: str | None) -> None:
    """Raise Problem 403 unless the caller may do this with the resource of this id; None: with all resources."""
    if request.allowed is not None and id not in request.allowed.ids:
        raise denied(need)


def require_all(request: Request, need: Permission, ids: Set[str]) -> None:
    """The same for several resources, also if the need of the route is another one."""
    allowed = authorise(request.caller, need)
    if allowed is not None and not ids <= allowed.ids:
        raise denied(need)


async def require_process(request: Request, services: Services, need: Permission, key: int | None) -> None:
    """The same for the process of a definition's key. An unknown key passes: its command is rejected."""
    if request.allowed is None:
        return
    if key is None:
        raise denied(need)
    found = await read_of(services, request.tenants, partial(_process_of, PROCESS_DEFINITIONS, key))
    if found is not None:
        require(request, need, found)


async def require_processes(request: Request, services: Services, need: Permission, keys: Iterable[int]) -> None:
    """The same for the processes of several definitions, also if the need of the route is another one."""
    allowed = authorise(request.caller, need)
    if allowed is None:
        return

    async def query(connection: Connection, tenants: Tenants) -> list[str | None]:
        return [await process_of(connection, PROCESS_DEFINITIONS, key, tenants) for key in sorted(keys)]

    found = await read_of(services, request.tenants, query)
    if not allowed.ids.issuperset(id for id in found if id is not None):
        raise denied(need)


async def require_decision(request: Request, services: Services, need: Permission, key: int) -> None:
    """The same for the decision of a definition's key."""
    if request.allowed is None:
        return
    found = await read_of(services, request.tenants, partial(_process_of, DECISION_DEFINITIONS, key))
    if found is not None:
        require(request, need, found)


async def require_by_key(request: Request, services: Services, need: Permission) -> None:
    """Raise Problem 403 unless the caller may do this with the key in the path, too."""
    allowed = authorise(request.caller, need)
    if allowed is not None:
        await restrict(services, Scope.KEY, allowed, request.params, request.tenants)
