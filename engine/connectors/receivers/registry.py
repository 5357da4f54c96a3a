"""The elements of deployed processes that receivers work. Each file is looked through once, each model parsed once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import structlog

from vivero.engine.connectors.contents import INBOUND_BY_TYPE
from vivero.engine.connectors.inbound.places import elements_of
from vivero.engine.connectors.inbound.webhook_registry import Definitions
from vivero.engine.connectors.receivers.receiver import Deployed
from vivero.engine.definitions.cache import UnreadableResource
from vivero.storage.background import connectors, inbound
from vivero.storage.background.inbound import Definition
from vivero.storage.postgres.driver import Connection
from vivero.storage.postgres.errors import describe

log = structlog.get_logger(__name__)


class ReceiverRegistry:
    """Finds what is deployed."""

    def __init__(
        self, acquire: Callable[[], AbstractAsyncContextManager[Connection]], definitions: Definitions
    ) -> None:
        self._acquire, self._definitions = acquire, definitions
        self._types: dict[str, frozenset[str]] = {}
        """Files by SHA-256: the types of inbound connectors that they contain."""
        self._elements: dict[int, list[Deployed]] = {}
        """By definition."""

    async def read(self) -> list[Deployed]:
        """The elements of latest versions, and those of older ones whose receivers work for what waits there.

        Raises StorageError.
        """
        async with self._acquire() as connection:
            found = await inbound.definitions(connection)
            unknown = {each.sha256 for each in found} - self._types.keys()
            self._types |= await connectors.texts_in_resources(connection, unknown, INBOUND_BY_TYPE.keys())
        self._types = {each.sha256: self._types[each.sha256] for each in found}
        elements = {each.key: await self._of(each) for each in found if self._types[each.sha256]}
        self._elements = elements
        return [deployed for of_one in elements.values() for deployed in of_one]

    async def _of(self, definition: Definition) -> list[Deployed]:
        known = self._elements.get(definition.key)
        if known is not None and all(each.is_latest == definition.is_latest for each in known):
            return known
        try:
            process = await self._definitions.process(definition.tenant, definition.key)
        except UnreadableResource as error:
            log.warning("cannot read the inbound connectors of a process", error=describe(error))
            return []
        made = (
            Deployed(definition.tenant, definition.process_id, definition.key, definition.is_latest, contract, element)
            for contract, element in (() if process is None else elements_of(process))
        )
        return [each for each in made if definition.is_latest or each.contract.per_wait]
