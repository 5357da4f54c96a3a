"""The figures of a running node, for GET /cluster/status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.engine.consumer.leadership import Consumer
from vivero.engine.definitions.cache import DefinitionCache
from vivero.engine.supervision.supervisor import Supervisor
from vivero.storage.postgres.given_time import withheld_s


def status_figures(
    supervisor: Supervisor, consumers: Mapping[int, Consumer], definitions: DefinitionCache, now_s: float
) -> Mapping[str, Any]:
    """The state of each child, each partition and the cache of definitions. `now_s`: Trio's time.

    `machine` tells how much time the machine did not give to the event loop, in the last seconds and since the start.
    """
    stats = definitions.stats
    return {
        "children": [
            {"name": child.name, "state": child.state, "healthy": child.healthy, "restarts": child.restarts}
            for child in supervisor.health()
        ],
        "machine": {
            "slow": supervisor.slowness.slow,
            "withheldShare": round(supervisor.slowness.share, 2),
            "withheldSeconds": round(withheld_s(), 1),
        },
        "partitions": [_partition(partition, consumer, now_s) for partition, consumer in consumers.items()],
        "definitions": {
            "entries": stats.size,
            "bytes": stats.bytes,
            "hits": stats.hits,
            "misses": stats.misses,
            "evictions": stats.evictions,
        },
    }


def _partition(partition: int, consumer: Consumer, now_s: float) -> Mapping[str, Any]:
    """`commandsPerSecond`: of the last seconds. The rate of the term is another: what it can do while it is busy."""
    progress, stats = consumer.partition_duty.progress(), consumer.stats
    return {
        "partitionId": partition,
        "duty": consumer.partition_duty.assignment.duty.value,
        "leads": progress is not None,
        "position": None if progress is None else str(progress.position),
        "commandsPerSecond": round(stats.recent.per_second(now_s), 1),
        "terms": stats.terms,
        "batches": stats.batches,
        "commands": stats.commands,
    }
