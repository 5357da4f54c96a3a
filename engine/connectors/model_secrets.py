"""The secrets that an element names in its model.

Data of process instances can contain `{{secrets.NAME}}`, too. Such a reference has an effect only if the element itself
names the secret, so that nobody who starts an instance can make it send other secrets.
"""

from __future__ import annotations

from typing import Protocol

from vivero.engine.bpmn.model import Node
from vivero.engine.connectors.jobs import ConnectorJob
from vivero.engine.connectors.secrets import named_in
from vivero.engine.runtime.definitions import Definition


class Definitions(Protocol):
    """`engine.runtime.definitions.DefinitionCache`."""

    async def get(self, tenant: str, key: int) -> Definition | None: ...


class ModelSecrets:
    """Finds the secrets of elements."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    async def named(self, job: ConnectorJob) -> frozenset[str]:
        """The secrets that the job's element names. Raises the errors of `DefinitionCache.get`."""
        definition = await self._definitions.get(job.tenant_id, int(job.process_definition_key))
        node = None if definition is None else definition.process.nodes.get(job.element_id)
        return frozenset() if node is None else secrets_of(node)


def secrets_of(node: Node) -> frozenset[str]:
    """The secrets that an element names in its mappings and properties."""
    return named_in((*(mapping.source.text for mapping in node.inputs), *node.properties.values()))
