"""The connections and the memory that a program needs, as each process has its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import groupby
from operator import attrgetter

from vivero.config.roles import Role
from vivero.config.sections import Config

CHORES = 2
"""Chores that use the database at the same time."""
SPARE = 2
"""Connections for commands, and for one that is opened again while its session still ends."""
BASE_BYTES = 150_000_000
"""A process without load: code, models, buffers."""


def _serves(config: Config) -> bool:
    return config.has_role(Role.API, Role.ENGINE)


def _appends(config: Config) -> bool:
    return _serves(config) or config.works_connectors


def _runs_jobs(config: Config) -> bool:
    return config.has_role(Role.JOBS) and bool(config.jobs.module is not None or config.outbox.url)


def _reads_figures(config: Config) -> bool:
    return config.has_role(Role.JOBS) and config.metrics.enabled and bool(config.metrics.database_every_s)


def _led(config: Config) -> int:
    """The partitions that the process may lead."""
    return config.partitions * config.has_role(Role.ENGINE)


OF_A_PARTITION: Mapping[str, Callable[[Config], int]] = {
    "consumer-writer": _led,
    "consumer-reader": _led,
    "timers": _led,
}
NEEDS: Mapping[str, Callable[[Config], int]] = {
    "cluster": lambda _config: 1,
    "appender": _appends,
    "listener": _appends,
    "announcer": _appends,
    "api": lambda config: config.database.pool_size * _appends(config),  # connectors read models
    "leasing": lambda config: config.database.pool_size * _serves(config),
    "large-jobs": lambda config: max(1, config.database.pool_size // 4) * _serves(config),
    "readers": lambda config: config.database.pool_size * (config.has_role(Role.API) and config.tenants.enabled),
    "completions": lambda config: config.has_role(Role.API) or config.works_connectors,
    **OF_A_PARTITION,
    "probe": lambda config: config.has_role(Role.ENGINE),
    "batch-operations": lambda config: config.has_role(Role.ENGINE),
    "connectors": lambda config: config.works_connectors,
    "chores": lambda config: config.has_role(Role.ENGINE, Role.JOBS),
    "chore-runs": lambda config: CHORES * config.has_role(Role.ENGINE, Role.JOBS),
    "figures": _reads_figures,
    "jobs": _runs_jobs,
    "job-runs": lambda config: config.jobs.max_concurrent * _runs_jobs(config),
}
"""The most connections of each part of a node, by the name that PostgreSQL shows behind `vivero:`."""


def connections(config: Config) -> int:
    """The most connections of one process to PostgreSQL, if it leads all partitions."""
    return sum(needed(config) for needed in NEEDS.values())


def of_program(config: Config) -> int:
    """The most connections of all processes of a program."""
    return _of_all(connections, config)


def of_partitions(config: Config) -> int:
    """The number of them that move with the partitions to another node."""
    return _of_all(lambda each: sum(needed(each) for needed in OF_A_PARTITION.values()), config)


def of_readers(config: Config) -> int:
    """The number of processes with a pool of the second role of multi-tenancy."""
    return _of_all(lambda each: NEEDS["readers"](each) > 0, config)


def _of_all(of_one: Callable[[Config], int], config: Config) -> int:
    """The sum over all processes. Those with the same roles are computed once, as a start tries many sizes."""
    kinds = (list(kind) for _roles, kind in groupby(config.of_each_process, attrgetter("roles")))
    return sum(len(kind) * of_one(kind[0]) for kind in kinds)


def memory_bytes(config: Config) -> int:
    """The memory of one process, with its compute processes, when all budgets are used up."""
    api = config.http.memory_bytes + config.api.pages_bytes + config.api.activations_bytes
    compute = config.compute.places(config.processes) * config.compute.memory_bytes
    serves = config.has_role(Role.API, Role.ENGINE)
    engine = config.consumer.cache_bytes
    return BASE_BYTES + config.has_role(Role.API) * api + config.has_role(Role.ENGINE) * engine + serves * compute


def fitted(config: Config, granted: int) -> Config | None:
    """The settings with pools that need no more than `granted` connections in all processes of a program.

    The pools of requests shrink first, then the number of background jobs that run at once. None: not even the smallest
    fit. A program whose pools had to shrink leaves some connections to commands.
    """
    if of_program(config) <= granted:
        return config
    smaller = list(_smaller(config))
    for free in (SPARE, 0):
        for one in smaller:
            if of_program(one) + free <= granted:
                return one
    return None


def smallest(config: Config) -> int:
    """The number of connections that all processes need at least."""
    *_, last = config, *_smaller(config)
    return of_program(last)


def _smaller(config: Config) -> Iterator[Config]:
    """The settings with ever smaller pools."""
    for size in range(config.database.pool_size - 1, 0, -1):
        yield replace(config, database=replace(config.database, pool_size=size))
    database = replace(config.database, pool_size=1)
    for most in range(config.jobs.max_concurrent - 1, 0, -1):
        jobs = replace(config.jobs, max_concurrent=most, min_concurrent=min(config.jobs.min_concurrent, most))
        yield replace(config, database=database, jobs=jobs)


def too_little_memory(config: Config, physical_bytes: int | None = None) -> str | None:
    """The reason why the processes may run out of memory, and what to do; None if the machine has enough."""
    if physical_bytes is None:
        physical_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    needed = _of_all(memory_bytes, config)
    if needed <= physical_bytes:
        return None
    return (
        f"{config.processes} processes may use {needed >> 20} MiB, and the machine has {physical_bytes >> 20} MiB: "
        "lower http.memory_bytes, api.pages_bytes, api.activations_bytes, consumer.cache_bytes or "
        "compute.memory_bytes, or start fewer processes"
    )
