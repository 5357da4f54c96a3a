"""The machines that a number of instances a second needs, computed from measured costs.

The costs are those of docs/benchmarks.md and docs/operations/growth.md, which a test compares. They were measured with
one service task on two shared cores, with the clients beside the server.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from vivero.config import budget
from vivero.config.sections import Config

DAY_S = 86_400
API_US, ENGINE_US, POSTGRES_US = 384, 297, 361
"""CPU time of an instance with one job in µs: API node, engine node, PostgreSQL."""
FURTHER_JOB = 0.6
"""The part of these costs that each further job of an instance adds, by its commands: an estimate."""
INSTANCE_BYTES, VARIABLE_BYTES, JOB_BYTES = 4_200, 200, 2_200
"""Bytes on disk of an ended instance with one job; of a variable without its value; of a further job."""
COPIES_OF_A_VALUE = 3
"""A value stands in its row, in the command that brought it, and in the event."""
WAL_BYTES, WAL_OF_A_JOB = 10_000, 4_400
SLACK = 1.1
"""Space of deleted rows, which is used again."""
USED = 0.6
"""The part of a core that is planned for. The rest is for peaks, vacuum, backups, and the node that fails."""
STATE_INDEX_BYTES = 900
"""Bytes of the indexes of the state for an instance. Those of running instances and of a day should fit in memory."""
MIN_BUFFERS = 256_000_000
CONNECTIONS_FOR_PEOPLE = 20
"""psql, backups, monitoring, superusers."""
HIGH_WAL_BYTES = 100_000_000
"""WAL in a second that few disks and standbys take."""


@dataclass(frozen=True, slots=True)
class Workload:
    """The work to be done. `peak`: the highest rate of an hour, as a multiple of the mean."""

    instances_per_s: float
    jobs: float = 1
    """Jobs of an instance."""
    variables: float = 4
    """Variables of an instance."""
    value_bytes: float = 50
    """The size of a variable, as JSON."""
    retention_days: float = 30
    duration_s: float = 3600
    """The mean time from the start of an instance to its end."""
    peak: float = 3
    nodes: int = 2


@dataclass(frozen=True, slots=True)
class Size:
    """The machines for a workload. Cores are those of the benchmarks' machine."""

    program_cores: float
    """In all nodes together."""
    node_memory_bytes: int
    """Memory of each process when all its budgets are used up."""
    postgres_cores: float
    postgres_memory_bytes: int
    """Buffers and page cache for the indexes of running instances and of those of a day."""
    partitions: int
    processes: int
    """In each node."""
    connections: int
    """`max_connections` of PostgreSQL."""
    disk_bytes: int
    """Tables and indexes, when retention and the mean rate are in balance."""
    wal_bytes_per_s: int
    """At the peak."""
    running: int
    """Instances that run at a time."""
    advice: tuple[str, ...]


def size(workload: Workload, config: Config | None = None) -> Size:
    """The size for a workload. `config`: the settings of a node, which decide about its memory and connections."""
    peak = workload.instances_per_s * workload.peak
    cores = peak / 1e6 / USED * (1 + FURTHER_JOB * (workload.jobs - 1))
    program, engine = cores * (API_US + ENGINE_US), cores * ENGINE_US
    partitions = max(1, math.ceil(engine))
    processes = max(1, math.ceil(program / workload.nodes))
    node = replace(config or Config(), partitions=partitions, processes=processes)
    kept = workload.instances_per_s * (workload.retention_days * DAY_S + workload.duration_s)
    hot = min(kept, workload.instances_per_s * (DAY_S + workload.duration_s))
    more_jobs = max(0.0, workload.jobs - 1)
    row = INSTANCE_BYTES + more_jobs * JOB_BYTES + workload.variables * VARIABLE_BYTES
    values = workload.variables * workload.value_bytes * COPIES_OF_A_VALUE
    wal = WAL_BYTES + more_jobs * WAL_OF_A_JOB + values
    found = Size(
        program_cores=program,
        node_memory_bytes=budget.memory_bytes(node),
        postgres_cores=cores * POSTGRES_US,
        postgres_memory_bytes=round(max(MIN_BUFFERS, hot * STATE_INDEX_BYTES)),
        partitions=partitions,
        processes=processes,
        connections=budget.of_program(node) * workload.nodes + CONNECTIONS_FOR_PEOPLE,
        disk_bytes=round(kept * (row + values) * SLACK),
        wal_bytes_per_s=round(peak * wal),
        running=round(workload.instances_per_s * workload.duration_s),
        advice=(),
    )
    return replace(found, advice=tuple(_advice(workload, found)))


def _advice(workload: Workload, found: Size) -> list[str]:
    advice = []
    if workload.nodes < 2:
        advice.append(
            "One node: nothing is lost if it fails, and nothing goes on. A second one takes over within seconds."
        )
    if found.disk_bytes > 1e12:
        advice.append("Tables beyond 1 TB: an archive (retention.archive) and fewer days are cheaper than the disk.")
    if found.wal_bytes_per_s > HIGH_WAL_BYTES:
        advice.append("Few disks and standbys take so much WAL: measure them first, and see docs/operations/scale.md.")
    return advice
