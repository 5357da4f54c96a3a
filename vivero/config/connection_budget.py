"""Fits the pools of a program into the connections that PostgreSQL grants, before the program serves anybody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import structlog
import trio

from vivero.config import budget
from vivero.config.sections import Config
from vivero.storage.cluster import nodes
from vivero.storage.cluster.nodes import Running
from vivero.storage.postgres import connection_limit, driver
from vivero.storage.postgres.connection_limit import Limit
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.startup_problems import StartupProblem

log = structlog.get_logger(__name__)

GONE_S = 6.0
"""The time for which sessions of a node may stay after its end."""
POLL_S = 0.5


class TooFewConnections(StartupProblem):
    """PostgreSQL grants fewer connections than the smallest pools need."""


async def fit(dsn: str, config: Config, gone_s: float = GONE_S) -> Config:
    """The settings with pools that fit. Waits `gone_s` for the sessions of nodes that end, before it gives up.

    Nodes that run keep what they have, and may take more: pools that get no more connections work with those that they
    have.

    Raises:
        StartupProblem: PostgreSQL grants too few connections. The message names the limit.
    """
    fitted = await _fitted(dsn, config, gone_s)
    if fitted != config:
        needed = budget.of_program(config)
        log.warning(
            "the pools of connections are smaller than set, because PostgreSQL grants too few connections",
            needed=needed,
            pool_size=fitted.database.pool_size,
            background_jobs=fitted.jobs.max_concurrent,
        )
    if fitted.tenants.enabled and fitted.database.reader_url is not None:
        return await _readers_fitted(fitted.database.reader_url, fitted)
    return fitted


async def _fitted(dsn: str, config: Config, gone_s: float) -> Config:
    connection = await driver.connect(dsn, name="vivero:budget")
    end = trio.current_time() + gone_s
    try:
        while True:
            running = await nodes.running(connection)
            limit, led = await _limit(connection, running), _led_by_others(config, running)
            if (fitted := budget.fitted(config, limit.free + led)) is not None:
                return fitted
            if not limit.of_nodes or trio.current_time() >= end:
                raise TooFewConnections(_advice(limit, budget.smallest(config) - led, config.processes))
            await trio.sleep(POLL_S)
    finally:
        connection.close()


def _led_by_others(config: Config, running: Sequence[Running]) -> int:
    """Connections of partitions that others lead now. They move with them, so this program needs none beside them."""
    led = any(nodes.ENGINE in node.roles for node in running)
    return budget.of_partitions(config) if led else 0


async def _limit(connection: Connection, running: Sequence[Running]) -> Limit:
    """The limit that leaves least. If no node runs, sessions of nodes are about to end."""
    limits = await connection_limit.limits(connection)
    if not running:
        limits = [limit._replace(of_nodes=0) for limit in limits]
    return min(limits, key=lambda limit: limit.free)


async def _readers_fitted(reader_url: str, config: Config) -> Config:
    """The second role of multi-tenancy has a limit of its own, which the processes that serve clients share."""
    processes = budget.of_readers(config)
    if not processes:
        return config
    connection = await driver.connect(reader_url, name="vivero:budget")
    try:
        limit = min(await connection_limit.limits(connection), key=lambda limit: limit.free)
    finally:
        connection.close()
    size = min(config.database.pool_size, limit.free // processes)
    if size < 1:
        raise TooFewConnections(f"database.reader_url: {_advice(limit, processes, processes)}")
    return replace(config, database=replace(config.database, pool_size=size))


def _advice(limit: Limit, needed: int, processes: int) -> str:
    who = "the program needs" if processes == 1 else f"{processes} processes need"
    return (
        f"{who} at least {needed} connections to PostgreSQL, and {limit.free} are free ({limit}). Raise this limit, or"
        " run fewer processes, nodes, partitions or roles"
    )
