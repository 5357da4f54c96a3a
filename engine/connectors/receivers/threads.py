"""Threads for clients that are not Trio's, apart from all others of the node. Each tenant has a share of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import trio

T = TypeVar("T")

MOST_THREADS, MOST_OF_TENANT = 256, 64


class TenantThreads:
    """Bounds the threads of all tenants, and of each: slow servers of one do not stop the receivers of others."""

    def __init__(self, most: int = MOST_THREADS, most_of_tenant: int = MOST_OF_TENANT) -> None:
        self._all, self._most = trio.CapacityLimiter(most), most_of_tenant
        self._shares: dict[str, trio.CapacityLimiter] = {}

    async def run(self, tenant: str, call: Callable[[], T], limit_s: float = float("inf")) -> T:
        """The result of a call in a thread. A wait for a place is not in its time. Raises trio.TooSlowError.

        A call that is given up runs on, and its place is free: what ends it is up to the caller.
        """
        async with self._share(tenant), self._all:
            with trio.fail_after(limit_s):
                return await trio.to_thread.run_sync(call, limiter=trio.CapacityLimiter(1), abandon_on_cancel=True)

    def _share(self, tenant: str) -> trio.CapacityLimiter:
        """The places of a tenant. Their number is bounded by that of tenants."""
        return self._shares.setdefault(tenant, trio.CapacityLimiter(self._most))
