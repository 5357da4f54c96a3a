"""Rate limits: how many requests a second a client, and all clients of a tenant together, may send to this node."""

from __future__ import annotations

import math

from vivero.api.access.buckets import Buckets
from vivero.api.callers.caller import Caller
from vivero.api.http.problems import Problem
from vivero.api.settings import ApiSettings
from vivero.core.records.base import DEFAULT_TENANT


class Rates:
    """A bucket for each caller, or for each address without authentication, and a bucket for each tenant."""

    def __init__(self, clients: Buckets | None, tenants: Buckets | None = None) -> None:
        """None: no limit."""
        self._clients = clients
        self._tenants = tenants

    def check(self, client: object) -> None:
        """Count a request of a client. Raises Problem 429 with the time to wait."""
        _take(self._clients, client, "This client sends too many requests")

    def check_tenant(self, tenant: str) -> None:
        """Count a request for a tenant. Raises Problem 429 with the time to wait."""
        _take(self._tenants, tenant, "The clients of this tenant send too many requests")


def _take(buckets: Buckets | None, key: object, what: str) -> None:
    wait_s = 0.0 if buckets is None else buckets.take(key)
    if wait_s:
        retry_after = (b"retry-after", b"%d" % math.ceil(wait_s))
        raise Problem(429, "Too Many Requests", f"{what}; try again later", retry_after)


def only_tenant(caller: Caller, multi_tenancy: bool) -> str | None:
    """The tenant that every request of the caller counts for; None if its requests name one of several."""
    if not multi_tenancy:
        return DEFAULT_TENANT
    return next(iter(caller.tenants)) if caller.tenants is not None and len(caller.tenants) == 1 else None


def rates(settings: ApiSettings) -> Rates | None:
    """The limits of these settings; None without a limit."""
    clients = _buckets(settings.requests_per_s, settings.request_burst)
    tenants = _buckets(settings.tenant_requests_per_s, settings.tenant_request_burst)
    return None if clients is None and tenants is None else Rates(clients, tenants)


def _buckets(per_s: float, burst: int) -> Buckets | None:
    return Buckets(burst, per_s) if per_s else None
