"""The tenants of requests: which one a request names, and which ones its caller may use.

Without multi-tenancy there is `<default>` alone, and nothing is compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from vivero.api.access.rates import only_tenant
from vivero.api.callers.caller import ANYBODY, Caller
from vivero.api.callers.permissions import Permission
from vivero.api.http.problems import Problem, invalid_argument
from vivero.api.http.request import Request
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import TENANT_ID, TENANT_ID_CHARACTERS
from vivero.core.partitions.tenants import joined
from vivero.core.records.base import DEFAULT_TENANT
from vivero.storage.access.tenants import keep
from vivero.storage.postgres.driver import Connection

MAX_TENANTS = 100
"""Tenants that one request may name."""


def usable_by(caller: Caller, services: Services) -> frozenset[str] | None:
    """The tenants that the caller may use; None: all."""
    return caller.tenants if services.access.multi_tenancy else None


def of_key(request: Request, services: Services) -> str:
    """The tenants of a command by key (`core.partitions.tenants`): all that the caller may use."""
    return joined(request.caller.tenants) if services.access.multi_tenancy else DEFAULT_TENANT


def named(request: Request, services: Services, tenant: str | None, what: str, need: Permission) -> str:
    """The tenant that a request for an operation (`what`) names, and counts for. Raises Problem: 400, 403, 429."""
    if not services.access.multi_tenancy:
        return _default(tenant, what)
    if tenant is None or not tenant.strip():
        raise _missing(what)
    _check_form(tenant, what)
    _check_assigned(request.caller, tenant, need)
    if services.access.rates is not None and only_tenant(request.caller, True) is None:
        services.access.rates.check_tenant(tenant)
    return tenant


async def keep_named(connection: Connection, tenant: str) -> None:
    """Keep a tenant that a request names until the transaction ends. Raises Problem 409 if there is none."""
    if not await keep(connection, tenant):
        raise Problem(409, "INVALID_STATE", f"There is no tenant '{tenant}'")


def named_several(
    request: Request, services: Services, given: Sequence[str], what: str, need: Permission
) -> Sequence[str]:
    """The tenants that a request names, each once. Raises Problem: 400, 403."""
    if not services.access.multi_tenancy:
        return (DEFAULT_TENANT, *(_default(tenant, what) for tenant in given))[:1]
    if not given:
        raise _missing(what)
    if len(given) > MAX_TENANTS:
        raise invalid_argument(f"Expected to handle request {what} with at most {MAX_TENANTS} tenant identifiers")
    return list(dict.fromkeys(named(request, services, tenant, what, need) for tenant in given))


def assigned(request: Request, services: Services, what: str) -> Sequence[str]:
    """All tenants that the caller is assigned to. Raises Problem 400 for none, and for too many."""
    if not services.access.multi_tenancy:
        return (DEFAULT_TENANT,)
    tenants = [tenant.tenant_id for tenant in request.caller.listed_tenants]
    if not 0 < len(tenants) <= MAX_TENANTS:
        raise invalid_argument(
            f"Expected to handle request {what} with the tenants of the caller, but it has {len(tenants)} of them;"
            f" name from 1 to {MAX_TENANTS} tenant identifiers instead"
        )
    return tenants


def _default(tenant: str | None, what: str) -> str:
    if tenant is not None and tenant.strip() and tenant != DEFAULT_TENANT:
        raise _invalid(what, tenant, "multi-tenancy is disabled")
    return DEFAULT_TENANT


def _check_form(tenant: str, what: str) -> None:
    if len(tenant) > TENANT_ID_CHARACTERS:
        raise _invalid(what, tenant, f"tenant identifier is longer than {TENANT_ID_CHARACTERS} characters")
    if TENANT_ID.fullmatch(tenant) is None:
        raise _invalid(what, tenant, "tenant identifier contains illegal characters")


def _check_assigned(caller: Caller, tenant: str, need: Permission) -> None:
    """Raise Problem 403. It does not reveal whether the tenant exists."""
    allowed = caller.tenants
    if allowed is None and caller is not ANYBODY:
        allowed = frozenset(each.tenant_id for each in caller.listed_tenants)
    if allowed is None or tenant in allowed:
        return
    raise Problem(
        403,
        "FORBIDDEN",
        f"Expected to perform operation '{need.action}' on resource '{need.resource}' for tenant '{tenant}',"
        " but user is not assigned to this tenant",
    )


def _missing(what: str) -> Problem:
    return invalid_argument(
        f"Expected to handle request {what} with multi-tenancy enabled, but no tenant identifier was provided"
    )


def _invalid(what: str, tenant: str, why: str) -> Problem:
    return invalid_argument(f"Expected to handle request {what} with tenant identifier '{tenant[:100]}', but {why}")
