"""The figures of a running node, for GET /cluster/status."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vivero.engine.runtime.consumer.leadership import Consumer
from vivero.engine.runtime.definitions import DefinitionCache
from vivero.engine.runtime.supervision.supervisor import Supervisor


def figures(
    supervisor: Supervisor, consumers: Mapping[int, Consumer], definitions: DefinitionCache
) -> Mapping[str, Any]:
    """What each child, each partition and the cache of definitions does."""
    stats = definitions.stats
    return {
        "children": [
            {"name": child.name, "state": child.state, "healthy": child.healthy, "restarts": child.restarts}
            for child in supervisor.health()
        ],
        "partitions": [_partition(partition, consumer) for partition, consumer in consumers.items()],
        "definitions": {
            "entries": stats.size,
            "bytes": stats.bytes,
            "hits": stats.hits,
            "misses": stats.misses,
            "evictions": stats.evictions,
        },
    }


def _partition(partition: int, consumer: Consumer) -> Mapping[str, Any]:
    consumed, stats = consumer.handover.consumed(), consumer.stats
    return {
        "partitionId": partition,
        "duty": consumer.handover.assignment.duty.value,
        "leads": consumed is not None,
        "position": None if consumed is None else str(consumed.position),
        "commandsPerSecond": 0.0 if consumed is None else round(consumed.per_second, 1),
        "terms": stats.terms,
        "batches": stats.batches,
        "commands": stats.commands,
    }
