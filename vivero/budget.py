"""The connections and the memory that a program needs, as each process has its own."""

from __future__ import annotations

import os

from vivero.config import Config
from vivero.roles import Role

CHORES = 2
"""Chores that use the database at the same time."""
BASE_BYTES = 150_000_000
"""A process without load: code, models, buffers."""


def connections(config: Config) -> int:
    """How many connections one process has to PostgreSQL at most, if it leads all partitions."""
    size = config.database.pool_size
    pools = 2 * size + max(1, size // 4)
    shared = 3  # appender, notification listener, announcer
    needed = 1  # the registration of the node
    if config.has_role(Role.API, Role.ENGINE):
        needed += pools + shared
    if config.has_role(Role.API):
        needed += 1  # completions
        needed += size if config.tenants.enabled else 0  # reads with the second role
    if config.has_role(Role.ENGINE):
        needed += 3 * config.partitions + 2  # two of each consumer, one of its timers; trials, batch operations
    if config.works_connectors:
        needed += 1  # its jobs
        needed += 0 if config.has_role(Role.API, Role.ENGINE) else size + shared  # models, the commands of its jobs
    if config.has_role(Role.ENGINE, Role.JOBS):
        needed += 1 + CHORES  # the dispatcher of the chores, and their statements
    if config.has_role(Role.JOBS) and config.metrics.enabled and config.metrics.database_every_s:
        needed += 1  # figures of the database
    if config.has_role(Role.JOBS) and (config.jobs.module is not None or config.outbox.url):
        needed += 1 + config.jobs.max_concurrent  # the dispatcher, the transactions of its runs
    return needed


def memory_bytes(config: Config) -> int:
    """The memory of one process when all of its budgets are used up."""
    api = config.http.memory_bytes + config.api.pages_bytes + config.api.activations_bytes
    return BASE_BYTES + config.has_role(Role.API) * api + config.has_role(Role.ENGINE) * config.consumer.cache_bytes


def too_few_connections(config: Config, limit: int) -> str | None:
    """The reason why the processes cannot have their connections, and what to do; None if they can."""
    each, count = connections(config), config.processes
    if each * count <= limit:
        return None
    return (
        f"{count} processes need up to {each * count} connections, {each} each, and PostgreSQL grants {limit}: raise "
        "its max_connections, lower database.pool_size, or start fewer processes"
    )


def too_little_memory(config: Config, physical_bytes: int | None = None) -> str | None:
    """The reason why the processes may run out of memory, and what to do; None if the machine has enough."""
    if physical_bytes is None:
        physical_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = memory_bytes(config) * config.processes
    if needed <= physical_bytes:
        return None
    return (
        f"{config.processes} processes may use {needed >> 20} MiB, and the machine has {physical_bytes >> 20} MiB: "
        "lower http.memory_bytes, api.pages_bytes, api.activations_bytes or consumer.cache_bytes, or start fewer "
        "processes"
    )
