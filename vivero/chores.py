"""The chores of a node with the role `jobs`: the tasks that keep the tables small."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.config import Config
from vivero.connections import Connections
from vivero.engine.runtime.chore_lock import ChoreLock
from vivero.engine.runtime.expiry import Expiry
from vivero.engine.runtime.maintenance import Maintenance
from vivero.engine.runtime.retention import Retention
from vivero.engine.runtime.supervision.children import Child
from vivero.storage.postgres.plans import CHORES


def chores(config: Config, connections: Connections) -> Iterator[Child]:
    """Each has its own connection, and works while this node has the chore lock."""
    lock = ChoreLock(connections.dedicated("chore-lock"))
    yield Child("chore-lock", lock.run, lock.close)
    expiry = Expiry(connections.dedicated("expiry", **CHORES), config.expiry, lock.partitions)
    yield Child("expiry", expiry.run, expiry.close)
    maintenance = Maintenance(connections.dedicated("maintenance", **CHORES), config.maintenance, lock.partitions)
    yield Child("maintenance", maintenance.run, maintenance.close)
    retention = Retention(
        connections.dedicated("retention", **CHORES), config.retention, lambda: bool(lock.partitions())
    )
    yield Child("retention", retention.run, retention.close)
