"""The database connections of a node: a dedicated one for each task, and the pools of the API."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass

from vivero.config.sections import Config
from vivero.engine.counters.buckets import Buckets
from vivero.metrics.sources import NamedPool
from vivero.node.part import NodePart
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.plans import BY_INDEX, ONCE
from vivero.storage.postgres.pool import Pool
from vivero.storage.postgres.primary import Primary

READ_TIMEOUT = "5s"
"""The server cancels a query after this time, because its client no longer waits for the answer."""


@dataclass(frozen=True, slots=True)
class Connections:
    """Opens connections. PostgreSQL shows their names in `pg_stat_activity`; the settings are those of the session."""

    primary: Primary

    def dedicated(self, name: str, **settings: str) -> Callable[[], Awaitable[Connection]]:
        """A function that opens the connection of a task."""
        return lambda: self.primary.connect(f"vivero:{name}", settings)

    def by_deadline(self, name: str, **settings: str) -> Callable[[float], Awaitable[Connection]]:
        """A function that opens a connection by a deadline (Trio's clock)."""
        return lambda deadline: self.primary.connect(f"vivero:{name}", settings, deadline)


@dataclass(frozen=True, slots=True)
class Pools(NodePart):
    """A pool for each kind of work: reads, job leases, reads of large jobs.

    `readers` has the connections of the second role, which row-level security holds; None without multi-tenancy.
    """

    reads: Pool
    leasing: Pool
    large_jobs: Pool
    readers: Pool | None
    waited_s: Mapping[str, Buckets]
    """The waits of callers that found no free connection, by the name of the pool."""

    async def open(self) -> None:
        """Open the first connection of each pool. A pool that has one serves everybody, however slowly.

        Raises:
            Outage: PostgreSQL grants none.
        """
        for pool in self._all():
            async with pool.connection():
                pass

    def abort(self) -> None:
        """Close all connections, also those in use."""
        for pool in self._all():
            pool.abort()

    async def close(self) -> None:
        """Close the idle connections, when the program ends."""
        for pool in self._all():
            pool.close()

    def figures(self) -> Iterator[object]:
        named = {"reads": self.reads, "leasing": self.leasing, "large-jobs": self.large_jobs, "readers": self.readers}
        for name, waited_s in self.waited_s.items():
            if (pool := named[name]) is not None:
                yield NamedPool(name, pool, waited_s)

    def _all(self) -> tuple[Pool, ...]:
        pools = (self.reads, self.leasing, self.large_jobs)
        return pools if self.readers is None else (*pools, self.readers)


def open_pools(config: Config, connections: Connections) -> Pools:
    """The pools, which connect when they are used. Raises ValueError if multi-tenancy lacks `database.reader_url`."""
    size = config.database.pool_size
    leasing = connections.by_deadline("leasing", statement_timeout=READ_TIMEOUT, **ONCE)
    large_jobs = connections.by_deadline("large-jobs", statement_timeout=READ_TIMEOUT, **ONCE)
    waited_s = {name: Buckets() for name in ("reads", "leasing", "large-jobs")}
    if config.tenants.enabled:
        waited_s["readers"] = Buckets()
    return Pools(
        _reads("api", connections, size, waited_s["reads"]),
        Pool(leasing, size, waited_s["leasing"].note),
        Pool(large_jobs, max(1, size // 4), waited_s["large-jobs"].note),
        _readers(config, waited_s["readers"]) if config.tenants.enabled else None,
        waited_s,
    )


def _readers(config: Config, waited_s: Buckets) -> Pool:
    if config.database.reader_url is None:
        raise ValueError("multi-tenancy needs database.reader_url")
    return _reads("readers", Connections(Primary(config.database.reader_url)), config.database.pool_size, waited_s)


def _reads(name: str, connections: Connections, size: int, waited_s: Buckets) -> Pool:
    return Pool(connections.by_deadline(name, statement_timeout=READ_TIMEOUT, **BY_INDEX), size, waited_s.note)
