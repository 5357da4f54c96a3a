"""Homes: the partition that handles a command. Each command names one of these functions as its `home`.

A function gives the partition; None: the command is handled where it is, and a new one may begin in any partition of
its tenant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vivero.core.partitions.keys import partition_of
from vivero.core.partitions.routes import CATALOGUE, Routes

Home = Callable[[Any, str, Routes], int | None]
"""(command, tenant, routes) → partition."""


def anywhere(_command: Any, _tenant: str, _routes: Routes) -> int | None:
    """The command is handled where it is."""
    return None


def of_key(command: Any, _tenant: str, routes: Routes) -> int | None:
    """The partition that assigned `command.key`. A key of no partition is rejected where it is."""
    partition = partition_of(command.key)
    return partition if partition in routes.all else None


def of_start(command: Any, tenant: str, routes: Routes) -> int | None:
    """`command.partition`, or else that of the key."""
    return command.partition or of_key(command, tenant, routes)


def of_published(command: Any, tenant: str, routes: Routes) -> int | None:
    """The owner of the message channel `command.correlation_key` in the tenant of the sender."""
    return routes.of_channel(tenant, command.correlation_key)


def of_channel(command: Any, _tenant: str, routes: Routes) -> int:
    """The owner of the message channel that the command names, with its tenant."""
    return routes.of_channel(command.tenant, command.correlation_key)


def of_offer(command: Any, _tenant: str, routes: Routes) -> int:
    """The owner of the message channel that `command.offer` names."""
    return routes.of_channel(command.tenant, command.offer.correlation_key)


def in_catalogue(_command: Any, _tenant: str, _routes: Routes) -> int:
    """The partition that writes the catalogue."""
    return CATALOGUE


def named_or_catalogue(command: Any, _tenant: str, _routes: Routes) -> int:
    """`command.partition`, or else the one that writes the catalogue."""
    return command.partition or CATALOGUE


def of_slots(command: Any, _tenant: str, routes: Routes) -> int | None:
    """The owner of the first slot. It rejects the command if it does not own all."""
    return routes.owner_of(command.slots[0]) if command.slots else None


def named(command: Any, _tenant: str, _routes: Routes) -> int | None:
    """`command.partition`, if it has one."""
    return command.partition or None
