"""The chores of documents: those that have expired, and contents that nobody refers to."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.engine.jobs.chores import chore
from vivero.engine.jobs.definitions import JobDefinition
from vivero.engine.jobs.execution import Connections, Execution
from vivero.engine.retention.chore_settings import RetentionSettings
from vivero.storage.documents import contents, documents, link_keys
from vivero.storage.postgres.driver import Connection

LINK_KEYS = 100


def chores(settings: RetentionSettings, keys_s: float, connections: Connections) -> Iterator[JobDefinition]:
    """The chores, at the interval and the pace of retention. `keys_s`: the age at which no key of links has a use."""

    async def expire(connection: Connection, _execution: Execution) -> bool:
        return await documents.expire(connection, settings.rows) == settings.rows

    async def drop(connection: Connection, _execution: Execution) -> bool:
        """Some parts of the oldest content, so that a large one is deleted in many short statements."""
        found = await contents.unused(connection, 1)
        for key, _store in found:
            await contents.drop(connection, key)
        return bool(found)

    async def forget_keys(connection: Connection, _execution: Execution) -> bool:
        return await link_keys.purge(connection, keys_s, LINK_KEYS) == LINK_KEYS

    for name, work in (("documents", expire), ("document-contents", drop), ("document-links", forget_keys)):
        yield chore(name, settings.every_s, connections, work, settings.pause_s)
