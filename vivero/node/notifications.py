"""NOTIFY between nodes: the events of this one, its announcer, and the listener that hears the others."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.config.roles import Role
from vivero.config.sections import Config
from vivero.engine.supervision.children import Child
from vivero.node.connections import Connections
from vivero.node.node_events import NodeEvents
from vivero.node.part import NodePart
from vivero.storage.postgres.announcer import Announcer
from vivero.storage.postgres.notification_listener import NotificationListener


class Notifications(NodePart):
    """`events` exists before the parts that subscribe to it. The listener is made when all of them have."""

    def __init__(self, config: Config, connections: Connections) -> None:
        self._config, self._connections = config, connections
        self._announcer = Announcer(connections.by_deadline("announcer"), needed=self._has_neighbours)
        self._listener: NotificationListener | None = None
        self.events = NodeEvents(self._announcer)

    def _has_neighbours(self) -> bool:
        """Whether another node may be listening."""
        return self._listener is None or not self._listener.alone

    def children(self) -> Iterator[Child]:
        """The listener and the announcer, for the roles that hear or tell anything."""
        config, channels = self._config, self.events.channels
        if config.has_role(Role.API, Role.ENGINE, Role.WEB) or config.works_connectors:
            connect = self._connections.by_deadline("listener")
            listener = NotificationListener(connect, channels.names, channels.receive, channels.connected)
            self._listener = listener
            yield Child("listener", listener.run, listener.abort)
        if config.has_role(Role.API, Role.ENGINE) or config.works_connectors:
            yield Child("announcer", self._announcer.run, self._announcer.abort)
