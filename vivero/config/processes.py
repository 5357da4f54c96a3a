"""The processes of a program: how many suit a machine, and the roles of each."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from typing import NamedTuple

from vivero.config.roles import Role

MAX_PROCESSES = 256
CORES_OF_ONE = 2
"""One process and PostgreSQL keep this number of cores busy."""
CORES_OF_AN_ENGINE = 4
"""One for a process that leads, two for the processes that serve its clients, one for PostgreSQL."""


@dataclass(frozen=True, slots=True)
class AdminSettings:
    """The admin port, which a program with several processes has."""

    host: str = "127.0.0.1"
    """Address of the admin port of several processes."""
    port: int = 9600
    """Admin port of several processes; 0: a free one."""


class Division(NamedTuple):
    """The settings `processes` and `engine_processes`."""

    processes: int
    engine_processes: int


def by_cores(cores: int, partitions: int) -> Division:
    """The division that suits so many cores. A partition keeps at most one engine process busy."""
    if cores <= CORES_OF_ONE:
        return Division(1, 0)
    if cores < CORES_OF_AN_ENGINE:
        return Division(2, 1)
    engines = min(cores // CORES_OF_AN_ENGINE, partitions, MAX_PROCESSES // 3)
    return Division(3 * engines, engines)


def suited(cores: int, partitions: int, roles: Set[Role]) -> Division:
    """The division by the cores; a single process for a node whose roles cannot be divided."""
    division = by_cores(cores, partitions)
    return division if problem(division, roles) is None else Division(1, 0)


def problem(division: Division, roles: Set[Role]) -> str | None:
    """The reason why a program cannot be divided so; None if it can."""
    processes, engines = division
    if not engines:
        return None
    if not processes:
        return "processes = 0 chooses engine_processes by the cores, so engine_processes must not be set"
    if engines >= processes:
        return f"engine_processes = {engines} of processes = {processes} leaves no process that serves clients"
    if Role.ENGINE not in roles or roles.isdisjoint((Role.API, Role.WEB)):
        return "engine_processes divides the role engine from api and web, so roles must name engine and one of them"
    return None


def roles_of_each(roles: Set[Role], division: Division) -> list[str]:
    """The roles of each process. The first ones are the engines."""
    processes, engines = division
    if not engines:
        return [_named(roles)] * processes
    return [Role.ENGINE] * engines + [_named(roles - {Role.ENGINE})] * (processes - engines)


def _named(roles: Set[Role]) -> str:
    return ",".join(role for role in Role if role in roles)
