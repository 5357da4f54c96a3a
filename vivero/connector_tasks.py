"""The connectors of a node, as the supervision tree sees them."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.config import Config
from vivero.connections import Connections
from vivero.engine.connectors import secrets
from vivero.engine.connectors.dispatcher import ConnectorDispatcher
from vivero.engine.connectors.model_secrets import ModelSecrets
from vivero.engine.connectors.secrets import BadSecrets
from vivero.engine.runtime.appender.task import Appender
from vivero.engine.runtime.definitions import DefinitionCache
from vivero.engine.runtime.supervision.children import Child
from vivero.storage.postgres.plans import ONCE
from vivero.storage.postgres.startup_problems import StartupProblem

NAME = "connectors"


class ConnectorTasks:
    """The dispatcher of jobs, on nodes with the role `jobs` if connectors are enabled. Otherwise there is none.

    Raises:
        StartupProblem: the secrets cannot be read.
    """

    def __init__(
        self, config: Config, connections: Connections, appender: Appender, definitions: DefinitionCache
    ) -> None:
        self.dispatcher: ConnectorDispatcher | None = None
        if config.works_connectors:
            settings = config.connectors
            try:
                values = secrets.load(settings.secrets_file, settings.secret_prefix)
            except BadSecrets as error:
                raise StartupProblem(str(error)) from error
            self.dispatcher = ConnectorDispatcher(
                connections.dedicated(NAME, **ONCE),
                appender,
                settings,
                values,
                ModelSecrets(definitions),
                multi_tenancy=config.tenants.enabled,
            )

    def children(self) -> Iterator[Child]:
        """The dispatcher's child, if there is one."""
        if (dispatcher := self.dispatcher) is not None:
            yield Child(NAME, dispatcher.run, dispatcher.close, dispatcher.drain)

    def available(self, type: str, tenant: str) -> None:
        """A job became available."""
        if self.dispatcher is not None:
            self.dispatcher.available(type, tenant)

    def look(self) -> None:
        """The clock was changed, or notifications may be lost."""
        if self.dispatcher is not None:
            self.dispatcher.look()
