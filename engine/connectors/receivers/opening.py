"""The receivers of a node, made of its parts."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping

from vivero.engine.connectors.inbound.webhook_registry import Definitions
from vivero.engine.connectors.outbound.surroundings import NodeParts
from vivero.engine.connectors.receivers.events import EventCommands
from vivero.engine.connectors.receivers.receiver import ReceiverParts
from vivero.engine.connectors.receivers.registry import ReceiverRegistry
from vivero.engine.connectors.receivers.task import Receivers
from vivero.engine.connectors.receivers.threads import TenantThreads
from vivero.storage.postgres.driver import Connection


def opened(
    connect: Callable[[], Awaitable[Connection]],
    parts: NodeParts,
    definitions: Definitions,
    secrets: Mapping[str, str],
    node: str,
    multi_tenancy: bool,
) -> Receivers:
    """The task, which `connect` gives the connection that holds the lock. `parts` can reach the database."""
    if parts.connections is None:
        raise ValueError("receivers need connections to the database")
    own = ReceiverParts(
        parts.settings,
        EventCommands(parts.commands, parts.compute),
        secrets,
        parts.connections,
        parts.make_client,
        TenantThreads(),
        random.random,
        parts.documents,
    )
    return Receivers(connect, ReceiverRegistry(parts.connections, definitions), own, node, multi_tenancy=multi_tenancy)
